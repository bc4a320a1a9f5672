"""At most so many hits with one value of a kept column: the best of all items, less those that are one too many."""

import json
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import errors
from setsearch.answers import ranking
from setsearch.indexing.writing.intake import Item

WORDS = "lion tiger cat savanna wheat barley oats field one two three".split()
# Most are by one author, so that more items must be looked at; some have none.
AUTHORS = ["ann"] * 12 + ["bob", "cy", ["ann", "bob"], ["cy", "dee", "cy"], None, "", [], 7, {"name": "eve"}]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = random.Random(3)
    with setsearch.open(tmp_path_factory.mktemp("diversity") / "a.db", create=True) as made:
        made.add(
            Item(f"d{n}", " ".join(rng.choices(WORDS, k=7)), None, {"author": rng.choice(AUTHORS)} if n % 9 else None)
            for n in range(160)
        )
        made.add([Item(f"copy{n}", "lion tiger cat field wheat " * 2, None, {"author": "ann"}) for n in range(9)])
        yield made


def values(hit):
    """The definition, apart from the code: what counts of an item."""
    own = (hit.columns or {}).get("author")
    return {json.dumps(part) for part in (own if isinstance(own, list) else [own]) if part not in (None, "")}


def first_of_each(hits, most, k):
    """The definition: in the order of the rank, an item stays while fewer than `most` that stayed have its value."""
    counts, kept = Counter(), []
    for hit in hits:
        if all(counts[value] < most for value in values(hit)):
            counts.update(values(hit))
            kept.append((hit.item, hit.score, hit.belongs))
    return kept[:k]


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "model": st.sampled_from(["bernoulli", "multinomial"]),
        "filter": st.just(["author != bob"]),
        "among": st.just([f"d{n}" for n in range(0, 160, 3)]),
        "exclude": st.just(["d7", "d12"]),
        "fold": st.just(True),
        "keep_seeds": st.just(True),
        "feedback": st.just(0.0),
        "cut": st.sampled_from(["mark", "keep"]),
        "explain": st.just(True),
    },
)


@examples(60)
@given(
    options=OPTIONS,
    most=st.integers(1, 3),
    k=st.integers(1, 30),
    seeds=st.sampled_from([["d1"], ["d1", "d2", "copy1"]]),
    kernel=st.sampled_from(["numpy", None]),
)
def test_hits_are_the_best_of_all_less_those_that_are_one_too_many(index, options, most, k, seeds, kernel):
    if options.get("model"):
        options.pop("feedback", None)
    setsearch.use_kernel(kernel)
    reading = index.items("documents")
    expected = first_of_each(reading.expand(seeds, 500, **options), most, k)
    found = reading.expand(seeds, k, at_most=most, per="author", **options)
    assert [(hit.item, hit.score, hit.belongs) for hit in found] == expected
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    if options.get("cut") == "keep":
        everything = reading.expand(seeds, None, at_most=most, per="author", **options)
        assert [hit.item for hit in everything][:k] == [hit.item for hit in found]


def test_more_items_are_looked_at_where_many_are_dropped(index, monkeypatch):
    looked_at = []
    choose = ranking._hits_among
    monkeypatch.setattr(
        ranking, "_hits_among", lambda *given: looked_at.append(len(given[-1])) or choose(*given), raising=True
    )
    reading = index.items("documents")
    found = reading.expand(["d1", "d2"], 25, at_most=1, per="author", among=[f"copy{n}" for n in range(9)] + ["d3"])
    assert len(found) <= 2
    assert len(reading.expand(["d1", "d2"], 25, at_most=1, per="author")) == 25
    assert looked_at[1:3] == [90, 167]


def test_folded_hits_are_as_many_as_there_are(index):
    reading = index.items("documents")
    hits = reading.expand(["copy0"], 3, fold=True)
    assert len(hits) == 3
    assert {*hits[0].duplicates} == {f"copy{n}" for n in range(2, 9)}


def test_candidates_of_another_engine(index):
    reading = index.items("documents")
    candidates = [f"d{n}" for n in range(40)]
    found = reading.rank(candidates, ["d1", "d2"], at_most=2, per="author")
    assert [(hit.item, hit.score, None) for hit in found] == first_of_each(
        reading.rank(candidates, ["d1", "d2"]), 2, 99
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"at_most": 2, "per": "writer"}, "no column 'writer' was kept to count by; kept: author"),
        ({"at_most": 2}, "`at_most` and `per` belong together"),
        ({"per": "author"}, "`at_most` and `per` belong together"),
        ({"at_most": 0, "per": "author"}, "at_most must be a whole number from 1 on, not 0"),
        ({"at_most": True, "per": "author"}, "at_most must be a whole number from 1 on, not True"),
        ({"at_most": 1, "per": ["author"]}, "per is the name of one kept column"),
    ],
)
def test_mistakes_are_told(index, options, said):
    with pytest.raises(errors.InvalidParameter, match=said):
        index.items("documents").expand(["d1"], **options)


def test_words_have_no_columns_and_scores_no_rank(index):
    with pytest.raises(errors.InvalidParameter, match="kept of documents, not of terms"):
        index.items("terms").expand(["lion"], at_most=1, per="author")
    with (
        pytest.raises(errors.InvalidParameter, match="the rank of all items, which `expand` and `rank` know"),
        index.items("documents").scores(["d1"], at_most=1, per="author"),
    ):
        raise AssertionError


def test_the_command_line(run, tmp_path, failed):
    rows = [{"id": f"d{n}", "text": "lion tiger cat", "author": "ann" if n < 5 else "bob"} for n in range(7)]
    rows += [{"id": f"e{n}", "text": "wheat field", "author": "cy"} for n in range(9)]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "a.db", "d.jsonl", "--keep-columns", "author")[0] == 0
    asked = ["expand", "a.db", "d0", "--items", "documents", "--unfold"]
    out = run(*asked, "--at-most", "1", "--per", "author")[1]
    assert [row["item"] for row in json.loads(out)] == ["d1", "d5"]
    (tmp_path / "sets").write_text('["d0"]\n')
    (line,) = run(*asked[:2], "--batch", "sets", *asked[3:], "--at-most", "1", "--per", "author")[1].splitlines()
    assert [row["item"] for row in json.loads(line)["hits"]] == ["d1", "d5"]
    failed(run(*asked, "--at-most", "1"), 2, "--at-most", "--per")
    failed(run(*asked, "--at-most", "1", "--per", "pages"), 2, "'pages'", "kept: author")
    _, out, err = run(
        "grow", "a.db", "d0", "--items", "documents", "--at-most", "1", "--per", "author", stdin=b"1\nq\n"
    )
    assert [row["item"] for row in json.loads(out)] == ["d0", "d1"]
    assert "d2" not in err
