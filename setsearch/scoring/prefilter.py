"""Coarse pre-ranking: rank many items by 16-bit or 32-bit sums, then rescore the candidates exactly.

The error of a coarse sum has a known bound, so no item of the exact answer is missed.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Ints
from setsearch.scoring.base import Base, is_exact, scratch_copy, scratch_like
from setsearch.scoring.kernels import kernel
from setsearch.scoring.postings import Parts, any_valued
from setsearch.scoring.selection import Best, Ranks, candidates, kth_largest, sort_best

FEWEST_ITEMS = 1 << 18  # fewer fit into the processor's cache
FEW_TOUCHED = 48  # with n / 48 postings or fewer, looking at the touched items alone is faster
WORK_OF_A_LIST = 1 << 13  # items and postings that cost as much as rescoring from one more list
MOST_RESCORED = 1000  # items
MOST_BEYOND_K = 100  # candidates beyond the k best for which 16 bits are precise enough
PRECISION = 2.0**-23  # twice the relative error of a float32 operation
OUT_OF_RANGE = 1 << 15  # no 16-bit sum reaches it; minus this marks an excluded item

CoarseScores = tuple[npt.NDArray[Any], float, float]  # sums, the mark of excluded items, the error of a difference


def best_by_prefilter(base: Base, parts: Parts, excluded: Sequence[int], k: int, ranks: Ranks) -> Best | None:
    """As `best.best`; None for few items, few postings, float64 values, inexact sums, or too many candidates."""
    n_items, n_lists = len(base.items), sum(len(part.weights) for part in parts)
    size = sum(part.postings.size for part in parts)
    if n_items < FEWEST_ITEMS or size * FEW_TOUCHED <= n_items or k > MOST_RESCORED:
        return None
    if n_items + size < WORK_OF_A_LIST * n_lists:
        return None
    if any(_is_float64(part.postings.values) for part in parts) or not is_exact(base, parts):
        return None
    bound = base.largest_absolute + sum(part.bound for part in parts)
    if n_lists < OUT_OF_RANGE // 2 and not any_valued(parts):
        # Rounding adds less than 1 for the base and up to 1/2 for each list.
        ids = _candidates(_in_int16(base, parts, bound / (OUT_OF_RANGE - 4 - n_lists)), excluded, k)
        if len(ids) <= k + MOST_BEYOND_K:
            return sort_best(ids, _rescore(base, parts, ids), k, ranks)
    ids = _candidates(_in_float32(base, parts, 2 * (n_lists + 4) * PRECISION * bound), excluded, k)
    return None if len(ids) > MOST_RESCORED else sort_best(ids, _rescore(base, parts, ids), k, ranks)


def _in_int16(base: Base, parts: Parts, least_unit: float) -> CoarseScores:
    """Scores in multiples of a power of two from `least_unit` on, so that all sums fit into 16 bits."""
    items, base_unit = base.int16
    shift = max(0, math.frexp(least_unit / base_unit)[1])
    unit, scores, error = base_unit * 2**shift, scratch_like(items), 1.0
    np.right_shift(items, shift, out=scores)
    for part in parts:
        weights = part.weights / unit
        rounded = np.rint(weights)
        error += float(np.abs(weights - rounded).sum())
        kernel()(scores, part.postings, rounded.astype(np.int16))
    scores[base.absent] = -OUT_OF_RANGE
    return scores, -OUT_OF_RANGE, error


def _in_float32(base: Base, parts: Parts, error: float) -> CoarseScores:
    """Scores in single precision; `error` bounds the error of a difference of two."""
    scores = scratch_copy(base.float32)
    for part in parts:
        kernel()(scores, part.postings, part.weights.astype(np.float32))
    return scores, -np.inf, error


def _candidates(coarse: CoarseScores, excluded: Sequence[int], k: int) -> Ints:
    """The ids that may be among the k best, ascending, without the excluded ones."""
    scores, mark, error = coarse
    scores[excluded] = mark
    ids = candidates(scores, k, error)
    own = scores[ids]
    return np.sort(ids[(own >= kth_largest(own, min(k, len(own))) - error) & (own > mark)])


def _is_float64(values: Floats | Floats32 | None) -> bool:
    return values is not None and values.dtype != np.float32


def _rescore(base: Base, parts: Parts, ids: Ints) -> Floats:
    """The exact scores of ascending ids."""
    scores, sought = base.items[ids], ids.astype(np.int32)
    for postings, weights in (part for part in parts if part.postings.size):
        positions = np.empty((len(weights), len(sought)), np.int64)
        for row, list in zip(positions, postings.lists(), strict=True):
            row[:] = list.searchsorted(sought)
        positions += postings.starts[:, None]
        hit = (positions < postings.ends[:, None]) & (postings.ids.take(positions, mode="clip") == sought)
        scores += weights @ (hit if postings.values is None else hit * postings.values.take(positions, mode="clip"))
    return scores
