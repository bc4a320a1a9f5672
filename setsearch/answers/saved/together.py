"""Saved sets that were asked together: what each says of all items beside rivals and within wholes (rivals.py)."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.answers.saved.heights import Highest
from setsearch.answers.saved.questions import Questions
from setsearch.answers.saved.rivals import Flags, taken_by
from setsearch.answers.saved.standing import Several, Standing, Weighed
from setsearch.arrays import Floats
from setsearch.errors import SetsearchError
from setsearch.memory.fields import Fields
from setsearch.search.examples import Examples

MOST_BYTES = 1 << 27  # of scores of all items that are kept of sets
PLAIN, WITH_PARTS = 2, 8  # arrays of all items that a question keeps, one with vectors or neighbors


class Row(NamedTuple):
    """What a set says of all items beside its rivals, `(n_ids,)` each, as Coupled; `scores` are those of itself alone.

    `who` are places among `names`.
    """

    standing: Standing
    scores: Floats
    heights: Floats
    best: Floats
    who: npt.NDArray[np.signedinteger[Any]]
    members: Flags
    taken: Flags
    fits: Flags
    belong: Flags
    names: Sequence[str]

    def taking(self) -> Floats:
        """What the best rivals take from the scores, in nats."""
        return taken_by(self.best, self.standing.weighed.scale, self.standing.weighed.unit)


class Head(NamedTuple):
    """What is kept of each set that was asked."""

    fields: Fields
    weighed: Weighed
    untold: str | None
    examples: Examples


class Together:
    """Sets that were asked together; each is beside those that answer by the same fields.

    As many standings are kept as MOST_BYTES hold; other sets are asked again. `problems`: why sets have no answer.
    """

    def __init__(self, several: Several) -> None:
        self._questions, self._every = Questions(several, sums=True), sorted(several.marks)
        self._places = {name: place for place, name in enumerate(self._every)}
        self._highest: dict[tuple[Hashable, str], Highest] = {}
        self._kept, self._size, self._holding = dict[str, Standing](), 0, dict[str, Flags]()
        found = {name: self._noted(name, own) for name, own in self._questions.each(self._every)}
        outcomes = [(name, found[name]) for name in self._every]
        self.problems = {name: own for name, own in outcomes if isinstance(own, SetsearchError)}
        self.heads = {name: own for name, own in outcomes if not isinstance(own, SetsearchError)}
        self.sources = {name: own.fields.first.source for name, own in self.heads.items()}  # by what they answer

    def _noted(self, name: str, own: Standing | SetsearchError) -> Head | SetsearchError:
        """What is known of a set; its heights are beside those of others."""
        if isinstance(own, SetsearchError):
            return own
        fields, weights, groups = own.fields, own.weights, self._questions.several.groups
        if (group := groups.of.get(name)) in groups.exclusive:
            heights, key = own.heights_of(own.scores()), (fields.first.source, group)
            if key not in self._highest:
                self._highest[key] = Highest(len(heights), groups.rivals_of_kin(group, self._every))
            self._highest[key].add(self._places[name], heights)
        size = (WITH_PARTS if weights.has_parts else PLAIN) * weights.own_base.items.nbytes
        if self._size + size <= MOST_BYTES:
            self._kept[name] = own
            self._size += size
        return Head(fields, own.weighed, own.untold, weights.examples)

    def asked_by(self, several: Several) -> "Together":
        """The same in another transaction, of the same content and sets."""
        self._questions.several = several
        return self

    def row(self, name: str) -> Row:
        """What a set says of all items."""
        row, groups = self._beside_rivals(name), self._questions.several.groups
        source = row.standing.fields.first.source
        for whole in groups.wholes(name):
            if self.sources.get(whole) == source and self.heads[whole].weighed.is_told:
                if whole not in self._holding:
                    own = self._beside_rivals(whole)
                    self._holding[whole] = own.members | own.belong
                row.fits[:] &= self._holding[whole]
        row.belong[:] &= row.fits
        return row

    def _beside_rivals(self, name: str) -> Row:
        """The same, whatever the wholes of the set hold."""
        standing, groups = self._kept.get(name) or self._questions.again(name), self._questions.several.groups
        scores, seeds, source = standing.scores(), standing.weights.examples.seeds, standing.fields.first.source
        heights, nothing = standing.heights_of(scores), np.full(len(scores), -np.inf)
        highest = self._highest.get((source, groups.of.get(name, "")))
        nobody = nothing, np.full(len(scores), -1)
        best, who = nobody if highest is None else highest.best(self._places[name])
        members, taken = np.zeros((2, len(scores)), bool)
        members[seeds] = True
        for rival in groups.rivals(name):
            taken[self.heads[rival].examples.seeds if self.sources.get(rival) == source else []] = True
        fits = (heights > best) & ~taken
        belong = fits & (scores > standing.weighed.line)
        return Row(standing, scores, heights, best, who, members, taken, fits, belong, self._every)
