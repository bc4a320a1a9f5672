"""Seed documents to the best 10 others, warm: setsearch through SQLite with each kernel, and its peers.

    python benchmarks/queries.py [--collection A] [--queries 30] [--peer NAME ...] [--results NAME]

A collection is one of those that are generated, or a folder or a file of documents, of one's own. Seeds are documents
at random, and where documents have topics, documents of one. The contenders answer the same queries in turn, ten at a
time after one that is not counted, so that the machine's mood hits all of them alike. Each has answered the same
queries once before. All of that is done three times, as moods last for seconds. One that is slow answers fewer (how
many is in the results). Figures go to stdout, and with machine, versions and parameters to benchmarks/results/, with
a plot. Lucene is among the peers where LUCENE_JAR names a file with it and its queries (and Java is there).
"""

import argparse
import gc
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from corpora import SHAPES, Collection, generate, read
from peers import PEERS, Query, lucene_and_java

import setsearch
from setsearch.scoring.best import KERNELS, use_kernel

SEEDS = (1, 2, 3, 5, 10)
SWEEPS = 3  # times that all numbers and kinds of seeds are gone through
IN_A_ROW = 10  # queries that a contender answers before it is the next one's turn
PATIENCE = 8.0  # seconds that a contender may take for one number and kind of seeds, beyond which it answers fewer
TOPICS = {"A": 150, "A, stop words kept": 150, "B": 2000}
KINDS = ("random", "topical")
SLOW_TO_BUILD = {"B": {"Whoosh"}}  # not built for this collection
MODEL = "bernoulli"  # exact scores of all items, as the full product computes them
RESULTS = Path(__file__).parent / "results"
PACKAGES = "numpy scipy numba bm25s tantivy xapian-bindings-binary scikit-learn whoosh bayessets".split()


def ours(index: setsearch.Index, kernel: str) -> Query:
    """Through the public API, in a database on disk."""
    documents = index.items("documents")

    def query(seeds: list[int]) -> list[int]:
        use_kernel(kernel)
        return [int(hit.item[1:]) for hit in documents.expand([f"d{seed}" for seed in seeds], model=MODEL)]

    return query


class Timer:
    """What each contender takes for the queries of one kind and number of seeds."""

    def __init__(self, contenders: dict[str, Query], queries: list[list[int]]) -> None:
        self.contenders = contenders
        self.queries = queries
        self.times: dict[str, list[float]] = {name: [] for name in contenders}
        self.spent = dict.fromkeys(contenders, 0.0)

    def sweep(self, counted: bool) -> None:
        """All queries by all contenders, but for those whose time is over; half of it is for what is not counted."""
        for begin in range(0, len(self.queries), IN_A_ROW):
            for name, query in self.contenders.items():
                turn = self.queries[begin : begin + IN_A_ROW]
                if self.spent[name] < PATIENCE:
                    query(turn[0])  # not counted: brings back the caches that others have used
                for seeds in turn:
                    late = self.spent[name] > PATIENCE * (1 + counted) / 2
                    if late and (not counted or len(self.times[name]) >= 3):
                        break
                    start = time.perf_counter()
                    query(seeds)
                    took = time.perf_counter() - start
                    self.spent[name] += took
                    if counted:
                        self.times[name].append(took * 1e3)

    def result(self) -> dict[str, dict[str, float]]:
        """Median and 99th percentile in ms of each contender."""
        return {
            name: {"median_ms": statistics.median(t), "p99_ms": float(np.percentile(t, 99)), "queries": len(t)}
            for name, t in self.times.items()
        }


def seeds_of(collection: Collection, kind: str, n: int, n_queries: int) -> list[list[int]]:
    """Sets of n documents, any or of one topic."""
    rng = np.random.default_rng(1)
    if kind == "random":
        return [rng.choice(len(collection.topics), n, replace=False).tolist() for _ in range(n_queries)]
    by_topic = np.argsort(collection.topics, kind="stable")
    ends = np.cumsum(np.bincount(collection.topics))
    chosen = rng.choice(len(ends), n_queries)
    return [rng.choice(by_topic[ends[t - 1] if t else 0 : ends[t]], n, replace=False).tolist() for t in chosen]


def cold_start(path: Path) -> dict[str, float]:
    """Median seconds of a whole `setsearch expand` process, and of one that only imports numpy."""
    expand = [sys.executable, "-m", "setsearch", "expand", str(path), "d1", "d2", "d3", "--items", "documents"]
    expand += ["--model", MODEL]
    times: dict[str, list[float]] = {"expand_s": [], "import_numpy_s": []}
    for _ in range(15):
        for name, command in (("expand_s", expand), ("import_numpy_s", [sys.executable, "-c", "import numpy"])):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def bandwidth() -> float:
    """Bytes a second that one core reads from memory: the best of five sums over 400 MB."""
    data = np.ones(50_000_000)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        data.sum()
        times.append(time.perf_counter() - start)
    return data.nbytes / min(times)


def postings_of(index: setsearch.Index, queries: list[list[int]]) -> float:
    """Median number of postings in the active lists of a query."""
    documents = index.items("documents")
    sizes = []
    for seeds in queries[:20]:
        features = documents.features([f"d{seed}" for seed in seeds], k=10**6, model=MODEL)
        sizes.append(sum(feature.document_frequency for feature in features))
    return statistics.median(sizes)


def resident_mb() -> float:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(name: str, n_queries: int, peers: list[str]) -> dict[str, Any]:
    """All figures of one collection."""
    collection = generate(replace(SHAPES[name], topics=TOPICS[name])) if name in SHAPES else read(name)
    kinds, texts = KINDS if collection.topics.any() else KINDS[:1], collection.texts()
    result: dict[str, Any] = {"collection": Path(name).name, "documents": len(texts), "what": {}, "build_s": {}}
    result["text_mb"] = sum(len(text) for _, text in texts) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        start = time.perf_counter()
        with setsearch.open(path, create=True, contexts="off") as index:
            index.add(texts)
        result["build_s"]["setsearch"] = time.perf_counter() - start
        result["index_mb"] = path.stat().st_size / 1e6
        result["incremental"] = incremental(path, texts)
        result["cold"] = cold_start(path)
        with setsearch.open(path) as index:
            result["entries"] = index.info()["readings"][0]["posting_count"]
            contenders = {f"setsearch, {kernel}": ours(index, kernel) for kernel in KERNELS}
            queries = {(kind, n): seeds_of(collection, kind, n, n_queries) for kind in kinds for n in SEEDS}
            before = resident_mb()
            for some in queries.values():
                for seeds in some:
                    contenders["setsearch, core"](seeds)
            result["resident_growth_mb"] = resident_mb() - before
            result["postings"] = {kind: {str(n): postings_of(index, queries[kind, n]) for n in SEEDS} for kind in kinds}
            result["bandwidth_bytes_s"] = bandwidth()
            for peer in peers:
                gc.collect()
                start = time.perf_counter()
                contenders[peer] = PEERS[peer](collection, texts, Path(folder))
                result["build_s"][peer] = time.perf_counter() - start
                result["what"][peer] = PEERS[peer].__doc__
                print(f"built {peer} in {result['build_s'][peer]:.1f} s", file=sys.stderr)
            if "full sparse mat-vec" in peers:
                ours_3, full = contenders["setsearch, core"], contenders["full sparse mat-vec"]
                agree = [ours_3(seeds)[0] == full(seeds)[0] for seeds in queries["random", 3]]
                assert np.mean(agree) > 0.9, "the best item is the same, but for ties"
            timers = {key: Timer(contenders, some) for key, some in queries.items()}
            for sweep in range(1 + SWEEPS):
                for timer in timers.values():
                    timer.sweep(counted=sweep > 0)
            result["by_seeds"] = {kind: {str(n): timers[kind, n].result() for n in SEEDS} for kind in kinds}
    return result


def incremental(path: Path, texts: list[tuple[str, str]]) -> dict[str, float]:
    """Seconds to add 100 documents, to take them out again, and of the first query after it, which derives the base."""
    times = {}
    with setsearch.open(path) as index:
        index.items("documents").expand(["d1", "d2", "d3"], model=MODEL)
        extra = [(f"x{name}", text) for name, text in texts[:100]]
        for what, call in (
            ("add_100_s", lambda: index.add(extra)),
            ("first_query_s", lambda: index.items("documents").expand(["d1", "d2", "d3"], model=MODEL)),
            ("delete_100_s", lambda: index.delete([name for name, _ in extra])),
        ):
            start = time.perf_counter()
            call()
            times[what] = time.perf_counter() - start
    return times


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    versions = {"python": platform.python_version(), "setsearch": setsearch.__version__}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    if "Lucene" in PEERS:
        api, _ = lucene_and_java()
        versions["lucene"] = str(api.util.Version.LATEST)
    return {"cpu": model or platform.processor(), "cores": os.cpu_count(), "versions": versions}


def ratios(result: dict[str, Any], kernel: str) -> dict[str, float]:
    """Peer's time over ours: geometric mean over the numbers and kinds of seeds."""
    rows = [row for by_number in result["by_seeds"].values() for row in by_number.values()]
    own = f"setsearch, {kernel}"
    return {
        peer: math.exp(statistics.fmean(math.log(row[peer]["median_ms"] / row[own]["median_ms"]) for row in rows))
        for peer in result["what"]
    }


def show(result: dict[str, Any]) -> None:
    """The figures of a collection, as a table."""
    built, cold, added = result["build_s"]["setsearch"], result["cold"], result["incremental"]
    print(f"\n{result['collection']}: {result['documents']:,} documents, {result['entries']:,} entries")
    print(
        f"build {built:.2f} s, {result['documents'] / built:,.0f} documents/s; index {result['index_mb']:.1f} MB ",
        end="",
    )
    print(f"for {result['text_mb']:.1f} MB of text; resident growth {result['resident_growth_mb']:.0f} MB")
    first = added["first_query_s"]
    print(f"add 100 documents {added['add_100_s'] * 1e3:.0f} ms, first query after it {first * 1e3:.0f} ms")
    print(f"cold expand {cold['expand_s'] * 1e3:.0f} ms, import numpy {cold['import_numpy_s'] * 1e3:.0f} ms: ", end="")
    print(f"{cold['expand_s'] / cold['import_numpy_s']:.2f} x")
    for kind, by_number in result["by_seeds"].items():
        print(f"\n{kind + ', median ms (p99)':26}" + "".join(f"{f'N={n}':>20}" for n in SEEDS) + "   build s")
        for name in by_number["1"]:
            cells = [by_number[str(n)][name] for n in SEEDS]
            line = "".join(f"{cell['median_ms']:11.3f} ({cell['p99_ms']:6.2f})" for cell in cells)
            print(f"{name:26}{line}  {result['build_s'].get(name, built):8.1f}")
        postings = [result["postings"][kind][str(n)] for n in SEEDS]
        limit = [each * 4 / result["bandwidth_bytes_s"] * 1e3 for each in postings]
        print(f"{'bandwidth limit':26}" + "".join(f"{each:11.3f}{'':9}" for each in limit))
        print(f"{'postings':26}" + "".join(f"{each:11,.0f}{'':9}" for each in postings))
    print(f"(limit: 4 bytes a posting at {result['bandwidth_bytes_s'] / 1e9:.1f} GB/s)")
    print(f"\n{'peer / ours':22}" + "".join(f"{kernel:>10}" for kernel in KERNELS))
    table = {kernel: ratios(result, kernel) for kernel in KERNELS}
    for peer in result["what"]:
        print(
            f"{peer:22}" + "".join(f"{table[kernel][peer]:10.2f}" for kernel in KERNELS) + f"   {result['what'][peer]}"
        )


def plot(results: list[dict[str, Any]], path: Path) -> None:
    """Median latency of everybody over the number of seeds."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(KINDS), len(results), figsize=(6 * len(results), 9), squeeze=False)
    for (row, kind), (column, result) in product(enumerate(KINDS), enumerate(results)):
        axis, by_number = axes[row][column], result["by_seeds"].get(kind)
        if by_number is None:
            axis.set_axis_off()
            continue
        for name in by_number["1"]:
            medians = [by_number[str(n)][name]["median_ms"] for n in SEEDS]
            own = name.startswith("setsearch")
            axis.plot(SEEDS, medians, marker="o", linewidth=3 if own else 1, label=name)
        title = f"{result['collection']}: {result['documents']:,} documents, {kind} seeds"
        axis.set(title=title, xlabel="seeds", ylabel="ms", yscale="log")
    axes[0][-1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Measure, show, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", action="append", help=f"{', '.join(SHAPES)}, or a path")
    parser.add_argument("--results", default="queries", help="name of the files with the results")
    parser.add_argument("--peer", choices=PEERS, action="append")
    parser.add_argument("--queries", type=int, default=30)
    arguments = parser.parse_args()
    results = []
    for name in arguments.collection or []:
        if name not in SHAPES and not Path(name).exists():
            parser.error(f"there is no collection {name!r}, and no such path; there is {', '.join(SHAPES)}")
    for name in arguments.collection or ["A", "B"]:
        peers = [peer for peer in arguments.peer or PEERS if peer not in SLOW_TO_BUILD.get(name, ())]
        results.append(run(name, arguments.queries, peers))
        show(results[-1])
        RESULTS.mkdir(exist_ok=True)
        kept = {"machine": machine(), "queries": arguments.queries, "results": results}
        (RESULTS / f"{arguments.results}.json").write_text(json.dumps(kept, indent=1) + "\n")
        plot(results, RESULTS / f"{arguments.results}.svg")


if __name__ == "__main__":
    main()
