"""Which items each revision of a relation changed: what is derived from an earlier one needs only their lists again.

A revision is named by its number and a random stamp. Where this history holds both, the content of then is an ancestor
of this one; a copy of the file that went another way has other stamps.
"""

import os
import sqlite3
import time
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Ints, repeat, run_lengths, run_starts, union
from setsearch.options import NOW, Fresh
from setsearch.sqlite.integrity import add_checksum, strip_checksum

MOST_REVISIONS = 4096  # that are kept
MOST_ITEMS = 2000  # of one revision; after larger changes everything is read again
MOST_MOVED = 1 << 17  # that got only other ranges of numbers

NO_ITEMS = np.zeros(0, np.int64)
Row = tuple[int, int, float, bytes | None]


class Revision(NamedTuple):
    """A state of a relation: the number of writes so far, and the random stamp of the last one."""

    relation: int
    number: int
    stamp: int


class Changed(NamedTuple):
    """Items that changed, ascending: those that were `written`, and those that `moved` because of others.

    Of `shown` ones features and text are as before, and the title or the columns are others.
    """

    written: Ints = NO_ITEMS
    moved: Ints = NO_ITEMS
    shown: Ints = NO_ITEMS

    @property
    def in_lists(self) -> Ints:
        """The items whose lists may have changed, ascending."""
        return union(self.written, self.moved)

    @property
    def given(self) -> Ints:
        """The items that somebody wrote otherwise, ascending."""
        return union(self.written, self.shown)


class History(NamedTuple):
    """What the writes of a relation changed, up to `now`, the last one in this transaction."""

    cursor: sqlite3.Cursor
    now: Revision

    def append(self, changes: Changed | None) -> int:
        """Note the present revision and the items that it changes, None for all; returns its new, random stamp.

        Those that moved are noted twice, those that are shown otherwise three times.
        """
        relation, number, stamp, data = *self.now[:2], random_number(), None
        if changes is not None and len(changes.given) <= MOST_ITEMS and len(changes.moved) <= MOST_MOVED:
            noted = np.concatenate([repeat(own, times) for times, own in enumerate(changes, 1)]).astype("<i4")
            data = add_checksum(noted.tobytes(), _place(relation, number, stamp))
        self.cursor.execute(
            "insert or replace into setsearch_revision (relation, revision, stamp, time, items) values (?, ?, ?, ?, ?)",
            (relation, number, stamp, time.time(), data),
        )
        self.cursor.execute(
            "delete from setsearch_revision where relation = ? and revision <= ?", (relation, number - MOST_REVISIONS)
        )
        return stamp

    def changes(self, then: Revision, until: int | None = None) -> Changed | None:
        """What changed since an earlier revision, by writes up to a number; None if unknown."""
        rows = self._rows_since(then)
        if rows is None:
            return None
        noted: tuple[list[Ints], ...] = [], [], []
        for revision, stamp, _, items in rows:
            if until is not None and revision > until:
                break
            stored = None if items is None else strip_checksum(items, _place(self.now.relation, revision, stamp))
            if stored is None:
                return None
            own = np.sort(np.frombuffer(stored, "<i4").astype(np.int64))
            begin = run_starts(own)
            times = run_lengths(begin, len(own))
            for place, found in enumerate(noted, 1):
                found.append(own[begin[times == place]])
        return Changed(*map(_distinct, noted))

    def changed_items(self, then: Revision) -> Ints | None:
        """The items whose lists may have changed since an earlier revision, ascending; None if unknown."""
        changes = self.changes(then)
        return None if changes is None else changes.in_lists

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


def _distinct(noted: list[Ints]) -> Ints:
    """All ids, ascending, once: `arrays.distinct` takes room for the largest one."""
    ids = np.sort(np.concatenate([NO_ITEMS, *noted]))
    return ids[run_starts(ids)]


def _place(relation: int, revision: int, stamp: int) -> str:
    return f"{relation} {revision} {stamp}"
