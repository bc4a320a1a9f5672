"""The frame of the command line: help, version, messages, and the spellings of earlier versions."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from typer.main import get_command

import setsearch
from setsearch.cli import progress
from setsearch.cli.app import COMMANDS, make_app
from setsearch.cli.messages import with_flags
from setsearch.core import NOT_BUILT, binding


@pytest.fixture
def animals(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add((f"d{n}", "lion tiger cat" if n % 2 else "wheat barley cat") for n in range(12))
        index.keep_set("cats", ["d1", "d3", "d5", "d7", "d9"], items="documents")
        index.keep_set("grain", ["d0", "d2", "d4", "d6", "d8"], items="documents")


def test_version(run):
    assert run("--version") == (0, f"setsearch {setsearch.__version__}\n", "")


def test_a_quiet_command_tells_errors_only(run, failed, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(progress, "STEP_OF_LINES", 0.001)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("lions and tigers " * 20_000)
    (tmp_path / "notes" / "b.pdf").write_bytes(b"%PDF-1.4 broken")
    fixture = Path(__file__).parents[1] / "fixtures" / "0.3.0.db"
    (tmp_path / "old.db").write_bytes(fixture.read_bytes())
    told = run("index", "loud.db", "notes")[2]
    assert "b.pdf" in told and "indexing" in told
    assert run("--quiet", "index", "a.db", "notes") == (0, "", "")
    assert run("-q", "info", "old.db")[::2] == (0, "") and caplog.records == []
    failed(run("-q", "delete", "a.db", "c.txt"), 1, "no item 'c.txt' to delete")
    failed(run("-q", "expand"), 2, "Missing argument")
    assert run("index", "a.db", "notes")[2] != "", "the next command of the process is not quiet"


@pytest.mark.usefixtures("animals")
def test_info_tells_what_is_on_disk(run, tmp_path):
    run("expand", "a.db", "lion", "--items", "terms")
    told = json.loads(run("info", "a.db")[1])["bytes"]
    arrays = sum(path.stat().st_size for path in tmp_path.glob("a.db-arrays-*"))
    assert told == {"database": (tmp_path / "a.db").stat().st_size, "free": 0, "arrays": arrays} and arrays > 0


@pytest.mark.usefixtures("animals")
def test_an_address_of_another_machine_is_told(failed, run):
    given = "serve", "a.db", "--host", "192.0.2.1", "--token", "secret"
    failed(run(*given), 2, "cannot listen at 192.0.2.1", "--host is an address of this machine")


@pytest.mark.usefixtures("animals")
def test_info_tells_what_is_free_and_counts_the_log(run, tmp_path):
    with setsearch.open(tmp_path / "a.db", collection="more") as index:
        index.add((str(n), f"word{n} again") for n in range(3000))
    run("drop", "a.db", "--collection", "more", "--yes")
    free = json.loads(run("info", "a.db")[1])["bytes"]["free"]
    with setsearch.open(tmp_path / "a.db") as index, closing(sqlite3.connect(tmp_path / "a.db")) as reader:
        assert index.revision() == 1 and free > 0
        reader.execute("begin")
        reader.execute("select count(*) from setsearch_name").fetchone()
        index.update([("new", "a lion")])
        log = (tmp_path / "a.db-wal").stat().st_size
        assert index.info()["bytes"]["database"] == (tmp_path / "a.db").stat().st_size + log and log > 0
    with closing(sqlite3.connect(tmp_path / "a.db")) as own:
        own.execute("vacuum")
    assert json.loads(run("info", "a.db")[1])["bytes"]["free"] == 0
    assert run("check", "a.db")[0] == 0


def test_who_has_no_core_is_told(run, animals, monkeypatch):
    assert json.loads(run("info", "a.db")[1])["core"] is (binding.library() is not None)
    monkeypatch.setattr(binding, "library", lambda: None)
    assert json.loads(run("info", "a.db")[1])["core"] is False
    monkeypatch.setattr("setsearch.web.server.serve_alone", lambda server, listening: listening.close())
    assert run("serve", "a.db", "--port", "0", "--refresh", "0")[2].splitlines().count(NOT_BUILT) == 1
    monkeypatch.setattr("setsearch.cli.commands.content.sys", Mock(stdout=Mock(isatty=lambda: True)))
    assert run("info", "a.db")[1].splitlines()[-1] == f"compiled core: no; {NOT_BUILT}"


def test_info_counts_words_as_the_page_does(run, tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "n.db", create=True) as index:
        index.add([("a", "lions 1812 and 1,400"), ("b", "lions 7")])
        (shown,) = [own["shown_count"] for own in index.readings() if own["items"] == "terms"]
    readings = json.loads(run("info", "n.db")[1])["readings"]
    assert [(own["item_count"], own["shown_count"]) for own in readings] == [(2, 2), (5, shown)] and shown == 2
    monkeypatch.setattr("setsearch.cli.commands.content.sys", Mock(stdout=Mock(isatty=lambda: True)))
    lines = run("info", "n.db")[1].splitlines()
    assert lines[:2] == [
        "2 documents by 5 terms: 6 entries, at write 1",
        "5 terms by 2 documents: 6 entries, at write 1",
    ]
    assert "2 of the 5 terms are words, not numbers; the page counts these" in lines
    assert max(len(line) for line in lines if NOT_BUILT not in line) <= 80
    with setsearch.open(tmp_path / "one.db", create=True) as index:
        index.add([("a", "lions")])
    assert run("info", "one.db")[1].splitlines()[0] == "1 document by 1 term: 1 entry, at write 1"


def test_info_steers_no_terminal(run, tmp_path, monkeypatch):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", ["b"])], ("film\x1b[2J", "user"))
    monkeypatch.setattr("setsearch.cli.commands.content.sys", Mock(stdout=Mock(isatty=lambda: True)))
    told = run("info", "a.db")[1]
    assert "default items: film [2J\n" in told and "\x1b" not in told


def test_info_tells_how_old_the_contexts_of_words_are(run, tmp_path, monkeypatch):
    monkeypatch.setattr("setsearch.cli.commands.content.sys", Mock(stdout=Mock(isatty=lambda: True)))
    with setsearch.open(tmp_path / "c.db", create=True, contexts="on") as index:
        index.add((str(n), "the lion and the tiger, a wolf and a fox") for n in range(9))
        index.refresh("now")
        known = index.info()["contexts"]
        told = f"contexts of {known['terms']} words, phrases among them, at write 1"
        assert f"{told}: up to date\n" in run("info", "c.db")[1]
        index.add([("more", "a zebra")])
        assert f"{told}: older than the texts\n" in run("info", "c.db")[1]


def commands(command, name="setsearch"):
    """All commands that are shown, with their names."""
    inner = {key: value for key, value in getattr(command, "commands", {}).items() if not value.hidden}
    if not inner:
        yield name, command
    for key, value in inner.items():
        yield from commands(value, f"{name} {key}")


@pytest.mark.parametrize(("name", "command"), list(commands(get_command(make_app(COMMANDS)))))
def test_each_command_shows_an_example_of_itself(run, name, command):
    code, out, _ = run(*name.split()[1:], "--help")
    example = out.split("Example:\n")[1].strip()
    assert code == 0
    assert example.startswith(name + " ")


def test_help_has_a_short_name(run):
    assert run("-h") == run("--help")
    assert run("set", "save", "-h") == run("set", "save", "--help") == run("help", "set", "save")
    assert run("help") == run("--help")


@pytest.mark.parametrize("error", [MemoryError(), ImportError("numpy: see there"), SystemError("no exception set")])
def test_what_ends_without_memory_is_one_line(run, failed, animals, monkeypatch, error):
    """Python and libraries raise these where memory ends while they are loaded."""
    error.__cause__ = OSError("failed to map segment")

    def fail(*_):
        raise error

    monkeypatch.setattr("setsearch.Index.info", fail)
    said = "out of memory;" if isinstance(error, MemoryError) else "(failed to map segment)"
    failed(run("info", "a.db"), 1, "out of memory", said)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_little_memory_gives_no_traceback(animals, tmp_path):
    import resource

    for megabytes in range(40, 240, 10):
        for command in ("check", "info"):
            limit = megabytes << 20
            done = subprocess.run(
                [sys.executable, "-m", "setsearch", command, "a.db"],
                capture_output=True,
                text=True,
                check=False,
                cwd=tmp_path,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),  # noqa: B023
            )
            # Where memory ends while Python loads hashlib, hashlib logs a traceback by itself, before it raises; and
            # where it ends while Python raises, Python knows no error.
            is_of_python = "ERROR:root:code for hash" in done.stderr or "without setting an exc" in done.stderr
            assert is_of_python or "Traceback" not in done.stderr, (megabytes, done.stderr)
            assert done.returncode == 0 or "Error" in done.stderr or "error" in done.stderr


LOADING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "setsearch.cli.app":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from setsearch.__main__ import run
run()
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere Ctrl-C is no signal")
def test_ctrl_c_while_the_command_line_is_loaded_says_nothing():
    ended = subprocess.run([sys.executable, "-c", LOADING], check=False, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_only_the_command_line_names_flags():
    assert with_flags("give `keep_seeds`, or `errors=skip`; `setsearch info` shows it") == (
        "give --keep-seeds, or --errors skip; `setsearch info` shows it"
    )


def test_the_model_of_an_earlier_version_still_runs(run, animals):
    asked = ("expand", "a.db", "d1", "--items", "documents", "--model")
    code, out, err = run(*asked, "x1")
    assert code == 0, err
    options = "--strength", "50", "--binarize", "twice-mean", "--popularity", "0"
    assert out == run(*asked, "bernoulli", *options)[1]


def test_evaluate_reports_progress_on_stderr(run, animals):
    code, out, err = run("evaluate", "a.db", "--seeds", "1", "--json")
    assert code == 0
    assert "best" in out or json.loads(out)
    assert err


def test_a_shell_completes_commands_and_options(tmp_path):
    script = subprocess.run(
        [sys.executable, "-m", "setsearch", "completion", "bash"], capture_output=True, text=True, check=True
    ).stdout
    bash = f"""
        {script}
        complete_for() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _setsearch_completion setsearch; }}
        complete_for setsearch exp; echo "${{COMPREPLY[@]}}"
        complete_for setsearch expand --snip; echo "${{COMPREPLY[@]}}"
    """
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = os.environ | {"PATH": path}
    done = subprocess.run(["bash", "-c", bash], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["expand", "explain", "export", "--snippets"]


def test_an_unknown_shell_is_refused(run):
    code, _, err = run("completion", "tcsh")
    assert (code, err) == (2, "Error: the shell is one of bash, zsh, fish, not 'tcsh'\n")
