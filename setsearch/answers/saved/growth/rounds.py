"""The rounds of a run: each asks all sets with their members (together.py), and stores what joins.

A candidate is an item that fits a set best. The best candidates join as long as their mean chance (chances.py) is the
promised share or more; otherwise the set stops. Of the others, those that are right more often than not are doubtful:
the inbox has them. What somebody put off with a reason, or instead of another answer, is left to people.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from setsearch.answers.contributions import contributions
from setsearch.answers.reading import Reading
from setsearch.answers.reasons import wording
from setsearch.answers.results import odd_note, rest_of
from setsearch.answers.saved.groups import Marks
from setsearch.answers.saved.growth.chances import Growing, chances, odds_of
from setsearch.answers.saved.growth.grown import PUT_OFF, Grown, forget_doubtful, titled, waiting_items, with_odds
from setsearch.answers.saved.growth.runs import End, Grower, Plan
from setsearch.answers.saved.standing import Several
from setsearch.answers.saved.stored import StoredSets
from setsearch.answers.saved.together import Together
from setsearch.errors import TakenOver
from setsearch.memory.readings import FieldsBy
from setsearch.search.cutoff import fits, odd_one
from setsearch.search.passes import Weighing
from setsearch.search.request import NO_LIMIT
from setsearch.storage.generations import Draft
from setsearch.storage.relation import find_again

DOUBTFUL = 0.5  # the least chance of what comes to the inbox
PAUSE = 1.0  # seconds of a round after which others may write


class Round(NamedTuple):
    """What a round found: what joins, what is doubtful, the marks and what waits, of which this is true; d of each."""

    joining: list[Grown]
    doubtful: list[Grown]
    marks: Mapping[str, Marks]
    waiting: Mapping[str, Sequence[str]]
    odds: Mapping[str, float]


class _Moved(Exception):
    """Somebody has changed the items or the sets in the middle of a round."""


class _Elsewhere(Exception):
    """Somebody has deleted a set of a run, given it another name, or put it into another group."""


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
        return min(max(self._plan.rounds - self._grower.last_round(), 0), NO_LIMIT)

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
                yield titled(self._grower.reading, [with_odds(own, found.odds) for own in found.joining])
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
        waiting = waiting_items(stored)
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
                waits = [*row.standing.fields.find_all(waiting.get(name, ())).values()]
                own = Growing(name, row, row if first is together else first.row(name), waits)
                best, rest = _candidates(own, self._plan, odds[name])
                joining += _told(own, best, number)
                doubtful += _told(own, rest, number)
        return Round(joining, doubtful, known, waiting, odds)

    def _store(self, found: Round) -> bool:
        """Store a round; False if somebody changed a set meanwhile.

        Raises TakenOver if the run was stopped, _Elsewhere: of another group or name another run may be at work.
        """
        with self._grower.database.write() as cursor:
            for draft in self._drafts:
                draft.renew_in(cursor)
            stored = StoredSets(cursor)
            marks, of = stored.marks_of(self._grower.reading.name), stored.groups().of
            for name, group in self._group_of.items():
                if name not in marks:
                    raise _Elsewhere(f"the set {name!r} is deleted or renamed")
                if of.get(name) != group:
                    raise _Elsewhere(
                        f"the set {name!r} is in {f'the group {of[name]!r}' if name in of else 'no group'}"
                    )
            if (marks, waiting_items(stored)) != (found.marks, found.waiting):
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


def _candidates(own: Growing, plan: Plan, d: float) -> tuple[list[int], list[int]]:
    """The items that join a set, and those that are doubtful, the best first."""
    standing = own.now.standing
    free = own.now.fits & np.isfinite(own.now.scores)
    free[[*standing.excluded, *own.waits]] = False
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
