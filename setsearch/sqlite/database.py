"""The database: transactions in which our tables exist, have the present schema, and are intact."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from setsearch.errors import NewerSchema, NoIndex, ReadOnlyDatabase
from setsearch.sqlite.connections import TIME_LIMIT, Connections, OwnConnection
from setsearch.sqlite.creation import new_file
from setsearch.sqlite.forks import File
from setsearch.sqlite.integrity import CHECKED, CHECKED_BEFORE, checksum_differs, require_tables, write_checksum
from setsearch.sqlite.limits import limited
from setsearch.sqlite.schema import LOG, MIGRATIONS, WITH_CHECKSUM, WITH_SUM, create_tables
from setsearch.sqlite.transactions import READ, WRITE, Transaction
from setsearch.sqlite.turns import turns_of

Checked = tuple[object, int]  # a file, and SQLite's schema version of its tables
PLAIN = b"SQLite format 3\0"  # how a file that is not encrypted begins
MOST_CHECKED = 64  # one more, and all are checked again
_checked: set[Checked] = set()  # files of lent connections: a host may open one for each request


class Database:
    """Transactions on one SQLite database. Threads may share it.

    `place` is a path or a function, by which each transaction has a connection of its own, or the host's connection,
    which one thread at a time uses.
    """

    has_written: ClassVar[bool] = False  # whether a write of this process has taken effect

    def __init__(
        self,
        place: Any,
        *,
        create: bool = False,
        timeout: float = 5.0,
        time_limit: float = TIME_LIMIT,
        read_only: bool = False,
    ) -> None:
        self._connections = Connections(place, timeout, time_limit, read_only)
        self.path = self._connections.path
        self.read_only = read_only
        self.checked: Checked | None = None  # what passed the check
        self._turns = None if self.path is None else turns_of(str(self.path.absolute()))
        self._has_log = False  # whether the journal mode was looked at
        if not create:
            self._connections.require_file()

    def __str__(self) -> str:
        return str(self._connections)

    @cached_property
    def lent_file(self) -> tuple[str, File] | None:
        """The path, device and inode of the file that a lent connection has open; None for others, and in memory."""
        return self._connections.file()

    @cached_property
    def file(self) -> Path | None:
        """Where files of what is derived belong; None in memory, and beside what SQLite alone cannot read: secrets."""
        if self.path is not None or self.lent_file is None:
            return self.path
        lent = Path(self.lent_file[0])
        with suppress(OSError), lent.open("rb") as file:
            return lent if file.read(len(PLAIN)) == PLAIN else None
        return None

    def close(self) -> None:
        """Close our own connections; the next call opens new ones. A lent connection stays open."""
        self._connections.close_idle()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one consistent snapshot; tables of an earlier version are migrated first."""
        transaction = Transaction(self._connections, READ)
        with transaction as cursor:
            is_current = self._is_current(cursor, transaction.is_nested)
            if is_current:
                yield cursor
        if not is_current:
            self.migrate()
            with Transaction(self._connections, READ) as cursor:
                yield cursor

    def _is_current(self, cursor: sqlite3.Cursor, is_nested: bool) -> bool:
        """Whether the tables have the present schema. Raises NoIndex, NewerSchema, CorruptIndex."""
        connection = cursor.connection
        file = connection.file if isinstance(connection, OwnConnection) else self.lent_file
        checked = file, cursor.execute("pragma schema_version").fetchone()[0]
        if checked == self.checked or checked in _checked:
            return True
        applied = self.applied_migrations(cursor)
        if not applied:
            raise NoIndex(f"{self} holds no setsearch index; `setsearch index {self} SOURCE` creates one")
        if len(applied) < len(MIGRATIONS):
            return False
        require_tables(cursor, str(self))
        self.checked = checked
        if self.lent_file is not None and not is_nested:  # a rollback makes SQLite reuse the version
            if len(_checked) >= MOST_CHECKED:
                _checked.clear()
            _checked.add(checked)
        return True

    @contextmanager
    def write(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one write transaction. A new file appears with its first transaction, or not at all."""
        turn = nullcontext() if self._turns is None else self._turns.take(self, self._connections.timeout)
        with turn, self._write() as cursor:
            yield cursor

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Cursor]:
        path = self.path
        if path is not None and not path.exists() and not self._connections.has_opened:
            with new_file(path, self._connections.timeout) as draft:
                if draft is not None:
                    connections = self._connections.elsewhere(draft)
                    try:
                        with self._transaction(connections) as cursor:
                            yield cursor
                    finally:
                        connections.close_idle()
            if draft is not None:
                Database.has_written = True
                self._connections.adopt_file()
                return
        with self._transaction(self._connections) as cursor:
            yield cursor
        self._use_log()

    @contextmanager
    def _transaction(self, connections: Connections) -> Iterator[sqlite3.Cursor]:
        transaction = Transaction(connections, WRITE)
        try:
            with transaction as cursor:
                intact = self._migrate(cursor)
                yield cursor
                if intact and self.applied_migrations(cursor):  # unless everything was dropped
                    write_checksum(cursor)
        finally:
            if connections is self._connections:  # what a new file holds counts when the file has its name
                Database.has_written |= transaction.is_committed

    def _use_log(self) -> None:
        """Switch a file with no tables but ours to a write-ahead log; a host's keeps its journal mode."""
        if self.path is None or self._has_log:
            return
        connection = self._connections.take()
        with suppress(sqlite3.Error):
            others = connection.execute(
                "select 1 from sqlite_master where tbl_name not like 'setsearch\\_%' escape '\\' "
                "and name not like 'sqlite\\_%' escape '\\' limit 1"
            ).fetchone()
            self._has_log = others is not None or connection.execute("pragma journal_mode = wal").fetchone() == ("wal",)
        self._connections.give(connection)
        self._connections.close_idle()  # a connection knows the log that was there when it was opened

    @property
    def is_nested(self) -> bool:
        """Whether the host has begun a transaction on the connection that it lends."""
        lent = self._connections.lent
        return lent is not None and lent.in_transaction

    def migrate(self) -> None:
        """Migrate tables of an earlier version; raises ReadOnlyDatabase."""
        try:
            with self.write():
                pass
        except ReadOnlyDatabase as error:
            raise ReadOnlyDatabase(
                f"{self} was written by an earlier setsearch; "
                f"`setsearch update {self}` converts it, where you may write"
            ) from error

    def applied_migrations(self, cursor: sqlite3.Cursor) -> set[str]:
        """The migrations that made the tables; empty without an index. Raises NewerSchema."""
        if cursor.execute("select 1 from sqlite_master where name = ?", (LOG,)).fetchone() is None:
            return set()
        applied = {name for (name,) in cursor.execute(f"select name from {LOG}")}
        newer = applied.difference(MIGRATIONS)
        if newer:
            raise NewerSchema(f"{self} was written by a newer setsearch ({max(newer)}); upgrade setsearch to read it")
        return applied

    def _migrate(self, cursor: sqlite3.Cursor) -> bool:
        """Bring the tables to the present schema; returns whether they are intact: damage stays visible to `check`."""
        # Not by `checked`: a rollback makes SQLite reuse the version for another schema.
        applied = self.applied_migrations(cursor)
        if not applied:
            create_tables(cursor)
        if not applied or len(applied) == len(MIGRATIONS):
            require_tables(cursor, str(self))
            return not checksum_differs(cursor)
        with limited(cursor, "reading the index of an earlier version"):
            tables = CHECKED if WITH_SUM in applied else CHECKED_BEFORE
            intact = WITH_CHECKSUM not in applied or not checksum_differs(cursor, tables)
        self._convert(cursor.connection)
        require_tables(cursor, str(self))
        return intact

    def _convert(self, connection: sqlite3.Connection) -> None:
        """Apply the migrations that are missing."""
        import logging

        from sqlite_utils import Database as Tables  # slow to import, and needed once in the life of a file

        from setsearch.sqlite.migrations import migrations

        logging.getLogger("setsearch").warning("%s: converting the index of an earlier version, once", self)
        self._connections.use_legacy_transactions(connection)
        row_factory, connection.row_factory = connection.row_factory, None
        try:
            tables: Any = getattr(connection, "raw", connection)
            migrations.apply(Tables(tables, recursive_triggers=False, execute_plugins=False))
        finally:
            connection.row_factory = row_factory
