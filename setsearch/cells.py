"""What a cell of a row may be: an id, a text, a count, a number; all else is refused, by place and column."""

import math
from collections.abc import Mapping
from typing import Any

from setsearch.errors import SourceError
from setsearch.names import storable


def require(where: str, values: Mapping[str, Any], name: str) -> None:
    """Raises SourceError where a row lacks a column."""
    if name not in values:
        have = ", ".join(map(str, values)) or "none"
        raise SourceError(f"{where} has no column {name!r}; it has {have} (choose with --id, --text, --items, ...)")


def item_name(where: str, column: str, value: Any) -> str:
    """An id as text; raises SourceError for what cannot be one."""
    if value is None or isinstance(value, (dict, list, bytes, bool)) or not storable(str(value)):
        raise SourceError(
            f"{where}: the column {column!r} is {value!r}; "
            "ids are texts or numbers, not empty, without NUL or lone surrogates"
        )
    return str(value)


def text_of(where: str, column: str, value: Any) -> str:
    """A cell as text: nothing, a text, a number, or a list of these."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(text_of(where, column, part) for part in value)
    if isinstance(value, (dict, bytes)):
        raise SourceError(f"{where}: the column {column!r} is not a text but {value!r:.40}")
    return str(value)


def count_of(where: str, column: str, value: Any) -> int:
    """A cell as a count, 0 to 2^31 - 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not (number.is_integer() and 0 <= number < 2**31):
        raise SourceError(f"{where}: the column {column!r} is {value!r}; counts are whole numbers from 0 to 2^31 - 1")
    return int(number)


def number_of(where: str, column: str, value: Any) -> float:
    """A cell as a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise SourceError(f"{where}: the column {column!r} is {value!r}, which is no finite number")
    return number
