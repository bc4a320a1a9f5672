"""The life of a file: made, copied, replaced, published to where nobody may write."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from patience import patience

import setsearch
from setsearch import errors
from setsearch.sqlite import creation

ITEMS = [(f"d{n}", f"lion tiger {n}") for n in range(6)]
INDEX = """
import sys, time, setsearch
def items():
    yield from [(f"d{n}", "lion tiger") for n in range(1000)]
    print("reading", flush=True)
    time.sleep(60)
with setsearch.open(sys.argv[1], create=True) as index:
    index.add(items())
"""
CREATED = r"being created by another process \(waited 0.1 s\).*`timeout`"
NOBODY = 65534


def journal_mode(path):
    connection = sqlite3.connect(path)
    (mode,) = connection.execute("pragma journal_mode").fetchone()
    connection.close()
    return mode


def test_a_killed_first_write_leaves_no_file_and_stops_nobody(tmp_path):
    path = tmp_path / "a.db"
    writer = subprocess.Popen([sys.executable, "-c", INDEX, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout.readline() == "reading\n"
    assert not path.exists()
    with setsearch.open(path, create=True, timeout=0.1) as index, pytest.raises(errors.LockedDatabase, match=CREATED):
        index.add(ITEMS)
    writer.kill()
    writer.wait()
    writer.stdout.close()
    assert not path.exists()
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]
    assert journal_mode(path) == "wal"
    with setsearch.open(path) as index:
        assert index.items("documents").item_count() == 6


@pytest.mark.skipif(os.name != "posix", reason="folders are opened as in POSIX")
def test_the_name_of_a_new_file_survives_a_power_cut(tmp_path, monkeypatch):
    """SQLite syncs a folder only with its next log: until then the first write could be lost."""
    path, synced = tmp_path / "a.db", []
    monkeypatch.setattr(creation.os, "fsync", lambda file: synced.append((os.fstat(file), path.exists())))
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
    assert any(os.path.samestat(own, tmp_path.stat()) and is_there for own, is_there in synced)


@pytest.mark.skipif(os.name != "posix", reason="links are those of POSIX")
def test_a_link_to_no_file_yet_becomes_one_to_the_new_file(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "a.db").symlink_to("data/real.db")
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
    assert (tmp_path / "a.db").is_symlink() and ask(tmp_path / "data/real.db") == ask(tmp_path / "a.db") != []


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_and_those_beside_it_have_the_mode_of_the_umask(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        with setsearch.open(tmp_path / "a.db", create=True, contexts="on") as index:
            index.add(ITEMS)
            os.umask(0)  # what is written later goes by the database
            index.refresh("now")
            index.add([("later", "lion")])
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert {"a.db", "a.db-wal", "a.db-shm"} <= {*modes} and any("arrays" in name for name in modes)
    assert {*modes.values()} == {mode}, modes


def test_an_empty_file_becomes_a_database_with_a_log(tmp_path):
    path = tmp_path / "a.db"
    path.touch()
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
    assert journal_mode(path) == "wal"
    host = tmp_path / "host.db"
    connection = sqlite3.connect(host)
    connection.execute("create table mine (id)")
    connection.close()
    with setsearch.open(host) as index:
        index.add(ITEMS)
    assert journal_mode(host) == "delete"


def test_creators_that_fail_take_nothing_from_others(tmp_path):
    path = tmp_path / "a.db"

    def create(number):
        with setsearch.open(path, create=True, timeout=patience(60)) as index:
            bad = [("x", "lion"), ("x", "tiger")]
            try:
                return index.add(bad if number % 2 else [(f"d{number}", "lion")])
            except errors.DuplicateItem:
                return 0

    with ThreadPoolExecutor(24) as pool:
        assert list(pool.map(create, range(24))) == [1, 0] * 12
    with setsearch.open(path) as index:
        assert index.items("documents").item_count() == 12
        assert index.check() == []


def test_a_file_of_another_program_is_not_replaced(tmp_path):
    path = tmp_path / "a.db"

    def items():
        yield from ITEMS
        path.write_text("mine")

    with setsearch.open(path, create=True) as index, pytest.raises(errors.DatabaseError, match="another program"):
        index.add(items())
    assert path.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]


@pytest.mark.parametrize("how", ["rename", "copy over", "delete and copy"])
def test_a_restored_file_is_read_and_not_written_to(tmp_path, how):
    path, backup = tmp_path / "a.db", tmp_path / "b.db"
    with setsearch.open(backup, create=True) as other:
        other.add([*ITEMS, ("new", "lion lion")])
        expected = other.items("documents").expand(["d0"])
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
        assert index.items("documents").expand(["d0"]) != expected
        if how == "delete and copy":
            path.unlink()
        if how == "rename":
            backup.rename(path)
        else:
            new = tmp_path / "c.db"
            shutil.copy(backup, new)
            new.rename(path)
        assert index.items("documents").expand(["d0"]) == expected
        with pytest.raises(errors.DatabaseError, match="removed or replaced"):
            index.update([("d0", "wheat")])
        assert index.items("documents").expand(["d0"]) == expected
    with setsearch.open(path) as index:
        index.update([("d0", "wheat")])
        assert index.check() == []


def as_nobody(question):
    """What a question answers in a process that may write nothing here."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setegid(NOBODY)
                os.seteuid(NOBODY)
            answer = question()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writer, str(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return answer


@pytest.fixture
def read_only(monkeypatch):
    """A folder where nobody may write, with an index in it.

    It is none of pytest's: those are in one that each pytest which begins closes to others.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with setsearch.open(folder / "a.db", create=True) as index:
            index.add(ITEMS)
            index.items("documents").expand(["d0"])  # so that a child process imports nothing
        folder.chmod(0o555)
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            yield "a.db"
        folder.chmod(0o755)


def ask(path):
    with setsearch.open(path) as index:
        return [hit.item for hit in index.items("documents").expand(["d0"])]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork beside threads
def test_a_read_only_folder_is_asked(read_only):
    assert journal_mode(read_only) == "wal"
    assert as_nobody(lambda: ask(read_only)) == str(ask(read_only)) == "['d1', 'd2', 'd3', 'd4', 'd5']"

    def write():
        with setsearch.open(read_only) as index:
            index.add([("new", "lion")])

    assert as_nobody(write) == "ReadOnlyDatabase: a.db is read-only; copy it to a place where you may write"
    Path(read_only).chmod(0o666)
    told = f"ReadOnlyDatabase: a.db cannot be written, because its folder {Path.cwd()} cannot; let files be made there"
    if os.geteuid() == 0:  # else the owner writes, and nobody else can be asked
        assert as_nobody(write).startswith(told)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files to others")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_log_that_another_user_left_is_named(read_only):
    """Who may write in a folder, but not the file, leaves a log beside it, which the file's owner cannot write."""
    Path().chmod(0o777)
    reader = sqlite3.connect(read_only)
    reader.execute("select * from setsearch_kind").fetchall()
    os.chown(read_only, NOBODY, NOBODY)
    for ending in ("-wal", "-shm"):
        os.chown(read_only + ending, 0, 0)

    def write():
        with setsearch.open(read_only) as index:
            index.add([("new", "lion")])

    told = as_nobody(write)
    reader.close()
    assert "because a.db-wal is another user's" in told


def test_a_full_disk_is_asked(tmp_path):
    """Where not even the file that locks a log has room; a process may be limited to small files."""
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add(ITEMS)
        expected = [hit.item for hit in index.items("documents").expand(["d0"])]
    assert journal_mode(tmp_path / "a.db") == "wal"
    script = (
        "import resource, setsearch\n"
        "from setsearch import errors\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "with setsearch.open('a.db') as index:\n"
        "    print([hit.item for hit in index.items('documents').expand(['d0'])])\n"
        "    try:\n"
        "        index.add([('new', 'lion')])\n"
        "    except errors.DatabaseError as error:\n"
        "        print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    answer, refusal = told.stdout.splitlines()
    assert answer == str(expected)
    assert "the disk may be full" in refusal
    assert not list(tmp_path.glob("a.db-*")) or ask(tmp_path / "a.db") == expected


def test_a_write_to_a_full_disk_names_the_way_out(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, setsearch.open(connection) as index:
        index.add(ITEMS)
        (pages,) = connection.execute("pragma page_count").fetchone()
        connection.execute(f"pragma max_page_count = {pages}")
        with pytest.raises(errors.DatabaseError, match="is full; nothing was changed: make room, and do it again"):
            index.add((f"new{n}", f"lion{n} of the savanna {n}") for n in range(5000))
        assert index.items("documents").item_count() == len([*ITEMS]) and index.check() == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_file_that_changes_while_it_is_taken_for_unchanging_gives_no_answer(read_only):
    def question():
        with setsearch.open(read_only) as index:
            reading = index.items("documents")
            reading.expand(["d0"])
            try:
                with reading.stored():
                    os.seteuid(0)
                    with sqlite3.connect(read_only) as connection:
                        connection.execute("create table other (id)")
                    os.seteuid(NOBODY)
            except errors.LockedDatabase as error:
                first = str(error)
            return first, [hit.item for hit in reading.expand(["d0"], 1)]

    if os.geteuid() != 0:
        pytest.skip("only root may write where others may not")
    answer = as_nobody(question)
    assert "was written to while it was read" in answer
    assert "d1" in answer or "log" in answer or "cannot be opened" in answer


def test_a_read_only_file_is_asked(tmp_path):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True) as index:
        index.add(ITEMS)
    path.chmod(0o444)
    assert ask(path) == ["d1", "d2", "d3", "d4", "d5"]


def test_waiting_creators_end_with_their_timeout(tmp_path):
    path, started, end = tmp_path / "a.db", threading.Event(), threading.Event()

    def items():
        started.set()
        end.wait(patience(60))
        yield from ITEMS

    def create():
        with setsearch.open(path, create=True) as index:
            index.add(items())

    thread = threading.Thread(target=create)
    thread.start()
    started.wait(patience(60))
    start = time.monotonic()
    with setsearch.open(path, create=True, timeout=0.05) as index, pytest.raises(errors.LockedDatabase):
        index.add(ITEMS)
    assert time.monotonic() - start < patience(30)
    end.set()
    thread.join()
    assert ask(path)


def test_ctrl_c_in_the_first_write_leaves_nothing(tmp_path):
    path = tmp_path / "a.db"
    writer = subprocess.Popen(
        [sys.executable, "-c", INDEX, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    writer.stdout.readline()
    writer.send_signal(signal.SIGINT)
    writer.wait()
    writer.stdout.close()
    assert list(tmp_path.iterdir()) == []
