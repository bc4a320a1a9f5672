"""The best of many items by whole units, which take half the memory of scores: the same items and bits as scoring.py's.

A score in units is rounded up, the base and each weight for itself, so that it is never too small; by how much it may
be too large is known. Only items that can be among the best are scored again, exactly.
"""

import threading
from collections.abc import Sequence
from itertools import chain

import numpy as np

from setsearch.bases import LOWEST, UNIT, Base, sums_are_exact
from setsearch.kernels import Floats, Part, Units, kernel
from setsearch.postings import Ints
from setsearch.selection import Ranks, candidates, in_order

MANY = 1 << 19  # items whose scores are far from the processor
FEW = 36  # postings times this, below the number of items: a look at the touched items alone is faster
WORTH = 1 << 13  # items and postings for each list that make up for a look into it
MOST = 1000  # items that are scored again

_threads = threading.local()


def best_by_units(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """As `scoring.best`; None where the plain way has to answer.

    That is for few items, for few postings in a list or in all, for values other than ones, for sums so large that
    their order matters, where too many items reach about the same score, and where items of lowest base might be among
    the best.
    """
    n_lists, size = sum(len(part.weights) for part in parts), sum(part.postings.size for part in parts)
    n_items = len(base.items)
    if n_items < MANY or size * FEW <= n_items or n_items + size < WORTH * n_lists:
        return None
    if k > MOST or base.top == -np.inf or any(part.postings.values is not None for part in parts):
        return None
    weights = [np.ceil(part.weights / UNIT) for part in parts]
    if sum(np.abs(each).sum() for each in weights) >= -LOWEST or not sums_are_exact(base, parts):
        return None
    units = _copy_of(base)
    for part, in_units in zip(parts, weights, strict=True):
        kernel().add(units, part.postings, in_units.astype(np.int32))
    units[without] = 2 * LOWEST
    too_large = n_lists + 1
    ids = np.sort(candidates(units, k, too_large))
    least = _least_of_best(units[ids], k) - too_large
    ids = ids[units[ids] >= least]
    if len(ids) > MOST or least <= LOWEST + sum(each.sum(where=each > 0) for each in weights):
        return None
    return in_order(ids, _scores(base, parts, ids), k, ranks)


def _least_of_best(units: Units, k: int) -> float:
    """The k-th largest, or the least."""
    k = min(k, len(units))
    return float(np.partition(units, -k)[-k])


def _scores(base: Base, parts: Sequence[Part], ids: Ints) -> Floats:
    """The scores of ascending items."""
    sought = ids.astype(np.int32)
    lists = chain.from_iterable(part.postings.lists() for part in parts)
    found = [list.take(list.searchsorted(sought), mode="clip") if len(list) else sought - 1 for list in lists]
    weights = np.concatenate([part.weights for part in parts])
    added: Floats = weights @ (np.array(found) == sought)
    return base.items[ids] + added


def _copy_of(base: Base) -> Units:
    """This thread's array, filled with the base; valid until the thread's next query."""
    units: Units | None = getattr(_threads, "units", None)
    if units is None or len(units) < len(base.items):
        _threads.units = units = np.empty(len(base.items) * 5 // 4, np.int32)
    units = units[: len(base.items)]
    np.copyto(units, base.units)
    return units
