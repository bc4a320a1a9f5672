"""Groups of saved sets, and parts of wholes.

The sets of an exclusive group are rivals: an item belongs where it fits best. A set `under` another is its part: what
belongs to it belongs to the whole. Neither a whole nor a part is a rival.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from setsearch.errors import HINTS, UnknownSet, did_you_mean, shown, there_is
from setsearch.options import require_several

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

    def rivals_of_kin(self, group: str, names: Sequence[str]) -> dict[int, set[int]]:
        """The places, among names, of the rivals of each set of a group that has kin in it, by its place."""
        if not self.under:
            return {}
        within = self.within(group)
        rivals = {name: self.rivals(name) for name in within if name in names}
        places = {name: place for place, name in enumerate(names)}
        return {
            places[name]: {places[other] for other in own if other in places}
            for name, own in rivals.items()
            if len(own) < len(within) - 1
        }

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


def unknown_set(name: str, known: Iterable[str]) -> UnknownSet:
    """The error for a set that is none of the known ones, with the nearest of them, or some."""
    name, names = str(name or ""), [*known]
    way_out = did_you_mean(get_close_matches(name, names, HINTS)) or there_is(names)
    return UnknownSet(f"no set {shown(name) if name else 'is named'}; {way_out}")


def wanted_sets(known: Mapping[str, str], names: Iterable[str] | None) -> list[str]:
    """The names of some of the known sets, or of all; raises UnknownSet, InvalidParameter."""
    if names is not None:
        require_several(names, "names", "sets")
    wanted = list(known if names is None else names)
    if not known:
        raise UnknownSet("no set is saved; `setsearch set save` saves one")
    for name in wanted:
        if not isinstance(name, str) or name not in known:
            raise unknown_set(name, known)
    return wanted
