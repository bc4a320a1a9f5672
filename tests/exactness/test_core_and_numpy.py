"""The core and numpy give the same answers, to the bit, whatever is asked: random questions of every reading."""

import random

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from samples import KERNELS, with_kernels

import setsearch
from setsearch.core import question as core_question
from setsearch.errors import SetsearchError
from setsearch.search import passes as core_passes
from setsearch.search import passes as feedback
from setsearch.search import rounds

MODELS = (
    *[{}] * 8,
    {"feedback": 0},
    {"feedback": 2.0},
    {"strength": 0.5, "rarity": 1.5},
    {"strength": 50},  # tiny weights
    {"budget": 20.0},
    {"popularity": 0},
    {"binarize": "presence"},
    {"neighbors": 0},
    {"model": "bernoulli"},
    {"model": "bernoulli", "strength": 100, "binarize": "twice-mean"},
    {"model": "multinomial"},
    {"model": "poisson"},
)
LIKES, BY = {"purpose": "likes"}, ("contexts", "documents")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Texts with words and duplicates, ratings, and writes after the lists were derived."""
    rng = random.Random(0)
    words = [f"w{n}" for n in range(80)]
    with setsearch.open(tmp_path_factory.mktemp("both") / "a.db", create=True, contexts="on") as index:
        texts = [" ".join(rng.choices(words, range(80, 0, -1), k=rng.choice([0, 3, 30, 60]))) for _ in range(170)]
        texts += texts[:25] + [f"{text} {words[n]}" for n, text in enumerate(texts[:25])]
        index.add((f"d{n}", text, f"title {n % 50}", {"year": n % 7}) for n, text in enumerate(texts))
        users = [{f"u{int(rng.paretovariate(0.7)) % 60}": rng.randint(1, 5) for _ in range(9)} for _ in range(90)]
        index.add(((f"f{n}", own) for n, own in enumerate(users)), ("film", "user"))
        index.refresh("now")
        for name in ("documents", "terms"):
            index.items(name).expand([index.items(name).find_names("1", 1)[0].item])
        index.update(
            [("d3", "w1 w2 w3 w70 w71", "other", {"year": 3}), ("new", " ".join(words[5:50]), None, {})],
            ("documents", "terms"),
        )
        index.delete(["d9", "d10"], ("documents", "terms"))
        yield index


def question(index, rng):
    """A random question: a reading, seeds, k and options."""
    name = rng.choice(["documents"] * 4 + ["terms"] * 3 + ["film", "user"])
    known = NAMES[name] if name in NAMES else NAMES.setdefault(name, names_of(index, name))
    some = rng.sample(known, min(len(known), 16))
    seeds, others = some[: rng.choice([1, 1, 2, 3, 5, 8])], some[8:]
    options = dict(rng.choice(MODELS))
    if rng.random() < 0.2:
        seeds = {seed: rng.choice([0, 0.25, 1, 1, 3]) for seed in seeds}
    for key, value in (
        ("cut", rng.choice(["mark", "keep"])),
        ("fold", True),
        ("keep_seeds", True),
        ("explain", True),
        ("snippets", True),
        ("exclude", others[: rng.choice([1, 3])]),
        ("among", rng.sample(known, rng.choice([1, 20, len(known)]))),
    ):
        if rng.random() < 0.25:
            options[key] = value
    if name == "terms" and rng.random() < 0.3:
        options["by"] = rng.choice(BY)
    if name == "film" and rng.random() < 0.3:
        options |= LIKES
    if name == "documents" and rng.random() < 0.15:
        options |= rng.choice([{"like": ["w1 w2 and w60"]}, {"filter": ["year >= 3"]}, {"at_most": 2, "per": "year"}])
    return index.items(name), seeds, rng.choice([1, 3, 10, 10, 50, 1000]), options


NAMES: dict[str, list[str]] = {}


def names_of(index, name):
    """The names of all items of a reading."""
    with index.items(name).stored() as fields:
        return [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]


def answer(reading, seeds, k, options):
    """Hits and what belongs to them; or the error."""
    try:
        hits = reading.expand(seeds, k, **options)
    except SetsearchError as error:
        return type(error), str(error)
    return list(hits), hits.blank, hits.learned, hits.common, hits.revision


@pytest.mark.skipif(len(KERNELS) < 2, reason="the core was not built (python hatch_build.py)")
@pytest.mark.parametrize("count", [100, pytest.param(10_000, marks=pytest.mark.long)])
def test_any_question_has_the_same_answer(index, count, monkeypatch):
    monkeypatch.setattr(feedback, "LEAST", 40)
    asked, at_once = [0, 0], core_passes.question.ask_all

    def counted(*arguments):
        """Count whole questions that the core answers."""
        found = at_once(*arguments)
        asked[found != [None]] += 1
        return found

    monkeypatch.setattr(core_passes.question, "ask_all", counted)

    @settings(max_examples=count, database=None)
    @given(st.integers(0, 2**60), st.booleans())
    def compare(seed, is_pruned):
        core_passes.FEWEST_POSTINGS = 0 if is_pruned else 1 << 60
        asked_of = question(index, random.Random(seed))
        first, second = with_kernels(lambda: answer(*asked_of))
        assert first == second, asked_of[1:]

    monkeypatch.setattr(core_passes, "FEWEST_POSTINGS", 0)
    compare()
    assert asked[True] > count / 4


@pytest.mark.skipif(len(KERNELS) < 2, reason="the core was not built (python hatch_build.py)")
def test_names_decide_which_of_equal_items_join(index, monkeypatch):
    """Of eleven items with one score one may join a second pass; two that are identical stand side by side."""
    monkeypatch.setattr(feedback, "LEAST", 40)
    documents = index.items("documents")
    documents.expand(["d14", "d12"])
    first, second = with_kernels(lambda: answer(documents, ["d179", "d70", "d50", "d143", "d47"], 1000, {}))
    assert first == second


@pytest.mark.skipif(len(KERNELS) < 2, reason="the core was not built (python hatch_build.py)")
@pytest.mark.parametrize("budget", [20.0, 100.0])
def test_weights_that_are_too_large_for_bins_have_the_same_answer(index, budget):
    """Rare features of heavy seeds weigh more than 2^52 units each."""
    asked = {"d14": 1000, "d12": 1000}, 10, {"rarity": 4, "budget": budget}
    first, second = with_kernels(lambda: answer(index.items("documents"), *asked))
    assert first == second
    assert first[0][0].score > 2**30


@pytest.mark.skipif(len(KERNELS) < 2, reason="the core was not built (python hatch_build.py)")
def test_what_a_text_alone_has_does_not_count(tmp_path):
    """The text has more of a word than any document: with its weight sums would be too large to be scaled."""
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((f"short{n}", f"shared own{n}") for n in range(40))
        index.add((f"long{n}", "the " * 2500 + " ".join(f"own{n}-{k}" for k in range(2500))) for n in range(2))
        asked = index.items("documents"), [], 50, {"like": ["the " * 99 + "shared"], "feedback": 0}
        answer(*asked)  # gives values to the lists
        first, second = with_kernels(lambda: answer(*asked))
        assert first == second
        assert 0 < first[0][0].score < 0.001


def all_of(hits):
    """Hits and what belongs to them; or the error."""
    if isinstance(hits, SetsearchError):
        return type(hits), str(hits)
    return list(hits), hits.blank, hits.learned, hits.common, hits.revision, hits.untold, hits.groups, hits.asked.seeds


@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.long)])
def test_many_sets_at_once_have_the_answers_of_each(index, count, monkeypatch):
    """In windows of any size and any number of threads, with sets that have no answer among them."""
    monkeypatch.setattr(feedback, "LEAST", 40)
    monkeypatch.setattr(core_passes, "FEWEST_POSTINGS", 0)

    @settings(max_examples=count, database=None)
    @given(st.integers(0, 2**60), st.integers(1, 9), st.integers(0, 3), st.sampled_from([1, 3, 128]))
    def compare(seed, n_sets, threads, window):
        monkeypatch.setattr(rounds, "AT_ONCE", window)
        monkeypatch.setattr(core_question, "ROOM", window)
        monkeypatch.setenv("SETSEARCH_THREADS", str(threads))
        rng = random.Random(seed)
        reading, seeds, k, options = question(index, rng)
        sets, known = [seeds], NAMES[reading.name]
        for _ in range(n_sets):
            sets.append(rng.choice([["nobody"], [], "text", *[rng.sample(known, rng.choice([1, 2, 3, 6, 8]))] * 9]))
        rng.shuffle(sets)

        def ask(ask, *seeds):
            """The answers; or the error of all."""
            try:
                return ask(*seeds, k, **options)
            except SetsearchError as error:
                return error

        each, many = [ask(reading.expand, own) for own in sets], ask(reading.expand_each, sets)
        if isinstance(many, SetsearchError):  # options that no question may have
            assert all(isinstance(own, SetsearchError) for own in each)
            return
        assert [*map(all_of, many)] == [*map(all_of, each)], (sets, k, options)

    compare()
