"""Pruning by norms misses no item of the exact answer."""

import numpy as np
import pytest

from setsearch.arrays import to_lattice
from setsearch.core import binding
from setsearch.scoring import pruning
from setsearch.scoring.base import Base
from setsearch.scoring.postings import ItemArrays, PostingArrays, WeightedLists

pytestmark = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")


@pytest.fixture
def always_pruned(monkeypatch):
    """However few and short the lists."""
    for name in ("FEWEST_POSTINGS", "WORK_OF_A_LIST"):
        monkeypatch.setattr(pruning, name, 0)


def both_directions(matrix, active):
    """The lists of some columns, and all entries by row."""
    columns, ids = np.nonzero(matrix[:, active].T)
    rows, features = np.nonzero(matrix)
    ends = np.cumsum((matrix[:, active] > 0).sum(axis=0), dtype=np.int64)
    stops = np.cumsum((matrix > 0).sum(axis=1), dtype=np.int64)
    by_item = ItemArrays(
        features.astype(np.int32),
        matrix[rows, features].astype(np.float32),
        np.append(0, stops)[:-1],
        stops,
        matrix.shape[1],
        float(np.sqrt((matrix**2).sum(axis=1).max(initial=0))) * (1 + 1e-9),
        active,
    )
    values = matrix[ids, active[columns]].astype(np.float32)
    return PostingArrays(ids.astype(np.int32), np.append(0, ends)[:-1], ends, values, 1.0, by_item)


def random_matrix(rng, n_items, n_features, digits):
    """Values up to 1, of features from rare to frequent, in multiples of a power of ten."""
    shares = rng.random(n_features) ** 3
    values = np.round(rng.random((n_items, n_features)), digits) * (rng.random((n_items, n_features)) < shares)
    return to_lattice(values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1.0), False)


@pytest.mark.parametrize("seed", range(30))
def test_what_is_left_out_changes_no_answer(seed, always_pruned):
    """Whatever the signs and the ties."""
    rng = np.random.default_rng(seed)
    n_items, n_features, answered = int(rng.integers(50, 600)), int(rng.integers(2, 40)), 0
    matrix = random_matrix(rng, n_items, n_features, int(rng.choice([1, 2, 8])))
    base = Base(np.zeros(n_items), 0.0)
    base.items[rng.random(n_items) < rng.choice([0, 0.1])] = -np.inf
    matrix[base.items == -np.inf] = 0
    ranks = rng.permutation(n_items)
    for _ in range(12):
        active = np.sort(rng.choice(n_features, int(rng.integers(1, n_features + 1)), replace=False))
        lowest = rng.choice([0.1, -0.3])
        weights = to_lattice(np.round(rng.random(len(active)) ** 4 + lowest, int(rng.choice([1, 8]))), False)
        without = rng.choice(n_items, int(rng.integers(0, 4)), replace=False).tolist()
        k = int(rng.choice([1, 2, 10]))
        expected = base.items + matrix[:, active] @ weights
        expected[without] = -np.inf
        plain = sorted(np.flatnonzero(expected > -np.inf).tolist(), key=lambda id: (-expected[id], ranks[id]))[:k]
        part = WeightedLists(both_directions(matrix, active), weights)
        found = pruning.best_by_pruning(base, [part], without, k, ranks.take)
        if found is not None:
            answered += 1
            assert found[0].tolist() == plain
            assert np.array_equal(found[1], expected[plain])
    assert answered


def test_long_lists_of_little_weight_are_not_read(always_pruned):
    """Candidates get their scores from their own features, so other values in these lists change nothing."""
    rng = np.random.default_rng(0)
    matrix = random_matrix(rng, 500, 30, 8)
    matrix[:, 5:] = np.where(rng.random((500, 25)) < 0.9, 2.0**-6, 0)
    active = np.arange(30)
    postings, weights = both_directions(matrix, active), np.where(active < 5, 1.0, 2.0**-8)
    values = postings.values.copy()
    values[postings.starts[5] :] = 9

    def search(values):
        part = WeightedLists(postings._replace(values=values), weights)
        return pruning.best_by_pruning(Base(np.zeros(500), 0.0), [part], [], 5, None)

    (expected, expected_scores), (ids, scores) = search(postings.values), search(values)
    assert ids.tolist() == expected.tolist()
    assert np.array_equal(scores, expected_scores)


def test_what_pruning_leaves_to_others(always_pruned, monkeypatch):
    rng = np.random.default_rng(1)
    matrix = random_matrix(rng, 400, 20, 8)
    active = np.arange(20)
    postings, weights = both_directions(matrix, active), to_lattice(rng.random(20), False)
    zeros = Base(np.zeros(400), 0.0)

    def search(part, k=10, parts=1):
        return pruning.best_by_pruning(zeros, [part] * parts, [], k, np.arange(400).take)

    part = WeightedLists(postings, weights)
    assert search(part) is not None
    assert search(part, parts=2) is None
    assert search(part, k=401) is None  # more than there are
    assert search(part, k=pruning.LARGEST_K + 1) is None
    assert search(WeightedLists(postings._replace(by_item=None), weights)) is None
    assert search(WeightedLists(postings, weights * 2.0**12)) is None  # inexact
    assert search(WeightedLists(postings, -weights)) is None  # nothing has a score above 0
    monkeypatch.setattr(pruning, "FEWEST_POSTINGS", 1 << 20)
    assert search(part) is None
