"""The weights of lift.py in a compiled loop (extra `[numba]`), rounded to the lattice.

Its logarithms and powers may differ from numpy's in the last bits. A weight that lies so near the middle between two
multiples of 2^-22 that this could matter is not rounded: the caller then asks lift.py.
"""

import math
from typing import Any

import numba
import numpy as np

from setsearch.arrays import VALUE_LATTICE
from setsearch.models.lift import NEAR

MARGIN = 1e-5  # multiples of 2^-22; the difference is below it for weights up to 2^14


@numba.njit(nogil=True, cache=True)
def lift_weights(having: Any, sums: Any, df: Any, numbers: Any, weights: Any) -> Any:
    """Write v_j of features to `weights`; false if one of them lies too near the middle.

    `numbers` are n, N, the strength, and the exponent of the rarity.
    """
    n_items, count, strength, exponent = numbers
    sure = True
    for j in range(len(weights)):
        p = max(df[j], 1) / n_items
        beyond_one = (having[j] - count * p) / p / (strength + count)
        if abs(beyond_one) < NEAR:
            lift = math.log1p(beyond_one)
        else:
            lift = math.log((strength * p + having[j]) / (strength + count) / p)
        weight = sums[j] / count * (having[j] / count) ** (1 / count) * lift
        if exponent:
            weight *= math.log(n_items / min(max(df[j], 1), n_items)) ** exponent
        units = weight * VALUE_LATTICE
        sure &= abs(units - math.floor(units) - 0.5) > MARGIN
        weights[j] = np.rint(units) / VALUE_LATTICE
    return sure
