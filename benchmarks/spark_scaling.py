"""How Spark scales here: the same data on 1 and 2 workers, data that grow with the workers.

    python benchmarks/spark_scaling.py [--documents 20000]

A real standalone master with workers of one core each, on loopback. Figures: seconds to build, for a batch of 20 sets
and for one set, bytes shuffled and written by the build as Spark counts them. The same on one file: one_file.py.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pyspark

import setsearch
from setsearch.storage.synced_source import Columns
from setsearch.text.analyzer import Analyzer

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "spark"))

from cluster import Cluster, start
from one_file import DATA, SETS, documents, sets_of

from setsearch.spark import SparkIndex, build, cells_of

RESULTS = Path(__file__).parent / "results" / "spark.json"
FULL = {
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.ui.enabled": "true",
}


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
        build(spark, cells_of(frame, Columns(), Analyzer(), "off"), str(folder / "index"))
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


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000, help="for one worker; two have twice as many")
    count = parser.parse_args().documents
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found: dict[str, object] = {
        "version": setsearch.__version__,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores for driver, master and workers",
        "spark": pyspark.__version__,
        "data": DATA,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = {"half, 1 worker": (count, 1), "all, 1 worker": (2 * count, 1), "all, 2 workers": (2 * count, 2)}
        for label, (size, workers) in runs.items():
            found[label] = on_cluster(size, workers, folder / label.replace(" ", "").replace(",", ""))
            print(label, json.dumps(found[label]), flush=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
