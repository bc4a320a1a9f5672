"""Transactions: on our own connection, or within what the host application does on one that it lends us.

A connection that was lent is given back as it was: inside the host's transaction we use a savepoint and leave commit
and rollback to the host; outside we begin and end a transaction of our own; its row factory is not touched.


The database: transactions in which our tables are there, of this version, and as we left them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from setsearch.errors import MEND, CorruptIndex, NewerSchema, NoIndex, ReadOnlyDatabase, SetsearchError
from setsearch.storage.connections import Connections
from setsearch.storage.integrity import is_broken, is_damaged, require_shape, seal

STRANGE = (ArithmeticError, LookupError, TypeError, ValueError)  # what comes of values that are not of their types
SAVEPOINT = "setsearch_transaction"


class Transaction:
    """A context manager of the cursor of one transaction: everything in the block is done, or nothing.

    A class, not a generator, which would take longer: every query begins with it.
    """

    __slots__ = ("_begin", "_begun", "_connection", "_connections", "_cursor", "_nested")

    def __init__(self, connections: Connections, begin: str) -> None:
        self._connections = connections
        self._begin = begin

    def __enter__(self) -> sqlite3.Cursor:
        connections = self._connections
        self._connection = connection = connections.take()
        self._begun, self._nested = False, True
        try:
            self._cursor = cursor = connection.cursor()
            cursor.row_factory = None
            self._nested = nested = connection.in_transaction
            if not nested:
                cursor.execute(self._begin)
            if connections.lent is not None:  # its release fails if the host ends the transaction meanwhile
                connections.nested = nested
                cursor.execute(f"savepoint {SAVEPOINT}")
            self._begun = True
            connections.require_same_file(connection)
        except BaseException as error:
            self._fail(error)
            raise
        return cursor

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            try:
                if self._connections.lent is not None:
                    self._cursor.execute(f"release {SAVEPOINT}")
                if not self._nested:
                    self._cursor.execute("commit")
            except BaseException as failed:
                self._fail(failed)
                raise
            self._cursor.close()
            self._connections.give(self._connection)
        else:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """Undo everything, and give the connection back; raises what users are told of the error."""
        told: SetsearchError | None = None
        try:
            self._undo()
            if isinstance(error, sqlite3.Error):
                told = self._connections.explain(error)
            elif isinstance(error, STRANGE) and not isinstance(error, SetsearchError) and is_damaged(self._connection):
                told = CorruptIndex(f"{self._connections} is damaged ({error}); {MEND}")
        except sqlite3.Error as worse:
            told = self._connections.explain(worse)
        finally:
            self._connections.give(self._connection)
        if told is not None:
            raise told from error

    def _undo(self) -> None:
        """Roll back, in a host's transaction to our savepoint only."""
        if not self._begun and self._nested:
            return
        self._cursor.close()
        connection = self._connection
        if connection.in_transaction and self._nested:
            try:
                connection.execute(f"rollback to {SAVEPOINT}")
                connection.execute(f"release {SAVEPOINT}")
                return
            except sqlite3.OperationalError:
                pass  # the host's transaction was ended from outside; what is open now, our statements began
        if connection.in_transaction:
            connection.execute("rollback")


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

        from setsearch.storage.schema import migrations

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
