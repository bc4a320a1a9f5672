"""The names of a stored vocabulary that somebody asked for, as a process keeps them."""

from collections.abc import Sequence

from setsearch.storage.ids import is_storable
from setsearch.storage.names import Vocabulary

CACHED = 100_000  # names


class KnownNames:
    """Ids by name, and names by id, of one content. Threads may share it."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._described: dict[int, tuple[str, str | None]] = {}

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
