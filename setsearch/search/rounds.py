"""Many questions in rounds: each goes on up to where it asks the core, which then answers a round in all threads.

Python finds the seeds of the next round, and makes hits of the last one, meanwhile.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Generic, TypeVar

from setsearch.core import question
from setsearch.core.question import Answered, Asking, Question
from setsearch.core.threads import threads, workers
from setsearch.errors import DatabaseError, SetsearchError

T = TypeVar("T")

AT_FIRST = 32  # questions that are asked at once, then twice as many: threads need not wait for more of them
AT_ONCE = 128  # the most: of so few hits are made after the core is done
FEW = 3  # that take less time than the start of a thread
MOST_BYTES = 1 << 26  # of sums of all items that these want


class _Going(Generic[T]):
    """A question on its way: what it asks the core, or at last its outcome."""

    def __init__(self, asking: Asking[T]) -> None:
        self._asking = asking
        self.outcome: T | SetsearchError
        self.asked: Question | None = None
        self.go_on(None)

    def go_on(self, answer: Answered) -> None:
        """Go on with an answer. Raises DatabaseError."""
        try:
            self.asked = self._asking.send(answer)
        except DatabaseError:
            raise
        except StopIteration as end:
            self.asked, self.outcome = None, end.value
        except SetsearchError as error:
            self.asked, self.outcome = None, error


def in_rounds(askings: Iterable[Asking[T]]) -> Iterator[T | SetsearchError]:
    """The outcome of each question, in order; an error in the place of one that has none. Raises DatabaseError."""
    every, going, again = map(_Going, askings), deque[_Going[T]](), list[_Going[T]]()
    before, most = list[tuple[Sequence[_Going[T]], Callable[[], Any]]](), AT_FIRST
    with workers() as give:
        while True:
            new = _next(every, again, min(most, AT_ONCE))
            going.extend(new)
            work = [(part, partial(question.ask_all, [_asked(own) for own in part])) for part in _parts([*again, *new])]
            given = [(part, give(ask) if len(part) > FEW else ask) for part, ask in work]
            again = _answered(before)
            while going and going[0].asked is None:
                yield going.popleft().outcome
            if not (given or again or new):
                return
            before, most = given, 2 * most


def _next(every: Iterator[_Going[T]], again: Sequence[_Going[T]], most: int) -> list[_Going[T]]:
    """The questions that are asked at once with those that ask again, so many together at most."""
    new, size = list[_Going[T]](), sum(map(_bytes, again))
    while len(again) + len(new) < most and size < MOST_BYTES and (own := next(every, None)) is not None:
        new.append(own)
        size += _bytes(own)
    return new


def _parts(going: Iterable[_Going[T]]) -> Iterator[Sequence[_Going[T]]]:
    """Questions to the same fields, in a part for each thread."""
    for _, same in groupby((own for own in going if own.asked is not None), lambda own: _asked(own).fields):
        every = [*same]
        size = -(-len(every) // max(threads(), 1))
        yield from (every[first : first + size] for first in range(0, len(every), size))


def _answered(given: Iterable[tuple[Sequence[_Going[T]], Callable[[], Any]]]) -> list[_Going[T]]:
    """Let questions go on, whose answers are on their way; those that ask again."""
    for part, answers in given:
        for own, answer in zip(part, answers(), strict=True):
            own.go_on(answer)
    return [own for part, _ in given for own in part if own.asked is not None]


def _bytes(own: _Going[T]) -> int:
    """Of the sums of all items that a question wants."""
    return own.asked.sums.nbytes if own.asked is not None and own.asked.sums is not None else 0


def _asked(own: _Going[T]) -> Question:
    assert own.asked is not None
    return own.asked
