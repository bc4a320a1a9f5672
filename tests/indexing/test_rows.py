"""Input is never misread: no odd id, count, number or text passes; the message has file, line and value."""

import io
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import tarfile

import pyarrow
import pytest
from pyarrow import feather, parquet

import setsearch
from setsearch import Columns, errors
from setsearch.indexing.rows.csv_rows import delimiter_of
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader

RATINGS = ("--items", "film", "--features", "user", "--count", "n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": NaN, "text": "a"}', "NaN is no value of JSON"),
        ('{"id": -Infinity, "text": "a"}', "-Infinity is no value"),
        ('{"id": 1e999, "text": "a"}', "'id' is inf"),
        ('{"id": "", "text": "a"}', "lone surrogates; correct it, or pass --errors skip"),
        ('{"id": "a", "text": NaN}', "NaN is no value"),
        ('{"id": "a", "text": 1e999}', "'text' is not a text but inf"),
        ('{"id": "a", "id": "b", "text": "a"}', "the key 'id' comes twice"),
        ('{"id": "a", "text": "x", "more": {"b": 1, "b": 2}}', "the key 'b' comes twice"),
        ('{"id": "a", "text": true}', "'text' is not a text but True; correct it, or pass --errors skip"),
        ('{"id": "a", "text": "x", "title": {"en": "A"}}', "'title' is an object, {'en': 'A'}; choose title.en"),
        ('{"id": {"no": 1}, "text": "x"}', "'id' is an object, {'no': 1}; choose id.no"),
        ('{"id": "a", "text": [{"a": {"b": 1}, "c": "d"}]}', "; choose text.a.b or text.c"),
    ],
)
def test_a_line_of_json_is_read_as_it_is_or_refused(run, failed, tmp_path, line, said):
    (tmp_path / "a.jsonl").write_text('{"id": "good", "text": "lion"}\n' + line + "\n")
    failed(run("index", "a.db", "a.jsonl"), 1, "a.jsonl, line 2", said)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize(
    "count", ["1_000", "\u0661", "\uff11", "0x10", "1e", "", "nan", "inf", "1,5", "½", "1 0", "--1", "infinity", "1.5"]
)
def test_a_count_is_a_plain_number(run, failed, tmp_path, count):
    (tmp_path / "a.csv").write_text(f'film,user,n\nx,u,2\ny,u,"{count}"\n', encoding="utf-8")
    failed(run("index", "a.db", "a.csv", *RATINGS), 1, "a.csv, line 3", "'n' is", repr(count))


def test_plain_counts_are_read(run, tmp_path):
    (tmp_path / "a.csv").write_text("film,user,n\nx,u,2\ny,u, 3 \nz,u,1e1\nw,u,4.0\nv,u,+5\n")
    assert run("index", "a.db", "a.csv", *RATINGS)[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("film").postings("u") == {"x": 2, "y": 3, "z": 10, "w": 4, "v": 5}


@pytest.mark.parametrize("number", ["1_000", "\u0663", "nan", "1e999", "0x1"])
def test_a_number_is_a_plain_number(run, failed, tmp_path, number):
    (tmp_path / "a.csv").write_text(f"name,x\na,1.5\nb,{number}\n", encoding="utf-8")
    failed(run("index", "a.db", "a.csv", "--items", "name", "--numbers", "x"), 1, "a.csv, line 3", repr(number))


def test_columns_of_one_name_are_refused(run, failed, tmp_path):
    (tmp_path / "a.csv").write_text("id,text,id\n1,lion,2\n")
    failed(run("index", "a.db", "a.csv"), 1, "a.csv, line 1", "several columns are named 'id'")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_json_end_as_lines_of_csv_do(run, failed, tmp_path, end):
    lines = ['{"id": 1, "text": "lion\\rtiger"}', '{"id": 2, "text": "oats"}', "{"]
    (tmp_path / "a.jsonl").write_bytes(end.join(lines).encode())
    failed(run("index", "a.db", "a.jsonl"), 1, "a.jsonl, line 3: broken JSON")
    assert run("index", "a.db", "a.jsonl", "--errors", "skip")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert [index.items("documents").features_of(id) for id in "12"] == [{"lion": 1, "tiger": 1}, {"oats": 1}]


def test_bad_lines_can_be_skipped(run, tmp_path):
    lines = [
        '{"id": NaN, "text": "a"}',
        '{"id": "b", "id": "c"}',
        '{"id": "", "text": "a"}',
        '{"id": "d", "text": "lion"}',
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    code, _, said = run("index", "a.db", "a.jsonl", "--errors", "skip")
    assert (code, said.count("skipped a.jsonl, line")) == (0, 3)
    assert "--errors" not in said, "that is done already"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "UTF_32", "u16", "utf32"])
def test_rows_in_wide_encodings(tmp_path, encoding):
    """As spreadsheets export them with a mark at the beginning, and databases without one."""
    rows = [{"id": str(n), "text": f"Löwe \u0a0a {n}"} for n in range(3)]
    csv_text = "id;text\r\n" + "".join(f"{row['id']};{row['text']}\r\n" for row in rows)
    for name, text in (("a.csv", csv_text), ("a.jsonl", "\n".join(map(json.dumps, rows)))):
        (tmp_path / name).write_bytes(text.encode(encoding))
        for given in (None, encoding):
            assert [row for _, row in RowReader(encoding=given).read(str(tmp_path / name))] == rows
    (tmp_path / "broken.csv").write_bytes(b"\xff\xfea")
    with pytest.raises(errors.SourceError, match=r"broken\.csv is not utf-16"):
        list(RowReader().read(str(tmp_path / "broken.csv")))


def test_a_json_array_of_objects_is_rows(run, failed, tmp_path):
    rows = [{"id": n, "text": text} for n, text in enumerate(["lion tiger", "lion", "wheat"])]
    for name, data in {"a": json.dumps(rows), "b": "\ufeff" + json.dumps(rows, indent=1)}.items():
        (tmp_path / f"{name}.json").write_text(data)
        assert run("index", f"{name}.db", f"{name}.json")[0] == 0
        assert json.loads(run("expand", f"{name}.db", "0", "--items", "documents")[1])[0]["item"] == "1"
    (tmp_path / "c.json").write_text('{"text": ["lion", "tiger"]}')
    assert run("index", "c.db", "c.json")[0] == 0
    assert json.loads(run("info", "c.db")[1])["readings"][0]["some"] == ["c.json"], "another value is a text"
    (tmp_path / "d.json").write_text(json.dumps([*rows, 5]))
    failed(run("index", "d.db", "d.json"), 1, "d.json, entry 4: not a JSON object")
    assert run("index", "d.db", "d.json", "--errors", "skip")[0] == 0
    (tmp_path / "e.json").write_text('[{"id": 1, "id": 2}]')
    failed(run("index", "e.db", "e.json"), 1, "e.json, entry 1: broken JSON (the key 'id' comes twice)")
    failed(run("index", "m.db", "none.json"), 1, "none.json does not exist")
    assert run("index", "m.db", "none.json", "c.json", "--errors", "skip")[0] == 0
    (tmp_path / "r.json").write_text(json.dumps([{"film": "a", "user": "x"}, {"film": "b", "user": "x"}]))
    assert run("index", "r.db", "r.json", "--items", "film", "--features", "user")[0] == 0


WRAPPED = {
    "an object": '{"total": 2, "items": [{"id": "a", "text": "lion"}, {"id": "b", "text": "tiger"}]}',
    "objects in objects": '{"ok": true, "data": {"page": {}, "children": [{"id": "a", "text": "lion"}, '
    '{"id": "b", "text": "tiger"}]}}',
    "keys": '{"a": {"text": "lion"}, "b": {"text": "tiger"}}',
    "lines": '{\n "rows": [\n  {"id": "a", "text": "lion"},\n  {"id": "b", "text": "tiger"}\n ]\n}\n',
}


@pytest.mark.parametrize("where", ["file", "folder", "input"])
@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_what_wraps_rows_is_rows(run, tmp_path, monkeypatch, text, where):
    """As a file, in a folder, and on standard input; a relation too."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(text)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    source = {"file": "in/a.json", "folder": "in", "input": "-"}[where]
    code, _, told = run("index", "a.db", source)
    assert (code, told.splitlines()) == (0, ["indexed 2; a.db now holds 2 documents, 2 terms"])
    with setsearch.open(tmp_path / "a.db") as index:
        assert dict(index.items("documents").features_of("b")) == {"tiger": 1}
    assert run("index", "r.db", "in/a.json", "--items", "id", "--features", "text")[0] == 0


TEXTS = {
    "rows without the columns": ('{"items": [{"name": "lion"}]}', "its rows have no column 'text', but name"),
    "several arrays": ('{"a": [{"id": 1, "text": "b"}], "b": [{"id": 1, "text": "b"}]}', ""),
    "a document with parts": ('{"text": "lion", "tags": [{"id": 1, "text": "cat"}]}', ""),
    "too deep": ('{"a": {"b": {"c": {"d": {"e": [{"id": 1, "text": "b"}]}}}}}', ""),
    "broken": ('{"items": [{"id": 1, "text": "b"}', ""),
}


@pytest.mark.parametrize(("text", "why"), TEXTS.values(), ids=TEXTS)
def test_what_wraps_no_rows_is_a_text(run, tmp_path, text, why):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text(text)
    for source in ("in/a.json", "in"):
        code, _, told = run("index", "a.db", source, "--replace")
        assert code == 0 and (why in told if source != "in" else "no column" not in told)
        with setsearch.open(tmp_path / "a.db") as index:
            assert list(index.items("documents").titles(["a.json"])) == ["a.json"]


def test_rows_without_a_text_are_counted(run, tmp_path):
    """A dump of a database has rows of several tables."""
    rows = [{"model": "zoo.cat", "said": "lions"}, {"model": "auth.user", "name": "ann"}, {"model": "x", "said": " "}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "not read: 2 rows without a text\n" in run("index", "a.db", "a.jsonl", "--text", "said")[2]


def test_an_object_is_a_row_where_its_columns_are_asked_for(run, failed, tmp_path):
    """As programs export notes, a file each; those without the columns stay texts, and a suggestion runs."""
    (tmp_path / "in").mkdir()
    notes = {
        "a": {"title": "Zoo", "said": "lions roar at the zoo"},
        "b": {"list": [{"text": "milk"}, {"text": "eggs"}]},
    }
    for name, note in notes.items():
        (tmp_path / "in" / f"{name}.json").write_text(json.dumps(note, indent=1))
    command = run("index", "a.db", "in/a.json", "--suggest")[1]
    assert command == "setsearch index a.db in/a.json --title title --text said\n"
    for source, ids in (("in/a.json", ["a.json#1"]), ("in", ["a.json#1", "b.json"])):
        assert run("index", "a.db", source, *shlex.split(command)[4:], "--replace")[0] == 0
        with setsearch.open(tmp_path / "a.db") as index:
            documents = index.items("documents")
            assert sorted(documents.titles(["a.json#1", "a.json", "b.json", "b.json#1"])) == ids
            assert set(documents.features_of("a.json#1")) == {"lions", "roar", "at", "the", "zoo"}
    failed(run("index", "b.db", "in/a.json", "--text", "sad"), 1, "has no column 'sad'; it has title, said")


def test_an_array_in_a_folder_is_rows_if_it_has_their_columns(run, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('[{"id": "x", "text": "lion"}]')
    (tmp_path / "in" / "b.json").write_text('[{"name": "lion"}]')
    assert run("index", "a.db", "in")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert set(index.items("documents").titles(["x", "a.json", "b.json"])) == {"x", "b.json"}


def test_rows_without_ids_in_a_folder_are_numbered(run, tmp_path):
    """An export of a chat has a file a day: each message is a document, with the path of its file."""
    days = [tmp_path / "chat" / channel / "2024-01-02.json" for channel in ("general", "random")]
    for day in days:
        day.parent.mkdir(parents=True)
        day.write_text('[{"user": "ann", "text": "lions"}, {"user": "bob", "text": "tigers"}]')
    (tmp_path / "chat" / "users.json").write_text('[{"name": "ann"}]')
    (tmp_path / "chat" / "more.jsonl").write_text('{"text": "cats"}\n')
    with tarfile.open(tmp_path / "chat.tar", "w") as archive:
        archive.add(tmp_path / "chat", "chat")
    for source, folder in (("chat", ""), ("chat.tar", "chat/")):
        code, _, told = run("index", "a.db", source, "--replace", "--keep-columns", "user")
        assert code == 0 and f"no column 'id' in {source}{os.sep}" in told.replace("/", os.sep)
        with setsearch.open(tmp_path / "a.db") as index:
            names = [f"{folder}{channel}/2024-01-02.json#{n}" for channel in ("general", "random") for n in (1, 2)]
            names += [f"{folder}more.jsonl#1", f"{folder}users.json"]
            documents = index.items("documents")
            assert documents.item_count() == len(names) and documents.find_all(names) == names


def test_one_object_of_standard_input_is_a_row(run, tmp_path, monkeypatch):
    text = '{"id": "a", "text": "lion", "tags": [{"id": 1}, {"id": 2}]}'
    for given in (text, f"{text}\n", f'\n{text}\n\n{{"id": "b", "text": "tiger"}}\n'):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        assert run("index", "a.db", "-", "--replace")[2].startswith(f"indexed {given.count('text')};")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"\n{text}\n\nbad\n".encode())))
    assert "standard input, line 4: broken JSON" in run("index", "a.db", "-")[2]


def test_a_stream_of_rows_is_read_by_lines_also_after_a_broken_one(run, tmp_path, monkeypatch):
    monkeypatch.setattr("setsearch.indexing.rows.reader.read_whole", None)
    given = b'{"id": "a", "text": "lion"}\n\n"bad\n{"id": "b", "text": "tiger"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    code, _, said = run("index", "a.db", "-", "--errors", "skip")
    assert code == 0 and "skipped standard input, line 3: broken JSON" in said and "indexed 2;" in said


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("id,text", ","),
        ("id;text, long;year", ";"),
        ('id;"a, b, c";text', ";"),
        ("id\ttext", "\t"),
        ("id|text|a,b", "|"),
        ("id", ","),
    ],
)
def test_the_delimiter_is_what_the_header_has_most(header, found):
    assert delimiter_of(header, ",") == found


MARKED = [
    (
        '<p>A cat&nbsp;eats <a href="x?a&amp;b">mo<b>use</b></a></p><li>or milk<script>v</script>',
        "A cat eats mouse\nor milk",
    ),
    ("<!-- wp:paragraph -->\n<P CLASS=x>Lions</P>\n<!-- /wp:paragraph -->", "Lions"),
    ("lions<br/>tigers", "lions\ntigers"),
    ("<html><head><title>Cats</title></head>roar &lt;/p&gt;", "Cats\nroar </p>"),
    ("<![CDATA[<jats:p>Lions</jats:p>]]>", "Lions"),
    ("R&amp;D, caf&eacute; &#x27;x&#39; &zebra; AT&T &copy=1", "R&D, café 'x' &zebra; AT&T &copy=1"),
    ("List<A> a < b <me@x.org>\n\n<T> <pre> </T>", "List<A> a < b <me@x.org>\n\n<T> <pre> </T>"),
    ("<p>List<A>, <me@x.org>, a<b and c>d, <p y></p>", "List<A>, <me@x.org>, a<b and c>d, <p y>"),
    ("a<br>I </3 you, </ x>", "a\nI </3 you, </ x>"),
    ('if (a<b) print("</p>");\n  <T> c>d', 'if (a<b) print("</p>");\n  <T> c>d'),
    ("a <script> ends by </Script>, a <script> or <style><br>so", "a , a <script> or <style>\nso"),
    ("x<br><?php $x->roar(); ?><?xml:namespace o/>[[1]]>0", "x\n<?php $x->roar(); ?>[[1]]>0"),
    ('<?XML a?>"<?xml" -> lion<br>', '"<?xml" -> lion'),
    ('<A HREF="x">lion</A><svg/><svg a="1"> <me a="1"><br/><b id="x">cut</spa', 'lion<svg/> <me a="1">\ncut</spa'),
    ("<p>lion</p><![x y> tiger <![if !a]>bear<![endif]>", "lion\n<![x y> tiger bear"),
    ("<br>" + "i<n" * 30, "i<n" * 30),
    ("&notit; &Zebra;", "&notit; &Zebra;"),
    ("_Big_ cats in <b>_snake_case_</b>", "Big cats in snake_case"),
]


def test_a_gap_among_the_numbers_of_an_item_names_the_way_out(run, tmp_path, failed):
    (tmp_path / "a.csv").write_text("name,x,y\na,1,2\nb,,3\nc,2,2\n")
    asked = ("index", "a.db", "a.csv", "--items", "name", "--numbers", "x", "--numbers", "y")
    told = "a.csv, line 3: the column 'x' is empty; an item has all its numbers: fill it, or pass --errors skip"
    failed(run(*asked), 1, told)
    code, _, said = run(*asked, "--errors", "skip")
    assert code == 0 and "skipped a.csv, line 3" in said and "holds 2 name" in said


def test_groups_have_no_contexts(run, tmp_path, failed):
    (tmp_path / "a.jsonl").write_text('{"kind": "cat", "text": "a lion"}\n')
    asked = ("index", "a.db", "a.jsonl", "--group-by", "kind")
    for _ in range(2):
        failed(
            run(*asked, "--contexts"), 2, "words of documents have contexts, not those of 'kind'; leave --contexts out"
        )
        assert run(*asked)[0] == 0


@pytest.mark.parametrize(("text", "shown"), MARKED)
def test_texts_of_tables_are_read_as_pages_show_them(run, tmp_path, text, shown):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "kind": "k", "title": text, "text": text}) + "\n")
    assert run("index", "a.db", "a.jsonl")[0] == run("index", "b.db", "a.jsonl", "--group-by", "kind")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        ((title, found),) = ((row["title"], row["text"]) for row in index.export())
    assert title == found == shown
    with setsearch.open(tmp_path / "b.db") as grouped, setsearch.open(tmp_path / "c.db", create=True) as index:
        index.add([("k", shown)])
        with grouped.items("terms").stored() as ours, index.items("terms").stored() as plain:
            assert ours.items.names() == plain.items.names()


def test_who_gives_a_text_himself_gives_all_of_it(tmp_path):
    with setsearch.open(tmp_path / "c.db", create=True) as index:
        index.add([("a", MARKED[0][0])])
        assert [row["text"] for row in index.export()] == [MARKED[0][0]]


def test_blank_lines_before_a_header_are_none(run, failed, tmp_path):
    (tmp_path / "b.csv").write_text("\n  \nid,text\n1,lion\n2,tiger\n")
    assert run("index", "b.db", "b.csv")[0] == 0
    (tmp_path / "b.csv").write_text("\n\nid,text\n1,lion,x\n")
    failed(run("index", "b.db", "b.csv"), 1, "b.csv, line 4: 3 fields")


def test_a_table_of_numbers_with_a_repeated_item_says_so_only(tmp_path):
    with sqlite3.connect(tmp_path / "n.db") as host:
        host.execute("create table r (film text, x real)")
        host.executemany("insert into r values (?, ?)", [("a", 1), ("b", 2), ("a", 3)])
    host.close()
    command = [sys.executable, "-m", "setsearch", "index", "n.db", "--table", "r", "--items", "film", "--numbers", "x"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "Error: the id 'a' occurs twice; ids must be unique\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"lions and tigers\n", "standard input is neither CSV nor JSON, and does not begin as another format; give a"),
        (b"%!PS-Adobe-3.0", "standard input is not read: PostScript: save it as PDF"),
        (b"", "nothing to index in -: no document, no row"),
    ],
)  # fmt: skip
def test_what_comes_on_standard_input_is_named_rightly(run, failed, given, said):
    failed(run("index", "a.db", "-", stdin=given), 1, said)


def test_a_text_has_no_rows(run, failed, tmp_path):
    (tmp_path / "a.txt").write_text("lion\n")
    (tmp_path / "a.csv").write_text("id,text\na,lion\n")
    assert run("index", "a.db", "a.csv")[0] == 0
    for command in (("index", "b.db", "a.txt", "--items", "a", "--features", "b"), ("set", "import", "a.db", "a.txt")):
        failed(run(*command), 1, "a.txt has no rows; give .json, .jsonl, .ndjson, .csv,")
    failed(run("set", "import", "a.db", "none.csv"), 1, "none.csv does not exist")


def test_a_condition_that_no_row_meets_is_named(run, failed, tmp_path):
    (tmp_path / "a.csv").write_text("user,film,rating\nu,a,4\n")
    how = ("index", "a.db", "a.csv", "--items", "film", "--features", "user", "--keep")
    failed(run(*how, "rating > 9"), 1, "nothing to index in a.csv: no document, no row that meets 'rating > 9'")
    failed(run(*how, "stars > 4"), 1, "a.csv, line 2 has no column 'stars' to compare; it has user, film, rating")
    failed(run(*how, "rating => 4"), 2, "--keep is a condition such as 'rating >= 4', not 'rating => 4'")


def test_bars_divide_columns_on_standard_input(run, tmp_path):
    assert run("index", "a.db", "-", stdin=b"id|text\n1|lion, tiger\n")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").features_of("1") == {"lion": 1, "tiger": 1}


@pytest.mark.parametrize("option", ["--tags", "--links", "--numbers", "--keep-columns"])
def test_columns_that_no_document_can_have_are_an_error(run, tmp_path, option):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("lion tiger")
    code, _, said = run("index", "a.db", "notes", option, "c")
    assert code == 1 and "no document has a column 'c' beside its text; leave it out, or give rows" in said
    (tmp_path / "b.jsonl").write_text('{"id": "b", "text": "wheat", "c": 3}')
    assert run("index", "a.db", "notes", "b.jsonl", option, "c")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.info()["readings"][0]["item_count"] == 2


def test_notes_beside_files_of_rows_are_in_their_relation(tmp_path, run):
    """A folder is read leniently, each file once; nothing is told twice, or of what is only looked at."""
    folder = tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.jsonl").write_text('{broken\n{"topic": "cats", "text": "lions"}\n')
    (folder / "b.jsonl").write_bytes(
        '{"topic": "Füchse", "text": "ein roter Fuchs über dem grünen Hügel"}'.encode("cp1252")
    )
    (folder / "c.parquet").write_bytes(b"PAR1 and no more")
    (folder / "sub" / "d.md").write_text("---\ntopic: [cats, dogs]\n---\nbarking\n")
    (folder / "e.txt").write_text("of no topic")
    code, _, said = run("index", "a.db", "in", "--group-by", "topic")
    assert code == 0 and "indexed 3;" in said and "not read: 1 document without 'topic'" in said, said
    assert said.count("a.jsonl, line 1") == 1 and said.count("in/c.parquet cannot be read") == 1, said
    assert "read 1 file (in/b.jsonl) as cp1252" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        topics = index.items("topic")
        assert {own: {*topics.features_of(own)} for own in ("cats", "dogs")} == {
            "cats": {"lions", "cats", "dogs", "barking"},
            "dogs": {"cats", "dogs", "barking"},
        }
    code, _, said = run("index", "b.db", "in", "--group-by", "topic", "--errors", "strict")
    assert code == 1 and "a.jsonl, line 1: broken JSON" in said


@pytest.mark.parametrize("ending", [".parquet", ".jsonl", ".arrow"])
def test_a_partitioned_folder_is_the_rows_of_its_files(tmp_path, ending):
    """Whole, file by file, or joined by somebody else: the same relation, numbers and groups."""
    rows = [
        {"film": film, "user": f"u{place}", "n": place, "text": f"{film} {year}", "year": year}
        for year in ("2023", "2024")
        for place, film in enumerate("abc")
    ]
    for year in ("2023", "2024"):
        (tmp_path / "d" / f"year={year}").mkdir(parents=True)
        own = [{name: row[name] for name in row if name != "year"} for row in rows if row["year"] == year]
        path = tmp_path / "d" / f"year={year}" / f"0{ending}"
        if ending == ".jsonl":
            path.write_text("\n".join(map(json.dumps, own)))
        else:
            (feather.write_feather if ending == ".arrow" else parquet.write_table)(pyarrow.Table.from_pylist(own), path)
    (tmp_path / "d" / "_SUCCESS").write_text("")
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "0.jsonl").write_text('{"film": "other rows"}')
    (tmp_path / "mail" / "0.eml").write_text("From: Ann <a@b.c>\nTo: Bob <b@b.c>\n\nlions")
    (mail,) = SourceReader(Columns(items="from", features="to"), RowReader()).read([str(tmp_path / "mail")])
    assert mail[0] == "a@b.c"
    (tmp_path / "whole.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = sorted(map(str, (tmp_path / "d").rglob(f"*{ending}")))
    for roles in (
        {"items": "film", "features": "user"},
        {"items": "film", "features": "year"},
        {"items": "year", "features": "film", "count": "n"},
        {"group_by": "year"},
    ):
        expected, *others = [
            list(SourceReader(Columns(**roles), RowReader()).read(source))
            for source in ([str(tmp_path / "whole.jsonl")], [str(tmp_path / "d")], files)
        ]
        assert others == [expected, expected], roles
    numbers = Columns(items="film", numbers=("n",))
    for source in ([str(tmp_path / "d")], files):
        assert len(list(SourceReader(numbers, RowReader()).read_numbers(source))) == 6
    home = tmp_path / "film=x" / "mine"  # others of a path have nothing to do with rows
    home.mkdir(parents=True)
    (tmp_path / "d").rename(home / "d")
    again = list(SourceReader(Columns(**roles), RowReader()).read([str(home / "d")]))
    assert again == expected, "a folder is the same wherever it is"
    documents = SourceReader(Columns(text=("text",), keep=("year",)), RowReader())
    assert all(item[3] == {"year": "2023"} for item in documents.read([str(home / "d" / "year=2023" / f"0{ending}")]))
    (home / "d").rename(tmp_path / "d")
    (one,) = SourceReader(Columns(items="year", features="film"), RowReader()).read(files[:1])
    assert one == ("2023", {"a": 1, "b": 1, "c": 1}, None)
