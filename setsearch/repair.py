"""Mending what can be mended: from the table that is mirrored, from the other direction of the lists, from texts."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from setsearch.errors import CorruptIndex
from setsearch.guards import is_broken, seal
from setsearch.intake import Intake
from setsearch.lists import Entries, Lists
from setsearch.mirrors import reread
from setsearch.relation import Relation, load_relations
from setsearch.wordspace import clear


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
