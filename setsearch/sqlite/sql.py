"""SQL helpers: quoted names, bulk inserts, and what tables look like."""

import sqlite3
from collections.abc import Sequence
from typing import Any

ROWS_OF_INSERT = 100  # one statement of 100 rows takes half the time of 100 statements


def insert_rows(cursor: sqlite3.Cursor, insert: str, values: str, *columns: Sequence[Any]) -> None:
    """Insert many rows.

    `insert` is the statement up to its column names, `values` one row of placeholders in parentheses; `columns` hold
    the parameters, all of the same length.
    """
    n_rows, width = len(columns[0]), len(columns)
    full_statement = _statement(insert, values, ROWS_OF_INSERT)
    for start in range(0, n_rows, ROWS_OF_INSERT):
        size = min(ROWS_OF_INSERT, n_rows - start)
        parameters: list[Any] = [None] * (size * width)
        for position, column in enumerate(columns):
            parameters[position::width] = column[start : start + size]
        cursor.execute(full_statement if size == ROWS_OF_INSERT else _statement(insert, values, size), parameters)


def _statement(insert: str, values: str, n_rows: int) -> str:
    return f"{insert} values {','.join([values] * n_rows)}"


def quote(name: str) -> str:
    """A table or column name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def main_table(name: str) -> str:
    """A table of the main database, not of an attached or the temporary one, as an SQL identifier."""
    return "main." + quote(name)


def table_columns(cursor: sqlite3.Cursor, table: str) -> list[str]:
    """The visible columns of a table; empty if there is no such table."""
    rows = cursor.execute(f"pragma main.table_xinfo({quote(table)})").fetchall()
    return [row[1] for row in rows if row[6] != 1]  # without the hidden columns of virtual tables


def primary_key(cursor: sqlite3.Cursor, table: str) -> list[str]:
    """The columns of the primary key of a table, in their order there; empty without one."""
    info = cursor.execute(f"pragma main.table_info({quote(table)})").fetchall()
    return [name for _, name, *_, place in sorted(info, key=lambda row: row[5]) if place]


def has_rowid(cursor: sqlite3.Cursor, table: str, columns: list[str]) -> bool:
    """Whether `rowid` names the row number: not in views, and not if a column has this name."""
    if "rowid" in map(str.lower, columns):
        return False
    try:
        cursor.execute(f"select rowid from {main_table(table)} limit 0")
    except sqlite3.Error:
        return False
    (kind,) = cursor.execute("select type from sqlite_master where name = ? collate nocase", (table,)).fetchone()
    return bool(kind == "table")


def is_stored_table(cursor: sqlite3.Cursor, table: str) -> bool:
    """Whether a table holds its rows, so that there is an end to them: no view, no virtual table."""
    row = cursor.execute(
        "select type, sql from sqlite_master where name = ? collate nocase and type in ('table', 'view')", (table,)
    ).fetchone()
    return row is not None and row[0] == "table" and not str(row[1]).lower().startswith("create virtual")


def order_of_rows(cursor: sqlite3.Cursor, table: str, by_rowid: bool) -> str:
    """The clause that gives the rows of a stored table the same order whatever condition selects them."""
    order = "rowid" if by_rowid else ", ".join(map(quote, primary_key(cursor, table)))
    return f"order by {order}" if order and is_stored_table(cursor, table) else ""


def missing_table(cursor: sqlite3.Cursor, table: str, database: str) -> str:
    """An error message that names the tables that exist."""
    rows = cursor.execute("select name from sqlite_master where type in ('table', 'view') order by name")
    tables = ", ".join(name for (name,) in rows if not name.startswith(("sqlite_", "setsearch_")))
    return f"there is no table {table!r} in {database}; it has {tables or 'none'}"
