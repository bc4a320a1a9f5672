"""The loops of smoothing.py in compiled code (extra `[numba]`), with the same bits."""

from typing import Any

import numpy as np

from setsearch.arrays import LATTICE, compiled


@compiled
def smoothed(scores: Any, neighbors: Any, seeds: Any, share: Any) -> Any:
    """As `smoothing.smooth`."""
    ids, shares, factors = neighbors
    own, added, near = scores * factors, np.empty(len(scores)), np.empty(len(scores))
    for i in range(len(scores)):
        added[i] = np.rint((own[i] - scores[i]) * LATTICE) * (1 / LATTICE)
    own[seeds] = 0.0
    best = 0.0
    for i in range(len(scores)):
        best = max(best, own[i])
    own[seeds] = best
    for i in range(len(scores)):
        total = 0.0
        for place in range(len(ids)):
            total += shares[place, i] * own[ids[place, i]]
        near[i] = np.rint(total * share * LATTICE) * (1 / LATTICE)
    return added, near
