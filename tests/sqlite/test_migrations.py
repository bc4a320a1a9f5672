"""Databases of earlier versions open, and answer as they did."""

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import setsearch
from setsearch.memory import derivation
from setsearch.memory.word_contexts import COEFFICIENTS
from setsearch.text.contexts import choose_items
from setsearch.text.token_stream import most_frequent

FIXTURES = Path(__file__).parents[1] / "fixtures"


def copied(folder, version):
    """A copy of the database that a version made."""
    return Path(shutil.copy(FIXTURES / f"{version}.db", folder / "old.db"))


@pytest.mark.usefixtures("papers_model")
def test_a_database_of_0_1_0_is_migrated(tmp_path):
    copy = copied(tmp_path, "0.1.0")
    with setsearch.open(copy) as index:
        assert index.items("documents").features_of("a") == {"cat": 1, "lion": 1, "tiger": 1}
        assert index.items("terms").expand(["lion"], 1)[0].item == "cat"
        assert index.check() == []
        index.update([("f", "lion king")])
        assert index.items("documents").item_count() == 6


@pytest.mark.usefixtures("papers_model")
def test_the_schema_of_0_2_0_is_migrated(tmp_path):
    copy = copied(tmp_path, "0.2.0")
    with setsearch.open(copy) as index:
        documents = index.items("documents")
        assert documents.features_of("b") == {"a": 2, "eats": 2, "lion": 1, "tiger": 1, "too": 1}
        assert documents.expand(["a"], 1)[0].item == "b"
        assert index.items("film").expand(["Alien"], 1)[0].item == "Brazil"
        assert index.numbers("body").expand(["x"], 1)[0].item == "y"
        assert (index.set("cats").accepted, index.set("cats").rejected) == (["a"], ["c"])
        assert index.info()["mirrors"] == []
        assert index.check() == []
        index.drop()
    connection = sqlite3.connect(copy)
    assert connection.execute("select count(*) from sqlite_master").fetchone() == (0,)
    connection.close()


def without_the_most_frequent(names, counts, n_tokens, analyzer):
    """The items of versions whose contexts left out the most frequent words."""
    return choose_items(names, np.where(counts > most_frequent(n_tokens), 0, counts), n_tokens, analyzer)


@pytest.mark.parametrize("version", ["0.3.0", "0.4.0", "0.5.0", "0.7.0", "0.8.0"])
def test_a_database_of_an_earlier_version_answers_to_the_bit(tmp_path, version, monkeypatch):
    """Stems, phrases, contexts, a tracked table, numbers and a set; the JSON file has the answers of 0.3.0."""
    monkeypatch.setitem(COEFFICIENTS, "contexts skip", 1.0)
    monkeypatch.setitem(COEFFICIENTS, "documents", 0.3)
    monkeypatch.setattr(derivation, "choose_items", without_the_most_frequent)
    with setsearch.open(copied(tmp_path, version)) as index:
        assert index.check() == []
        for question in json.loads((FIXTURES / "0.3.0.json").read_text()):
            is_lift = question["items"] != "body" and question["options"].get("model") in (None, "lift")
            before = {"feedback": 0.0, "neighbors": 0.0, "rarity": 0.0} if is_lift else {}
            hits = index.reading(question["items"]).expand(question["seeds"], 5, **question["options"], **before)
            assert [hit.item for hit in hits] == [item for item, _ in question["hits"]]
            scores = [score for _, score in question["hits"]]
            if question["items"] == "body":  # not on a lattice: versions of numpy differ in the last bits
                scores = pytest.approx(scores, rel=1e-12)
            assert [hit.score for hit in hits] == scores
        assert (index.set("cats").accepted, index.set("cats").rejected) == (["lion", "tiger"], ["wheat"])
        assert index.items("documents").titles(["d58"]) == {"d58": "Cats"}


def test_a_table_that_0_3_0_tracked_is_followed(tmp_path):
    with setsearch.open(copied(tmp_path, "0.3.0")) as index:
        assert "u99" not in index.items("film").features_of("film0")
        assert index.refresh() == setsearch.Changes(written=1, deleted=0)
        assert index.items("film").features_of("film0")["u99"] == 3
        assert index.check() == []


def test_a_database_of_0_21_0_answers_to_the_bit_and_keeps_its_names(tmp_path):
    """Its words are not folded; its references keep their ids; its reviews have decisions without a time."""
    with setsearch.open(copied(tmp_path, "0.21.0")) as index:
        assert index.check() == []
        for question in json.loads((FIXTURES / "0.21.0.json").read_text()):
            if "exclude" in question["options"]:  # what rejected documents teach has changed
                continue
            hits = index.items(question["items"]).expand(question["seeds"], 5, **question["options"])
            assert [[hit.item, hit.score] for hit in hits] == question["hits"]
        index.update([("new", "the ﬁeld of ｗide lions")], ("documents", "terms"))
        assert {"ﬁeld", "ｗide", "lion"} <= set(index.items("documents").features_of("new"))
        assert [decision[:4] for decision in index.decisions("review", "documents").read()] == [
            ("d3", "yes", 1, None),
            ("d4", "no", 2, None),
        ]
        assert index.set("cats").accepted == ["full.ris#10.1000/xyz"]
        assert index.check() == []
