"""A command, and a question, load only what they use."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import setsearch

LOADED = """
import sys
sys.argv = ["setsearch", *sys.argv[1:]]
from setsearch.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print(*sorted(sys.modules), file=sys.stderr)
"""
HEAVY = {"numpy", "scipy", "sqlite_utils", "whoosh", "pydantic", "rich", "pandas", "hypothesis"}


@pytest.fixture
def animals(tmp_path):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", "lion tiger"), ("b", "lion cat")])
    return tmp_path


def loaded_by(folder, *arguments):
    """The modules that a command loads."""
    command = [sys.executable, "-c", LOADED, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "libraries"),
    [(["--help"], set()), (["info", "x.db"], {"numpy"}), (["expand", "x.db", "lion"], {"numpy"})],
)
def test_commands_load_what_they_use(animals, arguments, libraries):
    for _ in range(1 + ("expand" in arguments)):  # the first derives the base, the second finds it
        assert loaded_by(animals, *arguments) & HEAVY == libraries


def test_a_question_enters_nothing_of_indexing(animals):
    modules = loaded_by(animals, "expand", "x.db", "lion")
    assert "setsearch.answers.reading" in modules
    assert not {name for name in modules if name.startswith("setsearch.indexing")}


def test_the_page_alone_needs_no_library_of_the_api():
    pytest.importorskip("starlette", reason="needs Starlette: pip install setsearch[web]")
    without = "import sys; sys.modules |= dict.fromkeys(('fastapi', 'pydantic')); from setsearch.web import make_page"
    subprocess.run([sys.executable, "-c", f"{without}; make_page(None, '')"], check=True)


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_what_others_import_of_ours_exists(folder):
    files = sorted((Path(__file__).parents[2] / folder).rglob("*.py"))
    assert files
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("setsearch"):
                try:
                    module = import_module(node.module)
                except ImportError as error:
                    if (error.name or "setsearch").startswith("setsearch"):
                        raise
                    continue  # a library that is not installed
                for alias in node.names:
                    known = hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}")
                    assert known, f"{path.name} imports {alias.name} of {node.module}"


POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}


def test_tests_are_collected_on_every_system():
    """A module that Windows lacks is imported where it is used, or after pytest.importorskip."""
    files = {path.stem: path for path in (Path(__file__).parents[1]).rglob("*.py")}
    needs = {stem: set(imported_at_the_top(path)) for stem, path in files.items()}
    lacking = set(POSIX)
    while found := {stem for stem, names in needs.items() if names & lacking} - lacking:
        lacking |= found
    assert "crash" in lacking
    for stem in lacking - POSIX:
        text = files[stem].read_text(encoding="utf-8")
        assert not stem.startswith("test_") or 'importorskip("resource"' in text, stem


def imported_at_the_top(path):
    """The modules that a file imports whenever it is imported."""
    for found in re.finditer(r"^(?:from|import) ([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        yield found[1]


def test_each_test_module_has_a_name_of_its_own():
    names = [path.name for path in (Path(__file__).parents[1]).rglob("test_*.py")]
    assert len(names) == len(set(names)), "pytest imports modules by their names"
