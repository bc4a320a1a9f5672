"""The question of a saved set: its examples weighed, what turns scores into heights, and where the set ends."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from setsearch.answers.reading import Reading
from setsearch.answers.results import SHARE_LITTLE
from setsearch.answers.saved.groups import Groups
from setsearch.answers.saved.heights import heights_of
from setsearch.answers.word_notes import by_documents_note
from setsearch.arrays import Floats
from setsearch.core.question import Asking
from setsearch.errors import NoSeeds, UnknownItem
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.options import has_examples
from setsearch.search.cutoff import LEADERS, floor_of, n_leading, tells, threshold
from setsearch.search.weights import SeedWeights

Given = tuple[Sequence[str] | dict[str, float], Sequence[str]]  # accepted items, perhaps weighted, and rejected ones
Options = Mapping[str, Any]
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Weighed(NamedTuple):
    """A set: what turns sums of weights into scores, and where it ends; no line is NaN.

    `floor` and `unit` turn scores into heights.
    """

    scale: float
    constant: float
    line: float
    is_told: bool
    floor: float
    unit: float


class Standing(NamedTuple):
    """The question of a set, and the items that it leaves out: its members."""

    fields: Fields
    weights: SeedWeights
    excluded: list[int]
    weighed: Weighed
    taken: Floats | None  # as Wanted has it
    gone: Sequence[str] = ()  # members that the index has no longer
    untold: str | None = None  # why it does not tell what belongs

    def scores(self) -> Floats:
        """The scores of all items, `(n_ids,)`."""
        scores: Floats = self.weights.scores() + self.weights.constant
        return scores

    def heights_of(self, scores: Floats) -> Floats:
        """The heights of all items, by their scores; of rejected ones there is none: -inf."""
        heights = heights_of(scores, self.weighed.floor, self.weighed.unit)
        heights[[*{*self.excluded}.difference(self.weights.examples.seeds)]] = -np.inf
        return heights


class Several(NamedTuple):
    """Sets, with all their rivals, as they are asked: `options` are those of the model, `more` those of single sets.

    `told` is called after each question, and `pause` after those of one pass, too.
    """

    reading: Reading
    fields_by: FieldsBy
    marks: Mapping[str, Given]
    groups: Groups
    options: Options = NOTHING
    more: Mapping[str, Options] = NOTHING
    told: Callable[[], object] = lambda: None
    pause: Callable[[], object] = lambda: None

    def ask(
        self, name: str, options: Options = NOTHING, sums: bool = False, taken: Floats | None = None
    ) -> Asking[Standing]:
        """The question of one set, also with other options."""
        how = {**self.options, **self.more.get(name, NOTHING), **options}
        return _weigh_known(self.reading, self.fields_by, self.marks[name], how, sums, taken)


def _weigh_known(
    reading: Reading, fields_by: FieldsBy, marks: Given, options: Options, sums: bool, taken: Floats | None = None
) -> Asking[Standing]:
    """The question of a set, of the members that the index has; raises QueryError."""
    try:
        return (yield from _weigh(reading, fields_by, marks, options, sums, taken))
    except UnknownItem:
        known = reading.candidates(fields_by)
        gone = [item for item in chain(*marks) if not any(own.knows(item) for own in known)]
        if not gone or isinstance(marks[0], dict):
            raise
    accepted, rejected = (tuple(item for item in side if item not in {*gone}) for side in marks)
    if not accepted:
        raise NoSeeds("none of its accepted items is in the index; accept one first")
    known_ones = yield from _weigh(reading, fields_by, (accepted, rejected), options, sums, taken)
    return known_ones._replace(gone=gone)


def _weigh(
    reading: Reading, fields_by: FieldsBy, marks: Given, options: Options, sums: bool, taken: Floats | None
) -> Asking[Standing]:
    if not has_examples(marks[0], options):
        raise NoSeeds("it has no accepted item; accept one first")
    asked: Any = {"exclude": marks[1], "cut": "mark", "explain": True, **options}
    plan = reading.plan(1, asked)
    seeds = marks[0] if isinstance(marks[0], dict) else list(marks[0])
    fields, weights, excluded, cannot_tell = yield from reading.weigh(fields_by, seeds, plan, taken, sums)
    leaders = weights.best_scores(excluded, n_leading(fields)) + weights.constant
    line, is_told, floor, unit = np.nan, False, 0.0, 0.0
    if len(leaders):
        floor = floor_of(fields, leaders)
        unit = float(np.mean(leaders[:LEADERS])) - floor
    if len(leaders) and plan.cut:
        line = threshold(fields, weights, leaders)
        is_told = not cannot_tell and tells(fields, weights, leaders, excluded, reading.defaults)
    found = Weighed(weights.scale, weights.constant, line, is_told, floor, unit)
    why = by_documents_note(fields) if cannot_tell else SHARE_LITTLE if weights.examples.count > 1 else None
    return Standing(fields, weights, excluded, found, taken, untold=None if is_told else why)
