"""How many belong to a set: a threshold between the items of a ranking that do and those that do not.

    tau = a mean(five best scores) + b median(score of each seed when the other seeds are the set)

a and b belong to the kind of items (profiles.py); with one seed there is nothing to leave out, and a is larger.
"""

from dataclasses import replace

import numpy as np

from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter
from setsearch.models import Lift
from setsearch.models.defaults import Profile
from setsearch.search.fields import Fields
from setsearch.search.weights import Weighed, _entries

LEADERS = 5


def threshold(fields: Fields, weighed: Weighed, leaders: Floats, profile: Profile) -> float:
    """tau, above which items belong, from the `leaders`, the best scores; raises InvalidParameter."""
    if not isinstance(weighed.model, Lift):
        raise InvalidParameter("where a set ends is known for the model lift only; leave the cut out, or the model")
    mean = float(np.mean(leaders))
    if weighed.examples.count == 1:
        return profile.cut_of_one * mean
    of_leaders, of_seeds = profile.cut
    if of_seeds == 0:
        return of_leaders * mean
    left_out: list[float] = sorted(scores_when_left_out(fields, weighed).tolist())
    middle = len(left_out) // 2
    return of_leaders * mean + of_seeds * (left_out[middle] + left_out[~middle]) / 2


def scores_when_left_out(fields: Fields, weighed: Weighed) -> Floats:
    """The score that each of at least two examples has when the others are the set: `(n_examples,)`.

    Bases and constants are not in it: it is meant for models that have none.
    """
    model, count = weighed.model, weighed.examples.count
    scores = np.zeros(count)
    for own in weighed.fields:
        which, features, values = _entries(fields, own.field, weighed.examples, model)
        places = np.searchsorted(own.seeds.features, features)
        for seed in range(count):
            mine = which == seed
            having, sums = own.seeds.having.copy(), own.seeds.sums.copy()
            having[places[mine]] -= 1
            sums[places[mine]] -= values[mine]
            others = replace(own.seeds, having=having, sums=sums, count=count - 1)
            weights = model.query(others, own.df, fields.items.size).weights
            scores[seed] += own.share * float(weights[places[mine]] @ values[mine])
    return scores
