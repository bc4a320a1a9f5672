"""A second pass, and seeds with weights: each equals its definition."""

import gc
import json
import random
import weakref
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from oracle import (
    RARITY,
    feedback_scores,
    joining_weights,
    lift_scores,
    lift_weights,
    line_of,
    ranking,
    same_scores,
    soft_values,
)

import setsearch
from setsearch import errors
from setsearch.core.question import now
from setsearch.search import passes as module
from setsearch.search.cutoff import odd_one
from setsearch.search.examples import Examples


def collection(seed, n_items=120, n_features=60):
    """Items of three kinds, with counts."""
    rng = random.Random(seed)
    data = {}
    for number in range(n_items):
        kind = [f"f{place}" for place in range(number % 3, n_features, 3)]
        words = rng.choices(kind, k=6) + rng.choices([f"f{n}" for n in range(n_features)], k=4)
        data[f"i{number}"] = {word: words.count(word) for word in words}
    return data


def texts(data):
    return [(item, " ".join(word for word, count in own.items() for _ in range(count))) for item, own in data.items()]


@pytest.fixture(scope="module", params=range(3))
def built(request, tmp_path_factory):
    data = collection(request.param)
    with setsearch.open(tmp_path_factory.mktemp("feedback") / "a.db", create=True) as index:
        index.add(texts(data))
        yield data, index.items("documents")


def test_weights_are_freed_when_nobody_has_them(built):
    """What holds itself stays, with the scores of all items, until Python looks for cycles."""
    _, reading = built
    with reading.fields() as fields:
        gc.disable()
        try:
            weights = now(module.Weighing(fields, reading.defaults.choose({})).two_passes(Examples([1, 4])))
            assert len(weights.scores()) and not weights.parts and weights.of_seeds is None and weights.positive
            kept = weakref.ref(weights)
            del weights
            assert kept() is None
        finally:
            gc.enable()


@pytest.mark.parametrize("least", [5000, 1])
@pytest.mark.parametrize("seeds", [["i1"], ["i1", "i4"], ["i1", "i4", "i7"], ["i2", "i5", "i8", "i11", "i14"]])
def test_a_second_pass_equals_its_definition(built, seeds, least, kernel, monkeypatch):
    monkeypatch.setattr(module, "LEAST", least)
    own = 20 if least > 1 else 3  # features of the seeds that always count
    monkeypatch.setattr(module, "OWN", own)
    data, reading = built
    for feedback in (0.25, 1.0):
        options = {"feedback": feedback, "binarize": "presence", "popularity": 0.0}
        expected = feedback_scores(data, seeds, feedback, least, 1.0, "presence", own=own)
        hits = reading.expand(seeds, len(data), **options)
        same_scores(hits, expected, seeds, 1e-6)
        explained = reading.explain(seeds, hits[3].item, **options)
        assert explained.score == pytest.approx(hits[3].score, abs=1e-12)
        assert explained.score == pytest.approx(sum(part.weight for part in explained.features), abs=1e-9)
        among = [hit.item for hit in hits[::3]]
        assert [(h.item, h.score) for h in reading.rank(among, seeds, **options)] == [
            (h.item, h.score) for h in hits[::3]
        ]


def with_copies(seed):
    """Items of three kinds with thirty features; half of them have twelve near-copies, some with equal counts."""
    rng, data = random.Random(seed), {}
    for number in range(40):
        kind = [f"f{place}" for place in range(number % 3, 180, 3)]
        words = [*rng.sample(kind, 25), *rng.sample([f"f{n}" for n in range(180)], 10)]
        data[f"i{number}"] = dict.fromkeys(words, 1)
        for copy in range(12 if number % 2 else 0):
            replaced = words if copy < 2 else [*words[:-1], f"f{rng.randrange(180)}"]
            data[f"i{number}-{copy}"] = dict.fromkeys(replaced, 1)
    return data


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_near_copies_join_no_second_pass_and_count_once_among_the_seeds(seed, tmp_path, kernel):
    data = with_copies(seed)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(data))
        reading = index.items("documents")
        for seeds in (["i1"], ["i1", "i4"], ["i3", "i5", "i9"], ["i1-3"]):
            expected = feedback_scores(data, seeds, 0.25, 5000, 0.8)
            same_scores(reading.expand(seeds, len(data)), expected, seeds, 1e-6)
        alone = reading.expand(["i1", "i4"], len(data))
        for copies in (["i1", "i1-0", "i4"], ["i4", "i1-0", "i1-1", "i1"]):
            hits = reading.expand(copies, len(data))
            assert [(h.item, h.score) for h in hits] == [(h.item, h.score) for h in alone if h.item not in copies]
            assert reading.explain(copies, hits[5].item).score == pytest.approx(hits[5].score, abs=1e-9)
        ranked = {hit.item: hit.score for hit in reading.expand(["i1", "i1-0", "i4"], len(data), keep_seeds=True)}
        assert {"i1", "i1-0", "i4"} < ranked.keys()
        weighted = reading.expand({"i1": 1, "i1-0": 0.5, "i4": 1}, 9)
        assert [hit.score for hit in weighted] != [hit.score for hit in alone[:9]], "weights are what their giver wants"


def test_it_is_the_default_of_documents_with_few_seeds(built):
    data, reading = built
    for count in (1, 2, 3, 5):
        several = [[f"i{first + 3 * n}" for n in range(count)] for first in range(20)]
        twice = reading.expand_many(several, 50)
        assert twice == reading.expand_many(several, 50, feedback=0.25)
        changed = [own != once for own, once in zip(twice, reading.expand_many(several, 50, feedback=0), strict=True)]
        ranked = [ranking(lift_scores(data, seeds, 2.0, 0.8, rarity=RARITY), seeds)[:4] for seeds in several]
        assert changed == [scores[-1][1] <= 0.85 * scores[0][1] for scores in ranked] and any(changed)
    many = [f"i{n}" for n in range(6)]
    assert reading.expand(many, 50) == reading.expand(many, 50, feedback=0)
    assert reading.expand([], having=["f1"]) == reading.expand([], having=["f1"], feedback=0)
    left_out = reading.expand(["i0"], 50, exclude=["i3"], gamma=0)
    expected = feedback_scores(data, ["i0"], 0.25, 5000, 0.8, excluded=["i3"])
    assert {hit.item: hit.score for hit in left_out} == pytest.approx(
        {hit.item: expected[hit.item] for hit in left_out}, abs=1e-6
    )


@pytest.mark.parametrize("seeds", [["i0"], ["i0", "i3"]])
def test_what_is_like_rejected_items_does_not_join(built, seeds):
    data, reading = built
    rejected = [hit.item for hit in reading.expand(seeds, 2)]
    hits = reading.expand(seeds, len(data), exclude=rejected, gamma=0.5)
    expected = feedback_scores(data, seeds, 0.25, 5000, 0.8, excluded=rejected, gamma=0.5)
    same_scores(hits, expected, [*seeds, *rejected], 1e-6)


@pytest.mark.parametrize("seeds", [["i0"], ["i0", "i2"]])
def test_what_does_not_score_more_than_0_does_not_join(tmp_path, seeds, kernel):
    """Three items may join, of which one has what the seeds have; others score 0, or less by a frequent word."""
    data = {f"i{n}": {"y": 1 + n, f"f{n % 9}": 2, f"g{n}": 3} for n in range(75)}
    data["i0"], data["i1"], data["i2"] = {"x": 2, "y": len(seeds) - 1}, {"x": 1, "z": 2, "f1": 1}, {"x": 1, "w": 1}
    data["i74"] = {"v": 1}  # scores 0, alone where all others have the frequent word
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(data))
        reading = index.items("documents")
        for asked in ([f"i{n}"] for n in (*range(9), 74)):  # then all lists have values
            reading.expand(asked, binarize="presence")
        hits = reading.expand(seeds, len(data), binarize="presence")
        same_scores(hits, feedback_scores(data, seeds, 0.25, 5000, 0.8, "presence"), seeds, 1e-6)


def test_the_order_of_writes_does_not_matter(tmp_path):
    data = collection(9)
    answers = []
    for turn in (1, -1):
        with setsearch.open(tmp_path / f"{turn}.db", create=True) as index:
            index.add(texts(data)[::turn])
            answers.append(index.items("documents").expand(["i1", "i4"], 100))
    assert answers[0] == answers[1]


@examples(30)
@given(weights=st.lists(st.integers(0, 4096).map(lambda n: n / 1024), min_size=3, max_size=3).filter(any))
def test_weighted_seeds_equal_their_definition(built, weights):
    data, reading = built
    seeds = dict(zip(["i1", "i4", "i8"], weights, strict=True))
    values = soft_values(data, 0.8, "soft-twice-mean")
    by_feature = lift_weights(values, seeds, 2.0, rarity=RARITY)
    expected = {item: sum(by_feature.get(f, 0.0) * x for f, x in own.items()) for item, own in values.items()}
    same_scores(reading.expand(seeds, len(data), feedback=0), expected, seeds, 1e-6)


def test_weights_of_seeds(built):
    _, reading = built
    names = ["i1", "i4", "i8"]
    for model in ("lift", "bernoulli", "multinomial", "poisson"):
        plain = reading.expand(names, 50, model=model)
        assert reading.expand(dict.fromkeys(names, 1), 50, model=model) == plain
        assert reading.expand(iter(names), 50, model=model) == plain
        one = reading.expand({"i1": 1, "i4": 0}, 50, model=model)
        assert [hit for hit in one if hit.item != "i4"] == one, "a seed without weight is not returned"
        alone = {hit.item: hit.score for hit in reading.expand(["i1"], 50, model=model, exclude=["i4"], gamma=0)}
        assert {hit.item: hit.score for hit in one[:20]} == pytest.approx({h.item: alone[h.item] for h in one[:20]})
    assert reading.expand_many([{"i1": 2, "i4": 1}], 9) == [reading.expand({"i1": 2, "i4": 1}, 9)]
    assert reading.explain({"i1": 2, "i4": 1}, "i8").score == pytest.approx(
        next(hit.score for hit in reading.expand({"i1": 2, "i4": 1}, 200) if hit.item == "i8")
    )
    for wrong, said in (
        ({"i1": -1}, "from 0 to 1000"),
        ({"i1": float("nan")}, "from 0"),
        ({"i1": "2"}, "'2'"),
        ({"i1": True}, "True"),
    ):
        with pytest.raises(errors.InvalidParameter, match=said):
            reading.expand(wrong)
    with pytest.raises(errors.NoSeeds, match="weights of all seeds are 0"):
        reading.expand({"i1": 0})


@pytest.mark.parametrize(("given", "said"), [(-1, "not -1"), ("much", "'much'"), (float("inf"), "inf"), (True, "True")])
def test_bad_shares_are_told(built, given, said):
    with pytest.raises(errors.InvalidParameter, match=said):
        built[1].expand(["i1"], feedback=given)
    with pytest.raises(errors.InvalidParameter, match="needs the model lift"):
        built[1].expand(["i1"], feedback=0.5, model="bernoulli")


@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [2, 0.5, 1, 0]])
def test_a_seed_that_is_left_out_has_the_score_of_the_others(built, weights):
    data, reading = built
    seeds = dict(zip(["i1", "i4", "i7", "i2"], weights, strict=True))
    fits = {fit.item: fit.score for fit in reading.fits(seeds)}
    values = soft_values(data, 0.8, "soft-twice-mean")
    for seed in seeds:
        others = {name: weight for name, weight in seeds.items() if name != seed}
        by_feature = lift_weights(values, others, 2.0, rarity=RARITY)
        expected = sum(by_feature.get(f, 0.0) * x for f, x in values[seed].items())
        assert fits[seed] == pytest.approx(expected, abs=1e-6)
    assert [*fits.values()] == sorted(fits.values())


@pytest.mark.parametrize(("count", "step"), [(1, 3), (2, 3), (3, 3), (6, 3), (12, 3), (3, 1), (12, 1)])
def test_the_cut_equals_its_definition(built, count, step):
    """The line by the middle one of what seeds have if they are left out, and the five best.

    Told if few items score above the middle seed, of three seeds in one pass.
    """
    data, reading = built
    seeds = [f"i{step * n}" for n in range(count)]  # of one kind, or of all three
    order = ranking(feedback_scores(data, seeds, 0.25, 5000, 0.8), seeds)
    tau, is_told = line_of([score for _, score in order], len(data), 1), True
    if count > 1:
        values = soft_values(data, 0.8, "soft-twice-mean")
        first = ranking(lift_scores(data, seeds, 2.0, 0.8, rarity=RARITY), seeds)
        joining = first[: min(10 - count, len(data) // 25)] if count < 6 else []
        joining = joining if joining and joining[-1][1] <= 0.85 * joining[0][1] else []  # flat scores do not tell
        joined = joining_weights([item for item, _ in joining], dict(joining), 9 / 32 if count >= 3 else 0.5)

        def middle(joined):
            """The middle one of the scores of seeds without each other."""
            left_out = []
            for seed in seeds:
                others = {other: 1.0 for other in seeds if other != seed} | joined
                weights = lift_weights(values, others, 2.0, rarity=RARITY, given=count - 1)
                left_out.append(sum(weights.get(f, 0.0) * x for f, x in values[seed].items()))
            return median(left_out)

        tau = line_of([score for _, score in order], len(data), count, middle(joined))
        ranked, bound = (first, middle({})) if joined and count >= 3 else (order, middle(joined))
        is_told = sum(score > bound for _, score in ranked) <= max(len(ranked) / 4, 50)
    hits = reading.expand(seeds, len(data), cut="mark")
    near = {item for item, score in order if abs(score - tau) < 1e-5}  # values are rounded
    expected = {item: score > tau if is_told else None for item, score in order if item not in near}
    assert {hit.item: hit.belongs for hit in hits if hit.item not in near} == expected
    kept = reading.expand(seeds, None, cut="keep")
    assert [h.item for h in kept if h.item not in near] == [i for i, score in order if score > tau and i not in near]
    assert 0 < len(kept) < len(hits) and all(hit.belongs for hit in kept)
    with_seeds = reading.expand(seeds, len(data), cut="mark", keep_seeds=True)
    assert [hit.belongs for hit in with_seeds if hit.item not in seeds] == [hit.belongs for hit in hits]
    among = [hit.item for hit in hits[1::2]]
    assert [h.belongs for h in reading.expand(seeds, 500, cut="mark", among=among)] == [h.belongs for h in hits[1::2]]


def test_the_odd_one_is_named(run, tmp_path):
    rows = [(f"c{n}", f"lion tiger leopard cat savanna n{n} m{n}") for n in range(4)]
    rows += [(f"w{n}", f"wheat barley oats field n{n} k{n}") for n in range(60)]
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(rows)
        reading = index.items("documents")
        assert odd_one(reading.fits(["c0", "c1", "w9", "c2"])).item == "w9"
        assert odd_one(reading.fits(["c0", "c1", "c2"])) is None
        assert odd_one(reading.fits(["c0", "w9"])) is None
        assert reading.fits(["c0"]) == reading.fits(["c0", "c1"], model="bernoulli") == []
    asked = ["expand", "a.db", "c0", "c1", "w9", "c2", "--items", "documents"]
    assert "w9" in run(*asked)[2]
    assert "fits the other examples least" in run(*asked)[2]
    weighted = json.loads(run(*asked, "--seed-weights", "1,1,0,1")[1])
    assert weighted[0]["item"] == "c3"
    assert "3 numbers for 4 seeds" in run(*asked, "--seed-weights", "1,1,1")[2]
    assert "such as 1,0.5" in run(*asked, "--seed-weights", "1,1,1,x")[2]


def test_what_a_short_example_says_is_kept(tmp_path):
    """Lists of a few frequent words are longer than all that a second pass may read."""
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([(f"d{i:05}", f"cat{i % 3} size{(i // 3) % 2}") for i in range(20_000)])
        documents = index.items("documents")
        alike = {hit.item for hit in documents.expand(["d00000"], 4000, feedback=0).shared()}
        assert {hit.item for hit in documents.expand(["d00000"], 50)} <= alike
        assert documents.expand([], 5, like=["cat0 size0"])[0].score > 0


def test_one_seed_has_one_weight(built):
    _, reading = built
    with pytest.raises(errors.InvalidParameter, match="no weights here"):
        reading.expand([], having={"f1": 2})
    with pytest.raises(errors.InvalidParameter, match="feedback must be a number from 0"):
        reading.features(["i1"], feedback=-1)
    with pytest.raises(errors.InvalidParameter, match="purpose must be one of"):
        reading.fits(["i1", "i2"], purpose="love")


def test_weights_are_refused_where_they_do_not_count(tmp_path):
    with setsearch.open(tmp_path / "n.db", create=True) as index:
        index.add_numbers([("a", [1.0, 2.0]), ("b", [2.0, 1.0]), ("c", [3.0, 3.0])], ["x", "y"])
        with pytest.raises(errors.InvalidParameter, match="no weights here"):
            index.numbers("items").expand({"a": 1, "b": 0})


@pytest.mark.parametrize("feedback", [0.25, 1.0])
def test_what_belongs_after_a_second_pass_of_a_relation(tmp_path, feedback):
    """Items that joined the seeds do not say how high the seeds score without each other."""
    with setsearch.open(tmp_path / "r.db", create=True) as index:
        index.add(collection(1).items(), ("film", "user"))
        hits = index.items("film").expand(["i1", "i4", "i7"], None, cut="keep", feedback=feedback)
        assert 10 < len(hits) < 100


def test_examples_that_share_little_are_told(tmp_path, run):
    """Ten documents at random of six kinds: half of the others score above the middle one."""
    rng = random.Random(1)
    rows = [(f"d{n}", " ".join(rng.choices([f"w{n % 6}x{i}" for i in range(30)], k=12)) + " all") for n in range(240)]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(rows)
        reading = index.items("documents")
        mixed, one_kind = [f"d{n}" for n in range(12)], [f"d{6 * n}" for n in range(10)]
        hits = reading.expand(mixed, 9, cut="mark")
        assert "share little" in hits.untold and {hit.belongs for hit in hits} == {None}
        kept = reading.expand(mixed, None, cut="keep")
        assert kept.untold == hits.untold and 0 < len(kept) < 200
        hits = reading.expand(one_kind, 9, cut="mark")
        assert hits.untold is None and any(hit.belongs for hit in hits)
        assert reading.expand(mixed, 9).untold is None
        assert all(hit.belongs for hit in reading.expand(one_kind, None, cut="keep"))
    _, _, err = run("expand", "a.db", *mixed, "--items", "documents")
    assert "these examples share little" in err


def test_words_that_share_little_are_told(tmp_path):
    """Three and five words at random of six kinds: their neighbors are like them, so that nearly all seemed sets."""
    rng = random.Random(3)

    def words(kind):
        shared, own = rng.sample(range(60), 2), [5 * kind + rng.randrange(8) for _ in range(2)]
        a, b = rng.sample(range(12), 2)
        return f"c{own[0]} w{kind}x{a} c{shared[0]} c{own[1]} w{kind}x{b} c{shared[1]}"

    with setsearch.open(tmp_path / "a.db", create=True, contexts="words") as index:
        index.add((f"d{n}", " ".join(words(n % 6) for _ in range(4))) for n in range(900))
        index.refresh("now")
        terms = index.items("terms")
        kinds = [[f"w{kind}x{n}" for n in range(12)] for kind in range(6)]
        every = [word for own in kinds for word in own]

        def untold(sets, **options):
            hits = [terms.expand(own, 9, cut="mark", **options) for own in sets]
            assert all((own.untold is None) == (own[0].belongs is not None) for own in hits)
            return sum(own.untold is not None for own in hits)

        for count in (3, 5):
            mixed = [rng.sample(every, count) for _ in range(40)]
            assert untold(mixed) >= 15 and untold(mixed, vectors=0) <= 10
            assert untold(own[::-1] for own in mixed) == untold(mixed)
            assert untold(rng.sample(kind, count) for kind in kinds * 3) == 0
        assert untold(rng.sample(every, 2) for _ in range(20)) == 0, "two words are not asked"


def test_words_that_are_compared_by_documents_say_that_nothing_is_marked(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", "lion tiger cat" if n % 9 == 0 else f"wheat field number{n}") for n in range(90))
        terms = index.items("terms")
        marked, kept = (terms.expand(["lion"], 9, cut=cut) for cut in ("mark", "keep"))
        assert {hit.belongs for hit in marked} == {None} and marked.untold == kept.untold is not None
        assert terms.expand(["lion"], 9, cut="mark", by="documents")[0].belongs
        assert terms.expand(["lion"], 9, cut="mark", about=1)[0].belongs
    said = run("expand", "a.db", "lion")[2]
    told = "note: of words without contexts what belongs is told only with --by documents"
    assert said == f"{told}, or in an index made with --contexts\n"
    said = run("expand", "a.db", "lion", "tiger cat")[2]
    assert "phrases are among them where texts were indexed with --contexts" in said


def test_a_person_knows_about_how_many_there_are(built, run, tmp_path):
    _, reading = built
    every = reading.expand(["i1", "i4"], 100)
    for about in (1, 30, 1000):
        marked = reading.expand(["i1", "i4"], 100, cut="mark", about=about)
        least = every[:about][-1].score
        assert [hit.belongs for hit in marked] == [hit.score >= least for hit in every]
        assert reading.expand(["i1", "i4"], None, cut="keep", about=about)[:100] == [h for h in marked if h.belongs]
        among = [hit.item for hit in every[::7]]
        assert [hit.belongs for hit in reading.expand(["i1", "i4"], 100, cut="mark", about=about, among=among)] == [
            hit.belongs for hit in marked[::7]
        ]
    with pytest.raises(errors.InvalidParameter, match="about must be a whole number from 1 on, not 0"):
        reading.expand(["i1"], about=0)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(collection(1)))
    code, out, _ = run("expand", "a.db", "i1", "--items", "documents", "--cut", "--about", "7")
    assert code == 0 and len(json.loads(out)) == 7


def test_a_seed_of_weight_0_changes_nothing_but_its_own_place(tmp_path, kernel):
    """Also one whose features nobody else has, where what the seeds have most of always counts."""
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([(f"d{n}", f"common a{n % 7} a{n % 5} b{n % 11}") for n in range(60)] + [("odd", "zulu zebra")])
        reading = index.items("documents")
        for other in ("odd", "d4", "d12"):
            alone = [(hit.item, hit.score) for hit in reading.expand(["d1"], 99) if hit.item != other]
            assert [(hit.item, hit.score) for hit in reading.expand({"d1": 1, other: 0}, 99)] == alone
