"""Concept learning of examples/numbers_game.py equals a sum over all hypotheses, and printed examples."""

import math
import sys
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import numbers_game
from numbers_game import learn_concepts


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
    unit = math.lcm(*(own.denominator for own in joint.values()))  # sums of whole numbers are quick, and exact
    joint = {name: int(own * unit) for name, own in joint.items()}
    whole = sum(joint.values())
    found = learn_concepts(numbers, list(map(str, seeds)), prior=prior, size_principle=size_principle)
    assert {h.feature: h.posterior for h in found.hypotheses} == pytest.approx(
        {name: p / whole for name, p in joint.items()}, abs=1e-9
    )
    assert {h.feature: h.prior for h in found.hypotheses} == pytest.approx({name: float(prior[name]) for name in joint})
    expected = {str(n): sum(p for h, p in joint.items() if n in hypotheses[h]) / whole for n in range(1, 101)}
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
    every = dict.fromkeys("xyz", 1.0)
    found = learn_concepts(build(data).items("film"), ["a", "b"], every)
    assert [(h.feature, h.size) for h in found.hypotheses] == [("y", 2), ("x", 3)]
    assert [h.prior for h in found.hypotheses] == [1 / 3] * 2, "of x, y and z"
    weighted = learn_concepts(build(data).items("film"), ["a", "b"], {"x": 6, "y": 0, "z": 2})
    assert [(h.feature, h.prior) for h in weighted.hypotheses] == [("x", 6 / 8)]
    assert [h.posterior for h in found.hypotheses] == pytest.approx([9 / 13, 4 / 13])
    assert found.probability == pytest.approx({"a": 1, "b": 1, "c": 4 / 13})
    with pytest.raises(SystemExit, match="no concept holds all"):
        learn_concepts(build(data).items("film"), ["a", "d"], every)
