"""Columns of items that are kept, to be shown with them and filtered by."""

import datetime
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any
from uuid import UUID

from setsearch.arrays import Ints
from setsearch.errors import CorruptIndex, InvalidItem, InvalidParameter
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.storage.kept.conditions import Condition, parse_condition
from setsearch.storage.relation import Relation
from setsearch.text.numbers_and_dates import Written, plain_date

FIRST = 100  # items that tell which columns were kept
ROWS_AT_ONCE = 256  # of stored columns
LONGEST_COLUMNS = 1 << 20  # bytes of one item

Values = Mapping[str, Any]  # texts, numbers, booleans and None by column


def encode_columns(item: str, values: Values) -> bytes:
    """The columns of an item as stored; raises InvalidItem for what is no JSON object, or too long."""
    try:
        if not all(isinstance(name, str) for name in values):
            raise TypeError("names of columns are texts")
        present = {name: _present(value) for name, value in values.items()}
        data = json.dumps(present, ensure_ascii=False, allow_nan=False, default=_plain).encode("utf-8", "replace")
    except (TypeError, ValueError) as error:
        raise InvalidItem(f"the columns of item {item!r} cannot be kept: {error}") from error
    if len(data) > LONGEST_COLUMNS:
        raise InvalidItem(f"the columns of item {item!r} take {len(data) >> 10} KB; keep less")
    return data


def _present(value: Any) -> Any:
    """A value without missing numbers, which are None; bytes that are text as text."""
    if isinstance(value, (list, tuple)):
        return [_present(part) for part in value]
    if isinstance(value, Written):
        return value.plain if value.is_sure else str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        with suppress(UnicodeDecodeError):
            return bytes(value).decode()
    return None if isinstance(value, (float, Decimal)) and math.isnan(value) else value


def _plain(value: Any) -> Any:
    """A value of a frame or a database as JSON has it; raises TypeError."""
    if isinstance(value, (datetime.date, datetime.time)):
        return plain_date(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.timedelta):
        value = datetime.timedelta(seconds=value.total_seconds())  # of pandas, which writes it otherwise
    if isinstance(value, (UUID, datetime.timedelta)):
        return str(value)
    if isinstance(value, (tuple, set, frozenset)):
        return sorted(value, key=str) if isinstance(value, (set, frozenset)) else list(value)
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {value!r:.40} is neither text, number, date, duration nor list")


def write_columns(relation: Relation, rows: Iterable[tuple[int, bytes | None]]) -> list[int]:
    """Store the columns of items, and delete those of items without; returns the items for which that is a change."""
    new = {id: None if data is None else add_checksum(data, f"{relation.id} {id}") for id, data in rows}
    stored = {}
    if has_columns(relation):
        statement = "select item, columns from setsearch_columns where relation = ? and item in "
        items = json.dumps([*new])
        stored = dict(relation.cursor.execute(f"{statement}(select value from json_each(?))", (relation.id, items)))
    changed = [id for id, data in new.items() if not _are_equal(relation.id, id, stored.get(id), data)]
    relation.cursor.executemany(
        "delete from setsearch_columns where relation = ? and item = ?", [(relation.id, id) for id in stored]
    )
    relation.cursor.executemany(
        "insert into setsearch_columns (relation, item, columns) values (?, ?, ?)",
        [(relation.id, id, data) for id, data in new.items() if data is not None],
    )
    return changed


def _are_equal(relation: int, id: int, one: bytes | None, other: bytes | None) -> bool:
    """Whether stored columns are the same, in whatever order."""
    if one == other or one is None or other is None:
        return one == other
    return _decoded(relation, id, one) == _decoded(relation, id, other)


def has_columns(relation: Relation) -> bool:
    """Whether columns were kept of some items."""
    statement = "select exists (select 1 from setsearch_columns where relation = ?)"
    return bool(relation.cursor.execute(statement, (relation.id,)).fetchone()[0])


def kept_columns(relation: Relation, every: bool = False) -> list[str]:
    """The names of the columns that were kept of the first items, or of all; damaged ones are passed over."""
    rows = relation.cursor.execute(
        "select item, columns from setsearch_columns where relation = ? order by item limit ?",
        (relation.id, -1 if every else FIRST),
    )
    known: dict[str, None] = {}
    for id, data in rows:
        with suppress(CorruptIndex):
            known.update(dict.fromkeys(_decoded(relation.id, id, data)))
    return [*known]


def read_columns(relation: Relation, items: Sequence[int]) -> dict[int, Values]:
    """The columns of those items that have some; raises CorruptIndex."""
    rows = relation.cursor.execute(
        "select item, columns from setsearch_columns where relation = ? and item in (select value from json_each(?))",
        (relation.id, json.dumps(items)),
    ).fetchall()
    return dict(_decoded_rows(relation.id, rows))


def read_values(relation: Relation, column: str, among: Ints | None = None) -> Iterator[tuple[int, Any]]:
    """What items, all or some, have in a column, None if nothing; raises CorruptIndex."""
    rows = _all_columns(relation) if among is None else read_columns(relation, among.tolist()).items()
    return ((id, values.get(column)) for id, values in rows)


def _all_columns(relation: Relation) -> Iterator[tuple[int, Values]]:
    """The columns of each item that has some, ascending; raises CorruptIndex."""
    statement = "select item, columns from setsearch_columns where relation = ? order by item"
    rows = relation.cursor.execute(statement, (relation.id,))
    while some := rows.fetchmany(ROWS_AT_ONCE):
        yield from _decoded_rows(relation.id, some)


def require_column(relation: Relation, column: str, purpose: str = "count by") -> None:
    """Raise InvalidParameter for a column that no item has; reads up to the first one that has it."""
    known: dict[str, None] = {}
    for _, values in _all_columns(relation):
        if column in values:
            return
        known.update(dict.fromkeys(values))
    way_out = "index with `--keep-columns` (in Python `Columns(keep=...)`)"
    if relation.analyzer is None:  # only an Item has some
        way_out = "`among` names those that are allowed (in Python an `Item` has columns, too)"
    kept = ", ".join(known) or f"none; {way_out}"
    raise InvalidParameter(f"no column {column!r} was kept to {purpose}; kept: {kept}")


def parse_filter(text: str) -> Condition:
    """The condition of a filter, such as "year >= 2001"; raises InvalidParameter."""
    condition = parse_condition(text)
    if condition is None or (condition.sign not in ("=", "!=") and not condition.orders):
        raise InvalidParameter(
            "a filter compares a column with a number or a date, or with a text by = or !=, as 'year >= 2001'; "
            f"not {text!r:.60}"
        )
    return condition


def _decoded(relation: int, id: int, data: bytes) -> Values:
    return next(_decoded_rows(relation, [(id, data)]))[1]


def _decoded_rows(relation: int, rows: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, Values]]:
    """Items with their columns, of all rows at once: alone they would take twice the time. Raises CorruptIndex."""
    stored = [strip_checksum(data, f"{relation} {id}") if isinstance(data, bytes) else None for id, data in rows]
    sound = [own for own in stored if own is not None]
    try:
        values = json.loads(f"[{b','.join(sound).decode()}]")  # of bytes, it would guess the encoding
    except ValueError:
        values = []
    if not len(sound) == len(values) == len(rows) == sum(isinstance(own, dict) for own in values):
        raise CorruptIndex("the stored columns of an item are damaged; index the collection again")
    return zip((id for id, _ in rows), values, strict=True)
