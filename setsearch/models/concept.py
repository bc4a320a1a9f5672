"""Bayesian concept learning: which sets, of those that are known, could the seeds be drawn from?

The hypotheses h are the posting lists. Under strong sampling, seeds are drawn from the concept at random, so a small
one explains them better than a large one, the size principle:

    p(h | D)  proportional to  p(h) [all seeds are in h] / |h|^N
    p(x in C | D) = sum_h [x in h] p(h | D)

computed in log space (log-sum-exp). Without the size principle the likelihood is 1 where all seeds are in h.
"""

import math
from dataclasses import dataclass

import numpy as np

from setsearch.errors import NoConcept
from setsearch.models.model import Floats, Ints, Query, Seeds
from setsearch.models.values import PRESENCE, Rule


@dataclass(frozen=True)
class Concept:
    """Every feature that all seeds have is a hypothesis, a priori as probable as the next. A score is a probability."""

    size_principle: bool = True

    @property
    def rule(self) -> Rule:
        """An item is in the posting list or not."""
        return PRESENCE

    def background(self, df: Ints, n_items: int, n_seeds: int) -> None:
        """None: what no seed has is no hypothesis."""

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """`weights` = p(h | D); raises NoConcept where no feature is shared by all seeds."""
        log_prior = np.where(seeds.having == seeds.count, 0.0, -np.inf)
        return Query(posterior(log_prior, df, seeds.count, self.size_principle), np.zeros(len(df)))


def posterior(log_prior: Floats, sizes: Ints, n_seeds: int, size_principle: bool = True) -> Floats:
    """p(h | D) of hypotheses, `(n,)`, from ln p(h), -inf for those that do not hold all seeds, and |h|."""
    log_joint = log_prior - (n_seeds * np.log(np.maximum(sizes, 1)) if size_principle else 0.0)
    largest = float(log_joint.max(initial=-math.inf))
    if largest == -math.inf:
        raise NoConcept("no hypothesis holds all the seeds: no feature is common to them; give fewer or nearer ones")
    joint = np.exp(log_joint - largest)
    result: Floats = joint / joint.sum()
    return result
