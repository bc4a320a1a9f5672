"""Conditions in SQL on the table that a collection mirrors: which items may be answered."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import InvalidParameter
from setsearch.storage.fts5 import find_fts5
from setsearch.storage.relation import Relation
from setsearch.storage.sql import quoted, table_named
from setsearch.storage.synced_source import FTS5, TABLE, Origin, load_origin

Parameters = Sequence[Any] | Mapping[str, Any]


class Where:
    """Rows of the table that documents were indexed from: `condition` holds, and full text `match`es (FTS5).

        reading.expand(["doc-7"], among=Where("year > ? and not hidden", (2001,), match="moon OR mars"))

    The condition is one expression, as behind SQL's WHERE; values belong into `parameters`. The whole-text query is
    asked of the FTS5 table that was indexed, or of one with the indexed table as its `content`.
    """

    def __init__(self, condition: str | None = None, parameters: Parameters = (), *, match: str | None = None) -> None:
        for text in (condition, match):
            if text is not None and (not isinstance(text, str) or not text.strip() or "\0" in text):
                raise InvalidParameter(f"a condition is an SQL expression such as 'year > 2000', not {text!r}")
        self.condition = condition
        self.parameters = parameters
        self.match = match

    def ids(self, cursor: sqlite3.Cursor, relation: Relation, items: str) -> Ints:
        """The items that it holds for, ascending; raises InvalidParameter."""
        origin = load_origin(cursor, relation)
        if origin is None or origin.kind not in (TABLE, FTS5):
            raise InvalidParameter(
                "a condition in SQL needs items that were indexed from a table of this database (--table)"
            )
        if items != relation.items.name:
            raise InvalidParameter(f"a condition is one on the rows of {origin.place}, so on {relation.items.name}")
        found = []
        if self.condition is not None:
            _check(cursor, origin, self.condition, self.parameters)
            found.append(
                _select(
                    cursor,
                    relation,
                    origin,
                    f"(\n{self.condition}\n)",
                    self.parameters,
                    f"condition {self.condition!r}",
                )
            )
        if self.match is not None:
            table, rowid = find_fts5(cursor, origin.place)
            within = f"{quoted(rowid)} in (select rowid from {table_named(table)} where {quoted(table)} match ?)"
            found.append(_select(cursor, relation, origin, within, (self.match,), f"full text {self.match!r}"))
        if not found:
            raise InvalidParameter("a condition needs an SQL expression, or a full text to match")
        ids = found[0]
        for more in found[1:]:
            ids = np.intersect1d(ids, more)
        return ids


def _check(cursor: sqlite3.Cursor, origin: Origin, condition: str, parameters: Parameters) -> None:
    """Refuse what is not one expression.

    Text that closes our parenthesis and goes on to select from elsewhere is SQL within one pair of parentheses or
    within two, never within both.
    """
    for opened, closed in (("(", ")"), ("((", "))")):
        text = f"explain select 1 from {table_named(origin.place)} where {opened}\n{condition}\n{closed}"
        try:
            cursor.execute(text, parameters).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise InvalidParameter(f"the condition {condition!r} on {origin.place}: {_line(error)}") from error


def _select(
    cursor: sqlite3.Cursor, relation: Relation, origin: Origin, condition: str, parameters: Parameters, asked: str
) -> Ints:
    """The items of those rows: a join from the rows to the names, whose index finds each."""
    key = quoted(origin.key)
    statement = (
        f"select n.id from (select distinct cast({key} as text) as setsearch_key from {table_named(origin.place)} "
        f"where {condition}) cross join setsearch_name n on n.name = setsearch_key and n.kind = {relation.items.id}"
    )
    try:
        return np.sort(np.array([id for (id,) in cursor.execute(statement, parameters)], np.int64))
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise InvalidParameter(f"the {asked} on {origin.place}: {_line(error)}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
