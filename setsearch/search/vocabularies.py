"""Vocabularies of derived fields: their names are arrays of a generation, not rows of a table."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

from setsearch.arrays import Ints
from setsearch.storage.names import LAST_CHARACTER, MOST_CANDIDATES, Vocabulary
from setsearch.text.contexts import describe_context

Load = Callable[[sqlite3.Cursor, str], Ints | str]  # an array or a text of the generation, by name


class WordVocabulary(Vocabulary):
    """Words that have contexts: the id of a word is its place in the order of the words."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(-1, "terms in context", len(words), len(words))
        self.words = words
        self._ids = dict(zip(words, range(len(words)), strict=True))

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist."""
        return {name: self._ids[name] for name in names if name in self._ids}

    def titled(self, cursor: sqlite3.Cursor, title: str) -> list[tuple[int, str]]:
        """Empty: words have no titles."""
        return []

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(word, None) of each id."""
        return {id: (self.words[id], None) for id in ids}

    def ids(self, cursor: sqlite3.Cursor, by_name: bool = False) -> Iterable[int]:
        """All ids, which are in the order of the words."""
        return range(self.size)

    def names(self, cursor: sqlite3.Cursor) -> list[str]:
        """All words, sorted."""
        return list(self.words)

    def starting_with(self, cursor: sqlite3.Cursor, prefix: str, limit: int) -> list[int]:
        """Ids whose word begins with a text (case-sensitive)."""
        first, last = (bisect_left(self.words, text) for text in (prefix, prefix + LAST_CHARACTER))
        return list(range(first, min(last, first + limit)))

    def containing(self, cursor: sqlite3.Cursor, text: str) -> list[int]:
        """Ids of words that have all words of a text."""
        wanted = text.lower().split()
        return [id for id, word in enumerate(self.words) if all(part in word for part in wanted)][:MOST_CANDIDATES]

    def alike(self, cursor: sqlite3.Cursor, text: str) -> list[int]:
        """Ids of words of about the length of a text, those with its first letter first."""
        near = [id for id, word in enumerate(self.words) if len(text) * 2 // 3 <= len(word) <= len(text) * 3 // 2 + 1]
        near.sort(key=lambda id: self.words[id][:1] != text[:1])
        return near[:MOST_CANDIDATES]

    stored = describe


class FieldVocabulary(Vocabulary):
    """The features of a derived field: contexts, which cannot be found by name, or documents as they were then."""

    def __init__(self, name: str, size: int, load: Load) -> None:
        super().__init__(-1, name, size, size)
        self._load = load
        self._describe: Callable[[int], tuple[str, str | None]] | None = None
        self._ids: dict[str, int] | None = None

    @property
    def are_contexts(self) -> bool:
        """Whether these are contexts, not documents."""
        return self.name.startswith("contexts ")

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """The ids of those documents that were there; empty for contexts."""
        if self.are_contexts:
            return {}
        if self._ids is None:
            self._ids = {name: id for id, name, _ in json.loads(str(self._load(cursor, "documents")))}
        return {name: self._ids[name] for name in names if name in self._ids}

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(context in words, None), or (document, title), of each id."""
        if self._describe is None and ids:
            self._describe = self._read(cursor)
        return {id: self._describe(id) for id in ids if self._describe is not None}

    def _read(self, cursor: sqlite3.Cursor) -> Callable[[int], tuple[str, str | None]]:
        if not self.are_contexts:
            names = {id: (name, title) for id, name, title in json.loads(str(self._load(cursor, "documents")))}
            return lambda id: names[id]
        field = self.name.removeprefix("contexts ")
        keys, words = self._load(cursor, f"{field} keys"), json.loads(str(self._load(cursor, "words")))
        return lambda id: (describe_context(field, int(keys[id]), lambda word: words[word]), None)
