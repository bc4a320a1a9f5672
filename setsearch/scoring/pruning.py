"""The best items by the strongest lists, when the others cannot change which items these are.

Some lists, R, are not added. By Cauchy and Schwarz they add to the score of an item with the values x at most

    sum over R of v_j x_j  <=  |v_R| |x|  <=  |v_R| norm,                  norm: the largest |x| of all items

so only items whose sum over the other lists is less than |v_R| norm below the k-th best can be among the best. These
are few, and get their scores from their own features (Anastasiu and Karypis 2014 prune joins by such bounds). The lists
that are left out are the long ones of little weight, which hold most postings: nine tenths on a dictionary.

Which lists are added: those of the largest v_j^2 a posting, until the bound is a part of |v|. Then there is a first
k-th best sum, and more lists are added until the bound is a part of it.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints, positions
from setsearch.scoring.base import Base, is_exact, scratch_copy
from setsearch.scoring.kernels import is_compiled, kernel
from setsearch.scoring.postings import ItemArrays, WeightedLists
from setsearch.scoring.selection import Ranks, candidates, kth_largest, sort_best

FEWEST_POSTINGS = 1 << 13  # fewer are added in less time than it takes to choose
WORK_OF_A_LIST = 1 << 8  # postings; lists that are shorter on average are many, and together they count
WORK_OF_AN_ITEM = 2  # postings; not compiled, choosing looks at all items twice
LARGEST_K = 1000
FIRST = 0.2  # of |v| norm: the bound after the first lists
LATER = 0.5  # of the k-th best of these: the bound in the end
MOST_RESCORED = 5000  # items
ROUNDING = 1 + 1e-9  # of a bound

_threads = threading.local()


class Order(NamedTuple):
    """Positions of lists in the order in which they are added, `(n,)`, and `bounds`, `(n + 1,)`.

    What the lists from the i-th on add to two scores differs by `bounds[i]` at most.
    """

    lists: Ints
    bounds: Floats

    @classmethod
    def of(cls, weights: Floats, lengths: Ints, norm: float) -> "Order":
        """By weight squared over length, the largest first."""
        order = np.argsort(-weights * weights / np.maximum(lengths, 1))
        last_first = weights[order[::-1]]
        bounds = np.zeros(len(order) + 1)
        for signed in (np.maximum(last_first, 0.0), np.minimum(last_first, 0.0)):
            bounds[-2::-1] += np.sqrt(np.cumsum(signed * signed))
        return cls(order, bounds * (norm * ROUNDING))

    def until(self, bound: float) -> int:
        """How many lists are added for the bound to be no larger."""
        return len(self.bounds) - int(self.bounds[::-1].searchsorted(bound, "right"))


def best_by_pruning(
    base: Base, parts: Sequence[WeightedLists], excluded: Sequence[int], k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """As `best.best`; None for several parts, few postings, inexact sums, items without arrays, or many candidates."""
    if len(parts) != 1 or k > LARGEST_K or 4 * k > len(base.items):
        return None
    (part,) = parts
    by_item, lengths = part.postings.by_item, part.postings.lengths
    size = int(lengths.sum())
    if by_item is None or size < max(FEWEST_POSTINGS, WORK_OF_A_LIST * len(lengths)) or not is_exact(base, parts):
        return None
    if is_compiled() and not base.largest_absolute:
        from setsearch.scoring.compiled import search_pruned

        limits = k, by_item.norm * ROUNDING, FIRST, LATER
        return search_pruned(len(base.items), part, by_item, np.array(excluded, np.int64), limits, ranks)
    if size < WORK_OF_AN_ITEM * len(base.items):
        return None
    order = Order.of(part.weights, lengths, by_item.norm)
    ids = _candidates(base, part, order, excluded, k)
    return None if ids is None else sort_best(ids, _rescore(base, part, by_item, ids), k, ranks)


def _candidates(base: Base, part: WeightedLists, order: Order, excluded: Sequence[int], k: int) -> Ints | None:
    """The items that can be among the best, ascending; None if there are too many."""
    scores = scratch_copy(base.items)
    first = order.until(FIRST * order.bounds[0])
    _add(scores, part, order.lists[:first])
    scores[excluded] = -np.inf
    near = candidates(scores, k)
    least = kth_largest(scores[near], k) - base.top
    if not least > 0:
        return None
    last = max(order.until(LATER * least), first)
    _add(scores, part, order.lists[first:last])
    bound = float(order.bounds[last])
    near = candidates(scores, k, bound)
    own = scores[near]
    ids = near[own >= kth_largest(own, k) - bound]
    return np.sort(ids) if len(ids) <= MOST_RESCORED else None


def _add(scores: Floats, part: WeightedLists, lists: Ints) -> None:
    postings, weights = part
    if len(lists):
        chosen = postings._replace(starts=postings.starts[lists], ends=postings.ends[lists])
        kernel().add(scores, chosen, weights[lists])


def _rescore(base: Base, part: WeightedLists, by_item: ItemArrays, ids: Ints) -> Floats:
    """The exact scores of ascending ids."""
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
    scores = base.items[ids]
    some = lengths > 0
    ends = np.cumsum(lengths[some])
    if len(ends):
        scores[some] += np.add.reduceat(added, np.append(0, ends[:-1]))
    return scores
