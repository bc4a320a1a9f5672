"""A question in one call of the core: the weights, the items and the bits of arithmetic on whole matrices."""

import math

import numpy as np
import pytest

from setsearch.arrays import VALUE_LATTICE, moments, to_lattice
from setsearch.core import binding, question
from setsearch.core.question import FieldLists, Numbers, OpenField, Question, Table
from setsearch.core.rule import CoreRule
from setsearch.errors import LostArrays
from setsearch.models import Lift, Seeds
from setsearch.scoring import smoothing
from setsearch.scoring.best import Base
from setsearch.search.base_parts import Prior
from setsearch.search.examples import Examples
from setsearch.search.weights import SeedWeights

pytestmark = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")


def ask(*asked, **more):
    """The answer to one question."""
    return question.ask_all([Question(*asked, **more)])[0]


def lists_of(rows):
    """The lists of the rows of a matrix: ids, values, starts, ends."""
    which, ids = np.nonzero(rows)
    ends = np.cumsum((rows > 0).sum(axis=1), dtype=np.int64)
    return [ids.astype(np.int32), rows[which, ids].astype(np.float32), np.append(0, ends)[:-1], ends]


def random_matrix(rng, n_items, n_features, digits):
    """Values up to 1, of features from rare to frequent, in multiples of a power of ten."""
    shares = rng.random(n_features) ** 3
    values = np.round(rng.random((n_items, n_features)), digits) * (rng.random((n_items, n_features)) < shares)
    return to_lattice(values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1.0), False)


def norm_of(matrix):
    """An upper bound of the Euclidean norm of a row."""
    return float(np.sqrt((matrix**2).sum(axis=1).max(initial=0))) * (1 + 1e-9)


def numbers(n_items, total, k, joining=0, fewest=0, alike=0.0, **model):
    """The numbers of a question."""
    model = {"strength": 2.0, "rarity": 0.0, "budget": 0.0, **model}
    return Numbers(
        n_items, total, *model.values(), 0.25, 0.5, 64, 0.85, alike, 0.25, 2, joining, 50, 3, 0, fewest, k, 5, 64
    )


def weights_of(matrix, seeds, shares, model, coefficient=1.0):
    """The weights of features by models/lift.py, times a coefficient, on the lattice."""
    own, total = matrix[seeds], float(np.sum(shares))
    active = np.flatnonzero((own > 0).any(axis=0))
    having, sums = shares @ (own[:, active] > 0), shares @ own[:, active]
    df = (matrix[:, active] > 0).sum(axis=0)
    weights = np.zeros(matrix.shape[1])
    query = model.query(Seeds(active, having, sums, total), df, len(matrix))
    weights[active] = to_lattice(query.weights, False, coefficient)
    return weights


@pytest.mark.parametrize("fewest", [0, 1 << 60], ids=["pruned", "all lists"])
@pytest.mark.parametrize("seed", range(25))
def test_one_pass_is_the_product_with_the_matrix(seed, fewest):
    """Whatever the values, the ties, the weights of seeds; and whether lists are left out or not."""
    rng, answered = np.random.default_rng(seed), 0
    n_items, n_features = int(rng.integers(50, 600)), int(rng.integers(2, 40))
    matrix = random_matrix(rng, n_items, n_features, int(rng.choice([1, 2, 8])))
    base = np.zeros(n_items)
    base[rng.random(n_items) < rng.choice([0, 0.1])] = -np.inf
    matrix[base == -np.inf] = 0
    field = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), (matrix > 0).sum(axis=0))
    for _ in range(8):
        model = Lift(strength=float(rng.choice([0.5, 2.0, 7.0])), rarity=float(rng.choice([0, 0.25, 2])))
        seeds = np.sort(rng.choice(n_items, int(rng.integers(1, 7)), replace=False))
        shares = rng.integers(1, 9, len(seeds)) / 4 if rng.random() < 0.3 else np.ones(len(seeds))
        weights = weights_of(matrix, seeds, shares, model)
        expected = base + matrix @ weights
        left = np.setdiff1d(np.arange(n_items), seeds)
        k = int(rng.choice([1, 2, 10, n_items]))
        plain = left[np.lexsort((left, -expected[left]))]
        plain = plain[expected[plain] > -np.inf][:k]
        own = numbers(n_items, shares.sum(), k, fewest=fewest, strength=model.strength, rarity=model.rarity)
        found = ask([OpenField(field, norm_of(matrix), 1.0)], base, own, seeds, shares, seeds, None, True)
        if found is None:  # nothing else has what the seeds have, or weights are tiny
            assert expected[plain[0]] <= 0 or np.abs(weights).sum() < 0.126
            continue
        answered += 1
        assert sorted(found.scores[:k].tolist(), reverse=True) == expected[plain].tolist()
        assert np.array_equal(found.scores, expected[found.ids]) and not np.isin(found.ids, seeds).any()
        (weighed,) = found.weighed
        assert np.array_equal(weighed.features, np.flatnonzero((matrix[seeds] > 0).any(axis=0)))
        assert np.array_equal(weighed.weights, weights[weighed.features])
        for place in range(len(seeds) if len(seeds) > 1 else 0):
            others = np.delete(np.arange(len(seeds)), place)
            assert found.told.left_out[place] == pytest.approx(_without(matrix, seeds, shares, others, model), abs=1e-9)
        sums = np.empty(n_items)
        of_all = ask([OpenField(field, 0.0, 1.0)], base, own, seeds, shares, seeds, sums)
        assert np.array_equal(sums, expected)
        is_told = len(seeds) > 1 and np.abs(expected[left] - np.median(found.told.left_out)).min() >= 2e-9
        for told in (found.told, of_all.told):
            assert is_told <= (told.above is not None) and is_right(told, expected[left])
        assert of_all.told.above in (None, (expected[left] > np.median(of_all.told.left_out)).sum())
    assert answered


@pytest.mark.parametrize("place", range(3))
def test_a_list_with_an_id_of_no_item_is_refused(place):
    """Also where it is not the last one of its list."""
    matrix, seeds = np.zeros((60, 20)), np.array([0])
    matrix[[0, 7, 9], 3] = matrix[range(20), range(20)] = 0.5
    ids, *rest = lists_of(matrix.T)
    damaged, by_item, df = ids.copy(), tuple(lists_of(matrix)), (matrix > 0).sum(axis=0)
    damaged[int(rest[1][3]) + place] = 60
    for sums in (None, np.empty(60)):
        asked = np.zeros(60), numbers(60, 1.0, 2), seeds, None, seeds, sums
        assert ask([OpenField(FieldLists((ids, *rest), by_item, df), 0.0, 1.0)], *asked) is not None
        with pytest.raises(LostArrays):
            ask([OpenField(FieldLists((damaged, *rest), by_item, df), 0.0, 1.0)], *asked)


def is_right(told, others):
    """Whether what is told of how many others are above the middle seed is so, if it is told."""
    above, most = (others > np.median(told.left_out)).sum(), max(len(others) / 4, 2)
    return told.above is None or above <= told.above <= most or most < told.above <= above


def drifted(matrix, rng, share, step):
    """Lists by feature whose values are older, but for some items those of anything; what the core is told of them."""
    older = to_lattice(matrix * (1 + rng.uniform(-share, share, matrix.shape)), False) * (matrix > 0)
    apart = np.flatnonzero(rng.random(len(matrix)) < rng.choice([0, 0.1]))
    older[apart] = older[rng.permutation(len(matrix))[: len(apart)]]
    df, totals = (matrix > 0).sum(axis=0), np.ones(len(matrix), np.int64)
    source = np.zeros(0, np.int32), np.zeros(0, np.uint16), *np.zeros((2, len(matrix)), np.int64)
    rule = CoreRule(source, (totals, df, df), (np.ones(1), np.ones(1)), (np.ones(1), np.ones(1)), (0.0, 1.0, 1.0, 0.0))
    used = len(lists_of(matrix)[0])
    drift = question.Drift(df, share, step, apart, rule, lambda items: None, lambda: used)
    return FieldLists(tuple(lists_of(older.T)), tuple(lists_of(matrix)), df, drift), older


@pytest.mark.parametrize("seed", range(25))
def test_older_lists_give_the_product_with_the_matrix_of_now(seed):
    """By as much as they say that they moved, and whatever they say of items that are apart."""
    rng, answered = np.random.default_rng(seed), 0
    n_items, n_features, share = int(rng.integers(50, 600)), int(rng.integers(2, 40)), float(rng.choice([0, 0.01, 0.1]))
    matrix = random_matrix(rng, n_items, n_features, int(rng.choice([1, 2, 8])))
    field, older = drifted(matrix, rng, share, 2.0**-21)
    norm, base = max(norm_of(matrix), norm_of(older)), np.zeros(n_items)
    for _ in range(8):
        seeds, model = np.sort(rng.choice(n_items, int(rng.integers(1, 7)), replace=False)), Lift()
        weights = weights_of(matrix, seeds, np.ones(len(seeds)), model)
        expected, left = matrix @ weights, np.setdiff1d(np.arange(n_items), seeds)
        plain = left[np.lexsort((left, -expected[left]))][: int(rng.choice([1, 2, 10]))]
        own = numbers(n_items, len(seeds), len(plain))
        found = ask([OpenField(field, norm, 1.0)], base, own, seeds, None, seeds, None, True)
        if found is None:
            continue
        answered += 1
        assert sorted(found.scores[: len(plain)].tolist(), reverse=True) == expected[plain].tolist()
        assert np.array_equal(found.scores, expected[found.ids]) and not np.isin(found.ids, seeds).any()
        assert is_right(found.told, expected[left])
        sums = np.empty(n_items)
        assert ask([OpenField(field, norm, 1.0)], base, own, seeds, None, seeds, sums) is None
    assert answered


@pytest.mark.parametrize("fewest", [0, 1 << 60], ids=["pruned", "all lists"])
@pytest.mark.parametrize("seed", range(25))
def test_a_model_by_a_table_is_the_product_with_the_matrix(seed, fewest):
    """Whatever the weights, and which features are common."""
    rng = np.random.default_rng(seed)
    n_items, n_features = int(rng.integers(50, 600)), int(rng.integers(2, 40))
    matrix = rng.random((n_items, n_features)) < rng.random(n_features) ** 3
    matrix[0] = True
    lists = [[ids, None, starts, ends] for ids, _, starts, ends in map(lists_of, (matrix.T, matrix))]
    field = OpenField(FieldLists(*map(tuple, lists), matrix.sum(axis=0)), 0.0, 1.0)
    known, ranks = np.unique(matrix.sum(axis=0), return_inverse=True)
    for count in rng.integers(1, 7, 8):
        seeds = np.sort(rng.choice(n_items, count, replace=False))
        weights, constants = rng.choice([0, 0.25, 0.5, 3, 9], (2, count + 1, len(known)))
        weights[0] *= -rng.choice([0.1, 1])
        weights, constants = to_lattice(weights), to_lattice(constants)
        absent = np.append(False, rng.random(n_items - 1) < rng.choice([0, 0.1]))
        base = np.where(absent, -np.inf, matrix @ weights[0][ranks])
        common = int(rng.integers(0, len(known) + 1))
        others = np.where(absent, -np.inf, matrix @ np.where(ranks < common, weights[0][ranks], 0))
        table = Table(weights, constants, ranks.astype(np.int32), others.astype(np.float32), common)
        having = matrix[seeds].sum(axis=0)
        beyond = np.where(having > 0, weights[having, ranks], 0)
        expected, left = base + matrix @ beyond, np.setdiff1d(np.arange(n_items), seeds)
        k = int(rng.choice([1, 2, 10, n_items]))
        plain = np.sort(expected[left][~absent[left]])[::-1][:k]
        asked = numbers(n_items, count, k, fewest=fewest), seeds, None, seeds
        found = ask([field], base, *asked, None, True, table=table)
        assert sorted(found.scores[:k].tolist(), reverse=True) == plain.tolist()
        assert np.array_equal(found.scores, expected[found.ids]) and not np.isin(found.ids, seeds).any()
        assert np.array_equal(found.weighed[0].weights, beyond[found.weighed[0].features])
        assert found.constant == np.where(having > 0, constants[having, ranks], 0).sum()
        sums = np.empty(n_items)
        assert ask([field], base, *asked, sums, table=table) is not None
        assert np.array_equal(sums, expected)


def test_a_table_of_other_ranks_is_refused():
    matrix = np.ones((9, 3))
    lists = [(ids, None, starts, ends) for ids, _, starts, ends in map(lists_of, (matrix.T, matrix))]
    field, seeds = OpenField(FieldLists(*lists, np.full(3, 9)), 0.0, 1.0), np.array([0])
    for rank in (-1, 1, 2**31 - 1):
        ranks = np.array([0, 0, rank], np.int32)
        table = Table(np.zeros((2, 1)), np.zeros((2, 1)), ranks, np.zeros(9, np.float32), 1)
        with pytest.raises(LostArrays):
            ask([field], np.zeros(9), numbers(9, 1.0, 2), seeds, None, seeds, table=table)


def _without(matrix, seeds, shares, others, model):
    """The score of the seed that is left out, by weights that are not rounded."""
    own = matrix[seeds[others]]
    active = np.flatnonzero((own > 0).any(axis=0))
    having, sums = shares[others] @ (own[:, active] > 0), shares[others] @ own[:, active]
    df = (matrix[:, active] > 0).sum(axis=0)
    weights = model.query(Seeds(active, having, sums, float(shares[others].sum())), df, len(matrix)).weights
    (seed,) = np.setdiff1d(seeds, seeds[others])
    return float(matrix[seed, active] @ weights)


@pytest.mark.parametrize("seed", range(12))
def test_fields_together_are_smoothed_over_neighbors(seed):
    """Several fields are added, then neighbors count: for the best items, as for the sums of all."""
    rng, answered = np.random.default_rng(seed), 0
    n_items = int(rng.choice([5, 60, 3000]))
    matrices = [random_matrix(rng, n_items, int(rng.integers(2, 30)), int(rng.choice([1, 8]))) for _ in range(3)]
    coefficients = rng.choice([0.3, 0.7, 1.0], 3)
    fields = [
        OpenField(FieldLists(tuple(lists_of(own.T)), tuple(lists_of(own)), (own > 0).sum(axis=0)), 0.0, share)
        for own, share in zip(matrices, coefficients, strict=True)
    ]
    shape, base = (n_items, int(rng.integers(1, 11))), np.zeros(n_items)
    for _ in range(10):
        near = smoothing.neighbors_of(rng.integers(0, n_items, shape), rng.integers(0, rng.choice([2, 1 << 16]), shape))
        model, share = Lift(rarity=float(rng.choice([0, 0.25]))), float(rng.choice([0.7, 2.5, 1e6]))
        seeds = np.sort(rng.choice(n_items, int(rng.integers(1, 4)), replace=False))
        ones, own = np.ones(len(seeds)), [int(rng.choice([1, 10, n_items])), model.rarity]
        expected = np.zeros(n_items)
        for matrix, coefficient in zip(matrices, coefficients, strict=True):
            weights = weights_of(matrix, seeds, ones, model, coefficient)
            expected += matrix @ weights
        sums = np.empty(n_items)
        asked = Question(fields, base, numbers(n_items, len(seeds), own[0], rarity=own[1]), seeds, None, seeds, sums)
        (found,) = question.ask_all([asked])
        if found is None:
            assert len(np.flatnonzero(np.delete(expected, seeds) > 0)) == 0 or np.abs(expected).sum() < 1
            continue
        assert np.array_equal(sums, expected)
        parts = smoothing.smooth(sums, near, seeds, share)
        smoothed = sums + parts[0] + parts[1]
        left = np.setdiff1d(np.arange(n_items), seeds)
        best = np.sort(smoothed[left])[::-1][: own[0]]
        (found,) = question.ask_all([asked._replace(sums=None, near=(*near, share))])
        assert found.scores[: own[0]].tolist() == best.tolist() and found.least <= smoothed.min()
        assert np.array_equal(found.scores, smoothed[found.ids]) and not np.isin(found.ids, seeds).any()
        answered += 1
    assert answered or n_items == 5


@pytest.mark.parametrize("seed", range(12))
def test_a_prior_is_added_last(seed):
    """To scores that are smoothed or not, of all items that exist or some: the bits of with_prior."""
    rng, n_items = np.random.default_rng(seed), [9, 1024, 3000][seed % 3]
    base, matrix, near = np.zeros(n_items), random_matrix(rng, n_items, 20, 1), None
    base[rng.random(n_items) < rng.choice([0, 0.1])] = -np.inf
    matrix[base == -np.inf], matrix[:2], base[:2] = 0, 0.5, 0
    lists = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), (matrix > 0).sum(axis=0))
    if not np.isinf(base).any() and rng.random() < 0.7:
        rows = rng.integers(0, n_items, (n_items, 3)), rng.integers(0, 1 << 16, (n_items, 3))
        near = (*smoothing.neighbors_of(*rows), 1.5)
    own = numbers(n_items, 1.0, n_items, rarity=Lift().rarity)
    asked = Question([OpenField(lists, 0.0, 1.0)], base, own, [0], None, [0])
    sums = base + matrix @ weights_of(matrix, [0], np.ones(1), Lift())
    own = SeedWeights(Lift(), Examples([0]), tuple, Base(base, 0.0), 0.0, summed=sums)
    own = own if near is None else own.smoothed(smoothing.Neighbors(*near[:3]), near[3])
    for size in (n_items, n_items // 2, 2):
        ids, values = np.sort(rng.choice(n_items, size, replace=False)), rng.normal(size=size)
        prior = Prior("like", ids, values, *moments(values), float(rng.choice([0.5, 100.0])))
        expected = own.with_prior(prior).sums()
        (found,) = question.ask_all([asked._replace(near=near, prior=prior[1:6])])
        assert np.array_equal(np.sort(found.ids), np.flatnonzero(expected[1:] > -np.inf) + 1)
        assert np.array_equal(found.scores, expected[found.ids])


@pytest.mark.parametrize("seed", range(12))
def test_seeds_that_are_left_out_are_smoothed_and_have_a_prior(seed):
    """As search/cutoff.py has it; how many others are above the middle one follows from the scores of all."""
    rng, n_items = np.random.default_rng(seed), [30, 1500][seed % 2]
    matrix, base = random_matrix(rng, n_items, 20, 1), np.zeros(n_items)
    seeds = np.sort(rng.choice(n_items, 3, replace=False))
    matrix[seeds, :2] = 0.5
    lists = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), (matrix > 0).sum(axis=0))
    rows = rng.integers(0, n_items, (n_items, 3)), rng.integers(0, 1 << 16, (n_items, 3))
    near, values = smoothing.neighbors_of(*rows), rng.normal(size=n_items)
    prior = Prior("like", np.arange(n_items), values, *moments(values), 0.5)
    of_seeds = np.where(rng.random(3) < 0.3, np.nan, rng.normal(size=3))
    own, sums = numbers(n_items, 3.0, n_items, rarity=Lift().rarity), np.empty(n_items)
    asked = Question([OpenField(lists, 0.0, 1.0)], base, own, seeds, None, seeds)
    (plain,) = question.ask_all([asked._replace(sums=sums)])
    factors = near.factors[seeds]
    weights = SeedWeights(Lift(), Examples(seeds.tolist()), tuple, Base(base, 0.0), 0.0, summed=sums)
    smoothed = weights.smoothed(near, 1.5)
    expected = plain.told.left_out * factors + smoothed.neighborhood.near[seeds]
    whole = smoothed.with_prior(prior._replace(of_seeds=lambda: of_seeds))
    expected = expected + whole.of_seeds()
    (found,) = question.ask_all([asked._replace(near=(*near, 1.5), prior=prior[1:6], of_seeds=of_seeds)])
    assert found.told.left_out.tolist() == expected.tolist()
    assert found.told.above == (np.delete(whole.sums(), seeds) > np.median(expected)).sum()
    with pytest.raises(TypeError):
        question.ask_all([asked._replace(prior=prior[1:6], of_seeds=of_seeds[:2])])


@pytest.mark.parametrize("largest", [0, 1, 63, 64, 65, 127])
@pytest.mark.parametrize("n", [1, 3, 1024, 5000])
def test_moments_are_those_of_numpy(n, largest):
    """Also where the largest number is a power of two, and all are 0."""
    rows, ones = np.random.default_rng(n).integers(-largest, largest + 1, (n, 2)).astype(np.int8), np.ones(n)
    rows[0, 1] = -largest
    found, *own = binding.alike(rows, np.array([0, 1], np.int16), 0.0, 0.25, ones, ones)
    assert np.array_equal(found, rows[:, 1] / 4)
    assert tuple(own) == moments(found)


def test_a_prior_of_what_is_no_item_is_refused():
    matrix = np.full((9, 3), 0.5)
    matrix[3:, 1] = 0
    lists = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), np.array([9, 3, 9]))
    asked = Question([OpenField(lists, 0.0, 1.0)], np.zeros(9), numbers(9, 1.0, 2), [0], None, [0])
    for ids, wrong in (([0, -1], LostArrays), ([1, 9], LostArrays), ([1 << 40, 1], LostArrays), ([1], TypeError)):
        with pytest.raises(wrong):
            question.ask_all([asked._replace(prior=(np.array(ids), np.arange(2.0), 0.5, 0.5, 1.0))])


def test_a_seed_without_a_weight_is_refused():
    matrix = np.full((9, 3), 0.5)
    lists = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), np.array([9, 9, 9]))
    asked = Question([OpenField(lists, 0.0, 1.0)], np.zeros(9), numbers(9, 2.0, 2), [0, 1], None, [0, 1])
    for shares in (np.ones(1), np.ones(3)):
        with pytest.raises(TypeError, match="without a weight"):
            question.ask_all([asked._replace(shares=shares)])


def test_neighbors_that_are_no_items_are_refused():
    matrix, factors, shares = np.zeros((9, 3)), np.ones(9), np.full((9, 2), 0.5)
    matrix[:4] = 0.5
    lists = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), np.array([4, 4, 4]))
    asked = Question([OpenField(lists, 0.0, 1.0)], np.zeros(9), numbers(9, 2.0, 2), [0, 1], None, [0, 1])
    for id in (-1, 9, 1 << 30):
        ids = np.zeros((9, 2), np.int32)
        ids[8, 1] = id
        with pytest.raises(LostArrays):
            question.ask_all([asked._replace(near=(ids, shares, factors, 1.0))])
    with pytest.raises(TypeError):
        question.ask_all([asked._replace(near=(ids[:8], shares, factors, 1.0))])


def test_long_lists_of_little_weight_are_not_read():
    """Candidates get their scores from their own features, so other values in these lists change nothing."""
    rng = np.random.default_rng(0)
    matrix = random_matrix(rng, 500, 30, 8)
    matrix[:, 5:] = np.where(rng.random((500, 25)) < 0.9, 2.0**-6, 0)
    matrix[7, :5] = 0.4
    by_feature, seeds, own = lists_of(matrix.T), np.array([7]), numbers(500, 1.0, 5)

    def search():
        """The five best."""
        field = FieldLists(tuple(by_feature), tuple(lists_of(matrix)), (matrix > 0).sum(axis=0))
        found = ask([OpenField(field, norm_of(matrix), 1.0)], np.zeros(500), own, seeds, None, seeds)
        return found.ids.tolist(), found.scores.tolist()

    expected = search()
    by_feature[1] = by_feature[1].copy()
    by_feature[1][by_feature[2][5] :] = 9
    assert search() == expected
    own = numbers(500, 1.0, 5, fewest=1 << 60)
    assert search() != expected


@pytest.mark.parametrize(("part", "is_sure"), [(0.5, False), (0.25, True), (0.0, True), (0.499, True)])
def test_weights_near_the_middle_of_two_are_left_to_numpy(part, is_sure):
    """A logarithm of other last bits could round them otherwise."""
    n_items, df = 1000, 10
    matrix = np.zeros((n_items, 1))
    matrix[:df, 0] = 1.0
    weight = math.log((2 * df / n_items + 1) / 3 / (df / n_items)) * VALUE_LATTICE
    coefficient = (3_000_000 + part) / weight
    lists = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), np.array([df]))
    own, seeds = numbers(n_items, 1.0, 3), np.array([0])
    found = ask([OpenField(lists, 0.0, coefficient)], np.zeros(n_items), own, seeds, None, seeds)
    assert (found is not None) == is_sure


def test_lists_without_values_are_left_to_numpy():
    matrix = np.where(np.random.default_rng(3).random((100, 10)) < 0.3, 0.5, 0.0)
    matrix[4, 2] = 0.5
    for which, place, at, value in (
        ("by_item", 4, 2, -1),
        ("by_feature", 2, 2, -1),
        ("by_item", 4, 3, 1 << 40),  # in the end of the memory that another thread is about to fill
        ("by_feature", 2, 3, 1 << 40),
        ("by_feature", 2, 3, 0),
    ):
        lists = {"by_feature": lists_of(matrix.T), "by_item": lists_of(matrix)}
        lists[which][at][place] = value
        field = FieldLists(tuple(lists["by_feature"]), tuple(lists["by_item"]), (matrix > 0).sum(axis=0))
        own, seeds = numbers(100, 1.0, 3), np.array([4])
        assert ask([OpenField(field, 0.0, 1.0)], np.zeros(100), own, seeds, None, seeds) is None


@pytest.mark.parametrize("norm", [0.0, 1.0])
@pytest.mark.parametrize(
    ("of", "at", "change"),
    [("by_feature", 0, 99), ("by_feature", 0, -1), ("by_item", 0, 99), ("by_item", 0, -1)],
)
def test_damaged_lists_are_refused(of, at, change, norm):
    matrix = np.full((9, 3), 0.5)
    matrix[3:, 1] = 0
    lists = {"by_feature": lists_of(matrix.T), "by_item": lists_of(matrix)}
    lists[of][at] = np.full_like(lists[of][at], change)
    field = FieldLists(tuple(lists["by_feature"]), tuple(lists["by_item"]), np.array([9, 3, 9]))
    seeds = np.array([0])
    with pytest.raises(LostArrays):
        ask([OpenField(field, norm, 1.0)], np.zeros(9), numbers(9, 1.0, 2), seeds, None, seeds)
    sound = FieldLists(tuple(lists_of(matrix.T)), tuple(lists_of(matrix)), np.array([9, 3, 9]))
    found = ask([OpenField(sound, norm, 1.0)], np.zeros(9), numbers(9, 1.0, 2), seeds, None, seeds)
    assert found is not None, "memory of a call that failed is not used again"
