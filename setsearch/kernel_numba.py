"""The numba kernel: the only file that imports numba (extra `[numba]`). Compiled once, then loaded from a cache."""

from typing import Any

import numba


@numba.njit("void(f8[::1], u4[::1], i8[::1], i8[::1], f8[::1])", nogil=True, cache=True)
def add(scores: Any, ids: Any, starts: Any, ends: Any, weights: Any) -> None:
    """scores[ids[starts[i] : ends[i]]] += weights[i], for each i; unsigned ids need no check for negative ones."""
    for i in range(len(weights)):
        weight = weights[i]
        for place in range(starts[i], ends[i]):
            scores[ids[place]] += weight


@numba.njit(
    [f"void(f8[::1], u4[::1], i8[::1], i8[::1], {values}[::1], f8[::1])" for values in ("f4", "f8")],
    nogil=True,
    cache=True,
)
def add_valued(scores: Any, ids: Any, starts: Any, ends: Any, values: Any, weights: Any) -> None:
    """scores[ids[p]] += weights[i] * values[p], for p in starts[i] to ends[i], for each i."""
    for i in range(len(weights)):
        weight = weights[i]
        for place in range(starts[i], ends[i]):
            scores[ids[place]] += weight * values[place]
