"""A group at the doors: made exclusive, grown by a run that is followed, stopped, killed, taken back; in Chromium."""

import os
import re
import time
from urllib.parse import urlencode

import pytest
from patience import patience
from test_inbox_page import TOPICS, texts

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

NAME = "kinds/of ‘things’ & <more>"
GROW = "/api/grow/kinds%2Fof%20%E2%80%98things%E2%80%99%20%26%20%3Cmore%3E"
HOW = {"each": 1, "precision": 0.2}


@pytest.fixture
def kinds(tmp_path):
    """Three sets of a group, of which each can grow for some rounds."""
    path = tmp_path / "kinds.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add(texts(range(16)))
        for topic in TOPICS:
            index.keep_set(topic, [f"{topic}{n}" for n in range(3)], items="documents", group=NAME)
    return path


def ended(server, path=GROW):
    """What is told of a run once it has ended: its rounds take a second, or a minute where nine others share a core."""
    until = time.monotonic() + patience(120)
    while (found := server.json(path))["runs"] and time.monotonic() < until:
        time.sleep(0.2)  # a look takes time from the run
    assert found["runs"] is None, found
    return found


def members(path):
    with setsearch.open(path) as index:
        return {name: index.set(name).accepted for name in index.sets()}


def test_the_api_makes_a_group_exclusive_and_grows_it(kinds, serve, tmp_path):
    server = serve(kinds)
    group = {"name": NAME, "exclusive": False, "sets": sorted(TOPICS)}
    place = GROW.replace("grow", "groups")
    assert server.json("/api/groups") == [group]
    for exclusive in (True, False, True):
        group["exclusive"] = exclusive
        assert server.json(place, method="PATCH", body={"exclusive": exclusive}) == group
    for wrong, told in (({"exclusive": "maybe"}, "exclusive"), ({}, "exclusive is missing"), ({"under": "x"}, "under")):
        assert told in server.json(place, 422, method="PATCH", body=wrong)["error"]
    assert server.json("/api/grow/none", 404, method="POST", body={})["error"].startswith("no set is in a group 'none'")
    for wrong, told in (({"rounds": 0}, "rounds must be"), ({"precision": 1}, "precision must"), ({"k": 1}, "'k'")):
        assert told in server.json(GROW, 422, method="POST", body=wrong)["error"]
    begun = server.json(GROW, 202, method="POST", body={"rounds": 3, **HOW})
    assert begun["runs"] or begun["ended"]
    found = ended(server)
    assert (found["ended"], {row["round"] for row in found["rows"]}) == ("round 3 is reached", {1, 2, 3})
    assert "no promise" in found["untold"]
    with setsearch.open(tmp_path / "other.db", create=True, contexts="off") as index:
        index.add(texts(range(16)))
        for topic in TOPICS:
            index.keep_set(topic, [f"{topic}{n}" for n in range(3)], items="documents", group="kinds")
        index.group("kinds", exclusive=True)
        assert [row._asdict() for row in index.grow(group="kinds", rounds=3, **HOW)] == found["rows"]
    with setsearch.open(kinds) as index:
        grown = {name: [own._asdict() for own in index.set(name).grown()] for name in TOPICS}
    for name in TOPICS:
        plain = server.json(f"/api/sets/{name}")
        assert server.json(f"/api/sets/{name}", grown=True) == plain | {"grown": grown[name]} and grown[name]
    assert sorted(map(str, found["rows"])) == sorted(str(own) for rows in grown.values() for own in rows)
    left = server.json(GROW, method="DELETE", round=2)
    assert left["rows"] == [row for row in found["rows"] if row["round"] == 1]
    assert "round must be" in server.json(GROW, 422, method="DELETE", round=0)["error"]


def test_a_second_run_is_told_and_a_dead_server_hinders_nobody(kinds, serve, run):
    server = serve(kinds)
    with setsearch.open(kinds) as index:
        (draft,) = index.growth(group=NAME)._grower.begin()
        told = server.json(GROW, 409, method="POST", body=HOW)["error"]
        assert "grows already (host and process" in told
        assert server.json(GROW)["runs"].endswith(f" {os.getpid()}")
        page = server.ask("/group?" + urlencode({"name": NAME}))[2]
        assert "Growing: round 1" in page and "data-again" in page and ">Stop</button>" in page
        body = urlencode({"name": NAME, "said": "grow", "rounds": "2"})
        status, _, page = server.ask("/group", method="POST", body=body)
        assert status == 409 and "grows already" in page
        assert "round must be" in server.json(GROW, 422, method="DELETE", round=0)["error"]
        draft.renew()  # nothing was stopped
        assert server.json(GROW, method="DELETE")["runs"] is None
        with pytest.raises(setsearch.errors.TakenOver):
            draft.renew()
    server.json(GROW, 202, method="POST", body={"rounds": 500, **HOW})
    server.kill()
    again = serve(kinds)
    assert again.json(GROW)["runs"] is None, "who is at work is dead"
    again.json(GROW, 202, method="POST", body={"rounds": 500, **HOW, "each": 6})  # a few rounds reach the end
    found = ended(again)
    assert re.match(r"nothing joined in round \d+: ", found["ended"])
    assert run("check", kinds)[0] == 0
    rounds = [row["round"] for row in found["rows"]]
    assert {*rounds} == {*range(1, max(rounds) + 1)} and len({*members(kinds)["cats"]}) == len(members(kinds)["cats"])


def test_only_readers_see_a_group(kinds, serve):
    with setsearch.open(kinds) as index:
        index.grow(group=NAME, rounds=1, **HOW)
    server = serve(kinds, "--read-only")
    status, _, page = server.ask("/group?" + urlencode({"name": NAME}))
    assert status == 200 and "Round 1" in page and "<form" not in page
    body = urlencode({"name": NAME, "said": "exclusive"})
    assert server.ask("/group", method="POST", body=body)[0] == 403
    for path, method in ((GROW, "POST"), (GROW, "DELETE"), (GROW.replace("grow", "groups"), "PATCH")):
        assert server.ask(path, method=method, body={"exclusive": True})[0] == 403


def test_what_a_form_of_a_group_has_wrong_is_told(kinds, serve):
    server = serve(kinds)
    for body, status, told in (
        ({"name": "none", "said": "exclusive"}, 404, "no set is in a group"),
        ({"name": "none", "said": "grow"}, 404, "no set is in a group"),
        ({"name": NAME, "said": "sing"}, 422, "not by"),
        ({"name": NAME, "said": "back", "round": "x"}, 422, "round must be a whole number"),
        ({"name": NAME, "said": "grow", "rounds": "many"}, 422, "rounds must be a whole number"),
        ({"name": NAME, "said": "grow", "precision": "1.0"}, 422, "precision must be a number"),
        ({"name": NAME, "said": "no", "set": "cats", "item": "nobody"}, 404, "nobody"),
        ({"name": NAME, "said": "no", "set": "dogs", "item": "cats0"}, 404, "dogs"),
    ):
        found, _, page = server.ask("/group", method="POST", body=urlencode(body))
        assert (found, told in page) == (status, True), (body, page)


@pytest.mark.long
def test_a_group_grows_on_the_page_by_keys_alone(kinds, serve, browse):
    from playwright.sync_api import expect

    page = browse(serve(kinds).url, viewport={"width": 375, "height": 700})
    page.get_by_role("link", name=NAME).first.click()
    page.get_by_role("button", name="Let them exclude one another").press("Enter")
    page.wait_for_selector("text=An item belongs to one of these sets")
    page.get_by_label("Up to round").fill("3")
    page.get_by_label("Items that may join").fill("1")
    page.get_by_label("How much of what joins").fill("0.2")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Round 3 is reached.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    rows = page.locator("#hits > li[data-item]")
    first, count = rows.first.get_attribute("data-item"), rows.count()
    page.locator("body").press("j")
    page.keyboard.press("n")
    expect(rows).to_have_count(count - 1)
    with setsearch.open(kinds) as index:
        (name,) = [name for name in index.sets() if first in index.set(name).rejected]
    assert page.evaluate("document.activeElement.dataset.item") is not None, "the next one"
    page.get_by_role("button", name="Take back from here on: round 2").press("Enter")
    expect(page.get_by_text("Round 3")).to_have_count(0)
    assert rows.count() < count - 1 and name in TOPICS
    page.get_by_label("First accept all").check()
    page.get_by_label("Up to round").fill("1")
    page.get_by_role("button", name="Go on").press("Enter")
    page.wait_for_selector("text=Round 1 is reached.")
    with setsearch.open(kinds) as index:
        assert 0 < len(index.growth(group=NAME)) < sum(len(own) - 3 for own in members(kinds).values())


def test_a_set_that_does_not_fit_on_a_page_is_told(kinds, serve):
    with setsearch.open(kinds) as index:
        index.add([(f"cats{n}", "lion tiger") for n in range(20, 240)])
        index.keep_set("many", [f"cats{n}" for n in range(20, 230)], items="documents")
    server = serve(kinds)
    status, _, page = server.ask("/open?name=many")
    assert status == 422
    assert "has 210 accepted and 0 rejected items, and at most 200 fit on a page; its inbox and its review open" in page
    assert server.ask("/inbox?set=many")[0] == server.ask("/review?set=many")[0] == 200


@pytest.mark.long
def test_long_names_stay_on_a_narrow_page(kinds, serve, browse):
    name, group = "L" * 150, "G" * 150
    with setsearch.open(kinds) as index:
        index.keep_set(name, ["cats3"], items="documents", group=group)
        index.keep_set("part", ["cats4"], items="documents", under=name)
        index.grow(group=group, rounds=1, precision=0.01)
    server = serve(kinds)
    page = browse(server.url, viewport={"width": 375, "height": 700})
    for place in ("", f"group?name={group}", f"open?name={name}", "open?name=part", "inbox", f"review?set={name}"):
        page.goto(server.url + place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, place
