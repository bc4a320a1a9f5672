"""The k best items: base plus weighted posting lists, all of which are added. Knows no models and no storage.

The core does it for 2^15 items at a time; without a core numpy does. Both return the items, order and bits of sorting
all sums. A whole question of the default model is the core's (core/question.py), which leaves out lists.
"""

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints
from setsearch.core import binding
from setsearch.scoring.kernels import accumulate, is_core, lists_of
from setsearch.scoring.postings import Parts
from setsearch.scoring.selection import Best, Names, candidates, kth_largest, sort_best

CROWD = 1 << 14  # items of one score, above which names are read until enough of these are found
AT_FIRST, MORE = 256, 4  # names that are read together, and times as many the next time


def best(
    scores: Floats,
    parts: Parts,
    excluded: Sequence[int],
    k: int,
    names: Names,
    among: Ints | None = None,
) -> Best:
    """The k items with the highest scores, `(n_items,)`, plus weights, best first: ids and scores.

    `excluded` items are left out; if `among` (distinct ids) is given, so are all others. Equal ones are in the order of
    names.
    """
    if is_core():
        return _by_core(scores, parts, np.array(sorted(excluded), np.int64), k, names, among)
    sums = scores.copy()
    accumulate(sums, *parts)
    sums[excluded] = -np.inf
    if among is not None:
        only = np.full(len(sums), -np.inf)
        only[among] = sums[among]
        sums = only
    least = kth_largest(sums, k) if k < len(sums) else -np.inf
    if least == -np.inf or np.count_nonzero(sums == least) <= CROWD:
        ids = candidates(sums, k)
        return sort_best(ids, sums[ids], k, names)
    above = np.flatnonzero(sums > least)
    return _with_crowd((above, sums[above]), least, k, names, lambda ids: sums[ids] == least)


def _by_core(scores: Floats, parts: Parts, excluded: Ints, k: int, names: Names, among: Ints | None) -> Best:
    """The same in the compiled core."""
    lists, allowed = lists_of(parts), None if among is None else np.sort(among)
    ids, best_scores, crowd = binding.best(scores, lists, excluded, allowed, k)
    if crowd is None:
        return sort_best(ids, best_scores, k, names)

    def are_in_crowd(ids: Ints) -> npt.NDArray[np.bool_]:
        """Which of some items have the score of the crowd."""
        inside = np.sort(ids) if allowed is None else np.intersect1d(ids, allowed)
        own, sums, _ = binding.best(scores, lists, excluded, inside, max(len(inside), 1))
        return np.isin(ids, own[sums == crowd])

    return _with_crowd((ids, best_scores), crowd, k, names, are_in_crowd)


def _with_crowd(
    above: Best, score: float, k: int, names: Names, are_in_crowd: Callable[[Ints], npt.NDArray[np.bool_]]
) -> Best:
    """The items above a crowd of equal ones, and the first of these by name."""
    ids, scores = sort_best(*above, k, names)
    order, size, first = iter(names.in_order()), AT_FIRST, np.zeros(0, np.int64)
    while len(ids) + len(first) < k and len(some := np.fromiter(islice(order, size), np.int64)):
        first, size = np.append(first, some[are_in_crowd(some)]), size * MORE
    first = first[: k - len(ids)]
    return np.append(ids, first), np.append(scores, np.full(len(first), score))
