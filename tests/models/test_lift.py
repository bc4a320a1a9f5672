"""The models lift and x1, the cut and negative examples: each equals its definition."""

import math
import random
from collections import Counter
from statistics import median

import numpy as np
import pytest
from oracle import lift_scores, lift_weights, line_of, ranking, same_scores, soft_values, x1_scores
from samples import random_data, random_questions, with_kernels

import setsearch
from setsearch import errors
from setsearch.models import Lift

PRINTED = {
    "lion": {"lion": 3, "savanna": 1, "cat": 1},
    "tiger": {"tiger": 2, "jungle": 1, "cat": 2},
    "wheat": {"wheat": 4, "field": 1},
    "barley": {"barley": 2, "field": 2, "wheat": 1},
    "leopard": {"leopard": 1, "cat": 1, "savanna": 1},
    "engine": {"engine": 5, "steam": 1},
}
TEXT = {"model": "lift", "popularity": 0.2, "binarize": "twice-mean"}


def test_printed_example(build):
    hits = build(PRINTED).items("film").expand(["lion", "tiger"], keep_seeds=True, **TEXT)
    found = {hit.item: hit.score for hit in hits}
    expected = [0.220303, 0.196162, 0, 0, 0.036835, 0]
    assert [found[item] for item in PRINTED] == pytest.approx(expected, abs=1e-6)


def same(hits, scores, seeds=()):
    """Every item has the score of the definition; values and weights lie on lattices, hence the tolerance."""
    same_scores(hits, scores, seeds, 1e-5)


@pytest.mark.parametrize("case", range(12))
def test_scores_equal_the_definition(build, case):
    rng = random.Random(case)
    for reading, rows, seeds in random_questions(build, rng, case):
        strength, popularity = rng.choice((0.5, 2.0, 20.0)), rng.choice((0.0, 0.2, 1.0))
        for binarize, existence in (("presence", "presence"), ("twice-mean", "soft-twice-mean")):
            scores = lift_scores(rows, seeds, strength, 1 - popularity, existence)
            options = {"strength": strength, "popularity": popularity, "binarize": binarize}
            same(reading.expand(seeds, 999, **options), scores, seeds)
        same(reading.expand(seeds, 999, model="x1"), x1_scores(rows, seeds), seeds)
        same(reading.expand(seeds, 999, model="x1", strength=3), x1_scores(rows, seeds, 3), seeds)


@pytest.mark.parametrize("largest", [900, 40_000, 100_000], ids=["tabulated", "of 16 bits", "of 32 bits"])
def test_norms_are_exact_however_large_the_counts(build, largest):
    rng = random.Random(largest)
    data = {item: {user: rng.randint(1, largest) for user in own} for item, own in random_data(3, 40, 30, 0.4).items()}
    df = Counter(user for own in data.values() for user in own)
    with build(data).items("film").fields() as fields:
        norms = fields.first.statistics(Lift(binarization="presence").rule).norms
        for id, (item, _) in fields.describe(fields.item_ids().tolist()).items():
            weights = [(1 + math.log(tf)) * math.log(len(data) / df[user]) ** 0.25 for user, tf in data[item].items()]
            assert norms[id] == pytest.approx(math.hypot(*weights), rel=1e-9)


@pytest.mark.parametrize("lattice", [2.0**22, 4.0, 1.0])
def test_document_frequencies_count_the_values_above_0(build, monkeypatch, lattice):
    monkeypatch.setattr("setsearch.arrays.VALUE_LATTICE", lattice)  # so coarse that values round to 0
    monkeypatch.setattr("setsearch.scoring.best._chosen", "numpy")  # the core has a lattice of its own
    with build(random_data(7, 40, 30, 0.4)).items("film").fields() as fields:
        for rule in (Lift().rule, Lift(binarization="presence").rule):
            found = fields.first.statistics(rule)
            entries, values = found.values_of(fields.first.read_postings(range(fields.first.features.next_id)))
            df = fields.first.document_frequencies(rule)
            assert np.array_equal(df, np.bincount(entries.lists[values > 0], minlength=len(df)))
            assert lattice > 1 or df.sum() < fields.first.frequencies()[0].sum() / 2


@pytest.mark.parametrize("model", ["lift", "x1"])
def test_kernels_give_the_same_bits(build, model):
    data = random_data(3, 300, 60, 0.3)
    readings = build(data).items("film"), build(dict(reversed(data.items()))).items("film")
    found = with_kernels(lambda: [own.expand(["i3", "i8", "i9"], 400, model=model) for own in readings])
    assert all(hits == found[0][0] for of_kernel in found for hits in of_kernel)


def test_an_item_that_shares_nothing_scores_nothing(build):
    hits = build(PRINTED).items("film").expand(["lion"], **TEXT)
    assert [hit.item for hit in hits if hit.score == 0] == ["barley", "engine", "tiger", "wheat"]


@pytest.mark.parametrize("model", ["lift", "x1"])
def test_explanations_sum_to_the_score(build, model):
    reading = build(random_data(5, 30, 25, 0.3)).items("film")
    for hit in reading.expand(["i1", "i2"], 100, keep_seeds=True, explain=True, model=model):
        why = reading.explain(["i1", "i2"], hit.item, model=model)
        assert why.features == hit.features
        assert why.score == pytest.approx(hit.score, abs=1e-9)
    for hit in reading.expand(["i1", "i2"], 100, explain=True, exclude=["i3"], gamma=0.1):
        assert sum(part.weight for part in hit.features) == pytest.approx(hit.score, abs=1e-9)


@pytest.mark.parametrize("case", range(6))
def test_negative_examples_take_a_share_of_their_weights_away(build, case):
    data = random_data(case, 30, 25, 0.3)
    values = soft_values(data, 1.0, "presence")
    plus, minus = (lift_weights(values, seeds, 2.0) for seeds in (["i1", "i2"], ["i3"]))
    for gamma in (0.0, 0.1, 0.5):
        scores = {
            item: sum(x * (plus.get(f, 0.0) - gamma * minus.get(f, 0.0)) for f, x in own.items())
            for item, own in values.items()
        }
        hits = build(data).items("film").expand(["i1", "i2"], 100, exclude=["i3"], gamma=gamma)
        same(hits, scores, ["i1", "i2", "i3"])


def test_exclude_only_leaves_out_where_scores_are_probabilities(build):
    reading = build(random_data(1, 30, 25, 0.3)).items("film")
    for model in ("bernoulli", "x1"):
        every = reading.expand(["i1"], 100, model=model)
        rest = reading.expand(["i1"], 100, model=model, exclude=["i4"])
        assert [(h.item, h.score) for h in rest] == [(h.item, h.score) for h in every if h.item != "i4"]


@pytest.mark.parametrize("n_seeds", [1, 2, 3, 5])
@pytest.mark.parametrize("case", range(4))
def test_the_cut_equals_its_definition(build, case, n_seeds):
    data = random_data(case, 40, 25, 0.3)
    seeds = [f"i{n}" for n in range(1, n_seeds + 1)]
    values = soft_values(data, 1.0, "presence")
    order = ranking(lift_scores(data, seeds, slope=1.0, binarization="presence"), seeds)
    middle, is_told = None, False
    if n_seeds > 1:
        left_out = [
            sum(
                weight * values[seed].get(feature, 0.0)
                for feature, weight in lift_weights(values, [s for s in seeds if s != seed], 2.0).items()
            )
            for seed in seeds
        ]
        middle = median(left_out)
        is_told = sum(score > middle for _, score in order) <= len(order) / 8
    tau = line_of([score for _, score in order], len(data), n_seeds, middle)
    reading = build(data).items("film")
    marked = reading.expand(seeds, 100, cut="mark")
    assert {hit.item: hit.belongs for hit in marked} == {
        item: score > tau + 1e-6 if is_told else None for item, score in order
    }
    kept = reading.expand(seeds, None, cut="keep")
    assert [(hit.item, hit.score) for hit in kept] == [row for row in pairs(marked) if row[1] > tau + 1e-6]
    assert all(hit.belongs for hit in kept)
    assert reading.expand(seeds, 2, cut="mark") == marked[:2], "the cut does not depend on k"


def pairs(hits):
    return [(hit.item, hit.score) for hit in hits]


def test_seeds_that_find_one_another_tell_what_belongs(build):
    """A set among films that nobody else likes together."""
    data = {f"f{n}": {f"u{n % 7}": 1, f"u{n % 5 + 7}": 1} for n in range(60)}
    data |= {f"g{n}": {f"v{user}": 1 for user in range(6) if user != n} for n in range(6)}
    reading = build(data).items("film")
    asked = [reading.expand(seeds, 9, cut="mark") for seeds in (["g0", "g1", "g2"], ["g0"], ["f0", "f1", "f2"])]
    assert [hit.belongs for hit in asked[0]] == [True] * 3 + [False] * 6
    assert {hit.belongs for hits in asked[1:] for hit in hits} == {None}
    among = reading.expand(["g0", "g1", "g2"], 9, cut="mark", among=["g3", "f1"])
    assert [(hit.item, hit.belongs) for hit in among] == [("g3", True), ("f1", False)]
    assert reading.expand(["g0"], None, cut="keep")


@pytest.mark.parametrize(
    ("model", "n_seeds"),
    [("lift", 1), ("lift", 20), *((model, n) for model in ("bernoulli", "multinomial") for n in (1, 3, 20))],
)
@pytest.mark.parametrize(("items", "n_items"), [("documents", 250), ("terms", 250), ("documents", 40)])
def test_the_cut_of_texts_lies_above_the_floor(tmp_path, items, n_items, n_seeds, model):
    data = random_data(3, n_items, 40, 0.3)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((item, " ".join(f for f, count in own.items() for _ in range(count))) for item, own in data.items())
        reading = index.items(items)
        names = sorted(data) if items == "documents" else sorted({f for own in data.values() for f in own})
        seeds = names[:n_seeds]
        hits = reading.expand(seeds, len(names), cut="mark", model=model)
        scores = [hit.score for hit in hits]
        middle, is_told = None, True
        if model == "lift" and n_seeds > 1:
            middle = median(fit.score for fit in reading.fits(seeds))
            is_told = sum(score > middle for score in scores) <= max(len(scores) / 4, 50)
        tau = line_of(scores, len(names), n_seeds, middle)
        assert [hit.belongs for hit in hits] == [score > tau + 1e-6 if is_told else None for score in scores]
        kept = reading.expand(seeds, None, cut="keep", model=model)
        assert [hit.item for hit in kept] == [hit.item for hit in hits if hit.score > tau + 1e-6]
        with_seeds = reading.expand(seeds, len(names), cut="mark", model=model, keep_seeds=True)
        assert [hit.belongs for hit in with_seeds if hit.item not in seeds] == [hit.belongs for hit in hits]
        among = [hit.item for hit in hits[1::2]]
        assert [hit.belongs for hit in reading.expand(seeds, 500, cut="mark", model=model, among=among)] == [
            hit.belongs for hit in hits[1::2]
        ]


def test_bad_options(build):
    reading = build(PRINTED).items("film")
    for bad, part in (
        ({"popularity": 2}, "popularity must be a number from 0 to 1, not 2"),
        ({"popularity": "much"}, "popularity must be a number from 0 to 1, not 'much'"),
        ({"model": "poisson", "popularity": 0.5}, "poisson has no option popularity"),
        ({"strength": 0}, "strength"),
        ({"gamma": -1}, "gamma"),
        ({"cut": "here"}, "'here'"),
        ({"k": None}, "k = None"),
    ):
        with pytest.raises(errors.InvalidParameter, match=part):
            reading.expand(["lion"], **bad)
    with pytest.raises(TypeError, match="'stength'"):
        reading.expand(["lion"], stength=2)
    assert reading.expand(["lion"], model=None, strength=None) == reading.expand(["lion"])
