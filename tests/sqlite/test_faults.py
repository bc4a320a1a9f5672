"""Mistakes of ours are told as such, and damage as damage."""

import queue
import sqlite3

import pytest
from patience import patience

import setsearch
from setsearch.errors import CorruptIndex, Fault
from setsearch.pool import watch_damage


@pytest.fixture
def index(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add((f"d{n}", f"lion w{n % 7} w{n % 5}") for n in range(60))
        yield index


def within(path, function):
    """A function as if it stood in a file of ours."""
    space = {}
    home = setsearch.__file__.rpartition("__init__")[0]
    exec(compile("def own(*_, **__): return [][0]", home + path, "exec"), space)
    return space[function]


def test_a_mistake_in_the_search_is_a_fault(index, monkeypatch):
    monkeypatch.setattr("setsearch.answers.ranking.belonging", within("search/cutoff.py", "own"))
    with pytest.raises(Fault, match=r"IndexError.*search/cutoff.py:1\).*setsearch check.*report") as raised:
        index.items("documents").expand(["d1"], cut="mark")
    assert "\n" not in str(raised.value) and not index.check()
    assert isinstance(raised.value.__cause__, IndexError)


def test_what_reads_stored_values_tells_damage(index, monkeypatch):
    monkeypatch.setattr("setsearch.memory.fields.Fields.columns_of", within("storage/kept/columns.py", "own"))
    with pytest.raises(CorruptIndex, match="IndexError"):
        index.items("documents").expand(["d1"])


def test_checks_and_servers_tell_mistakes_and_damage_apart(tmp_path, index, monkeypatch):
    with monkeypatch.context() as own:
        own.setattr("setsearch.indexing.check.load_analyzer", within("text/analyzer.py", "own"))
        with pytest.raises(Fault, match=r"IndexError.*text/analyzer.py:1\)"):
            index.check()
        connection = sqlite3.connect(tmp_path / "a.db")
        connection.execute("update setsearch_relation set revision = revision + 1")
        connection.commit()
        changed, told = index.check(), queue.Queue()
        assert "changed from outside" in changed[0] and changed[-1].startswith("stored data cannot be read")
        connection.execute("update setsearch_relation set revision = revision - 1")
        connection.commit()
        connection.close()
        watch_damage(tmp_path / "a.db", told.put)
        assert told.get(timeout=patience(30)).startswith("a fault of setsearch (IndexError")
    monkeypatch.setattr("setsearch.storage.kept.records.Records.check", within("storage/kept/records.py", "own"))
    assert index.check() == ["stored data cannot be read (list index out of range)"]


def test_the_command_line_tells_in_a_line_and_shows_more_if_asked(tmp_path, index, run, monkeypatch):
    monkeypatch.setattr("setsearch.answers.ranking.belonging", within("search/cutoff.py", "own"))
    command = "expand", "a.db", "d1", "--items", "documents", "--cut"
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*command)
    assert (code, out) == (1, "") and err.count("\n") == 1 and "fault of setsearch" in err
    monkeypatch.setenv("SETSEARCH_DEBUG", "1")
    assert "Traceback" in run(*command)[2]


def test_a_mistake_outside_of_a_transaction_is_told_likewise(tmp_path, index, run, monkeypatch):
    monkeypatch.setattr("setsearch.answers.answer.Hits.shared", within("answers/answer.py", "own"))
    monkeypatch.chdir(tmp_path)
    code, out, err = run("expand", "a.db", "d1", "--items", "documents")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("Error: a fault of setsearch (IndexError") and "in answers/answer.py:1)" in err
