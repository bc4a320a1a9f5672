"""The page of what is new for saved sets: over HTTP, and in real Chromium by keys, by mouse and without scripts."""

import random
import re
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from urllib.parse import urlencode

import pytest

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

TOPICS = {
    "cats": "lion tiger leopard claw prowl savanna jungle whisker roar fur".split(),
    "grain": "wheat rye barley oats field harvest flour mill bread sickle".split(),
    "sea": "wave tide harbor sail anchor gull shore salt mast keel".split(),
}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def texts(numbers):
    """Documents of six words of a topic and two others, always the same."""
    for topic, words in TOPICS.items():
        for number in numbers:
            draw = random.Random(f"{topic} {number}")
            yield f"{topic}{number}", " ".join(draw.sample(words, 6) + draw.sample("day man house time".split(), 2))


@pytest.fixture
def notes(tmp_path):
    """Two sets, and documents that came after these were saved."""
    path = tmp_path / "notes.db"
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add(texts(range(10)))
        index.keep_set("cats", ["cats0", "cats1", "cats2"], ["sea0"], "documents")
        index.keep_set("wheat & more", ["grain0", "grain1", "grain2"], items="documents")
        index.add(texts(range(10, 13)))
    return path


def inbox(path, *names):
    with setsearch.open(path) as index:
        return [(row.set, row.item) for row in index.inbox(names or None)]


def members(path, name):
    with setsearch.open(path) as index:
        return index.set(name).accepted, index.set(name).rejected


def fields(html, form):
    """The hidden fields of the form number `form` of a page, as a browser sends them."""
    own = re.findall(r"<form.*?</form>", html, re.S)[form]
    found = re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)">', own)
    return [(unescape(name), unescape(value)) for name, value in found]


def shown(html):
    """(set, item) of the rows."""
    rows = re.findall(r'<li tabindex.*?data-item="(.*?)".*?name="set" value="(.*?)"', html, re.S)
    return [(unescape(name), item) for item, name in rows]


def post(server, given, said, status=303):
    """Send a form; the page that follows."""
    found, headers, body = server.ask("/inbox", method="POST", body=urlencode([*given, ("said", said)]), headers=FORM)
    assert found == status, body
    return server.ask(headers["location"])[2] if found == 303 else body


def test_the_api_tells_the_headlines_that_the_page_tells(serve, tmp_path):
    path = tmp_path / "kept.db"
    with setsearch.open(path, create=True) as index:
        index.add(texts(range(10)))
        index.keep_set("cats", ["cats0", "cats1", "cats2"], items="documents")
        index.add([("new", f"A lion\n\n{' '.join(TOPICS['cats'])}")])
    server = serve(path)
    (row,) = server.json("/api/inbox")["rows"]
    assert (row["item"], row["title"]) == ("new", "A lion")
    assert "A lion" in server.ask("/inbox")[2]


def test_the_api_decides_rows_and_notes_that_all_were_looked_at(serve, notes):
    server = serve(notes)
    before, rows = server.json("/api/sets/cats"), [item for _, item in inbox(notes, "cats")]
    found = server.json("/api/inbox", sets=["cats"])
    assert [row["item"] for row in found["rows"]] == rows and len(rows) > 1
    change = {"accept": rows[:1], "reject": ["grain5"], "version": before["version"]}
    told = server.json("/api/sets/cats", method="PATCH", body=change)
    assert (told["accepted"], told["rejected"]) == (["cats0", "cats1", rows[0], "cats2"], ["grain5", "sea0"])
    for wrong, status, said in (
        (change, 409, "somebody has changed the set 'cats' meanwhile"),
        ({"accept": ["cats5", "unicorn"]}, 404, "'unicorn'"),
        ({"accept": ["sea5"], "reject": ["sea5"]}, 422, "'sea5' is accepted and rejected; leave out one"),
        ({"accept": ["cats0"], "remove": ["cats0"]}, 422, "'cats0' is accepted and removed"),
        (
            {"accept": ["cats5"], "remove": ["sea5"]},
            404,
            "the set 'cats' has no 'sea5' to remove; `setsearch set show`",
        ),
        ({"accept": ["cats5"], "name": "wheat & more"}, 409, "there is a set 'wheat & more' already"),
        ({"version": told["version"]}, 422, "nothing is to change; give `accept`"),
        ({"accept": ["cats5"], "add": ["sea5"]}, 422, "add"),
    ):
        assert said in server.json("/api/sets/cats", status, method="PATCH", body=wrong)["error"]
        assert server.json("/api/sets/cats") == told, "all or nothing"
    server.json("/api/sets/dogs", 404, method="PATCH", body={"accept": ["sea5"]})
    with setsearch.open(notes) as index:
        index.delete(["grain5"])
        index.add(texts([13]))
    assert {*rows[1:], "cats13"} == {item for _, item in inbox(notes, "cats")}
    changes = {"remove": ["grain5", "cats2"], "name": "big cats", "version": told["version"]}
    named = server.json("/api/sets/cats", method="PATCH", body=changes)
    assert (named["name"], named["accepted"], named["rejected"]) == ("big cats", ["cats0", "cats1", rows[0]], ["sea0"])
    seen = {"seen": {"big cats": found["seen"]["cats"]}}
    assert server.json("/api/inbox/done", method="POST", body=seen) == seen
    left = server.json("/api/inbox", sets=["big cats"])
    assert [row["item"] for row in left["rows"]] == ["cats13"], "what came after the rows that were shown"
    server.json("/api/inbox/done", method="POST", body={"seen": left["seen"]})
    assert inbox(notes, "big cats") == []
    for wrong in ("", "1 2", "[1, 2]", "[-1, 2, []]", f"[1, {2**63}, []]", '[1, 2, "a"]', "[1, 2, [3]]", "[" * 9999):
        said = server.json("/api/inbox/done", 422, method="POST", body={"seen": {"big cats": wrong}})["error"]
        assert said == f"seen is what the inbox gave for a set, not {wrong!r:.60}"
    assert server.ask("/inbox", "POST", "said=done&seen+of+big+cats=1", FORM)[0] == 422
    server.json("/api/inbox/done", 404, method="POST", body={"seen": {"dogs": "[1, 2, []]"}})


def test_rows_are_decided_taken_back_and_done(serve, notes):
    server, rows = serve(notes), inbox(notes)
    assert {name for name, _ in rows} == {"cats", "wheat & more"}
    html = server.ask("/inbox")[2]
    assert shown(html) == rows
    assert "Undo" not in html
    html = post(server, fields(html, 0), "yes")
    assert rows[0][1] in members(notes, "cats")[0]
    assert shown(html) == inbox(notes) and rows[0] not in inbox(notes)
    second = inbox(notes)[0]
    html = post(server, fields(html, 1), "no")  # the first form takes the last answer back
    assert members(notes, "cats")[1] == sorted(["sea0", second[1]])
    html = post(server, fields(html, 0), "undo")
    assert second in shown(html) == inbox(notes)
    html = post(server, fields(html, 0), "undo")
    assert shown(html) == rows, "two steps back"
    assert "Undo" not in html
    html = server.ask("/inbox", set="wheat & more")[2]
    assert shown(html) == [row for row in rows if row[0] != "cats"]
    with setsearch.open(notes) as index:
        index.add(texts([13]))  # nobody has seen it
    html = post(server, fields(html, -1), "done")
    assert shown(html) == inbox(notes, "wheat & more") == [("wheat & more", "grain13")]
    assert "cats10" in dict(map(reversed, inbox(notes))), "the other set was not looked at"
    assert 'href="/inbox"' in server.ask("/")[2]
    assert 'href="/inbox?set=wheat+%26+more"' in server.ask("/", seed="cats0", items="documents")[2]


def test_what_came_into_doubt_after_a_page_was_shown_stays(serve, notes):
    with setsearch.open(notes) as index:
        for name in index.sets():
            own = index.set(name)
            own.group = "kinds"
            own.save()
        index.inbox().done()
        index.grow(group="kinds", rounds=1, each=3, precision=0.97)
        server, before = serve(notes), inbox(notes)
        assert before, "some are in doubt"
        html, told = server.ask("/inbox")[2], server.json("/api/inbox")
        index.grow(group="kinds", rounds=2, each=5, precision=0.97)
        after = [row for row in inbox(notes) if row not in before]
        assert after, "others are in doubt now"
    assert shown(post(server, fields(html, -1), "done")) == inbox(notes) == after
    server.json("/api/inbox/done", method="POST", body={"seen": told["seen"]})
    assert inbox(notes) == after
    server.json("/api/inbox/done", method="POST", body={"seen": server.json("/api/inbox")["seen"]})
    assert inbox(notes) == []


def test_two_people_at_one_inbox_hinder_one_another_only_at_one_item(serve, notes):
    server, rows = serve(notes), inbox(notes, "cats")
    mine = yours = server.ask("/inbox", set="cats")[2]
    mine = post(server, fields(mine, 0), "yes")
    after = post(server, fields(yours, 1), "no")
    assert shown(after) == inbox(notes, "cats")
    accepted, rejected = members(notes, "cats")
    assert rows[0][1] in accepted and rows[1][1] in rejected
    told = post(server, fields(yours, 0), "no", 409)
    assert f"somebody has said yes to {rows[0][1]} for cats meanwhile, and your no was not saved" in told
    assert shown(told) == inbox(notes, "cats"), "the rows as they are now"
    assert members(notes, "cats") == (accepted, rejected)
    with setsearch.open(notes) as index:
        own = index.set("cats")
        own.accept(rows[1][1])
        own.save()
    told = post(server, fields(after, 0), "undo", 409)
    assert f"somebody has said yes to {rows[1][1]} for cats meanwhile, and your undo was not saved" in told
    post(server, fields(mine, 0), "undo")
    assert rows[0][1] not in members(notes, "cats")[0] and rows[1][1] in members(notes, "cats")[0]


def test_many_answers_at_one_moment_are_all_saved(serve, notes):
    server, rows = serve(notes), inbox(notes, "cats")
    forms = [fields(server.ask("/inbox", set="cats")[2], place) for place in range(len(rows))]
    with ThreadPoolExecutor(len(rows)) as pool:
        list(pool.map(lambda form: post(server, form, "yes"), forms))
    assert {item for _, item in rows} <= {*members(notes, "cats")[0]}


def test_what_a_key_says_twice_is_said_once(serve, notes):
    server = serve(notes)
    given = fields(server.ask("/inbox")[2], 0)
    once, twice = post(server, given, "yes"), post(server, given, "yes")
    assert "Undo takes it back for all" not in once and "Undo takes it back for all" in twice
    assert shown(once) == shown(twice)
    post(server, fields(twice, 0), "undo")
    assert len(members(notes, "cats")[0]) == 3
    post(server, given, "yes")
    assert len(members(notes, "cats")[0]) == 4
    place = server.ask("/inbox", "POST", urlencode([*given, ("said", "yes")]), FORM)[1]["location"]
    given = fields(server.ask(place)[2], 0)
    assert post(server, given, "undo") == post(server, given, "undo")
    assert len(members(notes, "cats")[0]) == 3


def test_what_is_gone_and_what_nobody_says(serve, notes):
    server = serve(notes)
    html = server.ask("/inbox")[2]
    with setsearch.open(notes) as index:
        index.delete([inbox(notes)[0][1]])
    assert "alert" in post(server, fields(html, 0), "yes", 422)
    assert "by yes or no" in post(server, fields(html, 1), "perhaps", 422)
    with setsearch.open(notes) as index:
        index.delete_set("wheat & more")
    assert "deleted meanwhile" in post(server, [("set", "wheat & more"), ("item", "grain10")], "yes", 422)
    assert server.ask("/inbox", set="wheat & more")[0] == 404
    with setsearch.open(notes) as index:
        index.delete_set("cats")
    code, _, html = server.ask("/inbox")
    assert (code, "No set is saved yet: give examples at the start" in html) == (200, True)


def test_of_several_sets_one_is_deleted_while_they_are_open(serve, notes):
    """The rows of the others stay; without any other one line says what happened."""
    server, names = serve(notes), [("set", "cats"), ("set", "wheat & more")]
    html, alone = server.ask("/inbox?" + urlencode(names))[2], server.ask("/inbox", set="cats")[2]
    with setsearch.open(notes) as index:
        index.delete_set("cats")
    told, gone = "cats: it was deleted meanwhile, or has another name", "it may have been deleted meanwhile"
    page = post(server, fields(html, 0), "yes", 422)
    assert told in page and gone in page
    assert shown(page) == inbox(notes) and {name for name, _ in shown(page)} == {"wheat & more"}
    assert told not in post(server, fields(page, 0), "yes"), "the address has the others"
    page = post(server, fields(html, -1), "done")
    assert told in page and not shown(page) and inbox(notes) == []
    for said in ("yes", "no", "done", "undo"):
        assert gone in unescape(post(server, fields(alone, 0), said, 404))


def test_a_server_that_only_reads_shows_rows(serve, notes):
    server = serve(notes, "--read-only")
    html = server.ask("/inbox")[2]
    assert len(re.findall("<li tabindex", html)) == len(inbox(notes))
    assert "<form" not in html
    assert server.ask("/inbox", "POST", "set=cats&item=cats10&said=yes", FORM)[0] == 403


def test_many_rows_and_a_long_past():
    from setsearch.web.inbox import LONGEST_PAST, Asked

    asked = Asked(("cats",))
    for number in range(200):
        asked = asked.after("yes", "cats", f"a line\n{number} " + "ä" * 40)
    assert len(str(asked)) <= LONGEST_PAST
    assert asked.said[-1] == ("yes", "cats", "a line\n199 " + "ä" * 40)
    assert len(Asked().after("no", "cats", "x" * 5000).said) == 1


@pytest.mark.long
def test_by_keys_by_mouse_and_without_scripts(serve, notes, browse):
    from playwright.sync_api import expect

    server, rows = serve(notes), inbox(notes)
    page = browse(server.url)
    page.get_by_role("link", name="What is new for them").click()
    expect(page.locator("#hits > li")).to_have_count(len(rows))
    page.keyboard.press("y")  # the first row has the keyboard
    expect(page.locator(".answers")).to_contain_text(f"{rows[0][1]}: yes, for cats")
    assert rows[0][1] in members(notes, "cats")[0]
    left = inbox(notes)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("n")
    expect(page.locator(".answers")).to_contain_text(f"{left[1][1]}: no")
    assert left[1][1] in members(notes, left[1][0])[1]
    assert page.evaluate("document.activeElement.closest('#hits > li') !== null"), "the keyboard stays in the list"
    page.keyboard.press("u")
    expect(page.locator(".answers")).to_contain_text(f"{rows[0][1]}: yes")
    page.keyboard.press("u")
    expect(page.locator(".answers")).to_have_count(0)
    page.keyboard.press("u")  # nothing is left to undo
    assert inbox(notes) == rows
    page.keyboard.press("o")
    page.wait_for_selector("article h1")
    page = browse(server.url + "inbox?set=cats", java_script_enabled=False)
    page.get_by_role("button", name="does not belong to cats").first.click()
    expect(page.locator(".answers")).to_contain_text(f"{rows[0][1]}: no, for cats")
    other = browse(page.url)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".answers")).to_have_count(0)
    assert inbox(notes) == rows
    other.keyboard.press("y")
    expect(other.locator(".answers")).to_contain_text(": yes, for cats")
    page.goto(server.url + "inbox?set=cats")
    page.get_by_role("button", name="were looked at").click()
    expect(page.locator("h1")).to_have_text("Nothing new for cats")
