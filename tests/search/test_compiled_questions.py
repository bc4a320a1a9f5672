"""Both passes as one compiled call: the hits, the order and the bits of the steps one by one."""

import random

import numpy as np
import pytest
from test_feedback import collection, texts

import setsearch
from setsearch.arrays import VALUE_LATTICE, to_lattice
from setsearch.models.compiled_lift import is_sure
from setsearch.models.lift import Lift
from setsearch.models.model import Seeds
from setsearch.search import feedback
from setsearch.search import reading as module
from setsearch.search.budget import Limit, strongest
from setsearch.search.compiled_questions import strongest as compiled_strongest
from setsearch.search.compiled_questions import units_of


@pytest.fixture(autouse=True)
def compiled():
    """A command of an earlier test may have chosen another kernel."""
    setsearch.use_kernel(None)


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    """The documents of a collection whose lists all have values, as they do after some questions."""
    with setsearch.open(tmp_path_factory.mktemp("passes") / "a.db", create=True) as index:
        index.add(texts(collection(7, 600, 90)))
        documents = index.items("documents")
        for number in range(40):
            documents.expand([f"i{number}"])
        yield documents


def test_equal_items_join_as_step_by_step(tmp_path, monkeypatch):
    """Of many documents that score the same, the first by name join, whether one call answers or not."""
    data = collection(5, 200, 60)
    twins = {f"{name}, {n}": own for name, own in data.items() for n in range(1 + int(name[1:]) % 5 * 3)}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(twins))
        documents, rng = index.items("documents"), random.Random(3)
        for number in range(60):
            documents.expand([f"i{number}, 0"])
        with documents.fields() as fields:
            assert fields.first.snapshot.all_values(documents.defaults.make({}).rule)
        for n in [1, 2, 3, 5, 7] * 12:
            seeds, k = rng.sample(sorted(twins), n), rng.choice([1, 3, 10, 30])
            assert documents.expand(seeds, k) == step_by_step(monkeypatch, lambda s=seeds, k=k: documents.expand(s, k))


def step_by_step(monkeypatch, ask):
    with monkeypatch.context() as patched:
        patched.setattr(module, "best_at_once", lambda *arguments: None)
        return ask()


@pytest.mark.parametrize(
    "options", [{}, {"feedback": 0}, {"feedback": 2.0}, {"strength": 5, "rarity": 1.0}, {"popularity": 0}], ids=str
)
@pytest.mark.parametrize("least", [5000, 1])
def test_hits_are_those_of_the_steps_one_by_one(reading, options, least, monkeypatch):
    monkeypatch.setattr(feedback, "LEAST", least)
    monkeypatch.setattr(feedback, "OWN", 20 if least > 1 else 3)
    rng, answered, at_once = random.Random(str(options)), 0, module.best_at_once

    def counted(*arguments):
        nonlocal answered
        found = at_once(*arguments)
        answered += found is not None
        return found

    monkeypatch.setattr(module, "best_at_once", counted)
    reading.expand(["i1"], **options)
    for n in [1, 1, 2, 3, 4, 5, 6, 10] * 8:
        seeds, k = [f"i{number}" for number in rng.sample(range(600), n)], rng.choice([1, 3, 10])

        def ask(seeds=seeds, k=k):
            return reading.expand(seeds, k, **options)

        expected = step_by_step(monkeypatch, ask)
        found = ask()
        assert found == expected
        assert (found.revision, found.blank, found.learned) == (expected.revision, expected.blank, expected.learned)
    assert answered > 20


def test_what_wants_more_than_hits_is_asked_step_by_step(reading, monkeypatch):
    monkeypatch.setattr("setsearch.search.priors.best_in_passes", None)  # nobody calls it
    options = ({"explain": True}, {"cut": "mark"}, {"keep_seeds": True}, {"among": ["i2"]}, {"exclude": ["i3"]})
    for more in options:
        assert reading.expand(["i1"], 3, **more)


def test_weights_are_rounded_as_those_of_the_model():
    rng, sure = np.random.default_rng(0), 0
    for _ in range(300):
        size, n_items, total = 40, int(rng.integers(50, 10**6)), float(rng.integers(1, 12))
        model = Lift(strength=float(rng.choice([0.5, 2.0])), rarity=float(rng.choice([0, 0.25, 2])))
        having = rng.integers(1, 2 * total + 1, size) / 2
        sums, df = having * to_lattice(rng.random(size), False), rng.integers(0, n_items + 1, size)
        seeds = Seeds(np.arange(size), having, sums, total)
        exponent, weights = model.rarity * np.log(total), np.empty(size)
        numbers = float(n_items), total, model.strength, exponent
        units_of((None, having, sums), df, (numbers, np.zeros((0, 0))), weights)
        if all(map(is_sure, weights)):
            sure += 1
            assert np.array_equal(
                np.rint(weights) / VALUE_LATTICE, to_lattice(model.query(seeds, df, n_items).weights, False)
            )
    assert sure > 250


def test_a_weight_in_the_middle_is_left_to_the_model():
    n_items, df = 1000.0, np.array([10])
    lift = np.log((2 * 0.01 + 1) / 3 / 0.01)
    for units, sure in ((1000.5, False), (1000.25, True), (1001.0, True), (-1000.5, False)):
        sums, weights = np.array([units / VALUE_LATTICE / lift]), np.empty(1)
        units_of((None, np.ones(1), sums), df, ((n_items, 1.0, 2.0, 0.0), np.zeros((0, 0))), weights)
        assert is_sure(weights[0]) == sure


def test_the_strongest_features_are_those_of_the_model():
    """Also where weights are equal on the lattice, but not before they are rounded."""
    rng, model, n_items = np.random.default_rng(1), Lift(), 5000
    for _ in range(200):
        size, total = 30, 6.0
        having, sums = rng.integers(1, 4, size) / 2, 0.25 + rng.integers(0, 6, size) / VALUE_LATTICE
        features, stored = np.sort(rng.choice(100, size, replace=False)), rng.choice([5, 10, 90], size)
        seeds, always = Seeds(features, having, sums, total), rng.choice(features, 3, replace=False)
        most = int(rng.integers(1, stored.sum() + 20))
        expected = strongest(seeds, stored, model, n_items, Limit(most, np.sort(always)))
        units, marks = np.empty(size), np.zeros(100)
        own = features.copy(), having, sums
        units_of(own, stored, ((float(n_items), total, model.strength, 0.0), np.zeros((0, 0))), units)
        _, found = compiled_strongest(own, stored, units, (most, always), marks)
        assert found[0].tolist() == features[expected].tolist()
        assert not marks.any()


def test_ngrams_are_no_hits(tmp_path):
    """They are features like words, whose lists compiled code adds."""
    words = "warrior soldier castle knight dragon sword shield banner horse lance tower moat king queen river".split()
    rng, how = random.Random(1), {"analyzer": "unicode+4-grams", "contexts": "off"}
    with setsearch.open(tmp_path / "a.db", create=True, **how) as index:
        index.add((f"d{n}", " ".join(rng.choices(words, k=8))) for n in range(60))
        terms = index.items("terms")
        first = terms.expand(["knight", "sword"], 20)
        assert {hit.item for hit in first} <= {*words}
        assert all(terms.expand(["knight", "sword"], 20) == first for _ in range(60))
