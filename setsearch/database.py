"""Connections and transactions: our own file, or a connection that the host application lends us.

A connection that was lent is given back as it was: inside the host's transaction we use a savepoint and leave commit
and rollback to the host; outside we begin and end a transaction of our own; row and text factory are restored.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from setsearch.errors import (
    DatabaseError,
    LockedDatabase,
    MissingDatabase,
    NewerSchema,
    NoIndex,
    NotADatabase,
    ReadOnlyDatabase,
    SetsearchError,
)

CACHE_KIB = 32_768  # pages that SQLite may hold for each of our own connections
SCHEMA = {"m001_relations"}  # the names of all migrations, so that a query need not import them


class Database:
    """A source of transactions on one SQLite database; safe to share between threads.

    `place` is a path, to which each transaction uses a connection of its own, or the host's `sqlite3.Connection`.
    """

    def __init__(self, place: str | Path | sqlite3.Connection, *, create: bool = False, timeout: float = 5.0) -> None:
        self.lent = place if isinstance(place, sqlite3.Connection) else None
        self.path = None if isinstance(place, sqlite3.Connection) else Path(place)
        self.timeout = timeout
        self._checked: int | None = None  # the schema version that was found good
        self._idle: list[sqlite3.Connection] = []  # our own, while no thread uses them
        if self.path is not None and not create and not self.path.is_file():
            raise MissingDatabase(
                f"{self.path} is not a file; `setsearch index {self.path} SOURCE` makes a database, "
                "and so does setsearch.open(path, create=True)"
            )

    def __str__(self) -> str:
        return "the database" if self.path is None else str(self.path)

    def close(self) -> None:
        """Close the connections that we opened; a lent one stays open."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The host's connection, or one of our own that no other thread uses meanwhile."""
        if self.lent is not None:
            yield self.lent
            return
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = None
        try:
            connection = sqlite3.connect(
                str(self.path), timeout=self.timeout, isolation_level=None, check_same_thread=False
            )
            connection.execute(f"pragma cache_size = -{CACHE_KIB}")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise self._explain(error) from error
        return connection

    @contextmanager
    def read(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one consistent snapshot of the database."""
        with self._transaction("begin", "setsearch_read") as cursor:
            self._check(cursor)
            yield cursor

    @contextmanager
    def write(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one transaction: everything in the block is done, or nothing.

        A file that does not exist yet appears with its first transaction, or not at all.
        """
        new = self.path is not None and not self.path.exists()
        ours = False  # another process may have made the file, and hold its lock, since we looked
        try:
            with self._transaction("begin immediate", "setsearch_write") as cursor:
                ours = True
                self._migrate(cursor)
                yield cursor
        except BaseException:
            if new and ours and self.path is not None:
                self.close()
                self.path.unlink(missing_ok=True)
            raise
        if new:
            with self._connection() as connection:
                connection.execute("pragma journal_mode = wal")

    @contextmanager
    def _transaction(self, begin: str, savepoint: str) -> Iterator[sqlite3.Cursor]:
        with self._connection() as connection:
            nested = connection.in_transaction
            factories = connection.row_factory, connection.text_factory
            connection.row_factory, connection.text_factory = None, str
            cursor = connection.cursor()
            try:
                cursor.execute(f"savepoint {savepoint}" if nested else begin)
                try:
                    yield cursor
                    cursor.execute(f"release {savepoint}" if nested else "commit")
                except BaseException:
                    # An error may have ended the whole transaction already, savepoints included.
                    if connection.in_transaction:
                        cursor.execute(f"rollback to {savepoint}" if nested else "rollback")
                        if nested:
                            cursor.execute(f"release {savepoint}")
                    raise
            except sqlite3.Error as error:
                raise self._explain(error) from error
            finally:
                cursor.close()
                connection.row_factory, connection.text_factory = factories

    def _check(self, cursor: sqlite3.Cursor) -> None:
        """Refuse a database without our tables, or with tables of a later version."""
        (version,) = cursor.execute("pragma schema_version").fetchone()
        if version == self._checked:
            return
        known = cursor.execute("select 1 from sqlite_master where name = 'setsearch_migrations'").fetchone()
        if known is None:
            raise NoIndex(f"{self} holds no setsearch index; `setsearch index {self} SOURCE` makes one")
        applied = {name for (name,) in cursor.execute("select name from setsearch_migrations")}
        if not applied <= SCHEMA:
            raise NewerSchema(
                f"{self} was written by a newer setsearch ({max(applied - SCHEMA)}); upgrade setsearch to read it"
            )
        self._checked = version

    def _migrate(self, cursor: sqlite3.Cursor) -> None:
        try:
            self._check(cursor)
        except NoIndex:
            pass
        else:
            names = {name for (name,) in cursor.execute("select name from setsearch_migrations")}
            if names == SCHEMA:
                return
        from sqlite_utils import Database as Tables  # heavy, and needed once in the life of a file

        from setsearch.schema import migrations

        migrations.apply(Tables(cursor.connection, recursive_triggers=False, execute_plugins=False))

    def _explain(self, error: sqlite3.Error) -> SetsearchError:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LockedDatabase(
                f"{self} is locked by another writer (waited {self.timeout:g} s); try again when it has finished"
            )
        if code == sqlite3.SQLITE_READONLY:
            return ReadOnlyDatabase(f"{self} cannot be written; copy it to where you may write")
        if code == sqlite3.SQLITE_NOTADB:
            return NotADatabase(f"{self} is not an SQLite database; give another file name")
        if code == sqlite3.SQLITE_CANTOPEN:
            return DatabaseError(f"{self} cannot be opened; look at the folder and its permissions")
        return DatabaseError(f"{self}: {error}")
