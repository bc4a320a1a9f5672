"""Saved sets, their members and groups, as the tables hold them."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import combinations, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from setsearch.answers.saved.groups import Group, Groups, Marks
from setsearch.errors import InvalidParameter, UnknownSet, there_is
from setsearch.sqlite.integrity import Seal
from setsearch.storage.ids import is_printable, is_storable
from setsearch.storage.relation import load_relations, relations_by_reading

LONGEST_NAME = 200  # characters
IS_MEMBER = "accepted < 2"  # what a review put off is no member
Row = tuple[Any, ...]  # of setsearch_member
_NO_PLACES: Mapping[tuple[str, str], str] = MappingProxyType({})


class StoredSets(NamedTuple):
    """All saved sets, in one transaction."""

    cursor: sqlite3.Cursor

    def all(self) -> dict[str, str]:
        """The names of all sets, each with its items."""
        return dict(self.cursor.execute("select name, items from setsearch_set order by name"))

    def items_of(self, name: str, group: str | None = None, under: str | None = None) -> str | None:
        """Of what a set is, or if there is none of this name, its whole, or the sets of its group; None without any.

        Raises UnknownSet for a whole that is none.
        """
        found = self._items_where("name", name)
        if found is None and under and under != name:
            return self._items_of_whole(name, under)
        return self._items_where('"group"', group) if found is None and group else found

    def _items_where(self, column: str, value: str) -> str | None:
        if not is_storable(value):
            return None
        row = self.cursor.execute(f"select items from setsearch_set where {column} = ? limit 1", (value,)).fetchone()
        return None if row is None else str(row[0])

    def _items_of_whole(self, name: str, under: str) -> str:
        """Of what the whole of a set is. Raises UnknownSet."""
        found = self._items_where("name", under)
        if found is None:
            raise UnknownSet(f"no set {under!r}, of which {name!r} would be a part; save that first")
        return found

    def place_of(self, name: str) -> tuple[str | None, str | None]:
        """The group and the whole of a set."""
        row = self.cursor.execute('select "group", under from setsearch_set where name = ?', (name,)).fetchone()
        return (None, None) if row is None else (row[0], row[1])

    def marks(self, name: str) -> dict[str, int]:
        """Whether each member is accepted, by their names in order."""
        statement = f"select item, accepted from setsearch_member where name = ? and {IS_MEMBER} order by item"
        return dict(self.cursor.execute(statement, (name,)))

    def marks_of(self, items: str) -> dict[str, Marks]:
        """The accepted and the rejected items of all sets of some items, as `load_set` has them."""
        names = self.cursor.execute("select name from setsearch_set where items = ? order by name", (items,))
        marks: dict[str, dict[str, int]] = {name: {} for (name,) in names}
        statement = (
            "select m.name, m.item, m.accepted from setsearch_set s join setsearch_member m using (name) "
            f"where s.items = ? and {IS_MEMBER} order by m.name, m.item"
        )
        for name, item, mark in self.cursor.execute(statement, (items,)):
            marks[name][item] = mark
        return {name: marks_by_side(own) for name, own in marks.items()}

    def rows(self, name: str, items: Iterable[str]) -> dict[str, Row]:
        """What is stored of some items."""
        statement = "select * from setsearch_member where name = ? and item in (select value from json_each(?))"
        return {row[1]: tuple(row) for row in self.cursor.execute(statement, (name, json.dumps([*items])))}

    def said_of(self, items: str) -> set[str]:
        """All items of a reading of which a set says something."""
        said = "select m.item from setsearch_set s join setsearch_member m using (name) where s.items = ?"
        return {item for (item,) in self.cursor.execute(said, (items,))}

    def follow(self, items: str, names: Mapping[str, str]) -> None:
        """Say of other names what all sets say of some items; nothing is said of these names yet."""
        for name in [name for name, own in self.all().items() if own == items]:
            rows = self.rows(name, names)
            self.insert([(name, names[item], *row[2:]) for item, row in rows.items()])
            with self.changing(name, rows):
                for item in rows:
                    self.cursor.execute("delete from setsearch_member where name = ? and item = ?", (name, item))

    def insert(self, rows: Sequence[Row]) -> None:
        """Store rows, unless something else was said of their items."""
        for row in rows:
            with self.changing(row[0], row[1:2]):
                self.cursor.execute(f"insert or ignore into setsearch_member values ({', '.join('?' * len(row))})", row)

    def seal(self) -> dict[int, int]:
        """Checksums of all sets: others when one of them has changed."""
        return Seal(self.cursor).sums()

    def changing(self, name: str, items: Iterable[str] | None = None) -> AbstractContextManager[None]:
        """A block that writes members of a set: all, or some `items`."""
        return Seal(self.cursor).members(name, None if items is None else [*items])

    def placing(self, names: Iterable[str]) -> AbstractContextManager[None]:
        """A block that writes what is known of sets beside their members."""
        return Seal(self.cursor).sets(names)

    def begin(self, name: str, items: str) -> None:
        """Store a set of this name, unless there is one; what belongs to it now was looked at (inbox.py)."""
        if self.items_of(name) is None:
            relation = relations_by_reading(load_relations(self.cursor)).get(items)
            look = (None, None) if relation is None else (relation.revision, relation.stamp)
            row = (name, items, *look)
            with self.placing([name]):
                self.cursor.execute("insert into setsearch_set (name, items, revision, stamp) values (?, ?, ?, ?)", row)

    def say(self, name: str, changes: Mapping[str, int | None], replace: bool) -> None:
        """Store what is said of items; with `replace` other members go."""
        if replace:
            self.cursor.execute(
                f"delete from setsearch_member where name = ? and {IS_MEMBER} "
                "and item not in (select value from json_each(?))",
                (name, json.dumps([*changes])),
            )
        for item, mark in changes.items():
            if mark is None:  # a note stays: without an answer it is put off; what was found by growing is in doubt
                of_item = "where name = ? and item = ?"
                found = f"{of_item} and note is null and (chance is null or round is not null)"
                self.cursor.execute(f"delete from setsearch_member {found}", (name, item))
                again = "case when chance is not null then"
                kept = f"accepted = 2, reason = {again} reason end, round = {again} 0 end"
                self.cursor.execute(f"update setsearch_member set {kept} {of_item}", (name, item))
            else:
                self.cursor.execute(  # what was decided before keeps its place in a review, and in growth
                    "insert into setsearch_member (name, item, accepted) values (?1, ?2, ?3) "
                    "on conflict do update set accepted = excluded.accepted, "
                    "number = case when accepted = excluded.accepted then number end, "
                    "round = case when accepted = excluded.accepted and ?4 then round end",
                    (name, item, mark, replace),
                )

    def delete(self, name: str) -> bool:
        """Delete a set; whether there was one."""
        with self.changing(name):
            self.cursor.execute("delete from setsearch_member where name = ?", (name,))
        with self.placing([name]):
            was_there = self.cursor.execute("delete from setsearch_set where name = ?", (name,)).rowcount > 0
        if was_there:
            self._put_under(name, None)
        return was_there

    def _put_under(self, whole: str, other: str | None) -> None:
        """Put the parts of a set within another, or none; they are looked for among all sets."""
        parts = [name for (name,) in self.cursor.execute("select name from setsearch_set where under = ?", (whole,))]
        with self.placing(parts):
            self.cursor.execute("update setsearch_set set under = ? where under = ?", (other, whole))

    def rename(self, name: str, new: str) -> None:
        """Give a set another name; all that is known of it stays, and others tell of it by that name."""
        row = 'items, revision, stamp, "group", exclusive, under'
        copied = f"insert into setsearch_set select ?, {row} from setsearch_set where name = ?"
        with self.placing([new]):
            self.cursor.execute(copied, (new, name))
        members = self.cursor.execute("select * from setsearch_member where name = ?", (name,)).fetchall()
        self.insert([(new, *own[1:]) for own in members])
        self._put_under(name, new)
        self.delete(name)
        over = "from setsearch_member where over = ? and chance is not null"  # what joined over it (growth/)
        for other, item in self.cursor.execute(f"select name, item {over}", (name,)).fetchall():
            with self.changing(other, [item]):
                named = "update setsearch_member set over = ? where name = ? and item = ?"
                self.cursor.execute(named, (new, other, item))

    def delete_of(self, items: Sequence[str]) -> None:
        """Delete all sets of these items."""
        for name, own in self.all().items():
            if own in items:
                self.delete(name)

    def groups(self) -> Groups:
        """All groups and parts."""
        rows = self.cursor.execute('select name, "group", under, exclusive from setsearch_set').fetchall()
        of, under = ({row[0]: row[place] for row in rows if row[place] is not None} for place in (1, 2))
        return Groups(of, frozenset(row[1] for row in rows if row[3] and row[1] is not None), under)

    def group(self, name: str) -> Group:
        """A group; raises UnknownSet for one without sets."""
        groups = self.groups()
        sets = groups.within(name)
        if not sets:
            known = there_is(sorted({*groups.of.values()}))
            raise UnknownSet(f"no set is in a group {name!r} ({known}); `set save --group` puts one in")
        return Group(name, name in groups.exclusive, sets)

    def set_exclusive(self, name: str, exclusive: bool, places: Mapping[tuple[str, str], str] = _NO_PLACES) -> None:
        """Let the sets of a group exclude one another, or no longer. Raises UnknownSet, InvalidParameter.

        `places` tell where a set has a member, for messages.
        """
        if not isinstance(exclusive, bool):
            raise InvalidParameter(f"exclusive is True or False, not {exclusive!r:.60}")
        with self.placing(self.group(name).sets):
            self.cursor.execute('update setsearch_set set exclusive = ? where "group" = ?', (int(exclusive), name))
        self.check_members(name, places=places)

    def put(self, name: str, group: str | None, under: str | None) -> None:
        """Store the group and the whole of a set, "" for none; `check_members` follows.

        Raises UnknownSet, InvalidParameter.
        """
        group, under = (group.strip() if isinstance(group, str) else group) or None, under or None
        if group is not None and not (isinstance(group, str) and len(group) <= LONGEST_NAME and is_printable(group)):
            limits = f"1 to {LONGEST_NAME} printable characters"
            raise InvalidParameter(f"the name of a group is {limits}, not {group!r:.60}")
        statement = 'select items, "group" from setsearch_set where name = ?'
        items, before = self.cursor.execute(statement, (name,)).fetchone()
        if group is not None and before not in (None, group):
            raise InvalidParameter(
                f"the set {name!r} is in the group {before!r} already; take it out before (group '')"
            )
        if under is not None:
            of_whole = self._items_of_whole(name, under)
            if under == name or name in self._wholes(under):
                raise InvalidParameter(
                    f"{name!r} cannot lie within {under!r}, which is itself, or a part of it; name another"
                )
            _require_same(name, items, under, of_whole)
        other = None if group is None else self._one_of(group)
        if other is not None:
            _require_same(name, items, *other[:2])
        row = (group, int(other is not None and other[2] == 1), under, name)
        with self.placing([name]):
            self.cursor.execute('update setsearch_set set "group" = ?, exclusive = ?, under = ? where name = ?', row)

    def _wholes(self, name: str) -> list[str]:
        """As Groups.wholes, without a look at all sets."""
        found: list[str] = []
        while (name := self.place_of(name)[1] or "") and name not in found:
            found.append(name)
        return found

    def check_members(
        self, group: str | None, name: str | None = None, places: Mapping[tuple[str, str], str] = _NO_PLACES
    ) -> None:
        """Raise InvalidParameter if two sets that exclude one another, one of them `name`, have accepted an item."""
        if not self._is_exclusive(group):
            return
        within = 'select name from setsearch_set where "group" = ?1'
        rows = self.cursor.execute(
            f"select item, name from setsearch_member where name in ({within}) and accepted = 1 and (?2 is null or "
            "item in (select item from setsearch_member where name = ?2 and accepted = 1)) order by item, name",
            (group, name),
        ).fetchall()
        same = ((item, [own for _, own in rows]) for item, rows in groupby(rows, key=itemgetter(0)))
        pairs = sorted((*pair, item) for item, names in same for pair in combinations(names, 2))
        groups = self.groups() if pairs else None
        for one, other, item in pairs:
            if groups is not None and not groups.are_kin(one, other) and name in (None, one, other):
                place = places.get((other, item)) or places.get((one, item))
                told = f"{place}: " if place else ""
                raise InvalidParameter(
                    f"{told}{item!r} is in {one!r} and {other!r}, which exclude one another "
                    f"(group {group!r}); remove it from one"
                )

    def _is_exclusive(self, group: str | None) -> bool:
        """Whether the sets of a group, if there is one, exclude one another."""
        row = None if group is None else self._one_of(group)
        return row is not None and row[2] == 1

    def _one_of(self, group: str) -> Row | None:
        """The name of a set of a group, its items, and whether it is exclusive: in both all of them are alike."""
        statement = 'select name, items, exclusive from setsearch_set where "group" = ? limit 1'
        row: Row | None = self.cursor.execute(statement, (group,)).fetchone()
        return row


def marks_by_side(marks: Mapping[str, int]) -> Marks:
    """The accepted and the rejected items."""
    accepted, rejected = (tuple(item for item, mark in marks.items() if mark == side) for side in (1, 0))
    return accepted, rejected


def _require_same(name: str, items: str, other: str, of_other: str) -> None:
    if items != of_other:
        raise InvalidParameter(f"the set {name!r} is of {items}, {other!r} of {of_other}; they cannot be compared")
