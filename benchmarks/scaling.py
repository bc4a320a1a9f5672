"""How time and memory grow with the collection: 100,000 to 1,000,000 short documents.

    python benchmarks/scaling.py [--sizes 100000 316000 1000000]

For each size, in processes of their own: the build by `setsearch index`, its peak memory; 100 documents more; the
first query after that, which derives the base; then warm queries, with their peak memory. The exponent is the slope of
log latency over log size. Figures go to stdout and to benchmarks/results/scaling.json.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpora import SHAPES, generate
from queries import RESULTS, SEEDS, machine

WARM = """
import json, pathlib, resource, statistics, sys, time
import setsearch
path, more, size, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
extra = [tuple(json.loads(line).values()) for line in pathlib.Path(more).read_text().splitlines()]
with setsearch.open(path) as index:
    documents = index.items("documents")
    documents.expand(["d1"], model="bernoulli")
    start = time.perf_counter()
    index.add(extra)
    out = {"add_100_s": time.perf_counter() - start}
    start = time.perf_counter()
    documents.expand(["d1", "d2", "d3"], model="bernoulli")
    out["first_query_s"] = time.perf_counter() - start
    for n in seeds:
        sets = [[f"d{(7919 * i * (j + 1)) % size}" for j in range(n)] for i in range(1, 61)]
        times = []
        for warm in (False, True):
            for own in sets:
                start = time.perf_counter()
                documents.expand(own, model="bernoulli")
                times += [time.perf_counter() - start] * warm
        out[str(n)] = statistics.median(times) * 1e3
out["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(out))
"""


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds and peak memory in MB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    process.returncode = 0
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def run(size: int, folder: Path) -> dict[str, Any]:
    """All figures of one size."""
    shape = SHAPES["B"]
    shape = replace(shape, documents=size, entries=shape.entries * size // shape.documents)
    texts, path = generate(shape).texts(), folder / f"{size}.db"
    for name, part in (("all", texts), ("more", [(f"x{name}", text) for name, text in texts[:100]])):
        lines = (json.dumps({"id": name, "text": text}) + "\n" for name, text in part)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    del texts
    index = [sys.executable, "-m", "setsearch", "index", "--no-contexts", str(path)]
    build_s, build_mb = timed([*index, str(folder / "all.jsonl")])
    ask = [sys.executable, "-c", WARM, str(path), str(folder / "more.jsonl"), str(size), json.dumps(SEEDS)]
    found = subprocess.run(ask, check=True, capture_output=True, text=True)
    return {
        "documents": size,
        "build_s": build_s,
        "build_peak_mb": build_mb,
        "index_mb": path.stat().st_size / 1e6,
        "queries": json.loads(found.stdout),
    }


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 316_000, 1_000_000])
    rows = []
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(run(size, Path(folder)))
        row, asked = rows[-1], rows[-1]["queries"]
        print(
            f"{size:>9,} documents: build {row['build_s']:.1f} s, {row['build_peak_mb']:.0f} MB; "
            f"index {row['index_mb']:.0f} MB; "
            f"add 100 {asked['add_100_s'] * 1e3:.0f} ms ({asked['add_100_s'] / row['build_s']:.2%} of a build); "
            f"first query {asked['first_query_s'] * 1e3:.0f} ms; warm "
            + ", ".join(f"N={n} {asked[str(n)]:.2f}" for n in SEEDS)
            + f" ms; {asked['peak_mb']:.0f} MB"
        )
    exponents = {}
    if len(rows) > 1:
        growth = math.log(rows[-1]["documents"] / rows[0]["documents"])
        for n in map(str, SEEDS):
            exponents[n] = math.log(rows[-1]["queries"][n] / rows[0]["queries"][n]) / growth
        print("exponent of latency: " + ", ".join(f"N={n} {exponent:.2f}" for n, exponent in exponents.items()))
    RESULTS.mkdir(exist_ok=True)
    kept = {"machine": machine(), "rows": rows, "exponents": exponents}
    (RESULTS / "scaling.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
