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

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Ids, Ints, distinct, offsets, positions
from setsearch.core import binding
from setsearch.scoring.base import Base, is_exact
from setsearch.scoring.kernels import is_compiled, is_core, kernel, part_of
from setsearch.scoring.postings import ItemArrays, Parts, PostingArrays, WeightedLists
from setsearch.scoring.selection import Best, Ranks, candidates, kth_largest, sort_best

FEWEST_POSTINGS = 1 << 13  # fewer are added in less time than it takes to choose
WORK_OF_A_LIST = 1 << 8  # postings; lists that are shorter on average are many, and together they count
WORK = 1 << 18  # postings and half the items; fewer take less time without choosing, unless that is compiled
MANY = 1 << 18  # items
LARGEST_K = 1000
FIRST = 0.2  # of |v| norm: the bound after the first lists
LATER = 0.5  # of the k-th best of these: the bound in the end
MOST_RESCORED = 5000  # items
JUST_BELOW = 0.99
PRECISION = 2.0**-21  # what an addition in single precision loses of the largest sum, with room to spare
ROUNDING = 1 + 1e-9  # of a bound

_threads = threading.local()


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

    def until(self, bound: float) -> int:
        """How many lists are added for the bound to be no larger, if it can be."""
        return min(len(self.bounds) - int(self.bounds[::-1].searchsorted(bound, "right")), len(self.lists))


def best_by_pruning(base: Base, parts: Parts, excluded: Sequence[int], k: int, ranks: Ranks) -> Best | None:
    """As `best.best`, for a base of zeros.

    None for several parts, items without arrays, few or short lists, inexact sums, or many candidates.
    """
    if len(parts) != 1 or k > LARGEST_K or base.largest_absolute:
        return None
    (part,) = parts
    by_item, lengths = part.postings.by_item, part.postings.lengths
    size = int(lengths.sum())
    if by_item is None or size < max(FEWEST_POSTINGS, WORK_OF_A_LIST * len(lengths)) or not is_exact(base, parts):
        return None
    if is_core():
        return _best_by_core(base, part, excluded, k, ranks) if k <= len(base.items) else None
    if is_compiled():
        from setsearch.scoring.compiled import search_pruned

        limits = k, by_item.norm * ROUNDING, FIRST, LATER
        return search_pruned(part, by_item, np.array(excluded, np.int64), limits, ranks)
    if size + len(base.items) / 2 < WORK or 4 * k > len(base.items):
        return None
    sums: Floats32 | None = getattr(_threads, "sums", None)
    _threads.sums = None  # an error in between leaves no half-used array
    if sums is None or len(sums) < len(base.items):
        sums = np.zeros(len(base.items), np.float32)
    ids = _candidates(sums[: len(base.items)], part, Order.of(part.weights, lengths, by_item.norm), excluded, k)
    _threads.sums = sums
    return None if ids is None else sort_best(ids, _rescore(part, by_item, ids), k, ranks)


def _best_by_core(base: Base, part: WeightedLists, excluded: Sequence[int], k: int, ranks: Ranks) -> Best | None:
    """The same in the compiled core."""
    postings, weights = part
    by_item = postings.by_item
    if by_item is None or any(own is None or own.dtype != np.float32 for own in (postings.values, by_item.values)):
        return None
    lists, items = (*part_of(postings), weights), by_item[:4]
    without, active = np.array(excluded, np.int64), by_item.active.astype(np.int64)
    found = binding.prune(base.items, lists, active, items, by_item.n_features, by_item.norm, without, k)
    return None if found is None else sort_best(*found, k, ranks)


def _candidates(sums: Floats32, part: WeightedLists, order: Order, excluded: Sequence[int], k: int) -> Ints | None:
    """The items that can be among the best, ascending; None if there are too many. `sums` are zeros, and restored."""
    first, are_many = order.until(FIRST * order.bounds[0]), len(sums) >= MANY
    sums[excluded] = -np.inf
    lists = [_add(sums, part, order.lists[:first])]
    if are_many:  # a look at all of them takes longer than one at those that were touched
        touched = lists[0].concatenated_ids()
        least = _kth_distinct(touched, sums.take(touched), k) - order.lost
    else:
        least = kth_largest(sums[candidates(sums, k)], k) - order.lost
    last, ids = max(order.until(LATER * least), first), None
    bound = float(order.bounds[last])
    if bound < least:
        # What the lists until `touching` do not touch scores less than the k best.
        touching = max(order.until(JUST_BELOW * least), first)
        lists += [_add(sums, part, order.lists[a:b]) for a, b in ((first, touching), (touching, last))]
        looked_at: npt.NDArray[np.integer] = (
            np.concatenate([own.concatenated_ids() for own in lists[:2]]) if are_many else candidates(sums, k, bound)
        )
        near = distinct(looked_at[sums.take(looked_at) >= least - bound])
        own = sums.take(near)
        if k <= len(near) <= MOST_RESCORED:
            ids = near[own >= np.partition(own, -k)[-k] - bound].astype(np.int64)
    if are_many:
        for added in lists:
            sums[added.concatenated_ids()] = 0.0
        sums[excluded] = 0.0
    else:
        sums[:] = 0.0
    return ids


def _add(sums: Floats32, part: WeightedLists, lists: Ints) -> PostingArrays:
    """Add some lists, which are returned."""
    postings, weights = part
    chosen = postings._replace(starts=postings.starts[lists], ends=postings.ends[lists])
    if len(lists):
        kernel()(sums, chosen, weights[lists].astype(np.float32))
    return chosen


def _kth_distinct(ids: Ids, sums: Floats32, k: int) -> float:
    """The k-th largest of the sums of distinct items, each of which may be there several times; 0 for fewer items."""
    enough = 4 * k
    while len(ids):
        best = np.argpartition(sums, -enough)[-enough:] if enough < len(ids) else np.arange(len(ids))
        distinct, first = np.unique(ids[best], return_index=True)
        if len(distinct) >= k:
            return float(np.partition(sums[best[first]], -k)[-k])
        if enough >= len(ids):
            break
        enough *= 4
    return 0.0


def _rescore(part: WeightedLists, by_item: ItemArrays, ids: Ints) -> Floats:
    """The exact scores of ascending ids, which have features."""
    weights = getattr(_threads, "weights", None)
    _threads.weights = None  # an error in between leaves no half-used array
    if weights is None or len(weights) < by_item.n_features:
        weights = np.zeros(by_item.n_features)
    weights[by_item.active] = part.weights
    starts, lengths = by_item.starts[ids], by_item.ends[ids] - by_item.starts[ids]
    places = positions(starts, lengths)
    added = weights.take(by_item.features.take(places)) * by_item.values.take(places)
    weights[by_item.active] = 0.0
    _threads.weights = weights
    scores: Floats = np.add.reduceat(added, offsets(lengths)[:-1])
    return scores
