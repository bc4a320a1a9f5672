import gc
import io
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import typer.main
from browsers import NEEDS_CHROMIUM, UNTESTED
from hypothesis import HealthCheck, settings
from laws import examples
from samples import TEXTS

import setsearch
from setsearch import Index
from setsearch.cli import app as cli
from setsearch.core import binding, threads
from setsearch.indexing.formats import apart
from setsearch.models import MODELS, defaults
from setsearch.scoring import postings as valued_lists

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in a job in the background; processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW = HealthCheck.too_slow  # looks at the clock, as a deadline does: a busy machine is no fault of a law
settings.register_profile("same", examples(100), deadline=None, derandomize=True, suppress_health_check=[SLOW])
settings.load_profile("same")
gc.disable()  # until all tests are loaded: what libraries define stays
COLLECTED = 5000, 20, 20  # new objects, and rounds, between collections of garbage: each looks at what tests share
FILES, ROOM = Path("/dev/shm"), 4 << 30  # where files are in memory and no test waits for a disk; bytes that are free


def may_have_files(folder: Path) -> bool:
    """Whether files of tests may be here; some of them are programs."""
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < ROOM:
        return False
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and may_have_files(FILES):
    os.environ["TMPDIR"] = tempfile.tempdir = str(FILES)

Data = Mapping[str, Mapping[str, int]]


@pytest.fixture(scope="session", autouse=True)
def prepared_soon() -> None:
    """A few questions are enough for all lists to have values."""
    valued_lists.NOTHING_AHEAD = 4


@pytest.fixture(scope="session", autouse=True)
def kept_memory() -> None:
    """What a test has freed is for the next one; new processes give it back to the system."""
    threads._trim = lambda: None


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """Typer makes a command once for all tests, and one process reads apart for all that limit it as usual."""
    usual, read, app = apart.Reader(), apart.Reader.read, cache(cli.make_app)
    limits = usual.seconds, usual.megabytes
    apart.Reader.read = lambda own, job: read(usual if (own.seconds, own.megabytes) == limits else own, job)
    cli.make_app = lambda names: app(tuple(names))
    typer.main.get_command = cache(typer.main.get_command)
    yield
    usual.close()


@pytest.fixture
def papers_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's model as the default of every reading: for tests that were derived from the paper."""
    for name in ("DOCUMENTS", "TERMS", "RATINGS"):
        monkeypatch.setattr(f"setsearch.models.defaults.{name}", replace(getattr(defaults, name), model="bernoulli"))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """No test finds the kernel that another one chose, nor its models."""
    known = dict(MODELS)
    yield
    setsearch.use_kernel(None)
    for name in MODELS.keys() - known.keys():
        del MODELS[name]


@pytest.fixture(params=["core", "numpy"])
def kernel(request: pytest.FixtureRequest) -> str:
    """Each kernel in turn."""
    if request.param == "core" and binding.library() is None:
        pytest.skip("the core was not built (python hatch_build.py)")
    setsearch.use_kernel(request.param)
    return str(request.param)


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[[Data], Index]]:
    """Make a fresh index of items with counted features, in a file of its own."""
    made: list[Index] = []

    def make(data: Data) -> Index:
        index = setsearch.open(tmp_path / f"{len(made)}.db", create=True)
        index.add(((item, counts) for item, counts in data.items()), ("film", "user"))
        made.append(index)
        return index

    yield make
    for index in made:
        index.close()


@pytest.fixture
def database(tmp_path):
    """A small collection of texts, with contexts, in x.db. Titles are only shown."""
    with setsearch.open(tmp_path / "x.db", create=True, contexts="on", analyzer="unicode+0-titles") as index:
        index.add([(f"d{n}", text, title) for n, (title, text) in enumerate(TEXTS)])
    return tmp_path / "x.db"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder; returns exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*args, stdin=None):
        monkeypatch.setattr(sys, "argv", ["setsearch", *map(str, args)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capsys.readouterr()
        return done.value.code or 0, out, err

    return call


@pytest.fixture
def failed():
    """Check that a command failed: the exit code, and one line on stderr that has all parts."""

    def check(result, code, *parts):
        assert result[0] == code, result
        assert result[1] == ""
        lines = result[2].splitlines()
        assert len(lines) == 1, result[2]
        assert lines[0].startswith("Error: ")
        for part in parts:
            assert part in lines[0]

    return check


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One more than processors: many tests wait for a process that they started."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish():
    """No collection of garbage looks at libraries and tests again."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(*COLLECTED)


def pytest_terminal_summary(terminalreporter):
    """Say which promise was not tested where no Chromium was found."""
    if any(NEEDS_CHROMIUM in str(report.longrepr) for report in terminalreporter.getreports("skipped")):
        terminalreporter.write_line(UNTESTED, yellow=True)
