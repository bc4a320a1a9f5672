"""A second pass (pseudo-relevance feedback): the best items join the seeds, with half their weight.

Few seeds say little. With N seeds the 10 // N items that score best, of n / 25 at most, become seeds of weight 1/2, and
the weights are made again. The second pass reads as much as the first one times `feedback`, 5,000 postings at least:
the strongest features whose lists together are as long, without lists that are longer by themselves; and in any case
the 20 strongest features of the seeds. Strength is estimated with the document frequencies of the stored counts, so
that only the lists that count get values.
"""

from collections.abc import Callable, Sequence

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.models import Lift, Model
from setsearch.scoring.best import best
from setsearch.search.examples import Examples
from setsearch.search.fields import Fields
from setsearch.search.weights import Limit, SeedWeights, seed_weights

JOINING = 10  # items that join one seed
WEIGHT = 0.5  # of an item that joins
SHARE = 25  # of so many items one may join
LEAST = 5000  # postings that a second pass may always read
OWN = 20  # features of the seeds that always count


def joining(total: float, n_items: int) -> int:
    """How many items join seeds whose weights add up to N."""
    count = min(int(JOINING // max(total, 1.0)), n_items // SHARE)
    return count if count > 1 else 0


def allowed(feedback: float, read: int) -> int:
    """How many postings the second pass may read, if the first one has read so many."""
    return max(int(feedback * read), LEAST)


def own_features(features: Ints, weights: Floats) -> Ints:
    """The strongest features of the seeds; equal ones stay together."""
    if len(features) <= OWN:
        return features
    kept: Ints = features[weights >= np.partition(weights, -OWN)[-OWN]]
    return kept


def examples_weights(
    fields: Fields,
    examples: Examples,
    model: Model,
    feedback: float = 0.0,
    excluded: Sequence[int] = (),
    *,
    with_priors: Callable[[SeedWeights], SeedWeights] = lambda weights: weights,
) -> SeedWeights:
    """The weights of examples; with `feedback`, those of the second pass, unless features are an example.

    `excluded` items and the examples do not join them. `with_priors` adds what also says which items are the best.
    """
    first = seed_weights(fields, examples, model)
    count = joining(examples.total, fields.items.size)
    if not (feedback and count) or examples.has_features or not isinstance(model, Lift):
        return first
    ids, scores = best(with_priors(first).base, first.lists, [*excluded, *examples.ids], count, fields.ranks)
    ids = ids[scores > 0]
    if not len(ids):
        return first
    read = [int(own.field.frequencies()[0][own.seeds.features].sum()) for own in first.positive]
    joined = examples.joined_by(ids.tolist(), WEIGHT)
    limits = [
        Limit(allowed(feedback, size), own_features(own.seeds.features, own.lists.weights))
        for size, own in zip(read, first.positive, strict=True)
    ]
    return seed_weights(fields, joined, model, limits)._replace(examples=examples, joined=joined)
