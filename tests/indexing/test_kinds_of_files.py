# ruff: noqa: E501
"""Kinds of files beside plain ones: mail as programs keep it, more subtitles, wrong endings, pipes and devices, bombs."""

import gzip
import io
import json
import os
import shlex
import socket
import sqlite3
import struct
import tarfile
import zipfile
from pathlib import Path

import pyarrow
import pytest
from pyarrow import feather, parquet

import setsearch
from setsearch import errors
from setsearch.indexing.formats import FORMATS, form_by_content, mail, xml
from setsearch.indexing.rows import opening
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns


def read(*paths, **options):
    """The documents of some sources, by id; and what read them."""
    reader = SourceReader(Columns(), RowReader(**options))
    return {id: (text, title) for id, text, title in reader.read(list(map(str, paths)))}, reader


MAIL = "From: Ann <a@b.c>\nTo: d@e.f\nSubject: Big cats\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nLions roar.\n"
EMLX = f"{len(MAIL)}     \n{MAIL}<?xml version='1.0'?>\n<plist><dict><key>flags</key></dict></plist>\n"


@pytest.mark.parametrize("name", ["a.eml", "a.txt", "1700000000.M1P2.host:2,S", "17", "a.emlx", "b.txt"])
def test_mail_is_known_by_its_headers(tmp_path, name):
    (tmp_path / name).write_text(EMLX if name in ("a.emlx", "b.txt") else MAIL)
    ((text, title),) = read(tmp_path / name)[0].values()
    assert (title, text.strip()) == ("Big cats", "Big cats\nLions roar.")


def test_a_draft_without_a_date_is_mail(tmp_path):
    (tmp_path / "draft").write_text("Subject: Big cats\nFrom: a@b.c\nContent-Type: text/plain\n\nLions roar.\n")
    assert [title for _, title in read(tmp_path / "draft")[0].values()] == ["Big cats"]


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_stops_nothing(tmp_path, content):
    """Whatever its ending says."""
    for ending in FORMATS:
        (tmp_path / f"a{ending}").write_text(content)
    (tmp_path / "b.txt").write_text("lions")
    found, reader = read(tmp_path)
    assert [*found] == ["b.txt"] and len(reader.tally.left_out["empty"]) == len(FORMATS)


def test_texts_of_a_feed_are_pages(tmp_path):
    item = "<item><title>Cats</title><description>{}</description></item>"
    said = "&lt;p class=x&gt;Lions &amp;amp; &lt;b&gt;ti&lt;/b&gt;gers 1 &lt; 2&lt;/p&gt;", "<![CDATA[<p>Bears</p>]]>"
    for name, root in (("a.rss", "rss"), ("b.xml", "notes")):
        text = f"<?xml version='1.0'?>\n<{root}>{''.join(map(item.format, said))}</{root}>"
        (tmp_path / name).write_text(text)
    found, _ = read(tmp_path)
    assert found["a.rss#1"] == ("Cats\nLions & tigers 1 < 2", "Cats") and found["a.rss#2"] == ("Cats\nBears", "Cats")
    assert "<p class=x>Lions &amp; <b>ti</b>gers" in found["b.xml"][0], "elsewhere it may be an example"


def test_entries_of_a_feed_are_documents_and_so_is_what_it_says_of_itself(tmp_path):
    item = "<item><title><![CDATA[The <i>sea</i>]]></title><guid>x7</guid><pubDate>Mon, 01 Jan 2024</pubDate>{}</item>"
    body = "<description><![CDATA[<p>It is <a href='x'>sa</a>lty; a&lt;b</p>]]></description><category>water</category>"
    channel = "<channel><title>Sea blog</title><description>All about it</description>{}</channel>"
    (tmp_path / "a.rss").write_text(f"<rss>{channel.format(item.format(body))}</rss>")
    (tmp_path / "b.xml").write_text(f"<?xml version='1.0'?><rss>{channel.format('')}</rss>")
    entry = "<entry><title type='html'>Tax &lt;b&gt;law&lt;/b&gt;</title><id> urn:7?a&amp;b </id><category term='money'/><content><div>Ru<b>les</b></div></content>"
    (tmp_path / "c.atom").write_text(f"<feed><id>urn:x</id><updated>2024</updated>{entry}</entry></feed>")
    assert read(tmp_path)[0] == {
        "a.rss": ("Sea blog\nAll about it", "Sea blog"),
        "a.rss#x7": ("The sea\nIt is salty; a<b\nwater", "The sea"),
        "b.xml": ("Sea blog\nAll about it", "Sea blog"),
        "c.atom#urn:7?a&b": ("Tax law\nmoney\nRules", "Tax law"),
    }


def test_bookmarks_of_a_browser_are_documents(tmp_path, run):
    begin = "<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>Bookmarks</TITLE>\n<H1>Menu</H1>\n<DL><p>\n"
    cook = '<DT><A HREF="https://a.org/" ADD_DATE="1700000000" TAGS="food,blog">Smitten</A>\n<DD>Tiny &amp; fearless\n'
    odd = f'<DT><A HREF="javascript:1>2;{"x" * 300}" ADD_DATE="9">Run</A>\n<DT><A HREF="https://b.org/" ADD_DATE="old"></A>\n'
    folder = f"<DT><H3>Cooking</H3>\n<DD>At home\n<DL><p>\n{cook}</DL><p>\n"
    (tmp_path / "b.html").write_text(f"{begin}{folder}{odd}<DT><A HREF='https://a.org/'>Again</A></DL>")
    (tmp_path / "none.html").write_text(f"{begin}<p>Nothing yet</DL>")
    assert read(tmp_path)[0] == {
        "b.html#https://a.org/": ("Smitten\nTiny & fearless\nCooking\nAt home\nfood\nblog", "Smitten"),
        f"b.html#javascript:1>2;{'x' * 185}": ("Run", "Run"),
        "b.html#https://b.org/": ("https://b.org/", "https://b.org/"),
        "b.html#https://a.org/ (2)": ("Again", "Again"),
        "none.html": ("Bookmarks\nMenu\nNothing yet", "Bookmarks"),
    }
    code, out, _ = run("index", "a.db", "b.html", "--tags", "tags", "--keep-columns", "folder,url")
    assert code == 0 and out == ""
    first = json.loads(run("export", "a.db")[1].splitlines()[0])
    assert (first["tags"], first["folder"], first["url"]) == (["blog", "food"], ["Cooking\nAt home"], "https://a.org/")


def test_a_page_without_a_title_has_its_first_line(tmp_path):
    (tmp_path / "a.html").write_text(
        "<body><div><h1>Lions</h1></div><div>They <font size=7>r</font>o<ins>ar</ins>.</div></body>"
    )
    assert read(tmp_path)[0] == {"a.html": ("Lions\nThey roar.", "Lions")}


def test_the_title_of_a_page_is_text_that_is_said_once(tmp_path):
    """Also behind what fits into a list."""
    title = f"Big cats {'of the savanna ' * 6}and zebras"
    (tmp_path / "a.html").write_text(f"<head><title>\n{title}</title></head><p>Lions roar.")
    (tmp_path / "b.html").write_text("<head><title>Big  cats</title></head><h1>BIG\nCATS</h1><p>Lions roar.")
    (tmp_path / "c.html").write_text("<head><title>Tigers</title></head><script>1</script>")
    found = {id: text for id, (text, _) in read(tmp_path)[0].items()}
    assert found == {"a.html": f"{title}\nLions roar.", "b.html": "BIG\nCATS\nLions roar.", "c.html": "Tigers"}


def test_a_page_of_xml_tells_its_encoding(tmp_path):
    page = "<?xml version='1.0' encoding='iso-8859-2'?>\n<html><title>Łódź</title><p>Żółw</p></html>"
    (tmp_path / "a.xhtml").write_bytes(page.encode("iso-8859-2"))
    found, reader = read(tmp_path / "a.xhtml")
    assert found == {"a.xhtml": ("Łódź\nŻółw", "Łódź")} and not reader.rows.decided


def test_a_folder_of_mail_has_hidden_ones(tmp_path):
    for place in ("cur", "new", ".Sent/cur", ".git"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "1700.M1.host:2,S").write_text(MAIL)
    assert [*read(tmp_path)[0]] == [f"{place}/1700.M1.host:2,S" for place in (".Sent/cur", "cur", "new")]


@pytest.mark.parametrize("text", ["From: here\nwe go\n", "Note: a\nSubject: b\n\nc\n", "http://x.org: a\nb\n"])
def test_notes_are_no_mail(text):
    assert form_by_content(text.encode(), None) is None


def test_headers_are_read_in_linear_time():
    """Each look at the headers goes on where the last line ended."""
    for line in (b"a: b\n", b" b\n", b"a:\n", b"Subject: x\n"):
        assert form_by_content(line * 1500, None) is None


FLOWED = (
    "MIME-Version: 1.0\nSubject: x\nContent-Type: text/plain; charset=utf-8; format=flowed{}\n\n"
    "Lions hunt \nzebras.\n>> quoted \n>> words\n> more\n stuffed\n-- \nAnn\n"
)


@pytest.mark.parametrize(
    ("delsp", "text"),
    [
        ("", "x\nLions hunt zebras.\n>> quoted words\n> more\nstuffed\n-- \nAnn"),
        ("; DelSp=Yes", "x\nLions huntzebras.\n>> quotedwords\n> more\nstuffed\n-- \nAnn"),
    ],
)
def test_lines_of_mail_flow(tmp_path, delsp, text):
    (tmp_path / "a.eml").write_text(FLOWED.format(delsp))
    assert read(tmp_path / "a.eml")[0]["a.eml"][0] == text


def test_a_subject_may_have_many_encoded_words(monkeypatch):
    """Each word of it is decoded once: the parser of the library would read the rest again and again."""
    times = []
    decode_header = mail.decode_header
    monkeypatch.setattr(mail, "decode_header", lambda text: times.append(text) or decode_header(text))
    subject = "\n ".join(["=?utf-8?q?L=C3=B6wen_?="] * 10_000)
    part, *_ = mail.mail(f"Subject: {subject}\n\nx\n".encode(), bytes.decode)
    assert part.text.startswith("Löwen Löwen") and len(times) == 1


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("=?utf-8?b?TMO2d2Vu?= and =?iso-8859-1?q?B=E4ren?=", "Löwen and Bären"),
        ("=?utf-8?b?TMM=?= =?utf-8?b?tndlbg==?=", "Löwen"),
        ("=?no-such?q?x?= y", ""),
        ("=?utf-8?q?a\n =?b", "=?utf-8?q?a =?b"),
    ],
)
def test_subjects(subject, said):
    part, *_ = mail.mail(f"Subject: {subject}\n\n".encode(), bytes.decode)
    assert part.text.strip() == said


CALENDAR = """Subject: Meeting
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/plain

Lions.
--X
Content-Type: text/calendar

BEGIN:VCALENDAR
SUMMARY:tigers
END:VCALENDAR
--X
Content-Type: application/ics; name=invite.ics
Content-Transfer-Encoding: base64

QkVHSU46VkNBTEVOREFSDQpTVU1NQVJZOnRpZ2Vycw0KRU5EOlZDQUxFTkRBUg0K
--X
Content-Type: text/rtf

{\\rtf1 bears}
--X--
"""


def test_invitations_in_mail_are_read_once_and_rtf_is_counted(tmp_path):
    (tmp_path / "a.eml").write_text(CALENDAR)
    (tmp_path / "b.eml").write_text(CALENDAR.replace("mixed", "alternative"))
    found, reader = read(tmp_path)
    assert {id: text.split() for id, (text, _) in found.items()} == {
        f"{name}{within}": words
        for name in ("a.eml", "b.eml")
        for within, words in (("", ["Meeting", "Lions."]), ("#invite.ics", ["tigers"]))
    }
    assert reader.tally.not_read() == ["1 part of mail"], "of an alternative nothing is lost"


@pytest.mark.parametrize("kind", ["mixed; boundary=Y", "alternative", "related; boundary=Y"])
def test_mail_whose_parts_nobody_can_tell_is_text(tmp_path, kind):
    (tmp_path / "a.eml").write_text(CALENDAR.replace("mixed; boundary=X", kind))
    assert {"Lions.", "SUMMARY:tigers"} <= {*read(tmp_path / "a.eml")[0]["a.eml"][0].split()}


SAID = {
    "a.ass": "[Script Info]\nTitle: x\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, "
    "Text\nComment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,not said\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,"
    "{\\an8}Hello,\\Nlions\nDialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,roar\n",
    "a.sub": "{0}{25}Hello,|lions\n{30}{40}{y:i}roar\n",
    "a.lrc": "[ti:x]\n[00:12.00]Hello,\n[00:13.50][00:20.50]lions <00:21.0>roar\n",
    "a.smi": "<SAMI><STYLE>p {}</STYLE><BODY><SYNC Start=1><P Class=E>Hello,<SYNC Start=2><P>lions roar</BODY></SAMI>",
    "a.sbv": "0:00:01.000,0:00:02.000\nHello,\nlions\n\n0:00:03.000,0:00:04.000\nroar\n",
}


@pytest.mark.parametrize("name", SAID)
def test_subtitles_of_other_programs(tmp_path, name):
    (tmp_path / name).write_text(SAID[name])
    assert read(tmp_path / name)[0][name][0].split() == ["Hello,", "lions", "roar"]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Word, PowerPoint and Outlook of before 2007"),
        (b"\xd0\xcf\x11\xe0" + bytes(9000) + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (b"%!PS-Adobe-3.0\n(lions) show", "PostScript"),
        (b"=LDR  00714cam a2200205 a 4500\n=245  10$aLions\n", "MARC"),
        (b"Lions" + bytes(55) + b"BOOKMOBI" + bytes(99), "Kindle"),
        (b"AT&TFORM\0\0\0\x80DJVMDIRM", "DjVu"),
        (b"PGDMP\x01\x0e\0", "dumps of PostgreSQL"),
        (b'// <!-- <mdb:mork:z v="1.4"/> -->\n< <(a=c)> >\n', "lists of Thunderbird"),
    ],
)
def test_what_is_not_read_is_told_by_its_content(tmp_path, data, what):
    (tmp_path / "in").mkdir()
    for name in ("a.pdf", "a.txt", "a.doc", "a"):
        (tmp_path / "in" / name).write_bytes(data)
        with pytest.raises(errors.SourceError, match=f"is not read: {what}: (?:save it|.pg_restore|its mail)"):
            read(tmp_path / "in" / name)
    (tmp_path / "in" / "b.txt").write_text("lions")
    found, reader = read(tmp_path / "in")
    ((why, names),) = reader.tally.left_out.items()
    assert [*found] == ["b.txt"] and why.startswith(what) and len(names) == 4


def test_a_database_is_told_how_it_is_read(run, failed, tmp_path):
    (tmp_path / "in").mkdir()
    sqlite3.connect(tmp_path / "in" / "own.sqlite").executescript(
        "create table note (id integer primary key, text); insert into note (text) values ('a lion ran')"
    )
    failed(
        run("index", "a.db", "in/own.sqlite"),
        1,
        "own.sqlite is not read: databases: name one, and its --table (`setsearch",
    )
    said = run("index", "a.db", "in/own.sqlite", "--suggest")[1]
    assert said.startswith("setsearch index in/own.sqlite --table note "), "of the database that is named as a source"
    (tmp_path / "in" / "b.txt").write_text("lions")
    assert "left out 1 file (in/own.sqlite): databases: name one, and its --table" in run("index", "a.db", "in")[2]


@pytest.mark.parametrize("name", ["a.rtf", "a.doc", "a.txt", "a"])
def test_texts_of_rtf_are_read(tmp_path, name):
    pytest.importorskip("striprtf")
    (tmp_path / name).write_bytes(
        rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman Times;}}{\info{\author Ann}}"
        rb"\pard\f0 Big \b li\b0 ons\par in M\'fcnchen \u8364? and 100\u37?{\footnote\pard with zebras}\par" + b"\n}\n"
    )
    text, title = read(tmp_path / name)[0][name]
    assert text.split() == "Big lions in M\xfcnchen \u20ac and 100% with zebras".split() and title == "Big lions"


def test_what_a_terminal_does_not_show_is_no_word(tmp_path):
    """Logs have colors, pages of man letters over letters."""
    (tmp_path / "a.log").write_text(
        "\x1b[1;31mred\x1b[0m\x1b]8;;https://a.b\x1b\\lions\x1b]8;;\x07 z\bze\beb\bb_\br_\ba"
    )
    assert read(tmp_path / "a.log")[0]["a.log"][0] == "redlions zebra"


def test_an_archive_without_its_end_is_no_text(tmp_path):
    for library in ("markitdown", "odfdo"):
        pytest.importorskip(library)
    with zipfile.ZipFile(tmp_path / "whole", "w") as archive:
        archive.writestr("word/document.xml", "<w>lions</w>")
    data = (tmp_path / "whole").read_bytes()
    for ending in (".docx", ".xlsx", ".pptx", ".epub", ".odt"):
        for size in (4, 6, 12, 40, len(data) - 30):
            (tmp_path / f"a{ending}").write_bytes(data[:size])
            with pytest.raises(errors.SourceError, match="its archive has no end; the file may have been cut off"):
                read(tmp_path / f"a{ending}")


def test_an_ending_may_be_wrong(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["lions", "zebras"])
    book.save(tmp_path / "a.csv")
    (tmp_path / "b.xls").write_text("<html><table><tr><td>lions</td><td>zebras</td></tr></table></html>")
    (tmp_path / "c.xls").write_text("lions\tzebras\n")
    (tmp_path / "d.docx").write_text("lions zebras")
    (tmp_path / "e.pdf").write_text("<!doctype html><p>lions zebras")
    (tmp_path / "f.csv").write_text("<!doctype html><p>lions zebras")
    for path in sorted(tmp_path.iterdir()):
        with setsearch.open(tmp_path / "a.db", create=True) as index:
            index.replace(SourceReader(Columns(), RowReader()).read([str(path)]))
            assert {"lions", "zebras"} <= set(index.items("documents").features_of(path.name)), path
    for name, data in (("i.docx", bytes(range(256))), ("j.pdf", b"some words before\n%PDF-1.4\n")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(errors.SourceError, match=f"{name} cannot be read"):
            read(tmp_path / name)
    (tmp_path / "h.docx").write_bytes(b"")
    assert read(tmp_path / "h.docx", tmp_path / "d.docx")[1].tally.left_out == {"empty": [str(tmp_path / "h.docx")]}
    with zipfile.ZipFile(tmp_path / "g.csv", "w") as archive:
        archive.writestr("a.txt", "lions")
    with pytest.raises(errors.SourceError, match=r"g\.csv is not text"):
        read(tmp_path / "g.csv")


def test_locks_are_left_out_and_counted(tmp_path):
    for name in ("~$a.docx", ".~lock.b.odt#", ".hidden", "a.txt"):
        (tmp_path / name).write_text("lions")
    found, reader = read(tmp_path)
    left_out = {"locks of office programs": [str(tmp_path / name) for name in (".~lock.b.odt#", "~$a.docx")]}
    assert [*found] == ["a.txt"] and {why: sorted(names) for why, names in reader.tally.left_out.items()} == left_out
    assert [*read(tmp_path / "~$a.docx", tmp_path / "a.txt")[0]] == ["a.txt"]


@pytest.mark.skipif(os.name != "posix", reason="pipes in folders are of POSIX")
def test_nothing_waits_for_a_pipe(tmp_path, monkeypatch, failed, run):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("lions")
    for name in ("pipe", "pipe.csv", "pipe.json"):
        os.mkfifo(folder / name)
    (folder / "nowhere").symlink_to(folder / "none")
    (folder / "loop").symlink_to(folder / "loop")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as own:
        own.bind("socket")
        found, reader = read(folder)
    assert [*found] == ["a.txt"]
    left_out = {
        why: [name.rpartition("/")[2] for name in sorted(names)] for why, names in reader.tally.left_out.items()
    }
    assert left_out == {
        "pipes, sockets and devices": ["pipe", "pipe.csv", "pipe.json", "socket"],
        "links that lead nowhere": ["loop", "nowhere"],
    }
    monkeypatch.chdir(tmp_path)
    for name in ("in/pipe", "in/pipe.csv", "in/pipe.json"):
        failed(run("index", "a.db", name), 1, f"{name} is a pipe, not a file; give - and `< {name}`")
    failed(run("index", "a.db", "in/socket"), 1, "in/socket is a socket; give a file")
    for name in ("/dev/zero", "/dev/null"):
        failed(run("index", "a.db", name), 1, f"{name} is a device, which may have no end; give a file")
    failed(run("index", "a.db", "in/a.txt", "--items", "a", "--features", "b", "--titles", "in/pipe"), 1, "is a pipe")


@pytest.mark.parametrize(
    ("name", "prints"),
    [
        ("http://x.y/z.csv", "curl {}"),
        ("https://x.y/a.pdf?b=1&c", "curl {}"),
        ("ftp://x.y/none", "curl {}"),
        ("s3://b/a.parquet", "aws s3 cp {} -"),
        ("gs://b/a.parquet", "gcloud storage cat {}"),
        ("postgres://me@x/db", "psql {} -c 'copy (select ...) to stdout csv header'"),
    ],
)
def test_addresses_are_not_read_and_stay_as_they_were_typed(run, failed, name, prints):
    before = prints.format(shlex.quote(name))
    told = f"{name} is an address, which is not read; give - as the file, and `{before} |` before"
    failed(run("index", "a.db", name), 1, told)
    failed(run("index", "a.db", "C:/none.csv"), 1, "C:/none.csv does not exist")


def _written(write):
    """A table as a function of Arrow writes it."""
    write(pyarrow.table({"id": ["a"], "text": ["lions"]}), file := io.BytesIO())
    return file.getvalue()


STREAMS = {
    "rows": b'{"id": "a", "text": "lions"}\n',
    "packed rows": gzip.compress(b"id,text\na,lions\n"),
    "a table of Excel": "id\ttext\na\tlions\n".encode("utf-16"),
    "a table of Windows": "id,text\na,lions Löwen\n".encode("cp1252"),
    "references": b"TY  - JOUR\nTI  - lions\nID  - a\nER  - \n",
    "BibTeX": b"@article{a, title={lions}}\n",
    "a page": b"<!doctype html><p>lions",
    "Parquet": _written(parquet.write_table),
    "Arrow": _written(feather.write_feather),
    "packed Parquet": gzip.compress(_written(parquet.write_table)),
}


@pytest.mark.parametrize("data", STREAMS.values(), ids=STREAMS)
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a shell's pipes have no names here")
def test_pipes_of_a_shell_are_read_as_standard_input(data, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    (found,) = _all("-")
    assert "lions" in found
    ours, theirs = os.pipe()
    os.write(theirs, data)
    os.close(theirs)
    try:
        assert _all(f"/dev/fd/{ours}") == [found]
    finally:
        os.close(ours)


def _all(source):
    """The texts of a source, references too."""
    items = list(SourceReader(Columns(), RowReader()).read([source]))
    return [own.copies[0].reference.text() if hasattr(own, "copies") else own[1] for own in items]


@pytest.mark.parametrize(("name", "row"), [("b.jsonl.gz", b'{"id": 1, "text": "'), ("b.csv.gz", b"id,text\n1,")])
def test_rows_in_an_endless_line_are_left_out(tmp_path, monkeypatch, name, row):
    """A few kilobytes unpack to as many gigabytes: a line is read as far as it may be long."""
    monkeypatch.setattr(opening, "MOST_OF_LINE", 1 << 16)
    read = []
    unpacked = gzip.GzipFile.readline
    monkeypatch.setattr(gzip.GzipFile, "readline", lambda *own: read.append(unpacked(*own)) or read[-1])
    (tmp_path / name).write_bytes(gzip.compress(row + b"x" * (1 << 22) + b"\n"))
    with pytest.raises(errors.SourceError, match=rf"{name} has a line of more than 0 MB; leave it out, or unpack it"):
        list(RowReader().read(str(tmp_path / name)))
    assert max(map(len, read)) <= (1 << 16) + 1
    (tmp_path / name).write_bytes(gzip.compress(b"id,text\n2,lions\n" if "csv" in name else b'{"id": "2"}\n'))
    assert [row["id"] for _, row in RowReader().read(str(tmp_path / name))] == ["2"]


def test_a_file_that_unpacks_to_much_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "MOST_UNPACKED", 1 << 20)
    (tmp_path / "in").mkdir()
    for name in ("bomb.txt.gz", "bomb.json.gz"):
        (tmp_path / "in" / name).write_bytes(gzip.compress(b'{"a": ' + b" " * (1 << 21)))
        with pytest.raises(errors.SourceError, match=rf"{name} unpacks to more than 1 MB; leave it out, or unpack it"):
            read(tmp_path / "in" / name)
    (tmp_path / "in" / "bomb.json.gz").unlink()
    (tmp_path / "in" / "a.txt").write_text("lions" * (1 << 18))
    found, reader = read(tmp_path / "in")
    assert [*found] == ["a.txt"] and "more than" in next(iter(reader.tally.left_out))


RIS = "TY  - JOUR\nTI  - Big cats\nAB  - Lions roar.\nDO  - 10.1000/a\nER  - \n"
ODD_REFERENCES = {
    "a.ris": [RIS.replace("  - ", own) for own in (" - ", "   - ", "  -", "\t- ", "  -\t")],
    "a.txt": [
        RIS.replace("  - ", "   - "),
        f"Database: Ovid MEDLINE(R)\nSearch Strategy:\n----\n1 cats (9)\n***\n\n{RIS}",
    ],
    "a.csv": ["Item Title,Publication Title,Item DOI\nBig cats,Nature,10.1000/a\n"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in ODD_REFERENCES.items() for text in texts])
def test_references_of_odd_exporters(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    reader = SourceReader(Columns(), RowReader())
    ((_, reference),) = reader.references(str(tmp_path / name))
    assert (reference.first("title"), reference.doi) == ("Big cats", "10.1000/a")


def test_a_text_about_references_is_a_text(tmp_path):
    (tmp_path / "a.md").write_text(f"# RIS\n\nA record:\n\n{RIS}\nThat is all.\n")
    assert [*read(tmp_path / "a.md")[0]] == ["a.md"]


def test_an_outline_has_its_texts_as_attributes(tmp_path):
    (tmp_path / "a.opml").write_text(
        "<?xml version='1.0'?><opml><head><title>Cats</title></head><body><outline text='Lions &amp; co'>"
        "<outline title='Tigers' text='Tigers' xmlUrl='x' description='of India' _note='striped' category='/cat'/>"
        "</outline></body></opml>"
    )
    assert read(tmp_path / "a.opml")[0] == {"a.opml": ("Cats\nLions & co\nTigers\nof India\nstriped\n/cat", "Cats")}


def test_a_mark_of_the_end_of_a_file_is_no_row(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,text\n1,lions\n\x1a")
    assert [*read(tmp_path / "a.csv")[0]] == ["1"]


def test_entries_of_rss_1_0_are_documents_and_other_rdf_is_one(tmp_path):
    rdf = "<?xml version='1.0'?><rdf:RDF xmlns:rdf='x' xmlns='http://purl.org/rss/1.0/'>{}</rdf:RDF>".format
    channel = "<channel rdf:about='https://a.org'><title>Sea blog</title></channel>"
    item = "<item rdf:about='https://a.org/?a=1&amp;b=2'><title>Tides</title><description>&lt;p&gt;They tu&lt;b&gt;rn&lt;/b&gt;.</description><dc:date>2024-01-05</dc:date></item>"
    (tmp_path / "a.xml").write_text(rdf(channel + item))
    (tmp_path / "b.rdf").write_text(rdf("<skos:Concept><skos:prefLabel>Use &lt;b&gt;</skos:prefLabel></skos:Concept>"))
    assert read(tmp_path)[0] == {
        "a.xml": ("Sea blog", "Sea blog"),
        "a.xml#https://a.org/?a=1&b=2": ("Tides\nThey turn.", "Tides"),
        "b.rdf": ("Use <b>", "Use <b>"),
    }


def test_translations_of_qt_are_no_program(tmp_path):
    """Both have the ending .ts."""
    message = "<message><source>Open &amp;file</source><comment>menu</comment><translation type='unfinished'><numerusform>Datei</numerusform></translation></message>"
    context = f"<context><name>Window</name>{message}<message id='quit'><source>Quit</source></message></context>"
    (tmp_path / "a.ts").write_text(f"<?xml version='1.0'?>\n<!DOCTYPE TS>\n<TS version='2.1'>{context}</TS>")
    (tmp_path / "b.ts").write_text("const a: Map<TS> = new Map<TS>();")
    (tmp_path / "c.ts").write_text("<!DOCTYPE TS []>\n<TS><message id='on'><source>On</source></message></TS>")
    assert read(tmp_path)[0] == {
        "a.ts#Open &file": ("Window\nOpen &file\nmenu\nDatei", "Open &file"),
        "a.ts#quit": ("Quit", "Quit"),
        "b.ts": ("const a: Map<TS> = new Map<TS>();", "b.ts"),
        "c.ts#on": ("On", "On"),
    }


def test_files_that_are_attached_to_a_note_are_documents(tmp_path):
    file = "<resource><data encoding='base64'>{}</data><mime>{}</mime><resource-attributes><file-name>{}</file-name></resource-attributes></resource>".format
    files = (
        file("\nTGlv\nbnM=\n", "text/plain", "../a &amp; b.txt")
        + file("TGlv", "image/png", "c.png")
        + file("TGl", "text/plain", "d.txt")
    )
    (tmp_path / "a.enex").write_text(f"<en-export><note><title>Cats</title>{files}</note></en-export>")
    found, reader = read(tmp_path)
    assert found == {"a.enex#Cats": ("Cats", "Cats"), "a.enex#Cats#a & b.txt": ("Lions", "Lions")}
    assert reader.tally.not_read() == ["2 attachments"]


def test_xml_that_says_all_in_attributes_is_its_rows(tmp_path, run):
    post = '<row Id="7" Score="3" Title="Big cats" Tags="&lt;zoo&gt;" Body="&lt;p&gt;Do all of them ro&lt;b&gt;ar&lt;/b&gt; &amp;gt; 1?&lt;/p&gt;" />'
    sms = '<sms body="on my way, see you" date="1700000000000"/><mms><part ct="text" text="late"/><part text="sorry"/></mms>'
    (tmp_path / "Posts.xml").write_text(
        f"\ufeff<?xml version='1.0' encoding='utf-8'?>\n<posts>\n{post}\n<row Id='8' Score='1'/></posts>"
    )
    (tmp_path / "sms.xml").write_text(f"<?xml version='1.0'?><smses>{sms}</smses>")
    (tmp_path / "settings.xml").write_text(
        "<?xml version='1.0'?><a><b path='src' kind='big one'/><b path='lib' kind='so'/></a>"
    )
    (tmp_path / "cut.xml").write_text(f"<?xml version='1.0'?><posts>{post}<row")
    (tmp_path / "a.opml").write_text("<opml><outline text='all that we should read'/></opml>")
    found, reader = read(tmp_path, errors="skip")
    assert found == {
        "a.opml": ("all that we should read", "all that we should read"),
        "Posts.xml#7": ("Big cats\n<zoo>\nDo all of them roar > 1?", "Big cats"),
        "cut.xml#7": ("Big cats\n<zoo>\nDo all of them roar > 1?", "Big cats"),
        "sms.xml#1": ("on my way, see you", "on my way, see you"),
        "sms.xml#2": ("text\nlate\nsorry", "text"),
    }
    assert [*reader.tally.left_out] == ["nothing of their format in them"] and reader.tally.failed == {"cut.xml"}
    assert run("index", "a.db", "Posts.xml", "--numbers", "Score")[0] == 0


def test_attributes_with_entities_that_xml_has_not_are_read(tmp_path):
    """Telephones write halves of characters."""
    said = (
        "late, R&D &amp; caf&eacute; &#55357;&#56833;&#1;&#x1F;&#x000b;&#xFFFE;&#0002;at ten&#10;or so",
        "we all know &unknown; and &nbsp",
    )
    rows = "".join(f"<sms body='{own}'/>" for own in said)
    (tmp_path / "a.xml").write_text(f"<?xml version='1.0'?><smses>{rows}</smses>")
    assert {id: text for id, (text, _) in read(tmp_path)[0].items()} == {
        "a.xml#1": "late, R&D & café   at ten\nor so",
        "a.xml#2": "we all know &unknown; and &nbsp",
    }


def test_attributes_that_are_broken_in_the_first_row_are_one_text(tmp_path, run):
    (tmp_path / "a.xml").write_text(
        "<?xml version='1.0'?><posts><row Body='We < they'/><row Body='All of them roar.'/></posts>"
    )
    code, _, err = run("index", "a.db", "a.xml")
    assert code == 0 and "1 file of XML in attributes, broken in the first row" in err
    assert read(tmp_path / "a.xml")[0] == {"a.xml": ("We < they\nAll of them roar.", "We < they")}


def test_attributes_beside_text_are_read(tmp_path):
    """What has a sentence, or is called text; a drawing has words in its styles."""
    (tmp_path / "a.xml").write_text(
        "<?xml version='1.0'?><zoo><cage title='Cats' keeper='Ann'>They roar</cage><cage note='All of them sleep.'/></zoo>"
    )
    node = "<node TEXT='Prey' ID='n2'><richcontent><p>eaten</p></richcontent></node>"
    (tmp_path / "b.mm").write_text(f"<map version='1.0.1'><node TEXT='Lions' ID='n1'>{node}</node></map>\n")
    styles = "<path style='a bold serif text' font-family='Big, Old, Sans, Serif' d='M 1 2'/>"
    (tmp_path / "c.svg").write_text(f"<svg>{styles}</svg>")
    found, reader = read(tmp_path)
    assert found == {
        "a.xml": ("Cats\nThey roar\nAll of them sleep.", "Cats"),
        "b.mm": ("Lions\nPrey\neaten", "Lions"),
    }
    assert [*reader.tally.left_out.values()] == [[str(tmp_path / "c.svg")]]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "<zoo note='All of the big cats sleep at night.'><day>x</day></zoo>",
            "All of the big cats sleep at night.\nx",
        ),
        ("<zoo note='All of the big cats sleep at night.'/>", "All of the big cats sleep at night."),
        (
            f"<TEI><encodingDesc><a n='{'as all cats do ' * 9}'/></encodingDesc><p>roar</p><p>at night</p></TEI>",
            "roar\nat night",
        ),
        ("<zoo><p class='main wide blue text' rend='bold italic small caps'>roar</p></zoo>", "roar"),
    ],
    ids=["of all", "of all alone", "hidden", "of styles"],
)
def test_attributes_that_are_no_rows_leave_a_file_whole(tmp_path, source, said):
    (tmp_path / "a.xml").write_text(f"<?xml version='1.0'?>{source}")
    assert {id: text for id, (text, _) in read(tmp_path)[0].items()} == {"a.xml": said}


@pytest.mark.parametrize("empty", ["<title></title>", "<title>\n</title>", "<title />", "<title/>"])
def test_an_empty_title_is_none(tmp_path, empty):
    (tmp_path / "a.xml").write_text(
        f"<?xml version='1.0'?><zoo>{empty}<p>They roar</p><title>Big <b>cats</b></title></zoo>"
    )
    assert read(tmp_path)[0]["a.xml"][1] == "Big cats"


def test_sentences_in_attributes_are_found_in_linear_time(tmp_path):
    """Of a long run of letters, as genes have, each is looked at once; else it would take hours."""
    (tmp_path / "a.xml").write_text(f"<?xml version='1.0'?><zoo><gene of='{'ACGT' * 250_000}'/><p>They roar</p></zoo>")
    assert read(tmp_path)[0]["a.xml"][0] == "They roar"


def test_records_with_some_text_in_attributes_keep_it(tmp_path):
    row = "<row Id='{}' Title='Lions' Body='{}'>{}</row>"
    rows = (
        row.format(7, "Do they roar at night, or by day?", ""),
        row.format(8, "In the night, as all cats do.", "yes"),
    )
    (tmp_path / "a.xml").write_text(f"<?xml version='1.0'?><posts>{''.join(rows)}</posts>")
    assert {id: text.split()[-1] for id, (text, _) in read(tmp_path)[0].items()} == {
        "a.xml#7": "day?",
        "a.xml#8": "yes",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.enex", "<en-export><note><title>A</title><tag>cats</tag><tag>Big &amp; bad</tag><tag>cats</tag></note>"),
        (
            "a.rss",
            "<rss><item><title>A</title><category>cats</category><category d='x'><![CDATA[Big & bad]]></category>",
        ),
        (
            "a.atom",
            "<feed><entry><title>A</title><category term='cats'/><category x='' label='Big &amp; bad'></category>",
        ),
    ],
)
def test_records_have_their_tags(tmp_path, run, name, text):
    (tmp_path / name).write_text(text)
    assert run("index", "a.db", name, "--tags", "tags")[0] == 0
    assert json.loads(run("export", "a.db")[1])["tags"] == ["bad" if name == "a.org" else "Big & bad", "cats"]


def test_what_evernote_says_of_a_note_is_read(tmp_path):
    note = "<note><title>Lions</title><content><![CDATA[<en-note>Th<font>ey</font> ro<b>ar</b>.<en-crypt>c2Vj</en-crypt></en-note>]]></content>"
    said = "<note-attributes><author>Ann</author><latitude>5.1</latitude><source-url>https://zoo.org</source-url></note-attributes>"
    task = "<task><title>Feed them</title><taskStatus>open</taskStatus><inNote>true</inNote></task></note>"
    (tmp_path / "a.enex").write_text(f"<?xml version='1.0'?><en-export>{note}{said}{task}</en-export>")
    assert read(tmp_path)[0] == {"a.enex#Lions": ("Lions\nThey roar.\nAnn\nhttps://zoo.org\nFeed them", "Lions")}


NOTE = "<note><title>{}</title><content><![CDATA[<en-note>{}</en-note>]]></content><created>2020</created>{}</note>"
FIELD = '<datafield tag="{}" ind1="1" ind2="0"><subfield code="a">{}</subfield></datafield>'
RECORD = "<record>{}</record>".format
EXPORTS = {
    "en-export": [
        NOTE.format("Lions", "They roar.", "<resource><data>iVBORw0K</data></resource>"),
        NOTE.format("Wheat", "It grows.", ""),
    ],
    "mediawiki": [
        f"<page><title>{title}</title><id>1</id><revision><id>5</id><text>{text}</text><sha1>a</sha1></revision></page>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    'marc:collection xmlns:marc="http://www.loc.gov/MARC21/slim"': [
        RECORD(
            f"<leader>00714cam</leader><controlfield tag='003'>x</controlfield><controlfield tag='001'>{title}</controlfield>"
            + FIELD.format(245, title) + FIELD.format(520, text)
        )
        .replace("</", "</marc:").replace("<c", "<marc:c").replace("<r", "<marc:r").replace("<l", "<marc:l").replace("<d", "<marc:d")
        .replace("<s", "<marc:s")
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    "OAI-PMH": [
        RECORD(f"<header><identifier>{title}</identifier></header><dc:title>{title}</dc:title><dc:format>{text}</dc:format>")
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    "collection": [  # of BioC, which says again what it found, and in codes
        f"{source}<document><id>{title}</id><infon key='license'>CC</infon><passage><infon key='type'>title</infon>"
        f"<offset>0</offset><text>{title}</text><annotation id='1'><text>{title}</text></annotation></passage>"
        f"<passage><offset>9</offset><sentence><text>{text}</text></sentence></passage></document>"
        for source, title, text in (("<source>PMC</source><key>x.key</key>", "Lions", "They roar."), ("", "Wheat", "It grows."))
    ],
    'tmx version="1.4"': [
        f'{header}<tu creationid="x" tuid="{title}"><tuv xml:lang="en"><seg>{title}</seg></tuv><tuv xml:lang="en"><seg>{text}</seg></tuv></tu>'
        for header, title, text in (
            ("<header><prop type='a'>x</prop></header>", "Lions", 'They <bpt i="1">&lt;b&gt;</bpt>ro<ept i="1"/>ar.'),
            ("", "Wheat", "It <hi>gr</hi>ows."),
        )
    ],
    'martif type="TBX"': [
        f"{header}<termEntry id='{title}'><langSet><tig><term>{title}</term><termNote>{text}</termNote></tig></langSet></termEntry>"
        for header, title, text in (
            ("<martifHeader><p>x</p></martifHeader>", "Lions", "They roar."), ("", "Wheat", "It grows.")
        )
    ],
    "tbx": [
        f"<conceptEntry id='{title}'><langSec><termSec><term>{title}</term><termNote>{text}</termNote></termSec></langSec></conceptEntry>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    'xliff version="1.2"': [
        f"<trans-unit id='{title}'><source>{title}</source><target>{text}</target></trans-unit>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    'zs:searchRetrieveResponse xmlns:zs="http://docs.oasis-open.org/ns/search-ws/sruResponse"': [
        "<zs:version>2.0</zs:version><zs:record><zs:recordSchema>marcxml</zs:recordSchema><zs:recordData>"
        + RECORD("<leader>00714cam</leader>" + FIELD.format(245, title) + FIELD.format(520, text))
        + "</zs:recordData><zs:recordPosition>1</zs:recordPosition></zs:record>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    'TS version="2.1" language="la"': [
        f"<message><location line='7'/><source>{title}</source><translation>{text}</translation></message>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    "metadata": [
        f"<oai_dc:dc xmlns:oai_dc='x'><dc:title>{title}</dc:title><dc:description>{text}</dc:description></oai_dc:dc>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    "pmc-articleset": [
        f"<article lang='la'><journal-id>x7</journal-id><article-id pub-id-type='pmc'>{title}</article-id>"
        f"<article-title><italic>{title}</italic></article-title><p>{text}</p></article>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It grows."))
    ],
    "teiCorpus": [
        f"<TEI><teiHeader><title>{title}</title><publicationStmt><p>Free</p></publicationStmt></teiHeader><p>{text}</p></TEI>"
        for title, text in (("Lions", "They roar."), ("Wheat", "It gr<lb break='no'/>o<pb break='no'/><g ref='x'/>ws."))
    ],
}  # fmt: skip


@pytest.mark.parametrize("root", EXPORTS)
def test_an_export_in_xml_is_its_records(tmp_path, root):
    text = f"<?xml version='1.0'?>\n<!DOCTYPE x SYSTEM 'x.dtd' [<!ELEMENT x ANY>]>\n<{root}>{''.join(EXPORTS[root])}</{root.split()[0]}>"
    (tmp_path / "a.xml").write_text(text)
    found, reader = read(tmp_path)
    names = ("1", "2") if root.startswith(("zs:", "metadata", "teiCorpus")) else ("Lions", "Wheat")
    first, second = (f"a.xml#{name}" for name in names)
    assert found == {first: ("Lions\nThey roar.", "Lions"), second: ("Wheat\nIt grows.", "Wheat")}
    assert reader.tally.not_read() == ["1 attachment"] * (root == "en-export")
    (tmp_path / "a.xml").write_text(text.rpartition("</")[0].rpartition("</")[0])
    broken, reader = read(tmp_path)
    told = [what for what in reader.tally.not_read() if what.startswith("1 XML file to the end")]
    assert [*broken] == [*found] and len(told) == (root != "metadata"), "nobody knows how other XML ends"


ONE_TEXT = {
    "alto": "<alto:alto xmlns:alto='x'><alto:Description><p>ABBYY</p></alto:Description><alto:TextLine>"
    "<alto:String CONTENT='The'/><alto:SP/><alto:String CONTENT='pub' SUBS_TYPE='HypPart1' SUBS_CONTENT='public'/>"
    "<alto:HYP CONTENT='-'/></alto:TextLine><alto:TextLine><alto:String CONTENT='lic' SUBS_TYPE='HypPart2' "
    "SUBS_CONTENT='public'/><alto:SP/><alto:String CONTENT='roars'/></alto:TextLine></alto:alto>",
    "PcGts": "<PcGts><Metadata><Creator>X</Creator></Metadata><Page><Unicode>The public</Unicode>"
    "<Unicode>roars</Unicode></Page></PcGts>",
    "FictionBook": "<FictionBook><document-info><id>7f</id></document-info><p>The public</p><p>roars</p>"
    "<binary id='c.jpg'>/9j/4AAQ</binary></FictionBook>",
    "office:document": "<office:document xmlns:text='urn:t' xmlns:office='urn:o'><office:settings><item>7f</item></office:settings>"
    "<office:automatic-styles><style name='of a big cat'/></office:automatic-styles><text:p>The pu<text:span>bl</text:span>ic</text:p>"
    "<office:binary-data>/9j/4AAQ</office:binary-data><text:p>roars</text:p></office:document>",
    "strings": "<resources><string name='a' content='7f'>The public</string><string name='b'>roars</string></resources>",
}


@pytest.mark.parametrize("kind", ONE_TEXT)
def test_xml_has_its_words_without_those_of_programs(tmp_path, kind):
    (tmp_path / "a.xml").write_text(f"<?xml version='1.0'?>\n{ONE_TEXT[kind]}")
    assert read(tmp_path)[0] == {"a.xml": ("The public\nroars", "The public")}


@pytest.mark.parametrize("begin", ["<!-- a -->\n<!DOCTYPE zoo SYSTEM 'x.dtd'>\n<zoo>", "<zoo id='1'\nxmlns:z='urn:z'>"])
def test_xml_is_known_without_its_declaration(tmp_path, begin):
    for name in ("a", "a.nxml", "a.txt"):
        (tmp_path / name).write_text(f"{begin}<title>Big <it>cats</it></title><p>roar</p></zoo>")
    (tmp_path / "b.py").write_text(f"{begin}</zoo>")
    found = read(tmp_path)[0]
    assert found.pop("b.py")[0] == f"{begin}</zoo>"
    assert {*found.values()} == {("Big cats\nroar", "Big cats")} and len(found) == 3


def test_only_opendocument_has_settings_and_styles_that_are_no_text(tmp_path):
    (tmp_path / "a.xml").write_text("<?xml version='1.0'?><document><styles>Gothic</styles><p>They roar</p></document>")
    assert read(tmp_path)[0]["a.xml"][0] == "Gothic\nThey roar"


def test_a_book_of_fiction_has_its_title(tmp_path):
    (tmp_path / "a.fb2").write_text("<FictionBook><genre>prose</genre><book-title>Lions</book-title></FictionBook>")
    assert read(tmp_path)[0] == {"a.fb2": ("prose\nLions", "Lions")}


def test_only_translations_have_codes_of_programs():
    """Elsewhere their elements have words. A comment before the first element may have tags."""
    begin = "<!-- <a> by Ann -->\n<?xml version='1.0'?><!-- - --><!DOCTYPE collection [<!ELEMENT x ANY>]>"
    source = f"{begin}<collection><record id='a'><x>lions</x> eat <it>ze</it>bras<ph>daily</ph></record></collection>"
    (part,) = xml.xml(source.encode(), bytes.decode)
    assert (part.key, part.text.split()) == ("a", ["lions", "eat", "zebras", "daily"])


def test_a_translation_memory_loses_no_words(tmp_path):
    """What is to be translated within a code stays; most are written in UTF-16."""
    unit = "<tu><prop type='d'>zoo</prop><tuv><seg>Löwen<ph>&lt;a title='<sub>Cats</sub>'></ph></seg></tuv></tu>"
    (tmp_path / "a.tmx").write_text(f"<?xml version='1.0'?><tmx><header/><body>{unit}</body></tmx>", "utf-16")
    ((id, (text, title)),) = read(tmp_path)[0].items()
    assert (id, title) == ("a.tmx#1", "Löwen")
    assert all(word in text for word in ("zoo", "Löwen", "Cats"))


def test_marks_within_a_unit_part_no_words(tmp_path):
    units = (
        '<unit id="1"><source>Sa<g id="1">ve</g> the <mrk mtype="term">file</mrk></source><target>Si<pc id="1">chern</pc>',
        '<unit id="2"><source>one<x id="1" ctype="lb"/>two<bx id="2"/>!</source><target><mrk mtype="seg" mid="0">Eins.</mrk>'
        '<mrk mtype="seg" mid="1">Zwei.</mrk>',
    )
    body = "".join(f"{own}</target></unit>" for own in units)
    note = "<file><notes><note>For phones</note></notes>"
    (tmp_path / "a.xlf").write_text(f"<?xml version='1.0'?><xliff>{note}{body}</file></xliff>")
    assert read(tmp_path)[0] == {
        "a.xlf": ("For phones", "For phones"),
        "a.xlf#1": ("Save the file\nSichern", "Save the file"),
        "a.xlf#2": ("one two!\nEins.\nZwei.", "one two!"),
    }


def test_outputs_of_notebooks_are_counted(tmp_path):
    cell = {"cell_type": "code", "source": ["roar()"], "outputs": [{"text": "ROAR"}] * 2}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell, cell | {"outputs": []}, {"source": "# Lions"}]}))
    found, reader = read(tmp_path)
    assert found == {"a.ipynb": ("roar()\n\nroar()\n\n# Lions", "Lions")}
    assert reader.tally.not_read() == ["2 outputs of notebooks"]


def test_escapes_of_json_are_letters(tmp_path):
    issue = {"title": "Crash of Zoë", "body": "a path C:\\new,\n\tlions\f🦁", "labels": ["ä"], "n": {"title": "x"}}
    (tmp_path / "a.json").write_text(json.dumps(issue))
    (tmp_path / "b.json").write_text("{broken\\ud8zz\\udczz\\ud83d\\n")
    assert read(tmp_path)[0] == {
        "a.json": (
            '{"title": "Crash of Zoë", "body": "a path C:\\new,  lions 🦁", "labels": ["ä"], "n": {"title": "x"}}',
            "Crash of Zoë",
        ),
        "b.json": ("{brokenud8zzudczzud83d ", "b.json"),
    }


CATALOG = """# Translators: Ann
msgid ""
msgstr ""
"Content-Type: text/plain; charset=ISO-8859-1\\n"

#. shown above
#  of a list
#: list.c:7
#, fuzzy
#| msgid "Big"
msgctxt "cats"
msgid "Big\\nc"
"ats"
msgstr "Große \\"Kat"
"zen\\""
msgid "%d lion"
msgid_plural "%d lions"
msgstr[0] "%d Löwe"
msgstr[1] "%d Löwen"

#~| msgid "Tall cats"
#~ msgid "Big cats"
#~ msgstr ""
no string
"""


def test_messages_of_a_catalog_are_documents(tmp_path):
    (tmp_path / "a.po").write_text(CATALOG, "latin-1", newline="\r\n")
    (tmp_path / "b.po").write_text("The river Po\n\n#is\n# long.")
    assert read(tmp_path)[0] == {
        "a.po#Big cats": ('cats\nBig cats\nGroße "Katzen"\nshown above\nof a list', "Big cats"),
        "a.po#%d lion": ("%d lion\n%d lions\n%d Löwe\n%d Löwen", "%d lion"),
        "a.po#Big cats (2)": ("Big cats", "Big cats"),
        "a.po": ("no string", "no string"),
        "b.po": ("The river Po\n#is\nlong.", "The river Po"),
    }


WORDS = "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n2\tel\tel\tDET\t_\t_\t3\tdet\t_\t_\n"
WORDS += "3\tmar\tmar\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n3.1\tunsaid\t_\t_\t_\t_\t_\t_\t_\t_\n4\t.\t.\tPUNCT\t_\t_\t3\tp\t_\t_\n"


EVENTS = """BEGIN:VCALENDAR
PRODID:-//Zoo//EN
X-WR-CALNAME:Big cats
BEGIN:VTIMEZONE
TZID:Berlin
END:VTIMEZONE
BEGIN:VEVENT
UID:e1@zoo.org
DTSTART;TZID=Berlin:20240312T100000
SUMMARY:Feed the lions\\, and the ti
 gers; all
DESCRIPTION:<p>Fresh <b>meat</b></p>\\nAt noon
Bring: gloves
LOCATION;LANGUAGE=en:House 5
CATEGORIES:Food,Big\\, cats
ORGANIZER;CN="Ann: Zoo":mailto:Ann@zoo.org
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VTODO
SUMMARY:Mend the fence
DUE;VALUE=DATE:20240401
END:VTODO
{}"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_entries_of_a_calendar_are_documents(tmp_path, run, line_end):
    (tmp_path / "a.ics").write_bytes(EVENTS.format("END:VCALENDAR\n").replace("\n", line_end).encode())
    feed = "Feed the lions, and the tigers; all"
    texts = {id: (text.replace("\r", ""), title) for id, (text, title) in read(tmp_path / "a.ics")[0].items()}
    assert texts == {
        "a.ics#e1@zoo.org": (f"{feed}\nHouse 5\nFresh meat\nAt noon\nBring: gloves\nFood,Big, cats", feed),
        "a.ics#2": ("Mend the fence", "Mend the fence"),
        "a.ics": ("Big cats", "Big cats"),
    }
    code, _, err = run(
        "index", "a.db", "a.ics", "--tags", "tags", "--tags", "people", "--keep-columns", "date,people,tags"
    )
    assert (code, err.count("\n")) == (0, 1)
    first, second, _ = map(json.loads, run("export", "a.db")[1].splitlines())
    assert (first["date"], first["people"], first["tags"]) == ("2024-03-12", ["ann@zoo.org"], ["Food", "Big, cats"])
    assert second["date"] == "2024-04-01"


def test_a_calendar_of_utf_16_has_whole_lines(tmp_path):
    events = EVENTS.format("END:VCALENDAR\n").replace("\n", "\r\n")
    for encoding in ("utf-16", "utf-8"):
        (tmp_path / "a.ics").write_bytes(events.encode(encoding))
        found = read(tmp_path / "a.ics")[0]
        assert found["a.ics#e1@zoo.org"][1] == "Feed the lions, and the tigers; all"


def test_what_is_empty_in_a_calendar_hides_nothing(tmp_path):
    """As Outlook writes an appointment whose description is a page."""
    page = "DESCRIPTION:\\n\nX-ALT-DESC;FMTTYPE=text/html:<p>Feed the <b>lions</b></p>"
    (tmp_path / "a.ics").write_text(f"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Zoo\n{page}\nEND:VEVENT\nEND:VCALENDAR\n")
    (tmp_path / "b.vcf").write_text("BEGIN:VCARD\nFN:\nN:Lee;Ann\nEND:VCARD\n")
    assert read(tmp_path)[0] == {"a.ics#1": ("Zoo\nFeed the lions", "Zoo"), "b.vcf#1": ("Lee Ann", "Lee Ann")}


def test_a_text_about_calendars_is_a_text():
    assert form_by_content(b"BEGIN:VCARD is how\na card begins.\n", None) is None


def test_cards_are_read_in_linear_time(tmp_path):
    """Of many marks of an encoding in a line without a value each is looked at once; else it would take an hour."""
    (tmp_path / "a.vcf").write_text(f"BEGIN:VCARD\nFN:Ann\nREV:1\n{'QUOTED-PRINTABLE' * 200_000}\nEND:VCARD\n")
    assert read(tmp_path)[0]["a.vcf#Ann"][1] == "Ann"


def test_a_calendar_without_its_end_is_told(tmp_path, run):
    (tmp_path / "a.ics").write_text(EVENTS.format("BEGIN:VEVENT\nSUMMARY:Wash the ze"))
    assert read(tmp_path)[0]["a.ics#3"] == ("Wash the ze", "Wash the ze")
    code, _, err = run("index", "a.db", "a.ics")
    assert code == 0 and "1 file of calendars or cards without an end" in err


def test_cards_of_an_address_book_are_documents(tmp_path):
    """As Apple, Netscape and telephones write them, which break lines within a character, or quote letters."""
    photo = f"PHOTO;ENCODING=b:{'A' * 70}\n {'B' * 70}\n"
    apple = (
        f"N:Löwe;Ann;;;\nFN:Ann Löwe\n{photo}ORG:Zoo;Big cats;\nitem1.ADR;type=HOME:;;Weg 5;Ulm;;;\nitem1.X-ABLabel:x\n"
    )
    netscape = "begin:vcard\nfn:Bob\nemail;internet:Bob@zoo.org\nnote:likes\n  zebras\nend:vcard\n"
    phone = "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4C=C3=B6=\n=77e;Cem\nNOTE:feeds\n bears\nUID:7\n"
    split = f"BEGIN:VCARD\nVERSION:3.0\n{apple}END:VCARD\n".encode().replace("ö".encode(), b"\xc3\n \xb6")
    (tmp_path / "a.vcf").write_bytes(split + netscape.encode())
    (tmp_path / "b.vcf").write_text(f"BEGIN:VCARD\nVERSION:2.1\n{phone}END:VCARD\n")
    assert read(tmp_path)[0] == {
        "a.vcf#Ann Löwe": ("Ann Löwe\nZoo Big cats\nWeg 5 Ulm", "Ann Löwe"),
        "a.vcf#Bob": ("Bob\nlikes zebras", "Bob"),
        "b.vcf#7": ("Löwe Cem\nfeeds bears", "Löwe Cem"),
    }


def test_a_treebank_is_its_sentences(tmp_path):
    (tmp_path / "a.conllu").write_text(f"# newdoc id = one\n# text = Lions roar.\n{WORDS}\n# newdoc id = two\n{WORDS}")
    (tmp_path / "b.conllu").write_text(f"# sent_id = 1\n{WORDS}\n{WORDS}\nno line of it\n", newline="\r\n")
    (tmp_path / "c.conllu").write_text(f"# newdoc\n{WORDS}\n# newdoc id = 7\n{WORDS}")
    found, _ = read(tmp_path)
    assert found == {
        "a.conllu#one": ("Lions roar.", "Lions roar."),
        "a.conllu#two": ("del mar.", "del mar."),
        "b.conllu": ("del mar.\ndel mar.", "del mar."),
        "c.conllu#1": ("del mar.", "del mar."),
        "c.conllu#2": ("del mar.", "del mar."),
    }


def test_a_note_of_joplin_is_what_was_written(tmp_path):
    id = "0123456789abcdef" * 2
    below = f"id: {id}\nparent_id: {id}\nauthor: Ann Lee\nsource_url: \nis_todo: 0\nmarkup_language: 1\ntype_: 1"
    note = f"Big cats\n\n# Lions\n\nThey roar. id: {id}\n\n{below}"
    (tmp_path / "a.md").write_text(note, newline="\r\n")
    (tmp_path / "tag.md").write_text(f"zoo\n\nid: {id}\ntype_: 5")
    (tmp_path / "of_note.md").write_text(f"id: {id}\nnote_id: {id}\ntag_id: {id}\nis_shared: 0\ntype_: 6")
    (tmp_path / "picture.md").write_text(f"a.png\n\nid: {id}\nmime: image/png\nocr_text: Keep\\nout\ntype_: 4")
    (tmp_path / "b.md").write_text(f"Cats\n\n{below}\n\nMore.")
    with tarfile.open(tmp_path / "c.jex", "w") as archive:
        archive.add(tmp_path / "a.md", "a.md")
    found, _ = read(tmp_path)
    body = f"Big cats\n\n# Lions\n\nThey roar. id: {id}\nAnn Lee", "Big cats"
    assert found.pop("b.md")[0] == f"Cats\n\n{below}\n\nMore.".replace("type_", "type"), "not at its end"
    assert {name: (text.replace("\r", ""), title) for name, (text, title) in found.items()} == {
        "a.md": body, "c.jex/a.md": body, "tag.md": ("zoo", "zoo"), "picture.md": ("a.png\nKeep out", "a.png")
    }  # fmt: skip


def test_other_collections_stay_one_text(tmp_path):
    (tmp_path / "a.xml").write_text(
        "<?xml version='1.0'?><collection><id>7</id><header>A</header><format>film</format></collection>"
    )
    assert read(tmp_path)[0] == {"a.xml": ("7\nA\nfilm", "film")}


def test_marks_within_a_word_of_xml_do_not_break_it(tmp_path):
    (tmp_path / "a.xml").write_text(
        "<?xml version='1.0'?><TEI><p>The <hi rend='i'>bra</hi>ve</p><p>H<sub>2</sub>O</p></TEI>"
    )
    assert read(tmp_path)[0]["a.xml"][0] == "The brave\nH2O"


def test_a_canvas_is_what_its_cards_say(tmp_path):
    nodes = '{"id":"ab","type":"text","text":"# Cats\\nLions"},{"id":"f","type":"file","file":"a.md"},{"label":"Prey"}'
    (tmp_path / "a.canvas").write_text(f'{{"nodes":[{nodes}],"edges":[{{"id":"e","label":"eats"}},{{"id":"g"}}]}}')
    (tmp_path / "new.canvas").write_text("{}")
    found, reader = read(tmp_path)
    assert found == {"a.canvas": ("# Cats\nLions\n\nPrey\n\neats", "Cats")}
    assert reader.tally.left_out == {"empty": [str(tmp_path / "new.canvas")]}


def test_marc_is_told_whatever_its_ending(tmp_path):
    (tmp_path / "a.mrc").write_bytes(b"00070cam a2200049 a 4500245001800000\x1e10\x1faLions\x1e\x1d")
    with pytest.raises(errors.SourceError, match="MARC: save it as MARCXML"):
        read(tmp_path / "a.mrc")


@pytest.mark.parametrize("entry", ["@patent{a1, title = {Lions}}", "% JabRef\n@Letter {,\n  title = {Lions}}"])
def test_bibtex_is_known_by_any_kind_of_entry(entry):
    assert form_by_content(entry.encode(), None) is FORMATS[".bib"]


@pytest.mark.parametrize("text", ["@media print {a, b {color: red}}", "@page {margin: 0}", "@ann, see {a, b}"])
def test_other_texts_with_an_at_sign_are_no_bibtex(text):
    assert form_by_content(text.encode(), None) is None


def test_a_table_without_names_that_becomes_a_text_is_told(tmp_path, run):
    (tmp_path / "a.gmt").write_text("one\tna\tTP53\tEGFR\ntwo\tna\tTP53\n")
    code, _, said = run("index", "a.db", "a.gmt")
    assert code == 0 and "a.gmt is one text; --header set,about,gene... reads its lines as rows" in said
    code, _, said = run(
        "index", "b.db", "a.gmt", "--header", "set,about,gene...", "--items", "set", "--features", "gene"
    )
    assert code == 0 and "2 set, 2 gene" in said and "one text" not in said


@pytest.mark.parametrize(
    "line",
    ["KW  - human\r\n", "1. \r\n", "Provider: Ovid\r\n", "<!-- a -->\r\n", "%A Ann\r\n", "From: a\r\n", "% a\r\n"],
)
def test_a_beginning_of_many_lines_is_known_at_once(line):
    """Each line is read in one way only: with two, the lines of a record of Embase would take 2^70 steps."""
    record = f"TY  - JOUR\r\n{line * 70}"
    assert form_by_content(record.encode(), None) is FORMATS[".ris"]
    assert form_by_content((line * 70 + "lions").encode(), None) in (None, FORMATS[".enw"])


def test_parts_of_a_table_have_the_columns_of_their_folders(run, tmp_path):
    """As Spark and others write them; what beside them has other columns is left out."""
    for number, folder in enumerate(
        ["day=2024-01-01/kind=", "day=2024-01-02/kind=a%20b", "day=__HIVE_DEFAULT_PARTITION__/kind=c"]
    ):
        (tmp_path / "in" / folder).mkdir(parents=True)
        table = pyarrow.table({"key": [f"k{number}"], "body": [f"lions {'roar sleep hunt'.split()[number]}"]})
        parquet.write_table(table, tmp_path / "in" / folder / "part-0.parquet")
    parquet.write_table(pyarrow.table({"other": [1]}), tmp_path / "in" / "others.parquet")
    (tmp_path / "in" / "note.md").write_text("wheat and barley")
    code, _, said = run("index", "a.db", "in", "--id", "key", "--text", "body", "--keep-columns", "day,kind")
    assert code == 0 and "left out 1 file (in/others.parquet): rows without a column key" in said, said
    with setsearch.open(tmp_path / "a.db") as index:
        hits = index.items("documents").expand([], 3, like=["lions"])
        assert {hit.item: hit.columns for hit in hits} == {
            "k0": {"day": "2024-01-01", "kind": ""},
            "k1": {"day": "2024-01-02", "kind": "a b"},
            "k2": {"day": None, "kind": "c"},
        }
        later = index.items("documents").expand([], like=["lions"], filter=["day >= 2024-01-02"])
        assert [hit.item for hit in later] == ["k1"]


def test_names_of_folders_are_decoded_once_they_are_cut(run, tmp_path):
    """The name of a column may have the sign that ends it."""
    (tmp_path / "in" / "a%3Db=c%2Fd").mkdir(parents=True)
    parquet.write_table(pyarrow.table({"text": ["lions"]}), tmp_path / "in" / "a%3Db=c%2Fd" / "a.parquet")
    assert run("index", "a.db", "in", "--tags", "own=a=b")[0] == 0
    with setsearch.open(tmp_path / "a.db") as index:
        assert "own:c/d" in index.items("documents").features_of("a%3Db=c%2Fd/a.parquet#1")


def test_parquet_tells_columns_that_are_named_twice(failed, run, tmp_path):
    twice = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 3, names=["id", "text", "text"])
    parquet.write_table(twice, tmp_path / "a.parquet")
    for source, stdin in (("a.parquet", None), ("-", (tmp_path / "a.parquet").read_bytes())):
        failed(run("index", "a.db", source, stdin=stdin), 1, "row 1: several columns are named 'text'")


def test_a_table_on_standard_input_may_begin_as_parquet_does(run):
    """PAR1 is a gene, too."""
    assert run("index", "a.db", "-", "--text", "PAR1", stdin=b"PAR1\tid\nlions\ta\n")[0] == 0


def test_databases_of_duckdb_are_told(run, failed, tmp_path):
    (tmp_path / "a.duckdb").write_bytes(b"\x8f\x87\xf2\x11\xbcE\r\xb4DUCK\xe7\x03" + bytes(300))
    for options in ([], ["--id", "id", "--text", "body"]):
        failed(run("index", "a.db", "a.duckdb", *options), 1, "a.duckdb is not read: databases of DuckDB: `copy TABLE")
    (tmp_path / "a.txt").write_text("A lame DUCK" + " and a lion" * 30)
    assert run("index", "b.db", "a.txt")[0] == 0


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
@pytest.mark.parametrize(
    ("before", "after"), [(b"x" * 1234, b"\xff" * 1234), (struct.pack("<2i", 0, 1234), struct.pack("<2i", 0, -9))]
)
def test_columns_that_are_no_texts_or_lead_out_of_their_file_are_refused(tmp_path, run, failed, ending, before, after):
    """pyarrow reads whatever is in memory there, or ends the process."""
    table, path = pyarrow.table({"text": ["x" * 1234]}), tmp_path / f"a.{ending}"
    if ending == "parquet":
        parquet.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
        before, after = (
            own if len(own) > 8 else struct.pack("<i", struct.unpack("<2i", own)[1]) for own in (before, after)
        )
    else:
        feather.write_feather(table, path, compression="uncompressed")
    head, found, tail = path.read_bytes().rpartition(before)
    assert found
    path.write_bytes(head + after + tail)
    failed(run("index", "a.db", path.name), 1, f"a.{ending} cannot be read: ", "; write it again")
