"""Which items each revision of a relation changed: what is derived from an earlier one needs only their lists again.

A revision is named by its number and a random stamp. Where this history holds both, the content of then is an ancestor
of this one; a copy of the file that went another way has other stamps.
"""

import os
import sqlite3
import time
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Ints
from setsearch.sqlite.integrity import add_checksum, strip_checksum

MOST_REVISIONS = 4096  # that are kept
MOST_ITEMS = 2000  # of one revision; after larger changes everything is read again


Row = tuple[int, int, float, bytes | None]


class Revision(NamedTuple):
    """A state of a relation: the number of writes so far, and the random stamp of the last one."""

    relation: int
    number: int
    stamp: int


def append_revision(cursor: sqlite3.Cursor, relation: int, revision: int, items: Ints | None) -> int:
    """Note a revision and the items that it changes, None for all; returns its random stamp."""
    stamp = random_number()
    data = None
    if items is not None and len(items) <= MOST_ITEMS:
        data = add_checksum(items.astype("<i4").tobytes(), _place(relation, revision, stamp))
    cursor.execute(
        "insert or replace into setsearch_revision (relation, revision, stamp, time, items) values (?, ?, ?, ?, ?)",
        (relation, revision, stamp, time.time(), data),
    )
    cursor.execute(
        "delete from setsearch_revision where relation = ? and revision <= ?", (relation, revision - MOST_REVISIONS)
    )
    return stamp


def random_number() -> int:
    """A number that nobody has drawn before, for a stamp or an id: 63 bits, as SQLite's integers hold."""
    return int.from_bytes(os.urandom(8), "big") >> 1


def changed_items(cursor: sqlite3.Cursor, now: Revision, then: Revision, until: int | None = None) -> Ints | None:
    """The items that changed since an earlier revision, ascending, by writes up to a number; None if it is not known.

    `now` is the last revision in this transaction.
    """
    rows = _rows_since(cursor, now, then)
    changed = [np.zeros(0, np.int32)]
    for revision, stamp, _, items in rows or ():
        if until is not None and revision > until:
            break
        stored = None if items is None else strip_checksum(items, _place(now.relation, revision, stamp))
        if stored is None:
            return None
        changed.append(np.frombuffer(stored, "<i4"))
    if rows is None:
        return None
    ids = np.sort(np.concatenate(changed).astype(np.int64))  # `arrays.distinct` takes room for the largest one
    return ids[np.diff(ids, prepend=-1) > 0]


def past_revision(cursor: sqlite3.Cursor, relation: int, number: int) -> Revision | None:
    """An earlier revision of a relation by its number; None if it is not known."""
    row = cursor.execute(
        "select stamp from setsearch_revision where relation = ? and revision = ?", (relation, number)
    ).fetchone()
    return None if row is None else Revision(relation, number, row[0])


def first_change(cursor: sqlite3.Cursor, now: Revision, then: Revision) -> float | None:
    """When the revision after an earlier one was written, seconds since 1970; None if that is not known."""
    rows = _rows_since(cursor, now, then)
    return rows[0][2] if rows else None


def _rows_since(cursor: sqlite3.Cursor, now: Revision, then: Revision) -> list[Row] | None:
    """(number, stamp, time, items) of all revisions after `then`; None unless the history leads from there to now."""
    rows = cursor.execute(
        "select revision, stamp, time, items from setsearch_revision where relation = ? and revision >= ? "
        "order by revision",
        (now.relation, then.number),
    ).fetchall()
    is_complete = len(rows) == now.number - then.number + 1 and now.relation == then.relation  # each row has its own
    ends = ((then.number, then.stamp), (now.number, now.stamp))
    if not is_complete or not rows or (rows[0][:2], rows[-1][:2]) != ends:
        return None
    return rows[1:]


def _place(relation: int, revision: int, stamp: int) -> str:
    return f"{relation} {revision} {stamp}"
