"""Near-duplicates among hits are folded under the best of them, and told."""

import json
import random
import sqlite3

import setsearch

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
