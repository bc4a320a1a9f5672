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
from setsearch.options import NOW, Fresh
from setsearch.sqlite.integrity import add_checksum, strip_checksum

MOST_REVISIONS = 4096  # that are kept
MOST_ITEMS = 2000  # of one revision; after larger changes everything is read again
MOST_MOVED = 1 << 17  # that got only other ranges of numbers

Row = tuple[int, int, float, bytes | None]


class Revision(NamedTuple):
    """A state of a relation: the number of writes so far, and the random stamp of the last one."""

    relation: int
    number: int
    stamp: int


class History(NamedTuple):
    """What the writes of a relation changed, up to `now`, the last one in this transaction."""

    cursor: sqlite3.Cursor
    now: Revision

    def append(self, items: Ints | None, moved: Ints) -> int:
        """Note the present revision and the items that it changes, None for all; returns its new, random stamp.

        `moved` are others, which got only other ranges of the same numbers: they are noted twice.
        """
        relation, number, stamp, data = *self.now[:2], random_number(), None
        if items is not None and len(items) <= MOST_ITEMS and len(moved) <= MOST_MOVED:
            noted = np.concatenate([items, moved, moved]).astype("<i4")
            data = add_checksum(noted.tobytes(), _place(relation, number, stamp))
        self.cursor.execute(
            "insert or replace into setsearch_revision (relation, revision, stamp, time, items) values (?, ?, ?, ?, ?)",
            (relation, number, stamp, time.time(), data),
        )
        self.cursor.execute(
            "delete from setsearch_revision where relation = ? and revision <= ?", (relation, number - MOST_REVISIONS)
        )
        return stamp

    def changed_items(self, then: Revision, until: int | None = None, given: bool = False) -> Ints | None:
        """The items that changed since an earlier revision, ascending, by writes up to a number; None if unknown.

        `given`: only those that were written, not what moved because of others.
        """
        rows = self._rows_since(then)
        changed = [np.zeros(0, np.int32)]
        for revision, stamp, _, items in rows or ():
            if until is not None and revision > until:
                break
            stored = None if items is None else strip_checksum(items, _place(self.now.relation, revision, stamp))
            if stored is None:
                return None
            own = np.sort(np.frombuffer(stored, "<i4"))
            twice = np.diff(own, prepend=-1, append=-1) == 0
            changed.append(own[~(twice[1:] | twice[:-1])] if given else own)
        if rows is None:
            return None
        ids = np.sort(np.concatenate(changed).astype(np.int64))  # `arrays.distinct` takes room for the largest one
        return ids[np.diff(ids, prepend=-1) > 0]

    def past(self, number: int) -> Revision | None:
        """An earlier revision by its number; None if it is not known."""
        row = self.cursor.execute(
            "select relation, revision, stamp from setsearch_revision where relation = ? and revision = ?",
            (self.now.relation, number),
        ).fetchone()
        return None if row is None else Revision(*row)

    def first_change(self, then: Revision) -> float | None:
        """When the revision after an earlier one was written, seconds since 1970; None if that is not known."""
        rows = self._rows_since(then)
        return rows[0][2] if rows else None

    def is_fresh(self, derived: Revision, fresh: Fresh, n_items: int) -> bool:
        """Whether what was derived from a revision lacks no more than `fresh` allows, of so many items."""
        if fresh is None or derived.stamp == self.now.stamp:
            return True
        if isinstance(fresh, float):
            written = self.first_change(derived)
            return written is not None and 0 <= time.time() - written <= fresh
        changed = None if fresh == NOW else self.changed_items(derived)
        return changed is not None and 100 * len(changed) <= float(fresh.rstrip(" %")) * n_items

    def _rows_since(self, then: Revision) -> list[Row] | None:
        """(number, stamp, time, items) of all revisions after `then`; None unless history leads from there to now."""
        now = self.now
        rows = self.cursor.execute(
            "select revision, stamp, time, items from setsearch_revision where relation = ? and revision >= ? "
            "order by revision",
            (now.relation, then.number),
        ).fetchall()
        # Each relation has its own.
        is_complete = len(rows) == now.number - then.number + 1 and now.relation == then.relation
        ends = ((then.number, then.stamp), (now.number, now.stamp))
        if not is_complete or not rows or (rows[0][:2], rows[-1][:2]) != ends:
            return None
        return rows[1:]


def random_number() -> int:
    """A number that nobody has drawn before, for a stamp or an id: 63 bits, as SQLite's integers hold."""
    return int.from_bytes(os.urandom(8), "big") >> 1


def _place(relation: int, revision: int, stamp: int) -> str:
    return f"{relation} {revision} {stamp}"
