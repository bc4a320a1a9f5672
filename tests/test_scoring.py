"""Accumulation and top-k, against the plain way."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from setsearch.arrays import to_lattice
from setsearch.errors import InvalidParameter
from setsearch.scoring import base as bases
from setsearch.scoring import compiled as search_numba
from setsearch.scoring import compiled_loops as kernel_numba
from setsearch.scoring import kernels
from setsearch.scoring import prefilter as estimates
from setsearch.scoring.base import Base
from setsearch.scoring.best import best
from setsearch.scoring.bitmaps import Bitmaps
from setsearch.scoring.kernels import KERNELS, use_kernel
from setsearch.scoring.postings import PostingArrays, WeightedLists

NOTHING = PostingArrays(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))


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


@given(
    hnp.arrays(float, st.integers(1, 800), elements=st.sampled_from([-np.inf, -2.0, -1.5, 0.0, 3.25])),
    st.integers(1, 900),
    st.randoms(use_true_random=False),
)
def test_top_k_equals_sorting(scores, k, random):
    ranks = np.array(random.sample(range(len(scores)), len(scores)))
    expected = sorted(np.flatnonzero(scores > -np.inf).tolist(), key=lambda id: (-scores[id], ranks[id]))[:k]
    ids, found = best(Base(scores, 0.0), [WeightedLists(NOTHING, np.zeros(0))], [], k, lambda: ranks)
    assert ids.tolist() == expected
    assert found.tolist() == scores[expected].tolist()


@given(hnp.arrays(float, st.integers(1, 2000), elements=st.floats(-1e4, 1e4)), st.integers(1, 40))
def test_distinct_scores_ask_for_no_ranks(scores, k):
    scores = np.unique(scores)
    ids, _ = best(Base(scores, 0.0), [WeightedLists(NOTHING, np.zeros(0))], [], k, None)
    assert ids.tolist() == list(range(len(scores)))[::-1][:k]


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
            ids, scores = best(base, [WeightedLists(postings, weights)], without, k, lambda: ranks)
            assert ids.tolist() == plain
            assert np.array_equal(scores, expected[plain])
    use_kernel(None)


@pytest.mark.parametrize("kernel", ["numpy", "scipy"])
@pytest.mark.parametrize("seed", range(20))
def test_estimates_lead_to_what_sorting_does(seed, kernel, always_estimated, monkeypatch):
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
        found = estimates.best_by_prefilter(base, parts, without, k, lambda: ranks)
        if found is not None:
            answered += 1
            assert found[0].tolist() == plain
            assert np.array_equal(found[1], expected[plain])
    assert answered
    use_kernel(None)


@pytest.mark.parametrize("kernel", ["numpy", "scipy"])
@pytest.mark.parametrize(("spread", "some"), [(2.0**-22, -1000), (1e-3, 1000)], ids=["single precision", "16 bits"])
def test_what_few_bits_do_not_tell_apart_is_told_apart(kernel, spread, some, always_estimated, monkeypatch):
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
        found = estimates.best_by_prefilter(Base(np.zeros(900), 0.0), [part], [], 10, lambda: np.arange(900))
        assert found[0].tolist() == np.argsort(-expected, kind="stable")[:10].tolist()
        assert np.array_equal(found[1], np.sort(expected)[::-1][:10])
    use_kernel(None)


@pytest.mark.parametrize("n_lists", [1, 2, 40, 3000, 1 << 14])
def test_sums_stay_within_16_bits(n_lists, always_estimated):
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
        found = estimates.best_by_prefilter(base, [part], [], 10, lambda: np.arange(300))
        assert found[0].tolist() == np.argsort(-expected, kind="stable")[:10].tolist()
        assert np.array_equal(found[1], np.sort(expected)[::-1][:10])
    use_kernel(None)


def test_estimates_leave_alone_what_they_cannot_do(monkeypatch):
    monkeypatch.setattr(estimates, "FEWEST_ITEMS", 90_000)
    monkeypatch.setattr(estimates, "FEW_TOUCHED", 90_000)
    lists = PostingArrays(np.arange(50, dtype=np.int32), np.zeros(1, np.int64), np.full(1, 50))
    part, zeros = WeightedLists(lists, np.ones(1)), Base(np.zeros(90_000), 0.0)

    def search(base, part, k=10):
        return estimates.best_by_prefilter(base, [part], [], k, lambda: np.arange(90_000))

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
            ids, scores = best(base, parts, without, k, lambda: ranks)
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


def test_bounds_of_a_high_base_are_exact_or_not_used():
    """A top so far away that a bound of the base, added up from there, would be rounded, where scores are not."""
    unit, items = 2.0**-36, np.full(6400, -99_980.0)
    items[[50, 3000, 4010]] = -99_680 + unit, 100_000, -99_685
    ids = np.append(4010, np.arange(101, 6400, 2)).astype(np.int32)
    part = WeightedLists(PostingArrays(ids, np.array([0, 1]), np.array([1, len(ids)])), np.array([5 + unit, 1]))
    use_kernel("numba")
    assert best(Base(items, 0.0), [part], [], 2, lambda: np.arange(6400))[0].tolist() == [3000, 50]
    use_kernel(None)


def test_the_compiled_search_leaves_alone_what_it_cannot_do():
    lists = PostingArrays(np.arange(50, dtype=np.int32), np.zeros(1, np.int64), np.full(1, 50))
    part, zeros = WeightedLists(lists, np.ones(1)), Base(np.zeros(5000), 0.0)

    def search(base, parts, k=10):
        return search_numba.search(base, parts, [], k, lambda: np.arange(5000))

    assert search(zeros, [part])[0].tolist() == list(range(10))
    assert search(zeros, [part], 51) is None  # 4,950 equal ones
    assert search(zeros, [part], search_numba.LARGEST_K + 1) is None
    assert search(Base(np.full(5000, -(2.0**17)), 0.0), [part]) is None
    assert search(Base(np.full(5000, -(2.0**17)), 0.0), [part, part]) is None
    huge = WeightedLists(PostingArrays(part.postings.ids, *part.postings[1:3], None, Bitmaps(50)), np.full(1, 2.0**17))
    assert search(Base(np.zeros(50), 0.0), [huge]) is None
    assert search(Base(np.full(0, 1.0), 0.0), [])[0].tolist() == []


@pytest.mark.parametrize("shortest", [1, 32, 250, 500])
def test_planes_hold_the_bits_of_lists(shortest):
    """In whatever order they are asked for, more of them than there was room for at first."""
    rng = np.random.default_rng(shortest)
    lists = [np.sort(rng.choice(1000, int(rng.integers(1, 900)), replace=False)).astype(np.int32) for _ in range(40)]
    ends = np.cumsum([len(ids) for ids in lists])
    starts, ids, planes = ends - [len(ids) for ids in lists], np.concatenate(lists), Bitmaps(1000)
    weights, planes.shortest = rng.normal(size=40), shortest
    assert kernel_numba.split_long((starts, ends, weights), planes.rows, shortest)[1][3][0] == -1  # not yet made
    for _ in range(30):
        some = np.sort(rng.choice(40, 7, replace=False))
        planes.add_missing(ids, starts[some], ends[some])
        of_some = starts[some], ends[some], weights[some]
        short, (rows, of_long, counts, (unit, more)) = kernel_numba.split_long(of_some, planes.rows, shortest)
        long = some[ends[some] - starts[some] >= shortest]
        assert np.flatnonzero(short == starts[some]).tolist() == np.flatnonzero(np.isin(some, long)).tolist()
        assert (np.isin(some, long) | (short == ends[some])).all()
        assert of_long.tolist() == weights[long].tolist() + [0] * (-len(long) % 4) and len(rows) == len(of_long)
        assert (np.abs(counts) <= kernel_numba.LARGEST_WEIGHT).all() and (
            np.abs(counts * unit - of_long) <= unit / 2
        ).all()
        assert more == pytest.approx(np.maximum(0, of_long - counts * unit).sum())
        for place, row in zip(long.tolist(), rows.tolist(), strict=False):
            there = np.unpackbits(planes.bits[row].astype("<u4").view(np.uint8), bitorder="little")
            assert np.flatnonzero(there).tolist() == lists[place].tolist()
    assert (
        shortest == 1 or kernel_numba.split_long((starts, ends, weights), planes.rows, 1)[1][3][0] == -1
    )  # only long ones


@pytest.mark.parametrize("n_rows", [0, 4, 8, 200])
def test_planes_add_units_to_their_items(n_rows):
    """Whatever the signs; sums of many rows do not fit into the 16 bits in which they are added."""
    rng = np.random.default_rng(n_rows)
    bits = rng.integers(0, 1 << 32, (n_rows + 3, 200), np.uint32)
    rows = rng.choice(len(bits), n_rows, replace=False)
    for extreme in (
        rng.integers(0, kernel_numba.LARGEST_WEIGHT + 1, n_rows),
        np.full(n_rows, -kernel_numba.LARGEST_WEIGHT),
    ):
        counts = np.concatenate([extreme[: n_rows // 2], -extreme[n_rows // 2 :]]).astype(np.int16)
        for low, n_items in ((0, 6400), (64, 5001), (3200, 31), (32, 0)):
            added, without = np.arange(n_items, dtype=float), np.full(n_items, np.nan)
            kernel_numba.add_bitmaps(added, (bits, rows, counts), counts, 0.5, low, True)
            kernel_numba.add_bitmaps(without, (bits, rows, counts), counts, 0.5, low, False)
            there = np.unpackbits(bits[rows].astype("<u4").view(np.uint8), bitorder="little").reshape(n_rows, 6400)
            expected = counts.astype(float) @ there[:, low : low + n_items]
            assert np.array_equal(added, np.arange(n_items) + 0.5 * expected)
            assert np.array_equal(without, 0.5 * expected)


@pytest.mark.parametrize("id", range(44))
def test_places_are_found_from_any_guess(id):
    ids = np.array([0, 3, 4, 7, 9, 20, 21, 22, 30, 31, 40], np.uint32)
    for begin in range(len(ids)):
        for end in range(begin + 1, len(ids) + 1):
            expected = min(end, max(begin, int(np.searchsorted(ids, id))))
            assert {kernel_numba._first_reaching(ids, begin, end, guess, id) for guess in range(begin, end)} == {
                expected
            }


def test_kernels_are_chosen_by_name():
    with pytest.raises(InvalidParameter, match="'fortran'"):
        use_kernel("fortran")
