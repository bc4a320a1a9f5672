"""Hosts that write, ask and roll back in their own transactions, in threads, beside another process that writes.

Within them are savepoints, of saved sets and prices, which are rolled back or not by themselves.

Whoever closes a file ends all locks that the process has on it: then two transactions write at once, and one is lost.
"""

import os
import random
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

from concurrency import in_process

import setsearch
from setsearch import Columns

HOSTS, THREADS = 2, 3
LEAST = 4  # transactions of a thread, however slow the machine is
ROWS = 100
WORDS = "lion tiger wolf bear cat fox dog eagle hawk owl wheat rye".split()
COLUMNS = Columns(text="body", keep=("price",))
DEAR = ["price > 50"]
JOURNALS = ("wal", "delete", "persist")


def text(rng: random.Random) -> str:
    """The text of a row."""
    return " ".join(rng.choices(WORDS, k=14))


def make(path: Path, journal: str) -> None:
    """A table that is followed, and a count of the transactions that were committed."""
    rng, host = random.Random(0), sqlite3.connect(path, isolation_level=None)
    host.execute(f"pragma journal_mode = {journal}")
    host.execute("create table count (n integer)")
    host.execute("insert into count values (0)")
    host.execute("create table kept (name text primary key)")
    host.execute("create table article (id integer primary key, body text, price integer)")
    host.executemany("insert into article values (?, ?, ?)", [(n, text(rng), n) for n in range(ROWS)])
    index = setsearch.open(host, contexts="on")
    index.add_table("article", COLUMNS, track=True)
    index.refresh("now")
    host.close()


def transaction(host: sqlite3.Connection, rng: random.Random) -> str:
    """One transaction of a host; what became of it."""
    host.execute("begin immediate")
    index = setsearch.open(host)
    documents = index.items("documents")
    documents.expand([1, 2], 5)
    host.execute("update count set n = n + 1")
    host.execute("insert or replace into article values (?, ?, 60)", (rng.randrange(ROWS), text(rng)))
    index.refresh()
    save(host, index, rng)
    documents.expand([1, 3], 5)
    index.items("terms").expand(["lion"], 5, fresh=rng.choice([None, None, None, "now"]))
    end = rng.choice(["committed", "committed", "committed", "rolled back"])
    host.execute("commit" if end == "committed" else "rollback")
    return end


def save(host: sqlite3.Connection, index: setsearch.Index, rng: random.Random) -> None:
    """A savepoint with a set, which the host notes, and a price."""
    host.execute("savepoint own")
    name = f"set {rng.randrange(30)}"
    index.keep_set(name, rng.sample(range(ROWS), 3), items="documents")
    host.execute("insert or replace into kept values (?)", (name,))
    host.execute("update article set price = ? where id = ?", (rng.randrange(ROWS), rng.randrange(ROWS)))
    index.refresh()
    index.set(name).expand(5, filter=DEAR)
    if rng.random() < 0.5:
        host.execute("rollback to own")
    host.execute("release own")


def host_until(path: Path, end: float, seed: int) -> dict[str, int]:
    """Transactions in some threads, each with a connection, which it opens anew now and then."""
    counts = Counter[str]()

    def work(number: int) -> None:
        rng, host, done = random.Random(10 * seed + number), None, 0
        while time.monotonic() < end or done < LEAST:
            if host is None or rng.random() < 0.2:
                if host is not None:
                    host.close()
                host = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                counts[transaction(host, rng)] += 1
            except Exception as error:
                counts[f"{type(error).__name__}: {error}"] += 1
                if host.in_transaction:
                    host.execute("rollback")
            done += 1
            time.sleep(0.05 * rng.random())  # SQLite's locks are not fair
        if host is not None:
            host.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return dict(counts)


def update_until(path: Path, end: float) -> dict[str, int]:
    """Another process by the path: it writes a relation, derives and asks."""
    rng, done = random.Random(1), 0
    while time.monotonic() < end or done < LEAST:
        with setsearch.open(path, timeout=60) as index:
            index.update([(f"n{rng.randrange(60)}", text(rng).split())], ("notes", "words"))
            index.refresh("now")
            index.items("documents").expand([1], 5)
        done += 1
    return {"written beside": done}


def torture(folder: Path, seconds: float) -> dict[str, int]:
    """`seconds` with each journal mode: all that was committed is there, and the answers are those of a new index."""
    total = Counter[str]()
    for journal in JOURNALS:
        path, found = folder / f"{journal}.db", Counter[str]()
        make(path, journal)
        end = time.monotonic() + seconds / len(JOURNALS)
        processes = [in_process(lambda end=end, path=path, n=n: host_until(path, end, n)) for n in range(HOSTS)]
        processes.append(in_process(lambda end=end, path=path: update_until(path, end)))
        for pid, out in processes:
            with os.fdopen(out) as file:
                told = eval(file.read())
            os.waitpid(pid, 0)
            assert isinstance(told, dict), told
            found.update(told)
        assert {*found} <= {"committed", "rolled back", "written beside"}, found
        host = sqlite3.connect(path)
        assert host.execute("select n from count").fetchone() == (found["committed"],), "a transaction is lost"
        assert host.execute("pragma integrity_check").fetchall() == [("ok",)]
        _compare(path, host.execute("select * from article").fetchall(), host.execute("select * from kept").fetchall())
        host.close()
        total.update(found)
    return dict(total)


def _compare(path: Path, rows: list[tuple[int, str, int]], kept: list[tuple[str]]) -> None:
    """With an index of these rows alone, and with the names of the sets."""
    other = sqlite3.connect(":memory:", isolation_level=None)
    other.execute("create table article (id integer primary key, body text, price integer)")
    other.executemany("insert into article values (?, ?, ?)", rows)
    fresh = setsearch.open(other, contexts="on")
    fresh.add_table("article", COLUMNS)
    with setsearch.open(path) as index:
        index.refresh("now")
        assert index.check() == []
        assert sorted(index.sets()) == sorted(name for (name,) in kept)
        for items, seeds, how in (
            ("documents", [1, 2], {}),
            ("documents", [1, 2], {"filter": DEAR}),
            ("terms", ["lion", "cat"], {}),
        ):
            found = [own.items(items).expand(seeds, ROWS, fresh="now", **how) for own in (index, fresh)]
            assert [(hit.item, hit.score) for hit in found[0]] == [(hit.item, hit.score) for hit in found[1]]
    other.close()
