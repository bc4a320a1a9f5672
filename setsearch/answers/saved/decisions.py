"""What a person decided about items, one after another: the members of a saved set, in their order."""

import json
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from itertools import chain
from time import time
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from setsearch.answers.saved.stored import Row, StoredSets
from setsearch.errors import AnsweredMeanwhile, ChangedSet, InvalidParameter, number_of
from setsearch.options import Id
from setsearch.sqlite.database import Database
from setsearch.storage.ids import check_names, id_text, is_storable

LONGEST_NOTE = 10_000  # characters
MOST_EARLIER = 20  # answers about an item that an undo can bring back, one after another
LATER = "later"
MARKS = {"no": 0, "yes": 1, LATER: 2}
ANSWERS = {  # how files say it
    **dict.fromkeys((LATER, "maybe"), LATER),
    **dict.fromkeys("yes y 1 1.0 true included include relevant accepted accept".split(), "yes"),
    **dict.fromkeys("no n 0 0.0 false excluded exclude irrelevant rejected reject".split(), "no"),
}
_WORDS = {mark: word for word, mark in MARKS.items()}
_NO_TEXTS: Mapping[str, tuple[str | None, str | None]] = MappingProxyType({})
T = TypeVar("T")
ROUND, OVER = 7, 10  # columns of a row


class Decision(NamedTuple):
    """An item and what was said: "yes", "no" or "later"; `number` is its place, None if it was known from the start.

    `time` in seconds since 1970, None for decisions of versions before 0.22; `reason` says why not, `note` anything.
    """

    item: str
    said: str
    number: int | None = None
    time: float | None = None
    reason: str | None = None
    note: str | None = None

    def __str__(self) -> str:
        """What was said, for people. A note alone puts an item off."""
        if self.said == "later" and self.note:
            return f"the note on {self.item}: {self.note}"
        note = f", with the note: {self.note}" if self.note else ""
        return f"{self.said} to {self.item}{f' ({self.reason})' if self.reason else ''}{note}"


class Decisions:
    """The decisions of one saved set. They are in the database, so that several people may decide at once.

    What this object has read stays here, too: `restore` brings a set back that somebody else has deleted.
    """

    def __init__(self, database: Database, name: str, items: str) -> None:
        self.name, self.items = name, items
        self._database = database
        self._known: list[Row] | None = None  # None if the set was never there
        self._own: list[Row] = []  # what this object said
        self._written: set[Row] = set()  # the same, and what it knew from the start
        self._first: int | None = None  # the first number of what it said

    def read(self) -> list[Decision]:
        """All decisions in their order; those known from the start come first. Raises ChangedSet."""
        with self._database.read() as cursor:
            is_there = self._require_there(StoredSets(cursor))
            statement = "select * from setsearch_member where name = ? order by number, item"
            rows = cursor.execute(statement, (self.name,)).fetchall()
        self._known = rows if is_there else None
        return [*map(_decision, rows)]

    def write(
        self,
        said: Mapping[str, str],
        texts: Mapping[str, tuple[str | None, str | None]] = _NO_TEXTS,
        known: bool = False,
        replaces: str | None = None,
    ) -> list[Decision]:
        """Decide about items, again or for the first time, in one transaction; a note stays until another is given.

        `texts` are the reasons and the notes of some.

        Returns what was said of them before. An answer that another object gave is replaced by an answer that was
        `known`, by an equal one, or if it is `replaces`. Raises InvalidItem, InvalidParameter, AnsweredMeanwhile, and
        ChangedSet if somebody has deleted the set.
        """
        said, texts = _by_names(said), _by_names(texts)
        own = {item: texts.get(item, (None, None)) for item in said}
        _require_texts(own.values())
        for word in said.values():
            if word not in [*MARKS]:
                raise InvalidParameter(f"a decision is yes, no or later, not {word!r}")
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            self._require_there(stored)
            stored.begin(self.name, self.items)
            items = stored.items_of(self.name)
            if items != self.items:
                raise InvalidParameter(f"the set {self.name!r} is of {items}, not of {self.items}; use another name")
            before = stored.rows(self.name, said)
            for theirs in (_decision(row) for row in before.values() if not known and _said(row) not in self._written):
                _require_agreed(theirs, said[theirs.item], own[theirs.item][0], replaces)
            free = "select coalesce(max(number), 0) + 1 from setsearch_member where name = ?"
            (first,) = cursor.execute(free, (self.name,)).fetchone()
            with stored.changing(self.name, said):
                cursor.executemany(
                    "insert or replace into setsearch_member (name, item, accepted, number, time, reason, note, over) "
                    "values (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        (
                            *(self.name, item, MARKS[word], None if known else number, time()),
                            *_texts(before.get(item), word, *own[item]),
                            None if known or item not in before else _earlier(before[item]),
                        )
                        for number, (item, word) in enumerate(said.items(), first)
                    ],
                )
            after = stored.rows(self.name, said)
        self._note(after, after.values())
        if not known:
            self._own += map(_said, after.values())
            self._first = first if self._first is None else self._first
        self._written.update(map(_said, after.values()))
        return [*map(_decision, before.values())]

    def complete(self, texts: Mapping[str, tuple[str, str]]) -> None:
        """Give decisions the reasons and notes that they lack. Raises InvalidItem, InvalidParameter, ChangedSet."""
        texts = _by_names(texts)
        _require_texts(texts.values())
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            self._require_there(stored)
            with stored.changing(self.name, texts):
                cursor.executemany(
                    "update setsearch_member set reason = coalesce(reason, ?1), note = coalesce(note, ?2) "
                    "where name = ?3 and item = ?4",
                    [(reason or None, note or None, self.name, item) for item, (reason, note) in texts.items()],
                )
            after = stored.rows(self.name, texts)
        self._note(after, after.values())

    def undo(self, item: Id | None = None) -> Decision | None:
        """Take back the last decision, or that about an item; what it replaced is there again.

        The last one is that of this object, if it still stands, else that of all before its first one. Returns what was
        taken back, without a note that stays; None if there is nothing. Raises InvalidItem, ChangedSet.
        """
        if item is not None:
            check_names([item := id_text(item)], ())
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            self._require_there(stored)
            while self._own and item is None:
                own = self._own.pop()
                item = own[0] if own in map(_said, stored.rows(self.name, own[:1]).values()) else None
            one = ("item = ?", item) if item else ("number < coalesce(?, number + 1)", self._first)
            row = cursor.execute(
                "select * from setsearch_member where name = ? and number is not null and round is null "
                f"and {one[0]} order by number desc, time desc, item limit 1",
                (self.name, one[1]),
            ).fetchone()
            if row is None:
                return None
            with stored.changing(self.name, row[1:2]):
                cursor.execute("delete from setsearch_member where name = ? and item = ?", row[:2])
            undone, before = _decision(row)._replace(time=None), [own for own in [_replaced(row)] if own is not None]
            stored.insert(before)
        self._note(row[1:2], before)
        return undone._replace(note=None) if undone.note in [_decision(own).note for own in before] else undone

    def restore(self) -> None:
        """Bring back what this object has read or written of a set that somebody has deleted since."""
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            if stored.items_of(self.name) is None:
                stored.begin(self.name, self.items)
                stored.insert(self._known or ())

    def _note(self, items: Container[str], rows: Iterable[Row]) -> None:
        """Know what is stored of some items now."""
        self._known = [row for row in self._known or () if row[1] not in items] + [*rows]

    def _require_there(self, stored: StoredSets) -> bool:
        """Whether the set is there; raises ChangedSet if it was, and is no more."""
        is_there = stored.items_of(self.name) is not None
        if self._known is not None and not is_there:
            gone = f"somebody has deleted the set {self.name!r} meanwhile, and nothing was saved"
            raise ChangedSet(f"{gone}; `restore` brings its {number_of(len(self._known), 'answer')} back")
        return is_there


def _by_names(given: Mapping[Any, T]) -> dict[str, T]:
    """What is given by ids, by the names of these. Raises InvalidItem for what is no id."""
    named = {id_text(item): own for item, own in given.items()}
    check_names([*named], ())
    return named


def _said(row: Row) -> Row:
    """What was said of an item, and when: somebody else may have added a reason or a note."""
    return row[1:5]


def _require_texts(texts: Iterable[tuple[str | None, str | None]]) -> None:
    """Raise InvalidParameter for a reason or a note that cannot be kept."""
    texts = [*texts]
    for own in texts:
        if not isinstance(own, (tuple, list)) or len(own) != 2:
            raise InvalidParameter(f"the texts of an item are a reason and a note, not {own!r:.40}")
    for text in chain.from_iterable(texts):
        if text and (not is_storable(text) or len(text) > LONGEST_NOTE):
            raise InvalidParameter(
                f"a reason or a note has up to {LONGEST_NOTE:,} characters, without NUL or surrogates, not {text!r:.40}"
            )


def _texts(row: Row | None, said: str, reason: str | None, note: str | None) -> tuple[str | None, str | None]:
    """The reason and the note of an answer: a note stays until another is given, a reason as long as the answer."""
    old = None if row is None else _decision(row)
    kept = old.reason if old is not None and old.said == said else None
    return reason or kept, note or (old and old.note) or None


def _require_agreed(theirs: Decision, said: str, reason: str | None, replaces: str | None) -> None:
    """Raise AnsweredMeanwhile if an answer would replace another one that it does not name."""
    is_equal = theirs.said == said and (not reason or theirs.reason in (None, reason))
    if theirs.said not in ("later", replaces) and not is_equal:
        told = f"somebody has said {theirs} meanwhile, and your {said} was not saved"
        raise AnsweredMeanwhile(f"{told}; `replaces` overrules it", theirs.said)


def _earlier(row: Row) -> str:
    """What a decision keeps of the row that it replaces, and of those before: their columns, the latest first."""
    over = None if row[ROUND] is None else row[OVER]
    return json.dumps([[*row[2:OVER], over], *_history(row)][:MOST_EARLIER], ensure_ascii=False)


def _history(row: Row) -> list[list[Any]]:
    """The rows that a decision has replaced. What joined by itself has something else there."""
    with suppress(ValueError, TypeError):
        found = json.loads(row[OVER]) if row[ROUND] is None else []
        if isinstance(found, list) and all(isinstance(own, list) and len(own) == OVER - 1 for own in found):
            return found
    return []


def _replaced(row: Row) -> Row | None:
    """The row that a decision has replaced; None if there was none."""
    history = _history(row)
    if not history:
        return None
    *own, over = history[0]
    return (*row[:2], *own, over or (json.dumps(history[1:], ensure_ascii=False) if history[1:] else None))


def _decision(row: Row) -> Decision:
    return Decision(row[1], _WORDS[row[2]], *row[3:7])
