"""The best of many items by sums in few bits, a quarter or half of the memory: the same items and bits as scoring.py's.

By how much such a sum may be wrong is known. Only items that can be among the best are scored again, exactly.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Ints
from setsearch.scoring.base import Base, room_like, sums_are_exact, working_copy
from setsearch.scoring.kernels import kernel
from setsearch.scoring.postings import Part, have_values
from setsearch.scoring.selection import Ranks, candidates, in_order, kth_largest

MANY = 1 << 18  # items whose scores are far from the processor
FEW = 48  # postings times this, below the number of items: a look at the touched items alone is faster
WORTH = 1 << 13  # items and postings for each list that make up for a look into it
MOST = 1000  # items that are scored again
SOME = 100  # beyond the best ones, up to which they are worth the coarser sums
PRECISION = 2.0**-23  # twice the relative error of a number or an operation
LARGEST = 1 << 15  # what no sum in 16 bits reaches; less that is none
Estimates = tuple[npt.NDArray[Any], float, float]  # sums, what none is for an item, how much two may be wrong together


def best_by_estimates(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """As `scoring.best`; None where the plain way has to answer.

    That is for few items, for few postings in a list or in all, for values in double precision, for sums so large that
    their order matters, and where too many items may be among the best.
    """
    n_items, n_lists = len(base.items), sum(len(part.weights) for part in parts)
    size = sum(part.postings.size for part in parts)
    if n_items < MANY or size * FEW <= n_items or n_items + size < WORTH * n_lists or k > MOST:
        return None
    if any(_is_double(part.postings.values) for part in parts) or not sums_are_exact(base, parts):
        return None
    most = base.extreme + sum(part.most for part in parts)
    if n_lists < LARGEST // 2 and not have_values(parts):
        # Rounding adds less than 1 for the base, and up to half of one for each list.
        ids = _likely(_in_units(base, parts, most / (LARGEST - 4 - n_lists)), without, k)
        if len(ids) <= k + SOME:
            return in_order(ids, _scores(base, parts, ids), k, ranks)
    ids = _likely(_in_singles(base, parts, 2 * (n_lists + 4) * PRECISION * most), without, k)
    return None if len(ids) > MOST else in_order(ids, _scores(base, parts, ids), k, ranks)


def _in_units(base: Base, parts: Sequence[Part], unit: float) -> Estimates:
    """In whole numbers of a power of two from `unit` on, with which no sum needs more than 16 bits.

    A base is rounded down by less than a unit, weights as is told by what is left of them.
    """
    items, own_unit = base.units
    shift = max(0, math.frexp(unit / own_unit)[1])
    unit, estimates, error = own_unit * 2**shift, room_like(items), 1.0
    np.right_shift(items, shift, out=estimates)
    for part in parts:
        units = part.weights / unit
        rounded = np.rint(units)
        error += float(np.abs(units - rounded).sum())
        kernel().add(estimates, part.postings, rounded.astype(np.int16))
    estimates[base.absent] = -LARGEST
    return estimates, -LARGEST, error


def _in_singles(base: Base, parts: Sequence[Part], error: float) -> Estimates:
    """In single precision; `error` is how much two sums may be wrong together."""
    estimates = working_copy(base.singles)
    for part in parts:
        kernel().add(estimates, part.postings, part.weights.astype(np.float32))
    return estimates, -np.inf, error


def _likely(estimated: Estimates, without: Sequence[int], k: int) -> Ints:
    """The items but some that can be among the k best, ascending."""
    estimates, none, slack = estimated
    estimates[without] = none
    ids = candidates(estimates, k, slack)
    found = estimates[ids]
    return np.sort(ids[(found >= kth_largest(found, min(k, len(found))) - slack) & (found > none)])


def _is_double(values: Floats | Floats32 | None) -> bool:
    return values is not None and values.dtype != np.float32


def _scores(base: Base, parts: Sequence[Part], ids: Ints) -> Floats:
    """The scores of ascending items."""
    scores, sought = base.items[ids], ids.astype(np.int32)
    for postings, weights in (part for part in parts if part.postings.size):
        places = np.empty((len(weights), len(sought)), np.int64)
        for own, list in zip(places, postings.lists(), strict=True):
            own[:] = list.searchsorted(sought)
        places += postings.starts[:, None]
        there = (places < postings.ends[:, None]) & (postings.ids.take(places, mode="clip") == sought)
        scores += weights @ (there if postings.values is None else there * postings.values.take(places, mode="clip"))
    return scores
