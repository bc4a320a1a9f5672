"""Conditions on a column, such as "rating >= 4". A name that holds an operator stands in double quotes, as in SQL."""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from setsearch.text.numbers_and_dates import as_number, date_text

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
TRUTH = {"true": 1, "false": 0}  # as SQLite has it
_condition = re.compile(  # =>, =< and <> are no signs
    r'\s*(?:"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>\S.*?)(?<![<>=]))\s*(?P<sign>>=|<=|!=|==|=|>|<)(?![<>=])\s*(?P<wanted>.*?)\s*',
    re.DOTALL,
).fullmatch


class Condition(NamedTuple):
    """A column is compared with a number, a date, or a text."""

    column: str
    sign: str
    wanted: str

    @property
    def orders(self) -> bool:
        """Whether more and less have a meaning: for numbers and dates."""
        return as_number(self.wanted) is not None or date_text(self.wanted) is not None

    def compare(self, value: Any) -> bool | None:
        """Whether a cell meets the condition; None if it cannot be compared. An empty cell does not meet it."""
        if value is None or value == "":
            return False
        truth = TRUTH.get(self.wanted.lower())
        if isinstance(value, bool) or (truth is not None and isinstance(value, (int, float))):
            wanted = as_number(self.wanted) if truth is None else truth
            return None if wanted is None or self.sign not in ("=", "!=") else OPERATORS[self.sign](value, wanted)
        wanted = as_number(self.wanted)
        if wanted is None:
            if (date := date_text(self.wanted)) and (text := date_text(value)):
                end = None if ":" in date else len(date)  # a day is compared with days, a month with months
                return OPERATORS[self.sign](text[:end].replace(" ", "T"), date.replace(" ", "T"))
            return OPERATORS[self.sign](str(value), self.wanted) if self.sign in ("=", "!=") else None
        number = as_number(value)
        return None if number is None else OPERATORS[self.sign](number, wanted)

    def tells(self, value: Any) -> bool:
        """Whether a kept value, of a list one, can be compared, or equality is asked."""
        if self.sign in ("=", "!="):
            return True
        values = value if isinstance(value, list) else [value]
        return any(own not in (None, "") and self.compare(own) is not None for own in values)

    def meets(self, value: Any) -> bool:
        """Whether a kept value meets the condition, of a list one; a text is not equal to any number."""
        if isinstance(value, list):
            return any(map(self.meets, value))
        met = self.compare(value)
        return self.sign == "!=" if met is None else met


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
