"""What a cell says: numbers and dates as people write them, and as a machine compares them."""

import datetime
import re
from collections.abc import Callable
from decimal import Decimal
from math import isfinite, nan
from typing import Any

PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BESIDE = " \u00a0\u2009\u202f€$£¥"  # a number
_spaces = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f'’](?=\d{3}(?!\d))")  # between thousands
_comma = re.compile(r"[+-]?\d+,\d+", re.ASCII).fullmatch
_thousands = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII).fullmatch
_in_groups = re.compile(  # 1.250,5 and 1,250.5, of which the last mark is the decimal one; 1.250.000 and 1,250,000
    r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+,\d*|(?:,\d{3})+\.\d*|(?:\.\d{3}){2,}|(?:,\d{3}){2,})", re.ASCII
).fullmatch
iso_date = re.compile(r"(\d{4}-\d{2}(?:-\d{2})?)(?:[T ](\d{2}:\d{2}.*))?", re.ASCII).fullmatch
_time = r"(?:,?(?:T| +)(?P<hour>\d{1,2})(?P<rest>:\d{2}(?::\d{2}(?:\.\d+)?)?)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
_year_first = re.compile(rf"(\d{{4}})[/.年] ?(\d{{1,2}})[/.月] ?(\d{{1,2}})[日.]?{_time}", re.ASCII).fullmatch
_year_last = re.compile(rf"(\d{{1,2}})([./-]) ?(\d{{1,2}})\2 ?(\d{{4}}){_time}", re.ASCII).fullmatch


class Written(str):
    """A cell of which its column, or its file, tells what it says: `plain`, with a decimal point, or as ISO 8601.

    It `is_sure` where the column itself tells.
    """

    tell: Callable[[str], str | None]  # what such a cell says; None: what it looks like
    is_sure: bool

    @property
    def plain(self) -> str:
        """What the cell says."""
        return self.tell(str(self)) or str(self)


def plain_cell(value: Any) -> Any:
    """What a cell says."""
    return value.plain if isinstance(value, Written) else value


def date_text(value: Any, day_first: bool | None = None) -> str | None:
    """A date as ISO 8601 writes it; None for what is none, or may be two.

    27.11.2026, 2026/11/27 and 27/11/2026 are dates; of 5/3/2026 somebody must know whether days are first.
    """
    text = str(plain_cell(value)).strip()
    if text.endswith((" UTC", " GMT")):  # as databases export times
        text = f"{text[:-4]}Z"
    if iso_date(text):
        return text
    if found := _year_first(text):
        year, month, day = found[1], int(found[2]), int(found[3])
    elif found := _year_last(text):
        year, day, month = found[4], int(found[1]), int(found[3])
        if found[2] != "." and day <= 12 and month != day:
            if month <= 12 and day_first is None:
                return None
            if month > 12 or not day_first:
                day, month = month, day
    else:
        return None
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{year}-{month:02}-{day:02}{_time_of(found)}"


def _time_of(found: re.Match[str]) -> str:
    if found["hour"] is None:
        return ""
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "pP")
    return f"T{hour:02}{found['rest']}"


def as_number(value: Any) -> float | None:
    """A finite number, or a text with one in ASCII digits, perhaps of money: 12,49 €; None for what is none.

    Python would also read 1_000 and the digits of other scripts.
    """
    value = plain_cell(value)
    if isinstance(value, str):
        value = decimal_point(bare_number(value))
        is_number = PLAIN_NUMBER.fullmatch(value) is not None
    else:
        is_number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else nan
    except (OverflowError, ValueError):
        return None
    return number if isfinite(number) else None


def bare_number(text: str) -> str:
    """A number without blanks and signs of money beside it: 12,49 of 12,49 €."""
    return text.strip().strip(_BESIDE)


def decimal_point(text: str) -> str:
    """A number with a decimal point, and without marks between thousands; 1,250 stays as it is, which may be either."""
    if not text.isdecimal():
        text = _spaces.sub("", text.replace("−", "-", 1))
    if _in_groups(text):
        decimal = max(text.rfind(","), text.rfind(".")) if {",", "."} <= {*text} else len(text)
        return re.sub("[.,]", "", text[:decimal]) + f".{text[decimal + 1 :]}"
    return text.replace(",", ".") if _comma(text) and not _thousands(text) else text


def may_be_thousand(value: Any) -> bool:
    """Whether a cell is as 1,250, which may be a thousand or one and a quarter."""
    return isinstance(value, str) and _thousands(bare_number(value)) is not None


def plain_date(value: datetime.date | datetime.time) -> str:
    """A date as ISO 8601 has it; midnight is the day."""
    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time() and value.tzinfo is None
    return (value.date() if is_day else value).isoformat()  # type: ignore[union-attr]
