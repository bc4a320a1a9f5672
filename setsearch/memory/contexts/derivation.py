"""Derives the contexts of words.

One process at a time derives contexts (storage/generations.py). It reads in one transaction, computes outside of any,
writes in short ones, and publishes with one row: no question waits for it, and no other write for more than a slice.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import CorruptIndex, DatabaseError, LostArrays
from setsearch.memory.contexts.neighbors import NAMES as NEAREST_NAMES
from setsearch.memory.contexts.neighbors import Earlier, identities, nearest_words, read_earlier
from setsearch.memory.contexts.word_contexts import (
    COEFFICIENTS,
    DOCUMENTS,
    IN_MEMORY,
    STEMS,
    WORDS,
    Documents,
    TokenizedTexts,
    WordContexts,
    derived_contexts,
    no_contexts,
    read_tokens,
    sizes_of,
    token_arrays,
)
from setsearch.memory.field import Field
from setsearch.memory.names.derived import ContextVocabulary
from setsearch.sqlite.database import Database
from setsearch.sqlite.spill import Spill, let_go
from setsearch.storage.generations import Draft, Generation, find_generation, json_array, json_of
from setsearch.storage.kept.texts import Texts, read_texts
from setsearch.storage.relation import Relation
from setsearch.text.analyzer import Analyzer
from setsearch.text.contexts import parts_of_keys
from setsearch.text.shown_forms import changed_forms, numbers_of, stem_numbers
from setsearch.text.token_stream import Tokens, arrange, tokenize, used_names, without_others

TITLES_OF_WRITE = 5000  # in one statement
STORED = 48  # times as many bytes as tokens have may be stored: 12 to 28 of large collections, 46 of a small one

Tell = Callable[[float], None]  # which share of the work is done
READ, ARRANGED, COUNTED, COMPARED = 0.1, 0.2, 0.5, 0.95  # shares of the time, of 126,000 short texts


class _Texts(NamedTuple):
    """What contexts are derived from, as one transaction sees it; emptied when it was used, to free memory."""

    relation: Relation
    documents: Documents  # those with a text, by name
    parts: list[Tokens]  # tokens of documents; the last part that has a document counts
    stems: Ints  # the numbers of the stems of the words of the first part, as far as they are known
    has_contexts: bool
    neighbors: Earlier | None  # of words, as they were derived before
    spill: Spill  # where what is derived waits


def derive_contexts(
    database: Database,
    find: Callable[[sqlite3.Cursor], Relation],
    analyzer: Analyzer,
    spill: Spill,
    required: bool = False,
    tell: Tell = lambda share: None,
) -> WordContexts | None:
    """Derive the contexts of a collection and store them; None if another process is at work.

    What waits is in `spill`. Where contexts cannot be stored they stay; `required` raises the reason. `tell` gets the
    share that is done.
    """
    with database.read() as cursor:
        relation = find(cursor)
    draft = None
    if not database.is_nested:
        try:
            draft = Draft.begin(database, relation.id)
            if draft is None:
                return None
        except DatabaseError as error:
            if required or isinstance(error, CorruptIndex):
                raise
    try:
        with database.read() as cursor:
            texts = _read(find(cursor), analyzer, spill)
        return _derive(texts, analyzer, draft, required, tell)
    except BaseException:
        if draft is not None:
            draft.abandon()
        raise


def _read(relation: Relation, analyzer: Analyzer, spill: Spill) -> _Texts:
    """The documents in the order of their names, so that results do not depend on the order of writes."""
    has_text = np.zeros(relation.items.next_id, bool)
    has_text[Texts.of(relation).items()] = True
    named = relation.cursor.execute(
        "select id, name, title from setsearch_name where kind = ? order by name", (relation.items.id,)
    )
    documents = Documents(row for row in named if has_text[row[0]])
    known, changed, neighbors, stems = tokenize((), analyzer.words), None, None, np.zeros(0, np.int64)
    generation = find_generation(relation)
    if generation is not None:
        neighbors, since = read_earlier(generation), relation.history.changed_items(generation.state)
        with suppress(LostArrays):
            if since is not None:
                known, changed = read_tokens(generation), since
                own = generation.array(STEMS)  # earlier versions have none
                stems = own if len(own) == len(known.names) else stems
    parts = [known, tokenize(read_texts(relation, changed), analyzer.words, known.names)]
    return _Texts(relation.within(None), documents, parts, stems, relation.wants_contexts, neighbors, spill)


def _derive(texts: _Texts, analyzer: Analyzer, draft: Draft | None, required: bool, tell: Tell) -> WordContexts:
    relation = texts.relation

    def at(share: float) -> None:
        """Tell how far it is, and other processes that this one is at work, with no more memory than it needs."""
        let_go()
        if draft is not None:
            draft.renew()
        tell(share)

    def step(first: float, last: float) -> Tell:
        return lambda share: at(first + share * (last - first))

    at(READ)
    tokens = arrange(texts.documents.ids, texts.parts)
    used, stems, forms = used_names(tokens), np.zeros(0, np.int64), dict[str, str]()
    if analyzer.language is not None:
        stems = stem_numbers(tokens.names, analyzer.stem, texts.stems)
        before = texts.parts[0] if len(texts.stems) else None
        forms, stems = changed_forms(before, texts.parts[-1], tokens, stems, analyzer.stem), stems[used]
    tokens = without_others(tokens, used)
    spill = texts.spill.leaving(STORED * tokens.tokens.nbytes)
    tokens = tokens._replace(tokens=spill.put(tokens.tokens)[0])
    texts.documents.wait_in(spill)
    texts.parts.clear()
    stored = token_arrays(tokens) | {STEMS: stems}
    contexts = no_contexts(Generation(IN_MEMORY, relation.state))
    if texts.has_contexts:
        settings = relation.items.next_id, analyzer, relation.has_phrases, spill
        source = TokenizedTexts(tokens, texts.documents, *settings)
        del tokens
        contexts = derived_contexts(contexts.generation, source, step(ARRANGED, COUNTED))
        del source
        at(COUNTED)
        nearest = nearest_words(_identified(contexts), contexts.words.words, texts.neighbors, step(COUNTED, COMPARED))
        contexts.arrays.update((name, nearest[name]) for name in NEAREST_NAMES)
        stored |= nearest | {DOCUMENTS: contexts.arrays[DOCUMENTS]}
    stored |= {"items": json_array(contexts.words.words), "sizes": json_array(sizes_of(contexts))}
    at(COMPARED)
    if draft is None:
        return contexts
    try:
        draft.write(stored.items())
        _store_forms(draft, relation, forms)
        return replace(contexts, generation=draft.publish(relation.state))
    except DatabaseError as error:
        draft.abandon()
        if required or isinstance(error, CorruptIndex):
            raise
        return contexts


def _identified(contexts: WordContexts) -> list[tuple[Field, float, Ints]]:
    """The fields of contexts, their coefficients, and what identifies each feature, whatever its id."""
    numbers, found = numbers_of(json_of(contexts.arrays[WORDS])), list[tuple[Field, float, Ints]]()
    for number, (name, field) in enumerate(contexts.fields.items()):
        parts = [np.arange(field.features.size)]
        if isinstance(field.features, ContextVocabulary):
            parts = [np.full(1, number), *parts_of_keys(field.features.keys, numbers)]
        found.append((field, COEFFICIENTS[name], identities(parts)))
    return found


def _store_forms(draft: Draft, relation: Relation, forms: dict[str, str]) -> None:
    rows = [(form, relation.features.id, term, form) for term, form in sorted(forms.items())]  # as the index is
    for start in range(0, len(rows), TITLES_OF_WRITE):
        draft.execute(
            "update setsearch_name set title = ? where kind = ? and name = ? and title is not ?",
            rows[start : start + TITLES_OF_WRITE],
        )
