"""Questions to an index in a small thread pool, with a time limit and a bounded queue. For servers."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import setsearch
from setsearch.errors import (
    LENT,
    Cancelled,
    CorruptIndex,
    DatabaseError,
    Fault,
    LockedDatabase,
    ReadOnlyDatabase,
    SetsearchError,
)
from setsearch.index import Index
from setsearch.sqlite.connections import TIME_LIMIT
from setsearch.sqlite.limits import Cancellation

T = TypeVar("T")

WORKERS = 2  # more would wait for each other in the interpreter
MOST_CHECKED = 10_000_000  # entries that a check in the background holds in memory
SHARE_OF_REST = 9  # for each second of deriving
BETWEEN_CHECKS = 3600.0  # seconds
QUEUE = 200  # questions that may wait; more are refused at once


class Unavailable(SetsearchError):
    """The question cannot be answered now, but later."""


class QuestionPool:
    """Asks the index of a database, which it opens when first needed. One for each application.

    `seconds` is how long an answer may take, `time_limit` how long SQL of a visitor's may.
    """

    def __init__(
        self,
        place: str | Path | Index | Callable[[], Any],
        seconds: float,
        workers: int | None = None,
        time_limit: float = TIME_LIMIT,
        read_only: bool = False,
    ) -> None:
        self.place = place if not isinstance(place, Index) else LENT
        self.seconds = seconds
        self.time_limit = time_limit
        self.read_only = read_only
        self._lent = isinstance(place, Index)
        self._index = place if isinstance(place, Index) else None
        self._pool = ThreadPoolExecutor(workers or WORKERS, "setsearch")
        self._free = threading.BoundedSemaphore(QUEUE)

    async def ask(self, question: Callable[[Index], T]) -> T:
        """The answer; raises Unavailable if it takes too long or too many wait, else what the question raises.

        A question that takes too long continues in its thread, and what it derives is cached for the next time. If the
        task that asks is cancelled, the question is stopped.
        """
        if not self._free.acquire(blocking=False):
            raise Unavailable(f"{QUEUE} questions wait already; ask again in a moment")
        cancellation = Cancellation()
        future = self._pool.submit(self._answer, question, cancellation)
        future.add_done_callback(lambda _: self._free.release())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError as error:
            raise Unavailable(
                f"the answer takes longer than {self.seconds:g} seconds; ask again in a moment"
            ) from error
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    async def start(self, work: Callable[[Index, Callable[[], None]], object]) -> None:
        """Begin a work of minutes in a thread of its own; returns when it says that it has, and goes on until its end.

        So does one that begins later than `seconds`. Raises Unavailable, and what the work raises before.
        """
        begun = Future[None]()

        def run() -> None:
            """Do the work with an index of its own, unless one was lent."""
            try:
                with nullcontext(self._index) if self._lent and self._index else self._open() as index:
                    work(index, lambda: begun.set_result(None))
            except BaseException as error:
                if not begun.done():
                    begun.set_exception(error)
                elif not isinstance(error, SetsearchError):  # else the work has told it
                    raise

        threading.Thread(target=run, name="setsearch-work", daemon=True).start()
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(begun)), self.seconds)
        except TimeoutError as error:
            raise Unavailable(f"it did not begin within {self.seconds:g} seconds; ask again in a moment") from error

    def _open(self) -> Index:
        return setsearch.open(self.place, time_limit=self.time_limit, read_only=self.read_only)

    def _answer(self, question: Callable[[Index], T], cancellation: Cancellation) -> T:
        try:
            if self._index is None:
                self._index = self._open()
            with cancellation:
                return question(self._index)
        except (LockedDatabase, ReadOnlyDatabase):
            raise
        except DatabaseError:
            if not self._lent:
                self._index = None  # it may be another file by the next question
            raise


def watch_damage(place: str | Path | Callable[[], Any], tell: Callable[[str], object]) -> threading.Thread:
    """Check a whole index in the background, now and every hour: not all damage shows where it is read.

    `tell` gets a line for each problem. An index of more than MOST_CHECKED entries is left to `setsearch check`.
    """

    def look() -> None:
        while True:
            try:
                for problem in _problems(place):
                    tell(f"{place} is damaged: {problem}; `setsearch check` may repair it")
            except Fault as error:
                tell(str(error))
            time.sleep(BETWEEN_CHECKS)

    thread = threading.Thread(target=look, name="setsearch-check", daemon=True)
    thread.start()
    return thread


def keep_fresh(place: str | Path, seconds: float, tell: Callable[[str], object]) -> threading.Thread:
    """Apply the changes of synced tables in the background, and derive what is behind, every so many seconds.

    After each time it rests for at least SHARE_OF_REST times as long as it worked. `tell` gets each new problem.
    """

    def look() -> None:
        told = ""
        while True:
            start = time.monotonic()
            try:
                with setsearch.open(place) as index:
                    index.refresh("now")
                told = ""
            except SetsearchError as error:
                if str(error) != told:
                    tell(f"{place} is not kept fresh: {error}")
                told = str(error)
            time.sleep(max(seconds, SHARE_OF_REST * (time.monotonic() - start)))

    thread = threading.Thread(target=look, name="setsearch-fresh", daemon=True)
    thread.start()
    return thread


def _problems(place: str | Path | Callable[[], Any]) -> list[str]:
    try:
        with setsearch.open(place) as index:
            postings = sum(reading["posting_count"] for reading in index.info()["readings"])
            return index.check() if postings <= MOST_CHECKED else []
    except CorruptIndex as error:
        return [str(error)]
    except Fault:
        raise
    except SetsearchError:
        return []  # no index yet, or locked: those who ask are told


async def until_gone(receive: Callable[[], Awaitable[MutableMapping[str, Any]]], answer: Awaitable[T]) -> T:
    """An answer to a client; cancels it, and raises Cancelled, if the client goes before (ASGI's http.disconnect)."""

    async def client_is_gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            await asyncio.sleep(0)

    work, gone = asyncio.ensure_future(answer), asyncio.ensure_future(client_is_gone())
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise Cancelled("the client has gone")
    finally:
        for task in (work, gone):
            task.cancel()
        await asyncio.wait({work, gone})
