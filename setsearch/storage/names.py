"""The names of one kind of thing, under small integer ids that are reused after a deletion.

The names of contexts: not stored one by one, but as the numbers that they are made of."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import MEND, AmbiguousItem, CorruptIndex, InvalidParameter, UnknownItem
from setsearch.storage.integrity import without_sum
from setsearch.storage.sql import insert_rows

NEAR_CANDIDATES = 20_000
MANY = 500
TOGETHER = 20_000  # names that are inserted by one statement
HIGHEST = chr(0x10FFFF)  # behind every other character


def storable(name: object) -> bool:
    """Whether something can be an id or a feature: text, not empty, without NUL or lone surrogates."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


class NamesTaken(sqlite3.IntegrityError):
    """Names that were to be new are there: `known`, with their ids."""

    def __init__(self, error: Exception, known: dict[str, int]) -> None:
        super().__init__(str(error))
        self.known = known


@dataclass
class Kind:
    """One kind as stored: `size` names, all ids below `peak`."""

    id: int
    name: str
    size: int
    peak: int
    titles_shown: bool = False  # whether a title, where there is one, is shown in the place of the name

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist."""
        return dict(
            cursor.execute(
                "select name, id from setsearch_name where kind = ? and name in (select value from json_each(?))",
                (self.id, json.dumps(names)),
            )
        )

    def find_one(self, cursor: sqlite3.Cursor, name: str) -> int | None:
        """The id of a name; None where there is none, or could be none."""
        if not storable(name):
            return None
        row = cursor.execute("select id from setsearch_name where kind = ? and name = ?", (self.id, name)).fetchone()
        return None if row is None else int(row[0])

    def titled(self, cursor: sqlite3.Cursor, title: str) -> list[tuple[int, str]]:
        """(id, name) of everything that bears this title."""
        if not storable(title):
            return []
        return cursor.execute(
            "select id, name from setsearch_name where kind = ? and title = ? order by name limit 5", (self.id, title)
        ).fetchall()

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of each id."""
        rows: list[tuple[int, str, str | None]] = []
        for start in range(0, len(ids), MANY):
            part = ids[start : start + MANY]
            rows += cursor.execute(
                f"select id, name, title from setsearch_name where kind = ? and id in ({','.join('?' * len(part))})",
                (self.id, *part),
            )
        if self.titles_shown:
            return {id: (title or name, None) for id, name, title in rows}
        return {id: (name, title) for id, name, title in rows}

    def ids(self, cursor: sqlite3.Cursor, by_name: bool = False) -> Iterable[int]:
        """All ids, ascending or in the order of their names (by code point)."""
        order = "name" if by_name else "id"
        return (
            id for (id,) in cursor.execute(f"select id from setsearch_name where kind = ? order by {order}", (self.id,))
        )

    def names(self, cursor: sqlite3.Cursor) -> list[str]:
        """All names, in their order."""
        rows = cursor.execute("select name from setsearch_name where kind = ? order by name", (self.id,))
        return [name for (name,) in rows]

    def hint(self, cursor: sqlite3.Cursor, name: str) -> str:
        """A question that offers the names and titles that look like `name`; empty where there are none."""
        near = self.near(cursor, name)
        return f"did you mean {' or '.join(map(repr, near))}?" if near else ""

    def near(self, cursor: sqlite3.Cursor, name: str, limit: int = 3) -> list[str]:
        """Names and titles that look like `name`, the most alike first."""
        import difflib

        if not storable(name):
            return []
        found: dict[str, str] = {}
        for column in ("name", "title"):
            rows = cursor.execute(
                f"select {column} from setsearch_name where kind = ? and length({column}) between ? and ? "
                f"order by substr({column}, 1, 1) <> ?, id limit {NEAR_CANDIDATES}",
                (self.id, len(name) * 2 // 3, len(name) * 3 // 2 + 1, name[:1]),
            )
            found |= {text.lower(): text for (text,) in rows}
        found.pop(name.lower(), None)
        return [found[match] for match in difflib.get_close_matches(name.lower(), found, limit, 0.7)]

    def starting(self, cursor: sqlite3.Cursor, prefix: str, limit: int) -> list[int]:
        """Ids whose name or title begins with a text, as it stands."""
        return [
            id
            for column in ("name", "title")
            for (id,) in cursor.execute(
                f"select id from setsearch_name where kind = ? and {column} >= ? and {column} < ? limit ?",
                (self.id, prefix, prefix + HIGHEST, limit),
            )
        ]

    def with_word_starting(self, cursor: sqlite3.Cursor, prefix: str, limit: int) -> list[int]:
        """Ids in whose name or title, in lower case, a later word begins with a text."""
        rows = cursor.execute(
            "select id from setsearch_name where kind = ? and instr(lower(coalesce(title, name)), ?) limit ?",
            (self.id, " " + prefix, limit),
        )
        return [id for (id,) in rows]

    def insert(
        self, cursor: sqlite3.Cursor, names: Sequence[str], titles: Sequence[str | None] | None = None
    ) -> list[int]:
        """Give distinct new names ids: the free ones first, so that ids stay below the largest size ever.

        Raises NamesTaken where some are there already; then others may have been inserted.
        """
        free: list[int] = []
        if self.size < self.peak:
            taken = set(self.ids(cursor))
            free = [id for id in range(self.peak) if id not in taken][: len(names)]
        ids = free + list(range(self.peak, self.peak + len(names) - len(free)))
        try:
            self._insert(cursor, ids, names, titles)
        except sqlite3.IntegrityError as error:
            found, given = self.find(cursor, names), dict(zip(names, ids, strict=True))
            raise NamesTaken(error, {name: id for name, id in found.items() if id != given[name]}) from error
        self.size += len(ids)
        self.peak += len(ids) - len(free)
        return ids

    def _insert(
        self, cursor: sqlite3.Cursor, ids: list[int], names: Sequence[str], titles: Sequence[str | None] | None
    ) -> None:
        titled = titles is not None and set(titles) != {None}
        if titled or ids[:1] != [self.peak]:
            insert, titles = "insert into setsearch_name (kind, id, name, title)", titles or [None] * len(names)
            insert_rows(cursor, insert, f"({self.id}, ?, ?, ?)", ids, names, titles)
            return
        for start in range(0, len(names), TOGETHER):  # the same, in half the time
            cursor.execute(
                "insert into setsearch_name (kind, id, name) select ?, ? + key, value from json_each(?)",
                (self.id, ids[start], json.dumps(names[start : start + TOGETHER])),
            )

    def retitle(self, cursor: sqlite3.Cursor, rows: Iterable[tuple[str | None, int]]) -> None:
        """Set the titles of ids."""
        cursor.executemany(
            "update setsearch_name set title = ? where kind = ? and id = ?",
            [(title, self.id, id) for title, id in rows],
        )

    def delete(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> None:
        """Forget ids."""
        cursor.executemany("delete from setsearch_name where kind = ? and id = ?", [(self.id, id) for id in ids])
        self.size -= len(ids)

    def save(self, cursor: sqlite3.Cursor) -> None:
        """Write size and peak back."""
        if self.size == 0:
            self.peak = 0
        cursor.execute("update setsearch_kind set size = ?, peak = ? where id = ?", (self.size, self.peak, self.id))


CONTEXT_KINDS = {f"contexts {name}": name for name in ("win2", "skip", "lists")}
_KEYS, _WORDS = "keys", "words"


@dataclass
class ContextKind(Kind):
    """Contexts of one field of a derived relation; they can be shown, but not looked up by name."""

    relation: int = 0  # whose features they are
    _loaded: tuple[Ints, dict[int, str]] | None = field(default=None, repr=False)

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """None."""
        return {}

    def find_one(self, cursor: sqlite3.Cursor, name: str) -> int | None:
        """None."""
        return None

    def ids(self, cursor: sqlite3.Cursor, by_name: bool = False) -> Iterable[int]:
        """All ids."""
        return range(self.size)

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(context as people write it, None) of each id."""
        if not ids:
            return {}
        from setsearch.text.contexts import describe

        if self._loaded is None:
            stored = dict(
                cursor.execute(
                    "select name, value from setsearch_derived where relation = ? and reading = ''", (self.relation,)
                )
            )
            values = {name: without_sum(value) for name, value in stored.items()}
            keys, words = values.get(_KEYS), values.get(_WORDS)
            if keys is None or words is None or len(keys) != 8 * self.size:
                raise CorruptIndex(f"the names of {self.name} are damaged; {MEND}")
            named = {int(number): word for number, word in json.loads(words).items()}
            self._loaded = np.frombuffer(keys, "<i8"), named
        numbers, names = self._loaded
        own = CONTEXT_KINDS[self.name]
        return {id: (describe(own, int(numbers[id]), lambda number: names.get(number, "?")), None) for id in ids}


def context_values(keys: Ints, words: dict[int, str]) -> dict[str, bytes]:
    """What a derived relation remembers of its contexts."""
    return {_KEYS: keys.astype("<i8").tobytes(), _WORDS: json.dumps(words, ensure_ascii=False).encode()}


def resolve_item(cursor: sqlite3.Cursor, kind: Kind, name: str, hint: bool = True) -> int:
    """The item of an id, or of a title that only one has; raises UnknownItem, AmbiguousItem, InvalidParameter.

    A hint at names that look alike looks at many.
    """
    if not isinstance(name, str):
        raise InvalidParameter(f"an item is named by its id, a text, not by {name!r}")
    id = kind.find_one(cursor, name)
    if id is not None:
        return id
    titled = kind.titled(cursor, name)
    if len(titled) == 1:
        return titled[0][0]
    if titled:
        ids = ", ".join(repr(id) for _, id in titled)
        raise AmbiguousItem(f"{name!r} is the title of several {kind.name}; name one by its id: {ids}")
    way_out = (kind.hint(cursor, name) if hint else "") or "look at what is there with `setsearch info`"
    said = name if len(name) < 80 else name[:79] + "…"
    raise UnknownItem(f"no {said!r} among the {kind.size} {kind.name}; {way_out}")
