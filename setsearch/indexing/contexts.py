"""The form in which readers wrote a term: of the words that have its stem, the most frequent one.

Words as items: relations of words and their contexts, derived from the texts of a collection in one pass.

They belong to one content. A write leaves them behind; the next question that needs them derives them again, from
scratch, so that after any adding, updating and deleting they are what they would be in a fresh index.
"""

import math
import sqlite3
from collections import Counter

import numpy as np

from setsearch.arrays import Entries, Ints
from setsearch.storage.names import context_values
from setsearch.storage.relation import Relation, create_kind, load_derived, worthwhile
from setsearch.storage.sql import insert_rows
from setsearch.storage.texts import read_texts
from setsearch.text.analyzer import Analyzer, words
from setsearch.text.contexts import FIELDS, documents_of, field_of, words_of
from setsearch.text.token_stream import FIRST_WORD, Stream, merge_phrases, read_stream


def name_forms(cursor: sqlite3.Cursor, relation: Relation, analyzer: Analyzer) -> None:
    """Make the most frequent form of each term its title; of equally frequent ones the first in the alphabet."""
    counts: Counter[str] = Counter()
    for _, text in read_texts(cursor, relation):
        counts.update(words(text))
    best: dict[str, str] = {}
    for form in sorted(counts, key=lambda form: (-counts[form], form)):
        best.setdefault(analyzer.stem(form), form)
    cursor.executemany(
        "update setsearch_name set title = ? where kind = ? and name = ? and title is not ?",
        [(form, relation.features.id, term, form) for term, form in best.items()],
    )


MOST_FREQUENT_NEEDED = 20
ITEMS = "terms in context"


def least_count(n_tokens: int) -> int:
    """How often a word must occur to be an item: 20 times in six million words, fewer in less: 8 times in one."""
    return max(2, min(MOST_FREQUENT_NEEDED, math.isqrt(n_tokens) // 120))


def build(cursor: sqlite3.Cursor, relation: Relation, analyzer: Analyzer) -> None:
    """Derive the relations of words and contexts from the texts as they are now; nothing is committed here."""
    clear(cursor, relation)
    if analyzer.language is not None:
        name_forms(cursor, relation, analyzer)
    if worthwhile(cursor, relation):
        stream = read_stream(read_texts(cursor, relation))
        if relation.contexts == "phrases":
            stream = merge_phrases(stream)
        item_of, items = _choose_items(stream, analyzer)
        words = _create_items(cursor, items)
        for name in FIELDS:
            field = field_of(name, stream, item_of)
            used = {number: stream.names[number] for number in words_of(field.keys).tolist()}
            kind = create_kind(cursor, f"contexts {name}", len(field.keys))
            made = _create(cursor, relation, words, kind, f"contexts {name}")
            _fill(cursor, made, field.cells)
            made.remember(cursor, "", context_values(field.keys, used))
        made = _create(cursor, relation, words, relation.items.id, relation.items.name)
        _fill(cursor, made, documents_of(stream, item_of))
    cursor.execute("update setsearch_relation set contexts_stamp = stamp where id = ?", (relation.id,))


def clear(cursor: sqlite3.Cursor, relation: Relation) -> None:
    """Delete what was derived."""
    for derived in load_derived(cursor, relation).values():
        for lists in (derived.postings, derived.forward):
            lists.clear(cursor)
        cursor.execute("delete from setsearch_derived where relation = ?", (derived.id,))
        cursor.execute("delete from setsearch_relation where id = ?", (derived.id,))
        for kind in (derived.items, derived.features):
            if kind.id != relation.items.id:
                cursor.execute("delete from setsearch_name where kind = ?", (kind.id,))
                cursor.execute("delete from setsearch_kind where id = ?", (kind.id,))


def _choose_items(stream: Stream, analyzer: Analyzer) -> tuple[Ints, list[str]]:
    """Which words are items: `(n_words,)` ids in the order of names, -1 for none; and their names."""
    counts, n_tokens = stream.counts, len(stream.tokens)
    enough = (counts >= least_count(n_tokens)) & (counts <= stream.most_frequent)
    chosen = [
        number
        for number in range(FIRST_WORD, len(stream.names))
        if enough[number]
        and any(map(str.isalpha, stream.names[number]))
        and not analyzer.is_stop_word(stream.names[number])
    ]
    chosen.sort(key=stream.names.__getitem__)
    item_of = np.full(len(stream.names), -1, np.int64)
    item_of[chosen] = np.arange(len(chosen))
    return item_of, [stream.names[number] for number in chosen]


def _create_items(cursor: sqlite3.Cursor, names: list[str]) -> int:
    kind = create_kind(cursor, ITEMS, len(names))
    insert_rows(cursor, "insert into setsearch_name (kind, id, name)", f"({kind}, ?, ?)", range(len(names)), names)
    return kind


def _create(cursor: sqlite3.Cursor, parent: Relation, items: int, features: int, name: str) -> Relation:
    cursor.execute(
        "insert into setsearch_relation (items, features, parent) values (?, ?, ?)", (items, features, parent.id)
    )
    made = load_derived(cursor, parent)[name]
    made.save(cursor)
    return made


def _fill(cursor: sqlite3.Cursor, relation: Relation, cells: Entries) -> None:
    """Write (feature, item, count), sorted, in both directions."""
    relation.postings.fill(cursor, cells)
    relation.forward.fill(cursor, cells.transposed(relation.features.peak, relation.items.peak))
