"""What people like is popular: a prior for the items of relations such as ratings.

    score_i = lift_i + (2 / N) sd(lift) z_i         z_i = (ln m_i - mean(ln m)) / sd(ln m)

m_i is the number of features of an item: who rated it. Means and standard deviations (sd) are over all items. What
belongs to a kind, such as a genre, is another question, for which this prior is wrong (docs/relevance.md).
"""

from math import fsum, sqrt

import numpy as np

from setsearch.arrays import Floats, to_lattice
from setsearch.scoring.base import Base
from setsearch.search.fields import Fields
from setsearch.search.weights import SeedWeights

PRIOR = 2.0  # standard deviations of the scores for one of the logarithms, with one seed
NAME = "popular"


def with_popularity(fields: Fields, weights: SeedWeights) -> SeedWeights:
    """Weights with the prior as a part of the base."""
    items = np.flatnonzero(weights.base.items > -np.inf)
    logs = np.log(np.maximum(fields.first.snapshot.lists(True).lengths[items], 1))
    spread = _deviation(weights.scores()[items])
    share = PRIOR / max(weights.examples.total, 1.0) * spread / (_deviation(logs) or 1.0)
    prior = np.zeros(len(weights.base.items))
    prior[items] = to_lattice(share * (logs - fsum(logs) / len(logs)), coefficient=weights.scale)
    base = Base(weights.base.items + prior, weights.base.constant, weights.scale)
    return weights._replace(base=base, priors=((NAME, prior),))


def _deviation(values: Floats) -> float:
    """The standard deviation, the same in any order of the values."""
    mean = fsum(values) / len(values)
    return sqrt(max(fsum((values - mean) ** 2) / len(values), 0.0))
