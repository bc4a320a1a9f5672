"""The database: transactions in which our tables exist, have the present schema, and are intact.

Transactions are on our own connection, or inside those of a host application that lends its connection. Inside the
host's transaction we use a savepoint; commit and rollback stay with the host. Outside we begin and end a transaction of
our own. The row factory of a lent connection is never changed.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property, partial
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any, ClassVar, Self

import setsearch
from setsearch.errors import (
    REPAIR_HINT,
    CorruptIndex,
    NewerSchema,
    ReadOnlyDatabase,
    SetsearchError,
    UsageError,
    fault_of,
    no_index,
    place_of,
)
from setsearch.sqlite.connections import TIME_LIMIT, Connections, OwnConnection
from setsearch.sqlite.creation import new_file
from setsearch.sqlite.forks import File
from setsearch.sqlite.integrity import Seal, is_damaged, require_tables
from setsearch.sqlite.limits import LimitedCursor, watch_cancellation
from setsearch.sqlite.schema import LOG, MIGRATIONS, create_tables, log_migrations
from setsearch.sqlite.turns import turns_of

Checked = tuple[object, int]  # a file, and SQLite's schema version of its tables
MOST_CHECKED = 64  # one more, and all are checked again
_checked: set[Checked] = set()  # files of lent connections: a host may open one for each request
READERS = (
    "sqlite/",
    "storage/",
    "memory/",
    "lists.py",
    "arrays.py",
    "migrations",
    "indexing/check",
)  # of stored values
WRONG_VALUES = (ArithmeticError, LookupError, TypeError, ValueError)  # raised for stored values of unexpected types
SAVEPOINT = "setsearch_transaction"
READ, WRITE = "begin", "begin immediate"


class Transaction:
    """A context manager for the cursor of one transaction: all of the block takes effect, or nothing.

    `is_nested`: whether it is inside one of the host's. With a `database`, tables of an earlier version are migrated
    first. A class is faster than a generator, and every query starts with it.
    """

    __slots__ = (
        "_begin",
        "_begun",
        "_connection",
        "_connections",
        "_cursor",
        "_database",
        "_watched",
        "is_committed",
        "is_nested",
    )

    def __init__(self, connections: Connections, begin: str, database: "Database | None" = None) -> None:
        self._connections, self._begin, self._database = connections, begin, database
        self.is_committed = False

    def __enter__(self) -> sqlite3.Cursor:
        connections = self._connections
        self._connection = connection = connections.take()
        self._begun, self.is_nested, self._watched = False, True, False
        try:
            self._cursor = cursor = self._take_cursor()
            self._watched = self._begin == READ and watch_cancellation(connection)
            self.is_nested = nested = connection.in_transaction
            if not nested:
                cursor.execute(self._begin)
            if connections.lent is not None:  # its release fails if the host has ended the transaction
                connections.nested = nested
                cursor.execute(f"savepoint {SAVEPOINT}")
            self._begun = True
            if self._begin != READ:
                connections.require_same_file(connection)
            is_current = self._database is None or self._database.is_current(cursor, nested)
        except BaseException as error:
            self._fail(error)
            raise
        if is_current or self._database is None:
            return cursor
        self.__exit__(None, None, None)
        self._database.migrate()
        self._database = None
        return self.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_watch()
        if error is None:
            try:
                self._connections.require_own(self._connection)
                if self._connections.lent is not None:
                    self._cursor.execute(f"release {SAVEPOINT}")
                if not self.is_nested:
                    self._cursor.execute("commit")
                self.is_committed = True
                self._connections.require_unchanged(self._connection)
            except BaseException as failure:
                self._fail(failure)
                raise
            self._give_cursor()
            self._connections.give(self._connection)
        else:
            self._fail(error)

    def _take_cursor(self) -> LimitedCursor:
        """The cursor of the last transaction on one of our connections: what was bound to it is so still."""
        cursor: LimitedCursor | None = self._connections.cursors.pop(self._connection, None)
        if cursor is None:
            cursor = self._connection.cursor(LimitedCursor)
            cursor.row_factory = None
            cursor.time_limit = self._connections.time_limit
        return cursor

    def _give_cursor(self) -> None:
        if isinstance(self._connection, OwnConnection):
            self._cursor.close_others()
            self._connections.cursors[self._connection] = self._cursor
        else:
            self._cursor.close()

    def _fail(self, error: BaseException) -> None:
        """Roll back, return the connection, and raise our error for one of SQLite's."""
        translated: SetsearchError | None = None
        self._end_watch()
        try:
            self._connections.require_own(self._connection)
            self._rollback()
            if isinstance(error, sqlite3.Error):
                translated = self._connections.translate(error)
            elif (
                isinstance(error, WRONG_VALUES)
                and not isinstance(error, SetsearchError)
                and (self._is_of_reading(error) or is_damaged(self._connection))
            ):
                translated = self._told(error)
        except SetsearchError as refusal:
            translated = refusal
        except sqlite3.Error as failure:
            # A statement of the host's is still open: SQLite interrupts it too, and all until it ends. Our savepoint
            # then ends with the host's transaction.
            if getattr(failure, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
                translated = self._connections.translate(failure)
        finally:
            self._connections.give(self._connection)
        if translated is not None:
            raise translated from error

    def _is_of_reading(self, error: BaseException) -> bool:
        """Whether an error arose in our own code while it read: a stored value is wrong, or a name of a table."""
        frames = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
        is_text = isinstance(error, UnicodeDecodeError) and is_of_stored_values(error)
        return (is_text or self._begin == READ) and all(map(_is_our_code, frames))

    def _told(self, error: BaseException) -> SetsearchError:
        """What an error says of the file, or of us: only what reads stored values meets wrong ones."""
        if is_of_stored_values(error) or is_damaged(self._connection):
            problem = " ".join(f"{type(error).__name__}: {error}".split())
            return CorruptIndex(f"{self._connections} is damaged ({problem:.200}); {REPAIR_HINT}")
        return fault_of(error, f", unless `setsearch check` finds {self._connections} damaged")

    def _end_watch(self) -> None:
        if self._watched:
            self._connection.set_progress_handler(None, 0)
            self._watched = False

    def _rollback(self) -> None:
        """Roll back; inside a host's transaction only to our savepoint."""
        if not self._begun and self.is_nested:
            return
        self._cursor.close()
        connection = self._connection
        if connection.in_transaction and self.is_nested:
            try:
                connection.execute(f"rollback to {SAVEPOINT}")
                connection.execute(f"release {SAVEPOINT}")
                return
            except sqlite3.OperationalError:
                pass  # the host has ended its transaction; our statements began the present one
        if connection.in_transaction:
            connection.execute("rollback")
        elif self._begun and not self.is_nested:
            self.is_committed = True  # it was stopped just after its commit


class Bound:
    """Something stored, as one transaction reads and writes it, by its `cursor`. What lives longer has none."""

    cursor: sqlite3.Cursor

    def within(self, cursor: sqlite3.Cursor | None) -> Self:
        """The same in another transaction; None: outside of any."""
        own = object.__new__(type(self))  # a copy, in a fourth of the time that `copy` takes
        own.__dict__.update(self.__dict__, cursor=cursor)
        return own


def _is_our_code(path: str) -> bool:
    """Whether a file is ours, numpy's or Python's own: code that runs when we read, unlike an application's."""
    import numpy as np

    library, *ours = (f"{Path(module.__file__ or '').parent}{os.sep}" for module in (os, setsearch, np))
    return path.startswith(tuple(ours)) or (path.startswith(library) and "site-packages" not in path)


def is_of_stored_values(error: BaseException) -> bool:
    """Whether an error arose where stored values are read, which may be any: others are mistakes of ours."""
    return place_of(error).startswith(READERS)


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
        self._opened = {"place": place, "timeout": timeout, "time_limit": time_limit, "read_only": read_only}
        self._connections = Connections(place, timeout, time_limit, read_only)
        self.path = self._connections.path
        self.read_only = read_only
        self.checked: Checked | None = None  # what passed the check
        self._turns = None if self.path is None else turns_of(str(self.path.absolute()))
        self._has_log = False  # whether the journal mode was looked at
        self._connections.creates = create
        if not create:
            self._connections.require_file()

    def __str__(self) -> str:
        return str(self._connections)

    def elsewhere(self) -> dict[str, Any]:
        """The place of the database for another process. Raises UsageError for a lent connection."""
        if self.is_lent:
            raise UsageError(
                "what has a connection is not pickled; open the index by the path of its file in each process"
            )
        return {} if self.path is None else {"place": self.path.absolute()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is what opens it."""
        return partial(Database, **self._opened | self.elsewhere()), ()

    def accept_removal(self) -> None:
        """Let the next write make a file that was removed; else it would be refused."""
        if self.path is not None and not self.path.exists():
            self._connections.adopt_file()

    @cached_property
    def lent_file(self) -> tuple[str, File] | None:
        """The path, device and inode of the file that a lent connection has open; None for others, and in memory."""
        return self._connections.file()

    @cached_property
    def file(self) -> Path | None:
        """Where files of what is derived belong; None in memory, and where SQLite has a cipher: secrets.

        The file itself tells nothing: whoever opens and closes it ends all locks that this process has on it.
        """
        if self.path is not None or self.lent_file is None:
            return self.path
        return None if self._connections.has_cipher() else Path(self.lent_file[0])

    def close(self) -> None:
        """Close our own connections; the next call opens new ones. A lent connection stays open."""
        self._connections.close_idle()

    def read(self) -> Transaction:
        """A cursor in one consistent snapshot; tables of an earlier version are migrated first."""
        return Transaction(self._connections, READ, self)

    def give_way(self, cursor: sqlite3.Cursor) -> bool:
        """Let others write in the middle of a long read transaction; False if one has, and what was read is older.

        A write to a file with a rollback journal waits for the end of all transactions. In a log it does not, and a
        transaction on a lent connection is the host's.
        """
        if self.is_lent or cursor.execute("pragma journal_mode").fetchone() == ("wal",):
            return True
        before = cursor.execute("pragma data_version").fetchone()
        cursor.execute("commit")
        cursor.execute(READ)
        return bool(cursor.execute("pragma data_version").fetchone() == before)

    def unbind(self) -> None:
        """Let go what is bound to the cursors of idle connections."""
        for cursor in [*self._connections.cursors.values()]:
            cursor.bound.clear()

    def is_current(self, cursor: sqlite3.Cursor, is_nested: bool) -> bool:
        """Whether our tables are there, and of the present schema. Raises NoIndex, NewerSchema, CorruptIndex."""
        connection = cursor.connection
        file = connection.file if isinstance(connection, OwnConnection) else self.lent_file
        checked = file, cursor.execute("pragma schema_version").fetchone()[0]
        if checked == self.checked or checked in _checked:
            return True
        applied = self.applied_migrations(cursor)
        if not applied:
            raise no_index(str(self))
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
        path, connections, draft = self.path, self._connections, None
        with nullcontext() if self._turns is None else self._turns.take(self, connections.timeout):
            with ExitStack() as file:
                if path is not None and not path.exists() and not connections.has_opened:
                    draft = file.enter_context(new_file(path, connections.timeout))
                if draft is not None:
                    connections = connections.elsewhere(draft)
                    file.callback(connections.close_idle)
                transaction = Transaction(connections, WRITE)
                try:
                    with transaction as cursor:
                        intact = self._migrate(cursor)
                        yield cursor
                        if intact and self.applied_migrations(cursor):  # unless everything was dropped
                            Seal(cursor).write()
                finally:  # what a new file holds counts when the file has its name
                    Database.has_written |= transaction.is_committed and draft is None
            if draft is None:
                self._use_log()
            else:
                Database.has_written = True
                self._connections.adopt_file()

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
    def is_lent(self) -> bool:
        """Whether it is a connection of the host's."""
        return self._connections.lent is not None

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
            return not Seal(cursor).differs()
        cursor.execute(f"delete from {LOG} where false")  # a file that cannot be written is refused here
        intact = self._convert(cursor.connection)
        log_migrations(cursor)
        require_tables(cursor, str(self))
        return intact

    def _convert(self, connection: sqlite3.Connection) -> bool:
        import logging

        from setsearch.sqlite.migrations import convert  # needed once in the life of a file

        logging.getLogger("setsearch").warning("%s: converting the index of an earlier version, once", self)
        row_factory, connection.row_factory = connection.row_factory, None
        try:
            intact = convert(connection)
            # Older processes that have the file open look again if its schema is another; some migrations leave it.
            connection.execute("create table setsearch_converted (x)")
            connection.execute("drop table setsearch_converted")
        finally:
            connection.row_factory = row_factory
        return intact
