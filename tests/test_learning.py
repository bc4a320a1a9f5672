"""Concepts, classes, informative features, language models: by their definitions, and by printed examples."""

import json
import math
import random
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from oracle import transpose
from samples import random_data
from test_evaluation import planted

import setsearch
from setsearch import errors
from setsearch.learning import classify, language_model, learn_concepts, most_informative
from setsearch.learning.features import mutual_information

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
import numbers_game


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    with numbers_game.build(tmp_path_factory.mktemp("numbers") / "numbers.db") as index:
        yield index.items("number")


@pytest.mark.parametrize("seeds", [[16], [16, 8, 2, 64], [16, 23, 19, 20], [81, 25]])
@pytest.mark.parametrize("size_principle", [True, False])
def test_the_numbers_game(numbers, seeds, size_principle):
    """Posteriors and predictions equal a sum over all hypotheses in exact arithmetic."""
    hypotheses = numbers_game.rules() | numbers_game.intervals()
    prior = numbers_game.priors()
    assert sum(prior.values()) == pytest.approx(1)
    joint = {
        name: Fraction(prior[name]) / (len(own) ** len(seeds) if size_principle else 1)
        for name, own in hypotheses.items()
        if set(seeds) <= own
    }
    whole = sum(joint.values())
    found = learn_concepts(numbers, list(map(str, seeds)), prior=prior, size_principle=size_principle)
    assert {h.feature: h.posterior for h in found.hypotheses} == pytest.approx(
        {name: float(p / whole) for name, p in joint.items()}, abs=1e-9
    )
    expected = {str(n): float(sum(p for h, p in joint.items() if n in hypotheses[h]) / whole) for n in range(1, 101)}
    assert {str(n): found.probability.get(str(n), 0) for n in range(1, 101)} == pytest.approx(expected, abs=1e-7)


def test_four_examples_are_powers_of_two(numbers):
    four = learn_concepts(numbers, ["16", "8", "2", "64"], prior=numbers_game.priors())
    assert four.hypotheses[0].feature == "powers of 2"
    assert four.hypotheses[0].posterior > 0.99
    assert four.probability["32"] > 0.99
    assert four.probability["30"] < 0.01
    without = learn_concepts(numbers, ["16", "8", "2", "64"], prior=numbers_game.priors(), size_principle=False)
    assert without.hypotheses[0].feature == "even", "without the size principle large concepts are as good"
    one = learn_concepts(numbers, ["16"], prior=numbers_game.priors())
    assert {h.feature for h in one.hypotheses[:4]} >= {"powers of 4", "powers of 2", "even"}
    assert 0.2 < one.probability["64"] < 0.99


def test_concepts_of_a_relation_are_its_posting_lists(build):
    data = {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 1}, "d": {"z": 1}}
    found = learn_concepts(build(data).items("film"), ["a", "b"])
    assert [(h.feature, h.size) for h in found.hypotheses] == [("y", 2), ("x", 3)]
    assert [h.posterior for h in found.hypotheses] == pytest.approx([9 / 13, 4 / 13])
    assert found.probability == pytest.approx({"a": 1, "b": 1, "c": 4 / 13})
    reading = build(data).items("film")
    for bad, error in (
        ({"seeds": ["a", "d"]}, errors.NoConcept),
        ({"seeds": []}, errors.NoSeeds),
        ({"seeds": ["a"], "prior": {"x": -1.0}}, errors.InvalidParameter),
        ({"seeds": ["a"], "prior": {"x": math.nan}}, errors.InvalidParameter),
        ({"seeds": ["a"], "prior": {"z": 1.0}}, errors.NoConcept),
    ):
        with pytest.raises(error):
            learn_concepts(reading, bad.pop("seeds"), **bad)


def test_mutual_information_of_the_windows_example():
    """6 of 450 documents of one class have the word, 107 of 450 of the other: .095 bits with add-one smoothing."""
    (bits,) = mutual_information(np.array([6]), np.array([107]), 450, 450)
    assert bits == pytest.approx(0.095, abs=5e-4)


@pytest.mark.parametrize("case", range(4))
def test_the_most_informative_features(build, case):
    data = random_data(case, 30, 15, 0.4)
    members = ["i1", "i2", "i5", "i9"]
    expected = {}
    for feature, own in transpose(data).items():
        inside = sum(m in own for m in members)
        cells = {
            (1, 1): inside + 1,
            (0, 1): len(members) - inside + 1,
            (1, 0): len(own) - inside + 1,
            (0, 0): len(data) - len(members) - len(own) + inside + 1,
        }
        total = sum(cells.values())
        expected[feature] = sum(
            n / total * math.log2(n * total / sum(cells[x, b] for b in (0, 1)) / sum(cells[a, y] for a in (0, 1)))
            for (x, y), n in cells.items()
        )
    found = most_informative(build(data).items("film"), members, 99)
    assert {f.feature: f.weight for f in found} == pytest.approx(expected, abs=1e-12)
    assert most_informative(build(data).items("film"), members, 3) == found[:3]


@pytest.mark.parametrize(("last", "total"), [(4, 27), (3, 26)])
def test_the_language_model_of_the_slides(build, last, total):
    """Ten words with the counts 2 4 4 0 1 1 0 1 0 4 under alpha = 1 give (3,5,5,1,2,2,1,2,1,5) / 27."""
    counts = [2, 4, 4, 0, 1, 1, 0, 1, 0, last]
    data = {"d": {f"w{n}": c for n, c in enumerate(counts) if c}, "rest": {f"w{n}": 1 for n in range(10)}}
    found = language_model(build(data).items("film"), ["d"], 99)
    printed = [3, 5, 5, 1, 2, 2, 1, 2, 1, last + 1]
    assert {p.feature: p.probability for p in found} == pytest.approx(
        {f"w{n}": c / total for n, c in enumerate(printed)}
    )
    assert sum(p.probability for p in found) == pytest.approx(1)
    assert [p.feature for p in language_model(build(data).items("film"), ["d"], 2)] == ["w1", "w2"]
    with pytest.raises(errors.InvalidParameter, match="alpha"):
        language_model(build(data).items("film"), ["d"], alpha=0)


def class_probabilities(data, item, classes, model, prior):
    """Naive Bayes by its definition."""
    n, turned = len(data), transpose(data)
    cf = {f: sum(own.values()) for f, own in turned.items()}
    joint = {}
    for name, members in classes.items():
        own = [m for m in members if m != item]
        log_p = math.log(len(own) + 1) if prior == "sizes" else 0.0
        total = sum(sum(data[m].values()) for m in own)
        for f, items in turned.items():
            if model == "bernoulli" and len(items) < n:
                theta = (2 * len(items) / n + sum(f in data[m] for m in own)) / (2 + len(own))
                log_p += math.log(theta if f in data[item] else 1 - theta)
            if model == "multinomial" and f in data[item]:
                theta = (1000 * cf[f] / sum(cf.values()) + sum(data[m].get(f, 0) for m in own)) / (1000 + total)
                log_p += data[item][f] * math.log(theta)
        joint[name] = log_p
    whole = math.fsum(math.exp(v - max(joint.values())) for v in joint.values())
    return {name: math.exp(v - max(joint.values())) / whole for name, v in joint.items()}


@pytest.mark.parametrize("model", ["bernoulli", "multinomial"])
@pytest.mark.parametrize("prior", ["sizes", "uniform"])
def test_classes_equal_naive_bayes(build, model, prior):
    data = {item: {f: c for f, c in counts.items() if c} for item, counts in random_data(4, 30, 20, 0.4).items()}
    classes = {"p": ["i1", "i2", "i3"], "q": ["i4", "i5"], "empty": []}
    reading = build(data).items("film")
    for item in ("i1", "i9", "i0"):
        found = classify(reading, item, classes, model=model, prior=prior)
        assert {c.name: c.probability for c in found} == pytest.approx(
            class_probabilities(data, item, classes, model, prior), abs=1e-9
        )
        assert [c.probability for c in found] == sorted((c.probability for c in found), reverse=True)


def test_one_class_and_bad_questions(build, tmp_path):
    data, sets = planted()
    reading = build(data).items("film")
    (only,) = classify(reading, "x-00", {"x": sets["x"]})
    assert only.probability == 1.0
    right = [classify(reading, item, sets)[0].name == item[0] for item in data if len(data[item]) > 4]
    assert sum(right) / len(right) > 0.8
    for bad in ({"model": "lift"}, {"prior": "flat"}, {"text": "both"}):
        with pytest.raises(errors.InvalidParameter):
            classify(reading, "x-00", sets, **bad)
    with pytest.raises(errors.NoSeeds):
        classify(reading, "x-00", {})
    with setsearch.open(tmp_path / "t.db", create=True) as index:
        index.add([("a", "lion tiger cat"), ("b", "lion cat"), ("c", "wheat rye"), ("d", "rye field wheat")])
        classes = {"cats": ["a", "b"], "grain": ["c", "d"]}
        assert classify(index.items("documents"), None, classes, text="a field of rye")[0].name == "grain"


def test_the_commands(run, failed, tmp_path):
    data, sets = planted(seed=random.Random(1).randint(0, 9))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(data.items(), ("film", "user"))
    (tmp_path / "sets.json").write_text(json.dumps(sets))
    for name, own in sets.items():
        assert run("set", "save", "a.db", name, *own)[0] == 0
    found = json.loads(run("classify", "a.db", "x-03")[1])
    assert found == json.loads(run("classify", "a.db", "x-03", "--sets", "sets.json")[1])
    assert sum(row["probability"] for row in found) == pytest.approx(1)
    assert json.loads(run("features", "a.db", *sets["x"], "--weigh", "mi", "-k", "2")[1])[0]["feature"][0] in "xyz"
    assert len(json.loads(run("features", "a.db", *sets["x"], "--weigh", "probability", "-k", "3")[1])) == 3
    for how in ("weight", "mi", "probability"):  # --by is the spelling of version 0.3
        assert run("features", "a.db", *sets["x"], "--by", how) == run("features", "a.db", *sets["x"], "--weigh", how)
    shared = max(data["x-01"].keys() & data["x-02"].keys(), default=None)
    if shared:
        rows = json.loads(run("concepts", "a.db", "x-01", "x-02")[1])
        assert sum(row["posterior"] for row in rows) == pytest.approx(1)
        (tmp_path / "prior.csv").write_text(f"feature,weight\n{shared},3\n")
        (row,) = json.loads(run("concepts", "a.db", "x-01", "x-02", "--prior", "prior.csv", "--no-size-principle")[1])
        assert (row["feature"], row["posterior"]) == (shared, 1.0)
    (tmp_path / "bad.csv").write_text("feature,weight\nx1,-1\n")
    failed(run("concepts", "a.db", "x-01", "--prior", "bad.csv"), 2, "'x1'", "-1")
    failed(run("classify", "a.db"), 2, "item or a text")
    failed(run("classify", "a.db", "zzz"), 1, "'zzz'")
