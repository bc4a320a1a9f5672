"""Where items come from: folders, text files, JSONL, CSV and TSV, SQLite tables; texts, or rows of a relation.

Everything is yielded as `(id, text or counted features, title)`, one item at a time.
"""

import csv
import gzip
import json
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any, cast

from setsearch.errors import SourceError, UsageError

TEXT_FILES = (".txt", ".md")
ROW_FILES = (".jsonl", ".csv", ".tsv")
STDIN = "-"

Given = tuple[str, str | dict[str, int], str | None]
Row = tuple[str, Mapping[str, Any]]  # where it stands (file and line), and its columns


@dataclass(frozen=True)
class Columns:
    """Which columns of a row are what. With `items` and `features` rows are a relation, else documents."""

    id: str = "id"
    text: tuple[str, ...] = ("text",)
    title: str | None = None
    items: str | None = None
    features: str | None = None
    count: str | None = None

    @property
    def relation(self) -> tuple[str, str] | None:
        """(items, features), or None for documents."""
        if self.items is None or self.features is None:
            if self.items or self.features or self.count:
                raise UsageError("a relation needs both --items COL and --features COL")
            return None
        return self.items, self.features


@dataclass(frozen=True)
class Reader:
    """Reads sources. `errors` is "strict", "replace" or "skip"; `warn` is told what was passed over."""

    columns: Columns
    errors: str = "strict"
    warn: Callable[[str], None] = lambda message: None
    table: str | None = None
    connection: sqlite3.Connection | None = None  # for a table of the database that is written to

    def read(self, sources: Iterable[str]) -> Iterator[Given]:
        """All items of all sources; raises SourceError where there are none, or where one cannot be read."""
        paths = list(sources)
        found = False
        items = self._relation_items(paths) if self.columns.relation else self._documents(paths)
        for item in items:
            found = True
            yield item
        if not found:
            raise SourceError(f"nothing to index in {', '.join(paths) or self.table}: no document, no row")

    def _documents(self, paths: list[str]) -> Iterator[Given]:
        for path in paths or [""]:
            if self.table is None and path != STDIN and (Path(path).is_dir() or _kind(Path(path)) in TEXT_FILES):
                yield from self._files(Path(path))
            else:
                yield from map(self._document, self._rows(path))

    def _files(self, path: Path) -> Iterator[Given]:
        """The files of a folder, named by their paths below it; or one file."""
        if not path.is_dir():
            yield from self._text_file(path, path.name)
            return
        known = [*TEXT_FILES, ".jsonl"]
        files = sorted(
            file
            for file in path.rglob("*")
            if _kind(file) in known and file.is_file() and not _hidden(file.relative_to(path))
        )
        if not files:
            raise SourceError(f"{path} holds no .txt, .md or .jsonl file; name files of another kind one by one")
        for file in files:
            if _kind(file) == ".jsonl":
                yield from map(self._document, self._rows(str(file)))
            else:
                yield from self._text_file(file, file.relative_to(path).as_posix())

    def _text_file(self, path: Path, name: str) -> Iterator[Given]:
        with _open(path) as file:
            data = file.read()
        text = self._decode(data, str(path))
        if text is not None and "\0" in text:
            if self.errors == "strict":
                raise SourceError(
                    f"{path} is not text (NUL at byte {data.index(0)}); leave it out, or use --errors skip"
                )
            if self.errors == "skip":
                self.warn(f"skipped {path}: not text")
                return
            text = text.replace("\0", " ")
        if text is None:
            return
        if not text.strip():
            self.warn(f"skipped {path}: it is empty")
            return
        yield name, text, None

    def _decode(self, data: bytes, where: str) -> str | None:
        """UTF-8 to text; None for what is to be skipped."""
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if self.errors == "replace":
                return data.decode("utf-8-sig", "replace")
            if self.errors == "skip":
                self.warn(f"skipped {where}: invalid UTF-8 at byte {error.start}")
                return None
            raise SourceError(
                f"{where} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}; "
                "convert it, or use --errors replace or --errors skip"
            ) from error

    def _document(self, row: Row) -> Given:
        where, values = row
        columns = self.columns
        names = [columns.id, *columns.text, *([columns.title] if columns.title else [])]
        for name in names:
            _require(where, values, name)
        # A title that was not asked for by name is shown where there is one.
        title = values.get(columns.title or "title")
        text = "\n".join(_text(where, name, values[name]) for name in columns.text)
        return _name(where, columns.id, values[columns.id]), text, None if title is None else str(title)

    def _relation_items(self, paths: list[str]) -> Iterator[Given]:
        """Rows, grouped by item in a temporary file: a relation may be larger than memory, and in any order."""
        stage = sqlite3.connect("")
        try:
            stage.execute("create table cell (item text, feature text, count integer, title text)")
            rows = (self._cell(row) for path in paths or [""] for row in self._rows(path))
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
            _require(where, values, name)
        item, feature = (_name(where, name, values[name]) for name in (columns.items or "", columns.features or ""))
        count = _count(where, columns.count, values[columns.count]) if columns.count else 1
        title = values[columns.title] if columns.title else None
        return item, feature, count, None if title is None else str(title)

    def _rows(self, source: str) -> Iterator[Row]:
        """Rows of one source, each with the place where it stands."""
        if self.table is not None:
            yield from self._table_rows(source, self.table)
        elif source == STDIN:
            yield from self._json_rows(sys.stdin.buffer, "standard input")
        else:
            path, kind = Path(source), _kind(Path(source))
            if kind not in ROW_FILES:
                raise SourceError(_unreadable(path))
            with _open(path) as file:
                if kind == ".jsonl":
                    yield from self._json_rows(file, source)
                else:
                    yield from self._csv_rows(file, source, "," if kind == ".csv" else "\t")

    def _json_rows(self, lines: Iterable[bytes], name: str) -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            where = f"{name}, line {number}"
            text = self._decode(line, where)
            if text is None or not text.strip():
                continue
            try:
                values = json.loads(text)
                problem = "" if isinstance(values, dict) else "not a JSON object"
            except (ValueError, RecursionError) as error:
                problem = f"broken JSON ({error})"
            if not problem:
                yield where, values
            elif self.errors == "skip":
                self.warn(f"skipped {where}: {problem}")
            else:
                raise SourceError(f"{where}: {problem}; mend it, or use --errors skip")

    def _csv_rows(self, file: IO[bytes], name: str, delimiter: str) -> Iterator[Row]:
        lines = (self._decode(line, f"{name}, line {number}") for number, line in enumerate(file, 1))
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        rows = csv.reader((line for line in lines if line is not None), delimiter=delimiter, strict=True)
        try:
            header = next(rows, [])
            for row in rows:
                where = f"{name}, line {rows.line_num}"
                if len(row) == len(header):
                    yield where, dict(zip(header, row, strict=True))
                elif row:
                    problem = f"{len(row)} fields, but the header has {len(header)}"
                    if self.errors != "skip":
                        raise SourceError(f"{where}: {problem}; mend it, or use --errors skip")
                    self.warn(f"skipped {where}: {problem}")
        except csv.Error as error:
            raise SourceError(f"{name}, line {rows.line_num}: {error}; mend the quotes") from error

    def _table_rows(self, source: str, table: str) -> Iterator[Row]:
        connection = self.connection
        if source:
            if not Path(source).is_file():
                raise SourceError(f"{source} is not a file; --table reads a table of an SQLite database")
            connection = sqlite3.connect(f"{Path(source).resolve().as_uri()}?mode=ro", uri=True)
        assert connection is not None
        try:
            cursor = connection.cursor()
            cursor.row_factory = None
            # As text, where invalid UTF-8 can be reported: the connection's own text factory is not ours to set.
            names = [row[1] for row in cursor.execute(f"pragma table_info({_quote(table)})")]
            if not names:
                tables = cursor.execute("select name from sqlite_master where type in ('table', 'view') order by name")
                have = ", ".join(name for (name,) in tables if not name.startswith(("sqlite_", "setsearch_")))
                raise SourceError(f"there is no table {table!r} in {source or 'the database'}; it has {have or 'none'}")
            cursor.execute(f"select * from {_quote(table)}")
            for number, row in enumerate(cursor, 1):
                yield f"table {table}, row {number}", dict(zip(names, row, strict=True))
        except sqlite3.Error as error:
            raise SourceError(f"table {table} of {source or 'the database'} cannot be read: {error}") from error
        finally:
            if source:
                connection.close()


def _kind(path: Path) -> str:
    """The ending of a file, without .gz."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _unreadable(path: Path) -> str:
    if not path.exists():
        return f"{path} is not there; give a folder, a file, or - for JSONL on standard input"
    return (
        f"{path} is of no kind that can be indexed; there is {', '.join([*TEXT_FILES, *ROW_FILES])}, "
        "and --table for an SQLite database"
    )


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """A file to read, unpacked if it is a .gz."""
    if not path.exists():
        raise SourceError(_unreadable(path))
    try:
        with cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _require(where: str, values: Mapping[str, Any], name: str) -> None:
    if name not in values:
        have = ", ".join(map(str, values)) or "none"
        raise SourceError(f"{where} has no column {name!r}; it has {have} (choose with --id, --text, --items, ...)")


def _name(where: str, column: str, value: Any) -> str:
    """An id as text."""
    if value is None or isinstance(value, (dict, list, bytes, bool)) or str(value) == "":
        raise SourceError(f"{where}: the column {column!r} is {value!r}; ids are texts or numbers, and not empty")
    return str(value)


def _text(where: str, column: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(_text(where, column, part) for part in value)
    if isinstance(value, (dict, bytes)):
        raise SourceError(f"{where}: the column {column!r} is not a text but {value!r:.40}")
    return str(value)


def _count(where: str, column: str, value: Any) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not (number.is_integer() and 0 <= number < 2**31):
        raise SourceError(f"{where}: the column {column!r} is {value!r}; counts are whole numbers from 0 to 2^31 - 1")
    return int(number)
