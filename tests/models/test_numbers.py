"""Scores at every strength that is accepted, compared with exact arithmetic."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from oracle import presence
from samples import random_data, with_kernels

import setsearch
from setsearch import errors
from setsearch.models.gamma import log_ratio
from setsearch.models.values import ValueRule

SOME = [1e-100, 2, 1e100]
MORE = [1e-30, 1e-6, 0.5, 50, 1000, 1e5, 4096, 5000, 1e8, 1e9, 1e12, 1e30]
STRENGTHS = [*SOME, *(pytest.param(strength, marks=pytest.mark.long) for strength in MORE)]
DIGITS = 420
SEEDS = ["i1", "i2", "i5"]


def totals_of(rows):
    cf = {}
    for counts in rows.values():
        for feature, count in counts.items():
            cf[feature] = cf.get(feature, 0) + count
    return cf


def bernoulli(rows, k):
    """Equation (12) of the paper."""
    having, n, scores = presence(rows), len(rows), dict.fromkeys(rows, mpf(0))
    for feature in totals_of(rows):
        df = sum(feature in own for own in having.values())
        if df == n:
            continue
        alpha, beta = k * mpf(df) / n, k * mpf(n - df) / n
        s = sum(feature in having[seed] for seed in SEEDS)
        for item, own in having.items():
            of_set, of_all = (alpha + s, alpha) if feature in own else (beta + len(SEEDS) - s, beta)
            scores[item] += mpmath.log(of_set / (k + len(SEEDS)) / (of_all / k))
    return scores


def multinomial(rows, k):
    """Ratios of Dirichlet-multinomial probabilities."""
    cf = totals_of(rows)
    prior = {feature: k * mpf(count) / sum(cf.values()) for feature, count in cf.items()}
    sums = {feature: sum(rows[seed].get(feature, 0) for seed in SEEDS) for feature in cf}
    total, log_gamma = sum(sums.values()), mpmath.loggamma
    return {
        item: sum(
            log_gamma(prior[f] + sums[f] + x)
            - log_gamma(prior[f] + sums[f])
            - log_gamma(prior[f] + x)
            + log_gamma(prior[f])
            for f, x in counts.items()
        )
        + log_gamma(k + total)
        - log_gamma(k + total + sum(counts.values()))
        - log_gamma(k)
        + log_gamma(k + sum(counts.values()))
        for item, counts in rows.items()
    }


def poisson(rows, k):
    """Ratios of negative binomial probabilities."""
    cf, n, n_seeds, log_gamma = totals_of(rows), len(rows), len(SEEDS), mpmath.loggamma
    prior = {feature: k * mpf(count) / n for feature, count in cf.items()}
    sums = {feature: sum(rows[seed].get(feature, 0) for seed in SEEDS) for feature in cf}

    def log_probability(a, b, x):
        return log_gamma(a + x) - log_gamma(a) + a * mpmath.log(b / (b + 1)) - x * mpmath.log(b + 1)

    return {
        item: sum(
            log_probability(prior[f] + sums[f], k + n_seeds, counts.get(f, 0))
            - log_probability(prior[f], k, counts.get(f, 0))
            for f in cf
        )
        for item, counts in rows.items()
    }


ORACLES = {"bernoulli": bernoulli, "multinomial": multinomial, "poisson": poisson}


@pytest.mark.long
@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("model", ORACLES)
def test_every_accepted_strength_gives_six_digits_and_the_right_order(build, model, strength):
    rows = random_data(1, 12, 10, 0.4)
    rows["i3"] = {"f1": 5000, "f2": 70_000, "f3": 1}
    rows["i1"]["f2"] = 100_000
    with mpmath.workdps(DIGITS):
        exact = ORACLES[model](rows, mpf(strength))
        hits = build(rows).items("film").expand(SEEDS, 99, model=model, strength=strength)
        tolerance = max(abs(exact[hit.item]) for hit in hits) * mpf(1e-6)
        for hit in hits:
            assert abs(mpf(hit.score) - exact[hit.item]) <= tolerance, hit
        for better, worse in pairwise(hits):
            assert exact[better.item] >= exact[worse.item] - tolerance


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("binarize", ["presence", "twice-mean"])
def test_lift_at_every_accepted_strength(build, strength, binarize):
    """With all items as long as each other and counted once, values are exact: the definition remains."""
    rng = random.Random(4)
    rows = {f"i{n}": {f"f{f}": 1 for f in rng.sample(range(16), 6)} for n in range(40)}
    index = build(rows)
    reading = index.items("film")
    hits = reading.expand(SEEDS, 99, strength=strength, binarize=binarize, explain=True)
    with reading.stored() as fields:
        model = reading.defaults.make({"strength": strength, "binarize": binarize})
        assert isinstance(model.rule, ValueRule)
        stored = fields.first.forward(range(40), model.rule)
        names = fields.first.describe_features(range(16))
        ids, values = stored.concatenated_ids(), stored.concatenated_values()
        ends = np.cumsum(stored.lengths)[:-1]
        owners = [fields.describe([id])[id][0] for id in range(40)]
        of_items = {
            owner: {names[int(f)][0]: mpf(float(x)) for f, x in zip(*own, strict=True)}
            for owner, *own in zip(owners, np.split(ids, ends), np.split(values, ends), strict=True)
        }
    with mpmath.workdps(DIGITS):
        exact = dict.fromkeys(rows, mpf(0))
        for feature in {f for own in of_items.values() for f in own}:
            df = sum(feature in own for own in of_items.values())
            c = sum(feature in of_items[seed] for seed in SEEDS)
            s = sum(of_items[seed].get(feature, mpf(0)) for seed in SEEDS)
            if not c:
                continue
            p, k, n_seeds = mpf(df) / 40, mpf(strength), len(SEEDS)
            weight = (
                s / n_seeds * (mpf(c) / n_seeds) ** (mpf(1) / n_seeds) * mpmath.log((k * p + c) / (k + n_seeds) / p)
            )
            for item, own in of_items.items():
                exact[item] += weight * own.get(feature, 0)
        tolerance = max(abs(exact[hit.item]) for hit in hits) * mpf(1e-6)
        for hit in hits:
            assert abs(mpf(hit.score) - exact[hit.item]) <= tolerance
            assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, rel=1e-9, abs=float(tolerance))
        for better, worse in pairwise(hits):
            assert exact[better.item] >= exact[worse.item] - tolerance


@pytest.mark.parametrize("strength", [3, 1e40])
@pytest.mark.parametrize("model", ["lift", "bernoulli", "multinomial", "poisson"])
def test_kernels_and_ways_to_ask_agree_at_every_strength(build, model, strength):
    rows, options = random_data(3, 60, 30, 0.4), {"model": model, "strength": strength}

    def ask():
        """All hits, and those without some items."""
        reading = build(rows).items("film")
        hits = reading.expand(SEEDS, 99, explain=True, **options)
        largest = max(abs(hit.score) for hit in hits)
        with reading.scores(SEEDS, **options) as (fields, scores):
            by_name = {name: scores[id] for id, (name, _) in fields.describe(fields.item_ids().tolist()).items()}
        for hit in hits:
            assert by_name[hit.item] == hit.score
            why = reading.explain(SEEDS, hit.item, **options)
            assert math.isclose(why.score, hit.score, rel_tol=1e-9, abs_tol=1e-9 * largest)
        without = reading.expand(SEEDS, 99, exclude=["i9", "i11"], gamma=0.5, **options)
        assert {hit.item for hit in without} == {hit.item for hit in hits} - {"i9", "i11"}
        return hits, without

    answers = with_kernels(ask)
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.long
def test_the_ratio_of_gamma_functions_is_exact_everywhere():
    rng = random.Random(7)
    draw = lambda low, high: 10 ** rng.uniform(low, high)  # noqa: E731
    a = np.array([draw(-120, 120) if n % 2 else draw(-3, 8) for n in range(600)])
    s = np.array([float(round(draw(0, 12))) for _ in a])
    x = np.array([float(round(draw(0, 12))) for _ in a])
    found = log_ratio(a, s, x)
    with mpmath.workdps(DIGITS):
        for own, *parts in zip(found, a, s, x, strict=True):
            b, t, y = map(mpf, map(float, parts))
            log_gamma = mpmath.loggamma
            exact = log_gamma(b + t + y) - log_gamma(b + t) - log_gamma(b + y) + log_gamma(b)
            assert abs(mpf(float(own)) - exact) <= abs(exact) * mpf(1e-11), parts


@pytest.mark.parametrize("strength", [0, -1, 1e-101, 1e101, float("nan"), float("inf")])
def test_other_strengths_are_refused(build, strength):
    index = build(random_data(1, 10, 5, 0.5))
    for model in ("lift", "bernoulli", "multinomial", "poisson"):
        with pytest.raises(errors.InvalidParameter, match="strength"):
            index.items("film").expand(["i1"], model=model, strength=strength)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(
    ("unit", "origin"), [(1.0, 0.0), (1e-200, 0.0), (1e90, 0.0), (1e-300, 0.0), (1.0, 1e6), (1e-9, 1.0)]
)
def test_numbers_of_every_size_and_strength(tmp_path, strength, unit, origin):
    """Students t densities by exact arithmetic, for spreads of 1e-300 and 1e90 as for 1."""
    rng = random.Random(2)
    numbers = {f"n{n}": [origin + unit * rng.gauss(0, 1), unit * rng.uniform(1, 3)] for n in range(8)}
    seeds = ["n1", "n4"]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add_numbers(numbers.items(), ["x", "y"])
        hits = index.numbers("items").expand(seeds, 99, strength=strength)
    with mpmath.workdps(DIGITS):
        exact = {name: sum(log_t_ratio(numbers, seeds, name, d, mpf(strength)) for d in (0, 1)) for name in numbers}
        tolerance = max(abs(exact[hit.item]) for hit in hits) * mpf(1e-6)
        for hit in hits:
            assert abs(mpf(hit.score) - exact[hit.item]) <= tolerance, hit
        for better, worse in pairwise(hits):
            assert exact[better.item] >= exact[worse.item] - tolerance


def log_t_ratio(numbers, seeds, name, dimension, k):
    """ln t(x | seeds) - ln t(x | all), by the definitions at the top of models/gaussian.py."""
    column = [Fraction(own[dimension]) for own in numbers.values()]
    mean = sum(column) / len(column)
    variance = sum((x - mean) ** 2 for x in column) / len(column)
    examples = [Fraction(numbers[seed][dimension]) for seed in seeds]
    m, count = sum(examples) / len(examples), len(examples)
    exact = lambda number: mpf(number.numerator) / number.denominator  # noqa: E731
    a, kappa_n = k / 2, k + count
    b = a * exact(variance)
    mu_n = (k * exact(mean) + count * exact(m)) / kappa_n
    spread = sum((x - m) ** 2 for x in examples)
    b_n = b + exact(spread) / 2 + k * count * exact((m - mean) ** 2) / (2 * kappa_n)

    def log_t(x, a, mu, b, kappa):
        squared = b * (kappa + 1) / (a * kappa)
        shape = mpmath.loggamma(a + mpf(1) / 2) - mpmath.loggamma(a) - mpmath.log(2 * mpmath.pi * a * squared) / 2
        return shape - (a + mpf(1) / 2) * mpmath.log(1 + (x - mu) ** 2 / (2 * a * squared))

    x = exact(Fraction(numbers[name][dimension]))
    return log_t(x, a + mpf(count) / 2, mu_n, b_n, kappa_n) - log_t(x, a, exact(mean), b, k)


@pytest.mark.parametrize("columns", [[[1.0, 9.0]], np.eye(2), None, 5, "height", ["x", "x"], ["x", ""]])
def test_columns_are_names(tmp_path, columns):
    with (
        setsearch.open(tmp_path / "a.db", create=True) as index,
        pytest.raises(errors.InvalidParameter, match=r"columns.* not ") as told,
    ):
        index.add_numbers([("a", [1.0, 9.0])], columns)
    assert "\n" not in str(told.value)
