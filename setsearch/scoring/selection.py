"""The k best of many scores, exactly and in order."""

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints

Best = tuple[Ints, Floats]  # ids, the best first, and scores


class Names(Protocol):
    """The order of the names of items, which breaks ties."""

    def ranks(self, ids: Ints) -> Ints:
        """The positions of items in this order, or other numbers in it, `(n_ids,)`."""
        ...

    def in_order(self) -> Iterable[int]:
        """The ids of all items in this order."""
        ...


class ByIds(NamedTuple):
    """An order of n items that takes no reading: for those who want the best scores alone."""

    n_items: int

    def ranks(self, ids: Ints) -> Ints:
        """The positions of items."""
        return ids

    def in_order(self) -> Iterable[int]:
        """All items."""
        return range(self.n_items)


def candidates(scores: Floats, k: int) -> Ints:
    """Ids that include the k best scores and all that equal the k-th, in no order.

    The k-th largest maximum of blocks is a lower bound of the k-th best score: only blocks that reach it matter. A
    block is every n_blocks-th score, so that all maxima are taken at once. Blocks have sqrt(n / k) scores: then there
    are as many maxima to search as scores in the blocks that reach the bound.
    """
    size = math.isqrt(len(scores) // k)
    if size < 2:
        return np.arange(len(scores))
    n_blocks = len(scores) // size
    covered = n_blocks * size
    maxima = scores[:covered].reshape(size, n_blocks).max(axis=0)
    bound = kth_largest(maxima, k)
    blocks = np.flatnonzero(maxima >= bound)
    inside = (np.arange(size)[:, None] * n_blocks + blocks).ravel()
    return np.concatenate([inside, np.arange(covered, len(scores))])


def kth_largest(scores: Floats, k: int) -> float:
    """The k-th largest of at least k scores.

    Partitioning takes long if most are equal, so only those above the k-th largest maximum of blocks take part.
    """
    size = math.isqrt(len(scores) // k)
    if size < 2:
        return float(np.partition(scores, -k)[-k])
    n_blocks = len(scores) // size
    maxima = scores[: n_blocks * size].reshape(size, n_blocks).max(axis=0)
    bound = np.partition(maxima, -k)[-k]
    above = scores[scores > bound]
    return float(bound) if len(above) < k else kth_largest(above, k)


def sort_best(ids: npt.NDArray[np.integer], scores: Floats, k: int, names: Names) -> Best:
    """The k best of distinct ids, best first, and their scores; equal ones by name; -inf is never among them."""
    if len(ids) > 4 * k:
        reach = scores >= kth_largest(scores, k)
        ids, scores = ids[reach], scores[reach]
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    if len(scores) and scores[-1] == -np.inf:
        order = order[: np.searchsorted(-scores, np.inf)]
        scores = scores[: len(order)]
    head = scores[: k + 1]
    if (head[1:] == head[:-1]).any():
        order = order[np.lexsort((names.ranks(ids[order].astype(np.int64, copy=False)), -scores))]
    return ids[order[:k]].astype(np.int64, copy=False), scores[:k]
