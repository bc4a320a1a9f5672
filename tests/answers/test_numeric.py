"""Items that numbers describe: the model gaussian by its definition, the API, the command."""

import json
import math
import random

import numpy as np
import pytest

import setsearch
from setsearch import errors

COLUMNS = ["height", "weight", "constant"]


def wines(seed=0, n=30):
    rng = random.Random(seed)
    return {f"w{number:02}": [rng.gauss(10, 3), rng.expovariate(0.1), 5.0] for number in range(n)}


def by_definition(data, seeds, k=2.0):
    """Student's t of scipy with the parameters of the normal-gamma, dimension by dimension."""
    x = np.array(list(data.values()))
    from scipy import stats  # takes a while, and most processes run other tests

    names = list(data)
    total = np.zeros(len(names))
    for column in range(x.shape[1]):
        values = x[:, column]
        if np.all(values == values[0]):
            continue
        mean, variance = values.mean(), values.var()
        own = np.array([data[seed][column] for seed in seeds])
        count = len(own)
        kappa, a, b = k + count, k / 2 + count / 2, 0.0
        mu = (k * mean + own.sum()) / kappa
        b = k / 2 * variance + 0.5 * ((own - own.mean()) ** 2).sum()
        b += k * count * (own.mean() - mean) ** 2 / (2 * kappa)
        after = stats.t.logpdf(values, 2 * a, mu, math.sqrt(b * (kappa + 1) / (a * kappa)))
        before = stats.t.logpdf(values, k, mean, math.sqrt(k / 2 * variance * (k + 1) / (k / 2 * k)))
        total += after - before
    return dict(zip(names, total.tolist(), strict=True))


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "w.db", create=True) as made:
        made.add_numbers(wines().items(), COLUMNS, "wine")
        yield made


@pytest.mark.parametrize("seeds", [["w03"], ["w03", "w11"], ["w01", "w02", "w05", "w20"]])
@pytest.mark.parametrize("strength", [None, 0.5, 10.0])
def test_scores_equal_the_definition(index, seeds, strength):
    reading = index.numbers("wine")
    expected = by_definition(wines(), seeds, 2.0 if strength is None else strength)
    hits = reading.expand(seeds, 99, strength=strength, explain=True)
    assert {hit.item: hit.score for hit in hits} == pytest.approx(
        {item: score for item, score in expected.items() if item not in seeds}, abs=1e-9
    )
    assert [-hit.score for hit in hits] == sorted(-hit.score for hit in hits)
    for hit in hits:
        assert sum(part.weight for part in hit.features) == pytest.approx(hit.score)
        assert reading.explain(seeds, hit.item, strength=strength).score == hit.score
    assert {part.feature for part in hits[0].features} == set(COLUMNS)
    assert next(part.weight for part in hits[0].features if part.feature == "constant") == 0


def test_a_matrix_is_added_updated_and_deleted(index):
    matrix = np.array([[1.0, 2.0, 5.0], [3.0, 4.0, 5.0]])
    assert index.add_numbers(zip(["new", "w00"], matrix, strict=True), COLUMNS, "wine") == 2
    data = wines() | {"new": [1.0, 2.0, 5.0], "w00": [3.0, 4.0, 5.0]}
    assert index.delete(["w01"]) == 1
    del data["w01"]
    hits = index.numbers("wine").expand(["w05", "new"], 99)
    expected = by_definition(data, ["w05", "new"])
    assert {h.item: h.score for h in hits} == pytest.approx(
        {item: score for item, score in expected.items() if item not in ("w05", "new")}, abs=1e-9
    )
    assert index.check() == []
    assert index.info()["readings"][0]["defaults"]["model"] == "gaussian"
    assert len(index.info()["readings"]) == 1
    assert index.numbers("wine").item_count() == 30
    kept = index.set("some", "wine")
    kept.accept("w05", "new")
    assert kept.expand(99) == hits


def test_items_are_deleted_by_id_not_by_title(index):
    index.add_numbers([("new", [1.0, 2.0, 5.0], "Chianti")], COLUMNS, "wine")
    with pytest.raises(errors.UnknownItem, match="no item 'Chianti' to delete; by id it is 'new'; nothing"):
        index.delete(["new", "Chianti"])
    assert index.delete(["new", "new"]) == 1
    assert index.check() == []


def test_bad_numbers_change_nothing(index):
    before = index.numbers("wine").expand(["w03"], 99)
    for bad in ([1.0, 2.0], [1e300, 0.0, 1.0], [1.0, math.nan, 2.0], [math.inf, 1.0, 2.0], ["x", 1, 2], 7):
        with pytest.raises(errors.InvalidItem, match="'bad'"):
            index.add_numbers([("fine", [1.0, 2.0, 3.0]), ("bad", bad)], COLUMNS, "wine")
    for title in ("\ud800", "A\0B", 5):
        with pytest.raises(errors.InvalidItem, match="'bad' has the title"):
            index.add_numbers([("bad", [1.0, 2.0, 3.0], title)], COLUMNS, "wine")
    with pytest.raises(errors.DuplicateItem):
        index.add_numbers([("a", [1.0, 2.0, 3.0]), ("a", [1.0, 2.0, 3.0])], COLUMNS, "wine")
    with pytest.raises(errors.InvalidItem, match="columns"):
        index.add_numbers([("a", [1.0])], ["height"], "wine")
    with pytest.raises(errors.InvalidItem, match="add_numbers"):
        index.add([("a", ["x"])])
    reading = index.numbers("wine")
    assert reading.expand(["w03"], 99) == before
    for bad, error in (
        ({"model": "lift"}, errors.InvalidParameter),
        ({"popularity": 0.5}, errors.InvalidParameter),
        ({"popularity": np.ones(2)}, errors.InvalidParameter),
        ({"cut": "keep"}, errors.InvalidParameter),
        ({"strength": 0}, errors.InvalidParameter),
        ({"strength": "strong"}, errors.InvalidParameter),
        ({"k": 0}, errors.InvalidParameter),
    ):
        with pytest.raises(error):
            reading.expand(["w03"], **bad)
    with pytest.raises(errors.NoSeeds):
        reading.expand([])
    with pytest.raises(errors.UnknownItem, match="'w99'"):
        reading.expand(["w99"])
    with pytest.raises(errors.NothingToRank):
        reading.expand(list(wines()))


def test_the_command(run, failed, tmp_path):
    lines = [f"{name},{own[0]!r},{own[1]!r},{name.upper()}" for name, own in wines().items()]
    (tmp_path / "wines.csv").write_text("\n".join(["id,height,weight,label", *lines]))
    columns = ("--items", "id", "--numbers", "height", "--numbers", "weight", "--title", "label")
    assert run("index", "n.db", "wines.csv", *columns)[0] == 0
    found = json.loads(run("expand", "n.db", "w03", "w11", "-k", "40")[1])
    expected = by_definition({name: own[:2] for name, own in wines().items()}, ["w03", "w11"])
    assert {row["item"]: row["score"] for row in found} == pytest.approx(
        {item: score for item, score in expected.items() if item not in ("w03", "w11")}, abs=1e-9
    )
    assert json.loads(run("explain", "n.db", "w05", "w03")[1])["features"]
    (tmp_path / "bad.csv").write_text("id,height,weight,label\na,1,x,A\n")
    failed(run("index", "n.db", "bad.csv", *columns), 1, "line 2", "'weight'", "'x'")
    failed(run("index", "n.db", "wines.csv", "--numbers", "height"), 1, "no column 'text'")
    failed(run("expand", "n.db", "w03", "--model", "lift"), 2, "gaussian")
    failed(run("expand", "n.db", "w03", "--like", "x"), 2, "'like'")
    failed(run("features", "n.db", "w03"), 2, "described by numbers")
    failed(run("features", "n.db", "w03", "--weigh", "mi"), 2, "described by numbers")
    weighed = ("features", "n.db", "w03", "--weigh", "mi")
    failed(run(*weighed, "--model", "x1", "--strength", "1"), 2, "--model and --strength")
    (tmp_path / "sets.json").write_text(json.dumps({"s": ["w01", "w02", "w03"]}))
    failed(run("evaluate", "n.db", "sets.json"), 2, "described by numbers")
    run("set", "save", "n.db", "s", "w01", "w02")
    failed(run("set", "of", "n.db", "w03"), 2, "described by numbers")
    (tmp_path / "b.txt").write_text('["w03"]\n')
    assert json.loads(run("expand", "n.db", "--batch", "b.txt")[1])["hits"] == found_for(run, "w03")


def found_for(run, seed):
    return json.loads(run("expand", "n.db", seed)[1])


def test_what_features_tell_is_empty(index, run, tmp_path):
    reading = index.numbers("wine")
    assert (reading.fits(["w03", "w05"]), reading.word_notes(["w03"]), reading.headlines(["w03"])) == ([], [], {})
    assert "gaussian" in reading._repr_html_()
    with pytest.raises(errors.UsageError, match=r"^wine have numbers, and no scores of all items; expand them$"):
        index.question(["w03"], items="wine").scored(lambda fields, scores: scores)


def test_the_order_of_writes_changes_no_bit(tmp_path):
    rng = np.random.default_rng(4)
    rows = [(f"i{n}", list(row)) for n, row in enumerate(rng.normal(size=(60, 3)))]
    answers = []
    for number, order in enumerate((rows, rows[::-1])):
        with setsearch.open(tmp_path / f"{number}.db", create=True) as index:
            index.add_numbers(order, ["a", "b", "c"], "point")
            answers.append([(hit.item, hit.score) for hit in index.numbers("point").expand(["i3", "i9", "i40"], 99)])
    assert answers[0] == answers[1]
