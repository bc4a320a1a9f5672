"""What the page tells where there is little to show: nothing belongs, nothing passes, no such page, no token."""

import random
import re

import pytest

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

from setsearch.web.view import LONGEST_TEXT


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    """Two films that their fans alone like, among others that anybody may."""
    draw, path = random.Random(0), tmp_path_factory.mktemp("films") / "films.db"
    fans = [f"fan {n}" for n in range(6)]
    with setsearch.open(path, create=True) as index:
        for n in range(60):
            users = [f"user {user}" for user in draw.sample(range(60), 8)] + fans * (n < 2)
            index.add([(f"film {n}", dict.fromkeys(users, 1))], relation=("movieId", "userId"))
    return path


def page(server, path="/", status=200, **query):
    found, _, html = server.ask(path, **query)
    assert found == status
    return " ".join(re.sub("<[^>]*>", " ", html.partition("<main")[2]).split())


def test_that_nothing_belongs_is_told(serve, films):
    text = page(serve(films), items="movieId", seed=["film 0", "film 1"])
    assert "none of these belongs" in text and "1 none belong 15" in text
    moved = page(serve(films), items="movieId", seed=["film 0", "film 1"], end="2")
    assert "none of these" not in moved and "1 2 belong 15" in moved


def test_names_of_others_stay_as_they_are(serve, films):
    server = serve(films)
    assert "Type two or three movieId that" in page(server, items="movieId")
    assert "It holds 60 movieId and" in page(server, items="movieId")
    assert "userId that go with these movieId" in page(server, items="movieId", seed="film 0")


def test_that_a_text_is_not_saved_with_a_set_is_told(asked):
    grain = {"items": "documents", "seed": ["wheat", "oats"], "reject": "lion", "set": "grain"}
    assert "Save Saved." in page(asked, **grain)
    told = "Save Its names are saved; the rest of what you gave is not."
    assert told in page(asked, **grain, like="fields of barley and rye")
    assert told in page(asked, **grain, having="fields")


def test_a_group_at_a_time_has_no_curve(asked):
    seeds = ["lion", "tiger", "wheat", "oats"]
    assert "Where the set ends" in page(asked, items="documents", seed=seeds)
    assert "Where the set ends" not in page(asked, items="documents", seed=seeds, groups="2")


def test_a_filter_that_nothing_passes_is_told(serve, tmp_path):
    with setsearch.open(tmp_path / "notes.db", create=True) as index:
        rows = [{"id": f"n{n}", "text": "a lion and a tiger", "kind": "old"} for n in range(4)]
        index.add_frame(rows, id="id", text="text", keep=["kind"])
    text = page(serve(tmp_path / "notes.db"), items="documents", seed="n1", filter="kind = new")
    assert "none of the 4 documents may be returned" in text and "allow others" not in text


def test_options_of_a_link_can_be_seen_and_taken_away(asked):
    query = {"items": "documents", "seed": ["lion", "tiger"]}
    html = asked.ask("/", model="poisson", at_most="year=2", **query)[2]
    assert re.search(r'>model poisson <a href="([^"]*)" aria-label="Without model"', html)
    assert "model=" not in re.search(r'<a href="([^"]*)" aria-label="Without model"', html)[1]
    assert "model=poisson" in re.search(r'<a href="([^"]*)" aria-label="Without at-most"', html)[1]
    refused = page(asked, model="nothing", **query)
    assert "unknown model" in refused and "model nothing ✕" in refused


def test_a_page_that_is_not_there_is_named(asked):
    assert "there is no /nothing" in page(asked, "/nothing", 404)


def test_who_signs_in_again_is_where_the_form_was(serve, animals):
    server = serve(animals, "--token", "sesame")
    host = f"127.0.0.1:{server.port}"
    form = {"content-type": "application/x-www-form-urlencoded", "host": host}

    def back(came):
        status, _, html = server.ask("/inbox", method="POST", body="said=done", headers=form | {"referer": came})
        assert status == 401 and "Authorization" not in html
        return re.search(r'action="/token\?back=([^"]*)"', html)[1]

    assert back(f"http://{host}/review?set=grain") == "%2Freview%3Fset%3Dgrain"
    assert back("http://elsewhere.example/review?set=grain") == ""
    assert back(f"http://{host}.example/review") == ""
    assert back("") == ""


def test_a_name_that_is_taken_is_told_in_a_sentence(asked):
    form = {"content-type": "application/x-www-form-urlencoded"}
    status, _, html = asked.ask("/sets", method="POST", body="items=documents&seed=lion&name=grain", headers=form)
    assert status == 409
    assert "there is a set &#39;grain&#39; already; take another name</p>" in html


def test_an_empty_inbox_tells_what_comes_there(asked):
    assert "Nothing new for your sets Here stands what came or changed" in page(asked, "/inbox")


def test_what_is_read_aloud_begins_with_what_is_seen(asked):
    html = asked.ask("/", items="documents", seed="lion")[2]
    assert html.count('aria-label="Let the set end here, with ') == html.count(">Let the set end here</a>") > 1


def test_of_a_long_text_the_beginning_is_shown(serve, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("log", "lion " * (LONGEST_TEXT // 5) + "tiger"), ("cat", "a lion"), ("rye", "wheat")])
    server = serve(tmp_path / "a.db")
    text = page(server, "/item", items="documents", open="log", seed="cat")
    assert "lion … and 5 more characters" in text and text.count("lion ") >= LONGEST_TEXT // 5
    assert "more characters" not in page(server, "/item", items="documents", open="cat")
