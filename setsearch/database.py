"""Connections and transactions: our own file, or a connection that the host application lends us.

A connection that was lent is given back as it was: inside the host's transaction we use a savepoint and leave commit
and rollback to the host; outside we begin and end a transaction of our own; its row factory is not touched.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from setsearch.errors import (
    MEND,
    CorruptIndex,
    DatabaseError,
    InvalidParameter,
    LockedDatabase,
    MissingDatabase,
    NewerSchema,
    NoIndex,
    NotADatabase,
    ReadOnlyDatabase,
    SetsearchError,
    UsageError,
)
from setsearch.guards import is_broken, is_damaged, require_shape, seal

LEGACY = -1  # sqlite3.LEGACY_TRANSACTION_CONTROL, which Python 3.11 does not name
LONGEST_TIMEOUT = 1e6
CACHE_KIB = 32_768  # pages that SQLite may hold for each of our own connections
STRANGE = (ArithmeticError, LookupError, TypeError, ValueError)  # what comes of values that are not of their types
# What the migrations make, so that a query need not import them; tests/test_house.py holds them to it.
SCHEMA = {"m001_relations", "m002_contexts", "m003_origins"}


class _Own(sqlite3.Connection):
    """A connection that we opened; `inode` is the file's at that time."""

    inode = 0


class Database:
    """A source of transactions on one SQLite database; safe to share between threads.

    `place` is a path, to which each transaction uses a connection of its own, or the host's `sqlite3.Connection`,
    which one thread at a time uses.
    """

    def __init__(self, place: str | Path | sqlite3.Connection, *, create: bool = False, timeout: float = 5.0) -> None:
        self.lent = place if isinstance(place, sqlite3.Connection) else None
        self.path = None if isinstance(place, sqlite3.Connection) else Path(place)
        self.timeout = timeout
        self._checked: int | None = None  # the schema version that was found good
        self._idle: list[_Own] = []  # our own, while no thread uses them
        self._lock = threading.RLock()  # of a lent connection
        self._busy = False  # whether a lent connection is in a transaction of ours
        self._nested = False  # whether that is within one of the host's
        self._autocommit: Any = None  # the lent connection's, while it is set aside
        self._text_factory: Any = str  # the lent connection's
        if not 0 <= timeout <= LONGEST_TIMEOUT:
            raise InvalidParameter(f"the timeout must lie from 0 to {LONGEST_TIMEOUT:g} seconds, not {timeout:g}")
        if str(place) == ":memory:":
            raise InvalidParameter("a database in memory is its connection: use open(sqlite3.connect(':memory:'))")
        if not create:
            self._require_file()

    def __str__(self) -> str:
        return "the database" if self.path is None else str(self.path)

    def close(self) -> None:
        """Close the connections that we opened, until the next call; a lent one stays open."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one consistent snapshot of the database; tables of an earlier version are migrated first."""
        for _ in range(2):
            with self._transaction("begin", "setsearch_read") as cursor:
                if self._is_current(cursor):
                    yield cursor
                    return
            try:
                with self.write():
                    pass
            except ReadOnlyDatabase as error:
                raise ReadOnlyDatabase(
                    f"{self} was written by an earlier setsearch; open it once where you may write"
                ) from error

    @contextmanager
    def write(self) -> Iterator[sqlite3.Cursor]:
        """A cursor in one transaction: everything in the block is done, or nothing.

        A file that does not exist yet appears with its first transaction, or not at all.
        """
        made = self._make_file()
        try:
            with self._transaction("begin immediate", "setsearch_write") as cursor:
                self._migrate(cursor)
                require_shape(cursor, str(self))
                sound = not is_broken(cursor)  # what is broken stays to be found
                yield cursor
                if sound and self._applied(cursor):  # unless everything was dropped
                    seal(cursor)
        except BaseException:
            if made:
                self._remove_file()
            raise
        if made:
            connection = self._take()
            with suppress(sqlite3.Error):
                connection.execute("pragma journal_mode = wal")
            self._give(connection)

    def _require_file(self) -> None:
        if self.path is not None and not self.path.is_file():
            raise MissingDatabase(
                f"{self.path} is not a file; `setsearch index {self.path} SOURCE` makes a database, "
                "and so does setsearch.open(path, create=True)"
            )

    def _make_file(self) -> bool:
        """Make an empty file where there is none; whether it was us who made it."""
        try:
            if self.path is not None and not self.path.exists():
                self.path.touch(exist_ok=False)
                return True
        except FileExistsError:
            pass
        except (OSError, ValueError) as error:
            raise DatabaseError(f"{self.path} cannot be made ({error}); look at the folder") from error
        return False

    def _remove_file(self) -> None:
        """Remove the file that we made, unless somebody writes to it or has written: we look under the lock."""
        self.close()
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(str(self.path), timeout=0)) as connection:
            connection.execute("begin immediate")
            if connection.execute("select 1 from sqlite_master").fetchone() is None and self.path is not None:
                self.path.unlink()

    def _take(self) -> sqlite3.Connection:
        """One of our own connections, which no other thread uses until it is given back, or the one that was lent."""
        if self.lent is not None:
            self._borrow(self.lent)
            return self.lent
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _give(self, connection: sqlite3.Connection) -> None:
        if isinstance(connection, _Own):
            self._idle.append(connection)
            return
        self._busy = False  # the host's, with its settings
        if self._text_factory is not str:
            connection.text_factory = self._text_factory
        if self._autocommit is not None:
            setattr(connection, "autocommit", self._autocommit)  # noqa: B010
            self._autocommit = None
        self._lock.release()

    def _connect(self) -> _Own:
        self._require_file()  # SQLite would make an empty one
        connection = None
        try:
            connection = sqlite3.connect(
                str(self.path), timeout=self.timeout, isolation_level=None, check_same_thread=False, factory=_Own
            )
            connection.execute(f"pragma cache_size = -{CACHE_KIB}")
            connection.execute("pragma trusted_schema = off")  # a file from a stranger runs no functions
            connection.execute("pragma cell_size_check = on")
            connection.inode = self._inode()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if connection is not None:
                connection.close()
            raise self._explain(error) from error
        return connection

    @contextmanager
    def _transaction(self, begin: str, savepoint: str) -> Iterator[sqlite3.Cursor]:
        connection = self._take()
        try:
            nested = connection.in_transaction
            if self.lent is not None:
                self._nested = nested
            cursor = connection.cursor()
            cursor.row_factory = None
            if not nested:
                cursor.execute(begin)
            if self.lent is not None:  # its release fails if the host ends the transaction meanwhile
                cursor.execute(f"savepoint {savepoint}")
            try:
                self._same_file(connection)
                yield cursor
                if self.lent is not None:
                    cursor.execute(f"release {savepoint}")
                if not nested:
                    cursor.execute("commit")
            except BaseException:
                self._undo(connection, savepoint if nested else None)
                raise
            finally:
                cursor.close()
        except sqlite3.Error as error:
            raise self._explain(error) from error
        except STRANGE as error:
            if isinstance(error, SetsearchError) or not is_damaged(connection):
                raise
            raise CorruptIndex(f"{self} is damaged ({error}); {MEND}") from error
        finally:
            self._give(connection)

    def _borrow(self, connection: sqlite3.Connection) -> None:
        """A connection that was lent is ours, with our settings, until it is given back."""
        self._lock.acquire()
        if self._busy:
            self._lock.release()
            raise UsageError("the connection is in use by setsearch; finish that call before the next one")
        self._busy, self._text_factory = True, connection.text_factory
        if self._text_factory is not str:
            connection.text_factory = str

    def _use_default_transactions(self, connection: sqlite3.Connection) -> None:
        """Set aside Python 3.12's `autocommit`, which sqlite-utils does not support, until our transaction ends."""
        mode = getattr(connection, "autocommit", LEGACY)
        if mode != LEGACY:
            if mode and self._nested:
                raise DatabaseError("the first write makes tables: do it before you begin a transaction of your own")
            self._autocommit = mode
            setattr(connection, "autocommit", LEGACY)  # noqa: B010

    def _undo(self, connection: sqlite3.Connection, savepoint: str | None) -> None:
        """Roll back, in a host's transaction to our savepoint only."""
        if connection.in_transaction and savepoint is not None:
            try:
                connection.execute(f"rollback to {savepoint}")
                connection.execute(f"release {savepoint}")
                return
            except sqlite3.OperationalError:
                pass  # the host's transaction was ended from outside; what is open now, our statements began
        if connection.in_transaction:
            connection.execute("rollback")

    def _same_file(self, connection: sqlite3.Connection) -> None:
        """Refuse to write to a file that is no longer at its path: it would be lost."""
        if isinstance(connection, _Own):
            inode = self._inode()
            if inode < 0 or inode != connection.inode:
                self._require_file()
                connection.inode = -1
                raise DatabaseError(f"{self} was removed or replaced meanwhile; open it again")

    def _inode(self) -> int:
        """Which file is at the path now; -1 for none."""
        try:
            return self.path.stat().st_ino if self.path is not None else -1
        except OSError:
            return -1

    def _is_current(self, cursor: sqlite3.Cursor) -> bool:
        """Whether our tables are of this version; refuses a database without them, or with those of a later one."""
        (version,) = cursor.execute("pragma schema_version").fetchone()
        if version == self._checked:
            return True
        applied = self._applied(cursor)
        if not applied:
            raise NoIndex(f"{self} holds no setsearch index; `setsearch index {self} SOURCE` makes one")
        if applied == SCHEMA:
            require_shape(cursor, str(self))
            self._checked = version
        return applied == SCHEMA

    def _applied(self, cursor: sqlite3.Cursor) -> set[str]:
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
        if self._applied(cursor) == SCHEMA:
            return
        from sqlite_utils import Database as Tables  # heavy, and needed once in the life of a file

        from setsearch.schema import migrations

        connection = cursor.connection
        self._use_default_transactions(connection)
        row_factory, connection.row_factory = connection.row_factory, None
        try:
            migrations.apply(Tables(connection, recursive_triggers=False, execute_plugins=False))
        finally:
            connection.row_factory = row_factory

    def _explain(self, error: Exception) -> SetsearchError:
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
        if "no such savepoint" in str(error):
            return DatabaseError("the transaction was ended from outside while setsearch was in it")
        return DatabaseError(f"{self}: {error}")
