"""A saved set asks the same question at each door: beside its rivals in an exclusive group, else as `expand`."""

import io
import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from urllib.parse import urlencode

import pytest
from test_inbox_page import TOPICS, texts

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")


@pytest.mark.long
@pytest.mark.parametrize("grouped", [True, False])
def test_a_set_is_asked_beside_its_rivals_at_each_door(tmp_path, run, serve, monkeypatch, grouped):
    path = tmp_path / "a.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add(texts(range(14)))
        for name in ("cats", "grain"):
            index.keep_set(name, [f"{name}{n}" for n in range(3)], ["sea0"], "documents")
        index.add([("both", " ".join(TOPICS["cats"][:6] + TOPICS["grain"][:5]))])
        if grouped:
            for name in ("cats", "grain"):
                own = index.set(name)
                own.group = "kinds"
                own.save()
            index.group("kinds", exclusive=True)
        more = index.set("cats")
        more.accept("cats7")
        expected = {(): index.set("cats").expand(15, explain=True), ("cats7",): more.expand(15, explain=True)}
        plain = index.items("documents").expand(["cats0", "cats1", "cats2"], 15, exclude=["sea0"], groups=1)
        assert ([(hit.item, hit.score) for hit in plain] == scores(expected[()])) is not grouped
        is_told = "fits grain too" in [part.feature for part in more.explain("both").features]
        assert is_told is grouped
    server = serve(path)
    for seeds, hits in expected.items():
        said = json.loads(run("expand", path, "--set", "cats", *seeds, "-k", "15", "--unfold", "--groups", "1")[1])
        assert [(row["item"], row["score"]) for row in said] == scores(hits)
        query = urlencode([("set", "cats"), *(("seeds", own) for own in seeds), ("k", 15), ("groups", 1)])
        said = json.loads(server.ask(f"/api/expand?{query}")[2])
        assert [(row["item"], row["score"]) for row in said] == scores(hits)
        seeds_shown = [("seed", own) for own in ("cats0", "cats1", "cats2", *seeds)]
        page = urlencode([("items", "documents"), *seeds_shown, ("reject", "sea0"), ("set", "cats"), ("groups", "1")])
        rows = json.loads(server.ask(f"/export.json?{page}")[2])
        shown = {row["item"]: row["score"] for row in rows if row.get("score") is not None}
        assert {hit.item: shown[hit.item] for hit in hits} == {hit.item: hit.score for hit in hits}
        (both,) = [hit for hit in hits if hit.item == "both"]
        told = json.loads(run("explain", path, "both", *seeds, "--set", "cats", "--groups", "1", "--json")[1])
        api = json.loads(server.ask(f"/api/explain?{query.replace('&k=15', '')}&item=both")[2])
        for row in (told, api):
            assert row["score"] == pytest.approx(both.score, abs=1e-12)
            parts = {part["feature"]: part["weight"] for part in row["features"]}
            assert parts == {part.feature: part.weight for part in both.features}
            assert ("fits grain too" in parts) is grouped
        assert server.ask(f"/item?{page}&open=grain0")[0] == 200, "a rival has it"
    monkeypatch.setattr("sys.stdin", io.StringIO("cats7\nq\n"))
    dialogue = run("grow", path, "--set", "cats", "--groups", "1")[2]
    assert f"{expected['cats7',][0].score:.3f}" in dialogue


def scores(hits):
    """(item, score) of hits that share something with the examples."""
    return [(hit.item, hit.score) for hit in hits.shared()]


def test_the_page_tells_within_which_set_one_lies(serve, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(texts(range(3)))
        index.keep_set("animals", ["cats0"], items="documents")
        index.keep_set("cats", ["cats1"], items="documents", under="animals")
        assert index.groups().under == {"cats": "animals"}
    server = serve(tmp_path / "a.db")
    assert server.ask("/")[2].count("<small>documents, within animals</small>") == 1
    wrong = {"name=dogs&group=kinds": 404, "name=cats&under=cats": 422, "name=cats&under=dogs": 404}
    assert {body: server.ask("/place", method="POST", body=body)[0] for body in wrong} == wrong
    opened = "&back=%3Fitems%3Ddocuments%26seed%3Dcats0%26set%3Ddogs"
    assert {body: server.ask("/place", method="POST", body=body + opened)[0] for body in wrong} == wrong
    assert server.ask("/forget", method="POST", body="name=animals")[0] == 303
    assert "within" not in server.ask("/")[2]


@pytest.mark.long
def test_the_page_puts_a_set_into_a_group_and_within_another(serve, tmp_path, browse):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(texts(range(5)))
        index.keep_set("animals", ["cats0"], items="documents")
        index.keep_set("grain", ["grain0"], items="documents", group="kinds")
        index.group("kinds", exclusive=True)
    from playwright.sync_api import expect

    page = browse(serve(tmp_path / "a.db").url + "?items=documents&seed=cats2&seed=cats3")
    page.get_by_label("Name of the set").fill("big <cats>")
    page.get_by_role("button", name="Save").click()
    for group, under, told in (("kinds", "animals", ", within animals, group kinds (exclusive)"), ("", "", "")):
        page.get_by_label("Group of big <cats>").fill(group)
        page.get_by_label("A part of").select_option(under)
        page.get_by_role("button", name="Place").click()
        expect(page.locator(".sets li", has_text="big <cats>").locator("small")).to_have_text(f"documents{told}")
        with setsearch.open(tmp_path / "a.db") as index:
            assert (index.set("big <cats>").group or "", index.set("big <cats>").under or "") == (group, under)
        if group:
            page.get_by_role("link", name="animals", exact=True).click()
            page.wait_for_selector("#name[value=animals]")
            assert page.locator("#under option").all_inner_texts() == ["no set", "grain"], "not within its own part"
            page.get_by_role("link", name="big <cats>", exact=True).click()


def test_the_page_tells_what_a_deleted_set_leaves(serve, tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True, contexts="off") as index:
        index.add(texts(range(3)))
        for name, under in (("animals", None), ("cats", "animals"), ("dogs", "animals"), ("a&b", None)):
            index.keep_set(name, ["cats0"], items="documents", under=under)
    server = serve(tmp_path / "a.db")
    for name, told in (
        ("animals", "The set animals is deleted; within no set now: cats, dogs."),
        ("a%26b", "The set a&amp;b is deleted. "),
    ):
        _, headers, _ = server.ask("/forget", method="POST", body=f"name={name}&back=%3Fitems%3Ddocuments")
        assert told in server.ask(headers["location"])[2]
    _, headers, _ = server.ask("/forget", method="POST", body="name=dogs&back=%3Fitems%3Ddocuments")
    back = unescape(re.search('href="([^"]*)" data-go>Its examples<', server.ask(headers["location"])[2])[1])
    _, headers, _ = server.ask("/sets", method="POST", body=f"{back[2:]}&name=dogs")
    with setsearch.open(tmp_path / "a.db") as index:
        assert index.set("dogs").accepted == ["cats0"], "a slip is mended by two clicks"
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.execute("update setsearch_set set items = 'gone' where name = 'dogs'")
    _, headers, _ = server.ask("/forget", method="POST", body="name=dogs&back=%3Fitems%3Ddocuments")
    assert "The set dogs is deleted.</p>" in server.ask(headers["location"])[2], "of nothing"
    assert "is deleted" not in server.ask("/?deleted=cats")[2]  # a link cannot say so of one that is there
