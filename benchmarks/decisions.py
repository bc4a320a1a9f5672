"""What one decision of a review takes, by the number of records and of decisions made before.

    python benchmarks/decisions.py NAME FILE.jsonl.gz ...

Files have id, title and text. Each question is asked once: new marks are drawn for it. Adds to results/decisions.json.
"""

import gzip
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import setsearch

RESULTS = Path(__file__).parent / "results" / "decisions.json"
MARKS = ((5, 20), (30, 200), (60, 900))
TIMES = 15


def main() -> None:
    name, paths = sys.argv[1], sys.argv[2:]
    how: dict[str, Any] = {"language": "english", "analyzer": "unicode+pairs+titles", "contexts": "off"}
    with tempfile.TemporaryDirectory() as place:
        with setsearch.open(f"{place}/a.db", create=True, **how) as index:
            index.add(chain.from_iterable(map(records, paths)))
            index.refresh("now")
        found: dict[str, Any] = {}
        for kernel in ("core", "numpy"):
            setsearch.use_kernel(kernel)
            with setsearch.open(f"{place}/a.db") as index:  # opened anew: a kernel must not find what another one read
                number, times = decisions(index)
            found |= {f"{kernel}, {marks}": figures for marks, figures in times.items()}
            print(name, number, kernel, times)
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    versions = {"python": platform.python_version(), "setsearch": setsearch.__version__, "numpy": np.__version__}
    kept[name] = {"records": number, "decisions": found, "versions": versions, "cpus": os.cpu_count()}
    RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def records(path: str) -> Iterator[tuple[str, str, None]]:
    """The records of one file, as `Index.add` takes them."""
    with gzip.open(path, "rt") as file:
        for number, row in enumerate(map(json.loads, file)):
            yield f"{path} {number} {row['id']}", f"{row.get('title') or ''}\n{row['text']}", None


def decisions(index: setsearch.Index) -> tuple[int, dict[str, Any]]:
    """How many records there are, and the milliseconds of a decision by the number of marks."""
    documents, chance = index.items("documents"), random.Random(0)
    found: dict[str, Any] = {}
    with documents.stored() as fields:
        names = [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]
    for accepted, rejected in MARKS:
        seconds = []
        for _ in range(TIMES + 3):  # the first ones read what the process has not seen yet
            marked = chance.sample(names, accepted + rejected)
            started = time.perf_counter()
            documents.expand(marked[:accepted], 1, exclude=marked[accepted:], explain=True, feedback=0)
            seconds.append(time.perf_counter() - started)
        times = [statistics.median(seconds[3:]), min(seconds[3:]), max(seconds[3:])]
        found[f"{accepted} + {rejected}"] = {
            "ms": [round(1000 * x, 1) for x in times],
            "first ms": round(1000 * seconds[0], 1),
        }
    return len(names), found


if __name__ == "__main__":
    main()
