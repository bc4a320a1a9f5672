"""Scores from posting lists, and the best of them. Knows nothing of models or storage.

Weights are rounded to multiples of 2^-36. Sums of such numbers below 2^17 are exact in float64, so the order of
addition, and with it the kind of kernel, cannot change a bit of a score.
"""

import sys
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]

LATTICE = 2.0**36
BLOCK = 128  # scores under one maximum when the best are looked for

_buffers = threading.local()


def to_lattice(weights: Floats) -> Floats:
    """Weights rounded to multiples of 2^-36 (an error of at most 7.3e-12 each)."""
    rounded: Floats = np.rint(weights * LATTICE) / LATTICE
    return rounded


class Postings(NamedTuple):
    """Some posting lists within one array: list i is `ids[starts[i] : ends[i]]`."""

    ids: Ids
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    def lists(self) -> list[Ids]:
        """The lists one by one."""
        return [self.ids[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]


def accumulate(scores: Floats, postings: Postings, weights: Floats) -> None:
    """Add to `scores`, `(n_items,)`, each list's weight at the ids of the list; `weights` lie on the lattice.

    The sum over active features of delta_j x_j in one pass over their posting lists.
    """
    if len(weights):
        kernel()(scores, postings, weights)


def _accumulate_numpy(scores: Floats, postings: Postings, weights: Floats) -> None:
    for ids, weight in zip(postings.lists(), weights.tolist(), strict=True):
        np.add.at(scores, ids, weight)


def _accumulate_scipy(scores: Floats, postings: Postings, weights: Floats) -> None:
    # The function behind `csc_array @ vector`: it adds in place, where the operator would allocate and copy.
    from scipy.sparse._sparsetools import csc_matvec

    ids = np.concatenate(postings.lists())
    starts = np.zeros(len(weights) + 1, np.int32)
    np.cumsum(postings.ends - postings.starts, out=starts[1:])
    csc_matvec(len(scores), len(weights), starts, ids, _ones(len(ids)), weights, scores)


Kernel = Callable[[Floats, Postings, Floats], None]
KERNELS: dict[str, Kernel] = {"numpy": _accumulate_numpy, "scipy": _accumulate_scipy}


_chosen: str | None = None


def use_kernel(name: str | None) -> None:
    """Choose the kernel of this process by name; None leaves the choice to `kernel`."""
    global _chosen
    _chosen = name


def kernel() -> Kernel:
    """The kernel that was chosen; else the fastest that costs no import: scipy's where it is loaded, else numpy's."""
    return KERNELS[_chosen or ("scipy" if "scipy.sparse" in sys.modules else "numpy")]


def _ones(size: int) -> Floats:
    """Ones for the entries of a matrix, made once for each thread and reused."""
    ones: Floats | None = getattr(_buffers, "ones", None)
    if ones is None or len(ones) < size:
        _buffers.ones = ones = np.ones(max(size, 1 << 16) * 2)
    return ones[:size]


def start_from(base: Floats) -> Floats:
    """This thread's score array, filled with `base`; valid until the thread's next call."""
    scores: Floats | None = getattr(_buffers, "scores", None)
    if scores is None or len(scores) < len(base):
        _buffers.scores = scores = np.empty(len(base) * 5 // 4)
    scores = scores[: len(base)]
    np.copyto(scores, base)
    return scores


def top_k(scores: Floats, k: int, ranks: Callable[[], npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """The ids of the k best scores, best first; equal scores by `ranks()[id]`. Ids with -inf never appear.

    `ranks` gives the order of all ids, `(n_items,)`; it is called only where a tie has to be decided.
    """
    ids = _candidates(scores, k)
    found = scores[ids]
    if found.min(initial=0.0) == -np.inf:
        ids, found = ids[found > -np.inf], found[found > -np.inf]
    if len(ids) > 1 and len(np.unique(found)) < len(found):
        order = np.lexsort((ranks()[ids], -found))
    else:
        order = np.argsort(-found, kind="stable")
    return ids[order][:k]


def _candidates(scores: Floats, k: int) -> npt.NDArray[np.int64]:
    """Ids of all scores that are at least as high as the k-th best, in no order.

    The k-th largest maximum of blocks is a lower bound of the k-th best score: only blocks that reach it are read.
    """
    n_blocks = len(scores) // BLOCK
    if n_blocks <= k:
        ids = np.arange(len(scores))
    else:
        whole = n_blocks * BLOCK
        maxima = scores[:whole].reshape(n_blocks, BLOCK).max(axis=1)
        bound = np.partition(maxima, n_blocks - k)[n_blocks - k]
        blocks = np.flatnonzero(maxima >= bound)
        ids = np.concatenate([(blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel(), np.arange(whole, len(scores))])
    if len(ids) > k:
        found = scores[ids]
        ids = ids[found >= np.partition(found, len(ids) - k)[len(ids) - k]]
    return ids
