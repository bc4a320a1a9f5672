"""What fields of the same items are worth together: each alone, all of them, and all with one of pure noise.

    python benchmarks/fields.py DATA

DATA is a folder with movies.csv and ratings.csv of MovieLens, or with the lists of a Debian mirror as apt stores them
(main_binary-amd64_Packages.lz4 and i18n_Translation-en.lz4, which apt-helper unpacks), or with files of BibTeX, such as
Debian's texlive-bibtex-extra has in bibtex/bib/beebe, or with such folders.

Films have users who like them, genres, a year and words of their titles; sets are the likes of sixty users, which are
left out. Packages have descriptions, tags, dependencies and a section; sets are sections, tags and maintainers. Papers
have titles, some abstracts, authors, a journal, keywords and a year; sets are the papers of an author, a journal, a
keyword. Needed packages are those that three others depend on: these are their users, beside tags, a section, a size
and words of a line; sets are what sixty packages depend on, which are left out. Genres of films, and sections and tags
of needed packages, are sets, too. What says a set outright is left out of the fields.

Mean average precision of the rest of a set, from one example and from three. Writes results/fields.json.
"""

import argparse
import csv
import gzip
import json
import random
import re
import sqlite3
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import setsearch
from setsearch import Item
from setsearch.indexing.references.bibtex import read_bibtex
from setsearch.indexing.references.items import columns_of
from setsearch.indexing.references.reference import Reference

RESULTS = Path(__file__).parent / "results" / "fields.json"
EXAMPLES = 1, 3
USERS, MANY, LIKED, LEAST_LIKES = 60, 20, 4.0, 3
EVERY = 4  # of so many packages, one
MOST_SETS, SMALLEST, LARGEST, DRAWS = 40, 12, 600, 3
NOISE, NOISES = 50, 3  # names, and how many an item has
PACKAGES, TEXTS = "*_dists_*_main_binary-amd64_Packages.lz4", "*_main_i18n_Translation-en.lz4"
DROPPED_FACETS = ("role::", "implemented-in::", "interface::", "special::", "suite::")  # not what a set is about


class Collection(NamedTuple):
    """Items of a relation, and sets among them."""

    relation: tuple[str, str]
    items: Sequence[Item]
    sets: Mapping[str, Sequence[str]]


def films(folder: Path) -> Iterator[tuple[str, Collection]]:
    ratings = next(iter(folder.glob("ratings.csv*")))
    likes = defaultdict(set)
    with gzip.open(ratings, "rt") if ratings.suffix == ".gz" else ratings.open() as file:
        for row in csv.DictReader(file):
            if float(row["rating"]) >= LIKED:
                likes[row["userId"]].add(row["movieId"])
    chosen, by_film = drawn(likes)
    items = []
    for row in csv.DictReader((folder / "movies.csv").open()):
        if len(own := sorted(by_film[row["movieId"]])) >= LEAST_LIKES:
            year = re.search(r"\((\d{4})\)", row["title"])
            words = re.findall(r"[a-z]{4,}", row["title"].lower())
            fields = {"genre": row["genres"].split("|"), "title": words, "year": float(year[1]) if year else None}
            items.append(Item(row["movieId"], own, None, None, fields))
    yield "films: held-out likes", held_out(("film", "user"), items, chosen)
    yield "films: genres", without_field(("film", "user"), items, "genre")


def drawn(likes: Mapping[str, set[str]]) -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """What some users like, drawn at random from those who like many items; and who else likes each item."""
    users = sorted(user for user, own in likes.items() if len(own) >= MANY)
    random.Random(1).shuffle(users)
    chosen, by_item = {user: likes[user] for user in users[:USERS]}, defaultdict(list)
    for user in likes.keys() - chosen.keys():
        for item in likes[user]:
            by_item[item].append(user)
    return chosen, by_item


def held_out(relation: tuple[str, str], items: Sequence[Item], likes: Mapping[str, set[str]]) -> Collection:
    """Items, and what users like who are not among their features."""
    known = {item.id for item in items}
    return Collection(relation, items, {user: sorted(own & known) for user, own in likes.items()})


def without_field(
    relation: tuple[str, str], items: Sequence[Item], name: str, dropped: tuple[str, ...] = ()
) -> Collection:
    """Items without a field, and the sets that it made."""
    sets: defaultdict[str, list[str]] = defaultdict(list)
    rest = []
    for item in items:
        fields = dict(item.fields or {})
        own: Any = fields.pop(name)
        rest.append(item._replace(fields=fields))
        for value in [own] if isinstance(own, str) else own or ():
            if not value.startswith(dropped or "\0"):
                sets[value].append(str(item.id))
    return Collection(relation, rest, sets)


def unpacked(file: Path) -> Iterator[dict[str, str]]:
    """The paragraphs of a list of apt."""
    text = subprocess.run(
        ["/usr/lib/apt/apt-helper", "cat-file", file], capture_output=True, check=True
    ).stdout.decode()
    for paragraph in text.split("\n\n"):
        yield {
            key: re.sub(r"\n ?\.?", " ", value).strip()
            for key, value in re.findall(r"(?m)^([\w-]+):((?:.|\n )*)", paragraph)
        }


def list_of_packages(folder: Path) -> Path:
    return max(folder.glob(PACKAGES), key=lambda path: path.stat().st_size)


def names_in(dependencies: str) -> set[str]:
    return {re.split(r"[\s(:]", part.strip())[0] for part in re.split(r"[,|]", dependencies)} - {""}


def tags_of(own: Mapping[str, str]) -> list[str]:
    return re.findall(r"\S+::[^\s,]+", own.get("Tag", ""))


def needed(folder: Path) -> Iterator[tuple[str, Collection]]:
    rows = {own["Package"].strip(): own for own in unpacked(list_of_packages(folder)) if own}
    needs = {name: names_in(f"{own.get('Depends', '')},{own.get('Recommends', '')}") for name, own in rows.items()}
    chosen, by_package = drawn(needs)
    items = []
    for name, own in sorted(rows.items()):
        if len(of_name := sorted(by_package[name])) >= LEAST_LIKES:
            words, size = re.findall(r"[a-z]{4,}", own["Description"].lower()), own.get("Installed-Size")
            fields: dict[str, Any] = {"tags": tags_of(own), "section": own.get("Section", "").strip(), "line": words}
            fields["size"] = float(size) if size else None
            items.append(Item(name, of_name, None, None, fields))
    relation = "package", "user"
    yield "needed packages: held-out users", held_out(relation, items, chosen)
    yield "needed packages: sections", without_field(relation, items, "section")
    yield "needed packages: tags", without_field(relation, items, "tags", DROPPED_FACETS)


def packages(folder: Path) -> Iterator[tuple[str, Collection]]:
    texts = {
        own["Description-md5"]: own["Description-en"] for path in folder.glob(TEXTS) for own in unpacked(path) if own
    }
    rows = [own for own in unpacked(list_of_packages(folder)) if own and hash_of(own["Package"]) % EVERY == 0]
    sets: dict[str, dict[str, list[str]]] = {
        "section": defaultdict(list),
        "tags": defaultdict(list),
        "maintainer": defaultdict(list),
    }
    values = {}
    for own in rows:
        name = own["Package"].strip()
        tags, depends = tags_of(own), names_in(own.get("Depends", ""))
        text = texts.get(own.get("Description-md5", "").strip()) or own["Description"]
        section = own.get("Section", "").strip()
        values[name] = f"{name} {text}", {"tags": tags, "depends": sorted({*depends, name}), "section": section}
        sets["section"][section].append(name)
        sets["maintainer"][own["Maintainer"]].append(name)
        for tag in tags:
            if not tag.startswith(DROPPED_FACETS):
                sets["tags"][tag].append(name)
    for family, own_sets in sets.items():
        items = [
            Item(name, text, None, None, {key: own for key, own in fields.items() if key != family})
            for name, (text, fields) in values.items()
        ]
        yield f"packages: {family}", Collection(("documents", "terms"), items, own_sets)


def papers(folder: Path) -> Iterator[tuple[str, Collection]]:
    found: dict[str, Reference] = {}
    for file in sorted(folder.glob("*.bib")):
        with suppress(ValueError):  # after all others, of entries that are broken
            for reference in read_bibtex(file.read_text("latin-1")):
                found.setdefault(reference.key.lower(), reference)
    items = []
    for key, own in found.items():
        if own.first("title") and own.values("author"):
            columns = columns_of(own)
            fields = {name: columns[name] for name in ("authors", "journal", "keywords", "year")}
            items.append(Item(key, f"{own.first('title')} {own.first('abstract')}", None, None, fields))
    for family in ("authors", "journal", "keywords"):
        yield f"papers: {family}", without_field(("documents", "terms"), items, family)


def is_papers(folder: Path) -> bool:
    return any(folder.glob("*.bib"))


def hash_of(name: str) -> int:
    return sum(ord(c) * 31**place for place, c in enumerate(name.strip()))


def average_precision(scores: Any, truth: Sequence[int]) -> float:
    places = np.argsort(np.argsort(-scores, kind="stable"))[truth] + 1
    places.sort()
    return float(np.mean(np.arange(1, len(places) + 1) / places))


def measured(collection: Collection, noisy: bool, draws: random.Random) -> dict[str, list[float]]:
    """The mean average precision of each field, and of all, from each number of examples."""
    items = collection.items
    if noisy:
        made = random.Random(3)
        noise = [[f"n{made.randrange(NOISE)}" for _ in range(NOISES)] for _ in items]
        items = [
            own._replace(fields={**(own.fields or {}), "noise": what}) for own, what in zip(items, noise, strict=True)
        ]
    index = setsearch.open(sqlite3.connect(":memory:"), contexts="off")
    index.add(items, collection.relation)
    reading = index.items(collection.relation[0])
    chosen = [name for name, own in sorted(collection.sets.items()) if SMALLEST <= len(own) <= LARGEST]
    draws.shuffle(chosen)
    precise: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in EXAMPLES])
    fields = reading.defaults.fields
    for name in (chosen[:MOST_SETS] if len(chosen) > USERS else chosen) * DRAWS:
        seeds = draws.sample(collection.sets[name], max(EXAMPLES))
        for place, count in enumerate(EXAMPLES):
            for way in ("all",) if noisy else (*fields, "all"):
                with reading.scores(seeds[:count], by=None if way == "all" else way) as (own, scores):
                    others = [item for item in collection.sets[name] if item not in seeds[:count]]
                    precise[way][place].append(average_precision(scores, own.resolve_all(others)))
    return {way: [float(np.mean(values)) for values in own] for way, own in precise.items()}


def main(folders: Iterable[Path]) -> None:
    rows = []
    for folder in folders:
        readers = (
            (films,) if (folder / "movies.csv").exists() else (papers,) if is_papers(folder) else (packages, needed)
        )
        for label, collection in (own for read in readers for own in read(folder)):
            found = measured(collection, False, random.Random(2))
            found["with noise"] = measured(collection, True, random.Random(2))["all"]
            best = [
                max(own) for own in zip(*(found[way] for way in found if way not in ("all", "with noise")), strict=True)
            ]
            found["all / best"] = [a / b for a, b in zip(found["all"], best, strict=True)]
            found["noise / all"] = [a / b for a, b in zip(found["with noise"], found["all"], strict=True)]
            print(f"{label}: {len(collection.items):,} items")
            for way, own in found.items():
                print(f"  {way:12}", "  ".join(f"{value:.4f}" for value in own), flush=True)
            rows.append({"family": label, "items": len(collection.items), "precision": found})
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    inside = [data, *sorted(path for path in data.iterdir() if path.is_dir())]
    main(
        [own for own in inside if (own / "movies.csv").exists() or is_papers(own) or [*own.glob(PACKAGES)]]
        or sys.exit(f"no data in {data}")
    )
