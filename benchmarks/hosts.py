"""What a question costs inside the applications of docs/integrations.md: new sets of three documents each.

    python benchmarks/hosts.py TEXTS.jsonl(.gz)

Each host that is installed is asked 100 sets after 100 others, in one process but for the server of the assistant;
milliseconds, median and 90th percentile. What is no question is timed once.
"""

import argparse
import asyncio
import gzip
import json
import os
import platform
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sqlite_utils

import setsearch
from setsearch import Columns

RESULTS = Path(__file__).parent / "results" / "hosts.json"
SETS, WARM, SEEDS, CANDIDATES, DIMENSIONS = 100, 100, 3, 100, 384

Seeds = list[str]


class Sets:
    """New sets of some documents, each time that they are gone through."""

    def __init__(self, ids: Seeds) -> None:
        self.ids, self.random = ids, random.Random()

    def __iter__(self) -> Iterator[Seeds]:
        for _ in range(WARM + SETS):
            yield self.random.sample(self.ids, SEEDS)


def timed(ask: Callable[[Seeds], Any], sets: Sets) -> dict[str, float]:
    """Ask all sets."""
    spent = []
    for seeds in sets:
        begin = time.perf_counter()
        ask(seeds)
        spent.append(time.perf_counter() - begin)
    return summary(spent)


async def timed_there(ask: Callable[[Seeds], Awaitable[Any]], sets: Sets) -> dict[str, float]:
    """Ask all sets of what answers later."""
    spent = []
    for seeds in sets:
        begin = time.perf_counter()
        await ask(seeds)
        spent.append(time.perf_counter() - begin)
    return summary(spent)


def summary(spent: list[float]) -> dict[str, float]:
    """Milliseconds of all but the first ones."""
    own = sorted(spent[WARM:])
    found = {"median": statistics.median(own), "90 %": own[len(own) * 9 // 10]}
    return {name: round(1000 * seconds, 2) for name, seconds in found.items()}


def texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """(id, title, text) of each line."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            row = json.loads(line)
            yield number, str(row.get("title") or row.get("id") or number), row["text"]


def in_sqlite(path: Path, sets: Sets) -> Iterator[tuple[str, dict[str, float]]]:
    """The library, its SQL functions, and sqlite-utils."""
    with setsearch.open(path) as index:
        documents = index.items("documents")
        for _ in range(10):
            timed(documents.expand, sets)  # the file's first questions read lists for the process
        yield "library: expand", timed(documents.expand, sets)
        yield (
            "hits of another engine: rank 100",
            timed(lambda own: documents.rank(sets.random.sample(sets.ids, CANDIDATES), own), sets),
        )
        yield "query of 100 features for another engine", timed(lambda own: documents.query(own, 100), sets)
    connection = sqlite3.connect(path)
    setsearch.register(connection)
    statement = "select setsearch_expand(?, 10, 'documents')"
    yield "SQL: setsearch_expand", timed(lambda own: connection.execute(statement, (json.dumps(own),)).fetchall(), sets)
    table: Any = sqlite_utils.Database(path)["entries"]
    yield "sqlite-utils: a table's expand", timed(lambda own: table.expand(own, k=10), sets)


def in_datasette(path: Path, sets: Sets) -> Iterator[tuple[str, dict[str, float]]]:
    """Requests within the process, answered as JSON with passages; and one for a row alone."""
    from datasette.app import Datasette

    async def run() -> list[tuple[str, dict[str, float]]]:
        served = Datasette([str(path)])
        await served.invoke_startup()

        async def ask(address: str) -> None:
            answer = await served.client.get(address)
            assert answer.status_code == 200, answer.text

        page = "/-/setsearch/app/entries.json?"
        return [
            ("Datasette: a row alone", await timed_there(lambda own: ask(f"/app/entries/{own[0]}.json"), sets)),
            (
                "Datasette: the page",
                await timed_there(lambda own: ask(page + "&".join(f"row={id}" for id in own)), sets),
            ),
        ]

    yield from asyncio.run(run())


def in_assistants(path: Path, sets: Sets) -> Iterator[tuple[str, dict[str, float]]]:
    """Calls of a tool of the server, a process of its own, with passages."""
    from mcp import StdioServerParameters
    from mcp.client.session import ClientSession
    from mcp.client.stdio import stdio_client

    async def run() -> dict[str, float]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "setsearch", "mcp", str(path)])
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            return await timed_there(
                lambda own: session.call_tool("expand", {"seeds": own, "items": "documents"}), sets
            )

    yield "assistants: the tool expand", asyncio.run(run())


def in_retrievers(path: Path, sets: Sets) -> Iterator[tuple[str, dict[str, float]]]:
    """The examples for LangChain and LlamaIndex, with passages."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
    from retrievers import SetNodeRetriever, SetRetriever

    with setsearch.open(path) as index:
        yield "LangChain", timed(lambda own: SetRetriever(index=index, examples=tuple(own), k=10).invoke(""), sets)
        yield "LlamaIndex", timed(lambda own: SetNodeRetriever(index, tuple(own), 10).retrieve(""), sets)


def with_vectors(path: Path, ids: Seeds) -> Iterator[tuple[str, dict[str, float]]]:
    """The vectors of a table of sqlite-vec become vectors of the documents."""
    import pysqlite3
    import sqlite_vec

    connection = pysqlite3.connect(path)
    connection.enable_load_extension(True)
    sqlite_vec.load(connection)
    connection.execute(f"create virtual table near using vec0(id text primary key, vector float[{DIMENSIONS}])")
    matrix = np.random.default_rng(1).normal(size=(len(ids), DIMENSIONS)).astype("<f4")
    connection.executemany("insert into near values (?, ?)", zip(ids, map(bytes, matrix), strict=True))
    connection.commit()
    with setsearch.open(path) as index:
        begin = time.perf_counter()
        names, vectors = zip(*connection.execute("select id, vector from near"), strict=True)
        index.add_vectors(names, vectors)
        yield f"sqlite-vec: {len(ids):,} vectors, s", {"once": round(time.perf_counter() - begin, 2)}


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    given = parser.parse_args()
    found: dict[str, Any] = {
        "version": setsearch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "data": given.texts.name,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "app.db"
        connection = sqlite3.connect(path)
        connection.execute("create table entries (id integer primary key, title text, text text)")
        connection.executemany("insert into entries values (?, ?, ?)", texts(given.texts))
        connection.commit()
        with setsearch.open(connection, contexts="off") as index:
            index.add_table("entries", Columns(text=("title", "text"), title="title"))
        connection.commit()
        ids = [str(id) for (id,) in connection.execute("select id from entries")]
        connection.close()
        sets = Sets(ids)
        hosts = (
            in_sqlite(path, sets),
            in_datasette(path, sets),
            in_assistants(path, sets),
            in_retrievers(path, sets),
            with_vectors(path, ids),
        )
        for host in hosts:
            try:
                for label, figures in host:
                    found[label] = figures
                    print(label, figures, flush=True)
            except ImportError as error:
                print(f"left out: {error}")
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
