"""The k best items: base plus weighted posting lists. Knows no models and no storage.

`best` tries the strategies of its kernel in the order of the table. The first one that applies answers; a strategy
that does not apply, or cannot be sure of the answer, returns None. All return the items, order and bits of the plain
one, and tests compare them with it. P is the number of postings in the lists, n the number of items.

    strategy, kernel                      applies if                              cost
    core, core                            at most 2^14 items reach the k-th;      P additions, n comparisons,
      core/core.c                           also with `among`                       2^15 items at a time
    pruned, any kernel                    values, base of zeros, long lists,      a tenth to a half of P additions,
      pruning.best_by_pruning               P > 2^13, exact sums, k <= 1000 (3)     some hundred items rescored
    16 bits, numpy and scipy              n >= 2^18, P > n/48, long lists (1),    as plain on 2n bytes,
      prefilter.best_by_prefilter           k <= 1000, exact sums, no values        at most k + 100 items rescored
    32 bits, numpy and scipy              the same, with float32 values, or       as plain on 4n bytes,
      prefilter.best_by_prefilter           too many candidates by 16 bits          at most 1000 items rescored
    compiled, all items, numba            P >= n/10, k <= 1000, exact sums (2)    P additions, 2^16 items at a time
      compiled.search
    compiled, touched items, numba        P < n/10, k <= 1000, exact sums         P additions, nothing of order n
      compiled.search
    touched items, any kernel             P < n/12, untouched items cannot        2P additions, nothing of order n
      _best_of_touched                      be among the best
    plain, any kernel                     always                                  8n bytes copied, P additions,
      best                                                                          n maxima

(1) prefilter.WORK_OF_A_LIST: many short lists cost more than the prefilter saves.
(2) and one part: to merge the lists of several parts costs more than chunks save.
(3) and one part, whose features of all items are in memory; without core and numba P + n/2 > 2^18.
"""

import threading
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from setsearch.arrays import Floats, Ids, Ints, distinct
from setsearch.core import binding
from setsearch.scoring.base import Base, is_exact, scratch_copy, touches_few
from setsearch.scoring.kernels import is_compiled, is_core, kernel, part_of
from setsearch.scoring.postings import Parts, WeightedLists
from setsearch.scoring.prefilter import best_by_prefilter
from setsearch.scoring.pruning import best_by_pruning
from setsearch.scoring.selection import Best, Ranks, candidates, kth_largest, sort_best

Strategy = Callable[[Base, Sequence[WeightedLists], Sequence[int], int, Ranks], tuple[Ints, Floats] | None]

_threads = threading.local()


def accumulate(scores: Floats, *parts: WeightedLists) -> None:
    """Add to `scores`, `(n_items,)`, each list's weight times each entry's value at the ids of the list.

    The sum over active features of weight_j x_j, in one pass over their posting lists.
    """
    for part in parts:
        if len(part.weights):
            kernel()(scores, part.postings, part.weights)


def best(
    base: Base,
    parts: Parts,
    excluded: Sequence[int],
    k: int,
    ranks: Ranks,
    among: Ints | None = None,
) -> Best:
    """The k items with the highest base plus weights, best first: ids and scores, without the constant.

    `excluded` items are left out; if `among` (distinct ids) is given, so are all others. Ties are ordered by
    `ranks(ids)`, which is called only if there is a tie to break.
    """
    for strategy in _strategies() if among is None else ():
        answer = strategy(base, parts, excluded, k, ranks)
        if answer is not None:
            return answer
    if is_core():
        answer = _best_by_core(base.items, parts, excluded, k, ranks, among)
        if answer is not None:
            return answer
    scores = scratch_copy(base.items)
    accumulate(scores, *parts)
    return best_of(scores, excluded, k, ranks, among)


def best_of(scores: Floats, excluded: Sequence[int], k: int, ranks: Ranks, among: Ints | None = None) -> Best:
    """The same of scores that are there, which it may change."""
    answer = _best_by_core(scores, (), excluded, k, ranks, among) if is_core() else None
    if answer is not None:
        return answer
    scores[excluded] = -np.inf
    ids = candidates(scores, k) if among is None else among[candidates(scores[among], k)]
    return sort_best(ids, scores[ids], k, ranks)


def _best_by_core(
    items: Floats, parts: Parts, excluded: Sequence[int], k: int, ranks: Ranks, among: Ints | None
) -> Best | None:
    """The same in the compiled core; None if too many items equal the k-th."""
    allowed = None if among is None else np.sort(among)
    lists = [(*part_of(part.postings), part.weights) for part in parts if len(part.weights)]
    found = binding.best(items, lists, np.array(sorted(excluded), np.int64), allowed, k)
    return None if found is None else sort_best(*found, k, ranks)


def _strategies() -> tuple[Strategy, ...]:
    if is_core():
        return (best_by_pruning,)
    return _compiled_strategies() if is_compiled() else (best_by_pruning, best_by_prefilter, _best_of_touched)


@cache
def _compiled_strategies() -> tuple[Strategy, ...]:
    from setsearch.scoring.compiled import search

    return best_by_pruning, search, _best_of_touched


def _best_of_touched(base: Base, parts: Parts, excluded: Sequence[int], k: int, ranks: Ranks) -> Best | None:
    """As `best`, looking only at the items that the lists touch and those of highest base.

    Works on a cached copy of the base that is restored afterwards. None if too many items are touched, or if items of
    lower base could be among the best.
    """
    if not touches_few(base, parts):
        return None
    cached = getattr(_threads, "cached", None)
    _threads.cached = None  # an error in between leaves no half-used copy
    scores = cached[1] if cached is not None and cached[0] is base else base.items.copy()
    accumulate(scores, *parts)
    scores[excluded] = -np.inf
    touched = np.concatenate([part.postings.concatenated_ids() for part in parts] or [np.empty(0, np.int32)])
    touched_scores = scores.take(touched)
    positions = _best_distinct(touched, touched_scores, k)
    likely, likely_scores, bound = touched[positions], touched_scores[positions], -np.inf
    if len(positions) == len(touched) or likely_scores.min() <= base.top:  # untouched items may be among the best
        highest, bound = base.highest
        likely, likely_scores = np.concatenate([likely, highest]), np.concatenate([likely_scores, scores[highest]])
    ids, first = np.unique(likely, return_index=True)
    ids, best_scores = sort_best(ids, likely_scores[first], k, ranks)
    if is_exact(base, parts):
        accumulate(scores, *(WeightedLists(postings, -weights) for postings, weights in parts))
    else:
        scores[touched] = base.items[touched]
    scores[excluded] = base.items[excluded]
    _threads.cached = base, scores
    is_sure = bound == -np.inf or (len(ids) == k and best_scores[-1] > bound)
    return (ids, best_scores) if is_sure else None


def _best_distinct(touched: Ids, scores: Floats, k: int) -> Ints:
    """Positions of the k best distinct items and of all that equal the k-th; an item may occur many times."""
    enough = 2 * k
    while True:
        positions = candidates(scores, enough)
        if len(positions) > enough:
            own = scores[positions]
            positions = positions[own >= kth_largest(own, enough)]
        if len(positions) == len(touched) or len(distinct(touched[positions])) >= k:
            return positions
        enough *= 4
