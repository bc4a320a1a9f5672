"""Fields of features: tags, links and numbers of items beside the words of their texts, or whatever comes first.

A feature of a field begins with its name and a colon, "tags:sqlite"; all others are of the first field, "text" or the
name of the features. A number has two features, ranges that overlap: tenths of the numbers, and tenths that begin in
the middle of these, so that near numbers share one of them wherever they lie. The ends of the ranges are those of the
first items that came (indexing/item_fields.py), and stay until all are replaced.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from setsearch.errors import CorruptIndex, InvalidItem

TEXT_FIELD = "text"  # the first field of a text collection
MARK = ":"  # behind the name of a field
AFTER_MARK = chr(ord(MARK) + 1)
RESERVED = ":,=\0"  # in names
MOST_FIELDS, LONGEST_NAME = 50, 100
PARTS = 20  # of the numbers; a range has two of them


class FeatureField(NamedTuple):
    """A field beside the first one. `ends`: of numbers, those of the parts, ascending; None for names."""

    name: str
    ends: tuple[float, ...] | None = None

    @property
    def prefix(self) -> str:
        """How its features begin."""
        return self.name + MARK

    @property
    def after(self) -> str:
        """The first text behind all that begin so."""
        return self.name + AFTER_MARK

    def ranges(self, number: float) -> list[str]:
        """The features of a number; none if all numbers were the same."""
        ends = self.ends or ()
        part = bisect_right(ends, number)
        firsts = dict.fromkeys((part - part % 2, part - 1 + part % 2))
        names = [_range(ends, first) for first in firsts]
        return [self.prefix + name for name in names if name is not None]


def _range(ends: Sequence[float], first: int) -> str | None:
    """The name of two parts, of which the first may be before all, and the second behind all; None for all there is."""
    lower = ends[first - 1] if first > 0 else None
    upper = ends[first + 1] if first + 1 < len(ends) else None
    if lower is None:
        return None if upper is None else f"below {_shown(upper)}"
    return f"{_shown(lower)} or more" if upper is None else f"{_shown(lower)} to {_shown(upper)}"


def _shown(number: float) -> str:
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def ends_of(numbers: Iterable[float]) -> tuple[float, ...]:
    """The ends of the parts of some numbers: distinct ones among these, so that each part begins with one."""
    ordered = sorted(numbers)
    ends = {ordered[len(ordered) * part // PARTS] for part in range(1, PARTS)} if ordered else set()
    return tuple(sorted(ends - {ordered[0]})) if ordered else ()


def require_name(name: Any) -> None:
    """Raise InvalidItem for what cannot name a field."""
    is_name = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and not any(mark in name for mark in RESERVED)
    if not is_name:
        raise InvalidItem(f"a field is named by a text without colon, comma and equals sign, not {name!r:.60}")


def dump_fields(fields: Sequence[FeatureField]) -> str | None:
    """As the relation stores them; None for none."""
    return json.dumps([[own.name, own.ends] for own in fields]) if fields else None


def load_fields(stored: str | None) -> tuple[FeatureField, ...]:
    """The inverse. Raises CorruptIndex."""
    if stored is None:
        return ()
    try:
        fields = tuple(_loaded(json.loads(stored)))
        for own in fields:
            require_name(own.name)
    except (ValueError, TypeError, RecursionError, InvalidItem) as error:
        raise CorruptIndex("the fields of a relation are damaged; index the collection again") from error
    return fields


def _loaded(stored: Any) -> Iterator[FeatureField]:
    for name, ends in stored:
        numbers = None if ends is None else tuple(map(float, ends))
        if numbers is not None and (not all(map(math.isfinite, numbers)) or sorted({*numbers}) != [*numbers]):
            raise ValueError("ends are finite and ascend")
        yield FeatureField(name, numbers)
