"""The inner loop: add a weight at every id of a list. Three ways that give the same bits."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Scores
from setsearch.errors import InvalidParameter
from setsearch.scoring.postings import Postings

AT_ONCE = 1 << 17  # postings that are copied together: so few that they stay in the processor's cache


class Kernel(Protocol):
    """One way to do it."""

    def add(self, scores: Scores, postings: Postings, weights: Scores) -> None:
        """Add to `scores` the weight of each list, times the value of each entry, at its ids."""
        ...


class NumpyKernel:
    """With what is always there."""

    def add(self, scores: Scores, postings: Postings, weights: Scores) -> None:
        """Add the weight of each list at its ids."""
        for (start, end), weight in zip(postings._places(), weights, strict=True):
            if postings.values is None:
                np.add.at(scores, postings.ids[start:end], weight)
            else:
                added = np.multiply(postings.values[start:end], weight, dtype=scores.dtype)
                np.add.at(scores, postings.ids[start:end], added)


class ScipyKernel:
    """A sparse matrix-vector product over the lists, of which some at a time are copied side by side."""

    def add(self, scores: Scores, postings: Postings, weights: Scores) -> None:
        """Add the weight of each list at its ids."""
        # The function behind `csc_array @ vector`: it adds in place, where the operator would allocate and copy; and
        # the one that copies rows of a matrix, without an object for each.
        from scipy.sparse._sparsetools import csc_matvec, csr_row_index

        given, ends = postings.values, np.zeros(len(weights) + 1, np.int32)
        of_entries: npt.NDArray[Any] = given if given is not None else postings.ids.view(np.int8)  # anything, of a byte
        np.cumsum(postings.lengths, out=ends[1:])
        places = np.empty(2 * len(weights), np.int32)  # every other row is a list
        places[::2], places[1::2] = postings.starts, postings.ends
        for first, last in _some(ends):
            count, starts = last - first, ends[first : last + 1] - ends[first]
            if count == 1:
                own = slice(*places[2 * first : 2 * last].tolist())
                ids, values = postings.ids[own], of_entries[own]
            else:
                ids, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], of_entries.dtype)
                rows = np.arange(0, 2 * count, 2, dtype=np.int32)
                csr_row_index(count, rows, places[2 * first :], postings.ids, of_entries, ids, values)
            values = ones(len(ids), scores.dtype) if given is None else values.astype(scores.dtype, copy=False)
            csc_matvec(len(scores), count, starts, ids, values, weights[first:last], scores)


class NumbaKernel:
    """Compiled loops (extra `[numba]`)."""

    def add(self, scores: Scores, postings: Postings, weights: Scores) -> None:
        """Add the weight of each list at its ids."""
        from setsearch.scoring.compiled_loops import add

        ids, starts, ends, values = postings.columns()
        add(scores, (ids, starts.copy(), ends), values, weights, 0, len(scores), True)


KERNELS: dict[str, Kernel] = {"numpy": NumpyKernel(), "scipy": ScipyKernel(), "numba": NumbaKernel()}
_chosen: str | None = None
_fastest: str | None = None
_all_ones: dict[np.dtype[Any], npt.NDArray[Any]] = {}


def use_kernel(name: str | None) -> None:
    """Choose the kernel of this process: "numpy", "scipy" or "numba"; None leaves the choice to setsearch."""
    global _chosen
    if name is not None and name not in KERNELS:
        raise InvalidParameter(f"there is no kernel {name!r}; there is {', '.join(KERNELS)}")
    _chosen = name


def kernel() -> Kernel:
    """The kernel that was chosen, else numba's where it is installed, else scipy's."""
    global _fastest
    if _chosen is None and _fastest is None:
        _fastest = "numba" if "numba" in sys.modules or find_spec("numba") else "scipy"
    return KERNELS[_chosen or _fastest or "numpy"]


def _some(ends: npt.NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """The first and behind the last of lists that are added together, given where each would end, behind a 0."""
    first, n_lists = 0, len(ends) - 1
    while first < n_lists:
        last = n_lists
        if ends[-1] > AT_ONCE:
            last = max(first + 1, int(ends.searchsorted(ends[first] + AT_ONCE, "right")) - 1)
        yield first, last
        first = last


def ones(size: int, type: np.dtype[Any]) -> npt.NDArray[Any]:
    """Ones, made once and only read, so that threads may share them."""
    made = _all_ones.get(type)
    if made is None or len(made) < size:
        made = np.ones(2 * size, type)
        made.flags.writeable = False
        _all_ones[type] = made
    return made[:size]
