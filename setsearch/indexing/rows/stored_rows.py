"""Documents as rows of JSON, which `index` reads back: ids, titles, texts, kept columns and fields."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from setsearch.errors import UsageError
from setsearch.indexing.item_fields import numbers_of
from setsearch.storage.documents import kept_columns, read_columns, read_texts
from setsearch.storage.feature_fields import DAY, EPOCH, FeatureField
from setsearch.storage.relation import Relation
from setsearch.storage.synced_source import Columns

BASE = ("id", "title", "text")  # columns of all documents
AT_ONCE = 1000  # documents
MIDNIGHT = datetime.time()


def stored_columns(relation: Relation) -> Columns:
    """The roles of the columns of stored rows."""
    fields = _fields(relation)
    roles = [(own.name if own.name == key else f"{own.name}={key}", own) for key, own in fields.items()]
    tags = tuple(role for role, own in roles if own.ends is None)
    numbers = tuple(role for role, own in roles if own.ends is not None)
    return Columns(keep=tuple(kept_columns(relation)), tags=tags, numbers=numbers)


def stored_rows(relation: Relation) -> Iterator[dict[str, Any]]:
    """The documents of a collection that have a text; raises UsageError if it stores none, CorruptIndex."""
    if relation.analyzer is None or relation.contexts == "off":
        raise UsageError(f"the texts of {relation.items.name} are not stored; export them from where they came")
    fields = _fields(relation)
    numbers = {own.name: _numbers(relation, own) for own in fields.values() if own.ends is not None}
    texts = read_texts(relation)
    while page := dict(islice(texts, AT_ONCE)):
        ids = [*page]
        described, columns, names = relation.items.describe(ids), read_columns(relation, ids), _names(relation, ids)
        for id, text in page.items():
            name, title = described[id]
            kept = {own: value for own, value in columns.get(id, {}).items() if own not in BASE}
            row = {"id": name, "title": title, "text": text, **kept}
            for key, own in fields.items():
                row[key] = (names if own.ends is None else numbers)[own.name].get(id)
            yield {key: value for key, value in row.items() if value is not None}


def _fields(relation: Relation) -> dict[str, FeatureField]:
    """The fields with names, and with numbers that are stored, by their columns."""
    taken = {*BASE, *kept_columns(relation)}
    fields = [own for own in relation.fields if own.ends is None or own.is_kept]
    return {f"{own.name} (field)" if own.name in taken else own.name: own for own in fields}


def _names(relation: Relation, ids: Sequence[int]) -> dict[str, dict[int, list[str]]]:
    """What each item has in each field of names."""
    found: dict[str, dict[int, list[str]]] = {own.name: {} for own in relation.fields}
    if not found:
        return found
    entries = relation.forward.read(np.array(ids, np.int64))
    features = relation.features.describe(np.unique(entries.ids).tolist())
    for item, feature in zip(entries.lists.tolist(), entries.ids.tolist(), strict=True):
        field, mark, name = features[feature][0].partition(":")
        if mark and field in found:
            found[field].setdefault(item, []).append(name)
    return found


def _numbers(relation: Relation, field: FeatureField) -> Mapping[int, float | str]:
    """The number of each item in a field, or its date as a text."""
    items, numbers = numbers_of(relation, field)
    shown = map(_date if field.has_dates else float, numbers.tolist())
    return dict(zip(items.tolist(), shown, strict=True))


def _date(days: float) -> str:
    time = EPOCH + days * DAY
    return (time.date() if time.time() == MIDNIGHT else time).isoformat()
