"""A budget: of the features of the seeds only the strongest count. Every path equals the definition."""

import random
import sqlite3

import pytest
from oracle import budget_scores, same_scores
from test_passes import collection, texts

import setsearch
from setsearch import errors

BUDGETS = (5.0, 20.0, 60.0, 150.0)


@pytest.fixture(scope="module", params=range(2))
def built(request, tmp_path_factory):
    data = collection(request.param + 20, 150, 80)
    with setsearch.open(tmp_path_factory.mktemp("budget") / "a.db", create=True) as index:
        index.add(texts(data))
        yield data, index.items("documents")


def test_scores_equal_the_definition(built, kernel):
    data, reading = built
    counted = set()
    for budget in BUDGETS:
        for seeds in (["i1"], ["i1", "i4"], ["i1", "i2", "i3"], [f"i{n}" for n in range(0, 40, 4)]):
            options = {"budget": budget, "feedback": 0}
            hits = reading.expand(seeds, len(data), **options)
            same_scores(hits, budget_scores(data, seeds, budget), seeds, 1e-6)
            explained = reading.explain(seeds, hits[0].item, **options)
            assert explained.score == pytest.approx(hits[0].score, abs=1e-12)
            assert explained.score == pytest.approx(sum(part.weight for part in explained.features), abs=1e-9)
            counted.add(len(reading.features(seeds, 200, **options)))
    assert len(counted) > 6, "a budget changes how many features count"


def test_ids_without_an_item_are_not_found(tmp_path):
    data = collection(5, 60, 40)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(data))
        index.add([("other", "nothing like that")])
        index.delete([f"i{number}" for number in range(10, 30)])
        index.refresh("now")
        reading = index.items("documents")
        for number in range(10):
            reading.expand([f"i{number}"])
        hits = reading.expand(["i1"], 100, budget=50, feedback=0)
        assert {hit.item for hit in hits} == {*data, "other"} - {"i1", *(f"i{number}" for number in range(10, 30))}
        assert reading.expand(["i1"], 5, budget=50, feedback=0) == hits[:5]


def test_a_large_budget_and_none_leave_everything(built):
    _, reading = built
    for seeds in (["i1"], ["i1", "i4", "i7"]):
        plain = reading.expand(seeds, 100, feedback=0, budget=0)
        assert reading.expand(seeds, 100, feedback=0, budget=1e6) == plain
        assert reading.expand(seeds, 100, feedback=0, budget=20) != plain


@pytest.mark.parametrize("budget", [-1, float("nan"), float("inf"), "much", True])
def test_what_is_no_budget_is_said(built, budget):
    with pytest.raises(errors.InvalidParameter, match="budget"):
        built[1].expand(["i1"], budget=budget)


def test_a_seed_of_weight_0_costs_nothing():
    index = setsearch.open(sqlite3.connect(":memory:"), contexts="off")
    rng = random.Random(1)
    words = [f"w{n}" for n in range(60)]
    index.add([(f"d{n}", dict.fromkeys(rng.choices(words, range(60, 0, -1), k=25), 1)) for n in range(300)])
    reading = index.items("terms")
    for _ in range(30):
        *seeds, other = rng.sample(words[:40], 4)
        options = {"budget": 30, "feedback": 0, "among": [word for word in words if word != other]}
        answers = [
            [(hit.item, hit.score) for hit in reading.expand(dict.fromkeys(seeds, 1) | more, 60, **options)]
            for more in ({}, {other: 0})
        ]
        assert answers[0] == answers[1]
