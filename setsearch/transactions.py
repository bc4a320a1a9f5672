"""Transactions: on our own connection, or within what the host application does on one that it lends us.

A connection that was lent is given back as it was: inside the host's transaction we use a savepoint and leave commit
and rollback to the host; outside we begin and end a transaction of our own; its row factory is not touched.
"""

import sqlite3
from types import TracebackType

from setsearch.connections import Connections
from setsearch.errors import MEND, CorruptIndex, SetsearchError
from setsearch.guards import is_damaged

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
