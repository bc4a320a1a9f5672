"""Questions that go on together: each stops where the core is to be asked, which then answers many in all threads.

Python finds the seeds of the next ones, and makes hits of the last ones, meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Generic, TypeVar

from setsearch.core import question
from setsearch.core.question import Answered, Asking, Question
from setsearch.core.threads import threads, workers
from setsearch.errors import DatabaseError, SetsearchError

T = TypeVar("T")

AT_ONCE = 128  # questions that are asked at once
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


def together(askings: Iterable[Asking[T]]) -> Iterator[T | SetsearchError]:
    """The outcome of each question, in order; an error in the place of one that has none. Raises DatabaseError."""
    with workers() as give:
        before = list[_Going[T]](), list[tuple[Sequence[_Going[T]], Callable[[], Any]]]()
        for going in _windows(map(_Going, askings)):
            work = [(part, partial(question.ask_all, [_asked(own) for own in part])) for part in _parts(going)]
            given = [(part, give(ask) if len(part) > FEW else ask) for part, ask in work]
            yield from _finished(*before)
            before = going, given
        yield from _finished(*before)


def _windows(every: Iterable[_Going[T]]) -> Iterator[list[_Going[T]]]:
    """Questions that are asked at once."""
    going, size = list[_Going[T]](), 0
    for own in every:
        going.append(own)
        size += own.asked.sums.nbytes if own.asked is not None and own.asked.sums is not None else 0
        if len(going) == AT_ONCE or size >= MOST_BYTES:
            yield going
            going, size = [], 0
    yield going


def _parts(going: Iterable[_Going[T]]) -> Iterator[Sequence[_Going[T]]]:
    """Questions to the same fields, in a part for each thread."""
    for _, same in groupby((own for own in going if own.asked is not None), lambda own: _asked(own).fields):
        every = [*same]
        size = -(-len(every) // max(threads(), 1))
        yield from (every[first : first + size] for first in range(0, len(every), size))


def _finished(
    going: Sequence[_Going[T]], given: Iterable[tuple[Sequence[_Going[T]], Callable[[], Any]]]
) -> Iterator[T | SetsearchError]:
    """The outcomes of questions, whose answers are on their way."""
    for part, answers in given:
        for own, answer in zip(part, answers(), strict=True):
            own.go_on(answer)
            while own.asked is not None:
                own.go_on(*question.ask_all([own.asked]))
    yield from (own.outcome for own in going)


def _asked(own: _Going[T]) -> Question:
    assert own.asked is not None
    return own.asked
