"""Kills and full disks: after them, the database is as it was before a write, or as it is after it.

A child process writes for ever; the parent kills it, opens the database, and compares it with a plain model.
"""

import os
import random
import resource
import signal
import sqlite3
import time
from pathlib import Path

import setsearch
from setsearch.errors import SetsearchError
from setsearch.scoring import best as kernels
from setsearch.sqlite import connections, spill

WORDS = [f"w{n}" for n in range(40)]
State = dict[str, list[str]]  # documents
Sets = dict[str, tuple[str, ...]]


def text(rng):
    return [rng.choice(WORDS) for _ in range(rng.randint(1, 30))]


def step(state, number):
    """The next write: its kind, its arguments, and the documents that are there after it. The same for each call."""
    rng = random.Random(f"step {number}")
    kind = rng.choice(["add", "update", "update", "delete", "set", "vacuum", "replace", "refresh"])
    after = dict(state)
    if kind == "delete" and len(state) > 5:
        names = rng.sample(sorted(state), rng.randint(1, 4))
        for name in names:
            del after[name]
        return kind, names, after
    if kind in ("set", "vacuum", "refresh"):
        return kind, rng.sample(sorted(state), min(3, len(state))), after
    names = {f"d{rng.randint(0, 60)}" for _ in range(rng.randint(1, 8))}
    if kind == "replace":
        after = {name: text(rng) for name in sorted(names | {"d0", "d1", "d2"})}
        return kind, dict(after), after
    given = {name: text(rng) for name in sorted(names)}
    return "update", given, after | given


def write(path, kind, given, contexts):
    """Do one write with an index of its own."""
    with setsearch.open(path, create=True, timeout=10, contexts=contexts) as index:
        if kind == "vacuum":
            connection = sqlite3.connect(path)
            connection.execute("vacuum")
            connection.close()
        elif kind == "refresh":
            index.refresh("now")
        elif kind == "delete":
            index.delete(given)
        elif kind == "set":
            index.keep_set("kept", given, items="documents")
        else:
            getattr(index, kind)((name, " ".join(words)) for name, words in given.items())


def documents(path):
    """The documents of a database, as far as a bag of words tells."""
    with setsearch.open(path) as index:
        reading = index.items("documents")
        with reading.stored() as fields:
            names = fields.items.names()
        return {name: reading.features_of(name) for name in names}


def bags(state):
    return {name: {word: words.count(word) for word in sorted(set(words))} for name, words in state.items()}


def verify(path, states, contexts):
    """Which of the states the database is in; raises AssertionError for any other, and for one that is not sound."""
    held = documents(path)
    found = next((number for number, state in states.items() if bags(state) == held), None)
    assert found is not None, f"{path} is in none of the states {sorted(states)}"
    with setsearch.open(path) as index:
        assert index.check() == []
        connection = sqlite3.connect(":memory:")
        fresh = setsearch.open(connection, contexts=contexts)
        fresh.add((name, " ".join(words)) for name, words in states[found].items())
        seeds = sorted(states[found])[:2]
        for model in ("lift", "bernoulli"):
            ours = index.items("documents").expand(seeds, 99, keep_seeds=True, model=model)
            assert ours == fresh.items("documents").expand(seeds, 99, keep_seeds=True, model=model)
        if contexts == "on":  # derived by what was killed, or now
            present = set().union(*states[found].values())
            words = [word for word in WORDS if word in present][:3]
            assert index.items("terms").expand(words, 20, fresh="now") == fresh.items("terms").expand(words, 20)
        kept = index.set("kept", "documents") if "kept" in index.sets() else None
        assert kept is None or 1 <= len(kept.accepted) <= 3
        connection.close()
    return found


def begin(path, contexts):
    """The first documents of a process that writes, in which also the smallest arrays wait in files without a name."""
    spill.LEAST = 1
    state = {f"d{n}": text(random.Random(n)) for n in range(10)}
    with setsearch.open(path, create=True, contexts=contexts) as index:
        index.add((name, " ".join(words)) for name, words in state.items())
    return state


def child(path, log, state, number, prepare, contexts):
    """Write for ever, noting each step before it begins; never returns."""
    try:
        prepare()
        while True:
            kind, given, after = step(state, number)
            os.write(log, f"{number}\n".encode())
            write(path, kind, given, contexts)
            state, number = after, number + 1
    except (SetsearchError, sqlite3.OperationalError):  # the latter from our own vacuum
        os._exit(7)  # a full disk, which was said
    finally:
        os._exit(9)


def run_until_killed(path, state, number, prepare, after=None, contexts="off"):
    """Fork a writer, kill it `after` seconds if it has not ended by itself; the last step it began, and its status."""
    log = path.with_suffix(".log")
    file = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    pid = os.fork()
    if pid == 0:
        child(path, file, state, number, prepare, contexts)
    os.close(file)
    if after is not None:
        time.sleep(after)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    lines = log.read_text().split()
    return int(lines[-1]) if lines else None, status


def between_statements(rng):
    """Kill before the nth statement of the writer."""
    left = rng.randint(1, 400)

    def prepare():
        connect = connections.Connections._connect

        def traced(self):
            nonlocal left
            connection = connect(self)

            def count(statement):
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

            connection.set_trace_callback(count)
            return connection

        connections.Connections._connect = traced

    return prepare


def full_disk(rng, path):
    """No file, the log of SQLite's writes included, may be written beyond a size that is less than the database has."""
    most = rng.randint(33_000, max(path.stat().st_size, 34_000))

    def prepare():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return prepare


def torture(folder: Path, times: int, seed: int = 0, contexts: str = "off") -> dict[str, int]:
    """`times` kills at random moments, as many between statements, as many full disks: none may lose anything."""
    kernels.use_kernel("numpy")
    rng, path = random.Random(seed), folder / "crash.db"
    state, number = begin(path, contexts), 0
    found = {"kills": 0, "kills between statements": 0, "full disks": 0, "rolled back": 0, "completed": 0}
    for turn in range(3 * times):
        kind = list(found)[turn % 3]
        if kind == "kills":
            last, status = run_until_killed(
                path, state, number, lambda: None, after=rng.uniform(0, 0.25), contexts=contexts
            )
        elif kind == "full disks":
            last, status = run_until_killed(path, state, number, full_disk(rng, path), contexts=contexts)
            assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7, status
        else:
            last, status = run_until_killed(path, state, number, between_statements(rng), contexts=contexts)
            assert os.WIFSIGNALED(status), status
        found[kind] += 1
        states = {number: state}
        while last is not None and max(states) <= last:
            states[max(states) + 1] = step(states[max(states)], max(states))[2]
        reached = verify(path, {n: s for n, s in states.items() if n >= (last or number)}, contexts)
        found["completed" if last is None or reached > last else "rolled back"] += 1
        state, number = states[reached], max(states)  # a step that was rolled back is not tried again
    return found
