"""Progress on stderr: one line that changes on a terminal, else a line every ten seconds."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from setsearch.cli.messages import is_quiet
from setsearch.core.threads import beside

T = TypeVar("T")

STEP, STEP_OF_LINES = 1.0, 10.0  # seconds between two texts on a terminal, and elsewhere
ERASE_REST = "\033[K"  # of the line

Follow = Callable[[Iterable[Any]], Iterator[Any]]


@contextmanager
def tell(what: str, share: Callable[[], float | None] = lambda: None) -> Iterator[Follow]:
    """Tell what a block does, how far it is, and for how long, while it runs.

    Gives a function that follows items, and yields them. Of items of a known number their share is told; of others
    `share`, where it knows one, and how many there were.
    """
    line = _Line(what, share)
    try:
        with nullcontext() if is_quiet() else beside(line.run):
            yield line.follow
    finally:
        line.end()


class _Line:
    def __init__(self, what: str, share: Callable[[], float | None]) -> None:
        self._what, self._share = what, share
        self._is_terminal = sys.stderr.isatty()
        self._begin, self._is_shown = time.monotonic(), False
        self._count, self._total = 0, 0

    def follow(self, items: Iterable[T]) -> Iterator[T]:
        """Count the items that pass."""
        self._count, self._total = 0, len(items) if isinstance(items, Sized) else 0
        for item in items:
            yield item
            self._count += 1

    def run(self, done: threading.Event) -> None:
        """Show how far it is until the block ends."""
        while not done.wait(STEP if self._is_terminal else STEP_OF_LINES):
            text = f"{self._what}{self._state()} for {time.monotonic() - self._begin:.0f} s"
            begin, end = ("\r", ERASE_REST) if self._is_terminal else ("", "\n")
            print(f"{begin}{text}", end=end, file=sys.stderr, flush=True)
            self._is_shown = True

    def end(self) -> None:
        if self._is_terminal and self._is_shown:
            print(file=sys.stderr)

    def _state(self) -> str:
        if self._total:
            return f": {self._count / self._total:.0%}"
        share = self._share()
        count = f"{self._count:,}" * (self._count > 0)
        known = count if share is None else f"{share:.0%}" + f", {count}" * (self._count > 0)
        return f": {known}" if known else ""
