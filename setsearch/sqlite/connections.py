"""Connections to one SQLite file: our own, one that the host application lends, or those that a function makes.

Some files can be read but not locked: their folder is read-only or full, and nobody has them open. SQLite cannot lock a
write-ahead log where it may not write. Without a log a file is taken for unchanging; whoever reads it compares its
state before and after.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from setsearch.errors import (
    LENT,
    Cancelled,
    DatabaseError,
    InvalidParameter,
    LockedDatabase,
    MissingDatabase,
    NotADatabase,
    ReadOnlyDatabase,
    SetsearchError,
    UsageError,
)
from setsearch.sqlite.drivers import URI, as_pythons, connection_maker, driver_connection
from setsearch.sqlite.forks import LOCK, File, is_barred, watch
from setsearch.sqlite.turns import locked

LONGEST_TIMEOUT = 1e6  # seconds
TIME_LIMIT = 10.0  # seconds
NO_FILE = (-1, -1)  # numbers that no file has
PAGE_CACHE_KIB = 32_768  # of each of our own connections
WAYS_OUT = {
    sqlite3.SQLITE_IOERR: "; the disk may be full",
    sqlite3.SQLITE_FULL: "; nothing was changed: make room, and do it again",
    sqlite3.SQLITE_CORRUPT: "; restore a copy, or index into a new file (`sqlite3 FILE .recover` saves other tables)",
}
OF_LENT = {  # what errors of a lent connection have in their texts, and what they mean
    "no such savepoint": "the application ended the transaction while setsearch was in it",
    "same thread": "the connection is of another thread; lend one made with check_same_thread=False, "
    "or a function that makes connections",
    "closed database": "the connection is closed; lend an open one",
}
LOG, SHARED, JOURNAL = "-wal", "-shm", "-journal"  # the endings of what is beside a file in use
_FULL = sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN
_SHUT = sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY


class OwnConnection(sqlite3.Connection):
    """A connection that we opened, to `file`, with the write-ahead log `log`.

    `state` is that of a file which it takes for unchanging.
    """

    file: File = NO_FILE
    log: File = NO_FILE
    state: tuple[int, int] | None = None


def _require_seconds(seconds: Any, must: str, is_open: bool = False) -> None:
    """Raise InvalidParameter for what is no number of seconds; `is_open`: 0 is none."""
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds <= LONGEST_TIMEOUT or (is_open and not seconds):
        raise InvalidParameter(f"{must} {LONGEST_TIMEOUT:g} seconds, not {seconds!r:.60}")


class Connections:
    """Connections to one SQLite database; each is used by one thread at a time.

    `place` is a path, a URI, the host's connection, whose settings are restored after each use, or a function that
    makes connections: each thread has its own, until `close_idle`. With `read_only`, those to a path cannot write.
    `time_limit` is how many seconds SQL of others may take (limits.py).
    """

    def __init__(
        self, place: Any, timeout: float = 5.0, time_limit: float = TIME_LIMIT, read_only: bool = False
    ) -> None:
        self.lent = driver_connection(place)
        self._make = connection_maker(place, timeout) if self.lent is None else None
        is_path = self.lent is None and self._make is None
        if is_path and not isinstance(place, (str, PathLike)):
            raise InvalidParameter(f"an index is opened by a path, or a connection of SQLite, not {place!r:.60}")
        self.path = Path(place) if is_path else None
        self._made = threading.local()  # connections of a thread, by the round in which they were made
        self._round = 0
        self._name = str(self.path)  # faster than the path for the look at the file before each query
        self.timeout = timeout
        self.time_limit = time_limit
        self._is_read_only = read_only
        self.creates = False  # whether the first write makes the file
        self.nested = False  # whether our transaction on a lent connection is inside one of the host's
        self._file = NO_FILE  # the first file at the path: only this one is written to
        self._idle: list[OwnConnection] = []
        self._in_use: set[OwnConnection] = set()
        self.cursors: dict[sqlite3.Connection, Any] = {}  # of our own idle ones: they stay
        self._opening = 0  # connections that are being opened
        self._lock = threading.RLock()  # of a lent connection
        self._busy = False  # whether a lent connection is in a transaction of ours
        self._text_factory: Any = str  # the lent connection's
        _require_seconds(timeout, "the timeout must lie from 0 to")
        _require_seconds(time_limit, "the time limit must lie between 0 and", is_open=True)
        if self._name.startswith(URI):
            raise InvalidParameter(f"{self._name} is a URI, which names no new file; give a path")
        if str(place) == ":memory:":
            raise InvalidParameter("':memory:' is no path; give the connection: open(sqlite3.connect(':memory:'))")
        self._label = self._name if self.path is not None else place if isinstance(place, str) else LENT
        watch(self)

    def __str__(self) -> str:
        return self._label

    def elsewhere(self, path: Path) -> "Connections":
        """Connections to another file with these settings, under the same name in messages."""
        other = Connections(path, self.timeout, self.time_limit)
        other._label = self._label
        return other

    @property
    def has_opened(self) -> bool:
        """Whether there was a file at the path."""
        return self._file != NO_FILE

    def adopt_file(self) -> None:
        """Take the file that is now at the path for ours."""
        self._file = self._look()

    def close_idle(self) -> None:
        """Close our own idle connections; the next call opens new ones. A lent connection stays open."""
        with LOCK:
            while self._idle:
                self._close(self._idle.pop())
            self._round += 1
        if self._make is not None:
            self._idle_of_thread()  # closes those of the last round

    def abandon(self) -> Iterable[tuple[object, File]]:
        """Forget the connections in use, which belong to the process that forked this one."""
        abandoned: list[tuple[object, File]] = [(connection, connection.file) for connection in self._in_use]
        abandoned += [(None, self._look())] * self._opening
        self._in_use, self._opening, self._lock = set(), 0, threading.RLock()
        return abandoned

    def require_own(self, connection: sqlite3.Connection) -> None:
        """Refuse a connection of the process that forked this one."""
        if isinstance(connection, OwnConnection) and connection not in self._in_use:
            raise self._barred()

    def take(self) -> sqlite3.Connection:
        """A connection to the file that is now at the path, which no other thread uses until `give`."""
        if self.lent is not None:
            self._borrow(self.lent)
            return self.lent
        if self._make is not None:
            idle = self._idle_of_thread()
            return idle.pop() if idle else self._made_anew(self._make)
        file = self._look()
        with LOCK:
            while self._idle:
                connection = self._idle.pop()
                is_same = connection.state is None or connection.state == state_of(Path(self._name))
                if connection.file == file and is_same:
                    self._in_use.add(connection)
                    return connection
                self._forget(connection)
            self._opening += 1
        opened = None
        try:
            opened = self._connect()
        finally:
            with LOCK:
                self._opening -= 1
                if opened is not None:
                    self._in_use.add(opened)
        return opened

    def _forget(self, connection: OwnConnection) -> None:
        """Close a connection to a file that is no longer at the path.

        Its log must go with it: SQLite would apply what the log holds to the file that is there now.
        """
        if connection.file != self._look() and connection.log == self._look(LOG):
            for ending in (LOG, SHARED):
                with suppress(OSError):
                    Path(self._name + ending).unlink()
        self._close(connection)

    def _close(self, connection: OwnConnection) -> None:
        if (cursor := self.cursors.pop(connection, None)) is not None:
            cursor.close()
        connection.close()

    def give(self, connection: sqlite3.Connection) -> None:
        """Return a connection; a lent one gets its settings back."""
        if isinstance(connection, OwnConnection):
            with LOCK:
                if connection in self._in_use:  # else it belongs to the process that forked this one
                    self._in_use.remove(connection)
                    self._idle.append(connection)
            return
        if self.lent is None:
            self._idle_of_thread().append(connection)
            return
        self._busy = False
        if self._text_factory is not str:
            connection.text_factory = self._text_factory
        self._lock.release()

    def _idle_of_thread(self) -> list[sqlite3.Connection]:
        """The connections that a function made for this thread, and that nobody uses."""
        now = self._round, os.getpid()
        made, idle = getattr(self._made, "idle", (now, []))
        if made != now:
            while idle and made[1] == now[1]:
                idle.pop().close()
            made, idle = now, []
        self._made.idle = made, idle
        return idle

    def _made_anew(self, make: Callable[[], Any]) -> sqlite3.Connection:
        try:
            connection = driver_connection(make())
        except Exception as error:
            own = as_pythons(error)
            raise (self.translate(own) if isinstance(own, sqlite3.Error) else own) from error
        if connection is None:
            raise InvalidParameter("the function that was given to setsearch.open makes no connection; return one")
        return connection

    def file(self) -> tuple[str, File] | None:
        """The path, device and inode of the file that a lent connection has open; None for others, and in memory."""
        if self.lent is None:
            return None
        with suppress(sqlite3.Error, OSError):
            cursor = self.lent.cursor()
            cursor.row_factory = None
            for _, name, path in cursor.execute("pragma database_list").fetchall():
                if name == "main" and path:
                    found = Path(path).stat()
                    return path, (found.st_dev, found.st_ino)
        return None

    def has_cipher(self) -> bool:
        """Whether the SQLite of a lent connection can encrypt: SQLCipher and SEE, or SQLite3 Multiple Ciphers."""
        asked = "select 1 where sqlite_compileoption_used('HAS_CODEC')", "pragma cipher"
        return self.lent is not None and any(self.lent.execute(one).fetchone() for one in asked)

    def _connect(self) -> OwnConnection:
        self.require_file()  # SQLite would create an empty file
        if is_barred(self._look()):
            raise self._barred()
        try:
            return self._open(str(self.path))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if self.path is None or not is_unchanging(self.path, error):
                raise self.translate(error) from error
        state = state_of(self.path)
        try:
            connection = self._open(f"{self.path.resolve().as_uri()}?immutable=1", uri=True)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.translate(error) from error
        connection.state = state
        return connection

    def _open(self, name: str, uri: bool = False) -> OwnConnection:
        connection = sqlite3.connect(
            name,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
            factory=OwnConnection,
            uri=uri,
        )
        try:
            connection.execute(f"pragma cache_size = -{PAGE_CACHE_KIB}")
            connection.execute("pragma trusted_schema = off")  # the schema of a hostile file calls no functions
            connection.execute("pragma cell_size_check = on")
            if self._is_read_only:
                connection.execute("pragma query_only = on")
            connection.execute("pragma schema_version").fetchone()  # reads the file
            connection.file, connection.log = self._look(), self._look(LOG)
        except BaseException:
            connection.close()
            raise
        if self._file == NO_FILE:
            self._file = connection.file
        return connection

    def require_unchanged(self, connection: sqlite3.Connection) -> None:
        """Refuse what was read from a file that was taken for unchanging, and changed."""
        state = getattr(connection, "state", None)
        if state is not None and state != state_of(Path(self._name)):
            raise LockedDatabase(f"{self} was written to while it was read; ask again")

    def _borrow(self, connection: sqlite3.Connection) -> None:
        self._lock.acquire()
        if self._busy:
            self._lock.release()
            raise UsageError("setsearch is using the connection; finish that call before the next one")
        self._busy, self._text_factory = True, connection.text_factory
        if self._text_factory is not str:
            connection.text_factory = str

    def require_file(self) -> None:
        """Raise MissingDatabase if the path is not a file."""
        if self.path is not None and not self.path.is_file():
            if self.path.is_dir():
                raise MissingDatabase(
                    f"{self} is a folder, not a database; name a file such as notes.db, "
                    f"into which `setsearch index notes.db {self}` puts the folder"
                )
            if self.creates and not self.has_opened:
                raise MissingDatabase(f"{self} is not there yet; the first write, such as `add`, creates it")
            first = "" if self.path.suffix else "name a database before all else; "  # perhaps it is an example
            raise MissingDatabase(
                f"{self} is not a file; {first}`setsearch index {self} SOURCE` or "
                "setsearch.open(path, create=True) creates a database"
            )

    def require_same_file(self, connection: sqlite3.Connection) -> None:
        """Refuse to write to a file that is no longer at its path, where the write would be lost, or to another one."""
        if isinstance(connection, OwnConnection):
            self.require_file()
            if not self._file == connection.file == self._look():
                raise DatabaseError(f"{self} was removed or replaced; open it again to write to it")

    def _barred(self) -> DatabaseError:
        return DatabaseError(
            f"{self} was in use when this process was forked, so it cannot be used here; "
            "fork between calls, or start the process anew (spawn)"
        )

    def _look(self, ending: str = "") -> File:
        try:
            found = os.stat(self._name + ending)  # noqa: PTH116
            return found.st_dev, found.st_ino
        except (OSError, ValueError):
            return NO_FILE

    def _waited(self) -> float:
        """The seconds that a statement waits for a lock: a lent connection has a timeout of its own."""
        with suppress(sqlite3.Error, TypeError):
            return float(self.lent.execute("pragma busy_timeout").fetchone()[0]) / 1000 if self.lent else self.timeout
        return self.timeout

    def _refused(self) -> DatabaseError:
        path = None if self._is_read_only else self.path
        if path is not None and may_write(path) and may_write(path.parent):
            beside = [Path(f"{path.resolve()}{ending}") for ending in (LOG, SHARED)]
            shut = [own.name for own in beside if own.exists() and not may_write(own)]
            if shut:  # who may write in the folder alone leaves them
                way_out = "let it be deleted if the -wal is empty, or be made writable"
                return DatabaseError(f"{self} cannot be written, because {shut[0]} is another user's; {way_out}")
            return DatabaseError(f"{self} cannot be written, though you may; the disk may be full")
        if path is not None and may_write(path):
            told = f"{self} cannot be written, because its folder {path.resolve().parent} cannot"
            return ReadOnlyDatabase(f"{told}; let files be made there, or copy it to a place where you may write")
        return ReadOnlyDatabase(f"{self} is read-only; copy it to a place where you may write")

    def translate(self, error: Exception) -> SetsearchError:
        """Our error for an error of SQLite's."""
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            hint = "a transaction that began by reading cannot wait: roll it back, and use `begin immediate`"
            at_once = LockedDatabase(f"{self} is locked by another writer; {hint}")
            return at_once if self.nested else locked(self, self._waited())
        if code == sqlite3.SQLITE_INTERRUPT:
            return Cancelled("the question was stopped")
        if code == sqlite3.SQLITE_READONLY:
            return self._refused()
        if code == sqlite3.SQLITE_NOTADB:
            way_out = f"name one before all else; of texts `setsearch index NAME.db {self}` makes one"
            return NotADatabase(f"{self} is not an SQLite database; {way_out}")
        if code == sqlite3.SQLITE_CANTOPEN:
            return DatabaseError(
                f"{self} cannot be opened; check the folder and its permissions, and copy it elsewhere"
            )
        meant = (told for part, told in OF_LENT.items() if self.lent and part in str(error))
        return DatabaseError(next(meant, f"{self}: {error}{WAYS_OUT.get(code, '')}"))


def may_write(path: Path) -> bool:
    """Whether permissions allow to write to a file, or into a folder."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def is_unchanging(path: Path, error: Exception) -> bool:
    """Whether a file could not be opened for these reasons."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    path = path.resolve()  # SQLite looks beside the file, not beside a link
    is_shut = code & 0xFF in _SHUT and code != sqlite3.SQLITE_READONLY_ROLLBACK
    if is_shut:
        is_shut = not may_write(path.parent)
    return (is_shut or code in _FULL) and not _log_size(path)


def state_of(path: Path) -> tuple[int, int]:
    """What changes with a write: time and size of the file, or the size of a log beside it; zeros without a file."""
    with suppress(OSError):
        path = path.resolve()
        found = path.stat()
        return found.st_mtime_ns, -_log_size(path) or found.st_size
    return 0, 0


def _log_size(path: Path) -> int:
    size = 0
    for ending in (LOG, JOURNAL):
        with suppress(OSError):
            size += Path(f"{path}{ending}").stat().st_size
    return size
