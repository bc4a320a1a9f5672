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
    count = how_many_join(first, fields.items.size, feedback)
    if not count:
        return first
    ids, scores = best(with_priors(first).base, first.lists, [*excluded, *examples.ids], count, fields.ranks)
    return second_pass(fields, first, ids[scores > 0].tolist(), feedback)


def how_many_join(first: SeedWeights, n_items: int, feedback: float) -> int:
    """How many items join the examples of a first pass, 0 for no second pass."""
    if not feedback or first.examples.has_features or not isinstance(first.model, Lift):
        return 0
    return joining(first.examples.total, n_items)


def second_pass(fields: Fields, first: SeedWeights, ids: Sequence[int], feedback: float) -> SeedWeights:
    """The weights of the examples of a first pass with the best items among them."""
    if not ids:
        return first
    read = [int(own.field.stored_lengths(own.seeds.features).sum()) for own in first.positive]
    joined = first.examples.joined_by(ids, WEIGHT)
    limits = [
        Limit(allowed(feedback, size), own_features(own.seeds.features, own.lists.weights))
        for size, own in zip(read, first.positive, strict=True)
    ]
    second = seed_weights(fields, joined, first.model, limits)
    return second._replace(examples=first.examples, joined=joined)
