"""Posting lists in memory, their weights, and their values, which a list gets when it is first needed, and keeps."""

import math
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from setsearch.arrays import (
    Entries,
    Floats,
    Floats32,
    Ids,
    Ints,
    ListArrays,
    ListValues,
    distinct,
    offsets,
    sum_runs,
    take,
)
from setsearch.core.threads import side_by_side
from setsearch.lists import LOCK, Lists

AHEAD = 1 << 15  # entries that are given values together with those that are needed
AHEAD_IN_CORE = 1 << 18  # the same in the core, which takes a twentieth of the time
ROUNDING = 1e-9  # relative; far above that of a sum of squares
NOTHING_AHEAD = 32  # times that only what is needed gets values: the next write throws them away


class PostingArrays(NamedTuple):
    """Posting lists inside one array: list i is `ids[starts[i] : ends[i]]`, with `values` likewise, or ones.

    `largest` is an upper bound of |value|.
    """

    ids: Ids
    starts: Ints
    ends: Ints
    values: Floats32 | Floats | None = None
    largest: float = 1.0

    def lists(self) -> list[Ids]:
        """The lists one by one."""
        return [self.ids[start:end] for start, end in self.spans()]

    def concatenated_ids(self) -> Ids:
        """The ids of all lists."""
        return np.concatenate(self.lists()) if len(self.starts) else self.ids[:0]

    def concatenated_values(self) -> Floats:
        """The values of all lists."""
        if self.values is None:
            return np.ones(self.size)
        if not len(self.starts):
            return np.zeros(0)
        return np.concatenate([self.values[start:end] for start, end in self.spans()], dtype=np.float64)

    def spans(self) -> Iterable[tuple[int, int]]:
        """(start, end) of each list."""
        return zip(self.starts.tolist(), self.ends.tolist(), strict=True)

    @property
    def lengths(self) -> Ints:
        """The length of each list: the document frequency of its feature."""
        return self.ends - self.starts

    @property
    def size(self) -> int:
        """The number of postings in all lists."""
        return int(self.lengths.sum())


class WeightedLists(NamedTuple):
    """Posting lists and the weight of each, on the lattice (arrays.py)."""

    postings: PostingArrays
    weights: Floats

    @property
    def bound(self) -> float:
        """Upper bound of what these lists add to any score."""
        return float(np.abs(self.weights).sum()) * self.postings.largest


class Value(NamedTuple):
    """How entries get values: `of_entries`, those above 0 and their values; `of_lists`, in the core, if there is.

    The latter gives those of some lists, given all; None if it cannot.
    """

    of_entries: Callable[[Entries], tuple[Entries, Floats]]
    of_lists: Callable[[Ints, ListArrays], ListValues | None] | None = None

    def of(self, lists: Lists, wanted: Ints) -> ListValues:
        """What some lists (ascending) have."""
        if self.of_lists is not None:
            found = self.of_lists(wanted, lists.source(wanted))
            if found is not None:
                return found
        entries, values = self.of_entries(lists.take(wanted))
        lengths = np.diff(np.searchsorted(entries.lists, wanted, "right"), prepend=0)
        filled = lengths > 0
        squares = sum_runs(np.square(values), offsets(lengths)[:-1][filled]) if len(values) else np.zeros(0)
        ids = entries.ids.astype(np.int32)
        return ListValues(ids, values.astype(np.float32), lengths, float(squares.max(initial=0.0)))


ValuedPart = tuple[Ids, Floats32 | None, Ints, Ints]  # ids, values, where each list starts and ends


class ValuedLists:
    """The lists of one direction under one rule. Threads may share it: a list does not change once it has values.

    `largest` bounds all values; if it is None, the values that are there do. Without `valued` all values are 1.
    If there are many questions, each gives values to some lists that nobody has asked for, so that new ones find all.
    """

    def __init__(self, lists: Lists, part: ValuedPart, largest: float | None) -> None:
        self._lists, self._largest = lists, largest
        self._ids, self._values, self._starts, self._ends = part
        self.used = self._asked = 0  # entries that have values, and questions
        self._next = 0  # lists before it have values
        self._seen = 1.0  # the largest value so far
        self._square = 0.0  # the largest sum of squared values of a list so far

    @classmethod
    def empty(cls, lists: Lists, valued: bool, largest: float | None) -> "ValuedLists":
        """Lists of which none has values."""
        values = np.empty(lists.size, np.float32) if valued else None  # memory is taken where something is written
        starts: Ints = np.full(len(lists), -1, np.int64)
        return cls(lists, (np.empty(lists.size, np.int32), values, starts, np.zeros(len(lists), np.int64)), largest)

    @classmethod
    def whole(cls, lists: Lists, part: ValuedPart, largest: float | None, bounds: tuple[float, float]) -> "ValuedLists":
        """Lists of which all have values, and their `bounds`."""
        own = cls(lists, part, largest)
        own.used, own._next, (own._seen, own._square) = len(part[0]), len(lists), bounds
        return own

    @property
    def are_all_there(self) -> bool:
        """Whether all lists have values."""
        return self._next == len(self._starts)

    def missing(self, lists: Ints, in_core: bool) -> Ints:
        """Those of some lists that have no values yet, and some more."""
        self._asked += 1
        missing, most = self.without(lists), AHEAD_IN_CORE if in_core else AHEAD
        if self._asked <= NOTHING_AHEAD or self._lists.lengths[missing].sum() >= most:
            return missing
        return distinct(np.concatenate([missing, self._ahead(most)]))

    def without(self, lists: Ints) -> Ints:
        """Those of some lists that have no values yet."""
        return lists[take(self._starts, lists) < 0]

    def fill(self, missing: Ints, value: Value) -> None:
        """Give some lists, ascending, their values."""
        with LOCK:
            new = self.without(missing)
            if len(new):
                self._fill(new, value.of(self._lists, new))
            while self._next < len(self._starts) and self._starts[self._next] >= 0:
                self._skip()

    def get(self, lists: Ints) -> PostingArrays:
        """The posting lists of some features, ascending, which have values."""
        largest = self._seen if self._largest is None else self._largest
        starts, ends = take(self._starts, lists), take(self._ends, lists)
        return PostingArrays(self._ids, starts, ends, self._values, largest)

    @property
    def lengths(self) -> Ints:
        """The number of entries with a value above 0 of all lists, which have values, `(n_lists,)`."""
        return self._ends - self._starts

    @property
    def part(self) -> ValuedPart:
        """The lists, also those that have no values yet, which start at -1: the same arrays all the time."""
        return self._ids, self._values, self._starts, self._ends

    @property
    def bounds(self) -> tuple[float, float]:
        """The largest value, and the largest sum of squared values of a list, of those that are there."""
        return self._seen, self._square

    def give_all(self, value: Value) -> None:
        """Give all lists values, in their order, in some threads; so far nobody may have asked for any."""
        self._lists.settle()
        done = offsets(self._lists.lengths)
        cuts = np.searchsorted(done, np.arange(0, done[-1], AHEAD_IN_CORE))
        steps = [np.arange(first, last) for first, last in pairwise(sorted({0, *cuts.tolist(), len(self._starts)}))]
        for lists, found in zip(steps, side_by_side(partial(value.of, self._lists), steps), strict=True):
            self._fill(lists, found)
        self._next = len(self._starts)

    @property
    def norm(self) -> float:
        """An upper bound of the Euclidean norm of the values of any list."""
        return math.sqrt(self._square) * (1 + ROUNDING)

    def _ahead(self, most: int) -> Ints:
        """Lists that nobody has asked for yet, with so many entries: the next questions find their values."""
        first = self._next
        lengths = self._lists.lengths[first : first + most]
        count = max(1, int(np.searchsorted(np.cumsum(lengths), most, "right")))
        return first + np.arange(min(count, len(lengths)))

    def _skip(self) -> None:
        without = np.flatnonzero(self._starts[self._next : self._next + AHEAD] < 0)
        self._next = min(self._next + (int(without[0]) if len(without) else AHEAD), len(self._starts))

    def _fill(self, lists: Ints, found: ListValues) -> None:
        begin, end = self.used, self.used + len(found.ids)
        self._ids[begin:end] = found.ids
        if self._values is not None:
            self._values[begin:end] = found.values
            self._seen = max(self._seen, float(found.values.max(initial=0.0)))
            self._square = max(self._square, found.square)
        ends = np.cumsum(found.lengths) + begin
        self._ends[lists] = ends
        self._starts[lists] = ends - found.lengths
        self.used = end
