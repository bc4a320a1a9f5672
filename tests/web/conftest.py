"""A real server process for each test that wants one, and a real browser."""

import pytest
from browsers import NEEDS_CHROMIUM, find_chromium
from patience import patience
from servers import Server

import setsearch

CHROMIUM = find_chromium()
ANIMALS = {
    "lion": "The lion and the tiger are big cats of the savanna; the lion roars",
    "tiger": "The tiger and the lion are big cats; the tiger has stripes",
    "leopard": "The leopard is a big cat with spots and roars in the savanna",
    "house cat": "A small cat that purrs in the house",
    "wheat": "Wheat and barley grow in the fields",
    "barley": "Barley and oats grow in cold fields, wheat in warm ones",
    "oats": "Oats grow in fields of barley",
    "rye": "Rye grows in poor fields, where oats and barley fail",
}


@pytest.fixture
def serve():
    running = []

    def start(database, *options):
        running.append(Server(database, *options))
        return running[-1]

    yield start
    for server in running:
        if server.runs:
            server.stop()


def make_animals(path):
    """Documents with texts that are kept, and a saved set."""
    with setsearch.open(path, create=True, contexts="on") as index:
        index.add([(f"d{n}", text, name) for n, (name, text) in enumerate(ANIMALS.items())])
        kept = index.set("grain", "documents")
        kept.accept("wheat", "oats")
        kept.reject("lion")
        kept.save()
    return path


@pytest.fixture
def animals(tmp_path):
    """A collection of one's own."""
    return make_animals(tmp_path / "animals.db")


@pytest.fixture(scope="session")
def asked(tmp_path_factory):
    """A server for tests that only ask."""
    server = Server(make_animals(tmp_path_factory.mktemp("asked") / "animals.db"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def chromium():
    """A Chromium of one module, as its event loop would be in the way of others."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    if CHROMIUM is None:
        pytest.skip(NEEDS_CHROMIUM)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium):
    """Open a page; whatever a script of it complains of fails the test."""
    opened, complaints = [], []

    def start(url, **options):
        context = chromium.new_context(**options)
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(patience(30) * 1000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.goto(url)
        return page

    yield start
    for context in opened:
        context.close()
    assert [one for one in complaints if not one.startswith("Failed to load resource")] == []
