"""The best items by the strongest lists, when the others cannot change which items these are.

Some lists, R, are not added. By Cauchy and Schwarz they add to the score of an item with the values x at most

    sum over R of v_j x_j  <=  |v_R| |x|  <=  |v_R| norm,                  norm: the largest |x| of all items

so only items whose sum over the other lists is less than |v_R| norm below the k-th best can be among the best. These
are few, and get their scores from their own features (Anastasiu and Karypis 2014 prune joins by such bounds). The lists
that are left out are the long ones of little weight, which hold most postings: nine tenths on a dictionary.

What lists add is summed in single precision; the bounds have room for what that loses. Scores are exact.

Which lists are added: those of the largest v_j^2 a posting, until the bound is a part of |v|. Then there is a first
k-th best sum, and more lists are added until the bound is a part of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.core import binding
from setsearch.scoring.base import Base, is_exact
from setsearch.scoring.kernels import lists_of
from setsearch.scoring.postings import Parts
from setsearch.scoring.selection import Best, Ranks, sort_best

FEWEST_POSTINGS = 1 << 13  # fewer are added in less time than it takes to choose
WORK_OF_A_LIST = 1 << 8  # postings; lists that are shorter on average are many, and together they count
LARGEST_K = 1000
PRECISION = 2.0**-21  # what an addition in single precision loses of the largest sum, with room to spare
ROUNDING = 1 + 1e-9  # of a bound


class Order(NamedTuple):
    """Positions of lists in the order in which they are added, `(n,)`, and `bounds`, `(n + 1,)`.

    What the lists from the i-th on add to two scores differs by `bounds[i]` at most; all together take away `lost` at
    most.
    """

    lists: Ints
    bounds: Floats
    lost: float

    @classmethod
    def of(cls, weights: Floats, lengths: Ints, norm: float) -> "Order":
        """By weight squared over length, the largest first."""
        order = np.argsort(-weights * weights / np.maximum(lengths, 1))
        last_first = weights[order[::-1]]
        bounds, norms = np.zeros(len(order) + 1), np.zeros(2)
        for place, signed in enumerate((np.maximum(last_first, 0.0), np.minimum(last_first, 0.0))):
            own = np.sqrt(np.cumsum(signed * signed))
            bounds[-2::-1] += own
            norms[place] = own[-1]
        bounds *= norm * ROUNDING
        bounds += len(weights) * float(np.abs(weights).sum()) * PRECISION
        return cls(order, bounds, float(norms[1]) * norm * ROUNDING)


def best_by_pruning(base: Base, parts: Parts, excluded: Sequence[int], k: int, ranks: Ranks) -> Best | None:
    """As `best.best`, for a base of zeros, by the core.

    None for several parts, items without arrays, few or short lists, inexact sums, or many candidates.
    """
    if len(parts) != 1 or k > min(LARGEST_K, len(base.items)) or base.largest_absolute:
        return None
    ((postings, weights),) = parts
    by_item, lengths = postings.by_item, postings.lengths
    if by_item is None or any(own is None or own.dtype != np.float32 for own in (postings.values, by_item.values)):
        return None
    if lengths.sum() < max(FEWEST_POSTINGS, WORK_OF_A_LIST * len(lengths)) or not is_exact(base, parts):
        return None
    (lists,) = lists_of(parts)
    without, active = np.array(excluded, np.int64), by_item.active.astype(np.int64)
    found = binding.prune(base.items, lists, active, by_item[:4], by_item.n_features, by_item.norm, without, k)
    return None if found is None else sort_best(*found, k, ranks)
