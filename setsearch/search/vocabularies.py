"""Vocabularies of derived fields: their names are arrays of a generation, not rows of a table."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from setsearch.arrays import Ints
from setsearch.storage.matching import is_one_edit
from setsearch.storage.names import LAST_CHARACTER, MOST_CANDIDATES, Vocabulary
from setsearch.storage.revisions import Revision
from setsearch.text.contexts import describe_context

Load = Callable[[sqlite3.Cursor, str], Ints | str]  # an array or a text of the generation, by name
CONTEXTS_OF = "contexts "  # before the name of a field of contexts


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

    def called(self, cursor: sqlite3.Cursor, text: str) -> list[tuple[int, str]]:
        """Empty: the analyzer knows in which case words are."""
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

    def one_edit_away(self, cursor: sqlite3.Cursor, text: str) -> list[int]:
        """Ids of words that are one edit from a text."""
        wanted = text.casefold()
        return [id for id, word in enumerate(self.words) if is_one_edit(wanted, word)]

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


class ContextVocabulary(Vocabulary):
    """The contexts of a field, which cannot be found by name."""

    are_contexts = True  # and not documents, which rare words have, too

    def __init__(self, name: str, size: int, load: Load) -> None:
        super().__init__(-1, name, size, size)
        self._load = load
        self._known: tuple[Ints, list[str]] | None = None  # the keys of contexts, and the words in them

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """Empty: contexts are not found by name."""
        return {}

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(context in words, None) of each id."""
        if not ids:
            return {}
        field = self.name.removeprefix(CONTEXTS_OF)
        if self._known is None:
            words = json.loads(str(self._load(cursor, "words")))
            self._known = np.asarray(self._load(cursor, f"{field} keys")), words
        keys, words = self._known
        return {id: (describe_context(field, int(keys[id]), words.__getitem__), None) for id in ids}


class DocumentVocabulary(Vocabulary):
    """The documents of a collection as they were when a generation was derived.

    As long as that is the present revision, the table of names tells them; reading all of them takes longer.
    """

    def __init__(self, name: str, size: int, load: Load, of: Revision) -> None:
        super().__init__(-1, name, size, size)
        self._load, self._of = load, of
        self._known: tuple[dict[int, tuple[str, str | None]], dict[str, int]] | None = None  # by id, by name

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """The ids of those documents that were there."""
        stored = self._stored(cursor)
        if stored is not None:
            return stored.find(cursor, names)
        ids = self._read(cursor)[1]
        return {name: ids[name] for name in names if name in ids}

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(document, title) of each id."""
        stored = self._stored(cursor) if ids else None
        if stored is not None:
            return stored.describe(cursor, ids)
        return {id: self._read(cursor)[0][id] for id in ids}

    def _stored(self, cursor: sqlite3.Cursor) -> Vocabulary | None:
        """The documents of the table, if they are the same; None once the others were read."""
        row = None
        if self._known is None:
            row = cursor.execute(
                "select items from setsearch_relation where id = ? and revision = ? and stamp = ?", self._of
            ).fetchone()
        return None if row is None else Vocabulary(row[0], self.name, self.size, self.next_id)

    def _read(self, cursor: sqlite3.Cursor) -> tuple[dict[int, tuple[str, str | None]], dict[str, int]]:
        if self._known is None:
            documents = json.loads(str(self._load(cursor, "documents")))
            by_id = {id: (name, title) for id, name, title in documents}
            self._known = by_id, {name: id for id, name, _ in documents}
        return self._known
