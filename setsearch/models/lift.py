"""The default model: how much more of each feature the seeds have than the items at large.

    p_j    = df_j / n
    lift_j = ln( ((k p_j + c_j) / (k + N)) / p_j )      posterior mean of the Beta-Bernoulli over its prior mean
    v_j    = (s_j / N) (c_j / N)^(1/N) lift_j
    score  = sum over active features of v_j x_j

There is no base: an item that shares nothing with the seeds scores 0. Values are logarithmic counts with pivoted length
normalization (values.py) of the features that an item has, or, with soft twice-the-mean, has more of than the
collection.
"""

from dataclasses import dataclass

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import InvalidParameter
from setsearch.models.model import Query, Seeds, check_strength
from setsearch.models.values import ValueRule

NEAR = 2.0**-10  # a quotient as near to 1 has an exact logarithm only by what it has beyond 1


@dataclass(frozen=True)
class Lift:
    """Lift with the strength k > 0 of the prior, and the slope, 0 to 1, of the length normalization."""

    strength: float = 2.0
    slope: float = 0.8
    binarization: str = "soft-twice-mean"
    usual_strength = 8

    def __post_init__(self) -> None:
        check_strength(self.strength)
        if not 0 <= self.slope <= 1:
            raise InvalidParameter(f"the popularity must lie from 0 to 1, not {1 - self.slope:g}")

    @property
    def rule(self) -> ValueRule:
        """Logarithmic counts with pivoted length normalization."""
        return ValueRule(self.binarization, weighted=True, slope=self.slope)

    has_base = False  # features that no seed has do not count

    def background(self, df: Ints, n_items: int, n_seeds: float) -> None:
        """None."""

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """`weights` = v_j."""
        p = np.maximum(df, 1) / n_items  # a text as an example may have a feature that no item has
        lift = np.log((self.strength * p + seeds.having) / (self.strength + seeds.count) / p)
        beyond_one = (seeds.having - seeds.count * p) / p / (self.strength + seeds.count)
        lift = np.where(np.abs(beyond_one) < NEAR, np.log1p(beyond_one), lift)
        agreement = (seeds.having / seeds.count) ** (1 / seeds.count)
        return Query(seeds.sums / seeds.count * agreement * lift, np.zeros(len(df)))
