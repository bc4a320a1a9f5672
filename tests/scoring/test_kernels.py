"""The kernels give the same bits, and are chosen by name."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from samples import with_kernels

import setsearch
from setsearch.arrays import to_lattice
from setsearch.core import binding
from setsearch.errors import InvalidParameter
from setsearch.scoring import best as kernels
from setsearch.scoring.best import accumulate, best, is_core, use_kernel
from setsearch.scoring.postings import PostingArrays, WeightedLists


@given(st.integers(0, 2**32), st.integers(1, 5000), st.sampled_from([None, "float32", "float64"]))
def test_lists_are_added_as_by_hand(seed, n, kind):
    """In any order, and taken away again."""
    rng = np.random.default_rng(seed)
    lists = [np.sort(rng.choice(n, int(rng.integers(0, n + 1)), replace=False)).astype(np.int32) for _ in range(9)]
    weights, base = to_lattice(rng.normal(size=9) * 9, False), to_lattice(rng.normal(size=n) * 9, False)
    ends = np.cumsum([len(ids) for ids in lists])
    starts = ends - [len(ids) for ids in lists]
    values = None if kind is None else to_lattice(rng.random(ends[-1]), False).astype(kind)
    base[:: max(n // 7, 1)] = -np.inf
    expected = base.copy()
    for place, ids in reversed(list(enumerate(lists))):
        own = 1.0 if values is None else values[starts[place] : ends[place]].astype(float)
        expected[ids] += weights[place] * own
    postings = PostingArrays(np.concatenate(lists), starts, ends, values)

    def there_and_back():
        """The sums with all lists, and without them again."""
        sums = base.copy()
        accumulate(sums, WeightedLists(postings, weights))
        left = sums.copy()
        accumulate(left, WeightedLists(postings, -weights))
        return sums, left

    for sums, left in with_kernels(there_and_back):
        assert np.array_equal(sums, expected)
        assert np.array_equal(left, base)


def test_kernels_are_chosen_by_name():
    with pytest.raises(InvalidParameter, match="unknown kernel 'fortran'; choose from core, numpy"):
        use_kernel("fortran")
    use_kernel("numpy")
    assert not is_core()
    use_kernel(None)
    assert is_core() == (binding.library() is not None)


@pytest.mark.parametrize("name", ["scipy", "numba"])
def test_kernels_that_are_gone_choose_the_fastest(name):
    use_kernel("numpy")
    with pytest.warns(FutureWarning, match=f"'{name}' is gone; use_kernel\\(None\\)") as told:
        setsearch.use_kernel(name)
    assert told[0].filename == __file__
    assert kernels._chosen is None


@pytest.mark.parametrize("seed", range(5))
def test_sums_too_large_to_be_exact_do_not_depend_on_what_was_asked_before(seed, kernel):
    """Nor on the kernel: lists are added in their order."""
    starts, ids = np.arange(0, 1500, 15), np.tile(np.arange(15, dtype=np.int32), 100)
    rng = np.random.default_rng(seed)
    values = to_lattice(0.5 + rng.random(1500) / 2, False).astype(np.float32)
    weights = to_lattice(10 + rng.random(100), False)
    expected = np.zeros(20_000)
    for start, weight in zip(starts, weights, strict=True):
        expected[:15] += weight * values[start : start + 15].astype(float)
    part = WeightedLists(PostingArrays(ids, starts, starts + 15, values), weights)
    for _ in range(2):
        sums = np.zeros(20_000)
        accumulate(sums, part)
        found = best(sums, [], 10, None)[1]
        assert found[0] > 2**9
        assert found.tolist() == np.sort(expected)[::-1][:10].tolist()
