"""Saved sets that grow by themselves, side by side, with brakes.

A round asks all sets with their members (rivals.py). A candidate is an item that fits a set best; the
odds that it is right are estimated by

    exp(a + b v + c v0) u0 / n        v = h - 1/2 max(0, h_o)

where h and h_o are its heights in the set and in its best rival. v0 is the same for the members that did not come by
growing, so that a set does not drift from these, and u0 their unit (top - floor, in nats). n is the number of items,
within SIZES: the more there are, the more are as like the set by chance. a, b and c are fitted on collections with
classes (benchmarks/LOG.md). How hard a collection is nobody knows from examples alone: what people said of items with a
chance p, in a set or in its group, multiplies the odds by exp(d), where

    d = sum(1 if it is right else 0 - 1 / (1 + exp(-d) (1 - p) / p))        the most likely one, if d is normal (0, 1)

of which half counts above 0, for what came first was easy. The best candidates join as long as their mean chance is the
promised share or more; otherwise the set stops. Of the others, those that are right more often than not are doubtful:
the inbox has them. The share is a promise only if people judged all that joined before, JUDGED items at least. All
depends on what is stored alone, so a run that was interrupted goes on as if nothing had happened. One run of a group is
at work at a time (storage/generations.py): others are told, and may stop it.
"""

import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import partial
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from setsearch.answers.contributions import contributions
from setsearch.answers.highlight import titles_of
from setsearch.answers.numeric import NumericReading
from setsearch.answers.reading import Reading
from setsearch.answers.reasons import wording
from setsearch.answers.results import odd_note, rest_of
from setsearch.answers.saved.groups import Marks, wanted_sets
from setsearch.answers.saved.rivals import OTHERS, Row, Several, Together
from setsearch.answers.saved.stored import IS_MEMBER, StoredSets
from setsearch.arrays import Floats
from setsearch.errors import ChangedSet, InvalidParameter, LostArrays, SetsearchError, TakenOver, UsageError
from setsearch.memory.readings import FieldsBy
from setsearch.options import GROWING, Progress
from setsearch.search.cutoff import fits, odd_one
from setsearch.search.passes import Weighing
from setsearch.sqlite.database import Database
from setsearch.storage.generations import Draft, find_generation, forget, json_array, who_writes
from setsearch.storage.relation import find_again
from setsearch.storage.revisions import Revision

CHANCE = (5.9, 1.14, 3.0)  # a, b, c
SIZES = 262, 17_610  # items of the smallest and of the largest of these
EASY = 0.5  # of a d above 0
STEPS, NEARLY = 50, 1e-9  # towards d, at most; what is no step, nor a chance
JUDGED = 10  # items, by which a promise can be made, if they are all that joined
DOUBTFUL = 0.5  # the least chance of what comes to the inbox
PUT_OFF = 2  # a mark of what is no member
AT_WORK = 3600.0  # seconds that a round may take: the file may be locked meanwhile
PAUSE = 1.0  # seconds of a round after which others may write
TOLD = "told"  # the name of what is kept of a run that has ended


class End(Enum):
    """Why a run has ended."""

    REACHED = "it was to go so far"
    NOTHING = "nothing joined"
    STOPPED = "somebody has stopped it"
    ELSEWHERE = "a set is in another group now"


class Grown(NamedTuple):
    """An item that joined a set in a `round`: its score in nats, the chance that it is right, what tells most.

    `over` is the best other set, if the item fits one; `title` tells more than its name, if something does. What is
    stored is the chance without what people said.
    """

    set: str
    item: str
    title: str | None
    round: int
    score: float
    chance: float
    reason: str
    over: str | None


TOLD_OF_GROWTH = "notes", "runs", "untold", "ended"  # beside the rows, at all doors


class Growth(list[Grown]):
    """What joined, in the order in which it came. `runs`: the process that is at work; None if none is.

    Of the run that ended last, `ended` tells why, and `end` of which kind that is, where the run was called here.
    `untold`: why the share that must be right is no promise; None if it is one, or nothing joined. `notes`: which sets
    cannot grow, and why; and which example fits the others of its set least.
    """

    ended: str = ""
    end: End | None = None
    untold: str | None = None
    notes: Sequence[str] = ()
    runs: str | None = None

    def __init__(self, rows: Iterable[Grown], grower: "Grower") -> None:
        super().__init__(rows)
        self._grower = grower

    @property
    def last(self) -> int:
        """The last round in which something joined; what people said since does not count."""
        return max((own.round for own in self), default=0)

    def stop(self) -> None:
        """Stop the run that is at work, if one is; the rounds that it stored stay, and `grow` goes on."""
        with self._grower.database.write() as cursor:
            for place in self._grower.places(cursor):
                forget(cursor, *place, is_whole=False)

    def take_back(self, round: int) -> list[Grown]:
        """Take back what joined in a round and in those after it, unless somebody has judged it; returns that.

        `grow` goes on from there. Raises ChangedSet if a run is at work, InvalidParameter.
        """
        GROWING["rounds"]._replace(name="round").check(round)
        with self._grower.database.write() as cursor:
            for place in self._grower.require_free(cursor):
                forget(cursor, *place)
            stored, names = StoredSets(cursor), self._grower.names
            taken = [own for own in _grown(cursor, names) if own.round >= round]
            doubtful = f"update setsearch_member set accepted = {PUT_OFF} where name = ? and item = ?"
            for own in taken:
                with stored.changing(own.set, [own.item]):
                    cursor.execute(doubtful, own[:2])
            forget_doubtful(stored, names)
        self.ended, self.untold = "", None
        self[:] = [own for own in self if own.round < round]
        return titled(self._grower.reading, taken)


class Grower(NamedTuple):
    """Sets of one kind of items that grow, perhaps those of a `group`: one run of them at a time."""

    database: Database
    reading: Reading
    names: Sequence[str]
    group: str | None

    def places(self, cursor: sqlite3.Cursor) -> list[tuple[int, str]]:
        """Where it stands who is at work: a place for each group, and one for all sets that are in none."""
        of, relation = StoredSets(cursor).groups().of, find_again(cursor, self.reading.name).id
        groups = {self.group} if self.group else {of[name] for name in self.names if name in of}
        alone = [] if self.group else [name for name in self.names if name not in of]
        return [(relation, f"growth of {own}") for own in [*sorted(groups), *([alone] if alone else [])]]

    def require_free(self, cursor: sqlite3.Cursor) -> list[tuple[int, str]]:
        """The places, if no run is at work. Raises ChangedSet."""
        for place in (places := self.places(cursor)):
            if owner := who_writes(cursor, *place, AT_WORK):
                what = f"the group {self.group!r}" if self.group else ", ".join(self.names[:3])
                way_out = "wait until it has ended, or `setsearch set group --stop` stops it"
                raise ChangedSet(f"{what} grows already (host and process {owner}); {way_out}")
        return places

    def begin(self) -> list[Draft]:
        """Tell that a run begins, and no longer why the last one has ended. Raises ChangedSet if one is at work."""
        with self.database.write() as cursor:
            places = self.require_free(cursor)
            for place in places:
                forget(cursor, *place)
        begun = list[Draft]()
        try:
            for place in places:
                if (draft := Draft.begin(self.database, *place, AT_WORK)) is None:
                    break  # somebody was quicker
                begun.append(draft)
        finally:
            if len(begun) < len(places):
                for own in begun:
                    own.abandon()
        return begun if len(begun) == len(places) else self.begin()

    def end(self, drafts: Iterable[Draft], found: Growth) -> None:
        """Tell that a run has ended, and why, as far as the database can be written."""
        told = {name: getattr(found, name) for name in ("ended", "untold", "notes")}
        for draft in drafts:
            try:
                draft.write([(TOLD, json_array(told))])
                draft.publish(Revision(0, 0, 0))
            except SetsearchError:
                draft.abandon()

    def growth(self) -> Growth:
        """What joined so far, and how far a run is."""
        with self.database.read() as cursor:
            found, relation = Growth(_grown(cursor, self.names), self), find_again(cursor, self.reading.name)
            for place in reversed(self.places(cursor)):
                found.runs = who_writes(cursor, *place, AT_WORK) or found.runs
                if ended := find_generation(relation, place[1]):
                    with suppress(LostArrays):
                        vars(found).update(ended.json(TOLD))
        found[:] = titled(self.reading, found)
        return found

    def last_round(self) -> int:
        """The last round that added something."""
        return max((own.round for own in grown_members(self.database, self.names)), default=0)

    def accept(self) -> None:
        """What joined is right: somebody has looked at it."""
        with self.database.write() as cursor:
            for name in self.names:
                with StoredSets(cursor).changing(name):
                    joined = "name = ? and round is not null and accepted = 1"
                    cursor.execute(f"update setsearch_member set round = null where {joined}", (name,))

    def judged(self) -> tuple[int, int]:
        """How many items that joined somebody has judged, and how many not."""
        grown = f"select name, round is null from setsearch_member where chance is not null and {IS_MEMBER}"
        with self.database.read() as cursor:
            are_judged = [is_judged for name, is_judged in cursor.execute(grown).fetchall() if name in self.names]
        return sum(are_judged), len(are_judged) - sum(are_judged)


class Round(NamedTuple):
    """What a round found: what joins, what is doubtful, the marks of which this is true, and d of each set."""

    joining: list[Grown]
    doubtful: list[Grown]
    marks: Mapping[str, Marks]
    odds: Mapping[str, float]


class Plan(NamedTuple):
    """Up to which round sets grow, by how many items, the share that must be right; whether what joined before is."""

    rounds: int
    each: int
    precision: float
    accept: bool = False


class _Moved(Exception):
    """Somebody has changed the items or the sets in the middle of a round."""


class _Elsewhere(Exception):
    """Somebody has put a set of a run into another group."""


class Rounds:
    """What each of the rounds that are left adds, once it is stored.

    A round reads in one transaction, in which it gives way to others who write. What they change makes it begin again,
    once: then they wait.
    """

    def __init__(self, grower: Grower, plan: Plan, drafts: Sequence[Draft]) -> None:
        self._grower, self._plan, self._drafts = grower, plan, drafts
        self._left, self._done = len(self), 0
        self._asked, self._of = 0, 1  # sets, in this round
        self._gives_way, self._paused = True, 0.0
        with grower.database.read() as cursor:
            of = StoredSets(cursor).groups().of
        self._group_of = {name: grower.group or of.get(name) for name in grower.names}
        self.notes: list[str] = []  # of the last one, as Growth has them
        self.ended = ""  # why, as Growth has it
        self.end: End | None = None

    def __len__(self) -> int:
        return max(self._plan.rounds - self._grower.last_round(), 0)

    def __iter__(self) -> Iterator[list[Grown]]:
        while (done := self._grower.last_round()) < self._plan.rounds:
            try:
                reading = self._grower.reading
                found = reading.answer(reading.plan(1, {}), partial(self._ask, done + 1))
                is_stored, self._gives_way = self._store(found), True
            except _Moved:
                self._gives_way = False
                continue
            except TakenOver:
                self.ended, self.end = f"somebody has stopped it in round {done + 1}", End.STOPPED
                return
            except _Elsewhere as error:
                self.ended, self.end = f"{error} now, so round {done + 1} was not stored", End.ELSEWHERE
                return
            if is_stored:
                if not found.joining:
                    self.ended = f"nothing joined in round {done + 1}: no candidate is certain enough"
                    self.end = End.NOTHING
                    return
                self._done, self._asked = self._done + 1, 0
                yield titled(self._grower.reading, [_with_odds(own, found.odds) for own in found.joining])
        self.ended, self.end = f"round {done} is reached", End.REACHED

    @property
    def share(self) -> float:
        """What was asked of the sets of all rounds that were left."""
        return min((self._done + self._asked / self._of) / max(self._left, 1), 1.0)

    def tell(self) -> None:
        """A set was asked."""
        self._asked += 1

    def _giving_way(self, stored: StoredSets) -> Callable[[], None]:
        """What lets others write now and then, in a transaction. It raises _Moved."""
        database, cursor, name = self._grower.database, stored.cursor, self._grower.reading.name

        def state() -> tuple[object, ...]:
            """What a round depends on."""
            relation = find_again(cursor, name)
            return stored.seal(), relation.state, relation.items.vectors, relation.features.vectors

        before, self._paused = state(), time.monotonic()

        def pause() -> None:
            """Let others write, if it is time."""
            if self._gives_way and time.monotonic() - self._paused >= PAUSE:
                if not database.give_way(cursor) and state() != before:
                    raise _Moved
                self._paused = time.monotonic()

        return pause

    def _ask(self, number: int, fields_by: FieldsBy) -> Round:
        """The next round of what is stored now."""
        reading, names = self._grower.reading, self._grower.names
        stored = StoredSets(reading.candidates(fields_by)[-1].cursor)
        known, groups = stored.marks_of(reading.name), stored.groups()
        asked = {name: known[name] for name in groups.asked_with(names) if name in known}
        rows = stored.cursor.execute(
            "select name, item from setsearch_member where chance is not null and accepted = 1"
        )
        grown = {*rows.fetchall()}
        given = {
            name: (tuple(item for item in marks[0] if (name, item) not in grown), marks[1])
            for name, marks in asked.items()
        }
        pause = self._giving_way(stored)
        several = Several(reading, fields_by, asked, groups, told=self.tell, pause=pause)
        self._asked, self._of = 0, len(asked) * (1 + (given != asked))
        together = Together(several)
        first = together if given == asked else Together(several._replace(marks=given))
        first = first if first.sources == together.sources else together  # sets that lack such members are as they are
        self.notes = [*_notes(first, reading, names)]
        joining, doubtful, odds = list[Grown](), list[Grown](), odds_of(stored, names)
        for name in names:
            if name in together.heads and together.heads[name].weighed.is_told:
                row = together.row(name)
                pause()
                own = Growing(name, row, row if first is together else first.row(name))
                best, rest = _candidates(own, self._plan, odds[name])
                joining += _told(own, best, number)
                doubtful += _told(own, rest, number)
        return Round(joining, doubtful, known, odds)

    def _store(self, found: Round) -> bool:
        """Store a round; False if somebody changed a set meanwhile.

        Raises TakenOver if the run was stopped, _Elsewhere: of another group another run may be at work.
        """
        with self._grower.database.write() as cursor:
            for draft in self._drafts:
                draft.renew_in(cursor)
            stored = StoredSets(cursor)
            marks, of = stored.marks_of(self._grower.reading.name), stored.groups().of
            for name, group in self._group_of.items():
                if name in marks and of.get(name) != group:
                    raise _Elsewhere(
                        f"the set {name!r} is in {f'the group {of[name]!r}' if name in of else 'no group'}"
                    )
            if marks != found.marks:
                return False
            forget_doubtful(stored, self._grower.names)
            for row, mark in chain(product(found.joining, [1]), product(found.doubtful, [PUT_OFF])):
                with stored.changing(row.set, [row.item]):
                    cursor.execute(
                        "insert into setsearch_member (name, item, round, score, chance, reason, over, accepted) "
                        "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set accepted = excluded.accepted, "
                        "round = excluded.round, score = excluded.score, chance = excluded.chance, "
                        "over = excluded.over, reason = excluded.reason",
                        (row.set, row.item, *row[3:], mark),  # the title is the item's
                    )
        return True


def grow(grower: Grower, plan: Plan, progress: Progress) -> Growth:
    """As `Index.grow`."""
    for name, value in plan._asdict().items():
        GROWING[name].check(value)
    drafts, found = grower.begin(), Growth((), grower)
    try:
        if plan.accept:
            grower.accept()
        judged, unjudged = grower.judged()
        growing = Rounds(grower, plan, drafts)
        found += (own for joined in progress(growing) for own in joined)
        found.notes, found.ended, found.end = growing.notes, growing.ended, growing.end
        if found and (unjudged or judged < JUDGED):
            found.untold = _no_promise(plan, grower.judged()[1])
    except SetsearchError as error:
        found.ended = str(error)
        raise
    finally:
        grower.end(drafts, found)
    return found


def _no_promise(plan: Plan, unjudged: int) -> str:
    items = f"the {unjudged:,} items that joined" if unjudged > 1 else "the item that joined"
    return (
        f"that {plan.precision:g} of them are right is an estimate, and no promise before somebody has judged {items}: "
        "reject what is wrong, then go on with `accept`"
    )


def odds_of(stored: StoredSets, names: Iterable[str]) -> dict[str, float]:
    """d of some sets, by what people said of items of their groups."""
    groups = stored.groups()
    rows = stored.cursor.execute(
        "select name, chance, accepted from setsearch_member "
        f"where round is null and chance is not null and {IS_MEMBER} order by chance, accepted"
    ).fetchall()
    said: dict[tuple[str, bool], list[tuple[float, int]]] = {}
    for name, chance, accepted in rows:
        said.setdefault((groups.of.get(name, name), name in groups.of), []).append((chance, accepted))
    likely = {of: _most_likely(own) for of, own in said.items()}
    found = {of: d * (EASY if d > 0 else 1.0) for of, d in likely.items()}
    return {name: found.get((groups.of.get(name, name), name in groups.of), 0.0) for name in names}


def _most_likely(said: Sequence[tuple[float, int]]) -> float:
    """d by chances, and whether they came true; by Newton's method."""
    logits, wanted, d = _logits(np.array([own for own, _ in said])), float(sum(right for _, right in said)), 0.0
    for _ in range(STEPS):
        p = _chances(logits + d)
        step = float(wanted - p.sum() - d) / float((p * (1 - p)).sum() + 1)
        d += max(min(step, 1.0), -1.0)
        if abs(step) < NEARLY:
            break
    return d


def _logits(chances: Floats) -> Floats:
    own = chances.clip(NEARLY, 1 - NEARLY)
    return np.asarray(np.log(own / (1 - own)))


def _chances(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logits.clip(-50, 50))))


def chosen_sets(
    database: Database, known: Mapping[str, str], names: Iterable[str] | None, group: str | None
) -> tuple[list[str], str]:
    """Which of the `known` sets, each with its items, are to grow, and their items; raises UnknownSet, UsageError."""
    if (names is None) == (group is None):
        raise InvalidParameter("give sets or a group, one of the two")
    if group is not None:
        with database.read() as cursor:
            names = StoredSets(cursor).group(group).sets
    chosen = sorted({*wanted_sets(known, names)})
    if not chosen:
        raise InvalidParameter("no set to grow; give at least one")
    kinds = sorted({known[name] for name in chosen})
    if len(kinds) > 1:
        raise UsageError(f"there are sets of {' and of '.join(kinds)}; grow those of one kind")
    return chosen, kinds[0]


def grown_members(database: Database, names: Sequence[str], doubtful: bool = False) -> list[Grown]:
    """What joined sets by itself, or is doubtful, in the order in which it came."""
    with database.read() as cursor:
        return _grown(cursor, names, doubtful)


def titled(reading: Reading | NumericReading, rows: Sequence[Grown]) -> list[Grown]:
    """The same with titles."""
    titles = titles_of(reading, [own.item for own in rows])
    return [own._replace(title=titles.get(own.item)) for own in rows]


def _grown(cursor: sqlite3.Cursor, names: Sequence[str], doubtful: bool = False) -> list[Grown]:
    rows = cursor.execute(
        "select name, item, null, round, score, chance, coalesce(reason, ''), over from setsearch_member "
        "where round is not null and accepted = ? order by round, name, chance desc, item",
        (PUT_OFF if doubtful else 1,),
    ).fetchall()
    odds = odds_of(StoredSets(cursor), names)
    return [_with_odds(Grown(*row), odds) for row in rows if row[0] in odds]


def _with_odds(own: Grown, odds: Mapping[str, float]) -> Grown:
    """What is stored of an item, with the chance by what people said."""
    d = odds[own.set]
    return own._replace(chance=float(_chances(_logits(np.array([own.chance])) + d)[0])) if d else own


def forget_doubtful(stored: StoredSets, names: Iterable[str]) -> None:
    """Forget what growing left in doubt, but not what a person had put off, or noted."""
    doubtful = f"where name = ? and accepted = {PUT_OFF} and round is not null"
    grown = ", ".join(f"{column} = null" for column in ("round", "score", "chance", "reason", "over"))
    for name in names:
        items = [item for (item,) in stored.cursor.execute(f"select item from setsearch_member {doubtful}", (name,))]
        with stored.changing(name, items):
            nothing = "number is null and note is null"
            stored.cursor.execute(f"delete from setsearch_member {doubtful} and {nothing}", (name,))
            stored.cursor.execute(f"update setsearch_member set {grown} {doubtful}", (name,))


def _notes(first: Together, reading: Reading, names: Sequence[str]) -> Iterator[str]:
    """What is said of sets, as `Growth.notes`, by the members that did not come by growing."""
    yield from (f"{name}: {why}" for name, why in first.problems.items() if name in names)
    for name, own in first.heads.items():
        if name not in names:
            continue
        if own.untold:
            yield f"{name}: {own.untold}; it does not grow"
        else:
            examples = replace(own.examples, ids=sorted(own.examples.ids))
            odd = odd_one(fits(own.fields, Weighing(own.fields, reading.defaults.choose({})).one_pass(examples)))
            yield from [f"{name}: {odd_note(odd.item, odd.title)}"] if odd else []


class Growing(NamedTuple):
    """A set that grows: what it says of items now, and by the members that did not come by growing alone."""

    name: str
    now: Row
    first: Row


def chances(own: Growing, d: float = 0.0) -> Floats:
    """The chance of each item to be right in a set, `(n_ids,)`."""
    constant, now, before = CHANCE
    constant += unit_for_each(own.first) + d
    return _chances(constant + now * _beside(own.now) + before * _beside(own.first))


def unit_for_each(first: Row) -> float:
    """ln(u0 / n) of a set."""
    given = first.standing
    size = min(max(given.fields.items.size, SIZES[0]), SIZES[1])
    return math.log(max(given.weighed.unit, np.finfo(float).tiny) / size)


def _beside(row: Row) -> Floats:
    """v of each item."""
    own: Floats = row.heights - OTHERS * np.maximum(row.best, 0.0)
    return own


def _candidates(own: Growing, plan: Plan, d: float) -> tuple[list[int], list[int]]:
    """The items that join a set, and those that are doubtful, the best first."""
    standing = own.now.standing
    free = own.now.fits & np.isfinite(own.now.scores)
    free[standing.excluded] = False
    ids = np.flatnonzero(free)
    chance = chances(own, d)[ids]
    if len(ids) > 2 * plan.each:
        best = chance >= np.partition(chance, -2 * plan.each)[-2 * plan.each]
        ids, chance = ids[best], chance[best]
    names = standing.fields.describe(ids.tolist())
    ranked = sorted((-one, names[id][0], id) for one, id in zip(chance.tolist(), ids.tolist(), strict=True))
    count, total = 0, 0.0
    for one, _, _ in ranked[: plan.each]:
        total -= one
        if total < plan.precision * (count + 1):
            break
        count += 1
    left = [id for one, _, id in ranked[count : count + plan.each] if -one >= DOUBTFUL]
    return [id for _, _, id in ranked[:count]], left


def _told(own: Growing, ids: Sequence[int], number: int) -> Iterator[Grown]:
    """Items of a set with what is kept of them."""
    if not ids:
        return
    row, fields, weights = own.now, own.now.standing.fields, own.now.standing.weights
    chance, taking = chances(own), row.taking()
    parts = contributions(fields, weights, [*ids])
    how, names = wording(fields, parts.values(), weights.examples.ids), fields.describe([*ids])
    for id in ids:
        score = float(row.scores[id])
        told = how.reasons(parts[id], rest_of(score, parts[id]))
        reason = next((part.label for part in told if part.weight > 0), "")
        over = row.names[row.who[id]] if row.best[id] > 0 else None
        yield Grown(own.name, *names[id], number, score - float(taking[id]), float(chance[id]), reason, over)
