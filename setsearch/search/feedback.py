"""A second pass (pseudo-relevance feedback): the best items join the seeds, with half their weight.

Few seeds, five at most, say little. The items that score best, of n / 25 at most, become seeds of weight 1/2 until
there are ten, and the weights are made again; under a budget (models/lift.py) 10 // N join N seeds, three to five or
none. The second pass reads as much as the first one times `feedback`, 5,000 postings at least: the strongest features
whose lists together are as long, without lists that are longer by themselves; and in any case the 20 strongest features
of the seeds. Under a budget a list counts as long as it costs. Strength is estimated with the document frequencies of
the stored counts, so that only the lists that count get values.
"""

from collections.abc import Sequence

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.models import Lift, Model
from setsearch.search.budget import Limit
from setsearch.search.examples import Examples
from setsearch.search.fields import Fields
from setsearch.search.weights import SeedWeights, seed_weights

EXAMPLES = 10  # seeds and what joins them
FEWEST = 2  # that may join
WITH_BUDGET = 3, 5  # at least and at most so many: each has thousands of features
WEIGHT = 0.5  # of an item that joins
SHARE = 25  # of so many items one may join
LEAST = 5000  # postings that a second pass may always read
OWN = 20  # features of the seeds that always count


def joining(model: Lift, total: float, n_items: int) -> int:
    """How many items join seeds whose weights add up to N."""
    fewest, most = WITH_BUDGET if model.budget else (FEWEST, EXAMPLES)
    missing = EXAMPLES / max(total, 1.0) if model.budget else EXAMPLES - total
    count = min(int(missing), most, n_items // SHARE)
    return count if count >= fewest and total <= EXAMPLES / 2 else 0


def own_features(features: Ints, weights: Floats) -> Ints:
    """The strongest features of the seeds; equal ones stay together."""
    if len(features) <= OWN:
        return features
    kept: Ints = features[weights >= np.partition(weights, -OWN)[-OWN]]
    return kept


def how_many_join(model: Model, examples: Examples, n_items: int, feedback: float) -> int:
    """How many items join examples, 0 for no second pass."""
    if not feedback or examples.has_features or not isinstance(model, Lift):
        return 0
    return joining(model, examples.total, n_items)


def second_pass(fields: Fields, first: SeedWeights, ids: Sequence[int], feedback: float) -> SeedWeights:
    """The weights of the examples of a first pass with the best items among them."""
    if not ids:
        return first
    assert isinstance(first.model, Lift)
    more, limits = first.model.cost_of_a_list, []
    for own in first.positive:
        cost = int(own.field.stored_lengths(own.seeds.features).sum()) + more * len(own.seeds.features)
        limits.append(
            Limit(max(int(feedback * cost), LEAST), own_features(own.seeds.features, own.lists.weights), more)
        )
    joined = first.examples.joined_by(ids, WEIGHT)
    second = seed_weights(fields, joined, first.model, limits)
    return second.having(examples=first.examples, join=lambda: joined)
