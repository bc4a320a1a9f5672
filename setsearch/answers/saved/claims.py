"""Which saved sets does an item, or a text, belong to? All sets of a kind of items are asked at once.

The question of each set gives weights of features. They are kept in memory, turned round: for each feature, the sets
that weigh it. The features of one item then give its scores in all sets, those of `expand` to the bit, since sums on
the lattice are exact. A change of the index weighs all sets again, a change of a set this one alone. Sets whose scores
need more than features (vectors, neighbors of words) are asked one by one.

The sets to which it belongs come first. Scores are in nats; the order is by how far they are above the line of the set
(search/cutoff.py): by this the first set is right more often than by the score (benchmarks/LOG.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setsearch.answers.contributions import contributions
from setsearch.answers.reading import Reading
from setsearch.answers.reasons import are_people, wording
from setsearch.answers.results import Contribution, rest_of
from setsearch.answers.saved.coupling import Rivalry, Weighed, heights_of, penalties, weigh_set
from setsearch.answers.saved.groups import Groups, Marks, marks_of_sets, read_groups
from setsearch.answers.sets import gone_note
from setsearch.answers.tables import html_table
from setsearch.arrays import Floats, Ints, bincount, offsets, places_among, positions, repeat, run_lengths, run_starts
from setsearch.errors import InvalidParameter, QueryError, UnknownSet, UsageError
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.models.values import ValueRule
from setsearch.search.request import positive_integer
from setsearch.search.weights import FieldWeights
from setsearch.sqlite.database import Database
from setsearch.sqlite.integrity import stored_checksums
from setsearch.storage.ids import plain_name

MOST_KEPT = 1 << 24  # weights, of 12 bytes; more are made for each question
Entries = tuple[Ints, Floats]  # features of an item, ascending, and their values


class Claim(NamedTuple):
    """A saved set and an item: its score in nats, the line of the set, and whether it belongs.

    `belongs` is None if the examples do not tell it; `line` is None if the set has all items. `reason`: what tells
    most. `said` of a member: accepted, and so it belongs, or rejected. In an exclusive group the score is what the best
    other set leaves, the line what it takes to fit better than that one, and `better` the set that has or fits it
    better (saved/coupling.py).
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
    """The sets, the one that fits best first; `notes`: which have no answer, and why."""

    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        """The sets as a table, as notebooks show them."""
        return html_table(Claim._fields, self, "; ".join(self.notes))


class Turned(NamedTuple):
    """The weights of sets under one rule, by feature: `features[i]` has those from `starts[i]` to `starts[i + 1]`."""

    features: Ints
    starts: Ints
    sets: Ints  # their numbers
    weights: Floats

    @classmethod
    def of(cls, features: Ints, sets: Ints, weights: Floats) -> "Turned":
        """Turn weights round."""
        order = np.argsort(features, kind="stable")
        features = features[order]
        begin = run_starts(features)
        starts = offsets(run_lengths(begin, len(features)))
        return cls(features[begin], starts, sets[order].astype(np.int32), weights[order])

    def all(self) -> tuple[Ints, Ints, Floats]:
        """(feature, set, weight) of all."""
        return repeat(self.features, np.diff(self.starts)), self.sets, self.weights

    def added(self, entries: Entries) -> tuple[Ints, Ints, Floats]:
        """What the entries of an item add: (feature, set, amount)."""
        places, known = places_among(self.features, entries[0])
        places = places[known]
        lengths = self.starts[places + 1] - self.starts[places]
        at = positions(self.starts[places], lengths)
        features = repeat(self.features[places], lengths)
        return features, self.sets[at], self.weights[at] * repeat(entries[1][known], lengths)


class SetIndex:
    """All sets of some items, by name and as they were at a `seal`, on one content.

    A text in place of a Weighed says why a set has no answer; None: its scores need more than features. `gone` are
    members that the index has no longer.
    """

    def __init__(self, seal: dict[int, int], marks: dict[str, Marks], groups: Groups) -> None:
        self.seal, self.marks, self.groups = seal, marks, groups
        self.numbers = {name: number for number, name in enumerate(marks)}
        self.weighed: dict[str, Weighed | str | None] = {}
        self.turned: dict[ValueRule, Turned] = {}
        self.gone: dict[str, Sequence[str]] = {}

    @cached_property
    def said(self) -> dict[str, dict[str, str]]:
        """What was said of each member, by set."""
        said: dict[str, dict[str, str]] = {}
        for name, sides in self.marks.items():
            for members, mark in zip(sides, ("accepted", "rejected"), strict=True):
                for item in members:
                    said.setdefault(item, {})[name] = mark
        return said

    @cached_property
    def kept(self) -> tuple[list[str], Ints, Floats]:
        """The sets whose weights are kept: names, numbers, and what is known of each, a row each."""
        kept = {name: own for name, own in self.weighed.items() if isinstance(own, Weighed)}
        numbers = np.array([self.numbers[name] for name in kept], np.int64)
        return [*kept], numbers, np.array([*kept.values()], float).reshape(len(kept), len(Weighed._fields))

    @cached_property
    def rivalry(self) -> Rivalry:
        """The rivals among these, by their places."""
        return Rivalry.of(self.groups, self.kept[0])

    def notes(self, place: object) -> list[str]:
        """Which sets have no answer, and why, and which members are gone."""
        notes = [f"{name}: {own}" for name, own in self.weighed.items() if isinstance(own, str)]
        return notes + [gone_note(place, name, gone) for name, gone in self.gone.items()]


def sets_of(database: Database, reading: Reading, item: str | None, text: str | None, k: int | None) -> Claims:
    """As `Index.sets_of`, of one reading."""
    if (item is None) == (text is None):
        raise InvalidParameter("give an item or a text, one of the two")
    most = None if k is None else positive_integer(k)

    def answer(fields_by: FieldsBy) -> Claims:
        asking = _Asking(reading, fields_by, item, text)
        claims = asking.claims(most)
        claims.notes = asking.sets.notes(database.path)
        return claims

    return reading.answer({}, answer)


class _Asking:
    """One item or text, asked of all sets of a reading in one transaction."""

    def __init__(self, reading: Reading, fields_by: FieldsBy, item: str | None, text: str | None) -> None:
        self._reading, self._fields_by = reading, fields_by
        self._all = reading.candidates(fields_by)
        self._fields = self._all[-1]  # of these alone weights are kept
        self._text = None if text is None else self._fields.count_terms(text)
        self._name: str | None = None
        if item is not None:
            known = next((own for own in self._all if own.knows(item)), self._fields)
            id = known.resolve(item)
            self._name = known.describe([id])[id][0]
        self.sets = self._opened()
        self._added: list[tuple[Ints, Ints, Floats]] = []
        self._parts: dict[str, tuple[Contribution, ...]] = {}
        self._direct: dict[str, Fields] = {}

    def claims(self, k: int | None) -> Claims:
        """The k sets that fit best."""
        names, scores, known = self._together()
        for name, own, score in self._one_by_one():
            names, scores, known = [*names, name], np.append(scores, score), np.vstack([known, own])
        said = {} if self._name is None else self.sets.said.get(self._name, {})
        alone = scores
        scores, needed, belong, better = self._beside(names, scores, known, said)
        order = np.lexsort((np.arange(len(names)), -scores, needed - scores, ~belong))[:k]
        claims = Claims()
        reasons = self._reasons([names[place] for place in order.tolist()], alone[order])
        for rank, (place, reason) in enumerate(zip(order.tolist(), reasons, strict=True), 1):
            name, score, line = names[place], float(scores[place]), float(needed[place])
            told = bool(belong[place]) if known[place, 3] or name in said else None
            line_of = None if np.isnan(line) else line
            claims.append(Claim(rank, name, score, line_of, told, reason, said.get(name), better.get(name)))
        return claims

    def _beside(
        self, names: Sequence[str], scores: Floats, known: Floats, said: Mapping[str, str]
    ) -> tuple[Floats, Floats, NDArray[np.bool_], dict[str, str]]:
        """Scores and lines beside rivals, what belongs, and the rivals that fit better, as coupling.py has it."""
        groups = self.sets.groups
        scales, lines, are_told, floors, units = (known[:, place].astype(float) for place in (0, 2, 3, 4, 5))
        belong = (scores > lines) & (are_told > 0)
        better: dict[str, str] = {}
        rivalry = self.sets.rivalry if len(names) == len(self.sets.kept[0]) else Rivalry.of(groups, names)
        needed = lines
        if rivalry.groups:
            heights = heights_of(scores[:, None], floors, units)
            heights[[said.get(name) == "rejected" for name in names]] = -np.inf
            bests, places = rivalry.best(heights)
            taking = penalties(bests, units, scales)[:, 0] / scales
            best, who = bests[:, 0], places[:, 0]
            is_higher = heights[:, 0] > best
            needed = np.fmax(lines, np.where(best > -np.inf, floors + units * np.maximum(best, 0), -np.inf)) - taking
            scores, belong = scores - taking, belong & is_higher
            better = {names[place]: names[who[place]] for place in np.flatnonzero(~is_higher & (who >= 0)).tolist()}
            for other in [name for name in names if said.get(name) == "accepted"]:
                better |= {name: other for name in groups.rivals(other) if name in names and name not in said}
            belong &= np.array([name not in better for name in names])
        marked = dict(zip(names, belong.tolist(), strict=True)) | {
            name: mark == "accepted" for name, mark in said.items()
        }
        told = dict(zip(names, are_told.tolist(), strict=True))
        for place, name in enumerate(names) if groups.under else ():
            wholes = [whole for whole in groups.wholes(name) if told.get(whole)]
            belong[place] &= all(marked[whole] for whole in wholes)
        for place, name in enumerate(names) if said else ():
            belong[place] = said[name] == "accepted" if name in said else belong[place]
        return scores, needed, belong, better

    def _opened(self) -> SetIndex:
        """The sets as they are now; those that are as memory has them are not weighed again."""
        cursor, reading = self._fields.cursor, self._reading
        seal = stored_checksums(cursor)
        kinds = [(own.first.source, own.vectors is None, own.nearest is None) for own in self._all]
        state = (reading.defaults, reading.defaults.make({}), *kinds)
        kept: SetIndex | None = self._fields.first.kept_sets.get(state)
        if kept is not None and kept.seal == seal != {}:
            return kept
        made = SetIndex(seal, marks_of_sets(cursor, reading.name), read_groups(cursor))
        if not made.marks:
            raise UnknownSet(f"no set of {reading.name} is saved; `setsearch set save` saves one")
        same = [] if kept is None else [name for name, own in made.marks.items() if kept.marks.get(name) == own]
        lists: dict[ValueRule, list[tuple[Ints, Ints, Floats]]] = {}
        for name, number in made.numbers.items():
            if name in same and kept is not None:
                made.weighed[name] = kept.weighed[name]
                made.gone |= {name: kept.gone[name]} if name in kept.gone else {}
                continue
            made.weighed[name], weights, gone = self._weighed(made.marks[name])
            made.gone |= {name: gone} if gone else {}
            for own in weights:
                added = own.seeds.features, np.full(len(own.seeds.features), number), own.lists.weights
                lists.setdefault(own.rule, []).append(added)
        _turn(made, lists, kept, same)
        if sum(len(own.sets) for own in made.turned.values()) <= MOST_KEPT:
            self._fields.first.kept_sets.clear()
            self._fields.first.kept_sets[state] = made
        return made

    def _weighed(self, marks: Marks) -> tuple[Weighed | str | None, tuple[FieldWeights, ...], Sequence[str]]:
        """A set, its weights if its scores are sums of these alone, and its members that are gone."""
        try:
            fields, weights, _, found, gone = weigh_set(self._reading, self._fields_by, marks)
        except (QueryError, UsageError) as error:
            return str(error), (), ()
        has_parts = weights.parts or getattr(weights.model, "has_base", True)
        is_kept = fields.first.source == self._fields.first.source and len(fields.all) == 1 and fields.stored is None
        if has_parts or not is_kept or any(own.query.table is not None for own in weights.all):
            return None, (), gone
        return found, weights.all, gone

    def _entries(self, rule: ValueRule) -> Entries:
        """The features of the item or the text, ascending, and their values."""
        field = self._fields.first
        if self._text is not None:
            return field.new_item(self._text, rule)
        assert self._name is not None
        if not self._fields.knows(self._name):
            return np.zeros(0, np.int64), np.zeros(0)
        stored = field.forward([self._fields.resolve(self._name)], rule)
        return stored.concatenated_ids().astype(np.int64), stored.concatenated_values()

    def _together(self) -> tuple[list[str], Floats, Floats]:
        """The sets whose weights are kept: names, scores, and what is known of each."""
        names, numbers, known = self.sets.kept
        sums = np.zeros(len(self.sets.marks))
        self._added = [own.added(self._entries(rule)) for rule, own in self.sets.turned.items()]
        for _, sets, amounts in self._added:
            sums += bincount(sets, amounts, len(sums))
        return names, sums[numbers] / known[:, 0] + known[:, 1], known

    def _explain(self, names: Sequence[str]) -> None:
        """Note what the features of the item add in some of the sets whose weights are kept, the largest first."""
        own_names = {self.sets.numbers[name]: name for name in names if name not in self._parts}
        chosen = np.zeros(len(self.sets.marks), bool)
        chosen[[*own_names]] = True
        amounts: dict[int, dict[int, float]] = {number: {} for number in own_names}
        for features, sets, added in self._added:
            kept = chosen[sets]
            for feature, number, amount in zip(*(part[kept].tolist() for part in (features, sets, added)), strict=True):
                amounts[number][feature] = amounts[number].get(feature, 0.0) + amount
        described = self._fields.first.describe_features([*{id for own in amounts.values() for id in own}])
        for number, name in own_names.items():
            own = self.sets.weighed[name]
            assert isinstance(own, Weighed)
            parts = [(-amount / own.scale, *described[id]) for id, amount in amounts[number].items()]
            parts.sort(key=lambda part: part[:2])
            self._parts[name] = tuple([Contribution(feature, -weight, title) for weight, feature, title in parts])

    def _reasons(self, names: Sequence[str], scores: Floats) -> list[str]:
        """What tells most of each of some sets."""
        self._explain(names)
        shared = are_people(plain_name(self._fields.first.features.name))  # by the examples that people chose, too
        how = None if shared or self._direct else wording(self._fields, [self._parts[name] for name in names])
        reasons = []
        for name, score in zip(names, scores.tolist(), strict=True):
            parts, fields = self._parts[name], self._direct.get(name, self._fields)
            own = how or wording(fields, [parts], fields.resolve_known(self.sets.marks[name][0]))
            told = own.reasons(parts, rest_of(score, parts))
            reasons.append(next((reason.label for reason in told if reason.weight > 0), ""))
        return reasons

    def _one_by_one(self) -> Iterator[tuple[str, Weighed, float]]:
        """The scores in the other sets, each of which is asked; of those that can rank the item."""
        for name in [name for name, own in self.sets.weighed.items() if own is None]:
            if self._name is None:
                raise InvalidParameter("a text has no vectors, by which these documents are compared: index it first")
            fields, weights, _, own, _ = weigh_set(self._reading, self._fields_by, self.sets.marks[name])
            id = fields.find(self._name)
            if id is None or weights.base.items[id] == -np.inf:
                continue
            self._direct[name], self._parts[name] = fields, contributions(fields, weights, [id])[id]
            yield name, own, float(weights.scores()[id] + weights.constant)


def _turn(
    made: SetIndex,
    lists: dict[ValueRule, list[tuple[Ints, Ints, Floats]]],
    kept: SetIndex | None,
    same: Sequence[str],
) -> None:
    """Turn the weights of new sets round, with those of sets that stay."""
    if kept is not None:
        before, now = kept.numbers, made.numbers
        renumbered = np.full(len(before), -1)
        renumbered[[before[name] for name in same]] = [now[name] for name in same]
        for rule, own in kept.turned.items():
            features, sets, weights = own.all()
            sets = renumbered[sets]
            lists.setdefault(rule, []).append((features[sets >= 0], sets[sets >= 0], weights[sets >= 0]))
    for rule, parts in lists.items():
        made.turned[rule] = Turned.of(*(np.concatenate(part) for part in zip(*parts, strict=True)))
