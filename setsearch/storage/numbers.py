"""Items that are described by numbers: columns of a table, or a matrix. It is read as a whole, and kept in memory."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from setsearch.errors import (
    CorruptIndex,
    DuplicateItem,
    InvalidItem,
)
from setsearch.storage.integrity import with_sum, without_sum
from setsearch.storage.names import resolve_item, storable
from setsearch.storage.relation import Relation
from setsearch.storage.sql import insert_rows

LARGEST = 1e100  # whose squares and sums are numbers too
Numbered = tuple[str, Sequence[float]] | tuple[str, Sequence[float], str | None]


def write_numbers(cursor: sqlite3.Cursor, relation: Relation, items: Iterable[Numbered]) -> int:
    """Add items, and give those that exist the new numbers; nothing is committed here."""
    given = dict(_checked(items, len(columns_of(relation))))
    known = relation.items.find(cursor, list(given))
    fresh = [name for name in given if name not in known]
    relation.items.retitle(cursor, [(given[name][1], id) for name, id in known.items()])
    known |= zip(fresh, relation.items.insert(cursor, fresh, [given[name][1] for name in fresh]), strict=True)
    sealed = [with_sum(numbers) for numbers, _ in given.values()]
    insert = "insert or replace into setsearch_numbers (relation, item, numbers)"
    insert_rows(cursor, insert, f"({relation.id}, ?, ?)", [known[name] for name in given], sealed)
    relation.save(cursor)
    return len(given)


def delete_numbers(cursor: sqlite3.Cursor, relation: Relation, names: Sequence[str]) -> int:
    """Delete items; nothing is committed here. Raises UnknownItem."""
    ids = [resolve_item(cursor, relation.items, name) for name in names]
    cursor.executemany(
        "delete from setsearch_numbers where relation = ? and item = ?", [(relation.id, id) for id in ids]
    )
    relation.items.delete(cursor, ids)
    relation.save(cursor)
    return len(ids)


def columns_of(relation: Relation) -> list[str]:
    """The names of the dimensions."""
    try:
        found = json.loads(relation.columns or "[]")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not found or not all(isinstance(name, str) for name in found):
        raise CorruptIndex(f"the columns of {relation.items.name} are damaged; index them again")
    return found


def audit_numbers(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """One line for each thing that is wrong with the numbers of a relation."""
    rows = cursor.execute("select item, numbers from setsearch_numbers where relation = ?", (relation.id,)).fetchall()
    try:
        for _, numbers in rows:
            _sound(numbers, len(columns_of(relation)))
    except CorruptIndex as error:
        yield f"{relation.items.name}: {error}"
    if {item for item, _ in rows} != set(relation.items.ids(cursor)):
        yield f"{relation.items.name}: not all that are named have numbers"


def _sound(numbers: bytes, width: int) -> bytes:
    """Stored numbers without their checksum, which those of the first versions lack; raises CorruptIndex."""
    found = numbers if len(numbers) == 8 * width else without_sum(numbers)
    if found is None or len(found) != 8 * width or not np.isfinite(np.frombuffer(found, "<f8")).all():
        raise CorruptIndex("stored numbers are damaged; index them again")
    return found


def _checked(items: Iterable[Numbered], width: int) -> Iterator[tuple[str, tuple[bytes, str | None]]]:
    seen: set[str] = set()
    for given in items:
        if not isinstance(given, tuple) or not 2 <= len(given) <= 3:
            raise InvalidItem(f"an item is (id, numbers) or (id, numbers, title), not {given!r:.80}")
        name, numbers, *title = given
        if not storable(name):
            raise InvalidItem(f"an item has the id {name!r}; ids are text, not empty, without NUL and lone surrogates")
        if name in seen:
            raise DuplicateItem(f"the id {name!r} comes twice; ids must be unique")
        seen.add(name)
        try:
            row = np.asarray(numbers, float)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidItem(f"item {name!r} has {numbers!r:.60} for numbers: {error}") from error
        if row.shape != (width,) or not (np.abs(row) <= LARGEST).all():
            raise InvalidItem(f"item {name!r} needs {width} numbers within {LARGEST:g}, not {numbers!r:.60}")
        yield name, (row.astype("<f8").tobytes(), title[0] if title else None)
