"""A first try with some sentences has an answer; what shares nothing is not listed."""

import json

import setsearch
from setsearch.search.sharing import expand_shared

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
    with setsearch.open(tmp_path / "t.db") as index:
        documents = index.items("documents")
        assert expand_shared(documents, ["a.txt"], 5) == documents.expand(["a.txt"], 5, binarize="presence").shared()
        assert expand_shared(documents, ["a.txt"], 5, binarize="twice-mean") == []
        index.update([(f"f{n}", "some other words") for n in range(50)])
        assert expand_shared(documents, ["a.txt"], 5) == documents.expand(["a.txt"], 5).shared() != []
