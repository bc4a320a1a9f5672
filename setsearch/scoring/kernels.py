"""The inner loop: add a weight at every id of a list. Kernels with the same bits: the compiled core, and numpy."""

import warnings
from typing import Any

import numpy as np

from setsearch.arrays import Floats
from setsearch.core import binding
from setsearch.errors import InvalidParameter
from setsearch.scoring.postings import Parts, WeightedLists

KERNELS = ("core", "numpy")
GONE = ("scipy", "numba")  # names of kernels that are not there any more

_chosen: str | None = None


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
        binding.add(scores, lists_of(parts))
        return
    for postings, weights in parts:
        for (start, end), weight in zip(postings.spans(), weights, strict=True):
            values = postings.values
            added = weight if values is None else np.multiply(values[start:end], weight, dtype=np.float64)
            np.add.at(scores, postings.ids[start:end], added)


def lists_of(parts: Parts) -> list[Any]:
    """Weighted lists as the compiled core takes them."""
    return [(own.ids, own.values, own.starts, own.ends, weights) for own, weights in parts]
