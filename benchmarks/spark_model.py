"""A model of both ways up to 10^9 documents, on paper and by simulation: python benchmarks/spark_model.py

Paper: bytes, memory and seconds from what spark_scaling.py and one_file.py measured for a document, an entry (an item
that has a feature) and an active posting, times how many there are. Simulation: the tasks of a build and of a question,
with the sizes that Zipf's law gives to them, put on the cores of a cluster, the longest first, as a scheduler would at
best; the last core to end is the time. It shows what the paper does not: a posting list lies in one bucket, and the
longest is that of a word that nearly every document has, so that lists are cut into slices of items.
"""

import heapq
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from one_file import LENGTH, WORDS

from setsearch.arrays import Floats, Ints
from setsearch.spark.builder import BUCKET_SIZE, MOST_BUCKETS, SLICE

RESULTS = Path(__file__).parent / "results"
DOCUMENTS = [10**6, 10**7, 10**8, 10**9]
CORES = 100  # of the cluster
NETWORK = 1e9 / 8  # bytes a second and core
HEAPS = 44, 0.5  # words of a vocabulary: 44 times the root of all tokens
SEEDS = 3
LAST_STEP = 0.07  # of the run time of a build, by the list of stages of one of 20,000 documents
SORTED_ROW = 100  # bytes of a posting while its task sorts it: ten columns of 8, and the row's own
MEMORY = 2e9  # bytes that a task may hold before it sorts on disk
MACHINES = {"16 GB": 16e9, "64 GB": 64e9}  # for one file


def main() -> None:
    """Print a table, and keep it."""
    spark, files = (json.loads((RESULTS / name).read_text()) for name in ("spark.json", "one_file.json"))
    costs = cluster_costs(spark) | file_costs(files["rows"])
    rows = [estimate(documents, costs) for documents in DOCUMENTS]
    for row in rows:
        print(json.dumps(row))
    crossings = {f"a set needs more than {name}": most_within(size, costs) for name, size in MACHINES.items()}
    crossings["a set takes longer than on the cluster"] = largest(
        lambda row: row["file: a set, s"] <= row["cluster: a set, s"], costs
    )
    crossings["a build takes longer than on the cluster"] = largest(
        lambda row: row["file: build, s"] <= row["cluster: build, s (paper)"], costs
    )
    crossings["a build takes longer than eight hours"] = largest(lambda row: row["file: build, s"] <= 8 * 3600, costs)
    print(json.dumps(crossings, indent=1))
    found = {"cores": CORES, "costs": rounded(costs), "rows": rows, "one file is enough up to": crossings}
    (RESULTS / "spark_model.json").write_text(json.dumps(found, indent=1) + "\n")


def cluster_costs(spark: dict[str, Any]) -> dict[str, float]:
    """What one core needs; the fixed part and the growing one are told apart by two sizes."""
    half, whole = spark["half, 1 worker"], spark["all, 1 worker"]
    more = whole["documents"] - half["documents"]
    lists = measured_lists(1)
    entries, active = more * lists.sum(), whole["documents"] * active_share(lists)
    return {
        "cluster: build, fixed s": max(0.0, 2 * half["build, s"] - whole["build, s"]),
        "cluster: build, core s an entry": (whole["build, s"] - half["build, s"]) / entries,
        "cluster: shuffled, bytes an entry": (whole["shuffled, MB"] - half["shuffled, MB"]) * 1e6 / entries,
        "cluster: stored, bytes an entry": (whole["index, MB"] - half["index, MB"]) * 1e6 / entries,
        "cluster: a set, fixed s": half["one set, s"],
        "cluster: a set, core s a posting": (whole["20 sets, s"] - whole["one set, s"]) / 19 / active,
    }


def file_costs(rows: list[dict[str, Any]]) -> dict[str, float]:
    """From the two largest files."""
    first, last = rows[-2:]
    more = last["documents"] - first["documents"]
    active = last["documents"] * active_share(measured_lists(1))
    return {
        "file: build, s a document": last["build, s"] / last["documents"],
        "file: bytes a document": last["index, MB"] * 1e6 / last["documents"],
        "file: memory, bytes a document": (last["ask, peak MB"] - first["ask, peak MB"]) * 1e6 / more,
        "file: a set, s a posting": last["20 sets, s"] / 20 / active,
    }


def estimate(documents: float, costs: dict[str, float]) -> dict[str, float]:
    """A row of the table."""
    lists = list_sizes(documents)
    entries, active = float(lists.sum()), documents * active_share(lists / documents)
    an_entry = costs["cluster: build, core s an entry"]
    moved = costs["cluster: shuffled, bytes an entry"] * entries
    even = costs["cluster: build, fixed s"] + entries * an_entry / CORES + moved / (CORES * NETWORK)
    buckets = int(min(MOST_BUCKETS, 1 + entries // BUCKET_SIZE))
    slices = int(1 + documents // SLICE)
    whole = np.bincount(np.arange(len(lists)) % buckets, lists, buckets)  # ids follow the names, not the frequencies
    pieces = np.repeat(whole / slices, slices)
    # The last step of a build is bound to buckets; all other steps are even.
    last, rest = LAST_STEP * an_entry, even - LAST_STEP * an_entry * entries / CORES
    row = {
        "documents": documents,
        "entries": entries,
        "cluster: shuffled, GB": moved / 1e9,
        "cluster: stored, GB": costs["cluster: stored, bytes an entry"] * entries / 1e9,
        "cluster: build, s (paper)": even,
        "cluster: build, s (simulated, lists whole)": rest + schedule(whole * last, CORES),
        "cluster: build, s (simulated, lists in slices)": rest + schedule(pieces * last, CORES),
        "cluster: largest task, GB (lists whole)": whole.max() * SORTED_ROW / 1e9,
        "cluster: largest task, GB (lists in slices)": pieces.max() * SORTED_ROW / 1e9,
        "cluster: sorts in memory": bool(pieces.max() * SORTED_ROW <= MEMORY),
        "cluster: a set, s": costs["cluster: a set, fixed s"]
        + active * costs["cluster: a set, core s a posting"] / CORES,
        "file: GB": costs["file: bytes a document"] * documents / 1e9,
        "file: build, s": costs["file: build, s a document"] * documents,
        "file: a set, s": costs["file: a set, s a posting"] * active,
        "file: memory, GB": costs["file: memory, bytes a document"] * documents / 1e9,
    }
    return rounded(row)


def most_within(size: float, costs: dict[str, float]) -> float | None:
    """The most documents that so many bytes of memory hold."""
    return largest(lambda row: row["file: memory, GB"] * 1e9 <= size, costs)


def largest(holds: Callable[[dict[str, float]], bool], costs: dict[str, float]) -> float | None:
    """The most documents for which something holds, by halving the logarithm; None if it holds up to 10^10."""
    low, high = 3.0, 10.0
    if holds(estimate(10**high, costs)):
        return None
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(estimate(10**middle, costs)) else (low, middle)
    return float(f"{10**low:.2g}")


def rounded(row: dict[str, float]) -> dict[str, float]:
    """Three digits."""
    return {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in row.items()}


def measured_lists(documents: float) -> Floats:
    """Expected document frequencies of all words, by Zipf's law, of the vocabulary that was measured."""
    return documents * having(np.arange(WORDS))


def list_sizes(documents: float) -> Floats:
    """The same of a vocabulary by Heaps' law."""
    return documents * having(np.arange(int(HEAPS[0] * (documents * LENGTH) ** HEAPS[1])))


def having(places: Ints) -> Floats:
    """The share of the documents that have a word, by its place in the order of frequencies."""
    shares = 1 / (places + 3.0)
    having_it: Floats = 1 - (1 - shares / shares.sum()) ** LENGTH
    return having_it


def active_share(shares: np.ndarray) -> float:
    """Expected postings in the lists of what the seeds have, for one document of the collection."""
    return float(((1 - (1 - shares) ** SEEDS) * shares).sum())


def schedule(tasks: np.ndarray, cores: int) -> float:
    """When the last of the tasks ends, if each is given to the core that is free first, the longest first."""
    free = [0.0] * cores
    for seconds in sorted(tasks.tolist(), reverse=True):
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


if __name__ == "__main__":
    main()
