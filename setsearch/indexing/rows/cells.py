"""Cells of rows: ids, features, texts, counts and numbers. What is none of these is told with its place and value."""

import ast
import datetime
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from setsearch.errors import SourceError
from setsearch.indexing.rows.opening import SKIPPING
from setsearch.storage.feature_fields import as_days
from setsearch.storage.ids import is_storable, number_text
from setsearch.text.numbers_and_dates import as_number, may_be_thousand, plain_cell, plain_date

LISTS = ("[", "(", "{", "set()")  # how texts begin that may be lists
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_quoted = re.compile(_QUOTED, re.DOTALL)
_written = re.compile(rf"[\[({{]\s*(?:(?:{_QUOTED}|nan|None)(?:\s*,\s*|\s+|(?=[\])}}])))+[\])}}]", re.DOTALL)
TRUE = "true", "wahr", "vrai", "verdadero", "verdadeiro", "vero", "waar"  # as spreadsheets of several languages have it
FALSE = "false", "falsch", "faux", "falso", "onwaar"
SHOWN_NAMES, SHOWN_WITHIN = 10, 3  # columns in messages, and those within an object
CORRECT = "; correct it" + SKIPPING  # the way out of most messages here
CHOOSE = "choose when indexing: `id`, `text`, `items`, ..."  # which column is which
LARGEST_COUNT_OF_CELL = 2**31 - 1  # of a feature in an item (arrays.py)

ABSENT = object()  # no value of JSON

Row = tuple[str, Mapping[str, Any]]  # position (file and line), and cells by column


class Cells(dict[str, Any]):
    """The cells of a row; columns that are `repeated`, by their names, are left out."""

    repeated: frozenset[str] = frozenset()
    numbered: str | None = None  # the column that holds the numbers of rows, which is not in the file

    @classmethod
    def but(cls, repeated: frozenset[str], pairs: Iterable[tuple[str, Any]]) -> "Cells":
        """Columns with their cells, but for repeated ones."""
        cells = cls(pairs if not repeated else (pair for pair in pairs if pair[0] not in repeated))
        cells.repeated = repeated
        return cells


class NestedCells(Cells):
    """A row with objects in it: `a.b` is the key b of the object at a, empty where that is null.

    Of a list of objects it is the list of what they have there. If it `is_open`, a key that it lacks is as one whose
    value is null.
    """

    is_open = False

    def __missing__(self, column: str) -> Any:
        found = _inner(self, str(column).split("."))
        if found is ABSENT and not self.is_open and column not in self:
            raise KeyError(column)
        return None if found is ABSENT else found

    def __contains__(self, column: object) -> bool:
        if dict.__contains__(self, column):
            return True
        keys = str(column).split(".")
        if len(keys) == 1 or _inner(self, keys) is not ABSENT:
            return len(keys) > 1
        value: Any = self
        while keys and isinstance(value, dict) and dict.__contains__(value, keys[0]):
            value = dict.get(value, keys.pop(0))
        return not self.is_open and (value is None or isinstance(value, list))


class OpenCells(NestedCells):
    """A JSON object."""

    is_open = True


def _inner(value: Any, keys: list[str]) -> Any:
    """What a JSON value has at keys within one another, which may have points; ABSENT if nothing is there."""
    found = value
    for key in keys:  # nearly always all keys are plain, and there
        found = dict.get(found, key, ABSENT) if isinstance(found, dict) else ABSENT
        if found is ABSENT:
            break
    else:
        return found
    if isinstance(value, list):
        parts = [own for part in _flat(value) if (own := _inner(part, keys)) is not ABSENT and own is not None]
        return [own for part in parts for own in (part if isinstance(part, list) else [part])] if parts else ABSENT
    for end in range(1, len(keys) + 1) if isinstance(value, dict) else ():
        found = _inner(dict.get(value, ".".join(keys[:end]), ABSENT), keys[end:])
        if found is not ABSENT:
            return found
    return ABSENT


def _flat(values: list[Any]) -> Iterator[Any]:
    """What is in lists within one another, as deep as these may be."""
    waiting = values[::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value[::-1]
        else:
            yield value


def names_within(values: Mapping[str, Any]) -> Iterator[str]:
    """The columns of a row; of objects of JSON, also in lists, as deep as these may be, the names within, `a.b`."""
    if not isinstance(values, NestedCells):
        yield from values
        return
    waiting = [*values.items()][::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list):
            value = {own: inner for part in _flat(value) if isinstance(part, dict) for own, inner in part.items()}
        if isinstance(value, dict) and value:
            waiting += [(f"{name}.{own}", inner) for own, inner in value.items()][::-1]
        else:
            yield name


def repeated_names(names: Iterable[str]) -> frozenset[str]:
    """The names that several columns have, and the empty one."""
    return frozenset(name for name, times in Counter(names).items() if times > 1 or not name)


def missing_column(values: Mapping[str, Any], *names: str | None) -> str | None:
    """The first of some columns that a row lacks."""
    return next((name for name in names if name is not None and name not in values), None)


def require_columns(
    position: str,
    values: Mapping[str, Any],
    *names: str | None,
    choose: str = CHOOSE,
) -> None:
    """Raise SourceError, which tells how to `choose` columns, if a row lacks one of some."""
    missing = missing_column(values, *names)
    if missing is None:
        return
    if isinstance(values, Cells) and missing in values.repeated:
        file, _, place = position.rpartition(", ")
        where = position if place.startswith("row") else f"{file}, line 1"
        raise SourceError(f"{where}: several columns are named {missing!r}; rename all but one")
    known = [name for name in names_within(values) if name != getattr(values, "numbered", None)]
    more = f" and {len(known) - SHOWN_NAMES:,} more" if len(known) > SHOWN_NAMES else ""
    columns = ", ".join(known[:SHOWN_NAMES]) + more if known else "none"
    if type(values) is Cells and any(str(name).isdecimal() for name in values):
        choose = "the first line names columns" + ", or `header` does" * (choose == CHOOSE)
    elif type(values) is Cells and choose == CHOOSE:
        choose += "; `header`, if the first line names none"
    raise SourceError(f"{position} has no column {missing!r}; it has {columns} ({choose})")


def is_open(values: Mapping[str, Any]) -> bool:
    """Whether a row may lack cells, which are empty then: a JSON object."""
    return isinstance(values, OpenCells)


def cell_id(position: str, column: str, value: Any) -> str:
    """A cell as an id; a whole number is one, however it is stored. Raises SourceError."""
    if type(value) is str and is_storable(value):  # nearly always
        return value
    value = _as_text(value)
    _require_no_object(position, column, value)
    is_no_number = isinstance(value, float) and not math.isfinite(value)
    if value is None or isinstance(value, (list, bytes, bool)) or is_no_number or not is_storable(str(value)):
        raise SourceError(
            f"{position}: the column {column!r} is {value!r}; "
            f"ids are texts or numbers, not empty, without NUL or lone surrogates{CORRECT}"
        )
    return number_text(value) if isinstance(value, float) else str(value)


def cell_features(position: str, column: str, value: Any) -> list[str]:
    """A cell as features: those of a list, also of one that a text shows, or one, or none. Raises SourceError."""
    if value is None or (isinstance(value, str) and not value):
        return []
    if isinstance(value, str) and value.startswith(LISTS):
        value = _listed(value.rstrip())
    if not isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "tolist"):
        return [_feature(position, column, value)]
    parts = value.tolist() if hasattr(value, "tolist") else value
    return list(dict.fromkeys(_feature(position, column, part) for part in parts if part not in (None, "")))


def cell_names(position: str, column: str, value: Any, split: str | None) -> list[str]:
    """A cell as names: of a list, also one that a text shows, or what `split` separates, or one; raises SourceError."""
    if split and isinstance(value, str) and not value.startswith(LISTS[0]):
        return split_names(value, split)
    names = cell_features(position, column, value)
    if isinstance(value, str) and names == [value.rstrip()] and value.startswith(LISTS):
        raise SourceError(
            f"{position}: the column {column!r} is {value!r:.60}, which is no JSON array of names{CORRECT}"
        )
    return names


def split_names(text: str, split: str) -> list[str]:
    """What stands in a text between what separates names, each once, without blanks around it."""
    return list(dict.fromkeys(part.strip() for part in text.split(split) if part.strip()))


def _listed(value: str) -> Any:
    """The list that a text is: of JSON, or as Python and numpy write lists, tuples and sets of texts; else the text."""
    if value.startswith("[") and value.endswith("]"):
        with suppress(ValueError, RecursionError):
            found = json.loads(value)
            return value if any(isinstance(part, (dict, list)) for part in found) else found
    if value == "set()" or _written.fullmatch(value):
        return [ast.literal_eval(part[0]) for part in _quoted.finditer(value)]
    return value


def _feature(position: str, column: str, value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else cell_id(position, column, value)


def cell_text(position: str, column: str, value: Any) -> str:
    """A cell as text, with ? for lone surrogates: null, a text, a finite number, a date, or a list of these.

    Raises SourceError.
    """
    if type(value) is str and value.isascii():  # nearly always
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(cell_text(position, column, part) for part in _flat(value))
    value = _as_text(value)
    _require_no_object(position, column, value)
    is_no_number = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, (bytes, bool)) or is_no_number:
        raise SourceError(f"{position}: the column {column!r} is not a text but {value!r:.40}{CORRECT}")
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _require_no_object(position: str, column: str, value: Any) -> None:
    """Raise SourceError, which names what is in it, for an object of JSON."""
    if isinstance(value, dict):
        within = " or ".join([*names_within(OpenCells({column: value}))][:SHOWN_WITHIN])
        raise SourceError(f"{position}: the column {column!r} is an object, {value!r:.40}; choose {within}")


def _as_text(value: Any) -> Any:
    """A date as a text; anything else as it is."""
    return plain_date(value) if isinstance(value, (datetime.date, datetime.time)) else value


def cell_count(position: str, column: str, value: Any) -> int:
    """A cell as a count, 0 to 2^31 - 1, where TRUE is 1 and FALSE is 0; raises SourceError."""
    if isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in (*TRUE, *FALSE)):
        return int(str(value).strip().lower() in TRUE)
    number = as_number(value)
    if number is None or not (number.is_integer() and 0 <= number <= LARGEST_COUNT_OF_CELL):
        hint = "without a column of counts each entry counts once"
        raise SourceError(
            f"{position}: the column {column!r} is {value!r}; counts are whole numbers, 0 to 2^31 - 1; {hint}"
        )
    return int(number)


def cell_number(position: str, column: str, value: Any) -> float:
    """A cell as a finite number, with a decimal point or comma, or a date as one of days; raises SourceError."""
    number = as_number(value)
    if number is not None:
        return number
    days = as_days(value)
    if days is None:
        either = "; it may be a thousand or not: write it without a mark" if may_be_thousand(plain_cell(value)) else ""
        raise SourceError(
            f"{position}: the column {column!r} is {value!r}, not a finite number, or a date as 2004-12-31"
            f"{either or CORRECT}"
        )
    return days
