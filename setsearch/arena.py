"""Decoded posting lists, end to end in one array: what a query has loaded, the next one finds."""

import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from setsearch.kernels import Ids, Postings
from setsearch.lists import Entries
from setsearch.postings import Ints

Load = Callable[[Ints], Entries]


class Arena:
    """A cache of the lists of `n_lists` features that starts again when it is full.

    It holds at most `limit` bytes of ids, or the lists of one query if these are more.

    Threads may share it: `ids` only grows at its end, and a list is published after its ids are in place.
    """

    def __init__(self, n_lists: int, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._ids: Ids = np.empty(1 << 16, np.int32)
        self._used = 0
        self._starts: npt.NDArray[np.int64] = np.full(n_lists, -1, np.int64)
        self._ends: npt.NDArray[np.int64] = np.zeros(n_lists, np.int64)

    def get(self, lists: Ints, load: Load) -> Postings:
        """The posting lists of some features, ascending; `load` reads those that are missing."""
        with self._lock:  # a lookup takes microseconds; only loading makes others wait
            missing = lists[self._starts[lists] < 0]
            if len(missing):
                entries = load(missing)
                if 4 * (self._used + len(entries.ids)) > self.limit:
                    self._clear()
                    if len(missing) < len(lists):
                        missing, entries = lists, load(lists)
                self._append(missing, entries)
            return Postings(self._ids, self._starts[lists], self._ends[lists])

    def _clear(self) -> None:
        # A new array: whoever still reads the old one keeps it.
        self._ids, self._used = np.empty(1 << 16, np.int32), 0
        self._starts[:] = -1

    def _append(self, lists: Ints, entries: Entries) -> None:
        begin, end = self._used, self._used + len(entries.ids)
        if end > len(self._ids):
            grown = np.empty(max(end, 2 * len(self._ids)), np.int32)
            grown[:begin] = self._ids[:begin]
            self._ids = grown
        self._ids[begin:end] = entries.ids
        first, last = entries.bounds(lists)
        self._ends[lists] = last + begin
        self._starts[lists] = first + begin
        self._used = end
