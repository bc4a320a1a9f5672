"""SQL that others wrote: conditions, full-text queries, tables and views that are slow, or never end."""

import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hosts import TEXTS, host
from patience import patience

import setsearch
from setsearch import Cancellation, Columns, Where, errors

ENDLESS = "exists (with recursive n(x) as (select 1 union all select x + 1 from n) select 1 from n where x < 0)"
SLOW_ROWS = "(with recursive n(x) as (select 1 union all select x + 1 from n limit 99999999) select sum(x) from n) > 0"
ENDLESS_VIEW = """
    create view endless as
    with recursive n(id) as (select 1 union all select id + 1 from n) select id, 'lion' as text from n
"""


@pytest.fixture(params=["path", "lent", "memory"])
def indexed(request, tmp_path):
    """An index of the host's table, in each way of opening it, with a short limit."""
    path = ":memory:" if request.param == "memory" else tmp_path / "app.db"
    connection = host(path)
    setsearch.open(connection).add_table("articles", TEXTS)
    connection.commit()
    index = setsearch.open(path if request.param == "path" else connection, time_limit=0.5)
    yield index
    index.close()
    connection.close()


@pytest.mark.parametrize("condition", [ENDLESS, SLOW_ROWS])
def test_a_condition_has_a_deadline(indexed, condition):
    reading = indexed.items("documents")
    start = time.monotonic()
    with pytest.raises(errors.TimeLimitExceeded, match=r"longer than 0\.5 seconds; `time_limit` may allow more"):
        reading.expand(["1"], among=Where(condition))
    assert time.monotonic() - start < patience(20)
    assert reading.expand(["1"], among=Where("year > 2000"))  # and nothing is left of it
    assert indexed.check() == []


@pytest.mark.parametrize("is_busy", [False, True])
def test_the_hosts_transaction_goes_on(tmp_path, is_busy):
    """After a limit, an open transaction of the host is still open, and what it wrote is there."""
    connection = host(tmp_path / "app.db")
    index = setsearch.open(connection, time_limit=0.1)
    index.add_table("articles", TEXTS)
    connection.commit()
    calls = []
    connection.set_progress_handler(lambda: calls.append(1) and None, 100)
    if is_busy:
        rows = connection.execute("select 1 from log, articles")
        rows.fetchone()
    connection.execute("insert into log values ('mine')")
    with pytest.raises(errors.TimeLimitExceeded):
        index.items("documents").expand(["1"], among=Where(ENDLESS))
    assert connection.in_transaction
    if is_busy:  # SQLite interrupts all that runs on the connection
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            rows.fetchall()
    calls.clear()
    time.sleep(0.1)  # nothing interrupts what the host does now
    assert connection.execute("select count(*) from log where what = 'mine'").fetchone() == (1,)
    connection.execute(
        "with recursive n(x) as (select 1 union all select x + 1 from n limit 9999) select * from n"
    ).fetchall()
    assert calls  # the host's own handler is in force
    assert index.items("documents").expand(["1"])
    connection.commit()
    assert not connection.in_transaction
    connection.close()


def test_a_full_text_query_has_a_deadline(indexed):
    """What a condition costs counts together with the full text."""
    with pytest.raises(errors.TimeLimitExceeded):
        indexed.items("documents").expand(["1"], among=Where(SLOW_ROWS, match="lion"))


@pytest.mark.long
def test_a_view_that_never_ends_is_refused(tmp_path):
    path = tmp_path / "app.db"
    connection = sqlite3.connect(path)
    connection.execute(ENDLESS_VIEW)
    connection.execute("create view good as select 1 as id, 'lion' as text union all select 2, 'lion tiger'")
    connection.commit()
    for place in (path, connection):
        index = setsearch.open(place, time_limit=0.2)
        with pytest.raises(errors.TimeLimitExceeded, match="reading endless takes longer than"):
            index.add_table("endless", Columns(), replace=True)
        assert index.add_table("good", Columns(), replace=True).written == 2
        connection.commit()
    connection.execute("drop view good")
    connection.execute(ENDLESS_VIEW.replace("endless", "good"))
    connection.commit()
    for place in (path, connection):
        index = setsearch.open(place, time_limit=0.2)
        with pytest.raises(errors.TimeLimitExceeded):
            index.refresh("now")
        assert index.items("documents").item_count() == 2
    connection.close()


@pytest.mark.long
def test_reading_a_table_takes_as_long_as_it_needs(tmp_path, monkeypatch):
    """A limit is for what SQLite does before the next rows come, not for a long table, nor for what we do with it."""
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.execute("create table t (id integer primary key, text)")
    connection.executemany("insert into t values (?, 'lion')", [(n,) for n in range(3000)])

    def slowly(items):
        for number, item in enumerate(items):
            time.sleep(0.5 * (number % 1000 == 0))
            yield item

    index = setsearch.open(connection, time_limit=1.0)
    assert index.add_table("t", Columns(), progress=slowly).written == 3000
    connection.close()


@pytest.mark.parametrize("place", ["path", "lent"])
def test_a_question_is_cancelled_from_another_thread(tmp_path, place):
    path = tmp_path / "app.db"
    connection = host(path)
    setsearch.open(connection).add_table("articles", TEXTS)
    connection.commit()
    index = setsearch.open(path if place == "path" else connection, time_limit=patience(60))
    stop = Cancellation()
    timer = threading.Timer(0.2, stop.cancel)
    timer.start()
    with stop, pytest.raises(errors.Cancelled):
        index.items("documents").expand(["1"], among=Where(ENDLESS))
    timer.join()
    with stop, pytest.raises(errors.Cancelled):
        index.items("documents").expand(["1"], among=Where("1"))
    assert index.items("documents").expand(["1"])
    index.close()
    connection.close()


@pytest.mark.long
def test_ctrl_c_stops_a_condition(tmp_path):
    path = tmp_path / "app.db"
    connection = host(path)
    setsearch.open(connection).add_table("articles", TEXTS)
    connection.commit()
    connection.close()
    command = [sys.executable, "-m", "setsearch", "expand", str(path), "1", "--items", "documents"]
    command += ["--where", ENDLESS, "--time-limit", "60"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(patience(2))
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=patience(30))[1] == "Error: stopped; nothing was changed\n"
    assert process.returncode == 130


def test_the_command_line_has_the_limit(run, failed, tmp_path):
    connection = host(tmp_path / "app.db")
    connection.execute(ENDLESS_VIEW)
    connection.commit()
    connection.close()
    failed(run("index", "app.db", "--table", "endless", "--time-limit", "0.2"), 1, "reading endless", "--time-limit")
    failed(run("index", "new.db", "app.db", "--table", "endless", "--time-limit", "0.2"), 1, "--time-limit")
    assert run("index", "app.db", "--table", "articles", "--text", "body")[0] == 0
    failed(run("expand", "app.db", "1", "--items", "documents", "--where", ENDLESS, "--time-limit", "0.2"), 1, "longer")
    assert run("info", "app.db", "--time-limit", "5")[0] == 0
    for wrong in (0, -1, "5", None, True, float("nan")):
        with pytest.raises(errors.InvalidParameter, match=f"time limit must .* not {wrong!r}"):
            setsearch.open(tmp_path / "app.db", time_limit=wrong)
        if wrong != 0:
            with pytest.raises(errors.InvalidParameter, match=f"timeout must .* not {wrong!r}"):
                setsearch.open(tmp_path / "app.db", timeout=wrong)
    assert setsearch.open(tmp_path / "app.db", timeout=np.int64(0), time_limit=np.float32(1)).info()
