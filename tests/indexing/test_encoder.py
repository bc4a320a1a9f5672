"""Vectors by an encoder: new and changed texts get them, old ones keep them, nothing is lost on the way."""

import json
import sqlite3

import numpy as np
import pytest

import setsearch
from setsearch import errors
from setsearch.indexing.writing import vectors
from setsearch.text import encoder as encoder_module

TOPICS = {"lion": 0, "tiger": 0, "cat": 0, "wheat": 1, "barley": 1, "field": 1, "engine": 2, "steam": 2, "wheel": 2}
TEXTS = {
    "a": "lion savanna",
    "b": "tiger jungle",
    "c": "wheat grain",
    "d": "barley beer",
    "e": "steam boiler",
    "f": "wheel road",
    "g": "cat sofa",
}


class Topics:
    """An encoder that knows the topics of some words, and notes what it encodes."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked += texts
        rows = np.full((len(texts), 4), 0.1)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[TOPICS.get(word, 3)] += 1
        return rows


@pytest.fixture
def built(tmp_path):
    encoder = Topics()
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off", encoder=encoder) as index:
        index.add(TEXTS.items())
        assert index.refresh("now") == setsearch.Changes()
        yield index, encoder


def names(hits):
    return [hit.item for hit in hits]


def test_documents_without_shared_words_are_found(built):
    index, encoder = built
    documents = index.items("documents")
    assert sorted(encoder.asked) == sorted(TEXTS.values())
    assert set(names(documents.expand(["a"], 2, explain=True))) == {"b", "g"}
    assert names(documents.expand([], 1, like=["barley steam wheat"])) in (["c"], ["d"])
    assert set(names(documents.expand([], 3, like=["cat"]))) == {"a", "b", "g"}
    assert set(names(documents.expand([], 2, like=["field"]))) == {"c", "d"}  # which the collection does not know
    with pytest.raises(errors.NoSeeds, match="no feature more often"):
        documents.expand([], like=["field"], vectors=0)
    assert documents.expand(["a"], 1, vectors=0)[0].score == 0
    assert index.info()["vectors"]["documents"] == {
        "source": "encoder", "encoder": "function", "count": 7, "dimensions": 4,
    }  # fmt: skip
    assert index.check() == []


def test_what_is_new_or_changed_is_encoded_and_nothing_else(built):
    index, encoder = built
    del encoder.asked[:]
    index.update([*TEXTS.items()])
    index.refresh("now")
    assert encoder.asked == []
    index.update([("a", "engine smoke"), ("h", "field of clover"), ("empty", " ")])
    assert index.info()["vectors"]["documents"]["count"] == 6  # that of the old text is gone at once
    index.delete(["b"])
    index.refresh("now")
    assert sorted(encoder.asked) == ["engine smoke", "field of clover"]
    assert set(names(index.items("documents").expand(["a"], 2))) == {"e", "f"}
    index.replace([("a", "engine smoke"), ("z", "lion")])
    index.refresh("now")
    assert encoder.asked[2:] == ["lion"]
    assert index.info()["vectors"]["documents"]["count"] == 2
    assert index.check() == []


def test_an_encoder_that_fails_keeps_what_it_had_done(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "TOGETHER", 2)
    encoder = Topics()

    def fail_late(texts):
        if len(encoder.asked) >= 4:
            raise KeyboardInterrupt
        return encoder(texts)

    with setsearch.open(tmp_path / "a.db", create=True, contexts="off", encoder=fail_late) as index:
        index.add(TEXTS.items())
        with pytest.raises(KeyboardInterrupt):
            index.refresh("now")
        assert index.info()["vectors"]["documents"]["count"] == 4
        index.items("documents").expand(["a"], 2)
    with setsearch.open(tmp_path / "a.db", encoder=encoder) as index:
        index.refresh("now")
        assert len(encoder.asked) == len(TEXTS)


def test_a_text_that_changes_while_it_is_encoded_gets_no_vector_of_the_old_one(tmp_path):
    path, encoder = tmp_path / "a.db", Topics()

    def write_meanwhile(texts):
        if "lion savanna" in texts:
            with setsearch.open(path) as other:
                other.update([("a", "engine smoke")])
        return encoder(texts)

    with setsearch.open(path, create=True, contexts="off", encoder=write_meanwhile) as index:
        index.add(TEXTS.items())
        index.refresh("now")
        assert index.info()["vectors"]["documents"]["count"] == 6
        index.refresh("now")
        assert set(names(index.items("documents").expand(["a"], 2))) == {"e", "f"}


def test_words_in_context_have_vectors(tmp_path):
    encoder = Topics()
    lines = [f"the {word} runs to the {other} again" for word in TOPICS for other in TOPICS]
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on", encoder=encoder) as index:
        index.add([(f"d{n}", " . ".join(lines)) for n in range(3)])
        index.refresh("now")
        assert set(TOPICS) <= set(encoder.asked)
        assert index.info()["vectors"]["terms"]["count"] >= len(TOPICS)
        terms = index.items("terms")
        assert set(names(terms.expand(["lion", "tiger"], 1, vectors=5))) == {"cat"}
        parts = terms.expand(["wheat"], 1, explain=True)[0].features
        assert "like in meaning" in {part.feature for part in parts}
        with pytest.raises(errors.UsageError, match="terms have vectors of the encoder 'function'; `replace` puts"):
            index.add_vectors(["lion", "wheat"], np.eye(2), "terms")
        assert index.add_vectors(["lion", "wheat"], np.eye(2), "terms", replace=True) == 2
        assert index.info()["vectors"]["terms"]["source"] == "own"


def test_vectors_from_elsewhere_are_not_lost_by_chance(built, tmp_path):
    index = built[0]
    before = index.items("documents").expand(["a"], 5)
    with pytest.raises(errors.UsageError, match="of the encoder 'function'; `replace`"):
        index.add_vectors(["a"], [[1, 2, 3, 4]])
    with pytest.raises(errors.UsageError, match="of the encoder 'function'; `replace`"):
        index.add_latent("documents")
    assert index.items("documents").expand(["a"], 5) == before
    assert index.add_vectors(TEXTS, np.ones((7, 9)) + np.eye(7, 9), replace=True) == 7
    with setsearch.open(tmp_path / "a.db", encoder=Topics()) as other:
        with pytest.raises(errors.UsageError, match="documents have vectors given by you"):
            other.add([("new", "lion")])
        other.replace(TEXTS.items())
        other.refresh("now")
        assert other.items("documents").expand(["a"], 5) == before


def test_another_encoder_than_the_one_that_made_the_vectors_is_refused(built, tmp_path):
    with setsearch.open(tmp_path / "a.db", encoder=lambda texts: np.ones((len(texts), 3))) as other:
        with pytest.raises(errors.InvalidParameter, match="gives 3 numbers, but the index holds vectors of 4"):
            other.items("documents").expand([], like=["lion"])
        assert len(other.items("documents").expand(["a"], 2)) == 2
        other.update([("new", "lion")])
        with pytest.raises(errors.InvalidItem, match="have 4 numbers, not 3"):
            other.refresh("now")
    assert built[0].items("documents").expand(["a"], 2)


def test_mistakes_are_said(built, tmp_path, monkeypatch):
    encoder = built[1]
    with setsearch.open(tmp_path / "a.db") as other, pytest.raises(errors.UsageError, match="give it as `encoder`"):
        other.items("documents").expand([], like=["lion"])
    with setsearch.open(tmp_path / "plain.db", create=True, contexts="off") as plain:
        plain.add(TEXTS.items())
    with setsearch.open(tmp_path / "plain.db", encoder=encoder) as plain:
        with pytest.raises(errors.UsageError, match="does not store; give"):
            plain.add([("new", "lion")])
        plain.replace(TEXTS.items())
        plain.refresh("now")
        assert plain.info()["vectors"]["documents"]["count"] == 7
    with setsearch.open(tmp_path / "wrong.db", create=True, encoder=lambda texts: np.zeros((1, 3))) as wrong:
        wrong.add(TEXTS.items())
        with pytest.raises(errors.InvalidParameter, match="shape \\(1, 3\\) for 7 texts"):
            wrong.refresh("now")
    monkeypatch.setattr(encoder_module, "find_spec", lambda name: None)
    with pytest.raises(errors.UsageError, match="pip install 'setsearch\\[encoder\\]'"):
        setsearch.open(tmp_path / "b.db", create=True, encoder="all-MiniLM-L6-v2")
    assert not (tmp_path / "b.db").exists()
    with pytest.raises(errors.InvalidParameter, match="the name or folder of a model"):
        setsearch.open(tmp_path / "b.db", create=True, encoder=7)
    with setsearch.open(tmp_path / "films.db", create=True, encoder=encoder) as films:
        films.add([("x", ["u"])], ("film", "user"))  # no texts: nothing to encode
        films.refresh("now")
        assert films.info()["vectors"] == {}


def test_the_command_line_adds_vectors_from_files_and_tables(run, tmp_path):
    (tmp_path / "notes.jsonl").write_text("\n".join(json.dumps({"id": k, "text": v}) for k, v in TEXTS.items()))
    assert run("index", "n.db", "notes.jsonl")[0] == 0
    matrix = Topics()(list(TEXTS.values()))
    np.save(tmp_path / "v.npy", matrix)
    (tmp_path / "ids.txt").write_text("\n".join(TEXTS))
    code, _, err = run("vectors", "n.db", "v.npy", "--ids", "ids.txt")
    assert (code, err.strip()) == (0, "added 7 vectors; n.db now holds those of 7 documents with 4 dimensions")
    from_matrix = run("expand", "n.db", "a", "--items", "documents", "--json")[1]
    assert {hit["item"] for hit in json.loads(from_matrix)[:2]} == {"b", "g"}
    rows = [json.dumps({"key": k, "v": row.tolist()}) for k, row in zip(TEXTS, matrix, strict=True)]
    (tmp_path / "v.jsonl").write_text("\n".join(rows))
    assert run("vectors", "n.db", "v.jsonl", "--id", "key", "--vector", "v")[0] == 0
    assert run("expand", "n.db", "a", "--items", "documents", "--json")[1] == from_matrix
    with setsearch.open(tmp_path / "n.db") as index:
        connection = sqlite3.connect(tmp_path / "n.db")
        connection.execute("create table embedding (id text, vector blob)")
        own = [(name, row.astype("<f4").tobytes()) for name, row in zip(TEXTS, matrix, strict=True)]
        connection.executemany("insert into embedding values (?, ?)", own)
        connection.commit()
        connection.close()
        assert run("vectors", "n.db", "--table", "embedding")[0] == 0
        assert index.info()["vectors"]["documents"]["count"] == 7
    assert run("expand", "n.db", "a", "--items", "documents", "--json")[1] == from_matrix
    for arguments, message in [
        (["v.npy"], "--ids FILE names the rows of a .npy file; give it"),
        (["v.jsonl", "--ids", "ids.txt"], "and of no other"),
        ([], "give one source of vectors"),
        (["notes.jsonl"], "has no column 'vector'; it has id, text (choose with --id, --vector)"),
        (["ids.txt"], "ids.txt"),
        (["v.npy", "--ids", "notes.jsonl"], "no '{"),
        (["--table", "nowhere"], "there is no table 'nowhere'"),
    ]:
        code, _, err = run("vectors", "n.db", *arguments)
        assert code in (1, 2), err
        assert message in err and "\n" not in err.strip(), err
