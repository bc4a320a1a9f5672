"""Items from folders, text files, JSONL, CSV and TSV files, and SQLite tables: documents, or rows of a relation.

Every item is `(id, text or counted features, title)`, yielded one at a time.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, TypeVar

from setsearch.errors import SourceError
from setsearch.indexing.cell_rules import CellRules
from setsearch.indexing.files import FileReader, is_document
from setsearch.indexing.relation_columns import read_columns
from setsearch.indexing.rows import (
    JSON_LINES,
    STDIN,
    Row,
    RowReader,
    cell_count,
    cell_id,
    cell_number,
    cell_text,
    file_ending,
    is_array,
    missing_column,
    require_columns,
)
from setsearch.storage.synced_source import Columns

T = TypeVar("T")

ENTRIES = "select item, feature, sum(count) as count, max(title) as title from row group by item, feature"
# of the items with enough features, those entries whose features have enough of these items
FREQUENT = f"""
    with entry as ({ENTRIES}),
    kept as (select * from entry where item in (select item from entry group by item having count(*) >= {{}}))
    select * from kept where feature in (select feature from kept group by feature having count(*) >= {{}})
"""

# id, text or counted features, title, columns to keep
SourceItem = (
    tuple[str, str | dict[str, int], str | None] | tuple[str, str | dict[str, int], str | None, dict[str, Any] | None]
)


@dataclass(frozen=True)
class SourceReader:
    """Reads items from sources, by the roles of columns."""

    columns: Columns
    rows: RowReader
    globs: tuple[str, ...] = ()
    cells: CellRules = field(default_factory=CellRules)

    @cached_property
    def files(self) -> FileReader:
        """What reads files of documents."""
        return FileReader(self.rows, self.globs)

    def read(self, sources: Iterable[str]) -> Iterator[SourceItem]:
        """All items of all sources; raises SourceError if there are none, or one cannot be read."""
        paths = list(sources)
        is_empty = True
        for item in self.items(paths):
            is_empty = False
            yield item
        if is_empty:
            raise SourceError(f"nothing to index in {', '.join(paths) or self.rows.table}: no document, no row")

    def items_of(self, rows: Iterable[Row]) -> Iterator[SourceItem]:
        """The items of rows that come from elsewhere."""
        return replace(self, rows=_GivenRows(rows)).items([])  # type: ignore[arg-type]

    def numbers_of(self, rows: Iterable[Row]) -> Iterator[tuple[str, list[float], str | None]]:
        """Items with numbers, of rows that come from elsewhere."""
        return replace(self, rows=_GivenRows(rows)).read_numbers([])  # type: ignore[arg-type]

    def items(self, paths: list[str]) -> Iterator[SourceItem]:
        """All items of all sources, possibly none."""
        if self.columns.group_by is not None:
            return self._groups(paths)
        if self.columns.relation == (self.columns.items, self.columns.features):
            return self._relation_items(paths)
        return self._documents(paths)

    def read_numbers(self, sources: Iterable[str]) -> Iterator[tuple[str, list[float], str | None]]:
        """Items with the numbers of their columns."""
        for path in list(sources) or [""]:
            yield from self._each_row(self._numeric_item, self.rows.read(path))

    def _documents(self, paths: list[str]) -> Iterator[SourceItem]:
        for path in paths or [""]:
            is_file = self.rows.table is None and path != STDIN
            if is_file and Path(path).is_dir():
                several = sum(Path(other).is_dir() for other in paths) > 1
                yield from self._folder(Path(path), f"{Path(path).resolve().name}/" if several else "")
            elif is_file and is_document(Path(path)) and not is_array(Path(path)):
                yield from self.files.documents(Path(path), Path(path).name, is_named=True)
            else:
                yield from self._each_row(self._document, self.rows.read(path))

    def _folder(self, folder: Path, prefix: str) -> Iterator[SourceItem]:
        """The files of a folder, with their paths below it as ids, behind its name if there are several folders."""
        for file in self.files.files(folder):
            if file_ending(file) in JSON_LINES:
                yield from self._row_file(file)
            elif is_document(file):
                yield from self.files.documents(file, prefix + file.relative_to(folder).as_posix(), is_named=False)
            else:
                self.files.leave_out(file, "tables: name them one by one")

    def _row_file(self, file: Path) -> Iterator[SourceItem]:
        """The rows of a file of a folder, which is left out if the first one is no document."""
        with closing(self.rows.read(str(file))) as rows:
            head = [*islice(rows, 1)]
            columns = self.columns.id, *self.columns.texts
            missing = next((missing_column(values, *columns) for _, values in head), None)
            if missing is None:
                yield from self._each_row(self._document, chain(head, rows))
            else:
                self.files.leave_out(file, f"rows without a column {missing}")

    def _document(self, row: Row) -> SourceItem:
        position, values = row
        columns = self.columns
        require_columns(position, values, columns.id, *columns.texts, columns.title, *columns.keep)
        # A column named title is shown even if no title was requested.
        name = columns.title or "title"
        title = None if values.get(name) is None else cell_text(position, name, values[name])
        text = "\n".join(cell_text(position, name, values[name]) for name in columns.texts)
        id = cell_id(position, columns.id, values[columns.id])
        return (id, text, title, {name: values[name] for name in columns.keep}) if columns.keep else (id, text, title)

    def _numeric_item(self, row: Row) -> tuple[str, list[float], str | None]:
        position, values = row
        columns = self.columns
        require_columns(position, values, columns.items, columns.title, *columns.numbers)
        numbers = [cell_number(position, name, values[name]) for name in columns.numbers]
        item = cell_id(position, columns.items or "", values[columns.items or ""])
        return item, numbers, self._title(row)

    def _each_row(self, convert: Callable[[Row], T], rows: Iterable[Row]) -> Iterator[T]:
        """Rows, converted; with errors = "skip" bad ones are skipped."""
        for row in rows:
            try:
                if self.cells.drops_rare or self.cells.keeps(row):  # the others are counted, but not kept
                    yield convert(row)
            except SourceError as error:
                if self.rows.errors != "skip":
                    raise
                self.rows.warn(f"skipped {error}")

    def _groups(self, paths: list[str]) -> Iterator[SourceItem]:
        """The texts of each group, concatenated."""
        ordered = "select name, text from row order by name, rowid"
        for name, group in self._grouped(paths, lambda row: [self._part(row)], "name text, text text", ordered):
            yield name, "\n".join(text for _, text in group), None

    def _part(self, row: Row) -> tuple[str, str]:
        position, values = row
        group = self.columns.group_by or ""
        require_columns(position, values, group, *self.columns.texts)
        text = "\n".join(cell_text(position, name, values[name]) for name in self.columns.texts)
        return cell_id(position, group, values[group]), text

    def _relation_items(self, paths: list[str]) -> Iterator[SourceItem]:
        """The rows of a relation, grouped by item."""
        if len(paths) == 1 and self.rows.table is None and paths[0] != STDIN:
            by_columns = read_columns(Path(paths[0]), self.columns, self.rows, self.cells)
            if by_columns is not None:
                yield from by_columns
                return
        columns = "item text, feature text, count integer, title text"
        cells = self.cells
        entries = FREQUENT.format(cells.min_features, cells.min_items) if cells.drops_rare else ENTRIES
        for item, group in self._grouped(paths, self._cells, columns, f"{entries} order by item, feature"):
            own = list(group)
            yield item, {feature: count for _, feature, count, _ in own if count}, own[0][3]

    def _grouped(
        self, paths: list[str], convert: Callable[[Row], Iterable[tuple[Any, ...]]], columns: str, ordered: str
    ) -> Iterator[tuple[str, Iterator[Any]]]:
        """Rows grouped by their first cell in a temporary file: there may be more than memory holds, in any order."""
        stage = sqlite3.connect("")
        try:
            stage.execute(f"create table row ({columns})")
            rows = (
                cell
                for path in paths or [""]
                for cells in self._each_row(convert, self.rows.read(path))
                for cell in cells
            )
            stage.executemany(f"insert into row values ({', '.join('?' * (columns.count(',') + 1))})", rows)
            yield from groupby(stage.execute(ordered), key=lambda row: row[0])
        finally:
            stage.close()

    def _cells(self, row: Row) -> list[tuple[str, str, int, str | None]]:
        """The entries of a row: one for each feature of its cell."""
        position, values = row
        columns = self.columns
        own_title = None if self.cells.titles else columns.title
        require_columns(position, values, columns.items, columns.features, columns.count, own_title)
        roles = (columns.items or "", columns.features or "")
        item, feature = (cell_id(position, name, values[name]) for name in roles)
        count = cell_count(position, columns.count, values[columns.count]) if columns.count else 1
        count *= not self.cells.drops_rare or self.cells.keeps(row)
        title = self.cells.titles.get(item) if self.cells.titles else self._title(row)
        return [(item, own, count, title) for own in self.cells.split_features(feature)]

    def _title(self, row: Row) -> str | None:
        position, values = row
        name = self.columns.title
        return None if name is None or values[name] is None else cell_text(position, name, values[name])


@dataclass(frozen=True)
class _GivenRows:
    """Rows of an application, read as those of a table."""

    given: Iterable[Row]
    errors: str = "strict"
    table: str = "the frame"

    def read(self, source: str) -> Iterator[Row]:
        """All rows."""
        yield from self.given
