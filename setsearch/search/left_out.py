"""How well each example fits the others: its score if it is left out of the set."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, median, places_among
from setsearch.models import Lift, Seeds
from setsearch.search.examples import example_entries
from setsearch.search.fields import Fields
from setsearch.search.weights import SeedWeights

ODD = 1 / 4  # of the middle score of the others, below which a seed is odd
ENOUGH = 3  # seeds, to say that one of them is odd


class SeedFit(NamedTuple):
    """A seed, and the score, in nats, that it has if the other seeds are the set."""

    item: str
    score: float
    title: str | None = None


def odd_one(fits: Sequence[SeedFit]) -> SeedFit | None:
    """The seed that fits least, if it fits much less than the others; `fits` ascend by score."""
    if len(fits) < ENOUGH:
        return None
    return fits[0] if fits[0].score < ODD * median([fit.score for fit in fits[1:]]) else None


def fits(fields: Fields, weights: SeedWeights) -> list[SeedFit]:
    """The seeds (ascending ids) with their scores, the lowest first; empty for one, for no features, other models."""
    examples = weights.examples
    has_features = any(len(own.seeds.features) for own in weights.positive)
    if examples.count < 2 or not isinstance(weights.model, Lift) or not has_features:
        return []
    scores, names = leave_one_out_scores(fields, weights).tolist(), fields.describe(examples.ids)
    described = [names[id] for id in examples.ids]
    if fields.stored is not None:  # words without contexts, by their documents
        described += [fields.stored.describe([id])[id] for id in examples.rare]
    found = [SeedFit(name, score, title) for (name, title), score in zip(described, scores, strict=True)]
    return sorted(found, key=lambda fit: (fit.score, fit.item))


def leave_one_out_scores(fields: Fields, weights: SeedWeights, exactly: bool = True) -> Floats:
    """The score of each of at least two examples if the others, and what joined them, are the set, `(n_examples,)`.

    For the model lift, by the features that count for the set. If the others have no weight, it is 0. If the core has
    found it, it is exact but for the last bits of logarithms, unless `exactly`.
    """
    found = None if exactly else weights.left_out
    scores = _by_numpy(fields, weights) if found is None else found.copy()
    if weights.neighborhood is not None:  # entries number the examples in the order of ids
        ids, (_, near, factors, *_) = sorted(weights.examples.ids), weights.neighborhood
        scores[: len(ids)] = scores[: len(ids)] * factors[ids] + near[ids] / weights.scale
    return scores


def _by_numpy(fields: Fields, weights: SeedWeights) -> Floats:
    """The same of features alone."""
    model, count, shares = weights.model, weights.examples.count, weights.examples.weight()
    scores = np.zeros(count)
    for own in weights.positive:
        examples = weights.examples.within(own.field)
        total = (weights.joined or weights.examples).within(own.field).total
        which, features, values = example_entries(own.field, examples, model.rule)
        positions, counted = places_among(own.seeds.features, features)
        which, positions, values = which[counted], positions[counted], values[counted]
        for share in sorted({*shares[: examples.count].tolist()}):
            if share == total:
                continue
            mine = shares[which] == share
            seed, at, own_values = which[mine], positions[mine], values[mine]
            others = Seeds(
                own.seeds.features[at],
                own.seeds.having[at] - share,
                own.seeds.sums[at] - share * own_values,
                total - share,
                given=None if own.seeds.given is None else own.seeds.given - share,
            )
            added = model.query(others, own.df[at], fields.items.size).weights * own_values
            scores += own.coefficient * np.bincount(seed, added, count)
    return scores
