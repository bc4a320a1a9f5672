"""The plan of a question: made once for options that nobody can change, and anew for all others."""

import pickle

import pytest
from test_passes import collection, texts

import setsearch
from setsearch.errors import InvalidParameter
from setsearch.models import MODELS, Bernoulli, register


@pytest.fixture
def index(tmp_path):
    """A collection of texts."""
    with setsearch.open(tmp_path / "a.db", create=True) as made:
        made.add(texts(collection(7, 300, 60)))
        yield made


@pytest.fixture
def reading(index):
    """Its documents."""
    return index.items("documents")


def test_plain_options_are_planned_once(reading):
    options = {"cut": "mark", "gamma": 0.5, "model": None}
    first = reading.plan(7, options)
    assert reading.plan(7, dict(options)) is first
    assert reading.plan(8, options) is not first
    assert reading.plan(7, {**options, "gamma": 0.6}).gamma == 0.6
    assert (first.cut, first.waits, first.k, first.shown) == ("mark", True, 7, 7)
    for k in range(50):
        reading.plan(k + 1, {})
    assert len(reading._plans) < 10, "a caller may think of any number"


@pytest.mark.parametrize("wrong", [{"k": True}, {"strength": True}, {"feedback": False}])
def test_what_equals_a_checked_value_is_checked(reading, wrong):
    right = {name: float(value) if name != "k" else int(value) for name, value in wrong.items()}
    assert reading.expand(["i1"], **right)
    with pytest.raises(InvalidParameter):
        reading.expand(["i1"], **wrong)


def test_what_somebody_may_change_is_read_again(reading):
    excluded = ["i2"]
    first = reading.expand(["i1"], 300, exclude=excluded, gamma=0.0, feedback=0)
    excluded.append(first[0].item)
    second = reading.expand(["i1"], 300, exclude=excluded, gamma=0.0, feedback=0)
    assert [hit.item for hit in second] == [hit.item for hit in first[1:]]
    again = iter(["i2"])
    assert len(reading.expand(["i1"], 300, among=again)) == 1
    with pytest.raises(setsearch.errors.NothingToRank):
        reading.expand(["i1"], 300, among=again)


def test_a_model_that_is_registered_again_answers_by_its_new_weights(reading):
    register("own", lambda: Bernoulli(2.0))
    first = reading.expand(["i1"], model="own")
    register("own", lambda: Bernoulli(50.0))
    assert reading.expand(["i1"], model="own") != first
    register("own", lambda: Bernoulli(2.0))
    assert reading.expand(["i1"], model="own") == first
    assert "own" in MODELS


def test_a_pickled_reading_plans_anew(reading):
    expected = reading.expand(["i1", "i4"], cut="mark")
    assert reading._plans
    again = pickle.loads(pickle.dumps(reading))
    assert not again._plans
    assert again.expand(["i1", "i4"], cut="mark") == expected


def test_a_pickled_reading_of_vectors_or_ratings_is_of_its_kind(tmp_path):
    with setsearch.open(tmp_path / "v.db", create=True) as index:
        index.add_vectors(["a", "b", "c"], [[1, 0], [0, 1], [1, 1]], "pictures")
        index.add([(f"f{n}", [f"u{m}" for m in range(n + 1)]) for n in range(9)], ("film", "user"))
        pictures, films = index.items("pictures"), index.items("film")
        assert films.expand(["f3"], purpose="likes")
        other_pictures, other_films = pickle.loads(pickle.dumps((pictures, films)))
        for reading in (other_pictures, pictures):  # the sent one asks first
            with pytest.raises(InvalidParameter, match="only vectors describe these items"):
                reading.expand(["a"], model="bernoulli")
        assert other_films.expand(["f3"], purpose="likes") == films.expand(["f3"], purpose="likes")


@pytest.mark.parametrize("k", [2**62, 2**63, 10**30])
def test_more_hits_than_can_be_are_all(reading, k):
    assert reading.expand(["i1"], k) == reading.expand(["i1"], reading.item_count())
