"""How well sets are completed: our models and other methods on collections with known sets, in one run.

    python benchmarks/relevance.py DATA     # measures, writes results/relevance.json, prints the table
    python benchmarks/relevance.py          # prints the table of the stored results

DATA holds some of these: a folder for each collection of documents with docs.jsonl.gz (id, title, text)
and sets.json (set -> ids); words/, with NAME.jsonl.gz and classes.json (class -> words); and movielens-latest-small/,
with ratings.csv.gz and movies.csv.
"""

import argparse
import csv
import gzip
import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from baselines import Baselines, count_matrix, neighbors_of, vectors_alone
from scipy import sparse
from scipy.sparse.linalg import svds

import setsearch
from setsearch.answers.reading import Reading
from setsearch.learning.choices import measures, weights_of
from setsearch.learning.evaluation import Design, Evaluation, Score, evaluate
from setsearch.memory.fields import Fields
from setsearch.models.defaults import Defaults
from setsearch.options import ModelOptions
from setsearch.search.passes import Weighing

NEIGHBORS = " (neighbors only)"  # words by the neighbors on both sides alone
RESULTS = Path(__file__).parent / "results" / "relevance.json"
SEEDS = (1, 3, 10)
LEAST = 6  # members of a set of documents
LEAST_WORDS = 8
LEAST_LIKES = 10  # of a film whose genre is asked for
LIKED = 4.0
DIMENSIONS = 200
ONE_PASS: ModelOptions = {"model": "lift", "feedback": 0.0}
DEFAULT: ModelOptions = {"model": "lift"}
OURS = ("lift", "bernoulli", "multinomial", "poisson")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


def documents(folder: Path, place: Path, encoder: Any = None) -> dict[str, Any]:
    """A collection of documents, with and without stems, and with vectors of an encoder; and without its titles."""
    results = {}
    rows = [(str(row["id"]), *apart(row)) for row in read_lines(folder / "docs.jsonl.gz")]
    ways: dict[str, dict[str, Any]] = {"words": {}, "stems": {"language": "english"}}
    if encoder is not None:
        ways["vectors"] = ways["stems"] | {"encoder": encoder}
    if any(title for _, _, title in rows):
        ways["stems, titles left out"] = ways["stems"] | {"analyzer": "unicode+0-titles"}
    for name, options in ways.items():
        with setsearch.open(place / f"{name}.db", create=True, contexts="off", **options) as index:
            # An encoder reads texts alone.
            index.add((id, f"{title or ''}\n{text}" if name == "vectors" else text, title) for id, text, title in rows)
            sets = {k: v for k, v in json.loads((folder / "sets.json").read_text()).items() if len(v) >= LEAST}
            index.refresh("now")
            results[name] = measured(index, "documents", sets, documents_rivals)
            if name == "stems":
                results[name]["harmed"] = harmed(index.items("documents"), sets)
    return results


def harmed(reading: Reading, sets: Mapping[str, list[str]], draws: int = 10) -> dict[str, float]:
    """Of questions with one and three seeds, the share that lose more than a tenth of their AP by the second pass."""
    chance, shares = random.Random(0), {}
    with reading.fields() as fields:
        ids = fields.item_ids()
        for n_seeds in (1, 3):
            lost = []
            for members in (fields.resolve_known(sets[name]) for name in sorted(sets)):
                for _ in range(draws if len(members) >= n_seeds + 3 else 0):
                    seeds = np.array(sorted(chance.sample(members, n_seeds)))
                    rest, precisions = ids[~np.isin(ids, seeds)], []
                    for options in ONE_PASS, DEFAULT:
                        scores = weights_of(Weighing(fields, reading.defaults.choose(options)), seeds).scores()[rest]
                        order = np.argsort(-scores, kind="stable")
                        precisions.append(measures(np.isin(rest[order], members), scores[order])[0])
                    lost.append(precisions[1] < 0.9 * precisions[0])
            shares[f"{n_seeds} seeds"] = round(float(np.mean(lost)), 3)
    return shares


def apart(row: Mapping[str, Any]) -> tuple[str, str | None]:
    """Text and title, which is not in the text, too."""
    title = row.get("title") or None
    return row["text"].removeprefix(title or ""), title


def words(path: Path, classes: Mapping[str, list[str]], place: Path) -> dict[str, Any]:
    """Words of a collection, by contexts; without phrases, which are in no set."""
    with setsearch.open(place / "words.db", create=True, contexts="words") as index:
        started = time.perf_counter()
        index.add((row["id"], row["text"], row.get("title")) for row in read_lines(path))
        added = time.perf_counter() - started
        index.refresh("now")
        built = time.perf_counter() - started
        reading = index.items("terms")
        with reading.fields(by="both") as fields:
            known = {name: [w for w in members if fields.knows(w)] for name, members in classes.items()}
        sets = {name: members for name, members in known.items() if len(set(members)) >= LEAST_WORDS}
        found = measured(index, "terms", sets, words_rivals)
        size = (place / "words.db").stat().st_size
    return found | {"seconds to index": added, "seconds with contexts": built, "bytes": size}


def films(folder: Path, place: Path) -> dict[str, Any]:
    """Films that users like: genres as sets, and the other likes of a user who is not in the index."""
    likes: dict[str, dict[str, int]] = {}  # user -> film -> half stars
    with gzip.open(folder / "ratings.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if float(row["rating"]) >= LIKED:
                likes.setdefault(row["userId"], {})[row["movieId"]] = int(2 * float(row["rating"]))
    times: dict[str, int] = {}
    for films_ in likes.values():
        for film in films_:
            times[film] = times.get(film, 0) + 1
    genres: dict[str, list[str]] = {}
    with (folder / "movies.csv").open() as file:
        for row in csv.DictReader(file):
            for genre in row["genres"].split("|"):
                if times.get(row["movieId"], 0) >= LEAST_LIKES:
                    genres.setdefault(genre, []).append(row["movieId"])
    chance = random.Random(0)
    eager = sorted(user for user, own in likes.items() if len(own) >= 2 * LEAST_LIKES)
    held_out = set(chance.sample(eager, min(100, len(eager) // 2)))
    found = {}
    for name, users, sets, least in (
        ("genres", likes, genres, LEAST_LIKES),
        (
            "held-out likes",
            {u: o for u, o in likes.items() if u not in held_out},
            {u: [*likes[u]] for u in held_out},
            1,
        ),
    ):
        by_film: dict[str, dict[str, int]] = {}
        for user, own in users.items():
            for film, stars in own.items():
                if times[film] >= least:
                    by_film.setdefault(film, {})[user] = stars
        with setsearch.open(place / f"{name}.db", create=True) as index:
            index.add(by_film.items(), ("film", "user"))
            found[name] = measured(index, "film", sets, films_rivals, draws=20)
            index.add_latent("film")
            found[f"{name}, latent vectors"] = measured(index, "film", sets, draws=20)
    return found


def measured(
    index: setsearch.Index, name: str, sets: Mapping[str, list[str]], rivals: Any = None, draws: int = 10
) -> dict[str, Any]:
    """MAP and the rest of every method, for each number of seeds."""
    reading = index.items(name)
    found: dict[str, Any] = {}
    for n_seeds in SEEDS:
        fitting = {key: own for key, own in sets.items() if len(own) >= n_seeds + 3}
        if not fitting:
            continue
        with reading.fields() as fields:
            near = neighbors_of(fields)
            more = Baselines(count_matrix(near)).all() | (rivals(fields) if rivals else {})
            if fields.vectors is not None:
                more["vectors alone"] = vectors_alone(fields)
            if len(fields.all) > 1:
                more[f"bernoulli{NEIGHBORS}"] = partial(_by_bernoulli, near, reading.defaults)
            result = evaluate(
                Weighing(fields, reading.defaults.choose({})), fitting, Design(n_seeds, draws), rivals=more
            )
        found[f"N={n_seeds}"] = as_table(result)
    return found


def _by_bernoulli(fields: Fields, defaults: Defaults, seeds: Any) -> Any:
    return weights_of(Weighing(fields, defaults.choose({"model": "bernoulli"})), seeds).scores()


def as_table(found: Evaluation) -> dict[str, Any]:
    rows = {
        row.method: {k: round(v, 4) for k, v in row._asdict().items() if isinstance(v, float)} for row in found.results
    }
    cut = {"f1": round(found.line.f1, 4), "best": round(found.line.best, 4)}
    return {"sets": found.sets, "queries": found.tasks, "methods": rows, "cut": cut}


def films_rivals(fields: Fields) -> dict[str, Score]:
    """Item-based neighbours by adjusted cosine, and factors by alternating least squares."""
    counts = count_matrix(fields)
    users = np.asarray(counts.sum(axis=0)).ravel() / np.maximum(
        np.bincount(counts.indices, minlength=counts.shape[1]), 1
    )
    centred = counts.copy()
    centred.data = centred.data - users[centred.indices]  # minus the mean of its user
    rivals = {"item neighbours, adjusted cosine": cosine(centred)}
    try:
        from implicit.als import AlternatingLeastSquares
    except ImportError:
        return rivals
    model = AlternatingLeastSquares(factors=64, iterations=20, random_state=0, num_threads=1)
    model.fit(sparse.csr_matrix(counts.T), show_progress=False)
    factors = np.asarray(model.item_factors, float)
    gram = factors.T @ factors + model.regularization * np.eye(factors.shape[1])
    rating = float(np.mean(counts.data))

    def as_new_user(seeds: Any) -> Any:
        """The scores of a new user who rated the seeds, folded in by least squares."""
        own = factors[seeds]
        return factors @ np.linalg.solve(gram + (rating - 1) * own.T @ own, rating * own.sum(axis=0))

    return rivals | {"alternating least squares": as_new_user}


def documents_rivals(fields: Fields) -> dict[str, Score]:
    """The centroid of plain tf-idf vectors."""
    counts = count_matrix(fields)
    idf = np.log(counts.shape[0] / np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1))
    counts.data = counts.data * idf[counts.indices]
    return {"tf-idf centroid": cosine(counts)}


def words_rivals(fields: Fields) -> dict[str, Score]:
    """Cosine of positive pointwise mutual information, its truncated SVD, and tf-idf of documents."""
    contexts = count_matrix(fields._replace(all=fields.all[:2]))  # win2 and skip, side by side
    win2 = count_matrix(fields._replace(all=fields.all[:1]))
    inside = count_matrix(fields._replace(all=fields.all[-1:]))
    rivals = {"PPMI cosine": cosine(ppmi(contexts)), "PPMI cosine, win2": cosine(ppmi(win2))}
    start = np.random.default_rng(0).normal(size=min(win2.shape))
    left, strengths, _ = svds(ppmi(win2), k=min(DIMENSIONS, min(win2.shape) - 1), v0=start)
    dense = left * np.sqrt(strengths)
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-12)
    rivals["SVD-200 of PPMI"] = lambda seeds: dense @ dense[seeds].mean(axis=0)
    idf = np.log(inside.shape[0] / np.maximum(np.bincount(inside.indices, minlength=inside.shape[1]), 1))
    weighted = inside.copy()
    weighted.data = (1 + np.log(weighted.data)) * idf[weighted.indices]
    rivals["tf-idf cosine of documents"] = cosine(weighted)
    return rivals


def ppmi(counts: sparse.csr_array) -> sparse.csr_array:
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    by_row, by_column = np.asarray(counts.sum(axis=1)).ravel(), np.asarray(counts.sum(axis=0)).ravel()
    result = counts.copy()
    result.data = np.maximum(0, np.log(counts.data * counts.sum() / by_row[rows] / by_column[counts.indices]))
    return result


def cosine(matrix: sparse.csr_array) -> Score:
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    unit = sparse.csr_array(sparse.diags_array(1 / np.where(norms > 0, norms, 1)) @ matrix)
    return lambda seeds: unit @ np.asarray(unit[seeds].sum(axis=0)).ravel()


def report(found: Mapping[str, Any]) -> Iterator[str]:
    """Lines of Markdown: MAP with each number of seeds, and how many times that of the best method that is not ours.

    Where others lead comes first.
    """
    yield "| MAP with 1, 3 and 10 seeds | lift | bernoulli | lift over the best other |"
    yield "|---|---|---|---|"
    lines = []
    for name, table in tables(found):
        if name.endswith((" words", "vectors", "left out")) or "N=1" not in table:
            continue
        lines.append(row(name, table, "lift"))
        if name.endswith("likes"):
            lines.append(row(f"{name}, `--for likes`", table, "lift, likes"))
    yield from (line for _, line in sorted(lines))


def row(name: str, table: Mapping[str, Any], method: str) -> tuple[float, str]:
    """The mean ratio, and a line of the table: a method of ours, the paper's model, and the best of the others."""
    columns, ratios = [], []
    for seeds in SEEDS:
        maps = {m.removesuffix(NEIGHBORS): found["map"] for m, found in table[f"N={seeds}"]["methods"].items()}
        ratios.append(maps[method] / max(found for m, found in maps.items() if not m.startswith(OURS)))
        columns.append((f"{maps[method]:.3f}", f"{maps['bernoulli']:.3f}", f"{ratios[-1]:.2f}"))
    return float(np.mean(ratios)), f"| {name} | " + " | ".join(map(" ".join, zip(*columns, strict=True))) + " |"


def tables(found: Mapping[str, Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """(collection, results by number of seeds)."""
    for key in sorted(found):
        if "N=3" in found:
            yield name, found
            return
        if isinstance(found[key], dict):
            yield from tables(found[key], f"{name} {key}".strip())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--only", nargs="*", help="names of collections")
    parser.add_argument("--encoder", help="measure documents with vectors too: a model of sentence-transformers")
    given = parser.parse_args()
    if given.data is None:
        print("\n".join(report(json.loads(RESULTS.read_text())["collections"])))
        return
    if not given.data.is_dir():
        sys.exit(
            f"{given.data} is not a folder; give the one that holds the collections (make bench-relevance DATA=...)"
        )
    found: dict[str, Any] = json.loads(RESULTS.read_text())["collections"] if given.only and RESULTS.exists() else {}
    jobs = [(f.parent.name, "documents", f.parent) for f in sorted(given.data.glob("*/sets.json"))]
    jobs += [(f.name.split(".")[0], "words", f) for f in sorted((given.data / "words").glob("*.jsonl.gz"))]
    jobs += [(f.parent.name, "films", f.parent) for f in sorted(given.data.glob("*/ratings.csv.gz"))]
    for name, kind, path in jobs:
        if given.only and name not in given.only:
            continue
        print(name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as place:
            if kind == "documents":
                found[name] = documents(path, Path(place), given.encoder)
            elif kind == "words":
                classes = json.loads((path.parent / "classes.json").read_text())
                found[name] = words(path, classes, Path(place))
            else:
                found[name] = films(path, Path(place))
        found[name]["version"] = setsearch.__version__
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    RESULTS.write_text(json.dumps({"versions": versions, "collections": found}, indent=1, sort_keys=True) + "\n")
    print(f"wrote {RESULTS}", file=sys.stderr)
    print("\n".join(report(found)))


if __name__ == "__main__":
    main()
