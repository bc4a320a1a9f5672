"""Whatever people have: folders of any text, mail, pages, manuals, references, Parquet, frames, ratings."""

import dataclasses
import gzip
import io
import json
import os
import sqlite3
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from itertools import chain
from pathlib import Path
from unittest.mock import Mock

import hypothesis.strategies as st
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import stop_words
import test.support
from hypothesis import given
from legacy_texts import TEXTS
from pyarrow import feather, parquet

import setsearch
from setsearch import Columns, errors
from setsearch.indexing.encodings import DETECTED, likely_encoding
from setsearch.indexing.folders import FolderRules
from setsearch.indexing.formats import FORMATS
from setsearch.indexing.rows import arrow
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.rows.relation_columns import read_columns
from setsearch.indexing.sources import SourceReader

MAILS = Path(test.support.__file__).parents[1] / "test_email" / "data"  # written by the authors of Python's library
SLAVIC = "bulgarian czech polish russian slovak ukrainian".split()
RELATIVES = dict.fromkeys(SLAVIC, "slavic") | dict.fromkeys(("indonesian", "malaysian"), "malay")
RELATIVES |= dict.fromkeys(("danish", "norwegian"), "norse")
WORD_LISTS = Path(stop_words.__file__).parent / "stop-words"


def read(*paths, columns=None, **options):
    """The documents of some sources, by id."""
    reader = SourceReader(columns or Columns(), RowReader(options.pop("errors", "strict"), **options))
    return {id: (text, title) for id, text, title in reader.read(list(map(str, paths)))}, reader


def test_mails_have_their_subjects(tmp_path):
    mails = sorted(MAILS.glob("msg_*.txt"))
    assert len(mails) > 40
    for mail in mails:
        (tmp_path / f"{mail.stem}.eml").write_bytes(mail.read_bytes())
    (tmp_path / "all.mbox").write_bytes(b"".join(b"From somebody\n" + mail.read_bytes() + b"\n" for mail in mails))
    found, reader = read(tmp_path)
    text, title = found["msg_01.eml"]
    assert title == "This is a test message"
    assert "Do you like this message?" in text
    assert found["all.mbox#1"] == (text + "\n", title)
    empty = len(reader.tally.left_out["empty"]) + reader.tally.unread["empty part{s} of files"]
    assert len(found) + empty >= 2 * len(mails), "some hold a line that begins with From"
    assert found["msg_07.eml"][1] == "Here is your dingus fish"
    assert not any("Content-Type" in text for id, (text, _) in found.items() if id.startswith("msg_0"))


def test_languages_are_read_and_told_apart(tmp_path):
    lists = sorted(WORD_LISTS.glob("*.txt"))
    assert len(lists) > 25
    folder = tmp_path / "lists"
    folder.mkdir()
    for path in lists:
        words = path.read_text().split()
        for part in range(3):
            (folder / f"{path.stem}-{part}").write_text(" ".join(words[part::3] + words[:9]))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(read(folder)[0] and [(id, text, title) for id, (text, title) in read(folder)[0].items()])
        documents = index.items("documents")
        for path in lists:
            (nearest,) = documents.expand([f"{path.stem}-0"], 1)
            found = nearest.item.rpartition("-")[0]
            assert RELATIVES.get(found, found) == RELATIVES.get(path.stem, path.stem)


FILES = {
    "a.html": (
        b"<html><head><title>Big  cats</title><style>x{}</style></head><p>Lions<b>!</b><p>T\xe9<script>1<2</script>"
        b"<svg><title>A drawing</title></svg><meta charset=latin-1>",
        "Big cats\nLions!\nTé",
        "Big cats",
    ),
    "b.rst": (b"\nA heading\n=========\n\ntext", "\nA heading\n=========\n\ntext", "A heading"),
    "c.md": (b"intro\n\n## The *second* ##\n", "intro\n\n## The *second* ##\n", "The *second*"),
    "notes": (b"\n---\nfirst line\nsecond", "\n---\nfirst line\nsecond", "first line"),
    "code.py": (b"import os\n", "import os\n", "code.py"),
    "tool.1": (b'.\\" no\n.TH TOOL 1\n.SH NAME\ntool \\- does \\fBit\\fR\n.SH USE\n.B x\n', None, "tool - does it"),
    "long": (b"word " * 40, "word " * 40, "word " * 15 + "word…"),
    "zip.txt.gz": (gzip.compress(b"packed"), "packed", "packed"),
}


def test_the_files_of_the_database_are_passed_over(tmp_path, run):
    """Those of others are left out, and named; what only begins like ours is read."""
    for name in ("a.txt", "b.db-notes.txt"):
        (tmp_path / name).write_text("a lion and a tiger")
    for again in range(2):
        code, _, err = run("index", "b.db", ".")
        assert (code, err.splitlines()) == (0, ["indexed 2; b.db now holds 2 documents, 4 terms"]), again
        with setsearch.open(tmp_path / "b.db") as index:
            index.items("documents").expand(["a.txt"])
    assert [path.name for path in tmp_path.glob("b.db-arrays-*")], "there was something to pass over"
    code, _, err = run("index", "c.db", ".")
    assert "left out 1 file (b.db): databases" in err and "c.db" not in err.partition("\n")[2]


def test_titles_and_texts_of_files(tmp_path):
    for name, (data, _, _) in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "image").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (tmp_path / "none.txt").write_bytes(b" \n")
    (tmp_path / "rows.csv").write_text("id,text\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x").write_text("hidden")
    found, reader = read(tmp_path)
    assert found.keys() == FILES.keys()
    for name, (_, text, title) in FILES.items():
        assert found[name][1] == title, name
        assert text is None or found[name][0] == text, name
    assert "does it" in found["tool.1"][0]
    assert ".SH" not in found["tool.1"][0]
    left_out = {why: [Path(name).name for name in names] for why, names in reader.tally.left_out.items()}
    assert left_out == {"no text": ["image"], "empty": ["none.txt"], "tables: name them one by one": ["rows.csv"]}
    chosen = SourceReader(Columns(), RowReader(), FolderRules(("*.rst", "c*")))
    assert [id for id, _, _ in chosen.read([str(tmp_path)])] == ["b.rst", "c.md", "code.py"]


def test_what_cannot_be_read_stops_or_is_skipped(tmp_path, monkeypatch):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "good.txt").write_text("lions")
    (folder / "latin.txt").write_bytes("Grüße aus Köln und München, schöne Straßen".encode("latin-1"))
    (folder / "wide.txt").write_text("Löwen", encoding="utf-16")
    assert [*read(folder, errors="skip")[0]] == ["good.txt", "latin.txt", "wide.txt"]
    (folder / "noise.txt").write_bytes(bytes(range(256)))
    assert read(folder)[1].tally.left_out == {"no text": [str(folder / "noise.txt")]}
    (folder / "bad.txt.gz").write_bytes(b"no gzip")
    (folder / "refs.bib").write_text("@book{a, title={One}}\n")
    monkeypatch.setitem(sys.modules, "bibtexparser", None)
    told = "BibTeX files need bibtexparser: pip install 'setsearch\\[references\\]'"
    for name, problem in (("bad.txt.gz", "cannot be read: Not a gzipped"), ("refs.bib", told)):
        with pytest.raises(errors.SourceError, match=problem):
            read(folder / name)
    told = []
    found, reader = read(folder, errors="skip", warn=told.append)
    assert [*found] == ["good.txt", "latin.txt", "wide.txt"]
    assert (
        len(told) == 1 and reader.tally.left_out["BibTeX files need bibtexparser: pip install 'setsearch[references]'"]
    )


def test_a_bad_file_stops_no_folder_but_a_command_that_names_it(run, failed, tmp_path):
    folder = tmp_path / "notes"
    (folder / "in").mkdir(parents=True)
    for name in ("a.txt", "z.txt"):
        (folder / name).write_text("lions")
    broken = gzip.compress(b"tigers" * 100)[:-8]
    bad = {
        "b.txt.gz": broken,
        "c.jsonl.gz": broken,
        "d.bib": b"@article{a, title={Tigers}, abstract={cut",
        "in/e.pdf": b"%PDF-1.4 broken",
        "f.jsonl": b'{"id": "f1", "text": "oats"}\n{\n{"id": "f2", "text": "oats"}\n',
    }
    for name, data in bad.items():
        (folder / name).write_bytes(data)
    code, _, said = run("index", "a.db", "notes")
    assert code == 0 and said.count("skipped notes/") == len(bad), said
    assert all(f"skipped notes/{name}" in said for name in bad)
    with setsearch.open(tmp_path / "a.db") as index:
        assert [*index.items("documents").titles(["a.txt", "z.txt", "f1", "f2"])] == ["a.txt", "z.txt", "f1", "f2"]
        assert index.items("documents").item_count() == 4 and index.check() == []
    failed(run("index", "b.db", "notes", "--errors", "strict"), 1, "notes/b.txt.gz cannot be read")
    for name in bad:
        failed(run("index", "b.db", f"notes/{name}"), 1, f"notes/{name}")
    assert not (tmp_path / "b.db").exists()


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes only there")
def test_a_name_that_is_no_text_is_told(tmp_path):
    (tmp_path / "good.txt").write_text("lions")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.txt")).write_text("tigers")
    with pytest.raises(errors.SourceError, match="name is no UTF-8"):
        read(tmp_path)
    assert [*read(tmp_path, errors="skip", warn=lambda message: None)[0]] == ["good.txt"]


def test_linked_folders_are_read_once(tmp_path, run):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("lions")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "b.txt").write_text("tigers")
    (folder / "link").symlink_to(tmp_path / "other", target_is_directory=True)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "real").mkdir()
    (folder / "real" / "c.txt").write_text("cats")
    (folder / "again").symlink_to(folder / "real", target_is_directory=True)  # before the folder, which keeps its name
    (folder / "key.txt").symlink_to(tmp_path / "other" / "a.txt")
    (folder / "a copy.txt").symlink_to(folder / "b.txt")
    found, reader = read(folder)
    assert [*found] == ["b.txt", "real/c.txt"], "links that lead out of the folder are not followed"
    ((why, names),) = reader.tally.left_out.items()
    assert "lead out of the folder" in why and sorted(Path(name).name for name in names) == ["key.txt", "link"]
    assert "left out 2 files" in run("index", "a.db", str(folder))[2]
    assert run("index", "b.db", str(folder), "--follow")[2].startswith("indexed 3")
    assert "left out" not in run("index", "c.db", str(folder / "real"), "--glob", "c*")[2]
    (folder / "real" / "nowhere.md").symlink_to("none")
    assert "left out" not in run("index", "d.db", str(folder / "real"), "--glob", "*.txt")[2]


def test_a_title_that_is_cut_gives_no_word_that_the_text_has_not(tmp_path, run):
    line = "The tramway of the town, which everybody calls Strassenbahn, runs to the old harbour"
    (tmp_path / "a.txt").write_text(f"{line}\nand back.")
    (tmp_path / "b.ris").write_text(f"TY  - JOUR\nTI  - {line} today\nAB  - Trams.\nER  - \n")
    assert run("index", "a.db", "a.txt", "b.ris")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        titles = documents.titles(["a.txt", "b.ris#1"])
        words = {*line.lower().replace(",", "").split(), "and", "back", "today", "trams"}
        assert all(set(documents.features_of(id)) <= words for id in titles)
    assert set(titles.values()) == {f"{line.removesuffix(' harbour')}…"}


def test_an_empty_index_says_why(tmp_path, run, failed):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(99))
    (tmp_path / "in" / "b.png").write_bytes(b"\x89PNG" + bytes(99))
    why = r"Word, PowerPoint and Outlook of before 2007: save it as .docx, .pptx or .eml; no text"
    failed(run("index", "a.db", "in"), 1, f"nothing to index in in: no document, no row ({why})")


def test_a_folder_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    (tmp_path / "good.txt").write_text("lions")
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def refusing(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(errors.SourceError, match="closed cannot be read: Permission denied"):
        read(tmp_path)
    assert [*read(tmp_path, errors="skip", warn=lambda message: None)[0]] == ["good.txt"]


def test_several_folders_have_their_names_in_ids(tmp_path):
    for folder in ("de", "fr"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("x")
    assert [*read(tmp_path / "de", tmp_path / "fr")[0]] == ["de/a.txt", "fr/a.txt"]


def test_encodings_are_detected_or_named(tmp_path):
    russian = (WORD_LISTS / "russian.txt").read_text()
    (tmp_path / "a.txt").write_bytes(russian.encode("cp1251"))
    (tmp_path / "b.txt").write_text(russian)
    (tmp_path / "c.txt").write_text(russian, encoding="utf-16")
    (tmp_path / "d.txt").write_text(russian, encoding="utf-32")
    found, reader = read(tmp_path)
    assert found["a.txt"][0] == found["b.txt"][0] == found["c.txt"][0] == found["d.txt"][0] == russian
    assert [*reader.rows.decided] == ["cp1251"]
    assert read(tmp_path / "a.txt", encoding="cp1251")[0]["a.txt"][0] == russian
    with pytest.raises(errors.SourceError, match=r"a\.txt is not utf-8: byte 0 is 0x"):
        read(tmp_path / "a.txt", encoding="utf-8")
    with pytest.raises(errors.UsageError, match="'klingon' is unknown"):
        read(tmp_path / "a.txt", encoding="klingon")


@pytest.mark.parametrize(
    ("data", "texts", "encoding"),
    [
        ("id;text\n1;tea\n2;Grüße aus Köln\n3;schöne Häuser\n".encode("cp1252"), ["tea", "Grüße aus Köln"], "cp1252"),
        ("id,text\n1,tea\n2,Мама мыла раму\n".encode("cp1251"), ["tea", "Мама мыла раму"], "cp1251"),
        ("id,text\n1,Grüße\n2,tea\n".encode(), ["Grüße", "tea"], None),
    ],
)
def test_the_first_letter_of_a_csv_file_that_is_not_ascii_tells_its_encoding(tmp_path, data, texts, encoding):
    (tmp_path / "a.csv").write_bytes(data)
    rows = RowReader()
    assert [cells["text"] for _, cells in rows.read(str(tmp_path / "a.csv"))][:2] == texts
    assert rows.decided == ({encoding: [str(tmp_path / "a.csv")]} if encoding else {})
    assert next(RowReader(encoding="latin-1").read(str(tmp_path / "a.csv")))


@pytest.mark.parametrize(
    "rows", [["1,Grüße".encode(), b"2,bad \xff byte"], [b"1,tea", b"2,bad \xff byte", "3,Grüße".encode()]]
)
def test_a_broken_byte_beside_utf8_is_an_error(tmp_path, rows):
    (tmp_path / "a.csv").write_bytes(b"\n".join([b"id,text", *rows, b""]))
    with pytest.raises(errors.SourceError, match="line 3 is not UTF-8: byte 6 is 0xff"):
        [*RowReader().read(str(tmp_path / "a.csv"))]
    warnings = []
    assert len([*RowReader(errors="skip", warn=warnings.append).read(str(tmp_path / "a.csv"))]) == len(rows) - 1
    assert "line 3: invalid UTF-8" in warnings[0]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Café"),
        ("cp1252", "El niño comió una manzana en la montaña. ¿Dónde está la biblioteca?"),
        ("cp1252", "En häst på ängen"),
        ("cp1252", "La città è più bella di sera perché c'è meno traffico. Così può riposare."),
        ("cp1252", "The “quoted” words — with long dashes — and curly apostrophes, isn’t it"),
        ("cp1252", "Straße für Straße wird es grüner, Öl und Essig gehören in die Küche."),
        ("cp1250", "Zażółć gęślą jaźń. Książka leży na stole, a dzieci idą do szkoły."),
        ("cp1253", "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας. Τα παιδιά πηγαίνουν στο σχολείο."),
        ("koi8-r", "Дети идут в школу, а потом играют во дворе. Скрипка и виолончель звучат вместе."),
        ("shift_jis", "東京は日本の首都です。子供たちは学校に行き、そのあと庭で遊びます。Javaも。"),
        ("gb18030", "北京是中国的首都。孩子们去学校,然后在院子里玩。"),
        ("euc_kr", "서울은 대한민국의 수도입니다. 아이들은 학교에 가고 그다음 마당에서 놉니다."),
    ],
)
def test_legacy_encodings_are_told_apart(tmp_path, encoding, text):
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert read(tmp_path / "a.txt")[0]["a.txt"][0] == text


def test_most_short_texts_are_read_rightly():
    """Those that are not are of Central Europe and Turkey, whose letters Western Europe has at other places."""
    wrong = {
        text[:12]
        for encoding, text in TEXTS
        if text.encode(encoding).decode(likely_encoding(text.encode(encoding)) or "ascii", "replace") != text
    }
    assert len(TEXTS) == 49
    assert wrong <= {"Az árvíztűrő", "Copiii merg ", "Çocuklar oku", "İstanbul Tür", "Vaikai eina ", "Bērni iet uz"}


def test_what_looks_like_nothing_is_of_pairs_or_nothing(monkeypatch):
    monkeypatch.setattr("charset_normalizer.from_bytes", lambda *_, **__: Mock(best=lambda: None))
    texts = [("gb18030", "社会上，孩子们去学校，然后在院子里玩。The end"), *TEXTS]
    told = {(encoding, text): likely_encoding(text.encode(encoding)) for encoding, text in texts}
    assert told[texts[0]] == "gb18030"
    assert {found for (encoding, _), found in told.items() if found not in (encoding, None, "cp1252")} == set()
    long = "社会上，" + "a" + "中文" * DETECTED  # cut within a letter
    assert likely_encoding(long.encode("gb18030")) == "gb18030"
    assert likely_encoding(b"caf\xe9 d\xe9j\xe0 vu \xc0 t\xeate repos\xe9e") is None


def test_broken_utf_8_is_not_guessed(tmp_path):
    (tmp_path / "a.txt").write_bytes(("日本語テキスト " * 20).encode() + b"\xe3\x81")
    with pytest.raises(errors.SourceError, match="not UTF-8: byte 440"):
        read(tmp_path / "a.txt")
    assert read(tmp_path / "a.txt", errors="replace")[0]["a.txt"][0].endswith("\ufffd")


def test_pages_of_a_pdf_are_read(tmp_path):
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    page = writer.add_blank_page(200, 200)
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    content = DecodedStreamObject()
    content.set_data(b"BT /F1 12 Tf 10 100 Td (Lions and tigers) Tj ET")
    page[NameObject("/Contents")] = writer._add_object(content)
    writer.add_metadata({"/Title": "Cats"})
    writer.write(tmp_path / "a.pdf")
    assert read(tmp_path / "a.pdf")[0] == {"a.pdf": ("Lions and tigers", "Cats")}


def write_stream(table, path):
    """As datasets of Hugging Face are saved."""
    with pyarrow.ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        *(("a.parquet", parquet.write_table), ("a.feather", feather.write_feather)),
        *(("a.arrow", feather.write_feather), ("a.arrow", write_stream)),
    ],
)
def test_arrow_files_and_their_halves(tmp_path, name, write, failed, run):
    write(pyarrow.table({"id": [1, 2], "text": ["lion", None]}), tmp_path / name)
    assert read(tmp_path / name)[0] == {"1": ("lion", None), "2": ("", None)}
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    failed(run("index", "x.db", name), 1, name, "cannot be read")


def test_a_stream_of_arrow_that_breaks_off_between_batches_is_told(tmp_path, run):
    write_stream(pyarrow.table({"id": [1, 2], "text": ["lion", "bear"]}), tmp_path / "a.arrow")
    whole = (tmp_path / "a.arrow").read_bytes()
    polars.DataFrame({"id": [1], "text": ["lion"]}).write_ipc_stream(tmp_path / "b.arrow")
    (tmp_path / "c.arrow.gz").write_bytes(gzip.compress(whole))
    assert all(
        "without its end" not in run("index", f"{name}.db", name)[2] for name in ("a.arrow", "b.arrow", "c.arrow.gz")
    )
    (tmp_path / "a.arrow").write_bytes(whole.removesuffix(arrow.END))
    code, _, err = run("index", "a.db", "a.arrow")
    assert code == 0 and "a.arrow is a stream of Arrow without its end" in err


def test_frames_come_in_and_go_out(tmp_path):
    rows = {"id": [1, 2, 3], "text": ["lion tiger", None, "lion"], "year": [1999.0, np.nan, 2001.0]}
    frames = [pandas.DataFrame(rows), polars.DataFrame(rows, nan_to_null=True), pyarrow.table(rows)]
    for number, frame in enumerate(frames):
        counted = []
        with setsearch.open(tmp_path / f"{number}.db", create=True) as index:

            def progress(rows, counted=counted):
                """Note of how many rows each one is."""
                for row in rows:
                    counted.append(len(rows))
                    yield row

            assert index.add_frame(frame, id="id", text="text", progress=progress) == 3
            assert counted == [3, 3, 3]
            assert index.items("documents").features_of("1") == {"lion": 1, "tiger": 1}
            assert index.items("documents").features_of("2") == {}
            assert index.add_frame(frame, update=True) == 3
            with pytest.raises(errors.DuplicateItem):
                index.add_frame(frame)
            hits = index.items("documents").expand(["1"])
            assert hits.to_pandas()["item"].tolist() == hits.to_polars()["item"].to_list() == [3, 2]
            assert hits.to_pandas().merge(frames[0], left_on="item", right_on="id")["year"].tolist()[0] == 2001
            assert hits.to_polars().join(frames[1], left_on="item", right_on="id").height == 2
            assert hits.shared().to_pandas()["item"].tolist() == [3]
            assert hits.to_polars()["score"].to_list() == [hit.score for hit in hits]
            index.add([("more", "lion")])  # texts are ids now, too
            mixed = index.items("documents").expand(["1"]).to_pandas()["item"].tolist()
            assert sorted(mixed) == ["2", "3", "more"]
    ratings = pandas.DataFrame({"user": ["u1", "u1", "u2"], "film": ["a", "b", "a"], "times": [1, 2, 3]})
    with setsearch.open(tmp_path / "r.db", create=True) as index:
        assert index.add_frame(ratings, items="film", features="user", count="times") == 2
        assert index.items("film").features_of("a") == {"u1": 1, "u2": 3}
        with pytest.raises(errors.SourceError, match=r"row 1: the column 'film' is None"):
            index.add_frame(pandas.DataFrame({"user": ["x"], "film": [None]}), items="film", features="user")
        with pytest.raises(errors.InvalidParameter, match=r"a frame is one of .*, or rows that are mappings, not list"):
            index.add_frame([1])


def test_the_index_of_pandas_names_rows(tmp_path):
    texts = pandas.DataFrame({"text": ["lion tiger", "lion", "wheat"]}, index=["a", "b", "c"])
    ratings = pandas.DataFrame({"film": ["x", "x", "y"], "user": ["u", "v", "u"]}).set_index(["film", "user"])
    cases = {
        "labels": (texts, ["a", "b", "c"]),
        "a name": (texts.rename_axis("doi"), ["a", "b", "c"]),
        "some rows": (texts.reset_index(drop=True)[lambda own: own["text"] != "lion"], [0, 2]),
        "the last row": (texts.reset_index(drop=True)[2:], [2]),
        "a plain range": (texts.reset_index(drop=True), [1, 2, 3]),
        "a label twice": (texts.set_axis(["a", "a", "b"]), [1, 2, 3]),
        "a column": (texts.assign(id=["d", "e", "f"]), ["d", "e", "f"]),
    }
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        for what, (frame, names) in cases.items():
            index.replace([("old", "")])
            index.delete(["old"])
            index.add_frame(frame, text="text")
            assert index.items("documents").item_count() == len(names), what
            assert index.items("documents").find_all(names) == [str(own) for own in names], what
        assert index.add_frame(ratings, items="film", features="user") == 2
        assert index.items("film").features_of("x") == {"u": 1, "v": 1}


def test_ids_come_back_from_frames_as_they_came(tmp_path):
    texts = pandas.DataFrame({"id": ["1", "2", "3"], "text": ["lion tiger", "lion", "wheat"]})
    ratings = pandas.DataFrame({"film": [10, 10, 20, 30], "user": [7, 8, 7, 8]})
    sizes = pandas.DataFrame({"thing": [4, 5, 6], "size": [1.0, 2.0, 3.0]})
    with setsearch.open(tmp_path / "i.db", create=True) as index:
        index.add_frame(texts, text="text")
        assert set(index.items("documents").expand(["1"]).to_pandas()["item"]) == {"2", "3"}
        index.add_frame(texts.assign(id=[1, 2, 3]), text="text", update=True)
        assert set(index.items("documents").expand([1]).to_pandas()["item"]) == {2, 3}
        index.replace([("1", "lion"), ("2", "lion")])
        assert set(index.items("documents").expand(["1"]).to_pandas()["item"]) == {"2"}
        index.add_frame(ratings, items="film", features="user")
        assert set(index.items("film").expand([10]).to_pandas()["item"]) == {20, 30}
        assert index.items("user").expand([7]).to_polars()["item"].to_list() == [8]
        index.add_frame(sizes, items="thing", numbers=("size",))
        assert set(index.reading("thing").expand([4]).to_pandas()["item"]) == {5, 6}
        assert index.check() == []
    with setsearch.open(tmp_path / "i.db") as index:
        assert set(index.items("film").expand([10]).to_pandas()["item"]) == {20, 30}, "another process knows, too"


def test_a_ratings_table_becomes_a_relation(tmp_path, run, failed):
    (tmp_path / "ratings.csv").write_text("userId;movieId;rating\n1;1;4.0\n1;2;2.5\n2;1;5\n2;2;4.5\n")
    (tmp_path / "movies.csv").write_text("movieId,title,genres\n1,Toy Story (1995),Comedy|Fantasy\n2,Jumanji,Fantasy\n")
    relation = ("--items", "movieId", "--features", "userId")
    assert run("index", "a.db", "ratings.csv", *relation, "--keep", "rating >= 4", "--titles", "movies.csv")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        films = index.items("movieId")
        assert (films.features_of("1"), films.features_of("2")) == ({"1": 1, "2": 1}, {"2": 1})
        assert films.find("Toy Story (1995)") == "1"
    assert run("index", "g.db", "movies.csv", "--items", "movieId", "--features", "genres", "--split", "|")[0] == 0
    with setsearch.open(tmp_path / "g.db") as index:
        assert index.items("movieId").features_of("1") == {"Comedy": 1, "Fantasy": 1}
    failed(run("index", "a.db", "ratings.csv", *relation, "--keep", "rating"), 2, "'rating'", "--keep")
    failed(run("index", "a.db", "ratings.csv", *relation, "--keep", "stars > 3"), 1, "line 2", "'stars'")
    failed(
        run("index", "a.db", "movies.csv", "--items", "title", "--features", "genres", "--keep", "title > 3"),
        1,
        "line 2",
    )
    failed(run("index", "a.db", "ratings.csv", *relation, "--delimiter", "ab"), 2, "'ab'")
    failed(run("index", "a.db", "movies.csv", "--split", "|"), 2, "--split")


@given(
    st.lists(st.tuples(*[st.integers(1, 4).map(str)] * 3), max_size=30, unique_by=lambda row: row[:2]),
    st.integers(0, 4),
    st.integers(0, 4),
)
def test_rare_items_then_rare_features_are_left_out(tmp_path_factory, rows, min_features, min_items):
    path = tmp_path_factory.mktemp("c") / "r.csv"
    path.write_text("film,person,rating\n" + "".join(",".join(row) + "\n" for row in rows))
    cells = CellRules("rating > 3", None, {}, min_features, min_items)
    reader = SourceReader(Columns(items="film", features="person"), RowReader(), cells=cells)
    people = Counter(film for film, _, _ in rows)
    rated = [row for row in rows if people[row[0]] >= min_features]
    films = Counter(person for _, person, _ in rated)
    left = [row for row in rated if films[row[1]] >= min_items]
    liked = {(film, person) for film, person, rating in left if rating == "4"}
    found = {item: counts for item, counts, _ in reader.items([str(path)])}
    assert {(item, feature) for item, counts in found.items() for feature in counts} == liked
    if cells.drops_rare:
        assert set(found) == {film for film, _, _ in left}


def test_the_filter_of_eachmovie(tmp_path, run, failed):
    rows = [(f"f{film}", f"p{person}", 5 - film % 3) for film in range(6) for person in range(8) if person >= film]
    (tmp_path / "r.csv").write_text("film,person,rating\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    relation = ("--items", "film", "--features", "person")
    filters = ("--min-features", "4", "--min-items", "3", "--keep", "rating > 3")
    assert run("index", "a.db", "r.csv", *relation, *filters)[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert {name: len(index.items("film").features_of(name)) for name in ("f0", "f1", "f3")} == {
            "f0": 6,
            "f1": 6,
            "f3": 5,
        }
    failed(run("index", "b.db", "r.csv", "--min-items", "3"), 2, "--min-items")


def test_rules_for_rows_are_not_for_a_table_of_the_index(tmp_path, run, failed):
    host = sqlite3.connect(tmp_path / "a.db")
    host.execute("create table r (film, person, rating)")
    host.executemany("insert into r values (?, ?, ?)", [("a", "x", 5), ("a", "y", 1), ("b", "x", 4)])
    host.execute("create view liked as select * from r where rating > 3")
    host.commit()
    relation = ("--items", "film", "--features", "person")
    failed(run("index", "a.db", "--table", "r", *relation, "--keep", "rating > 3"), 2, "--keep", "view")
    assert run("index", "a.db", "--table", "liked", *relation)[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("film").features_of("a") == {"x": 1}


cell = st.sampled_from(["a", "b", "c d", "é", "10", "", "x"])
number = st.sampled_from(["0", "1", "2", "1.0", "-1", "0x1", "", "3000000000"])


@given(
    st.lists(st.tuples(cell, cell, number, number), max_size=8), st.sampled_from([None, "n >= 1", "n = 2", "item = a"])
)
def test_columns_are_the_rows(tmp_path_factory, rows, keep):
    """The same items, features and counts, or a refusal."""
    path = tmp_path_factory.mktemp("c") / "r.csv"
    path.write_text("item,feature,count,n\n" + "".join(",".join(row) + "\n" for row in rows))
    columns = Columns(items="item", features="feature", count="count")
    reader = SourceReader(columns, RowReader(), cells=CellRules(keep))
    found = read_columns(path, columns, reader.rows, reader.cells)
    if found is not None:
        entries = map(reader.by_item.entries, filter(reader.cells.keeps, reader.rows.read(str(path))))
        expected = [*reader.by_item.with_features(chain.from_iterable(entries))]
        assert [(item, dict(own), title) for item, own, title in found] == expected


def test_columns_need_no_pandas(tmp_path):
    """Its import takes longer than most files, and loses a Ctrl-C. A column may have two parts to play."""
    (tmp_path / "r.csv").write_text("item,feature,count\na,x,1\na,y,2\n")
    code = """
import sys
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.rows.relation_columns import read_columns
from setsearch.indexing.rows.reader import RowReader
from setsearch.storage.synced_source import Columns
from pathlib import Path
columns = Columns(items="item", features="feature", count="count")
print(*read_columns(Path("r.csv"), columns, RowReader(), CellRules("count >= 2")), "pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "('a', {'y': 2}, None) False\n"


@pytest.mark.parametrize("ending", {form: ending for ending, form in FORMATS.items()}.values())
def test_broken_files_are_read_or_refused(tmp_path, run, ending):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("kept", "kept")])
        for data in (b"", b"\0\1\2", b"\xff" * 50, b"<" * 3000, b"From \nx\n", b"%PDF-1.4\ntrailer", b"@a{" * 90):
            (tmp_path / f"x{ending}").write_bytes(data)
            code, _, err = run("index", "a.db", f"x{ending}")
            assert "Traceback" not in err
            assert code == 0 or err.count("\n") == 1
            assert index.items("documents").features_of("kept") == {"kept": 1}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_needs_no_mark(tmp_path, encoding):
    texts = {"a.txt": "Lions in Köln", "b": "<html><p>Lions in Köln", "c.py": "# Lions in Köln"}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text.encode(encoding))
    (tmp_path / "short.bin").write_bytes(b"a\0b\0c\0\xff\xff")
    found, reader = read(tmp_path)
    assert sorted(text for text, _ in found.values()) == ["# Lions in Köln", "Lions in Köln", "Lions in Köln"]
    assert [*reader.tally.left_out] == ["no text"]


def test_a_named_encoding_is_taken_for_text(tmp_path):
    for name in ("a.txt", "b.md"):
        (tmp_path / name).write_text("Löwen", encoding="utf-16-le")
    assert {text for text, _ in read(tmp_path, encoding="utf-16-le")[0].values()} == {"Löwen"}


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        ("---\ntitle: The Lion\ntags: [cat]\n---\n\n# Cats\nA lion\n", "The Lion", "the lion cat cats a"),
        ('+++\ntitle = "T 1"\n+++\nA lion\n', "T 1", "t 1 a lion"),
        ("---\r\ntags:\r\n- cat\r\n---\r\n# Cats\r\nA lion", "Cats", "cat cats a lion"),
        ("---\nno key here\n---\nA lion", "no key here", "no key here a lion"),
        ("---\ntitle: |\n  The\n  Lion\ntags: cat\n---\nA lion\n", "The Lion", "the lion cat a"),
        ("---\ntitle:\n  The Lion\n---\nA lion\n", "The Lion", "the lion a"),
        ('+++\ntitle = """The Lion"""\n+++\nA lion\n', "The Lion", "the lion a"),
        ('---\ntitle: "L\\xF6we"\n---\nA lion\n', "Löwe", "löwe l xf6we a lion"),
        ("---\ntitle: >- # so\n  The Lion\n---\nA lion\n", "The Lion", "so the lion a"),
        ("---\ntitle:\n---\n# Cats\nA lion\n", "Cats", "cats a lion"),
        ("---\ntitle: Lion # a note\n---\nA lion\n", "Lion", "lion a note"),
        ("---\ntitle: C# for lions\n---\nA lion\n", "C# for lions", "c# for lions a lion"),
        ("---\ntitle: 'It''s a cat' # so\n---\nA lion\n", "It's a cat", "it's it s a cat so lion"),
        ('---\ntitle: "say \\"hi\\" # 1"\n---\nA lion\n', 'say "hi" # 1', "say hi 1 a lion"),
        ("A lion\n---\ntitle: x\n---\n", "A lion", "a lion title x"),
        ("---\ndate: 2025-08-04\ntags:\n- 1999\n---\n# Cats\nA lion", "Cats", "1999 cats a lion"),
        ("---\ncreated: '2025-06-01T10:00:00+02:00' # then\ndraft: false\n---\nA lion", "A lion", "a lion"),
        ("---\ntitle: 1984\nid: 20250601\ntags: 2025\nprice: 3 EUR\n---\nA lion", "1984", "1984 2025 3 eur a lion"),
        ("+++\ndate = 2025-06-01 10:00:00Z\nrating = 4.5\n+++\nA lion in 2025", "A lion in 2025", "a lion in 2025"),
        ("---\r\ndate: 2025-08-04\r\ndraft: true\r\n---\r\nA lion", "A lion", "a lion"),
        ("---\nrelated: #harbor #boats\ndate: 2025-08-04\n---\nA lion", "A lion", "harbor boats a lion"),
        (f"---\nkey:{' ' * 3000}x\n---\nA lion", "A lion", "x a lion"),  # in a moment, as of any length
        ("---\nuuid: 550e8400-e29b-41d4-a716-446655440000\n---\nA lion", "A lion", "a lion"),
        (
            "title:: Big/Cats\r\ntags:: wild, [[far off]]\r\ncollapsed:: true\r\n\r\n- A lion",
            "Big/Cats",
            "big cats wild far off a lion",
        ),
        ("std:: big\nno outline, A lion", "std:: big", "std big no outline a lion"),
    ],
)
def test_front_matter_gives_a_title_and_its_values(tmp_path, run, text, title, words):
    (tmp_path / "a.md").write_bytes(text.encode())
    assert run("index", "a.db", "a.md")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        assert set(documents.features_of("a.md")) == set(words.split())
        assert documents.find(title) == "a.md"


def test_a_book_of_project_gutenberg_comes_without_its_notices(tmp_path, run):
    head = "The Project Gutenberg eBook of Lions\r\n\r\nTitle: Lions\r\n\r\nAuthor: Ann Roe\r\nLanguage: English\r\n"
    start, end = (f"*** {mark} OF THE PROJECT GUTENBERG EBOOK LIONS ***\r\n" for mark in ("START", "END"))
    books = {
        "a.txt": head + start + "They roar.\r\n" + end + "Project Gutenberg is a trademark.\r\n",
        "b.txt": (start + "They roar.\r\n").replace("THE", "THIS"),  # which was cut off
        "c.txt": "The PROJECT GUTENBERG EBOOK says START.\n" + end + "They roar.",
    }
    quoting = {
        "d.md": "---\ntags: [books]\n---\nStrip what stands before:\n" + start + "Roaring.\n",
        "e.txt": head + "Before.\n" + start + "Roaring.\n" + end + "My own words behind it.\n",
        "f.txt": "Project Gutenberg has files.\n" + start + "Roaring.\n" + end + "So are those of Project Gutenberg.\n",
    }
    write_notes(tmp_path / "books", books | quoting)
    assert run("index", "a.db", "books")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        found = {id: {*documents.features_of(id)} for id in books}
        assert documents.find("Lions") == "a.txt"
        for id in quoting:
            assert {*documents.features_of(id)} >= {"start", "roaring", "ebook"}, f"{id} quotes a line, and loses none"
    assert found["a.txt"] == {"lions", "ann", "roe", "they", "roar"} and found["b.txt"] == {"they", "roar"}
    assert found["c.txt"] >= {"the", "says", "end", "lions", "they", "roar"}, "it is a text about one"


NOTES = {
    "a.md": "---\ntags: [cats, \"big, wild\"]\nAuthor: '[[Ann Roe|Ann]]'\ndate: 2024-01-05 # so\n---\nA lion.\n",
    "b.md": "---\r\ntags:\r\n- cats\r\n- name: house\r\n  id: 3\r\nauthor:\r\n  name: Bob\r\n---\r\n"
    "# Cats\r\n#pet, #cats\r\n",
    "c.md": "+++\ndate = 2024-02-01T10:00:00Z\n[taxonomies]\ntags = [\n  'dogs', # these\n]\n+++\nDogs bark.\n",
    "d.md": "---\ntags: #dogs #old/grey\nauthor: {{author}}\ndate:\n---\nDogs: `#no` x#no #1 http://x.org/#no\n"
    "[x](#no)\n[x]: #no\n```\n#no\n```\n",
    "e.txt": "Nothing but a text (#हिन्दी).",
    "f.html": "<p>No #note</p>",
    "g.md": "author:: Ann Roe\ntags:: cats, [[big, wild]]\n\n- TODO roar #pet\n",
}


def write_notes(folder, notes):
    folder.mkdir(exist_ok=True)
    for name, text in notes.items():
        (folder / name).write_bytes(text.encode())


def in_fields(index, item):
    """What an item has in fields beside the text, of which no word has a colon."""
    return [name for name in index.items("documents").features_of(item) if ":" in name]


def test_notes_have_fields_and_columns(tmp_path, run):
    write_notes(tmp_path / "notes", NOTES)
    code, _, err = run("index", "a.db", "notes", "--tags", "tags", "--tags", "author", "--numbers", "date")
    assert code == 0 and "7 documents" in err
    rows = [
        {"id": "a.md", "text": "A lion.", "tags": ["cats", "big, wild"], "author": "Ann Roe", "date": "2024-01-05"},
        {"id": "b.md", "text": "Cats", "tags": ["cats", "house", "pet"], "author": "Bob", "date": ""},
        {"id": "c.md", "text": "Dogs bark.", "tags": ["dogs"], "author": None, "date": "2024-02-01T10:00:00Z"},
        {"id": "d.md", "text": "Dogs", "tags": ["dogs", "old/grey"], "author": "", "date": ""},
        {"id": "e.txt", "text": "Nothing", "tags": ["हिन्दी"], "author": "", "date": ""},
        {"id": "f.html", "text": "No", "tags": [], "author": "", "date": ""},
        {"id": "g.md", "text": "Roar", "tags": ["cats", "big, wild", "pet"], "author": "Ann Roe", "date": ""},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("index", "rows.db", "rows.jsonl", "--tags", "tags", "--tags", "author", "--numbers", "date")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index, setsearch.open(tmp_path / "rows.db") as by_rows:
        fields = index.info()["readings"][0]["fields"]
        assert sorted(fields) == ["author", "date", "tags", "text"]
        for own in rows:
            one, other = (in_fields(each, own["id"]) for each in (index, by_rows))
            assert one == other, own["id"]
    assert run("index", "kept.db", "notes", "--keep-columns", "date,tags")[0] == 0
    with setsearch.open(tmp_path / "kept.db") as index:
        hits = index.items("documents").expand(["b.md"], 9, keep_seeds=True)
        assert {hit.item: hit.columns for hit in hits}["b.md"] == {"date": None, "tags": ["cats", "house", "pet"]}


def test_posts_have_tags_between_blanks(tmp_path, run):
    """As Jekyll reads them; of other notes it is one tag."""
    folder = tmp_path / "_posts"
    folder.mkdir()
    for name in ("2024-01-05-lions.md", "2024-01-05.md", "x.md"):
        front = "tags: big cats\ncategories: 'wild life'\nauthor: Ann Lee"
        (folder / name).write_text(f"---\n{front}\n---\nlions #roar\n")
    asked = [part for own in ("tags", "categories", "author") for part in ("--tags", own)]
    assert run("index", "a.db", "_posts", *asked)[0] == 0
    assert run("index", "b.db", "_posts", "--split", ";", *asked)[0] == 0
    one = {"tags:big cats", "categories:wild life", "author:Ann Lee", "tags:roar"}
    several = {"tags:big", "tags:cats", "categories:wild", "categories:life", "author:Ann Lee", "tags:roar"}
    for file, of_post in (("a.db", several), ("b.db", one)):
        with setsearch.open(tmp_path / file) as index:
            found = index.items("documents")
            for name in ("2024-01-05-lions.md", "2024-01-05.md", "x.md"):
                own = {feature for feature in found.features_of(name) if ":" in feature}
                assert own == (of_post if name.endswith("lions.md") else one)


def test_notes_are_near_those_that_they_link_to(tmp_path, run):
    texts = {
        "sea/Whale.md": "---\nlinks: ['[[Sea]]']\n---\nSee [[Ship|ships]], `[[no]]` and [[men/Ahab.md#Leg]].",
        "men/Ahab.md": "A captain.",
        "bread/index.md": "Bread [[ ]]",
        "sea/Ship.txt": "It sails.",
    }
    for folder in ("sea", "men", "bread"):
        (tmp_path / "notes" / folder).mkdir(parents=True)
    write_notes(tmp_path / "notes", texts)
    assert run("index", "a.db", "notes", "--links", "links")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        found = {id: {name.removeprefix("links:") for name in in_fields(index, id)} for id in texts}
        assert [hit.item for hit in index.items("documents").expand(["sea/Whale.md"], 1)] == ["men/Ahab.md"]
    assert found["sea/Whale.md"] == {"Sea", "Ship", "Ahab", "Whale", "sea/Whale.md"}
    assert found["men/Ahab.md"] == {"Ahab", "men/Ahab.md"}
    assert found["bread/index.md"] == {"bread/index.md"}, "each folder has one"
    assert run("index", "b.db", "notes", "--items", "id", "--features", "links")[0] == 0
    with setsearch.open(tmp_path / "b.db") as index:
        assert sorted(index.items("id").features_of("sea/Whale.md")) == ["Ahab", "Sea", "Ship"]


def test_notes_of_a_tag_are_one_item(tmp_path, run, failed):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in (("a", "---\ntags: [cats, big]\n---\nlions"), ("b", "tigers #cats"), ("c", "wheat")):
        (folder / f"{name}.md").write_text(text)
    code, _, said = run("index", "a.db", "notes", "--group-by", "tags")
    assert code == 0 and "indexed 2;" in said and "not read: 1 document without 'tags'" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        assert {*index.items("tags").features_of("cats")} == {"lions", "big", "tigers", "cats"}
    told = "(3 documents without 'tugs'; columns are tags)"
    failed(run("index", "b.db", "notes", "--group-by", "tugs"), 1, told)


def test_a_note_that_comes_again_has_its_fields_of_now(tmp_path, run):
    write_notes(tmp_path / "notes", NOTES)
    assert run("index", "a.db", "notes", "--tags", "tags")[0] == 0
    write_notes(tmp_path / "notes", {"a.md": "A lion.", "d.md": "#cats"})
    assert run("index", "a.db", "notes", "--tags", "tags")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert in_fields(index, "a.md") == [] and in_fields(index, "d.md") == ["tags:cats"]


def test_notes_without_a_field_are_told(tmp_path, run):
    write_notes(tmp_path / "notes", NOTES | {"g.md": "---\ndate: soon\n---\nA wolf."})
    code, _, err = run("index", "a.db", "notes", "--tags", "tgas")
    assert code == 1
    assert err.startswith("Error: no document has a column 'tgas' beside its text, but author, date, tags; leave it")
    code, _, err = run("index", "a.db", "notes", "--numbers", "date")
    assert code == 0 and "skipped g.md: the column 'date' is 'soon', not a finite number, or a date" in err
    assert "6 documents" in err
    code, _, err = run("index", "b.db", "notes/g.md", "--numbers", "date")
    assert code == 1 and err.startswith("Error: g.md: the column 'date' is 'soon'") and not (tmp_path / "b.db").exists()


def test_names_that_begin_as_lists_cost_no_note(run, tmp_path):
    names = {"a.md": "(draft) x", "b.md": "{x", "c.md": "["}
    write_notes(tmp_path / "notes", {id: f"---\ntags: '{name}'\nby: 'A'\n---\n#cat\n" for id, name in names.items()})
    for options in (("--tags", "tags"), ("--keep-columns", "by")):
        code, _, err = run("index", "a.db", "notes", "--replace", *options)
        assert code == 0 and "skipped" not in err, err
        with setsearch.open(tmp_path / "a.db") as index:
            tags = {row["id"]: {*row.get("tags", ())} for row in index.export()}
        assert tags == {id: {name, "cat"} if "tags" in options else set() for id, name in names.items()}


def test_escapes_of_no_letter_cost_no_note(run, tmp_path):
    (tmp_path / "a.md").write_text('---\ntitle: "a \\uD800 b"\ntags: ["c\\x00d", "e\\uDfFFf"]\n---\nA lion. #cat\n')
    code, _, err = run("index", "a.db", "a.md", "--tags", "tags")
    assert code == 0 and "skipped" not in err, err
    with setsearch.open(tmp_path / "a.db") as index:
        assert in_fields(index, "a.md") == ["tags:c d", "tags:cat", "tags:euDfFFf"]
        assert index.items("documents").titles(["a.md"]) == {"a.md": "a uD800 b"}


def test_other_endings_of_tables(tmp_path, run):
    (tmp_path / "a.ndjson").write_text('{"id": "x", "text": "lion"}\n{"id": "y", "text": "tiger"}\n')
    (tmp_path / "b.tab").write_text("id\ttext\nz\twolf\n")
    assert run("index", "a.db", "a.ndjson", "b.tab")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").features_of("z") == {"wolf": 1}
        assert index.items("documents").item_count() == 3


def test_a_file_that_is_empty_now_is_told(tmp_path, run):
    (tmp_path / "notes").mkdir()
    for name in ("a.md", "b.md"):
        (tmp_path / "notes" / name).write_text(f"lion {name}")
    (tmp_path / "notes" / "never.md").write_text("")
    assert "keeps the earlier text" not in run("index", "a.db", "notes")[2]
    (tmp_path / "notes" / "a.md").write_text("\n")
    code, _, err = run("index", "a.db", "notes")
    assert code == 0
    assert "the index keeps the earlier text of 1 file (a.md); `setsearch delete a.db a.md` deletes it" in err
    assert run("delete", "a.db", "a.md")[0] == 0
    assert "keeps the earlier text" not in run("index", "a.db", "notes")[2]
    assert "follows no table; after changes of files, index them again" in run("update", "a.db")[2]


def broken(folder):
    """Files that can be read; and then some that cannot."""
    good, whole = io.BytesIO(), gzip.compress(b"lions in a packed text, and tigers")
    with zipfile.ZipFile(good, "w") as archive:
        archive.writestr("in.txt", "lions in an archive")
    for name, data in {"a.gz": whole, "b.zip": good.getvalue(), "c.txt": b"lions", "gone.txt": b"lions"}.items():
        (folder / name).write_bytes(data)
    (folder / "d.json").write_text('{"messages": [{"from_id": "u", "date": "2024-03-12", "text": "lions"}]}')
    yield
    for name in ("a.gz", "b.zip", "d.json"):
        (folder / name).write_bytes((folder / name).read_bytes()[: 20 if name != "d.json" else -1])
    (folder / "c.txt").write_bytes(b"\xff\xfe\x00\xd8")
    (folder / "gone.txt").unlink()
    (folder / "new.txt").write_bytes(b"\xff\xfe\x00\xd8")
    yield


def test_replace_keeps_what_cannot_be_read_this_time(tmp_path, run):
    (tmp_path / "in").mkdir()
    states = broken(tmp_path / "in")
    next(states)
    assert run("index", "a.db", "in")[0] == 0
    next(states)
    (tmp_path / "in" / "e.txt").write_text("tigers")
    code, _, err = run("index", "a.db", "in", "--replace")
    assert code == 0, err
    assert "--replace kept what was there of 4 files (a.gz, b.zip, c.txt, ...), which could not be read\n" in err
    assert "--replace kept nothing of 1 file (new.txt), which could not be read\n" in err
    with setsearch.open(tmp_path / "a.db") as index:
        documents = index.items("documents")
        names = ["a.gz", "b.zip/in.txt", "c.txt", "d.json#2024-03-12", "e.txt", "gone.txt"]
        assert [*documents.titles(names)] == names[:-1] and documents.item_count() == 5
        assert index.check() == []
    assert "kept" not in run("index", "b.db", "in", "--replace")[2].replace("kept nothing", "")
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.replace([("x", "lions")], keep=lambda id: id == "e.txt") == 1
        assert index.items("documents").item_count() == 2


def test_replace_keeps_the_text_of_a_file_that_is_no_text_now(tmp_path, run):
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "b.txt", "c.txt", "gone.txt"):
        (tmp_path / "in" / name).write_text("lions")
    assert run("index", "a.db", "in")[0] == 0
    (tmp_path / "in" / "a.txt").write_bytes(b"\0\1\2\xff" * 50)
    (tmp_path / "in" / "b.txt").write_bytes(b"SQLite format 3\0")
    (tmp_path / "in" / "photo.jpg").write_bytes(b"\xff\xd8\0\1" * 50)
    (tmp_path / "in" / "gone.txt").unlink()
    code, _, err = run("index", "a.db", "in", "--replace")
    assert code == 0 and "--replace kept what was there of 2 files (a.txt, b.txt), which could not be read\n" in err
    assert "kept nothing" not in err, "a picture was never one"
    with setsearch.open(tmp_path / "a.db") as index:
        assert [*index.items("documents").titles(["a.txt", "b.txt", "c.txt"])] == ["a.txt", "b.txt", "c.txt"]
        assert index.items("documents").item_count() == 3


def packed(path, broken=b""):
    """An archive of three texts, of which one may be broken, and of a link."""
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("to.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "1.txt")
        for number in range(3):
            archive.writestr(f"{number}.txt", f"lions {number}")
    path.write_bytes(path.read_bytes().replace(b"lions 1", broken or b"lions 1"))


@pytest.mark.parametrize(("others", "prefix"), [((), ""), (("more",), "in.zip/")])
def test_replace_keeps_members_that_cannot_be_read_and_no_others(tmp_path, run, others, prefix):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.txt").write_text("tigers")
    packed(tmp_path / "in.zip")
    assert run("index", "a.db", "in.zip", *others)[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        index.add([(f"{prefix}gone.txt", "lions")])
    packed(tmp_path / "in.zip", b"broken!")
    code, _, err = run("index", "a.db", "in.zip", *others, "--replace")
    assert code == 0, err
    assert f"--replace kept what was there of 1 file ({prefix}1.txt), which could not be read\n" in err
    assert "kept nothing" not in err, "a link is never read"
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").item_count() == 3 + len(others)
        assert index.check() == []


def test_replace_keeps_all_if_the_only_archive_breaks_off(tmp_path, run):
    with tarfile.open(tmp_path / "in.tar", "w") as archive:
        for number in range(3):
            own = tarfile.TarInfo(f"{number}.txt")
            own.size = 7
            archive.addfile(own, io.BytesIO(b"lions %d" % number))
    assert run("index", "a.db", "in.tar")[0] == 0
    os.truncate(tmp_path / "in.tar", 3 * 512 + 5)  # within the text of the second one
    code, _, err = run("index", "a.db", "in.tar", "--replace")
    assert code == 0, err
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.items("documents").item_count() == 3


@pytest.fixture
def shut(monkeypatch):
    """The folder `shut` may not be listed, whoever asks."""
    listed = os.scandir

    def scandir(place):
        if Path(os.fspath(place)).name == "shut":
            raise PermissionError(13, "Permission denied", str(place))
        return listed(place)

    return lambda: monkeypatch.setattr(os, "scandir", scandir)


def test_a_folder_that_may_not_be_read_stays_beside_another_one(tmp_path, run, shut):
    for name in ("one/shut/a.txt", "one/b.txt", "two/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("lions")
    assert run("index", "a.db", "one", "two")[0] == 0
    shut()
    code, _, err = run("index", "a.db", "one", "two")
    assert code == 0, err
    assert "--replace deletes what is not given" not in err, "it does not delete what cannot be read"
    code, _, err = run("index", "a.db", "one", "two", "--replace")
    assert code == 0, err
    assert "--replace kept what was there of 1 file (one/shut), which could not be read\n" in err
    with setsearch.open(tmp_path / "a.db") as index:
        assert [*index.items("documents").titles(["one/shut/a.txt", "two/c.txt"])] == ["one/shut/a.txt", "two/c.txt"]


def test_a_file_that_is_its_records_now_is_told(tmp_path, run):
    """As an export is, which an earlier version took for one text."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.xml").write_text("<?xml version='1.0'?><notes><note>lions</note></notes>")
    assert "keeps" not in run("index", "a.db", "in")[2]
    (tmp_path / "in" / "a.xml").write_text(
        "<en-export><note><title>One</title></note><note><title>Two</title></note></en-export>"
    )
    told = "the index keeps the earlier text of 1 file (a.xml); `setsearch delete a.db a.xml` deletes it"
    assert told in run("index", "a.db", "in")[2]
    assert run("delete", "a.db", "a.xml")[0] == 0
    code, _, err = run("index", "a.db", "in")
    assert (code, err) == (0, "indexed 2; a.db now holds 2 documents, 2 terms\n")


@pytest.mark.parametrize("value", ["''" * 40, "\\" * 61, '\\"' * 40 + "x"])
def test_titles_with_many_quotes_take_no_time(tmp_path, run, value):
    """Where a value could be read in many ways, a regular expression might try all of them."""
    (tmp_path / "a.md").write_text(f'---\ntitle: "{value}\n---\nA lion\n')
    assert run("index", "a.db", "a.md")[0] == 0


def test_frames_get_titles_from_elsewhere(tmp_path):
    ratings = pandas.DataFrame({"film": [1, 1, 2], "user": ["ann", "bob", "ann"]})
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add_frame(ratings, items="film", features="user", titles={1: "Alien"}, progress=None)
        assert index.items("film").titles(["1", "2"]) == {"1": "Alien", "2": None}
        for titles, told in ({1: 2}, "maps items to texts"), ("Alien", "maps items to texts"):
            with pytest.raises(errors.InvalidParameter, match=told):
                index.add_frame(ratings, items="film", features="user", titles=titles)
        with pytest.raises(errors.UsageError, match="`title` names a column"):
            index.add_frame(ratings, id="film", text="user", titles={1: "Alien"})
        with pytest.raises(errors.InvalidParameter, match="`progress`"):
            index.add_frame(ratings, items="film", features="user", progress=5)


def test_a_lazy_frame_that_cannot_be_worked_out_is_an_error(tmp_path):
    frame = polars.DataFrame({"id": [1], "text": ["lion"]}).lazy()
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        assert index.add_frame(frame) == 1
        with pytest.raises(errors.SourceError, match="the lazy frame cannot be worked out"):
            index.add_frame(frame.select(polars.col("body")))


@pytest.mark.parametrize("name", [own.name for own in dataclasses.fields(setsearch.Columns)])
@pytest.mark.parametrize("value", [5, ["id", 5], {"a": 1}, b"id", 1.5, True, object()])
def test_columns_of_a_wrong_type_are_errors(name, value, tmp_path):
    frame = pandas.DataFrame({"id": [1], "text": ["lion"]})
    with setsearch.open(tmp_path / "a.db", create=True) as index, pytest.raises(errors.SetsearchError) as error:
        index.add_frame(frame, **{name: value})
    assert f"`{name}`" in str(error.value) or "no column 'a'" in str(error.value)


def test_documents_that_another_folder_replaces_are_told(tmp_path, run):
    for folder, texts in {"one": ["lions", "tigers", "cats"], "two": ["money", "tigers", "banks"]}.items():
        (tmp_path / folder).mkdir()
        for name, text in zip("abc", texts, strict=True):
            (tmp_path / folder / f"{name}.txt").write_text(f"{text} of a week")
    assert "changed" not in run("index", "a.db", "one")[2]
    assert "changed" not in run("index", "a.db", "one")[2]
    said = run("index", "a.db", "two")[2]
    assert "\n2 documents changed (a.txt, c.txt); if another folder has files of these names, index both" in said
    assert "changed" not in run("index", "a.db", "one", "two", "--replace")[2]
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.info()["readings"][0]["item_count"] == 6


ENGLISH = "The company announces new positions in sales and marketing. Please send a letter to the following address. "
FEW_WORDS = {  # of another script in an English text
    "cp1256": "تعلن الشركة عن فتح باب التوظيف في قسم المبيعات والتسويق",
    "cp1251": "Компания объявляет о новых вакансиях в отделе продаж",
    "cp1253": "Η εταιρεία ανακοινώνει νέες θέσεις στο τμήμα πωλήσεων",
    "cp1252": "L'entreprise étudie de « nouveaux » métiers à l'été",
}


@pytest.mark.parametrize("encoding", FEW_WORDS)
def test_a_few_words_of_another_script_tell_their_encoding(encoding):
    """No word of a Latin script has but letters beyond ASCII."""
    assert likely_encoding((ENGLISH * 40 + FEW_WORDS[encoding]).encode(encoding)) == encoding
