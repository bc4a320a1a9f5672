"""The vocabularies of what is derived: words that have contexts, their contexts, and the documents of a generation."""

import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Self

from setsearch.arrays import Array, Ints
from setsearch.errors import LostArrays
from setsearch.storage.generations import json_of
from setsearch.storage.name_search import LAST_CHARACTER, MOST_CANDIDATES, Descriptions
from setsearch.storage.names import Vocabulary
from setsearch.storage.revisions import Revision
from setsearch.text.contexts import describe_context
from setsearch.text.matching import BREAK, NamePage, one_edit_away

CONTEXTS_OF = "contexts "  # before the name of a field of contexts


class WordVocabulary(Vocabulary):
    """Words that have contexts: the id of a word is its place in the order of the words."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(-1, "terms in context", len(words), len(words))
        self.words = words
        self._ids = dict(zip(words, range(len(words)), strict=True))

    def within(self, cursor: sqlite3.Cursor | None) -> Self:
        """Itself: all of it is in memory, and each of five fields has it."""
        return self

    def find(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist."""
        return {name: self._ids[name] for name in names if name in self._ids}

    def titled(self, title: str) -> list[tuple[int, str]]:
        """Empty: words have no titles."""
        return []

    def called(self, text: str) -> list[tuple[int, str]]:
        """Empty: the analyzer knows in which case words are."""
        return []

    def describe(self, ids: Sequence[int]) -> Descriptions:
        """(word, None) of each id."""
        return {id: (self.words[id], None) for id in ids}

    def ids(self, by_name: bool = False) -> Iterable[int]:
        """All ids, which are in the order of the words."""
        return range(self.size)

    def names(self) -> list[str]:
        """All words, sorted."""
        return list(self.words)

    def starting_with(self, prefix: str, limit: int) -> list[int]:
        """Ids whose word begins with a text (case-sensitive)."""
        first, last = (bisect_left(self.words, text) for text in (prefix, prefix + LAST_CHARACTER))
        return list(range(first, min(last, first + limit)))

    def one_edit_away(self, text: str) -> list[int]:
        """Ids of words that are one edit from a text."""
        return one_edit_away(text.casefold(), self.words)

    def containing(self, text: str) -> list[int]:
        """Ids of words that have all words of a text."""
        wanted = text.lower().split()
        return [id for id, word in enumerate(self.words) if all(part in word for part in wanted)][:MOST_CANDIDATES]

    def _pages(self, text: str) -> Iterator[NamePage]:
        """All words."""
        yield NamePage(text, BREAK.join(self.words))

    def _either(self, names: Iterable[str]) -> list[int]:
        """The ids of words."""
        return sorted(self._ids[name] for name in names)

    def alike(self, text: str, pages: Iterable[NamePage]) -> Descriptions:
        """Words of about the length of a text, those with its first letter first."""
        near = [id for id, word in enumerate(self.words) if len(text) * 2 // 3 <= len(word) <= len(text) * 3 // 2 + 1]
        near.sort(key=lambda id: self.words[id][:1] != text[:1])
        return self.describe(near[:MOST_CANDIDATES])

    stored = describe


class ContextVocabulary(Vocabulary):
    """The contexts of a field, which cannot be found by name."""

    are_contexts = True  # and not documents, which rare words have, too

    def __init__(self, name: str, keys: Ints, words: Callable[[], Sequence[str]]) -> None:
        super().__init__(-1, name, len(keys), len(keys))
        self.keys, self._words = keys, words  # words in contexts

    def find(self, names: Sequence[str]) -> dict[str, int]:
        """Empty: contexts are not found by name."""
        return {}

    def describe(self, ids: Sequence[int]) -> Descriptions:
        """(context in words, None) of each id. Raises LostArrays."""
        if not ids:
            return {}
        field, word = self.name.removeprefix(CONTEXTS_OF), self._words().__getitem__
        try:
            return {id: (describe_context(field, int(self.keys[id]), word), None) for id in ids}
        except IndexError as error:
            raise LostArrays(f"the mapped {self.name}") from error


class DocumentVocabulary(Vocabulary):
    """The documents of a collection as they were when a generation was derived.

    As long as that is the present revision, the table of names tells them; reading all of them takes longer.
    """

    def __init__(self, name: str, size: int, documents: Array, of: Revision) -> None:
        super().__init__(-1, name, size, size)
        self._documents, self._of = documents, of
        self._known: list[tuple[Descriptions, dict[str, int]]] = []  # once known: by id, by name

    def find(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those documents that were there."""
        stored = self._stored()
        if stored is not None:
            return stored.find(names)
        ids = self._read()[1]
        return {name: ids[name] for name in names if name in ids}

    def describe(self, ids: Sequence[int]) -> Descriptions:
        """(document, title) of each id."""
        stored = self._stored() if ids else None
        if stored is not None:
            return stored.describe(ids)
        return {id: self._read()[0][id] for id in ids}

    def _stored(self) -> Vocabulary | None:
        """The documents of the table, if they are the same; None once the others were read."""
        row = None
        if not self._known:
            row = self.cursor.execute(
                "select items from setsearch_relation where id = ? and revision = ? and stamp = ?", self._of
            ).fetchone()
        return None if row is None else Vocabulary(row[0], self.name, self.size, self.next_id).within(self.cursor)

    def _read(self) -> tuple[Descriptions, dict[str, int]]:
        if not self._known:
            documents = json_of(self._documents)
            by_id = {id: (name, title) for id, name, title in documents}
            self._known.append((by_id, {name: id for id, name, _ in documents}))
        return self._known[0]
