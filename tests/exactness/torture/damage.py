"""Flipped bytes of a database file: `check` finds each, or it makes no difference to any answer."""

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import numpy as np

import setsearch
from setsearch import Columns
from setsearch.errors import SetsearchError

SENTENCES = [
    "the lion and the tiger are big cats of the savanna",
    "a lion eats meat, a tiger eats meat too",
    "wheat and barley grow in the fields",
    "oats, barley and rye grow in cold fields",
    "the leopard is a cat with spots",
]


COUNTED = ("flipped", "found", "mended", "harmless", "in the host's rows")


def make(path: Path) -> None:
    """A database with something of every kind: texts, contexts, stems, a relation, numbers, sets, a tracked table."""
    host = sqlite3.connect(path)
    host.execute("create table likes (id integer primary key, film text, user text)")
    rows = [(f"film{n % 7}", f"user{n * n % 11}") for n in range(40)]
    host.executemany("insert into likes (film, user) values (?, ?)", rows)
    host.commit()
    host.close()
    with setsearch.open(path, language="english", contexts="on") as index:
        index.add([(f"d{n}", " ".join(SENTENCES[i % 5] for i in range(n, n + 4)), f"Title {n}") for n in range(12)])
        index.add_table("likes", Columns(items="film", features="user"), track=True)
        index.add_numbers([(f"x{n}", [n * 1.5, -n / 7]) for n in range(9)], ["height", "weight"], "body")
        kept = index.set("cats", "documents")
        kept.accept("d1", "d2")
        kept.reject("d5")
        kept.save()
        index.refresh()
        everything(index)
    host = sqlite3.connect(path)
    host.execute("update likes set user = 'user99' where id = 5")
    host.commit()
    host.execute("pragma journal_mode = delete")
    host.close()


def everything(index: setsearch.Index) -> list[object]:
    """Answers that depend on every byte that matters."""
    found: list[object] = [index.sets(), index.set("cats").accepted, index.set("cats").rejected]
    for name, seeds in (
        ("documents", ["d1", "d2"]),
        ("terms", ["lion", "tiger"]),
        ("film", ["film1"]),
        ("user", ["user1"]),
        ("body", ["x1", "x2"]),
    ):
        reading = index.reading(name)
        found.append(reading.expand(seeds, 999, keep_seeds=True, explain=True))
        if name != "body":
            found.append(reading.expand(seeds, 999, model="bernoulli"))
            found.append(reading.features(seeds, 999))
    found.append(index.items("documents").expand([], 9, like=["wheat and barley"], binarize="presence"))
    return found


def torture(folder: Path, times: int, seed: int = 0) -> dict[str, int]:
    """Flip `times` single bits, each in a fresh copy; raises AssertionError for one that is not found nor harmless."""
    whole, copy = folder / "whole.db", folder / "flipped.db"
    make(whole)
    data, host_rows = whole.read_bytes(), _host_rows(whole)
    with setsearch.open(whole) as index:
        expected = everything(index)
        refreshed_expected = _refreshed(index)
        mended_expected = everything(index)  # a repair reads tables again
    whole.write_bytes(data)
    rng, counts = random.Random(seed), dict.fromkeys(COUNTED, 0)
    for _ in range(times):
        place, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        copy.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
        for aside in (copy.with_name("flipped.db-wal"), copy.with_name("flipped.db-shm")):
            aside.unlink(missing_ok=True)
        counts["flipped"] += 1
        if is_found(copy):
            counts["found"] += 1
            with suppress(SetsearchError), np.errstate(all="ignore"), setsearch.open(copy) as index:
                everything(index)  # an answer, or an error of ours
            counts["mended"] += is_mended(copy, mended_expected)
            continue
        with setsearch.open(copy) as index:
            assert everything(index) == expected, f"bit {bit} of byte {place} changes an answer, and is not found"
            if _host_rows(copy) != host_rows:  # the host's own words: nobody but the host can know
                counts["in the host's rows"] += 1
                continue
            assert _refreshed(index) == refreshed_expected, f"bit {bit} of byte {place} hides a change"
        counts["harmless"] += 1
    return counts


def _host_rows(path: Path) -> list[tuple[object, ...]]:
    host = sqlite3.connect(path)
    host.text_factory = bytes
    rows = host.execute("select * from likes").fetchall()
    host.close()
    return rows


def _refreshed(index: setsearch.Index) -> object:
    index.refresh()
    return index.items("film").expand(["film1"], 99, keep_seeds=True, explain=True)


def is_found(path: Path) -> bool:
    """Whether `check` tells of something, and in one line."""
    try:
        with setsearch.open(path) as index:
            problems = index.check()
    except SetsearchError as error:
        problems = [str(error)]
    return bool(problems)


def is_mended(path: Path, expected: list[object]) -> bool:
    """Whether a repair gives all answers back. It may not; but then it must say so, or the answers must be right."""
    try:
        with setsearch.open(path) as index:
            index.repair()
            if index.check():
                return False
            return everything(index) == expected
    except SetsearchError:
        return False
