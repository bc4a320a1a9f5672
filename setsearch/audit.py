"""Whether an index agrees with itself: every statistic from the lists, both directions from each other, names, sums."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np

from setsearch.errors import CorruptIndex, SetsearchError
from setsearch.guards import SEALED, integrity, is_broken
from setsearch.lists import Lists
from setsearch.mirrors import audit_mirror
from setsearch.names import Kind
from setsearch.numbers import audit_numbers
from setsearch.postings import Ints
from setsearch.relation import Relation, load_derived, load_relations
from setsearch.text import Analyzer
from setsearch.texts import read_texts


def audit(cursor: sqlite3.Cursor) -> list[str]:
    """One line for each thing that is wrong with an index; nothing in a sound one."""
    return [
        *_told(lambda: _audit_tables(cursor)),
        *_told(lambda: chain.from_iterable(_audit_any(cursor, relation) for relation in load_relations(cursor))),
    ]


def _told(lines: Callable[[], Iterable[str]]) -> Iterator[str]:
    """Lines; what stops them from coming is one, too."""
    try:
        yield from lines()
    except (SetsearchError, sqlite3.DatabaseError) as error:
        yield str(error)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # values that are not of their types
        yield f"what is stored cannot be read ({error})"


def _audit_tables(cursor: sqlite3.Cursor) -> Iterator[str]:
    """What SQLite finds, and the seal."""
    yield from integrity(cursor)
    if is_broken(cursor):
        yield f"setsearch_{', setsearch_'.join(SEALED)} are not as setsearch wrote them"


def _audit_any(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """What is wrong with a relation, and with what was derived from its present content."""
    yield from _told(lambda: audit_mirror(cursor, relation))
    if relation.columns is not None:
        yield from _told(lambda: audit_numbers(cursor, relation))
        return
    yield from _told(lambda: audit_relation(cursor, relation))
    yield from _told(lambda: _audit_meaning(cursor, relation))
    if relation.contexts_stamp == relation.stamp:
        for derived in load_derived(cursor, relation).values():
            yield from _told(partial(audit_relation, cursor, derived))
            yield from _told(partial(_audit_meaning, cursor, derived))


def _audit_meaning(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """Whether the analyzer is known, and contexts can be named."""
    if relation.analyzer is not None:
        Analyzer.of(relation.analyzer)
    relation.features.describe(cursor, [0] if relation.features.size else [])
    yield from ()


def audit_relation(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """One line for each thing that is wrong with the lists, names and texts of a relation."""
    label = f"{relation.items.name} x {relation.features.name}"
    for kind in (relation.items, relation.features):
        for line in _audit_kind(cursor, kind):
            yield f"{label}: {line}"
    try:
        turned = [
            _cells(cursor, relation.postings, relation.features),
            _cells(cursor, relation.forward, relation.items),
        ]
    except CorruptIndex as error:
        yield f"{label}: {error}"
        return
    for _, lines in turned:
        yield from (f"{label}: {line}" for line in lines)
    try:
        read = sum(1 for _ in read_texts(cursor, relation)) if relation.contexts != "off" else 0
        (stored,) = cursor.execute("select count(*) from setsearch_text where relation = ?", (relation.id,)).fetchone()
        if read != stored:
            yield f"{label}: {stored} texts are stored, {read} belong to {relation.items.name}"
    except CorruptIndex as error:
        yield f"{label}: {error}"
    (by_feature, _), (by_item, _) = turned
    order = np.lexsort((by_feature[0], by_feature[1]))
    if not np.array_equal(by_feature[[1, 0, 2]][:, order], by_item):
        yield f"{label}: the posting lists and the forward lists do not hold the same entries"
    every = relation.parent is None  # a document may have no word that is frequent enough for contexts
    if every and len(np.unique(by_feature[0])) != relation.features.size:
        yield f"{label}: {relation.features.size} {relation.features.name} are named, not all of them have a list"


def _audit_kind(cursor: sqlite3.Cursor, kind: Kind) -> Iterator[str]:
    ids = np.fromiter(kind.ids(cursor), np.int64)
    if len(ids) != kind.size:
        yield f"{kind.size} {kind.name} are counted, {len(ids)} are there"
    if len(ids) and (ids.min() < 0 or ids.max() >= kind.peak):
        yield f"an id of {kind.name} lies outside 0 to {kind.peak - 1}"


def _cells(cursor: sqlite3.Cursor, lists: Lists, kind: Kind) -> tuple[Ints, list[str]]:
    """All entries of one direction, `(3, n_entries)`, and what is wrong with its statistics."""
    steps = [np.array(step, np.int64) for step in lists.sweep(cursor)]
    cells = np.concatenate(steps, axis=1) if steps else np.zeros((3, 0), np.int64)
    wrong = []
    if len(cells[0]) and (cells[2].min() < 1 or cells[0].max() >= kind.peak):
        wrong.append(f"a {lists.table} list has a count of 0, or an unknown owner")
    else:
        stored = lists.frequencies(cursor, kind.peak)
        counted = (
            np.bincount(cells[0], minlength=kind.peak),
            np.bincount(cells[0], cells[2], minlength=kind.peak).astype(np.int64),
        )
        if not all(map(np.array_equal, stored, counted)):
            wrong.append(f"the frequencies of the {lists.table} lists differ from the lists")
    return cells, wrong
