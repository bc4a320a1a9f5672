"""Saved sets: accepted and rejected items under a name in the database."""

import json
import math
import shlex
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from setsearch.answers.answer import Hits
from setsearch.answers.numeric import NumericReading
from setsearch.answers.reading import Reading
from setsearch.answers.results import Explanation
from setsearch.answers.saved.groups import Marks, unknown_set
from setsearch.answers.saved.stored import LONGEST_NAME, StoredSets, marks_by_side
from setsearch.answers.tables import html_table
from setsearch.arrays import Floats
from setsearch.errors import ChangedSet, InvalidParameter, NoSeeds, UnknownItem, UsageError, number_of
from setsearch.memory.fields import Fields
from setsearch.options import Id, Ids, has_examples, require_several
from setsearch.search.request import Seeds, id_list, parse_seeds
from setsearch.sqlite.database import Database
from setsearch.storage.ids import id_text, is_printable, is_storable

if TYPE_CHECKING:
    from setsearch.answers.saved.growth.grown import Grown
    from setsearch.answers.saved.set_beside import SetBeside

AnyReading = Reading | NumericReading
T = TypeVar("T")


class ItemSet:
    """A set that grows: `accepted` items are its examples, `rejected` ones negative examples. Made by `Index.set`.

    `version` is that of the set as it was loaded or saved; "" if there was none. `group` is the group that it is in,
    and `under` the set within which it lies (saved/groups.py); both are stored by `save`. `gone` are members that the
    index had no longer when the set was asked: the others answered.
    """

    def __init__(self, name: str, reading: AnyReading, database: Database) -> None:
        self.name = name
        self.accepted: list[str] = []
        self.rejected: list[str] = []
        self.reading = reading
        self.gone: list[str] = []
        self._database = database
        self._changes: dict[str, int | None] = {}  # since loading: 1 accepted, 0 rejected, None forgotten
        self._version: str | None = ""
        self._loaded: Marks = (), ()
        self.group: str | None = None
        self.under: str | None = None
        self._together: list[Any] = []  # what the sets of its group said together; several sets may share it
        self._placed: tuple[str | None, str | None] = (None, None)  # group and whole, as they are stored

    def __repr__(self) -> str:
        return f"<setsearch.ItemSet {self.name} of {self.items}>"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_together": []}  # what is kept in memory has a cursor

    def _repr_html_(self) -> str:
        titles, sides = self.titles(), ((self.accepted, "accepted"), (self.rejected, "rejected"))
        rows = [(item, titles.get(item), said) for items, said in sides for item in items]
        return html_table(("item", "title", "said"), rows, f"{self.name}, of {self.items}")

    @property
    def version(self) -> str:
        """That of the set as it was loaded or saved."""
        if self._version is None:
            accepted, rejected = self._loaded
            self._version = _version(dict.fromkeys(accepted, 1) | dict.fromkeys(rejected, 0))
        return self._version

    @property
    def items(self) -> str:
        """What is ranked."""
        return self.reading.name

    def seal(self) -> dict[int, int]:
        """Checksums of all saved sets as they are stored: others when one of them has changed."""
        with self._database.read() as cursor:
            return StoredSets(cursor).seal()

    def titles(self) -> dict[str, str | None]:
        """The titles of its members that the index has."""
        return self.reading.titles([*self.accepted, *self.rejected])

    def grown(self) -> "list[Grown]":
        """Those accepted items that joined by themselves (saved/growth/)."""
        from setsearch.answers.saved.growth.grown import grown_members, titled

        return titled(self.reading, grown_members(self._database, [self.name]))

    def accept(self, *items: Id) -> None:
        """Accept items, also rejected ones. Raises UnknownItem; then nothing has changed."""
        self._move(self.reading.find_all(items), self.accepted)

    def reject(self, *items: Id) -> None:
        """Reject items, also accepted ones. Raises UnknownItem; then nothing has changed."""
        self._move(self.reading.find_all(items), self.rejected)

    def forget(self, *items: Id) -> None:
        """Remove items from the set."""
        for item in id_list(items, "items"):
            self._changes[item] = None
            for marked in (self.accepted, self.rejected):
                if item in marked:
                    marked.remove(item)

    def expand(self, k: int | None = 10, **options: Any) -> Hits:
        """`Reading.expand` with the accepted items as seeds and the rejected ones as negative examples.

        The hits are in one list unless `groups` says otherwise: whoever saved the set holds it for one. In an exclusive
        group, what others claim better is worth less, and what they have is left out (saved/rivals.py).
        """
        options = {**self.reading.in_one_list, **options}
        try:
            return Question(self.reading, self, self.accepted, self.rejected).expand(k, **options)
        except UnknownItem:
            present = self.present()
            if not self.gone:
                raise
        return Question(self.reading, self, *present).expand(k, **options)

    def explain(self, item: Id, **options: Any) -> Explanation:
        """The parts of the score that `expand` gives one item; what a rival takes. Raises as `Reading.explain`."""
        return Question.of(self.reading, (), (), self).explain(item, **{**self.reading.in_one_list, **options})

    def present(self) -> tuple[list[str], list[str]]:
        """The accepted and the rejected items that the index still has; the others are in `gone`."""
        self.gone = those_gone(self.reading, [*self.accepted, *self.rejected])
        gone = {*self.gone}
        accepted, rejected = ([item for item in own if item not in gone] for own in (self.accepted, self.rejected))
        return accepted, rejected

    def save(self, replace: bool = False, version: str | None = None) -> None:
        """Store the changes in one transaction; changes by others to the same set stay.

        With `replace` the stored set becomes equal to this one. ChangedSet if it is not of `version`, "" for none, or
        if it was loaded, and somebody has deleted or renamed it since.
        """
        with self._database.write() as cursor:
            self.store(StoredSets(cursor), replace, version)
        self.settle()

    def settle(self) -> None:
        """What was stored is committed."""
        self.group, self.under = self._placed
        self._version, self._changes = _version(self._marks), {}  # others may have changed more

    def store(self, stored: StoredSets, replace: bool, version: str | None) -> None:
        """As `save`, in a transaction that has begun; then `settle`."""
        changes, is_moved = self.store_members(stored, replace, version), (self.group, self.under) != self._placed
        if is_moved:
            stored.put(self.name, self.group, self.under)
        placed = stored.place_of(self.name)
        if is_moved or 1 in changes.values():
            stored.check_members(placed[0], self.name)
        self._placed = placed

    def store_members(self, stored: StoredSets, replace: bool, version: str | None) -> Mapping[str, int | None]:
        """Store what was said of items, and return it; whether others exclude it is not looked at."""
        changes = dict(self._marks) if replace else self._changes
        if version is not None:
            self._require_version(stored, version)
        if self.version and not replace and stored.items_of(self.name) is None:
            gone = f"somebody has deleted or renamed the set {self.name!r} meanwhile"
            raise ChangedSet(f"{gone}; nothing was saved")
        if replace and stored.items_of(self.name) != self.items:
            stored.delete(self.name)
        stored.begin(self.name, self.items)
        items = stored.items_of(self.name)
        if items != self.items:
            raise InvalidParameter(f"the set {self.name!r} is of {items} now, not of {self.items}")
        with stored.changing(self.name, None if replace else changes):
            stored.say(self.name, changes, replace)
        return changes

    def _require_version(self, stored: StoredSets, version: str) -> None:
        """Raise ChangedSet if the stored set is not of a version; a new one ("") may be stored as it is already."""
        items = stored.items_of(self.name)
        found = "" if items is None else _version(stored.marks(self.name))
        if version and found != version:
            what = f"{'deleted or renamed' if items is None else 'changed'} the set {self.name!r} meanwhile"
            raise ChangedSet(f"somebody has {what}, and nothing was saved; look again, or rename it")
        if found and not version and (items, found) != (self.items, _version(self._marks)):
            taken = f"there is a set {self.name!r} already; `setsearch set accept`, or `set import --add`, adds to it"
            raise ChangedSet(f"{taken}, `replace` replaces it; or take another name")

    @property
    def _marks(self) -> dict[str, int]:
        return dict.fromkeys(self.accepted, 1) | dict.fromkeys(self.rejected, 0)

    def _move(self, names: Sequence[str], target: list[str]) -> None:
        self.forget(*names)
        target += dict.fromkeys(names)
        self._changes |= dict.fromkeys(names, int(target is self.accepted))


def check_name(name: str, longest: float = math.inf) -> None:
    """Raise InvalidParameter for what cannot be the name of a set."""
    is_text = isinstance(name, str) and 0 < len(name) <= longest and is_storable(name)
    if not is_text or not is_printable(name):
        raise InvalidParameter(f"the name of a set is 1 to {LONGEST_NAME} printable characters, not {name!r:.60}")


def usable_name(name: str) -> str:
    """What a new set may be named, without blanks around it. Raises InvalidParameter."""
    name = name.strip() if isinstance(name, str) else name
    check_name(name, LONGEST_NAME)
    return name


def new_set(name: str, database: Database, reading: AnyReading) -> ItemSet:
    """An empty set; blanks around its name are left out. Raises InvalidParameter for an unusable name."""
    return ItemSet(usable_name(name), reading, database)


def gone_note(place: object, name: str, gone: Sequence[str]) -> str:
    """Which members of a set the index has no longer, and the command that removes them from the file `place`."""
    dashes = ["--"] * any(own.startswith("-") for own in (name, *gone))
    removing = shlex.join(["setsearch", "set", "remove", str(place or "DB"), *dashes, name, *gone])
    return f"{name}: {', '.join(gone)} left the index; `{removing}` takes {'it' if len(gone) == 1 else 'them'} out"


def those_gone(reading: AnyReading, members: Sequence[str]) -> list[str]:
    """The members that the index has no longer."""
    return [name for name, own in reading.find_each(members).items() if isinstance(own, UnknownItem)]


def mark_items(own: ItemSet, accepted: Ids, rejected: Ids, removed: Ids = ()) -> None:
    """Accept items into a set, reject others, remove what was said of some; then it is not stored yet.

    Raises InvalidParameter for an item of which two things are said, UnknownItem; then nothing has changed.
    """
    for side, items in (("accepted", accepted), ("rejected", rejected), ("removed", removed)):
        require_several(items, side, "items")
    yes, no = (own.reading.find_all(items) for items in (accepted, rejected))
    gone = [_member(own, id_text(item)) for item in removed]
    require_one_side(yes, no, gone)
    own._move(yes, own.accepted)
    own._move(no, own.rejected)
    own.forget(*gone)


def require_one_side(accepted: Sequence[str], rejected: Sequence[str], removed: Sequence[str] = ()) -> None:
    """Raise InvalidParameter for an item of which two things are said; all have the names of the index."""
    said: dict[str, str] = {}
    for side, items in (("accepted", accepted), ("rejected", rejected), ("removed", removed)):
        for item in items:
            if said.setdefault(item, side) != side:
                raise InvalidParameter(f"{item!r} is {said[item]} and {side}; leave out one of them")


def change_set(
    own: ItemSet,
    accept: Ids = (),
    reject: Ids = (),
    remove: Ids = (),
    name: str | None = None,
    version: str | None = None,
) -> None:
    """Accept items into a saved set, reject others, remove what was said of some, give it a new `name`: all at once.

    Raises ChangedSet if it is not of `version`, or the name is taken; UnknownItem, also for an item to remove that the
    set has not; InvalidParameter.
    """
    mark_items(own, accept, reject, remove)
    with own._database.write() as cursor:
        stored = StoredSets(cursor)
        own.store(stored, replace=False, version=version)
        new = own.name if name is None else _rename(stored, own.name, name)
    own.settle()
    own.name = new


def _member(own: ItemSet, item: str) -> str:
    """The name of a member, which the index may have no longer. Raises UnknownItem, AmbiguousItem."""
    members = {*own.accepted, *own.rejected}
    if item not in members:
        with suppress(UnknownItem):
            item = own.reading.find(item, hint=False)
    if item not in members:
        raise UnknownItem(f"the set {own.name!r} has no {item!r:.60} to remove; `setsearch set show` tells what it has")
    return item


def load_set(name: str, items: str | None, database: Database, reading: Callable[[str | None], AnyReading]) -> ItemSet:
    """The saved set of this name, or a new, empty one of `items`. Raises InvalidParameter."""
    check_name(name)
    with database.read() as cursor:
        stored = StoredSets(cursor)
        known, marks, placed = stored.items_of(name), stored.marks(name), stored.place_of(name)
    if known is not None and items not in (None, known):
        raise InvalidParameter(f"the set {name!r} is of {known}, not of {items}; use another name")
    if known is None:
        return new_set(name, database, reading(items))
    return loaded_set(name, reading(known), database, marks_by_side(marks), placed)


def loaded_set(
    name: str, reading: AnyReading, database: Database, marks: Marks, placed: tuple[str | None, str | None]
) -> ItemSet:
    """A set as it is stored: its members, its group and its whole."""
    loaded = ItemSet(name, reading, database)
    loaded.accepted, loaded.rejected = [*marks[0]], [*marks[1]]
    loaded.group, loaded.under = loaded._placed = placed
    loaded._version, loaded._loaded = None, marks
    return loaded


def delete_set(database: Database, name: str) -> list[str]:
    """Delete a saved set; returns the sets that lay within it, and lie within none now. Raises UnknownSet."""
    with database.write() as cursor:
        stored = StoredSets(cursor)
        under = stored.groups().under
        if not is_storable(name) or not stored.delete(name):
            raise unknown_set(name, stored.all())
    return sorted(part for part, whole in under.items() if whole == name)


def rename_set(database: Database, name: str, new: str) -> str:
    """Give a saved set another name, and return it. Raises UnknownSet, InvalidParameter, ChangedSet for a taken one."""
    with database.write() as cursor:
        return _rename(StoredSets(cursor), name, new)


def _rename(stored: StoredSets, name: str, new: str) -> str:
    new, known = usable_name(new), stored.all()
    if not is_storable(name) or name not in known:
        raise unknown_set(name, known)
    if new in known:
        raise ChangedSet(f"there is a set {new!r} already; take another name")
    stored.rename(name, new)
    return new


def _version(marks: dict[str, int]) -> str:
    return f"{zlib.crc32(json.dumps(sorted(marks.items())).encode()):08x}"


class Question(NamedTuple):
    """Examples, and whom they are asked: `own` is the saved set that somebody has open, if there is one.

    In its group, or within another set, they are asked beside the other sets, as by `ItemSet.expand`.
    """

    reading: AnyReading
    own: ItemSet | None
    seeds: Seeds
    exclude: Sequence[str]

    @classmethod
    def of(cls, reading: AnyReading, seeds: Sequence[str], exclude: Sequence[str], own: ItemSet | None) -> "Question":
        """Some examples, with the members of a set that the index still has; the others are in its `gone`."""
        accepted, rejected = ([], []) if own is None else own.present()
        return cls(reading, own, [*accepted, *seeds], [*exclude, *rejected])

    def weighted(self, weights: Sequence[float], parameter: str) -> "Question":
        """The same with a weight for each example; raises UsageError, which names the parameter."""
        seeds = [*self.seeds]
        if len(weights) != len(seeds):
            numbers, examples = number_of(len(weights), "number"), number_of(len(seeds), "seed")
            raise UsageError(f"{parameter}: {numbers} for {examples}; give one for each")
        if len({*seeds}) < len(seeds):
            raise UsageError(f"a seed is given twice; with {parameter} give each once")
        return self._replace(seeds=dict(zip(seeds, weights, strict=True)))

    def expand(self, k: int | None = 10, **options: Any) -> Hits:
        """As `Reading.expand`."""
        if beside := self._beside(options):
            return beside.expand(k, options)
        reading: Any = self.reading
        hits: Hits = reading.expand(self.seeds, k, exclude=self.exclude, **options)
        return hits

    def explain(self, item: Id, **options: Any) -> Explanation:
        """As `Reading.explain`."""
        if beside := self._beside(options):
            return beside.explain(item, options)
        reading: Any = self.reading
        found: Explanation = reading.explain(self.seeds, item, exclude=self.exclude, **options)
        return found

    def scored(self, answer: Callable[[Fields, Floats], T], **options: Any) -> T:
        """What `answer` makes of the fields and the scores of all items, as `Reading.scores` has them."""
        if beside := self._beside(options):
            return beside.scored(options, answer)
        with self.reading.scores(self.seeds, exclude=self.exclude, **options) as found:
            return answer(*found)

    def _beside(self, options: Mapping[str, Any]) -> "SetBeside | None":
        """The question in its group, or within another set; None if it is asked alone, as sets of numbers are.

        Raises NoSeeds for a set that has no examples, if there are no others.
        """
        own, reading = self.own, self.reading
        if own is not None and not has_examples(self.seeds, options):
            gone = f"{own.name}: none of its accepted items is in the index"
            problem = gone if own.accepted else f"the set {own.name!r} has no accepted item"
            raise NoSeeds(f"{problem}; accept one first")
        is_placed = own is not None and own._placed != (None, None) and options.get("groups") in (None, 1)
        if own is None or not is_placed or not isinstance(reading, Reading):
            return None
        from setsearch.answers.saved.set_beside import SetBeside

        return SetBeside(reading, own.name, parse_seeds(self.seeds), self.exclude, own._together)
