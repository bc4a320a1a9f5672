"""More like this in Whoosh: Whoosh's own, and ours over the same index. Results go to results/whoosh.json.

Whoosh takes 5, or 25, key terms of a document and asks for them by BM25F; ours ranks every document by all its terms.
"""

import argparse
import json
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from corpora import SHAPES, generate
from whoosh import fields, index, query
from whoosh.analysis import SpaceSeparatedTokenizer

from setsearch.integrations.whoosh import SetQuery, WhooshSets

RESULTS = Path(__file__).parent / "results" / "whoosh.json"


def timed(ask: Callable[[int], Any], docnums: list[int]) -> dict[str, float]:
    """Median and 99th percentile in milliseconds, after a first pass."""
    for docnum in docnums[:5]:
        ask(docnum)
    times = []
    for docnum in docnums:
        start = time.perf_counter()
        ask(docnum)
        times.append((time.perf_counter() - start) * 1000)
    return {"median_ms": statistics.median(times), "p99_ms": sorted(times)[int(len(times) * 0.99)]}


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(documents: int, queries: int, folder: Path) -> dict[str, Any]:
    """All figures for one size."""
    share = documents / SHAPES["A"].documents
    shape = replace(SHAPES["A"], documents=documents, entries=int(SHAPES["A"].entries * share))
    texts = generate(shape).texts()
    text = fields.TEXT(vector=True, analyzer=SpaceSeparatedTokenizer())
    made = index.create_in(folder, fields.Schema(id=fields.ID(stored=True, unique=True), part=fields.ID, text=text))

    def add(rows: list[tuple[str, str]]) -> None:
        writer = made.writer(limitmb=512)
        for number, (name, given) in enumerate(rows):
            writer.add_document(id=name, part=str(number % 10), text=given)
        writer.commit(merge=False)

    found: dict[str, Any] = {"documents": documents, "entries": shape.entries, "queries": queries}
    found["Whoosh builds, s"] = seconds(lambda: add(texts[:-100]))
    sets = WhooshSets(made, folder / "sets.db", id="id", fields="text")
    found["we take it over, s"] = seconds(sets.update)
    found["Whoosh adds 100, s"] = seconds(lambda: add(texts[-100:]))
    found["we take 100 over, s"] = seconds(sets.update)
    found["nothing to take over, s"] = seconds(sets.update)
    with made.searcher() as searcher:
        docnums = random.Random(1).sample(range(documents), queries)
        tenth = query.Term("part", "3")
        asks: dict[str, Callable[[int], Any]] = {
            "Whoosh key_terms, 5": lambda d: searcher.key_terms([d], "text", numterms=5),
            "Whoosh more_like, 5 terms": lambda d: searcher.more_like(d, "text", numterms=5),
            "Whoosh more_like, 25 terms": lambda d: searcher.more_like(d, "text", numterms=25),
            "ours: more_like, all terms": lambda d: sets.more_like(searcher, d),
            "Whoosh more_like, 5 terms, filter": lambda d: searcher.more_like(d, "text", numterms=5, filter=tenth),
            "ours: more_like, filter": lambda d: sets.more_like(searcher, d, filter=tenth),
            "ours: SetQuery of 3, every document": lambda d: searcher.search(
                SetQuery([texts[(d + i) % documents][0] for i in range(3)], sets), limit=10
            ),
            "ours: SetQuery of 3, k = 10": lambda d: searcher.search(
                SetQuery([texts[(d + i) % documents][0] for i in range(3)], sets, k=10), limit=10
            ),
        }
        found["latency"] = {name: timed(ask, docnums) for name, ask in asks.items()}
    sets.close()
    return found


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--queries", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(given.documents, given.queries, Path(folder))
    found["machine"] = f"{platform.machine()}, Python {platform.python_version()}"
    found["versions"] = {name: version(name) for name in ("whoosh", "setsearch", "numpy", "scipy")}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
