"""Weights of fields that known sets teach."""

import random

import numpy as np
import pytest

import setsearch
from setsearch import Item
from setsearch.learning.evaluation import Design, evaluate
from setsearch.learning.field_weights import as_option, learn_weights
from setsearch.models.defaults import field_weights
from setsearch.search.passes import Weighing


def test_a_set_is_measured_by_weights_of_the_other_half():
    best = {
        "a": {"text": 1, "tags": 4},
        "b": {"text": 1, "tags": 0},
        "c": {"text": 1, "tags": 4},
        "d": {"text": 1, "tags": 0},
    }
    asked = []

    def measure(by):
        asked.append(by)
        weights = {"text": 0.0, "tags": 0.0} | field_weights(by)
        near = {name: sum(abs(weights[own] - wanted[own]) for own in wanted) for name, wanted in best.items()}
        return {name: [np.array([1 / (1 + far), 0.5])] * 2 for name, far in near.items()}

    by, measured = learn_weights(["text", "tags"], measure)
    by_others = {"a": "text", "b": "text,tags=4", "c": "text", "d": "text,tags=4"}
    for name, other in by_others.items():
        assert measured[name][0][0] == measure(other)[name][0][0], "half a, c; half b, d"
    assert by == "text,tags", "halves that disagree change nothing"
    assert len({*asked}) * 1.0 == len(asked) - 4, "nothing is measured twice but by this test"


def test_options_are_written_as_they_are_read():
    weights = {"text": 1.0, "tags": 0.25, "year": 0.0, "cites": 4.0}
    assert as_option(weights) == "text,tags=0.25,cites=4"
    assert field_weights(as_option(weights)) == {"text": 1.0, "tags": 0.25, "cites": 4.0}


@pytest.fixture
def index(tmp_path):
    """Sets that tags tell, with misleading places and words by chance, in a.db."""
    rng, items, sets = random.Random(1), [], {}
    for number in range(80):
        name, group = f"i{number}", f"g{number % 8}"
        fields = {
            "tags": [group] * (rng.random() < 0.7) + [f"g{rng.randrange(8)}"],
            "place": [f"p{rng.randrange(5)}" for _ in range(3)],
        }
        items.append(Item(name, " ".join(f"w{rng.randrange(30)}" for _ in range(12)), None, None, fields))
        sets.setdefault(group, []).append(name)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(items)
        yield index, sets


def test_evaluate_measures_each_field_and_learns_their_weights(index):
    index, sets = index
    reading = index.items("documents")
    with reading.fields() as fields:
        found = evaluate(Weighing(fields, reading.defaults.choose({})), sets, Design(2, 2, learns_fields=True))
    by_name = {result.method.partition(", by ")[0]: result for result in found.results}
    alone = {
        own.method.removeprefix("lift, by "): own.map for own in found.results if own.method.startswith("lift, by ")
    }
    assert alone.keys() == {"text", "tags", "place"} and alone["tags"] > max(alone["text"], alone["place"])
    learned = by_name["lift, learned"]
    assert learned.map > by_name["lift"].map
    weights = field_weights(learned.options["by"])
    assert weights["tags"] > weights.get("text", 0)
    assert reading.expand(["i0", "i8"], by=learned.options["by"])


def test_the_command(index, run, failed, tmp_path):
    (tmp_path / "sets.csv").write_text("set,item\n" + "".join(f"{s},{i}\n" for s, own in index[1].items() for i in own))
    code, out, said = run("evaluate", "a.db", "sets.csv", "--items", "documents", "--draws", "1", "--fields", "--json")
    assert code == 0 and '"lift, learned, by ' in out, said
    asked = "evaluate", "a.db", "sets.csv", "--items", "documents", "--draws", "1"
    failed(run(*asked, "--save"), 2, "--save keeps the weights that --fields learns; give both")
    code, _, said = run(*asked[:-1], "2", "--seeds", "2", "--fields", "--save")
    by = dict(index[0].items("documents").defaults.weights)
    assert code == 0 and by["tags"] > by["text"] and "saved: questions without --by weigh fields by " in said
    failed(
        run("evaluate", "a.db", "sets.csv", "--items", "documents", "--by", "tags"), 2, "--fields learns the weights"
    )
    with setsearch.open(tmp_path / "b.db", create=True) as other:
        other.add([("a", "x"), ("b", "y")])
    failed(run("evaluate", "b.db", "sets.csv", "--items", "documents", "--fields"), 2, "the documents have one")
