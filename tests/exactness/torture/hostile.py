"""A stranger's file whose numbers are others, under right checksums: it costs what its size allows, and a line.

python tests/exactness/torture/hostile.py FOLDER [COLUMN...]     columns as TABLE.NAME; by default all of our tables
Writes a line for each question that fails with anything but a SetsearchError, takes long, or takes much memory.
"""

import json
import os
import resource
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import damage

import setsearch
from setsearch.sqlite.integrity import Seal

NUMBERS = (0, -1, 1 << 31, (1 << 63) - 1)
ROOM, MOST_GROWN = 700 << 20, 120 << 20  # bytes: that a process may take more than now, and should
SECONDS = 20  # of CPU for all questions
COLLECTION = ("documents", "terms")


def main() -> None:
    """Ask each file in a process of its own."""
    folder, wanted = Path(sys.argv[1]), sys.argv[2:]
    path = folder / "hostile.db"
    damage.make(path)
    data = path.read_bytes()
    usual, problems = apart(path)
    assert not problems, problems
    for table, column in integers(path) if not wanted else [name.split(".") for name in wanted]:
        for number in NUMBERS:
            for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                name.unlink(missing_ok=True)
            path.write_bytes(data)
            if not put(path, table, column, number):
                continue
            peak, problems = apart(path)
            if peak > usual + MOST_GROWN:
                problems.append(f"took {peak >> 20} MB, usually {usual >> 20}")
            for problem in problems:
                print(f"{table}.{column} = {number}: {problem}", flush=True)


def integers(path: Path) -> Iterator[tuple[str, str]]:
    """The columns of numbers of our tables."""
    connection = sqlite3.connect(path)
    tables = connection.execute("select name from sqlite_master where type = 'table' and name like 'setsearch%'")
    for (table,) in tables.fetchall():
        for _, name, kind, *_ in connection.execute(f"pragma table_info({table})").fetchall():
            if kind.lower() in ("integer", "real", "any"):
                yield table, name
    connection.close()


def put(path: Path, table: str, column: str, number: int) -> bool:
    """Put a number in place of the first one, with the right checksum; False where none can be."""
    connection = sqlite3.connect(path)
    connection.execute("pragma foreign_keys = off")
    row = connection.execute(f"select {column} from {table} where {column} is not null limit 1").fetchone()
    try:
        if row is not None:
            connection.execute(f"update or ignore {table} set {column} = ? where {column} = ?", (number, *row))
            Seal(connection.cursor()).write()
            Seal(connection.cursor()).accept_sums()
            connection.commit()
    except sqlite3.IntegrityError:
        row = None
    connection.close()
    return row is not None


def apart(path: Path) -> tuple[int, list[str]]:
    """Ask in a process with limits: the most memory that it took, in bytes, and the problems."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + ROOM, size + ROOM))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        problems = [*ask(path)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        os.write(writer, json.dumps([peak, problems]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        told = file.read()
    _, status = os.waitpid(process, 0)
    return tuple(json.loads(told)) if told else (0, [f"the process ended with {status}"])


def ask(path: Path) -> Iterator[str]:
    """Each question by itself, on the file opened anew; tells those that fail in another way than by a line."""
    questions: dict[str, Callable[[setsearch.Index], object]] = {
        "check": lambda index: index.check(),
        "info": lambda index: index.info(),
        "documents": lambda index: index.items("documents").expand(["d1"], 5),
        "terms": lambda index: index.items("terms").expand(["lion"], 5),
        "films": lambda index: index.items("film").expand(["film1"], 5),
        "numbers": lambda index: index.numbers("body").expand(["x1"], 5),
        "refresh": lambda index: index.refresh("now"),
        "update": lambda index: index.update([("new", "a lion and a tiger")], COLLECTION),
        "documents again": lambda index: index.items("documents").expand(["d2"], 5),
        "sets": lambda index: index.set("cats").accepted,
        "delete": lambda index: index.delete(["d3"], COLLECTION),
        "repair": lambda index: index.repair(),
    }
    for name, question in questions.items():
        started = time.process_time()
        try:
            with setsearch.open(path, language="english", contexts="on") as index:
                question(index)
        except setsearch.SetsearchError:
            pass
        except BaseException as error:  # whatever it is
            yield f"{name} fails: {type(error).__name__}: {error}"
        if time.process_time() - started > SECONDS / 4:
            yield f"{name} takes long"


if __name__ == "__main__":
    main()
