"""All strategies give the items, order and bits of the plain one."""

import numpy as np
import pytest

from setsearch.arrays import to_lattice
from setsearch.scoring import base as bases
from setsearch.scoring.base import Base
from setsearch.scoring.best import best
from setsearch.scoring.kernels import KERNELS, use_kernel
from setsearch.scoring.postings import PostingArrays, WeightedLists


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", range(12))
def test_few_postings_give_what_many_would(seed, kernel, monkeypatch):
    """Whether a query touches few items or many, and whatever was asked before: the bits of the plain way."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    monkeypatch.setattr(bases, "HIGHEST", int(rng.integers(1, 40)))
    base = Base(to_lattice(np.round(rng.normal(size=n), int(rng.integers(0, 4)))), 0.0)
    base.items[rng.random(n) < 0.1] = -np.inf
    ranks = rng.permutation(n)
    use_kernel(kernel)
    for _ in range(8):
        lists = [
            np.sort(rng.choice(n, int(rng.integers(0, n // 9 + 1)), replace=False)) for _ in range(rng.integers(0, 5))
        ]
        ends = np.cumsum([len(ids) for ids in lists], dtype=np.int64)
        starts = ends - [len(ids) for ids in lists] if lists else ends
        postings = PostingArrays(np.concatenate([*lists, []]).astype(np.int32), starts, ends)
        weights = to_lattice(np.round(rng.random(len(lists)) * 3, 1))
        without = rng.choice(n, int(rng.integers(0, min(n, 4) + 1)), replace=False).tolist()
        expected = base.items.copy()
        for ids, weight in zip(lists, weights, strict=True):
            expected[ids] += weight
        expected[without] = -np.inf
        k = int(rng.integers(1, 20))
        plain = sorted(np.flatnonzero(expected > -np.inf).tolist(), key=lambda id: (-expected[id], ranks[id]))[:k]
        for sparse in (0, 1, 10**9):
            monkeypatch.setattr(bases, "FEW_TOUCHED", sparse)
            ids, scores = best(base, [WeightedLists(postings, weights)], without, k, ranks.take)
            assert ids.tolist() == plain
            assert np.array_equal(scores, expected[plain])
    use_kernel(None)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_too_large_to_be_exact_do_not_depend_on_what_was_asked_before(kernel):
    use_kernel(kernel)
    rng = np.random.default_rng(0)
    base, starts = Base(np.zeros(20_000), 0.0), np.arange(0, 1500, 15)
    ids = np.tile(np.arange(15, dtype=np.int32), 100)

    def ask(seed):
        rng = np.random.default_rng(seed)
        values = to_lattice(0.5 + rng.random(1500) / 2, False).astype(np.float32)
        return best(
            base, [WeightedLists(PostingArrays(ids, starts, starts + 15, values), weights[seed])], [], 10, None
        )[1].tolist()

    weights = to_lattice(10 + rng.random((5, 100)), False)
    first = ask(0)
    assert first[0] > 2**9
    for seed in range(1, 5):
        ask(seed)
    assert ask(0) == first
    use_kernel(None)
