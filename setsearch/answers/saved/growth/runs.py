"""Runs of sets that grow: who is at work, how far it is, why it has ended, and what is taken back.

One run of a group is at work at a time (storage/generations.py): others are told, and may stop it.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from typing import NamedTuple

from setsearch.answers.reading import Reading
from setsearch.answers.saved.growth.grown import PUT_OFF, Grown, forget_doubtful, grown_members, grown_rows, titled
from setsearch.answers.saved.stored import IS_MEMBER, StoredSets
from setsearch.errors import ChangedSet, LostArrays, SetsearchError
from setsearch.options import GROWING
from setsearch.sqlite.database import Database
from setsearch.storage.generations import Draft, find_generation, forget, json_array, who_writes
from setsearch.storage.relation import find_again
from setsearch.storage.revisions import Revision

AT_WORK = 3600.0  # seconds that a round may take: the file may be locked meanwhile
TOLD = "told"  # the name of what is kept of a run that has ended
TOLD_OF_GROWTH = "notes", "runs", "untold", "ended"  # beside the rows, at all doors


class End(Enum):
    """Why a run has ended."""

    REACHED = "it was to go so far"
    NOTHING = "nothing joined"
    STOPPED = "somebody has stopped it"
    ELSEWHERE = "a set is in another group now, has another name, or is deleted"


class Plan(NamedTuple):
    """Up to which round sets grow, by how many items, the share that must be right; whether what joined before is."""

    rounds: int
    each: int
    precision: float
    accept: bool = False


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
            taken = [own for own in grown_rows(cursor, names) if own.round >= round]
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
            found, relation = Growth(grown_rows(cursor, self.names), self), find_again(cursor, self.reading.name)
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
