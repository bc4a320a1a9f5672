"""The page in real Chromium, from an example to a saved set, by keyboard and by mouse."""

import csv
import io
import itertools
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")
pytest.importorskip("playwright", reason="needs playwright: pip install playwright")

from setsearch.learning import Review

pytestmark = pytest.mark.long  # Datasette's page is the one that each run opens in Chromium


def expect(locator):
    """Waits for what a locator finds; playwright takes a while to import, and the fast tests do without."""
    from playwright.sync_api import expect

    return expect(locator)


def hits(page):
    return page.locator("#hits > li[data-item]").evaluate_all("rows => rows.map(row => row.dataset.item)")


def settled(page, seeds):
    """Wait until the examples are these."""
    expect(page.locator(".examples .taken")).to_have_text([re.compile(rf"^{re.escape(seed)} ") for seed in seeds])


def examples(page, count):
    """Wait until there are so many."""
    expect(page.locator(".examples .taken")).to_have_count(count)


def test_a_set_grows_by_keyboard_alone(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents")
    page.keyboard.type("whe")  # the field has the keyboard from the start
    page.wait_for_selector("#offers li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settled(page, ["wheat"])
    with setsearch.open(animals) as index:
        expected = index.items("documents").expand(["d4"], 15).shared()
    assert hits(page) == [hit.item for hit in expected]
    page.keyboard.press("ArrowDown")  # from the field into the list
    page.keyboard.press("a")
    settled(page, ["wheat", dict(titles(animals))[expected[0].item]])
    assert page.evaluate("document.activeElement.closest('#hits > li') !== null"), "the keyboard stays in the list"
    page.keyboard.press("ArrowDown")
    left = page.evaluate("document.activeElement.dataset.item")
    page.keyboard.press("x")
    page.wait_for_selector(".examples .left")
    assert left not in hits(page)
    page.keyboard.press("u")
    page.wait_for_selector(".examples .left", state="detached")
    assert left in hits(page)
    page.keyboard.press("u")
    settled(page, ["wheat"])
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "seed"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("w")
    assert page.locator("#hits > li").first.locator("details").get_attribute("open") is not None
    page.keyboard.press("o")
    page.wait_for_selector("article h1")
    page.keyboard.press("u")
    settled(page, ["wheat"])


def titles(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("select name, title from setsearch_name where title is not null").fetchall()
    connection.close()
    return rows


def test_an_address_can_be_sent(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents&seed=lion")
    page.locator(".accept").first.click()
    examples(page, 2)
    page.get_by_role("link", name="Large set").click()
    page.wait_for_selector(".sizes a[aria-current]:has-text('Large')")
    other = browse(page.url)
    assert hits(other) == hits(page)
    assert other.locator(".examples").inner_text() == page.locator(".examples").inner_text().replace("\nUndo", "")
    page.go_back()
    page.go_back()
    examples(page, 1)


def test_why_sums_to_the_score(serve, animals, browse):
    server = serve(animals)
    for model in ("lift", "bernoulli", "multinomial"):
        page = browse(server.url + f"?items=documents&seed=lion&seed=tiger&model={model}&size=large")
        for row in page.locator("#hits > li[data-item]").all():
            parts = row.locator("[data-weight]").evaluate_all("cells => cells.map(c => Number(c.dataset.weight))")
            score = float(row.locator("[data-score]").get_attribute("data-score"))
            assert sum(parts) == pytest.approx(score, abs=1e-9)


def test_a_document_opens_with_what_matters_marked(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents&seed=lion&seed=tiger")
    page.locator("#hits .name").first.click()
    page.wait_for_selector("article .text")
    with setsearch.open(animals) as index:
        (best,) = index.items("documents").expand(["lion", "tiger"], 1, explain=True)
    wanted = {part.feature for part in best.features if part.weight > 0}
    assert {text.lower() for text in page.locator("mark").all_inner_texts()} == wanted
    assert page.locator(".text").inner_text().startswith("The leopard is a big cat")
    page.get_by_role("link", name="Accept").click()
    examples(page, 3)


def test_sets_are_saved_opened_exported_and_deleted(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents&seed=lion&seed=tiger&reject=wheat")
    page.get_by_label("Name of the set").fill('big <cats> & "more"')
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector(".sets >> text=big <cats>")
    with setsearch.open(animals) as index:
        kept = index.set('big <cats> & "more"')
        assert (kept.accepted, kept.rejected) == (["d0", "d1"], ["d4"])
    page.get_by_role("link", name="grain", exact=True).click()
    settled(page, ["wheat", "oats"])
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert {row["status"] for row in rows} >= {"example", "rejected"}
    assert [row["item"] for row in rows if row["status"] == "rejected"] == ["d0"]
    page.get_by_role("button", name="Delete the set big").click()
    expect(page.locator(".sets li", has_text="big")).to_have_count(0)
    expect(page.get_by_label("Name of the set")).to_have_value("grain")  # another was deleted
    page.get_by_role("button", name="Delete the set grain").click()
    expect(page.locator(".sets li", has_text="grain")).to_have_count(0)
    with setsearch.open(animals) as index:
        assert "grain" not in index.sets()


def test_words_and_documents_lead_to_each_other(serve, animals, browse):
    page = browse(serve(animals).url + "?items=terms&seed=barley&seed=oats")
    page.get_by_role("link", name="Documents that go with these words").click()
    page.wait_for_selector("h1:has-text('Documents like these')")
    assert hits(page)[0] in ("d5", "d7", "d6")
    page.goto(page.url.split("?")[0] + "?items=documents&seed=wheat&seed=oats")
    page.get_by_role("link", name="Words that go with these documents").click()
    page.wait_for_selector("h1:has-text('Words like these')")
    assert "barley" in hits(page)


def test_two_of_one_title_are_told_apart(serve, animals, browse):
    with setsearch.open(animals) as index:
        index.add([("j1", "a cat of the jungle", "Jaguar, the"), ("j2", "a car", "Jaguar, the")])
    page = browse(serve(animals).url + "?items=documents&seed=Jaguar,%20the")
    assert "the title of several" in page.locator(".problem").inner_text()
    page.locator(".problem a", has_text="j1").click()
    settled(page, ["Jaguar, the"])


def test_keys_of_one_letter_can_be_turned_off(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion")
    page.get_by_label("Single-letter keys").uncheck()
    page.reload()
    page.locator("#hits > li").first.focus()
    page.keyboard.press("a")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement === document.querySelectorAll('#hits > li')[1]")
    page.get_by_label("Single-letter keys").check()
    page.locator("#hits > li").first.focus()
    page.keyboard.press("a")
    examples(page, 2)
    page.locator(".skip").focus()
    page.keyboard.press("Enter")  # a link within the page takes nothing back
    page.keyboard.press("u")
    page.wait_for_timeout(200)
    page.keyboard.press("u")
    examples(page, 1)


def test_keys_work_zoomed_and_where_nothing_may_be_kept(asked, browse):
    page = browse(asked.url, viewport={"width": 640, "height": 400})  # as 1280 x 800 at 200 %
    page.get_by_label("Single-letter keys").uncheck()
    page.add_init_script("Object.defineProperty(self, 'localStorage', {get() { throw new DOMException('no') }})")
    page.goto(asked.url + "?items=documents&seed=lion")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "seed"


def test_a_chosen_suggestion_shows_in_forced_colors(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion", forced_colors="active")
    page.locator("#seed").fill("d")
    page.locator("#offers li").first.wait_for()
    before = page.locator("#offers").screenshot()
    page.keyboard.press("ArrowDown")
    assert page.locator("#offers").screenshot() != before


def test_fields_of_a_review_are_large_enough_for_a_finger(asked, browse):
    page = browse(
        asked.url + "review?set=grain", viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True
    )
    for name in ("Why not", "Note"):
        assert page.get_by_label(name).bounding_box()["height"] >= 24, "as WCAG 2.2 wants it (2.5.8)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("kbd:visible").count() == 0


def test_a_set_that_is_there_is_not_written_over(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion")
    page.get_by_label("Name of the set").fill("grain")
    with page.expect_response("**/sets"):
        page.get_by_role("button", name="Save").click()
    page.wait_for_selector("main [role=alert]")
    assert "already" in page.locator("main [role=alert]").inner_text()
    assert "/sets" not in page.url, "what was refused has no address"


def test_without_a_script(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents", java_script_enabled=False)
    page.fill("#seed", "wheat, oats")
    page.get_by_role("button", name="Add").click()
    examples(page, 2)
    page.locator(".accept").first.click()
    examples(page, 3)
    page.locator(".reject").first.click()
    expect(page.locator(".examples .left")).to_have_count(1)
    page.get_by_label("Name of the set").fill("by hand")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".sets li", has_text="by hand")).to_have_count(1)


def test_states_are_designed(serve, animals, browse, tmp_path):
    server = serve(animals)
    page = browse(server.url)
    assert "Give a few examples" in page.locator("h1").inner_text()
    page.goto(server.url + "?items=documents&seed=lion&seed=tigr")
    assert "tiger" in page.locator("[role=alert].problem").inner_text()
    assert hits(page), "what is known is expanded"
    page.locator(".problem a", has_text="tiger").click()
    settled(page, ["lion", "tiger"])
    page.goto(server.url + "?items=planets")
    assert "planets" in page.locator("main [role=alert]").first.inner_text()
    animals.unlink()
    page.goto(server.url)
    assert "No index here" in page.locator("h1").inner_text()
    with setsearch.open(animals, create=True) as index:
        index.add([("new", "one more lion"), ("other", "a lion"), ("third", "tiger")])
        index.add([(f"more {n}", "wheat") for n in range(9)])
    page.goto(server.url + "?items=documents&seed=new")
    assert hits(page) == ["other"]
    page.goto(server.url + "?items=documents&seed=third&having=tiger")
    assert "nothing else has a feature" in page.locator(".note").inner_text()


def test_a_slow_answer_is_waited_for(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion")

    held = []
    page.route("**/?*", lambda route: held.append(route))  # noqa: PLW0108 - playwright wants a function
    page.locator(".accept").first.click()
    page.wait_for_selector("#slow:visible")
    assert page.locator("#main").get_attribute("aria-busy") == "true"
    for route in held:
        route.continue_()
    examples(page, 2)
    assert page.locator("#slow").is_hidden()


def test_undo_takes_back_the_step_that_is_on_its_way(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion")
    page.locator(".accept").first.click()
    examples(page, 2)
    held = []
    page.route("**/?*", lambda route: held.append(route))  # noqa: PLW0108 - playwright wants a function
    page.locator(".accept").first.click()
    page.wait_for_selector("#slow:visible")
    page.keyboard.press("u")
    page.wait_for_selector("#slow", state="hidden")
    page.unroute("**/?*")
    examples(page, 2)
    page.locator(".accept").first.click()
    examples(page, 3)
    page.keyboard.press("u")
    examples(page, 2)


def test_a_server_that_is_gone_is_told(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents&seed=lion")
    page.route("**/?*", lambda route: route.abort())
    page.locator(".accept").first.click()
    page.wait_for_selector("#lost:visible")
    page.unroute("**/?*")
    page.get_by_role("button", name="Try again").click()
    examples(page, 2)
    assert page.locator("#lost").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_in_both_schemes(serve, animals, browse, scheme):
    page = browse(
        serve(animals).url + "?items=documents&seed=lion&seed=tiger",
        viewport={"width": 360, "height": 700},
        color_scheme=scheme,
        has_touch=True,
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    for selector in ("body", ".score", ".note, .keys, small", "#hits .name"):
        assert contrast(page, selector) >= 4.5
    box = page.locator(".accept").first.bounding_box()
    assert min(box["width"], box["height"]) >= 40, "large enough for a finger"
    for target in page.locator(".chip a, #hits summary").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 24, "as WCAG 2.2 wants it (2.5.8)"
    page.locator(".accept").first.tap()
    examples(page, 3)


def contrast(page, selector):
    """The ratio of WCAG 2 between a text and what it stands on, the body's ground or paper."""
    ink, ground = page.evaluate(
        "s => [getComputedStyle(document.querySelector(s)).color, getComputedStyle(document.body).backgroundColor]",
        selector,
    )

    def luminance(color):
        parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(ink), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def test_a_screen_reader_finds_its_way(serve, animals, browse):
    """Names and roles as the accessibility tree has them."""
    page = browse(serve(animals).url + "?items=documents&seed=lion&seed=tiger")
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("navigation", name="What is ranked").count() == 1
    assert page.get_by_role("combobox", name="One more example").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    first = page.locator("#hits .name").first.inner_text()
    assert page.get_by_role("link", name=f"Accept {first}").count() == 1
    unnamed = page.evaluate(
        "[...document.querySelectorAll('a, button, input:not([type=hidden])')].filter(e => !(e.innerText.trim() ||"
        " e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert unnamed == []
    page.get_by_role("link", name=f"Accept {first}").click()
    expect(page.locator("#status")).to_contain_text("of 3 examples")


EVIL = [
    "<script>pwned()</script>",
    "\"><img src=x onerror='pwned()'>",
    "'-pwned()-'",
    "javascript:pwned()",
    "</title><svg onload=pwned()>",
    "{{ pwned() }}{% raw %}",
    "a\nb\tc\r\n",
    "&lt;b&gt;\u202e\u0000x".replace("\0", ""),
]


def test_a_hostile_collection_shows_as_text(serve, tmp_path, browse):
    path = tmp_path / "x' onload='pwned()'.db"
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add([(f"{evil}{n}", f"lion tiger {evil} cat", evil) for n, evil in enumerate(EVIL * 3)])
        index.add(
            [(f"{evil}{n}", {evil: 2, f"{evil}?": 1, "all": 1}, evil) for n, evil in enumerate(EVIL)],
            ("<b>film</b>", "'\"user"),
        )
        for n, evil in enumerate(EVIL):
            if evil.isprintable():
                kept = index.set(f"{evil}", "documents")
                kept.accept(f"{evil}{n}")
                kept.save()
    server = serve(path)
    page = browse(server.url)
    page.add_init_script("window.pwned = () => { throw new Error('pwned') }")
    for items in ("documents", "terms", "<b>film</b>", "'\"user"):
        for n, evil in enumerate(EVIL):
            name = {"documents": f"{evil}{n}", "terms": "lion", "<b>film</b>": f"{evil}{n}", "'\"user": evil}[items]
            shown = {"items": items, "seed": name, "reject": evil, "having": evil, "set": evil, "model": evil}
            if n == 0:
                page.goto(server.url + "?" + urlencode(shown))
                assert page.locator("main").count() == 1
            page.goto(server.url + "?" + urlencode({"items": items, "seed": name}))
            assert page.locator("script, img, main svg[onload], b").count() == 1, "our own script alone"
            page.goto(server.url + "item?" + urlencode({"items": items, "open": name}))
            assert page.locator("article").count() == 1, name
    page.goto(server.url + "?items=documents")
    page.fill("#seed", "<scr")
    page.wait_for_selector("#offers li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#hits > li")
    page.locator(".accept").first.click()
    examples(page, 2)


ENDS = """text => [0, text.firstChild.length - 1].map(place => {
    const range = document.createRange();
    range.setStart(text.firstChild, place);
    range.setEnd(text.firstChild, place + 1);
    return range.getBoundingClientRect().left;
})"""


def test_a_text_has_the_direction_of_its_letters(serve, tmp_path, browse):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("arabic", "الأسد كبير!", "الأسد!"), ("english", "The lion is large!", "Lion!")])
    server = serve(tmp_path / "a.db")
    for name, is_to_the_left in (("arabic", True), ("english", False)):
        page = browse(f"{server.url}item?items=documents&open={name}")
        for place in (".text", "h1"):
            first, last = page.locator(place).evaluate(ENDS)
            assert (last < first) is is_to_the_left, (name, place)


def test_one_box_takes_names_words_and_texts(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion+tiger")
    settled(page, ["lion", "tiger"])
    assert page.locator(".snippet mark").count() > 0
    page.goto(page.url.split("?")[0] + "?items=documents&seed=the+big+striped+cats+of+the+jungle")
    settled(page, ["“the big striped cats of the jungle”"])
    assert hits(page)
    page.locator("[aria-label='Remove the text']").click()
    page.wait_for_selector(".empty")
    page.goto(page.url.split("?")[0] + "?items=terms&seed=lion,+nobody")
    assert "setsearch" not in page.locator("main").inner_text()
    page.goto(page.url.split("?")[0] + "?items=documents&seed=lion&size=all")
    assert page.locator(".sizes [aria-current]").inner_text() == "All"


def test_starters_are_sets_and_a_word_of_contexts_has_a_legend(serve, tmp_path, browse):
    rng = random.Random(0)
    kinds = {"animal": ["lion", "tiger", "wolf", "bear"], "fruit": ["apple", "pear", "plum", "cherry"]}
    said = {"animal": "a {} hunts at night", "fruit": "the sweet {} grows ripe"}
    texts = []
    for n in range(400):
        kind = rng.choice([*kinds])
        texts.append((f"d{n}", said[kind].format(rng.choice(kinds[kind]))))
    with setsearch.open(tmp_path / "s.db", create=True, contexts="on") as index:
        index.add(texts)
    page = browse(serve(tmp_path / "s.db").url + "?items=terms")
    names = page.locator(".starters li").first.locator(".chip").all_inner_texts()
    assert len(names) == 3
    assert page.locator("#seed").get_attribute("placeholder") == ", ".join(names)
    page.locator(".starters a").first.click()
    settled(page, names)
    page.goto(page.url.split("?")[0] + "?seed=lion&seed=tiger")
    assert page.locator(".legend").inner_text() == "“_” is the place of the word."


def test_the_start_shows_documents_by_their_titles(serve, tmp_path, browse):
    folder = tmp_path / "folder"
    folder.mkdir()
    for n, (kind, word) in enumerate([("cats", "lion"), ("cats", "tiger"), ("grain", "wheat"), ("grain", "rye")] * 3):
        (folder / f"{n}.md").write_text(f"# About {word} {n}\n\nThe {word} is one of the {kind} of 1912, 44 and 3.5.\n")
    with setsearch.open(tmp_path / "s.db", create=True) as index:
        index.add([(path.name, path.read_text()) for path in sorted(folder.iterdir())])
    page = browse(serve(tmp_path / "s.db").url)
    assert page.locator(".readings [aria-current]").inner_text().startswith("Documents")
    labels = page.locator(".starters .chip").all_inner_texts()
    assert labels and all(label.startswith("About ") for label in labels)
    assert page.locator("#seed").get_attribute("placeholder") == labels[0]
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        terms = connection.execute("select n.name from setsearch_name n join setsearch_kind k on k.id = n.kind "
                                   "where k.name = 'terms'").fetchall()  # fmt: skip
    words = [name for (name,) in terms if not re.fullmatch(r"[\d.,]+", name)]
    assert 0 < len(words) < len(terms)
    assert f"12 documents and {len(words)} words" in page.locator(".empty p").first.inner_text()
    assert page.get_by_role("heading", name="Start a review").count() == 0
    page.goto(page.url + "?seed=lion")
    assert page.locator(".readings [aria-current]").inner_text().startswith("Words"), (
        "a name alone is a word, as before"
    )


def test_a_review_starts_from_references(serve, browse, run, tmp_path):
    folder = Path(__file__).parents[1] / "indexing" / "exporters"
    assert run("index", "r.db", str(folder), "--language", "english")[0] == 0
    page = browse(serve(tmp_path / "r.db").url)
    page.get_by_label("Its name").fill("cats")
    page.get_by_label("Some that belong").fill("10.1000/nothing")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert").filter(has_text="10.1000/nothing")).to_have_count(1)
    assert page.get_by_label("Its name").input_value() == "cats", "nothing that was typed is lost"
    page.get_by_label("Some that belong").fill("doi:10.1000/cats\n\n")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/review?set=cats")
    expect(page.locator("#far")).to_have_text("cats")
    with setsearch.open(tmp_path / "r.db") as index:
        assert [(one.item, one.said) for one in Review(index, "cats").decisions()] == [("10.1000/cats", "yes")]


def test_the_line_is_moved_and_put_back(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion&model=bernoulli")
    settled(page, ["lion"])
    items = hits(page)
    page.locator("#hits > li").nth(1).focus()
    page.keyboard.press("e")
    expect(page.locator(".cut")).to_have_count(1)
    within = lambda: page.locator("#hits > li[data-item]:not(.beyond)").count()  # noqa: E731
    assert (hits(page), within()) == (items, 2)
    page.locator(".cut [title='One more']").click()
    page.wait_for_url("**end=3*")
    assert within() == 3
    exported = page.evaluate(
        "fetch(document.querySelector('a[download]:last-child').href).then(answer => answer.text())"
    )
    assert len(exported.split()) == 1 + 3
    page.locator(".cut >> text=suggest").click()
    expect(page.locator(".cut >> text=suggest")).to_have_count(0)


def test_the_line_on_the_curve_moves_by_keys_and_without_a_script(serve, animals, browse):
    server = serve(animals)
    page = browse(server.url + "?items=documents&seed=lion&model=bernoulli")
    curve, within = page.get_by_label("How many belong"), "#hits > li[data-item]:not(.beyond)"
    assert len(page.locator(".curve polyline").get_attribute("points").split()) == len(hits(page))
    curve.focus()
    names = page.locator("#hits .name").all_inner_texts()
    curve.press("Home")
    expect(page.locator("#ending")).to_have_text(f"1 belongs, the last: {names[0]}")
    curve.press("ArrowRight")
    expect(page.locator("#ending")).to_have_text(f"2 belong, the last: {names[1]}")
    assert float(page.locator("#line").get_attribute("x1")) == pytest.approx(100 / (len(names) - 1))
    page.wait_for_url("**end=2")
    expect(page.locator(within)).to_have_count(2)
    assert page.evaluate("document.activeElement.id") == "end", "the keyboard stays on the line"
    assert page.locator("#move").is_hidden()
    page.get_by_role("link", name="Suggest one").click()
    expect(page.get_by_role("link", name="Suggest one")).to_have_count(0)
    plain = browse(server.url + "?items=documents&seed=lion&model=bernoulli", java_script_enabled=False)
    plain.get_by_label("How many belong").fill("3")
    plain.get_by_role("button", name="Move the line").click()
    plain.wait_for_url("**end=3")
    assert plain.locator(within).count() == 3
    assert plain.locator(".curve line").get_attribute("x1") == str(round(200 / (len(names) - 1), 2))


def test_a_map_shows_examples_and_candidates(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion&seed=tiger")
    with setsearch.open(animals) as index:
        points = index.items("documents").expand(["lion", "tiger"], 15, fold=True, cut="mark").shared().map()
    for kind in ("example", "inside", "beyond"):
        shown = page.locator(f".map svg .{kind} title").evaluate_all("all => all.map(one => one.textContent)")
        assert sorted(shown) == sorted(point.label for point in points if point.kind == kind)
    assert page.get_by_role("img", name="A map of the examples", exact=False).count() == 1


def test_kept_columns_filter(serve, tmp_path, browse):
    rows = [
        (f"d{n}", f"lion tiger {n}n {n}m {n}k", None, {"year": 2000 + n % 2, "tags": ["a <b>", "c"]}) for n in range(8)
    ]
    with setsearch.open(tmp_path / "k.db", create=True) as index:
        index.add([*rows, *((f"w{n}", f"wheat oats {n}w") for n in range(40))])
    page = browse(serve(tmp_path / "k.db").url + "?items=documents&seed=d0")
    settled(page, ["lion tiger 0n 0m 0k"])
    assert set(hits(page)) == {f"d{n}" for n in range(1, 8)}
    page.locator("#hits a[title='Only year = 2001']").first.click()
    expect(page.locator(".examples .chip")).to_have_count(2)
    assert set(hits(page)) == {"d1", "d3", "d5", "d7"}
    page.locator("[aria-label='Remove the filter year = 2001']").click()
    expect(page.locator(".examples .chip")).to_have_count(1)
    page.locator("#filter").fill("year < 2001")
    page.keyboard.press("Enter")
    expect(page.locator(".examples .chip")).to_have_count(2)
    assert set(hits(page)) == {"d2", "d4", "d6"}
    page.locator("#filter").fill("pages < 2001")
    page.keyboard.press("Enter")
    expect(page.locator(".problem")).to_contain_text("kept: year, tags")


def test_a_phone_stays_where_it_was(serve, tmp_path, browse):
    with setsearch.open(tmp_path / "p.db", create=True, contexts="on") as index:
        texts = [f"lion tiger number{n} of the jungle" for n in range(40)]
        index.add([(f"a document of the jungle, {n}", text, "Jungle") for n, text in enumerate(texts)])
        index.add([(f"w{n}", f"wheat number{n} of the field") for n in range(80)])
    page = browse(serve(tmp_path / "p.db").url + "?items=documents&seed=a+document+of+the+jungle,+1&size=large")
    page.set_viewport_size({"width": 390, "height": 700})
    row = page.locator("#hits > li").nth(12)
    row.scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, 200)")
    before = page.locator("#hits").bounding_box()["y"]
    assert before < 0
    name, id = (row.locator(own).bounding_box() for own in (".name", ".id"))
    assert id["y"] >= name["y"] + name["height"] and id["x"] + id["width"] <= 390, "what tells titles apart is below"
    row.locator(".accept").click()
    page.wait_for_selector(".examples .taken >> nth=1")
    assert abs(page.locator("#hits").bounding_box()["y"] - before) < 3


def test_a_review_by_keyboard_survives_a_new_server(serve, animals, browse):
    with setsearch.open(animals) as index:
        index.keep_set("cats", ["d0"], items="documents")
        every = index.items("documents").item_count()
    server = serve(animals)
    page = browse(server.url + "?items=documents")
    page.get_by_role("link", name="Review cats one by one").click()
    expect(page.locator("#far + p")).to_contain_text(f"1 found, 1 of {every} read")
    shown = lambda: page.locator("#review input[name=item]").input_value()  # noqa: E731
    first = shown()
    page.keyboard.press("y")
    expect(page.locator("#far + p")).to_contain_text(f"2 found, 2 of {every} read")
    second = shown()
    page.keyboard.press("n")
    expect(page.locator("#far + p")).to_contain_text(f"2 found, 3 of {every} read")
    third = shown()
    page.keyboard.press("l")
    expect(page.locator("#review input[name=item]")).not_to_have_value(third)
    page.keyboard.press("u")
    expect(page.locator("#review input[name=item]")).to_have_value(third)
    server.kill()
    again = serve(animals)
    page.goto(again.url + "review?set=cats")
    assert shown() == third
    with setsearch.open(animals) as index:
        kept = index.set("cats")
        assert (kept.accepted, kept.rejected) == (sorted(["d0", first]), [second])
    for _ in range(every - 3):
        before = page.locator("#far + p").inner_text()
        page.get_by_role("button", name="No").click()
        expect(page.locator("#far + p")).not_to_have_text(before)
    expect(page.locator("h1")).to_have_text("All are decided")
    status, _, body = again.ask("/review.csv", set="cats")
    rows = list(csv.DictReader(io.StringIO(body)))
    assert (status, len(rows), rows[0]["decision"]) == (200, every, "yes")
    assert "ASReview_irrelevant" in again.ask("/review.ris", set="cats")[2]
    assert again.ask("/review.pdf", set="cats")[0] == 404
    assert again.ask("/review", set="dogs")[0] == 404


def test_a_review_of_references_shows_where_they_are_from(serve, browse, run, tmp_path):
    folder = Path(__file__).parents[1] / "indexing" / "exporters"
    assert run("index", "r.db", str(folder), "--language", "english")[0] == 0
    with setsearch.open(tmp_path / "r.db") as index:
        index.keep_set("cats", ["10.1000/cats"], items="documents")
        review = Review(index, "cats")
        for hit in review.queue(9):
            if hit.item != "10.1000/birds":
                review.decide(hit.item, "no")
    server = serve(tmp_path / "r.db")
    page = browse(server.url + "review?set=cats")
    expect(page.locator("h1")).to_have_text("Songs of birds in cities")
    expect(page.locator(".source")).to_contain_text("Kowalska, Anna; Nowak, Jan. ANIMAL BEHAVIOUR. 2020.")
    assert page.locator(".source a").get_attribute("href") == "https://doi.org/10.1000/birds"
    expect(page.locator(".keys")).to_contain_text("One by one: y yes")
    read = len(review.decisions())
    expect(page.locator("figure.curve figcaption")).to_have_text(f"1 found ↑, read → {read}")
    expect(page.locator("section")).to_contain_text([f"1 found, {read} of"])
    page.get_by_label("Why not").fill("wrong species")
    page.keyboard.press("Enter")  # answers nothing
    expect(page.locator("h1")).to_have_text("Songs of birds in cities")
    page.get_by_label("Note").fill("yes")  # typed letters are no keys
    page.get_by_role("button", name="No", exact=False).first.click()
    expect(page.locator("h1")).to_have_text("All are decided")
    with setsearch.open(tmp_path / "r.db") as index:
        last = Review(index, "cats").decisions()[-1]
    assert (last.item, last.said, last.reason, last.note) == ("10.1000/birds", "no", "wrong species", "yes")
    page.get_by_text("All documents").click()
    expect(page.locator(".keys")).to_contain_text("/ add an example")  # the keys are those of the page
    for kind in ("csv", "ris", "bib", "nbib", "ciw", "enw"):
        status, _, body = server.ask(f"/review.{kind}", set="cats")
        assert status == 200 and "Songs of birds" in body


def test_switches_of_many_fields_do_not_lie_on_each_other(serve, browse, tmp_path):
    fields = {f"a longer name {n}": [f"x{n}"] for n in range(12)}
    with setsearch.open(tmp_path / "f.db", create=True) as index:
        index.add([setsearch.Item(f"i{n}", "lion tiger", None, None, fields) for n in range(4)])
    page = browse(serve(tmp_path / "f.db").url + "?items=documents&seed=i1")
    boxes = [own.bounding_box() for own in page.locator("nav[aria-label='What counts'] a").all()]
    rows = sorted({(box["y"], box["y"] + box["height"]) for box in boxes})
    assert len(rows) > 1 and all(end <= start for (_, end), (start, _) in itertools.pairwise(rows))


def paste(page, text):
    """Paste a text into the field for examples."""
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const field = document.getElementById("seed");
            field.focus();
            field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
        }""",
        text,
    )


def test_a_column_of_a_spreadsheet_is_pasted(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion")
    paste(page, "house cat\r\nleopard\r\n")
    page.keyboard.press("Enter")  # out of habit, while the answer is on its way
    settled(page, ["lion", "house cat", "leopard"])
    assert page.evaluate("document.activeElement.id") == "seed"


def test_a_list_is_pasted_over_what_is_selected(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion")
    page.locator("#seed").fill("tigr")
    page.keyboard.press("Enter")
    page.wait_for_selector(".problem")
    paste(page, "tiger\nleopard")
    settled(page, ["lion", "tiger", "leopard"])
    assert page.locator(".problem").count() == 0


def test_what_the_server_cannot_read_is_told(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion")
    paste(page, "\n".join(f"name {n} of many" for n in range(8000)))
    expect(page.locator("#lost")).to_contain_text("longer than 64 KB")
    examples(page, 1)


def test_a_name_that_is_unknown_can_be_typed_over(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion")
    page.locator("#seed").fill("tigr")
    page.keyboard.press("Enter")
    page.wait_for_selector(".problem")
    page.keyboard.type("tiger")
    page.keyboard.press("Enter")
    settled(page, ["lion", "tiger"])


def test_who_goes_on_before_the_answer_comes_loses_nothing(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion&size=all")
    page.route("**/?*", lambda route: (page.wait_for_timeout(300), route.continue_()))
    names = hits(page)
    for key in ("j", "a", "j", "a", "a", "j", "x"):
        page.keyboard.press(key)
    examples(page, 3)
    expect(page.locator(".examples .left")).to_have_count(1)
    assert [name for name in names[:3] if name in hits(page)] == []


def test_two_clicks_at_once_say_what_both_say(serve, animals, browse):
    """Also about names as they were typed, against one another, and on the way to another page."""
    url = serve(animals).url
    page = browse(url + "?items=documents&seed=lion%0Atiger%0Aleopard&size=all")

    def at_once(*selectors):
        page.route("**/?*", lambda route: (page.wait_for_timeout(300), route.continue_()))
        page.route("**/item?*", lambda route: (page.wait_for_timeout(300), route.continue_()))
        page.evaluate("(all) => { for (const one of all) document.querySelector(one).click(); }", selectors)

    at_once('[aria-label="Remove d0"]', '[aria-label="Remove d1"]')
    settled(page, ["leopard"])
    at_once("#hits .accept", "#hits .reject")
    expect(page.locator(".examples .left")).to_have_count(1)
    examples(page, 1)
    at_once("#hits .name", "#hits .accept")
    examples(page, 2)
    assert "open=" not in page.url


def test_that_the_server_is_gone_is_in_sight(serve, animals, browse):
    page = browse(serve(animals).url + "?items=documents&seed=lion&size=all", viewport={"width": 800, "height": 300})
    page.route("**/?*", lambda route: route.abort())
    page.locator(".reject").last.click()
    page.wait_for_selector("#lost:visible")
    assert page.evaluate("scrollY") > 0
    expect(page.get_by_role("button", name="Try again")).to_be_in_viewport()


def test_what_is_saved_is_told_and_what_is_refused_leaves_all_in_place(serve, animals, browse):
    first = browse(serve(animals).url + "open?name=grain")
    second = browse(first.url)
    expect(first.locator("#kept")).to_have_text("Saved.")
    first.locator("#hits .accept").first.click()
    expect(first.locator("#kept")).to_have_text("Changed since it was saved.")
    first.get_by_role("button", name="Save").click()
    expect(first.locator("#kept")).to_have_text("Saved.")
    expect(first.locator("#status")).to_have_text("Saved.")
    second.locator("#hits .accept").nth(1).click()
    examples(second, 3)
    shown = hits(second)
    second.get_by_role("button", name="Save").click()
    expect(second.locator("aside .problem")).to_contain_text("somebody has changed the set 'grain'")
    assert hits(second) == shown
    examples(second, 3)
    second.get_by_label("Name of the set").fill("grain of mine")
    second.get_by_role("button", name="Save").click()
    expect(second.locator("#kept")).to_have_text("Saved.")
    with setsearch.open(animals) as index:
        assert len(index.set("grain").accepted) == len(index.set("grain of mine").accepted) == 3


def test_the_keyboard_stays_on_the_page_when_its_button_is_gone(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion")
    page.locator("#hits .accept").first.click()
    examples(page, 2)
    page.get_by_role("button", name="Undo").click()
    examples(page, 1)
    expect(page.locator("#main")).to_be_focused()


def test_reasons_open_by_a_target_that_is_large_enough(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion")
    assert min(own.bounding_box()["height"] for own in page.locator("#hits summary").all()) >= 24


def test_paper_has_the_list_and_no_buttons(asked, browse):
    page = browse(asked.url + "open?name=grain")
    page.emulate_media(media="print")
    for selector in ("#hits .name", ".score", ".curve svg", "#shared", ".examples .chip"):
        expect(page.locator(selector).first).to_be_visible()
    for selector in ("button", "input", "footer", ".mark", ".chip a", ".readings", "[download]"):
        assert page.locator(f"{selector} >> visible=true").count() == 0, selector


def test_only_keys_that_work_are_told(asked, browse):
    page = browse(asked.url + "?items=documents&seed=lion")
    expect(page.locator("#how")).to_contain_text("w why")
    page.goto(asked.url + "nothing")
    expect(page.get_by_label("Single-letter keys")).to_be_hidden()
    page.goto(asked.url + "?items=documents")
    expect(page.locator("#how")).to_have_text("/ add an example, u undo.")
