"""How Spark scales here: the same data on 1 and 2 workers, data that grow with the workers; and one file beside it.

    python benchmarks/spark_scaling.py [--documents 20000] [--files 1000000 10000000]

A real standalone master with workers of one core each, on loopback. Figures: seconds to build, for a batch of 20 sets
and for one set, bytes shuffled and written by the build as Spark counts them; the same on one SQLite file.
"""

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyspark

import setsearch
from setsearch.sources import Columns
from setsearch.text import Analyzer

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "spark"))

from cluster import Cluster, start

from setsearch.spark import SparkIndex, build, cells_of

RESULTS = Path(__file__).parent / "results" / "spark.json"
WORDS, LENGTH = 50_000, 60
SETS = 20
FULL = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK", "spark.ui.enabled": "true"}


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


def on_cluster(count: int, workers: int, folder: Path) -> dict[str, float]:
    """Build and ask on a cluster of so many workers."""
    folder.mkdir()
    source = folder / "docs.jsonl"
    with source.open("w") as file:
        file.writelines(json.dumps({"id": id, "text": text}) + "\n" for id, text in documents(count))
    cluster = Cluster(folder, workers)
    try:
        more = {"spark.executor.memory": "800m", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "8"}
        spark = start(cluster.url, **FULL, **more)
        frame = spark.read.json(str(source)).repartition(4 * workers)
        begin = time.perf_counter()
        build(spark, cells_of(frame, Columns(), Analyzer()), str(folder / "index"))
        built = time.perf_counter() - begin
        moved = shuffled(spark.sparkContext.uiWebUrl, spark.sparkContext.applicationId)
        reading = SparkIndex(spark, str(folder / "index")).items("documents")
        sets = sets_of(count)
        reading.expand(sets[0])  # classes are loaded, code is made
        begin = time.perf_counter()
        reading.expand(sets[1])
        one = time.perf_counter() - begin
        begin = time.perf_counter()
        reading.expand_many(sets)
        batch = time.perf_counter() - begin
        spark.stop()
    finally:
        cluster.stop()
    stored = sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())
    figures = {
        "workers": workers,
        "documents": count,
        "build, s": built,
        "one set, s": one,
        f"{SETS} sets, s": batch,
    }
    return {key: round(value, 2) for key, value in figures.items()} | moved | {"index, MB": round(stored / 1e6, 1)}


def shuffled(url: str, application: str) -> dict[str, float]:
    """Megabytes that all stages moved."""
    with urllib.request.urlopen(f"{url}/api/v1/applications/{application}/stages") as answer:
        stages = json.load(answer)
    return {
        "shuffled, MB": round(sum(stage["shuffleWriteBytes"] for stage in stages) / 1e6, 1),
        "written, MB": round(sum(stage["outputBytes"] for stage in stages) / 1e6, 1),
    }


def on_one_file(count: int, folder: Path) -> dict[str, float]:
    """The same with SQLite, in a process of its own, whose memory is measured; the build apart from the questions."""
    path = folder / f"{count}.db"
    found: dict[str, float] = {"documents": count}
    for step in ("build", "ask"):
        command = [sys.executable, __file__, "--step", step, str(path), str(count)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        found |= json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, command
        process.returncode = 0
        found[f"{step}, peak MB"] = round(usage.ru_maxrss / 1024)
    found["index, MB"] = round(path.stat().st_size / 1e6, 1)
    path.unlink()
    return found


def build_file(path: Path, count: int) -> dict[str, float]:
    """Index so many documents into one file."""
    begin = time.perf_counter()
    for _ in documents(count):
        pass
    generated = time.perf_counter() - begin
    begin = time.perf_counter()
    with setsearch.open(path, create=True, contexts="off") as index:
        index.add(documents(count))
    return {"build, s": round(time.perf_counter() - begin - generated, 2)}


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
            begin = time.perf_counter()
            reading.expand_many(question)
            found[label] = round(time.perf_counter() - begin, 4)
    return found


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000, help="for one worker; two have twice as many")
    parser.add_argument("--files", type=int, nargs="*", default=[], help="documents of more single files")
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step, path, size = options.step
        print(json.dumps({"build": build_file, "ask": ask_file}[step](Path(path), int(size))))
        return
    count = options.documents
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found: dict[str, object] = {
        "version": setsearch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores for driver, master and workers",
        "spark": pyspark.__version__,
        "data": f"generated, {LENGTH} words a document of {WORDS:,} words by Zipf's law",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = {"half, 1 worker": (count, 1), "all, 1 worker": (2 * count, 1), "all, 2 workers": (2 * count, 2)}
        for label, (size, workers) in runs.items():
            found[label] = on_cluster(size, workers, folder / label.replace(" ", "").replace(",", ""))
            print(label, json.dumps(found[label]), flush=True)
        found["one file"] = files = []
        for size in [2 * count, *options.files]:
            files.append(on_one_file(size, folder))
            print("one file", json.dumps(files[-1]), flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
