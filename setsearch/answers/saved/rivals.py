"""Saved sets that exclude one another: an item belongs where it fits best.

    h_c(x) = (score_c(x) - floor_c) / (top_c - floor_c)       the height of an item in a set
    score of c in its group = score_c(x) - 1/2 (top_c - floor_c) max(0, h_o(x))

top_c is the mean of the five best scores, floor_c what an item has by chance (search/cutoff.py), and o the other set
of the group in which x is highest. x belongs to c if its score alone is above the line of c, if it is higher in c than
in o, and if it belongs to all wholes of c. What o has accepted belongs to o; what it rejected has no height there.
Without rivals scores are, to the bit, those of the set alone. Other rules do less well (benchmarks/LOG.md).

Which items join few examples for a second pass (search/passes.py) is chosen by the same score, of one pass without what
rejected items teach; what another set of the group has does not join.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from setsearch.answers.answer import Hits
from setsearch.answers.contributions import explanation
from setsearch.answers.ranking import Judge, best_hits
from setsearch.answers.reading import Reading
from setsearch.answers.results import SHARE_LITTLE, Asked, Explanation, Hit
from setsearch.answers.saved.groups import Groups
from setsearch.answers.saved.heights import Highest, heights_of
from setsearch.answers.saved.joiners import FirstPass, Passes
from setsearch.answers.saved.stored import StoredSets
from setsearch.answers.word_notes import by_documents_note
from setsearch.arrays import Floats, Ints, only, to_lattice
from setsearch.core.question import Asking, now
from setsearch.errors import NoSeeds, QueryError, SetsearchError, UnknownItem, UsageError
from setsearch.memory.fields import Fields
from setsearch.memory.readings import FieldsBy
from setsearch.options import Id, refuse
from setsearch.search.cutoff import LEADERS, floor_of, n_leading, tells, threshold
from setsearch.search.examples import Examples
from setsearch.search.groups import Divided
from setsearch.search.passes import EXAMPLES, Weighing, how_many_join
from setsearch.search.plan import Plan
from setsearch.search.request import Seeds
from setsearch.search.rounds import in_rounds
from setsearch.search.weights import RIVAL, SeedWeights

OTHERS = 0.5  # of the height in the best other set, which is subtracted
Flags = npt.NDArray[np.bool_]
Given = tuple[Sequence[str] | dict[str, float], Sequence[str]]  # accepted items, perhaps weighted, and rejected ones
Found = TypeVar("Found", Hit, Explanation)
T = TypeVar("T")
Options = Mapping[str, Any]
NOTHING: Mapping[str, Any] = MappingProxyType({})
ONE_PASS = {"feedback": 0.0, "gamma": 0.0, "cut": None, "explain": False}  # what rejected items teach comes later
MOST_BYTES = 1 << 27  # of scores of all items that are kept of sets
PLAIN, WITH_PARTS = 2, 8  # arrays of all items that a question keeps, one with vectors or neighbors
MOST_JOINED = EXAMPLES // 2  # of so many examples others may join


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
            for pair in zip(own, _outcomes(map(self._ask, own)), strict=True):
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


def _outcomes(askings: Iterable[Asking[Standing]]) -> Iterator[Standing | SetsearchError]:
    """What comes of questions, and why one cannot be asked; raises all other errors."""
    for own in in_rounds(askings):
        if isinstance(own, SetsearchError) and not isinstance(own, QueryError | UsageError):
            raise own
        yield own


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
    if not marks[0]:
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
    asked = _outcomes(several.ask(name, ONE_PASS, True) for name in names)
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


class Rivalry(NamedTuple):
    """Sets that are asked together, in the order of their places; `weighed` has a row of Weighed for each.

    `exclusive`: the places of those that exclude one another, group by group. `rivals` has those of each that has kin
    among them. `within`: places of parts and of their wholes.
    """

    names: list[str]
    weighed: Floats
    exclusive: list[Ints]
    rivals: dict[int, set[int]]
    within: list[tuple[int, int]]

    @classmethod
    def of(cls, groups: Groups, known: Mapping[str, Weighed]) -> "Rivalry":
        """Of some sets, and what is known of each."""
        names, weighed = [*known], np.array([*known.values()], float).reshape(len(known), len(Weighed._fields))
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            if groups.of.get(name) in groups.exclusive:
                places.setdefault(groups.of[name], []).append(place)
        rivals: dict[int, set[int]] = {}
        for group in places:
            rivals |= groups.rivals_of_kin(group, names)
        exclusive = [np.array(own, np.int64) for own in places.values() if len(own) > 1]
        number_of = {name: place for place, name in enumerate(names)}
        within = [
            (number_of[name], number_of[whole])
            for name in names
            for whole in groups.wholes(name)
            if whole in known and known[whole].is_told
        ]
        return cls(names, weighed, exclusive, rivals, within)

    def couple(self, scores: Floats, members: Flags, rejected: Flags) -> "Coupled":
        """What the sets say together of items, by the `scores` of each alone; all are `(n_sets, n)`."""
        lines, _, floors, units = self.weighed[:, 2:].T
        heights = heights_of(scores, floors[:, None], units[:, None])
        heights[rejected] = -np.inf
        best, who = self.best(heights)
        taken = self.best(np.where(members, 1.0, 0.0))[0] > 0 if members.any() else np.zeros(members.shape, bool)
        are_above, alone = scores > lines[:, None], (heights > best) & ~taken
        fits = alone.copy()
        for part, whole in self.within:
            fits[part] &= members[whole] | (are_above[whole] & alone[whole])
        return Coupled(members, rejected, heights, best, who, taken, fits, are_above & fits)

    def taking(self, best: Floats) -> Floats:
        """What the best rivals take from scores, on the lattice of sums, in nats, `(n_sets, n)`."""
        scales, *_, units = (column[:, None] for column in self.weighed.T)
        return _taken(best, scales, units)

    def best(self, heights: Floats) -> tuple[Floats, Ints]:
        """The height of each item in the best rival of each set, -inf without one, and its place: `(n_sets, n)`."""
        best, who = np.full(heights.shape, -np.inf), np.full(heights.shape, -1)
        columns = np.arange(heights.shape[1])
        for rows in self.exclusive:
            left = heights[rows]
            first = left.argmax(0)
            best[rows], who[rows] = left[first, columns], rows[first]
            left[first, columns] = -np.inf
            second = left.argmax(0)  # of the best one itself, the best rival
            best[rows[first], columns], who[rows[first], columns] = left[second, columns], rows[second]
            for row in [row for row in rows.tolist() if row in self.rivals]:
                others = np.array(sorted(self.rivals[row]), np.int64)
                best[row] = heights[others].max(0, initial=-np.inf)
                who[row] = others[heights[others].argmax(0)] if len(others) else -1
        who[best == -np.inf] = -1
        return best, who


def _taken(best: Floats, scales: Any, units: Any) -> Floats:
    taken: Floats = to_lattice(np.maximum(best, 0.0) * (OTHERS * scales * np.where(units > 0, units, 0.0))) / scales
    return taken


class Coupled(NamedTuple):
    """Items in sets that know each other, `(n_sets, n)` each: heights, and those in the `best` rival, `who`.

    Members are accepted. `taken`: a rival has it; `fits`: it may belong beside the rivals and within the wholes;
    `belong`: it is above the line, too.
    """

    members: Flags
    rejected: Flags
    heights: Floats
    best: Floats
    who: Ints
    taken: Flags
    fits: Flags
    belong: Flags

    @property
    def are_open(self) -> Flags:
        """Nobody has said anything of these in the set, nor has a rival them."""
        return ~(self.members | self.rejected | self.taken)


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
        return _taken(self.best, self.standing.weighed.scale, self.standing.weighed.unit)


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


class Beside(NamedTuple):
    """The question of a set beside its rivals: `left_out` has what its options leave out, and what others have.

    `taking`: what the best of them takes from its scores.
    """

    fields: Fields
    weights: SeedWeights
    left_out: list[int]
    cannot_tell: bool
    row: Row
    taking: Floats

    def named(self, found: Found, id: int) -> Found:
        """A hit or an explanation whose rival is told by its name, or that has none."""
        label, row = "", self.row
        if self.taking[id]:
            label = f"fits {row.names[row.who[id]]} {'better' if row.best[id] >= row.heights[id] else 'too'}"
        features = (part._replace(feature=label) if part.feature == RIVAL else part for part in found.features)
        reasons = (
            own._replace(label=label, features=(label,)) if own.features == (RIVAL,) else own for own in found.reasons
        )
        return found._replace(
            features=tuple(part for part in features if part.feature),
            reasons=tuple(own for own in reasons if own.label),
        )


class SetBeside(NamedTuple):
    """A set in a group, or within another, as a reading is asked about it: its name, and accepted and rejected items.

    `kept` has what sets said together, for those that are asked next on the same content.
    """

    reading: Reading
    name: str
    seeds: Seeds
    rejected: Sequence[str]
    kept: list[Any]

    def expand(self, k: int | None, options: Options) -> Hits:
        """As `Reading.expand`."""

        def answer(own: Beside, plan: Plan) -> Hits:
            decided = own.row.belong, own.row.standing.weighed.is_told
            judge = Judge(own.cannot_tell, decided)
            hits = best_hits(own.fields, Divided([own.weights]), own.left_out, plan, judge)
            hits.asked = Asked(self.reading, self.seeds, {**plan.request.model, "exclude": self.rejected})
            if not plan.explains:
                return hits
            ids = own.fields.find_all([hit.item for hit in hits])
            return hits.with_hits(own.named(hit, ids[hit.item]) for hit in hits)

        return self._ask(k, options, answer)

    def explain(self, item: Id, options: Options) -> Explanation:
        """As `Reading.explain`."""

        def answer(own: Beside, plan: Plan) -> Explanation:
            id = own.fields.resolve(item)
            return own.named(explanation(own.fields, own.weights, id), id)

        return self._ask(1, {**options, "explain": True}, answer)

    def scored(self, options: Options, answer: Callable[[Fields, Floats], T]) -> T:
        """What `answer` makes of the fields and the scores of all items, as `Reading.scores` has them."""
        refuse("scores", options)

        def scored(own: Beside, plan: Plan) -> T:
            scores = own.weights.scores() + own.weights.constant
            scores[own.left_out] = -np.inf
            among = own.fields.allowed(plan.request.among, plan.request.filter)
            return answer(own.fields, scores if among is None else only(scores, among))

        return self._ask(1, options, scored)

    def _ask(self, k: int | None, options: Options, answer: Callable[[Beside, Plan], T]) -> T:
        """What `answer` makes of the question. Raises as `Reading.expand`."""
        reading, name, seeds, rejected, kept = self
        plan = reading.plan(k, cast(Any, {**options, "exclude": rejected}))
        given = seeds if isinstance(seeds, dict) else tuple(seeds), tuple(rejected)

        def ask(fields_by: FieldsBy) -> T:
            """The same in one transaction."""
            known = reading.candidates(fields_by)
            sets = StoredSets(known[-1].cursor)
            groups, stored = sets.groups(), dict[str, Given](sets.marks_of(reading.name))
            stored[name] = given
            asked = {other: stored[other] for other in groups.asked_with([name]) if other in stored}
            more = {key: options[key] for key in ("like", "having", "gamma") if key in options}
            key = (asked, groups, plan.request.model, more, [own.first.source for own in known])
            several = Several(reading, fields_by, asked, groups, plan.request.model, {name: more})
            if not kept or kept[0] != key:
                kept[:] = key, Together(several)
            if name in kept[1].problems:
                raise kept[1].problems[name]
            row: Row = kept[1].asked_by(several).row(name)
            fields, weights, left_out, cannot_tell = now(reading.weigh(fields_by, seeds, plan, row.standing.taken))
            taking = row.taking()
            weights = weights.less(RIVAL, taking) if taking.any() else weights
            left_out += np.flatnonzero(row.taken & ~row.members).tolist()
            return answer(Beside(fields, weights, left_out, cannot_tell, row, taking), plan)

        return reading.answer(plan, ask)
