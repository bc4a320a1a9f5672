"""Limits on SQL that others wrote: conditions, full-text queries, tables and views of the host.

Such SQL may be slow, or never end. `limited` stops it after a time limit, or when its caller cancels. On our own
connections SQLite looks at the clock itself (its progress handler). A lent connection may have a progress handler of
the host's, so there a second thread interrupts our statement, and only while it runs.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from typing import Any

from setsearch.core.threads import beside
from setsearch.errors import Cancelled, TimeLimitExceeded
from setsearch.sqlite.connections import TIME_LIMIT, OwnConnection

INSTRUCTIONS = 20_000  # of SQLite between two looks at the clock
REPEAT = 0.02  # seconds between interruptions: one is lost if no statement runs at that moment
ROWS = 500  # read at a time


class Cancellation:
    """Stops questions from another thread.

    stop = Cancellation()
    with stop:              # in the thread that asks
        reading.expand(["lion"], among=Where("..."))
    stop.cancel()           # elsewhere: the question raises Cancelled
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._tokens: list[Token[Cancellation | None]] = []

    def __enter__(self) -> "Cancellation":
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *error: object) -> None:
        _current.reset(self._tokens.pop())

    def cancel(self) -> None:
        """Stop what runs within this cancellation, and what begins."""
        self._event.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def watch_cancellation(connection: sqlite3.Connection) -> bool:
    """Let a cancellation stop all statements of one of our connections; returns whether there is one."""
    cancellation = _current.get()
    if cancellation is None or not isinstance(connection, OwnConnection):
        return False
    if cancellation.is_cancelled:
        raise Cancelled("the question was stopped")
    connection.set_progress_handler(lambda: cancellation.is_cancelled, INSTRUCTIONS)
    return True


class LimitedCursor(sqlite3.Cursor):
    """The cursor of a transaction; it knows the time limit of the index, and closes the cursors beside it.

    Those that an error keeps in its traceback would lock the tables of a host.
    """

    time_limit = TIME_LIMIT
    others: tuple[sqlite3.Cursor, ...] = ()

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.bound: dict[str, Any] = {}  # what was opened with it, by name (memory/readings.py)

    def close_others(self) -> None:
        """Close the cursors beside this one."""
        for own in self.others:
            own.close()
        self.others = ()

    def close(self) -> None:
        """Close this cursor and those beside it, and let go what is bound to it, which has the cursor itself."""
        self.close_others()
        self.bound.clear()
        super().close()


def time_limit_of(cursor: sqlite3.Cursor) -> float:
    """The time limit of the index that a cursor belongs to."""
    return getattr(cursor, "time_limit", TIME_LIMIT)


def another_cursor(cursor: sqlite3.Cursor) -> sqlite3.Cursor:
    """A cursor for other rows of the same transaction."""
    own = cursor.connection.cursor()
    own.row_factory = None
    if isinstance(cursor, LimitedCursor):
        cursor.others += (own,)
    return own


@contextmanager
def limited(cursor: sqlite3.Cursor, what: str, seconds: float | None = None) -> Iterator[None]:
    """Stop statements on the connection of a cursor that take longer than its time limit, or than `seconds`.

    Raises TimeLimitExceeded, which names `what`, Cancelled, and KeyboardInterrupt for Ctrl-C.
    """
    limit = time_limit_of(cursor)
    deadline = time.monotonic() + (limit if seconds is None else seconds)
    cancellation = _current.get()

    def reason() -> Exception | None:
        if cancellation is not None and cancellation.is_cancelled:
            return Cancelled("the question was stopped")
        if time.monotonic() >= deadline:
            return TimeLimitExceeded(f"{what} takes longer than {limit:g} seconds; `time_limit` may allow more")
        return None

    already = reason()
    if already is not None:
        raise already
    is_own = isinstance(cursor.connection, OwnConnection)
    stopper = _clock if is_own else _interrupter
    with stopper(cursor.connection, reason):
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
                raise
            # Nobody else can interrupt our own connection but Ctrl-C, and on a lent one the host.
            raise (reason() or (KeyboardInterrupt() if is_own else error)) from error


@contextmanager
def _clock(connection: sqlite3.Connection, reason: Callable[[], Exception | None]) -> Iterator[None]:
    connection.set_progress_handler(lambda: reason() is not None, INSTRUCTIONS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)
        watch_cancellation(connection)


@contextmanager
def _interrupter(connection: sqlite3.Connection, reason: Callable[[], Exception | None]) -> Iterator[None]:
    def interrupt(is_over: threading.Event) -> None:
        while not is_over.wait(REPEAT):
            if reason() is not None:
                connection.interrupt()

    with beside(interrupt):
        yield


def limited_rows(
    cursor: sqlite3.Cursor, what: str, statement: str, parameters: Sequence[Any] = (), each: bool = True
) -> Generator[Any]:
    """The rows of a statement. SQLite may work on each ROWS of them for the limit, without `each` on all together.

    What the caller does between two rows does not count.
    """
    own = another_cursor(cursor)
    limit = left = time_limit_of(cursor)
    is_new, rows = True, list[Any]()
    try:
        while rows or is_new:
            start = time.monotonic()
            with limited(cursor, what, left):
                rows = (own.execute(statement, parameters) if is_new else own).fetchmany(ROWS)
            is_new = False
            left = limit if each else left - (time.monotonic() - start)
            yield from rows
    finally:
        with suppress(sqlite3.ProgrammingError):  # its connection may be closed already
            own.close()
