"""Conditions on a column, such as "rating >= 4". A name that holds an operator stands in double quotes, as in SQL."""

import datetime
import operator
import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_condition = re.compile(  # =>, =< and <> are no signs
    r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>\S.*?))\s*(?P<sign>>=|<=|!=|==|=|>|<)(?![<>=])\s*(?P<wanted>.*?)\s*',
    re.DOTALL,
).fullmatch


_comma = re.compile(r"[+-]?\d+,\d+", re.ASCII).fullmatch
_thousands = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII).fullmatch
_in_groups = re.compile(  # 1.250,5 and 1,250.5, of which the last mark is the decimal one; 1.250.000 and 1,250,000
    r"[+-]?[1-9]\d{0,2}(?:(?:\.\d{3})+,\d*|(?:,\d{3})+\.\d*|(?:\.\d{3}){2,}|(?:,\d{3}){2,})", re.ASCII
).fullmatch
iso_date = re.compile(r"(\d{4}-\d{2}(?:-\d{2})?)(?:[T ](\d{2}:\d{2}.*))?", re.ASCII).fullmatch


class Condition(NamedTuple):
    """A column is compared with a number, a date, or a text."""

    column: str
    sign: str
    wanted: str

    @property
    def compares_numbers(self) -> bool:
        """Whether cells have to be numbers."""
        return as_number(self.wanted) is not None

    @property
    def orders(self) -> bool:
        """Whether more and less have a meaning: for numbers and dates."""
        return self.compares_numbers or iso_date(self.wanted) is not None

    def compare(self, value: Any) -> bool | None:
        """Whether a cell meets the condition; None if it cannot be compared. An empty cell does not meet it."""
        if value is None or value == "":
            return False
        if isinstance(value, bool):
            return OPERATORS[self.sign](str(value).lower(), self.wanted.lower()) if self.sign in ("=", "!=") else None
        wanted = as_number(self.wanted)
        if wanted is None:
            if (date := iso_date(self.wanted)) and iso_date(text := str(value)):
                end = None if date[2] else len(self.wanted)  # a day is compared with days, a month with months
                return OPERATORS[self.sign](text[:end].replace(" ", "T"), self.wanted.replace(" ", "T"))
            return OPERATORS[self.sign](str(value), self.wanted) if self.sign in ("=", "!=") else None
        number = as_number(value)
        return None if number is None else OPERATORS[self.sign](number, wanted)


def parse_condition(text: str) -> Condition | None:
    """A condition from its text; None for what is none."""
    found = _condition(text)
    if found is None:
        return None
    column = found["plain"] if found["quoted"] is None else found["quoted"].replace('""', '"')
    return Condition(column, "=" if found["sign"] == "==" else found["sign"], found["wanted"])


def equality(column: str, value: str) -> str | None:
    """The text of the condition that a column has a value; None if no text says that."""
    quoted = column.replace('"', '""')
    texts = (f"{name} = {value}" for name in (column, f'"{quoted}"'))
    return next((text for text in texts if parse_condition(text) == (column, "=", value)), None)


def as_number(value: Any) -> float | None:
    """A cell as a finite number; None for what is none."""
    if isinstance(value, str):
        value = decimal_point(value.strip())
    try:
        number = None if isinstance(value, bool) or (isinstance(value, str) and "_" in value) else float(value)
    except (TypeError, ValueError):
        return None
    return number if number is not None and isfinite(number) else None


def decimal_point(text: str) -> str:
    """A number with a decimal point, and without marks between thousands; 1,250 stays as it is, which may be either."""
    if _in_groups(text):
        decimal = max(text.rfind(","), text.rfind(".")) if {",", "."} <= {*text} else len(text)
        return re.sub("[.,]", "", text[:decimal]) + f".{text[decimal + 1 :]}"
    return text.replace(",", ".") if _comma(text) and not _thousands(text) else text


def plain_date(value: datetime.date | datetime.time) -> str:
    """A date as ISO 8601 has it; midnight is the day."""
    is_day = isinstance(value, datetime.datetime) and value.time() == datetime.time() and value.tzinfo is None
    return (value.date() if is_day else value).isoformat()  # type: ignore[union-attr]
