"""Long posting lists as bitmaps, one bit for each id: a compiled loop adds a weight to 32 items at a time."""

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Ids, Ints
from setsearch.lists import LOCK

Bits = npt.NDArray[np.uint32]
LONG = 32  # a list that holds one item in 32, or more, is long
PADDING = 16  # words behind each row, so that rows do not collide in the processor's cache


class Bitmaps:
    """The bitmaps of the long lists in one array of ids, each made on demand. Threads may share it."""

    def __init__(self, n_items: int) -> None:
        self.shortest = max(1, -(-n_items // LONG))  # ids of a long list, at least
        self._width = (-(-n_items // 32) // 16 + 1) * 16 + PADDING
        # The row of the list that starts in each stretch of `shortest` ids, -1 for none: no two long lists start in the
        # same stretch.
        self.rows: Ints = np.full(0, -1)
        self.bits: Bits = np.zeros((0, self._width), np.uint32)  # (n_rows, n_words)

    def add_missing(self, ids: Ids, starts: Ints, ends: Ints) -> None:
        """Make the missing bitmaps of those lists that are long."""
        with LOCK:
            is_long = ends - starts >= self.shortest
            starts, ends = starts[is_long], ends[is_long]
            rows = np.full(max(len(self.rows), int(starts.max(initial=-1)) // self.shortest + 1), -1)
            rows[: len(self.rows)] = self.rows
            new = rows[starts // self.shortest] < 0
            first = int((rows >= 0).sum())
            size = first + int(new.sum())
            if size > len(self.bits):
                # A larger copy: queries that read the old one keep it.
                more = np.zeros((max(size, 2 * first, 8) - first, self._width), np.uint32)
                self.bits = np.concatenate([self.bits[:first], more])
            for row, start, end in zip(self.bits[first:size], starts[new].tolist(), ends[new].tolist(), strict=True):
                mask = np.zeros(self._width * 32, bool)
                mask[ids[start:end]] = True
                row[:] = np.packbits(mask, bitorder="little").view("<u4")
            rows[starts[new] // self.shortest] = np.arange(first, size)
            self.rows = rows
