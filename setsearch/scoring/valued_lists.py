"""Posting lists with values: a list is given its values when it is first needed, and keeps them."""

import math
from collections.abc import Callable

import numpy as np

from setsearch.arrays import Entries, Floats, Ids, Ints, offsets
from setsearch.lists import LOCK, Lists
from setsearch.scoring.bitmaps import Bitmaps
from setsearch.scoring.postings import ItemArrays, PostingArrays

AHEAD = 1 << 15  # entries that are given values together with those that are needed
ROUNDING = 1e-9  # relative; far above that of a sum of squares
AT_FIRST = 4  # times that only what is needed gets values: a command, or the first question after a write, asks twice

NONE: Ints = np.zeros(0, np.int64)

Value = Callable[[Entries], tuple[Entries, Floats]]  # the entries with a value above 0, and these values


class ValuedLists:
    """The lists of one direction under one rule. Threads may share it: a list does not change once it has values.

    `largest` bounds all values; if it is None, the values that are there do. Without `valued` all values are 1.
    Each question gives values to some lists that nobody has asked for yet, so that new questions soon find all.
    """

    def __init__(self, lists: Lists, valued: bool, largest: float | None) -> None:
        self._lists, self._largest = lists, largest
        self._ids: Ids = np.empty(lists.size, np.int32)  # memory is taken where something is written
        self._values = np.empty(lists.size, np.float32) if valued else None
        self._used = self._asked = 0
        self._starts: Ints = np.full(len(lists), -1, np.int64)
        self._ends: Ints = np.zeros(len(lists), np.int64)
        self._next = 0  # lists before it have values
        self._seen = 1.0  # the largest value so far
        self._square = 0.0  # the largest sum of squared values of a list so far
        self._bitmaps = None if valued else Bitmaps(lists.n_ids)

    @property
    def are_all_there(self) -> bool:
        """Whether all lists have values."""
        return self._next == len(self._starts)

    @property
    def is_first(self) -> bool:
        """Whether this may be the only question."""
        return self._asked <= AT_FIRST

    def missing(self, lists: Ints) -> Ints:
        """Those of some lists that have no values yet, and some more: their entries are read before `get`."""
        self._asked += 1
        if self.are_all_there:
            return NONE
        missing = lists[self._starts.take(lists) < 0]
        if self.is_first or self._lists.lengths[missing].sum() >= AHEAD:
            return missing
        return np.union1d(missing, self._ahead())

    def get(
        self,
        lists: Ints,
        missing: Ints,
        value: Value,
        entries: Entries | None = None,
        by_item: ItemArrays | None = None,
    ) -> PostingArrays:
        """The posting lists of some features, ascending; `entries` are those of the `missing` ones, if not yet read."""
        if len(missing):
            with LOCK:
                new = missing[self._starts.take(missing) < 0]
                if entries is None:
                    entries = self._lists.take(new)
                elif len(new) < len(missing):  # another thread was faster
                    entries = entries.select(np.isin(entries.lists, new))
                if len(new):
                    self._fill(new, *value(entries))
                while self._next < len(self._starts) and self._starts[self._next] >= 0:
                    self._skip()
        largest = self._seen if self._largest is None else self._largest
        starts, ends = self._starts.take(lists), self._ends.take(lists)
        return PostingArrays(self._ids, starts, ends, self._values, self._bitmaps, largest, by_item)

    @property
    def lengths(self) -> Ints:
        """The number of entries with a value above 0 of all lists, which have values, `(n_lists,)`."""
        return self._ends - self._starts

    def by_list(self, active: Ints) -> ItemArrays | None:
        """All lists, as what posting lists of the `active` ids describe; None while some have no values."""
        if self._values is None or not self.are_all_there:
            return None
        norm = math.sqrt(self._square) * (1 + ROUNDING)
        return ItemArrays(self._ids, self._values, self._starts, self._ends, self._lists.n_ids, norm, active)

    def _ahead(self) -> Ints:
        """Lists that nobody has asked for yet: the next questions find their values."""
        first = self._next
        lengths = self._lists.lengths[first : first + AHEAD]
        count = max(1, int(np.searchsorted(np.cumsum(lengths), AHEAD, "right")))
        return first + np.arange(min(count, len(lengths)))

    def _skip(self) -> None:
        without = np.flatnonzero(self._starts[self._next : self._next + AHEAD] < 0)
        self._next = min(self._next + (int(without[0]) if len(without) else AHEAD), len(self._starts))

    def _fill(self, lists: Ints, entries: Entries, values: Floats) -> None:
        begin, end = self._used, self._used + len(entries.ids)
        self._ids[begin:end] = entries.ids
        if self._values is not None:
            self._values[begin:end] = values
            self._seen = max(self._seen, float(self._values[begin:end].max(initial=0.0)))
        ends = np.searchsorted(entries.lists, lists, "right") + begin
        starts = offsets(np.diff(ends, prepend=begin))[:-1] + begin
        if self._values is not None and end > begin:
            filled = starts < ends
            squares = np.add.reduceat(np.square(values), starts[filled] - begin)
            self._square = max(self._square, float(squares.max()))
        self._ends[lists] = ends
        self._starts[lists] = starts
        self._used = end
