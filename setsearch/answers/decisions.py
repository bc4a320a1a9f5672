"""What a person decided about items, one after another: the members of a saved set, in their order."""

from collections.abc import Mapping
from time import time
from typing import NamedTuple

from setsearch.answers.sets import begin_set
from setsearch.errors import InvalidParameter
from setsearch.sqlite.database import Database

LONGEST_NOTE = 10_000  # characters
MARKS = {"no": 0, "yes": 1, "later": 2}
_WORDS = {mark: word for word, mark in MARKS.items()}


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


class Decisions:
    """The decisions of one saved set. They are in the database only, so that several people may decide at once."""

    def __init__(self, database: Database, name: str, items: str) -> None:
        self.name, self.items = name, items
        self._database = database

    def read(self) -> list[Decision]:
        """All decisions in their order; those known from the start come first."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "select item, accepted, number, time, reason, note from setsearch_member where name = ? "
                "order by number, item",
                (self.name,),
            ).fetchall()
        return [Decision(item, _WORDS[mark], *rest) for item, mark, *rest in rows]

    def write(
        self, said: Mapping[str, str], known: bool = False, reason: str | None = None, note: str | None = None
    ) -> None:
        """Decide about items, again or for the first time, in one transaction; a note stays until another is given.

        Raises InvalidParameter.
        """
        for text in (reason, note):
            if text is not None and ("\0" in text or len(text) > LONGEST_NOTE):
                raise InvalidParameter(f"a reason or a note has up to {LONGEST_NOTE} characters, without NUL")
        for word in said.values():
            if word not in MARKS:
                raise InvalidParameter(f"a decision is yes, no or later, not {word!r}")
        with self._database.write() as cursor:
            begin_set(cursor, self.name, self.items)
            (items,) = cursor.execute("select items from setsearch_set where name = ?", (self.name,)).fetchone()
            if items != self.items:
                raise InvalidParameter(f"the set {self.name!r} is of {items}, not of {self.items}; use another name")
            cursor.executemany(
                "insert or replace into setsearch_member (name, item, accepted, number, time, reason, note) "
                "values (?1, ?2, ?3, case when ?4 then null "
                "else (select coalesce(max(number), 0) + 1 from setsearch_member where name = ?1) end, "
                "?5, ?6, coalesce(?7, (select note from setsearch_member where name = ?1 and item = ?2)))",
                [
                    (self.name, item, MARKS[word], known, time(), reason or None, note or None)
                    for item, word in said.items()
                ],
            )

    def undo(self) -> Decision | None:
        """Take the last decision back; None if there is none."""
        with self._database.write() as cursor:
            row = cursor.execute(
                "delete from setsearch_member where name = ? and number = "
                "(select max(number) from setsearch_member where name = ?) returning item, accepted, number, note",
                (self.name, self.name),
            ).fetchone()
        return None if row is None else Decision(row[0], _WORDS[row[1]], row[2], note=row[3])
