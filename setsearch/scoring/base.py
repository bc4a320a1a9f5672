"""The query-independent base scores of all items."""

from functools import cached_property

from setsearch.arrays import Floats, to_lattice


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
