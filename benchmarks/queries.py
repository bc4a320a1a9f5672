"""Seed documents to the exact top 10, warm and through SQLite, against a full sparse matrix-vector product.

    python benchmarks/queries.py [--collection A] [--queries 100]

The contenders answer the same queries in turn, ten at a time, so that the machine's mood hits all of them
alike. Figures go to stdout and, with machine, versions and parameters, to benchmarks/results/.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
from corpora import SHAPES, Collection, generate
from scipy.sparse import csr_array

import setsearch
from setsearch.kernels import use_kernel

SEEDS = (1, 2, 3, 5, 10)
IN_A_ROW = 10  # queries that a contender answers before it is the next one's turn
Query = Callable[[list[int]], object]


class FullMatrix:
    """The paper's method: q and c for the seeds, then one product of the whole matrix with q (equation 15)."""

    def __init__(self, collection: Collection, strength: float = 2.0) -> None:
        document = np.repeat(np.arange(len(collection.starts) - 1), np.diff(collection.starts))
        shape = (len(collection.starts) - 1, int(collection.words.max()) + 1)
        self.matrix = csr_array((np.ones(len(document)), (document, collection.words)), shape)
        self.matrix.sum_duplicates()
        self.matrix.data[:] = 1
        mean = np.asarray(self.matrix.sum(axis=0)).ravel() / shape[0]
        self.used = (mean > 0) & (mean < 1)
        self.alpha, self.beta = strength * mean, strength * (1 - mean)

    def __call__(self, seeds: list[int]) -> object:
        s, n = np.asarray(self.matrix[seeds].sum(axis=0)).ravel(), len(seeds)
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.log((self.alpha + s) / self.alpha) + np.log(self.beta / (self.beta + n - s))
        scores = self.matrix @ np.where(self.used, q, 0)
        scores[seeds] = -np.inf
        best = np.argpartition(scores, -10)[-10:]
        return best[np.argsort(-scores[best])].tolist()


def ours(index: setsearch.Index, kernel: str) -> Query:
    documents = index.items("documents")

    def query(seeds: list[int]) -> object:
        use_kernel(kernel)
        return [int(hit.item[1:]) for hit in documents.expand([f"d{seed}" for seed in seeds])]

    return query


def measure(contenders: dict[str, Query], queries: list[list[int]]) -> dict[str, dict[str, float]]:
    """Median and 99th percentile in ms of each contender, warm: each has answered the same queries before."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for warm in (False, True):
        for begin in range(0, len(queries), IN_A_ROW):
            for name, query in contenders.items():
                for seeds in queries[begin : begin + IN_A_ROW]:
                    start = time.perf_counter()
                    query(seeds)
                    if warm:
                        times[name].append((time.perf_counter() - start) * 1e3)
    return {
        name: {"median_ms": statistics.median(t), "p99_ms": float(np.percentile(t, 99))} for name, t in times.items()
    }


def cold_start(path: Path) -> dict[str, float]:
    """Median seconds of a whole `setsearch expand` process, and of one that only imports numpy."""
    expand = [sys.executable, "-m", "setsearch", "expand", str(path), "d1", "d2", "d3", "--items", "documents"]
    times: dict[str, list[float]] = {"expand_s": [], "import_numpy_s": []}
    for _ in range(11):
        for name, command in (("expand_s", expand), ("import_numpy_s", [sys.executable, "-c", "import numpy"])):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def run(name: str, n_queries: int) -> dict[str, object]:
    collection = generate(SHAPES[name])
    texts = collection.texts()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        start = time.perf_counter()
        with setsearch.open(path, create=True) as index:
            index.add(texts)
        built = time.perf_counter() - start
        with setsearch.open(path) as index:
            full = FullMatrix(collection)
            contenders = {"full sparse mat-vec": full, "setsearch, scipy": ours(index, "scipy")}
            contenders["setsearch, numba"] = ours(index, "numba")
            contenders["setsearch, numpy"] = ours(index, "numpy")
            rng = np.random.default_rng(1)
            rows: dict[str, object] = {}
            for n in SEEDS:
                queries = [rng.choice(len(texts), n, replace=False).tolist() for _ in range(n_queries)]
                assert contenders["setsearch, scipy"](queries[0])[0] == full(queries[0])[0], "the same best item"
                rows[str(n)] = measure(contenders, queries)
            postings = index.info()["readings"][0]["posting_count"]
        return {
            "collection": name,
            "documents": len(texts),
            "entries": postings,
            "text_mb": sum(len(text) for _, text in texts) / 1e6,
            "index_mb": path.stat().st_size / 1e6,
            "build_s": built,
            "documents_per_s": len(texts) / built,
            "by_seeds": rows,
            "cold": cold_start(path),
        }


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    return {
        "cpu": model or platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "setsearch": setsearch.__version__,
    }


def show(result: dict[str, object]) -> None:
    print(f"\n{result['collection']}: {result['documents']:,} documents, {result['entries']:,} entries")
    print(f"build {result['build_s']:.2f} s, {result['documents_per_s']:,.0f} documents/s, ", end="")
    print(f"index {result['index_mb']:.1f} MB for {result['text_mb']:.1f} MB of text")
    cold = result["cold"]
    print(f"cold expand {cold['expand_s'] * 1e3:.0f} ms, import numpy {cold['import_numpy_s'] * 1e3:.0f} ms: ", end="")
    print(f"{cold['expand_s'] / cold['import_numpy_s']:.2f} x\n")
    print(f"{'median ms (p99), and times the full mat-vec / ours':52}" + "".join(f"N={n:<21}" for n in SEEDS))
    names = list(result["by_seeds"]["1"])
    for name in names:
        line = f"{name:52}"
        for n in map(str, SEEDS):
            row = result["by_seeds"][n]
            ratio = row[names[0]]["median_ms"] / row[name]["median_ms"]
            line += f"{row[name]['median_ms']:6.3f} ({row[name]['p99_ms']:6.3f}) {ratio:5.2f}x  "
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", choices=SHAPES, action="append")
    parser.add_argument("--queries", type=int, default=100)
    arguments = parser.parse_args()
    results = []
    for name in arguments.collection or ["A", "A, stop words kept"]:
        results.append(run(name, arguments.queries))
        show(results[-1])
    target = Path(__file__).parent / "results" / "queries.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        json.dumps({"machine": machine(), "queries": arguments.queries, "results": results}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
