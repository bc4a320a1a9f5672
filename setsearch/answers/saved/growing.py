"""Saved sets that grow by themselves, side by side, with brakes.

A round asks all sets with the members that they have (coupling.py). A candidate is an item that fits a set best; the
chance that it is right is estimated by

    1 / (1 + exp(-(a + b v + c v0)))        v = h - 1/2 max(0, h_o)

where h and h_o are its heights in the set and in its best rival, and v0 is the same for the members that a person gave:
so a set does not drift from these. a, b and c are fitted on collections with classes (benchmarks/LOG.md). The best
candidates join as long as their mean chance is the promised share or more; otherwise the set stops. Of the others,
those that are right more often than not are doubtful: the inbox has them. All depends on what is stored alone, so a run
that was interrupted goes on as if nothing had happened.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, product
from sqlite3 import Cursor
from typing import NamedTuple

import numpy as np

from setsearch.answers.contributions import contributions
from setsearch.answers.reading import Reading
from setsearch.answers.reasons import wording
from setsearch.answers.results import rest_of
from setsearch.answers.saved.coupling import OTHERS, Together, ask_together
from setsearch.answers.saved.groups import Marks, marks_of_sets, read_group, read_groups, wanted_sets
from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter, UsageError
from setsearch.memory.readings import FieldsBy
from setsearch.options import Counted, Progress
from setsearch.sqlite.database import Database
from setsearch.sqlite.integrity import sealed_members

CHANCE = (-2.45, 3.5, 2.3)  # a, b, c
DOUBTFUL = 0.5  # the least chance of what comes to the inbox
PUT_OFF = 2  # a mark of what is no member


class Grown(NamedTuple):
    """An item that joined a set in a `round`: its score in nats, the chance that it is right, what tells most.

    `over` is the best other set, if the item fits one.
    """

    set: str
    item: str
    round: int
    score: float
    chance: float
    reason: str
    over: str | None


class Round(NamedTuple):
    """What a round found: what joins, what is doubtful, and the marks of which this is true."""

    joining: list[Grown]
    doubtful: list[Grown]
    marks: Mapping[str, Marks]


class Plan(NamedTuple):
    """The sets that grow, up to which round, by how many items, and the share that must be right."""

    names: Sequence[str]
    rounds: int
    each: int
    precision: float


def grow(
    database: Database,
    reading: Reading,
    names: Sequence[str],
    rounds: int,
    each: int,
    precision: float,
    progress: Progress,
) -> list[Grown]:
    """As `Index.grow`, of sets of one reading."""
    if not isinstance(precision, int | float) or not 0 < precision < 1:
        raise InvalidParameter(f"precision is a share above 0 and below 1, such as .9, not {precision!r}")
    plan = Plan(names, _whole("rounds", rounds), _whole("each", each), float(precision))
    rounds_left = Counted(_rounds(reading, database, plan), lambda: max(plan.rounds - _last_round(database, plan), 0))
    return [own for joined in progress(rounds_left) for own in joined]


def _last_round(database: Database, plan: Plan) -> int:
    return max((own.round for own in grown_members(database, plan.names)), default=0)


def _whole(name: str, number: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise InvalidParameter(f"`{name}` is a whole number from 1 on, not {number!r}")
    return number


def chosen_sets(
    database: Database, known: Mapping[str, str], names: Iterable[str] | None, group: str | None
) -> tuple[list[str], str]:
    """Which of the `known` sets, each with its items, are to grow, and their items; raises UnknownSet, UsageError."""
    if (names is None) == (group is None):
        raise InvalidParameter("give sets or a group, one of the two")
    if group is not None:
        with database.read() as cursor:
            names = read_group(cursor, group).sets
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
        rows = cursor.execute(
            "select name, item, round, score, chance, coalesce(reason, ''), over from setsearch_member "
            "where round is not null and accepted = ? order by round, name, chance desc, item",
            (PUT_OFF if doubtful else 1,),
        ).fetchall()
    wanted = {*names}
    return [Grown(*row) for row in rows if row[0] in wanted]


def forget_doubtful(cursor: Cursor, names: Iterable[str]) -> None:
    """Forget what growing left in doubt."""
    doubtful = f"from setsearch_member where name = ? and accepted = {PUT_OFF} and round is not null"
    for name in names:
        items = [item for (item,) in cursor.execute(f"select item {doubtful}", (name,))]
        with sealed_members(cursor, name, items):
            cursor.execute(f"delete {doubtful}", (name,))


def _rounds(reading: Reading, database: Database, plan: Plan) -> Iterator[list[Grown]]:
    """What each round adds, once it is stored."""
    while True:
        done = _last_round(database, plan)
        if done >= plan.rounds:
            return
        found = reading.answer({}, partial(_round, reading, plan, done + 1))
        if _store(database, reading, plan, found):
            if not found.joining:
                return
            yield found.joining


def _store(database: Database, reading: Reading, plan: Plan, found: Round) -> bool:
    """Store a round; False if somebody changed a set meanwhile."""
    with database.write() as cursor:
        if marks_of_sets(cursor, reading.name) != found.marks:
            return False
        forget_doubtful(cursor, plan.names)
        for row, mark in chain(product(found.joining, [1]), product(found.doubtful, [PUT_OFF])):
            with sealed_members(cursor, row.set, [row.item]):
                cursor.execute(
                    "insert into setsearch_member (name, item, round, score, chance, reason, over, accepted) "
                    "values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set accepted = excluded.accepted, "
                    "round = excluded.round, score = excluded.score, chance = excluded.chance, over = excluded.over, "
                    "reason = excluded.reason",
                    (*row, mark),
                )
    return True


def _round(reading: Reading, plan: Plan, number: int, fields_by: FieldsBy) -> Round:
    """The next round of what is stored now."""
    cursor = reading.candidates(fields_by)[-1].cursor
    stored, groups = marks_of_sets(cursor, reading.name), read_groups(cursor)
    asked = {name: stored[name] for name in groups.asked_with(plan.names) if name in stored}
    rows = cursor.execute("select name, item from setsearch_member where round is not null and accepted = 1")
    grown = {*rows.fetchall()}
    given = {
        name: (tuple(item for item in marks[0] if (name, item) not in grown), marks[1]) for name, marks in asked.items()
    }
    together = ask_together(reading, fields_by, asked, groups)
    first = together if given == asked else ask_together(reading, fields_by, given, groups)
    first = first if first.names == together.names else together  # sets that lack any such member are as they are
    joining, doubtful = list[Grown](), list[Grown]()
    for name in plan.names:
        if name in together.names:
            best, rest = _candidates(together, first, name, plan)
            joining += _told(together, first, name, best, number)
            doubtful += _told(together, first, name, rest, number)
    return Round(joining, doubtful, stored)


def chances(together: Together, first: Together, place: int) -> Floats:
    """The chance of each item to be right in a set, `(n_ids,)`."""
    constant, now, before = CHANCE
    logits = constant + now * _beside(together, place) + before * _beside(first, place)
    own: Floats = 1 / (1 + np.exp(-logits.clip(-50, 50)))
    return own


def _beside(together: Together, place: int) -> Floats:
    """v of each item."""
    own: Floats = together.coupled.heights[place] - OTHERS * np.maximum(together.coupled.best[place], 0.0)
    return own


def _candidates(together: Together, first: Together, name: str, plan: Plan) -> tuple[list[int], list[int]]:
    """The items that join a set, and those that are doubtful, the best first."""
    place = together.names.index(name)
    standing = together.standings[place]
    if not standing.weighed.is_told:
        return [], []
    free = together.coupled.fits[place] & np.isfinite(together.scores[place])
    free[standing.excluded] = False
    ids = np.flatnonzero(free)
    chance = chances(together, first, place)[ids]
    if len(ids) > 2 * plan.each:
        best = chance >= np.partition(chance, -2 * plan.each)[-2 * plan.each]
        ids, chance = ids[best], chance[best]
    names = standing.fields.describe(ids.tolist())
    ranked = sorted((-own, names[id][0], id) for own, id in zip(chance.tolist(), ids.tolist(), strict=True))
    count, total = 0, 0.0
    for own, _, _ in ranked[: plan.each]:
        total -= own
        if total < plan.precision * (count + 1):
            break
        count += 1
    left = [id for own, _, id in ranked[count : count + plan.each] if -own >= DOUBTFUL]
    return [id for _, _, id in ranked[:count]], left


def _told(together: Together, first: Together, name: str, ids: Sequence[int], number: int) -> Iterator[Grown]:
    """Items of a set with what is kept of them."""
    if not ids:
        return
    place = together.names.index(name)
    fields, weights = together.standings[place].fields, together.standings[place].weights
    chance, taking = chances(together, first, place), together.taking()[place]
    parts = contributions(fields, weights, [*ids])
    how, names = wording(fields, parts.values(), weights.examples.ids), fields.describe([*ids])
    for id in ids:
        score, who = float(together.scores[place, id]), int(together.coupled.who[place, id])
        told = how.reasons(parts[id], rest_of(score, parts[id]))
        reason = next((own.label for own in told if own.weight > 0), "")
        over = together.names[who] if together.coupled.best[place, id] > 0 else None
        yield Grown(name, names[id][0], number, score - float(taking[id]), float(chance[id]), reason, over)
