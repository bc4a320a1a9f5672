"""Transactions on our own connection, or inside those of a host application that lends its connection.

Inside the host's transaction we use a savepoint; commit and rollback stay with the host. Outside we begin and end a
transaction of our own. The row factory of a lent connection is never changed.
"""

import os
import sqlite3
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

import setsearch
from setsearch.errors import REPAIR_HINT, CorruptIndex, Fault, SetsearchError
from setsearch.sqlite.connections import Connections
from setsearch.sqlite.integrity import is_damaged
from setsearch.sqlite.limits import LimitedCursor, watch_cancellation

READERS = ("sqlite/", "storage/", "memory/", "lists.py", "arrays.py", "migrations")  # of stored values
WRONG_VALUES = (ArithmeticError, LookupError, TypeError, ValueError)  # raised for stored values of unexpected types
SAVEPOINT = "setsearch_transaction"
READ, WRITE = "begin", "begin immediate"


class Transaction:
    """A context manager for the cursor of one transaction: all of the block takes effect, or nothing.

    `is_nested`: whether it is inside one of the host's. A class is faster than a generator, and every query starts with
    it.
    """

    __slots__ = ("_begin", "_begun", "_connection", "_connections", "_cursor", "_watched", "is_committed", "is_nested")

    def __init__(self, connections: Connections, begin: str) -> None:
        self._connections = connections
        self._begin = begin
        self.is_committed = False

    def __enter__(self) -> sqlite3.Cursor:
        connections = self._connections
        self._connection = connection = connections.take()
        self._begun, self.is_nested, self._watched = False, True, False
        try:
            self._cursor = cursor = connection.cursor(LimitedCursor)
            cursor.row_factory = None
            cursor.time_limit = connections.time_limit
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
        except BaseException as error:
            self._fail(error)
            raise
        return cursor

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
            self._cursor.close()
            self._connections.give(self._connection)
        else:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """Roll back, return the connection, and raise our error for one of SQLite's."""
        translated: SetsearchError | None = None
        self._end_watch()
        try:
            self._connections.require_own(self._connection)
            self._rollback()
            if isinstance(error, sqlite3.Error):
                translated = self._connections.translate(error)
            elif _may_be_damage(error) and (self._is_of_reading(error) or is_damaged(self._connection)):
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
        """Whether an error arose in our own code while it read: a stored value is wrong, whatever it is."""
        frames = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
        return self._begin == READ and all(map(_is_our_code, frames))

    def _told(self, error: BaseException) -> SetsearchError:
        """What an error says of the file, or of us: only what reads stored values meets wrong ones."""
        problem, place = " ".join(f"{type(error).__name__}: {error}".split()), _place(error)
        if place.startswith(READERS) or is_damaged(self._connection):
            return CorruptIndex(f"{self._connections} is damaged ({problem:.200}); {REPAIR_HINT}")
        return Fault(
            f"a fault of setsearch ({problem:.200}, in {place}), unless `setsearch check` finds {self._connections} "
            "damaged; please report it, with what SETSEARCH_DEBUG=1 shows"
        )

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


def _is_our_code(path: str) -> bool:
    """Whether a file is ours, numpy's or Python's own: code that runs when we read, unlike an application's."""
    import numpy as np

    library, *ours = (f"{Path(module.__file__ or '').parent}{os.sep}" for module in (os, setsearch, np))
    return path.startswith(tuple(ours)) or (path.startswith(library) and "site-packages" not in path)


def _place(error: BaseException) -> str:
    """The innermost line of ours that an error came through, such as storage/names.py:12."""
    home = f"{Path(setsearch.__file__).parent}{os.sep}"
    frames = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    ours = [(path.removeprefix(home).replace(os.sep, "/"), line) for path, line in frames if path.startswith(home)]
    return "{}:{}".format(*ours[-1]) if ours else ""


def _may_be_damage(error: BaseException) -> bool:
    return isinstance(error, WRONG_VALUES) and not isinstance(error, SetsearchError)
