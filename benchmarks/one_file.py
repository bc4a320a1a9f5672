"""How one SQLite file grows with longer documents: 200,000 and 1,000,000 of 60 words.

    python benchmarks/one_file.py [--sizes 200000 4000000]

For each size, in processes of their own: the build, its peak memory; the first set that is asked for, which derives
what the file then keeps; a second one, and 20 more, with the peak memory. Times are those of the processor, of all
threads, as machines are busy. Figures go to stdout and to benchmarks/results/one_file.json; spark_scaling.py asks Spark
the same.
"""

import argparse
import json
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import setsearch

RESULTS = Path(__file__).parent / "results" / "one_file.json"
WORDS, LENGTH = 50_000, 60
DATA = f"generated, {LENGTH} words a document of {WORDS:,} words by Zipf's law"
SETS = 20


def documents(count: int) -> Iterator[tuple[str, str]]:
    """Generated: words by Zipf's law, `LENGTH` a document."""
    rng = np.random.default_rng(0)
    shares = 1 / (np.arange(WORDS) + 3)
    ends = np.cumsum(shares / shares.sum())
    words = np.array([f"w{n}" for n in range(WORDS)], object)
    for done in range(0, count, 10_000):
        size = min(10_000, count - done)
        chosen = words[np.minimum(np.searchsorted(ends, rng.random((size, LENGTH))), WORDS - 1)]
        yield from ((f"d{done + n}", " ".join(row)) for n, row in enumerate(chosen.tolist()))


def sets_of(count: int) -> list[list[str]]:
    """Sets of three documents."""
    rng = random.Random(1)
    return [[f"d{rng.randrange(count)}" for _ in range(3)] for _ in range(SETS)]


def run(count: int, folder: Path) -> dict[str, float]:
    """All figures of one size."""
    path = folder / f"{count}.db"
    found: dict[str, float] = {"documents": count}
    for step in ("build", "ask"):
        command = [sys.executable, __file__, "--step", step, str(path), str(count)]
        found |= json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found["index, MB"] = round(path.stat().st_size / 1e6, 1)
    beside = [*folder.glob(f"{path.name}-arrays-*")]
    found["files of arrays, MB"] = round(sum(file.stat().st_size for file in beside) / 1e6, 1)
    for file in (path, *beside):
        file.unlink()
    return found


def build_file(path: Path, count: int) -> dict[str, float]:
    """Index so many documents into one file."""
    begin = time.process_time()
    for _ in documents(count):
        pass
    generated = time.process_time() - begin
    begin = time.process_time()
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add(documents(count))
    return {"build, s": round(time.process_time() - begin - generated, 2), "build, peak MB": peak()}


def ask_file(path: Path, count: int) -> dict[str, float]:
    """The first question, one set, all sets."""
    found, sets = {}, sets_of(count)
    with setsearch.open(path) as index:
        reading = index.items("documents")
        for label, question in (
            ("first set, s", sets[:1]),
            ("one set, s", sets[1:2]),
            (f"{SETS} sets, s", sets),
        ):
            begin = time.process_time()
            reading.expand_many(question)
            found[label] = round(time.process_time() - begin, 4)
    return found | {"ask, peak MB": peak()}


def peak() -> int:
    """The most memory that this process has held so far, in MB; Linux counts what getrusage says from the parent on."""
    (size,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(size) // 1024


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[200_000, 1_000_000])
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step, path, size = options.step
        print(json.dumps({"build": build_file, "ask": ask_file}[step](Path(path), int(size))))
        return
    found: dict[str, object] = {
        "version": setsearch.__version__,
        "machine": f"{platform.machine()}, Python {platform.python_version()}, one process",
        "data": DATA,
    }
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        for size in options.sizes:
            rows.append(run(size, Path(name)))
            print(json.dumps(rows[-1]), flush=True)
    RESULTS.write_text(json.dumps(found | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
