"""Sets that people keep: items that were accepted, items that were rejected, under a name in the database."""

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from setsearch.database import Database
from setsearch.errors import InvalidParameter, NoSeeds, UnknownSet
from setsearch.expansion import Reading
from setsearch.hits import Hit
from setsearch.names import storable


class ItemSet:
    """A set that grows: `accepted` are its examples, `rejected` negative ones. Made by `Index.set`."""

    def __init__(
        self,
        name: str,
        reading: Reading,
        database: Database,
        accepted: Iterable[str] = (),
        rejected: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.accepted = list(accepted)
        self.rejected = list(rejected)
        self._reading = reading
        self._database = database

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
            for marked in (self.accepted, self.rejected):
                if item in marked:
                    marked.remove(item)

    def expand(self, k: int | None = 10, **options: Any) -> list[Hit]:
        """`Reading.expand` with what was accepted as seeds and what was rejected as negative examples."""
        if not self.accepted:
            raise NoSeeds(f"the set {self.name!r} has no accepted item; accept one first")
        return self._reading.expand(self.accepted, k, exclude=self.rejected, **options)

    def save(self) -> None:
        """Keep the set in the database, in the place of one of the same name. One transaction."""
        with self._database.write() as cursor:
            _delete(cursor, self.name)
            cursor.execute("insert into setsearch_set (name, items) values (?, ?)", (self.name, self.items))
            marks = [(item, 1) for item in self.accepted] + [(item, 0) for item in self.rejected]
            cursor.executemany(
                "insert into setsearch_member (name, item, accepted) values (?, ?, ?)",
                [(self.name, item, mark) for item, mark in marks],
            )

    def _move(self, items: tuple[str, ...], here: list[str], there: list[str]) -> None:
        found = [self._reading.find(item) for item in items]
        self.forget(*found)
        here += dict.fromkeys(found)


def load_set(name: str, items: str | None, database: Database, reading: Callable[[str | None], Reading]) -> ItemSet:
    """The set that was saved under a name, or a new, empty one of `items`."""
    if not storable(name):
        raise InvalidParameter(f"a set has a name, not {name!r}")
    with database.read() as cursor:
        row = cursor.execute("select items from setsearch_set where name = ?", (name,)).fetchone()
        marks = dict(
            cursor.execute("select item, accepted from setsearch_member where name = ? order by item", (name,))
        )
    if row is not None and items not in (None, row[0]):
        raise InvalidParameter(f"the set {name!r} is of {row[0]}, not of {items}; use another name")
    chosen = items if row is None else row[0]
    accepted = [item for item, mark in marks.items() if mark]
    return ItemSet(name, reading(chosen), database, accepted, [item for item, mark in marks.items() if not mark])


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
