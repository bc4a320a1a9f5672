"""What items have in fields beside the first one (storage/feature_fields.py), as features; it makes the fields.

A field is made when the first item has it, and gone with the last one. An item that comes again keeps the fields that
are not given; None or an empty list takes one away. The ranges of numbers are those of the batch in which the first one
is, and of all items if these are no more than a batch.
"""

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from setsearch.errors import InvalidItem
from setsearch.storage.feature_fields import MOST_FIELDS, Days, FeatureField, as_days, ends_of, require_name
from setsearch.storage.relation import Relation

Names = Mapping[str, int]  # with counts
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
        if isinstance(value, (Days, datetime.date)):
            checked[name] = as_days(value) or value  # type: ignore[assignment]
        elif isinstance(value, (Real, np.number)) and not isinstance(value, bool):
            if not math.isfinite(value):
                raise InvalidItem(f"item {item!r} has the number {value!r} in the field {name!r}; numbers are finite")
            checked[name] = float(value)
        else:
            names = [] if value is None else [value] if isinstance(value, str) else value
            checked[name] = _counted(item, name, names)
    return checked


def _counted(item: str, name: str, value: Any) -> Names:
    """Names with their counts; raises InvalidItem."""
    is_usual = isinstance(value, (Mapping, list, tuple, set, frozenset))
    if not is_usual or not all(isinstance(own, str) for own in value):
        raise InvalidItem(f"item {item!r} has {value!r:.60} in the field {name!r}; give a number, or a list of texts")
    return value if isinstance(value, Mapping) else dict.fromkeys(value, 1)


def field_features(relation: Relation, batch: Sequence[Mapping[str, float | Names]]) -> Iterator[dict[str, int]]:
    """The counted features of the items of a batch; fields that are new become fields of the relation.

    Raises InvalidItem if one item has a number, or a date, and another one names, in a field.
    """
    known = {own.name: own for own in relation.fields}
    new = dict.fromkeys(name for own in batch for name, value in own.items() if name not in known and value != {})
    for name in new:
        values = [own[name] for own in batch if own.get(name, {}) != {}]
        numbers = [value for value in values if isinstance(value, float)]
        ends = ends_of(numbers) if isinstance(values[0], float) else None
        known[name] = FeatureField(name, ends, isinstance(values[0], Days))
    if new:
        if len(known) > MOST_FIELDS:
            raise InvalidItem(f"items have {len(known)} fields; at most {MOST_FIELDS} are possible")
        relation.fields, relation.is_altered = tuple(known.values()), True
    for given in batch:
        features: dict[str, int] = {}
        for name, came in given.items():
            if came == {}:
                continue
            own = known[name]
            value = came if not own.has_dates or isinstance(came, float) else as_days(next(iter(came))) or came
            kind = "dates" if isinstance(value, Days) else "numbers" if isinstance(value, float) else "names"
            if kind != own.kind:
                raise InvalidItem(f"the field {name!r} has {own.kind}, and an item has {kind} there: {value!r:.60}")
            if isinstance(value, float):
                features |= dict.fromkeys(own.ranges(value), 1)
            else:
                features |= {own.prefix + each: count for each, count in value.items() if count}
        yield features
