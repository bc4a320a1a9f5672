"""Connections to one SQLite file: our own, or one that the host application lends."""

import os
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from setsearch.errors import (
    DatabaseError,
    InvalidParameter,
    LockedDatabase,
    MissingDatabase,
    NotADatabase,
    ReadOnlyDatabase,
    SetsearchError,
    UsageError,
)

LEGACY = -1  # sqlite3.LEGACY_TRANSACTION_CONTROL, which Python 3.11 does not name
LONGEST_TIMEOUT = 1e6  # seconds
PAGE_CACHE_KIB = 32_768  # of each of our own connections


class OwnConnection(sqlite3.Connection):
    """A connection that we opened; `inode` is that of the file at that time."""

    inode = 0


class Connections:
    """Connections to one SQLite database; each is used by one thread at a time.

    `place` is a path, or the host's `sqlite3.Connection`, whose settings are restored after each use.
    """

    def __init__(self, place: str | Path | sqlite3.Connection, timeout: float) -> None:
        self.lent = place if isinstance(place, sqlite3.Connection) else None
        self.path = None if isinstance(place, sqlite3.Connection) else Path(place)
        self._name = str(self.path)  # faster than the path for the inode check of each query
        self.timeout = timeout
        self.nested = False  # whether our transaction on a lent connection is inside one of the host's
        self._idle: list[OwnConnection] = []
        self._lock = threading.RLock()  # of a lent connection
        self._busy = False  # whether a lent connection is in a transaction of ours
        self._autocommit: Any = None  # the lent connection's setting while ours is in force
        self._text_factory: Any = str  # the lent connection's
        if not 0 <= timeout <= LONGEST_TIMEOUT:
            raise InvalidParameter(f"the timeout must lie from 0 to {LONGEST_TIMEOUT:g} seconds, not {timeout:g}")
        if str(place) == ":memory:":
            raise InvalidParameter("an in-memory database is its connection: use open(sqlite3.connect(':memory:'))")

    def __str__(self) -> str:
        return "the database" if self.path is None else str(self.path)

    def close(self) -> None:
        """Close our own idle connections; the next call opens new ones. A lent connection stays open."""
        while self._idle:
            self._idle.pop().close()

    def take(self) -> sqlite3.Connection:
        """A connection that no other thread uses until `give`."""
        if self.lent is not None:
            self._borrow(self.lent)
            return self.lent
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def give(self, connection: sqlite3.Connection) -> None:
        """Return a connection; a lent one gets its settings back."""
        if isinstance(connection, OwnConnection):
            self._idle.append(connection)
            return
        self._busy = False
        if self._text_factory is not str:
            connection.text_factory = self._text_factory
        if self._autocommit is not None:
            setattr(connection, "autocommit", self._autocommit)  # noqa: B010
            self._autocommit = None
        self._lock.release()

    def _connect(self) -> OwnConnection:
        self.require_file()  # SQLite would create an empty file
        connection = None
        try:
            connection = sqlite3.connect(
                str(self.path),
                timeout=self.timeout,
                isolation_level=None,
                check_same_thread=False,
                factory=OwnConnection,
            )
            connection.execute(f"pragma cache_size = -{PAGE_CACHE_KIB}")
            connection.execute("pragma trusted_schema = off")  # the schema of a hostile file calls no functions
            connection.execute("pragma cell_size_check = on")
            connection.inode = self._inode()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if connection is not None:
                connection.close()
            raise self.translate(error) from error
        return connection

    def _borrow(self, connection: sqlite3.Connection) -> None:
        self._lock.acquire()
        if self._busy:
            self._lock.release()
            raise UsageError("setsearch is using the connection; finish that call before the next one")
        self._busy, self._text_factory = True, connection.text_factory
        if self._text_factory is not str:
            connection.text_factory = str

    def use_legacy_transactions(self, connection: sqlite3.Connection) -> None:
        """Switch off Python 3.12's `autocommit`, which sqlite-utils does not support, until our transaction ends."""
        mode = getattr(connection, "autocommit", LEGACY)
        if mode != LEGACY:
            if mode and self.nested:
                raise DatabaseError("the first write creates tables: do it before you begin a transaction")
            self._autocommit = mode
            setattr(connection, "autocommit", LEGACY)  # noqa: B010

    def require_file(self) -> None:
        """Raise MissingDatabase if the path is not a file."""
        if self.path is not None and not self.path.is_file():
            raise MissingDatabase(
                f"{self.path} is not a file; `setsearch index {self.path} SOURCE` or "
                "setsearch.open(path, create=True) creates a database"
            )

    def create_file(self) -> bool:
        """Create an empty file if there is none; returns whether it did."""
        try:
            if self.path is not None and not self.path.exists():
                self.path.touch(exist_ok=False)
                return True
        except FileExistsError:
            pass
        except (OSError, ValueError) as error:
            raise DatabaseError(f"{self.path} cannot be created ({error}); check the folder") from error
        return False

    def remove_file(self) -> None:
        """Remove the file that we created, unless somebody else writes to it or has written."""
        self.close()
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(str(self.path), timeout=0)) as connection:
            connection.execute("begin immediate")
            if connection.execute("select 1 from sqlite_master").fetchone() is None and self.path is not None:
                self.path.unlink()

    def require_same_file(self, connection: sqlite3.Connection) -> None:
        """Refuse a file that is no longer at its path: a write to it would be lost."""
        if isinstance(connection, OwnConnection):
            inode = self._inode()
            if inode < 0 or inode != connection.inode:
                self.require_file()
                connection.inode = -1
                raise DatabaseError(f"{self} was removed or replaced; open it again")

    def _inode(self) -> int:
        """The inode of the file at the path; -1 for none."""
        try:
            return os.stat(self._name).st_ino if self.path is not None else -1  # noqa: PTH116
        except OSError:
            return -1

    def translate(self, error: Exception) -> SetsearchError:
        """Our error for an error of SQLite's."""
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return LockedDatabase(
                f"{self} is locked by another writer (waited {self.timeout:g} s); try again when it has finished"
            )
        if code == sqlite3.SQLITE_READONLY:
            return ReadOnlyDatabase(f"{self} is read-only; copy it to a place where you may write")
        if code == sqlite3.SQLITE_NOTADB:
            return NotADatabase(f"{self} is not an SQLite database; give another file name")
        if code == sqlite3.SQLITE_CANTOPEN:
            return DatabaseError(f"{self} cannot be opened; check the folder and its permissions")
        if "no such savepoint" in str(error):
            return DatabaseError("the application ended the transaction while setsearch was in it")
        return DatabaseError(f"{self}: {error}")
