"""A first try with some sentences has an answer; what shares nothing is not listed."""

import json

import pytest

import setsearch

TEXTS = {
    "a.txt": "Lions hunt at night on the savanna.",
    "b.txt": "Tigers hunt in the jungle at night.",
    "c.txt": "Wheat grows here",
}


def test_three_sentences_have_an_answer(run, tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    assert run("index", "t.db", *TEXTS)[0] == 0
    code, out, err = run("expand", "t.db", "a.txt", "--items", "documents")
    assert (code, err) == (0, "")
    assert [row["item"] for row in json.loads(out)] == ["b.txt"]
    code, out, err = run("expand", "t.db", "c.txt", "--items", "documents")
    assert (code, json.loads(out)) == (0, [])
    assert err == "note: nothing else has a feature that tells these examples from the rest\n"
    assert run("expand", "t.db", "a.txt", "--items", "documents", "--cut")[0] == 0


@pytest.fixture
def documents(tmp_path):
    """The documents of three sentences, in an index that can grow."""
    with setsearch.open(tmp_path / "t.db", create=True) as index:
        index.add(TEXTS.items())
        yield index, index.items("documents")


def test_where_nothing_is_shared_all_features_count_in_every_answer(documents):
    index, reading = documents
    by_presence = reading.expand(["a.txt"], 5, explain=True, binarize="presence")
    assert [hit.item for hit in by_presence.shared()] == ["b.txt"]
    assert reading.expand(["a.txt"], 5, explain=True) == by_presence
    assert reading.expand_many([["a.txt"]], 5, explain=True) == [by_presence]
    assert reading.rank(["b.txt", "c.txt"], ["a.txt"]) == reading.expand(["a.txt"], 5)
    assert reading.explain(["a.txt"], "b.txt").score == by_presence[0].score
    assert reading.features(["a.txt"]) == reading.features(["a.txt"], binarize="presence")
    with reading.scores(["a.txt"]) as (fields, scores):
        assert scores[fields.resolve("b.txt")] == by_presence[0].score
    assert reading.expand(["a.txt"], 5, binarize="twice-mean").shared() == []
    index.update([(f"f{n}", "some other words") for n in range(50)])
    usual = reading.expand(["a.txt"], 5)
    assert usual == reading.expand(["a.txt"], 5, binarize="twice-mean") and usual.shared()


def test_whose_features_these_are(documents):
    """What only the examples have does not count as shared; what a text has and one item too, does."""
    index, reading = documents
    index.add([(f"f{n}", "some other words") for n in range(50)] + [("x", "quark lepton"), ("y", "quark lepton")])
    of_both = reading.expand(["x", "y"], 3)
    assert of_both == reading.expand(["x", "y"], 3, binarize="presence") and not of_both.shared()
    assert reading.expand([], 3, like=["quark"]) == reading.expand([], 3, like=["quark"], binarize="twice-mean")
