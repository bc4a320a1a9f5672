"""Items that only vectors describe, such as pictures: vectors make them, and their cosine is the score."""

import json
import random

import numpy as np
import pytest
from oracle import meaning_scores, same_scores

import setsearch
from setsearch import errors

SIZE = 8
GOOD = [1.0] * SIZE


def pictures(n=60, seed=1):
    rng = random.Random(seed)
    middles = [[rng.gauss(0, 1) for _ in range(SIZE)] for _ in range(4)]
    return {f"p{i}": [x + rng.gauss(0, 0.3) for x in middles[i % 4]] for i in range(n)}


@pytest.fixture
def made(tmp_path):
    vectors = pictures()
    with setsearch.open(tmp_path / "p.db", create=True) as index:
        assert index.add_vectors(vectors, vectors.values(), "pictures") == len(vectors)
        yield vectors, index


@pytest.mark.parametrize("seeds", [["p1"], ["p1", "p5", "p9"]])
def test_scores_are_cosines_in_standard_deviations(made, seeds):
    vectors, index = made
    reading = index.items()
    assert (reading.name, reading.item_count(), reading.feature_count()) == ("pictures", 60, 0)
    spread = {item: (-1.0) ** n for n, item in enumerate(vectors)}  # of standard deviation 1
    with_spread = meaning_scores(spread, vectors, dict.fromkeys(seeds, 1.0), 1.0)
    expected = {item: score - spread[item] for item, score in with_spread.items()}
    hits = reading.expand(seeds, 100, explain=True)
    same_scores(hits, expected, seeds, 5e-7)
    assert all([part.weight for part in hit.features] == [hit.score] for hit in hits)
    assert {int(hit.item[1:]) % 4 for hit in hits[:5]} == {1}
    assert reading.explain(seeds, hits[0].item).score == pytest.approx(hits[0].score)
    marked = reading.expand(seeds, 100, cut="mark")
    assert marked[0].belongs and not marked[-1].belongs
    left = [hit.item for hit in hits if hit.item not in ("p13", "p2")]
    assert [hit.item for hit in reading.expand(seeds, 100, exclude=["p13", "p2"])] == left
    assert reading.features(seeds) == reading.fits(seeds) == []


def test_the_index_says_what_it_holds_and_is_sound(made):
    _, index = made
    info = index.info()
    assert info["defaults"] == {"items": "pictures", "model": "lift", "vectors": 1.0}
    assert info["vectors"]["pictures"] == {"source": "own", "encoder": None, "count": 60, "dimensions": SIZE}
    (reading,) = info["readings"]
    assert (reading["items"], len(reading["some"])) == ("pictures", 5)
    index.refresh()
    assert index.check() == []
    kept = index.keep_set("mine", ["p1", "p5"])
    assert index.set("mine").items == kept.items == "pictures"
    with pytest.raises(errors.UnknownReading, match="it has pictures"):
        index.items("vectors of pictures")


def test_more_vectors_make_more_items_and_replace_all(made):
    vectors, index = made
    more = {"p1": GOOD, "new": vectors["p1"]}
    assert index.add_vectors(more, more.values()) == 2
    assert index.items().item_count() == 61
    assert index.items().expand(["p5"], 1, among=["new", "p1"])[0].item == "new"
    assert index.delete(["new"]) == 1
    assert index.items().item_count() == index.info()["vectors"]["pictures"]["count"] == 60
    assert index.add_vectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]], replace=True) == 2
    assert index.items().expand(["a"], 9)[0].item == "b"
    assert index.items().item_count() == 2
    assert index.check() == []


def test_texts_and_other_items_live_beside_them(made, tmp_path):
    _, index = made
    before = index.items("pictures").expand(["p1"], 100)
    index.add([("d1", "lion tiger"), ("d2", "lion cat"), ("d3", "wheat")])
    index.add_vectors(["s1", "s2", "s3"], [[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], "sounds")
    assert index.items("documents").expand(["d1"], 1)[0].item == "d2"
    assert index.items("sounds").expand(["s1"], 1)[0].item == "s2"
    assert index.items("pictures").expand(["p1"], 100) == before
    with pytest.raises(errors.UnknownItem, match="no 'd9' among the 3 documents"):
        index.add_vectors(["d9"], [GOOD], "documents")
    assert len(index.info()["readings"]) == 4
    with setsearch.open(tmp_path / "c.db", create=True, collection="c") as other:
        other.add_vectors([1, 2, 3], [GOOD, [*GOOD[1:], 0.5], [-1.0] * SIZE])
        assert other.items().name == "c/items"
        assert other.items().expand([1], 1)[0].item == "2"


def test_mistakes_are_one_line_and_nothing_is_written(made):
    _, index = made
    before = index.items().expand(["p1"], 5)
    for ids, vectors, error, message in [
        (["a", "b"], [GOOD], errors.InvalidItem, "2 ids and 1 vector;"),
        (["a", "a"], [GOOD, GOOD], errors.DuplicateItem, "the id 'a' occurs twice"),
        (["p1", "p1"], [GOOD, GOOD], errors.DuplicateItem, "the id 'p1' occurs twice"),
        (["a"], [[float("nan")] * SIZE], errors.InvalidItem, "'a' has no direction"),
        (
            ["a"],
            [[0.0] * SIZE],
            errors.InvalidItem,
            "'a' has no direction: all numbers are 0, or one is not finite; leave",
        ),
        (["a"], [GOOD[1:]], errors.InvalidItem, "have 8 numbers, not 7"),
        (["a", "b"], [GOOD, GOOD[1:]], errors.InvalidItem, "'b' has 7 numbers, that of 'a' 8; give all as many"),
        (["a"], ["cat"], errors.InvalidItem, "'a' is no row of numbers"),
        ([["a"]], [GOOD], errors.InvalidItem, "ids are text"),
        ([None], [GOOD], errors.InvalidItem, "ids are text"),
        ([""], [GOOD], errors.InvalidItem, "ids are text"),
    ]:
        with pytest.raises(error, match=message):
            index.add_vectors(ids, vectors)
    for options in ({"model": "bernoulli"}, {"vectors": 0}):
        with pytest.raises(errors.InvalidParameter, match="only vectors describe these items"):
            index.items().expand(["p1"], **options)
    with pytest.raises(errors.UsageError, match="have vectors given by you"):
        index.add_latent("pictures")
    with pytest.raises(errors.NameTaken, match="'pictures' already names a side of pictures x vectors"):
        index.add([("a", ["red"])], ("pictures", "color"))
    assert index.items().expand(["p1"], 5) == before
    assert index.check() == []


def test_the_command_line_makes_items_of_a_matrix(run, tmp_path, failed):
    vectors = pictures(40)
    np.save(tmp_path / "x.npy", np.array([*vectors.values()]))
    assert run("index", "p.db", "x.npy", "--items", "pictures")[2].endswith(
        "added 40 vectors; p.db now holds those of 40 pictures with 8 dimensions\n"
    )
    first = json.loads(run("expand", "p.db", "1", "5", "9", "-k", "2")[1])
    (tmp_path / "x.txt").write_text("\n".join(vectors))
    assert run("vectors", "named.db", "x.npy")[0] == 0  # by the names beside it
    named = json.loads(run("expand", "named.db", "p0", "p4", "p8", "-k", "2")[1])
    assert [(f"p{int(row['item']) - 1}", row["score"]) for row in first] == [
        (row["item"], row["score"]) for row in named
    ]
    assert run("check", "p.db")[0] == 0
    assert run("info", "p.db")[0] == 0
    rows = [json.dumps({"id": name, "vector": vector}) for name, vector in vectors.items()]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    assert run("vectors", "rows.db", "rows.jsonl", "--items", "sounds")[0] == 0
    again = json.loads(run("expand", "rows.db", "p0", "p4", "p8", "-k", "2")[1])
    assert [(row["item"], row["score"]) for row in again] == [(row["item"], row["score"]) for row in named]


def test_mistakes_of_files_are_one_line(run, tmp_path, failed):
    good = np.array([*pictures(4).values()])
    bad = {"one": good[0], "empty": good[:0], "complex": good + 1j, "text": good.astype(str), "nan": good * np.nan}
    for name, matrix in bad.items():
        np.save(tmp_path / f"{name}.npy", matrix)
    np.save(tmp_path / "x.npy", good)
    (tmp_path / "broken.npy").write_text("hello")
    (tmp_path / "twice.txt").write_text("a\na\nb\nc\n")
    (tmp_path / "few.txt").write_text("a\nb\n")
    for arguments, message in [
        (["one.npy"], "has the shape (8,)"),
        (["empty.npy"], "has the shape (0, 8)"),
        (["complex.npy"], "holds complex128"),
        (["text.npy"], "give a matrix of real numbers"),
        (["nan.npy"], "'1' has no direction"),
        (["broken.npy"], "no .npy file of numbers"),
        (["x.npy", "--ids", "twice.txt"], "the id 'a' occurs twice"),
        (["x.npy", "--ids", "few.txt"], "few.txt has 2 ids, x.npy 4 rows"),
        (["nowhere.npy"], "nowhere.npy"),
    ]:
        code, out, err = run("vectors", "q.db", *arguments)
        assert code in (1, 2) and out == "" and message in err and err.count("\n") == 1, err
    assert not (tmp_path / "q.db").exists()
    failed(run("index", "q.db", "x.npy", "few.txt"), 2, "is indexed by itself")
    failed(run("vectors", "q.db", "--latent"), 1, "q.db is not a file")


@pytest.mark.parametrize("draw", range(8))
def test_seeds_that_are_not_alike_mark_nothing(tmp_path, draw):
    """Vectors drawn at random share no direction; ten that do are marked, and found."""
    rng = np.random.default_rng(draw)
    vectors, alike = rng.normal(size=(400, 32)), rng.normal(size=32)
    vectors[:13] += 2 * alike
    names = [f"p{n}" for n in range(400)]
    with setsearch.open(tmp_path / "r.db", create=True) as index:
        index.add_vectors(names, vectors, "pictures")
        reading = index.items()
        chance = reading.expand([names[n] for n in rng.choice(np.arange(13, 400), 5, replace=False)], 50, cut="mark")
        assert not any(hit.belongs for hit in chance)
        found = [hit.item for hit in reading.expand(names[:3], 50, cut="mark") if hit.belongs]
        assert {*names[3:13]} <= {*found}
