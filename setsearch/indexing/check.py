"""Whether an index agrees with itself: every statistic from the lists, both directions from each other, names, sums.

Mending what can be mended: from the table that is mirrored, from the other direction of the lists, from texts."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np

from setsearch.arrays import Entries, Ints
from setsearch.errors import CorruptIndex, SetsearchError
from setsearch.indexing.contexts import clear
from setsearch.indexing.intake import Intake
from setsearch.indexing.sync import audit_mirror, reread
from setsearch.storage.integrity import SEALED, integrity, is_broken, seal
from setsearch.storage.names import Kind
from setsearch.storage.numbers import audit_numbers
from setsearch.storage.posting_lists import Lists
from setsearch.storage.relation import Relation, load_derived, load_relations
from setsearch.storage.texts import read_texts
from setsearch.text.analyzer import Analyzer


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


def repair(cursor: sqlite3.Cursor, intake: Intake) -> Iterator[str]:
    """Mend, and yield one line for each thing done; nothing is committed here.

    Derived values are thrown away: they are derived again. Names, numbers and texts stand in one place only.
    """
    cursor.execute("delete from setsearch_derived where reading <> ''")
    yield from _count_names(cursor)
    for relation in load_relations(cursor):
        label = f"{relation.items.name} x {relation.features.name}"
        if relation.columns is not None:
            continue
        if relation.contexts != "off":
            clear(cursor, relation)
            cursor.execute("update setsearch_relation set contexts_stamp = null where id = ?", (relation.id,))
            yield f"{label}: contexts will be read from the texts again"
        if reread(cursor, intake, relation):
            yield f"{label}: read again from its table"
        else:
            yield from (f"{label}: {line}" for line in _mend_lists(cursor, relation))
            relation.save(cursor)
    if is_broken(cursor):
        seal(cursor)
        yield "kinds, relations, origins and sets are not as setsearch wrote them: taken as they are now, look at them"


def _count_names(cursor: sqlite3.Cursor) -> Iterator[str]:
    for id, name, size, peak in cursor.execute("select id, name, size, peak from setsearch_kind").fetchall():
        row = cursor.execute("select count(*), coalesce(max(id), -1) + 1 from setsearch_name where kind = ?", (id,))
        counted, least = row.fetchone()
        if counted and (counted != size or least > peak):
            cursor.execute("update setsearch_kind set size = ?, peak = ? where id = ?", (counted, least, id))
            yield f"{name}: counted again, {counted}"


def _mend_lists(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """Make one direction of the lists from the other, where only one can be read."""
    by_feature, by_item = _entries(cursor, relation.postings), _entries(cursor, relation.forward)
    if (by_feature is None) == (by_item is None):
        if by_feature is None:
            yield "the lists of both directions are damaged; index the collection again"
        return
    bad, good = (relation.forward, by_feature) if by_item is None else (relation.postings, by_item)
    assert good is not None
    order = np.lexsort((good.lists, good.ids))
    bad.clear(cursor)
    bad.fill(cursor, Entries(good.ids[order], good.lists[order], good.counts[order]))
    yield f"the {bad.table} lists were made again from the others"


def _entries(cursor: sqlite3.Cursor, lists: Lists) -> Entries | None:
    """All entries of one direction; None where they cannot be read."""
    try:
        steps = [np.array(step, np.int64) for step in lists.sweep(cursor)]
    except (CorruptIndex, sqlite3.DatabaseError, TypeError, ValueError, OverflowError):
        return None
    return Entries(*np.concatenate([np.zeros((3, 0), np.int64), *steps], axis=1))
