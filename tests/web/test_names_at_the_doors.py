"""A name is resolved in one place: each door knows the same ids, titles, words and phrases, however they are typed."""

import io
import json
import random
import re
import sqlite3
from html import unescape
from urllib.parse import parse_qsl

import pytest

import setsearch
from setsearch.web.typed_names import as_on_tabs

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

WORDS = [
    f"{start}{end}" for start in ("ba", "ko", "mu", "fi", "le", "ra", "su") for end in ("t", "n", "ra", "lo", "mi")
]
PHRASE = ("hash join", "Hash  Join")  # as the index has it, and as somebody types it
TITLE = ("d3", "toy STORY")


@pytest.fixture
def path(tmp_path):
    rng = random.Random(5)
    texts = []
    for number in range(60):
        words = rng.choices(WORDS, k=60)
        words[number % 50 : number % 50 + 2] = ["hash", "join"]
        texts.append((f"d{number}", " ".join(words), "Toy Story (1995)" if number == 3 else None))
    with setsearch.open(tmp_path / "x.db", create=True, contexts="on") as index:
        index.add(texts)
        index.refresh("now")
    return tmp_path / "x.db"


def test_in_python_and_sql(path):
    for items, (name, typed) in (("terms", PHRASE), ("documents", TITLE)):
        with setsearch.open(path) as index:
            reading = index.items(items)
            expected = reading.expand([name], 5)
            assert len(expected) == 5 and reading.expand([typed], 5) == expected
            assert reading.find(typed) == name and reading.features_of(typed) == reading.features_of(name)
            first = expected[0].item
            assert reading.explain([typed], first).score == expected[0].score
            assert reading.explain([first], typed).item == name
            assert reading.rank([typed, first], [expected[1].item]) == reading.rank([name, first], [expected[1].item])
            assert reading.expand([first], 5, exclude=[typed]) == reading.expand([first], 5, exclude=[name])
            kept = index.set(items, items)
            kept.accept(typed)
            kept.save()
            assert index.set(items).accepted == [name] and index.set(items).expand(5) == expected
            index.keep_set(f"more {items}", [typed], items=items)
            assert index.set(f"more {items}").accepted == [name]
        connection = sqlite3.connect(path)
        setsearch.register(connection)
        (found,) = connection.execute("select setsearch_expand(?, 5, ?)", (json.dumps([typed]), items)).fetchone()
        assert [hit["item"] for hit in json.loads(found)] == [hit.item for hit in expected]
        connection.close()


def test_on_the_command_line(run, path, monkeypatch):
    for items, (name, typed) in (("terms", PHRASE), ("documents", TITLE)):
        asked = run("expand", path, typed, "--items", items, "--csv")
        assert asked == run("expand", path, name, "--items", items, "--csv") and asked[0] == 0
        assert run("set", "save", path, items, typed, "--items", items)[0] == 0
        assert [row["item"] for row in json.loads(run("set", "show", path, items)[1])] == [name]
        monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
        code, out, _ = run("grow", path, typed, "--items", items)
        assert code == 0 and json.loads(out) == [{"item": name, "status": "accepted"}]


def test_over_http_and_on_the_page(serve, path):
    server = serve(path)
    for items, (name, typed) in (("terms", PHRASE), ("documents", TITLE)):
        with setsearch.open(path) as index:
            expected = [hit.item for hit in index.items(items).expand([name], 5).shared()]
        found = server.json("/api/expand", items=items, seeds=typed, k=5)
        assert [hit["item"] for hit in found] == expected
        assert server.json("/api/item", items=items, item=typed)["item"] == name
        status, _, page = server.ask("/", items=items, seed=typed)
        assert status == 200 and expected[0] in page and "did you mean" not in page


def test_what_is_no_name_is_offered_as_a_text(serve, path):
    with setsearch.open(path) as index:
        index.add([("ja", "港湾会社との契約は昨日署名された。"), ("ja2", "港湾会社は昨日")])
    server = serve(path)
    for typed, found in (("港湾会社の契約", "ja"), ("hash joined", "d1")):
        page = server.ask("/", items="documents", seed=typed)[2]
        (link,) = re.findall(r'href="([^"]*)" data-go>Take it as a text<', page)
        asked = dict(parse_qsl(unescape(link).partition("?")[2]))
        assert asked == {"items": "documents", "like": typed}
        status, _, page = server.ask("/", **asked)
        assert status == 200 and f'data-item="{found}"' in page and "Take it as a text" not in page
    status, _, page = server.ask("/", items="documents", seed="hash is joined")
    assert status == 200 and 'data-item="d1"' in page and "Take it as a text" not in page, "three words are no name"
    status, _, page = server.ask("/", items="documents", seed="toy storx (1995)")
    assert status == 200 and "Take it as a text" in page and "Toy Story (1995)</a>" in page, "one like it is offered"
    status, _, page = server.ask("/", items="terms", seed="港湾会社の契約")
    assert status == 200 and "Take it as a text" not in page


def test_the_page_of_a_title_that_several_have_links_to_each(tmp_path, serve):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("a/1", "lion tiger", "Cats"), ("b", "lion", "Cats"), ("c", "lion rye", "Rye")])
    server = serve(tmp_path / "a.db")
    status, _, page = server.ask("/item?items=documents&open=Cats")
    assert status == 200 and "Several documents have this title" in page
    assert 'open=a/1"' in page and 'open=b"' in page and 'open=c"' not in page
    assert "Several" not in server.ask("/item?items=documents&open=Rye")[2]


def test_words_have_the_name_of_their_tab_in_messages(tmp_path, serve):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add([("terms", "lion tiger")])
    page = serve(tmp_path / "a.db").ask("/?items=terms&seed=zebra+terms")[2]
    assert "among the 2 words" in page and "among the 2 terms" not in page
    assert as_on_tabs("'terms' is no item; a/terms has 2 terms") == "'terms' is no item; a/terms has 2 words"
