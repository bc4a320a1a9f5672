"""Many readers and two writers on one file: each answer is that of one revision, as a plain index gives it."""

import os
import random
import sqlite3
import threading
import time
from pathlib import Path

import setsearch
from setsearch.scoring import best as kernels

GENERATIONS = 24
SEEDS = ["d1", "d2"]
LEAST = 4  # answers of a reader and writes of a writer, however slow the machine is


def documents(generation):
    rng = random.Random(generation)
    return [(f"d{n}", [f"w{rng.randint(0, 30)}" for _ in range(rng.randint(3, 25))]) for n in range(40)]


def answers(index):
    """Everything that one question tells: bits of scores included."""
    return tuple((hit.item, hit.score) for hit in index.items("documents").expand(SEEDS, 99, explain=False).shared())


def oracle():
    found = set()
    for generation in range(GENERATIONS):
        connection = sqlite3.connect(":memory:")
        index = setsearch.open(connection)
        index.add(documents(generation))
        found.add(answers(index))
        connection.close()
    assert len(found) == GENERATIONS
    return found


def make_host(path):
    """A table of the host's with the generation that is stored."""
    host = sqlite3.connect(path)
    host.execute("create table host (generation integer)")
    host.execute("insert into host values (0)")
    host.commit()
    host.close()


def write_until(path, end, least=0):
    """Replace the documents by those of the next generation, in a transaction of the host's, and `least` times."""
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    index, written = setsearch.open(connection), 0
    while time.monotonic() < end or written < least:
        connection.execute("begin immediate")
        (generation,) = connection.execute("select generation from host").fetchone()
        index.update(documents((generation + 1) % GENERATIONS))
        connection.execute("update host set generation = ?", ((generation + 1) % GENERATIONS,))
        connection.execute("commit")
        written += 1
        time.sleep(0.01)
    connection.close()
    return written


def read_until(is_over, path, expected, index=None):
    """Ask again and again; how often, and the longest wait in seconds."""
    own = index or setsearch.open(path, timeout=60)
    read, longest = 0, 0.0
    while not is_over() or read < LEAST:
        start = time.monotonic()
        found = answers(own)
        longest = max(longest, time.monotonic() - start)
        assert found in expected, "an answer of no revision"
        read += 1
    return read, longest


def in_process(work):
    """Run in a forked process; a file descriptor with the result, and the pid."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(out)
        try:
            os.write(into, repr(work()).encode())
        except BaseException as error:
            os.write(into, repr(f"{type(error).__name__}: {error}").encode())
        finally:
            os._exit(0)
    os.close(into)
    return pid, out


def torture(folder: Path, seconds: float) -> dict[str, float]:
    """16 readers (8 processes, 8 threads that share an index) and 2 writers (a process, a thread)."""
    kernels.use_kernel("numpy")
    expected, path = oracle(), folder / "shared.db"
    with setsearch.open(path, create=True) as index:
        index.add(documents(0))
    make_host(path)
    end, written = time.monotonic() + seconds, [folder / "process", folder / "thread"]

    def write(done):
        try:
            return write_until(path, end, LEAST), 0.0
        finally:
            done.touch()

    def read(index=None):
        return read_until(lambda: all(done.exists() for done in written), path, expected, index)

    processes = [in_process(read) for _ in range(8)]
    processes.append(in_process(lambda: write(written[0])))
    results: list[object] = []

    def collect(work):
        try:
            results.append(work())
        except BaseException as error:
            results.append(f"{type(error).__name__}: {error}")

    with setsearch.open(path, timeout=60) as shared:
        works = [lambda: read(shared)] * 8 + [lambda: write(written[1])]
        threads = [threading.Thread(target=collect, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    outside = []
    for pid, out in processes:
        with os.fdopen(out) as file:
            outside.append(eval(file.read()))
        os.waitpid(pid, 0)
    told = [result for result in [*results, *outside] if isinstance(result, str)]
    assert not told, told
    writes = [outside.pop()[0]] + [r[0] for r in results if r[1] == 0.0]
    reads = [r for r in [*results, *outside] if r[1] > 0]
    with setsearch.open(path) as index:
        assert index.check() == []
        assert answers(index) in expected
    return {
        "seconds": seconds,
        "answers": sum(r[0] for r in reads),
        "writes": sum(writes),
        "wrong answers": 0,
        "longest wait of a reader, s": round(max(r[1] for r in reads), 3),
    }
