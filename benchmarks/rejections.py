"""What rejections give: some examples, and the best-ranked items that are not in the set, rejected.

    python benchmarks/rejections.py DATA

DATA as for relevance.py. Three methods: rejected items are left out (gamma 0), subtracted (gamma 0.1), or learned from
(the default). All leave the same items out. Two questions: the mean average precision of the rest of the set after
some rejections at once; and, from two examples on, how much of the set is found while a person says yes or no to the
first item, thirty times (mean recall). Writes results/rejections.json.
"""

import argparse
import csv
import gzip
import json
import platform
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np

import setsearch

RESULTS = Path(__file__).parent / "results" / "rejections.json"
MARKED = ((1, 1), (3, 1), (5, 1), (5, 5))  # accepted, rejected
METHODS: Mapping[str, dict[str, Any]] = {"left out": {"gamma": 0}, "gamma 0.1": {"gamma": 0.1}, "learned": {}}
MOST_SETS, DRAWS, STEPS, LEAST, LIKED = 30, 2, 30, 10, 4.0
Sets = Mapping[str, list[str]]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


def titled_texts(path: Path) -> Iterator[tuple[str, str]]:
    """The documents of the sets of a file: ids, and texts with their titles."""
    for row in lines(path.with_name("docs.jsonl.gz")):
        yield row["id"], f"{row.get('title') or ''}\n{row['text']}"


@contextmanager
def opened(path: Path) -> Iterator[tuple[setsearch.Index, Any, Sets]]:
    """An index, a reading and its sets: of a folder of documents, of words, or of films."""
    with tempfile.TemporaryDirectory() as place, setsearch.open(f"{place}/a.db", create=True, **how(path)) as index:
        if path.name.startswith("ratings"):
            likes: dict[str, dict[str, int]] = {}
            with gzip.open(path, "rt") as file:
                for row in csv.DictReader(file):
                    if float(row["rating"]) >= LIKED:
                        likes.setdefault(row["movieId"], {})[row["userId"]] = int(2 * float(row["rating"]))
            index.add(((film, own) for film, own in likes.items() if len(own) >= LEAST), ("film", "user"))
            genres: dict[str, list[str]] = {}
            with (path.parent / "movies.csv").open() as file:
                for row in csv.DictReader(file):
                    for genre in row["genres"].split("|"):
                        genres.setdefault(genre, []).append(row["movieId"])
            yield index, index.items("film"), genres
        elif path.name == "sets.json":
            index.add(titled_texts(path))
            yield index, index.items("documents"), json.loads(path.read_text())
        else:
            index.add((row["id"], row["text"], row.get("title")) for row in lines(path))
            index.refresh("now")
            yield index, index.items("terms"), json.loads((path.parent / "classes.json").read_text())


def how(path: Path) -> dict[str, Any]:
    if path.name == "sets.json":
        return {"language": "english", "contexts": "off"}
    return {} if path.name.startswith("ratings") else {"contexts": "on"}


def precision(ranked: list[str], members: set[str]) -> float:
    places = [rank for rank, name in enumerate(ranked, 1) if name in members]
    return float(np.mean([number / rank for number, rank in enumerate(places, 1)])) if places else 0.0


def at_once(reading: Any, members: list[str], n_accepted: int, n_rejected: int, draw: int) -> dict[str, float]:
    """Average precision of the rest of a set after some rejections."""
    accepted = random.Random(f"{members[0]} {draw}").sample(members, n_accepted)
    first = [hit.item for hit in reading.expand(accepted, n_rejected + len(members))]
    rejected = [name for name in first if name not in members][:n_rejected]
    found, n_items = {}, reading.item_count()
    for name, options in METHODS.items():
        hits = reading.expand(accepted, n_items, exclude=rejected, **options)
        found[name] = precision([hit.item for hit in hits], set(members))
    return found


def one_by_one(reading: Any, members: list[str]) -> dict[str, float]:
    """Mean recall while a person says yes or no to what is first."""
    found = {}
    for name, options in METHODS.items():
        accepted, rejected, recalls = random.Random(members[0]).sample(members, 2), list[str](), list[float]()
        for _ in range(STEPS):
            best = reading.expand(accepted, 1, exclude=rejected, **options)[0].item
            (accepted if best in members else rejected).append(best)
            recalls.append((len(accepted) - 2) / min(len(members) - 2, STEPS))
        found[name] = float(np.mean(recalls))
    return found


def measure(path: Path) -> tuple[str, dict[str, Any]]:
    """All questions on one collection; the share of sets for which learning is worse than leaving out."""
    with opened(path) as (_, reading, sets):
        with reading.fields(**({"by": "both"} if reading.name == "terms" else {})) as fields:
            known = {name: sorted({own for own in members if fields.knows(own)}) for name, members in sets.items()}
        fitting = [members for members in known.values() if len(members) >= LEAST]
        chosen = random.Random(0).sample(fitting, min(MOST_SETS, len(fitting)))
        found: dict[str, Any] = {}
        for marked in MARKED:
            runs = [at_once(reading, members, *marked, draw) for members in chosen for draw in range(DRAWS)]
            found["{} + {}".format(*marked)] = summary(runs)
        found[f"{STEPS} decisions"] = summary([one_by_one(reading, members) for members in chosen])
    name = path.parent.name if path.name in ("sets.json", "ratings.csv.gz") else path.name.split(".")[0]
    print(name, json.dumps(found), file=sys.stderr, flush=True)
    return name, found


def summary(runs: list[dict[str, float]]) -> dict[str, float]:
    means = {name: round(float(np.mean([run[name] for run in runs])), 4) for name in METHODS}
    worse = float(np.mean([run["learned"] < run["left out"] - 1e-9 for run in runs]))
    return means | {"runs": len(runs), "worse": round(worse, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    paths = [*sorted(data.glob("*/sets.json")), *sorted(data.glob("*/ratings.csv.gz"))]
    paths += sorted((data / "words").glob("*.jsonl.gz"))
    with Pool(2) as pool:
        found = dict(pool.imap_unordered(measure, paths))
    versions = {"python": platform.python_version(), "setsearch": setsearch.__version__, "numpy": np.__version__}
    RESULTS.write_text(json.dumps({"versions": versions, "collections": found}, indent=1, sort_keys=True) + "\n")
    print(f"wrote {RESULTS}", file=sys.stderr)


if __name__ == "__main__":
    main()
