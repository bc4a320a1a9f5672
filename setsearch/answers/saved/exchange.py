"""Saved sets in and out, as rows: one row a member (of a CSV file), or one row a set with its members (of JSON)."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from setsearch.answers.saved.decisions import ANSWERS
from setsearch.answers.saved.item_sets import AnyReading, ItemSet, new_set
from setsearch.answers.saved.stored import StoredSets
from setsearch.errors import InvalidItem, InvalidParameter, QueryError, SetsearchError, SourceError, UnknownSet
from setsearch.sqlite.database import Database

SIDES = ("accepted", "rejected")
PLACE = ("group", "under")  # of a set that is in a group, or within another one
TOLD = (*PLACE, "exclusive")  # "yes": the sets of its group exclude one another
OF_SET = ("name", "items", *TOLD, *SIDES)  # columns of a row with a set
OF_MEMBER = ("set", "items", "item", "mark")  # of a row with a member, TOLD beside these
REPLACE, ADD = "replace", "add"  # what rows do to sets that exist
Row = tuple[str, Mapping[str, Any]]  # place, and cells
Tell = Callable[[str], None]  # of a problem, with its place: an error, or a warning


@dataclass
class Draft:
    """A set as rows have it: `members` are (place, item, whether accepted), `placed` what is said of TOLD."""

    place: str
    items: str
    version: str | None = None
    placed: dict[str, str] = field(default_factory=dict)
    members: list[tuple[str, str | int, bool]] = field(default_factory=list)


def set_rows(sets: Iterable[ItemSet], exclusive: Container[str | None]) -> list[dict[str, Any]]:
    """One row a set, with the lists of its members; TOLD if any set has it. Some groups are `exclusive`."""
    sets = [*sets]
    placed = [(own.group or "", own.under or "", "yes" if own.group in exclusive else "") for own in sets]
    told = [name for name, column in zip(TOLD, zip(*placed, strict=True), strict=False) if any(column)]
    return [
        {"name": own.name, "items": own.items}
        | {name: cell for name, cell in zip(TOLD, place, strict=True) if name in told}
        | {side: [*getattr(own, side)] for side in SIDES}
        for own, place in zip(sets, placed, strict=True)
    ]


def member_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """One row a member, of rows of sets; a set without members has none."""
    return [
        {
            "set": row["name"],
            **{name: row[name] for name in ("items", *TOLD) if name in row},
            "item": item,
            "mark": side,
        }
        for row in rows
        for side in SIDES
        for item in row[side]
    ]


class Keeper:
    """Saves sets of rows: all of them in one transaction, or none; with errors = "skip" rows that cannot be are left.

    `reading` gives that of a kind of items. `warn` gets a line for each row that is skipped.
    """

    def __init__(
        self, database: Database, reading: Callable[[str | None], AnyReading], errors: str, warn: Tell
    ) -> None:
        if errors not in ("strict", "skip"):
            raise InvalidParameter(f"errors is strict or skip, not {errors!r}")
        self._database, self._reading, self._errors, self._warn = database, reading, errors, warn
        self._readings: dict[str | None, AnyReading] = {}
        self._left: set[str] = set()  # columns that say nothing of a set
        self._places: dict[tuple[str, str], str] = {}  # of sets and their members

    def keep(self, rows: Iterable[Row], items: str | None, existing: str = "") -> list[ItemSet]:
        """Save the sets, which are of `items` where a row does not tell it; raises SourceError, ChangedSet.

        A row with a `version` replaces only the set of this version. What happens to `existing` ones otherwise: REPLACE
        or ADD; or others are refused.
        """
        drafts: dict[str, Draft] = {}
        for place, row in rows:
            if not isinstance(row, Mapping):
                raise SourceError(f"{place}: a row is a mapping of columns, not {row!r:.60}")
            self._try(place, partial(self._add, drafts, place, row, items))
        sets: list[ItemSet] = []
        for kind in dict.fromkeys(own.items for own in drafts.values()):
            own = {name: draft for name, draft in drafts.items() if draft.items == kind}
            sets += self._filled(own, self._readings[kind])
        with self._database.write() as cursor:
            stored = StoredSets(cursor)
            for one in sets:
                version = drafts[one.name].version
                if existing == ADD and stored.items_of(one.name) is not None:
                    self._add_to(stored, one, drafts[one.name])
                else:
                    replaces = existing == REPLACE and version is None
                    one.store_members(stored, replace=True, version=None if replaces else version or "")
                one.group, one.under = one._placed = stored.place_of(one.name)
            for one in sets:  # a whole may come behind its parts
                self._place(stored, one, drafts[one.name])
            self._exclude(stored, sets, drafts)
        for one in sets:
            one.settle()
        return sets

    def _add_to(self, stored: StoredSets, one: ItemSet, draft: Draft) -> None:
        """Let the stored set have the members of this one, too; it stays where it is. Raises as `keep`."""
        if stored.items_of(one.name) != one.items:
            kind = stored.items_of(one.name)
            raise SourceError(f"{draft.place}: the set {one.name!r} is of {kind}, not of {one.items}; rename it")
        said, new = stored.marks(one.name), dict[str, int | None]()
        for side, items in ((1, one.accepted), (0, one.rejected)):
            for item in items:
                if said.get(item, side) != side:
                    told = f"{item!r} is {SIDES[1 - side]} in {one.name!r} here, and {SIDES[side]} in the index"
                    self._tell(self._places[one.name, item], told)
                elif item not in said:
                    new[item] = said[item] = side
        one.accepted, one.rejected = ([item for item in sorted(said) if said[item] == side] for side in (1, 0))
        one._changes = new
        one.store_members(stored, replace=False, version=draft.version)

    def _place(self, stored: StoredSets, one: ItemSet, draft: Draft) -> None:
        """Store the group and the whole of a set, as far as its rows tell them. Raises SourceError."""
        one.group, one.under = (draft.placed.get(column, getattr(one, column)) for column in PLACE)
        try:
            if (one.group, one.under) != one._placed:
                stored.put(one.name, one.group, one.under)
        except (InvalidParameter, UnknownSet) as error:
            raise SourceError(f"{draft.place}: {error}") from error
        one.group, one.under = one._placed = stored.place_of(one.name)

    def _exclude(self, stored: StoredSets, sets: Iterable[ItemSet], drafts: Mapping[str, Draft]) -> None:
        """Let sets of groups exclude one another, at last: an item may have gone from one to another. As `_place`."""
        try:
            for group in dict.fromkeys(one.group for one in sets if drafts[one.name].placed.get("exclusive")):
                stored.set_exclusive(group or "", True, self._places)
            for one in sets:
                stored.check_members(one.group, one.name, self._places)
        except (InvalidParameter, UnknownSet) as error:
            raise SourceError(str(error)) from error

    def _try(self, place: str, do: Callable[[], Any]) -> None:
        """Do it; what is wrong is told with its place, or skipped."""
        try:
            do()
        except (InvalidItem, InvalidParameter, QueryError) as error:
            self._tell(place, error)

    def _tell(self, place: str, error: SetsearchError | str) -> None:
        if self._errors == "strict":
            raise SourceError(f"{place}: {error}; correct it, or pass `errors=skip`")
        self._warn(f"skipped {place}: {error}")

    def _add(self, drafts: dict[str, Draft], place: str, row: Mapping[str, Any], items: str | None) -> None:
        name, members = read_row(row)
        for column in {*map(str, row)}.difference(OF_SET, OF_MEMBER, self._left, ("version",)):
            self._left.add(column)
            hint = "; name it mark if it says what is rejected" if _answer(row.get(column)) else ""
            self._warn(
                f"left out the column {column!r}; known are {', '.join(dict.fromkeys(OF_SET + OF_MEMBER))}{hint}"
            )
        kind = row.get("items") or items
        if kind not in self._readings:
            self._readings[kind] = self._reading(kind)
        reading = self._readings[kind]
        self._readings[reading.name] = reading
        new_set(name, self._database, reading)  # whether it may be named so
        draft = drafts.setdefault(name, Draft(place, reading.name, row.get("version")))
        for column in TOLD:
            said = row.get(column)
            if not isinstance(said, str | None) or (column == "exclusive" and said not in (None, "", "yes")):
                wanted = 'is "yes" or empty' if column == "exclusive" else "is a text"
                raise InvalidParameter(f"{column} of {name!r} {wanted}, not {said!r:.40}")
            said = None if said is None else said.strip()
            if said is not None and draft.placed.setdefault(column, said) != said:
                raise InvalidParameter(f"{column} of {name!r} is {said!r:.40}, and {draft.placed[column]!r:.40} before")
        if draft.items != reading.name:
            raise InvalidParameter(f"the set {name!r} is of {draft.items} ({draft.place}), not of {reading.name}")
        draft.members += [(place, item, is_in) for item, is_in in members]

    def _filled(self, drafts: Mapping[str, Draft], reading: AnyReading) -> list[ItemSet]:
        found = _find(reading, dict.fromkeys(item for own in drafts.values() for _, item, _ in own.members))
        sets = []
        for name, draft in drafts.items():
            marks: dict[str, bool] = {}
            for place, item, is_in in draft.members:
                known = found[item]
                if isinstance(known, QueryError):
                    self._try(place, partial(reading.find, str(item), self._errors == "strict"))
                elif marks.setdefault(known, is_in) is not is_in:
                    self._tell(place, f"{known!r} is accepted and rejected in {name!r}")
                else:
                    self._places.setdefault((name, known), place)
            own = new_set(name, self._database, reading)
            own.accepted = [item for item, is_in in marks.items() if is_in]
            own.rejected = [item for item, is_in in marks.items() if not is_in]
            sets.append(own)
        return sets


def _find(reading: AnyReading, items: Collection[str | int]) -> dict[str | int, str | QueryError]:
    """Items as the index names them, perhaps without the blanks around them, or why it does not."""
    found = reading.find_each(map(str, items))
    unknown = [name for name, own in found.items() if isinstance(own, QueryError)]
    stripped = reading.find_each([name.strip() for name in unknown])
    found |= {name: stripped[name.strip()] for name in unknown}
    return {item: found[str(item)] for item in items}


def _is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a row has a set with its members."""
    return any(row.get(side) is not None for side in SIDES) and row.get("item") is None


def set_name(row: Mapping[str, Any]) -> Any:
    """What a row has for the name of its set, without blanks around it."""
    name = row.get("name" if _is_whole(row) or row.get("set") is None else "set")
    return name.strip() if isinstance(name, str) else name


def _answer(cell: Any) -> str | None:
    """Whether a cell says yes or no, in any of the words for it."""
    said = ANSWERS.get(str(cell).strip().casefold())
    return said if said in ("yes", "no") else None


def _side(row: Mapping[str, Any]) -> str:
    """Whether the member of a row is accepted or rejected: by its mark, and by columns of these names."""
    said = set[bool]()
    for column, cell in ((name, row.get(name)) for name in ("mark", *SIDES)):
        if cell is None or str(cell) in ("", "nan"):  # an empty cell, also of a frame
            continue
        answer = _answer(cell)
        if answer is None:
            known = " or ".join(SIDES if column == "mark" else ("yes", "no"))
            raise InvalidParameter(f"the {column} of an item is {known}, not {cell!r:.40}")
        said.add((answer == "yes") is not (column == SIDES[1]))
    if not said and (empty := [side for side in SIDES if row.get(side) is not None]):
        raise InvalidParameter(f"the {empty[0]} of an item is yes or no, not {row[empty[0]]!r:.40}")
    if len(said) > 1:
        raise InvalidParameter(f"{row['item']!r:.40} is accepted by one column, and rejected by another")
    return SIDES[False in said]


def read_row(row: Mapping[str, Any]) -> tuple[str, list[tuple[str | int, bool]]]:
    """The name of the set of a row, and its members, each with whether it is accepted. Raises InvalidParameter."""
    is_whole, name = _is_whole(row), set_name(row)
    has_members = is_whole or row.get("item") is not None
    if not isinstance(name, str) or not has_members or not isinstance(row.get("items") or "", str):
        shown = {key: cell for key, cell in row.items() if key not in TOLD}
        raise InvalidParameter(f"a row has a set and an item, or a name and lists of items, not {shown!r:.60}")
    sides: dict[str, Any] = {side: row.get(side) or [] for side in SIDES} if is_whole else {_side(row): [row["item"]]}
    for side, given in sides.items():
        if not isinstance(given, list):
            raise InvalidParameter(f"{side} of {name!r} is a list of items, not {given!r:.40}")
        for item in given:
            if not isinstance(item, (str, int)):
                raise InvalidParameter(f"an item is a text or a whole number, not {item!r:.40}")
            if isinstance(item, str) and not item.strip():
                raise InvalidParameter(f"{name!r} has an item without a name")
    return name, [(item, side == SIDES[0]) for side, given in sides.items() for item in given]
