"""The k best items by compiled loops (extra `[numba]`).

What the lists add is gathered apart from the base, one chunk of items at a time. The base itself is read only where it
matters: a bound of one byte an item tells which items cannot be among the best.
"""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Floats, Floats32, Ints
from setsearch.scoring.base import Base, exact_bound, few_postings
from setsearch.scoring.compiled_loops import find
from setsearch.scoring.compiled_primitives import DONE, INEXACT, MISSING_BITMAP, TIES
from setsearch.scoring.compiled_pruning import find_pruned
from setsearch.scoring.postings import ItemArrays, Parts, PostingArrays, WeightedLists, any_valued
from setsearch.scoring.pruning import LARGEST_K
from setsearch.scoring.selection import Best, Ranks, sort_best

CHUNK = 1 << 16  # items that are scored together; few enough for the processor's cache
ROOM = 8 * LARGEST_K + 1000  # candidates
FEW_FACTOR = 1.25  # compiled, looking at touched items alone pays for more postings than otherwise

# Scratch memory of a thread: what lists add to a chunk; the same where few items are touched, all zeros between
# queries; ids and scores of candidates.
Scratch = tuple[Floats, Floats, Ints, Floats]
Outcome = tuple[int, int]  # how the search ended (compiled_primitives.py), and the number of best items
Pruning = tuple[int, float, float, float]  # k, norm, shares of bounds (pruning.py)
Limits = tuple[int, float, float]  # k, bound of exact sums, few postings

_threads = threading.local()


class PruningScratch(NamedTuple):
    """Scratch memory of a thread for pruning.

    `sums` of all items, and of all features `weights` and what examples `have`, `(n_features, 2)`, are zeros between
    queries, and may be longer. `near`: ids and sums of items that may be among the best. `ids` and `scores` are those
    of the best.
    """

    sums: Floats32
    weights: Floats
    near: tuple[Ints, Floats]
    ids: Ints
    scores: Floats
    have: Floats  # c_j and s_j side by side: both are in one line of the processor's cache

    @classmethod
    def take(cls, by_item: ItemArrays) -> "PruningScratch":
        """That of this thread, until `give`; an error in between leaves no half-used array."""
        scratch: PruningScratch | None = getattr(_threads, "pruning", None)
        _threads.pruning = None
        n_items, n_features = len(by_item.starts), by_item.n_features
        if scratch is None or len(scratch.sums) < n_items or len(scratch.weights) < n_features:
            if scratch is not None:  # collections that take turns
                n_items, n_features = max(n_items, len(scratch.sums)), max(n_features, len(scratch.weights))
            sums, weights, have = np.zeros(n_items, np.float32), np.zeros(n_features), np.zeros((n_features, 2))
            near = np.empty(ROOM, np.int64), np.empty(ROOM)
            return cls(sums, weights, near, np.empty(ROOM, np.int64), np.empty(ROOM), have)
        return scratch

    def give(self, count: int) -> Best:
        """Return it; the ids and scores of the best items."""
        _threads.pruning = self
        return self.ids[:count].copy(), self.scores[:count].copy()


def search(base: Base, parts: Parts, excluded: Sequence[int], k: int, ranks: Ranks) -> Best | None:
    """As `best.best`; None for large k, too many ties, or inexact sums."""
    if k > LARGEST_K:
        return None
    scratch: Scratch | None = getattr(_threads, "scratch", None)
    _threads.scratch = None  # an error in between leaves no half-used array
    if scratch is None or len(scratch[0]) != CHUNK:
        scratch = np.empty(CHUNK), np.zeros(CHUNK), np.empty(ROOM, np.int64), np.empty(ROOM)
    end, count = _find(scratch, base, parts, np.array(excluded, np.int64), k)
    ids, scores = scratch[2][:count].copy(), scratch[3][:count].copy()
    _threads.scratch = scratch
    return in_order(end, ids, scores, k, ranks)


def in_order(end: int | None, ids: Ints, scores: Floats, k: int, ranks: Ranks) -> tuple[Ints, Floats] | None:
    """The best items, equal ones by their ranks; None for a search that ended otherwise than with these."""
    if end == TIES:
        return sort_best(ids, scores, k, ranks)
    return (ids, scores) if end == DONE else None


def search_pruned(
    part: WeightedLists, by_item: ItemArrays, excluded: Ints, limits: Pruning, ranks: Ranks
) -> Best | None:
    """As `pruning.best_by_pruning`, for a base of zeros."""
    scratch = PruningScratch.take(by_item)
    lists = *part.postings.for_loops(), part.weights, by_item.active
    end, count = find_pruned(scratch, lists, by_item[:4], excluded, limits)
    return in_order(end, *scratch.give(count), limits[0], ranks)


def _find(scratch: Scratch, base: Base, parts: Parts, excluded: Ints, k: int) -> Outcome:
    few, bound = few_postings(base) * FEW_FACTOR, _bound(base, any_valued(parts))
    if len(parts) == 1:
        return _find_in(scratch, base, parts[0], excluded, (k, bound / parts[0].postings.largest, few))
    if sum(part.bound for part in parts) >= bound or sum(part.postings.size for part in parts) >= few:
        return INEXACT, 0  # with many postings the plain strategy is faster than to merge the parts
    return _find_in(scratch, base, _merged(parts), excluded, (k, np.inf, few))


def _bound(base: Base, valued: bool) -> float:
    """What lists may add at most so that all sums are exact, also those relative to the top of the base."""
    # With values and without a base, lists are added in the order of the plain strategy.
    return np.inf if valued and not base.largest_absolute else exact_bound(base, valued) - base.largest_absolute


def _find_in(scratch: Scratch, base: Base, part: WeightedLists, excluded: Ints, limits: Limits) -> Outcome:
    steps, step = base.steps_below_top
    items = base.items, steps, base.top, step
    ids, starts, ends, _, bitmaps, *_ = part.postings
    lists = *part.postings.for_loops(), part.weights
    if bitmaps is None:
        outcome: Outcome = find(scratch, items, lists, _NO_BITMAPS, excluded, limits)
        return outcome
    outcome = find(scratch, items, lists, (bitmaps.rows, bitmaps.bits, bitmaps.shortest), excluded, limits)
    if outcome[0] == MISSING_BITMAP:
        bitmaps.add_missing(ids, starts, ends)
        outcome = find(scratch, items, lists, (bitmaps.rows, bitmaps.bits, bitmaps.shortest), excluded, limits)
    return outcome


def _merged(parts: Parts) -> WeightedLists:
    """The lists of several parts in one array."""
    all_postings = [part.postings for part in parts]
    ends = np.cumsum(np.concatenate([postings.lengths for postings in all_postings]))
    starts = np.append(0, ends)[:-1]
    ids = np.concatenate([postings.concatenated_ids() for postings in all_postings])
    values = np.concatenate([postings.concatenated_values() for postings in all_postings])
    return WeightedLists(PostingArrays(ids, starts, ends, values), np.concatenate([part.weights for part in parts]))


_NO_BITMAPS: Any = np.zeros(0, np.int64), np.zeros((0, 0), np.uint32), 1 << 62
