"""Frames of pandas, polars and Arrow as items."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from setsearch.indexing.rows.arrow import Row, frame_rows
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.sources import SourceReader
from setsearch.options import require_known
from setsearch.storage.synced_source import Columns


class FrameRows:
    """The rows of a frame, and how many there are, for those who show progress."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    def __iter__(self) -> Iterator[Row]:
        return frame_rows(self._frame)


class FrameItems:
    """The items of a frame, or its items with numbers; `whole`: whether items and features are whole numbers there.

    Reading raises SourceError, InvalidParameter.
    """

    def __init__(self, frame: Any, columns: Mapping[str, Any], progress: Callable[[Any], Iterator[Row]]) -> None:
        require_known(columns, [own.name for own in fields(Columns)])
        self.roles = Columns(**columns)
        if hasattr(frame, "lazy") and hasattr(frame, "collect"):  # a lazy one of polars
            frame = frame.collect()
        self._frame, self._progress = frame, progress
        named = self.roles.relation == (self.roles.items, self.roles.features) or self.roles.of_numbers
        id = (self.roles.items if named else None) or self.roles.group_by or self.roles.id
        self.whole = _is_whole(frame, id), bool(named) and _is_whole(frame, self.roles.features)

    def __iter__(self) -> Iterator[Any]:
        reader, rows = SourceReader(self.roles, RowReader()), self._progress(FrameRows(self._frame))
        return reader.numbers_of(rows) if self.roles.of_numbers else reader.items_of(rows)


def _is_whole(frame: Any, column: str | None) -> bool:
    """Whether a column has a type of whole numbers, in pandas, polars or Arrow."""
    if column is None or not hasattr(frame, "columns"):
        return False
    names = getattr(frame, "column_names", None) or [*frame.columns]
    if column not in names:
        return False
    cells = frame.column(column) if hasattr(frame, "column_names") else frame[column]
    return str(getattr(cells, "dtype", getattr(cells, "type", ""))).lower().startswith(("int", "uint"))
