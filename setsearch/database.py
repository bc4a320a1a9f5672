"""The database: transactions in which our tables are there, of this version, and as we left them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from setsearch.connections import Connections
from setsearch.errors import NewerSchema, NoIndex, ReadOnlyDatabase
from setsearch.guards import is_broken, require_shape, seal
from setsearch.transactions import Transaction

# What the migrations make, so that a query need not import them; tests/test_house.py holds them to it.
SCHEMA = {"m001_relations", "m002_contexts", "m003_origins"}


class Database:
    """A source of transactions on one SQLite database; safe to share between threads.

    `place` is a path, to which each transaction uses a connection of its own, or the host's `sqlite3.Connection`,
    which one thread at a time uses.
    """

    def __init__(self, place: str | Path | sqlite3.Connection, *, create: bool = False, timeout: float = 5.0) -> None:
        self._connections = Connections(place, timeout)
        self.path = self._connections.path
        self.checked: int | None = None  # the schema version that was found good
        if not create:
            self._connections.require_file()

    def __str__(self) -> str:
        return str(self._connections)

    def close(self) -> None:
        """Close the connections that we opened, until the next call; a lent one stays open."""
        self._connections.close()

    def read(self) -> Transaction:
        """A cursor in one consistent snapshot of the database; tables of an earlier version are migrated first."""
        return _Reading(self, self._connections)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one transaction: everything in the block is done, or nothing.

        A file that does not exist yet appears with its first transaction, or not at all.
        """
        connections = self._connections
        made = connections.make_file()
        try:
            with Transaction(connections, "begin immediate") as cursor:
                self._migrate(cursor)
                require_shape(cursor, str(self))
                sound = not is_broken(cursor)  # what is broken stays to be found
                yield cursor
                if sound and self.applied(cursor):  # unless everything was dropped
                    seal(cursor)
        except BaseException:
            if made:
                connections.remove_file()
            raise
        if made:
            connection = connections.take()
            with suppress(sqlite3.Error):
                connection.execute("pragma journal_mode = wal")
            connections.give(connection)

    def migrate(self) -> None:
        """Bring tables of an earlier version up to this one."""
        try:
            with self.write():
                pass
        except ReadOnlyDatabase as error:
            raise ReadOnlyDatabase(
                f"{self} was written by an earlier setsearch; open it once where you may write"
            ) from error

    def applied(self, cursor: sqlite3.Cursor) -> set[str]:
        """The migrations that made the tables; none where there is no index."""
        known = cursor.execute("select 1 from sqlite_master where name = 'setsearch_migrations'").fetchone()
        if known is None:
            return set()
        applied = {name for (name,) in cursor.execute("select name from setsearch_migrations")}
        if not applied <= SCHEMA:
            raise NewerSchema(
                f"{self} was written by a newer setsearch ({max(applied - SCHEMA)}); upgrade setsearch to read it"
            )
        return applied

    def _migrate(self, cursor: sqlite3.Cursor) -> None:
        # Not by the schema version: that of a rolled back write may be another schema's by now.
        if self.applied(cursor) == SCHEMA:
            return
        from sqlite_utils import Database as Tables  # heavy, and needed once in the life of a file

        from setsearch.schema import migrations

        connection = cursor.connection
        self._connections.use_default_transactions(connection)
        row_factory, connection.row_factory = connection.row_factory, None
        try:
            migrations.apply(Tables(connection, recursive_triggers=False, execute_plugins=False))
        finally:
            connection.row_factory = row_factory


class _Reading(Transaction):
    """A transaction that reads tables of this version."""

    __slots__ = ("_database",)

    def __init__(self, database: Database, connections: Connections) -> None:
        super().__init__(connections, "begin")
        self._database = database

    def __enter__(self) -> sqlite3.Cursor:
        cursor = super().__enter__()
        try:
            (version,) = cursor.execute("pragma schema_version").fetchone()
            if version == self._database.checked or self._is_current(cursor, version):
                return cursor
        except BaseException as error:
            self._fail(error)
            raise
        self.__exit__(None, None, None)
        self._database.migrate()
        return super().__enter__()

    def _is_current(self, cursor: sqlite3.Cursor, version: int) -> bool:
        """Whether our tables are of this version; refuses a database without them, or with those of a later one."""
        database = self._database
        applied = database.applied(cursor)
        if not applied:
            raise NoIndex(f"{database} holds no setsearch index; `setsearch index {database} SOURCE` makes one")
        if applied == SCHEMA:
            require_shape(cursor, str(database))
            database.checked = version
        return applied == SCHEMA
