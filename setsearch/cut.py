"""How many belong to a set: a threshold between the items of a ranking that do and those that do not.

    tau = a mean(five best scores) + b median(score of each seed when the other seeds are the set)

a and b belong to the kind of items (profiles.py); with one seed there is nothing to leave out, and a is larger.
"""

import numpy as np

from setsearch.errors import InvalidParameter
from setsearch.fields import Fields
from setsearch.kernels import Floats
from setsearch.models import Lift
from setsearch.profiles import Profile
from setsearch.weighing import Weighed, scores_when_left_out

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
