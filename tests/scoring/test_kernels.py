"""The kernels give the same bits."""

import numpy as np
import pytest

from setsearch.arrays import to_lattice
from setsearch.errors import InvalidParameter
from setsearch.scoring.kernels import KERNELS, use_kernel
from setsearch.scoring.postings import PostingArrays


@pytest.mark.parametrize("seed", range(5))
def test_kernels_give_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5000))
    lists = [np.sort(rng.choice(n, int(rng.integers(0, n + 1)), replace=False)).astype(np.int32) for _ in range(50)]
    weights, base = to_lattice(rng.normal(size=50) * 9), to_lattice(rng.normal(size=n) * 99)
    base[:: max(n // 7, 1)] = -np.inf
    expected = base.copy()
    for ids, weight in zip(reversed(lists), reversed(weights), strict=True):
        expected[ids] += weight
    ends = np.cumsum([len(ids) for ids in lists])
    postings = PostingArrays(np.concatenate(lists), ends - [len(ids) for ids in lists], ends)
    for kernel in KERNELS.values():
        scores = base.copy()
        kernel.add(scores, postings, weights)
        assert np.array_equal(scores, expected)
        kernel.add(scores, postings, -weights)
        assert np.array_equal(scores, base)


def test_kernels_are_chosen_by_name():
    with pytest.raises(InvalidParameter, match="'fortran'"):
        use_kernel("fortran")
