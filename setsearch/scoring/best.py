"""Scores from posting lists, and the best of them. Knows nothing of models or storage.

Weights are rounded to multiples of 2^-36. Scores of such numbers below 2^17 are exact in float64, so neither the order
of addition nor the kernel can change a bit of a score.
Where entries have values other than 0 and 1, which are multiples of 2^-22, so are the weights: then products are
multiples of 2^-44, and their sums exact below 2^9.
"""

import threading
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from setsearch.arrays import Floats, Ids, Ints
from setsearch.scoring.base import Base, few_are_touched, sums_are_exact, working_copy
from setsearch.scoring.kernels import KERNELS, kernel
from setsearch.scoring.postings import Part
from setsearch.scoring.prefilter import best_by_estimates
from setsearch.scoring.selection import Ranks, candidates, in_order, kth_largest

_threads = threading.local()


def accumulate(scores: Floats, *parts: Part) -> None:
    """Add to `scores`, `(n_items,)`, each list's weight times each entry's value at the ids of the list.

    The sum over active features of weight_j x_j in one pass over their posting lists.
    """
    for part in parts:
        if len(part.weights):
            kernel().add(scores, part.postings, part.weights)


def best(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, ranks: Ranks, among: Ints | None = None
) -> tuple[Ints, Floats]:
    """The k items of the highest base + sum of weights, best first: ids and scores, the constant not added.

    Items `without` are left out, and all that are not `among` distinct ones, where these are given. Equal scores are
    ordered by `ranks()[id]`, `(n_items,)`, which is called only where a tie has to be decided.
    """
    for way in _ways() if among is None else ():
        found = way(base, parts, without, k, ranks)
        if found is not None:
            return found
    scores = working_copy(base.items)
    accumulate(scores, *parts)
    scores[without] = -np.inf
    ids = candidates(scores, k) if among is None else among[candidates(scores[among], k)]
    return in_order(ids, scores[ids], k, ranks)


Way = Callable[[Base, Sequence[Part], Sequence[int], int, Ranks], tuple[Ints, Floats] | None]


def _ways() -> tuple[Way, ...]:
    """What answers faster than the plain way, or not at all."""
    return _compiled_ways() if kernel() is KERNELS["numba"] else (best_by_estimates, _best_of_few)


@cache
def _compiled_ways() -> tuple[Way, ...]:
    from setsearch.scoring.compiled import search

    return search, _best_of_few


def _best_of_few(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """As `best`, without a look at the items that no list touches, but for those of highest base.

    Works on a copy of the base that is put back afterwards. None if more items are touched, and if the items of highest
    base that are known do not reach far enough.
    """
    if not few_are_touched(base, parts):
        return None
    kept = getattr(_threads, "kept", None)
    _threads.kept = None  # an error in between leaves no half-used copy
    scores = kept[1] if kept is not None and kept[0] is base else base.items.copy()
    accumulate(scores, *parts)
    scores[without] = -np.inf
    touched = np.concatenate([part.postings.together() for part in parts] or [np.empty(0, np.int32)])
    found = scores.take(touched)
    places = _best_distinct(touched, found, k)
    likely, found, bound = touched[places], found[places], -np.inf
    if len(places) == len(touched) or found.min() <= base.top:  # others may be among the best
        highest, bound = base.highest
        likely, found = np.concatenate([likely, highest]), np.concatenate([found, scores[highest]])
    ids, first = np.unique(likely, return_index=True)
    ids, found = in_order(ids, found[first], k, ranks)
    if sums_are_exact(base, parts):
        accumulate(scores, *(Part(postings, -weights) for postings, weights in parts))
    else:
        scores[touched] = base.items[touched]
    scores[without] = base.items[without]
    _threads.kept = base, scores
    sure = bound == -np.inf or (len(ids) == k and found[-1] > bound)
    return (ids, found) if sure else None


def _best_distinct(touched: Ids, found: Floats, k: int) -> Ints:
    """Places of the k best distinct items and all that equal the k-th; an item may be there many times."""
    enough = 2 * k
    while True:
        places = candidates(found, enough)
        if len(places) > enough:
            of_places = found[places]
            places = places[of_places >= kth_largest(of_places, enough)]
        if len(places) == len(touched) or len(np.unique(touched[places])) >= k:
            return places
        enough *= 4
