"""Decoded posting lists, end to end in one array: what a query has loaded, the next one finds."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.kernels import Ids, Postings, Values
from setsearch.lists import Entries
from setsearch.postings import Ints

Load = Callable[[Ints], tuple[Entries, Values | None]]


class Arena:
    """A cache of the lists of `n_lists` features that starts again when it is full.

    It holds at most `limit` bytes of ids, or the lists of one query if these are more.

    Threads may share it: `ids` only grows at its end, and a list is published after its ids are in place.
    """

    def __init__(self, n_lists: int, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._ids: Ids = np.empty(1 << 16, np.int32)
        self._values: Values | None = None  # of all ids, once a list came with values
        self._used = 0
        self._starts: npt.NDArray[np.int64] = np.full(n_lists, -1, np.int64)
        self._ends: npt.NDArray[np.int64] = np.zeros(n_lists, np.int64)

    def get(self, lists: Ints, load: Load) -> Postings:
        """The posting lists of some features, ascending; `load` reads those that are missing."""
        with self._lock:  # a lookup takes microseconds; only loading makes others wait
            missing = lists[self._starts[lists] < 0]
            if len(missing):
                entries, values = load(missing)
                if (4 if values is None else 8) * (self._used + len(entries.ids)) > self.limit:
                    self._clear()
                    if len(missing) < len(lists):
                        missing, (entries, values) = lists, load(lists)
                self._append(missing, entries, values)
            return Postings(self._ids, self._starts[lists], self._ends[lists], self._values)

    def _clear(self) -> None:
        # New arrays: whoever still reads the old ones keeps them.
        self._ids, self._values, self._used = np.empty(1 << 16, np.int32), None, 0
        self._starts[:] = -1

    def _append(self, lists: Ints, entries: Entries, values: Values | None) -> None:
        begin, end = self._used, self._used + len(entries.ids)
        if end > len(self._ids):
            self._ids = _grown(self._ids, begin, end)
        self._ids[begin:end] = entries.ids
        if values is not None:
            if self._values is None or len(self._values) < len(self._ids):
                old = np.empty(0, np.float32) if self._values is None else self._values
                self._values = _grown(old, begin, len(self._ids))
            self._values[begin:end] = values
        first, last = entries.bounds(lists)
        self._ends[lists] = last + begin
        self._starts[lists] = first + begin
        self._used = end


def _grown(array: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    """A larger copy of an array, of which the first `used` elements matter."""
    grown = np.empty(max(needed, 2 * len(array)), array.dtype)
    grown[:used] = array[:used]
    return grown
