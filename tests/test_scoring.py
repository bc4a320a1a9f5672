"""Accumulation and top-k, against the plain way."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from setsearch.scoring import BLOCK, KERNELS, Postings, start_from, to_lattice, top_k


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
    postings = Postings(np.concatenate(lists), ends - [len(ids) for ids in lists], ends)
    for kernel in KERNELS.values():
        scores = base.copy()
        kernel(scores, postings, weights)
        assert np.array_equal(scores, expected)


@given(
    hnp.arrays(float, st.integers(1, 6 * BLOCK), elements=st.sampled_from([-np.inf, -2.0, -1.5, 0.0, 3.25])),
    st.integers(1, 7 * BLOCK),
    st.randoms(use_true_random=False),
)
def test_top_k_equals_sorting(scores, k, random):
    ranks = np.array(random.sample(range(len(scores)), len(scores)))
    expected = sorted(np.flatnonzero(scores > -np.inf).tolist(), key=lambda id: (-scores[id], ranks[id]))[:k]
    assert top_k(scores, k, lambda: ranks).tolist() == expected


@given(hnp.arrays(float, st.integers(1, 2000), elements=st.floats(-1e4, 1e4)), st.integers(1, 40))
def test_top_k_of_distinct_scores_asks_for_no_ranks(scores, k):
    scores = np.unique(scores)
    assert top_k(scores, k, None).tolist() == list(range(len(scores)))[::-1][:k]


def test_the_buffer_starts_from_the_base():
    base = np.arange(9.0)
    first = start_from(base)
    first += 1
    assert np.array_equal(start_from(base), base)
    assert np.array_equal(start_from(base[:4]), base[:4])
