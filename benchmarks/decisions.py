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
from pathlib import Path

import numpy as np

import setsearch

RESULTS = Path(__file__).parent / "results" / "decisions.json"
MARKS = ((5, 20), (30, 200), (60, 900))
TIMES = 15


def main() -> None:
    name, paths = sys.argv[1], sys.argv[2:]
    how = {"language": "english", "analyzer": "unicode+pairs+titles", "contexts": "off"}
    with tempfile.TemporaryDirectory() as place, setsearch.open(f"{place}/a.db", create=True, **how) as index:
        for path in paths:
            with gzip.open(path, "rt") as file:
                rows = map(json.loads, file)
                index.add((f"{path} {row['id']}", f"{row.get('title') or ''}\n{row['text']}", None) for row in rows)
        index.refresh()
        documents = index.items("documents")
        with documents.stored() as fields:
            names = [name for name, _ in fields.describe(fields.item_ids().tolist()).values()]
        found, chance = {}, random.Random(0)
        for kernel in ("numba", "scipy"):
            setsearch.use_kernel(kernel)
            for accepted, rejected in MARKS:
                seconds = []
                for _ in range(TIMES + 3):  # the first ones read what the process has not seen yet
                    marked = chance.sample(names, accepted + rejected)
                    started = time.perf_counter()
                    documents.expand(marked[:accepted], 1, exclude=marked[accepted:], explain=True, feedback=0)
                    seconds.append(time.perf_counter() - started)
                low, high = min(seconds[3:]), max(seconds[3:])
                found[f"{kernel}, {accepted} + {rejected}"] = {
                    "ms": [round(1000 * x, 1) for x in (statistics.median(seconds[3:]), low, high)],
                    "first ms": round(1000 * seconds[0], 1),
                }
                print(name, len(names), kernel, accepted, rejected, found[f"{kernel}, {accepted} + {rejected}"])
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    versions = {"python": platform.python_version(), "setsearch": setsearch.__version__, "numpy": np.__version__}
    kept[name] = {"records": len(names), "decisions": found, "versions": versions, "cpus": os.cpu_count()}
    RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
