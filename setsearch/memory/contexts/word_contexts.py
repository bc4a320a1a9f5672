"""The contexts of a collection's words, at the revision of the texts that they were derived from.

Each field has words as items and contexts, or documents, as features. They change as a whole: another generation is
derived and takes the place of this one, so nothing here is ever brought up to date. A generation stores the tokens of
its texts. The lists follow from these in some seconds: they stand in a file of arrays, or in memory.
"""

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, pairwise
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Array, Entries, Ints, offsets
from setsearch.errors import LostArrays
from setsearch.lists import Lists, transposed
from setsearch.memory import layout
from setsearch.memory.content import Content
from setsearch.memory.contexts.latent_words import BYTES, latent_array, word_vectors
from setsearch.memory.contexts.latent_words import FIELD as LATENT_FIELD
from setsearch.memory.contexts.latent_words import NAME as LATENT_NAME
from setsearch.memory.contexts.neighbors import NAMES as NEAREST_NAMES
from setsearch.memory.contexts.neighbors import NEAREST, check_nearest
from setsearch.memory.field import Field
from setsearch.memory.names.derived import CONTEXTS_OF, ContextVocabulary, DocumentVocabulary, WordVocabulary
from setsearch.memory.vectors import Vectors
from setsearch.models.values import ValueRule
from setsearch.scoring.smoothing import Neighbors, neighbors_of
from setsearch.sqlite.mapped import Mapped
from setsearch.sqlite.spill import Spill, let_go
from setsearch.storage.generations import Generation, json_array, json_of
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
TOKENS = "token documents", "token lengths", "tokens", "token names"
STEMS = "token stems"
DOCUMENTS = "documents"  # also of a field
WORDS, USES_NAMES = "words", ("uses", "occurrences", "least uses")
IN_MEMORY = 0  # the id of a generation that no file holds
DOCUMENTS_OF_STEP = 1 << 12  # that are packed, and unpacked, together
ITEMS, FEATURES = "items", "features"  # the directions of a field's lists

Arrays = dict[str, Array]  # by name; texts are their bytes
Document = tuple[int, str, str | None]  # id, name, title


class WordUses(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class WordContexts:
    """The words and their fields, by name. Without fields the collection has no contexts.

    `arrays`: by name, what a file of arrays has beside lists; without that of the vectors, these are yet to be made.
    """

    generation: Generation
    words: WordVocabulary
    fields: Mapping[str, Field]
    uses: WordUses | None
    arrays: Arrays
    mapped: Mapped | None

    @cached_property
    def nearest(self) -> Neighbors:
        """The nearest words of each word."""
        return neighbors_of(*(self.arrays[name].reshape(-1, NEAREST) for name in NEAREST_NAMES))

    @cached_property
    def vectors(self) -> Vectors:
        """The latent vectors of those words that have one."""
        if LATENT_NAME not in self.arrays:
            self.arrays[LATENT_NAME] = latent_array(self.fields[LATENT_FIELD].lists(False))
        return word_vectors(self.arrays[LATENT_NAME])


class Documents:
    """Documents in some order, as the JSON of all, since rows take more than four times the memory.

    They are unpacked in steps, as lists. `array` is what `json_array` makes of all.
    """

    def __init__(self, rows: Iterable[Document]) -> None:
        others, ids, parts = iter(rows), array("q"), list[bytes]()
        while step := [*islice(others, DOCUMENTS_OF_STEP)]:
            ids.extend(id for id, _, _ in step)
            parts.append(json.dumps(step, ensure_ascii=False).encode()[1:-1])
        self.ids: Ints = np.array(ids, np.int64)
        self._starts = offsets(np.array([len(part) + len(", ") for part in parts], np.int64)) + 1
        self.array = np.frombuffer(b"[%b]" % b", ".join(parts), np.uint8)

    def wait_in(self, spill: Spill) -> None:
        """Let the array be in a file from now on."""
        (self.array,) = spill.put(self.array)

    def __iter__(self) -> Iterator[Document]:
        for start, next_start in pairwise(self._starts.tolist()):
            yield from json.loads(b"[%b]" % self.array[start : next_start - len(", ")].tobytes())


class TokenizedTexts(NamedTuple):
    """What contexts follow from: the tokens of documents in the order of their names, and these documents.

    `n_ids` is above the id of any document of the collection. What is derived waits in `spill`.
    """

    tokens: Tokens
    documents: Documents
    n_ids: int
    analyzer: Analyzer
    has_phrases: bool
    spill: Spill


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
        check_nearest(len(words), *(layout.take_array(mapped, name, "<i8") for name in NEAREST_NAMES))
        layout.take_array(mapped, LATENT_NAME, "<i8", len(words) * BYTES // 8)
        return _made(generation, words, lists, mapped.arrays, mapped)
    tokens, rows = _read_texts(generation)
    settings = sizes["documents"], analyzer, relation.has_phrases, Spill(None)
    texts = TokenizedTexts(tokens, Documents(rows), *settings)
    if not texts.tokens.documents.max(initial=-1) < texts.n_ids <= max(relation.items.next_id, IDS_OF_ANY_FILE):
        raise LostArrays("the stored tokens")
    contexts = derived_contexts(generation, texts)
    if contexts.words.words != words or sizes_of(contexts) != sizes:
        raise LostArrays("the stored contexts")
    contexts.arrays.update((name, generation.array(name)) for name in NEAREST_NAMES)
    check_nearest(len(words), *(contexts.arrays[name] for name in NEAREST_NAMES))
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
    words, sizes = generation.json("items"), generation.json("sizes")
    are_sound = isinstance(words, list) and isinstance(sizes, dict) and {*map(type, words)} <= {str}
    if not are_sound or not {*map(type, sizes.values())} <= {int} or (sizes and {*sizes} != {*COEFFICIENTS}):
        raise LostArrays("the stored contexts")
    return words, sizes


def no_contexts(generation: Generation) -> WordContexts:
    """Those of a collection that has none."""
    return _made(generation, [], {}, {}, None)


def derived_contexts(
    generation: Generation, texts: TokenizedTexts, tell: Callable[[float], None] = lambda share: None
) -> WordContexts:
    """The contexts that follow from tokens, in memory, yet without vectors. `tell` gets the share that is done."""
    stream = token_stream(texts.tokens, texts.has_phrases)
    counts = stream.counts
    items = choose_items(stream.names, counts, len(stream.tokens), texts.analyzer)
    lists, n_words = dict[str, tuple[Lists, Lists]](), len(items.names)
    titles = words_of_titles(texts.analyzer.words, (own[1:] for own in texts.documents))
    pairs = ContextPairs(stream, items, (name for _, name, _ in texts.documents), titles)
    put = texts.spill.put
    arrays = {WORDS: json_array(stream.names), DOCUMENTS: texts.documents.array}
    let_go()
    for number, (name, field) in enumerate(context_fields(pairs, put)):
        tell(number / len(FIELDS))
        lists[f"{CONTEXTS_OF}{name}"] = _both_ways(field.cells, (len(field.keys), n_words), put)
        arrays[f"{name} keys"] = put(field.keys)[0]
        del field  # not two at once
        let_go()
    lists[DOCUMENTS] = _both_ways(document_field(stream, items.of), (texts.n_ids, n_words), put)
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
    """Contexts of these words; `lists` of each field are those by word and by feature. Raises LostArrays."""
    words, fields, uses = WordVocabulary(names), dict[str, Field](), None

    def taken(name: str, size: int | None = None) -> Array:
        if name not in arrays or size not in (None, len(arrays[name])):
            raise LostArrays(f"the mapped {name}")
        return arrays[name]

    in_contexts = cache(lambda: json_of(arrays[WORDS]))
    for name, both in lists.items():
        size, keys = len(both[1]), _keys(name)
        if keys is None:
            features: Vocabulary = DocumentVocabulary(name, size, taken(DOCUMENTS), generation.state)
        else:
            features = ContextVocabulary(name, taken(keys, size), in_contexts)
        fields[name] = Field(Content(words, features, *both, np.zeros(0, np.int64), mapped))
    if lists:
        taken(WORDS)
        of_words = [taken(name, words.size) for name in USES_NAMES[:2]]
        uses = WordUses(of_words[0], of_words[1], int(taken(USES_NAMES[2], 1)[0]))
    return WordContexts(generation.within(None), words, fields, uses, arrays, mapped)


def _keys(field: str) -> str | None:
    """The array of the keys of a field's contexts; None if its features are documents."""
    return f"{field.removeprefix(CONTEXTS_OF)} keys" if field.startswith(CONTEXTS_OF) else None


def _both_ways(cells: Entries, sizes: tuple[int, int], put: Callable[..., list[Array]]) -> tuple[Lists, Lists]:
    """The lists of a field by word, and by feature, of sorted (feature, word, count), where `put` puts them."""
    turned = transposed(cells)
    let_go()  # of `cells`, which the next step does not read
    by_word = Lists.put(turned, sizes[::-1], put)
    del turned
    let_go()
    return by_word, Lists.put(cells, sizes, put)


def mapped_arrays(contexts: WordContexts, rule: ValueRule) -> layout.NamedArrays:
    """What a file of arrays gets of contexts. Vectors and fields are made one by one, as each takes memory."""
    if not contexts.fields:
        return
    let_go()
    _ = contexts.vectors
    for name, field in contexts.fields.items():
        stored = layout.lists_to_arrays(f"{name} {ITEMS}", field.content.by_item, may_grow=False)
        turned = layout.turned_to_arrays(f"{name} {FEATURES}", field.content.by_feature)
        for named in chain(stored, turned, field.arrays_of(rule, has_postings=False)):
            yield named
            del named
            let_go()
    yield from contexts.arrays.items()


def _read_texts(generation: Generation) -> tuple[Tokens, list[Document]]:
    """The tokens and the documents of a generation. Raises LostArrays."""
    tokens, documents = read_tokens(generation), generation.json(DOCUMENTS)
    if isinstance(documents, list) and len(documents) == len(tokens.documents):
        ids = tokens.documents.tolist()
        if all(_is_document(row, id) for row, id in zip(documents, ids, strict=True)):
            return tokens, documents
    raise LostArrays("the stored documents")


def _is_document(row: object, id: int) -> bool:
    if not isinstance(row, list) or len(row) != len(("id", "name", "title")):
        return False
    return row[0] == id and isinstance(row[1], str) and isinstance(row[2], str | None)


def read_tokens(generation: Generation) -> Tokens:
    """The tokens of the texts that contexts were derived from. Raises LostArrays."""
    documents, lengths, tokens = (generation.array(name) for name in TOKENS[:3])
    names = generation.json(TOKENS[3])
    are_names = isinstance(names, list) and {*map(type, names)} <= {str} and names[: len(MARKS)] == [*MARKS]
    is_sound = are_names and len(documents) == len(lengths) and int(lengths.sum()) == len(tokens)
    least = min(own.min(initial=0) for own in (documents, lengths, tokens))
    if not is_sound or least < 0 or tokens.max(initial=0) >= len(names):
        raise LostArrays("the stored tokens")
    return Tokens(documents, lengths, tokens.astype(np.int32), names)


def token_arrays(tokens: Tokens) -> Arrays:
    """The arrays as which tokens are stored, by name."""
    of_texts = tokens.documents, tokens.lengths, tokens.tokens, json_array(tokens.names)
    return dict(zip(TOKENS, of_texts, strict=True))
