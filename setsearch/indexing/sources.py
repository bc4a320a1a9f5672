"""Items from folders, text files, JSONL, CSV and TSV files, and SQLite tables: documents, or rows of a relation.

Every item is `(id, text or counted features, title)`, yielded one at a time.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from setsearch.errors import SourceError
from setsearch.indexing.rows import (
    STDIN,
    TEXT_FILES,
    Row,
    RowReader,
    cell_count,
    cell_id,
    cell_number,
    cell_text,
    file_ending,
    open_file,
    require_column,
)
from setsearch.storage.synced_source import Columns

T = TypeVar("T")

SourceItem = tuple[str, str | dict[str, int], str | None]


@dataclass(frozen=True)
class SourceReader:
    """Reads items from sources, by the roles of columns."""

    columns: Columns
    rows: RowReader

    def read(self, sources: Iterable[str]) -> Iterator[SourceItem]:
        """All items of all sources; raises SourceError if there are none, or one cannot be read."""
        paths = list(sources)
        is_empty = True
        for item in self.items(paths):
            is_empty = False
            yield item
        if is_empty:
            raise SourceError(f"nothing to index in {', '.join(paths) or self.rows.table}: no document, no row")

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
            yield from self._each_row(self._numeric_item, path)

    def _documents(self, paths: list[str]) -> Iterator[SourceItem]:
        for path in paths or [""]:
            is_file = self.rows.table is None and path != STDIN
            if is_file and (Path(path).is_dir() or file_ending(Path(path)) in TEXT_FILES):
                yield from self._files(Path(path))
            else:
                yield from self._each_row(self._document, path)

    def _files(self, path: Path) -> Iterator[SourceItem]:
        """The files of a folder, with their paths below it as ids; or one file."""
        if not path.is_dir():
            yield from self._text_file(path, path.name)
            return
        endings = [*TEXT_FILES, ".jsonl"]
        files = sorted(
            file
            for file in path.rglob("*")
            if file_ending(file) in endings and file.is_file() and not _is_hidden(file.relative_to(path))
        )
        if not files:
            raise SourceError(f"{path} holds no .txt, .md or .jsonl file; name files with other endings one by one")
        for file in files:
            if file_ending(file) == ".jsonl":
                yield from self._each_row(self._document, str(file))
            else:
                yield from self._text_file(file, file.relative_to(path).as_posix())

    def _text_file(self, path: Path, id: str) -> Iterator[SourceItem]:
        with open_file(path) as file:
            data = file.read()
        text = self.rows.decode(data, str(path))
        if text is not None and "\0" in text:
            if self.rows.errors == "strict":
                position = data.index(0)
                raise SourceError(f"{path} is not text (NUL at byte {position}); leave it out, or pass `errors=skip`")
            if self.rows.errors == "skip":
                self.rows.warn(f"skipped {path}: not text")
                return
            text = text.replace("\0", " ")
        if text is None:
            return
        if not text.strip():
            self.rows.warn(f"skipped {path}: it is empty")
            return
        yield id, text, None

    def _document(self, row: Row) -> SourceItem:
        position, values = row
        columns = self.columns
        for name in (columns.id, *columns.texts, *([columns.title] if columns.title else [])):
            require_column(position, values, name)
        # A column named title is shown even if no title was requested.
        name = columns.title or "title"
        title = None if values.get(name) is None else cell_text(position, name, values[name])
        text = "\n".join(cell_text(position, name, values[name]) for name in columns.texts)
        return cell_id(position, columns.id, values[columns.id]), text, title

    def _numeric_item(self, row: Row) -> tuple[str, list[float], str | None]:
        position, values = row
        columns = self.columns
        for name in filter(None, (columns.items, columns.title, *columns.numbers)):
            require_column(position, values, name)
        numbers = [cell_number(position, name, values[name]) for name in columns.numbers]
        item = cell_id(position, columns.items or "", values[columns.items or ""])
        return item, numbers, self._title(row)

    def _each_row(self, convert: Callable[[Row], T], path: str) -> Iterator[T]:
        """The rows of a source, converted; with errors = "skip" bad rows are skipped."""
        for row in self.rows.read(path):
            try:
                yield convert(row)
            except SourceError as error:
                if self.rows.errors != "skip":
                    raise
                self.rows.warn(f"skipped {error}")

    def _groups(self, paths: list[str]) -> Iterator[SourceItem]:
        """The texts of each group, concatenated."""
        ordered = "select name, text from row order by name, rowid"
        for name, group in self._grouped(paths, self._part, "name text, text text", ordered):
            yield name, "\n".join(text for _, text in group), None

    def _part(self, row: Row) -> tuple[str, str]:
        position, values = row
        group = self.columns.group_by or ""
        for name in (group, *self.columns.texts):
            require_column(position, values, name)
        text = "\n".join(cell_text(position, name, values[name]) for name in self.columns.texts)
        return cell_id(position, group, values[group]), text

    def _relation_items(self, paths: list[str]) -> Iterator[SourceItem]:
        """The rows of a relation, grouped by item."""
        columns = "item text, feature text, count integer, title text"
        ordered = "select item, feature, sum(count), max(title) from row group by item, feature order by item, feature"
        for item, group in self._grouped(paths, self._cell, columns, ordered):
            cells = list(group)
            yield item, {feature: count for _, feature, count, _ in cells if count}, cells[0][3]

    def _grouped(
        self, paths: list[str], convert: Callable[[Row], tuple[Any, ...]], columns: str, ordered: str
    ) -> Iterator[tuple[str, Iterator[Any]]]:
        """Rows grouped by their first cell in a temporary file: there may be more than memory holds, in any order."""
        stage = sqlite3.connect("")
        try:
            stage.execute(f"create table row ({columns})")
            rows = (row for path in paths or [""] for row in self._each_row(convert, path))
            stage.executemany(f"insert into row values ({', '.join('?' * (columns.count(',') + 1))})", rows)
            yield from groupby(stage.execute(ordered), key=lambda row: row[0])
        finally:
            stage.close()

    def _cell(self, row: Row) -> tuple[str, str, int, str | None]:
        position, values = row
        columns = self.columns
        for name in filter(None, (columns.items, columns.features, columns.count, columns.title)):
            require_column(position, values, name)
        roles = (columns.items or "", columns.features or "")
        item, feature = (cell_id(position, name, values[name]) for name in roles)
        count = cell_count(position, columns.count, values[columns.count]) if columns.count else 1
        return item, feature, count, self._title(row)

    def _title(self, row: Row) -> str | None:
        position, values = row
        name = self.columns.title
        return None if name is None or values[name] is None else cell_text(position, name, values[name])


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
