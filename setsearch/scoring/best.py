"""The k best items: base plus weighted posting lists. Knows no models and no storage.

There are two strategies, which return the items, order and bits of sorting all sums; tests compare. P is the number of
postings in the lists, n the number of items.

    strategy                  applies if                                   cost
    pruned, core              one part with values, whose features of      a tenth to a half of P additions,
      pruning.best_by_pruning   all items are in memory; base of zeros,      some hundred items rescored
                                long lists, P > 2^13, exact sums, k <= 1000
    all lists, core           at most 2^14 items reach the k-th            P additions, n comparisons,
      core/core.c                                                            2^15 items at a time
    all lists, numpy          always                                       8n bytes copied, P additions, n maxima
      best_of

Without a core numpy adds all lists: pruning there gains 1.2 times with one seed, 1.4 with three.
"""

from collections.abc import Sequence

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.core import binding
from setsearch.scoring.base import Base
from setsearch.scoring.kernels import accumulate, is_core, lists_of
from setsearch.scoring.postings import Parts
from setsearch.scoring.pruning import best_by_pruning
from setsearch.scoring.selection import Best, Ranks, candidates, sort_best


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
    pruned = best_by_pruning(base, parts, excluded, k, ranks) if is_core() and among is None else None
    return best_of(base.items, excluded, k, ranks, among, parts) if pruned is None else pruned


def best_of(
    scores: Floats, excluded: Sequence[int], k: int, ranks: Ranks, among: Ints | None = None, parts: Parts = ()
) -> Best:
    """The same of scores, `(n_items,)`, plus lists, all of which are added."""
    if is_core():
        allowed = None if among is None else np.sort(among)
        found = binding.best(scores, lists_of(parts), np.array(sorted(excluded), np.int64), allowed, k)
        if found is not None:
            return sort_best(*found, k, ranks)
    sums = scores.copy()
    accumulate(sums, *parts)
    sums[excluded] = -np.inf
    ids = candidates(sums, k) if among is None else among[candidates(sums[among], k)]
    return sort_best(ids, sums[ids], k, ranks)
