"""What a door asks: examples of a reading, or those of a saved set and perhaps more, beside the rivals of the set."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from setsearch.answers.answer import Hits
from setsearch.answers.numeric import NumericReading
from setsearch.answers.results import Explanation
from setsearch.answers.sets import AnyReading, ItemSet
from setsearch.arrays import Floats
from setsearch.errors import UsageError
from setsearch.memory.fields import Fields
from setsearch.search.request import Seeds

T = TypeVar("T")


class Question(NamedTuple):
    """Examples, and whom they are asked: `own` is the saved set whose members are among them, if there is one."""

    reading: AnyReading
    own: ItemSet | None
    seeds: Seeds
    exclude: Sequence[str]

    @classmethod
    def of(cls, reading: AnyReading, seeds: Sequence[str], exclude: Sequence[str], own: ItemSet | None) -> "Question":
        """Some examples, with the members of a set that the index still has; the others are in its `gone`."""
        accepted, rejected = ([], []) if own is None else own.present()
        return cls(reading, own, [*accepted, *seeds], [*exclude, *rejected])

    def expand(self, k: int | None = 10, **options: Any) -> Hits:
        """As `Reading.expand`, or `ItemSet.ask`."""
        ask: Any = self.reading.expand if self.own is None else self.own.ask
        hits: Hits = ask(self.seeds, k, exclude=self.exclude, **options)
        return hits

    def explain(self, item: str, **options: Any) -> Explanation:
        """As `Reading.explain`, or `ItemSet.explain`."""
        if self.own is not None:
            return self.own.explain(item, self.seeds, exclude=self.exclude, **options)
        reading: Any = self.reading
        found: Explanation = reading.explain(self.seeds, item, exclude=self.exclude, **options)
        return found

    def scored(self, answer: Callable[[Fields, Floats], T], **options: Any) -> T:
        """What `answer` makes of the fields and the scores of all items, as `Reading.scores` has them."""
        if isinstance(self.reading, NumericReading):
            raise UsageError(f"{self.reading.name} have numbers, and no scores of all items; expand them")
        if self.own is not None:
            return self.own.scored(answer, self.seeds, exclude=self.exclude, **options)
        with self.reading.scores(self.seeds, exclude=self.exclude, **options) as found:
            return answer(*found)
