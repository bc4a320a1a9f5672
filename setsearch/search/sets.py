"""Sets that people keep: items that were accepted, items that were rejected, under a name in the database."""

import sqlite3
from collections.abc import Callable
from typing import Any

from setsearch.errors import InvalidParameter, NoSeeds, UnknownItem, UnknownSet
from setsearch.search.reading import Reading
from setsearch.search.results import Hit
from setsearch.storage.database import Database
from setsearch.storage.names import storable


class ItemSet:
    """A set that grows: `accepted` are its examples, `rejected` negative ones. Made by `Index.set`."""

    def __init__(self, name: str, reading: Reading, database: Database) -> None:
        self.name = name
        self.accepted: list[str] = []
        self.rejected: list[str] = []
        self._reading = reading
        self._database = database
        self._changes: dict[str, int | None] = {}  # since it was loaded: accepted 1, rejected 0, forgotten None

    @property
    def items(self) -> str:
        """What is ranked."""
        return self._reading.name

    def accept(self, *items: str) -> None:
        """Take items in, also those that were rejected. Raises UnknownItem; then nothing has changed."""
        self._move(items, self.accepted, self.rejected)

    def reject(self, *items: str) -> None:
        """Note that items are not meant, also those that were accepted. Raises UnknownItem."""
        self._move(items, self.rejected, self.accepted)

    def forget(self, *items: str) -> None:
        """Neither accepted nor rejected any more."""
        for item in items:
            self._changes[item] = None
            for marked in (self.accepted, self.rejected):
                if item in marked:
                    marked.remove(item)

    def expand(self, k: int | None = 10, **options: Any) -> list[Hit]:
        """`Reading.expand` with what was accepted as seeds and what was rejected as negative examples."""
        if not self.accepted:
            raise NoSeeds(f"the set {self.name!r} has no accepted item; accept one first")
        try:
            return self._reading.expand(self.accepted, k, exclude=self.rejected, **options)
        except UnknownItem as error:
            raise UnknownItem(f"the set {self.name!r}: {error}; forget what has left the index") from error

    def save(self, replace: bool = False) -> None:
        """Keep the changes in the database, in one transaction: what others changed in the set meanwhile stays.

        With `replace` the set is kept as it is here, in the place of one of the same name.
        """
        changes = self._changes
        if replace:
            changes = {item: int(item in self.accepted) for item in (*self.accepted, *self.rejected)}
        with self._database.write() as cursor:
            if replace:
                _delete(cursor, self.name)
            cursor.execute("insert or ignore into setsearch_set (name, items) values (?, ?)", (self.name, self.items))
            (items,) = cursor.execute("select items from setsearch_set where name = ?", (self.name,)).fetchone()
            if items != self.items:
                raise InvalidParameter(f"the set {self.name!r} is of {items} by now, not of {self.items}")
            for item, mark in changes.items():
                if mark is None:
                    cursor.execute("delete from setsearch_member where name = ? and item = ?", (self.name, item))
                else:
                    cursor.execute(
                        "insert or replace into setsearch_member (name, item, accepted) values (?, ?, ?)",
                        (self.name, item, mark),
                    )
        self._changes = {}

    def _move(self, items: tuple[str, ...], here: list[str], there: list[str]) -> None:
        found = dict.fromkeys(self._reading.find(item) for item in items)
        self.forget(*found)
        here += found
        self._changes |= dict.fromkeys(found, int(here is self.accepted))


def new_set(name: str, database: Database, reading: Reading) -> ItemSet:
    """An empty set; raises InvalidParameter for what is no name."""
    if not storable(name) or not name.isprintable():
        raise InvalidParameter(f"a set has a name of printable characters, not {name!r}")
    return ItemSet(name, reading, database)


def load_set(name: str, items: str | None, database: Database, reading: Callable[[str | None], Reading]) -> ItemSet:
    """The set that was saved under a name, or a new, empty one of `items`."""
    with database.read() as cursor:
        row = cursor.execute("select items from setsearch_set where name = ?", (name,)).fetchone()
        marks = dict(
            cursor.execute("select item, accepted from setsearch_member where name = ? order by item", (name,))
        )
    if row is not None and items not in (None, row[0]):
        raise InvalidParameter(f"the set {name!r} is of {row[0]}, not of {items}; use another name")
    made = new_set(name, database, reading(items if row is None else row[0]))
    made.accepted += [item for item, mark in marks.items() if mark]
    made.rejected += [item for item, mark in marks.items() if not mark]
    return made


def set_names(database: Database) -> dict[str, str]:
    """The names of all saved sets, each with what it ranks."""
    with database.read() as cursor:
        return dict(cursor.execute("select name, items from setsearch_set order by name"))


def delete_set(database: Database, name: str) -> None:
    """Forget a saved set; raises UnknownSet."""
    with database.write() as cursor:
        if not _delete(cursor, name):
            raise UnknownSet(f"no set {name!r}; `setsearch set list` shows what is there")


def _delete(cursor: sqlite3.Cursor, name: str) -> bool:
    cursor.execute("delete from setsearch_member where name = ?", (name,))
    return cursor.execute("delete from setsearch_set where name = ?", (name,)).rowcount > 0
