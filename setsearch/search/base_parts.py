"""What is added to the base once the examples are known: what neighbors add, and priors such as likeness in meaning."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints, to_lattice
from setsearch.scoring.smoothing import Neighbors, Smoothing


class Neighborhood(NamedTuple):
    """Parts of the base because of neighbors, `(n_ids,)` each, and the factors of scores (scoring/smoothing.py).

    `neighbors` are counted by `share`; `sums` are the scores before, of `seeds` and all others.
    """

    own: Floats
    near: Floats
    factors: Floats
    neighbors: Neighbors
    share: float
    sums: Floats
    seeds: Ints

    def near_parts(self, id: int) -> dict[int, float]:
        """What each of the nearest items adds to the score of one; their sum is its `near`."""
        ids, shares = self.neighbors.ids[id].astype(np.int64), self.neighbors.shares[id]
        scores = self.sums[ids] + self.own[ids]
        is_seed = np.isin(ids, self.seeds)
        if is_seed.any():
            others = np.ones(len(self.sums), bool)
            others[self.seeds] = False
            scores[is_seed] = max(float((self.sums + self.own).max(initial=0.0, where=others)), 0.0)
        added = to_lattice(shares * scores * self.share)
        if len(added):
            added[np.argmax(np.abs(added))] += self.near[id] - added.sum()
        return {other: part for other, part in zip(ids.tolist(), added.tolist(), strict=True) if part}


class Prior(NamedTuple):
    """A named part of the base for some items: share sd(scores) z(values), where z is in standard deviations.

    If all scores are equal, sd(scores) is taken as 1. `mean` and `spread`: those of the values, which are not all
    equal. `of_seeds`: the values of the examples, in the order of ids, each if it is left out of the set; NaN for none.
    """

    name: str
    items: Ints
    values: Floats
    mean: float
    spread: float
    share: float
    of_seeds: Callable[[], Floats] | None = None

    @property
    def numbers(self) -> tuple[Ints, Floats, float, float, float]:
        """What the core is told of it."""
        return self.items, self.values, self.mean, self.spread, self.share


class Parts(NamedTuple):
    """The parts that are in a base: `priors` by name, `(n_ids,)` each, in order, and those because of neighbors.

    `of_seeds`: what priors give each example, by id, that is left out, if it is known.
    """

    priors: tuple[tuple[str, Floats], ...] = ()
    of_seeds: Callable[[], Floats] | None = None
    neighborhood: Neighborhood | None = None


class Waiting(NamedTuple):
    """Parts that are worked out, one after the other, when the scores of all items are needed."""

    smoothing: Smoothing | None = None
    prior: Prior | None = None


NO_PARTS, NOTHING_WAITS = Parts(), Waiting()
