"""A budget: of the features of the seeds only the strongest count. Every path equals the definition."""

import random
import sqlite3
from collections import Counter
from itertools import product

import pytest
from oracle import budget_scores, same_scores
from test_feedback import collection, texts

import setsearch
from setsearch import errors
from setsearch.search import reading as module

BUDGETS = (5.0, 20.0, 60.0, 150.0)


@pytest.fixture(scope="module", params=range(2))
def built(request, tmp_path_factory):
    data = collection(request.param + 20, 150, 80)
    with setsearch.open(tmp_path_factory.mktemp("budget") / "a.db", create=True) as index:
        index.add(texts(data))
        yield data, index.items("documents")


@pytest.fixture(params=["numpy", "scipy", "numba"])
def kernel(request):
    if request.param == "numba":
        pytest.importorskip("numba")
    setsearch.use_kernel(request.param)
    yield request.param
    setsearch.use_kernel(None)


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


def test_words_are_found_at_once_as_step_by_step(tmp_path, monkeypatch):
    """By several fields, in compiled code, once all lists have values: the same bits."""
    pytest.importorskip("numba")
    setsearch.use_kernel(None)
    rng, at_once, answered = random.Random(3), module.best_at_once, Counter()
    words = [f"w{n}" for n in range(60)]
    with setsearch.open(tmp_path / "words.db", create=True, contexts="on") as index:
        index.add((f"d{n}", " ".join(rng.choices(words, range(60, 0, -1), k=40)) + ".") for n in range(150))
        reading = index.items("terms")
        known = [word for word in words if not reading.words_without_contexts([word])]
        for _ in range(12):
            reading.expand(rng.sample(known, 3))
        for by, n, budget in product(("both", "contexts", "documents"), (1, 1, 2, 3, 5, 10), (*BUDGETS, None, 0)):
            seeds = rng.sample(known, n)

            def counted(*arguments, by=by):
                found = at_once(*arguments)
                answered[by] += found is not None
                return found

            monkeypatch.setattr(module, "best_at_once", counted)
            found = reading.expand(seeds, 10, by=by, budget=budget)
            monkeypatch.setattr(module, "best_at_once", lambda *arguments: None)
            assert found == reading.expand(seeds, 10, by=by, budget=budget)
    assert len(answered) == 3 and min(answered.values()) > 20


def test_ties_are_broken_by_names_in_compiled_code_too(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    with setsearch.open(tmp_path / "ties.db", create=True, contexts="off") as index:
        index.add((f"d{n % 7}{n}", f"alpha beta{n % 5} gamma{n % 2}") for n in range(60))
        reading = index.items("documents")
        for number in range(8):
            reading.expand([f"d{number % 7}{number}"])
        options = {"budget": 1e6, "feedback": 0}
        found = reading.expand(["d00"], 20, **options)
        monkeypatch.setattr(module, "best_at_once", lambda *arguments: None)
        assert found == reading.expand(["d00"], 20, **options)
        assert len({hit.score for hit in found}) < 10


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
