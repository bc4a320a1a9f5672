"""Turns: threads of one process write to a file one after another, in the order in which they came.

SQLite lets one of those that wait go on by chance, so that of many busy threads some would wait in vain: of eight that
write all the time some have 1 of 500 writes, and wait five seconds; here each has as many, and waits a fourth of one.
"""

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from setsearch.errors import LockedDatabase


class Turns:
    """A queue of threads. A process that was forked has one of its own."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._guard = threading.Lock()
        self._waiting = deque[threading.Event]()  # the first one has its turn
        self._process = os.getpid()

    @contextmanager
    def take(self, name: object, seconds: float) -> Iterator[None]:
        """Wait for the turn of this thread, and have it within the block; raises LockedDatabase."""
        if self._process != os.getpid():  # a thread that this process lacks may have had its turn
            self._start()
        own = threading.Event()
        with self._guard:
            self._waiting.append(own)
            self._waiting[0].set()
        try:
            if not own.wait(seconds):
                raise locked(name, seconds)
            yield
        finally:
            with self._guard:
                self._waiting.remove(own)
                if self._waiting:
                    self._waiting[0].set()


_of_files = WeakValueDictionary[str, Turns]()


def turns_of(path: str) -> Turns:
    """Those of all indexes of this process that have a file open."""
    return _of_files.setdefault(path, Turns())


def locked(name: object, seconds: float, problem: str = "locked by another writer") -> LockedDatabase:
    """The error of a writer that waited for so long."""
    hint = "try again when it has finished, or let `timeout` be longer"
    return LockedDatabase(f"{name} is {problem} (waited {seconds:g} s); {hint}")
