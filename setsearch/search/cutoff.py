"""Where a set ends: a threshold between the items that belong to it and those that do not.

    tau = a mean(5 best scores) + (1 - a) floor              a = min(1/2, .2 + .02 (N - 1))

The floor is the score of the hundredth item, or of the middle one of less than 200: what an item has in common with the
seeds by chance. A shift of all scores shifts tau likewise, so this serves every model. Relations such as ratings, whose
sets may be much larger, have

    tau = b mean(5 best scores) + c median(leave-one-out scores of the seeds)

with one seed b' mean(5 best scores); models/defaults.py has b, c and b'.
"""

import numpy as np

from setsearch.arrays import Floats, median
from setsearch.models import Lift
from setsearch.models.defaults import Defaults
from setsearch.search.fields import Fields
from setsearch.search.left_out import leave_one_out_scores
from setsearch.search.weights import SeedWeights

LEADERS = 5
SHARE_OF_ONE, SHARE_OF_FURTHER, LARGEST_SHARE = 0.2, 0.02, 0.5
FLOOR = 100  # the place of the item with the score that others have by chance


def threshold(fields: Fields, weights: SeedWeights, scores: Floats, defaults: Defaults) -> float:
    """tau: items with a larger score belong. `scores` are the FLOOR best ones, or all, best first."""
    mean = float(np.mean(scores[:LEADERS]))
    if (
        defaults.left_out is not None
        and isinstance(weights.model, Lift)
        and not weights.priors
        and weights.joined is None  # items that joined the seeds raise what these score if they are left out
        and not weights.corrections
    ):
        of_leaders, of_seeds, of_one = defaults.left_out
        if weights.examples.count == 1:
            return of_one * mean
        return of_leaders * mean + of_seeds * median(leave_one_out_scores(fields, weights))
    place = min(FLOOR, fields.items.size // 2, len(scores))
    floor = float(scores[max(place, 1) - 1])
    share = SHARE_OF_ONE + SHARE_OF_FURTHER * (max(weights.examples.total, 1.0) - 1)
    return floor + min(share, LARGEST_SHARE) * (mean - floor)
