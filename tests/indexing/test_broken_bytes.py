"""Bytes that are no text cost the row, the record or the message that has them, and nothing else."""

import json

import pytest

from setsearch.errors import SourceError
from setsearch.indexing.encodings import likely_encoding
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns

GOOD, BAD = "Müller, Łukasz".encode(), b"Caf\xe9"
RIS = [
    b"TY  - JOUR\nTI  - %s %d\nAB  - lions\nER  - \n" % (name, number) for number, name in enumerate((GOOD, BAD, GOOD))
]
BIB = [
    b"@article{k%d,\n title={%s},\n abstract={lions}}\n" % (number, name)
    for number, name in enumerate((GOOD, BAD, GOOD))
]
MAIL = [
    b"From a@b.c Mon Jan  1 10:00:0%d 2024\nSubject: one\nContent-Type: text/plain; charset=utf-8\n\n%s\n\n"
    % (number, name)
    for number, name in enumerate((GOOD * 9, b"\xe3\x81" + GOOD * 9, GOOD * 9))
]
ROWS = [json.dumps({"id": str(number), "text": "ä"}, ensure_ascii=False).encode() for number in range(3)]
ROWS[1] = ROWS[1].replace("ä".encode(), b"\xe9")
FILES = {
    "a.ris": (b"".join(RIS), "a.ris, line 6: invalid UTF-8 in 'Caf\\xe9 1'; `errors=replace` reads it"),
    "a.bib": (b"".join(BIB), "a.bib, line 5: invalid UTF-8 in '{Caf\\xe9}'"),
    "a.json": (b"[" + b",\n".join(ROWS) + b"]", "a.json, entry 2: invalid UTF-8 in"),
    "a.mbox": (b"".join(MAIL), "a.mbox: invalid UTF-8 at byte"),
    "a.csv": ("id,text\n1,Grüße\n2,".encode() + b"\xe9\n" + "3,schön\n".encode(), "a.csv, line 3: invalid UTF-8"),
}


@pytest.mark.parametrize("name", FILES)
def test_one_byte_costs_one_record(tmp_path, name):
    data, told = FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    warnings = []
    found = list(SourceReader(Columns(), RowReader("skip", warnings.append)).read([str(path)]))
    assert len(found) == 2
    assert len(warnings) == 1 and told in warnings[0]
    with pytest.raises(SourceError, match="not UTF-8"):
        list(SourceReader(Columns(), RowReader()).read([str(path)]))
    assert len(list(SourceReader(Columns(), RowReader("replace")).read([str(path)]))) == 3


def test_files_and_lines_are_utf8_by_one_rule(tmp_path):
    """Two letters of UTF-8 for three other bytes, in a text as in a table."""
    for good, bad, is_utf8 in ((3, 1, True), (3, 4, True), (2, 3, False), (0, 9, False)):
        data = b"id,text\n1," + "ä".encode() * good + b" " + b"\xe4 " * bad + b"\n"
        (tmp_path / "a.csv").write_bytes(data)
        rows = RowReader("replace")
        assert len(list(rows.read(str(tmp_path / "a.csv")))) == 1
        assert (likely_encoding(data) is None) == (rows.decided == {}) == is_utf8, (good, bad)


def test_the_line_of_a_byte_is_told(tmp_path):
    (tmp_path / "a.txt").write_bytes("ä\nö\nü ".encode() + b"\xe9 x\n")
    with pytest.raises(SourceError, match=r"byte 9 \(line 3\) is 0xe9"):
        list(SourceReader(Columns(), RowReader()).read([str(tmp_path / "a.txt")]))


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.txt"])
def test_all_kinds_of_files_are_read_as_what_they_look_like(tmp_path, name):
    text = "Grüße aus Köln, schöne Füße"
    data = {"a.jsonl": f'{{"id": 1, "text": "{text}"}}', "a.json": f'[{{"id": 1, "text": "{text}"}}]'}
    data |= {"a.csv": f'id,text\n1,"{text}"\n', "a.txt": text}
    (tmp_path / name).write_bytes(data[name].encode("cp1252"))
    rows = RowReader()
    (found,) = SourceReader(Columns(), rows).read([str(tmp_path / name)])
    assert found[1] == text and [*rows.decided] == ["cp1252"]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_the_encoding_that_fits_is_the_way_out(tmp_path, encoding):
    """Also where bytes at the end are the beginning of a letter of UTF-8."""
    (tmp_path / "a.txt").write_bytes("Grüße aus Köln, schöne Füße. \x90".encode(encoding, "replace"))
    (tmp_path / "b.txt").write_bytes("Grüße, schöne Füße".encode() + b" \xe3")
    warnings = []
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt")]
    (tmp_path / "c.txt").write_text("plain")
    assert len([*SourceReader(Columns(), RowReader("skip", warnings.append, encoding="ascii")).read(names)]) == 1
    assert [told.rpartition("; ")[2] for told in warnings] == [
        f"`encoding={encoding}` reads it",
        "`errors=replace` reads it",
    ]
    with pytest.raises(SourceError, match=f"pass `encoding={encoding}`, or"):
        [*SourceReader(Columns(), RowReader(encoding="ascii")).read(names)]
