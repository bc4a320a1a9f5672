"""Long posting lists as bits, one for each id: 32 items at a time get a weight, where a list is added one by one."""

import threading

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Ints

Bits = npt.NDArray[np.uint32]
OFTEN = 32  # a list that every so-maniest item is in is a long one
PAD = 16  # words behind each row, so that rows do not fall on each other in the processor's cache


class Planes:
    """The long ones among the lists of one array of ids, each made when it is first asked for. Threads may share it."""

    def __init__(self, n_items: int) -> None:
        self.shortest = max(1, -(-n_items // OFTEN))  # ids of a list that is a long one, at least
        self._width = (-(-n_items // 32) // 16 + 1) * 16 + PAD
        self._lock = threading.Lock()
        # The row of the list that starts in each stretch of `shortest` ids of the array, -1 for none that is known:
        # never two long ones start in one.
        self.rows: Ints = np.full(0, -1)
        self.bits: Bits = np.zeros((0, self._width), np.uint32)  # (n_rows, n_words), at least the rows that are known

    def make(self, ids: npt.NDArray[np.int32], starts: Ints, ends: Ints) -> None:
        """Make the rows of those lists that are long and not known."""
        with self._lock:
            long = ends - starts >= self.shortest
            starts, ends = starts[long], ends[long]
            rows = np.full(max(len(self.rows), int(starts.max(initial=-1)) // self.shortest + 1), -1)
            rows[: len(self.rows)] = self.rows
            new = rows[starts // self.shortest] < 0
            first = int((rows >= 0).sum())
            size = first + int(new.sum())
            if size > len(self.bits):
                # A larger copy: whoever reads the one before keeps it.
                more = np.zeros((max(size, 2 * first, 8) - first, self._width), np.uint32)
                self.bits = np.concatenate([self.bits[:first], more])
            for row, start, end in zip(self.bits[first:size], starts[new].tolist(), ends[new].tolist(), strict=True):
                there = np.zeros(self._width * 32, bool)
                there[ids[start:end]] = True
                row[:] = np.packbits(there, bitorder="little").view("<u4")
            rows[starts[new] // self.shortest] = np.arange(first, size)
            self.rows = rows
