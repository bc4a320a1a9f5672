"""Compare the answers of two versions of setsearch, bit by bit.

    python benchmarks/same_answers.py record old.jsonl FOLDER    # with the old version installed
    python benchmarks/same_answers.py record new.jsonl FOLDER    # with the new one
    python benchmarks/same_answers.py compare old.jsonl new.jsonl

The collections are sample_corpus and, where FOLDER holds them, words/gcide.jsonl.gz (a dictionary) and
movielens-latest-small/ratings.csv.gz. Each line of a record is one question: items, their order, every bit of their
scores, and which of them belong. `compare` prints the first questions with different answers and exits with 1.
"""

import csv
import gzip
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import setsearch

ROOT = Path(__file__).parent.parent
MODELS: list[dict[str, Any]] = [
    {},
    {"popularity": 0.5},
    {"binarize": "presence"},
    {"model": "bernoulli"},
    {"model": "bernoulli", "strength": 50.0},
    {"model": "bernoulli", "binarize": "twice-mean"},
    {"model": "x1"},
    {"model": "multinomial"},
    {"model": "poisson"},
]
SIZES = (1, 3, 10)
SETS_OF_A_SIZE = 4
REFUSED = setsearch.SetsearchError


def collections(folder: Path) -> Iterator[tuple[str, list[Any], tuple[str, str]]]:
    """(name, items, names of the relation) of each collection that is there."""
    yield "sample_corpus", list(_documents(ROOT / "sample_corpus" / "wordnet.jsonl")), ("documents", "terms")
    dictionary = folder / "words" / "gcide.jsonl.gz"
    if dictionary.exists():
        yield "dictionary", list(_documents(dictionary)), ("documents", "terms")
    ratings = folder / "movielens-latest-small" / "ratings.csv.gz"
    if ratings.exists():
        users: dict[str, dict[str, int]] = {}
        with gzip.open(ratings, "rt", newline="") as file:
            for row in csv.DictReader(file):
                users.setdefault(row["movieId"], {})[row["userId"]] = int(2 * float(row["rating"]))
        yield "ratings", list(users.items()), ("film", "user")


def record(out: Path, folder: Path) -> None:
    """Ask every collection every question and write the answers."""
    with out.open("w", encoding="utf-8") as file, tempfile.TemporaryDirectory() as temporary:
        for name, items, relation in collections(folder):
            with setsearch.open(Path(temporary) / f"{name}.db", create=True) as index:
                index.add(items, relation)
                names = [item[0] for item in items]
                _write(file, (name, "added"), _answers(index, names, relation))
                changed = random.Random(1).sample(items, 20)
                index.delete([item[0] for item in changed[:10]], relation)
                index.update([(item[0], other[1]) for item, other in zip(changed[10:], items, strict=False)], relation)
                gone = {item[0] for item in changed[:10]}
                names = [name for name in names if name not in gone]
                _write(file, (name, "changed"), _answers(index, names, relation))


def compare(before: Path, after: Path) -> int:
    """How many questions have different answers."""
    old, new = (dict(_lines(path)) for path in (before, after))
    different = [question for question in old if old[question] != new.get(question)]
    for question in different[:10]:
        print(f"{question}\n  {old[question][:200]}\n  {str(new.get(question))[:200]}")
    print(f"{len(old)} questions, {len(different)} with different answers")
    return len(different)


def _write(file: Any, where: tuple[str, str], answers: Iterable[tuple[list[Any], Any]]) -> None:
    for question, answer in answers:
        print(json.dumps([[*where, *question], answer], ensure_ascii=False), file=file)


def _answers(index: Any, names: Sequence[str], relation: tuple[str, str]) -> Iterator[tuple[list[Any], Any]]:
    for items in relation:
        reading = index.items(items)
        for seeds in _seed_sets(index, names, items, relation):
            for options in MODELS:
                yield [items, seeds, options], _expanded(reading, seeds, options)
            for by in ("contexts", "documents", "both") if items == "terms" else ():
                yield [items, seeds, by], _expanded(reading, seeds, {"by": by})
            yield [items, seeds, "exclude"], _expanded(reading, seeds[:1], {"exclude": seeds[1:]})
            for option, value in (("cut", "keep"), ("explain", True), ("keep_seeds", True)):
                yield [items, seeds, option], _expanded(reading, seeds, {option: value})


def _seed_sets(index: Any, names: Sequence[str], items: str, relation: tuple[str, str]) -> Iterator[list[str]]:
    """Sets that share a feature, as users' sets do."""
    chance, of_items, of_features = random.Random(7), index.items(relation[0]), index.items(relation[1])
    most = of_items.item_count() // 20
    for size in SIZES:
        found = 0
        while found < SETS_OF_A_SIZE:
            frequent = [
                name
                for name in of_items.features_of(chance.choice(names))
                if max(size, 20) <= of_items.document_frequency(name) <= most
            ]
            if frequent and items == relation[0]:
                frequent = list(of_features.features_of(chance.choice(frequent)))
            if len(frequent) >= size:
                found += 1
                yield chance.sample(frequent, size)


def _expanded(reading: Any, seeds: list[str], options: dict[str, Any]) -> Any:
    try:
        hits = reading.expand(seeds, **{"k": 20, "cut": "mark", **options})
    except REFUSED as error:
        return type(error).__name__
    return [
        [hit.item, float(hit.score).hex(), hit.belongs, [[p.feature, float(p.weight).hex()] for p in hit.features]]
        for hit in hits
    ]


def _documents(path: Path) -> Iterator[tuple[str, str, str | None]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        for line in file:
            row = json.loads(line)
            yield str(row["id"]), str(row["text"]), row.get("title")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        question, answer = json.loads(line)
        yield json.dumps(question), json.dumps(answer)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", out, folder]:
            record(Path(out), Path(folder))
        case ["compare", before, after]:
            sys.exit(1 if compare(Path(before), Path(after)) else 0)
        case _:
            sys.exit(__doc__)
