"""Archives are read as folders: their files, bounded, and nothing beside them."""

import gzip
import io
import struct
import subprocess
import sys
import tarfile
import zipfile

import pytest

from setsearch import errors
from setsearch.indexing.folders import FolderRules
from setsearch.indexing.rows import archives
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.storage.synced_source import Columns

RIS = "TY  - JOUR\nTI  - Big cats\nAB  - Lions.\nDO  - 10.1/a\nER  - \n"
FILES = {
    "a.txt": b"lions",
    "notes/b.md": b"# Tigers\nroar",
    "rows.jsonl": b'{"id": "r", "text": "leopards"}\n',
    "refs.ris": RIS.encode(),
    ".hidden": b"no",
    "c.bin": b"\0\1\2" * 99,
}


def read(*paths, folder_errors="skip", globs=(), **options):
    """The ids of what is in some sources; and what read them."""
    reader = SourceReader(Columns(), RowReader(**options), FolderRules(globs, errors=folder_errors))
    items = list(reader.read(list(map(str, paths))))
    return sorted(own.copies[0][1] if hasattr(own, "copies") else own[0] for own in items), reader


def write(path, files):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return
    with tarfile.open(path, f"w:{path.suffix[1:].replace('tgz', 'gz').replace('tar', '')}") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def test_a_table_in_an_archive_says_the_way_out(tmp_path):
    """Nobody can name it there."""
    write(tmp_path / "x.zip", {"a.csv": b"id,text\n1,lions\n", "b.txt": b"tigers"})
    assert [*read(tmp_path / "x.zip")[1].tally.left_out] == ["tables: unpack them, and name them one by one"]


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tgz", "x.tar.gz", "x.tar.bz2", "x.tar.xz"])
def test_an_archive_is_a_folder(tmp_path, name):
    write(tmp_path / name, FILES)
    wanted = ["a.txt", "notes/b.md", "r", "refs.ris"]
    found, reader = read(tmp_path / name)
    assert found == wanted
    assert reader.tally.left_out == {"no text": [str(tmp_path / name / "c.bin")]}
    (tmp_path / "own.txt").write_text("cats")
    assert read(tmp_path)[0] == sorted([f"{name}/refs.ris", f"{name}/a.txt", f"{name}/notes/b.md", "own.txt", "r"])
    assert read(tmp_path / name, globs=("*.txt",))[0] == ["a.txt"]
    assert read(tmp_path, globs=("x.*",))[0] == sorted([f"{name}/refs.ris", f"{name}/a.txt", f"{name}/notes/b.md", "r"])


def test_nothing_is_written_beside_the_archive(tmp_path):
    names = [
        "../up.txt",
        "/tmp/setsearch-evil.txt",
        "a/../../up.txt",
        "..\\up.txt",
        "C:\\up.txt",
        "good\\b.txt",
        "n" * 300,
    ]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name in names:
            archive.writestr(name, b"lions")
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    found, reader = read(tmp_path / "x.zip")
    assert found == ["good/b.txt"]
    counts = {why: len(own) for why, own in reader.tally.left_out.items()}
    assert counts == {"names that lead out of their archive": 5, "File name too long": 1, "links of an archive": 1}
    assert [own.name for own in tmp_path.iterdir()] == ["x.zip"]
    (tmp_path / "x.zip").rename(tmp_path / "x")
    assert read(tmp_path / "x")[0] == ["good/b.txt"], "an archive without ending"
    with tarfile.open(tmp_path / "y.tar", "w") as tar:
        for name, kind in (("link", tarfile.SYMTYPE), ("pipe", tarfile.FIFOTYPE), ("hard", tarfile.LNKTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
    with pytest.raises(errors.SourceError, match="nothing to index"):
        read(tmp_path / "y.tar")


def test_bombs_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_UNPACKED", 1 << 20)
    write(tmp_path / "x.zip", {"a.txt": b"lion " * (1 << 19)})
    with pytest.raises(errors.SourceError, match=r"x\.zip unpacks to more than 1 MB; unpack it"):
        read(tmp_path / "x.zip")
    (tmp_path / "own.txt").write_text("cats")
    found, _ = read(tmp_path, warn=(told := []).append)
    assert found == ["own.txt"] and "x.zip unpacks to more than 1 MB" in told[0]
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    write(tmp_path / "x.zip", {f"{n}.txt": b"lion" for n in range(5)})
    with pytest.raises(errors.SourceError, match="more than 3 members"):
        read(tmp_path / "x.zip")
    monkeypatch.setattr(archives, "LONGEST_LIST", 100)
    with pytest.raises(errors.SourceError, match="lists too many members"):
        read(tmp_path / "x.zip")


def test_archives_in_archives_share_a_room_and_have_an_end(tmp_path, monkeypatch):
    inner = tmp_path / "in.zip"
    write(inner, {"a.txt": b"lions", "b.jsonl": b'{"id": "r", "text": "a"}\n{\n'})
    for name in ("in.tgz", "in.zip", "x.zip"):
        write(tmp_path / name, {"own.txt": b"tigers", inner.name: inner.read_bytes()})
        inner = tmp_path / name
    found, reader = read(inner, warn=(told := []).append)
    assert found == ["in.zip/in.tgz/own.txt", "in.zip/own.txt", "own.txt"]
    (names,) = reader.tally.left_out.values()
    assert names == [f"{inner}/in.zip/in.tgz/in.zip"]
    write(inner, {f"{n}.zip": (tmp_path / "in.tgz").read_bytes() and inner.read_bytes() for n in range(9)})
    monkeypatch.setattr(archives, "MOST_MEMBERS", 14)
    found, _ = read(inner, warn=told.append)
    assert 0 < len(found) < 9 and "has more than 14 members" in told[-1] and "setsearch-" not in "".join(told), told


def test_what_is_broken_costs_itself(tmp_path):
    write(tmp_path / "x.zip", {"a.txt": b"lions and tigers", "b.txt": b"wheat", "in.zip": b""})
    write(tmp_path / "in.zip", {"c.txt": b"bears"})
    write(tmp_path / "x.zip", {"a.txt": b"lions", "b.txt": b"wheat", "in.zip": (tmp_path / "in.zip").read_bytes()})
    (tmp_path / "in.zip").unlink()
    data = bytearray((tmp_path / "x.zip").read_bytes())
    place = data.index(b"a.txt") + 5
    data[place : place + 3] = b"\xff\xff\xff"
    (tmp_path / "x.zip").write_bytes(data)
    found, reader = read(tmp_path / "x.zip")
    assert found == ["b.txt", "in.zip/c.txt"] and [*map(len, reader.tally.left_out.values())] == [1]
    (tmp_path / "cut.zip").write_bytes(data[:-30])
    write(tmp_path / "cut.tgz", {f"{n}.txt": bytes(str(n), "ascii") * 9999 for n in range(9)})
    whole = (tmp_path / "cut.tgz").read_bytes()
    (tmp_path / "cut.tgz").write_bytes(whole[: len(whole) // 2])
    found, reader = read(tmp_path)
    assert "cut.tgz/0.txt" in found and "cut.tgz/8.txt" not in found and "x.zip/b.txt" in found
    assert {own.rsplit("/", 1)[1] for own in reader.tally.left_out["archives that break off"]} >= {"cut.zip"}


def test_errors_and_warnings_name_the_archive(tmp_path):
    write(tmp_path / "x.zip", {"a.txt": "Löwe".encode("cp1252") + b"\0", "b.jsonl": b'{"id": "r", "text": "a"}\n{\n'})
    told = []
    found, _ = read(tmp_path / "x.zip", warn=told.append)
    assert found == ["r"] and all(str(tmp_path / "x.zip") in line and "setsearch-" not in line for line in told), told
    with pytest.raises(errors.SourceError, match=r"x\.zip/b\.jsonl, line 2"):
        read(tmp_path / "x.zip", folder_errors="strict")


@pytest.mark.parametrize(
    ("raw", "flags", "name"),
    [
        ("Löwe.txt".encode(), 0, "Löwe.txt"),
        ("Löwe.txt".encode("cp850"), 0, "Löwe.txt"),
        ("ライオン虎.txt".encode("cp932"), 0, "ライオン虎.txt"),
        ("ライオン虎.txt".encode(), 0x800, "ライオン虎.txt"),
    ],
)
def test_names_of_members_are_in_the_encoding_of_their_machine(tmp_path, raw, flags, name):
    write(tmp_path / "x.zip", {"x" * len(raw): b"lions"})
    data = (tmp_path / "x.zip").read_bytes().replace(b"x" * len(raw), raw)
    data = data.replace(b"PK\x03\x04\x14\0\0\0", b"PK\x03\x04\x14\0" + struct.pack("<H", flags))
    data = data.replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0" + struct.pack("<H", flags))
    (tmp_path / "x.zip").write_bytes(data)
    assert read(tmp_path / "x.zip")[0] == [name]


def test_encrypted_members_and_other_archives_are_named(tmp_path):
    write(tmp_path / "x.zip", {"a.txt": b"lions", "b.txt": b"tigers"})
    data = (tmp_path / "x.zip").read_bytes()
    place = data.index(b"PK\x01\x02") + 8
    (tmp_path / "x.zip").write_bytes(data[:place] + b"\x01" + data[place + 1 :])
    (tmp_path / "y.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(99))
    (tmp_path / "z.rar").write_bytes(b"Rar!\x1a\x07" + bytes(99))
    (tmp_path / "log.xz").write_bytes(b"\xfd7zXZ\0" + bytes(99))
    found, reader = read(tmp_path)
    assert found == ["x.zip/b.txt"]
    assert {why: len(own) for why, own in reader.tally.left_out.items()} == {"encrypted": 1, "packed: unpack it": 3}


def test_a_document_without_ending_is_no_archive(tmp_path):
    for name in ("a", "a.zip"):
        files = {"_rels/.rels": b"x" * 200, "word/document.xml": b"lions", "[Content_Types].xml": b"y"}
        write(tmp_path / "x.zip", files)
        (tmp_path / "x.zip").rename(tmp_path / name)
        assert not archives.is_archive(tmp_path / name)


def test_a_python_without_lzma_reads_the_other_archives(tmp_path):
    write(tmp_path / "notes.zip", {"lion.txt": b"a large cat"})
    (tmp_path / "notes.tar.xz").write_bytes(b"\xfd7zXZ\0")
    code = """
import sys
sys.modules["lzma"] = None
from setsearch.cli.app import main
main()
"""
    for name, told in (
        ("notes.zip", "indexed 1; notes.db now holds 1 document, 3 terms"),
        ("notes.tar.xz", "Error: notes.tar.xz is not read: packed: unpack it"),
    ):
        command = [sys.executable, "-c", code, "index", "notes.db", name]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
        assert (done.stdout + done.stderr).strip() == told


def test_a_tar_without_an_end_or_with_a_broken_header_is_told(tmp_path):
    write(tmp_path / "x.tar", {f"{name}.txt": b"lions" for name in "abc"})
    data = (tmp_path / "x.tar").read_bytes()
    second = 1024  # where the header of b.txt begins: each member has a block of header and one of text
    for broken in (data[:second], data[: second + 100], data[:second] + b"x" + data[second + 1 :]):
        (tmp_path / "x.tar").write_bytes(broken)
        found, reader = read(tmp_path / "x.tar")
        assert found == ["a.txt"]
        assert reader.tally.left_out == {"archives that break off": [str(tmp_path / "x.tar")]}
        assert reader.tally.keep("b.txt"), "of an earlier time"


@pytest.mark.parametrize("size", [10, 24])
def test_a_packed_tar_that_ends_at_once_is_told(tmp_path, run, size):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("lions")
    (folder / "b.tgz").write_bytes(gzip.compress(bytes(range(256)))[:size])
    code, _, said = run("index", "a.db", "in")
    assert code == 0 and "b.tgz" in said and "indexed 1;" in said, said
