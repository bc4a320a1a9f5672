"""Tables that nobody has indexed: a copy of the rows of each, in an index of its own in a temporary file.

Columns are taken as `setsearch index --suggest` takes them, but for fields in other tables, which a visitor may not be
allowed to see. A copy that is older than a minute is read again when it is asked.
"""

import shlex
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import setsearch
from setsearch.errors import SourceError
from setsearch.indexing.suggest import columns_of
from setsearch.indexing.sync import read_source
from setsearch.sqlite.drivers import driver_connection
from setsearch.sqlite.folders import HeldFolder
from setsearch.sqlite.limits import limited
from setsearch.sqlite.sql import Table, main_table
from setsearch.storage.synced_source import TABLE, Columns, SyncedSource

MOST_ROWS = 50_000  # of a table; some 30,000 are read in a second
MOST_COPIES = 16  # in the temporary folder
SECONDS = 60.0  # after which a copy is read again


class TableCopy(NamedTuple):
    """The index of a copy, the column with the ids of rows, and when they were read, in seconds since 1970.

    `primary`: whether the column is the primary key.
    """

    path: Path
    key: str
    primary: bool
    time: float


class TableCopies:
    """Copies of tables until `close`; one is made at a time."""

    def __init__(self) -> None:
        self._folder: HeldFolder | None = None
        self._made: OrderedDict[tuple[str, str], TableCopy] = OrderedDict()
        self._columns: dict[tuple[str, str], tuple[float, Columns | None]] = {}
        self._lock, self._count = Lock(), 0

    def key(self, place: str, name: str, connection: sqlite3.Connection) -> dict[str, Any] | None:
        """The `key` of rows of a table of a database, and whether it is the `primary` one; None without a copy."""
        with self._lock, _reading(connection) as cursor:
            table = Table(cursor, name)
            columns = None if _is_large(table) else self._columns_of(place, table)
            return None if columns is None else {"key": columns.id, "primary": table.is_key(columns.id)}

    def copy(self, place: str, table: str, connection: sqlite3.Connection) -> TableCopy:
        """The copy of a table of a database, by a connection to it. Raises SourceError for one that has none."""
        with self._lock:
            known = self._made.get((place, table))
            if known is None or time.time() - known.time > SECONDS:
                try:
                    with _reading(connection) as cursor:
                        known = self._read(place, Table(cursor, table))
                except sqlite3.Error as error:
                    raise SourceError(f"table {table} cannot be read: {error}") from error
            self._made[place, table] = known
            self._made.move_to_end((place, table))
            while len(self._made) > MOST_COPIES:
                _, old = self._made.popitem(last=False)
                for file in old.path.parent.glob(f"{old.path.name}*"):
                    file.unlink(missing_ok=True)
            return known

    def close(self) -> None:
        """Delete all copies."""
        with self._lock:
            self._made.clear()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None

    def _columns_of(self, place: str, table: Table) -> Columns | None:
        """The roles of the columns of a table, as they were a minute ago at most; None if it has no copy."""
        known = self._columns.get((place, table.name))
        if known is None or time.time() - known[0] > SECONDS:
            known = self._columns[place, table.name] = time.time(), columns_of(table)
        return known[1]

    def _read(self, place: str, table: Table) -> TableCopy:
        """Read a table into the file of its copy, or a new one."""
        lacking = not_indexed(table.name)
        if _is_large(table):
            raise SourceError(f"{lacking} (it has more than {MOST_ROWS:,} rows, too many for a copy)")
        columns = self._columns_of(place, table)
        if columns is None:
            raise SourceError(f"{lacking} (a copy needs a key of one column, or rowids, and something that rows share)")
        begin, known = time.time(), self._made.get((place, table.name))
        self._folder = self._folder or HeldFolder()
        self._count += known is None
        path = known.path if known is not None else Path(self._folder.name) / f"{self._count}.db"
        source = SyncedSource(TABLE, table.name, asdict(columns) | {"errors": "skip"})  # no visitor can mend a row
        with setsearch.open(path, create=True, contexts="off") as index:
            index.replace(read_source(table.cursor, source))
        return TableCopy(path, columns.id, table.is_key(columns.id), begin)


def not_indexed(table: str) -> str:
    """That a table is not indexed, and how it will be."""
    command = shlex.join(["setsearch", "index", "DB", "--table", table, "--text", "COLUMN"])
    return f"{table} is not indexed; `{command}` does it"


def _is_large(table: Table) -> bool:
    """Whether a table has more than MOST_ROWS rows."""
    if not table.is_stored():  # a view may take long, and has no copy
        return False
    with limited(table.cursor, f"reading {table.name}"):
        statement = f"select count(*) from (select 1 from {main_table(table.name)} limit {MOST_ROWS + 1})"
        return int(table.cursor.execute(statement).fetchone()[0]) > MOST_ROWS


@contextmanager
def _reading(lent: sqlite3.Connection) -> Iterator[sqlite3.Cursor]:
    """A cursor of a connection of a host, of any driver, whose rows are tuples."""
    connection = driver_connection(lent)
    assert connection is not None
    with closing(connection.cursor()) as cursor:
        cursor.row_factory = None
        yield cursor
