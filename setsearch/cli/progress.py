"""Progress on stderr: one line that changes on a terminal, else a line every ten seconds."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from setsearch.core.threads import beside

T = TypeVar("T")

LOOK_EVERY = 100  # items between two looks at the clock
STEP, STEP_OF_LINES = 1.0, 10.0  # seconds between two texts on a terminal, and elsewhere


def count_items(items: Iterable[T]) -> Iterator[T]:
    """Count the items that pass."""
    line = _Line()
    for count, item in enumerate(items, 1):
        yield item
        if count % LOOK_EVERY == 0:
            line.show(f"{count:,} read")
    line.end()


def count_steps(steps: Sequence[T]) -> Iterator[T]:
    """Count the steps of a known number that pass."""
    line = _Line()
    for count, step in enumerate(steps, 1):
        yield step
        line.show(f"{count} of {len(steps)}")
    line.end()


@contextmanager
def tell_time(what: str) -> Iterator[None]:
    """Tell what a block does, and for how long, while it runs."""
    line = _Line()

    def tell(done: threading.Event) -> None:
        """Show the time until the block ends."""
        while not done.wait(line.step):
            line.show(what, "for")

    try:
        with beside(tell):
            yield
    finally:
        line.end()


class _Line:
    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self.step = STEP if self._is_terminal else STEP_OF_LINES
        self._start = self._shown = time.monotonic()

    def show(self, text: str, since: str = "in") -> None:
        """Show a text and the seconds since the start, unless the last one is too recent."""
        if time.monotonic() - self._shown >= self.step:
            self._shown = time.monotonic()
            line = f"{text} {since} {self._shown - self._start:.0f} s"
            end = "" if self._is_terminal else "\n"
            print(f"\r{line}" if self._is_terminal else line, end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line on a terminal."""
        if self._is_terminal and self._shown > self._start:
            print(file=sys.stderr)
