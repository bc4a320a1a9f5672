"""Systematic reviews: how early relevant records come while a person says yes or no, and when the person may stop.

    python benchmarks/screening.py DATA [--replays 1000]

DATA holds NAME.csv.gz (title, abstract, label_included) and priors.jsonl (dataset_id, and the rows that are known at
the start), as in data/synergy. ASReview's models run in the same process if it is installed (pip install asreview).
Writes results/screening.json.

A review labels what is ranked first, one record at a time up to 100, then five at a time, up to 1,000. Its loss is the
area between the recall curve and the perfect one, WSS@95 the work that is saved at 95 % recall, R10 the recall after a
tenth of the records. Means are over the first three studies of each set, then over sets.
"""

import argparse
import csv
import gzip
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

import setsearch
from setsearch.learning.stopping import chance_of_missing, outlook

RESULTS = Path(__file__).parent / "results" / "screening.json"
STUDIES = 3
SINGLY, TOGETHER, MOST = 100, 5, 1000
LOOK = 10  # records read between two looks at the rule
LOOK_AT_LEFT = 25  # and at what is left
OURS = "setsearch"
RECALL, CONFIDENCE = 0.95, 0.95
RESAMPLES = 10_000
Records = tuple[list[dict[str, str]], np.ndarray[Any, Any]]
Rank = Callable[[list[int], list[int], int], list[int]]  # accepted, rejected, how many -> the next records


def read(path: Path) -> Records:
    """Records and their labels."""
    csv.field_size_limit(1 << 30)
    with gzip.open(path, "rt") as file:
        records = list(csv.DictReader(file))
    return records, np.array([int(record["label_included"]) for record in records])


@contextmanager
def setsearch_ranks(records: list[dict[str, str]]) -> Iterator[dict[str, Rank]]:
    """Our own rankings: rejected records are learned from, subtracted, left out."""
    how: dict[str, Any] = {"language": "english", "analyzer": "unicode+pairs+titles", "contexts": "off"}
    with tempfile.TemporaryDirectory() as place, setsearch.open(f"{place}/a.db", create=True, **how) as index:
        index.add((str(n), f"{row['title']}\n{row['abstract']}", row["title"]) for n, row in enumerate(records))
        documents = index.items("documents")

        def rank(accepted: list[int], rejected: list[int], count: int, **options: Any) -> list[int]:
            options["exclude"] = [str(row) for row in rejected]
            return [int(hit.item) for hit in documents.expand([str(row) for row in accepted], count, **options)]

        yield {
            OURS: partial(rank, feedback=0),
            "setsearch, gamma 0.1": partial(rank, gamma=0.1),
            "setsearch, gamma 0": partial(rank, gamma=0),
        }


def asreview_ranks(records: list[dict[str, str]], labels: Any) -> dict[str, Rank]:
    """ASReview's ELAS models, with their own extraction of features; none if it is not installed."""
    if not find_spec("asreview"):
        return {}
    import pandas
    from asreview.learner import ActiveLearningCycle
    from asreview.models.models import get_ai_config

    def make(name: str) -> Rank:
        cycle = ActiveLearningCycle.from_meta(get_ai_config(name)["value"])
        features = cycle.transform(pandas.DataFrame(records)[["title", "abstract"]])

        def rank(accepted: list[int], rejected: list[int], count: int) -> list[int]:
            known = accepted + rejected
            cycle.fit(features[known], labels[known])
            rest = np.setdiff1d(np.arange(len(labels)), known)
            return [int(row) for row in rest[cycle.rank(features[rest])][:count]]

        return rank

    return {f"ASReview {name}": make(name) for name in ("elas_u4", "elas_u3")}


def review(rank: Rank, labels: Any, accepted: list[int], rejected: list[int], step: int = 0) -> tuple[Any, list[float]]:
    """The labels in the order of a simulated review, and the seconds of each decision."""
    known, found, seconds = (list(accepted), list(rejected)), list[int](), list[float]()
    left = len(labels) - len(accepted) - len(rejected)
    wanted = int(labels.sum()) - len(accepted)
    while wanted and len(found) < MOST:
        started = time.perf_counter()
        rows = rank(*known, step or (1 if len(found) < SINGLY else TOGETHER))
        seconds.append(time.perf_counter() - started)
        for row in rows:
            found.append(int(labels[row]))
            known[1 - found[-1]].append(row)
            wanted -= found[-1]
    if wanted:
        rest = np.setdiff1d(np.arange(len(labels)), known[0] + known[1])
        found += labels[rest].tolist()
    return np.array(found + [0] * (left - len(found))), seconds


def measures(found: Any) -> dict[str, float]:
    """Loss, WSS@95 and R10 of labels in the order of a review."""
    n, relevant, recall = len(found), int(found.sum()), np.cumsum(found) / found.sum()
    area = relevant * (n - (relevant - 1) / 2) - np.cumsum(found).sum()
    return {
        "loss": float(area / (relevant * (n - relevant))),
        "wss95": float(0.95 - (np.argmax(recall >= 0.95) + 1) / n),
        "r10": float(recall[max(1, n // 10) - 1]),
    }


def stops(found: Any) -> tuple[float, float]:
    """Recall and share of the records that are not read, if a person stops when the rule says so."""
    for read in range(LOOK, len(found), LOOK):
        if chance_of_missing(found[:read].tolist(), len(found), RECALL) < 1 - CONFIDENCE:
            return float(found[:read].sum() / found.sum()), 1 - read / len(found)
    return 1.0, 0.0


def told(found: Any) -> tuple[int, int, int]:
    """Until the stop: looks at what is left, how often a number was shown, and how often it held the truth."""
    looks = shown = held = 0
    for read in range(LOOK_AT_LEFT, len(found), LOOK_AT_LEFT):
        ahead, left = outlook(found[:read].tolist(), len(found), RECALL, CONFIDENCE), found[read:].sum()
        if ahead.chance < 1 - CONFIDENCE:
            break
        looks, shown = looks + 1, shown + ahead.is_narrow
        held += ahead.is_narrow and ahead.at_least <= left <= ahead.at_most
    return looks, shown, int(held)


def measure_set(job: tuple[Path, list[Mapping[str, Any]], int]) -> tuple[str, dict[str, Any]]:
    """All methods on one set, and when ours stop, from random starts."""
    path, studies, replays = job
    records, labels = read(path)
    found: dict[str, Any] = {"records": len(labels), "relevant": int(labels.sum()), "methods": {}}
    with setsearch_ranks(records) as ours:
        for name, rank in (ours | asreview_ranks(records, labels)).items():
            runs, seconds = [], list[float]()
            for study in studies[:STUDIES]:
                ordered, times = review(rank, labels, study["prior_inclusions"], study["prior_exclusions"])
                runs.append(measures(ordered))
                seconds += times
            means = {key: round(float(np.mean([run[key] for run in runs])), 4) for key in runs[0]}
            found["methods"][name] = means | {"ms": round(1000 * float(np.median(seconds)), 1)}
            print(path.name, name, means, file=sys.stderr, flush=True)
        chance, step = random.Random(path.name), max(10, len(labels) // 30)
        orders = [review(ours[OURS], labels, *start(labels, chance), step)[0] for _ in range(replays)]
        found["stops"] = [stops(order) for order in orders]
        found["left: looks, shown, held"] = np.sum([told(order) for order in orders], axis=0).tolist()
    return path.name.split(".")[0], found


def start(labels: Any, chance: random.Random) -> tuple[list[int], list[int]]:
    """One relevant record and one that is not."""
    return [chance.choice(np.flatnonzero(labels).tolist())], [chance.choice(np.flatnonzero(labels == 0).tolist())]


def summary(sets: Mapping[str, Any]) -> dict[str, Any]:
    """Means over sets with bootstrap intervals over sets; recall and work saved at the stops."""
    draws = np.random.default_rng(0).integers(0, len(sets), (RESAMPLES, len(sets)))
    methods: dict[str, Any] = {}
    for method in next(iter(sets.values()))["methods"]:
        rows = [own["methods"][method] for own in sets.values()]
        for key in ("loss", "wss95", "r10"):
            values = np.array([row[key] for row in rows])
            low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
            methods.setdefault(method, {})[key] = [round(float(x), 4) for x in (values.mean(), low, high)]
    recalls, saved = np.array([stop for own in sets.values() for stop in own["stops"]] or [(np.nan, np.nan)]).T
    kept = {"replays": len(recalls), "promise kept": float(np.mean(recalls >= RECALL)), "saved": float(np.mean(saved))}
    return {"methods": methods, "stopping": kept | {"recall": float(np.mean(recalls))}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--replays", type=int, default=1000)
    given = parser.parse_args()
    paths = sorted(given.data.glob("*.csv.gz"), key=lambda path: -path.stat().st_size)
    studies = [json.loads(line) for line in (given.data / "priors.jsonl").read_text().splitlines()]
    jobs = [
        (path, [s for s in studies if s["dataset_id"] == path.name.split(".")[0]], given.replays // len(paths) + 1)
        for path in paths
    ]
    with Pool(2) as pool:
        sets = dict(pool.imap(measure_set, jobs))
    versions = {"python": platform.python_version(), "numpy": np.__version__, "setsearch": setsearch.__version__}
    if find_spec("asreview"):
        versions["asreview"] = version("asreview")
    result = {"versions": versions, "cpus": os.cpu_count(), "sets": sets, "summary": summary(sets)}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result["summary"], indent=1))


if __name__ == "__main__":
    main()
