"""Models of counts, and one of a user's own; each by its definition."""

import math
import random
from dataclasses import dataclass

import numpy as np
import pytest
from oracle import lift_scores, multinomial_scores, poisson_scores, presence
from oracle import same_scores as same
from samples import random_data, random_questions, with_kernels

import setsearch
from setsearch import errors
from setsearch.models import Query, register
from setsearch.models.values import COUNTS, PRESENCE, ValueRule


@pytest.mark.parametrize("case", range(10))
def test_models_of_counts_equal_their_definitions(build, case):
    for reading, rows, seeds in random_questions(build, random.Random(case), case):
        for strength in (0.7, 2.0, 500.0):
            hits = reading.expand(seeds, 999, model="multinomial", strength=strength)
            same(hits, multinomial_scores(rows, seeds, strength), seeds)
            hits = reading.expand(seeds, 999, model="poisson", strength=strength)
            same(hits, poisson_scores(rows, seeds, strength), seeds)


@pytest.mark.parametrize("model", ["multinomial", "poisson"])
def test_explanations_sum_to_the_score(build, model):
    reading = build(random_data(2, 25, 20, 0.3)).items("film")
    for hit in reading.expand(["i1", "i2"], 99, explain=True, model=model):
        why = reading.explain(["i1", "i2"], hit.item, model=model)
        assert why.features == hit.features
        assert why.score == pytest.approx(hit.score, abs=1e-9)
        parts = sum(part.weight for part in why.features)
        assert why.constant + why.base + parts == pytest.approx(hit.score, abs=1e-9)


@pytest.mark.parametrize("model", ["multinomial", "poisson"])
def test_kernels_give_the_same_bits(build, model):
    data = random_data(3, 200, 40, 0.3)
    readings = build(data).items("film"), build(dict(reversed(data.items()))).items("film")
    found = with_kernels(lambda: [own.expand(["i3", "i8"], 400, model=model) for own in readings])
    assert all(hits == found[0][0] for of_kernel in found for hits in of_kernel)


def test_a_text_that_equals_an_item_says_what_the_item_says(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "lion lion tiger"), ("b", "lion cat"), ("c", "wheat rye"), ("d", "tiger tiger cat")])
        documents = index.items("documents")
        for model in ("multinomial", "poisson"):
            by_text = documents.expand([], 9, like=["lion lion tiger"], model=model, exclude=["a"])
            assert by_text == documents.expand(["a"], 9, model=model)


def test_a_model_of_ones_own_in_ten_lines(build):
    class Overlap:
        rule = PRESENCE

        def background(self, df, n_items, n_seeds):
            return None

        def query(self, seeds, df, n_items):
            return Query(seeds.having.astype(float), 0.0 * df)

    register("overlap", Overlap)
    data = random_data(1, 20, 15, 0.4)
    hits = build(data).items("film").expand(["i1", "i2"], 99, model="overlap")
    having = presence(data)
    assert {h.item: h.score for h in hits} == {
        i: float(sum(len(own & having[s]) for s in ("i1", "i2"))) for i, own in having.items() if i not in ("i1", "i2")
    }
    with pytest.raises(errors.InvalidParameter, match="overlap has no option strength"):
        build(data).items("film").expand(["i1"], model="overlap", strength=3)


WORDS = {"a": "lion tiger cat", "b": "lion wolf cow", "c": "wheat corn rye", "d": "", "e": ""}


@pytest.mark.parametrize("model", ["bernoulli", "multinomial", "poisson"])
def test_a_feature_that_no_item_has_does_not_count(tmp_path, model):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(list(WORDS.items()))
        terms = index.items("terms")
        asked = [["a"], ["a", "d"], ["d", "a", "e"]]
        found = with_kernels(lambda: [terms.expand([], 9, having=having, model=model) for having in asked])
        assert found[0][0] and all(hits == found[0][0] for of_kernel in found for hits in of_kernel)
        if model == "bernoulli":
            has = {own: set(text.split()) for own, text in WORDS.items()}
            having = {word: {own for own in has if word in has[own]} for word in set.union(*has.values())}
            expected = log_scores_of_new(having, {"a"})
            assert {hit.item: hit.score for hit in found[0][0]} == pytest.approx(expected, abs=1e-7)
        with pytest.raises(errors.NoSeeds):
            terms.expand([], having=["d"], model=model)


def test_what_no_item_has_often_enough_does_not_count(build):
    films = build({film: {"ann": 1, "bea": 1, "cyd": 1} for film in "abc"}).items("film")
    with pytest.raises(errors.NoSeeds):  # in a film all of whose users she is, ann is more than twice as often
        films.expand([], having=["ann"], model="bernoulli", binarize="twice-mean")


def log_scores_of_new(having, seed, strength=2.0):
    """log p(x | seed) - log p(x) of all items, where the one seed is none of them, feature by feature."""
    scores, n = dict.fromkeys(having, 0.0), len(having)
    for feature in set.union(*having.values()):
        m = sum(feature in own for own in having.values()) / n
        alpha = strength * m + (feature in seed)
        of_one = alpha / (strength + 1) / m
        of_none = (strength + 1 - alpha) / (strength + 1) / (1 - m)
        for item, own in having.items():
            scores[item] += math.log(of_one if feature in own else of_none)
    return scores


@pytest.mark.parametrize("seeds", [["i1"], ["i1", "i2"]], ids=len)
def test_a_model_of_ones_own_may_work_in_what_it_is_given(build, seeds):
    class Doubled:
        rule = PRESENCE

        def background(self, df, n_items, n_seeds):
            return None

        def query(self, seeds, df, n_items):
            seeds.sums *= 2
            return Query(seeds.sums, 0.0 * df)

    register("doubled", Doubled)
    data = random_data(1, 20, 15, 0.4)
    reading, having = build(data).items("film"), presence(data)
    expected = {i: 2.0 * sum(len(own & having[s]) for s in seeds) for i, own in having.items() if i not in seeds}
    for _ in range(2):
        assert {hit.item: hit.score for hit in reading.expand(seeds, 99, model="doubled")} == expected


@pytest.mark.parametrize(
    "rule", [COUNTS, ValueRule(weighted=True), ValueRule("soft-twice-mean", weighted=True)], ids=str
)
def test_values_above_1_are_added_as_exactly(build, rule):
    """For models of others: none of ours weighs counts or logarithms as they are."""
    own = rule

    @dataclass(frozen=True)
    class Linear:
        rule = own

        def background(self, df, n_items, n_seeds):
            return None

        def query(self, seeds, df, n_items):
            return Query(np.log(n_items / df), 0.0 * df)

    register("linear", Linear)
    data = random_data(3, 60, 40, 0.5)
    data["i1"] = {feature: 900 * count for feature, count in data["i1"].items()}
    reading = build(data).items("film")
    plain, *others = with_kernels(lambda: reading.expand(["i2", "i3"], 99, model="linear"))
    assert all(hits == plain for hits in others)
    assert all(hits == plain[:5] for hits in with_kernels(lambda: reading.expand(["i2", "i3"], 5, model="linear")))
    if rule == COUNTS:
        shared = data["i2"].keys() | data["i3"].keys()
        df = {feature: sum(feature in own for own in data.values()) for feature in shared}
        sums = {i: sum(n * math.log(60 / df[f]) for f, n in own.items() if f in shared) for i, own in data.items()}
        assert {hit.item: hit.score for hit in plain} == pytest.approx(
            {i: each for i, each in sums.items() if i not in ("i2", "i3")}, abs=1e-3
        )


def test_other_models_are_untouched_by_large_counts(build):
    data = {"a": {"x": 2**31 - 1, "y": 1}, "b": {"x": 5}, "c": {"y": 2, "z": 1}}
    reading = build(data).items("film")
    hits = reading.expand(["a"], 9, popularity=0.0, binarize="presence")
    same(hits, lift_scores(data, ["a"], slope=1.0, binarization="presence"), ["a"], 1e-5)
