"""Arrays of JSON are read value by value: as they would be as a whole, in little memory."""

import io
import json
import tracemalloc

import hypothesis.strategies as st
import pytest
from hypothesis import given
from laws import examples

from setsearch import errors
from setsearch.indexing.rows import json_shapes
from setsearch.indexing.rows.cells import OpenCells, names_within
from setsearch.indexing.rows.json_shapes import values_within
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns

PLAIN = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(PLAIN, lambda own: st.lists(own) | st.dictionaries(st.text(), own), max_leaves=20)


class Drops(io.StringIO):
    """A text that comes character by character."""

    def read(self, size=-1, /):
        return super().read(1 if size > 0 else size)


@examples(100)
@given(st.lists(VALUES), st.sampled_from([None, 1]))
def test_an_array_comes_value_by_value_as_a_whole(values, indent):
    text = " \n" + json.dumps(values, indent=indent, ensure_ascii=False) + "\n"
    assert [own.value for own in values_within(Drops(text).read)] == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"a": 1},\n {"b": }]', "Expecting value: line 2"),
        ('[{"a": 1}\n\n {"b": 2}]', "Expecting ',' or ']': line 3"),
        ('[{"a": 1}', "Expecting ',' or ']': line 1"),
        ('[{"a": 1},\n', "Expecting value: line 2"),
        ('[{"a": 1}]\n x', "Extra data: line 2"),
        ("[[" * 100_000, "nested too deeply: line 1"),
    ],
)
def test_an_array_that_breaks_tells_its_line(tmp_path, text, said):
    with pytest.raises(ValueError, match=said):
        list(values_within(io.StringIO(text).read))
    (tmp_path / "a.json").write_text(text if text.startswith("[{") else "[{" + '"a": [' * 100_000)
    with pytest.raises(errors.SourceError, match="broken JSON"):
        list(RowReader().read(str(tmp_path / "a.json")))


def test_one_bad_entry_costs_itself(tmp_path):
    (tmp_path / "a.json").write_text('[{"id": 1, "id": 2}, {"id": 3, "n": NaN}, {"id": 4}, 5, "lion"]')
    told = []
    rows = list(RowReader("skip", told.append).read(str(tmp_path / "a.json")))
    assert [dict(row) for _, row in rows] == [{"id": 4}, {"text": "lion"}]
    assert [line.split(": ", 1)[0].rpartition(", ")[2] for line in told] == ["entry 1", "entry 2", "entry 4"]


def test_what_wraps_rows_is_broken_as_a_whole(tmp_path):
    (tmp_path / "a.json").write_text('{"total": 2, "data": [{"id": 1, "id": 2}, {"id": 4}]}')
    with pytest.raises(errors.SourceError, match=r"a\.json: broken JSON \(the key"):
        list(RowReader("skip").read(str(tmp_path / "a.json")))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"title": "Zoo", "hue": "RED", "of": {"text": "Of cats"}, "list": [{"text": "a"}]}', "title, of.text"),
        ('{"status": "ok", "next": "https://x.org/?page=2", "title": "", "data": {"hits": [{"text": "lion"}]}}', ""),
        ('{"a": {"title": "Big cats", "text": "lion"}, "b": {"text": "tiger"}}', ""),
        ('{"title": {"0": "Big cats"}, "body": {"0": "lion tiger"}}', ""),
    ],
)  # fmt: skip
def test_words_beside_rows_are_told(tmp_path, text, names):
    told = []
    (tmp_path / "a.json").write_text(text)
    assert list(RowReader(warn=told.append).read(str(tmp_path / "a.json")))
    assert told == [f"{tmp_path}/a.json: left out {names} beside the rows"] * bool(names)


def test_a_value_that_never_ends_is_told(monkeypatch):
    monkeypatch.setattr(json_shapes, "LONGEST_VALUE", 1 << 18)
    text = io.StringIO('["' + "x" * (1 << 20))
    with pytest.raises(ValueError, match="a value of more than"):
        list(values_within(text.read))
    assert text.tell() < 1 << 20


def test_a_large_array_takes_little_memory(tmp_path):
    with (tmp_path / "a.json").open("w") as file:
        file.write("[" + ", ".join(json.dumps({"id": n, "text": "lion " * 40}) for n in range(20_000)) + "]")
    size = (tmp_path / "a.json").stat().st_size
    reader = SourceReader(Columns(), RowReader())
    tracemalloc.start()
    try:
        assert sum(1 for _ in reader.rows.read(str(tmp_path / "a.json"))) == 20_000
        assert reader._holds_rows(tmp_path / "a.json", is_named=False)
        assert tracemalloc.get_traced_memory()[1] < size / 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_an_array_in_any_encoding(tmp_path, encoding):
    rows = [{"id": str(n), "text": f"Löwe {n} für Tiere in der Höhle und größere Räuber"} for n in range(9)]
    (tmp_path / "a.json").write_text(json.dumps(rows, ensure_ascii=False), encoding)
    for source in (tmp_path / "a.json", tmp_path):
        assert {own[0]: own[1] for own in SourceReader(Columns(), RowReader()).read([str(source)])} == {
            row["id"]: row["text"] for row in rows
        }


@pytest.mark.parametrize("length", [10, 10_000])
def test_objects_a_line_in_a_json_file_are_rows_in_a_folder_too(tmp_path, length):
    rows = [{"id": str(n), "text": f"lion {n} " + "x" * length} for n in range(3)]
    (tmp_path / "a.json").write_text("\n".join(map(json.dumps, rows)))
    for source in (tmp_path / "a.json", tmp_path):
        assert [own[0] for own in SourceReader(Columns(), RowReader()).read([str(source)])] == ["0", "1", "2"]


def test_texts_of_an_array_are_documents(tmp_path):
    (tmp_path / "a.json").write_text('["lions", "tigers\\nroar"]')
    (tmp_path / "a.jsonl").write_text('"lions"\n"tigers"\n')
    found = list(SourceReader(Columns(), RowReader()).read([str(tmp_path / "a.json")]))
    assert [own[:2] for own in found] == [("a.json#1", "lions"), ("a.json#2", "tigers\nroar")]
    found = list(SourceReader(Columns(), RowReader()).read([str(tmp_path / "a.jsonl")]))
    assert [own[:2] for own in found] == [("a.jsonl#1", "lions"), ("a.jsonl#2", "tigers")]


@pytest.mark.parametrize("name", ["a.jl", "a.txt", "a", "a.log"])
@pytest.mark.parametrize(
    "text",
    ['{"id": "a", "text": "lion"}\n{"id": "b", "text": "cat"}\n', '[{"id": "a", "text": "lion"}, {"id": "b"}]'],
)
def test_rows_of_json_need_no_ending(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    for source in (tmp_path / name, tmp_path):
        assert [own[0] for own in SourceReader(Columns(), RowReader()).read([str(source)])] == ["a", "b"]
    (tmp_path / name).write_text(text.replace("text", "body"))
    found = list(SourceReader(Columns(), RowReader()).read([str(tmp_path / name)]))
    assert [own[0] for own in found] == [name], "without the columns that are asked for it is a text"


FRAMES = {
    "columns": '{"id":{"0":1,"1":2},"text":{"0":"lion","1":"cat"}}',
    "split": '{"columns":["id","text"],"index":[0,1],"data":[[1,"lion"],[2,"cat"]]}',
    "records": '[{"id":1,"text":"lion"},{"id":2,"text":"cat"}]',
    "table": '{"schema":{"fields":[{"name":"id"}]},"data":[{"id":1,"text":"lion"},{"id":2,"text":"cat"}]}',
}


@pytest.mark.parametrize("text", FRAMES.values(), ids=FRAMES)
def test_a_frame_as_pandas_writes_it_is_rows(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    for source in (tmp_path / "a.json", tmp_path):
        found = SourceReader(Columns(), RowReader()).read([str(source)])
        assert [own[:2] for own in found] == [("1", "lion"), ("2", "cat")]


def test_of_an_array_that_breaks_off_what_is_whole_counts(tmp_path):
    (tmp_path / "a.json").write_text('[{"id": 1, "text": "lion"},\n{"id": 2, "te')
    told = []
    found = list(SourceReader(Columns(), RowReader("skip", told.append)).read([str(tmp_path / "a.json")]))
    assert [own[0] for own in found] == ["1"]
    assert told[0].startswith(f"skipped {tmp_path}/a.json behind entry 1: broken JSON (Unterminated string")
    with pytest.raises(errors.SourceError, match="broken JSON"):
        list(SourceReader(Columns(), RowReader()).read([str(tmp_path / "a.json")]))


def test_a_row_without_the_key_of_its_group_or_item_is_counted(run, failed, tmp_path):
    rows = {"id": 1, "text": "lions", "g": "cats"}, {"id": 2, "text": "wheat"}, {"id": 3, "text": "rye", "g": None}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for asked in (["--group-by", "g"], ["--items", "g", "--features", "text"]):
        code, _, said = run("index", f"{asked[0][2:]}.db", "a.jsonl", *asked)
        assert code == 0 and "indexed 1;" in said and "not read: 2 rows without g" in said, said
        asked[1] = "h"
        failed(run("index", "b.db", "a.jsonl", *asked), 1, "line 1 has no column 'h'")


KEYS = st.text("ab", min_size=1, max_size=2)
NESTED = st.recursive(st.integers() | st.none(), lambda own: st.dictionaries(KEYS, own, max_size=3), max_leaves=12)


@examples(100)
@given(st.dictionaries(KEYS, NESTED), st.lists(KEYS, min_size=1, max_size=4))
def test_a_column_with_points_is_what_keys_within_one_another_lead_to(values, keys):
    own, is_there = values, True
    for key in keys:
        is_there = is_there and isinstance(own, dict) and key in own
        own = own[key] if is_there else None
    row = OpenCells(values)
    assert (row[".".join(keys)], ".".join(keys) in row) == (own, is_there)
    assert all(name in row for name in names_within(row))


def test_a_column_of_a_list_of_objects_is_the_list_of_what_they_have():
    row = OpenCells(
        {"a.b": 1, "a": {"b": 2}, "labels": [{"name": "x"}, {"name": ["y", "z"]}, {"id": 1}, {"name": None}]}
    )
    assert (row["a.b"], row["labels.name"]) == (1, ["x", "y", "z"])  # a key of that very name comes first
    assert "labels.color" not in row
    deep = {"name": "z"}
    for _ in range(5000):
        deep = [deep]
    assert OpenCells({"labels": deep})["labels.name"] == ["z"]


POINTED = st.recursive(
    st.integers(), lambda own: st.dictionaries(st.text("a.", min_size=1, max_size=3), own, min_size=1, max_size=2)
)


@examples(100)
@given(st.dictionaries(st.text("a.", min_size=1, max_size=3), POINTED))
def test_each_name_within_a_row_is_a_column_of_it_whatever_points_its_keys_have(values):
    row = OpenCells(values)
    assert all(name in row for name in names_within(row))


def test_keys_with_points_are_found_within_objects():
    row = OpenCells({"_source": {"user.name": "Ann", "user": {"age": 3}}, "a.b": {"c": 1}})
    assert [*names_within(row)] == ["_source.user.name", "_source.user.age", "a.b.c"]
    assert (row["_source.user.name"], row["_source.user.age"], row["a.b.c"]) == ("Ann", 3, 1)
    deep = {"b": 1}
    for _ in range(5000):
        deep = {"b": deep}
    assert len([*names_within(OpenCells(deep))]) == 1
    assert [*names_within({"a": {"b": 1}})] == ["a"], "a struct of Parquet has no columns within"


def test_objects_within_rows_have_columns(tmp_path, run, failed):
    dump = tmp_path / "products.jsonl"
    products = [("red boots", 30, ["feet"]), ("blue boots", 40, ["feet", "rain"]), ("a hat", 9, ["head"])]
    dump.write_text(
        "\n".join(
            json.dumps({"_id": str(number), "_source": {"title": title, "price": price, "tags": tags}})
            for number, (title, price, tags) in enumerate(products, 1)
        )
    )
    db = tmp_path / "shop.db"
    roles = ["--id", "_id", "--text", "_source.title", "--title", "_source.title", "--tags", "for=_source.tags"]
    run("index", db, dump, *roles, "--keep-columns", "_source.price")
    code, out, _ = run("expand", db, "1", "--items", "documents", "--filter", "_source.price < 50")
    hit = json.loads(out)[0]
    assert code == 0 and (hit["item"], hit["title"], hit["_source.price"]) == ("2", "blue boots", 40)
    asked = ["--id", "_id", "--text", "_source.body"]
    columns = "_id, _source.title, _source.price, _source.tags"
    failed(run("index", db, dump, *asked), 1, f"no column '_source.body'; it has {columns}")
    issues = tmp_path / "issues.json"
    issues.write_text(json.dumps({"issues": [{"key": "A-1", "fields": {"summary": "down"}}]}))
    problem = "no column 'fields.body'; it has key, fields.summary"
    failed(run("index", db, issues, "--text", "fields.body"), 1, problem)


def test_rows_of_json_in_a_folder_that_are_one_text_are_told(tmp_path, run):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "issues.json").write_text(
        json.dumps({"total": 1, "issues": [{"key": "A-1", "fields": {"body": "down"}}]})
    )
    (folder / "a.json").write_text('[{"n": 1}]')
    (folder / "settings.json").write_text('{"color": "red"}')
    (folder / "rows.json").write_text('[{"id": "r", "text": "lions"}]')
    code, _, said = run("index", "a.db", "in")
    told = "read 2 files (in/a.json, in/issues.json) as a document each; --text COL reads their rows"
    assert code == 0 and told in said, said
    code, _, said = run("index", "b.db", "in", "--text", "fields.body", "--id", "key")
    assert code == 0 and "issues.json" not in said
