"""The names of a stored vocabulary that somebody asked for, as a process keeps them."""

from collections.abc import Iterable, Sequence

from setsearch.storage.ids import is_storable
from setsearch.storage.names import Vocabulary

CACHED = 100_000  # names


class KnownNames:
    """Ids by name, and names by id, of one content. Threads may share it."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._described: dict[int, tuple[str, str | None]] = {}

    def after(self, vocabulary: Vocabulary, changed: Iterable[int]) -> "KnownNames":
        """Those of the vocabulary after a write that may have given or taken the names of some ids."""
        new, gone = KnownNames(), {*changed}
        if not vocabulary.titles_shown:  # which deriving changes, and no write
            # What follows is of copies: threads go on to ask.
            new._described = {id: own for id, own in dict(self._described).items() if id not in gone}
            new._ids = {name: id for name, id in dict(self._ids).items() if id not in gone}
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

    def describe(self, vocabulary: Vocabulary, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of ids, likewise. Raises KeyError for one without a name, CorruptIndex."""
        known = self._described
        missing = set(ids).difference(known)
        if missing:
            loaded = vocabulary.describe(sorted(missing))
            if len(known) + len(loaded) > CACHED:
                self._described = known = {id: known[id] for id in ids if id in known}
            known.update(loaded)
        return {id: known[id] for id in ids}
