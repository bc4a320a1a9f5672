"""The weights of lift.py in a compiled loop (extra `[numba]`), rounded to the lattice.

Its logarithms and powers may differ from numpy's in the last bits. A weight that lies so near the middle between two
multiples of 2^-22 that this could matter is not rounded: the caller then asks lift.py.
"""

import math
from typing import Any

from setsearch.arrays import compiled
from setsearch.models.lift import NEAR

MARGIN = 2.0**-44  # relative; logarithms and powers differ by some units in the last place, which are 2^-53


@compiled
def is_sure(units: Any) -> Any:
    """Whether a weight in multiples of 2^-22 is rounded to the same one in spite of small differences."""
    return abs(units - math.floor(units) - 0.5) > abs(units) * MARGIN


@compiled
def factor(having: Any, df: Any, numbers: Any) -> Any:
    """v_j over s_j / N of a feature.

    `numbers` are n, N, the strength, and the exponent of the rarity.
    """
    n_items, count, strength, exponent = numbers
    p = max(df, 1) / n_items
    beyond_one = (having - count * p) / p / (strength + count)
    if abs(beyond_one) < NEAR:
        lift = math.log1p(beyond_one)
    else:
        lift = math.log((strength * p + having) / (strength + count) / p)
    lift *= (having / count) ** (1 / count)
    if exponent:
        lift *= math.log(n_items / min(max(df, 1), n_items)) ** exponent
    return lift
