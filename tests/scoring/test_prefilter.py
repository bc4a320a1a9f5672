"""Coarse pre-ranking misses no item of the exact answer."""

import numpy as np
import pytest

from setsearch.arrays import to_lattice
from setsearch.scoring import kernels
from setsearch.scoring import prefilter as estimates
from setsearch.scoring.base import Base
from setsearch.scoring.kernels import use_kernel
from setsearch.scoring.postings import PostingArrays, WeightedLists


@pytest.mark.parametrize("kernel", ["numpy", "scipy"])
@pytest.mark.parametrize("seed", range(20))
def test_estimates_lead_to_what_sorting_does(seed, kernel, always_prefiltered, monkeypatch):
    """Whatever the signs, the ties, the items without a base, the bits, and how many lists are copied together."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(kernels, "COPIED_TOGETHER", int(rng.choice([1, 100, 1 << 16])))
    monkeypatch.setattr(estimates, "MOST_BEYOND_K", int(rng.choice([-1000, 0, 100])))
    use_kernel(kernel)
    n, answered = int(rng.integers(1, 4000)), 0
    digits = int(rng.integers(0, 9))
    base = Base(to_lattice(np.round(rng.normal(size=n) * rng.choice([0, 1, 40, 9000]), digits)), 0.0)
    base.items[rng.random(n) < 0.1] = -np.inf
    ranks = rng.permutation(n)
    for _ in range(8):
        parts, expected, valued = [], base.items.copy(), rng.random() < 0.5
        for _ in range(rng.integers(1, 4)):
            sizes = rng.integers(0, n // int(rng.choice([1, 30])) + 1, rng.integers(0, 9))
            lists = [np.sort(rng.choice(n, size, replace=False)) for size in sizes]
            ends = np.cumsum(sizes, dtype=np.int64)
            weights = to_lattice(np.round(rng.normal(size=len(lists)) + 0.5, digits), not valued)
            ids = np.concatenate([*lists, []]).astype(np.int32)
            largest = float(rng.choice([1, 300]))
            values = to_lattice(rng.random(len(ids)) * largest, False).astype(np.float32) if valued else None
            parts.append(WeightedLists(PostingArrays(ids, ends - sizes, ends, values, None, largest), weights))
            np.add.at(expected, ids, np.repeat(weights, sizes) * (values if valued else 1))
        without = rng.choice(n, int(rng.integers(0, min(n, 4) + 1)), replace=False).tolist()
        expected[without] = -np.inf
        k = int(rng.choice([1, 2, 10, 30, 999]))
        plain = sorted(np.flatnonzero(expected > -np.inf).tolist(), key=lambda id: (-expected[id], ranks[id]))[:k]
        found = estimates.best_by_prefilter(base, parts, without, k, ranks.take)
        if found is not None:
            answered += 1
            assert found[0].tolist() == plain
            assert np.array_equal(found[1], expected[plain])
    assert answered
    use_kernel(None)


@pytest.mark.parametrize("kernel", ["numpy", "scipy"])
@pytest.mark.parametrize(("spread", "some"), [(2.0**-22, -1000), (1e-3, 1000)], ids=["single precision", "16 bits"])
def test_what_few_bits_do_not_tell_apart_is_told_apart(kernel, spread, some, always_prefiltered, monkeypatch):
    """900 items, each in 15 of 30 lists of nearly the same weight."""
    monkeypatch.setattr(estimates, "MOST_BEYOND_K", some)
    use_kernel(kernel)
    rng = np.random.default_rng(0)
    for _ in range(20):
        there = rng.permuted(np.tile(np.arange(30) < 15, (900, 1)), axis=1)
        ids, sizes = np.nonzero(there.T)[1].astype(np.int32), there.sum(axis=0)
        ends, weights = np.cumsum(sizes), to_lattice(1 + rng.random(30) * spread)
        expected = np.bincount(ids, np.repeat(weights, sizes), 900)
        part = WeightedLists(PostingArrays(ids, ends - sizes, ends), weights)
        found = estimates.best_by_prefilter(Base(np.zeros(900), 0.0), [part], [], 10, np.arange(900).take)
        assert found[0].tolist() == np.argsort(-expected, kind="stable")[:10].tolist()
        assert np.array_equal(found[1], np.sort(expected)[::-1][:10])
    use_kernel(None)


@pytest.mark.parametrize("n_lists", [1, 2, 40, 3000, 1 << 14])
def test_sums_stay_within_16_bits(n_lists, always_prefiltered):
    """Also those of items that are in all lists; of more of these, in single precision."""
    rng = np.random.default_rng(n_lists)
    use_kernel("scipy")
    for weight in (-1.0, 1.0, 0.7, -(2.0**-20)):
        base = Base(to_lattice(rng.choice([-1.0, 1.0], 300) * rng.random(300)), 0.0)
        base.items[:2] = -1.0, 1.0
        sizes, weights = np.full(n_lists, 150), to_lattice(np.full(n_lists, weight))
        ends = np.cumsum(sizes, dtype=np.int64)
        part = WeightedLists(
            PostingArrays(np.tile(np.arange(0, 300, 2, dtype=np.int32), n_lists), ends - sizes, ends), weights
        )
        expected = base.items.copy()
        expected[::2] += weights.sum()
        found = estimates.best_by_prefilter(base, [part], [], 10, np.arange(300).take)
        assert found[0].tolist() == np.argsort(-expected, kind="stable")[:10].tolist()
        assert np.array_equal(found[1], np.sort(expected)[::-1][:10])
    use_kernel(None)


def test_estimates_leave_alone_what_they_cannot_do(monkeypatch):
    monkeypatch.setattr(estimates, "FEWEST_ITEMS", 90_000)
    monkeypatch.setattr(estimates, "FEW_TOUCHED", 90_000)
    lists = PostingArrays(np.arange(50, dtype=np.int32), np.zeros(1, np.int64), np.full(1, 50))
    part, zeros = WeightedLists(lists, np.ones(1)), Base(np.zeros(90_000), 0.0)

    def search(base, part, k=10):
        return estimates.best_by_prefilter(base, [part], [], k, np.arange(90_000).take)

    assert search(zeros, part)[0].tolist() == list(range(10))
    assert search(zeros, part, 50)[0].tolist() == list(range(50))
    assert search(zeros, part, 51) is None  # 89,950 equal ones
    assert search(zeros, part, estimates.MOST_RESCORED + 1) is None
    assert search(zeros, WeightedLists(lists._replace(values=np.ones(50)), np.ones(1))) is None
    assert search(zeros, WeightedLists(lists, np.full(1, 2.0**17))) is None
    assert search(Base(np.full(90_000, 2.0**17), 0.0), part) is None
    assert search(Base(np.full(90_000, -np.inf), 0.0), part)[0].tolist() == []
    for name, value in (("FEWEST_ITEMS", 90_001), ("WORK_OF_A_LIST", 1 << 20), ("FEW_TOUCHED", 1800)):
        with monkeypatch.context() as patched:
            patched.setattr(estimates, name, value)
            assert search(zeros, part) is None
