"""Rules for the rows of a relation: which are kept, how a cell holds several features, and titles from another file."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.errors import SourceError, UsageError
from setsearch.indexing.rows import Row, RowReader, cell_id, cell_text, require_column
from setsearch.storage.synced_source import Columns

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_condition = re.compile(r"\s*(.+?)\s*(>=|<=|!=|=|>|<)\s*(.*?)\s*").fullmatch


@dataclass(frozen=True)
class CellRules:
    """`keep`: a condition such as "rating >= 4"; `split`: what stands between features; `titles`: title by item."""

    keep: str | None = None
    split: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.keep is not None and _condition(self.keep.replace("==", "=")) is None:
            raise UsageError(f"`keep` is a condition such as 'rating >= 4', not {self.keep!r:.60}")
        if self.split == "":
            raise UsageError("`split` is what stands between features, such as '|', not an empty text")

    @property
    def column(self) -> str | None:
        """The column that is compared."""
        return self._parts[0] if self.keep is not None else None

    @property
    def _parts(self) -> tuple[str, str, str]:
        found = _condition((self.keep or "").replace("==", "="))
        assert found is not None
        return found[1], found[2], found[3]

    def compare_all(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which numbers meet the condition; raises ValueError if it compares texts."""
        _, sign, wanted = self._parts
        kept: npt.NDArray[np.bool_] = np.asarray(OPERATORS[sign](values, float(wanted)))
        return kept

    def keeps(self, row: Row) -> bool:
        """Whether a row meets the condition; raises SourceError if it lacks the column, or a number."""
        if self.keep is None:
            return True
        position, values = row
        column, sign, wanted = self._parts
        if column not in values:
            raise SourceError(f"{position} has no column {column!r} to compare; it has {', '.join(map(str, values))}")
        value = values[column]
        if value is None or value == "":
            return False
        number = _number(wanted)
        if number is None:
            if sign not in ("=", "!="):
                raise SourceError(f"{position}: {wanted!r} is no number; texts are compared with = and !=")
            return OPERATORS[sign](str(value), wanted)
        own = _number(value)
        if own is None:
            raise SourceError(f"{position}: the column {column!r} is {value!r:.40}, not a number to compare")
        return OPERATORS[sign](own, number)

    def split_features(self, feature: str) -> list[str]:
        """The features that a cell holds."""
        if self.split is None:
            return [feature]
        return list(dict.fromkeys(part.strip() for part in feature.split(self.split) if part.strip()))


def read_titles(rows: RowReader, path: str, columns: Columns) -> dict[str, str]:
    """Titles by item from a file with the column of the items and one of titles; raises SourceError."""
    titles = {}
    item, title = columns.items or "", columns.title or "title"
    for position, values in rows.read(path):
        for name in (item, title):
            require_column(position, values, name)
        titles[cell_id(position, item, values[item])] = cell_text(position, title, values[title])
    return titles


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
