"""What a host may give: connections, also of other drivers such as pysqlite3 and sqlcipher3, and what makes them.

Other drivers have the interface of `sqlite3`, but classes and exceptions of their own. Here these exceptions become
Python's: else no index could live in an encrypted database, or beside what a newer SQLite alone reads.
"""

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from setsearch.errors import InvalidParameter

WRAPPERS = ("conn", "connection", "driver_connection")  # where sqlite_utils, Django and SQLAlchemy have a connection
NEEDED = ("cursor", "execute", "in_transaction", "interrupt", "row_factory", "Error")
URI = "file:"
ADDRESS = "sqlite://"  # how SQLAlchemy names a file
OWN = ("raw", "time_limit")
CALLS = ("execute", "executemany", "fetchone", "fetchmany", "fetchall", "close")  # their exceptions are translated


def driver_connection(place: Any) -> sqlite3.Connection | None:
    """The connection that a host lends, with Python's interface; None if `place` is none. Raises InvalidParameter."""
    if hasattr(place, "ensure_connection"):  # of Django, which connects at the first query of a thread
        place.ensure_connection()
    if hasattr(place, "get_bind") or hasattr(place, "raw_connection") or str(place).startswith(ADDRESS):
        raise InvalidParameter(
            f"{place!r:.60} is of SQLAlchemy; give session.connection(), or the path of the file, engine.url.database"
        )
    for name in WRAPPERS:
        if not isinstance(place, sqlite3.Connection):
            place = getattr(place, name, None) or place
    if isinstance(place, sqlite3.Connection):
        return place
    if all(hasattr(place, name) for name in NEEDED):
        return DriverConnection(place)  # type: ignore[return-value]
    if hasattr(place, "cursor"):
        kind = f"{type(place).__module__}.{type(place).__qualname__}"
        way = "rows of others go into a file by `add_frame`"
        if kind.startswith("apsw"):  # it has an SQLite of its own: two in a process end one another's locks on a file
            way = "or in another process the path of its file"
        raise InvalidParameter(
            f"a connection of {kind} has another interface than sqlite3; "
            f"give an open one of sqlite3, pysqlite3 or sqlcipher3; {way}"
        )
    return None


def connection_maker(place: Any, timeout: float) -> Callable[[], Any] | None:
    """What makes connections: a function of the host's, or one for a URI; None for a path."""
    if callable(place):
        return place  # type: ignore[no-any-return]
    if not (isinstance(place, str) and place.startswith(URI)):
        return None
    # A file that is not there would be made, and be empty.
    address = place if ":memory:" in place or "mode=" in place else f"{place}{'&' if '?' in place else '?'}mode=rw"
    return lambda: sqlite3.connect(address, timeout, uri=True, isolation_level=None)


def as_pythons(error: Exception) -> Exception:
    """An exception of a driver as that of `sqlite3` of the same name; others as they are."""
    own = getattr(sqlite3, type(error).__name__, None)
    if not (isinstance(own, type) and issubclass(own, (sqlite3.Error, sqlite3.Warning))):
        return error
    translated: Exception = own(*error.args)
    for name in ("sqlite_errorcode", "sqlite_errorname"):
        if hasattr(error, name):
            setattr(translated, name, getattr(error, name))
    return translated


class _Driver:
    """An object of a driver, `raw`, whose attributes are read and set as they are; what CALLS raise is Python's."""

    raw: Any

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        own = getattr(self.raw, name)
        return partial(self._call, own) if name in CALLS else own

    def __setattr__(self, name: str, value: Any) -> None:
        if name in OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self.raw, name, value)

    def _call(self, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            answer = call(*arguments)
        except Exception as error:
            raise as_pythons(error) from error
        return self if answer is self.raw else answer


class DriverCursor(_Driver):
    """A cursor of another driver."""

    @property
    def connection(self) -> "DriverConnection":
        """The connection, as this module shows it."""
        return DriverConnection(self.raw.connection)

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self.raw
        except Exception as error:
            raise as_pythons(error) from error


class DriverConnection(_Driver):
    """A connection of another driver."""

    def cursor(self, *factory: Any) -> DriverCursor:
        """A cursor; a class for it is that of Python's driver, and is ignored."""
        return DriverCursor(self._call(self.raw.cursor))

    def execute(self, *arguments: Any) -> Any:
        """Execute a statement with a new cursor; returns the cursor."""
        return self.cursor().execute(*arguments)
