"""Where a set ends: a threshold between the items that belong to it and those that do not.

    tau = a mean(five best scores) + b median(leave-one-out scores of the seeds)

a and b depend on the kind of items (models/defaults.py). With one seed there is nothing to leave out, and a is larger.
"""

from dataclasses import replace

import numpy as np

from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter
from setsearch.models import Lift
from setsearch.models.defaults import Defaults
from setsearch.search.fields import Fields
from setsearch.search.weights import SeedWeights, example_entries

LEADERS = 5


def threshold(fields: Fields, weights: SeedWeights, leaders: Floats, defaults: Defaults) -> float:
    """tau: items with a larger score belong. `leaders` are the best scores. Raises InvalidParameter."""
    if not isinstance(weights.model, Lift):
        raise InvalidParameter("`cut` needs the model lift; leave out `cut`, or the model")
    mean = float(np.mean(leaders))
    if weights.examples.count == 1:
        return defaults.cut_of_one * mean
    of_leaders, of_seeds = defaults.cut
    if of_seeds == 0:
        return of_leaders * mean
    left_out: list[float] = sorted(leave_one_out_scores(fields, weights).tolist())
    middle = len(left_out) // 2
    return of_leaders * mean + of_seeds * (left_out[middle] + left_out[~middle]) / 2


def leave_one_out_scores(fields: Fields, weights: SeedWeights) -> Floats:
    """The score of each of at least two examples if the others are the set, `(n_examples,)`.

    For models without base and constant.
    """
    model, count = weights.model, weights.examples.count
    scores = np.zeros(count)
    for own in weights.positive:
        which, features, values = example_entries(own.field, weights.examples, model)
        positions = np.searchsorted(own.seeds.features, features)
        for seed in range(count):
            mine = which == seed
            having, sums = own.seeds.having.copy(), own.seeds.sums.copy()
            having[positions[mine]] -= 1
            sums[positions[mine]] -= values[mine]
            others = replace(own.seeds, having=having, sums=sums, count=count - 1)
            query = model.query(others, own.df, fields.items.size)
            scores[seed] += own.coefficient * float(query.weights[positions[mine]] @ values[mine])
    return scores
