"""Where items come from: folders, text files, JSONL, CSV and TSV, SQLite tables; texts, or rows of a relation.

Everything is yielded as `(id, text or counted features, title)`, one item at a time.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from setsearch.errors import SourceError
from setsearch.indexing.rows import (
    STDIN,
    TEXT_FILES,
    Row,
    RowReader,
    count_of,
    item_name,
    kind_of,
    number_of,
    open_file,
    require,
    text_of,
)
from setsearch.storage.synced_source import Columns

T = TypeVar("T")
Given = tuple[str, str | dict[str, int], str | None]


@dataclass(frozen=True)
class Reader:
    """Reads sources: rows as `columns` says, and texts."""

    columns: Columns
    rows: RowReader

    def read(self, sources: Iterable[str]) -> Iterator[Given]:
        """All items of all sources; raises SourceError where there are none, or where one cannot be read."""
        paths = list(sources)
        found = False
        for item in self.items(paths):
            found = True
            yield item
        if not found:
            raise SourceError(f"nothing to index in {', '.join(paths) or self.rows.table}: no document, no row")

    def items(self, paths: list[str]) -> Iterator[Given]:
        """All items of all sources, perhaps none."""
        if self.columns.group_by is not None:
            return self._groups(paths)
        if self.columns.relation == (self.columns.items, self.columns.features):
            return self._relation_items(paths)
        return self._documents(paths)

    def _documents(self, paths: list[str]) -> Iterator[Given]:
        for path in paths or [""]:
            if self.rows.table is None and path != STDIN and (Path(path).is_dir() or kind_of(Path(path)) in TEXT_FILES):
                yield from self._files(Path(path))
            else:
                yield from self._each(self._document, path)

    def _files(self, path: Path) -> Iterator[Given]:
        """The files of a folder, named by their paths below it; or one file."""
        if not path.is_dir():
            yield from self._text_file(path, path.name)
            return
        known = [*TEXT_FILES, ".jsonl"]
        files = sorted(
            file
            for file in path.rglob("*")
            if kind_of(file) in known and file.is_file() and not _hidden(file.relative_to(path))
        )
        if not files:
            raise SourceError(f"{path} holds no .txt, .md or .jsonl file; name files of another kind one by one")
        for file in files:
            if kind_of(file) == ".jsonl":
                yield from self._each(self._document, str(file))
            else:
                yield from self._text_file(file, file.relative_to(path).as_posix())

    def _text_file(self, path: Path, name: str) -> Iterator[Given]:
        with open_file(path) as file:
            data = file.read()
        text = self.rows.decode(data, str(path))
        if text is not None and "\0" in text:
            if self.rows.errors == "strict":
                raise SourceError(
                    f"{path} is not text (NUL at byte {data.index(0)}); leave it out, or use --errors skip"
                )
            if self.rows.errors == "skip":
                self.rows.warn(f"skipped {path}: not text")
                return
            text = text.replace("\0", " ")
        if text is None:
            return
        if not text.strip():
            self.rows.warn(f"skipped {path}: it is empty")
            return
        yield name, text, None

    def _document(self, row: Row) -> Given:
        where, values = row
        columns = self.columns
        names = [columns.id, *columns.texts, *([columns.title] if columns.title else [])]
        for name in names:
            require(where, values, name)
        # A title that was not asked for by name is shown where there is one.
        title = values.get(columns.title or "title")
        text = "\n".join(text_of(where, name, values[name]) for name in columns.texts)
        return item_name(where, columns.id, values[columns.id]), text, None if title is None else str(title)

    def read_numbers(self, sources: Iterable[str]) -> Iterator[tuple[str, list[float], str | None]]:
        """Items with the numbers of their columns."""
        for path in list(sources) or [""]:
            yield from self._each(self._numbered, path)

    def _numbered(self, row: Row) -> tuple[str, list[float], str | None]:
        where, values = row
        columns = self.columns
        for name in filter(None, (columns.items, columns.title, *columns.numbers)):
            require(where, values, name)
        title = values[columns.title] if columns.title else None
        numbers = [number_of(where, name, values[name]) for name in columns.numbers]
        item = item_name(where, columns.items or "", values[columns.items or ""])
        return item, numbers, None if title is None else str(title)

    def _each(self, make: Callable[[Row], T], path: str) -> Iterator[T]:
        """What is made of each row; those of which nothing can be made are passed over, if that is asked for."""
        for row in self.rows.read(path):
            try:
                yield make(row)
            except SourceError as error:
                if self.rows.errors != "skip":
                    raise
                self.rows.warn(f"skipped {error}")

    def _groups(self, paths: list[str]) -> Iterator[Given]:
        """The texts of each group, one behind the other; gathered in a temporary file."""
        stage = sqlite3.connect("")
        try:
            stage.execute("create table part (name text, text text)")
            rows = (part for path in paths or [""] for part in self._each(self._part, path))
            stage.executemany("insert into part values (?, ?)", rows)
            parts = stage.execute("select name, text from part order by name, rowid")
            for name, group in groupby(parts, key=lambda part: part[0]):
                yield name, "\n".join(text for _, text in group), None
        finally:
            stage.close()

    def _part(self, row: Row) -> tuple[str, str]:
        where, values = row
        group = self.columns.group_by or ""
        for name in (group, *self.columns.texts):
            require(where, values, name)
        text = "\n".join(text_of(where, name, values[name]) for name in self.columns.texts)
        return item_name(where, group, values[group]), text

    def _relation_items(self, paths: list[str]) -> Iterator[Given]:
        """Rows, grouped by item in a temporary file: a relation may be larger than memory, and in any order."""
        stage = sqlite3.connect("")
        try:
            stage.execute("create table cell (item text, feature text, count integer, title text)")
            rows = (cell for path in paths or [""] for cell in self._each(self._cell, path))
            stage.executemany("insert into cell values (?, ?, ?, ?)", rows)
            cells = stage.execute(
                "select item, feature, sum(count), max(title) from cell group by item, feature order by item, feature"
            )
            for item, group in groupby(cells, key=lambda cell: cell[0]):
                own = list(group)
                yield item, {feature: count for _, feature, count, _ in own if count}, own[0][3]
        finally:
            stage.close()

    def _cell(self, row: Row) -> tuple[str, str, int, str | None]:
        where, values = row
        columns = self.columns
        wanted = (columns.items, columns.features, columns.count, columns.title)
        for name in filter(None, wanted):
            require(where, values, name)
        item, feature = (item_name(where, name, values[name]) for name in (columns.items or "", columns.features or ""))
        count = count_of(where, columns.count, values[columns.count]) if columns.count else 1
        title = values[columns.title] if columns.title else None
        return item, feature, count, None if title is None else str(title)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
