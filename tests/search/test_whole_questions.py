"""Whole questions, from seeds to hits: every kernel gives the hits, the order and the bits of numpy."""

import random
from itertools import product

import numpy as np
import pytest
from oracle import feedback_scores
from samples import KERNELS, with_kernels
from test_passes import collection, texts

import setsearch
from setsearch.core import question
from setsearch.core.question import now
from setsearch.memory.field import Field
from setsearch.search import passes as feedback
from setsearch.search import weights as weighing
from setsearch.search.cutoff import few, middle_seed
from setsearch.search.examples import find_examples
from setsearch.search.passes import Wanted, Weighing

BUDGETS = (5.0, 20.0, 60.0, 150.0, None, 0)


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    """The documents of a collection whose lists all have values, as they do after some questions."""
    with setsearch.open(tmp_path_factory.mktemp("passes") / "a.db", create=True) as index:
        index.add(texts(collection(7, 600, 90)))
        documents = index.items("documents")
        for number in range(40):
            documents.expand([f"i{number}"])
        with documents.fields() as fields:
            assert have_all_values(fields.first)
        yield documents


def have_all_values(field: Field) -> bool:
    """Whether the lists of both directions have values."""
    return all(own.are_all_there for lists in field._valued.values() for own in (lists.by_feature, lists.by_item))


def require_equal(ask):
    """Compare the hits, and what is known of all of them, of all kernels."""
    first, *others = with_kernels(ask)
    assert len(others) == len(KERNELS) - 1
    for hits in others:
        assert hits == first
        assert (hits.revision, hits.blank, hits.learned) == (first.revision, first.blank, first.learned)
        assert hits.untold == first.untold


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"feedback": 0},
        {"feedback": 2.0},
        {"strength": 5, "rarity": 1.0},
        {"popularity": 0},
        {"binarize": "presence"},
    ],
    ids=str,
)
@pytest.mark.parametrize("least", [5000, 1])
def test_hits_are_those_of_numpy(reading, options, least, monkeypatch):
    monkeypatch.setattr(feedback, "LEAST", least)
    monkeypatch.setattr(feedback, "OWN", 20 if least > 1 else 3)
    rng = random.Random(str(options))
    for n in [1, 1, 2, 3, 4, 5, 6, 10] * 4:
        seeds, k = [f"i{number}" for number in rng.sample(range(600), n)], rng.choice([1, 3, 10])
        require_equal(lambda seeds=seeds, k=k: reading.expand(seeds, k, **options))


@pytest.mark.parametrize(
    "more", [{"explain": True}, {"cut": "mark"}, {"keep_seeds": True}, {"among": ["i2"]}, {"exclude": ["i3"]}], ids=str
)
def test_whatever_else_is_asked(reading, more):
    for seeds in (["i1"], ["i1", "i4", "i7"], {"i1": 2, "i4": 0.5}):
        require_equal(lambda seeds=seeds: reading.expand(seeds, 3, **more))


@pytest.mark.parametrize("excluded", [[], ["i3", "i9"]])
def test_what_others_take_counts_for_what_joins_alone(reading, excluded, monkeypatch):
    """Each item loses as much as others take, and what they have does not join; scores are those of the definition."""
    data, rng, answers = collection(7, 600, 90), random.Random(str(excluded)), []
    at_once = question.ask_all
    monkeypatch.setattr(question, "ask_all", lambda own: answers.extend(found := at_once(own)) or found)

    def ask(seeds, taken):
        """All scores, by sums and by weights."""
        plan = reading.plan(1, {"exclude": excluded, "gamma": 0.0})

        def answer(fields_by):
            (fields,) = reading.candidates(fields_by)
            names = [name for name, _ in fields.describe([*range(600)]).values()]
            array = np.array([taken.get(name, 0.0) for name in names])
            both = [now(reading.weigh(fields_by, seeds, plan, array, sums))[1] for sums in (True, False)]
            scores = [own.scores().tolist() for own in both]
            assert scores[0] == scores[1]
            return dict(zip(names, scores[0], strict=True))

        return reading.answer(plan, answer)

    differ = 0
    for turn in range(12):
        seeds = rng.sample(sorted(data.keys() - {*excluded}), turn % 6 + 1)
        most = 1000.0 if turn == 3 else 2.0  # sums of large numbers are not exact in the core
        taken = {item: rng.choice([0, rng.random() * most, float("inf")]) for item in data}
        first, *others = with_kernels(lambda seeds=seeds, taken=taken: ask(seeds, taken))
        assert all(own == first for own in others)
        if turn == 2:
            expected = feedback_scores(data, seeds, 0.25, 5000, 0.8, excluded=excluded, taken=taken)
            assert first == pytest.approx(expected, abs=1e-6)
        differ += first != ask(seeds, {})
    assert differ == 10, "nothing joins six"
    assert sum(own is not None for own in answers) > len(answers) / 2 or "core" not in KERNELS


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_the_line_looks_at_as_many_items_as_its_hits_need(reading, monkeypatch):
    """The scores that draw the line are only found where the first ones do not decide; numpy always has them.

    Of one example the first ones are more, since a few seldom decide.
    """
    asked, at_once, sharply = [], question.ask_all, 0
    monkeypatch.setattr(question, "ask_all", lambda own: asked.extend(one.numbers.k for one in own) or at_once(own))
    monkeypatch.setattr("setsearch.answers.ranking.FOLDED", 1)
    alone = 0
    for number in range(0, 240, 12):
        asked.clear()
        seeds = [f"i{number + other}" for other in range(1 + number // 12 % 4)]
        require_equal(lambda seeds=seeds: reading.expand(seeds, 12, cut="mark", groups=1))
        assert asked in ([first := 2 * 12 + 1 if len(seeds) == 1 else 12], [first, 3 * 24])
        sharply += len(asked) > 1
        alone += len(asked) > 1 and len(seeds) == 1
    assert 0 < alone <= sharply < 20


def test_the_lists_of_words_are_added_once(tmp_path, monkeypatch):
    """What smoothing looks at and what it is added to are the same sums."""
    added = []
    at_once = weighing.accumulate
    monkeypatch.setattr(weighing, "accumulate", lambda sums, *lists: added.append(len(lists)) or at_once(sums, *lists))
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(texts(collection(3, 200, 60)))
        setsearch.use_kernel("numpy")
        hits = index.items("terms").expand(["f1", "f2"], 5)
        setsearch.use_kernel(None)
    assert hits and [lists > 0 for lists in added] == [True]


@pytest.mark.parametrize("count", [6, 12])
def test_many_rules_in_turn(tmp_path, monkeypatch, count):
    """Those of more rules than are kept start again, in both directions."""
    monkeypatch.setattr("setsearch.memory.readings.Readings.forget", None)  # nothing is lost
    monkeypatch.setattr("setsearch.search.passes.FEWEST_POSTINGS", 0)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(collection(3, 200, 60)))
        documents = index.items("documents")
        asked = [(["i1", "i5"], number / 20) for number in range(count)]
        asked += [([f"i{n}", f"i{n + 1}"], 0.0) for n in range(20, 60)] + [(["i1", "i5"], 0.0)]
        for seeds, popularity in asked:
            require_equal(lambda s=seeds, p=popularity: documents.expand(s, 5, popularity=p, feedback=0))


def test_equal_items_join_in_the_order_of_their_names(tmp_path):
    """Of many documents that score the same, the first by name join."""
    data, rng = collection(5, 200, 60), random.Random(3)
    twins = {f"{name}, {n}": own for name, own in data.items() for n in range(1 + int(name[1:]) % 5 * 3)}
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(texts(twins))
        documents = index.items("documents")
        for n in [1, 2, 3, 5, 7] * 12:
            seeds, k = rng.sample(sorted(twins), n), rng.choice([1, 3, 10, 30])
            require_equal(lambda s=seeds, k=k: documents.expand(s, k))


def test_ties_are_broken_by_names(tmp_path):
    with setsearch.open(tmp_path / "ties.db", create=True, contexts="off") as index:
        index.add((f"d{n % 7}{n}", f"alpha beta{n % 5} gamma{n % 2}") for n in range(60))
        documents = index.items("documents")
        require_equal(lambda: documents.expand(["d00"], 20, budget=1e6, feedback=0))
        found = documents.expand(["d00"], 20, budget=1e6, feedback=0)
        assert len({hit.score for hit in found}) < 10
        assert found == sorted(found, key=lambda hit: (-hit.score, hit.item))


def test_words_by_each_field_and_budget(tmp_path):
    rng, words = random.Random(3), [f"w{n}" for n in range(60)]
    with setsearch.open(tmp_path / "words.db", create=True, contexts="on") as index:
        index.add((f"d{n}", " ".join(rng.choices(words, range(60, 0, -1), k=40)) + ".") for n in range(150))
        terms = index.items("terms")
        known = [word for word in words if not terms.words_without_contexts([word])]
        for by, n, budget in product(("both", "contexts", "documents"), (1, 1, 2, 3, 5, 10), BUDGETS):
            options = {"by": by, "budget": budget, "neighbors": rng.choice([None, 0, 0.3]), "feedback": None}
            options["feedback"] = rng.choice([None, 1.0])
            seeds = rng.sample(known, n)
            require_equal(lambda seeds=seeds, options=options: terms.expand(seeds, 10, **options))


def test_ngrams_are_no_hits(tmp_path):
    """They are features like words, whose lists are added as all others are."""
    words = "warrior soldier castle knight dragon sword shield banner horse lance tower moat king queen river".split()
    rng, how = random.Random(1), {"analyzer": "unicode+4-grams", "contexts": "off"}
    with setsearch.open(tmp_path / "a.db", create=True, **how) as index:
        index.add((f"d{n}", " ".join(rng.choices(words, k=8))) for n in range(60))
        terms = index.items("terms")
        first = terms.expand(["knight", "sword"], 20)
        assert {hit.item for hit in first} <= {*words}
        assert all(terms.expand(["knight", "sword"], 20) == first for _ in range(60))
        require_equal(lambda: terms.expand(["knight", "sword"], 20))


def test_what_joins_does_not_speak_for_examples_that_share_little(tmp_path):
    """Three to five documents at random, each of which is like some of those that join because of it."""
    rng = random.Random(1)
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((f"d{n}", " ".join(f"w{int(30 * rng.paretovariate(0.9))}" for _ in range(12))) for n in range(2000))
        reading, told = index.items("documents"), []
        for n in [3, 4, 5] * 10:
            seeds = [f"d{number}" for number in rng.sample(range(2000), n)]
            told.append(reading.expand(seeds, 3, cut="mark", groups=1).untold is None)
            require_equal(lambda seeds=seeds: reading.expand(seeds, 3, cut="mark", groups=1))
            index.update([("d0", f"changed {len(told)}")])  # after a write the core asks for lists of before
            require_equal(lambda seeds=seeds: reading.expand(seeds, 3, cut="mark", groups=1))
        assert 2 * sum(told) < len(told), "most of them are known not to tell"


@pytest.mark.parametrize("gamma", [None, 0.0, 0.8])
def test_what_tells_is_the_question_in_which_none_joins(reading, gamma):
    """Less what rejected items take away; nothing but the corrected scores tells of what they teach."""
    rng, excluded = random.Random(3), [] if gamma is None else ["i3", "i9"]

    def ask(seeds, **options):
        """What tells, and what scores."""
        plan = reading.plan(1, {"exclude": excluded, "gamma": gamma, **options})
        found = reading.answer(plan, lambda fields_by: now(reading.weigh(fields_by, seeds, plan))[1])
        return found.telling, found

    for n in (2, 3, 4, 5, 6) * 4:
        seeds = [f"i{number}" for number in rng.sample(range(10, 600), n)]
        for telling, weights in with_kernels(lambda seeds=seeds: ask(seeds)):
            none_joins, _ = ask(seeds, feedback=0)
            assert (telling is weights) == (weights.join is None or n < 3)
            if telling is not weights:
                assert np.array_equal(telling.scores(), none_joins.scores())
                assert (telling.constant, len(telling.negative)) == (none_joins.constant, len(none_joins.negative))
    excluded, gamma, joined = ["i3", "i9"], None, 0
    for n in range(10, 20):
        telling, weights = ask([f"i{n}", f"i{n + 3}", f"i{n + 6}"])
        assert telling is weights and weights.corrections
        joined += weights.join is not None
    assert joined


@pytest.mark.skipif("core" not in KERNELS, reason="no core")
def test_others_above_the_middle_seed_are_counted_until_it_is_known_whether_they_are_many(tmp_path):
    """By the core, where all of the best are."""
    rng, seen = random.Random(2), set()
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", " ".join(f"w{int(30 * rng.paretovariate(0.9))}" for _ in range(8))) for n in range(5000))
        documents = index.items("documents")
        for n in [2, 3, 10, 20] * 6:
            seeds = [f"d{number}" for number in rng.sample(range(5000), n)]
            with documents.fields() as fields:
                examples, use = find_examples(fields, seeds), few(documents.defaults)
                documents.expand(seeds)
                weights = now(
                    Weighing(fields, documents.defaults.choose({})).two_passes(examples, wanted=Wanted(50, False, use))
                )
                telling, others = weights.telling, fields.items.size - n
                scores = telling.scores()
                scores[examples.seeds] = -np.inf
                plain, most = int((scores > middle_seed(fields, telling, exactly=True)).sum()), use[0] * others
                if weights.found.told.above is None:
                    assert weights.found.known is None
                else:
                    assert plain <= weights.found.told.above <= most or most < weights.found.told.above <= plain
                seen.add((weights.found.told.above is None, plain > most))
            require_equal(lambda seeds=seeds: documents.expand(seeds, 5, cut="mark"))
    assert seen >= {(False, False), (False, True)}


@pytest.mark.skipif(len(KERNELS) < 2, reason="the core was not built (python hatch_build.py)")
@pytest.mark.parametrize("options", [{}, {"cut": "mark"}, {"k": 400}, {"strength": 7}, {"keep_seeds": True}])
def test_the_core_weighs_for_the_model_of_the_paper_too(reading, options, monkeypatch):
    seeds, options = ["i5", "i17", "i230"], {"model": "bernoulli", **options}
    require_equal(lambda: reading.expand(seeds, **options))
    monkeypatch.setattr(feedback, "seed_weights", None)
    assert reading.expand(seeds, **options)
