"""The contexts of a collection's words, at the revision of the texts that they were derived from.

Each field has words as items and contexts, or documents, as features. They change as a whole: another generation is
derived and takes the place of this one, so nothing here is ever brought up to date. A generation stores the tokens of
its texts. The lists follow from these in some seconds: they stand in a file of arrays, or in memory.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple

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
from setsearch.sqlite.mapped import Mapped
from setsearch.storage.generations import Generation, json_array, json_of, numbers_of_shorts, shorts_array
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import IDS_OF_ANY_FILE, Relation
from setsearch.text.analyzer import Analyzer
from setsearch.text.contexts import (
    FIELDS,
    ContextPairs,
    choose_items,
    context_fields,
    document_field,
    least_count,
    words_of_titles,
)
from setsearch.text.token_stream import MARKS, Tokens, token_stream

# Of the scores of each field (text/contexts.py), chosen on sets of words of a dictionary and an encyclopedia.
COEFFICIENTS = {
    "contexts win2": 1.0,
    "contexts skip": 0.7,
    "contexts lists": 0.3,
    "contexts titled": 0.7,
    "documents": 0.6,
}
# Names of arrays: what a generation stores of texts, and what follows from them.
TOKENS = "token documents", "token lengths", "token names", "tokens in shorts"
OLD_TOKENS = "tokens"  # as numbers of any size, before version 0.33
STEMS = "token stems"  # earlier versions have none
DOCUMENTS = "documents"  # also of a field
WORDS, USES_NAMES = "words", ("uses", "occurrences", "least uses")
IN_MEMORY = 0  # the id of a generation that no file holds
ITEMS, FEATURES = "items", "features"  # the directions of a field's lists

Arrays = dict[str, Array]  # by name; texts are their bytes
Document = tuple[int, str, str | None]  # id, name, title


@dataclass(frozen=True)
class WordUses:
    """The uses of the words of a generation: how many of each tell its neighbors, and how many there are.

    `least`: how often a word had to be used to have contexts.
    """

    uses: Ints
    occurrences: Ints
    least: int

    def sample(self, id: int) -> tuple[int, int] | None:
        """How many uses of a word tell its neighbors, and how many there are; None if all do."""
        uses, occurrences = int(self.uses[id]), int(self.occurrences[id])
        return (uses, occurrences) if uses < occurrences else None


@dataclass(frozen=True)
class WordContexts:
    """The words and their fields, by name. Without fields the collection has no contexts.

    `arrays` has, by name, what the generation does not store, or memory has, too.
    """

    generation: Generation
    words: WordVocabulary
    fields: Mapping[str, Field]
    nearest: NearestWords
    uses: WordUses | None
    arrays: Arrays
    mapped: Mapped | None

    def load(self, cursor: sqlite3.Cursor, name: str) -> Array:
        """An array, from memory or from the table. Raises LostArrays."""
        return _load(self.generation, self.arrays, cursor, name)


def _load(generation: Generation, arrays: Arrays, cursor: sqlite3.Cursor, name: str) -> Array:
    return arrays[name] if name in arrays else generation.within(cursor).array(name)


class TokenizedTexts(NamedTuple):
    """What contexts follow from: the tokens of documents in the order of their names, and these documents.

    `n_ids` is above the id of any document of the collection.
    """

    tokens: Tokens
    documents: list[Document]
    n_ids: int
    analyzer: Analyzer
    has_phrases: bool


def read_contexts(
    generation: Generation, mapped: Mapped | None, relation: Relation, analyzer: Analyzer
) -> WordContexts:
    """The contexts of a generation: from a file of arrays, if that is of this one, else from its tokens.

    Raises LostArrays, also if an earlier version derived others from these texts.
    """
    words, sizes = read_sizes(generation)
    if not sizes:
        return no_contexts(generation)
    if mapped is not None and mapped.state == contexts_state(generation):
        lists = dict[str, tuple[Lists, Lists]]()
        for name, n_features in sizes.items():
            by_item = layout.lists_from_arrays(mapped, f"{name} {ITEMS}", len(words), n_features)
            lists[name] = by_item, layout.turned_from_arrays(mapped, f"{name} {FEATURES}", by_item)
        return _made(generation, words, lists, mapped.arrays, mapped)
    texts = TokenizedTexts(*_read_texts(generation), sizes["documents"], analyzer, relation.has_phrases)
    if not texts.tokens.documents.max(initial=-1) < texts.n_ids <= max(relation.items.next_id, IDS_OF_ANY_FILE):
        raise LostArrays("the stored tokens", generation.id)
    contexts = derived_contexts(generation, texts)
    if contexts.words.words != words or sizes_of(contexts) != sizes:
        raise LostArrays("the stored contexts", generation.id)
    return contexts


def contexts_state(generation: Generation) -> list[int]:
    """What a file of arrays says that it was derived from."""
    return [generation.id, *generation.state]


def sizes_of(contexts: WordContexts) -> dict[str, int]:
    """The number of features of each field."""
    return {name: field.features.size for name, field in contexts.fields.items()}


def read_sizes(generation: Generation) -> tuple[list[str], dict[str, int]]:
    """The words that have contexts, sorted, and the number of features of each field.

    Raises LostArrays, also if an earlier version derived less than this one.
    """
    words, sizes = _read_json(generation, "items"), _read_json(generation, "sizes")
    are_sound = isinstance(words, list) and isinstance(sizes, dict) and {*map(type, words)} <= {str}
    if not are_sound or not {*map(type, sizes.values())} <= {int}:
        raise LostArrays("the stored contexts", generation.id)
    if sizes and ({*sizes} != {*COEFFICIENTS} or not all(map(generation.has, NEAREST_NAMES))):
        raise LostArrays("the stored contexts", generation.id)
    return words, sizes


def no_contexts(generation: Generation) -> WordContexts:
    """Those of a collection that has none."""
    return _made(generation, [], {}, {}, None)


def derived_contexts(
    generation: Generation, texts: TokenizedTexts, tell: Callable[[float], None] = lambda share: None
) -> WordContexts:
    """The contexts that follow from tokens, in memory. `tell` gets the share that is done."""
    stream = token_stream(texts.tokens, texts.has_phrases)
    counts = stream.counts
    items = choose_items(stream.names, counts, len(stream.tokens), texts.analyzer)
    lists, n_words = dict[str, tuple[Lists, Lists]](), len(items.names)
    titles = words_of_titles(texts.analyzer.words, (own[1:] for own in texts.documents))
    pairs = ContextPairs(stream, items, [name for _, name, _ in texts.documents], titles)
    arrays = {WORDS: json_array(stream.names), DOCUMENTS: json_array(texts.documents)}
    for number, (name, field) in enumerate(context_fields(pairs)):
        tell(number / len(FIELDS))
        lists[f"{CONTEXTS_OF}{name}"] = _both_ways(field.cells, n_words, len(field.keys))
        arrays[f"{name} keys"] = field.keys
        del field  # not two at once
    lists[DOCUMENTS] = _both_ways(document_field(stream, items.of), n_words, texts.n_ids)
    uses = pairs.uses, items.occurrences, np.array([least_count(len(stream.tokens))])
    arrays |= zip(USES_NAMES, uses, strict=True)
    return _made(generation, items.names, lists, arrays, None)


def _made(
    generation: Generation,
    names: Sequence[str],
    lists: Mapping[str, tuple[Lists, Lists]],
    arrays: Arrays,
    mapped: Mapped | None,
) -> WordContexts:
    """Contexts of these words; `lists` of each field are those by word and by feature. Raises LostArrays.

    What the generation has of them is read from `arrays`, or when it is needed from the table.
    """
    generation, words, fields = generation.within(None), WordVocabulary(names), {}

    def taken(name: str, size: int) -> Ints:
        if name not in arrays or len(arrays[name]) != size:
            raise LostArrays(f"the mapped {name}")
        return arrays[name]

    if lists and WORDS not in arrays:
        raise LostArrays(f"the mapped {WORDS}")
    load = partial(_load, generation, arrays)
    in_contexts = cache(lambda: json_of(arrays[WORDS]))
    for name, both in lists.items():
        size = len(both[1])
        features: Vocabulary = DocumentVocabulary(name, size, load, generation.state)
        if name.startswith(CONTEXTS_OF):
            features = ContextVocabulary(name, taken(f"{name.removeprefix(CONTEXTS_OF)} keys", size), in_contexts)
        fields[name] = Field(Content(words, features, *both, np.zeros(0, np.int64), mapped))
    uses = None
    if lists:
        sizes = words.size, words.size, 1
        own, occurrences, least = (taken(name, size) for name, size in zip(USES_NAMES, sizes, strict=True))
        uses = WordUses(own, occurrences, int(least[0]))
    lost = None if generation.id == IN_MEMORY else generation.id
    nearest = NearestWords(words.size, load, lost)
    return WordContexts(generation, words, fields, nearest, uses, arrays, mapped)


def _both_ways(cells: Entries, n_words: int, n_features: int) -> tuple[Lists, Lists]:
    """The lists of a field by word, and by feature, of sorted (feature, word, count)."""
    by_word = Lists.of(transposed(cells), n_words, n_features)
    return by_word, Lists.of(cells, n_features, n_words)


def mapped_arrays(cursor: sqlite3.Cursor, contexts: WordContexts, rule: ValueRule) -> layout.Named:
    """What a file of arrays gets of contexts. Raises LostArrays."""
    names = [WORDS, *USES_NAMES, *NEAREST_NAMES]
    for name, field in contexts.fields.items():
        yield from layout.lists_to_arrays(f"{name} {ITEMS}", field.content.by_item, may_grow=False)
        yield from layout.turned_to_arrays(f"{name} {FEATURES}", field.content.by_feature)
        yield from field.arrays_of(rule, has_postings=False)
        if name.startswith(CONTEXTS_OF):
            names.append(f"{name.removeprefix(CONTEXTS_OF)} keys")
    for name in names:
        yield name, contexts.load(cursor, name)


def _read_texts(generation: Generation) -> tuple[Tokens, list[Document]]:
    """The tokens and the documents of a generation. Raises LostArrays."""
    tokens, documents = read_tokens(generation), _read_json(generation, DOCUMENTS)
    if tokens is not None and isinstance(documents, list) and len(documents) == len(tokens.documents):
        ids = tokens.documents.tolist()
        if all(_is_document(row, id) for row, id in zip(documents, ids, strict=True)):
            return tokens, documents
    raise LostArrays("the stored tokens", generation.id)


def _is_document(row: object, id: int) -> bool:
    if not isinstance(row, list) or len(row) != len(("id", "name", "title")):
        return False
    return row[0] == id and isinstance(row[1], str) and isinstance(row[2], str | None)


def read_tokens(generation: Generation) -> Tokens | None:
    """The tokens of the texts that contexts were derived from; None if they are lost."""
    try:
        documents, lengths = (generation.array(name) for name in TOKENS[:2])
        names, is_new = _read_json(generation, TOKENS[2]), generation.has(TOKENS[3])
        tokens = numbers_of_shorts(generation.array(TOKENS[3], np.uint8)) if is_new else generation.array(OLD_TOKENS)
    except LostArrays:
        return None
    if tokens is None:
        return None
    are_names = isinstance(names, list) and {*map(type, names)} <= {str} and names[: len(MARKS)] == [*MARKS]
    if not are_names or len(documents) != len(lengths) or int(lengths.sum()) != len(tokens):
        return None
    if min(own.min(initial=0) for own in (documents, lengths, tokens)) < 0 or tokens.max(initial=0) >= len(names):
        return None
    return Tokens(documents, lengths, tokens.astype(np.int32), names)


def token_arrays(tokens: Tokens) -> Arrays:
    """The arrays as which tokens are stored, by name."""
    texts = json_array(tokens.names), shorts_array(tokens.tokens)
    return dict(zip(TOKENS, (tokens.documents, tokens.lengths, *texts), strict=True))


def read_stems(generation: Generation, tokens: Tokens) -> Ints:
    """The numbers of the stems of the words of tokens; empty if an earlier version derived them, or they are lost."""
    try:
        stems = generation.array(STEMS)
    except LostArrays:
        return np.zeros(0, np.int64)
    return stems if len(stems) == len(tokens.names) else stems[:0]


def _read_json(generation: Generation, name: str) -> Any:
    """The value of an array of `json_array`. Raises LostArrays."""
    try:
        return json_of(generation.array(name, np.uint8))
    except (ValueError, RecursionError) as error:
        raise LostArrays(f"the stored {name}", generation.id) from error
