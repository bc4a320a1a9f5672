"""sqlite-utils has our command, our SQL functions, and can migrate our tables: in processes of their own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sqlite_utils

import setsearch

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def call(tmp_path):
    """Run sqlite-utils as a user does; returns exit code, stdout, stderr."""

    def run(*arguments):
        command = [str(Path(sys.executable).with_name("sqlite-utils")), *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def database(tmp_path):
    made = sqlite_utils.Database(tmp_path / "app.db")
    made["articles"].insert_all(
        [
            {"id": 1, "text": "lion tiger"},
            {"id": 2, "text": "lion cat"},
            *({"id": n, "text": "wheat"} for n in range(3, 9)),
        ],
        pk="id",
    )
    made.close()
    return tmp_path / "app.db"


@pytest.mark.long
def test_the_command_line_is_ours(call, database):
    code, out, err = call("setsearch", "index", "app.db", "--table", "articles", "--track")
    assert (code, out) == (0, "")
    assert err == "indexed 8; app.db now holds 8 documents, 4 terms\n"
    code, out, _ = call("setsearch", "expand", "app.db", "1", "--items", "documents", "-k", "1", "--json")
    assert json.loads(out)[0]["item"] == "2"
    code, out, _ = call("setsearch", "expand", "--help")
    assert code == 0
    assert "sqlite-utils setsearch expand" in out
    code, out, err = call("setsearch", "expand", "app.db", "nobody")
    assert (code, out) == (1, "")
    assert err.startswith("Error: no 'nobody' among the 4 terms")
    assert call("setsearch", "explode")[0] == 2
    assert call("setsearch", "info", "none.db")[0] == 1


@pytest.mark.long
def test_connections_have_the_functions(call, database):
    call("setsearch", "index", "app.db", "--table", "articles")
    statement = "select a.text from json_each(setsearch_expand('1', 1)) e join articles a on a.id = e.value ->> 'item'"
    code, out, _ = call("query", "app.db", statement)
    assert (code, json.loads(out)) == (0, [{"text": "lion cat"}])
    connection = sqlite_utils.Database(database)
    connection.conn.close()
    assert "setsearch" in call("plugins")[1]


@pytest.mark.long
def test_migrations_are_applied_by_sqlite_utils(call, tmp_path):
    code, _, err = call("migrate", "new.db", ROOT / "migrations")
    assert (code, err) == (0, "")
    with setsearch.open(tmp_path / "new.db") as index:
        index.add([("a", "lion tiger"), ("b", "tiger")])
        assert index.items("documents").expand(["a"])[0].item == "b"
    for version in ("0.1.0", "0.21.0"):
        old = Path(shutil.copy(ROOT / "tests" / "fixtures" / f"{version}.db", tmp_path))
        assert call("migrate", old, ROOT / "migrations")[0] == 0
        assert "m003_origins" in call("migrate", old, ROOT / "migrations", "--list")[1]
        with setsearch.open(old) as index:
            assert index.check() == []


def test_an_import_of_the_plugin_is_light():
    code = "import sys, setsearch.integrations.sqlite_utils; sys.exit('setsearch.index' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_tables_expand(database):
    opened = sqlite_utils.Database(database)
    with pytest.raises(setsearch.errors.SetsearchError):
        opened["articles"].expand([1])
    index = setsearch.open(opened)
    index.add_table("articles", setsearch.Columns(text="text"))
    assert opened["articles"].expand([1], 2) == index.items("documents").expand(["1"], 2)
    with pytest.raises(setsearch.errors.UsageError, match="'others' is not indexed"):
        opened["others"].expand([1])
    opened.close()
