"""Which features of the examples count, where not all may: the strongest, by what their lists cost."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints, to_lattice
from setsearch.memory.field import Field
from setsearch.models import Lift, Model, Seeds


class Limit(NamedTuple):
    """What counts of a field: features that `always` do, which examples have, and others that cost at most `most`.

    A feature costs its postings, and `more`.
    """

    most: int
    always: Ints
    more: int = 0


def limited(field: Field, seeds: Seeds, model: Model, n_items: int, limit: Limit | None) -> Seeds:
    """The features that a limit, or else the budget of the model, leaves."""
    budget = getattr(model, "budget", 0.0)
    if limit is None and not budget:
        return seeds
    counting = seeds.having > 0  # those of a seed of weight 0 do not
    if not counting.all():
        seeds = seeds.some(counting)
    stored = field.stored_lengths(seeds.features)
    if limit is None:
        assert isinstance(model, Lift)
        cost = int(stored.sum()) + model.cost_of_a_list * len(stored)
        limit = Limit(model.affordable(cost), seeds.features[:0], model.cost_of_a_list)
        if cost <= limit.most:
            return seeds
    kept = _strongest(seeds, stored, model, n_items, limit)
    return seeds.some(kept)


def _strongest(seeds: Seeds, stored: Ints, model: Model, n_items: int, limit: Limit) -> npt.NDArray[np.bool_]:
    """Which features always count, or have the largest weights while their lists, of lengths `stored`, cost little.

    Weights are estimated with `stored` as document frequencies: those of a rule need the values of all lists. Equal
    weights stay together, so that the order of the features does not matter. Lists that cost more than the limit are
    left out.
    """
    always = np.isin(seeds.features, limit.always)
    weights = to_lattice(model.query(seeds, stored, n_items).weights, binary=False)
    costs = stored + limit.more
    weights[always | (costs > limit.most)] = 0.0
    return always | (weights > _least(weights, costs, limit.most))


def _least(weights: Floats, costs: Ints, most: int) -> float:
    """The largest weight that does not count if features that cost `most` do, the strongest first; 0 for none."""
    order = (-weights).argsort()
    beyond = order[costs[order].cumsum() > most]
    return max(float(weights[beyond[0]]), 0.0) if len(beyond) else 0.0
