"""The example applications run, and show what they promise."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SHOWN = {
    "numbers_game.py": (),
    "rating_from_neighbors.py": ("by neighbors 0.69, by the film's mean 0.83",),
    "estimates.py": ("cat         1.000  1.000  0.800         1.0000      0.2857",),
    "sqlite_application.py": ("Changes(written=1, deleted=0, behind=True)", "paso doble", "in SQL"),
    "other_engines.py": ('Lucene: body:["', 'Elasticsearch: {"bool": {"should": ['),
    "reranked_hits.py": ("by examples: ", "viola"),
    "async_application.py": ("like violin and cello: ", "zither"),
    "django/application.py": (
        "like violin and cello: ",
        "new for sets: viola d'amore in strings",
        "after a write: ",
        "zither",
        "by tags: zither",
        "by Haystack: ",
        "with musical: sheet music",
    ),
    "flask_application.py": (),
    "retrievers.py": ("LangChain: ", "LlamaIndex: ", "viola"),
    "whoosh_application.py": ("Changes(written=", "like:(violin cello) wind: ", "~{waltz, tango}: "),
    "datasette_application.py": ("now run: datasette",),
}

NEEDS = {
    "async_application.py": ["aiosqlite"],
    "retrievers.py": ["langchain_core", "llama_index"],
    "whoosh_application.py": ["whoosh"],
    "flask_application.py": ["whoosh", "flask"],
    "django/application.py": ["whoosh", "django", "haystack"],
}
FAST = ["numbers_game.py"]


def require(name):
    """Skip if a package that the example needs is missing."""
    for needed in NEEDS.get(name, ()):
        if find_spec(needed) is None:
            pytest.skip(f"the example needs {needed}")


def run(name, *arguments, **options):
    command = [sys.executable, str(EXAMPLES / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run():
    applications = {*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*/application.py")}
    assert set(SHOWN) == {str(path.relative_to(EXAMPLES)) for path in applications}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name not in FAST)) for name in SHOWN])
def test_an_example_runs(tmp_path, name):
    require(name)
    arguments = {"datasette_application.py": [tmp_path], "numbers_game.py": ["16", "8", "2"]}.get(name, [])
    out = run(name, *arguments, cwd=tmp_path)
    for shown in SHOWN[name]:
        assert shown in out


@pytest.mark.long
def test_the_datasette_example_is_served(tmp_path):
    pytest.importorskip("datasette", reason="needs Datasette: pip install setsearch[datasette]")
    run("datasette_application.py", tmp_path)
    address = "/-/setsearch/entries/entries?row=waltz&row=tango"
    command = [sys.executable, "-m", "datasette", str(tmp_path / "entries.db"), "--get", address]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "fox-trot" in done.stdout or "foxtrot" in done.stdout or "quickstep" in done.stdout


@pytest.mark.long
def test_the_flask_example_answers(monkeypatch):
    require("flask_application.py")
    monkeypatch.syspath_prepend(EXAMPLES)
    import flask_application

    client = flask_application.create_app().test_client()
    found = client.get("/search", query_string={"q": "like:(violin cello) wind"}).json
    assert found
    assert all("<b " in hit["marked"] for hit in found)
    assert "cello" in client.get("/like/violin").json
    assert client.get("/like/nobody").status_code == 404
    client.post("/entries/zither", data="a stringed instrument that is plucked, or bowed like a violin")
    assert "violin" in client.get("/like/zither").json
