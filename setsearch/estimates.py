"""The best of many items by sums in single precision, of half the memory: the same items and bits as scoring.py's.

By how much such a sum may be wrong is known. Only items that can be among the best are scored again, exactly.
"""

from collections.abc import Sequence

import numpy as np

from setsearch.bases import Base, sums_are_exact, working_copy
from setsearch.kernels import Floats, Part, Singles, kernel
from setsearch.postings import Ints
from setsearch.selection import Ranks, candidates, in_order, kth_largest

MANY = 1 << 18  # items whose scores are far from the processor
FEW = 36  # postings times this, below the number of items: a look at the touched items alone is faster
WORTH = 1 << 13  # items and postings for each list that make up for a look into it
MOST = 1000  # items that are scored again
PRECISION = 2.0**-23  # twice the relative error of a number or an operation


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
    estimates = working_copy(base.singles)
    for part in parts:
        kernel().add(estimates, part.postings, part.weights.astype(np.float32))
    estimates[without] = -np.inf
    largest = base.extreme + sum(part.most for part in parts)
    slack = 2 * (n_lists + 4) * PRECISION * largest
    ids = candidates(estimates, k, slack)
    found = estimates[ids]
    ids = np.sort(ids[(found >= kth_largest(found, min(k, len(found))) - slack) & (found > -np.inf)])
    return None if len(ids) > MOST else in_order(ids, _scores(base, parts, ids), k, ranks)


def _is_double(values: Floats | Singles | None) -> bool:
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
