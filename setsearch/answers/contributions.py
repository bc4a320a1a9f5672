"""What features add: to the score of an item, and to that of a set."""

import numpy as np

from setsearch.answers.reasons import wording
from setsearch.answers.results import Contribution, Explanation, SetFeature, Statistics, WeightedQuery, rest_of
from setsearch.arrays import bincount, places_among, repeat
from setsearch.errors import UsageError
from setsearch.memory.fields import Fields
from setsearch.models import Model
from setsearch.search.weights import NEAR, RIVAL, FieldWeights, SeedWeights


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


def contributions(fields: Fields, weights: SeedWeights, items: list[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features, the nearest items, and priors add to the score of each item, the largest first."""
    order = np.array(sorted(items), np.int64)
    added: dict[int, dict[tuple[str, str | None], float]] = {
        item: {
            (name, None): float(part[item]) / weights.scale
            for name, part in weights.parts
            if name != NEAR and (name != RIVAL or part[item])
        }
        for item in items
    }
    _add_nearest(fields, weights, added)
    for own in weights.all:
        active = own.seeds.features
        stored = own.field.forward(items, own.rule)
        features, values = stored.concatenated_ids().astype(np.int64), stored.concatenated_values()
        positions, shared = places_among(active, features)
        owners = repeat(order, stored.lengths)[shared]
        positions, values = positions[shared], values[shared]
        features = active[positions].tolist()
        names = own.field.describe_features([*dict.fromkeys(features)])
        amounts = own.added(positions, values, own.rule.binary)
        for item, feature, amount in zip(owners.tolist(), features, amounts.tolist(), strict=True):
            name, parts = names[feature], added[item]
            parts[name] = parts.get(name, 0.0) + amount
    return {item: _sorted(parts) for item, parts in added.items()}


def _sorted(parts: dict[tuple[str, str | None], float]) -> tuple[Contribution, ...]:
    """The largest first, equal ones in the order of names."""
    ranked = sorted([(-weight, name, place, title) for place, ((name, title), weight) in enumerate(parts.items())])
    return tuple([Contribution(name, -weight, title) for weight, name, _, title in ranked])


def _add_nearest(fields: Fields, weights: SeedWeights, added: dict[int, dict[tuple[str, str | None], float]]) -> None:
    """Add what each of the nearest items adds, by its name."""
    if weights.neighborhood is None:
        return
    near = {item: weights.neighborhood.near_parts(item) for item in added}
    names = fields.describe(sorted({other for own in near.values() for other in own}))
    for item, parts in near.items():
        added[item] |= {(NEAR + names[other][0], None): part / weights.scale for other, part in parts.items()}


def explanation(fields: Fields, weights: SeedWeights, id: int) -> Explanation:
    """The parts that sum to the score of one item."""
    features = contributions(fields, weights, [id])[id]
    base = float(weights.base.items[id] - sum(part[id] for _, part in weights.parts)) / weights.scale
    name, title = fields.describe([id])[id]
    score = base + weights.constant + sum(part.weight for part in features)
    reasons = wording(fields, [features], weights.examples.ids).reasons(features, rest_of(score, features))
    return Explanation(name, score, weights.constant, base, features, title, reasons)


def _with_statistics(weights: SeedWeights, engine: Statistics) -> SeedWeights:
    """The same seeds, weighted by the document frequencies of another collection; the constant stays.

    Raises UsageError for models that need more than these.
    """
    return weights.having(
        positive=tuple(_reweighted(weights.model, own, engine) for own in weights.positive),
        negative=tuple(_reweighted(weights.model, own, engine) for own in weights.negative),
    )


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
        weights = _with_statistics(weights, engine)
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
