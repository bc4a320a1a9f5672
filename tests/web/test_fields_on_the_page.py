"""Fields at the doors: a switch for each on the page, and `by` of the API and of SQL."""

import re
import sqlite3
from html import unescape
from urllib.parse import parse_qs

import pytest

import setsearch
from setsearch import Item
from setsearch.integrations.sql import register

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")


@pytest.fixture
def papers(tmp_path):
    """Documents with tags and years, in p.db."""
    with setsearch.open(tmp_path / "p.db", create=True) as index:
        rows = [("a", "red wine", ["x"], 1990), ("b", "white wine", ["y"], 1991), ("c", "bread", ["x"], 2010)]
        index.add([Item(name, text, None, None, {"tags": tags, "year": year}) for name, text, tags, year in rows])
    return tmp_path / "p.db"


def test_the_doors_choose_fields(serve, papers):
    server = serve(papers)
    with setsearch.open(papers) as index:
        for by, best in (("tags", "c"), ("year", "b"), ("tags=0.01,year", "b")):
            expected = index.items("documents").expand(["a"], 1, by=by)[0]
            found = server.json("/api/expand", items="documents", seeds="a", k=1, by=by)[0]
            assert (found["item"], found["score"]) == (best, expected.score) == (expected.item, expected.score)
    status, _, body = server.ask("/api/expand?items=documents&seeds=a&by=nope")
    assert status == 422 and "there is no field 'nope'; there are text, tags, year" in body
    connection = sqlite3.connect(papers)
    register(connection)
    (found,) = connection.execute("select setsearch_expand('a', json_object('by', 'tags', 'k', 1))").fetchone()
    assert '"item": "c"' in found


def switches(server, address):
    """The fields of a page: which count, and the `by` of the page where each is turned over."""
    page = server.ask(address)[2]
    nav = re.search(r'<nav class="sizes" aria-label="What counts">(.*?)</nav>', page, re.DOTALL)
    links = re.findall(r'<a href="([^"]*)"( aria-current="true")?[^>]*>(\w+)</a>', nav[1].replace("  ", " "))
    return {name: (bool(on), parse_qs(unescape(href).partition("?")[2]).get("by")) for href, on, name in links}


def test_a_field_is_a_switch_on_the_page(serve, papers):
    server = serve(papers)
    assert switches(server, "/?items=documents&seed=a") == {
        "text": (True, ["tags,year"]),
        "tags": (True, ["text,year"]),
        "year": (True, ["text,tags"]),
    }
    assert switches(server, "/?items=documents&seed=a&by=tags%3D0.5") == {
        "text": (False, ["text,tags=0.5"]),
        "tags": (True, None),
        "year": (False, ["tags=0.5,year"]),
    }
    assert switches(server, "/?items=documents&seed=a&by=text,tags")["year"] == (False, None)
    assert "What counts" not in server.ask("/?items=terms&seed=wine")[2]


def test_switches_keep_the_weights_of_the_collection(serve, papers):
    with setsearch.open(papers) as index:
        index.weigh_fields({"text": 1, "tags": 0.5})
    server = serve(papers)
    assert switches(server, "/?items=documents&seed=a") == {
        "text": (True, ["tags=0.5"]),
        "tags": (True, ["text"]),
        "year": (False, ["text,tags=0.5,year"]),
    }
    assert switches(server, "/?items=documents&seed=a&by=text")["tags"] == (False, None)


def test_kept_columns_that_are_empty_are_left_out(serve, tmp_path):
    kept = [{"authors": "", "year": 1999, "tags": []}, {"authors": None, "year": 0, "tags": ["a"]}]
    with setsearch.open(tmp_path / "k.db", create=True) as index:
        index.add([("s", "lion tiger"), *((f"d{n}", f"lion tiger d{n}", None, own) for n, own in enumerate(kept))])
        index.add((f"w{n}", f"wheat oats w{n}") for n in range(20))
    page = serve(tmp_path / "k.db").ask("/?items=documents&seed=s")[2]
    lines = [re.sub("<[^>]*>", "", line) for line in re.findall(r'<p class="snippet">(.*?)</p>', page)]
    assert {line for line in lines if ": " in line} == {"year: 1999", "year: 0 · tags: a"}
