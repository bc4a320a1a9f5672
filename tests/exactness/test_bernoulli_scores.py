"""Every score equals the definition."""

import math
import random

import pytest
from oracle import log_scores, presence, ranking, transpose, twice_mean
from samples import random_data

RULES = {"presence": presence, "twice-mean": twice_mean}

pytestmark = pytest.mark.usefixtures("papers_model")


def same_ranking(hits, expected, k):
    """The same scores to 1e-7, and the same order where scores differ by more than that."""
    assert len(hits) == min(k, len(expected))
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    wanted = dict(expected)
    for hit, (_, score) in zip(hits, expected, strict=False):
        assert hit.score == pytest.approx(wanted[hit.item], abs=1e-7)
        assert hit.score == pytest.approx(score, abs=1e-7)
    keys = [(-hit.score, hit.item) for hit in hits]
    assert keys == sorted(keys)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", range(12))
def test_expand_equals_the_definition(build, rule, case):
    rng = random.Random(case)
    data = random_data(case, rng.randint(2, 40), rng.randint(1, 30), rng.random() * 0.6)
    index = build(data)
    for name, rows in (("film", data), ("user", transpose(data))):
        if len(rows) < 2:
            continue
        seeds = rng.sample(sorted(rows), rng.randint(1, min(4, len(rows) - 1)))
        strength = rng.choice((1e-30, 0.3, 2, 50))
        scores = log_scores(RULES[rule](rows), seeds, strength)
        k = rng.choice((1, 3, 1000))
        hits = index.items(name).expand(seeds, k, strength=strength, binarize=rule)
        same_ranking(hits, ranking(scores, seeds), k)
        kept = index.items(name).expand(seeds, k, strength=strength, binarize=rule, keep_seeds=True)
        same_ranking(kept, ranking(scores), k)
        left_out = rng.sample(sorted(set(rows) - set(seeds)), (len(rows) - len(seeds)) // 2)
        rest = index.items(name).expand(seeds, k, strength=strength, binarize=rule, exclude=left_out)
        same_ranking(rest, ranking(scores, [*seeds, *left_out]), k)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", range(4))
def test_explanations_sum_to_the_score(build, rule, case):
    data = random_data(case, 25, 20, 0.3)
    reading = build(data).items("film")
    seeds = ["i1", "i2", "i3"]
    hits = reading.expand(seeds, 100, keep_seeds=True, explain=True, binarize=rule)
    assert len(hits) == len(data)
    for hit in hits:
        why = reading.explain(seeds, hit.item, binarize=rule)
        assert why.constant + why.base + math.fsum(part.weight for part in why.features) == pytest.approx(
            hit.score, abs=1e-9
        )
        assert why.score == hit.score
        assert why.features == hit.features
        having = RULES[rule](data)
        assert {part.feature for part in why.features} == having[hit.item] & set.union(*(having[s] for s in seeds))


def test_printed_example(build):
    """Small enough for paper: four items, two features, k = 2.

    m = 1/2 for both, so alpha = beta = 1. Seed a has f and not g: q_f = log 2 - log 1 = log 2,
    q_g = log 1 - log 2 = -log 2; c = 2 (log 2 - log 3) + (log 1 - 0) + (log 2 - 0) = 3 log 2 - 2 log 3.
    """
    reading = build({"a": {"f": 1}, "b": {"f": 3}, "c": {"g": 1}, "d": {"g": 2}}).items("film")
    c = 3 * math.log(2) - 2 * math.log(3)
    assert [(hit.item, round(hit.score, 9)) for hit in reading.expand(["a"])] == [
        ("b", round(c + math.log(2), 9)),
        ("c", round(c - math.log(2), 9)),
        ("d", round(c - math.log(2), 9)),
    ]


def test_features_of_a_set(build):
    data = {"a": {"x": 1, "y": 1}, "b": {"x": 2, "z": 1}, "c": {"y": 1}, "d": {"y": 1}, "e": {}}
    found = build(data).items("film").features(["a", "b"])
    # alpha = 2 df / 5; delta = log((alpha + s) / alpha) - log((beta + 2 - s) / (beta + 2))
    weights = {}
    for feature, df, s in (("x", 2, 2), ("y", 3, 1), ("z", 1, 1)):
        alpha, beta = 2 * df / 5, 2 - 2 * df / 5
        weights[feature] = math.log((alpha + s) / alpha) - math.log((beta + 2 - s) / (beta + 2))
    assert [(f.feature, f.seeds, f.document_frequency) for f in found] == [("x", 2, 2), ("z", 1, 1), ("y", 1, 3)]
    assert [f.weight for f in found] == pytest.approx([weights[f.feature] for f in found], abs=1e-9)


def test_many_equal_weights_do_not_drift(build):
    """A thousand features of equal weight: rounding to the lattice stays far below 1e-7."""
    data = {"a": {f"f{i}": 1 for i in range(1000)}, "b": {f"f{i}": 1 for i in range(1000)}, "c": {"g": 1}}
    scores = log_scores(presence(data), ["a"])
    for hit in build(data).items("film").expand(["a"]):
        assert hit.score == pytest.approx(scores[hit.item], abs=1e-7)


def test_scores_do_not_depend_on_the_order_of_writing(build):
    """The same content gives the same bits, whichever ids its names got."""
    data = random_data(3, 60, 40, 0.2)
    there = build(data).items("film").expand(["i1", "i5"], 100)
    back = build(dict(reversed(data.items()))).items("film").expand(["i5", "i1"], 100)
    assert there == back
