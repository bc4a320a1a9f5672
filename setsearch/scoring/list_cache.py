"""Decoded posting lists, end to end in one array: what a query has loaded, the next one finds."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Entries, Floats32, Ids, Ints
from setsearch.scoring.bitmaps import Planes
from setsearch.scoring.postings import Postings

Piece = tuple[Entries, Floats32 | None]
Load = Callable[[Ints], tuple[int, Iterable[Piece]]]  # how many entries there are at most, and all of them


class Arena:
    """A cache of the lists of `n_lists` features that starts again when it is full.

    It holds at most `limit` bytes, or the lists of one query if these are more. Threads may share it: arrays only grow
    at their end, and a list is published after its entries are in place.
    """

    def __init__(self, n_lists: int, n_ids: int, limit: int, valued: bool) -> None:
        self._lock = threading.Lock()
        self._valued = valued
        self._n_ids = n_ids
        self._room = limit // (8 if valued else 4)  # entries
        self._starts: npt.NDArray[np.int64] = np.full(n_lists, -1, np.int64)
        self._ends: npt.NDArray[np.int64] = np.zeros(n_lists, np.int64)
        self._clear()

    def get(self, lists: Ints, load: Load) -> Postings:
        """The posting lists of some features, ascending; `load` reads those that are missing."""
        with self._lock:  # a lookup takes microseconds; only loading makes others wait
            starts = self._starts.take(lists)
            if np.minimum.reduce(starts, initial=0) < 0:
                missing = lists[starts < 0]
                size, pieces = load(missing)
                if self._used + size > self._room:
                    self._clear()
                    if len(missing) < len(lists):
                        missing, (size, pieces) = lists, load(lists)
                self._reserve(self._used + size)
                self._append(missing, pieces)
                starts = self._starts.take(lists)
            return Postings(self._ids, starts, self._ends.take(lists), self._values, self._planes, self._largest)

    def _clear(self) -> None:
        # New arrays: whoever still reads the old ones keeps them.
        self._ids: Ids = np.empty(1 << 16, np.int32)
        self._values: Floats32 | None = np.empty(1 << 16, np.float32) if self._valued else None
        self._planes = None if self._valued else Planes(self._n_ids)
        self._used, self._largest = 0, 1.0
        self._starts[:] = -1

    def _reserve(self, needed: int) -> None:
        if needed > len(self._ids):
            size = max(needed, min(2 * len(self._ids), self._room))
            self._ids = _grown(self._ids, self._used, size)
            if self._values is not None:
                self._values = _grown(self._values, self._used, size)

    def _append(self, lists: Ints, pieces: Iterable[Piece]) -> None:
        lengths, end = np.zeros(len(lists), np.int64), self._used
        for entries, values in pieces:
            begin, end = end, end + len(entries.ids)
            self._ids[begin:end] = entries.ids
            if self._values is not None and values is not None:
                self._values[begin:end] = values
                self._largest = max(self._largest, float(values.max(initial=0.0)))
            first, last = entries.bounds(lists)
            lengths += last - first
        ends = np.cumsum(lengths) + self._used
        self._ends[lists] = ends
        self._starts[lists] = ends - lengths
        self._used = end


def _grown(array: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    """A larger copy of an array, of which the first `used` elements matter."""
    grown = np.empty(size, array.dtype)
    grown[:used] = array[:used]
    return grown
