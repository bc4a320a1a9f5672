"""Vectors of items: those that the user gives, and those of an encoder for the texts and words that have none."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from setsearch.errors import DuplicateItem, InvalidItem, UnknownItem, number_of
from setsearch.indexing.writing.writer import Writer
from setsearch.options import Ids, Progress
from setsearch.sqlite.database import Database
from setsearch.storage.ids import check_names, id_text
from setsearch.storage.kept.texts import Texts, read_texts
from setsearch.storage.kept.vectors import (
    ENCODER,
    OWN,
    VectorSource,
    delete_vectors,
    digest,
    quantized,
    refuse_others,
    replace_vectors,
    set_source,
    write_vectors,
)
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation, find_again
from setsearch.text.encoder import Encoder

TOGETHER = 1024  # texts that are encoded between two writes

T = TypeVar("T")


def add_vectors(
    kind: Vocabulary,
    pairs: tuple[Ids, Iterable[Any]],
    words: Vocabulary | None,
    replace: bool,
) -> int:
    """Store the user's vectors, given as names and vectors; returns how many. With `replace`, all others go.

    Names are those of a kind, or of `words` in context. The caller commits. Raises UnknownItem, DuplicateItem,
    InvalidItem, UsageError.
    """
    ids, rows = _paired(pairs)
    known: set[str] = set()
    for vocabulary in (kind, words):
        known |= set(vocabulary.find([name for name in ids if isinstance(name, str)]) if vocabulary else ())
    for name in ids:
        if name not in known:
            hint = kind.hint(name) if isinstance(name, str) else "ids are texts"
            raise UnknownItem(f"no {name!r:.60} among the {kind.size} {kind.name}; {hint or 'leave it out'}")
    if ids:
        store = replace_vectors if replace else write_vectors
        if not replace:
            refuse_others(kind, VectorSource(OWN))
        store(kind, VectorSource(OWN), (ids, quantized(ids, rows), [None] * len(ids)))
    return len(ids)


def add_items(relation: Relation, pairs: tuple[Ids, Iterable[Any]], replace: bool) -> int:
    """Store vectors of items that nothing else describes, and the items that are new; returns how many.

    With `replace` all others go. The caller commits. Raises DuplicateItem, InvalidItem.
    """
    ids, rows = _paired(pairs)
    check_names(ids, [None] * len(ids))
    vectors = quantized(ids, rows)
    if replace:
        relation.clear()
        set_source(relation.items, None)
    known = relation.items.find(ids)
    Writer(relation).write((id, (), None, None, None, None, {}) for id in ids if id not in known)
    if ids:
        write_vectors(relation.items, VectorSource(OWN), (ids, vectors, [None] * len(ids)))
    return len(ids)


def _paired(pairs: tuple[Ids, Iterable[Any]]) -> tuple[list[Any], list[Any]]:
    """Ids and vectors; raises InvalidItem if they are not as many, DuplicateItem."""
    ids, rows = [id_text(id) for id in pairs[0]], list(pairs[1])
    if len(ids) != len(rows):
        raise InvalidItem(
            f"{number_of(len(ids), 'id')} and {number_of(len(rows), 'vector')}; give one vector for each id"
        )
    for twice, times in Counter(id for id in ids if isinstance(id, str)).most_common(1):
        if times > 1:
            raise DuplicateItem(f"the id {twice!r} occurs twice; ids must be unique")
    return ids, rows


def encode_texts(database: Database, items: str, encoder: Encoder, progress: Progress) -> None:
    """Give vectors to all texts of a collection that have none, some in each transaction.

    No question and no write waits for the encoder. What was encoded before an error stays.
    """
    with database.read() as cursor:
        relation = find_again(cursor, items)
        rows = cursor.execute(
            "select id from setsearch_name n where kind = ? and not exists "
            "(select 1 from setsearch_vector v where v.kind = n.kind and v.name = n.name)",
            (relation.items.id,),
        ).fetchall()
        having = Texts.of(relation).items()
    for ids in _groups(progress(having[np.isin(having, np.array(rows, np.int64))].tolist())):
        with database.read() as cursor:
            texts = {name: text for name, text in _texts(find_again(cursor, items), ids) if text.strip()}
        if texts:
            vectors = quantized(list(texts), encoder(list(texts.values())))
            with database.write() as cursor:
                relation = find_again(cursor, items)
                present = dict(_texts(relation, ids))  # somebody may have written meanwhile
                same = [place for place, (name, text) in enumerate(texts.items()) if present.get(name) == text]
                kept = [[*texts][place] for place in same]
                digests = [digest(texts[name].encode()) for name in kept]
                if kept:
                    source = VectorSource(ENCODER, None, encoder.name)
                    write_vectors(relation.items, source, (kept, vectors[same], digests))


def encode_words(database: Database, items: str, encoder: Encoder, words: Sequence[str], progress: Progress) -> None:
    """Give vectors to all words that have none, some in each transaction; those of other words go."""
    with database.read() as cursor:
        kind = find_again(cursor, items).features.id
        encoded = {name for (name,) in cursor.execute("select name from setsearch_vector where kind = ?", (kind,))}
    others = sorted(encoded.difference(words))
    if others:
        with database.write() as cursor:
            delete_vectors(find_again(cursor, items).features, [(name, None) for name in others])
    for names in _groups(progress([word for word in words if word not in encoded])):
        vectors = quantized(names, encoder(names))
        with database.write() as cursor:
            source = VectorSource(ENCODER, None, encoder.name)
            write_vectors(find_again(cursor, items).features, source, (names, vectors, [None] * len(names)))


def _groups(all_values: Iterable[T]) -> Iterator[list[T]]:
    values = iter(all_values)
    while group := list(islice(values, TOGETHER)):
        yield group


def _texts(relation: Relation, ids: Sequence[int]) -> list[tuple[str, str]]:
    """(name, text) of some items, ascending, by name."""
    names = relation.items.stored(ids)
    texts = read_texts(relation, np.array(ids, np.int64))
    return sorted((names[id][0], text) for id, text in texts if id in names)
