"""Bad input, each kind once: one line, nothing lost, nothing counted wrongly."""

import shutil
import sqlite3
from contextlib import suppress

import malformed
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import Where
from setsearch.errors import SetsearchError
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.sqlite.fts5 import find_option
from setsearch.storage.analyzers import load_analyzer
from setsearch.storage.codec import unpack_columns
from setsearch.storage.kept.texts import _inflated
from setsearch.storage.synced_source import Columns

CASES = list(malformed.cases())
LONG = ["json a million features", "json many features", "json a word a million times", "csv a field of megabytes"]
LONG += [f"{part} one long word" for part in ("id", "title", "file of")]
COMMANDS = ("--table", "--csv", "--json")
PARAMETERS = [pytest.param(case, id=case.name, marks=[pytest.mark.long] * (case.name in LONG)) for case in CASES]


def test_there_are_enough():
    assert len(CASES) >= 100
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A database with one document that stays."""
    path = tmp_path_factory.mktemp("input") / "kept.db"
    with setsearch.open(path, create=True) as index:
        index.add([("kept", "kept words")])
    return path


@pytest.mark.long
@pytest.mark.parametrize("case", PARAMETERS)
def test_input_is_read_or_refused(run, failed, tmp_path, case, kept):
    (tmp_path / case.file).write_bytes(case.data)
    shutil.copy(kept, tmp_path / "x.db")
    own = case.options[1] if case.options[:1] == ("--items",) else "documents"
    result = run("index", "x.db", case.file, *case.options)
    assert "Traceback" not in result[2]
    with setsearch.open(tmp_path / "x.db") as index:
        if case.items is None:
            failed((result[0], result[1], result[2].splitlines()[-1]), 1)
            assert {reading["items"] for reading in index.info()["readings"]} == {"documents", "terms"}
        else:
            assert result[0] == 0, result[2]
            assert index.reading(own).item_count() == case.items + (own == "documents")
        assert index.reading("documents").features_of("kept") == {"kept": 1, "words": 1}
        assert index.check() == []
    is_odd = case.name.startswith(("text", "id", "title")) and len(case.data) < 100_000
    for command in COMMANDS if is_odd else COMMANDS[-1:]:
        assert run("expand", "x.db", "kept", "--items", "documents", "--keep-seeds", command)[0] == 0


junk = st.binary(max_size=200)
texts = st.text(max_size=60)


@examples(150)
@given(st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 9), max_size=4), junk)
def test_decoders_refuse_or_answer(lengths, rest):
    columns = unpack_columns(np.array(lengths, "<u4").tobytes() + rest, 4)
    assert columns is None or [*map(len, columns)] == lengths


@examples(150)
@given(junk)
def test_stored_texts_refuse_or_answer(data):
    with suppress(SetsearchError):
        assert len(_inflated(data, 9)) == 9


@examples(150)
@given(st.lists(st.one_of(junk, texts.map(str.encode)), max_size=5), st.sampled_from(["jsonl", "csv", "tsv", "txt"]))
def test_readers_refuse_or_answer(tmp_path_factory, parts, kind):
    path = tmp_path_factory.mktemp("fuzz") / f"x.{kind}"
    path.write_bytes(b"\n".join(parts))
    for errors in ("strict", "replace", "skip"):
        reader = SourceReader(Columns(id="a", text="b"), RowReader(errors))
        try:
            for name, given_text, _ in reader.read([str(path)]):
                assert isinstance(name, str)
                assert isinstance(given_text, str)
        except SetsearchError as error:
            assert "\n" not in str(error).replace("\\n", "")


@pytest.mark.long
@examples(100)
@given(texts, texts)
def test_words_of_strangers_refuse_or_answer(given_text, other):
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id text primary key, text text)")
    connection.execute("create virtual table s using fts5(text, content=t)")
    connection.executemany("insert into t values (?, ?)", [("a", "lion tiger"), ("b", "lion"), ("c", "wheat")])
    index = setsearch.open(connection)
    index.add_table("t", setsearch.Columns())
    documents = index.reading("documents")
    before = connection.execute("select * from t").fetchall()
    for question in (
        lambda: documents.expand(["a"], among=Where(given_text)),
        lambda: documents.expand(["a"], among=Where(match=given_text)),
        lambda: documents.expand([given_text, other]),
        lambda: documents.expand([], like=[given_text], exclude=[other]),
        lambda: documents.expand([], having=[given_text]),
        lambda: index.reading(given_text),
        lambda: index.reading("terms").expand([given_text]),
        lambda: index.set(given_text or "x", "documents").accept(other),
        lambda: load_analyzer(given_text),
        lambda: find_option(given_text, "content"),
    ):
        try:
            question()
        except SetsearchError as error:
            assert "\n" not in str(error)
    assert connection.execute("select * from t").fetchall() == before
    assert index.check() == []
    connection.close()
