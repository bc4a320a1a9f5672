"""Near-duplicates among hits are folded under the best of them, and told."""

import json
import random
import sqlite3

import pytest
from samples import KERNELS

import setsearch
from setsearch.core import question
from setsearch.search import near_duplicates
from setsearch.search.near_duplicates import Folding, are_alone

needs_core = pytest.mark.skipif("core" not in KERNELS, reason="the core was not built (python hatch_build.py)")

WORDS = "one two three four five six seven eight nine ten".split()
MORE = [f"w{n}" for n in range(30)]


def collection():
    long = [*WORDS, *MORE]
    yield "seed", " ".join(WORDS[:5])
    yield "best", " ".join(long)
    yield "copy", " ".join(long)
    yield "near", " ".join([*long[:-1], "other"])
    yield "far", " ".join([*long[:20], *(f"x{n}" for n in range(20))])
    yield from ((f"f{n}", f"filler text number{n} and more of it") for n in range(200))


def test_copies_are_folded_and_told(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(collection())
        documents = index.items("documents")
        plain = documents.expand(["seed"], 4)
        assert {hit.item for hit in plain[:3]} == {"best", "copy", "near"} or plain[0].item == "far"
        assert all(hit.duplicates == () for hit in plain)
        folded = documents.expand(["seed"], 4, fold=True).shared()
        by_item = {hit.item: hit for hit in folded}
        assert set(by_item) == {"best", "far"}
        assert set(by_item["best"].duplicates) == {"copy", "near"}
        assert [hit.rank for hit in folded] == [1, 2]
        scores = {hit.item: hit.score for hit in plain}
        assert all(hit.score == scores[hit.item] for hit in folded)
        assert documents.expand(["seed"], 1, fold=True)[0].item == plain[0].item
        terms = index.items("terms")
        assert terms.expand(["one"], 9, by="documents", fold=True) == terms.expand(["one"], 9, by="documents")
    _, out, err = run("expand", "a.db", "seed", "--items", "documents")
    assert err == "note: 2 near-duplicates are folded; --unfold lists them\n"
    assert {row["item"]: set(row["duplicates"]) for row in json.loads(out)} == {
        "best": {"copy", "near"},
        "far": set(),
    }
    assert run("expand", "a.db", "seed", "--items", "documents", "--csv")[1].count("\n") == 3
    assert "copy" in run("expand", "a.db", "seed", "--items", "documents", "--table")[1]
    _, out, err = run("expand", "a.db", "seed", "--items", "documents", "--unfold")
    assert err == ""
    assert {row["item"] for row in json.loads(out)} == {"best", "copy", "near", "far"}


def test_rows_are_folded_if_their_words_and_their_fields_are_the_same(kernel):
    rng, none = random.Random(1), [0.0] * 30
    rows = [("a", "red lion", none, ["x"]), ("b", "white wine", none, ["x"]), ("c", "red lion", none, ["x"])]
    rows += [("d", "red lion", [float(n) for n in range(30)], ["x"])]
    rows += [(f"n{n}", f"name{n}", [float(rng.randrange(50)) for _ in none], ["x", "z"]) for n in range(40)]
    rows += [(f"w{n}", " ".join(WORDS), none, [f"t{n} {k}" for k in range(9)]) for n in range(2)]
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add(
            setsearch.Item(id, text, None, None, {"tag": tags} | {f"c{n}": own for n, own in enumerate(numbers)})
            for id, text, numbers, tags in rows
        )
        hits = index.items("documents").expand(["n1"], 50, fold=True)
    assert {hit.item: hit.duplicates for hit in hits if hit.duplicates} == {"a": ("c",)} and len(hits) == len(rows) - 2


def test_short_texts_are_folded_if_all_is_the_same(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        short = [("a", "lion cat", "A"), ("b", "lion", None), ("c", "lion cat", "A"), ("d", "lion cat", "D")]
        short += [("e", "lion", None), ("f", "lion lion", None), ("g", "cat lion", "A"), ("h", "lion", "A")]
        index.add([*short, *((f"n{n}", f"filler text number{n} and more of it") for n in range(50))])
        documents = index.items("documents")
        plain = [hit.item for hit in documents.expand([], 8, like=["lion"])]
        assert sorted(plain) == [id for id, *_ in short]
        folded = documents.expand([], 8, like=["lion"], fold=True)
        assert {hit.item: hit.duplicates for hit in folded[:5]} == {
            "a": ("c", "g"),
            "b": ("e",),
            "d": (),
            "f": (),
            "h": (),
        }
        assert [hit.item for hit in folded[:5]] == [item for item in plain if item in "abdfh"]


def texts_with_copies(rng, count, step):
    """Texts of Zipf's words, of which one in `step` is nearly the same as one before, short ones too."""
    texts = []
    for n in range(count):
        if n % step == 1:
            words = list(rng.choice(texts))
            words[rng.randrange(len(words))] = f"w{rng.randrange(200)}"
        else:
            words = [f"w{int(20 * rng.paretovariate(0.8))}" for _ in range(rng.choice([1, 2, 4, 5, 6, 9, 20, 21, 60]))]
        texts.append(words)
    return texts


@needs_core
@pytest.mark.parametrize("step", [2, 9])
def test_a_document_is_alone_if_it_is_nearly_the_same_as_no_other(tmp_path, step):
    """The rarest words of each tell this, also after a write; a limit on their lists makes it unknown alone."""
    rng, told, limited = random.Random(step), set(), 0
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        texts = texts_with_copies(rng, 400, step)
        index.add((f"d{n}", " ".join(words)) for n, words in enumerate(texts))
        for _ in range(2):
            with index.items("documents").fields() as fields:
                words, _, starts, ends = fields.first.lists(True).source()
                own = [set(words[start:end].tolist()) for start, end in zip(starts, ends, strict=True)]
                for id in range(len(own)):
                    alike = [
                        other
                        for other, others in enumerate(own)
                        if other != id and (own[id] == others or min(len(own[id]), len(others)) >= 5)
                        if len(own[id] & others) >= 0.9 * len(own[id] | others)
                    ]
                    without = sorted(rng.sample(range(len(own)), 3)) + alike[: rng.choice([0, 1, 9])]
                    surely, alone = are_alone(fields, [id], without), {*alike} <= {*without}
                    assert alone or not surely
                    limited += alone and not surely
                    told.add((surely, bool(alike)))
                one_by_one = [are_alone(fields, [id], []) for id in range(0, len(own), 20)]
                assert are_alone(fields, range(0, len(own), 20), []) == all(one_by_one)
            index.update((f"d{n}", " ".join(rng.choice(texts))) for n in range(0, 40, 3))
    assert told >= {(False, True), (True, True), (True, False)}
    assert 8 * limited < 800


@needs_core
def test_whether_a_document_is_alone_is_not_looked_for_in_long_lists(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", " ".join(w for w in WORDS if w != WORDS[n % 10])) for n in range(1000))
        with index.items("documents").fields() as fields:
            assert not are_alone(fields, [999], []), "the rarest word has 900 documents"


@needs_core
@pytest.mark.parametrize("step", [2, 60])
def test_the_first_hits_are_asked_for_alone_where_few_are_folded(tmp_path, monkeypatch, step):
    """Answers are those of more of the best items, however many of these are folded."""
    rng, asked, at_once = random.Random(1), [], question.ask_all

    def noted(questions):
        asked.extend(own.numbers.k for own in questions)
        return at_once(questions)

    monkeypatch.setattr(question, "ask_all", noted)
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", " ".join(words)) for n, words in enumerate(texts_with_copies(rng, 600, step)))
        documents, first, folded = index.items("documents"), [], 0
        for _ in range(60):
            seeds = [f"d{n}" for n in rng.sample(range(600), rng.choice([2, 3, 5, 10]))]
            options, k = rng.choice([{}, {"cut": "mark"}, {"cut": "mark", "groups": 1}]), rng.choice([3, 10, 30])
            asked.clear()
            hits = documents.expand(seeds, k, fold=True, **options)
            first.append(asked[0] < 2 * k + near_duplicates.FOLDED)
            folded += any(hit.duplicates for hit in hits)
            with monkeypatch.context() as patch:
                patch.setattr(Folding, "is_seldom", False)
                plain = documents.expand(seeds, k, fold=True, **options)
            assert [*hits] == [*plain] and (hits.untold, hits.beside) == (plain.untold, plain.beside)
    assert folded and (sum(first) > 40 if step == 60 else sum(first) < 30), (folded, sum(first))


def test_what_has_no_text_is_alone(tmp_path, kernel):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(collection())
        with index.items("terms").fields() as fields:
            assert are_alone(fields, [0, 1], [])
        with index.items("documents").fields() as fields:
            assert not are_alone(fields, [1], [])
            assert are_alone(fields, [4], []) == (kernel == "core"), "else this is not known"
