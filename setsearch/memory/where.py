"""SQL conditions on the table that a collection follows: they select the items that may be returned."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np

from setsearch.arrays import Ints, union
from setsearch.errors import InvalidParameter, shown
from setsearch.sqlite.fts5 import find_fts5
from setsearch.sqlite.limits import limited
from setsearch.sqlite.sql import Table, main_table, quote
from setsearch.storage.ids import number_text
from setsearch.storage.relation import Relation
from setsearch.storage.synced_source import FTS5, TABLE, SyncedSource, load_source

Parameters = Sequence[Any] | Mapping[str, Any]
# What SQLite does not take: statements, and parameters that are too large or no UTF-8.
UNUSABLE = (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeEncodeError)


class Where:
    """Rows of the indexed table for which `condition` holds and that full text `match`es (FTS5).

        reading.expand(["doc-7"], among=Where("year > ? and not hidden", (2001,), match="moon OR mars"))

    The condition is one expression, as after SQL's WHERE; values belong into `parameters`. The full-text query goes to
    the FTS5 table that was indexed, or to one whose `content` is the indexed table. SQLite may work on it for the
    `time_limit` of the index.
    """

    def __init__(self, condition: str | None = None, parameters: Parameters = (), *, match: str | None = None) -> None:
        for text in (condition, match):
            if text is not None and (not isinstance(text, str) or not text.strip() or "\0" in text):
                raise InvalidParameter(f"a condition is an SQL expression such as 'year > 2000', not {text!r}")
        self.condition = condition
        self.parameters = parameters
        self.match = match

    def ids(self, relation: Relation, items: str) -> Ints:
        """The items of these rows, ascending; raises InvalidParameter, TimeLimitExceeded, Cancelled."""
        source = load_source(relation)
        if source is None or source.kind not in (TABLE, FTS5):
            raise InvalidParameter("an SQL condition needs items that were indexed from a table of this database")
        if items != relation.items.name:
            raise InvalidParameter(f"a condition applies to the rows of {source.name}, so to {relation.items.name}")
        table = Table(relation.cursor, source.name)
        if source.is_numbered(table):
            problem = f"a condition finds no rows of {source.name}, which has no column {source.key!r}"
            raise InvalidParameter(f"{problem}; index it again with a column of ids as `id`")
        selections = []
        if self.condition is not None:
            _require_expression(relation, source, self.condition, self.parameters)
            what = f"condition {shown(self.condition)}"
            selections.append(_select(relation, source, f"(\n{self.condition}\n)", self.parameters, what))
        if self.match is not None:
            name, rowid = find_fts5(table)
            condition = f"{quote(rowid)} in (select rowid from {main_table(name)} where {quote(name)} match ?)"
            what = f"full text {shown(self.match)}"
            selections.append(_select(relation, source, condition, (self.match,), what))
        if not selections:
            raise InvalidParameter("a Where needs an SQL expression, or a full text to match")
        return reduce(np.intersect1d, selections)


def _require_expression(relation: Relation, source: SyncedSource, condition: str, parameters: Parameters) -> None:
    """Refuse anything but one expression.

    Text that closes our parenthesis and selects from elsewhere is SQL within one pair of parentheses or within two,
    never within both.
    """
    for opening, closing in (("(", ")"), ("((", "))")):
        text = f"explain select 1 from {main_table(source.name)} where {opening}\n{condition}\n{closing}"
        try:
            with limited(relation.cursor, f"the condition {shown(condition)}"):
                relation.cursor.execute(text, parameters).fetchall()
        except UNUSABLE as error:
            raise InvalidParameter(f"the condition {condition!r} on {source.name}: {_one_line(error)}") from error


def _select(relation: Relation, source: SyncedSource, condition: str, parameters: Parameters, what: str) -> Ints:
    """The items of the rows for which a condition holds; a join finds them by the index on names."""
    cursor, key = relation.cursor, quote(source.key)
    text = f"case typeof({key}) when 'real' then setsearch_real({key}) else cast({key} as text) end"
    statement = (
        f"select ifnull(group_concat(n.id), '') from (select {text} as setsearch_key from {main_table(source.name)} "
        f"where {condition}) cross join setsearch_name n on n.name = setsearch_key and n.kind = {relation.items.id}"
    )
    with suppress(sqlite3.Error):  # of a connection with open cursors, which has it already
        cursor.connection.create_function("setsearch_real", 1, number_text, deterministic=True)  # as ids are written
    try:
        with limited(cursor, f"the {what}"):
            (ids,) = cursor.execute(statement, parameters).fetchone()  # as one text: rows take Python as long
            return union(np.fromstring(ids, np.int64, sep=","))
    except UNUSABLE as error:
        raise InvalidParameter(f"the {what} on {source.name}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
