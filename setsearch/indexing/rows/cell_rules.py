"""Rules for the rows of a relation: which are kept, how a cell holds several features, and titles from another file.

"films rated by 15 people or more, people who rated 200 of these or more, ratings above 3" (EachMovie, in the paper):
min_features=15, min_items=200, keep="rating > 3".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from setsearch.errors import SourceError, UsageError
from setsearch.indexing.rows.cells import Row, cell_features, cell_text, split_names
from setsearch.storage.kept.conditions import Condition, parse_condition


@dataclass(frozen=True)
class CellRules:
    """`keep`: a condition such as "rating >= 4"; `split`: what stands between features; `titles`: title by item.

    `min_features`: items with fewer features are left out; then, `min_items`: features of fewer items. Both count the
    rows that do not meet `keep`, too.
    """

    keep: str | None = None
    split: str | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    min_features: int = 0
    min_items: int = 0

    def __post_init__(self) -> None:
        if self.keep is not None and self.condition is None:
            raise UsageError(f"`keep` is a condition such as 'rating >= 4', not {self.keep!r:.60}")
        if self.split == "":
            raise UsageError("`split` is what stands between features, such as '|', not an empty text")

    @property
    def drops_rare(self) -> bool:
        """Whether items or features can be too rare."""
        return self.min_features > 1 or self.min_items > 1

    @cached_property
    def condition(self) -> Condition | None:
        """The condition of `keep`."""
        return None if self.keep is None else parse_condition(self.keep)

    def keeps(self, row: Row) -> bool:
        """Whether a row meets the condition; raises SourceError if it lacks the column, or a number."""
        if self.condition is None:
            return True
        position, values = row
        column, wanted = self.condition.column, self.condition.wanted
        if column not in values:
            raise SourceError(f"{position} has no column {column!r} to compare; it has {', '.join(map(str, values))}")
        met = self.condition.compare(values[column])
        if met is None and not self.condition.orders:
            raise UsageError(f"`keep` compares with {wanted!r}, which is no number; texts are compared with = and !=")
        if met is None:
            raise SourceError(f"{position}: the column {column!r} is {values[column]!r:.40}, not a number to compare")
        return met

    def features(self, position: str, column: str, value: Any) -> list[str]:
        """The features that a cell holds: those of a list, or what `split` separates. Raises SourceError."""
        if self.split is not None and (value is None or isinstance(value, str)):
            return split_names(cell_text(position, column, value), self.split)
        return cell_features(position, column, value)
