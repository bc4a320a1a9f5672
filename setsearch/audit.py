"""Whether a stored relation agrees with itself: every statistic from the lists, both directions from each other."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from setsearch.errors import CorruptIndex
from setsearch.lists import Lists
from setsearch.names import Kind
from setsearch.postings import Ints
from setsearch.relation import Relation
from setsearch.texts import read_texts


def audit(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """One line for each thing that is wrong."""
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
        for _ in read_texts(cursor, relation) if relation.contexts != "off" else ():
            pass
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
    ascending = (np.diff(cells[0]) > 0) | ((np.diff(cells[0]) == 0) & (np.diff(cells[1]) > 0))
    if not ascending.all():
        wrong.append(f"a {lists.table} list does not ascend")
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
