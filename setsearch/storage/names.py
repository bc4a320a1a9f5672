"""Vocabularies: the names and titles of one kind of things, under small integer ids that are reused after deletion."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import (
    REPAIR_HINT,
    AmbiguousItem,
    CorruptIndex,
    InvalidParameter,
    UnknownItem,
    did_you_mean,
    shown,
)
from setsearch.options import Id
from setsearch.storage.ids import collection_of, id_text, is_storable, plain_name
from setsearch.storage.kept.records import Records
from setsearch.storage.name_search import AMONG, LAST_CHARACTER, MOST_CANDIDATES, Descriptions, NameSearch
from setsearch.text.letters import normal_forms
from setsearch.text.matching import BREAK, WHOLE, Total, best_matches, is_one_edit, no_total, with_article_moved

PLURALS = ("s", "es")  # endings of words whose singular is offered
MOST_VERIFIED = 500  # names that are compared with the indexes when they are described
NAMES_OF_INSERT = 20_000  # in one statement
NAMES_AT_ONCE = 5_000  # are read as one text: titles may be long
# Whether a name and a title are those of their indexes; else one of both is damaged.
_IS_SOUND = """
    exists (select 1 from setsearch_name i indexed by setsearch_name_name
            where i.kind = n.kind and i.name = n.name and i.id = n.id)
    and (n.title is null or exists (select 1 from setsearch_name i indexed by setsearch_name_title
         where i.kind = n.kind and i.title = n.title and i.title is not null and i.id = n.id))
"""


class NamesTaken(sqlite3.IntegrityError):
    """Some names to be inserted exist already: `known`, with their ids."""

    def __init__(self, error: Exception, known: dict[str, int]) -> None:
        super().__init__(str(error))
        self.known = known


@dataclass
class Vocabulary(NameSearch):
    """The names of one kind, such as documents or terms: `size` names, all ids below `next_id`."""

    id: int
    name: str
    size: int
    next_id: int
    titles_shown: bool = False  # show the title in place of the name: the surface form of a stem
    has_ngrams: bool = False  # whether n-grams are among the names (text/extras.py)
    vectors: str | None = None  # where its vectors come from (kept/vectors.py)
    whole: bool = False  # whether the names came as whole numbers, in a frame
    others: tuple[str, ...] = ()  # how those begin that are features of fields, which nobody takes for words or people

    @property
    def records(self) -> Records:
        """What its items were made of."""
        return Records(self.cursor, self.id)

    def own_size(self) -> int:
        """How many names there are, without those of fields."""
        begins = "select count(*) from setsearch_name where kind = ? and name >= ? and name < ?"
        rows = (self.cursor.execute(begins, (self.id, own, own + LAST_CHARACTER)).fetchone() for own in self.others)
        return self.size - sum(int(count) for (count,) in rows)

    def find(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist; raises CorruptIndex for one beyond all ids."""
        found = self._find(names)
        if found and not 0 <= min(found.values()) <= max(found.values()) < self.next_id:
            raise CorruptIndex(f"an id of {self.name} is damaged; {REPAIR_HINT}")
        return found

    def _find(self, names: Sequence[str]) -> dict[str, int]:
        return dict(
            self.cursor.execute(
                "select name, id from setsearch_name where kind = ? and name in (select value from json_each(?))",
                (self.id, json.dumps(names)),
            )
        )

    def find_one(self, name: str) -> int | None:
        """The id of a name, or None."""
        return self.find([name]).get(name) if is_storable(name) else None

    def resolve(self, name: Id, hint: bool = True, total: Total = no_total) -> int:
        """The id of a name, or of a title that is unique; in any case and normal form, without a parenthesis at its
        end, and with its article first or last.

        Raises UnknownItem, AmbiguousItem, InvalidParameter; with `hint`, which takes a scan, it offers similar names.
        """
        name = id_text(name)
        if not isinstance(name, str):
            raise InvalidParameter(f"an item is named by its id, a text or a whole number, not by {name!r}")
        for form in normal_forms(name):  # files of a Mac have their marks apart, keyboards write them in one
            id = self.find_one(form)
            if id is not None:
                return id
        titled = next(filter(None, map(self._titled_in_any_way, normal_forms(name))), [])
        if len(titled) == 1:
            return titled[0][0]
        if titled:
            ids = ", ".join(repr(id) for _, id in titled)
            raise AmbiguousItem(f"{name!r} is the title of several {self.name}; use one of the ids: {ids}")
        way_out = (self.hint(name, total) if hint else "") or "`setsearch info` shows what the index holds"
        raise UnknownItem(f"no {shown(name)} among the {self.own_size():,} {self.name}; {way_out}")

    def _is_known(self, name: str) -> bool:
        """Whether one thing has this name, or title, in any case."""
        try:
            return self.resolve(name, hint=False) >= 0
        except (UnknownItem, AmbiguousItem):
            return False

    def _titled_in_any_way(self, name: str) -> list[tuple[int, str]]:
        """(id, name) of what has this title, in any case, or with its article at the other end."""
        moved = with_article_moved(name)
        return self.titled(name) or self.called(name) or (self.called(moved) if moved else [])

    def ids_to_delete(self, names: Sequence[str]) -> list[int]:
        """The ids of these names, in any normal form, ascending; titles are no names here. Raises UnknownItem."""
        stored = self.find([name for name in names if is_storable(name)])
        for name in names:
            forms = normal_forms(name)[1:] if name not in stored and is_storable(name) else []
            same = self.find(forms)
            of_forms = [same[form] for form in forms if form in same]
            if of_forms:
                stored[name] = of_forms[0]  # as `resolve` chooses
            if name not in stored:
                ids, near = " or ".join(repr(id) for _, id in self.titled(name)), self.hint(name)
                near += " " if near.endswith("?") else "; " * bool(near)
                hint = f"by id it is {ids}; " if ids else self._elsewhere(name) or near
                raise UnknownItem(f"no item {name!r} to delete; {hint}nothing was deleted")
        return sorted({*stored.values()})

    def _elsewhere(self, name: str) -> str:
        """Which other collections of the file have this name for such a thing."""
        kinds = self.cursor.execute("select id, name from setsearch_kind where id <> ? order by name", (self.id,))
        alike = [(id, own) for id, own in kinds.fetchall() if plain_name(own) == plain_name(self.name)]
        having = "select 1 from setsearch_name where kind = ? and name = ?"
        found = [
            f"`collection={collection}`" if (collection := collection_of(own)) else "no `collection`"
            for id, own in (alike if is_storable(name) else ())
            if self.cursor.execute(having, (id, name)).fetchone()
        ]
        return f"with {' or '.join(found)} there is one; " if found else ""

    def titled(self, title: str) -> list[tuple[int, str]]:
        """(id, name) of up to five things with this title, or else another name (kept/records.py) that it means."""
        if not is_storable(title):
            return []
        found = self.cursor.execute(
            "select id, name from setsearch_name indexed by setsearch_name_title where kind = ? and title = ? "
            "order by name limit 5",
            (self.id, title),
        ).fetchall()
        if found:
            return found
        return [(id, name) for id, (name, _) in self.stored(self.records.called(title)).items()]

    def describe(self, ids: Sequence[int]) -> Descriptions:
        """(name, title) of each id."""
        is_sound = _IS_SOUND if len(ids) <= MOST_VERIFIED else "1"
        statement = f"select id, name, title, {is_sound} from setsearch_name n where n.kind = ? and n.id {AMONG}"
        return self._sound(self.cursor.execute(statement, (self.id, json.dumps([*ids]))).fetchall())

    def pages(self, column: str, by: str) -> Iterator[tuple[Ints, bytes]]:
        """The ids that have a name, or a title, and these, each with a break behind it, in the order of ids, or of the
        index of the column. Read as rows they would take four times as long.
        """
        index, last = "" if by == "id" else f"indexed by setsearch_name_{by}", (-1 if by == "id" else "", -1)
        statement = (
            f"select group_concat(id), group_concat({column}, char(0)) from (select id, {column} from "
            f"setsearch_name {index} where kind = ? and {column} is not null and ({by}, id) > (?, ?) "
            f"order by {by}, id limit {NAMES_AT_ONCE})"
        )
        while (row := self.cursor.execute(statement, (self.id, *last)).fetchone())[0] is not None:
            ids = np.fromstring(row[0], np.int64, sep=",")
            yield ids, f"{row[1]}{BREAK}".encode()
            last = int(ids[-1]) if by == "id" else row[1].rpartition(BREAK)[2], int(ids[-1])

    def _sound(self, rows: Sequence[tuple[int, str, str | None, int]]) -> Descriptions:
        if not all(sound for *_, sound in rows):
            raise CorruptIndex(f"a name of {self.name} is damaged; {REPAIR_HINT}")
        if self.titles_shown:
            return {id: (title or name, None) for id, name, title, _ in rows}
        return {id: (name, title) for id, name, title, _ in rows}

    @property
    def are_by_code_point(self) -> bool:
        """Whether the index has the names in this order: one of UTF-16 has them in that of its bytes."""
        return bool(self.cursor.execute("pragma encoding").fetchone() == ("UTF-8",))

    def ids(self, by_name: bool = False) -> Iterable[int]:
        """All ids, ascending, or in the order of their names (by code point)."""
        if by_name and not self.are_by_code_point:
            names = self.cursor.execute("select name, id from setsearch_name where kind = ?", (self.id,))
            return [id for _, id in sorted(names)]
        order = "name" if by_name else "id"
        rows = self.cursor.execute(f"select id from setsearch_name where kind = ? order by {order}", (self.id,))
        return (id for (id,) in rows)

    def names(self) -> list[str]:
        """All names, sorted."""
        rows = self.cursor.execute("select name from setsearch_name where kind = ? order by name", (self.id,))
        return [name for (name,) in rows]

    def hint(self, name: str, total: Total = no_total) -> str:
        """A question that offers similar names and titles; empty if there are none. Names may stand in one text.

        What begins with the text, but is much longer, comes after what is one edit from it.
        """
        if not name.strip():
            return ""
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and all(map(self._is_known, parts)):
            return f"give each by itself: {' '.join(map(shown, parts))}"
        shorter = [name.lower().removesuffix(ending) for ending in PLURALS if name.lower().endswith(ending)]
        known = self.find([own for own in shorter if is_storable(own)])
        names = dict.fromkeys(own for own in shorter if own in known)
        found = best_matches(self.search(name, MOST_CANDIDATES), total)
        found.sort(key=lambda one: one.quality != WHOLE and not is_one_edit(name.casefold(), one.shown.casefold()))
        names |= dict.fromkeys(one.name if self.titles_shown else one.shown for one in found)
        return did_you_mean(names)

    def between(self, first: str, after: str) -> Ints:
        """The ids of the names from `first` on that stand before `after`; raises CorruptIndex for one beyond all."""
        found = self.cursor.execute(
            "select id from setsearch_name where kind = ? and name >= ? and name < ?", (self.id, first, after)
        )
        ids = np.fromiter((id for (id,) in found), np.int64)
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.next_id:
            raise CorruptIndex(f"an id of {self.name} is damaged; {REPAIR_HINT}")
        return ids

    def insert(self, names: Sequence[str], titles: Sequence[str | None] | None = None) -> list[int]:
        """Give ids to distinct new names, free ids first, so that ids stay small.

        Raises NamesTaken if some exist already; others may have been inserted then.
        """
        free: list[int] = []
        if self.size < self.next_id:
            rows = self.cursor.execute("select id from setsearch_free where kind = ? limit ?", (self.id, len(names)))
            free = [id for (id,) in rows]
            self.cursor.executemany(
                "delete from setsearch_free where kind = ? and id = ?", [(self.id, id) for id in free]
            )
        ids = free + list(range(self.next_id, self.next_id + len(names) - len(free)))
        try:
            self._insert(ids, names, titles)
        except sqlite3.IntegrityError as error:
            stored, new = self._find(names), dict(zip(names, ids, strict=True))
            raise NamesTaken(error, {name: id for name, id in stored.items() if id != new[name]}) from error
        self.size += len(ids)
        self.next_id += len(ids) - len(free)
        return ids

    def _insert(self, ids: list[int], names: Sequence[str], titles: Sequence[str | None] | None) -> None:
        has_titles = titles is not None and set(titles) != {None}
        if has_titles or ids[:1] != [self.next_id]:
            insert = f"insert into setsearch_name (kind, id, name, title) values ({self.id}, ?, ?, ?)"
            self.cursor.executemany(insert, zip(ids, names, titles or [None] * len(names), strict=True))
            return
        for start in range(0, len(names), NAMES_OF_INSERT):  # the same, in half the time
            self.cursor.execute(
                "insert into setsearch_name (kind, id, name) select ?, ? + key, value from json_each(?)",
                (self.id, ids[start], json.dumps(names[start : start + NAMES_OF_INSERT])),
            )

    def set_titles(self, rows: Iterable[tuple[str | None, int]]) -> None:
        """Set the titles of ids, given as (title, id)."""
        self.cursor.executemany(
            "update setsearch_name set title = ? where kind = ? and id = ?",
            [(title, self.id, id) for title, id in rows],
        )

    def delete(self, ids: Sequence[int]) -> None:
        """Delete ids."""
        for change in (
            "delete from setsearch_name where kind = ? and id = ?",
            "insert into setsearch_free values (?, ?)",
        ):
            self.cursor.executemany(change, [(self.id, id) for id in ids])
        self.records.delete(ids)
        self.size -= len(ids)

    def clear(self) -> None:
        """Delete all names."""
        for table in ("name", "free", "record", "alias"):
            self.cursor.execute(f"delete from setsearch_{table} where kind = ?", (self.id,))
        self.size = self.next_id = 0
        self.whole = False

    def save(self) -> None:
        """Write `size`, `next_id` and `whole` back."""
        if self.size == 0:
            self.clear()
        values = (self.size, self.next_id, int(self.whole), self.id)
        self.cursor.execute("update setsearch_kind set size = ?, peak = ?, whole = ? where id = ?", values)
