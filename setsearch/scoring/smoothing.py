"""Scores smoothed over neighborhoods: what an item scores, and what the items do that are nearest to it.

    t_i     = s_i sqrt(h / h_i), the root from 2/3 to 3/2
    score_i = t_i + w sum_j a_ij t_j

The j are the nearest items of i, a_ij are their similarities divided by the sum of these, h_i is the mean of these
similarities, and h the median of all h_i. An item that is near to many is near to any seeds, so it counts less
(Radovanovic, Nanopoulos and Ivanovic, Hubs in space, 2010). An item whose nearest ones score high belongs with them
(Diaz, Regularizing ad hoc retrieval scores, 2005). As a neighbor a seed counts as much as the best other item.

In whole questions the core smooths: by the same operations on each item, in the same order, so that sums that are not
exact have the same bits.
"""

from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ids, Ints, median, take, to_lattice

LARGEST_FACTOR = 1.5  # of the score of an item that is near to few, or one over it


class Neighbors(NamedTuple):
    """The nearest items: `ids` and `shares` a_ij, `(n_ids, k)`, and `factors` sqrt(h / h_i), `(n_ids,)`."""

    ids: Ids
    shares: Floats
    factors: Floats


class Smoothing(NamedTuple):
    """Neighbors, and how much they count: the share w."""

    neighbors: Neighbors
    share: float


def neighbors_of(ids: Ints, similarities: Ints) -> Neighbors:
    """Neighbors, given their ids and similarities, whole numbers from 0 up, `(n_ids, k)`; of those of 0 any id does."""
    sums = similarities.sum(axis=1)
    shares = similarities / np.maximum(sums, 1)[:, None]
    factors, known = np.ones(len(sums)), sums > 0
    if known.any():
        roots = np.sqrt(median(sums[known]) / sums[known])
        factors[known] = np.clip(roots, 1 / LARGEST_FACTOR, LARGEST_FACTOR)
    return Neighbors(np.ascontiguousarray(ids, np.int32), shares, factors)


def smooth(scores: Floats, neighbors: Neighbors, seeds: Ints, share: float) -> tuple[Floats, Floats]:
    """What is added to scores for t_i and for the neighbors, w = share, on the lattice: two `(n_ids,)`."""
    own = scores * neighbors.factors
    added = to_lattice(own - scores)
    others = np.ones(len(own), bool)
    others[seeds] = False
    own[seeds] = max(float(own.max(initial=0.0, where=others)), 0.0)
    near = np.zeros(len(own))
    for ids, shares in zip(neighbors.ids.T, neighbors.shares.T, strict=True):
        near += shares * take(own, ids)
    return added, to_lattice(near * share)
