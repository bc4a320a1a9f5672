"""Workbooks are tables: the rows of a sheet below its header."""

import datetime
import json
import zipfile

import pytest

import setsearch
from setsearch import errors
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns

openpyxl = pytest.importorskip("openpyxl", reason="needs openpyxl: pip install setsearch[office]")
RELATION = ("--items", "film", "--features", "user", "--count", "n")
DAY = datetime.datetime(2026, 11, 27)
TABLE = [["film", "user", "n", "day"], ["Alien", "u1", 2, DAY], ["Aliens", "u1", 1.0, DAY], ["Brazil", 7, 1, None]]


def write(path, sheets):
    if path.suffix == ".ods":
        odfdo = pytest.importorskip("odfdo", reason="needs odfdo: pip install setsearch[office]")
        document = odfdo.Document("spreadsheet")
        document.body.clear()
        for name, rows in sheets.items():
            table = odfdo.Table(name)
            for row in rows:
                table.append_row(_row(odfdo, row))
            document.body.append(table)
        document.save(path)
        return
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def _row(odfdo, cells):
    row = odfdo.Row()
    row.set_values(cells)
    return row


def rows(path, **options):
    return list(SourceReader(Columns(), RowReader(**options)).rows_of(str(path)))


@pytest.mark.parametrize("ending", [".xlsx", ".xlsm", ".ods"])
def test_a_workbook_is_a_relation(run, tmp_path, ending):
    write(tmp_path / f"a{ending}", {"Films": TABLE})
    assert run("index", "a.db", f"a{ending}", *RELATION)[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        reading = index.items("film")
        assert {own: dict(reading.features_of(own)) for own in ("Alien", "Aliens", "Brazil")} == {
            "Alien": {"u1": 2}, "Aliens": {"u1": 1}, "Brazil": {"7": 1},
        }  # fmt: skip


def test_what_stands_above_and_beside_a_table_is_not_in_it(tmp_path):
    told = []
    about = [["Report of 3 May"], [], ["film", "user"], ["Alien", "u1"], [], ["Brazil", "u2"]]
    same = [["film", "user"], ["Aliens", "u1"]]
    sheets = {
        "Read me": [["see below"], ["and ask"]],
        "July": same[:1],
        "May": about,
        "June": same,
        "Rates": [["a", "b"], [1, 2]],
        "Empty": [],
    }
    write(tmp_path / "a.xlsx", sheets)
    found = rows(tmp_path / "a.xlsx", warn=told.append)
    places = [place.removeprefix(f"{tmp_path}/a.xlsx, ") for place, _ in found]
    assert places == ["row 4", "row 6", "sheet June, row 2!2"]
    assert [row["film"] for _, row in found] == ["Alien", "Brazil", "Aliens"]
    assert told == [
        f"{tmp_path}/a.xlsx: read the sheet May, not those with other columns (Read me, Rates)",
        f"{tmp_path}/a.xlsx: left out a line above the header (Report of 3 May)",
    ]
    told.clear()
    found = rows(tmp_path / "a.xlsx", warn=told.append, asked=frozenset(["Alien"]))
    assert [[*row.values()] for _, row in found] == [["Brazil", "u2"]]
    assert told[-1] == f"{tmp_path}/a.xlsx: left out 2 lines above the header (Report of 3 May)"


def test_documents_of_a_workbook(run, failed, tmp_path):
    """Rows where a sheet has the columns that are asked for, else one text; in a folder likewise."""
    table = [["id", "text", "day"], ["a", "lions", DAY], [2.0, "tigers", None]]
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "a.xlsx", {"Texts": table})
    write(tmp_path / "b.xlsx", {"Texts": [["body", "when"], ["lions", DAY], ["tigers", None]]})
    for source in (tmp_path / "in" / "a.xlsx", tmp_path / "in"):
        assert [own[:2] for own in SourceReader(Columns(), RowReader()).read([str(source)])] == [
            ("a", "lions"),
            ("2", "tigers"),
        ]
    said = run("index", "b.db", "b.xlsx")[2]
    assert "b.xlsx is one text: its rows have no column 'text', but body, when" in said
    assert "as a document each; --text COL reads their rows" in said
    code, out, said = run("index", "c.db", "b.xlsx", "--id", "When", "--text", "body")
    failed((code, out, said), 1, "b.xlsx, row 2 has no column 'When'; it has body, when")
    reader = SourceReader(Columns(text=("body",), keep=("when",)), RowReader())
    found = list(reader.read([str(tmp_path / "b.xlsx")]))
    assert [own[0] for own in found] == ["b.xlsx#2", "b.xlsx#3"] and found[0][3] == {"when": DAY}


def test_a_sheet_of_one_column_is_a_table_where_it_is_asked_for(tmp_path, run, failed):
    write(tmp_path / "a.xlsx", {"Survey": [["Results"], ["said"], ["lions roar"], ["tigers"]]})
    write(tmp_path / "b.xlsx", {"Texts": [["text"], ["lions"]], "About": [["Read this"]]})
    assert run("index", "a.db", "a.xlsx", "--text", "said")[2].startswith("a.xlsx: left out a line above the header")
    with setsearch.open(tmp_path / "a.db") as index:
        assert sorted(index.items("documents").titles(["a.xlsx#3", "a.xlsx#4"])) == ["a.xlsx#3", "a.xlsx#4"]
    code, _, said = run("index", "b.db", "b.xlsx")
    assert code == 0 and said.startswith("b.xlsx: read the sheet Texts, not those with other columns (About)")
    failed(run("index", "c.db", "a.xlsx", "--text", "sad"), 1, "no document has a column 'sad' beside its text")
    failed(run("index", "c.db", "a.xlsx", "--id", "sad"), 1, "no document has a column 'sad'")


def test_references_of_a_workbook(tmp_path):
    table = [["Article Title", "Abstract", "DOI"], ["Big cats", "Lions.", "10.1/a"], ["Small cats", None, "10.1/b"]]
    write(tmp_path / "savedrecs.xlsx", {"savedrecs": table})
    for source in (tmp_path / "savedrecs.xlsx", tmp_path):
        groups = list(SourceReader(Columns(), RowReader()).read([str(source)]))
        assert [own.copies[0].number for own in groups] == [1, 2]


def test_a_workbook_that_is_none_is_told(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK\3\4" + bytes(100))
    with pytest.raises(errors.SourceError, match=r"a\.xlsx cannot be read: .*; save it again"):
        rows(tmp_path / "a.xlsx")
    (tmp_path / "a.xlsx").write_bytes(b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(errors.SourceError, match=r"a\.xlsx is not read: encrypted: save it without its password"):
        rows(tmp_path / "a.xlsx")
    write(tmp_path / "b.xlsx", {"Empty": [["x"]]})
    with pytest.raises(errors.SourceError, match=r"b\.xlsx has no sheet with names of columns"):
        rows(tmp_path / "b.xlsx")


TEXTS = {
    "references": ("Title,Abstract,DOI\nBig cats,Lions.,10.1/a\nSmall cats,,10.1/b\n", 2),
    "with semicolons": ("Title;Abstract;DOI\r\nBig cats;Lions.;10.1/a\r\n", 1),
    "with tabs": ("Title\tAuthors\tAbstract\nBig cats\tAnn\tLions.\n", 1),
    "a delimiter": ("sep=;\nTitle;Abstract\nBig cats;Lions.\n", 1),
}


@pytest.mark.parametrize("name", ["a.txt", "a", "a.dat", "a.text"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
def test_a_table_of_references_needs_no_ending(tmp_path, content, encoding, name):
    text, number = content
    (tmp_path / name).write_bytes(text.encode(encoding))
    for source in (tmp_path / name, tmp_path):
        assert len([*SourceReader(Columns(), RowReader()).read([str(source)])]) == number


def test_a_table_of_another_ending_is_one_where_its_columns_are_asked_for(run, tmp_path):
    (tmp_path / "a.txt").write_text("film|user\nAlien|u1\nAliens|u1\n")
    assert run("index", "a.db", "a.txt", "--items", "film", "--features", "user")[0] == 0
    (tmp_path / "b.log").write_text("when;what\n1;lions\n2;tigers\n")
    found = SourceReader(Columns(text=("what",)), RowReader()).read([str(tmp_path / "b.log")])
    assert [own[:2] for own in found] == [("b.log#2", "lions"), ("b.log#3", "tigers")]
    (tmp_path / "c.txt").write_text("text, more of it\nlions\n")
    assert [own[0] for own in SourceReader(Columns(), RowReader()).read([str(tmp_path / "c.txt")])] == ["c.txt"]


@pytest.mark.parametrize("name", ["k.xlsx", "k.txt", "k", "k.jl"])
def test_answers_and_titles_are_in_tables_of_any_kind(run, tmp_path, name):
    """By content: what begins with the columns, or a workbook that has them."""
    refs = "".join(f"TY  - JOUR\nTI  - T {n}\nAB  - Lions {n}\nDO  - 10.1000/x{n}\nER  - \n" for n in range(3))
    (tmp_path / "r.ris").write_text(refs)
    assert run("index", "r.db", "r.ris")[0] == 0
    table = [["item", "decision", "title"], ["10.1000/x0", "yes", "Big"], ["10.1000/x1", "no", "Small"]]
    if name == "k.xlsx":
        write(tmp_path / name, {"Answers": table})
    elif name == "k.jl":
        rows = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)))
    else:
        (tmp_path / name).write_text("\n".join(map(";".join, table)))
    assert run("review", "r.db", "r", "--known", name, "--export", "o.csv")[2].startswith(f"{name}: 1 yes, 1 no\n")
    (tmp_path / "t.csv").write_text("item,user\n10.1000/x0,u\n10.1000/x1,u\n")
    assert run("index", "t.db", "t.csv", "--items", "item", "--features", "user", "--titles", name)[0] == 0
    with setsearch.open(tmp_path / "t.db") as index:
        assert index.items("item").titles(["10.1000/x1"]) == {"10.1000/x1": "Small"}


@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_sets_are_read_from_workbooks(tmp_path, run, failed, ending):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("1", "lion cat"), ("tiger", "tiger cat"), ("rye", "rye grass")])
    source = tmp_path / f"classes{ending}"
    write(
        source,
        {"all": [["Set", "Item", "Mark"], ["cats", 1, None], ["cats", "tiger", ""], ["cats", "rye", "rejected"]]},
    )
    assert run("set", "import", "a.db", source.name, "--items", "documents")[0] == 0
    rows = [{"name": "cats", "items": "documents", "accepted": ["1", "tiger"], "rejected": ["rye"]}]
    assert json.loads(run("set", "export", "a.db")[1]) == rows
    write(source, {"all": [["Set", "Item"], ["cats", "unicorn"]]})
    failed(run("set", "import", "a.db", source.name, "--items", "documents"), 1, f"{source.name}, row 2", "'unicorn'")


def test_what_rows_of_a_workbook_lack_is_told(tmp_path, run):
    """Formulas that no spreadsheet computed, and comments; each once, as rows and as a text."""
    pytest.importorskip("markitdown")
    book = openpyxl.Workbook()
    for row in (["id", "text"], ["a", '=CONCATENATE("lions"; "!")'], ["b", "tigers"]):
        book.active.append(row)
    book.active["B3"].comment = openpyxl.comments.Comment("striped", "Ann")
    book.save(tmp_path / "a.xlsx")
    formula = "1 formula without a value (open and save them in a spreadsheet)"
    for options in ([], ["--items", "id", "--features", "text"]):
        assert f"not read: 1 comment on cells, {formula}" in run("index", "a.db", "a.xlsx", "--replace", *options)[2]
    book.active["B1"] = "words"
    book.save(tmp_path / "a.xlsx")
    assert f"not read: {formula}\n" in run("index", "b.db", "a.xlsx")[2]


def test_comments_in_another_encoding_leave_a_workbook_readable(tmp_path, run):
    book = openpyxl.Workbook()
    for row in (["id", "text"], ["a", "lions"], ["b", "tigers"]):
        book.active.append(row)
    book.active["B3"].comment = openpyxl.comments.Comment("striped", "Ann")
    book.save(tmp_path / "old.xlsx")
    with zipfile.ZipFile(tmp_path / "old.xlsx") as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part.decode().encode("utf-16") if "comment" in name and name.endswith(".xml") else part)
    assert run("index", "a.db", "a.xlsx", "--items", "id", "--features", "text")[0] == 0
