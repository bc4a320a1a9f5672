"""The paper's tables as far as data allow, as Markdown on stdout: the paper's model beside our default.

    python benchmarks/paper_tables.py DATA > benchmarks/results/paper-tables.md

DATA is what benchmarks/relevance.py describes. The paper's collections (Grolier, EachMovie, NIPS) are not public:
table 1 is on a generated collection of Grolier's size, table 2 on a dictionary, table 3 on MovieLens with genres as
truth, table 4 on profiles of countries instead of authors. Table 5 was a study with people.
"""

import csv
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import setsearch

# Of the size of the paper's encyclopedia (30,991 x 15,276, 2.4 M entries), whose frequent words are left out.
DOCUMENTS, TERMS, ENTRIES, LEFT_OUT = 31_000, 15_000, 2_400_000, 30
PAPER: dict[str, Any] = {"model": "bernoulli", "strength": 2.0, "binarize": "twice-mean"}
WORDS = (("warrior", "soldier"), ("animal",), ("fish", "water", "coral"))
FILMS = (
    ("Gone with the Wind (1939)", "Casablanca (1942)"),
    ("Mary Poppins (1964)", "Toy Story (1995)"),
    ("Cutthroat Island (1995)", "Last Action Hero (1993)"),
)
SHOWN = 5  # hits of each list
COUNTRIES = (("France", "Germany", "Italy"), ("Kenya", "Uganda"), ("Fiji", "Samoa", "Tonga"))


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("usage: python benchmarks/paper_tables.py DATA > benchmarks/results/paper-tables.md")
    data = Path(sys.argv[1])
    about = " ".join((__doc__ or "").split("\n\n")[2].split())
    print("# The paper's tables\n")
    print(f"Made by `python benchmarks/paper_tables.py DATA` with setsearch {setsearch.__version__}. {about}\n")
    print("“Paper” is the paper's model and preprocessing, `--model bernoulli --binarize twice-mean --by documents`.\n")
    with tempfile.TemporaryDirectory() as place:
        times = [sizes_and_times(Path(place))]
        words(data / "words" / "gcide.jsonl.gz", Path(place), times)
        films(data / "movielens-latest-small", Path(place), times)
        countries(data / "factbook" / "docs.jsonl.gz", Path(place), times)
    print("## Table 1: sizes and times\n")
    print("| collection | items | features | non-zero | index, s | preprocessing, s | query, ms |")
    print("|" + "---|" * 7)
    for row in times:
        print("| " + " | ".join(map(str, row)) + " |")
    print("\nThe paper (Matlab, 2 GHz Pentium 4): Grolier 6.1 s of preprocessing and 1.1 s a query, NIPS .56 and .34,")
    print("EachMovie 3.22 and .47. Preprocessing is here what the first query derives: thresholds and base.")


def timed(label: str, index: setsearch.Index, name: str, seeds: list[str], build: float) -> list[Any]:
    """A row of table 1."""
    reading = index.items(name)
    started = time.perf_counter()
    reading.expand(seeds, by="documents" if name == "terms" else None, **PAPER)
    first = time.perf_counter() - started
    again = []
    for _ in range(20):
        started = time.perf_counter()
        reading.expand(seeds, by="documents" if name == "terms" else None, **PAPER)
        again.append(time.perf_counter() - started)
    (found,) = [r for r in index.info()["readings"] if r["items"] == name]
    counts = [f"{found[key]:,}" for key in ("item_count", "feature_count", "posting_count")]
    return [label, *counts, f"{build:.1f}", f"{first:.2f}", f"{1000 * sorted(again)[10]:.2f}"]


def sizes_and_times(place: Path) -> list[Any]:
    texts = generated()
    with setsearch.open(place / "a.db", create=True, contexts="off") as index:
        started = time.perf_counter()
        index.add(texts)
        return timed("generated, Grolier's size", index, "terms", ["w10", "w20"], time.perf_counter() - started)


def generated() -> list[tuple[str, str]]:
    """Documents of log-normal length whose words are drawn from the Zipf-Mandelbrot law, with so many entries."""
    rng = np.random.default_rng(0)
    law = 1 / (np.arange(1, TERMS + 1) + LEFT_OUT)
    cumulative, relative = np.cumsum(law / law.sum()), rng.lognormal(0, 0.6, DOCUMENTS)
    mean = ENTRIES / DOCUMENTS
    for _ in range(4):
        lengths = np.maximum(1, np.rint(relative / relative.mean() * mean)).astype(np.int64)
        words = np.searchsorted(cumulative, rng.random(int(lengths.sum()))).clip(max=TERMS - 1)
        entries = len(np.unique(np.repeat(np.arange(DOCUMENTS), lengths) * TERMS + words))
        if abs(entries / ENTRIES - 1) < 0.01:
            break
        mean *= ENTRIES / entries
    names = np.array([f"w{number}" for number in range(TERMS)], object)[words]
    return [(f"d{n}", " ".join(own)) for n, own in enumerate(np.split(names, np.cumsum(lengths)[:-1]))]


def words(path: Path, place: Path, times: list[Any]) -> None:
    print("## Table 2: words of a dictionary\n")
    with setsearch.open(place / "w.db", create=True, contexts="on") as index:
        started = time.perf_counter()
        with gzip.open(path, "rt") as file:
            index.add((row["id"], row["text"]) for row in map(json.loads, file))
        times.append(timed("dictionary, words", index, "terms", ["fish", "water"], time.perf_counter() - started))
        reading = index.items("terms")
        for seeds in WORDS:
            found = {
                "paper": reading.expand(seeds, by="documents", **PAPER),
                "default": reading.expand(seeds),
            }
            side_by_side(seeds, {name: [hit.item for hit in hits] for name, hits in found.items()})


def films(folder: Path, place: Path, times: list[Any]) -> None:
    print("## Table 3: films, liked with 3 stars or more\n")
    with (folder / "movies.csv").open() as file:
        rows = {row["movieId"]: (row["title"].strip(), row["genres"]) for row in csv.DictReader(file)}
    titles = {
        (f"{name.rsplit(', The (', 1)[0]} ({name.rsplit('(', 1)[1]}" if ", The (" in name else name): id
        for id, (name, _) in rows.items()
    }
    likes: dict[str, dict[str, int]] = {}
    with gzip.open(folder / "ratings.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if float(row["rating"]) >= 3:
                likes.setdefault(row["movieId"], {})[row["userId"]] = 1
    with setsearch.open(place / "f.db", create=True) as index:
        started = time.perf_counter()
        index.add(((id, own, rows[id][0]) for id, own in likes.items()), ("film", "user"))
        some = [titles[name] for name in FILMS[0]]
        times.append(timed("MovieLens, films", index, "film", some, time.perf_counter() - started))
        reading = index.items("film")
        for names in FILMS:
            ids = [titles[name] for name in names]
            found = {
                "paper": reading.expand(ids, model="bernoulli"),
                "default": reading.expand(ids),
            }
            side_by_side(names, {name: [", ".join(rows[hit.item]) for hit in hits] for name, hits in found.items()})


def countries(path: Path, place: Path, times: list[Any]) -> None:
    print("## Table 4: countries in the place of authors, with the top words of the cluster\n")
    with setsearch.open(place / "c.db", create=True, contexts="off") as index:
        started = time.perf_counter()
        with gzip.open(path, "rt") as file:
            index.add((row["title"], row["text"]) for row in map(json.loads, file))
        times.append(timed("country profiles", index, "documents", list(COUNTRIES[0]), time.perf_counter() - started))
        reading = index.items("documents")
        for seeds in COUNTRIES:
            found = {
                "paper": [hit.item for hit in reading.expand(seeds, **PAPER)],
                "its top words": [part.feature for part in reading.features(seeds, **PAPER)],
                "default": [hit.item for hit in reading.expand(seeds)],
                "default's top words": [part.feature for part in reading.features(seeds)],
            }
            side_by_side(seeds, found)


def side_by_side(seeds: Iterable[str], columns: dict[str, list[str]]) -> None:
    """A query, and a line for each list of what it found."""
    print(f"**{', '.join(seeds)}**\n")
    for name, found in columns.items():
        print(f"- {name}: {'; '.join(found[:SHOWN])}")
    print()


if __name__ == "__main__":
    main()
