"""Classification equals naive Bayes by its definition."""

import math
import sys
from pathlib import Path

import pytest
from oracle import transpose
from samples import planted, random_data

import setsearch
from setsearch import errors
from setsearch.learning import classify
from setsearch.storage.forward_lists import ForwardLists

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))


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
    unknown = {"gone": ["nobody", "knows"]}
    assert classify(reading, "x-00", sets | unknown) == classify(reading, "x-00", sets)
    with pytest.raises(errors.NoSeeds, match="no class has a member among"):
        classify(reading, "x-00", unknown)
    with setsearch.open(tmp_path / "t.db", create=True) as index:
        index.add([("a", "lion tiger cat"), ("b", "lion cat"), ("c", "wheat rye"), ("d", "rye field wheat")])
        classes = {"cats": ["a", "b"], "grain": ["c", "d"]}
        assert classify(index.items("documents"), None, classes, text="a field of rye")[0].name == "grain"


def test_only_the_lists_of_the_item_and_the_members_are_read(build, monkeypatch):
    data, sets = planted()
    reading = build(data).items("film")
    expected = [(c.name, c.probability) for c in classify(reading, "x-00", sets)]

    def refuse(*args, **options):
        raise AssertionError("all lists are read")

    monkeypatch.setattr(ForwardLists, "sweep", refuse)
    assert [(c.name, c.probability) for c in classify(reading, "x-00", sets)] == expected
