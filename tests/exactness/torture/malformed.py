"""Input that is broken, hostile or merely odd: what a file holds, how it is read, and how many items come of it.

`None` items: it is refused, with one line, and nothing is written.
"""

import gzip
import json
import struct
from collections.abc import Iterator
from typing import NamedTuple

MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>'\"&amp;"
SQL = "'); drop table setsearch_name; --"
ODD_TEXTS = {
    "right to left": "שלום עולם مرحبا \u202eabc\u202c",
    "combining": "e\u0301 " + "a" + "\u0300" * 500,
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🦁 lion",
    "zero width": "li\u200bon ti\u200dger \ufeff",
    "controls": "a\x01b\x1b[31m red \x7f\x85\u2028\u2029",
    "html": MARKUP,
    "sql": SQL,
    "format": "%s %n {0} {x} $HOME `ls` ${jndi:ldap://x}",
    "path": "../../etc/passwd C:\\con\\con",
    "surrogate pair": "\U0001f981 \U0010ffff",
    "one long word": "x" * 1_000_000,
    "many spaces": " " * 1_000_000 + "lion",
    "digits": "1" * 5000 + " 0x41 1e309 nan inf -0",
    "turkish": "İSTANBUL ıI ſ ß ẞ ﬁ Ǆ",
    "han": "虎は猫である 老虎",
    "nothing but marks": "!?.,;:-—…()[]{}",
    "empty": "",
    "newlines": "lion\r\n\r\ntiger\r\n\u0085cat",
}


class Case(NamedTuple):
    """One file, the options with which it is indexed, and how many items are there afterwards."""

    name: str
    file: str
    data: bytes
    options: tuple[str, ...] = ()
    items: int | None = None


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")


def cases() -> Iterator[Case]:
    """More than a hundred."""
    yield from _json()
    yield from _tables()
    yield from _files()
    yield from _relations()
    for name, text in ODD_TEXTS.items():
        yield Case(f"text {name}", "x.jsonl", lines({"id": "a", "text": text}), items=1)
        named = Case(f"id {name}", "x.jsonl", lines({"id": text, "text": "lion"}), items=1)
        yield named if text else named._replace(items=None)
        yield Case(f"title {name}", "x.jsonl", lines({"id": "a", "text": "lion", "title": text}), items=1)
        yield Case(f"file of {name}", "x.txt", text.encode(), items=1 if text.strip() else None)


def _json() -> Iterator[Case]:
    good = lines({"id": "a", "text": "lion"})
    deep = b'{"id": "a", "text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    for name, data, items in [
        ("nothing", b"", None),
        ("blank lines", b"\n\n \n" + good + b"\n", 1),
        ("cut off", b'{"id": "a", "te', None),
        ("array", b"[1, 2]\n", None),
        ("number", b"12\n", None),
        ("null", b"null\n", None),
        ("two objects in a line", good.strip() + good, None),
        ("no id", lines({"text": "lion"}), 1),
        ("no text", lines({"id": "a"}), None),
        ("id null", lines({"id": None, "text": "lion"}), None),
        ("id list", lines({"id": [1], "text": "lion"}), None),
        ("id object", lines({"id": {}, "text": "lion"}), None),
        ("id true", lines({"id": True, "text": "lion"}), None),
        ("id number", lines({"id": 12, "text": "lion"}), 1),
        ("id huge number", b'{"id": 1' + b"0" * 4000 + b', "text": "lion"}\n', 1),
        ("id beyond what numbers may have", b'{"id": 1' + b"0" * 5000 + b', "text": "lion"}\n', None),
        ("id nan", b'{"id": NaN, "text": "lion"}\n', None),
        ("id with nul", lines({"id": "a\0b", "text": "lion"}), None),
        ("text with nul", lines({"id": "a", "text": "lion\0tiger"}), 1),
        ("lone surrogate in id", b'{"id": "\\ud800", "text": "lion"}\n', None),
        ("lone surrogate in text", b'{"id": "a", "text": "\\ud800 lion"}\n', 1),
        ("lone surrogate in title", b'{"id": "a", "text": "lion", "title": "\\udfff"}\n', 1),
        ("text null", lines({"id": "a", "text": None}), 1),
        ("text list", lines({"id": "a", "text": ["lion", None, 1, ["tiger"]]}), 1),
        ("text object", lines({"id": "a", "text": {"x": 1}}), None),
        ("text number", lines({"id": "a", "text": 12.5}), 1),
        ("title list", lines({"id": "a", "text": "lion", "title": [1]}), 1),
        ("title nul", lines({"id": "a", "text": "lion", "title": "\0"}), None),
        ("same id twice", lines({"id": "a", "text": "x"}, {"id": "a", "text": "y"}), None),
        ("key twice", b'{"id": "a", "id": "b", "text": "lion"}\n', None),
        ("deep", deep, None),
        ("deep object", b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n", None),
        ("byte order mark", b"\xef\xbb\xbf" + good, 1),
        ("utf-16", good.decode().encode("utf-16"), 1),
        ("half of utf-16", good.decode().encode("utf-16")[:-1], None),
        ("latin-1", '{"id": "a", "text": "café"}\n'.encode("latin-1"), 1),
        ("overlong utf-8", b'{"id": "a", "text": "\xc0\xaf"}\n', 1),  # as any file that looks like cp1252
        ("cut utf-8", b'{"id": "a", "text": "\xe2\x82"}\n', 1),
        ("broken among good", good + b"{\n", None),
        ("carriage returns", good.replace(b"\n", b"\r\n"), 1),
        ("no last newline", good.strip(), 1),
        ("many features", lines({"id": "a", "text": " ".join(f"w{n}" for n in range(100_000))}), 1),
        ("a million features", lines({"id": "a", "text": " ".join(f"w{n}" for n in range(1_000_000))}), 1),
        ("a word a million times", lines({"id": "a", "text": "lion " * 1_000_000}), 1),
        ("a thousand columns", lines({"id": "a", "text": "lion"} | {f"c{n}": n for n in range(1000)}), 1),
        ("id of a megabyte", lines({"id": "x" * 1_000_000, "text": "lion"}), 1),
        ("id with newline", lines({"id": "a\nb\tc", "text": "lion"}), 1),
    ]:
        yield Case(f"json {name}", "x.jsonl", data, (), items)
    rows = lines({"id": "a", "text": "lion"}, {"text": "no id"}, {"id": None, "text": "x"}, {"id": "b", "text": {}})
    yield Case("json rows without what is needed, skip", "x.jsonl", rows, ("--errors", "skip"), 1)
    for how in ("skip", "replace"):
        broken = good + b"{\n" + b"\xff\xfe\n"
        yield Case(f"json broken, {how}", "x.jsonl", broken, ("--errors", how), 1 if how == "skip" else None)
        latin = '{"id": "a", "text": "café"}\n'.encode("latin-1") + lines({"id": "b", "text": "lion"})
        yield Case(f"json latin-1, {how}", "x.jsonl", latin, ("--errors", how), 2)


def _tables() -> Iterator[Case]:
    for name, data, items in [
        ("nothing", b"", None),
        ("header alone", b"id,text\n", None),
        ("no header", b"a,lion\n", None),
        ("too few fields", b"id,text\na\n", None),
        ("too many fields", b"id,text\na,b,c\n", None),
        ("open quote", b'id,text\na,"lion\n', None),
        ("quote within", b'id,text\na,li"on\n', 1),
        ("text behind a quote", b'id,text\na,"lion"x\n', None),
        ("newline in quotes", b'id,text\na,"lion\ntiger"\n', 1),
        ("nul", b"id,text\na,li\0on\n", 1),
        ("same column twice", b"id,text,text\na,x,y\n", None),
        ("semicolons", b"id;text\na;lion\n", 1),
        ("empty id", b"id,text\n,lion\n", None),
        ("byte order mark", b"\xef\xbb\xbfid,text\na,lion\n", 1),
        ("latin-1", "id,text\na,café\n".encode("latin-1"), 1),
        ("formula", b"id,text\na,=cmd|' /C calc'!A0\n", 1),
        ("a field of megabytes", b"id,text\na," + b"lion " * 600_000 + b"\n", 1),
        ("carriage returns alone", b"id,text\ra,lion\r", 1),
    ]:
        yield Case(f"csv {name}", "x.csv", data, (), items)
    yield Case("tsv", "x.tsv", b"id\ttext\na\tlion, tiger\n", (), 1)


def _files() -> Iterator[Case]:
    packed = gzip.compress(lines({"id": "a", "text": "lion"}))
    for name, file, data, items in [
        ("gzip", "x.jsonl.gz", packed, 1),
        ("gzip cut off", "x.jsonl.gz", packed[:-5], None),
        ("gzip broken", "x.jsonl.gz", packed[:12] + b"\xff\xff" + packed[14:], None),
        ("not gzip", "x.jsonl.gz", b"lion", None),
        ("text with nul", "x.txt", b"li\0on", None),
        ("binary", "x.txt", bytes(range(256)) * 10, None),
        ("empty text", "x.txt", b"", None),
        ("pdf", "x.pdf", b"%PDF-1.4", None),
        ("no ending", "x", b"lion", 1),
        ("png named text", "x.txt", b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13), None),
        ("utf-16 text", "x.txt", "lion".encode("utf-16"), 1),
        ("xml in attributes", "x.xml", b"<a><b t='a lion is a cat'/><c/></a>", 1),
        ("xml in attributes cut off", "x.xml", b"<a><b t='a lion is a cat'/><c", None),
        (
            "xml in attributes with entities",
            "x.xml",
            b"<!DOCTYPE a [<!ENTITY x 'y'>]><a><b t='a &x; is a cat'/></a>",
            1,
        ),
    ]:
        yield Case(f"file {name}", file, data, (), items)


def _relations() -> Iterator[Case]:
    options = ("--items", "film", "--features", "user", "--count", "n")
    for name, data, items in [
        ("good", b"film,user,n\na,u,1\nb,u,2\n", 2),
        ("count zero", b"film,user,n\na,u,0\nb,u,2\n", 2),
        ("count negative", b"film,user,n\na,u,-1\n", None),
        ("count half", b"film,user,n\na,u,1.5\n", None),
        ("count huge", b"film,user,n\na,u,99999999999\n", None),
        ("count sum huge", b"film,user,n\n" + b"a,u,2000000000\n" * 3, None),
        ("count infinite", b"film,user,n\na,u,inf\n", None),
        ("count nan", b"film,user,n\na,u,nan\n", None),
        ("count word", b"film,user,n\na,u,many\n", None),
        ("count empty", b"film,user,n\na,u,\n", None),
        ("count underscore", b"film,user,n\na,u,1_0\n", None),
        ("no film", b"movie,user,n\na,u,1\n", None),
        ("empty user", b"film,user,n\na,,1\n", 1),  # a film that nobody has
        ("markup", f"film,user,n\n{MARKUP.replace(',', '')},u,1\n".replace('"', "").encode(), 1),
    ]:
        yield Case(f"relation {name}", "x.csv", data, options, items)
    numbers = ("--items", "id", "--numbers", "h")
    for name, value, items in [
        ("good", b"1.5", 1), ("infinite", b"inf", None), ("nan", b"nan", None), ("word", b"tall", None),
        ("empty", b"", None), ("huge", b"1e400", None), ("beyond squares", b"1e200", None),
    ]:  # fmt: skip
        yield Case(f"number {name}", "x.csv", b"id,h\na," + value + b"\n", numbers, items)
