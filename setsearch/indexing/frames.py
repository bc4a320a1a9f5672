"""Frames of pandas, polars and Arrow, or their parts, what offers streams of Arrow, and mappings, as items."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain, count, islice
from typing import Any

from setsearch.errors import InvalidParameter, SourceError, UsageError
from setsearch.indexing.libraries import load_library
from setsearch.indexing.rows.arrow import frame_rows, is_frame, no_rows, offers, present, repeated_columns
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.rows.cells import NestedCells
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.rows.table_rows import GivenRows
from setsearch.indexing.sources import SourceReader
from setsearch.options import Counted, Progress, require_known
from setsearch.storage.ids import id_text
from setsearch.storage.synced_source import Columns

_log = logging.getLogger("setsearch")


class FrameItems:
    """The items of a frame, or its items with numbers; `whole`: whether items and features are whole numbers there.

    Reading raises SourceError, InvalidParameter.
    """

    def __init__(
        self, frame: Any, columns: Mapping[str, Any], progress: Progress, titles: Mapping[Any, str] | None = None
    ) -> None:
        require_known(columns, [own.name for own in fields(Columns)])
        self.roles = Columns(**columns)
        first, self._parts = _parts(collected(frame))
        self._progress = progress
        if titles is not None and not (
            isinstance(titles, Mapping) and all(isinstance(own, str) for own in titles.values())
        ):
            raise InvalidParameter(f"`titles` maps items to texts, and is not {titles!r:.60}")
        if titles and not self.roles.features:
            raise UsageError("`titles` are those of a relation's items; of documents `title` names a column")
        self._cells = CellRules(titles={str(id_text(item)): title for item, title in (titles or {}).items()})
        named = self.roles.relation == (self.roles.items, self.roles.features) or self.roles.of_numbers
        id = (self.roles.items if named else None) or self.roles.group_by or self.roles.id
        self.whole = _is_whole(first, id), bool(named) and _is_whole(first, self.roles.features)

    def __iter__(self) -> Iterator[Any]:
        numbers = count(1)
        nested = any("." in column for column in self.roles.asked)
        found = chain.from_iterable(frame_rows(part, numbers, nested) for part in self._parts)
        rows = self._progress(Counted(found, lambda: _size(self._parts)))
        reader = SourceReader(
            self.roles, RowReader(self.roles.errors, _log.warning, GivenRows("the frame", rows)), cells=self._cells
        )
        return reader.read_numbers([]) if self.roles.of_numbers else reader.of_rows()


def collected(frame: Any) -> Any:
    """A frame; a lazy one of polars is worked out, and what offers a stream of Arrow, as DuckDB does, becomes that.

    Raises SourceError.
    """
    frame = frame.scanner() if offers(frame, "scanner") else frame  # a dataset of Arrow
    if offers(frame, "to_reader") and not offers(frame, "num_rows"):
        return frame.to_reader()
    is_own = any(offers(frame, name) for name in ("lazy", "to_dict", "to_pylist"))
    if offers(frame, "__arrow_c_stream__") and not is_own:
        pyarrow = load_library("pyarrow", f"a {type(frame).__name__} as rows", "arrow")
        return pyarrow.RecordBatchReader.from_stream(frame)
    if not offers(frame, "lazy", "collect"):
        return frame
    try:
        return frame.collect()
    except Exception as error:  # polars raises many kinds
        problem = " ".join(str(error).split())
        raise SourceError(f"the lazy frame cannot be worked out: {problem:.200}; correct it, or collect it") from error


def _parts(frame: Any) -> tuple[Any, Iterable[Any]]:
    """The first row of mappings, or the first part of a frame; and all of its parts, which may be one."""
    if is_frame(frame) or isinstance(frame, Mapping) or not isinstance(frame, Iterable):
        whole = _with_index(frame)
        return whole, [whole]
    rows = iter(frame)
    begin = [*islice(rows, 1)]
    again = frame if isinstance(frame, Sequence) else _Begun(chain(begin, rows), frame)
    if begin and is_frame(begin[0]):
        parts = (_with_index(collected(part), True) for part in again)
        return _with_index(collected(begin[0]), True), [*parts] if isinstance(frame, Sequence) else parts
    if begin and not hasattr(begin[0], "keys"):
        raise no_rows(frame)
    return begin[0] if begin else None, [again]


class _Begun:
    """The rows of a frame, of which somebody looked at the first: to begin again may lose it, as of a cursor."""

    def __init__(self, rows: Iterator[Any], frame: Any) -> None:
        self._rows, self._frame = rows, frame

    def __iter__(self) -> Iterator[Any]:
        return self._rows

    def __len__(self) -> int:
        return len(self._frame)


def _size(parts: Iterable[Any]) -> int:
    """The number of all rows. Raises TypeError if nobody knows it yet."""
    if not isinstance(parts, Sequence):
        raise TypeError("a stream of frames tells no length")
    return sum(map(len, parts))


def _with_index(frame: Any, is_part: bool = False) -> Any:
    """A frame; of pandas with its index as columns, where it has names, or tells rows apart and is no range from 0.

    Of a part, a range goes on where that of the part before ends, and tells nothing.
    """
    index: Any = getattr(frame, "index", None)
    if not hasattr(index, "get_level_values") or not offers(frame, "assign"):
        return frame
    added = {name: index.get_level_values(name) for name in index.names if name is not None}
    is_plain = hasattr(index, "start") and (is_part or (index.start == 0 and index.step == 1))
    if (added or not is_plain) and index.nlevels == 1 and index.is_unique:
        added["id"] = index
    return frame.assign(**{str(name): cells for name, cells in added.items() if name not in frame.columns})


def _is_whole(frame: Any, column: str | None) -> bool:
    """Whether a column has a type of whole numbers, in pandas, polars or Arrow; or the first one of mappings does."""
    if column is not None and hasattr(frame, "keys") and not is_frame(frame):
        row = NestedCells(frame)
        cell = present(row[column]) if column in row else None
        return isinstance(cell, int) and not isinstance(cell, bool)
    if column is not None and offers(frame, "read_next_batch"):
        types = dict(zip(frame.schema.names, frame.schema.types, strict=True))
        return str(types.get(column)).startswith(("int", "uint"))
    if column is None or not offers(frame, "columns"):
        return False
    is_arrow = offers(frame, "column_names")
    if column not in (frame.column_names if is_arrow else frame.columns) or column in repeated_columns(frame):
        return False
    cells = frame.column(column) if is_arrow else frame[column]
    return str(getattr(cells, "dtype", getattr(cells, "type", ""))).lower().startswith(("int", "uint"))
