"""Questions are asked off the event loop, within a time; the application can be mounted in another."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest
from patience import patience

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

from fastapi import FastAPI

from setsearch.pool import QUEUE, QuestionPool, Unavailable
from setsearch.web import Rules, make_app, make_page


@pytest.mark.long
def test_the_loop_goes_on_while_a_question_is_answered(animals):
    async def run():
        pool, ticks = QuestionPool(animals, 30, workers=2), 0
        asked = [asyncio.ensure_future(pool.ask(lambda index: time.sleep(0.5) or index.sets())) for _ in range(4)]
        while not all(future.done() for future in asked):
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks, [future.result() for future in asked]

    ticks, found = asyncio.run(run())
    assert ticks > 20
    assert found == [{"grain": "documents"}] * 4


@pytest.mark.long
def test_what_takes_too_long_is_told_and_goes_on(animals):
    let_go, finished = threading.Event(), threading.Event()

    async def run():
        pool = QuestionPool(animals, patience(1), workers=1)
        with pytest.raises(Unavailable, match=r"longer than|\d s"):
            await pool.ask(lambda index: let_go.wait(patience(60)) and finished.set())
        let_go.set()
        while not finished.is_set():
            await asyncio.sleep(0.01)
        return await pool.ask(lambda index: index.sets())

    assert asyncio.run(run()) == {"grain": "documents"}


def test_a_work_that_begins_late_goes_on(animals, monkeypatch):
    let_go, ended, problems = threading.Event(), threading.Event(), []
    monkeypatch.setattr(threading, "excepthook", problems.append)

    def work(index, begun):
        let_go.wait(patience(60))
        begun()
        ended.set()

    async def run():
        pool = QuestionPool(animals, 0.05)
        with pytest.raises(Unavailable, match="did not begin"):
            await pool.start(work)
        let_go.set()
        await asyncio.to_thread(ended.wait, patience(10))

    asyncio.run(run())
    assert ended.is_set() and problems == []


def test_too_many_questions_are_turned_away(animals):
    opened = threading.Event()

    async def run():
        pool = QuestionPool(animals, 30, workers=1)
        asked = [asyncio.ensure_future(pool.ask(lambda index: opened.wait(patience(20)))) for _ in range(QUEUE + 50)]
        await asyncio.sleep(0.1)
        opened.set()
        found = await asyncio.gather(*asked, return_exceptions=True)
        await pool.ask(lambda index: index.sets())  # and then there is room again
        return found

    refused = [error for error in asyncio.run(run()) if isinstance(error, Unavailable)]
    assert len(refused) == 50


@pytest.mark.long
def test_a_question_that_fails_fails_alone(animals):
    async def run():
        pool = QuestionPool(animals, 30)
        with pytest.raises(setsearch.errors.UnknownItem):
            await pool.ask(lambda index: index.items("documents").expand(["nobody"]))
        return await pool.ask(lambda index: index.sets())

    assert asyncio.run(run()) == {"grain": "documents"}


def get(app, path, method="GET", body=b"", headers=()):
    """(status, headers, body) of a request to an ASGI application in this process."""
    sent = []

    async def run():
        place, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": place,
            "raw_path": place.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"host", b"host.example"), *headers],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }

        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive():
            return next(messages, None) or await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        await app(scope, receive, send)

    asyncio.run(run())
    start = sent[0]
    return (
        start["status"],
        {k.decode(): v.decode() for k, v in start["headers"]},
        b"".join(m.get("body", b"") for m in sent),
    )


def test_mounted_in_another_application(animals):
    host = FastAPI()
    host.mount("/deep/sets", make_app(animals))

    @host.get("/api/info")
    def own():
        return "the host's"

    status, _, page = get(host, "/deep/sets/?items=documents&seed=lion")
    assert status == 200
    assert b'href="/deep/sets/static/page.css"' in page
    assert b'action="/deep/sets/sets"' in page
    assert get(host, "/deep/sets/static/page.css")[0] == 200
    status, headers, _ = get(host, "/deep/sets/sets", "POST", b"items=documents&seed=lion&name=x")
    with setsearch.open(animals) as index:
        version = index.set("x").version
    assert (status, headers["location"]) == (303, f"/deep/sets/?items=documents&seed=lion&set=x&version={version}")
    assert b'"d0"' in get(host, "/deep/sets/api/item?items=documents&item=lion")[2]
    assert get(host, "/deep/sets/api/item?items=documents&item=none")[1]["content-type"] == "application/json"
    assert get(host, "/api/info")[2] == b'"the host\'s"'


def test_an_open_index_is_served_too(animals):
    with setsearch.open(animals) as index:
        app = make_app(index, Rules(read_only=True))
        assert get(app, "/?items=documents&seed=lion")[0] == 200
        assert get(app, "/api/sets/grain", "DELETE")[0] == 403


def test_a_failure_of_ours_shows_no_trace(animals, monkeypatch):
    monkeypatch.setattr("setsearch.answers.finding.Named.find_names", lambda *args: 1 / 0)
    app = make_app(animals)
    with pytest.raises(ZeroDivisionError):  # for the server's log, after the answer
        get(app, "/api/complete?prefix=x")


PAGES = [
    "/?items=documents",
    "/?items=documents&seed=d0&reject=d4",
    "/?items=documents&seed=nobody",
    "/item?items=documents&open=d0",
    "/review?set=grain",
    "/inbox",
    "/export.csv?items=documents&seed=d0",
    "/export.exe",
    "/nothing",
    "/api/complete?items=documents&prefix=le&k=8",
]


def test_the_page_alone_answers_as_beside_the_api(animals):
    whole, alone = make_app(animals), make_page(QuestionPool(animals, 30), animals.name)
    for path in PAGES:
        expected, found = get(whole, path), get(alone, path)
        assert found[::2] == expected[::2], path
        assert found[1]["content-type"] == expected[1]["content-type"], path


def test_the_page_alone_needs_no_fastapi():
    code = "import sys; sys.modules['fastapi'] = None; import setsearch.web; setsearch.web.make_page(None, 'x')"
    subprocess.run([sys.executable, "-c", code], check=True)
