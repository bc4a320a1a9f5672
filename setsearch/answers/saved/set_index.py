"""An index of saved sets: for each feature, the sets that weigh it.

The question of each set gives weights of features. They are kept in memory, turned round. The features of some items
then give their scores in all sets at once, those of `expand` to the bit, since sums on the lattice are exact. A change
of the index weighs all sets again, a change of a set this one, and small ones of its group that others join now
(joiners.py). Sets whose scores need more than features (vectors, neighbors of words) are not in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import NamedTuple

import numpy as np

from setsearch.answers.reading import Reading
from setsearch.answers.reasons import Wording, are_people, wording
from setsearch.answers.results import Contribution, rest_of
from setsearch.answers.saved.groups import Groups, Marks
from setsearch.answers.saved.item_sets import gone_note
from setsearch.answers.saved.questions import MOST_JOINED, Questions
from setsearch.answers.saved.rivals import Flags, Rivalry
from setsearch.answers.saved.standing import Several, Standing, Weighed
from setsearch.answers.saved.stored import StoredSets
from setsearch.arrays import Floats, Ints, bincount, offsets, places_among, positions, repeat, run_lengths, run_starts
from setsearch.errors import SetsearchError
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.models.values import ValueRule
from setsearch.search.feature_weights import FieldWeights
from setsearch.storage.ids import plain_name

MOST_KEPT = 1 << 24  # weights, of 12 bytes; more are made for each question
AT_ONCE = 1 << 16  # pairs of a set and an item
Parts = tuple[Contribution, ...]


class Entries(NamedTuple):
    """The features of items, of one after another, and their values; `columns` number the items from 0."""

    columns: Ints
    features: Ints
    values: Floats


class Added(NamedTuple):
    """What a feature of an item adds to a set, a row each."""

    columns: Ints
    features: Ints
    sets: Ints
    amounts: Floats


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

    def added(self, entries: Entries) -> Added:
        """What the entries of items add."""
        places, known = places_among(self.features, entries.features)
        places = places[known]
        lengths = self.starts[places + 1] - self.starts[places]
        at = positions(self.starts[places], lengths)
        columns, features = (repeat(own[known], lengths) for own in entries[:2])
        return Added(columns, features, self.sets[at], self.weights[at] * repeat(entries.values[known], lengths))


class Known(NamedTuple):
    """What is known of a set. Without `weighed` its scores need more than features, or it has no answer: `problem`."""

    weighed: Weighed | None = None
    problem: str | None = None
    gone: Sequence[str] = ()  # members that the index has no longer
    untold: str | None = None  # why it does not tell what belongs
    members: tuple[Sequence[int], Sequence[int]] = (), ()  # ids that are accepted, and rejected
    joined: Mapping[int, float] | None = None  # ids that joined, and their weights, if rivals chose them


class SetIndex:
    """All sets of some items, by name and as they were at a `seal`, on one content.

    `base`: 0 for each id, -inf for one that is no item, `(n_ids,)`.
    """

    def __init__(self, seal: dict[int, int], marks: dict[str, Marks], groups: Groups, base: Floats) -> None:
        self.seal, self.marks, self.groups, self.base = seal, marks, groups, base
        self.numbers = {name: number for number, name in enumerate(marks)}
        self.known = dict.fromkeys(marks, Known())
        self.turned: dict[ValueRule, Turned] = {}

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
    def kept(self) -> dict[str, Weighed]:
        """The sets whose weights are kept."""
        return {name: own.weighed for name, own in self.known.items() if own.weighed is not None}

    @cached_property
    def kept_numbers(self) -> Ints:
        """The numbers of these sets."""
        return np.array([self.numbers[name] for name in self.kept], np.int64)

    @cached_property
    def others(self) -> list[str]:
        """The sets whose scores need more than features."""
        return [name for name, own in self.known.items() if own.weighed is None and own.problem is None]

    @cached_property
    def places(self) -> dict[str, int]:
        """The rows of these sets."""
        return {name: place for place, name in enumerate(self.kept)}

    @cached_property
    def rivalry(self) -> Rivalry:
        """The rivals among these."""
        return Rivalry.of(self.groups, self.kept)

    def note(self, place: object, name: str) -> Iterator[str]:
        """Why a set has no answer, and which of its members are gone."""
        own = self.known[name]
        if own.problem is not None:
            yield f"{name}: {own.problem}"
        if own.gone:
            yield gone_note(place, name, own.gone)

    @cached_property
    def _marked(self) -> dict[int, list[tuple[int, bool]]]:
        """Of each member by its id: the rows of sets, and whether it is accepted."""
        found: dict[int, list[tuple[int, bool]]] = {}
        for name, place in self.places.items():
            for is_in, ids in zip((True, False), self.known[name].members, strict=True):
                for item in ids:
                    found.setdefault(item, []).append((place, is_in))
        return found

    def marked(self, ids: Sequence[int]) -> tuple[Flags, Flags]:
        """Whether sets have accepted some items, and rejected them, `(n_sets, n)` each."""
        accepted, rejected = np.zeros((2, len(self.places), len(ids)), bool)
        for column, item in enumerate(ids):
            for place, is_in in self._marked.get(item, ()):
                (accepted if is_in else rejected)[place, column] = True
        return accepted, rejected


class Look:
    """Some items in all sets whose weights are kept: `scores` are those of each set alone, `(n_sets, n)`.

    `base` is theirs, `(n,)`.
    """

    def __init__(self, sets: SetIndex, fields: Fields, entries: Mapping[ValueRule, Entries], base: Floats) -> None:
        self._sets, self._fields = sets, fields
        self._added = [own.added(entries[rule]) for rule, own in sets.turned.items()]
        known, count = sets.rivalry.weighed, len(base)
        sums = np.zeros(count * len(sets.numbers))
        for own in self._added:
            sums += bincount(own.columns * len(sets.numbers) + own.sets, own.amounts, len(sums))
        by_set = sums.reshape(count, len(sets.numbers)).T[sets.kept_numbers]
        self.scores: Floats = by_set / known[:, :1] + known[:, 1:2] + base

    def parts(self, pairs: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Parts]:
        """What features add to the scores of pairs of a set and a column, the largest first."""
        numbers, n_sets = self._sets.numbers, len(self._sets.numbers)
        keys = {column * n_sets + numbers[name]: (name, column) for name, column in pairs}
        amounts: dict[int, dict[int, float]] = {key: {} for key in keys}
        wanted = np.array(sorted(keys), np.int64)
        for own in self._added:
            of_pairs = own.columns * n_sets + own.sets
            chosen = np.isin(of_pairs, wanted)
            rows = zip(*(each[chosen].tolist() for each in (of_pairs, own.features, own.amounts)), strict=True)
            for key, feature, amount in rows:
                amounts[key][feature] = amounts[key].get(feature, 0.0) + amount
        described = self._fields.first.describe_features([*{id for own in amounts.values() for id in own}])
        found = {}
        for key, (name, column) in keys.items():
            scale = self._sets.kept[name].scale
            parts = [(-amount / scale, *described[id]) for id, amount in amounts[key].items()]
            parts.sort(key=lambda part: part[:2])
            found[name, column] = tuple([Contribution(feature, -weight, title) for weight, feature, title in parts])
        return found


def looks(sets: SetIndex, fields: Fields, items: Sequence[int]) -> Iterator[tuple[Sequence[int], Look]]:
    """Items (ascending ids) in all sets, some at once."""
    step = max(AT_ONCE // max(len(sets.numbers), 1), 1)
    for begin in range(0, len(items), step):
        ids = items[begin : begin + step]
        yield ids, Look(sets, fields, {rule: entries_of(fields, ids, rule) for rule in sets.turned}, sets.base[ids])


def entries_of(fields: Fields, ids: Sequence[int], rule: ValueRule) -> Entries:
    """The features of items (ascending ids) and their values."""
    stored = fields.first.forward(ids, rule)
    columns = repeat(np.arange(len(ids)), stored.lengths)
    return Entries(columns, stored.concatenated_ids().astype(np.int64), stored.concatenated_values())


def reasons(marks: Mapping[str, Marks], rows: Sequence[tuple[Fields, str, Parts, float]]) -> list[str]:
    """What tells most of rows: the fields and the name of a set, the parts of a score, and the score."""
    worded: dict[int, Wording] = {}
    found = []
    for fields, name, parts, score in rows:
        if are_people(plain_name(fields.first.features.name)):  # who tell by the examples that they share
            how = wording(fields, [parts], fields.resolve_known(marks[name][0]))
        else:
            same = [parts for own, _, parts, _ in rows if own is fields] if id(fields) not in worded else ()
            how = worded[id(fields)] = worded.get(id(fields)) or wording(fields, same)
        told = how.reasons(parts, rest_of(score, parts))
        found.append(next((reason.label for reason in told if reason.weight > 0), ""))
    return found


def are_kept(candidates: Sequence[Fields]) -> bool:
    """Whether the scores of sets may be sums of weights of features: neither contexts nor vectors answer."""
    return len(candidates) == 1 and candidates[0].vectors is None and candidates[0].nearest is None


def open_sets(reading: Reading, fields_by: FieldsBy) -> SetIndex:
    """The sets as they are now; those that are as memory has them are not weighed again."""
    candidates = reading.candidates(fields_by)
    first = candidates[-1].first
    stored = StoredSets(first.cursor)
    if not are_kept(candidates):
        return SetIndex({}, stored.marks_of(reading.name), stored.groups(), np.zeros(0))
    model = reading.defaults.make({})
    seal, state = stored.seal(), (reading.defaults, model, first.source)
    kept: SetIndex | None = first.kept_sets.get(state)
    if kept is not None and kept.seal == seal != {}:
        return kept
    made = SetIndex(seal, stored.marks_of(reading.name), stored.groups(), first.base(model, 1).items)
    questions = Questions(Several(reading, fields_by, made.marks, made.groups))
    same = [] if kept is None else _same(kept, made, questions)
    if kept is not None:
        made.known |= {name: kept.known[name] for name in same}
    lists: dict[ValueRule, list[tuple[Ints, Ints, Floats]]] = {}
    stays = {*same}
    new = [name for name in made.marks if name not in stays]
    for name, found in questions.each(new):
        for own in note_weighed(made, name, found):
            added = own.seeds.features, np.full(len(own.seeds.features), made.numbers[name]), own.lists.weights
            lists.setdefault(own.rule, []).append(added)
    _turn(made, lists, kept, same)
    if sum(len(own.sets) for own in made.turned.values()) <= MOST_KEPT:
        first.kept_sets.clear()
        first.kept_sets[state] = made
    return made


def _same(kept: SetIndex, made: SetIndex, questions: Questions) -> list[str]:
    """The sets that are as they were: also what joins them, where their rivals choose it (joiners.py)."""

    def joins_as_before(name: str) -> bool:
        """Whether the same items join a set with the same weights, if that is sure."""
        joined = kept.known[name].joined
        return joined is not None and joined == questions.joining(name)

    def placed(own: SetIndex, name: str) -> tuple[object, ...]:
        """What is known of a set."""
        group = own.groups.of.get(name)
        return own.marks.get(name), group if group in own.groups.exclusive else None

    changed = {name for name in kept.marks.keys() | made.marks.keys() if placed(kept, name) != placed(made, name)}
    groups: Set[object] = {placed(own, name)[1] for own in (kept, made) for name in changed} - {None}
    groups = groups if kept.groups.under == made.groups.under else made.groups.exclusive
    return [
        name
        for name, own in sorted(made.marks.items(), key=lambda one: made.groups.of.get(one[0], ""))
        if name not in changed
        and (len(own[0]) > MOST_JOINED or placed(made, name)[1] not in groups or joins_as_before(name))
    ]


def note_weighed(made: SetIndex, name: str, asked: Standing | SetsearchError) -> tuple[FieldWeights, ...]:
    """Note what is known of a set; returns its weights."""
    if isinstance(asked, SetsearchError):
        made.known[name] = Known(problem=str(asked))
        return ()
    _, weights, left_out, found, taken, gone, untold = asked
    seeds = weights.examples.seeds
    members = seeds, [id for id in left_out if id not in {*seeds}]
    every = weights.joined or weights.examples
    joined = {id: own for id, own in zip(every.ids, every.weight().tolist(), strict=False) if id not in {*seeds}}
    made.known[name] = Known(found, None, gone, untold, members, None if taken is None else joined)
    return weights.all


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
