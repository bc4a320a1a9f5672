"""The k best items: base plus weighted posting lists, all of which are added. Knows no models and no storage.

Two kernels add with the same bits: the compiled core, for 2^15 items at a time, and numpy. What is returned has the
items, order and bits of sorting all sums. A whole question by lift or bernoulli is the core's (core/question.py), which
leaves out lists.
"""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints, only, to_lattice
from setsearch.core import binding
from setsearch.errors import InvalidParameter
from setsearch.scoring.postings import WeightedLists

KERNELS = ("core", "numpy")
GONE = ("scipy", "numba")  # names of kernels that are not there any more
CROWD = 1 << 14  # items of one score, above which names are read until enough of these are found
AT_FIRST, MORE = 256, 4  # names that are read together, and times as many the next time

Best = tuple[Ints, Floats]  # ids, the best first, and scores
_chosen: str | None = None


@dataclass(eq=False)
class Base:
    """What every item scores before the seeds are known: `items` `(n_items,)`, -inf for ids without an item.

    `items` are `scale` (a power of two) times as large as scores, `constant` is not.
    """

    items: Floats
    constant: float
    scale: float = 1.0

    def at_scale(self, scale: float, binary: bool) -> "Base":
        """The same base at another scale, on the lattice."""
        if scale == self.scale:
            return self
        return Base(to_lattice(self.items, binary, scale / self.scale), self.constant, scale)

    @cached_property
    def largest_absolute(self) -> float:
        """The largest |base|."""
        least = float(self.items.min(where=self.items > -float("inf"), initial=0.0))
        return max(float(self.items.max(initial=-float("inf"))), -least)


def use_kernel(name: str | None) -> None:
    """Choose the kernel of this process: "core" or "numpy"; None for the core where it was built.

    "scipy" and "numba" choose as None does, with a FutureWarning.
    """
    global _chosen
    if name in GONE:
        warnings.warn(f"the kernel {name!r} is gone; use_kernel(None) chooses the fastest", FutureWarning, stacklevel=2)
        name = None
    if name is not None and name not in KERNELS:
        raise InvalidParameter(f"unknown kernel {name!r}; choose from {', '.join(KERNELS)}")
    if name == "core" and binding.library() is None:
        raise InvalidParameter(
            "the kernel 'core' was not built; install setsearch where there is a C compiler, or with SETSEARCH_CORE=zig"
        )
    _chosen = name


def is_core() -> bool:
    """Whether the compiled core is in use: by default if it was built."""
    return _chosen == "core" or (_chosen is None and binding.library() is not None)


def accumulate(scores: Floats, *parts: WeightedLists) -> None:
    """Add to `scores`, `(n_items,)`, each list's weight times each entry's value at the ids of the list.

    The sum over active features of weight_j x_j, in one pass over their posting lists.
    """
    if is_core():
        binding.add(scores, [(own.ids, own.values, own.starts, own.ends, weights) for own, weights in parts])
        return
    for postings, weights in parts:
        for (start, end), weight in zip(postings.spans(), weights, strict=True):
            values = postings.values
            added = weight if values is None else np.multiply(values[start:end], weight, dtype=np.float64)
            np.add.at(scores, postings.ids[start:end], added)


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


def best(sums: Floats, excluded: Sequence[int], k: int, names: Names, among: Ints | None = None) -> Best:
    """The k items with the highest sums, `(n_items,)`, best first: ids and sums.

    `excluded` items are left out; if `among` (distinct ids) is given, so are all others. Equal ones are in the order of
    names; of a crowd, names are read until there are enough.
    """
    sums = sums.copy() if among is None else only(sums, among)
    sums[[*excluded]] = -np.inf
    least = kth_largest(sums, k) if k < len(sums) else -np.inf
    if least == -np.inf or np.count_nonzero(sums == least) <= CROWD:
        ids = np.flatnonzero(sums >= least)
        return sort_best(ids, sums[ids], k, names)
    above = np.flatnonzero(sums > least)
    ids, scores = sort_best(above, sums[above], k, names)
    order, size, first = iter(names.in_order()), AT_FIRST, np.zeros(0, np.int64)
    while len(ids) + len(first) < k and len(some := np.fromiter(islice(order, size), np.int64)):
        first, size = np.append(first, some[sums[some] == least]), size * MORE
    first = first[: k - len(ids)]
    return np.append(ids, first), np.append(scores, np.full(len(first), least))


def kth_largest(scores: Floats, k: int) -> float:
    """The k-th largest of at least k scores.

    Partitioning takes long if most are equal, so only those above the k-th largest maximum of blocks take part. A block
    is every n_blocks-th score, so that all maxima are taken at once.
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
    if len(ids) and scores[-1] > -np.inf and not np.count_nonzero(scores[1:] >= scores[:-1]):  # they are in order
        return ids[:k].astype(np.int64, copy=False), scores[:k]
    if len(ids) > 4 * k:
        reach = scores >= kth_largest(scores, k)
        ids, scores = ids[reach], scores[reach]
    order = (-scores).argsort(kind="stable")
    scores = scores[order]
    if len(scores) and scores[-1] == -np.inf:
        order = order[: np.searchsorted(-scores, np.inf)]
        scores = scores[: len(order)]
    head = scores[: k + 1]
    if (head[1:] == head[:-1]).any():
        order = order[np.lexsort((names.ranks(ids[order].astype(np.int64, copy=False)), -scores))]
    return ids[order[:k]].astype(np.int64, copy=False), scores[:k]


def middle_ranks(scores: Floats, few: Floats, excluded: Sequence[int]) -> Floats:
    """The rank of each of a few scores among those of all items but the excluded; equal ones share the middle rank."""
    each, places = np.unique(few, return_inverse=True)
    if is_core():
        above, equal = binding.ranks(scores, each, np.array(excluded, np.int64))
    else:
        others = np.sort(np.delete(scores, excluded))
        reached, above = (len(others) - np.searchsorted(others, each, side) for side in ("left", "right"))
        equal = reached - above
    ranks: Floats = (2 * above + equal + 1) / 2
    return ranks[places]
