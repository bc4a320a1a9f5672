"""The page that needs no server, in Chromium: `make test-try` builds it and runs this file."""

import functools
import json
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from patience import patience
from playwright.sync_api import expect

import setsearch
from setsearch.answers.highlight import top_features
from setsearch.learning.review import Review

BUILT = Path(__file__).parents[2] / "dist" / "try"
RECORDS = [
    (json.loads(line)["title"], json.loads(line)["text"])
    for line in (Path(__file__).parents[2] / "sample_corpus" / "wordnet.jsonl").read_text(encoding="utf-8").splitlines()
][:1500]
OTHERS = {"tiger.txt": "big cat", "more/日本語.txt": "東京は日本の首都です。naïve Ångström", "more/lion.txt": "big cat"}


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a log."""

    def log_message(self, *told):
        """Nothing."""


@pytest.fixture
def place():
    """Where a server has the built folder, which is all that it has."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=BUILT.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/try/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def references(tmp_path):
    """A file of references with ids."""
    path = tmp_path / "entries.ris"
    lines = (
        f"TY  - JOUR\nID  - {number}\nTI  - {title}\nAB  - {text}\nER  - \n\n"
        for number, (title, text) in enumerate(RECORDS)
    )
    path.write_text("".join(lines), encoding="utf-8")
    return path


def the_set(page):
    """The page in its frame, once it is there."""
    page.wait_for_selector("#page", state="visible", timeout=patience(120) * 1000)
    return page.frame_locator("#page")


def exported(page, kind, **asked):
    """What the page exports, read by the page itself."""
    address = f"page/export.{kind}?{urlencode(asked, doseq=True)}"
    frame = page.query_selector("#page").content_frame()
    return frame.evaluate(
        "address => fetch(new URL(address, parent.document.baseURI)).then(answer => answer.text())", address
    )


def saved(page, path):
    """The database, as the page gives it away."""
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the database").click()
    download.value.save_as(path)
    return path


def test_references_grow_a_set_are_reviewed_kept_and_taken_home(browse, place, references, tmp_path):
    requests = []
    page = browse(place)
    page.on("request", lambda request: requests.append(request.url))
    page.set_input_files("#files", references)
    inner = the_set(page)
    inner.locator("#seed").fill("3")
    inner.locator("#seed").press("Enter")
    inner.locator("#hits > li").first.wait_for()
    rows = json.loads(exported(page, "json", items="documents", seed=["3", "5"], size="large"))

    inner.locator("header .brand").click()
    inner.locator("[name=name]").fill("mine")
    inner.locator("[name=known]").fill("3\n5")
    inner.get_by_role("button", name="Start").click()
    first = inner.locator("#review .id").inner_text()
    inner.get_by_role("button", name="Yes").click()
    inner.locator("#review .id").filter(has_not_text=first).wait_for()
    page.reload()
    second = the_set(page).locator("#review .id")
    second.wait_for()
    assert second.inner_text() != first
    home = saved(page, tmp_path / "home.db")
    with setsearch.open(home) as index:
        hits = index.items("documents").expand(["3", "5"], len(rows))
        found = {row["item"]: row["score"] for row in rows if row["status"] != "example"}
        assert len(found) > 10
        assert {hit.item: hit.score for hit in hits if hit.item in found} == found
        review = Review(index, "mine")
        assert [decision.item for decision in review.decisions()][-1] == first.strip()
        assert review.queue()[0].item == second.inner_text().strip()
        assert index.check() == []
    assert {url.startswith(place) for url in requests if not url.startswith(("blob:", "data:"))} == {True}


def test_a_folder_has_the_words_that_native_has(browse, place, tmp_path):
    folder = tmp_path / "notes"
    for name, text in OTHERS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    page = browse(place)
    page.set_input_files("#folder", folder)
    the_set(page).locator("#seed").wait_for()
    assert "indexed 3" in page.locator("#said").inner_text()
    with setsearch.open(tmp_path / "native.db", create=True) as index:
        index.update([(f"notes/{name}", text, None) for name, text in OTHERS.items()])
    words = []
    for path in (saved(page, tmp_path / "home.db"), tmp_path / "native.db"):
        with setsearch.open(path) as index:
            documents = index.items("documents")
            words.append({name: top_features(documents, f"notes/{name}", 100) for name in OTHERS})
    assert words[0] == words[1]
    assert "東京" in words[0]["more/日本語.txt"][0]


def test_a_database_comes_and_all_is_deleted(browse, place, tmp_path):
    with setsearch.open(tmp_path / "native.db", create=True, contexts="on") as index:
        index.add([(str(number), text, title) for number, (title, text) in enumerate(RECORDS)])
    page = browse(place)
    page.set_input_files("#files", tmp_path / "native.db")
    the_set(page).locator("nav.readings").wait_for()
    with setsearch.open(tmp_path / "native.db") as index:
        hits = index.items("terms").expand(["dance", "music"], 5)
    rows = json.loads(exported(page, "json", items="terms", seed=["dance", "music"]))
    assert [(row["item"], row["score"]) for row in rows if row["status"] != "example"][:5] == [
        (hit.item, hit.score) for hit in hits
    ]
    page.evaluate("confirm = () => true")
    page.get_by_role("button", name="Delete all").click()
    page.locator("#drop").wait_for()
    page.reload()
    expect(page.locator("#said")).to_have_text("", timeout=patience(120) * 1000)  # Python is there again
    assert page.locator("#drop").is_visible()
    assert page.evaluate("location.hash") == ""


def test_the_site_has_it(tmp_path):
    config = str(BUILT.parents[1] / "docs" / "site" / "mkdocs.yml")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-f", config, "-d", str(tmp_path)], check=True)
    assert 'href="try/index.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "try" / "sw.js").read_bytes() == (BUILT / "sw.js").read_bytes()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("empty.ris", "Error: nothing to index in what you added: no document, no row (empty)"),
        ("empty.db", "Error: empty.db is no SQLite database"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(browse, place, tmp_path, name, told):
    (tmp_path / name).write_text("")
    page = browse(place)
    page.set_input_files("#files", tmp_path / name)
    problem = page.locator("#said.problem")
    problem.wait_for(timeout=patience(120) * 1000)
    assert problem.inner_text() == told
    assert page.locator("#drop").is_visible()
