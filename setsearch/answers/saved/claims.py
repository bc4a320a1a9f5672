"""Which saved sets does an item, or a text, belong to? All sets of a kind of items are asked at once (set_index.py).

Sets that are not in the index of sets are asked one by one.

The sets to which it belongs come first. The order is by how far its score is above the line of the set
(search/cutoff.py), as a height (rivals.py): nats of one set are not those of another, least of all where rejected items
correct its scores (search/rejected.py). By this the first set is right more often (benchmarks/LOG.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.answers.contributions import contributions
from setsearch.answers.reading import Reading
from setsearch.answers.saved.questions import Questions
from setsearch.answers.saved.rivals import Coupled, Flags, Rivalry
from setsearch.answers.saved.set_index import Entries, Known, Look, Parts, entries_of, open_sets, reasons
from setsearch.answers.saved.standing import Several, Weighed
from setsearch.answers.tables import html_table
from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter, SetsearchError, UnknownSet
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.options import Id
from setsearch.search.request import positive_integer
from setsearch.sqlite.database import Database


class Claim(NamedTuple):
    """A saved set and an item: its score in nats, the line of the set, and whether it belongs.

    `belongs` is None if the examples do not tell it; `line` is None if the set has all items. `reason`: what tells
    most. `said` of a member: accepted, and so it belongs, or rejected. In an exclusive group the score is what the best
    other set leaves, the line what it takes to fit better than that one, and `better` the set that has or fits it
    better (saved/rivals.py).
    """

    rank: int
    set: str
    score: float
    line: float | None
    belongs: bool | None
    reason: str
    said: str | None = None
    better: str | None = None


class Claims(list[Claim]):
    """The sets, the one that fits best first; `notes`: which have no answer, or cannot tell what belongs, and why."""

    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        return html_table(Claim._fields, self, "; ".join(self.notes))


def sets_of(database: Database, reading: Reading, item: Id | None, text: str | None, k: int | None) -> Claims:
    """As `Index.sets_of`, of one reading."""
    if (item is None) == (text is None):
        raise InvalidParameter("give an item or a text, one of the two")
    most = None if k is None else positive_integer(k)

    def answer(fields_by: FieldsBy) -> Claims:
        asking = _Asking(reading, fields_by, item, text)
        claims = asking.claims(most)
        noted = [note for name in asking.sets.marks for note in asking.sets.note(database.path, name)]
        untold = [(own.set, asking.sets.known[own.set].untold) for own in claims if own.belongs is None]
        claims.notes = noted + [f"{name}: {why}" for name, why in untold if why]
        return claims

    return reading.answer(reading.plan(1, {}), answer)


class _Asking:
    """One item or text, asked of all sets of a reading in one transaction."""

    def __init__(self, reading: Reading, fields_by: FieldsBy, item: Id | None, text: str | None) -> None:
        self._reading, self._fields_by = reading, fields_by
        candidates = reading.candidates(fields_by)
        self._fields = candidates[-1]
        self._text = None if text is None else self._fields.count_terms(text)
        self._name: str | None = None
        if item is not None:
            known = next((own for own in candidates if own.knows(item)), self._fields)
            id = known.resolve(item)
            self._name = known.describe([id])[id][0]
        self.sets = open_sets(reading, fields_by)
        if not self.sets.marks:
            raise UnknownSet(f"no set of {reading.name} is saved; `setsearch set save` saves one")
        self._look = self._looked()
        self._direct: dict[str, tuple[Fields, Parts]] = {}

    def claims(self, k: int | None) -> Claims:
        """The k sets that fit best."""
        rivalry, scores = self.sets.rivalry, self._look.scores[:, 0]
        if direct := [*self._one_by_one()]:
            rivalry = Rivalry.of(self.sets.groups, self.sets.kept | {name: own for name, own, _ in direct})
            scores = np.append(scores, [score for *_, score in direct])
        names = rivalry.names
        said = {} if self._name is None else self.sets.said.get(self._name, {})
        alone = scores
        scores, needed, belong, beside = self._beside(rivalry, scores, said)
        units = rivalry.weighed[:, 5]
        below = np.nan_to_num((needed - scores) / np.where(units > 0, units, 1.0), nan=-np.inf)
        order = np.lexsort((np.arange(len(names)), -scores, below, ~belong))
        order = order[np.isfinite(alone)[order]][:k].tolist()  # no set can rank what is no item, such as a tag
        claims = Claims()
        told = self._reasons([(names[place], float(alone[place])) for place in order])
        for rank, (place, reason) in enumerate(zip(order, told, strict=True), 1):
            name, score, line = names[place], float(scores[place]), float(needed[place])
            belongs = bool(belong[place]) if rivalry.weighed[place, 3] or name in said else None
            line_of = None if np.isnan(line) else line
            better = self._better(names, place, beside, said)
            claims.append(Claim(rank, name, score, line_of, belongs, reason, said.get(name), better))
        return claims

    def _better(self, names: Sequence[str], place: int, own: Coupled, said: Mapping[str, str]) -> str | None:
        """The rival that has the item, or that it fits better, in the order of names."""
        name, groups = names[place], self.sets.groups
        if own.taken[place, 0] and name not in said:
            having = [other for other in said if said[other] == "accepted" and groups.of.get(other) == groups.of[name]]
            return [other for other in having if not groups.are_kin(name, other)][-1]
        is_lower = own.heights[place, 0] <= own.best[place, 0] and own.who[place, 0] >= 0
        return names[own.who[place, 0]] if is_lower else None

    def _beside(
        self, rivalry: Rivalry, scores: Floats, said: Mapping[str, str]
    ) -> tuple[Floats, Floats, Flags, Coupled]:
        """Scores and lines beside rivals, what belongs, and what the sets say together (rivals.py)."""
        lines, are_told, floors, units = rivalry.weighed[:, 2:].T
        accepted, rejected = np.zeros((2, len(rivalry.names), 1), bool)
        for name in [name for name in said if name in self.sets.kept or name in self._direct]:
            (accepted if said[name] == "accepted" else rejected)[rivalry.names.index(name)] = True
        own = rivalry.couple(scores[:, None], accepted, rejected)
        taking, best = rivalry.taking(own.best)[:, 0], own.best[:, 0]
        fitting_better = np.where(best > -np.inf, floors + units * np.maximum(best, 0), np.nan)
        needed = np.fmax(lines, fitting_better) - taking
        belong = own.belong[:, 0] & (are_told > 0)
        belong = np.where(accepted[:, 0] | rejected[:, 0], accepted[:, 0], belong)
        return scores - taking, needed, belong, own

    def _looked(self) -> Look:
        """The item or the text in the sets whose weights are kept."""
        base = np.zeros(1)
        if self._text is None:
            ids = [id for id in [self._fields.find(self._name or "")] if id is not None]
            entries = {rule: entries_of(self._fields, ids, rule) for rule in self.sets.turned}
            base = self.sets.base[ids] if entries else base
        else:
            made = {rule: self._fields.first.new_item(self._text, rule) for rule in self.sets.turned}
            entries = {rule: Entries(np.zeros(len(own[0]), np.int64), *own) for rule, own in made.items()}
        return Look(self.sets, self._fields, entries, base)

    def _reasons(self, rows: Sequence[tuple[str, float]]) -> list[str]:
        """What tells most of sets and their scores alone."""
        parts = self._look.parts([(name, 0) for name, _ in rows if name not in self._direct])
        own = {name: (self._fields, found) for (name, _), found in parts.items()} | self._direct
        return reasons(self.sets.marks, [(own[name][0], name, own[name][1], score) for name, score in rows])

    def _one_by_one(self) -> Iterator[tuple[str, Weighed, float]]:
        """The scores in the other sets, each of which is asked; of those that can rank the item."""
        if not self.sets.others:
            return
        if self._name is None:
            raise InvalidParameter("a text has no vectors, by which these documents are compared: index it first")
        sets = self.sets
        several = Several(self._reading, self._fields_by, sets.marks, sets.groups)
        for name, found in Questions(several).each(sets.others):
            if isinstance(found, SetsearchError):
                sets.known[name] = Known(problem=str(found))
                continue
            fields, weights, _, own, _, gone, untold = found
            sets.known[name] = Known(gone=gone, untold=untold)
            id = fields.find(self._name)
            if id is None or weights.base.items[id] == -np.inf:
                continue
            self._direct[name] = fields, contributions(fields, weights, [id])[id]
            yield name, own, float(weights.scores()[id] + weights.constant)
