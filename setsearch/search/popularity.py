"""What people like is popular: a prior for the items of relations such as ratings.

    score_i = lift_i + (2 / N) sd(lift) z_i         z_i = (ln m_i - mean(ln m)) / sd(ln m)

m_i is the number of features of an item: who rated it. Means and standard deviations (sd) are over all items. What
belongs to a kind, such as a genre, is another question, for which this prior is wrong (docs/relevance.md).
"""

import numpy as np

from setsearch.search.fields import Fields
from setsearch.search.weights import SeedWeights

PRIOR = 2.0  # standard deviations of the scores for one of the logarithms, with one seed
NAME = "popular"


def with_popularity(fields: Fields, weights: SeedWeights) -> SeedWeights:
    """Weights with the prior as a part of the base."""
    items = np.flatnonzero(weights.base.items > -np.inf)
    logs = np.log(np.maximum(fields.first.snapshot.lists(True).lengths[items], 1))
    return weights.with_prior(NAME, items, logs, PRIOR / max(weights.examples.total, 1.0))
