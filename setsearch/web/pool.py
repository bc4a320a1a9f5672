"""Questions to an index in a small thread pool, with a time limit and a bounded queue."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import setsearch
from setsearch.errors import DatabaseError, LockedDatabase, ReadOnlyDatabase, SetsearchError
from setsearch.index import Index

T = TypeVar("T")

WORKERS = 2  # more would wait for each other in the interpreter
QUEUE = 200  # questions that may wait; more are refused at once


class Unavailable(SetsearchError):
    """The question cannot be answered now, but later."""


class QuestionPool:
    """Asks the index of a database, which it opens when first needed. One for each application."""

    def __init__(self, place: str | Path | Index, seconds: float, workers: int | None = None) -> None:
        self.place = place if not isinstance(place, Index) else "the database"
        self.seconds = seconds
        self._lent = isinstance(place, Index)
        self._index = place if isinstance(place, Index) else None
        self._pool = ThreadPoolExecutor(workers or WORKERS, "setsearch")
        self._free = threading.BoundedSemaphore(QUEUE)

    async def ask(self, question: Callable[[Index], T]) -> T:
        """The answer; raises Unavailable if it takes too long or too many wait, else what the question raises.

        A question that takes too long continues in its thread, and what it derives is cached for the next time.
        """
        if not self._free.acquire(blocking=False):
            raise Unavailable(f"{QUEUE} questions wait already; ask again in a moment")
        future = self._pool.submit(self._answer, question)
        future.add_done_callback(self._release)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError as error:
            raise Unavailable(
                f"the answer takes longer than {self.seconds:g} seconds; ask again in a moment"
            ) from error

    def _release(self, future: "Future[T]") -> None:
        self._free.release()

    def _answer(self, question: Callable[[Index], T]) -> T:
        try:
            if self._index is None:
                self._index = setsearch.open(self.place)
            return question(self._index)
        except (LockedDatabase, ReadOnlyDatabase):
            raise
        except DatabaseError:
            if not self._lent:
                self._index = None  # it may be another file by the next question
            raise
