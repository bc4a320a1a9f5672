"""Long posting lists as bits, one for each id: 32 items at a time get a weight, where a list is added one by one."""

import threading

import numpy as np
import numpy.typing as npt

from setsearch.postings import Ints

Bits = npt.NDArray[np.uint32]
OFTEN = 16  # a list that every so-maniest item is in is a long one
PAD = 16  # words behind each row, so that rows do not fall on each other in the processor's cache


class Planes:
    """The long ones among the lists of one array of ids, each made when it is first asked for. Threads may share it."""

    def __init__(self, n_ids: int) -> None:
        self._width = (-(-n_ids // 32) // 16 + 1) * 16 + PAD
        self._bits: Bits = np.zeros((0, self._width), np.uint32)
        # Where the known lists start in the array, ascending, and the row of each; never an empty list.
        self._known: tuple[Ints, Ints] = np.full(1, -1), np.full(1, -1)
        self._lock = threading.Lock()

    def of(self, ids: npt.NDArray[np.int32], starts: Ints, ends: Ints) -> tuple[Bits, Ints]:
        """Bits, `(n_rows, n_words)`, and the row of each of some lists."""
        rows = self._rows(starts)
        if rows is None:
            with self._lock:
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                    if start not in self._known[0]:
                        self._add(start, ids[start:end])
            rows = self._rows(starts)
            assert rows is not None
        return self._bits, rows

    def _rows(self, starts: Ints) -> Ints | None:
        known, rows = self._known
        places = known.searchsorted(starts, "right") - 1
        return rows[places] if (known[places] == starts).all() else None

    def _add(self, start: int, ids: npt.NDArray[np.int32]) -> None:
        known, rows = self._known
        row = len(known) - 1
        if row == len(self._bits):
            # A larger copy: whoever reads the one before keeps it.
            self._bits = np.concatenate([self._bits, np.zeros((max(row, 8), self._width), np.uint32)])
        there = np.zeros(self._width * 32, bool)
        there[ids] = True
        self._bits[row] = np.packbits(there, bitorder="little").view("<u4")
        place = int(known.searchsorted(start))
        self._known = np.insert(known, place, start), np.insert(rows, place, row)
