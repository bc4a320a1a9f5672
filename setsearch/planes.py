"""Long posting lists as bits, one for each id: 32 items at a time get a weight, where a list is added one by one."""

import threading

import numpy as np
import numpy.typing as npt

from setsearch.postings import Ints

Bits = npt.NDArray[np.uint32]
OFTEN = 32  # a list that every so-maniest item is in is a long one
PAD = 16  # words behind each row, so that rows do not fall on each other in the processor's cache


class Planes:
    """The long ones among the lists of one array of ids, each made when it is first asked for. Threads may share it."""

    def __init__(self, n_ids: int) -> None:
        self._width = (-(-n_ids // 32) // 16 + 1) * 16 + PAD
        self._lock = threading.Lock()
        # Where the known lists start in the array, ascending, and the row of each; never an empty list.
        self.known: tuple[Ints, Ints] = np.full(1, -1), np.full(1, -1)
        self.bits: Bits = np.zeros((0, self._width), np.uint32)  # (n_rows, n_words), at least the rows that are known

    def make(self, ids: npt.NDArray[np.int32], starts: Ints, ends: Ints, shortest: int) -> None:
        """Make the rows of those lists of at least so many ids (1 or more) that are not known."""
        with self._lock:
            known, rows = self.known
            new = (ends - starts >= shortest) & ~np.isin(starts, known)
            first, size = len(known) - 1, len(known) - 1 + int(new.sum())
            if size > len(self.bits):
                # A larger copy: whoever reads the one before keeps it.
                more = np.zeros((max(size, 2 * first, 8) - first, self._width), np.uint32)
                self.bits = np.concatenate([self.bits[:first], more])
            for row, start, end in zip(self.bits[first:size], starts[new].tolist(), ends[new].tolist(), strict=True):
                there = np.zeros(self._width * 32, bool)
                there[ids[start:end]] = True
                row[:] = np.packbits(there, bitorder="little").view("<u4")
            known, rows = np.append(known, starts[new]), np.append(rows, np.arange(first, size))
            order = np.argsort(known)
            self.known = known[order], rows[order]
