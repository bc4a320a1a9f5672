"""Checks an index, and repairs it.

A check recomputes every statistic from the lists, and compares both directions of the lists, names and checksums. A
repair takes what is damaged from the synced table, from the other direction of the lists, or from the texts.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain

import numpy as np

from setsearch.arrays import Entries, Ints
from setsearch.errors import CorruptIndex, SetsearchError
from setsearch.indexing.contexts import clear_contexts
from setsearch.indexing.intake import Intake
from setsearch.indexing.sync import check_source, read_again
from setsearch.storage.analyzers import load_analyzer
from setsearch.storage.integrity import CHECKED, checksum_differs, sqlite_problems, write_checksum
from setsearch.storage.names import Vocabulary
from setsearch.storage.numbers import check_numbers
from setsearch.storage.posting_lists import PostingLists
from setsearch.storage.relation import Relation, load_derived, load_relations
from setsearch.storage.texts import read_texts

UNREADABLE = (CorruptIndex, sqlite3.DatabaseError, TypeError, ValueError, OverflowError)


def find_problems(cursor: sqlite3.Cursor) -> list[str]:
    """One line for each problem; empty for a sound index."""
    return [
        *_lines(lambda: _check_tables(cursor)),
        *_lines(lambda: chain.from_iterable(_check_any(cursor, relation) for relation in load_relations(cursor))),
    ]


def repair(cursor: sqlite3.Cursor, intake: Intake) -> Iterator[str]:
    """Repair an index, and yield one line for each repair; the caller commits.

    Derived values are deleted, to be derived again. Names, numbers and texts are stored once and cannot be repaired.
    """
    cursor.execute("delete from setsearch_derived where reading <> ''")
    yield from _count_names(cursor)
    for relation in load_relations(cursor):
        if relation.columns is not None:
            continue
        if relation.contexts != "off":
            clear_contexts(cursor, relation)
            cursor.execute("update setsearch_relation set contexts_stamp = null where id = ?", (relation.id,))
            yield f"{relation.label}: contexts will be derived again"
        if read_again(cursor, intake, relation):
            yield f"{relation.label}: read again from its table"
        else:
            yield from (f"{relation.label}: {line}" for line in _repair_lists(cursor, relation))
            relation.save(cursor)
    if checksum_differs(cursor):
        write_checksum(cursor)
        yield "kinds, relations, sources and sets changed from outside: accepted as they are now, look at them"


def _lines(check: Callable[[], Iterable[str]]) -> Iterator[str]:
    """The lines of a check; the error that ends it becomes a line too."""
    try:
        yield from check()
    except (SetsearchError, sqlite3.DatabaseError) as error:
        yield str(error)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:  # stored values of unexpected types
        yield f"stored data cannot be read ({error})"


def _check_tables(cursor: sqlite3.Cursor) -> Iterator[str]:
    yield from sqlite_problems(cursor)
    if checksum_differs(cursor):
        yield f"setsearch_{', setsearch_'.join(CHECKED)} changed from outside"


def _check_any(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """The problems of a relation and of what was derived from its present content."""
    yield from _lines(lambda: check_source(cursor, relation))
    if relation.columns is not None:
        yield from _lines(lambda: check_numbers(cursor, relation))
        return
    yield from _lines(lambda: check_relation(cursor, relation))
    yield from _lines(lambda: _check_meaning(cursor, relation))
    if relation.contexts_stamp == relation.stamp:
        for derived in load_derived(cursor, relation).values():
            yield from _lines(partial(check_relation, cursor, derived))
            yield from _lines(partial(_check_meaning, cursor, derived))


def _check_meaning(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """Raises if the analyzer is unknown, or contexts have no names."""
    if relation.analyzer is not None:
        load_analyzer(relation.analyzer)
    relation.features.describe(cursor, [0] if relation.features.size else [])
    yield from ()


def check_relation(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """One line for each problem with the lists, names and texts of a relation."""
    label = relation.label
    for vocabulary in (relation.items, relation.features):
        yield from (f"{label}: {line}" for line in _check_vocabulary(cursor, vocabulary))
    try:
        by_feature, problems = _cells(cursor, relation.postings, relation.features)
        by_item, more_problems = _cells(cursor, relation.forward, relation.items)
    except CorruptIndex as error:
        yield f"{label}: {error}"
        return
    yield from (f"{label}: {line}" for line in problems + more_problems)
    try:
        read = sum(1 for _ in read_texts(cursor, relation)) if relation.contexts != "off" else 0
        (stored,) = cursor.execute("select count(*) from setsearch_text where relation = ?", (relation.id,)).fetchone()
        if read != stored:
            yield f"{label}: {stored} texts are stored, {read} belong to {relation.items.name}"
    except CorruptIndex as error:
        yield f"{label}: {error}"
    order = np.lexsort((by_feature[0], by_feature[1]))
    if not np.array_equal(by_feature[[1, 0, 2]][:, order], by_item):
        yield f"{label}: the posting lists and the forward lists do not hold the same entries"
    is_complete = relation.parent is None  # a document may have no word that is frequent enough for contexts
    if is_complete and len(np.unique(by_feature[0])) != relation.features.size:
        yield f"{label}: {relation.features.size} {relation.features.name} have names, but some have no list"


def _check_vocabulary(cursor: sqlite3.Cursor, vocabulary: Vocabulary) -> Iterator[str]:
    ids = np.fromiter(vocabulary.ids(cursor), np.int64)
    if len(ids) != vocabulary.size:
        yield f"the count says {vocabulary.size} {vocabulary.name}, but there are {len(ids)}"
    if len(ids) and (ids.min() < 0 or ids.max() >= vocabulary.next_id):
        yield f"an id of {vocabulary.name} lies outside 0 to {vocabulary.next_id - 1}"


def _cells(cursor: sqlite3.Cursor, lists: PostingLists, vocabulary: Vocabulary) -> tuple[Ints, list[str]]:
    """All entries of one direction, `(3, n_entries)`, and the problems of its statistics."""
    steps = [np.array(step, np.int64) for step in lists.sweep(cursor)]
    cells = np.concatenate(steps, axis=1) if steps else np.zeros((3, 0), np.int64)
    problems = []
    if len(cells[0]) and (cells[2].min() < 1 or cells[0].max() >= vocabulary.next_id):
        problems.append(f"a {lists.table} list has a count of 0, or an unknown owner")
    else:
        stored = lists.frequencies(cursor, vocabulary.next_id)
        counted = (
            np.bincount(cells[0], minlength=vocabulary.next_id),
            np.bincount(cells[0], cells[2], minlength=vocabulary.next_id).astype(np.int64),
        )
        if not all(map(np.array_equal, stored, counted)):
            problems.append(f"the frequencies of the {lists.table} lists differ from the lists")
    return cells, problems


def _count_names(cursor: sqlite3.Cursor) -> Iterator[str]:
    for id, name, size, next_id in cursor.execute("select id, name, size, peak from setsearch_kind").fetchall():
        row = cursor.execute("select count(*), coalesce(max(id), -1) + 1 from setsearch_name where kind = ?", (id,))
        count, least_next_id = row.fetchone()
        if count and (count != size or least_next_id > next_id):
            cursor.execute("update setsearch_kind set size = ?, peak = ? where id = ?", (count, least_next_id, id))
            yield f"{name}: counted again, {count}"


def _repair_lists(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """Make one direction of the lists from the other if only one is readable."""
    by_feature, by_item = _read_all(cursor, relation.postings), _read_all(cursor, relation.forward)
    if (by_feature is None) == (by_item is None):
        if by_feature is None:
            yield "the lists of both directions are damaged; index the collection again"
        return
    damaged, sound = (relation.forward, by_feature) if by_item is None else (relation.postings, by_item)
    assert sound is not None
    order = np.lexsort((sound.lists, sound.ids))
    damaged.clear(cursor)
    damaged.fill(cursor, Entries(sound.ids[order], sound.lists[order], sound.counts[order]))
    yield f"the {damaged.table} lists were made again from the other direction"


def _read_all(cursor: sqlite3.Cursor, lists: PostingLists) -> Entries | None:
    """All entries of one direction; None if they are unreadable."""
    try:
        steps = [np.array(step, np.int64) for step in lists.sweep(cursor)]
    except UNREADABLE:
        return None
    return Entries(*np.concatenate([np.zeros((3, 0), np.int64), *steps], axis=1))
