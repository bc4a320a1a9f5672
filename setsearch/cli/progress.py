"""Progress on stderr: one line that changes on a terminal, else a line every ten seconds."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

LOOK_EVERY = 100  # items between two looks at the clock


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


class _Line:
    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._step = 1.0 if self._is_terminal else 10.0
        self._start = self._shown = time.monotonic()

    def show(self, text: str) -> None:
        """Show a text, unless the last one is too recent."""
        if time.monotonic() - self._shown >= self._step:
            self._shown = time.monotonic()
            line = f"{text} in {self._shown - self._start:.0f} s"
            end = "" if self._is_terminal else "\n"
            print(f"\r{line}" if self._is_terminal else line, end=end, file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the line on a terminal."""
        if self._is_terminal and self._shown > self._start:
            print(file=sys.stderr)
