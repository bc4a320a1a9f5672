"""Lists that are not what they should be, before the compiled core: an answer or an error of ours, whatever they hold.

python tests/exactness/torture/damaged_lists.py FOLDER FILES CALLS
Writes a line for each question that fails in another way, and how many of what there were, as JSON.
tests/scoring/test_sanitized.py runs it under a sanitizer.
"""

import json
import random
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import damage
import numpy as np

import setsearch
from setsearch.arrays import ListValues
from setsearch.core import binding, question
from setsearch.core.question import Drift, FieldLists, Numbers, OpenField, Question, Table
from setsearch.core.rule import CoreRule
from setsearch.errors import LostArrays, SetsearchError
from setsearch.scoring import postings as valued_lists
from setsearch.search import passes as core_passes
from setsearch.sqlite import integrity
from setsearch.sqlite.mapped import map_arrays, write_arrays
from setsearch.storage.codec import pack, unpack

NUMBERS = (0, 1, 7, 11, 12, 40, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, -1, -(1 << 62))
HOW = (
    {},
    {"cut": "mark", "fold": True, "explain": True, "snippets": True},
    {"model": "bernoulli"},
    {"model": "multinomial"},
    {"binarize": "presence", "popularity": 0.5},
    {"keep_seeds": True, "model": "poisson"},
)
COLLECTION = ("documents", "terms")
SEEDS = {
    "documents": ["d1", "d2", "d5"],
    "terms": ["lion", "tiger", "cat"],
    "film": ["film1", "film2"],
    "user": ["user1"],
}


def main() -> None:
    """Damage files, then the arrays of calls."""
    folder, files, calls = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    setsearch.use_kernel("core")
    accept_checksums()
    core_passes.FEWEST_POSTINGS = valued_lists.NOTHING_AHEAD = 0  # small lists go all ways, too
    counts: Counter[str] = Counter()
    sound: dict[str, object] = {}  # answers
    count_calls(counts)
    damage.make(folder / "whole.db")
    whole, path = sorted(folder.glob("whole.db*")), folder / "damaged.db"
    for seed in range(files):
        for name in folder.glob("damaged.db*"):
            name.unlink()
        for file in whole:
            shutil.copy(file, folder / file.name.replace("whole", "damaged"))
        changing = (change_mapped, change)[seed % 2]
        what = seed and changing(path, random.Random(seed))  # the first one is sound
        for problem in ask(path, counts, sound):
            print(f"{seed}, {what}: {problem}", flush=True)
        assert seed or not counts["refused"]
    for seed in range(calls):
        call(np.random.default_rng(seed), counts)
    print(json.dumps(counts))


def accept_checksums() -> None:
    """Every checksum is right, as in a file of somebody who computes them anew."""
    integrity.zlib = SimpleNamespace(crc32=lambda *_: 0)


def count_calls(counts: "Counter[str]") -> None:
    """Count the calls of the core by the name of their entry."""
    library = binding.library()
    entries = {name: getattr(library, name) for name in binding._SIGNATURES}

    def counted(name, *arguments):
        """Count, and call."""
        counts[name] += 1
        return entries[name](*arguments)

    counting = SimpleNamespace(**{name: lambda *given, name=name: counted(name, *given) for name in entries})
    binding.library = lambda: counting


def change(path: Path, rng: random.Random) -> str:
    """Put another value in place of one of a table of ours, in every row that has it; says where."""
    connection = sqlite3.connect(path)
    connection.execute("pragma foreign_keys = off")
    tables = connection.execute(
        "select name from sqlite_master where type = 'table' and name like 'setsearch%'"
    ).fetchall()
    columns = [
        (table, name)
        for (table,) in sorted(tables)
        for _, name, kind, *_ in connection.execute(f"pragma table_info({table})").fetchall()
        if kind.lower() in ("integer", "real", "any", "blob")
    ]
    while True:
        table = rng.choice(["setsearch_array", "setsearch_array", "setsearch_feature", "setsearch_forward", ""])
        table, column = rng.choice([own for own in columns if own[0].startswith(table)])
        is_array = (table, column) == ("setsearch_array", "data")
        (size,) = connection.execute(f"select count({column}) from {table}").fetchone()
        if not size:
            continue
        query = f"select {column} from {table} where {column} is not null order by 1 limit 1 offset ?"
        (old,) = connection.execute(query, [rng.randrange(size)]).fetchone()
        new = changed_array(old, rng) if is_array else changed(old, rng)
        try:
            connection.execute(f"update or ignore {table} set {column} = ? where {column} = ?", (new, old))
        except sqlite3.IntegrityError:
            continue
        connection.commit()
        connection.close()
        return f"{table}.{column}"


def change_mapped(path: Path, rng: random.Random) -> str:
    """Put some other numbers into a file of arrays, with right checksums; says where."""
    file = rng.choice(sorted(path.parent.glob(f"{path.name}-arrays-*")))
    own = map_arrays(path, file)
    chosen = rng.choice([name for name, used in own.used.items() if used])
    values = own.arrays[chosen]
    with np.errstate(all="ignore"):
        for _ in range(rng.randrange(1, 4)):
            values[rng.randrange(own.used[chosen])] = np.array(rng.choice(NUMBERS)).astype(values.dtype)
    arrays = [(name, array[: own.used[name]]) for name, array in own.arrays.items()]
    assert write_arrays(file, file, own.state, arrays)
    return f"{file.name} {chosen}"


def changed(old: object, rng: random.Random) -> object:
    """Another number, or bytes with one of them changed, or fewer, or more."""
    if not isinstance(old, bytes) or not old:
        return rng.choice(NUMBERS)
    place = rng.randrange(len(old))
    middle = rng.choice([bytes([rng.randrange(256)]), b"", b"\0\0"])
    return old[:place] + middle + old[place + 1 :]


def changed_array(old: bytes, rng: random.Random) -> bytes:
    """A slice of an array with some other numbers, as it is stored."""
    values = unpack(old[: -integrity.CHECKSUM_BYTES]).copy()
    values = values if values.dtype.kind == "f" else values.astype(np.int64)
    for _ in range(rng.randrange(1, 4)):
        values[rng.randrange(len(values))] = rng.choice(NUMBERS)
    return integrity.add_checksum(pack(values), "")


def ask(path: Path, counts: "Counter[str]", sound: dict[str, object]) -> Iterator[str]:
    """All kinds of questions, before a write and after one; tells those that fail in another way than by a line."""

    def questions(index):
        """Each by itself."""
        for name, seeds in SEEDS.items():
            for how in HOW:
                yield f"{name} {how}", lambda: index.items(name).expand(seeds, 999, **how)  # noqa: B023 - asked at once
            yield f"{name} rejected", lambda: index.items(name).expand(seeds[:1], 9, exclude=seeds[1:2])  # noqa: B023
            yield f"{name} among", lambda: index.items(name).expand(seeds, 9, among=seeds, keep_seeds=True)  # noqa: B023
            yield f"{name} features", lambda: index.items(name).features(seeds, 99)  # noqa: B023
        yield "a text", lambda: index.items("documents").expand([], 9, like=["wheat and barley"])
        yield "numbers", lambda: index.numbers("body").expand(["x1", "x2"], 5)
        yield "a set", lambda: index.set("cats").accepted

    with np.errstate(all="ignore"), setsearch.open(path, language="english", contexts="on") as index:
        for write in (False, True):
            if write:
                new = [("d3", "a lion, a wheat")]
                yield from answer("write", lambda: index.update(new, COLLECTION), counts, sound)  # noqa: B023
            for name, question in questions(index):
                yield from answer(f"{name}, {write}", question, counts, sound)


def answer(name, question, counts: "Counter[str]", sound: dict[str, object]) -> Iterator[str]:
    """Ask; a line if that fails in another way than it may."""
    try:
        found = question()
        counts["answered"] += 1
        counts["answered otherwise"] += found != sound.setdefault(name, found)
    except SetsearchError:
        counts["refused"] += 1
    except Exception as error:
        yield f"{name} fails: {type(error).__name__}: {error}"


def call(rng: np.random.Generator, counts: "Counter[str]") -> None:
    """Call each entry with arrays of which a few numbers are others."""
    n, n_features = int(rng.choice([1, 9, 60])), int(rng.choice([1, 5, 30]))
    has = rng.random((n, n_features)) < rng.choice([0.05, 0.5, 1])
    lists, items = lists_of(has.T, rng), lists_of(has, rng)[:4]
    excluded, k = np.sort(rng.choice(n, min(n, 2), replace=False)), int(rng.integers(1, n + 1))
    seeds, joining = np.arange(min(n, int(rng.choice([2, 5])))), int(rng.integers(0, 2)) * min(n, 3)
    alike = float(rng.choice([0.0, 0.5]))
    numbers = Numbers(
        n,
        float(len(seeds)),
        2.0,
        0.0,
        float(rng.choice([0, 5])),
        0.5,
        0.5,
        64,
        0.85,
        alike,
        alike,
        1,
        joining,
        5,
        2,
        1,
        0,
        k,
        2,
        64,
    )
    source = [lists[0], rng.integers(0, 4, len(lists[0])).astype(np.uint16), lists[2], lists[3]]
    statistics = np.ones(n, np.int64), rng.random(n_features), np.ones(n_features), np.ones(n)
    among = np.sort(rng.choice(n, n // 2, replace=False)) if rng.random() < 0.5 else None
    field, norm = FieldLists(lists[:4], items, lists[3] - lists[2]), float(rng.integers(0, 2))
    asked = Question([OpenField(field, norm, 1.0)], np.zeros(n), numbers, seeds, None, excluded, None, True)
    near = rng.integers(0, n, (n, 3)).astype(np.int32), rng.random((n, 3)), rng.random(n), 1.5
    own = [array[:2].copy() for array in items[2:4]]
    texts = items[0].copy(), items[1], *own, np.ones(len(own[0]))
    of_ones = [(own[0], None, *own[2:4]) for own in (lists, items)]
    ones = OpenField(FieldLists(*of_ones, lists[3] - lists[2]), 0, 1)
    ranks, weights = np.zeros(n_features, np.int32), rng.random((len(seeds) + 1, 1))
    table = Table(weights, weights, ranks, np.zeros(n, np.float32), 1)
    prior = among if among is not None else np.arange(n), rng.random(n // 2 if among is not None else n), 0.5, 0.2, 1.5
    every = lists[0], *lists[2:4], items[0], *items[2:4], source[1], near[0].reshape(-1), texts[0], *own, prior[0]
    arrays = [array for array in (*every, ranks) if len(array)]
    for _ in range(rng.integers(0, 3)):
        array = arrays[rng.integers(len(arrays))]
        number = rng.choice([*NUMBERS, n - 1, n, n_features, len(lists[0]), len(lists[0]) + 1])
        array[rng.integers(len(array))] = np.array(int(number)).astype(array.dtype)
    of_items, of_features = items[0].size, rng.integers(0, 4, (2, n_features))
    frequencies, logs = rng.random((2, 4)), rng.random((2, 4))
    rule = CoreRule(
        (items[0], rng.integers(0, 5, of_items).astype(np.uint16), *items[2:4]),
        (np.ones(n, np.int64), *of_features),
        tuple(frequencies),
        tuple(logs),
        (float(rng.integers(0, 9)), 1.0, 1.0, 0.8),
    )
    drift = Drift(of_features[0], 0.1, 0.1, excluded[:1], rule, len, lambda: of_items // 2)
    older = OpenField(FieldLists(lists[:4], items, lists[3] - lists[2], drift), norm, 1.0)
    rows, kept = (np.zeros((n, 10), np.int64), np.zeros((n, 10), np.int64)), rng.random(n) < 0.5
    words = np.array([0, int(rng.choice([n - 1, n, -1, *NUMBERS]))])
    features = rng.choice([*range(n_features), *range(n_features), n_features, -1], n_features).astype(np.int32)
    having = [ListValues(features, rng.random(n_features), np.array([n_features - 1, 1]), 1.0)]
    for ask_core in (
        lambda: binding.add(np.zeros(n), [lists, lists]),
        lambda: question.ask_all([asked, asked._replace(once=True), asked._replace(choosing=np.linspace(-1, 0, n))]),
        lambda: question.ask_all([asked._replace(fields=asked.fields * 2, sums=np.empty(n))]),
        lambda: question.ask_all([asked._replace(fields=asked.fields * 3, near=near, prior=prior)]),
        lambda: question.ask_all([asked._replace(prior=prior)]),
        lambda: question.ask_all([asked._replace(fields=[older])]),
        lambda: rule.norms(np.array([0, n - 1, int(words[1])])),
        lambda: rule.values(np.arange(n)),
        lambda: binding.close(np.arange(n_features), tuple(source), np.ones(n, np.int64), statistics[1], 0.5, n),
        lambda: question.ask_all([asked._replace(fields=[ones], table=table)]),
        lambda: binding.alike(near[0].astype(np.int8), np.arange(3, dtype=np.int16), 0.5, 2.0, near[2], near[2]),
        lambda: question.ask_all([asked._replace(texts=[texts])]),
        lambda: binding.fold(np.arange(n), (items[0], None, *items[2:4]), 0.9, 2, 5),
        lambda: binding.alone(
            np.arange(n), np.arange(2), (items[0], None, *items[2:4]), (lists[0], None, *lists[2:4]), 0.9, 2
        ),
        lambda: binding.ranks(np.ones(n), np.arange(3.0), source[1][:2].astype(np.int64)),
        lambda: binding.nearest(words, [lists[:4]], having, kept | (k % 2 > 0), 65536.0, rows),
        lambda: binding.values(np.arange(n_features), tuple(source), False, statistics, np.log1p(np.arange(4))),
    ):
        try:
            ask_core()
            counts["calls answered"] += 1
        except LostArrays:
            counts["calls refused"] += 1


def lists_of(has: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """The lists of the rows of a matrix, as the core takes them: ids, values, starts, ends, and weights if asked."""
    ids = np.nonzero(has)[1].astype(np.int32)
    ends = np.cumsum(has.sum(1), dtype=np.int64)
    return ids, rng.random(len(ids)).astype(np.float32), ends - has.sum(1), ends, rng.normal(size=len(has))


if __name__ == "__main__":
    main()
