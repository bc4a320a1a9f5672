"""A page of rows like these in a real Datasette, asked in the process, over HTTP, and in real Chromium."""

import asyncio
import json
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from browsers import NEEDS_CHROMIUM, find_chromium
from patience import patience

import setsearch
from setsearch import Columns

pytest.importorskip("datasette", reason="needs Datasette: pip install setsearch[datasette]")

from setsearch.integrations import table_copies

CHROMIUM = find_chromium()


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Its import takes a while, and most processes run other tests."""
    global Datasette, driver, tables
    from datasette.app import Datasette
    from datasette.utils.sqlite import sqlite3 as driver

    from setsearch.integrations import datasette_tables as tables


ROWS = [
    (1, "Lions", "lion tiger cat savanna", 2001),
    (2, "Tigers", "tiger lion jungle cat", 2003),
    (3, "Wheat <b>&amp;", "wheat barley field", 1999),
    (4, "Leopards", "leopard cat savanna", 2005),
    (5, "Barley", "barley oats field", 2006),
]
BOOKS = [(id, title, f"{body} in the land") for id, title, body, _ in ROWS]


def make(path):
    connection = sqlite3.connect(path)
    connection.execute('create table "big cats/etc" (id integer primary key, title text, body text, year int, kind)')
    connection.executemany("insert into \"big cats/etc\" values (?, ?, ?, ?, 'book')", ROWS)
    connection.execute("create table other (id integer primary key)")
    connection.execute('create table "more rows" (id integer primary key)')
    connection.execute("create table secret (id integer primary key)")
    setsearch.open(connection).add_table("big cats/etc", Columns(text=("title", "body"), title="title", keep="kind"))
    connection.commit()
    connection.close()
    return path


@pytest.fixture
def database(tmp_path):
    return make(tmp_path / "app.db")


TABLE = "/-/setsearch/app/big+cats~2Fetc"


def get(database, *paths, config=None, actor=None):
    """The answers of a Datasette in this process."""

    async def run():
        options = {"metadata" if hasattr(Datasette, "permission_allowed") else "config": config or {}}
        served = Datasette([str(database)], **options)
        await served.invoke_startup()
        cookies = {"ds_actor": served.sign({"a": actor}, "actor")} if actor else {}
        return [await served.client.get(path, cookies=cookies) for path in paths]

    return asyncio.run(run())


def test_json_is_what_the_index_answers(database):
    with setsearch.open(database) as index:
        expected = index.items("documents").expand(["1"], 3, explain=True).shared()
    answer, by_title, filtered = get(
        database,
        f"{TABLE}.json?row=1&k=3",
        f"{TABLE}.json?row=Lions&k=3",
        f"{TABLE}.json?row=1&_where=year+>+2003&fresh=now",
    )
    found = answer.json()
    assert answer.status_code == 200
    assert found["ok"] is True
    assert found["revision"] == expected.revision
    shown = [(hit["item"], hit["title"], hit["score"]) for hit in found["hits"]]
    assert shown == [(hit.item, hit.title, hit.score) for hit in expected]
    assert [hit["features"] for hit in found["hits"]] == [
        [{"feature": part.feature, "weight": part.weight} for part in hit.features] for hit in expected
    ]
    assert by_title.json()["hits"][0]["item"] == found["hits"][0]["item"]
    assert {hit["item"] for hit in filtered.json()["hits"]} == {"4"}
    (row,) = get(database, found["hits"][0]["href"])
    assert row.status_code == 200
    assert found["hits"][0]["title"] in row.text


def test_there_is_no_page_of_a_table_that_is_not_there(database):
    page, data = get(database, "/-/setsearch/app/cats?row=1", "/-/setsearch/app/cats.json?row=1")
    assert (page.status_code, data.status_code) == (404, 404)
    assert "app has no table cats" in page.text and "setsearch index" not in page.text
    assert data.json()["error"] == "app has no table cats"


def test_a_page_lists_the_indexed_tables_that_one_may_see(database):
    page, listed = get(database, "/-/setsearch", "/-/setsearch.json")
    (table,) = listed.json()["tables"]
    assert table == {"database": "app", "table": "big cats/etc", "path": TABLE}
    assert page.status_code == 200 and f'href="{TABLE}"' in page.text
    denied = {"databases": {"app": {"tables": {"big cats/etc": {"allow": {"id": "root"}}}}}}
    (hidden,) = get(database, "/-/setsearch.json", config=denied)
    assert hidden.json()["tables"] == []


def test_rows_of_one_kind_are_few(database):
    two, one, none, wrong = get(
        database,
        f"{TABLE}.json?row=1",
        f"{TABLE}.json?row=1&at_most=1&per=kind",
        f"{TABLE}.json?row=1&at_most=1",
        f"{TABLE}.json?row=1&at_most=few&per=kind",
    )
    assert one.json()["hits"][0]["score"] == two.json()["hits"][0]["score"]
    assert len(two.json()["hits"]) == 2
    assert len(one.json()["hits"]) == 1
    assert "at_most=1&per=kind" in one.json()["hits"][0]["with"]
    assert "belong together" in none.json()["error"]
    assert "not 'few'" in wrong.json()["error"]


def test_rejected_rows_teach(database):
    with setsearch.open(database) as index:
        documents = index.items("documents")
        expected = documents.expand(["1"], 20, exclude=["5"]).shared()
        plain = documents.expand(["1"], 20).shared()
    page, answer, both = get(
        database, f"{TABLE}?row=1&not=5", f"{TABLE}.json?row=1&not=Barley", f"{TABLE}.json?row=1&not=5&not=1"
    )
    found = answer.json()
    assert [(hit["item"], hit["score"]) for hit in found["hits"]] == [(hit.item, hit.score) for hit in expected]
    assert [hit.score for hit in expected] != [hit.score for hit in plain]
    assert (both.status_code, both.json()["error"]) == (400, "'1' is both a `row` and a `not`; leave it out of one")
    (rejected,) = found["rejected"]
    assert (rejected["item"], rejected["title"]) == ("5", "Barley")
    assert rejected["without"] == f"{TABLE}?row=1&k=20"
    assert found["hits"][0]["reject"] == f"{TABLE}?row=1&not=5&not={expected[0].item}&k=20"
    assert '<input type="hidden" name="not" value="5">' in page.text
    assert get(database, f"{TABLE}.json?row=1&not=nobody")[0].status_code == 400


def test_a_row_shows_the_passage_that_speaks_for_the_set(tmp_path):
    with sqlite3.connect(tmp_path / "notes.db") as host:
        host.execute("create table notes (id integer primary key, body text)")
        bodies = ["The lion <hunts> at night", "A tiger and a lion hunt at night", *["wheat grows in fields"] * 9]
        host.executemany("insert into notes (body) values (?)", [(body,) for body in bodies])
    with setsearch.open(host) as index:
        index.add_table("notes", setsearch.Columns(text="body"))
    host.close()
    answer, page = get(tmp_path / "notes.db", "/-/setsearch/notes/notes.json?row=2", "/-/setsearch/notes/notes?row=2")
    (hit,) = answer.json()["hits"]
    assert hit["title"] == hit["snippet"]["text"] == bodies[0]
    assert [hit["snippet"]["text"][a:b] for a, b in hit["snippet"]["marks"]] == ["lion", "at", "night"]
    assert "passage" not in hit
    assert "<strong>lion</strong> &lt;hunts&gt;" in page.text


def test_groups_are_named_by_their_examples(database):
    asked = f"{TABLE}?row=1&row=2&row=3&row=5&groups=2"
    page, found = get(database, asked, asked.replace("?", ".json?"))
    assert "<small>like Lions, Tigers</small>" in page.text
    groups = {hit["item"]: hit["group"] for hit in found.json()["hits"]}
    assert groups["4"] == ["1", "2"]
    assert "like" not in found.json()["hits"][0]


def test_mistakes_are_lines_not_traces(database):
    answers = get(
        database,
        f"{TABLE}.json?row=nobody",
        f"{TABLE}?row=nobody",
        f"{TABLE}.json?row=1&_where=year+>",
        f"{TABLE}.json?row=1&_where=1)+union+select+1+from+secret+where+(1",
        "/-/setsearch/app/more+rows.json?row=1",
        f"{TABLE}.json?row=1&k=99999999999999",
        f"{TABLE}.json?row=1&k=-3",
        f"{TABLE}.json",
        f"{TABLE}.json?row=1&fresh=soon",
    )
    assert [answer.status_code for answer in answers] == [400, 400, 400, 400, 400, 400, 400, 200, 400]
    assert "fresh is 'now'" in answers[8].json()["error"]
    assert "no 'nobody' among the 5 documents" in answers[0].json()["error"]
    assert "no &#39;nobody&#39; among" in answers[1].text
    assert "'year >'" in answers[2].json()["error"]
    assert "syntax error" in answers[3].json()["error"]
    assert "more rows is not indexed; `setsearch index DB --table 'more rows' --text" in answers[4].json()["error"]
    assert answers[7].json() == {
        "ok": True, "database": "app", "table": "big cats/etc", "seeds": [], "rejected": [], "hits": [],
        "error": None, "revision": None, "behind": None, "copied": None,
    }  # fmt: skip


def test_a_tracked_table_says_what_does_not_count_yet(database):
    with setsearch.open(database) as index:
        index.add_table("big cats/etc", Columns(text=("title", "body"), title="title"), track=True)
    assert get(database, f"{TABLE}.json")[0].json()["behind"] == 0
    with sqlite3.connect(database) as connection:
        connection.execute("update \"big cats/etc\" set body = 'barley' where id = 4")
    page, answer = get(database, f"{TABLE}?row=1", f"{TABLE}.json?row=1")
    assert answer.json()["behind"] == 1 and "1 changed row counts after" in page.text
    with setsearch.open(database) as index:
        index.refresh()
    assert get(database, f"{TABLE}.json?row=1")[0].json()["behind"] == 0


def test_changes_count_at_once_where_this_is_configured(database):
    with setsearch.open(database) as index:
        index.add_table("big cats/etc", Columns(text=("title", "body"), title="title"), track=True)
    config = {"plugins": {"setsearch": {"refresh": True}}}
    for text in ("barley oats field", "lion tiger cat savanna"):
        with sqlite3.connect(database) as connection:
            connection.execute("update \"big cats/etc\" set title = 'x', body = ? where id = 4", [text])
        found = get(database, f"{TABLE}.json?row=4&k=5", config=config)[0].json()
        with setsearch.open(database) as index:
            assert found["revision"] == index.revision() and found["behind"] == 0
            expected = [hit.item for hit in index.items("documents").expand(["4"], 5).shared()]
        assert [hit["item"] for hit in found["hits"]] == expected


def test_an_answer_is_not_refused_because_another_one_writes(database):
    with setsearch.open(database) as index:
        index.add_table("big cats/etc", Columns(text=("title", "body"), title="title"), track=True)
    connection = driver.connect(
        str(database), isolation_level=None
    )  # another SQLite of the process knows no locks of it
    connection.execute("update \"big cats/etc\" set body = 'wheat' where id = 4")
    connection.execute("begin immediate")
    (answer,) = get(database, f"{TABLE}.json?row=4", config={"plugins": {"setsearch": {"refresh": True}}})
    connection.close()
    assert answer.status_code == 200 and answer.json()["behind"] == 1


ENDLESS = "exists (with recursive n(x) as (select 1 union all select x+1 from n) select 1 from n where x<0)"


@pytest.mark.long
def test_a_condition_of_a_visitor_has_datasettes_limit(database):
    """Many endless conditions at once end in time, and Datasette's own pages are answered meanwhile."""

    async def run():
        served = Datasette([str(database)], settings={"sql_time_limit_ms": 500, "num_sql_threads": 2})
        await served.invoke_startup()
        address = f"{TABLE}.json?" + urllib.parse.urlencode({"row": 1, "_where": ENDLESS})
        asked = [asyncio.ensure_future(served.client.get(address)) for _ in range(7)]
        await asyncio.sleep(0.1)
        own = await served.client.get("/app/other.json")
        waiting = sum(not one.done() for one in asked)
        return own, waiting, [await one for one in asked]

    own, waiting, answers = asyncio.run(run())
    assert own.status_code == 200
    assert waiting
    for answer in answers:
        assert answer.status_code == 400
        assert "longer than 0.5 seconds" in answer.json()["error"]


@pytest.mark.long
def test_a_visitor_who_goes_stops_the_question(database, monkeypatch):
    """A real server: the client closes its connection, and the endless condition ends at once, not at its limit."""
    command = [
        sys.executable,
        "-m",
        "datasette",
        str(database),
        "--port",
        "0",
        "--setting",
        "sql_time_limit_ms",
        "60000",
    ]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command[command.index("--port") + 1] = str(port)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        path = f"{TABLE}.json?" + urllib.parse.urlencode({"row": 1, "_where": ENDLESS})
        for _ in range(6):  # more than there are threads for questions
            with socket.create_connection(("127.0.0.1", port)) as visitor:
                visitor.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                time.sleep(0.3)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{TABLE}.json?row=1", timeout=patience(20)) as answer:
            assert json.load(answer)["hits"]
    finally:
        process.kill()
        process.wait()


def wait_for(port):
    deadline = time.monotonic() + patience(60)
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)


def test_the_page_escapes_what_rows_hold(database):
    (page,) = get(database, f"{TABLE}?row=3")
    assert page.status_code == 200
    assert "Wheat &lt;b&gt;&amp;" in page.text and "&amp;amp;" not in page.text, "an entity is a character"
    assert "Wheat <b>" not in page.text


def test_permissions_are_respected(database):
    closed = {"databases": {"app": {"tables": {"big cats/etc": {"allow": {"id": "root"}}}}}}
    paths = (f"{TABLE}.json?row=1", TABLE, "/app/setsearch_name", "/app/setsearch_name.json", "/app/other")
    assert [answer.status_code for answer in get(database, *paths, config=closed)] == [403, 403, 403, 403, 200]
    assert [a.status_code for a in get(database, *paths, config=closed, actor={"id": "root"})][:2] == [200, 200]
    assert [a.status_code for a in get(database, "/-/setsearch/none/x", "/-/setsearch/app/none")] == [403, 404]
    no_sql = {"databases": {"app": {"allow_sql": False}}}
    filtered, plain = get(database, f"{TABLE}.json?row=1&_where=1", f"{TABLE}.json?row=1", config=no_sql)
    assert (filtered.status_code, plain.status_code) == (400, 200)
    assert "permission to execute SQL" in filtered.json()["error"]
    tables = get(database, "/app")[0].text
    assert "/app/setsearch_name" not in tables


def test_menus_lead_to_the_page(database):
    table, other, row = get(database, "/app/big+cats~2Fetc", "/app/other", "/app/big+cats~2Fetc/1")
    assert "Expand a set of rows" in table.text
    assert "Expand a set of rows" not in other.text
    assert "Rows like this" in row.text
    assert "/-/setsearch/app/big+cats~2Fetc?row=1" in row.text


def test_sql_functions_are_there(database):
    address = "/app/-/query.json" if not hasattr(Datasette, "permission_allowed") else "/app.json"
    (answer,) = get(database, f"{address}?_shape=array&sql=select+setsearch_expand('1',2)+as+hits")
    assert [hit["rank"] for hit in json.loads(answer.json()[0]["hits"])] == [1, 2]


def test_a_database_in_memory_and_one_without_an_index():
    async def run():
        served = Datasette([], memory=True)
        await served.invoke_startup()
        database = served.add_memory_database("scratch")
        await database.execute_write("create table t (id integer primary key, text text)")
        before = await served.client.get("/-/setsearch/scratch/t.json?row=1")
        await database.execute_write(
            "insert into t (text) values ('lion tiger'), ('lion cat'), ('wheat'), ('oats rye corn'), ('rye oats corn')"
        )
        await database.execute_write_fn(lambda c: setsearch.open(c).add_table("t", Columns()))
        return before, await served.client.get("/-/setsearch/scratch/t.json?row=1")

    before, after = asyncio.run(run())
    assert before.status_code == 400
    assert "t is not indexed; `setsearch index DB --table t --text COLUMN` does it" in before.json()["error"]
    assert after.json()["hits"][0]["item"] == "2"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A database without an index: texts with a tag that another table has, and birds that have names and numbers."""
    copies = table_copies.TableCopies()
    monkeypatch.setattr(tables, "_copies", copies)
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute("create table books (id integer primary key, title text, body text)")
    connection.executemany("insert into books values (?, ?, ?)", BOOKS)
    connection.execute("create table shelved (book_id integer references books(id), shelf text)")
    connection.executemany("insert into shelved values (?, 'secret')", [(1,), (4,)])
    connection.execute("create table birds (kind text, island text, weight int)")
    birds = [("gentoo", "Biscoe", 5000), ("adelie", "Dream", 3700)]
    rows = [(kind, island, weight + number) for number in range(20) for kind, island, weight in birds]
    connection.executemany("insert into birds values (?, ?, ?)", rows)
    connection.execute("create table numbers (id integer primary key, n int)")
    connection.execute("create table sizes (id integer primary key, height real, bird int references birds)")
    connection.executemany("insert into sizes values (?, ?, ?)", [(n, n % 15 + n / 100, n % 3) for n in range(60)])
    connection.commit()
    connection.close()
    yield tmp_path / "app.db"
    copies.close()


def test_a_table_that_nobody_indexed_answers_by_a_copy(host):
    books, birds, page, menu, none, row = get(
        host,
        "/-/setsearch/app/books.json?row=Lions&k=2",
        "/-/setsearch/app/birds.json?row=2&k=19",
        "/-/setsearch/app/books?row=1&k=2",
        "/app/books",
        "/app/numbers",
        "/app/birds/1",
    )
    sizes, size = get(host, "/-/setsearch/app/sizes.json?row=7&k=3", "/app/sizes/7")
    assert sizes.json()["hits"][0]["item"] == "22" and "/-/setsearch/app/sizes?row=7" in size.text
    with setsearch.open(sqlite3.connect(":memory:"), contexts="off") as index:
        index.add([(str(id), body, title) for id, title, body in BOOKS])
        expected = index.items("documents").expand(["1"], 2)
    found = books.json()
    assert [(hit["item"], hit["title"], hit["score"]) for hit in found["hits"]] == [
        (hit.item, hit.title, hit.score) for hit in expected
    ]
    assert "secret" not in books.text, "who may not see another table does not see what it has"
    assert found["copied"].endswith("+00:00") and found["copied"] in page.text
    assert get(host, found["hits"][0]["href"])[0].status_code == 200
    assert {int(hit["item"]) % 2 for hit in birds.json()["hits"]} == {0}
    assert "Expand a set of rows" in menu.text and "Expand a set of rows" not in none.text
    assert "/-/setsearch/app/birds?row=1" in row.text
    with sqlite3.connect(host) as connection:
        assert not connection.execute("select 1 from sqlite_master where name like 'setsearch%'").fetchall()


def test_rows_with_a_key_of_several_columns_are_known_by_rowid(host):
    with sqlite3.connect(host) as connection:
        connection.execute("create table pages (book int, page int, body text, primary key (book, page))")
        rows = [(id, page, body) for id, _, body in BOOKS for page in (1, 2)]
        connection.executemany("insert into pages values (?, ?, ?)", rows)
    row, page = get(host, "/app/pages/4,2", "/-/setsearch/app/pages.json?row=1&k=1")
    assert "/-/setsearch/app/pages?row=8" in row.text
    (hit,) = page.json()["hits"]
    assert hit["item"] == "2" and hit["href"] == "/app/pages?rowid__exact=2"
    (shown,) = get(host, "/app/pages.json?_shape=array&rowid__exact=2")[0].json()
    assert shown == {"book": 1, "page": 2, "body": BOOKS[0][2]}


def test_rows_with_a_key_of_bytes_are_known_by_rowid(host):
    with sqlite3.connect(host) as connection:
        connection.execute("create table films (key blob primary key, body text)")
        connection.executemany("insert into films values (?, ?)", [(bytes([255, id]), body) for id, _, body in BOOKS])
    menu, page = get(host, "/app/films", "/-/setsearch/app/films.json?row=1&k=1")
    assert "Expand a set of rows" in menu.text
    assert [hit["href"] for hit in page.json()["hits"]] == ["/app/films?rowid__exact=2"]


def test_rows_of_a_view_without_ids_are_found_by_their_numbers(database):
    with sqlite3.connect(database) as connection:
        connection.execute('create view told as select body from "big cats/etc"')
        setsearch.open(connection, collection="told").add_table("told", Columns(text="body"))
    page = get(database, "/-/setsearch/app/told.json?row=1&k=1")[0].json()
    (hit,) = page["hits"]
    assert hit["item"] == "2"
    assert "tiger lion jungle cat" in get(database, hit["href"])[0].text
    assert "lion tiger cat savanna" not in get(database, hit["href"])[0].text
    with sqlite3.connect(database) as connection:
        connection.execute("create table own (id text primary key, body text)")
        connection.execute("insert into own select 'n' || id, body from \"big cats/etc\"")
        connection.execute("create view texts as select * from own")
        setsearch.open(connection, collection="texts").add_table("texts", Columns(text="body"))
        connection.execute("drop view texts")
        connection.execute("create view texts as select body from own")
    (hit,) = get(database, "/-/setsearch/app/texts.json?row=n1&k=1")[0].json()["hits"]
    assert hit["item"] == "n2" and hit["href"] == "/app/texts?"


def test_the_file_is_opened_by_the_sqlite_of_datasette_alone(database, monkeypatch):
    """Two in a process end one another's locks on a file."""
    if driver is sqlite3:
        pytest.skip("needs pysqlite3, which Datasette prefers")
    connect = sqlite3.connect
    with monkeypatch.context() as without:
        without.setattr(tables, "driver", sqlite3)
        expected = get(database, TABLE + ".json?row=1")[0].json()["hits"]
    tables._pools.clear()

    def refuse(place, *given, **options):
        assert "app.db" not in str(place)
        return connect(place, *given, **options)

    monkeypatch.setattr(sqlite3, "connect", refuse)
    answer = get(database, TABLE + ".json?row=1")[0].json()
    assert answer["error"] is None and answer["hits"] == expected


def test_a_copy_is_read_again_when_it_is_old(host, monkeypatch):
    asked = "/-/setsearch/app/books.json?row=1&k=9"
    before = get(host, asked)[0].json()
    with sqlite3.connect(host) as connection:
        connection.execute("insert into books values (9, 'Jaguars', 'jaguar lion tiger savanna cat')")
        connection.execute("delete from books where id = 4")
    assert get(host, asked)[0].json() == before
    monkeypatch.setattr(table_copies, "SECONDS", 0.0)
    found = get(host, asked)[0].json()
    assert found["error"] is None
    after = {hit["item"] for hit in found["hits"]}
    assert "9" in after and "4" not in after


def test_what_has_no_copy_says_why(host, monkeypatch):
    off = {"plugins": {"setsearch": {"copies": False}}}
    denied = {"databases": {"app": {"tables": {"books": {"allow": {"id": "root"}}}}}}
    asked = "/-/setsearch/app/books.json?row=1"
    assert get(host, asked, config=denied)[0].status_code == 403
    turned_off, menu = get(host, asked, "/app/books", config=off)
    assert "books is not indexed; `setsearch index DB --table books --text COLUMN`" in turned_off.json()["error"]
    assert "Expand a set of rows" not in menu.text
    numbers, where = get(host, "/-/setsearch/app/numbers.json?row=1", f"{asked}&_where=id+>+2")
    assert "(a copy needs a key of one column, or rowids, and something that rows share)" in numbers.json()["error"]
    assert "_where is for indexed tables" in where.json()["error"]
    monkeypatch.setattr(table_copies, "SECONDS", 0.0)
    monkeypatch.setattr(table_copies, "MOST_ROWS", 3)
    assert "(it has more than 3 rows, too many for a copy)" in get(host, asked)[0].json()["error"]


def test_rows_that_cannot_be_copied_are_named_in_the_log(host, caplog):
    with sqlite3.connect(host) as connection:
        connection.execute("create table named (name text primary key, body text)")
        connection.executemany("insert into named values (?, ?)", [(title, body) for _, title, body in BOOKS])
        connection.execute("insert into named values (null, 'lion'), ('', 'tiger'), ('Cats', 'lion tiger in')")
    (found,) = get(host, "/-/setsearch/app/named.json?row=Lions&k=9")
    assert found.status_code == 200
    assert "Leopards" in {hit["item"] for hit in found.json()["hits"]}
    skipped = sorted(record.message for record in caplog.records if record.message.startswith("skipped"))
    assert len(skipped) == 2
    assert "rowid 6: the column 'name' is None" in skipped[0] and "rowid 7: the column 'name' is ''" in skipped[1]


def test_few_copies_are_kept(host, monkeypatch):
    monkeypatch.setattr(table_copies, "MOST_COPIES", 1)
    first, second, again = get(host, *(f"/-/setsearch/app/{name}.json?row=1" for name in ("books", "birds", "books")))
    assert [answer.status_code for answer in (first, second, again)] == [200, 200, 200]
    assert first.json()["hits"] == again.json()["hits"]
    assert len([*Path(tables._copies._folder.name).glob("*.db")]) == 1


@pytest.fixture
def server(database):
    """A Datasette process; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "datasette", str(database), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    for _ in range(int(patience(600))):
        try:
            urllib.request.urlopen(address).close()
            break
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    yield address
    process.terminate()
    process.wait()


@pytest.mark.long
@pytest.mark.skipif(CHROMIUM is None, reason=NEEDS_CHROMIUM)
def test_a_set_grows_in_chromium(server):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install setsearch[dev]")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=arguments)
        page = browser.new_page()
        page.set_default_timeout(patience(30) * 1000)
        playwright.expect.set_options(timeout=patience(30) * 1000)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{server}/app/big+cats~2Fetc")
        page.click("summary:has-text('Table actions'), .page-action-menu summary")
        page.click("text=Expand a set of rows")
        page.fill("label:has-text('Add a row') input", "Lions")
        page.click("input[value=Expand]")
        seeds = page.locator("ul.setsearch-seeds li")
        best = page.locator("table.setsearch-hits tbody tr:first-child td:nth-child(2) a")
        playwright.expect(best).to_have_text("Tigers")  # waits, as a click does not, for the page that is asked for
        page.click("[aria-label='Add 2 to the examples']")
        playwright.expect(seeds).to_have_text(["Lions ✕", "Tigers ✕"])
        playwright.expect(best).to_have_text("Leopards")
        page.click("[aria-label='Reject 4']")
        rejected = page.locator("ul.setsearch-rejected li")
        playwright.expect(rejected).to_have_text(["Leopards ✕"])
        page.click("[aria-label='Reject 4 no longer']")
        playwright.expect(rejected).to_have_count(0)
        playwright.expect(best).to_have_text("Leopards")
        page.click("[aria-label='Remove 1 from the examples']")
        playwright.expect(seeds).to_have_text(["Tigers ✕"])
        playwright.expect(best).to_have_text("Lions")
        best.click()
        page.wait_for_url("**/1")
        assert "Lions" in page.inner_text("table.rows-and-columns")
        page.go_back()
        page.click("text=json")
        page.wait_for_url("**.json**")
        assert json.loads(page.inner_text("body"))["ok"] is True
        assert errors == []
        browser.close()


def test_each_table_has_its_collection(tmp_path):
    path = make(tmp_path / "app.db")
    connection = sqlite3.connect(path)
    connection.execute("create table comments (id integer primary key, body text)")
    rows = [("good lion",), ("bad wheat",), ("lion lion",), ("the end",)]
    connection.executemany("insert into comments (body) values (?)", rows)
    connection.commit()
    setsearch.open(connection, collection="comments").add_table("comments", Columns(text="body"))
    connection.commit()
    page, comments = get(path, f"{TABLE}.json?row=1", "/-/setsearch/app/comments.json?row=1")
    assert {hit["title"] for hit in page.json()["hits"]} <= {row[1] for row in ROWS}
    assert {hit["item"] for hit in comments.json()["hits"]} <= {"2", "3", "4"}
    assert comments.json()["seeds"][0]["item"] == "1"
