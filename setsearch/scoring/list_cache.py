"""A cache of decoded posting lists, end to end in one array."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Entries, Floats32, Ids, Ints
from setsearch.scoring.bitmaps import Bitmaps
from setsearch.scoring.postings import PostingArrays

Chunk = tuple[Entries, Floats32 | None]  # entries and their values
Load = Callable[[Ints], tuple[int, Iterable[Chunk]]]  # an upper bound of the number of entries, and all of them


class ListCache:
    """The lists of `n_lists` features in at most `limit` bytes, or those of one query if they are larger.

    A full cache starts again. Threads may share it: arrays only grow at their end, and a list is published after its
    entries are in place.
    """

    def __init__(self, n_lists: int, n_ids: int, limit: int, valued: bool) -> None:
        self._lock = threading.Lock()
        self._valued = valued
        self._n_ids = n_ids
        self._capacity = limit // (8 if valued else 4)  # entries
        self._starts: Ints = np.full(n_lists, -1, np.int64)
        self._ends: Ints = np.zeros(n_lists, np.int64)
        self._clear()

    def get(self, lists: Ints, load: Load) -> PostingArrays:
        """The posting lists of some features, ascending; `load` reads the missing ones."""
        with self._lock:  # a lookup takes microseconds; only loading makes others wait
            starts = self._starts.take(lists)
            if np.minimum.reduce(starts, initial=0) < 0:
                missing = lists[starts < 0]
                size, chunks = load(missing)
                if self._used + size > self._capacity:
                    self._clear()
                    if len(missing) < len(lists):
                        missing, (size, chunks) = lists, load(lists)
                self._reserve(self._used + size)
                self._append(missing, chunks)
                starts = self._starts.take(lists)
            ends = self._ends.take(lists)
            return PostingArrays(self._ids, starts, ends, self._values, self._bitmaps, self._largest)

    def _clear(self) -> None:
        # New arrays: queries that still read the old ones keep them.
        self._ids: Ids = np.empty(1 << 16, np.int32)
        self._values: Floats32 | None = np.empty(1 << 16, np.float32) if self._valued else None
        self._bitmaps = None if self._valued else Bitmaps(self._n_ids)
        self._used, self._largest = 0, 1.0
        self._starts[:] = -1

    def _reserve(self, needed: int) -> None:
        if needed > len(self._ids):
            size = max(needed, min(2 * len(self._ids), self._capacity))
            self._ids = _enlarged(self._ids, self._used, size)
            if self._values is not None:
                self._values = _enlarged(self._values, self._used, size)

    def _append(self, lists: Ints, chunks: Iterable[Chunk]) -> None:
        lengths, end = np.zeros(len(lists), np.int64), self._used
        for entries, values in chunks:
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


def _enlarged(array: npt.NDArray[Any], used: int, size: int) -> npt.NDArray[Any]:
    """A larger copy of an array; only the first `used` elements are copied."""
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger
