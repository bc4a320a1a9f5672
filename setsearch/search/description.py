"""What an index holds, as `Index.info` shows it."""

import sqlite3
from contextlib import suppress
from typing import Any

from setsearch.core import binding
from setsearch.errors import LostArrays
from setsearch.search.catalog import default_reading, defaults_of, describe_readings, relations_by_reading
from setsearch.search.readings import Readings
from setsearch.search.starters import sample_items
from setsearch.storage.generations import LISTS, find_generation, read_array
from setsearch.storage.relation import Relation, load_relations, of_collection
from setsearch.storage.synced_source import describe_sources
from setsearch.storage.vectors import count_vectors, vector_source


def describe_index(cursor: sqlite3.Cursor, readings: Readings, database: str, collection: str) -> dict[str, Any]:
    """Readings with counts of items, features and postings, revision, vectors, defaults, core; raises NoIndex.

    With a collection, of this one; else of all.
    """
    relations, default = _relations(cursor, database, collection)
    postings = {relation.id: _posting_count(cursor, relation) for relation in relations}
    some = {
        vocabulary.name: sample_items(cursor, relation, transposed)
        for relation in relations
        for transposed, vocabulary in ((False, relation.items), (True, relation.features))
    }
    defaults = defaults_of(relations_by_reading(relations)[default], default)
    return {
        "readings": [
            reading
            | {"posting_count": postings[relation.id], "revision": relation.revision, "some": some[reading["items"]]}
            for relation in relations
            for reading in describe_readings(relation)
        ],
        "revision": _revision(relations),
        "mirrors": describe_sources(cursor, relations),
        "contexts": next(filter(None, (readings.describe_contexts(cursor, relation) for relation in relations)), {}),
        "vectors": {name: value for relation in relations for name, value in _vectors(cursor, relation).items()},
        "defaults": {"items": default} | defaults.describe(),
        "core": binding.library() is not None,
    }


def find_revision(cursor: sqlite3.Cursor, database: str, collection: str) -> int:
    """The revision of the index, or of a collection, and nothing else of it; raises NoIndex."""
    return _revision(_relations(cursor, database, collection)[0])


def _relations(cursor: sqlite3.Cursor, database: str, collection: str) -> tuple[list[Relation], str]:
    """The relations of a collection, or all, and the reading by default; raises NoIndex."""
    relations = load_relations(cursor)
    default = default_reading(relations, database, collection)
    return of_collection(relations, collection) if collection else relations, default


def _revision(relations: list[Relation]) -> int:
    return sum(relation.revision for relation in relations)


def _posting_count(cursor: sqlite3.Cursor, relation: Relation) -> int:
    """The number of nonzero cells: by what was derived from this content, else from the table, which takes longer."""
    generation = find_generation(cursor, relation.id, LISTS)
    if generation is not None and generation.stamp == relation.stamp:
        with suppress(LostArrays):
            return int(read_array(cursor, generation, "items lengths").sum(dtype="int64"))
    return relation.postings.entry_count(cursor)


def _vectors(cursor: sqlite3.Cursor, relation: Relation) -> dict[str, Any]:
    """Where the vectors of both sides come from, how many there are and of how many dimensions."""
    return {
        vocabulary.name: {
            "source": source.source,
            "encoder": source.name or None,
            "count": count_vectors(cursor, vocabulary),
            "dimensions": source.size,
        }
        for vocabulary in (relation.items, relation.features)
        if (source := vector_source(vocabulary)) is not None
    }
