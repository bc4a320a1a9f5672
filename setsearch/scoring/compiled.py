"""The best of all items by compiled loops (kernel_numba.py): the same items and bits as scoring.py's plain way.

What the lists add is gathered apart from the base, some items at a time. The base itself is read where it matters only:
a bound of it, in one byte an item, tells which items cannot be among the best.
"""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.scoring.base import Base, few_postings, room_of
from setsearch.scoring.compiled_loops import find
from setsearch.scoring.compiled_primitives import DONE, EQUAL, INEXACT, MISSING
from setsearch.scoring.kernels import KERNELS
from setsearch.scoring.postings import Part, Postings, have_values
from setsearch.scoring.selection import Ranks, in_order

CHUNK = 1 << 16  # items that are scored together: so few that what is added to them stays in the processor's cache
MOST = 1000  # best ones that are looked for
FEW = 1.25  # how many times the postings that are few for others are so here
# What a thread works in: what lists add to a chunk; the same where few items are touched, all zeros between queries;
# ids and scores of what may be the best.
Work = tuple[Floats, Floats, Ints, Floats]
Found = tuple[int, int]  # how it ended (kernel_numba.py), how many of these are the best
_threads = threading.local()


def search(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """As `scoring.best`; None where the plain way has to answer.

    That is for many, for many of equal scores, for sums so large that their order matters.
    """
    if k > MOST:
        return None
    work: Work | None = getattr(_threads, "work", None)
    _threads.work = None  # an error in between leaves no half-used array
    if work is None or len(work[0]) != CHUNK:
        work = np.empty(CHUNK), np.zeros(CHUNK), np.empty(8 * MOST + 1000, np.int64), np.empty(8 * MOST + 1000)
    end, count = _find(work, base, parts, np.array(without, np.int64), k)
    ids, scores = work[2][:count].copy(), work[3][:count].copy()
    _threads.work = work
    if end == EQUAL:
        return in_order(ids, scores, k, ranks)
    return (ids, scores) if end == DONE else None


def _find(work: Work, base: Base, parts: Sequence[Part], without: Ints, k: int) -> Found:
    few, room = few_postings(base) * FEW, _room_of(base, have_values(parts))
    if len(parts) == 1:
        return _find_by(work, base, parts[0], without, (k, room / parts[0].postings.largest, few, False))
    if sum(part.most for part in parts) >= room:
        return INEXACT, 0
    if len(base.items) > CHUNK or sum(part.postings.size for part in parts) < few:
        return _find_by(work, base, _as_one(parts), without, (k, np.inf, few, False))
    *before, last = parts or [_NO_PART]
    sums = work[0][: len(base.items)]
    sums[:] = 0.0
    for part in before:
        KERNELS["numba"].add(sums, *part)
    last = Part(last.postings._replace(planes=None), last.weights)
    return _find_by(work, base, last, without, (k, np.inf, -1.0, True))  # more are touched than those of the last part


def _room_of(base: Base, valued: bool) -> float:
    """Up to what lists may add so that all sums are exact, also those from the top of the base down."""
    # With values, and without a base, lists are added in the order of the plain way.
    return np.inf if valued and not base.extreme else room_of(base, valued) - base.extreme


def _find_by(work: Work, base: Base, part: Part, without: Ints, wanted: tuple[int, float, float, bool]) -> Found:
    """By the lists of one part."""
    below, step = base.below
    items = base.items, below, base.top, step
    ids, starts, ends, _, planes, _ = part.postings
    columns = *part.postings.columns(), part.weights
    if planes is None:
        found: Found = find(work, items, columns, _NO_PLANES, without, wanted)
        return found
    found = find(work, items, columns, (planes.rows, planes.bits, planes.shortest), without, wanted)
    if found[0] == MISSING:
        planes.make(ids, starts, ends)
        found = find(work, items, columns, (planes.rows, planes.bits, planes.shortest), without, wanted)
    return found


def _as_one(parts: Sequence[Part]) -> Part:
    """The lists of several parts, one behind the other."""
    if not parts:
        return _NO_PART
    given = [part.postings for part in parts]
    ends = np.cumsum(np.concatenate([postings.lengths for postings in given]))
    starts = np.append(0, ends)[:-1]
    ids = np.concatenate([postings.together() for postings in given])
    values = np.concatenate([postings.values_together() for postings in given])
    return Part(Postings(ids, starts, ends, values), np.concatenate([part.weights for part in parts]))


_NO_PART = Part(Postings(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)), np.zeros(0))
_NO_PLANES: Any = np.zeros(0, np.int64), np.zeros((0, 0), np.uint32), 1 << 62
