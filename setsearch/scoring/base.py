"""The query-independent base scores of all items, and when sums on it are exact."""

from collections.abc import Sequence
from functools import cached_property

from setsearch.arrays import Floats, to_lattice
from setsearch.scoring.postings import WeightedLists, any_valued

EXACT_BELOW, EXACT_BELOW_VALUED = 2.0**17, 2.0**9  # sums on the lattices of arrays.py are exact below


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
    def largest_absolute(self) -> float:
        """The largest |base|."""
        least = float(self.items.min(where=self.items > -float("inf"), initial=0.0))
        return max(float(self.items.max(initial=-float("inf"))), -least)


def is_exact(base: Base, parts: Sequence[WeightedLists]) -> bool:
    """Whether sums are exact: then any order of additions gives the same bits."""
    bound = EXACT_BELOW_VALUED if any_valued(parts) else EXACT_BELOW
    return sum(part.bound for part in parts) < bound - base.largest_absolute
