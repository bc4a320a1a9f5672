"""What features add: to the score of an item, and to that of a set."""

import numpy as np

from setsearch.search.fields import Fields
from setsearch.search.results import Contribution, SetFeature
from setsearch.search.weights import SeedWeights


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
    """What the active features, and priors, add to the score of each item, the largest first."""
    order = np.array(sorted(items), np.int64)
    added: dict[int, dict[tuple[str, str | None], float]] = {
        item: {(name, None): float(prior[item]) / weights.scale for name, prior in weights.priors} for item in items
    }
    for own in weights.all:
        active = own.seeds.features
        stored = own.field.forward(items, own.rule)
        features, values = stored.concatenated_ids().astype(np.int64), stored.concatenated_values()
        positions = np.searchsorted(active, features)
        shared = np.append(active, -1)[positions] == features
        owners = np.repeat(order, stored.lengths)[shared]
        positions, values = positions[shared], values[shared]
        names = own.field.describe_features(active[np.unique(positions)].tolist())
        amounts = own.added(positions, values, own.rule.binary)
        for item, position, amount in zip(owners.tolist(), positions.tolist(), amounts.tolist(), strict=True):
            name = names[int(active[position])]
            added[item][name] = added[item].get(name, 0.0) + amount
    return {
        item: tuple(
            Contribution(name, weight, title)
            for (name, title), weight in sorted(parts.items(), key=lambda part: (-part[1], part[0][0]))
        )
        for item, parts in added.items()
    }
