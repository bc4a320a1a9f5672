"""Kills, power cuts and full disks beside saved sets, prices and tables: all that is stored is what is left without.

A child process does steps that depend on the file alone, until something ends it. Then a copy of the file from before
does the same steps: each state that it goes through, from commit to commit, is one that may be left, and no other.

    python replayed.py write PATH STEPS CONTEXTS     the writer of power cuts
"""

import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import power
from crash import between_statements, full_disk, text

import setsearch
from setsearch import Columns
from setsearch.errors import QueryError, SetsearchError
from setsearch.scoring import best as kernels
from setsearch.sqlite import connections

ROWS, MOST_ROWS = 40, 60
SETS = 60  # of an import, in one transaction
SIGNALS = {"kills": signal.SIGKILL, "ends asked for": signal.SIGTERM, "interrupts": signal.SIGINT}
ENDS = (*SIGNALS, "kills between statements", "full disks")
# All that is stored, without random stamps, moments, and what may be derived again.
STORED = (
    "* from article order by id",
    'name, items, revision, "group", exclusive, under from setsearch_set order by name',
    "name, item, accepted, number, round, score, chance, over from setsearch_member order by name, item",
    "* from setsearch_name order by kind, id",
    "id, revision, fields from setsearch_relation order by id",
    "* from setsearch_forward order by relation, first",
    "* from setsearch_feature order by relation, feature",
    "* from setsearch_text order by relation, first",
    "* from setsearch_columns order by relation, item",
    "relation, key from setsearch_change order by relation, key",
)


def make(path):
    """A table that is followed with titles and prices, and a few sets of its rows that exclude one another."""
    rng = random.Random(0)
    with closing(sqlite3.connect(path)) as host:
        host.execute("pragma journal_mode = wal")
        host.execute("create table article (id integer primary key, title, body, price)")
        rows = [(n, f"title {n}", " ".join(text(rng)), n) for n in range(1, ROWS + 1)]
        host.executemany("insert into article values (?, ?, ?, ?)", rows)
        host.commit()
    with setsearch.open(path) as index:
        index.add_table("article", Columns(title="title", text="body", keep=("price",)), track=True)
        for name, first in (("one", 1), ("two", 11)):
            index.keep_set(name, [first, first + 1, first + 2], items="documents", group="kinds")
        index.group("kinds", exclusive=True)


def change_rows(path, rng, kind):
    """Let the host write."""
    ids = rng.sample(range(1, MOST_ROWS + 1), rng.randint(1, 6))
    with closing(sqlite3.connect(path, timeout=10)) as host, host:
        for id in ids:
            if kind == "price":
                host.execute("update article set price = ? where id = ?", (rng.randint(0, 99), id))
            elif kind == "title":
                host.execute("update article set title = ? where id = ?", (f"title {rng.random()}", id))
            elif rng.random() < 0.2:
                host.execute("delete from article where id = ?", (id,))
            else:
                row = id, f"title {id}", " ".join(text(rng)), id
                host.execute("insert or replace into article values (?, ?, ?, ?)", row)


def imported(rng, known):
    """Rows of many sets, each with some of the items."""
    rows = []
    for number in range(SETS):
        items = rng.sample(known, 4)
        rows.append({"name": f"set {number}", "items": "documents", "accepted": items[:3], "rejected": items[3:]})
    return rows


def step(path, number):
    """The next write; the same for the same file."""
    rng = random.Random(f"step {number}")
    kind = rng.choice("text price title import accept inbox grow rename delete derive all".split())
    if kind in ("text", "price", "title"):
        change_rows(path, rng, kind)
    with setsearch.open(path, timeout=10) as index:
        documents = index.items("documents")
        if kind == "import":
            with documents.stored() as fields:
                names = sorted(fields.items.names())
            index.import_sets(imported(rng, names), replace=True)
        elif kind == "accept":
            own = index.set(rng.choice(sorted(index.sets())), "documents")
            (own.accept if rng.random() < 0.7 else own.reject)(rng.randint(1, ROWS))
            own.save()
        elif kind == "inbox":
            found = index.inbox()
            found.decide(accept=found[:2], reject=found[2:3])
            found.done()
        elif kind == "grow":
            index.grow(group="kinds", rounds=index.growth(group="kinds").last + 3, each=2, precision=0.5, accept=True)
        elif kind == "rename":
            index.rename_set(rng.choice(sorted(index.sets())), f"name {number}")
        elif kind == "delete":
            index.delete_set(rng.choice(sorted(index.sets().keys() - {"one", "two"})))
        elif kind == "all":
            index.add_table("article", Columns(title="title", text="body", keep=("price",)), track=True, replace=True)
        else:
            index.refresh("now" if kind == "derive" else None)


def try_step(path, number):
    """A step, which may be one that cannot be: of a set that is gone, or too small."""
    with suppress(QueryError, IndexError):
        step(path, number)


def state(path):
    """All that is stored."""
    with closing(sqlite3.connect(path, timeout=10)) as connection:
        return [connection.execute(f"select {what}").fetchall() for what in STORED]


def trace(statement):
    """Call a function at each statement of ours, from now on."""
    connect = connections.Connections._connect

    def traced(self):
        connection = connect(self)
        connection.set_trace_callback(statement)
        return connection

    connections.Connections._connect = traced
    return connect


def replay(path, first, last):
    """The states of a file that goes from step to step, each with its step; the first one is of the step before."""
    states, at = [(first - 1, state(path))], first
    with closing(sqlite3.connect(path)) as watch:
        seen = watch.execute("pragma data_version").fetchone()

        def look(_=None):
            nonlocal seen
            now = watch.execute("pragma data_version").fetchone()
            if now != seen:
                seen = now
                states.append((at, state(path)))

        connect = trace(look)
        try:
            for at in range(first, last + 1):
                try_step(path, at)
                look()
        finally:
            connections.Connections._connect = connect
    return states


def child(path, log, number, prepare):
    """Step on for ever, noting each step before it begins; never returns."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        prepare()
        while True:
            os.write(log, f"{number}\n".encode())
            try_step(path, number)
            number += 1
    except (SetsearchError, sqlite3.OperationalError) as error:  # the latter from the host
        os.write(log, f"{error!r}\n".encode())
        os._exit(7)  # a full disk, which was said
    except KeyboardInterrupt:
        os._exit(8)
    finally:
        os._exit(9)


def run_until_ended(path, number, end, rng):
    """Fork a writer that goes on from a step, and end it; the last step that it began, its status, what it said."""
    log = path.with_suffix(".log")
    file = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    prepare = {"kills between statements": between_statements(rng), "full disks": full_disk(rng, path)}
    pid = os.fork()
    if pid == 0:
        child(path, file, number, prepare.get(end, lambda: None))
    os.close(file)
    if end not in prepare:
        time.sleep(rng.uniform(0, 0.4))
        os.kill(pid, SIGNALS[end])
    ended, status = 0, 0
    while not ended:
        ended, status = os.waitpid(pid, os.WNOHANG if end == "interrupts" else 0)
        if not ended:  # again, as impatient people do; Python forgets one that comes while it forgets an object
            time.sleep(rng.uniform(0, 0.005))
            os.kill(pid, signal.SIGINT)
    lines = log.read_text().splitlines()
    begun = [int(line) for line in lines if line.isdigit()]
    return begun[-1] if begun else None, status, lines[-1] if lines else ""


def as_expected(end, status):
    """Whether this is how a process ends, which may be interrupted before it can say so."""
    if end == "full disks":
        return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7
    if end == "interrupts":
        return (os.WIFEXITED(status) and os.WEXITSTATUS(status) in (8, 9)) or os.WIFSIGNALED(status)
    return os.WIFSIGNALED(status)


def compare(path, reader):
    """A process that was there before, one that comes now, and an index of the rows alone tell the same."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as other, setsearch.open(path) as index:
        assert index.check() == []
        index.refresh()
        host = sqlite3.connect(path)
        rows = host.execute("select * from article").fetchall()
        host.close()
        other.execute("create table article (id integer primary key, title, body, price)")
        other.executemany("insert into article values (?, ?, ?, ?)", rows)
        fresh = setsearch.open(other)
        fresh.add_table("article", Columns(title="title", text="body", keep=("price",)))
        seeds = [row[0] for row in rows[:2]]
        for options in ({}, {"filter": ["price > 20"]}, {"model": "bernoulli"}):
            told = [own.items("documents").expand(seeds, MOST_ROWS, **options) for own in (index, reader, fresh)]
            first, *others = ([(hit.item, hit.score, hit.title) for hit in hits] for hits in told)
            assert others == [first, first], options
        assert [*index.export()] == [*reader.export()]


def torture(folder: Path, times: int, seed: int = 0) -> dict[str, int]:
    """`times` ends of each kind, none of which may leave anything that the steps do not."""
    kernels.use_kernel("numpy")
    rng, path, copy = random.Random(seed), folder / "replayed.db", folder / "copy.db"
    make(path)
    number, found = 0, Counter[str](dict.fromkeys([*ENDS, "completed", "rolled back"], 0))
    with setsearch.open(path) as reader:
        for turn in range(times * len(ENDS)):
            end = ENDS[turn % len(ENDS)]
            with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
                source.backup(target)
            last, status, said = run_until_ended(path, number, end, rng)
            # Another process may have the number of a killed one, which seems to grow sets still.
            assert as_expected(end, status) or "grows already" in said, (end, status, said)
            states, left = replay(copy, number, number - 1 if last is None else last), state(path)
            allowed = [own for at, own in states if at == states[-1][0]] or [states[0][1]]
            before = [own for at, own in states if at < states[-1][0]][-1:]
            assert left in [*before, *allowed], (end, last, _different(left, [*before, *allowed]))
            found[end] += 1
            found["completed" if left == states[-1][1] else "rolled back"] += 1
            compare(path, reader)
            number = number if last is None else last + 1
    return dict(found) | {"steps": number}


def _different(left, states):
    return [
        [(what, now[:3], was[:3]) for what, now, was in zip(STORED, left, own, strict=True) if now != was]
        for own in states[-1:]
    ]


def write(path: Path, steps: int) -> None:
    """Do the steps, and count those that ended, from 0 on, which is the table's beginning."""
    kernels.use_kernel("numpy")
    done = os.open(path.with_name(power.DONE), os.O_WRONLY | os.O_CREAT)
    make(path)
    os.write(done, b".")
    for number in range(steps):
        try_step(path, number)
        os.write(done, b".")


def cut(folder: Path, times: int, seed: int = 0, steps: int = 40) -> dict[str, int]:
    """`times` power cuts at random moments of a process that does `steps`: none may lose a write that had ended."""
    notes, rng = power.record(folder, steps, "", __file__), random.Random(seed)
    kernels.use_kernel("numpy")
    whole, place = folder / "whole.db", folder / "after"
    make(whole)
    states = replay(whole, 0, steps - 1)
    place.mkdir()
    path, found = place / "power.db", Counter[str]()
    for ended, files in power.cuts(notes, os.fsencode(folder / "files"), times, rng):
        power.put(files, place)
        if ended:
            before = [own for at, own in states if at < ended - 1][-1:]
            left, during = state(path), [own for at, own in states if at == ended - 1]
            assert left in [*before, *during], (ended, _different(left, [*before, *during]))
            with setsearch.open(path) as reader:
                compare(path, reader)
        found["cuts" if ended else "cuts of a file that is made"] += 1
    return dict(found)


if __name__ == "__main__":
    write(Path(sys.argv[2]), int(sys.argv[3]))
