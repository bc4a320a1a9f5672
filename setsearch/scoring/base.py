"""What items score before the seeds are known, and what is derived from that to find the best ones."""

import math
import threading
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Int16s, Ints, Scores
from setsearch.scoring.postings import Part, have_values
from setsearch.scoring.selection import candidates, kth_largest

EXACT, EXACT_OF_VALUED = 2.0**17, 2.0**9  # sums on the lattices of scoring.py are exact below
SPARSE = 12  # postings times this, below the number of items: most items keep their base
HIGHEST = 1024  # items of highest base that are known in advance
_threads = threading.local()


class Base:
    """What every item scores before the seeds are known: `items` `(n_items,)`, -inf where there is none; a constant."""

    def __init__(self, items: Floats, constant: float) -> None:
        self.items = items
        self.constant = constant

    @cached_property
    def highest(self) -> tuple[Ints, float]:
        """Fewer than HIGHEST items of highest base, in no order, and a bound: no other item has a base above it."""
        if len(self.items) < HIGHEST:
            return np.arange(len(self.items)), -np.inf
        ids = candidates(self.items, HIGHEST)
        bound = kth_largest(self.items[ids], HIGHEST)
        return ids[self.items[ids] > bound], bound

    @cached_property
    def top(self) -> float:
        """The largest score."""
        return float(self.items.max(initial=-np.inf))

    @cached_property
    def below(self) -> tuple[npt.NDArray[np.uint8], float]:
        """How many steps below the top each item is, at least, `(n_items,)`; and a step, a power of two.

        A bound of each base in an eighth of the bytes. 255 steps reach to the lowest hundredth.
        """
        there = self.items[self.items > -np.inf]
        if not len(there):
            return np.zeros(len(self.items), np.uint8), 1.0
        height = max(self.top - float(np.percentile(there, 1)), 2.0**-20)
        step = 2.0 ** math.ceil(math.log2(height / 255))
        return np.minimum((self.top - self.items) / step, 255).astype(np.uint8), step

    @cached_property
    def singles(self) -> Floats32:
        """The scores in single precision, `(n_items,)`."""
        return self.items.astype(np.float32)

    @cached_property
    def units(self) -> tuple[Int16s, float]:
        """The scores in whole numbers of a unit, rounded down, 0 where there is none; and the unit, a power of two.

        It is the smallest with which they fit into 16 bits.
        """
        unit = 2.0 ** (math.frexp(self.extreme)[1] - 15)
        there = np.where(self.items > -np.inf, self.items, 0.0)
        return np.floor(there / unit).astype(np.int16), unit

    @cached_property
    def absent(self) -> Ints:
        """The items that have no score."""
        return np.flatnonzero(self.items == -np.inf)

    @cached_property
    def extreme(self) -> float:
        """The largest |score|."""
        least = float(self.items.min(where=self.items > -np.inf, initial=0.0))
        return max(self.top, -least)


def room_like(items: Scores) -> Scores:
    """Room of this thread for as many scores, valid until it asks again for some of the same type."""
    name = items.dtype.name
    room: Scores | None = getattr(_threads, name, None)
    if room is None or len(room) < len(items):
        room = np.empty(len(items) * 5 // 4, items.dtype)
        setattr(_threads, name, room)
    return room[: len(items)]


def working_copy(items: Scores) -> Scores:
    """A copy of scores in this thread's room."""
    copy = room_like(items)
    np.copyto(copy, items)
    return copy


def few_postings(base: Base) -> float:
    """Up to how many postings touch so few items that a look at these alone pays."""
    return len(base.items) / SPARSE if SPARSE else math.inf


def few_are_touched(base: Base, parts: Sequence[Part]) -> bool:
    """Whether parts touch so few items."""
    return sum(part.postings.size for part in parts) < few_postings(base)


def room_of(base: Base, valued: bool) -> float:
    """Up to what lists may add so that all sums are exact."""
    return (EXACT_OF_VALUED if valued else EXACT) - base.extreme


def sums_are_exact(base: Base, parts: Sequence[Part]) -> bool:
    """Whether what parts add to a base is the same in any order, and taking it away again leaves the base."""
    return sum(part.most for part in parts) < room_of(base, have_values(parts))
