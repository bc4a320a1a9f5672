"""Documents as rows of JSON, which are read back: ids, titles, texts, kept columns, fields, and the user's vectors."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import distinct
from setsearch.errors import UsageError
from setsearch.indexing.writing.item_fields import numbers_of
from setsearch.storage.feature_fields import FeatureField, shown_date
from setsearch.storage.kept.columns import kept_columns, read_columns
from setsearch.storage.kept.texts import read_texts
from setsearch.storage.kept.vectors import OWN, read_vectors, vector_source
from setsearch.storage.relation import Relation
from setsearch.storage.synced_source import Columns

BASE = ("id", "title", "text")  # columns of all documents
VECTOR = "vector"
AT_ONCE = 1000  # documents


class _Layout(NamedTuple):
    """The columns of stored rows, no two of one name; `base` are those of ids, titles and texts.

    `vector` is that of the vectors that the user gave, if there are any: others are made anew.
    """

    kept: list[str]
    base: list[str]
    fields: dict[str, FeatureField]
    vector: str | None


def _layout(relation: Relation) -> _Layout:
    kept = kept_columns(relation, every=True)
    base = [_free(own, kept, "document") for own in BASE]
    taken = [*BASE, *kept, *base]
    stored = [own for own in relation.fields if own.ends is None or own.is_kept]
    fields = {_free(own.name, taken, "field"): own for own in stored}
    source = vector_source(relation.items)
    is_own = source is not None and source.source == OWN and source.size is not None
    return _Layout(kept, base, fields, _free(VECTOR, [*taken, *fields], "document") if is_own else None)


def _free(name: str, taken: Sequence[str], what: str) -> str:
    """A name for a column, which says what it is of if another column has it."""
    while name in taken:
        name += f" ({what})"
    return name


def stored_columns(relation: Relation) -> Columns:
    """The roles of the columns of stored rows, but for that of vectors."""
    layout = _layout(relation)
    id, title, text = layout.base
    roles = [(own.name if own.name == key else f"{own.name}={key}", own) for key, own in layout.fields.items()]
    tags = tuple(role for role, own in roles if own.ends is None)
    numbers = tuple(role for role, own in roles if own.ends is not None)
    renamed: dict[str, Any] = {"text": () if text == "text" else text, "title": None if title == "title" else title}
    return Columns(id=id, **renamed, keep=tuple(layout.kept), tags=tags, numbers=numbers)


def stored_rows(relation: Relation) -> Iterator[dict[str, Any]]:
    """The documents of a collection that have a text; raises UsageError if it stores none, CorruptIndex."""
    if relation.analyzer is None or relation.contexts == "off":
        raise UsageError(f"the texts of {relation.items.name} are not stored; export them from where they came")
    _, base, fields, vector = _layout(relation)
    named = {*base, vector}.difference(BASE)  # all rows have a column that is named
    numbers = {own.name: _numbers(relation, own) for own in fields.values() if own.ends is not None}
    vectors = dict(zip(*read_vectors(relation.items), strict=True)) if vector is not None else {}
    texts = read_texts(relation)
    while page := dict(islice(texts, AT_ONCE)):
        ids = [*page]
        described, columns, names = relation.items.describe(ids), read_columns(relation, ids), _names(relation, ids)
        for id, text in page.items():
            name, title = described[id]
            row: dict[str, Any] = {**dict(zip(base, (name, title, text), strict=True)), **columns.get(id, {})}
            for key, own in fields.items():
                row[key] = (names if own.ends is None else numbers)[own.name].get(id)
            if vector is not None:
                row[vector] = vectors[name].tolist() if name in vectors else None
            yield {key: value for key, value in row.items() if value is not None or key in named}


def _names(relation: Relation, ids: Sequence[int]) -> dict[str, dict[int, list[str]]]:
    """What each item has in each field of names."""
    found: dict[str, dict[int, list[str]]] = {own.name: {} for own in relation.fields}
    if not found:
        return found
    entries = relation.forward.read(np.array(ids, np.int64))
    features = relation.features.describe(distinct(entries.ids).tolist())
    for item, feature in zip(entries.lists.tolist(), entries.ids.tolist(), strict=True):
        field, mark, name = features[feature][0].partition(":")
        if mark and field in found:
            found[field].setdefault(item, []).append(name)
    return found


def _numbers(relation: Relation, field: FeatureField) -> Mapping[int, float | str]:
    """The number of each item in a field, or its date as a text."""
    items, numbers = numbers_of(relation, field)
    shown = map(shown_date if field.has_dates else float, numbers.tolist())
    return dict(zip(items.tolist(), shown, strict=True))
