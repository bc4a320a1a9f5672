"""The best of all items by compiled loops (kernel_numba.py): the same items and bits as scoring.py's plain way.

What the lists add is gathered apart from the base, in an array that is all zeros between queries. The base itself is
read where it matters only: a bound of it, in one byte an item, tells which items cannot be among the best.
"""

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.bases import Base, few_are_touched, sums_are_exact
from setsearch.kernel_numba import add_planes, add_postings, collect, scan, split
from setsearch.kernels import Floats, Part, Postings
from setsearch.planes import OFTEN, Bits
from setsearch.postings import Ints

CHUNK = 1 << 16  # items that are scored together: so few that what is added to them stays in the processor's cache
ROWS = 64
MOST = 1000  # best ones that are looked for

_threads = threading.local()


class _Arrays(NamedTuple):
    """What a thread works in: what lists add, all zeros between queries, and what planes add, of a chunk."""

    added: Floats
    of_planes: npt.NDArray[np.int32]


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
    size = max(len(base.items), CHUNK)
    arrays: _Arrays | None = getattr(_threads, "arrays", None)
    _threads.arrays = None  # an error in between leaves no half-used array
    if arrays is None or len(arrays.added) < size or len(arrays.of_planes) < CHUNK:
        arrays = _Arrays(np.zeros(size * 5 // 4), np.empty(CHUNK, np.int32))
    result = None
    if few_are_touched(base, parts):
        result = _among_few(base, parts, without, k, arrays)
    if result is None:
        result = _among_all(base, parts, without, k, arrays)
    _threads.arrays = arrays
    return result


def _among_few(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, arrays: _Arrays
) -> tuple[Ints, Floats] | None:
    """By a look at the touched items; None if others could be among the best."""
    found, added = _Found(k), arrays.added
    for part in parts:
        add_postings(added[: len(base.items)], *part, part.postings.starts.copy())
    added[without] = -np.inf
    for part in parts:
        ids, starts, ends, _, _ = part.postings
        rare_first = np.argsort(ends - starts)  # whose items are the best, so that others are soon known not to be
        lists = ids.view(np.uint32), starts[rare_first], ends[rare_first]
        collect(added, base.items, base.top, lists, found.arrays)
    added[without] = 0.0
    return found.reaching() if found.best[0] > base.top else None


def _among_all(
    base: Base, parts: Sequence[Part], without: Sequence[int], k: int, arrays: _Arrays
) -> tuple[Ints, Floats] | None:
    """By a look at all items, some after the others."""
    found = _Found(k)
    parts, long = _without_long(parts, len(base.items))
    below, step = base.below
    places = [part.postings.starts.copy() for part in parts]
    for low in range(0, len(base.items), CHUNK):
        items = base.items[low : low + CHUNK]
        width = -(-len(items) // ROWS)
        chunk, of_planes = arrays.added[: ROWS * width], arrays.of_planes[: ROWS * width]
        if len(long.counts):
            add_planes(of_planes, long.planes, long.counts, low)
        for part, own in zip(parts, places, strict=True):
            add_postings(chunk, *part, own, low)
        for id in without:
            if low <= id < low + len(items):
                chunk[id - low] = -np.inf
        shape, bounds = (ROWS, width), (below[low : low + CHUNK], base.top, step)
        scan(chunk.reshape(shape), of_planes.reshape(shape), long.planes, long.unit, items, bounds, low, found.arrays)
    return found.reaching()


class _Long(NamedTuple):
    """Long lists as planes, (bits, rows, weights); these weights as whole numbers of units; and the unit."""

    planes: tuple[Bits, Ints, Floats]
    counts: npt.NDArray[np.int32]
    unit: float


def _without_long(parts: Sequence[Part], n_items: int) -> tuple[Sequence[Part], _Long]:
    """The parts without their long lists, and these; of one part without values only."""
    planes = parts[0].postings.planes if len(parts) == 1 else None
    if planes is None:
        return parts, _NO_LONG
    (ids, starts, ends, _, _), weights = parts[0]
    shortest = -(-n_items // OFTEN)
    short, long = split((starts, ends, weights), planes.known, shortest)
    if long[3] < 0:
        planes.make(ids, starts, ends, shortest)
        short, long = split((starts, ends, weights), planes.known, shortest)
    rows, of_long, counts, unit = long
    return [Part(Postings(ids, *short[:2]), short[2])], _Long((planes.bits, rows, of_long), counts, unit)


_NO_LONG = _Long((np.zeros((0, 0), np.uint32), np.zeros(0, np.int64), np.zeros(0)), np.zeros(0, np.int32), 0.0)
