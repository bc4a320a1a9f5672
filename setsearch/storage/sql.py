"""Inserting many rows: a statement of a hundred rows takes half the time of a hundred statements of one."""

import sqlite3
from collections.abc import Sequence
from typing import Any

TOGETHER = 100


def insert_rows(cursor: sqlite3.Cursor, insert: str, values: str, *columns: Sequence[Any]) -> None:
    """`insert` is the statement up to its columns, `values` one row of it in parentheses, with its placeholders.

    `columns` hold what is put in their place, all of the same length.
    """
    n_rows, width = len(columns[0]), len(columns)
    whole = _statement(insert, values, TOGETHER)
    for start in range(0, n_rows, TOGETHER):
        size = min(TOGETHER, n_rows - start)
        given: list[Any] = [None] * (size * width)
        for place, column in enumerate(columns):
            given[place::width] = column[start : start + size]
        cursor.execute(whole if size == TOGETHER else _statement(insert, values, size), given)


def _statement(insert: str, values: str, n_rows: int) -> str:
    return f"{insert} values {','.join([values] * n_rows)}"


def quoted(name: str) -> str:
    """The name of a table or column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def table_named(name: str) -> str:
    """A table of the database's own, not one of an attached or the temporary database, as SQL writes it."""
    return "main." + quoted(name)


def columns_of(cursor: sqlite3.Cursor, table: str) -> list[str]:
    """The columns of a table; none where there is no such table."""
    rows = cursor.execute(f"pragma main.table_xinfo({quoted(table)})").fetchall()
    return [row[1] for row in rows if row[6] != 1]  # without the hidden ones of virtual tables


def has_rowid(cursor: sqlite3.Cursor, table: str, columns: list[str]) -> bool:
    """Whether rows have a number beside their columns: not in views, and not where a column is named rowid."""
    if "rowid" in map(str.lower, columns):
        return False
    try:
        cursor.execute(f"select rowid from {table_named(table)} limit 0")
    except sqlite3.Error:
        return False
    (kind,) = cursor.execute("select type from sqlite_master where name = ? collate nocase", (table,)).fetchone()
    return bool(kind == "table")


def no_table(cursor: sqlite3.Cursor, table: str, place: str) -> str:
    """What to say where a table is missing."""
    found = cursor.execute("select name from sqlite_master where type in ('table', 'view') order by name")
    have = ", ".join(name for (name,) in found if not name.startswith(("sqlite_", "setsearch_")))
    return f"there is no table {table!r} in {place}; it has {have or 'none'}"
