"""The house stays straight: imports run one way, public names are true, documentation runs."""

import ast
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import setsearch

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "setsearch"

# Each module may import only those before it.
ORDER = [
    "errors",
    "hits",
    "inserts",
    "postings",
    "lists",
    "names",
    "rows",
    "fts5",
    "text",
    "numbering",
    "stream",
    "contexts",
    "sums",
    "context_names",
    "relation",
    "origins",
    "where",
    "texts",
    "batch",
    "writer",
    "values",
    "models.model",
    "models.bernoulli",
    "models.lift",
    "models.counts",
    "models.concept",
    "models.gaussian",
    "models",
    "heap_numba",
    "instructions_numba",
    "kernel_numba",
    "planes",
    "kernels",
    "selection",
    "bases",
    "estimates",
    "search_numba",
    "scoring",
    "arena",
    "snapshot",
    "profiles",
    "fields",
    "weighing",
    "reasons",
    "cut",
    "forms",
    "wordspace",
    "wanted",
    "schema",
    "guards",
    "connections",
    "transactions",
    "database",
    "views",
    "expansion",
    "sets",
    "numbers",
    "cells",
    "sources",
    "set_files",
    "tracking",
    "intake",
    "mirrors",
    "audit",
    "repair",
    "index",
    "integrations.sql",
    "",
    "integrations.datasette",
    "integrations.mcp",
    "integrations.whoosh_documents",
    "integrations.whoosh",
    "baselines",
    "evaluation",
    "tuning",
    "concepts",
    "information",
    "classification",
    "printing",
    "plots",
    "dialogue",
    "completion",
    "documents",
    "web.address",
    "web.schemas",
    "web.rules",
    "web.desk",
    "web.view",
    "web.api",
    "web.page",
    "web",
    "options",
    "spark.layout",
    "spark.session",
    "spark.values",
    "spark.questions",
    "spark.building",
    "spark.sources",
    "spark.exchange",
    "spark.expanding",
    "spark",
    "spark.als",
    "commands.arguments",
    "commands.indexing",
    "commands.asking",
    "commands.growing",
    "commands.distributed",
    "commands.keeping",
    "commands.learning",
    "commands.measuring",
    "commands.serving",
    "commands",
    "cli",
    "integrations.sqlite_utils",
    "integrations",
    "__main__",
]
MUST_NOT_KNOW = {
    "postings": {"sqlite3", "pathlib"},
    "models.model": {"sqlite3", "pathlib", "re"},
    "models.bernoulli": {"sqlite3", "pathlib", "re"},
    "models.lift": {"sqlite3", "pathlib", "re"},
    "values": {"sqlite3", "pathlib", "re"},
    "scoring": {"sqlite3", "pathlib", "re"},
    "arena": {"sqlite3"},
    "text": {"sqlite3", "numpy"},
    "printing": {"sqlite3", "numpy"},
    "cli": {"numpy"},
    "schema": {"setsearch"},
}


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        yield re.sub(r"\.?__init__$", "", name), path


def imported(path):
    """All modules that a file imports, those inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module
            if node.module in ("setsearch", "setsearch.models"):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(("name", "path"), list(modules()))
def test_imports_run_one_way(name, path):
    place = ORDER.index(name)
    for module in imported(path):
        assert module.split(".")[0] not in MUST_NOT_KNOW.get(name, set()), f"{name} must not know {module}"
        if module.startswith("setsearch.") and name:  # the package itself opens its modules on demand
            own = module.removeprefix("setsearch.")
            assert own not in ORDER or ORDER.index(own) < place, f"{name} imports {own}"


def test_few_know_sqlite_utils():
    knowing = {name for name, path in modules() if "sqlite_utils" in {m.split(".")[0] for m in imported(path)}}
    assert knowing == {"schema", "database", "integrations.sqlite_utils"}


def test_migrations_are_known_to_the_database():
    from setsearch.storage.database import SCHEMA
    from setsearch.storage.integrity import TABLES
    from setsearch.storage.schema import migrations

    assert {migration.name for migration in migrations._migrations} == SCHEMA
    connection = sqlite3.connect(":memory:")
    index = setsearch.open(connection)
    index.add([("a", "b")])  # which refuses tables of another shape
    made = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    assert made - {"setsearch_migrations"} == TABLES


LOADED = """
import sys
sys.argv = ["setsearch", *sys.argv[1:]]
from setsearch.cli import main
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""
HEAVY = {"numpy", "scipy", "numba", "sqlite_utils", "whoosh", "pydantic", "rich", "pandas", "hypothesis"}


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [(["--help"], set()), (["info", "x.db"], {"numpy"}), (["expand", "x.db", "lion"], {"numpy"})],
)
def test_commands_load_what_they_use(tmp_path, arguments, needed):
    with setsearch.open(tmp_path / "x.db", create=True) as index:
        index.add([("a", "lion tiger"), ("b", "lion cat")])
    for _ in range(2):  # the first expansion derives the base, the second finds it
        command = [sys.executable, "-c", LOADED, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert set(done.stderr.split()) & HEAVY == needed


def test_public_names_exist_and_are_documented():
    for name in setsearch.__all__:
        assert getattr(setsearch, name).__doc__, name
    with pytest.raises(AttributeError):
        _ = setsearch.nothing


def test_public_functions_have_docstrings():
    for name, path in modules():
        tree = ast.parse(path.read_text())
        private = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name.startswith("_")]
        hidden = {part for node in private for part in ast.walk(node)}
        for node in set(ast.walk(tree)) - hidden:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
                inner = node.name in ("load", "decorate", "run", "main") or name.startswith("web")
                assert ast.get_docstring(node) or inner, (name, node.name)


def test_functions_fit_on_a_screen():
    for name, path in modules():
        assert len(path.read_text().splitlines()) <= 320, name
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, (name, node.name)


def fenced(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def test_readme_commands_run(tmp_path):
    """Every `setsearch` line of the README, in a folder with the sample corpus."""
    (tmp_path / "sample_corpus").symlink_to(ROOT / "sample_corpus")
    (tmp_path / "ratings.csv").write_text("film,user,times\nAlien,u1,1\nAliens,u1,2\nAliens,u2,1\nBrazil,u3,1\n")
    (tmp_path / "papers.csv").write_text("author,text\nAda,engines compute\nBabbage,engines grind\nAda,notes\n")
    (tmp_path / "wines.csv").write_text("id,alcohol,sugar\na,12,3\nb,13,2\nc,9,40\n")
    app = sqlite3.connect(tmp_path / "app.db")
    app.execute("create table articles (id integer primary key, title text, body text, year int)")
    app.execute("create virtual table search using fts5(title, body, content=articles, content_rowid=id)")
    for title, body in (("A", "lion tiger"), ("B", "lion cat"), ("C", "wheat"), ("D", "tiger leopard")):
        app.execute("insert into articles (title, body, year) values (?, ?, 2001)", (title, body))
    app.execute("insert into search (search) values ('rebuild')")
    app.commit()
    app.close()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The lion and the tiger are big cats.")
    (tmp_path / "notes" / "b.md").write_text("The lion eats. The wheat grows.")
    ran = compared = 0
    for block in fenced((ROOT / "README.md").read_text(), "console"):
        for line, shown in re.findall(r"^\$ (setsearch .*)\n((?:[^$].*\n)*)", block, re.M):
            words = shlex.split(line.split(" #")[0])[1:] + (["--table"] if shown else [])
            command = [sys.executable, "-m", "setsearch", *words]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (line, done.stderr)
            assert shown in ("", done.stdout)
            ran += 1
            compared += bool(shown)
    assert ran >= 10
    assert compared >= 1


@pytest.mark.parametrize("name", ["README.md", "docs/models.md", "docs/integrations.md", "docs/web.md"])
def test_python_in_documents_runs(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    blocks = fenced((ROOT / name).read_text(), "python")
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)


def test_readme_names_every_command():
    readme = (ROOT / "README.md").read_text()
    from setsearch.cli.app import COMMANDS

    for name in COMMANDS:
        assert f"setsearch {name}" in readme, name


def test_documents_are_true_to_size():
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 100
    assert setsearch.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert f'version = "{setsearch.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert sum(path.stat().st_size for path in (ROOT / "sample_corpus").iterdir() if path.is_file()) < 5_000_000
