"""What a cell of a row may be: an id, a text, a count, a number; all else is refused, by place and column.

Rows of JSONL, CSV and TSV files and of SQLite tables, each with the place where it stands."""

import csv
import gzip
import json
import math
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from setsearch.errors import SourceError
from setsearch.storage.names import storable
from setsearch.storage.sql import columns_of, has_rowid, no_table, table_named


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


TEXT_FILES = (".txt", ".md")
ROW_FILES = (".jsonl", ".csv", ".tsv")
STDIN = "-"
Row = tuple[str, Mapping[str, Any]]  # where it stands (file and line), and its columns


@dataclass(frozen=True)
class RowReader:
    """Reads rows. `errors` is "strict", "replace" or "skip"; `warn` is told what was passed over."""

    errors: str = "strict"
    warn: Callable[[str], None] = lambda message: None
    table: str | None = None
    connection: sqlite3.Connection | None = None  # for a table of the database that is written to
    condition: str = ""  # in SQL, which of the table's rows are read

    def read(self, source: str) -> Iterator[Row]:
        """Rows of one source, each with the place where it stands."""
        if self.table is not None:
            yield from self._table_rows(source, self.table)
        elif source == STDIN:
            yield from self._json_rows(sys.stdin.buffer, "standard input")
        else:
            path, kind = Path(source), kind_of(Path(source))
            if kind not in ROW_FILES:
                raise SourceError(unreadable(path))
            with open_file(path) as file:
                if kind == ".jsonl":
                    yield from self._json_rows(file, source)
                else:
                    yield from self._csv_rows(file, source, "," if kind == ".csv" else "\t")

    def _json_rows(self, lines: Iterable[bytes], name: str) -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            where = f"{name}, line {number}"
            text = self.decode(line, where)
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
        lines = (self.decode(line, f"{name}, line {number}") for number, line in enumerate(file, 1))
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
            names = columns_of(cursor, table)
            if not names:
                raise SourceError(no_table(cursor, table, source or "the database"))
            rowid = has_rowid(cursor, table, names)
            names = ["rowid"] * rowid + names
            columns = "rowid, *" if rowid else "*"
            cursor.execute(f"select {columns} from {table_named(table)} {self.condition}")
            for number, row in enumerate(cursor, 1):
                yield f"table {table}, row {number}", dict(zip(names, row, strict=True))
        except sqlite3.Error as error:
            raise SourceError(f"table {table} of {source or 'the database'} cannot be read: {error}") from error
        finally:
            if source:
                connection.close()

    def decode(self, data: bytes, where: str) -> str | None:
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


def kind_of(path: Path) -> str:
    """The ending of a file, without .gz."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def unreadable(path: Path) -> str:
    """Why a path is no source."""
    if not path.exists():
        return f"{path} is not there; give a folder, a file, or - for JSONL on standard input"
    return (
        f"{path} is of no kind that can be indexed; there is {', '.join([*TEXT_FILES, *ROW_FILES])}, "
        "and --table for an SQLite database"
    )


@contextmanager
def open_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to read, unpacked if it is a .gz."""
    if not path.exists():
        raise SourceError(unreadable(path))
    try:
        with cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
