"""What features add: to the score of an item, and to that of a set."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from setsearch.answers.reasons import wording
from setsearch.answers.results import Contribution, Explanation, SetFeature, Statistics, WeightedQuery, rest_of
from setsearch.arrays import bincount, places_among, repeat
from setsearch.errors import UsageError
from setsearch.memory.fields import Fields
from setsearch.models import Model
from setsearch.search.feature_weights import FieldWeights, Rounded
from setsearch.search.weights import NEAR, RIVAL, SeedWeights

Named = tuple[str, str | None]  # name and title of a feature
FeatureRow = tuple[str, str | None, float, int, int]  # name, title, weight, seeds and items that have it
Added = Iterable[tuple[int, Named, float]]  # the place of an item, a feature, and what this adds


def set_features(weights: SeedWeights, k: int) -> list[SetFeature]:
    """The k features of largest weight; equal ones in the order of names."""
    rows: list[FeatureRow] = []
    amounts = [own.coefficient * own.query.weights for own in weights.positive]
    every = np.concatenate([np.zeros(0), *amounts])
    least = np.partition(every, -k)[-k] if k < len(every) else -np.inf  # only these need names
    for own, added in zip(weights.positive, amounts, strict=True):
        places = np.flatnonzero(added >= least)
        ids = own.seeds.features[places].tolist()
        described = own.field.describe_features(ids)
        columns = (ids, added[places].tolist(), own.seeds.having[places].tolist(), own.df[places].tolist())
        rows += [(*described[id], weight, having, df) for id, weight, having, df in zip(*columns, strict=True)]
    return ranked_features(rows, k)


def ranked_features(rows: Iterable[FeatureRow], k: int) -> list[SetFeature]:
    """The first k of some features, the largest weight first, equal ones in the order of names."""
    ranked = enumerate(sorted(rows, key=lambda row: (-row[2], row[0]))[:k], 1)
    return [SetFeature(rank, name, weight, having, df, title) for rank, (name, title, weight, having, df) in ranked]


def contributions(fields: Fields, weights: SeedWeights, items: Sequence[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features, the nearest items, and priors add to the score of each item, the largest first.

    Equal ones are in the order of names.
    """
    order, new = sorted(items), tuple.__new__
    sums: list[dict[Named, float]] = [{} for _ in order]
    found = [*_of_parts(weights, order), *_of_nearest(fields, weights, order)]
    found += (_of_field(own, order) for own in weights.adding)
    for place, named, amount in chain.from_iterable(found):  # some are in several fields, or are called the same
        own = sums[place]
        own[named] = own.get(named, 0.0) + amount
    parts = {}
    for item, own in zip(order, sums, strict=True):
        rows = sorted(own.items(), key=lambda row: (-row[1], row[0][0]))
        parts[item] = tuple([new(Contribution, (name, amount, title)) for (name, title), amount in rows])
    return parts


def _of_field(own: Rounded | FieldWeights, order: Sequence[int]) -> Added:
    """What the features of a field add."""
    stored = own.field.forward(order, own.rule)
    positions, shared = places_among(own.features, stored.concatenated_ids())
    places = repeat(np.arange(len(order)), stored.lengths)[shared].tolist()
    features, values = own.features[positions[shared]].tolist(), stored.concatenated_values()[shared]
    amounts, described = own.added(positions[shared], values).tolist(), own.field.describe_features([*{*features}])
    return zip(places, map(described.__getitem__, features), amounts, strict=True)


def _of_parts(weights: SeedWeights, order: Sequence[int]) -> Iterator[Added]:
    """What parts of the base add."""
    for name, part in weights.parts:
        if name != NEAR:
            own = part[order]
            places = np.flatnonzero(own) if name == RIVAL else np.arange(len(order))
            amounts = (own[places] / weights.scale).tolist()
            yield [(place, (name, None), amount) for place, amount in zip(places.tolist(), amounts, strict=True)]


def _of_nearest(fields: Fields, weights: SeedWeights, order: Sequence[int]) -> Iterator[Added]:
    """What each of the nearest items adds, by its name."""
    if weights.neighborhood is None:
        return
    near = [weights.neighborhood.near_parts(item) for item in order]
    described = fields.describe(sorted({other for own in near for other in own}))
    yield [
        (place, (NEAR + described[other][0], None), part / weights.scale)
        for place, own in enumerate(near)
        for other, part in own.items()
    ]


def explanation(fields: Fields, weights: SeedWeights, id: int, base: float | None = None) -> Explanation:
    """The parts that sum to the score of one item; `base`: its own, where memory has none."""
    features = contributions(fields, weights, [id])[id]
    if base is None:
        base = float(weights.base.items[id] - sum(part[id] for _, part in weights.parts)) / weights.scale
    name, title = fields.describe([id])[id]
    score = base + weights.constant + sum(part.weight for part in features)
    reasons = wording(fields, [features], weights.examples.ids).reasons(features, rest_of(score, features))
    return Explanation(name, score, weights.constant, base, features, title, reasons)


def _reweighted(model: Model, own: FieldWeights, engine: Statistics) -> FieldWeights:
    names = own.field.describe_features(own.seeds.features.tolist())
    frequencies = engine.frequencies([names[id][0] for id in own.seeds.features.tolist()])
    query = model.query(own.seeds, np.array(frequencies, np.int64).reshape(len(names)), engine.items)
    if own.discount is not None:
        query = query._replace(weights=query.weights * own.discount)
    if query.table is not None or len(own.seeds.cf):
        raise UsageError(
            "statistics of another engine are for the models lift and bernoulli; it knows no sums of counts"
        )
    return own._replace(query=query, lists=own.lists._replace(weights=query.weights * own.coefficient * own.scale))


def weighted_query(weights: SeedWeights, most: int | None, engine: Statistics | None) -> WeightedQuery:
    """The constant and the `most` features that add most, on average over the items that have them.

    Raises UsageError for several fields, whose features are of several kinds.
    """
    if len(weights.positive) > 1:
        raise UsageError("words by contexts are no query of another engine; use documents, or by='documents'")
    if engine is not None:
        sides = (weights.positive, weights.negative)  # by its document frequencies; the constant stays
        positive, negative = (tuple(_reweighted(weights.model, one, engine) for one in side) for side in sides)
        weights = weights.having(positive=positive, negative=negative)
    added: dict[str, float] = {}
    for own in weights.all:
        postings, amounts = own.lists
        lengths, values = postings.lengths, postings.concatenated_values()
        features = repeat(np.arange(len(lengths)), lengths)
        sums = bincount(features, values, len(lengths)) if len(lengths) else np.zeros(0)
        means = amounts * sums / np.maximum(lengths, 1) / weights.scale
        names = own.field.describe_features(own.seeds.features.tolist())
        for id, amount in zip(own.seeds.features.tolist(), means.tolist(), strict=True):
            added[names[id][0]] = added.get(names[id][0], 0.0) + amount
    ranked = sorted(added.items(), key=lambda part: (-abs(part[1]), part[0]))
    return WeightedQuery(weights.constant, ranked[:most])
