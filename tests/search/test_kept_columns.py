"""Columns that are kept come back with each hit, whatever was written since."""

import json
import sqlite3

import pytest

import setsearch
from setsearch import Columns, errors
from setsearch.indexing.writing.intake import Item
from setsearch.storage.kept import columns

ROWS = [
    {"id": "a", "text": "lion tiger", "year": 1999, "place": None},
    {"id": "b", "text": "lion tiger cat", "year": 2001.5, "place": "Zoo <b>"},
    *({"id": f"f{n}", "text": "wheat", "year": n, "place": "field"} for n in range(20)),
]


def kept(index, seed="a"):
    return {hit.item: hit.columns for hit in index.items("documents").expand([seed], 1)}


def test_columns_are_kept_replaced_and_deleted(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([Item(row["id"], row["text"], None, {"year": row["year"]}) for row in ROWS])
        assert kept(index) == {"b": {"year": 2001.5}}
        index.update([("b", "lion tiger", "B", {"year": [1, "x"], "more": True})])
        assert kept(index) == {"b": {"year": [1, "x"], "more": True}}
        index.update([("b", "lion tiger")])
        assert kept(index) == {"b": None}
        index.delete(["f3"])
        assert index.check() == []
        with index._database.read() as cursor:
            assert cursor.execute("select count(*) from setsearch_columns").fetchone() == (len(ROWS) - 2,)
        for wrong in ({"x": object()}, {"x": float("inf")}, {1: 2}, {"x": "y" * 2_000_000}):
            with pytest.raises(errors.InvalidItem, match="columns of item 'c'"):
                index.add([("c", "lion", None, wrong)])
        index.replace([("a", "lion"), ("b", "lion")])
        with index._database.read() as cursor:
            assert cursor.execute("select count(*) from setsearch_columns").fetchone() == (0,)


def test_columns_stay_kept_when_their_source_is_indexed_again(run, tmp_path):
    def shown(database):
        with setsearch.open(tmp_path / database) as index:
            return kept(index)["b"]

    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    run("index", "a.db", "d.jsonl", "--keep-columns", "year, place")
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, [ROWS[0], ROWS[1] | {"year": 2024}, *ROWS[2:]])))
    assert run("index", "a.db", "d.jsonl")[0] == 0
    assert shown("a.db") == {"year": 2024, "place": "Zoo <b>"}
    (tmp_path / "e.csv").write_text("id,text\ng,lion\n")
    assert run("index", "a.db", "e.csv")[0] == 0  # without these columns
    assert json.loads(run("info", "a.db", "--json")[1])["readings"][0]["columns"] == ["year", "place"]
    run("index", "a.db", "d.jsonl", "--keep-columns", "place")
    assert shown("a.db") == {"place": "Zoo <b>"}
    run("index", "a.db", "d.jsonl", "--replace")
    assert shown("a.db") is None
    with sqlite3.connect(tmp_path / "t.db") as host:
        host.execute("create table notes (id text, text text, year)")
        host.executemany("insert into notes values (?, ?, ?)", [(row["id"], row["text"], row["year"]) for row in ROWS])
    host.close()
    run("index", "t.db", "--table", "notes", "--keep-columns", "year")
    assert run("index", "t.db", "--table", "notes")[0] == 0
    assert shown("t.db") == {"year": 2001.5}
    (tmp_path / "r.ris").write_text("TY  - JOUR\nTI  - Lions\nPY  - 1999\nID  - x\nER  - \n")
    for options in (["--keep-columns", "year"], []):
        run("index", "r.db", "r.ris", *options)
        with setsearch.open(tmp_path / "r.db") as index, index.items("documents").stored() as fields:
            assert fields.columns_of([0]) == {0: {"year": 1999}}


def test_notes_without_a_kept_column_are_the_same_when_they_come_again(run, tmp_path):
    (tmp_path / "notes").mkdir()
    for name, front in (("a", "lang: de"), ("b", "year: 1999"), ("c", "mood: good")):
        (tmp_path / "notes" / f"{name}.md").write_text(f"---\n{front}\n---\nlions and tigers")
    run("index", "a.db", "notes", "--keep-columns", "lang,year")
    with setsearch.open(tmp_path / "a.db") as index:
        before = kept(index, "a.md"), index.revision()
    assert run("index", "a.db", "notes")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert (kept(index, "a.md"), index.revision()) == before, "else all were new in the inbox"
    assert before[0] == {"b.md": {"lang": None, "year": "1999"}}


def test_what_goes_with_what_is_replaced_is_told(run, tmp_path):
    (tmp_path / "a.csv").write_text("id,text,of,year\n1,a jug,silver,1890\n2,a cup,oak,1900\n")
    run("index", "a.db", "a.csv", "--tags", "of", "--keep-columns", "year")
    said = run("index", "a.db", "a.csv", "--keep-columns", "year", "--replace")[2]
    assert "--replace took the fields of: name them again" in said and "columns" not in said
    assert "--replace took the columns year: name them again" in run("index", "a.db", "a.csv", "--replace")[2]
    assert "took" not in run("index", "a.db", "a.csv", "--replace")[2]


def test_the_command_line_and_tables_keep_columns(run, tmp_path, failed):
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    assert run("index", "a.db", "d.jsonl", "--keep-columns", "year, place")[0] == 0
    (row,) = json.loads(run("expand", "a.db", "a", "--items", "documents", "-k", "1")[1])
    assert (row["item"], row["year"], row["place"]) == ("b", 2001.5, "Zoo <b>")
    failed(run("index", "b.db", "d.jsonl", "--keep-columns", "price"), 1, "line 1", "'price'")
    with sqlite3.connect(tmp_path / "t.db") as host:
        host.execute("create table notes (id text, text text, year)")
        host.executemany("insert into notes values (?, ?, ?)", [(row["id"], row["text"], row["year"]) for row in ROWS])
    host.close()
    with setsearch.open(tmp_path / "t.db") as index:
        host = sqlite3.connect(tmp_path / "t.db")
        with setsearch.open(host) as lent:
            lent.add_table("notes", Columns(keep="year"))
            assert kept(lent) == {"b": {"year": 2001.5}}
        host.execute("update notes set year = 7 where id = 'b'")
        host.commit()
        index.refresh()
        host.close()


def test_a_change_of_a_kept_column_is_noted(tmp_path):
    host = sqlite3.connect(tmp_path / "t.db")
    host.execute("create table notes (id text primary key, text text, year, price)")
    host.executemany("insert into notes values (?, ?, ?, 0)", [(row["id"], row["text"], row["year"]) for row in ROWS])
    with setsearch.open(host) as index:
        index.add_table("notes", Columns(keep="year"), track=True)
        host.execute("update notes set price = 9")
        assert index.refresh().written == 0
        host.execute("update notes set year = 7 where id = 'b'")
        host.commit()
        assert index.refresh().written == 1
        assert kept(index) == {"b": {"year": 7}}
    host.close()


def test_columns_are_kept_of_documents_only(run, tmp_path, failed):
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    for roles in (
        ("--items", "id", "--features", "year"),
        ("--group-by", "place"),
        ("--items", "id", "--numbers", "year"),
    ):
        failed(run("index", "a.db", "d.jsonl", *roles, "--keep-columns", "text"), 2, "only documents keep columns")


@pytest.mark.parametrize("some", ["1", "item = 1", "item = (select max(item) from setsearch_columns)"])
def test_a_damaged_column_is_said(tmp_path, some):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([Item(row["id"], row["text"], None, {"year": row["year"]}) for row in ROWS])
    with sqlite3.connect(tmp_path / "a.db") as host:
        host.execute(f"update setsearch_columns set columns = substr(columns, 2) where {some}")
    host.close()
    with setsearch.open(tmp_path / "a.db") as index:
        with pytest.raises(errors.CorruptIndex, match="columns of an item"):
            index.items("documents").expand(["a"], filter=["year > 0"])
        with pytest.raises(errors.CorruptIndex, match="columns of an item"):
            index.items("documents").expand(["a"], len(ROWS))


def test_columns_that_are_decoded_together_are_those_of_each(monkeypatch):
    index = setsearch.open(sqlite3.connect(":memory:"))
    index.add([Item(f"d{n}", "a word", None, {"n": n, "text": f'"], {n}'} if n % 3 else None) for n in range(99)])
    with index.items("documents").stored() as fields:
        found = []
        for at_once in (1, 2, 1000):
            monkeypatch.setattr(columns, "ROWS_AT_ONCE", at_once)
            found.append([*columns.read_values(fields.relation, "text")])
    assert found[0] == found[1] == found[2] == [(n, f'"], {n}') for n in range(99) if n % 3]
