"""The questions of some saved sets, many at once, where rivals say which items join.

Which items join few examples for a second pass (search/passes.py) is chosen by the score beside rivals (rivals.py), of
one pass without what rejected items teach; what another set of the group has does not join.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from setsearch.answers.saved.heights import Highest
from setsearch.answers.saved.joiners import FirstPass, Passes
from setsearch.answers.saved.rivals import OTHERS
from setsearch.answers.saved.standing import NOTHING, Several, Standing
from setsearch.arrays import Floats
from setsearch.core.question import Asking, now
from setsearch.errors import QueryError, SetsearchError, UsageError
from setsearch.memory.fields import Fields
from setsearch.search.passes import EXAMPLES, Weighing, how_many_join
from setsearch.search.rounds import in_rounds

ONE_PASS = {"feedback": 0.0, "gamma": 0.0, "cut": None, "explain": False}  # what rejected items teach comes later
MOST_JOINED = EXAMPLES // 2  # of so many examples others may join


class Questions:
    """The questions of some sets, many at once, where rivals say who joins.

    `sums`: whether scores of all items are of interest. All raise all errors but QueryError and UsageError.
    """

    def __init__(self, several: Several, sums: bool = False) -> None:
        self.several, self._sums = several, sums
        self._taking: dict[str, _Taking] = {}

    def each(self, names: Iterable[str]) -> Iterator[tuple[str, Standing | SetsearchError]]:
        """Each question, group by group, and why one cannot be asked."""
        of_groups: dict[str | None, list[str]] = {}
        for name in names:
            of_groups.setdefault(self._group(name), []).append(name)
        for own in of_groups.values():
            for pair in zip(own, outcomes(map(self._ask, own)), strict=True):
                yield pair
                self.several.told()
                self.several.pause()

    def again(self, name: str) -> Standing:
        """The question of one that has been asked."""
        return now(self._ask(name))

    def joining(self, name: str) -> dict[int, float] | None:
        """The items that join a set, if that is told without its question: ask for those of one group together."""
        taking = self._taken_of(name)
        return None if taking is None else taking.joining(name)

    def _ask(self, name: str) -> Asking[Standing]:
        taking = self._taken_of(name)
        return self.several.ask(name, NOTHING, self._sums, None if taking is None else taking.of(name))

    def _taken_of(self, name: str) -> "_Taking | None":
        """What is taken from the sets of the group of a set that others may join."""
        group = self._group(name)
        if group is None or len(self.several.marks[name][0]) > MOST_JOINED:
            return None
        if group not in self._taking:
            for own in self._taking.values():
                own.forget()
            self._taking[group] = _Taking(self.several, group)
        return self._taking[group]

    def _group(self, name: str) -> str | None:
        """The exclusive group of a set."""
        group = self.several.groups.of.get(name)
        return group if group in self.several.groups.exclusive else None


def outcomes(askings: Iterable[Asking[Standing]]) -> Iterator[Standing | SetsearchError]:
    """What comes of questions, and why one cannot be asked; raises all other errors."""
    for own in in_rounds(askings):
        if isinstance(own, SetsearchError) and not isinstance(own, QueryError | UsageError):
            raise own
        yield own


class _Taking:
    """What rivals take from the scores of one pass, so that another one does not begin with what fits them better.

    Of each kind of fields; what a rival has is as high as can be. First passes stay with the content, if they are few.
    """

    def __init__(self, several: Several, group: str) -> None:
        self._highest: dict[Hashable, Highest] = {}
        self._known = dict[str, tuple[int, Hashable, float]]()  # places, sources, units
        self._passes = dict[str, FirstPass]()
        reading, options = several.reading, cast(Any, several.options)
        candidates = reading.candidates(several.fields_by)
        second = any(Weighing(own, reading.defaults.choose(options)).feedback for own in candidates)
        within = [name for name in several.groups.within(group) if name in several.marks]
        if not second or len(within) < 2:
            return
        made_of = {name: object() if several.more.get(name) else several.marks[name] for name in within}
        rivals = several.groups.rivals_of_kin(group, within)
        found = _passes(several, candidates).of(group, made_of, partial(_first_passes, several))
        for place, (name, own) in enumerate(found.items()):
            if own is not None:
                if own.source not in self._highest:
                    self._highest[own.source] = Highest(len(own.scores), rivals)
                self._highest[own.source].add(place, own.heights())
                self._known[name], self._passes[name] = (place, own.source, own.unit), own

    def of(self, name: str) -> Floats | None:
        """What rivals take from the scores of a set, `(n_ids,)`; None without any."""
        if name not in self._known:
            return None
        place, source, unit = self._known[name]
        best, _ = self._highest[source].best(place)
        return np.maximum(best, 0.0) * (OTHERS * unit) if unit > 0 else None

    def joining(self, name: str) -> dict[int, float] | None:
        """The items that join a set, as FirstPass has them; None once it was told to `forget`."""
        return self._passes[name].joining(self.of(name)) if name in self._passes else None

    def forget(self) -> None:
        """Keep no first passes: what is taken is known without them."""
        self._passes.clear()


def _passes(several: Several, candidates: Sequence[Fields]) -> Passes:
    """What is kept of first passes by the defaults; vectors and neighbors are not known by what is read."""
    if several.options or any(own.vectors is not None or own.nearest is not None for own in candidates):
        return Passes()
    state = several.reading.defaults, *(own.first.source for own in candidates)
    kept: Passes = candidates[-1].first.kept_passes.get_or_make(state, Passes)
    return kept


def _first_passes(several: Several, names: Sequence[str]) -> Iterator[FirstPass | None]:
    """What one pass says of sets, None of those that have no answer."""
    asked = outcomes(several.ask(name, ONE_PASS, True) for name in names)
    for name, own in zip(names, asked, strict=True):
        several.pause()
        yield None if isinstance(own, SetsearchError) else _first_pass(several, name, own)


def _first_pass(several: Several, name: str, own: Standing) -> FirstPass:
    fields, weights, excluded, weighed = own[:4]
    defaults, options = several.reading.defaults, cast(Any, several.options)
    rejection = defaults.rejection_of(weights.model, several.more.get(name, NOTHING).get("gamma"))
    takes_away = several.marks[name][1] and rejection is not None and rejection.gamma > 0
    differs = takes_away or weights.has_parts  # from what chooses who joins
    share = 0.0 if differs else Weighing(fields, defaults.choose(options)).feedback
    most = how_many_join(weights.model, weights.examples, fields.items.size, share, beside=True)
    scores, seeds = weights.scores(), weights.examples.seeds
    return FirstPass(fields.first.source, scores, weights.constant, weighed.floor, weighed.unit, seeds, excluded, most)
