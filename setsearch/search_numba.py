"""The best of all items by compiled loops (kernel_numba.py): the same items and bits as scoring.py's plain way.

What the lists add is gathered apart from the base, in an array that is all zeros between queries. The base itself is
read where it matters only: a bound of it, in one byte an item, tells which items cannot be among the best.
"""

import threading
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from setsearch.bases import Base, few_are_touched, sums_are_exact
from setsearch.kernel_numba import add_postings, part_of, search_all, search_touched, split
from setsearch.kernels import Floats, Part, Postings
from setsearch.planes import OFTEN, Bits
from setsearch.postings import Ints

CHUNK = 1 << 16  # items that are scored together: so few that what is added to them stays in the processor's cache
MOST = 1000  # best ones that are looked for

# What a thread works in: what lists add to a chunk, all zeros between queries, and what planes add.
Work = tuple[Floats, npt.NDArray[np.int32]]
Long = tuple[tuple[Bits, Ints, Floats], npt.NDArray[np.int32], float]  # `long` of kernel_numba.py

_threads = threading.local()


class _Found:
    """What has been found so far (kernel_numba.py)."""

    def __init__(self, k: int) -> None:
        self.best = np.full(k, -np.inf)
        self.ids = np.empty(8 * k + 1000, np.int64)
        self.scores = np.empty(len(self.ids))
        self.state = np.zeros(2, np.int64)
        self.arrays = self.best, self.ids, self.scores, self.state

    def reaching(self) -> tuple[Ints, Floats] | None:
        """The k best items and all that equal the k-th, in no order; None if there are too many of these."""
        count, full = self.state.tolist()
        if full:
            return None
        scores = self.scores[:count]
        reach = scores >= self.best[0]
        return self.ids[:count][reach], scores[reach]


def search(base: Base, parts: Sequence[Part], without: Sequence[int], k: int) -> tuple[Ints, Floats] | None:
    """The k items of the highest base + sum of weights, and all that equal the k-th, in no order; not those `without`.

    None where the plain way has to: for many, for many of equal scores, for sums so large that their order matters.
    """
    # With values, and without a base, lists are added in the order of the plain way.
    as_plain = not base.extreme and any(part.postings.values is not None for part in parts)
    if k > MOST or not (as_plain or sums_are_exact(base, parts)):
        return None
    work: Work | None = getattr(_threads, "work", None)
    _threads.work = None  # an error in between leaves no half-used array
    if work is None or len(work[0]) != CHUNK:
        work = np.zeros(CHUNK), np.empty(CHUNK, np.int32)
    result = None
    if few_are_touched(base, parts):
        result = _among_touched(base, parts, without, k, work)
    if result is None:
        result = _among_all(base, parts, without, k, work)
    _threads.work = work
    return result


def _among_touched(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, work: Work
) -> tuple[Ints, Floats] | None:
    """By a look at the touched items; None if others could be among the best."""
    found, part = _Found(k), _as_one(parts)
    rare_first = np.argsort(part.postings.lengths)  # whose items are the best, so that others are soon known not to be
    left_out = np.array(without, np.int64)
    search_touched(work[0], _items(base), part_of(*part), rare_first, left_out, found.arrays)
    return found.reaching() if found.best[0] > base.top else None


def _among_all(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, work: Work
) -> tuple[Ints, Floats] | None:
    """By a look at all items, some after the others."""
    found, long = _Found(k), _NO_LONG
    if len(parts) == 1:
        part, long = _without_long(parts[0], len(base.items))
    elif len(base.items) <= CHUNK:
        *before, part = parts or [_NO_PART]
        for other in before:
            add_postings(work[0][: len(base.items)], *other)
    else:
        part = _as_one(parts)
    search_all(work, _items(base), part_of(*part), long, np.array(without, np.int64), found.arrays)
    return found.reaching()


def _items(base: Base) -> tuple[Floats, npt.NDArray[np.uint8], float, float]:
    below, step = base.below
    return base.items, below, base.top, step


def _as_one(parts: Sequence[Part]) -> Part:
    """The lists of several parts, one behind the other."""
    if len(parts) < 2:
        return parts[0] if parts else _NO_PART
    given = [part.postings for part in parts]
    ends = np.cumsum(np.concatenate([postings.lengths for postings in given]))
    starts = np.append(0, ends)[:-1]
    ids = np.concatenate([postings.together() for postings in given])
    values = np.concatenate([postings.values_together() for postings in given])
    return Part(Postings(ids, starts, ends, values), np.concatenate([part.weights for part in parts]))


def _without_long(part: Part, n_items: int) -> tuple[Part, Long]:
    """A part without its long lists, and these; only where it has no values."""
    (ids, starts, ends, _, planes), weights = part
    if planes is None:
        return part, _NO_LONG
    shortest = -(-n_items // OFTEN)
    short, long = split((starts, ends, weights), planes.known, shortest)
    if long[3] < 0:
        planes.make(ids, starts, ends, shortest)
        short, long = split((starts, ends, weights), planes.known, shortest)
    rows, of_long, counts, unit = long
    return Part(Postings(ids, *short[:2]), short[2]), ((planes.bits, rows, of_long), counts, unit)


_NO_LONG: Long = (np.zeros((0, 0), np.uint32), np.zeros(0, np.int64), np.zeros(0)), np.zeros(0, np.int32), 0.0
_NO_PART = Part(Postings(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)), np.zeros(0))
