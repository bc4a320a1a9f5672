"""Flipped bytes of a database file: `check` finds each, or it makes no difference to any answer."""

import datetime
import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import numpy as np

import setsearch
from setsearch import Columns, Item
from setsearch.errors import SetsearchError

SENTENCES = [
    "the lion and the tiger are big cats of the savanna",
    "a lion eats meat, a tiger eats meat too",
    "wheat and barley grow in the fields",
    "oats, barley and rye grow in cold fields",
    "the leopard is a cat with spots",
]


COUNTED = ("flipped", "found", "wrong answers without a check", "mended", "harmless", "in the host's rows")


def make(path: Path) -> None:
    """A database with all kinds: texts, fields, contexts, stems, a relation, numbers, sets, a tracked table."""
    host = sqlite3.connect(path)
    host.execute("create table likes (id integer primary key, film text, user text)")
    rows = [(f"film{n % 7}", f"user{n * n % 11}") for n in range(40)]
    host.executemany("insert into likes (film, user) values (?, ?)", rows)
    host.commit()
    host.close()
    with setsearch.open(path, language="english", contexts="on") as index:
        texts = [" ".join(SENTENCES[i % 5] for i in range(n, n + 4)) for n in range(12)]
        fields = [{"tags": [f"t{n % 3}"], "year": 1990 + n, "day": datetime.date(2000, 1, n + 1)} for n in range(12)]
        index.add([Item(f"d{n}", texts[n], f"Title {n}", None, fields[n]) for n in range(12)])
        index.add_table("likes", Columns(items="film", features="user"), track=True)
        index.add_numbers([(f"x{n}", [n * 1.5, -n / 7]) for n in range(9)], ["height", "weight"], "body")
        kept = index.set("cats", "documents")
        kept.accept("d1", "d2")
        kept.reject("d5")
        kept.save()
        index.refresh("now")
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
            counts["wrong answers without a check"] += is_wrong(copy, expected)
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


def is_wrong(path: Path, expected: list[object]) -> bool:
    """Whether somebody who asks gets a wrong answer, and no error of ours."""
    with suppress(SetsearchError), np.errstate(all="ignore"), setsearch.open(path) as index:
        return everything(index) != expected
    return False


def stale_pages(folder: Path) -> dict[str, int]:
    """Each page of a database in turn is that of an earlier state: `check` finds it, or it is harmless."""
    path, copy = folder / "stale.db", folder / "stale copy.db"
    make(path)
    before, size = path.read_bytes(), 4096
    with setsearch.open(path) as index:
        text, fields = " ".join(reversed(SENTENCES)), {"year": 2040}
        index.update([Item(f"d{n}", text, None, None, fields) for n in range(4)], ("documents", "terms"))
        index.refresh("now")
        expected = everything(index)
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = delete")
    connection.close()
    after = path.read_bytes()
    counts = dict.fromkeys(("pages", "found", "wrong answers without a check", "harmless"), 0)
    for start in range(size, min(len(before), len(after)), size):
        old = before[start : start + size]
        if old == after[start : start + size]:
            continue
        counts["pages"] += 1
        copy.write_bytes(after[:start] + old + after[start + size :])
        if is_found(copy):
            counts["found"] += 1
            counts["wrong answers without a check"] += is_wrong(copy, expected)
        else:
            with setsearch.open(copy) as index:
                assert everything(index) == expected, f"the page at {start} changes an answer, and is not found"
            counts["harmless"] += 1
    return counts


def _host_rows(path: Path) -> list[tuple[object, ...]]:
    host = sqlite3.connect(path)
    host.text_factory = bytes
    rows = host.execute("select *, typeof(film), typeof(user) from likes").fetchall()  # a blob looks like a text here
    host.close()
    return rows


def _refreshed(index: setsearch.Index) -> object:
    index.refresh("now")
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
