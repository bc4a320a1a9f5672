"""The contexts of a collection's words, at the revision of the texts that they were derived from.

Each field has words as items and contexts, or documents, as features. They change as a whole: another generation is
derived and takes the place of this one, so nothing here is ever brought up to date.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from setsearch.arrays import Array, Entries, Ints
from setsearch.errors import LostArrays
from setsearch.lists import Lists
from setsearch.memory.content import Content
from setsearch.memory.names import CONTEXTS_OF, ContextVocabulary, DocumentVocabulary, Load, WordVocabulary
from setsearch.memory.neighbors import NAMES as NEAREST_NAMES
from setsearch.memory.neighbors import NearestWords
from setsearch.memory.snapshot import Snapshot
from setsearch.memory.word_uses import NAMES as USES_NAMES
from setsearch.memory.word_uses import WordUses
from setsearch.models.values import ValueRule
from setsearch.storage.generations import (
    Generation,
    array_text,
    arrays_of,
    has_array,
    read_array,
    read_lists,
    text_array,
)
from setsearch.storage.names import Vocabulary
from setsearch.text.token_stream import Tokens

TEXTS = ("items", "words", "documents", "token names")  # arrays that are texts
COEFFICIENTS = {
    "contexts win2": 1.0,
    "contexts skip": 0.7,
    "contexts lists": 0.3,
    "contexts titled": 0.7,
    "documents": 0.6,
}
IN_MEMORY = 0  # the id of a generation that no file holds
ITEMS, FEATURES = "items", "features"  # the directions of a field's lists

Arrays = dict[str, Any]  # by name; texts among them


@dataclass(frozen=True)
class WordContexts:
    """The words and their fields, by name. Without fields the collection has no contexts."""

    generation: Generation
    words: WordVocabulary
    snapshots: Mapping[str, Snapshot]
    nearest: NearestWords | None  # this and the next: None if an earlier version derived them
    uses: WordUses | None

    @property
    def is_in_memory(self) -> bool:
        """Whether no file holds them."""
        return self.generation.id == IN_MEMORY

    @property
    def is_complete(self) -> bool:
        """Whether words, if there are some, have all that this version derives."""
        are_new = self.nearest is not None and self.uses is not None
        return not self.snapshots or ({*COEFFICIENTS} <= {*self.snapshots} and are_new)

    @property
    def sizes(self) -> dict[str, int]:
        """The number of features of each field."""
        return {name: snapshot.features.size for name, snapshot in self.snapshots.items()}


def read_contexts(cursor: sqlite3.Cursor, generation: Generation) -> WordContexts:
    """The contexts of a generation; lists are read when they are needed. Raises LostArrays."""

    def load(cursor: sqlite3.Cursor, name: str) -> Ints | str:
        array = read_array(cursor, generation, name)
        return array_text(array) if name in TEXTS else array

    names, sizes = read_sizes(cursor, generation)
    words = WordVocabulary(names)
    snapshots = {}
    for name, n_features in sizes.items():
        by_item = read_lists(cursor, generation, f"{name} {ITEMS}", words.size, n_features)
        by_feature = read_lists(cursor, generation, f"{name} {FEATURES}", n_features, words.size)
        features = _features(generation, name, n_features, load)
        snapshots[name] = _snapshot(words, features, (by_item, by_feature), generation)
    has_nearest, has_uses = (has_array(cursor, generation, own[0]) for own in (NEAREST_NAMES, USES_NAMES))
    nearest = NearestWords(words.size, load, generation.id) if has_nearest else None
    uses = WordUses(words.size, load, generation.id) if has_uses else None
    return WordContexts(generation, words, snapshots, nearest, uses)


def read_sizes(cursor: sqlite3.Cursor, generation: Generation) -> tuple[list[str], dict[str, int]]:
    """The words that have contexts, sorted, and the number of features of each field. Raises LostArrays."""
    sizes, words = (array_text(read_array(cursor, generation, name)) for name in ("sizes", "items"))
    try:
        return [*json.loads(words)], dict(json.loads(sizes))
    except (ValueError, TypeError) as error:
        raise LostArrays("the stored contexts", generation.id) from error


def make_contexts(generation: Generation, arrays: Arrays, cells: Mapping[str, Entries]) -> WordContexts:
    """Contexts in memory; `cells` of each field are (feature, word, count), sorted, and `arrays` as they are stored."""

    def load(cursor: sqlite3.Cursor, name: str) -> Ints | str:
        return arrays[name]  # type: ignore[no-any-return]

    words = WordVocabulary(json.loads(arrays["items"]))
    sizes = json.loads(arrays["sizes"])
    snapshots = {}
    for name, own in cells.items():
        by_feature = Lists.of(own, sizes[name], words.size)
        by_item = Lists.of(own.transposed(sizes[name], words.size), words.size, sizes[name])
        snapshots[name] = _snapshot(words, _features(generation, name, sizes[name], load), (by_item, by_feature), None)
    derived = NearestWords(words.size, load, None), WordUses(words.size, load, None)
    return WordContexts(generation, words, snapshots, *derived)


def _features(generation: Generation, name: str, size: int, load: Load) -> Vocabulary:
    if name.startswith(CONTEXTS_OF):
        return ContextVocabulary(name, size, load)
    return DocumentVocabulary(name, size, load, generation.state)


def _snapshot(
    words: WordVocabulary, features: Vocabulary, lists: tuple[Lists, Lists], generation: Generation | None
) -> Snapshot:
    return Snapshot(Content(words, features, *lists, np.zeros(0, np.int64), generation))


def stored_arrays(contexts: WordContexts, arrays: Arrays, rule: ValueRule) -> Iterator[tuple[str, Array]]:
    """What a generation stores of contexts: name and array of everything, one after the other."""
    for name, value in arrays.items():
        yield name, text_array(value) if isinstance(value, str) else value
    for name, snapshot in contexts.snapshots.items():
        yield from arrays_of(f"{name} {ITEMS}", snapshot.content.by_item)
        yield from arrays_of(f"{name} {FEATURES}", snapshot.content.by_feature)
        yield from snapshot.norms(rule).items()


def read_tokens(cursor: sqlite3.Cursor, generation: Generation) -> Tokens | None:
    """The tokens of the texts that contexts were derived from; None if they are lost."""
    try:
        documents, lengths, tokens = (
            read_array(cursor, generation, name) for name in ("token documents", "token lengths", "tokens")
        )
        names = json.loads(array_text(read_array(cursor, generation, "token names")))
    except (LostArrays, ValueError):
        return None
    sound = len(documents) == len(lengths) and int(lengths.sum()) == len(tokens)
    if not sound or tokens.max(initial=0) >= len(names) or documents.min(initial=0) < 0:
        return None
    return Tokens(documents, lengths, tokens.astype(np.int32), names)
