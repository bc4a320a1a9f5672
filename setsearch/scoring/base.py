"""The query-independent base scores of all items, and what is derived from them to find the best ones."""

import math
import threading
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Int16s, Ints, Scores, to_lattice
from setsearch.scoring.postings import WeightedLists, any_valued
from setsearch.scoring.selection import candidates, kth_largest

EXACT_BELOW, EXACT_BELOW_VALUED = 2.0**17, 2.0**9  # sums on the lattices of arrays.py are exact below
FEW_TOUCHED = 12  # with fewer than n / 12 postings most items keep their base
HIGHEST = 1024  # items of highest base that are known in advance
SAMPLE = 8192  # items whose bases tell how bases are spread

_threads = threading.local()


class Base:
    """What every item scores before the seeds are known: `items` `(n_items,)`, -inf for ids without an item.

    `items` are `scale` (a power of two) times as large as scores, `constant` is not.
    """

    def __init__(self, items: Floats, constant: float, scale: float = 1.0) -> None:
        self.items = items
        self.constant = constant
        self.scale = scale

    def at_scale(self, scale: float, binary: bool) -> "Base":
        """The same base at another scale, on the lattice."""
        if scale == self.scale:
            return self
        return Base(to_lattice(self.items, binary, scale / self.scale), self.constant, scale)

    @cached_property
    def highest(self) -> tuple[Ints, float]:
        """Up to HIGHEST items of highest base, in no order, and an upper bound of all other bases."""
        if len(self.items) < HIGHEST:
            return np.arange(len(self.items)), -np.inf
        ids = candidates(self.items, HIGHEST)
        bound = kth_largest(self.items[ids], HIGHEST)
        return ids[self.items[ids] > bound], bound

    @cached_property
    def top(self) -> float:
        """The largest base."""
        return float(self.items.max(initial=-np.inf))

    @cached_property
    def steps_below_top(self) -> tuple[npt.NDArray[np.uint8], float]:
        """How many steps each item is below the top, rounded down, `(n_items,)`; and the step, a power of two.

        A bound of each base in an eighth of the bytes. 255 steps reach down to about the first percentile.
        """
        sample = self.items[:: len(self.items) // SAMPLE + 1]
        existing = sample[sample > -np.inf]
        if not len(existing):
            return np.zeros(len(self.items), np.uint8), 1.0
        height = max(self.top - float(np.percentile(existing, 1)), 2.0**-20)
        step = 2.0 ** math.ceil(math.log2(height / 255))
        return np.minimum((self.top - self.items) / step, 255).astype(np.uint8), step

    @cached_property
    def float32(self) -> Floats32:
        """The bases in single precision, `(n_items,)`."""
        return self.items.astype(np.float32)

    @cached_property
    def int16(self) -> tuple[Int16s, float]:
        """The bases in multiples of a unit, rounded down, 0 for ids without an item; and the unit.

        The unit is the smallest power of two for which they fit into 16 bits.
        """
        unit = 2.0 ** (math.frexp(self.largest_absolute)[1] - 15)
        existing = np.where(self.items > -np.inf, self.items, 0.0)
        return np.floor(existing / unit).astype(np.int16), unit

    @cached_property
    def absent(self) -> Ints:
        """The ids without an item."""
        return np.flatnonzero(self.items == -np.inf)

    @cached_property
    def largest_absolute(self) -> float:
        """The largest |base|."""
        least = float(self.items.min(where=self.items > -np.inf, initial=0.0))
        return max(self.top, -least)


def scratch_like(items: Scores) -> Scores:
    """Scratch memory of this thread for as many scores, valid until the next call for the same dtype."""
    name = items.dtype.name
    scratch: Scores | None = getattr(_threads, name, None)
    if scratch is None or len(scratch) < len(items):
        scratch = np.empty(len(items) * 5 // 4, items.dtype)
        setattr(_threads, name, scratch)
    return scratch[: len(items)]


def scratch_copy(items: Scores) -> Scores:
    """A copy of scores in this thread's scratch memory."""
    copy = scratch_like(items)
    np.copyto(copy, items)
    return copy


def few_postings(base: Base) -> float:
    """The number of postings below which looking at the touched items alone pays."""
    return len(base.items) / FEW_TOUCHED if FEW_TOUCHED else math.inf


def touches_few(base: Base, parts: Sequence[WeightedLists]) -> bool:
    """Whether lists touch few items."""
    return sum(part.postings.size for part in parts) < few_postings(base)


def exact_bound(base: Base, valued: bool) -> float:
    """What lists may add at most so that all sums are exact."""
    return (EXACT_BELOW_VALUED if valued else EXACT_BELOW) - base.largest_absolute


def is_exact(base: Base, parts: Sequence[WeightedLists]) -> bool:
    """Whether sums are exact: then any order of additions gives the same bits, and subtraction restores the base."""
    return sum(part.bound for part in parts) < exact_bound(base, any_valued(parts))
