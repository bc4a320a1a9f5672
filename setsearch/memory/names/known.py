"""The names of a stored vocabulary: those of items as a file of arrays has them, and those that were looked up."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

from setsearch.arrays import Array, Ints, offsets
from setsearch.errors import LostArrays
from setsearch.memory.layout import NamedArrays, take_array
from setsearch.sqlite.mapped import Mapped
from setsearch.storage.ids import is_storable
from setsearch.storage.name_search import Descriptions
from setsearch.storage.names import Vocabulary

CACHED = 100_000  # names that were looked up
MOST_CHANGED = 1 << 14  # ids whose names writes may have changed; after more all are looked up
COLUMNS = "name", "title"


class StoredNames(NamedTuple):
    """Names and titles of all items, each with a break behind it, where they end, and the places of items by name.

    An id without a name, or a title, has nothing.
    """

    names: memoryview
    name_bounds: memoryview
    titles: memoryview
    title_bounds: memoryview
    ranks: Array

    @classmethod
    def from_arrays(cls, mapped: Mapped, size: int) -> Self | None:
        """Those of a file; None if it has none. Raises LostArrays."""
        if "ranks" not in mapped.arrays:
            return None
        found = list[memoryview]()  # whose numbers are read in a third of the time
        for column in COLUMNS:
            text = take_array(mapped, f"{column}s", "|u1")
            bounds = take_array(mapped, f"{column} bounds", "<i8", size + 1)
            if bounds[0] != 0 or bounds[-1] != len(text) or np.diff(bounds).min(initial=0) < 0:
                raise LostArrays(f"the mapped {column}s")
            found += [memoryview(text), memoryview(bounds.astype(np.int64, copy=False))]  # type: ignore[arg-type]
        names, name_bounds, titles, title_bounds = found
        return cls(names, name_bounds, titles, title_bounds, take_array(mapped, "ranks", "<i4", size))

    def describe(self, ids: Iterable[int]) -> Descriptions:
        """(name, title) of ids. Raises LostArrays, also for one without a name, which no question asks for."""
        names, name_bounds, titles, title_bounds, _ = self
        found: Descriptions = {}  # so it is made in a fiftieth of the time that a typed call takes
        try:
            for id in ids:
                start, end, first, last = name_bounds[id], name_bounds[id + 1], title_bounds[id], title_bounds[id + 1]
                if start == end:
                    raise LostArrays("the mapped names")
                title = None if first == last else str(titles[first : last - 1], "utf-8")
                found[id] = str(names[start : end - 1], "utf-8"), title
        except UnicodeDecodeError as error:
            raise LostArrays("the mapped names") from error
        return found


def names_to_arrays(items: Vocabulary) -> NamedArrays:
    """What a file of arrays gets of the names of items, within a transaction: nothing if an index has others."""
    size, found = items.next_id, dict[str, Array]()
    if not items.are_by_code_point:
        return
    for column in reversed(COLUMNS):
        text, lengths, place = bytearray(), np.zeros(size, np.int64), 0
        for ids, own in items.pages(column, "id"):
            text += own
            lengths[ids] = np.diff(np.flatnonzero(np.frombuffer(own, np.uint8) == 0), prepend=-1)
        bounds = offsets(lengths)
        ranks = np.full(size, -1, "<i4")
        for ids, own in items.pages(column, column):
            ends = zip(bounds[ids].tolist(), bounds[ids + 1].tolist(), strict=True)
            if b"".join([text[start:end] for start, end in ends]) != own:
                return
            ranks[ids] = np.arange(place, place + len(ids))
            place += len(ids)
        if not np.array_equal(ranks >= 0, lengths > 0):
            return
        found |= {f"{column}s": np.frombuffer(text, "u1"), f"{column} bounds": bounds}
    yield from [*found.items(), ("ranks", ranks)]


class KnownNames:
    """The names of a vocabulary, from a file of arrays if there is one, and those that were looked up.

    Threads may share it.
    """

    def __init__(self, stored: StoredNames | None = None) -> None:
        self._stored = stored
        self._changed = frozenset[int]()  # ids of which the file may have the names of before
        self._ids: dict[str, int] = {}  # of names that were looked for
        self._described: Descriptions = {}

    def after(self, vocabulary: Vocabulary, changed: Iterable[int]) -> "KnownNames":
        """Those of the vocabulary after a write that may have given or taken the names of some ids."""
        new, own = KnownNames(), frozenset(changed)
        if vocabulary.titles_shown:
            return new  # which deriving changes, and no write
        new._described = {id: both for id, both in dict(self._described).items() if id not in own}  # of copies:
        new._ids = {name: id for name, id in dict(self._ids).items() if id not in own}  # threads go on to ask
        both = self._changed | own
        if self._stored is not None and len(both) <= MOST_CHANGED:
            new._stored, new._changed = self._stored, both
        return new

    def find(self, vocabulary: Vocabulary, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist, by the vocabulary within a transaction."""
        found = {name: self._ids[name] for name in names if name in self._ids}
        if len(found) < len(names):
            new = vocabulary.find([name for name in names if name not in found and is_storable(name)])
            if len(self._ids) + len(new) <= CACHED:
                self._ids.update(new)
            found |= new
        return found

    def describe(self, vocabulary: Vocabulary, ids: Sequence[int]) -> Descriptions:
        """(name, title) of ids, likewise. Raises LostArrays, and KeyError for one without a name."""
        stored = self._stored
        if stored is None:
            return self._look_up(vocabulary, ids)
        size, changed = len(stored.ranks), self._changed
        own = [id for id in ids if id < size and id not in changed]
        found = stored.describe(own)
        if len(own) == len(ids):
            return found
        found |= self._look_up(vocabulary, [id for id in ids if id not in found])
        return {id: found[id] for id in ids}

    def ranks(self, ids: Ints) -> Array | None:
        """Numbers of ids in the order of names; None if the file does not tell them."""
        stored = self._stored
        if stored is None or ids.max(initial=-1) >= len(stored.ranks):
            return None
        return stored.ranks[ids] if not self._changed or self._changed.isdisjoint(ids.tolist()) else None

    def _look_up(self, vocabulary: Vocabulary, ids: Sequence[int]) -> Descriptions:
        """The same where no file has the names."""
        known = self._described
        missing = set(ids).difference(known)
        if missing:
            loaded = vocabulary.describe(sorted(missing))
            if len(known) + len(loaded) > CACHED:
                self._described = known = {id: known[id] for id in ids if id in known}
            known.update(loaded)
        return {id: known[id] for id in ids}
