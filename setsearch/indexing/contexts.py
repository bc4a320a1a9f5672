"""Derives what a collection needs from its stored texts: relations of words and contexts, and surface forms of stems.

They belong to one stamp. The first question after a write that needs them derives them again from scratch, so that they
always equal those of a new index.
"""

import math
import sqlite3
from collections import Counter

import numpy as np

from setsearch.arrays import Entries, Ints
from setsearch.storage.names import context_values
from setsearch.storage.relation import Relation, create_vocabulary, load_derived, wants_contexts
from setsearch.storage.sql import insert_rows
from setsearch.storage.texts import read_texts
from setsearch.text.analyzer import Analyzer, words
from setsearch.text.contexts import FIELDS, context_field, document_field, words_of
from setsearch.text.token_stream import FIRST_WORD, TokenStream, merge_phrases, read_token_stream

LARGEST_LEAST_COUNT = 20
ITEMS = "terms in context"


def derive_contexts(cursor: sqlite3.Cursor, relation: Relation, analyzer: Analyzer) -> None:
    """Derive contexts and surface forms from the present texts; the caller commits."""
    clear_contexts(cursor, relation)
    if analyzer.language is not None:
        _store_surface_forms(cursor, relation, analyzer)
    if wants_contexts(cursor, relation):
        stream = read_token_stream(read_texts(cursor, relation))
        if relation.contexts == "phrases":
            stream = merge_phrases(stream)
        item_of, names = _choose_items(stream, analyzer)
        items = _create_items(cursor, names)
        for name in FIELDS:
            field = context_field(name, stream, item_of)
            used_words = {number: stream.names[number] for number in words_of(field.keys).tolist()}
            features = create_vocabulary(cursor, f"contexts {name}", len(field.keys))
            derived = _create_derived(cursor, relation, items, features, f"contexts {name}")
            _fill(cursor, derived, field.cells)
            derived.save_derived_values(cursor, "", context_values(field.keys, used_words))
        derived = _create_derived(cursor, relation, items, relation.items.id, relation.items.name)
        _fill(cursor, derived, document_field(stream, item_of))
    cursor.execute("update setsearch_relation set contexts_stamp = stamp where id = ?", (relation.id,))


def clear_contexts(cursor: sqlite3.Cursor, relation: Relation) -> None:
    """Delete the derived relations, and then the vocabularies that they share."""
    derived = list(load_derived(cursor, relation).values())
    for own in derived:
        for lists in (own.postings, own.forward):
            lists.clear(cursor)
        cursor.execute("delete from setsearch_derived where relation = ?", (own.id,))
        cursor.execute("delete from setsearch_relation where id = ?", (own.id,))
    vocabularies = {vocabulary.id for own in derived for vocabulary in (own.items, own.features)}
    for id in vocabularies - {relation.items.id}:
        cursor.execute("delete from setsearch_name where kind = ?", (id,))
        cursor.execute("delete from setsearch_kind where id = ?", (id,))


def least_count(n_tokens: int) -> int:
    """How often a word must occur to be an item: 20 times in six million tokens, 8 times in one million."""
    return max(2, min(LARGEST_LEAST_COUNT, math.isqrt(n_tokens) // 120))


def _store_surface_forms(cursor: sqlite3.Cursor, relation: Relation, analyzer: Analyzer) -> None:
    """Store the most frequent surface form of each stem as its title; ties alphabetically."""
    counts: Counter[str] = Counter()
    for _, text in read_texts(cursor, relation):
        counts.update(words(text))
    forms: dict[str, str] = {}
    for form in sorted(counts, key=lambda form: (-counts[form], form)):
        forms.setdefault(analyzer.stem(form), form)
    cursor.executemany(
        "update setsearch_name set title = ? where kind = ? and name = ? and title is not ?",
        [(form, relation.features.id, term, form) for term, form in forms.items()],
    )


def _choose_items(stream: TokenStream, analyzer: Analyzer) -> tuple[Ints, list[str]]:
    """The words that are items: `(n_words,)` ids in the order of names, -1 for others; and their names."""
    counts = stream.counts
    frequent = (counts >= least_count(len(stream.tokens))) & (counts <= stream.most_frequent)
    chosen = [
        number
        for number in range(FIRST_WORD, len(stream.names))
        if frequent[number]
        and any(map(str.isalpha, stream.names[number]))
        and not analyzer.is_stop_word(stream.names[number])
    ]
    chosen.sort(key=stream.names.__getitem__)
    item_of = np.full(len(stream.names), -1, np.int64)
    item_of[chosen] = np.arange(len(chosen))
    return item_of, [stream.names[number] for number in chosen]


def _create_items(cursor: sqlite3.Cursor, names: list[str]) -> int:
    items = create_vocabulary(cursor, ITEMS, len(names))
    insert_rows(cursor, "insert into setsearch_name (kind, id, name)", f"({items}, ?, ?)", range(len(names)), names)
    return items


def _create_derived(cursor: sqlite3.Cursor, parent: Relation, items: int, features: int, name: str) -> Relation:
    cursor.execute(
        "insert into setsearch_relation (items, features, parent) values (?, ?, ?)", (items, features, parent.id)
    )
    derived = load_derived(cursor, parent)[name]
    derived.save(cursor)
    return derived


def _fill(cursor: sqlite3.Cursor, relation: Relation, cells: Entries) -> None:
    """Write (feature, item, count), sorted, in both directions."""
    relation.postings.fill(cursor, cells)
    relation.forward.fill(cursor, cells.transposed(relation.features.next_id, relation.items.next_id))
