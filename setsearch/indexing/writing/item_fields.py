"""What items have in fields beside the first one (storage/feature_fields.py), as features; it makes the fields.

A field is made when the first item has it, and gone with the last one. An item that comes again keeps the fields that
are not given; None or an empty list takes one away.

Numbers are stored, and the ends of their ranges follow from them at the end of each write, whatever was written before.
Of many items a part tells the ends: those whose `level`, a hash of the name, is high enough. Items whose ranges are
others then get these.
"""

import datetime
import math
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.errors import CorruptIndex, InvalidItem
from setsearch.storage.feature_fields import (
    FIRST_DAY,
    LAST_DAY,
    MOST_FIELDS,
    Days,
    FeatureField,
    as_days,
    ends_of,
    require_name,
)
from setsearch.storage.relation import Relation

SAMPLE = 20_000  # items that tell the ends of ranges, at most twice as many

Names = Mapping[str, int]  # with counts


class _WrittenDate(Days):
    """A date that came as a text, which is a name where the field has names."""

    def __new__(cls, days: float, text: str) -> "_WrittenDate":
        return super().__new__(cls, days)

    def __init__(self, days: float, text: str) -> None:
        self.names = {text: 1}


Value = float | datetime.date | str | Sequence[str] | Mapping[str, int] | None  # a number, or what a field names


def checked_fields(item: str, given: Any, first: str) -> dict[str, float | Names]:
    """What an item has in each field beside the first one, as a number or counted names; raises InvalidItem."""
    if not isinstance(given, Mapping):
        raise InvalidItem(f"the fields of item {item!r} are a mapping from names to values, not {given!r:.60}")
    checked: dict[str, float | Names] = {}
    for name, value in given.items():
        require_name(name)
        if name == first:
            raise InvalidItem(f"item {item!r} has a field {name!r}, which is the name of the first one; rename it")
        days = as_days(value) if isinstance(value, (str, datetime.date)) else None
        number = value if days is None else days
        if isinstance(number, (Real, np.number)) and not isinstance(number, bool):
            try:
                exact = number if isinstance(number, Days) else float(number)
            except OverflowError:  # of a whole number
                exact = math.inf
            if not math.isfinite(exact):
                raise InvalidItem(f"item {item!r} has {value!r:.60} in the field {name!r}; numbers are finite")
            checked[name] = _WrittenDate(exact, value) if isinstance(value, str) else exact
        else:
            names = [] if value is None else [value] if isinstance(value, str) else value
            checked[name] = _counted(item, name, names)
    return checked


def _counted(item: str, name: str, value: Any) -> Names:
    is_usual = isinstance(value, (Mapping, list, tuple, set, frozenset))
    if not is_usual or not all(isinstance(own, str) for own in value):
        raise InvalidItem(f"item {item!r} has {value!r:.60} in the field {name!r}; give a number, or a list of texts")
    return value if isinstance(value, Mapping) else dict.fromkeys(value, 1)


def field_features(
    relation: Relation, items: Sequence[str], batch: Sequence[Mapping[str, float | Names]]
) -> Iterator[dict[str, int]]:
    """The counted features of the items of a batch, by their names; fields that are new are made.

    Raises InvalidItem if one item has a number, or a date, and another one names, in a field.
    """
    known = {own.name: own for own in relation.fields}
    new = dict.fromkeys(name for own in batch for name, value in own.items() if name not in known and value != {})
    if new:
        known |= {name: _new_field(name, items, batch) for name in new}
        if len(known) > MOST_FIELDS:
            raise InvalidItem(f"items have {len(known)} fields; at most {MOST_FIELDS} are possible")
        relation.fields, relation.is_altered = tuple(known.values()), True
    for given in batch:
        features: dict[str, int] = {}
        for name, value in given.items():
            if value != {}:
                features |= _features(known[name], value)
        yield features


def _new_field(name: str, items: Sequence[str], batch: Sequence[Mapping[str, float | Names]]) -> FeatureField:
    """A field as the first item says that has it; of numbers, those of some items tell the ends."""
    first = next(own[name] for own in batch if own.get(name, {}) != {})
    if not isinstance(first, float):
        return FeatureField(name)
    least, are_dates = least_level(len(items)), isinstance(first, Days)
    given = ((item, own.get(name)) for item, own in zip(items, batch, strict=True))
    numbers = [value for item, value in given if isinstance(value, float) and (not least or level_of(item) >= least)]
    return FeatureField(name, ends_of(numbers, are_dates), are_dates, True)


def _features(field: FeatureField, value: float | Names) -> dict[str, int]:
    """The counted features of what an item has in a field. Raises InvalidItem for a value of another kind."""
    kind = "dates" if isinstance(value, Days) else "numbers" if isinstance(value, float) else "names"
    if kind != field.kind:
        what = f"the field {field.name!r} has {field.kind}, and an item has {kind} there: {value!r:.60}"
        raise InvalidItem(f"{what}; give these another field")
    if isinstance(value, float):
        return dict.fromkeys(field.ranges(value), 1)
    return {field.prefix + each: count for each, count in value.items() if count}


def with_dates(relation: Relation, batch: list[Mapping[str, float | Names]]) -> list[Mapping[str, float | Names]]:
    """What the items of a batch are given, where a text that is a date is one in fields of dates.

    A field is one of dates if all that its first items have are dates.
    """
    written = dict.fromkeys(name for own in batch for name, value in own.items() if isinstance(value, _WrittenDate))
    if not written:
        return batch
    known = {own.name: own.has_dates for own in relation.fields}
    for name in written.keys() - known.keys():
        known[name] = all(isinstance(own[name], Days) for own in batch if own.get(name, {}) != {})
    return [
        {name: own.names if isinstance(own, _WrittenDate) and not known[name] else own for name, own in given.items()}
        for given in batch
    ]


def level_of(name: str) -> int:
    """Of 2^n items, one has a level of at least n."""
    checksum = zlib.crc32(name.encode())
    return (checksum & -checksum).bit_length() - 1 if checksum else 32


def least_level(n_items: int) -> int:
    """Of which level the items are that tell the ends."""
    return (n_items // SAMPLE).bit_length()


def keep_numbers(
    relation: Relation,
    items: Iterable[tuple[str, int, Mapping[str, float | Names]]],
    old: Collection[int],
    whole: bool,
) -> bool:
    """Store the numbers of items, by name and id; forget those of the `old` ones that they have no longer.

    That is of the fields that they are given, or of all with `whole`. Returns whether there is a number.
    """
    kept = [own.name for own in relation.fields if own.is_kept]
    gone, new = [], []
    for name, id, given in items if kept else ():
        level = level_of(name)
        gone += [(relation.id, own, level, id) for own in kept if id in old and (whole or own in given)]
        new += [(relation.id, own, level, id, given[own]) for own in kept if isinstance(given.get(own), float)]
    place = "relation = ? and field = ? and level = ? and item = ?"
    relation.cursor.executemany(f"delete from setsearch_field_number where {place}", gone)
    insert = "insert into setsearch_field_number (relation, field, level, item, number) values (?, ?, ?, ?, ?)"
    relation.cursor.executemany(insert, new)
    return bool(gone or new)


def numbers_of(relation: Relation, field: FeatureField) -> tuple[Ints, Floats]:
    """The items that have a number in a field, ascending, and the numbers. Raises CorruptIndex."""
    rows = relation.cursor.execute(
        "select item, number from setsearch_field_number n where relation = ? and field = ? "
        "and exists (select 1 from setsearch_name o where o.kind = ? and o.id = n.item)",
        (relation.id, field.name, relation.items.id),
    ).fetchall()
    items = np.array([item for item, _ in rows], np.int64)
    numbers = np.array([number for _, number in rows], float)
    order = np.argsort(items)
    return items[order], _possible(numbers, field)[order]


def levels_differ(relation: Relation, field: FeatureField) -> bool:
    """Whether a number of a field is stored with another level than its item has, so that it would tell other ends."""
    rows = relation.cursor.execute(
        "select o.name, n.level from setsearch_field_number n join setsearch_name o on o.kind = ? and o.id = n.item "
        "where n.relation = ? and n.field = ?",
        (relation.items.id, relation.id, field.name),
    )
    return any(level_of(name) != level for name, level in rows)


def renewed_ends(relation: Relation, field: FeatureField) -> tuple[float, ...] | None:
    """The ends that follow from the numbers of a field."""
    if not field.is_kept:
        return field.ends
    rows = relation.cursor.execute(
        "select number from setsearch_field_number where relation = ? and field = ? and level >= ?",
        (relation.id, field.name, least_level(relation.items.size)),
    )
    numbers = np.fromiter((number for (number,) in rows), float)
    return ends_of(_possible(numbers, field).tolist(), field.has_dates)


def _possible(numbers: Floats, field: FeatureField) -> Floats:
    least, most = (FIRST_DAY, LAST_DAY) if field.has_dates else (-np.inf, np.inf)
    if not (np.isfinite(numbers) & (numbers >= least) & (numbers <= most)).all():
        raise CorruptIndex(f"the numbers of {field.name} are damaged; index the collection again")
    return numbers


def moved(
    before: FeatureField, after: FeatureField, items: Ints, numbers: Floats
) -> Iterator[tuple[Ints, list[str], list[str]]]:
    """Items whose ranges are others by other ends, ascending, with the features that they lose and get."""
    parts = [np.searchsorted(np.array(own.ends), numbers, "right") for own in (before, after)]
    for one, other in sorted({*zip(*(part.tolist() for part in parts), strict=True)}):
        lost, got = before.of_part(one), after.of_part(other)
        if lost != got:
            yield items[(parts[0] == one) & (parts[1] == other)], lost, got
