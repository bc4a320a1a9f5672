"""What visitors of `setsearch serve` may try: guesses, half a request, a body that never ends, questions left alone."""

import contextlib
import csv
import io
import json
import socket
import sys
import time
from urllib.parse import urlsplit

import pytest
from patience import patience

import setsearch

pytest.importorskip("fastapi", reason="needs FastAPI: pip install setsearch[web]")

import asyncio

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from setsearch import Where, errors
from setsearch.pool import QuestionPool, until_gone
from setsearch.web import access
from setsearch.web import server as serving


@pytest.mark.long
def test_guesses_of_a_token_are_slowed_down(serve, animals):
    server = serve(animals, "--token", "right")
    guess = lambda token: server.ask("/api/info", headers={"authorization": f"Bearer {token}"})  # noqa: E731
    assert [guess("wrong")[0] for _ in range(12)] == [401] * 12  # a program with an old token is no guesser
    assert guess("right")[0] == 200
    statuses = [guess(f"wrong {n}")[0] for n in range(30)]
    assert statuses[: access.FREE_GUESSES] == [401] * access.FREE_GUESSES
    assert statuses.count(429) >= 20
    status, headers, body = guess("right")  # nobody learns anything until the time is over
    assert (status, "too many wrong tokens" in body) == (429, True)
    time.sleep(int(headers["retry-after"]))
    assert guess("right")[0] == 200
    assert guess("wrong again")[0] == 401


def test_guesses_wait_twice_as_long_each_time(monkeypatch):
    now, guesses = [0.0], access.Guesses()
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    waits = []
    for number in range(16):
        begin = now[0]
        while True:
            try:
                guesses.require_patience("a")
                break
            except HTTPException:
                now[0] += 0.5
        waits.append(now[0] - begin)
        guesses.note("a", f"token {number}")
    assert waits == [0] * 5 + [1, 2, 4, 8, 16, 32] + [60] * 5
    guesses.require_patience("b")
    for number in range(access.ADDRESSES + 5):
        guesses.note(f"address {number}", "x")
    assert len(guesses._wrong) == access.ADDRESSES


def test_a_guess_is_not_kept_and_thousands_of_them_only_wait():
    guesses, token = access.Guesses(), "x" * access.LARGEST_BODY
    count = sys.getrefcount(token)
    guesses.note("a", token)
    assert sys.getrefcount(token) == count, "a body of each of many addresses would fill the memory"
    for number in range(2000):
        guesses.note("a", str(number))
    with pytest.raises(HTTPException) as refused:
        guesses.require_patience("a")
    assert refused.value.status_code == 429 and int(refused.value.headers["retry-after"]) in (60, 61)


@pytest.fixture
def impatient(monkeypatch):
    """A server in this process would be patched; one of its own reads these from its environment."""
    monkeypatch.setattr(serving, "HEADER_SECONDS", 1.5)
    monkeypatch.setattr(serving, "MOST_WAITING", 20)
    monkeypatch.setattr(access, "BODY_SECONDS", 1.5)


@pytest.fixture
def server(impatient):
    """Uvicorn with our protocol and our middleware, in a thread."""
    import threading

    import uvicorn

    async def echo(request):
        return PlainTextResponse(str(len(await request.body())))

    app = access.RequestLimits(Starlette(routes=[Route("/", echo, methods=["GET", "PUT"])]))
    running = uvicorn.Server(uvicorn.Config(app, port=0, http=serving.PatientProtocol, log_level="error"))
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield running.servers[0].sockets[0].getsockname()[1]
    running.should_exit = True
    thread.join()


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=patience(20))


def answer(connection):
    parts = []
    while part := connection.recv(4096):
        parts.append(part)
        if b"\r\n\r\n" in b"".join(parts):
            break
    return b"".join(parts)


def read_all(connection):
    return b"".join(iter(lambda: connection.recv(4096), b""))


@pytest.mark.long
@pytest.mark.parametrize("begin", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_request_must_begin_in_time(server, begin):
    with connect(server) as slow:
        slow.sendall(begin)
        with contextlib.suppress(ConnectionResetError):
            assert slow.recv(100) == b""
    with connect(server) as quick:
        quick.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in answer(quick)
        time.sleep(0.1)
        quick.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")  # the same connection, a second request
        assert b" 200 " in answer(quick)


@pytest.mark.parametrize("parts", [[b"hello\r\n\r\n"], [b"GET /?" + b"x" * 50_000, b"x" * 50_000]])
def test_a_request_that_cannot_be_read_is_told_why(server, parts):
    with connect(server) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(0.1)
        head, body = read_all(connection).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body) == {"error": serving.UNREADABLE}


@pytest.mark.long
def test_a_body_must_come_in_time(server):
    with connect(server) as slow:
        slow.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n[")
        assert b" 408 " in answer(slow)
    with connect(server) as whole:
        whole.sendall(b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n[1]")
        assert b" 200 " in answer(whole)


def test_connections_without_a_request_are_few(server, monkeypatch):
    monkeypatch.setattr(serving, "HEADER_SECONDS", patience(60))
    half_open = [connect(server) for _ in range(60)]
    for connection in half_open:
        connection.sendall(b"GET / HT")
    time.sleep(0.3)
    assert len(serving.PatientProtocol.waiting) <= 20
    with connect(server) as quick:
        quick.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 200 " in answer(quick)
    for connection in half_open:
        connection.close()


def test_a_client_that_goes_stops_its_question(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("create table t (id, text)")
        connection.executemany("insert into t values (?, 'lion')", [(1,), (2,)])
    connection.close()
    with setsearch.open(tmp_path / "a.db") as index:
        index.add_table("t", setsearch.Columns())
    endless = Where(
        "exists (with recursive n(x) as (select 1 union all select x + 1 from n) select 1 from n where x < 0)"
    )

    async def ask():
        pool = QuestionPool(tmp_path / "a.db", patience(60), workers=1, time_limit=patience(60))
        left = asyncio.Event()

        async def receive():
            await left.wait()
            return {"type": "http.disconnect"}

        question = pool.ask(lambda index: index.items("documents").expand(["1"], among=endless))
        asyncio.get_running_loop().call_later(0.2, left.set)
        with pytest.raises(errors.Cancelled, match="gone"):
            await until_gone(receive, question)
        return await pool.ask(lambda index: index.items("documents").item_count())  # the only thread is free

    assert asyncio.run(ask()) == 2


def test_an_export_holds_no_formula(serve, tmp_path):
    texts = dict.fromkeys(["=1+1", "+a", "-b", "@c", "plain", "\ttab"], "lion")
    texts |= {f"other {n}": "wheat" for n in range(20)}
    with setsearch.open(tmp_path / "f.db", create=True, analyzer="unicode+0-titles") as index:
        index.add([(name, text, f"{name} title") for name, text in texts.items()])
    server = serve(tmp_path / "f.db")
    body = server.ask("/export.csv", items="documents", seed="=1+1")[2]
    rows = list(csv.DictReader(io.StringIO(body)))
    assert {row["item"] for row in rows} == {"'=1+1", "'+a", "'-b", "'@c", "plain", "'\ttab"}
    assert all(row["title"][0] in "'p" for row in rows)
    assert [row["score"] for row in rows][1:] == [rows[1]["score"]] * 5  # a number stays a number
    assert "=1+1" in [row["item"] for row in server.json("/export.json", items="documents", seed="=1+1")]


def test_an_export_has_a_mark_by_which_excel_reads_other_letters(serve, tmp_path):
    with setsearch.open(tmp_path / "f.db", create=True) as index:
        index.add([("a", "lion"), ("b", "lion"), ("会議", "wheat oats"), ("c", "oats")])
    server = serve(tmp_path / "f.db")
    body = server.ask("/export.csv", items="documents", seed="会議")[2]
    rows = list(csv.DictReader(io.StringIO(body.removeprefix("\ufeff"))))
    assert body.startswith("\ufeffitem,") and "会議" in {row["item"] for row in rows}
    assert server.ask("/export.csv", items="documents", seed="a")[2].startswith("item,")


def test_a_page_does_not_write_over_what_others_saved(serve, animals):
    server = serve(animals)
    form = {"content-type": "application/x-www-form-urlencoded"}

    def save(address, name):
        return server.ask("/sets", method="POST", body=f"{address}&name={name}", headers=form)

    status, headers, _ = save("items=documents&seed=d0", "cats")
    mine = urlsplit(headers["location"]).query
    assert status == 303
    assert "version=" in mine
    with setsearch.open(animals) as index:
        theirs = index.set("cats")
        theirs.accept("d4")
        theirs.save()
    for stale in (mine, "items=documents&seed=d0&set=cats"):
        status, _, body = save(stale, "cats")
        assert (status, "meanwhile" in body or "already" in body) == (409, True)
    opened = urlsplit(server.ask("/open?name=cats")[1]["location"]).query
    assert save(f"{opened}&reject=d1", "cats")[0] == 303
    with setsearch.open(animals) as index:
        kept = index.set("cats")
        assert (sorted(kept.accepted), kept.rejected) == (["d0", "d4"], ["d1"])


def test_a_seed_that_is_also_excluded_is_refused(serve, animals):
    server = serve(animals)
    status, _, body = server.ask("/api/expand", seeds=["lion"], exclude=["lion"], items="documents")
    assert (status, "both a seed and in" in body) == (422, True)


def test_groups_are_named_by_their_examples(asked):
    given = {"items": "documents", "seed": ["d0", "d1", "d4", "d6"], "groups": "2", "size": "all"}
    html = asked.ask("/", **given)[2]
    assert "like lion, tiger</small>" in html and "like wheat, oats</small>" in html
    rows = asked.json("/export.json", **given)
    assert {row["item"]: row["group"] for row in rows if row["status"] == "example"} == {
        "d0": ["d0", "d1"],
        "d1": ["d0", "d1"],
        "d4": ["d4", "d6"],
        "d6": ["d4", "d6"],
    }
    found = {row["item"]: row["group"] for row in rows if row["status"] != "example"}
    assert found["d2"] == ["d0", "d1"] and found["d5"] == ["d4", "d6"]
    lines = asked.ask("/export.csv", **given)[2].splitlines()
    assert lines[0] == "item,title,status,score,group"
    assert lines[1].endswith(',"d0, d1"')
    assert asked.ask("/export.csv", items="documents", seed="d0")[2].splitlines()[1].endswith(",example,,")


def test_the_page_refuses_what_it_does_not_know(asked):
    for path, name, near in (("/inbox", "sets", "set"), ("/open", "named", "name"), ("/review", "sets", "set")):
        assert f"did you mean &#39;{near}&#39;?" in asked.ask(path, **{name: "grain"})[2]
    for path, name, near in (("/", "seeds", "seed"), ("/item", "opn", "open"), ("/export.csv", "rejected", "reject")):
        status, _, html = asked.ask(path, **{"items": "documents", name: "lion"})
        assert status == 422
        assert f"unknown option &#39;{name}&#39;; did you mean &#39;{near}&#39;?" in html
