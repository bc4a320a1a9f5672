"""Items that numbers describe, as stored: one vector of float64 each."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from setsearch.arrays import Floats, Ints, real_numbers
from setsearch.errors import CorruptIndex, DuplicateItem, InvalidItem, InvalidParameter
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.storage.ids import check_names, is_storable, name_in
from setsearch.storage.relation import Relation, create_relation, load_relations

LARGEST_NUMBER = 1e100  # its square, and sums of squares, are finite
NumericItem = tuple[str, Sequence[float]] | tuple[str, Sequence[float], str | None]


def read_numbers(relation: Relation) -> tuple[Ints, Floats]:
    """The ids of all items, `(n_items,)`, and their numbers, `(n_items, n_columns)`; sorted by name.

    Ids depend on the order of writes; in that of names sums have the same bits.
    """
    rows = relation.cursor.execute(
        "select item, numbers from setsearch_numbers join setsearch_name on kind = ? and id = item "
        "where relation = ? order by name",
        (relation.items.id, relation.id),
    ).fetchall()
    width = len(column_names(relation))
    data = b"".join(_verified(numbers, width, f"{relation.id} {item}") for item, numbers in rows)
    x = np.frombuffer(data, "<f8").reshape(len(rows), width)
    return np.array([item for item, _ in rows], np.int64), x


def open_numbers(cursor: sqlite3.Cursor, collection: str, name: str, columns: Sequence[str]) -> Relation:
    """The relation of the items of this name, made if there is none. Raises InvalidParameter, InvalidItem."""
    names = columns if isinstance(columns, str) else [*columns]
    if names is columns or not all(map(is_storable, [name, *names])) or len(set(names)) < len(names):
        raise InvalidParameter(f"columns are distinct names such as ['height', 'weight'], not {names!r:.60}")
    items, features = (name_in(collection, own) for own in (name, f"numbers of {name}"))
    known = [relation for relation in load_relations(cursor) if relation.items.name == items]
    relation = known[0] if known else create_relation(cursor, items, features, None, columns=columns)
    if column_names(relation) != names:
        raise InvalidItem(f"{items!r} has the columns {column_names(relation)}, not {names}")
    return relation


def write_numbers(relation: Relation, items: Iterable[NumericItem]) -> int:
    """Add items, and replace the numbers of those that exist; the caller commits."""
    vectors = dict(_encoded(items, len(column_names(relation))))
    known = relation.items.find(list(vectors))
    new = [name for name in vectors if name not in known]
    relation.items.set_titles([(vectors[name][1], id) for name, id in known.items()])
    relation.items.whole = getattr(items, "whole", (False,))[0]  # of a frame (indexing/frames.py)
    known |= zip(new, relation.items.insert(new, [vectors[name][1] for name in new]), strict=True)
    rows = [(known[name], add_checksum(own, f"{relation.id} {known[name]}")) for name, (own, _) in vectors.items()]
    insert = "insert or replace into setsearch_numbers (relation, item, numbers)"
    relation.cursor.executemany(f"{insert} values ({relation.id}, ?, ?)", rows)
    relation.save()
    return len(vectors)


def delete_numbers(relation: Relation, names: Sequence[str]) -> int:
    """Delete items by id; the caller commits. Raises UnknownItem."""
    ids = relation.items.ids_to_delete(names)
    relation.cursor.executemany(
        "delete from setsearch_numbers where relation = ? and item = ?", [(relation.id, id) for id in ids]
    )
    relation.items.delete(ids)
    relation.save()
    return len(ids)


def column_names(relation: Relation) -> list[str]:
    """The names of the dimensions."""
    try:
        names = json.loads(relation.columns or "[]")
    except (ValueError, RecursionError):
        names = None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise CorruptIndex(f"the columns of {relation.items.name} are damaged; index them again")
    return names


def check_numbers(relation: Relation) -> Iterator[str]:
    """One line for each problem with the numbers of a relation."""
    statement = "select item, numbers from setsearch_numbers where relation = ?"
    rows = relation.cursor.execute(statement, (relation.id,)).fetchall()
    try:
        for item, numbers in rows:
            _verified(numbers, len(column_names(relation)), f"{relation.id} {item}")
    except CorruptIndex as error:
        yield f"{relation.items.name}: {error}"
    if {item for item, _ in rows} != set(relation.items.ids()):
        yield f"{relation.items.name}: some items have no numbers, or numbers have no item"


def _verified(stored: bytes, width: int, place: str) -> bytes:
    numbers = strip_checksum(stored, place)
    if numbers is None or len(numbers) != 8 * width or not np.isfinite(np.frombuffer(numbers, "<f8")).all():
        raise CorruptIndex("stored numbers are damaged; index them again")
    return numbers


def _encoded(items: Iterable[NumericItem], width: int) -> Iterator[tuple[str, tuple[bytes, str | None]]]:
    """(id, (numbers as bytes, title)) of each item; raises InvalidItem, DuplicateItem."""
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, tuple) or not 2 <= len(item) <= 3:
            raise InvalidItem(f"an item is (id, numbers) or (id, numbers, title), not {item!r:.80}")
        name, numbers, *title = item
        check_names([name], title or [None])
        if name in seen:
            raise DuplicateItem(f"the id {name!r} occurs twice; ids must be unique")
        seen.add(name)
        try:
            row = real_numbers(numbers)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidItem(f"item {name!r} has the numbers {numbers!r:.60}: {error}") from error
        if row.shape != (width,) or not (np.abs(row) <= LARGEST_NUMBER).all():
            raise InvalidItem(f"item {name!r} needs {width} numbers within {LARGEST_NUMBER:g}, not {numbers!r:.60}")
        yield name, (row.astype("<f8").tobytes(), title[0] if title else None)
