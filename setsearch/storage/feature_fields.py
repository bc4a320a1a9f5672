"""Fields of features: tags, links and numbers of items beside the words of their texts, or whatever comes first.

A feature of a field begins with its name and a colon, "tags:sqlite"; all others are of the first field, "text" or the
name of the features. A number has two features, ranges that overlap: tenths of the numbers, and tenths that begin in
the middle of these, so that near numbers share one of them wherever they lie. A date is a number of days. The ends of
the ranges follow from the present numbers (indexing/writing/item_fields.py), whatever came first.
"""

import datetime
import json
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from setsearch.errors import CorruptIndex, InvalidItem
from setsearch.text.numbers_and_dates import date_text, iso_date

MARK = ":"  # behind the name of a field
AFTER_MARK = chr(ord(MARK) + 1)
RESERVED = ":,=\0"  # in names
MOST_FIELDS, LONGEST_NAME = 50, 100  # of a relation; characters of one
EPOCH, DAY = datetime.datetime(1970, 1, 1), datetime.timedelta(days=1)
FIRST_DAY = (datetime.datetime.min - EPOCH) / DAY
LAST_DAY = math.nextafter((datetime.datetime.max - EPOCH) / DAY, 0.0)  # rounded up it were no date
LARGEST_WEIGHT = 1000.0  # of a field
LEEWAY = 100  # an end may be a round number that so small a part of the numbers lies away
PARTS = 20  # of the numbers; a range has two of them


class Days(float):
    """A date, as days since 1970, with a part of one for the time (UTC)."""


def as_days(value: Any) -> Days | None:
    """A date, or a text with one; None for what is none."""
    if isinstance(value, str) and (found := iso_date(date_text(value) or "")):
        value = found[0] if found[1].count("-") == 2 else f"{found[1]}-01"
        with suppress(ValueError):
            value = datetime.datetime.fromisoformat(value)
    if not isinstance(value, datetime.date):
        return None
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if value.tzinfo is not None:
        with suppress(OverflowError):  # on the first day and the last one, with which programs say "never"
            value = value.astimezone(datetime.UTC)
        value = value.replace(tzinfo=None)
    return Days(min((value - EPOCH) / DAY, LAST_DAY))


class FeatureField(NamedTuple):
    """A field beside the first one. `ends`: of numbers, those of the parts, ascending; None for names.

    `is_kept`: whether its numbers are stored; else its ranges, of an earlier version, stay until all are replaced.
    """

    name: str
    ends: tuple[float, ...] | None = None
    has_dates: bool = False
    is_kept: bool = False

    @property
    def kind(self) -> str:
        """What it has: names, numbers or dates."""
        return "names" if self.ends is None else "dates" if self.has_dates else "numbers"

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
        return self.of_part(bisect_right(self.ends or (), number))

    def of_part(self, part: int) -> list[str]:
        """The features of the numbers of a part."""
        ends, shown = self.ends or (), shown_date if self.has_dates else _shown
        firsts = dict.fromkeys((part - part % 2, part - 1 + part % 2))
        names = [_range(ends, first, shown) for first in firsts]
        return [self.prefix + name for name in names if name is not None]


def _range(ends: Sequence[float], first: int, shown: Callable[[float], str]) -> str | None:
    """The name of two parts, of which the first may be before all, and the second behind all; None for all there is."""
    lower = ends[first - 1] if first > 0 else None
    upper = ends[first + 1] if first + 1 < len(ends) else None
    if lower is None:
        return None if upper is None else f"below {shown(upper)}"
    return f"{shown(lower)} or more" if upper is None else f"{shown(lower)} to {shown(upper)}"


def _shown(number: float) -> str:
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def shown_date(days: float) -> str:
    """A number of days since 1970 as ISO 8601 has it; midnight is the day."""
    return (EPOCH + days * DAY).isoformat().removesuffix("T00:00:00")


def ends_of(numbers: Iterable[float], are_dates: bool = False) -> tuple[float, ...]:
    """The ends of the parts of some numbers, round ones, which few other numbers would change."""
    ordered, roundest = sorted(numbers), _roundest_date if are_dates else _roundest
    size, ends = len(ordered), set[float]()
    for place in {size * part // PARTS for part in range(1, PARTS)} if ordered else ():
        lower, upper = max(place - 1 - size // LEEWAY, 0), min(place + size // LEEWAY, size - 1)
        ends.add(roundest(ordered[lower], ordered[place], ordered[upper]))
    return tuple(sorted(end for end in ends if end > ordered[0]))


def _roundest(lower: float, near: float, upper: float) -> float:
    """The number above one, up to another, that ends in the most zeros, and then is the nearest to a third."""
    if lower == upper or not math.isfinite(upper - lower):
        return upper
    first, last = (math.floor(math.log10(size)) for size in (max(-lower, upper, upper - lower), upper - lower))
    for power in range(first + 1, max(last - 2, -300), -1):
        step = float(f"1e{power}")
        both = (round(side(near / step) * step, -power) for side in (math.floor, math.ceil))
        inside = [own for own in both if lower < own <= upper]
        if inside:
            return min(inside, key=lambda own: abs(own - near))
    return upper


def _roundest_date(lower: float, near: float, upper: float) -> float:
    """Likewise the beginning of a year, a month or a day."""
    day = (EPOCH + near * DAY).replace(hour=0, minute=0, second=0, microsecond=0)
    found = ((own - EPOCH) / DAY for own in (day.replace(month=1, day=1), day.replace(day=1), day))
    return next((own for own in found if lower < own), near)


def require_name(name: Any) -> None:
    """Raise InvalidItem for what cannot name a field."""
    is_name = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and not any(mark in name for mark in RESERVED)
    if not is_name:
        raise InvalidItem(f"a field is named by a text without colon, comma and equals sign, not {name!r:.60}")


def dump_fields(fields: Sequence[FeatureField], weights: Mapping[str, float] | None = None) -> str | None:
    """As the relation stores them, and the default weights of fields; None for none."""
    stored: list[Any] = [[*own[: 2 + own.is_kept]] for own in fields]
    return json.dumps(stored + ([weights] if weights else [])) if fields else None


def load_fields(stored: str | None) -> tuple[tuple[FeatureField, ...], dict[str, float]]:
    """The inverse. Raises CorruptIndex."""
    if stored is None:
        return (), {}
    try:
        rest = [*json.loads(stored)]
        weights = rest.pop() if rest and isinstance(rest[-1], dict) else {}
        fields, weights = tuple(_loaded(rest)), {str(name): float(weight) for name, weight in weights.items()}
        for own in fields:
            require_name(own.name)
        if not all(0 <= weight <= LARGEST_WEIGHT for weight in weights.values()):
            raise ValueError("a weight is out of range")
    except (ValueError, TypeError, OverflowError, RecursionError, InvalidItem) as error:
        raise CorruptIndex("the fields of a relation are damaged; index the collection again") from error
    return fields, weights


def _loaded(stored: Any) -> Iterator[FeatureField]:
    for name, ends, *kind in stored:
        numbers = None if ends is None else tuple(map(float, ends))
        if numbers is not None and (not all(map(math.isfinite, numbers)) or sorted({*numbers}) != [*numbers]):
            raise ValueError("ends are finite and ascend")
        if kind not in ([], [False], [True]) or (kind and numbers is None):
            raise ValueError("numbers may be dates")
        if kind == [True]:
            [*map(shown_date, numbers or ())]
        yield FeatureField(name, numbers, kind == [True], bool(kind))
