"""The best of many scores, exactly: which they are, and in which order."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Int16s, Ints

Ranks = Callable[[], Ints]


def candidates(scores: Floats | Floats32 | Int16s, k: int, slack: float = 0.0) -> Ints:
    """Ids among which the k best scores are, and all that are not below the k-th by more than a slack, in no order.

    The k-th largest maximum of blocks is a lower bound of the k-th best score: only blocks that reach it matter. A
    block is every n_blocks-th score, so that all maxima are taken at once; sqrt(n / k) scores make a block, so that
    there are as many maxima to look through as scores in the blocks that reach the bound.
    """
    size = math.isqrt(len(scores) // k)
    if size < 2:
        return np.arange(len(scores))
    n_blocks = len(scores) // size
    whole = n_blocks * size
    maxima = scores[:whole].reshape(size, n_blocks).max(axis=0)
    bound = kth_largest(maxima, k) - slack
    blocks = np.flatnonzero(maxima >= bound)
    inside = (np.arange(size)[:, None] * n_blocks + blocks).ravel()
    return np.concatenate([inside, np.arange(whole, len(scores))])


def kth_largest(scores: Floats | Floats32 | Int16s, k: int) -> float:
    """The k-th largest of at least k scores."""
    return float(np.partition(scores, -k)[-k])


def in_order(ids: npt.NDArray[np.integer], found: Floats, k: int, ranks: Ranks) -> tuple[Ints, Floats]:
    """The k best of distinct ids, best first, and their scores; equal ones by `ranks()[id]`; -inf never appears."""
    if len(ids) > 4 * k:
        reach = found >= kth_largest(found, k)
        ids, found = ids[reach], found[reach]
    order = np.argsort(-found, kind="stable")
    scores = found[order]
    if len(scores) and scores[-1] == -np.inf:
        order = order[: np.searchsorted(-scores, np.inf)]
        scores = scores[: len(order)]
    head = scores[: k + 1]
    if (head[1:] == head[:-1]).any():
        order = order[np.lexsort((ranks()[ids[order]], -scores))]
    return ids[order[:k]].astype(np.int64, copy=False), scores[:k]
