"""Members and groups of saved sets, and parts of wholes, as they are stored.

The sets of an exclusive group are rivals: an item belongs where it fits best. A set `under` another is its part: what
belongs to it belongs to the whole. Neither a whole nor a part is a rival.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from itertools import combinations, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from setsearch.errors import InvalidParameter, UnknownSet
from setsearch.options import require_several

LONGEST_NAME = 200  # characters
IS_MEMBER = "accepted < 2"  # what a review put off is no member
Marks = tuple[tuple[str, ...], tuple[str, ...]]  # accepted and rejected items


class Group(NamedTuple):
    """A group: its sets, and whether these exclude one another."""

    name: str
    exclusive: bool
    sets: tuple[str, ...]


class Groups(NamedTuple):
    """The group of each set that is in one, the exclusive groups, and the whole of each part."""

    of: Mapping[str, str]
    exclusive: frozenset[str]
    under: Mapping[str, str]

    def wholes(self, name: str) -> list[str]:
        """The sets within which a set lies, the nearest first."""
        found: list[str] = []
        while (name := self.under.get(name, "")) and name not in found:
            found.append(name)
        return found

    def are_kin(self, one: str, other: str) -> bool:
        """Whether one of two sets lies within the other."""
        return one in self.wholes(other) or other in self.wholes(one)

    def rivals(self, name: str) -> list[str]:
        """The sets that exclude a set."""
        group = self.of.get(name)
        others = self.within(group) if group in self.exclusive else ()
        return [other for other in others if other != name and not self.are_kin(name, other)]

    def within(self, group: str | None) -> tuple[str, ...]:
        """The sets of a group, in order."""
        return tuple(sorted(name for name, own in self.of.items() if own == group))

    def asked_with(self, names: Iterable[str]) -> list[str]:
        """Some sets, those of their exclusive groups, their wholes, and those of the groups of these, in order."""
        found, seen = set[str](), set[str]()
        left = [*names]
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += self.wholes(name)
                group = self.of.get(name)
                if group in self.exclusive and group not in seen:
                    seen.add(group)
                    left += self.within(group)
        return sorted(found)


def wanted_sets(known: Mapping[str, str], names: Iterable[str] | None) -> list[str]:
    """The names of some of the known sets, or of all; raises UnknownSet, InvalidParameter."""
    if isinstance(names, str):
        raise InvalidParameter(f"names is a list of sets, not one text; write [{names!r}]")
    if names is not None:
        require_several(names, "names", "names of sets")
    wanted = list(known if names is None else names)
    if not known:
        raise UnknownSet("no set is saved; `setsearch set save` saves one")
    for name in wanted:
        if name not in known:
            raise UnknownSet(f"no set {name!r}; there is {', '.join(known)}")
    return wanted


def read_groups(cursor: sqlite3.Cursor) -> Groups:
    """All groups and parts."""
    rows = cursor.execute('select name, "group", under, exclusive from setsearch_set').fetchall()
    of, under = ({row[0]: row[place] for row in rows if row[place] is not None} for place in (1, 2))
    return Groups(of, frozenset(row[1] for row in rows if row[3] and row[1] is not None), under)


def read_group(cursor: sqlite3.Cursor, name: str) -> Group:
    """A group; raises UnknownSet for one without sets."""
    groups = read_groups(cursor)
    sets = groups.within(name)
    if not sets:
        known = ", ".join(sorted({*groups.of.values()})) or "none yet"
        raise UnknownSet(f"no set is in a group {name!r} (there is {known}); `set save --group` puts one in")
    return Group(name, name in groups.exclusive, sets)


def set_exclusive(
    cursor: sqlite3.Cursor, name: str, exclusive: bool, places: Mapping[tuple[str, str], str] = MappingProxyType({})
) -> None:
    """Let the sets of a group exclude one another, or no longer. Raises UnknownSet, InvalidParameter.

    `places` tell where a set has a member, for messages.
    """
    read_group(cursor, name)
    cursor.execute('update setsearch_set set exclusive = ? where "group" = ?', (int(exclusive), name))
    check_members(cursor, name, places=places)


def place_set(cursor: sqlite3.Cursor, name: str, group: str | None, under: str | None) -> None:
    """Store the group and the whole of a saved set, "" for none. Raises UnknownSet, InvalidParameter."""
    group, under = (group or "").strip() or None, under or None
    if group is not None and (len(group) > LONGEST_NAME or not group.isprintable()):
        raise InvalidParameter(f"the name of a group is 1 to {LONGEST_NAME} printable characters, not {group!r:.60}")
    statement = 'select items, "group" from setsearch_set where name = ?'
    items, before = cursor.execute(statement, (name,)).fetchone()
    if group is not None and before not in (None, group):
        raise InvalidParameter(f"the set {name!r} is in the group {before!r} already; take it out before (group '')")
    if under is not None:
        found = cursor.execute(statement, (under,)).fetchone()
        if found is None:
            raise UnknownSet(f"no set {under!r}, of which {name!r} would be a part; save that first")
        if under == name or name in read_groups(cursor).wholes(under):
            raise InvalidParameter(f"{name!r} cannot lie within {under!r}, which is itself, or a part of it")
        _require_same(name, items, under, found[0])
    others = 'select name, items from setsearch_set where "group" = ? and items <> ? order by name'
    for other, of_other in cursor.execute(others, (group, items)).fetchall():
        _require_same(name, items, other, of_other)
    row = (group, int(_is_exclusive(cursor, group)), under, name)
    cursor.execute('update setsearch_set set "group" = ?, exclusive = ?, under = ? where name = ?', row)
    check_members(cursor, group, name)


def _is_exclusive(cursor: sqlite3.Cursor, group: str | None) -> bool:
    """Whether the sets of a group, if there is one, exclude one another."""
    statement = 'select 1 from setsearch_set where "group" = ? and exclusive limit 1'
    return group is not None and cursor.execute(statement, (group,)).fetchone() is not None


def _require_same(name: str, items: str, other: str, of_other: str) -> None:
    if items != of_other:
        raise InvalidParameter(f"the set {name!r} is of {items}, {other!r} of {of_other}; they cannot be compared")


def check_members(
    cursor: sqlite3.Cursor,
    group: str | None,
    name: str | None = None,
    places: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> None:
    """Raise InvalidParameter if two sets that exclude one another, one of them `name`, have accepted an item."""
    if not _is_exclusive(cursor, group):
        return
    within = 'select name from setsearch_set where "group" = ?1'
    rows = cursor.execute(
        f"select item, name from setsearch_member where name in ({within}) and accepted = 1 and (?2 is null or "
        "item in (select item from setsearch_member where name = ?2 and accepted = 1)) order by item, name",
        (group, name),
    ).fetchall()
    same = ((item, [own for _, own in rows]) for item, rows in groupby(rows, key=itemgetter(0)))
    pairs = sorted((*pair, item) for item, names in same for pair in combinations(names, 2))
    groups = read_groups(cursor) if pairs else None
    for one, other, item in pairs:
        if groups is not None and not groups.are_kin(one, other) and name in (None, one, other):
            place = places.get((other, item)) or places.get((one, item))
            told = f"{place}: " if place else ""
            raise InvalidParameter(
                f"{told}{item!r} is in {one!r} and {other!r}, which exclude one another "
                f"(group {group!r}); remove it from one"
            )


def marks_of_sets(cursor: sqlite3.Cursor, items: str) -> dict[str, Marks]:
    """The accepted and the rejected items of all sets of some items, as `load_set` has them."""
    marks: dict[str, dict[str, int]] = {
        name: {} for (name,) in cursor.execute("select name from setsearch_set where items = ? order by name", (items,))
    }
    statement = (
        "select m.name, m.item, m.accepted from setsearch_set s join setsearch_member m using (name) "
        f"where s.items = ? and {IS_MEMBER} order by m.name, m.item"
    )
    for name, item, mark in cursor.execute(statement, (items,)):
        marks[name][item] = mark
    return {
        name: tuple(tuple(item for item, mark in own.items() if mark == side) for side in (1, 0))  # type: ignore[misc]
        for name, own in marks.items()
    }
