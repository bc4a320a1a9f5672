"""A model of both ways up to 10^9 documents, on paper and by simulation: python benchmarks/spark_model.py

Paper: bytes and seconds from what spark_scaling.py measured for one entry (an item that has a feature), times the
number of entries. Simulation: the tasks of a build and of a question, with the sizes that Zipf's law gives to buckets,
put on the workers one after the other, the largest first, as a scheduler does; the longest worker is the time. It shows
what the paper does not: a posting list is in one bucket, and the longest is that of a word that every document has.
"""

import heapq
import json
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
DOCUMENTS = [10**5, 10**6, 10**7, 10**8, 10**9]
WORKERS = 100
MEMORY = 8e9  # bytes of a worker
NETWORK = 1e9  # bytes a second into one worker
HEAPS = 44, 0.5  # words of a vocabulary: 44 times the root of all tokens
SHUFFLE_ROW = 60.0  # bytes of a posting while it is sorted, uncompressed
SQLITE_ENTRY, SQLITE_DOCUMENT = 2.6, 90.0  # bytes of the index; measured on collection A (docs/speed.md)
SQLITE_BUILD = 25_000  # documents a second
SQLITE_POSTING = 1.3e-9  # seconds, warm, scipy
DISK = 2e9  # bytes a second that one machine reads


def main() -> None:
    """Print a table, and keep it."""
    measured = json.loads((RESULTS / "spark.json").read_text())
    base = measured["all, 1 worker"]
    per_document = distinct_words(60)
    entries = base["documents"] * per_document
    overhead = max(0.0, 2 * measured["half, 1 worker"]["build, s"] - base["build, s"])  # the part that does not grow
    build_entry = (base["build, s"] - overhead) / entries
    shuffle_entry = base["shuffled, MB"] * 1e6 / entries
    stored_entry = base["index, MB"] * 1e6 / entries
    found = []
    for documents in DOCUMENTS:
        sizes = list_sizes(documents)
        total = float(sizes.sum())
        buckets = int(min(1024, 1 + total // 2e6))
        in_bucket = np.bincount(np.arange(len(sizes)) * 7919 % buckets, sizes, buckets)
        moved = shuffle_entry * total
        build = overhead + schedule(in_bucket * build_entry, WORKERS) + moved / (WORKERS * NETWORK)
        even = overhead + total * build_entry / WORKERS + moved / (WORKERS * NETWORK)
        active = sizes[np.random.default_rng(0).choice(len(sizes), 90, p=sizes / total)]  # of three seeds of 30 words
        question = measured["all, 1 worker"]["one set, s"] + schedule(active * build_entry, WORKERS)
        sqlite_bytes = SQLITE_ENTRY * total + SQLITE_DOCUMENT * documents
        sqlite = float(active.sum()) * SQLITE_POSTING + 8 * documents / DISK
        found.append(
            {
                "documents": documents,
                "entries": total,
                "Spark: shuffled, GB": moved / 1e9,
                "stored, GB": stored_entry * total / 1e9,
                "build on 100 workers, s (paper)": even,
                "build on 100 workers, s (simulated)": build,
                "largest task, GB": in_bucket.max() * SHUFFLE_ROW / 1e9,
                "fits in a worker": bool(in_bucket.max() * SHUFFLE_ROW < MEMORY),
                "a set, s": question,
                "SQLite: file, GB": sqlite_bytes / 1e9,
                "build, s": documents / SQLITE_BUILD,
                "a set, warm, s": sqlite,
                "scores in memory, GB": 8 * documents / 1e9,
            }
        )
    for row in found:
        print(
            json.dumps(
                {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in row.items()}
            )
        )
    (RESULTS / "spark_model.json").write_text(json.dumps(found, indent=1) + "\n")


def distinct_words(length: int) -> float:
    """How many distinct words a document of so many tokens has, with the frequencies of the benchmark."""
    shares = 1 / (np.arange(50_000) + 3)
    shares /= shares.sum()
    return float((1 - (1 - shares) ** length).sum())


def list_sizes(documents: int, length: int = 60) -> np.ndarray:
    """Expected document frequencies of all words, by Zipf's law, of a vocabulary by Heaps' law."""
    words = int(HEAPS[0] * (documents * length) ** HEAPS[1])
    shares = 1 / (np.arange(words) + 3.0)
    shares /= shares.sum()
    sizes: np.ndarray = documents * (1 - (1 - shares) ** length)
    return sizes


def schedule(tasks: np.ndarray, workers: int) -> float:
    """When the last of the tasks ends, if each is given to the worker that is free first, the longest first."""
    free = [0.0] * workers
    for seconds in sorted(tasks.tolist(), reverse=True):
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


if __name__ == "__main__":
    main()
