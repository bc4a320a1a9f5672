"""Why an item has its score: what each feature that it shares with the examples adds."""

import numpy as np

from setsearch.fields import Fields
from setsearch.hits import Contribution
from setsearch.weighing import Weighed


def reasons_of(fields: Fields, weighed: Weighed, items: list[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features of each item add, the heaviest first."""
    order, rule = np.array(sorted(items), np.int64), weighed.model.rule
    found: dict[int, dict[tuple[str, str | None], float]] = {item: {} for item in items}
    for own in weighed.scoring:
        snapshot, active = own.field.snapshot, own.seeds.features
        stored = snapshot.features_of(fields.cursor, order, rule)
        features, values = stored.together().astype(np.int64), stored.values_together()
        places = np.searchsorted(active, features)
        shared = np.append(active, -1)[places] == features
        owners = np.repeat(order, stored.lengths)[shared]
        places, values = places[shared], values[shared]
        names = snapshot.features.describe(fields.cursor, active[np.unique(places)].tolist())
        added = own.added(places, values, rule.binary)
        for item, place, weight in zip(owners.tolist(), places.tolist(), added.tolist(), strict=True):
            name = names[int(active[place])]
            found[item][name] = found[item].get(name, 0.0) + weight
    return {
        item: tuple(
            Contribution(name, weight, title)
            for (name, title), weight in sorted(parts.items(), key=lambda part: (-part[1], part[0][0]))
        )
        for item, parts in found.items()
    }
