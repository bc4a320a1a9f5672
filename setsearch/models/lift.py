"""Posterior mean over prior mean: how much more of a feature the seeds have than the items at large.

    p_j    = df_j / n
    lift_j = ln( ((k p_j + c_j) / (k + N)) / p_j )      posterior mean of the Beta-Bernoulli over its prior mean
    v_j    = (s_j / N) (c_j / N)^(1/N) lift_j
    score  = sum over active features of v_j x_j

There is no base: an item that shares nothing with the seeds scores 0. Values are logarithmic counts of the features
that an item has (with soft twice-the-mean: has more of than the collection), evened out by its length (values.py).
"""

from dataclasses import dataclass

import numpy as np

from setsearch.errors import InvalidParameter
from setsearch.models.model import Ints, Query, Seeds, check_strength
from setsearch.models.values import Rule


@dataclass(frozen=True)
class Lift:
    """Lift with the strength k > 0 of the prior, and the balance b, 0 to 1, between long and short items."""

    strength: float = 2.0
    balance: float = 0.8
    existence: str = "soft-twice-mean"

    def __post_init__(self) -> None:
        check_strength(self.strength)
        if not 0 <= self.balance <= 1:
            raise InvalidParameter(f"the popularity must lie from 0 to 1, not {1 - self.balance:g}")

    @property
    def rule(self) -> Rule:
        """Logarithmic counts, balanced lengths."""
        return Rule(self.existence, weighted=True, balance=self.balance)

    def background(self, df: Ints, n_items: int, n_seeds: int) -> None:
        """None: features that no seed has do not count."""

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """`weights` = v_j."""
        share = np.maximum(df, 1) / n_items  # a feature that only a text has, and no item, has no list to score
        lift = np.log((self.strength * share + seeds.having) / (self.strength + seeds.count) / share)
        agreement = (seeds.having / seeds.count) ** (1 / seeds.count)
        return Query(seeds.sums / seeds.count * agreement * lift, np.zeros(len(df)))
