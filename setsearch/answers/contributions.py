"""What features add: to the score of an item, and to that of a set."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from setsearch.answers.reasons import wording
from setsearch.answers.results import Contribution, Explanation, SetFeature, Statistics, WeightedQuery, named, rest_of
from setsearch.arrays import Floats, Ints, bincount, distinct, places_among, repeat
from setsearch.errors import UsageError
from setsearch.memory.fields import Fields
from setsearch.models import Model
from setsearch.search.weights import NEAR, RIVAL, FieldWeights, SeedWeights

Added = tuple[Ints, Ints, Floats]  # places of items, numbers of features, and what these add to those


def set_features(weights: SeedWeights, k: int) -> list[SetFeature]:
    """The k features of largest weight; equal ones in the order of names."""
    rows: list[tuple[str, str | None, float, int, int]] = []
    for own in weights.positive:
        ids = own.seeds.features.tolist()
        described = own.field.describe_features(ids)
        amounts = (own.coefficient * own.query.weights).tolist()
        columns = (ids, amounts, own.seeds.having.tolist(), own.df.tolist())
        rows += [(*described[id], weight, having, df) for id, weight, having, df in zip(*columns, strict=True)]
    rows.sort(key=lambda row: (-row[2], row[0]))
    return [
        SetFeature(rank, name, weight, having, df, title)
        for rank, (name, title, weight, having, df) in enumerate(rows[:k], 1)
    ]


def contributions(fields: Fields, weights: SeedWeights, items: Sequence[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features, the nearest items, and priors add to the score of each item, the largest first.

    Equal ones are in the order of names.
    """
    order, names = sorted(items), dict[tuple[str, str | None], int]()  # numbers of features by name and title
    found = [*_of_parts(weights, order, names), *_of_nearest(fields, weights, order, names)]
    n_features = len(names)
    for own in weights.adding:
        stored = own.field.forward(order, own.rule)
        positions, shared = places_among(own.features, stored.concatenated_ids())
        positions, places = positions[shared], repeat(np.arange(len(order)), stored.lengths)[shared]
        used, numbers = distinct(positions), np.zeros(len(own.features), np.int64)
        described = own.field.describe_features(own.features[used].tolist()).values()
        numbers[used] = [names.setdefault(name, len(names)) for name in described]
        found.append((places, numbers[positions], own.added(positions, stored.concatenated_values()[shared])))
        n_features += len(used)
    places, numbers, amounts = map(np.concatenate, zip(*found, strict=True)) if len(found) > 1 else found[0]
    if len(names) < n_features:  # some are in several fields, or are called the same
        pairs, of_pairs = np.unique(places * len(names) + numbers, return_inverse=True)
        (places, numbers), amounts = np.divmod(pairs, len(names)), bincount(of_pairs, amounts, len(pairs))
    return _sorted(order, [*names], (places, numbers, amounts + 0.0))


def _sorted(
    order: Sequence[int], names: Sequence[tuple[str, str | None]], parts: Added
) -> dict[int, tuple[Contribution, ...]]:
    """The parts of each item, the largest first, equal ones in the order of names."""
    (places, numbers, amounts), ranks = parts, np.empty(len(names), np.int64)
    called = [name for name, _ in names]
    ranks[sorted(range(len(names)), key=called.__getitem__)] = np.arange(len(names))
    ranked = np.lexsort((ranks[numbers], -amounts, places))
    columns = zip(numbers[ranked].tolist(), amounts[ranked].tolist(), strict=True)
    made = named(Contribution, [(called[number], amount, names[number][1]) for number, amount in columns])
    ends = np.cumsum(bincount(places, minlength=len(order))).tolist()
    return {item: tuple(made[start:end]) for item, (start, end) in zip(order, pairwise([0, *ends]), strict=True)}


def _of_parts(weights: SeedWeights, order: Sequence[int], names: dict[tuple[str, str | None], int]) -> Iterator[Added]:
    """What parts of the base add."""
    for name, part in weights.parts:
        if name != NEAR:
            own = part[order]
            places = np.flatnonzero(own) if name == RIVAL else np.arange(len(order))
            number = names.setdefault((name, None), len(names))
            yield places, np.full(len(places), number), own[places] / weights.scale


def _of_nearest(
    fields: Fields, weights: SeedWeights, order: Sequence[int], names: dict[tuple[str, str | None], int]
) -> Iterator[Added]:
    """What each of the nearest items adds, by its name."""
    if weights.neighborhood is None:
        return
    near = [weights.neighborhood.near_parts(item) for item in order]
    described = fields.describe(sorted({other for own in near for other in own}))
    places = repeat(np.arange(len(order)), np.array([*map(len, near)], np.int64))
    features = [(NEAR + described[other][0], None) for own in near for other in own]
    numbers = np.array([names.setdefault(own, len(names)) for own in features], np.int64)
    yield places, numbers, np.array([part for own in near for part in own.values()]) / weights.scale


def explanation(fields: Fields, weights: SeedWeights, id: int) -> Explanation:
    """The parts that sum to the score of one item."""
    features = contributions(fields, weights, [id])[id]
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


def weighted_query(weights: SeedWeights, most: int | None, engine: Statistics | None = None) -> WeightedQuery:
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
