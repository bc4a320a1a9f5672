"""The vectors of a database in memory: read when a question needs them, and again when they change."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setsearch.lists import LOCK
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation
from setsearch.storage.vectors import ENCODER, read_vectors, vector_source
from setsearch.text.encoder import Encoders

if TYPE_CHECKING:
    from setsearch.search.meaning import Vectors


class _Known(NamedTuple):
    """Vectors at one stamp, by the ids of what is ranked: of features at one stamp of the relation, of these words."""

    stamp: int
    relation_stamp: int
    words: Vocabulary | None
    vectors: "Vectors"


class StoredVectors:
    """The vectors of each vocabulary. Threads may share it."""

    def __init__(self, encoders: Encoders) -> None:
        self._encoders = encoders
        self._known: dict[tuple[int, int], _Known] = {}  # by the ids of both vocabularies

    def of(self, cursor: sqlite3.Cursor, relation: Relation, ranked: Vocabulary) -> Callable[[], "Vectors"] | None:
        """What reads the vectors of ranked items, which are items or features of a relation, or words in context."""
        kind = relation.items if ranked.id == relation.items.id else relation.features
        # Vectors change without a new revision of the relation.
        row = cursor.execute("select vectors from setsearch_kind where id = ?", (kind.id,)).fetchone()
        vectors = None if row is None else row[0]
        kind = kind if vectors == kind.vectors else replace(kind, vectors=vectors)
        source = vector_source(kind)
        if source is None or source.size is None:
            return None
        # Features come and go, and their ids are used again. Items that go take their vectors along.
        relation_stamp = relation.stamp if ranked.id == relation.features.id else 0
        return partial(self._read, cursor, kind, ranked, relation_stamp)

    def _read(self, cursor: sqlite3.Cursor, kind: Vocabulary, ranked: Vocabulary, relation_stamp: int) -> "Vectors":
        """Vectors by the ids of what is ranked; those of names that are not there are left out."""
        from setsearch.search.meaning import Vectors

        source = vector_source(kind)
        assert source is not None
        words = ranked if ranked.id != kind.id else None  # they change as a whole
        with LOCK:
            known = self._known.get((kind.id, ranked.id))
            stamps = source.stamp, relation_stamp
            if known is not None and known.words is words and (known.stamp, known.relation_stamp) == stamps:
                return known.vectors
            names, rows = read_vectors(cursor, kind)
            id_of = ranked.find(cursor, names)
            places = np.array([place for place, name in enumerate(names) if name in id_of], np.int64)
            ids = np.array([id_of[names[place]] for place in places.tolist()], np.int64)
            order = np.argsort(ids)
            encode = self._encoders(source.name) if source.source == ENCODER else None
            vectors = Vectors(ids[order], rows[places[order]], source.source, encode)
            self._known[kind.id, ranked.id] = _Known(source.stamp, relation_stamp, words, vectors)
            return vectors
