"""An index goes out as rows, and these make the same index again."""

import io
import json
import shlex
import sqlite3
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch import Item, errors
from setsearch.indexing.formats.pages import as_shown, with_entities
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import FIRST_ROWS, SourceReader

words = st.text("ab ü\n'", max_size=8)
names = st.lists(st.sampled_from(["x", "y z", "a:b", "[1]", "ü,"]), max_size=3)
values = {"year": st.integers(1, 9) | st.lists(words, max_size=2), "note": words}
values |= dict.fromkeys(("id", "title", "text", "id (document)"), words)  # named as those of all documents
days = st.sampled_from(["2024-01-05", "2024-02-01T10:30:00", "1969-12-31T23:59:59.5"])
documents = st.dictionaries(
    st.text("dé1/", min_size=1, max_size=3),
    st.tuples(
        words,
        st.none() | st.text("tT ", min_size=1, max_size=3),
        st.fixed_dictionaries({}, optional=values),
        st.fixed_dictionaries({}, optional={"tags": names, "size": st.floats(-9, 9), "day": days, "title": names}),
    ),
    min_size=1,
    max_size=6,
)


def everything(index):
    """What an index says of each document."""
    reading = index.items("documents")
    id = index.exported_columns().id
    rows = {row[id]: row for row in index.export()}
    stored = {id: (reading.features_of(id), reading.titles([id])) for id in rows}
    ranked = [
        (hit.item, hit.score, {name: own for name, own in (hit.columns or {}).items() if own is not None})
        for hit in reading.expand([min(rows)], len(rows), keep_seeds=True)
    ]
    return rows, stored, ranked, sorted(reading.defaults.fields)


@examples(60)
@given(documents)
def test_rows_make_the_same_index(given_documents):
    with setsearch.open(sqlite3.connect(":memory:")) as index, setsearch.open(sqlite3.connect(":memory:")) as other:
        index.add([Item(id, *own) for id, own in given_documents.items()])
        with TemporaryDirectory() as place:
            file = Path(place) / "rows.jsonl"
            file.write_text("\n".join(map(json.dumps, index.export())))
            other.add(SourceReader(index.exported_columns(), RowReader()).read([str(file)]))
        assert everything(other) == everything(index)


def test_the_command_says_how_to_read_them(tmp_path, run):
    rows = [
        {
            "id": "a",
            "text": "lions roar",
            "title": "Lions",
            "kind": "cats;big",
            "year": 2001,
            "text of": "x",
            "cites": ["b"],
        },
        {"id": "b", "text": "tigers roar", "title": None, "kind": "", "year": 2004, "text of": "y", "cites": []},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = (
        "--tags",
        "kind",
        "--split",
        ";",
        "--links",
        "cites",
        "--numbers",
        "year",
        "--keep-columns",
        "kind,text of",
    )
    assert run("index", "a.db", "a.jsonl", *asked)[0] == 0
    code, out, err = run("export", "a.db")
    assert code == 0 and json.loads(out.splitlines()[0]) == {
        **{"id": "a", "title": "Lions", "text": "lions roar", "kind": "cats;big", "text of": "x"},
        **{"kind (field)": ["big", "cats"], "cites": ["a", "b"], "year": 2001.0},
    }
    (tmp_path / "b.jsonl").write_text(out)
    told = err.split("`")[1].replace("NEW.db", "b.db").replace("FILE", "b.jsonl")
    assert err.startswith("exported 2; `setsearch index NEW.db FILE --keep-columns 'kind,text of' --tags ")
    assert run(*shlex.split(told)[1:])[0] == 0
    with setsearch.open(tmp_path / "a.db") as index, setsearch.open(tmp_path / "b.db") as other:
        assert everything(other) == everything(index)
        other.add([("c", {"words": 1}, "C")])
        assert len([*other.export()]) == 2
    assert run("export", "b.db")[2].startswith("exported 2; left out 1 without a text; ")


def test_columns_that_only_late_rows_have_come_back(tmp_path, run, failed):
    rows = [{"id": f"a{n:04}", "text": "a lion"} for n in range(FIRST_ROWS + 9)]
    rows[-1] |= {"stars": 5, "tags": ["pet"]}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    assert run("index", "a.db", "a.jsonl", "--keep-columns", "stars", "--tags", "tags")[0] == 0
    _, out, err = run("export", "a.db")
    (tmp_path / "b.jsonl").write_text(out)
    command = shlex.split(err.replace("NEW.db", "b.db").replace("FILE", "b.jsonl").split("`")[1])
    assert run(*command[1:])[0] == 0
    assert [json.loads(line) for line in run("export", "b.db")[1].splitlines()] == [*map(json.loads, out.splitlines())]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = "line 1 has no column 'stars'; it has id, text (nor has one of the first 1,000 rows; --suggest prints"
    failed(run("index", "c.db", "a.jsonl", "--keep-columns", "stars"), 1, told)


def test_vectors_and_columns_of_any_name_come_back(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
        index.add(
            [
                Item("a", "lions roar", "Lions", {"id": 7, "text": "t", "vector": "v"}),
                Item("b", "tigers roar", None, {"id": 8, "title": "b's"}),
            ]
        )
        index.add([Item(f"c{n}", "bears growl", None, {"id": n}) for n in range(200)])
        index.add([Item("z", "cats purr", None, {"late": 1})])
        index.add_vectors(["b"], [[0.5, -1.0, 0.2]])
        index.add_vectors(["roar"], [[1, 2]], "terms")
        count = index.items("documents").item_count()
    code, out, err = run("export", "a.db")
    (tmp_path / "b.jsonl").write_text(out)
    lines = err.splitlines()
    assert code == 0 and lines[2] == "the vectors of terms (own) are not among them"
    for line in lines[:2]:
        told = line.split("`")[1].replace("NEW.db", "b.db").replace("FILE", "b.jsonl")
        assert run(*shlex.split(told)[1:])[0] == 0
    with setsearch.open(tmp_path / "a.db") as index, setsearch.open(tmp_path / "b.db") as other:
        rows, *rest = everything(index)
        assert [rows, *rest] == [*everything(other)] and len(rows) == count
        assert rows["b"]["vector (document)"] == [64, -127, 25] and rows["z"]["late"] == 1


def test_rows_are_json_where_the_output_knows_no_unicode(tmp_path, run, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "café")])
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert run("export", "a.db")[0] == 0
    assert json.loads(out.buffer.getvalue())["text"] == "café"


def test_what_stores_no_text_is_refused(tmp_path, run):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("a", "lions")])
        with pytest.raises(errors.UsageError, match="the texts of documents are not stored"):
            next(index.export())
    assert run("export", "a.db")[0] == 2
    with setsearch.open(tmp_path / "b.db", create=True) as index:
        index.add([("film", ["user"])], ("film", "user"))
        with pytest.raises(errors.UnknownReading, match="film"):
            next(index.export())


marks = "<", ">", "_", "</", "/>", "<!", "<!--", "-->", "<![", "]]>", "<?", "=", '"', "&", ";", "#38", "amp", " ", "\n"
tagged = st.lists(st.sampled_from((*marks, "p", "b", "br", "svg", "script", "title", "CDATA[", "if", "x"))).map("".join)


@examples(300)
@given(tagged)
def test_a_text_of_any_marks_is_read_and_comes_back_by_entities(text):
    assert as_shown(with_entities(text)) == text


@pytest.mark.parametrize("kept", [{}, {"text": "<b>kept</b>", "title": "&amp;"}])
def test_texts_about_tags_are_exported_as_they_are_read(run, tmp_path, kept):
    text, title = "A <p> ends by </p>,\n  R&amp;D by &amp;amp;", "The <br>"
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([Item("a", text, title, kept), Item("b", "1 < 2 & 3", None, kept)])
    lines, said = run("export", "a.db")[1:]
    (tmp_path / "rows.jsonl").write_text(lines)
    options = shlex.split(said.partition("`setsearch ")[2].partition("`")[0].replace("NEW.db FILE", "b.db rows.jsonl"))
    assert run(*options)[0] == 0 and "1 < 2 & 3" in lines, "what would be read as it is"
    with setsearch.open(tmp_path / "a.db") as ours, setsearch.open(tmp_path / "b.db") as other:
        assert everything(ours) == everything(other)
