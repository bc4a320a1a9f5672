"""The inner loop: add a weight at every id of a list. Kernels with the same bits: the core, numpy, scipy, numba."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Floats32, Scores
from setsearch.core import binding
from setsearch.errors import InvalidParameter
from setsearch.scoring.postings import PostingArrays

ROWS = 1024  # of bytes that become float32 together: they stay in the cache
COPIED_TOGETHER = 1 << 17  # postings; few enough for the processor's cache


Kernel = Callable[[Any, PostingArrays, Any], None]  # adds to scores what lists with these weights say


def add_by_numpy(scores: Scores, postings: PostingArrays, weights: Scores) -> None:
    """Add the weight of each list times the value of each entry, at the ids of the list: numpy alone."""
    for (start, end), weight in zip(postings.spans(), weights, strict=True):
        if postings.values is None:
            np.add.at(scores, postings.ids[start:end], weight)
        else:
            added = np.multiply(postings.values[start:end], weight, dtype=scores.dtype)
            np.add.at(scores, postings.ids[start:end], added)


def add_by_scipy(scores: Scores, postings: PostingArrays, weights: Scores) -> None:
    """The same as a sparse matrix-vector product over the lists, copied side by side some at a time."""
    functions = sparse_functions()
    if functions is None:
        add_by_numpy(scores, postings, weights)
        return
    csc_matvec, csr_row_index = functions
    ends = np.zeros(len(weights) + 1, np.int32)
    # Without values any array of single bytes does.
    entries: npt.NDArray[Any] = postings.ids.view(np.int8) if postings.values is None else postings.values
    np.cumsum(postings.lengths, out=ends[1:])
    bounds = np.empty(2 * len(weights), np.int32)  # every other row is a list
    bounds[::2], bounds[1::2] = postings.starts, postings.ends
    for first, last in _chunks(ends):
        count, starts = last - first, ends[first : last + 1] - ends[first]
        if count == 1:
            span = slice(*bounds[2 * first : 2 * last].tolist())
            ids, values = postings.ids[span], entries[span]
        else:
            ids, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], entries.dtype)
            rows = np.arange(0, 2 * count, 2, dtype=np.int32)
            csr_row_index(count, rows, bounds[2 * first :], postings.ids, entries, ids, values)
        if postings.values is None:
            values = ones(len(ids), scores.dtype)
        csc_matvec(
            len(scores), count, starts, ids, values.astype(scores.dtype, copy=False), weights[first:last], scores
        )


def add_by_numba(scores: Scores, postings: PostingArrays, weights: Scores) -> None:
    """The same in compiled loops (extra `[numba]`)."""
    from setsearch.scoring.compiled_loops import add

    ids, starts, ends, values = postings.for_loops()
    add(scores, (ids, starts.copy(), ends), values, weights, 0, len(scores), True)


def add_by_core(scores: Scores, postings: PostingArrays, weights: Scores) -> None:
    """The same in the compiled core, which knows double precision only."""
    if scores.dtype == np.float64:
        binding.add(cast(Any, scores), [(*part_of(postings), weights)])
    else:
        add_by_scipy(scores, postings, weights)


def part_of(postings: PostingArrays) -> tuple[Any, ...]:
    """Posting lists as the compiled core takes them."""
    return postings.ids, postings.values, postings.starts, postings.ends


def products(rows: npt.NDArray[np.int8], numbers: Floats32) -> Floats:
    """rows @ numbers, `(n_rows,)`, of whole numbers whose sums stay below 2^24: exact, the same by any kernel."""
    if is_compiled():
        from setsearch.scoring.compiled_loops import multiply

        found = np.empty(len(rows), np.int32)
        multiply(rows, numbers.astype(np.int32), found)
        return found.astype(float)
    parts = [rows[start : start + ROWS].astype(np.float32) @ numbers for start in range(0, len(rows), ROWS)]
    return np.concatenate([np.zeros(0, np.float32), *parts]).astype(float)


KERNELS: dict[str, Kernel] = {
    "core": add_by_core,
    "numpy": add_by_numpy,
    "scipy": add_by_scipy,
    "numba": add_by_numba,
}

_chosen: str | None = None
_ones: dict[np.dtype[Any], npt.NDArray[Any]] = {}


def use_kernel(name: str | None) -> None:
    """Choose the kernel of this process: "core", "numpy", "scipy" or "numba"; None for the fastest one installed."""
    global _chosen
    if name is not None and name not in KERNELS:
        raise InvalidParameter(f"unknown kernel {name!r}; choose from {', '.join(KERNELS)}")
    if name == "core" and binding.library() is None:
        raise InvalidParameter("the kernel 'core' was not built; install setsearch where there is a C compiler")
    _chosen = name


def kernel() -> Kernel:
    """The chosen kernel, else the fastest one."""
    return KERNELS[_chosen or ("core" if is_core() else "numba" if is_compiled() else "scipy")]


def is_core() -> bool:
    """Whether the compiled core is in use: by default if it was built."""
    return _chosen == "core" or (_chosen is None and binding.library() is not None)


def is_compiled() -> bool:
    """Whether numba is in use: by default if it is installed, also beside the core, for what that does not do."""
    return _chosen == "numba" or (_chosen is None and _has_numba())


@cache
def _has_numba() -> bool:
    """Whether numba is installed and can be loaded."""
    if find_spec("numba") is None:
        return False
    try:
        import numba  # noqa: F401 - a process with little memory may not be able to load its compiler
    except (ImportError, OSError, MemoryError):
        return False
    return True


@cache
def sparse_functions() -> tuple[Any, Any] | None:
    """The functions behind `csc_array @ vector` and row selection; None if this scipy lacks them.

    They are private, but add in place and copy into given arrays; the operators would allocate and copy again.
    """
    try:
        from scipy.sparse._sparsetools import csc_matvec, csr_row_index
    except ImportError:
        return None
    return csc_matvec, csr_row_index


def _chunks(ends: npt.NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """(first, last + 1) of lists to add together, given where each ends in the concatenation, after a 0."""
    first, n_lists = 0, len(ends) - 1
    while first < n_lists:
        last = n_lists
        if ends[-1] > COPIED_TOGETHER:
            last = max(first + 1, int(ends.searchsorted(ends[first] + COPIED_TOGETHER, "right")) - 1)
        yield first, last
        first = last


def ones(size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Read-only ones, cached and shared between threads."""
    cached = _ones.get(dtype)
    if cached is None or len(cached) < size:
        cached = np.ones(2 * size, dtype)
        cached.flags.writeable = False
        _ones[dtype] = cached
    return cached[:size]
