"""Rows as spreadsheets, databases and programs write them: one bad row costs that row, and is told where it is."""

import datetime
import json
import sqlite3

import hypothesis.strategies as st
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from pyarrow import parquet

import setsearch
from setsearch import Columns, errors
from setsearch.indexing.rows.cells import cell_features
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.kept.conditions import parse_condition
from setsearch.text.numbers_and_dates import as_number

RELATION = ("--items", "item", "--features", "user")


def documents(path):
    with setsearch.open(path) as index:
        reading = index.items("documents")
        with reading.stored() as fields:
            names = [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]
        return {name: set(reading.features_of(name)) for name in sorted(names)}


def features(path, items="item"):
    with setsearch.open(path) as index:
        reading = index.items(items)
        with reading.stored() as fields:
            names = [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]
        return {name: dict(reading.features_of(name)) for name in sorted(names)}


CSV = {
    "quotes in quotes": ('id,text\n1,"He said "hello""\n2,lions\n3,tigers\n', "line 2", {"2", "3"}),
    "a quote that does not end": ('id,text\n1,"lions\n2,tigers\n3,cats\n', "line 2", {"2", "3"}),
    "a row of two lines": ('id,text\n1,"lions\nand cats"\n2,"a "b""\n3,tigers\n', "line 4", {"1", "3"}),
    "an id twice": ("id,text\n1,lions\n2,cats\n2,dogs\n3,tigers\n", "line 4", {"1", "2", "3"}),
    "an empty id": ("id,text\n1,lions\n,cats\n3,tigers\n", "line 3", {"1", "3"}),
    "a short row": ("id,text\n1,lions\n2\n3,tigers\n", "line 3", {"1", "3"}),
    "a long row": ("id,text\n1,lions\n2,cats,dogs\n3,tigers\n", "line 3", {"1", "3"}),
    "after a row of lines": ('id,text\n1,"lions\n\n\ncats"\n2,x,y\n3,tigers\n', "line 6", {"1", "3"}),
}


ABOVE = {
    "a sentence": ("Report of 3 May\n\nid,text,year\n1,apple,2020\n2,pear,2021\n", "Report of 3 May"),
    "a title of a sheet": ("Report;;\r\n;;\r\nid;text;year\r\n1;apple;2020\r\n2;pear;2021\r\n", "Report;;"),
    "comments": ("# one\n# two\nid;text;year\n1;apple;2\n2;pear;3\n", "# one"),
    "a quoted line": ('"one, two and three"\nid,text,year\n1,"apple\nis",2\n2,pear,3\n', '"one, two and three"'),
    "a delimiter": ("sep=;\nof 3 May\nid;text;year\n1;apple;2020\n2;pear;2021\n", "of 3 May"),
}


@pytest.mark.parametrize(("text", "told"), ABOVE.values(), ids=ABOVE)
def test_lines_above_a_header_are_left_out_and_told(run, tmp_path, text, told):
    (tmp_path / "a.csv").write_bytes(text.encode())
    code, _, said = run("index", "a.db", "a.csv")
    assert code == 0 and f"above the header ({told})" in said
    assert [*documents(tmp_path / "a.db")] == ["1", "2"]
    assert run("index", "r.db", "a.csv", "--items", "id", "--features", "year")[0] == 0


HEADERS = {
    "one column": "some text\n1, a lion, a tiger\n2, b, c\n",
    "one column and rows of others": "my text\na,b,c\nd,e\n",
    "two cells": "a title\nid,text\n1,apple\n",
    "empty cells": "a title\nid,,text\n1,,apple\n",
    "cells twice": "a title\nid,id,text\n1,1,apple\n",
}


@pytest.mark.parametrize("text", HEADERS.values(), ids=HEADERS)
def test_a_first_line_may_be_the_header(run, tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    assert "above the header" not in run("index", "a.db", "a.csv")[2]


@pytest.mark.parametrize(("text", "place", "kept"), CSV.values(), ids=CSV)
def test_a_bad_row_stops_or_is_skipped(run, failed, tmp_path, text, place, kept):
    (tmp_path / "a.csv").write_text(text)
    failed(run("index", "a.db", "a.csv"), 1, f"a.csv, {place}")
    code, _, said = run("index", "b.db", "a.csv", "--errors", "skip")
    assert code == 0 and f"skipped a.csv, {place}" in said and said.count("skipped") == 1
    assert set(documents(tmp_path / "b.db")) == kept
    assert "dogs" not in documents(tmp_path / "b.db").get("2", ()), "the first of an id is kept"


def test_many_skipped_rows_are_counted(run, tmp_path):
    (tmp_path / "a.csv").write_text("id,text\n" + "1,x\n" * 60)
    said = run("index", "a.db", "a.csv", "--errors", "skip")[2]
    assert said.count("skipped a.csv") == 20 and "skipped 59 in all" in said


TABLES = {
    "empty columns": "id,text,,\n1,apple,,\n2,pear,,\n",
    "unnamed columns with cells": "id,text,,\n1,apple,x,y\n2,pear,,\n",
    "twice a column that nobody asked for": "id,note,text,note\n1,a,apple,b\n2,a,pear,b\n",
    "empty cells behind": "id,text\n1,apple,,\n2,pear\n",
    "shorter rows": "id,text,,\n1,apple\n2,pear,\n",
    "a delimiter that is named": "sep=;\r\nid;text\r\n1;apple\r\n2;pear\r\n",
    "a quoted name": '"sep=\t"\nid\ttext\n1\tapple\n2\tpear\n',
    "lines of old Macs": "id,text\r1,apple\r2,pear\r",
    "a mark at the beginning": "\ufeffid,text\n1,apple\n2,pear\n",
    "names with blanks": " id ,text \n1,apple\n2,pear\n",
    "a blank behind each delimiter": 'id, note, text\n1, "a, b", "apple"\n2, c, pear\n',
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_tables_as_spreadsheets_leave_them(run, tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text.encode())
    assert run("index", "a.db", "a.csv")[0] == 0
    assert documents(tmp_path / "a.db") == {"1": {"apple"}, "2": {"pear"}}
    assert run("index", "b.db", "-", stdin=text.encode())[0] == 0
    assert documents(tmp_path / "b.db") == documents(tmp_path / "a.db")


def test_a_column_that_is_asked_for_has_one_meaning(run, failed, tmp_path):
    (tmp_path / "a.csv").write_text("item,user,user\nA,u1,u2\n")
    failed(run("index", "a.db", "a.csv", *RELATION), 1, "a.csv, line 1: several columns are named 'user'")


def test_a_relation_with_a_delimiter_that_is_named(run, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"sep=;\r\nitem;user\r\nA;u1\r\nB;u1\r\n")
    assert run("index", "a.db", "a.csv", *RELATION)[0] == 0
    assert features(tmp_path / "a.db") == {"A": {"u1": 1}, "B": {"u1": 1}}


def test_rows_without_ids_are_numbered(run, failed, tmp_path):
    (tmp_path / "a.csv").write_text('title,abstract\nLions,"Cats\nthat hunt"\nWhales,Sea animals\n')
    (tmp_path / "b.jsonl").write_text('{"abstract": "x"}\n\n{"abstract": "y"}\n')
    columns = ("--text", "abstract")
    said = run("index", "a.db", "a.csv", "b.jsonl", *columns)[2]
    assert [*documents(tmp_path / "a.db")] == ["a.csv#2", "a.csv#4", "b.jsonl#1", "b.jsonl#3"]
    assert "no column 'id' in a.csv, b.jsonl: rows are numbered (--id names a column)" in said
    (tmp_path / "c.jsonl").write_text('{"text": "x"}\n{"id": 1, "text": "y"}\n')
    failed(run("index", "a.db", "c.jsonl"), 1, "c.jsonl, line 2 has an --id")
    with sqlite3.connect(tmp_path / "t.db") as host:
        host.execute("create table notes (text)")
        host.executemany("insert into notes (rowid, text) values (?, ?)", [(7, "lions"), (9, "cats")])
    host.close()
    assert run("index", "c.db", "t.db", "--table", "notes")[0] == 0
    assert documents(tmp_path / "c.db") == {"7": {"lions"}, "9": {"cats"}}


def test_a_key_that_is_absent_is_empty(run, failed, tmp_path):
    rows = [{"id": "a", "text": "lion", "title": "Lions"}, {"id": "b", "text": "tiger"}, {"id": "c", "title": "C"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "a.db", "a.jsonl", "--title", "title")[0] == 0
    assert documents(tmp_path / "a.db") == {"a": {"lion", "lions"}, "b": {"tiger"}, "c": {"c"}}
    failed(run("index", "b.db", "a.jsonl", "--text", "body"), 1, "no column 'body'")
    (tmp_path / "b.jsonl").write_text('{"id": "a", "text": "x"}\n{"text": "y"}\n')
    failed(run("index", "b.db", "b.jsonl"), 1, "b.jsonl, line 2 has no column 'id'")
    assert run("index", "b.db", "b.jsonl", "--errors", "skip")[0] == 0
    assert documents(tmp_path / "b.db") == {"a": {"x"}}
    (tmp_path / "r.jsonl").write_text('{"item": "A", "user": "u"}\n{"item": "B"}\n{"item": "C", "user": null}\n')
    assert run("index", "r.db", "r.jsonl", *RELATION)[0] == 0
    assert features(tmp_path / "r.db") == {"A": {"u": 1}, "B": {}, "C": {}}


def test_a_misspelt_column_of_a_long_file_is_told_early(tmp_path):
    lines = (f'{{"id": {n}, "text": "x"}}\n' for n in range(5000))
    (tmp_path / "a.jsonl").write_text("".join(lines))
    with setsearch.open(tmp_path / "a.db", create=True) as index, pytest.raises(errors.SourceError, match="line 1 "):
        from setsearch.indexing.sources import SourceReader

        index.update(SourceReader(Columns(text="body"), RowReader()).read([str(tmp_path / "a.jsonl")]))


LISTS = {
    "JSON Lines": ('{"item": 1, "user": ["red", "blue"]}\n{"item": 2, "user": ["red", null, "red"]}\n', "a.jsonl"),
    "JSON": ('[{"item": 1, "user": ["red", "blue"]}, {"item": 2, "user": ["red"]}]', "a.json"),
    "JSON Lines in .json": ('{"item": 1, "user": ["red", "blue"]}\n{"item": 2, "user": ["red"]}\n', "a.json"),
    "JSON in .jsonl": ('[{"item": 1, "user": ["red", "blue"]},\n {"item": 2, "user": ["red"]}]', "a.jsonl"),
    "CSV": ('item,user\n1,"[""red"", ""blue""]"\n2,"[""red""]"\n', "a.csv"),
}


@pytest.mark.parametrize(("text", "name"), LISTS.values(), ids=LISTS)
def test_a_list_is_features(run, tmp_path, text, name):
    (tmp_path / name).write_text(text)
    assert run("index", "a.db", name, *RELATION)[0] == 0
    assert features(tmp_path / "a.db") == {"1": {"blue": 1, "red": 1}, "2": {"red": 1}}


def test_lists_within_lists_are_texts_however_deep(run, tmp_path):
    text = "lions"
    for _ in range(600):
        text = [text]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": ["red", text, [None, "roar"]]}))
    assert run("index", "a.db", "a.jsonl")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert [row["text"] for row in index.export()] == ["red\nlions\n\nroar"]


def test_lists_of_tables_and_frames_are_features(run, tmp_path):
    rows = [("1", '["red", "blue"]'), ("2", '["red"]'), ("3", "[]"), ("4", None), ("5", "[odd")]
    wanted = {"1": {"blue": 1, "red": 1}, "2": {"red": 1}, "3": {}, "4": {}, "5": {"[odd": 1}}
    with sqlite3.connect(tmp_path / "t.db") as host:  # as sqlite-utils writes lists
        host.execute("create table t (item text primary key, user text)")
        host.executemany("insert into t values (?, ?)", rows)
    host.close()
    assert run("index", "a.db", "t.db", "--table", "t", *RELATION)[0] == 0
    assert run("index", "t.db", "--table", "t", *RELATION, "--track")[0] == 0
    for path in ("a.db", "t.db"):
        assert features(tmp_path / path) == wanted
    table = pyarrow.table({"item": [1, 2], "user": [["red", "blue"], ["red"]]})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert run("index", "p.db", "a.parquet", *RELATION)[0] == 0
    assert features(tmp_path / "p.db") == {"1": {"blue": 1, "red": 1}, "2": {"red": 1}}
    for number, frame in enumerate((table, table.to_pandas(), polars.from_arrow(table))):
        with setsearch.open(tmp_path / f"f{number}.db", create=True) as index:
            index.add_frame(frame, items="item", features="user")
        assert features(tmp_path / f"f{number}.db") == features(tmp_path / "p.db")


def test_a_cell_without_features_leaves_the_item(run, tmp_path):
    (tmp_path / "a.csv").write_text("item,user\nA,u1|u2\nB,\nC,|\n")
    assert run("index", "a.db", "a.csv", *RELATION, "--split", "|")[0] == 0
    assert features(tmp_path / "a.db") == {"A": {"u1": 1, "u2": 1}, "B": {}, "C": {}}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.250,00", 1250.0),
        ("-1.250,5", -1250.5),
        ("1,250.5", 1250.5),
        ("1.250.000", 1250000.0),
        ("+1,250,000.25", 1250000.25),
        ("1.250.000,", 1250000.0),
        ("1,250", None),
        ("1.250,00,1", None),
        ("1.25.000,5", None),
        ("0.250,5", None),
        ("1.250,5.5", None),
        ("1.2.2024", None),
        ("1.250.000.5", None),
        ("1,250,000,5", None),
        ("1_000", None),
        ("\u0661", None),
    ],
)
def test_a_number_may_have_marks_between_thousands(text, number):
    assert as_number(text) == number


@pytest.mark.parametrize(
    ("cell", "number"), [("3,5", 3.5), ("-0,25", -0.25), ("0,125", 0.125), ("12,5", 12.5), ("-1.250,5", -1250.5)]
)
def test_a_number_may_have_a_decimal_comma(run, failed, tmp_path, cell, number):
    (tmp_path / "a.csv").write_text(f"name;x\na;1\nb;{cell}\n")
    assert run("index", "a.db", "a.csv", "--items", "name", "--numbers", "x")[0] == 0
    assert as_number(cell) == number
    (tmp_path / "b.csv").write_text(f"item;user;rating\nA;u;{cell}\nB;u;100\n")
    assert run("index", "b.db", "b.csv", *RELATION, "--keep", "rating < 50")[0] == 0
    assert features(tmp_path / "b.db") == {"A": {"u": 1}}
    (tmp_path / "c.csv").write_text("name;x\na;1,250\n")  # a thousand, or one and a quarter
    failed(run("index", "c.db", "c.csv", "--items", "name", "--numbers", "x"), 1, "c.csv, line 2", "'1,250'")


@pytest.mark.parametrize(("yes", "no"), [("WAHR", "FALSCH"), ("VRAI", "FAUX"), ("VERDADERO", "FALSO")])
def test_true_and_false_are_counts_in_other_languages(run, tmp_path, yes, no):
    (tmp_path / "a.csv").write_text(f"item;user;n\nA;u;{yes}\nA;v;{no}\n")
    assert run("index", "a.db", "a.csv", *RELATION, "--count", "n")[0] == 0
    assert features(tmp_path / "a.db") == {"A": {"u": 1}}


def test_true_and_false_are_counts(run, tmp_path):
    (tmp_path / "a.csv").write_text("item,user,n\nA,u,TRUE\nA,v,FALSE\nB,u,true\n")
    (tmp_path / "b.jsonl").write_text('{"item": "A", "user": "u", "n": true}\n{"item": "A", "user": "v", "n": false}\n')
    assert run("index", "a.db", "a.csv", *RELATION, "--count", "n")[0] == 0
    assert features(tmp_path / "a.db") == {"A": {"u": 1}, "B": {"u": 1}}
    assert run("index", "b.db", "b.jsonl", *RELATION, "--count", "n")[0] == 0
    assert features(tmp_path / "b.db") == {"A": {"u": 1}}


@pytest.mark.parametrize("frames", [pandas, polars])
def test_a_frame_is_no_list_of_items(frames):
    index = setsearch.open(sqlite3.connect(":memory:"), create=True)
    with pytest.raises(setsearch.errors.InvalidItem, match=r"a frame is for `add_frame`; this is .*id[^\n]*$"):
        index.add(frames.DataFrame({"id": ["a", "b"], "text": ["lions", "cats"]}))


@pytest.mark.parametrize("frames", [pandas, polars])
def test_rows_of_a_frame_without_an_id_are_skipped_if_asked(frames, caplog):
    frame = frames.DataFrame({"id": ["a", None, "c"], "text": ["lions", "cats", "dogs"]})
    index = setsearch.open(sqlite3.connect(":memory:"))
    with pytest.raises(setsearch.errors.SourceError, match="row 2: the column 'id' is"):
        index.add_frame(frame)
    assert index.add_frame(frame, errors="skip") == 2
    assert "skipped row 2: the column 'id' is" in caplog.text


def test_of_a_wide_frame_ten_columns_are_told():
    index = setsearch.open(sqlite3.connect(":memory:"))
    with pytest.raises(setsearch.errors.SourceError, match=r"it has 0, 1, .*, 9 and 600 more \("):
        index.add_frame(pandas.DataFrame([range(610)]))


def test_a_whole_number_is_one_id(run, tmp_path):
    frame = pandas.DataFrame({"id": [1.0, 2.0, 2.5], "text": ["lions", "cats", "dogs"]})
    with setsearch.open(tmp_path / "f.db", create=True) as index:
        index.add_frame(frame)
        assert index.items("documents").find(1) == index.items("documents").find(1.0) == "1"
    assert [*documents(tmp_path / "f.db")] == ["1", "2", "2.5"]
    (tmp_path / "a.csv").write_text("id,text\n1.0,lions\n1,cats\n")
    assert run("index", "a.db", "a.csv")[0] == 0
    assert [*documents(tmp_path / "a.db")] == ["1", "1.0"], "a text stays what it is"
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("create table t (id real primary key, text text)")
    connection.executemany("insert into t values (?, ?)", [(1, "lions"), (2, "cats tigers"), (2.5, "dogs")])
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=True)
    documents_of = index.items("documents")
    assert documents_of.find("1") == "1"
    hits = documents_of.expand(["1"], among=setsearch.Where("text like 'cats%'"))
    assert {hit.item for hit in hits} <= {"2"}
    connection.execute("update t set text = 'lions tigers' where id = 1")
    connection.execute("delete from t where id = 2.5")
    index.refresh()
    assert set(documents_of.features_of("1")) == {"lions", "tigers"}
    assert documents_of.item_count() == 2
    connection.close()


def test_an_index_with_numbers_of_before_is_read_again():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (id real primary key, text text)")
    connection.executemany("insert into t values (?, ?)", [(1, "lions"), (2, "cats")])
    index = setsearch.open(connection)
    index.add_table("t", Columns(), track=True)
    connection.execute("update setsearch_name set name = name || '.0' where name in ('1', '2')")  # as 0.21 named them
    connection.execute("update t set text = 'dogs' where id = 2")
    connection.commit()
    index.refresh()
    with index.items("documents").stored() as fields:
        assert sorted(name for name, _ in fields.describe(fields.item_ids().tolist()).values()) == ["1", "2"]


def test_dates_are_kept_and_compared(run, tmp_path):
    days = [datetime.date(2024, 1, 5), datetime.date(2023, 12, 31), None]
    parquet.write_table(
        pyarrow.table({"id": ["a", "b", "c"], "text": ["lion cat"] * 3, "day": days}), tmp_path / "a.parquet"
    )
    assert run("index", "a.db", "a.parquet", "--keep-columns", "day")[0] == 0
    frame = pandas.DataFrame({"id": ["a", "b", "c"], "text": ["lion cat"] * 3, "day": pandas.to_datetime(days)})
    with setsearch.open(tmp_path / "b.db", create=True) as index:
        index.add_frame(frame, keep=("day",))
    for name in ("a.db", "b.db"):
        with setsearch.open(tmp_path / name) as index:
            reading = index.items("documents")
            hits = reading.expand(["c"], keep_seeds=True)
            assert {hit.item: hit.columns["day"] for hit in hits} == {"a": "2024-01-05", "b": "2023-12-31", "c": None}
            for condition, found in (
                ("day >= 2024-01-05", {"a"}),
                ("day < 2024-01", {"b"}),
                ("day = 2024-01-05", {"a"}),
                ("day > 2023-12-30", {"a", "b"}),
            ):
                assert {hit.item for hit in reading.expand(["c"], filter=[condition])} == found, condition


@given(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)), st.dates(datetime.date(1900, 1, 1)))
def test_a_day_is_compared_with_days(moment, day):
    for sign, holds in ((">=", moment.date() >= day), ("<", moment.date() < day), ("=", moment.date() == day)):
        condition = parse_condition(f"day {sign} {day.isoformat()}")
        assert condition.compare(moment.isoformat()) == condition.compare(moment.isoformat(" ")) == holds


def test_a_null_in_a_table_of_another_file_is_skipped(run, failed, tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as host:
        host.execute("create table t (id, text)")
        host.executemany("insert into t values (?, ?)", [("a", "lions"), (None, "cats"), ("c", None)])
    host.close()
    failed(run("index", "a.db", "t.db", "--table", "t"), 1, "table t, rowid 2", "None")
    code, _, said = run("index", "a.db", "t.db", "--table", "t", "--errors", "skip")
    assert code == 0 and "skipped table t, rowid 2" in said
    assert documents(tmp_path / "a.db") == {"a": {"lions"}, "c": set()}


def test_titles_come_from_references_in_any_encoding(run, tmp_path):
    (tmp_path / "r.csv").write_text("item,user\n10.1000/x,u\nsmith,u\n")
    text = (
        "TY  - JOUR\r\nTI  - Löwen\r\nDO  - 10.1000/X\r\nER  - \r\nTY  - JOUR\r\nID  - smith\r\nTI  - Two\r\nER  - \r\n"
    )
    (tmp_path / "t.txt").write_bytes(text.encode("latin-1"))
    assert run("index", "a.db", "r.csv", *RELATION, "--titles", "t.txt")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("item").titles(["10.1000/x", "smith"]) == {"10.1000/x": "Löwen", "smith": "Two"}


def test_a_bad_row_of_a_tracked_table_is_left_out_for_good(run, failed, tmp_path):
    host = sqlite3.connect(tmp_path / "a.db")
    host.execute("create table t (id text, text text)")
    host.executemany("insert into t values (?, ?)", [("a", "lions"), (None, "cats"), ("c", "dogs")])
    host.commit()
    failed(run("index", "a.db", "--table", "t"), 1, "table t, rowid 2", "None")
    assert run("index", "a.db", "--table", "t", "--track", "--errors", "skip")[0] == 0
    assert documents(tmp_path / "a.db") == {"a": {"lions"}, "c": {"dogs"}}
    host.execute("insert into t values (null, 'wolves')")
    host.execute("update t set text = 'bears' where id = 'c'")
    host.commit()
    assert run("update", "a.db")[0] == 0
    assert documents(tmp_path / "a.db") == {"a": {"lions"}, "c": {"bears"}}
    assert run("check", "a.db")[0] == 0
    host.close()


def test_a_title_with_nul_costs_its_row(run, failed, tmp_path):
    rows = [{"id": 1, "text": "lions", "title": "a\0b"}, {"id": 2, "text": "cats", "title": "c"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    failed(run("index", "a.db", "a.jsonl"), 1, "a.jsonl, line 1", "'title'")
    assert run("index", "a.db", "a.jsonl", "--errors", "skip")[0] == 0
    assert documents(tmp_path / "a.db") == {"2": {"cats"}}


KEPT = {
    "a duration": (datetime.timedelta(minutes=90), "1:30:00"),
    "bytes that are text": ("Köln".encode(), "Köln"),
    "a number that is missing": (float("nan"), None),
    "a list": (["a", float("nan")], ["a", None]),
}


@pytest.mark.parametrize(("value", "kept"), KEPT.values(), ids=KEPT)
def test_what_can_be_kept_of_a_row(tmp_path, value, kept):
    pandas.DataFrame({"id": ["a", "b"], "text": ["lion", "lion"], "own": [value, value]}).to_parquet(
        tmp_path / "a.parquet"
    )
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        rows = SourceReader(Columns(keep=("own",)), RowReader()).read([str(tmp_path / "a.parquet")])
        assert index.update(rows) == 2
        assert index.items("documents").expand(["a"])[0].columns == {"own": kept}


@pytest.mark.parametrize("value", [b"\xff\xfe", float("inf")])
def test_what_cannot_be_kept_costs_its_row(run, failed, tmp_path, value):
    rows = {"id": ["a", "b"], "text": ["lion", "tiger"], "own": [value, None]}
    parquet.write_table(pyarrow.table(rows), tmp_path / "a.parquet")
    failed(run("index", "a.db", "a.parquet", "--keep-columns", "own"), 1, "a.parquet, row 1: the columns of item 'a'")
    said = run("index", "a.db", "a.parquet", "--keep-columns", "own", "--errors", "skip")[2]
    assert "skipped a.parquet, row 1: the columns of item 'a' cannot be kept" in said
    assert documents(tmp_path / "a.db") == {"b": {"tiger"}}


def test_half_a_letter_is_kept_as_a_mark(run, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "lion", "own": "x\\ud800"}\n{"id": "b", "text": "lion"}\n')
    assert run("index", "a.db", "a.jsonl", "--keep-columns", "own")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").expand(["b"])[0].columns == {"own": "x?"}


WRITTEN = {
    "['a', 'b']": ["a", "b"],
    "['a' 'b']": ["a", "b"],
    """["it's", 'x\\'y']""": ["it's", "x'y"],
    "('a',)": ["a"],
    "{'a', 'b'}": ["a", "b"],
    "['a', nan, None]": ["a"],
    "set()": [],
    "[]": [],
    "[1, 2]": ["1", "2"],
    "(see below)": ["(see below)"],
    "{'a': 1}": ["{'a': 1}"],
    "['a' + 'b']": ["['a' + 'b']"],
    "[draft]": ["[draft]"],
}


@pytest.mark.parametrize("cell", WRITTEN)
def test_lists_as_python_writes_them_are_features(run, tmp_path, cell):
    pandas.DataFrame({"item": ["A", "B"], "user": [cell, "z"]}).to_csv(tmp_path / "a.csv", index=False)
    assert run("index", "a.db", "a.csv", *RELATION)[0] == 0
    assert [*features(tmp_path / "a.db")["A"]] == sorted(WRITTEN[cell])
    assert run("index", "b.db", "a.csv", *RELATION, "--errors", "skip")[0] == 0, "row by row"
    assert features(tmp_path / "a.db") == features(tmp_path / "b.db")


@given(st.lists(st.text(st.characters(exclude_categories=["C"]), min_size=1), min_size=1, unique=True))
def test_every_list_of_texts_is_read_as_it_was_written(values):
    assert cell_features("row 1", "own", str(values)) == values


def test_a_file_without_a_header_is_told(run, failed, tmp_path):
    (tmp_path / "u.data").write_text("196\t242\t3\t881250949\n186\t302\t3\t891717742\n")
    has = "u.data, line 2 has no column 'item'; it has 196, 242, 3, 881250949"
    told = f"{has} (the first line names columns, or --header does)"
    failed(run("index", "a.db", "u.data", "--items", "item", "--features", "user"), 1, told)
