"""How often contexts used a word, and how often a word had to be used to have some."""

import sqlite3
from collections.abc import Callable
from typing import Any

from setsearch.arrays import Ints
from setsearch.errors import LostArrays

NAMES = "uses", "occurrences", "least uses"  # of the stored arrays


class WordUses:
    """The uses of the words of a generation, read when they are first needed."""

    def __init__(self, size: int, load: Callable[[sqlite3.Cursor, str], Any], generation: int | None) -> None:
        self._size, self._load, self._generation = size, load, generation
        self._known: tuple[Ints, Ints, int] | None = None

    def sample(self, cursor: sqlite3.Cursor, id: int) -> tuple[int, int] | None:
        """How many uses of a word tell its neighbors, and how many there are; None if all do. Raises LostArrays."""
        uses, occurrences, _ = self._read(cursor)
        return (int(uses[id]), int(occurrences[id])) if uses[id] < occurrences[id] else None

    def least(self, cursor: sqlite3.Cursor) -> int:
        """How often a word had to be used to have contexts. Raises LostArrays."""
        return self._read(cursor)[2]

    def _read(self, cursor: sqlite3.Cursor) -> tuple[Ints, Ints, int]:
        if self._known is None:
            uses, occurrences, least = (self._load(cursor, name) for name in NAMES)
            if not len(uses) == len(occurrences) == self._size or len(least) != 1:
                raise LostArrays("the stored uses of words", self._generation)
            self._known = uses, occurrences, int(least[0])
        return self._known
