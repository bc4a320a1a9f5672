"""The names of contexts: not stored one by one, but as the numbers that they are made of."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from setsearch.errors import MEND, CorruptIndex
from setsearch.names import Kind
from setsearch.postings import Ints
from setsearch.sums import without_sum

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
        from setsearch.contexts import describe

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
