"""What a database can rank: the readings of its relations, by the names of their items, and their defaults."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from setsearch.errors import UnknownReading, no_index
from setsearch.models.defaults import NUMBERS, VECTORS, Defaults, defaults_for
from setsearch.storage.ids import collection_of, plain_name
from setsearch.storage.kept.columns import kept_columns
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation, of_collection


def list_readings(relations: Sequence[Relation]) -> list[dict[str, Any]]:
    """The readings of some relations as `Index.info` shows them; `shown_count`: how many items a person counts."""
    found = []
    for relation in relations:
        for items in relation.ranked:
            defaults, is_first = defaults_of(relation, items.name), items is relation.items
            features = relation.features if is_first else relation.items
            found.append(
                {
                    "items": items.name,
                    "features": features.name,
                    "item_count": items.own_size(),
                    "feature_count": features.size,
                    "text": relation.analyzer is not None,
                    "fields": [*defaults.fields],
                    "defaults": defaults.describe(),
                    "references": is_first and items.records.are_there(),
                    "columns": kept_columns(relation) if is_first else [],
                    "shown_count": _shown_count(relation, items),
                }
            )
    return found


def _shown_count(relation: Relation, vocabulary: Vocabulary) -> int:
    """The number of items; of the terms of texts, those that are words, not numbers or runs of characters."""
    size = vocabulary.own_size()
    if relation.analyzer is None or vocabulary is relation.items:
        return size
    others = "name >= '0' and name < ':' and name not glob '*[^0-9.,]*'"
    others += " or name >= '~' and name < char(127)" * vocabulary.has_ngrams
    (count,) = vocabulary.cursor.execute(
        f"select count(*) from setsearch_name where kind = ? and ({others})", (vocabulary.id,)
    ).fetchone()
    return size - int(count)


def defaults_of(relation: Relation, name: str) -> Defaults:
    """The defaults of a reading."""
    if relation.columns is not None:
        return NUMBERS
    if relation.has_vectors_alone:
        return VECTORS
    names = plain_name(name), plain_name(relation.features.name)
    defaults = defaults_for(*names, is_text=relation.analyzer is not None)
    if name != relation.items.name:
        return defaults
    weights = tuple((own, relation.weights.get(own, 1.0)) for own in relation.field_names if relation.weights)
    return replace(defaults, fields=relation.field_names, weights=weights)


def default_reading(relations: Sequence[Relation], database: str, collection: str = "") -> str:
    """The terms of a text collection, else the items of its first relation; raises NoIndex, UnknownReading.

    Without the name of a collection, it is the first one.
    """
    if not relations:
        raise no_index(database)
    own = of_collection(relations, collection)
    if collection and not own:
        known = sorted({collection_of(relation.items.name) for relation in relations} - {""})
        raise UnknownReading(f"{database} has no collection {collection!r}; it has {', '.join(known) or 'none'}")
    first = own[0] if own else relations[0]
    return first.features.name if first.analyzer else first.items.name
