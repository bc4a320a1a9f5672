"""The compiled search equals sorting."""

import numpy as np
import pytest

from setsearch.arrays import to_lattice
from setsearch.scoring import base as bases
from setsearch.scoring import compiled as search_numba
from setsearch.scoring import compiled_loops as kernel_numba
from setsearch.scoring import compiled_primitives
from setsearch.scoring.base import Base
from setsearch.scoring.best import best
from setsearch.scoring.bitmaps import Bitmaps
from setsearch.scoring.kernels import use_kernel
from setsearch.scoring.postings import PostingArrays, WeightedLists


@pytest.mark.parametrize("seed", range(40))
def test_the_compiled_search_gives_what_sorting_does(seed, monkeypatch):
    """Whatever is looked at, in one piece or in many: the bits and the ties of the plain way."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4000))
    digits = int(rng.integers(0, 4))
    base = Base(to_lattice(np.round(rng.normal(size=n) * rng.choice([0, 1, 40]), digits), False), 0.0)
    base.items[rng.random(n) < 0.1] = -np.inf
    ranks = rng.permutation(n)
    monkeypatch.setattr(search_numba, "CHUNK", int(rng.choice([64, 192, 1024, 1 << 16])))
    use_kernel("numba")
    for _ in range(6):
        parts, expected = [], base.items.copy()
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            sizes = rng.integers(0, n // int(rng.choice([2, 30])) + 1, rng.integers(0, 9))
            lists = [np.sort(rng.choice(n, size, replace=False)) for size in sizes]
            ends = np.cumsum(sizes, dtype=np.int64)
            weights = to_lattice(np.round(rng.normal(size=len(lists)) + 0.5, digits), False)
            kind = rng.choice(["ones", "planes", "float32", "float64"])
            given = kind in ("ones", "planes")
            largest = 1.0 if given else float(rng.choice([1, 300]))
            values = None if given else to_lattice(rng.random(int(sizes.sum())) * largest, False).astype(kind)
            ids = np.concatenate([*lists, []]).astype(np.int32)
            planes = Bitmaps(n) if kind == "planes" else None
            parts.append(WeightedLists(PostingArrays(ids, ends - sizes, ends, values, planes, largest), weights))
            np.add.at(expected, ids, np.repeat(weights, sizes) * (1 if values is None else values))
        without = rng.choice(n, int(rng.integers(0, min(n, 4) + 1)), replace=False).tolist()
        expected[without] = -np.inf
        k = int(rng.integers(1, 30))
        plain = sorted(np.flatnonzero(expected > -np.inf).tolist(), key=lambda id: (-expected[id], ranks[id]))[:k]
        for sparse in (0, 1, 10**9):
            monkeypatch.setattr(bases, "FEW_TOUCHED", sparse)
            ids, scores = best(base, parts, without, k, ranks.take)
            assert ids.tolist() == plain
            assert np.array_equal(scores, expected[plain])
    use_kernel(None)


def test_bounds_of_a_high_base_are_exact_or_not_used():
    """A top so far away that a bound of the base, added up from there, would be rounded, where scores are not."""
    unit, items = 2.0**-36, np.full(6400, -99_980.0)
    items[[50, 3000, 4010]] = -99_680 + unit, 100_000, -99_685
    ids = np.append(4010, np.arange(101, 6400, 2)).astype(np.int32)
    part = WeightedLists(PostingArrays(ids, np.array([0, 1]), np.array([1, len(ids)])), np.array([5 + unit, 1]))
    use_kernel("numba")
    assert best(Base(items, 0.0), [part], [], 2, np.arange(6400).take)[0].tolist() == [3000, 50]
    use_kernel(None)


def test_the_compiled_search_leaves_alone_what_it_cannot_do():
    lists = PostingArrays(np.arange(50, dtype=np.int32), np.zeros(1, np.int64), np.full(1, 50))
    part, zeros = WeightedLists(lists, np.ones(1)), Base(np.zeros(5000), 0.0)

    def search(base, parts, k=10):
        return search_numba.search(base, parts, [], k, np.arange(5000).take)

    assert search(zeros, [part])[0].tolist() == list(range(10))
    assert search(zeros, [part], 51) is None  # 4,950 equal ones
    assert search(zeros, [part], search_numba.LARGEST_K + 1) is None
    assert search(Base(np.full(5000, -(2.0**17)), 0.0), [part]) is None
    assert search(Base(np.full(5000, -(2.0**17)), 0.0), [part, part]) is None
    huge = WeightedLists(PostingArrays(part.postings.ids, *part.postings[1:3], None, Bitmaps(50)), np.full(1, 2.0**17))
    assert search(Base(np.zeros(50), 0.0), [huge]) is None
    all_items = PostingArrays(np.arange(5000, dtype=np.int32), np.zeros(1, np.int64), np.full(1, 5000))
    varied = Base(-np.arange(5000.0), 0.0)
    assert search(varied, [part, part])[0].tolist() == list(range(10))
    assert search(varied, [WeightedLists(all_items, np.ones(1))])[0].tolist() == list(range(10))
    assert search(varied, [part, WeightedLists(all_items, np.ones(1))]) is None
    assert search(Base(np.zeros(0), 0.0), []) is None


@pytest.mark.parametrize("id", range(44))
def test_places_are_found_from_any_guess(id):
    ids = np.array([0, 3, 4, 7, 9, 20, 21, 22, 30, 31, 40], np.uint32)
    for begin in range(len(ids)):
        for end in range(begin + 1, len(ids) + 1):
            expected = min(end, max(begin, int(np.searchsorted(ids, id))))
            assert {kernel_numba._first_reaching(ids, begin, end, guess, id) for guess in range(begin, end)} == {
                expected
            }


def test_a_crowd_of_ties_is_gone_through_once():
    """Once more items tie than there is room for, another way gives the answer: candidates are left alone."""
    best, ids, scores = np.full(2, 1.0), np.arange(10), np.ones(10)
    counters = np.array([10, 0])
    state = best, ids, scores, counters
    compiled_primitives.offer(state, 99, 1.0)
    assert counters[1] == 1
    scores[:] = 0.0  # what a second look would drop
    compiled_primitives.offer(state, 99, 1.0)
    assert counters.tolist() == [10, 1]
