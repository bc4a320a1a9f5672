"""Diversity among hits: at most so many with the same value of a kept column, such as two of each author.

In the order of their rank, an item is a hit while fewer hits than that have its value. A list of values counts for each
of them: one that is full leaves the item out. An item without a value is always a hit. So the first hits are the same
however many are asked for.
"""

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from setsearch.errors import InvalidParameter
from setsearch.memory.fields import Fields
from setsearch.search.request import AtMost
from setsearch.storage.documents import require_column


def first_of_each(fields: Fields, ids: Sequence[int], at_most: AtMost) -> list[int]:
    """The ids that stay, of ids in the order of their rank. Raises InvalidParameter for a column that nobody kept."""
    if not fields.have_columns:
        raise InvalidParameter(f"`per` names a column that was kept of documents, not of {fields.items.name}")
    columns = fields.columns_of(ids)
    if not any(at_most.per in own for own in columns.values()):
        require_column(fields.cursor, fields.relation.id, at_most.per)
    kept, counts = [], Counter[Hashable]()
    for id in ids:
        values = _values(columns.get(id, {}).get(at_most.per))
        if all(counts[value] < at_most.most for value in values):
            counts.update(values)
            kept.append(id)
    return kept


def _values(value: Any) -> set[Hashable]:
    """The values of an item that count: none for null and for an empty text."""
    parts = value if isinstance(value, list) else [value]
    plain = (json.dumps(part, sort_keys=True) if isinstance(part, (list, dict)) else part for part in parts)
    return {part for part in plain if part not in (None, "")}
