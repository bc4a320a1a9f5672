"""The paper's model: binary features, independent Beta-Bernoulli (section 3, equations 7 to 14; its s_j is c_j here).

    alpha_j = k m_j       beta_j = k (1 - m_j)       k: the strength of the prior, 2 in the paper

    log score(x) = c + sum_j q_j x_j                                                                      (12)
    c   = sum_j [ log(alpha_j+beta_j) - log(alpha_j+beta_j+N) + log(beta_j+N-c_j) - log beta_j ]          (13)
    q_j = log(alpha_j+c_j) - log alpha_j - log(beta_j+N-c_j) + log beta_j                                 (14)

A feature that no seed has (c_j = 0) has q_j = log beta_j - log(beta_j+N): its background weight. A feature that all
items have, or none, adds exactly 0 to every item: m_j = 1 or 0 in the limit of (10).
"""

import math
from dataclasses import dataclass

import numpy as np

from setsearch.arrays import Floats, Ints, bincount, ranks_of
from setsearch.models.model import Background, Query, Seeds
from setsearch.models.values import PRESENCE, ValueRule
from setsearch.options import check

MANY = 1000  # quotients this near to 1 have exact logarithms only by their distance from 1


@dataclass(frozen=True)
class Bernoulli:
    """Beta-Bernoulli with the strength k > 0 of the prior, on the values of a rule (zeros and ones in the paper)."""

    strength: float = 2.0
    rule: ValueRule = PRESENCE

    def __post_init__(self) -> None:
        check({"strength": self.strength})

    @property
    def usual_strength(self) -> int:
        """Above it, weights are scaled before they are rounded."""
        return 4096 if self.rule.binary else 64

    def background(self, df: Ints, n_items: int, n_seeds: float) -> Background:
        """`weights` = log beta_j - log(beta_j+N) `(n_features,)`; `constant` = c of (13) with all c_j = 0."""
        # Features of equal df are equal: few logarithms suffice, and their sum does not depend on the ids.
        counted = bincount(df)
        values = np.flatnonzero(counted)
        times, which = counted[values], ranks_of(counted > 0)[df]
        weights, constants = np.zeros(len(values)), np.zeros(len(values))
        varied = (values > 0) & (values < n_items)
        beta: Floats = self.strength * (n_items - values[varied]) / n_items
        weights[varied] = np.where(beta > MANY * n_seeds, -np.log1p(n_seeds / beta), np.log(beta / (beta + n_seeds)))
        of_strength = math.log(self.strength / (self.strength + n_seeds))
        if self.strength > MANY * n_seeds:
            of_strength = -math.log1p(n_seeds / self.strength)
        constants[varied] = of_strength - weights[varied]
        return Background(weights[which], math.fsum(constants * times))

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """`weights` = delta_j, q_j less its background weight, > 0; `constants` = the change of c."""
        # In units of k / n, alpha_j is df_j > 0, and beta_j is n - df_j.
        item = n_items / self.strength
        having = seeds.having * (df < n_items)  # for df = n the logarithms are those of 1: exactly 0
        beta = float(n_items) - df
        # Both constants have log(alpha+beta) - log(alpha+beta+N) and log beta in common.
        ratio = (seeds.count - having) * item
        ratio += beta
        ratio /= beta + seeds.count * item
        constants = np.log(ratio)
        less_than_one = having * item / (beta + seeds.count * item)
        near = less_than_one < 1 / MANY
        constants[near] = np.log1p(-less_than_one[near])
        weights = np.log1p(having * item / df)
        weights -= constants
        return Query(weights, constants)
