"""The default model: how much more of each feature the seeds have than the items at large.

    p_j    = df_j / n
    lift_j = ln( ((k p_j + c_j) / (k + N)) / p_j )      posterior mean of the Beta-Bernoulli over its prior mean
    v_j    = (s_j / N) (c_j / N)^(1/N) lift_j (ln(n / df_j))^(r ln N)
    score  = sum over active features of v_j x_j

The last factor lets rare features count more, the more seeds there are; with the rarity r = 0 it is 1. If other items
joined the seeds, its N is that of the seeds alone. There is no base: an item that shares nothing with the seeds scores
0. Values are logarithmic counts with pivoted length normalization (values.py) of the features that an item has, or,
with soft twice-the-mean, has more of than the collection.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from setsearch.arrays import Ints
from setsearch.models.model import Query, Seeds
from setsearch.models.values import ValueRule
from setsearch.options import check

COST_OF_A_LIST = 64  # postings, beside its own
NEAR = 2.0**-10  # a quotient as near to 1 has an exact logarithm only by what it has beyond 1


@dataclass(frozen=True)
class Lift:
    """Lift with the strength k > 0 of the prior, the slope, 0 to 1, of the length normalization, and the rarity.

    With a `budget` b, only the strongest features count, as many as b C^(1/3) pays for, where C is what all of them
    cost: a feature costs its stored postings and 64 more.

    `fields`: those that count, with their coefficients (values.py); all without.
    """

    strength: float = 2.0
    slope: float = 0.8
    binarization: str = "soft-twice-mean"
    rarity: float = 0.0
    budget: float = 0.0
    fields: tuple[tuple[str, float], ...] = ()
    usual_strength = 8

    def __post_init__(self) -> None:
        numbers = {"strength": self.strength, "popularity": 1 - self.slope}
        check({**numbers, "rarity": self.rarity, "budget": self.budget})

    @cached_property
    def rule(self) -> ValueRule:
        """Logarithmic counts with pivoted length normalization."""
        return ValueRule(self.binarization, weighted=True, slope=self.slope, fields=self.fields)

    has_base = False  # features that no seed has do not count

    @property
    def cost_of_a_list(self) -> int:
        """What a feature costs beside its postings: with a budget there are so many that each counts."""
        return COST_OF_A_LIST if self.budget else 0

    def affordable(self, cost: int) -> int:
        """What may be spent on features that would cost so much."""
        return int(self.budget * cost ** (1 / 3) + 0.5)  # cubes are not where it could be rounded otherwise

    def background(self, df: Ints, n_items: int, n_seeds: float) -> None:
        """None."""

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """`weights` = v_j."""
        if not len(df):  # none of the examples is in this field, so that there is nothing to divide by
            return Query(np.zeros(0), np.zeros(0))
        p = np.maximum(df, 1) / n_items  # a text as an example may have a feature that no item has
        beyond_one = (seeds.having - seeds.count * p) / p / (self.strength + seeds.count)
        lift = np.log((self.strength * p + seeds.having) / (self.strength + seeds.count) / p)
        near = (np.abs(beyond_one) < NEAR).nonzero()[0]
        if len(near):
            lift[near] = np.log1p(beyond_one[near])
        agreement = (seeds.having / seeds.count) ** (1 / seeds.count)
        weights = seeds.sums / seeds.count * agreement * lift
        exponent = self.rarity * math.log(max(seeds.given or seeds.count, 1.0))
        if exponent:
            weights *= np.log(n_items / np.minimum(np.maximum(df, 1), n_items)) ** exponent
        return Query(weights, np.zeros(len(df)))
