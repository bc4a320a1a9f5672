"""The contexts of a collection's words, at the revision of the texts that they were derived from.

Each field has words as items and contexts, or documents, as features. They change as a whole: another generation is
derived and takes the place of this one, so nothing here is ever brought up to date.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setsearch.arrays import Array, Entries, Ints
from setsearch.errors import LostArrays
from setsearch.lists import Lists, transposed
from setsearch.memory import layout
from setsearch.memory.content import Content
from setsearch.memory.field import Field
from setsearch.memory.names import CONTEXTS_OF, ContextVocabulary, DocumentVocabulary, WordVocabulary
from setsearch.memory.neighbors import NAMES as NEAREST_NAMES
from setsearch.memory.neighbors import NearestWords
from setsearch.models.values import ValueRule
from setsearch.sqlite.database import Bound
from setsearch.sqlite.mapped import Mapped
from setsearch.storage.generations import (
    Generation,
    arrays_of,
    text_array,
)
from setsearch.storage.names import Vocabulary
from setsearch.text.token_stream import Tokens

TEXTS = ("items", "words", "documents", "token names")  # arrays that are texts
# Of the scores of each field (text/contexts.py), chosen on sets of words of a dictionary and an encyclopedia.
COEFFICIENTS = {
    "contexts win2": 1.0,
    "contexts skip": 0.7,
    "contexts lists": 0.3,
    "contexts titled": 0.7,
    "documents": 0.6,
}
USES_NAMES = "uses", "occurrences", "least uses"  # of the stored arrays
STEMS = "token stems"  # of the stored arrays; earlier versions have none
IN_MEMORY = 0  # the id of a generation that no file holds
ITEMS, FEATURES = "items", "features"  # the directions of a field's lists

Arrays = dict[str, Any]  # by name; texts among them


class WordUses(Bound):
    """The uses of the words of a generation, read when they are first needed."""

    def __init__(self, size: int, load: Callable[[sqlite3.Cursor, str], Any], generation: int | None) -> None:
        self._size, self._load, self._generation = size, load, generation
        self._known: list[tuple[Ints, Ints, int]] = []

    def sample(self, id: int) -> tuple[int, int] | None:
        """How many uses of a word tell its neighbors, and how many there are; None if all do. Raises LostArrays."""
        uses, occurrences, _ = self._read()
        return (int(uses[id]), int(occurrences[id])) if uses[id] < occurrences[id] else None

    def least(self) -> int:
        """How often a word had to be used to have contexts. Raises LostArrays."""
        return self._read()[2]

    def _read(self) -> tuple[Ints, Ints, int]:
        if not self._known:
            uses, occurrences, least = (self._load(self.cursor, name) for name in USES_NAMES)
            if not len(uses) == len(occurrences) == self._size or len(least) != 1:
                raise LostArrays("the stored uses of words", self._generation)
            self._known.append((uses, occurrences, int(least[0])))
        return self._known[0]


@dataclass(frozen=True)
class WordContexts:
    """The words and their fields, by name. Without fields the collection has no contexts."""

    generation: Generation
    words: WordVocabulary
    fields: Mapping[str, Field]
    nearest: NearestWords | None  # this and the next: None if an earlier version derived them
    uses: WordUses | None
    mapped: Mapped | None = None

    @property
    def is_complete(self) -> bool:
        """Whether words, if there are some, have all that this version derives."""
        are_new = self.nearest is not None and self.uses is not None
        return not self.fields or ({*COEFFICIENTS} <= {*self.fields} and are_new)


def read_contexts(generation: Generation, mapped: Mapped | None) -> WordContexts:
    """The contexts of a generation: from a file of arrays, if that is of this one, else from the table.

    Raises LostArrays.
    """
    if mapped is not None and mapped.state != contexts_state(generation):
        mapped = None
    words, sizes = read_sizes(generation)
    lists = dict[str, tuple[Lists, Lists]]()
    for name, n_features in sizes.items():
        if mapped is None:
            cells = generation.lists(f"{name} {FEATURES}", n_features, len(words))
            lists[name] = both_ways(cells, len(words), n_features)
        else:
            by_item = layout.lists_from_arrays(mapped, f"{name} {ITEMS}", len(words), n_features)
            lists[name] = by_item, layout.turned_from_arrays(mapped, f"{name} {FEATURES}", by_item)
    made = make_contexts(generation, words, {} if mapped is None else mapped.arrays, lists, mapped)
    has_nearest, has_uses = (generation.has(own[0]) for own in (NEAREST_NAMES, USES_NAMES))
    return replace(made, nearest=made.nearest if has_nearest else None, uses=made.uses if has_uses else None)


def contexts_state(generation: Generation) -> list[int]:
    """What a file of arrays says that it was derived from."""
    return [generation.id, *generation.state]


def read_sizes(generation: Generation) -> tuple[list[str], dict[str, int]]:
    """The words that have contexts, sorted, and the number of features of each field. Raises LostArrays."""
    sizes, words = (generation.text(name) for name in ("sizes", "items"))
    try:
        names, of_fields = [*json.loads(words)], dict(json.loads(sizes))
        if {*map(type, names)} <= {str} and {*map(type, of_fields.values())} <= {int}:
            return names, of_fields
        raise LostArrays("the stored contexts", generation.id)
    except (ValueError, TypeError) as error:
        raise LostArrays("the stored contexts", generation.id) from error


def make_contexts(
    generation: Generation,
    names: Sequence[str],
    arrays: Mapping[str, Any],
    lists: Mapping[str, tuple[Lists, Lists]],
    mapped: Mapped | None = None,
) -> WordContexts:
    """Contexts of these words; `lists` of each field are those by word and by feature.

    What the generation has of them is read from `arrays`, or when it is needed from the table.
    """
    generation, words, fields = generation.within(None), WordVocabulary(names), {}

    def load(cursor: sqlite3.Cursor, name: str) -> Array | str:
        own = generation.within(cursor)
        return arrays[name] if name in arrays else own.text(name) if name in TEXTS else own.array(name)

    for name, both in lists.items():
        features: Vocabulary = ContextVocabulary(name, len(both[1]), load)
        if not name.startswith(CONTEXTS_OF):
            features = DocumentVocabulary(name, len(both[1]), load, generation.state)
        fields[name] = Field(Content(words, features, *both, np.zeros(0, np.int64), mapped))
    lost = None if generation.id == IN_MEMORY else generation.id
    nearest, uses = NearestWords(words.size, load, lost), WordUses(words.size, load, lost)
    return WordContexts(generation, words, fields, nearest, uses, mapped)


def both_ways(cells: Entries, n_words: int, n_features: int) -> tuple[Lists, Lists]:
    """The lists of a field by word, and by feature, of sorted (feature, word, count)."""
    by_word = Lists.of(transposed(cells), n_words, n_features)
    return by_word, Lists.of(cells, n_features, n_words)


def stored_arrays(contexts: WordContexts, arrays: Arrays) -> Iterator[tuple[str, Array]]:
    """What a generation stores of contexts: name and array of everything, one after the other."""
    for name, value in arrays.items():
        yield name, text_array(value) if isinstance(value, str) else value
    for name, field in contexts.fields.items():
        yield from arrays_of(f"{name} {FEATURES}", field.content.by_feature)


def mapped_arrays(cursor: sqlite3.Cursor, contexts: WordContexts, rule: ValueRule) -> layout.Named:
    """What a file of arrays gets of contexts. Raises LostArrays."""
    for name, field in contexts.fields.items():
        yield from layout.lists_to_arrays(f"{name} {ITEMS}", field.content.by_item, may_grow=False)
        yield from layout.turned_to_arrays(f"{name} {FEATURES}", field.content.by_feature)
        yield from field.arrays_of(rule, has_postings=False)
    kept = [f"{name.removeprefix(CONTEXTS_OF)} keys" for name in contexts.fields if name.startswith(CONTEXTS_OF)]
    kept += NEAREST_NAMES if contexts.nearest is not None else ()
    kept += USES_NAMES if contexts.uses is not None else ()
    for name in kept:
        yield name, contexts.generation.within(cursor).array(name)


def read_tokens(generation: Generation) -> Tokens | None:
    """The tokens of the texts that contexts were derived from; None if they are lost."""
    try:
        documents, lengths, tokens = (generation.array(name) for name in ("token documents", "token lengths", "tokens"))
        names = json.loads(generation.text("token names"))
    except (LostArrays, ValueError):
        return None
    sound = len(documents) == len(lengths) and int(lengths.sum()) == len(tokens)
    if not sound or tokens.max(initial=0) >= len(names) or documents.min(initial=0) < 0:
        return None
    return Tokens(documents, lengths, tokens.astype(np.int32), names)


def read_stems(generation: Generation, tokens: Tokens) -> Ints:
    """The numbers of the stems of the words of tokens; empty if an earlier version derived them, or they are lost."""
    try:
        stems = generation.array(STEMS)
    except LostArrays:
        return np.zeros(0, np.int64)
    return stems if len(stems) == len(tokens.names) else stems[:0]
