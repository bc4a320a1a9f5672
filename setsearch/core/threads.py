"""Threads, where the platform starts any: WebAssembly, as in a browser, does not."""

import ctypes
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import chain, islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from setsearch.errors import InvalidParameter

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
U = TypeVar("U")

VARIABLE = "SETSEARCH_THREADS"  # of the environment: how many threads write, derive, and ask the core
MOST = 64  # threads
DEFAULT = 0 if sys.platform in ("emscripten", "wasi") else 2


def threads() -> int:
    """How many threads work beside the one that asks, which does it with 0. Raises InvalidParameter."""
    told = os.environ.get(VARIABLE, str(DEFAULT))
    if not told.isdecimal() or int(told) > MOST:
        raise InvalidParameter(f"{VARIABLE} is a number of threads from 0 to {MOST}, not {told!r:.40}")
    return int(told)


def side_by_side(function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
    """What a function gives for each item, in order, worked out in `threads()` threads.

    They are a few items ahead of who takes the results, so that no more of these are in memory. One item is worked on
    by whoever asks.
    """
    others = iter(items)
    first = [*islice(others, 2)]
    if len(first) < 2:
        yield from map(function, first)
        return
    with workers() as give:
        ahead = deque[Callable[[], U]]()
        for item in chain(first, others):
            ahead.append(give(partial(function, item)))
            if len(ahead) > threads():
                yield ahead.popleft()()
        while ahead:
            yield ahead.popleft()()


def give_back() -> None:
    """Give the memory of arrays that are gone back to the system, where the C library would keep it (glibc)."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """The function of glibc; None for another C library."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None


@contextmanager
def workers(most: int = MOST) -> Iterator[Callable[[Callable[[], U]], Callable[[], U]]]:
    """A function that gives work to `threads()` threads, or `most`; it returns one that waits for what comes of it.

    Where no thread starts, whoever waits does the work: at the end of the interpreter, where a process may have no more
    of them, or has little address space. What nobody has begun when the block ends is left out. An executor of Python
    would refuse work once the main thread has ended, while other threads write.
    """
    waiting, begun = SimpleQueue[Callable[[], None] | None](), list[threading.Thread]()

    def give(work: Callable[[], U]) -> Callable[[], U]:
        if len(begun) < min(threads(), most) and not _is_narrow():
            begun.extend(_begun(partial(_work_off, waiting)))
        if not begun:
            return cache(work)  # done when it is waited for, and once
        from concurrent.futures import Future  # few processes need it

        future = Future[U]()
        waiting.put(partial(_do, future, work))
        return future.result

    try:
        yield give
    finally:
        with suppress(Empty):
            while True:
                waiting.get_nowait()
        waiting.put(None)
        for thread in begun:
            thread.join()


def _is_narrow() -> bool:
    """Whether address space is limited: each thread takes 64 MB of it for its objects (glibc).

    One that gets none asks the system for each object, and Python 3.11 may try for ever to tell that it got none.
    """
    try:
        import resource
    except ImportError:  # another system than POSIX
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _work_off(waiting: "SimpleQueue[Callable[[], None] | None]") -> None:
    """Do what waits, until it is None, which is for all: Ctrl-C may leave a thread that nobody has counted."""
    for work in iter(waiting.get, None):
        work()
        del work  # what it was given may be large
    waiting.put(None)


def _do(future: "Future[U]", work: Callable[[], U]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def _begun(work: Callable[[], None]) -> list[threading.Thread]:
    """A thread that works; none where it cannot start. At the end of the interpreter nobody waits for it."""
    try:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
    except RuntimeError:
        return []
    return [thread]


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Let `work` run in a thread while a block runs, then set its event and wait. Nothing, where no thread starts."""
    is_over, begun = threading.Event(), list[threading.Thread]()
    try:
        begun += _begun(partial(work, is_over))  # which Ctrl-C may end
        yield
    finally:
        is_over.set()
        for thread in begun:
            thread.join()
