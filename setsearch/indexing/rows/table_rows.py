"""Rows of tables: of SQLite, or of an application, such as those of a frame."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from setsearch.errors import SourceError
from setsearch.indexing.rows.cells import Row
from setsearch.sqlite.connections import TIME_LIMIT, OwnConnection
from setsearch.sqlite.limits import LimitedCursor, limited, limited_rows
from setsearch.sqlite.sql import Table, as_stored, main_table, quote


@dataclass(frozen=True)
class GivenRows:
    """Rows of an application, and what they are called."""

    name: str
    rows: Iterable[Row]

    def read(self, source: str) -> Iterable[Row]:
        """The rows; there is no other source."""
        return self.rows


@dataclass(frozen=True)
class TableRows:
    """The rows of a table, or view, of a database file, or of the database that is written to.

    The latter is read by a `connection`, or by a `cursor` within its transaction. `condition` is SQL that selects rows;
    `time_limit`: seconds that SQLite may work on the table.
    """

    name: str
    connection: sqlite3.Connection | None = None
    cursor: sqlite3.Cursor | None = None
    condition: str = ""
    time_limit: float = TIME_LIMIT

    def read(self, source: str) -> Iterator[Row]:
        """The rows in the file `source`, "" for the database that is written to. Raises SourceError."""
        if source and not Path(source).is_file():
            raise SourceError(f"{source} is not a file; a table is read from an SQLite database")
        try:
            with closing(opened(Path(source))) if source else nullcontext(self.connection) as connection:
                yield from self._rows(connection, source or "the database")
        except sqlite3.Error as error:
            hint = "; read it by a connection that has this extension" if "no such module" in str(error) else ""
            place = source or "the database"
            raise SourceError(f"table {self.name} of {place} cannot be read: {error}{hint}") from error

    def _rows(self, connection: sqlite3.Connection | None, place: str) -> Iterator[Row]:
        cursor = self.cursor
        if cursor is None:
            assert connection is not None
            cursor = limits = connection.cursor(LimitedCursor)
            limits.row_factory, limits.time_limit = None, self.time_limit
        own = Table(cursor, self.name)
        names = own.columns()
        if not names:
            raise SourceError(own.missing(place))
        rowid = own.has_rowid(names)
        names = ["rowid"] * rowid + names
        columns = ", ".join(as_stored(name if name == "rowid" else quote(name)) for name in names)
        what = f"reading {self.name}"
        is_stored = own.is_stored()
        if not is_stored:  # a view that never ends is found out before its rows fill the memory
            with limited(cursor, what):
                cursor.execute(f"select count(*) from {main_table(self.name)} {self.condition}").fetchone()
        order = own.order_of_rows(rowid)  # in which texts of a group are joined
        statement = f"select {columns} from {main_table(self.name)} {self.condition} {order}"
        for number, row in enumerate(limited_rows(cursor, what, statement, each=is_stored), 1):
            shown = f"rowid {row[0]}" if rowid else f"row {number}"
            yield f"table {self.name}, {shown}", dict(zip(names, row, strict=True))


def opened(path: Path) -> sqlite3.Connection:
    """A connection that reads a file."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, factory=OwnConnection)
