"""How the tables of a database could be indexed: which columns are text, fields, or nothing, by their first rows.

A column of JSON arrays has tags, and so has one of short texts that come again, and a foreign key. Numbers of many
values are a field. A table that refers to another one, and has one more column, has tags of it; or links, if that
column refers to the same table.
"""

import json
import shlex
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from setsearch.errors import SourceError
from setsearch.sqlite.connections import OwnConnection
from setsearch.sqlite.limits import LimitedCursor, limited_rows
from setsearch.sqlite.sql import has_rowid, main_table, quote, table_columns

LOOKED_AT = 1000  # rows
WORDS = 4  # of a text, on average; fewer are a name
OFTEN = 2  # times that a name comes, on average, to be a tag
VALUES = 10  # of a number that is more than a kind
TITLES = ("title", "name", "label", "subject", "headline")


class _Link(NamedTuple):
    """A column that refers to another table."""

    column: str
    table: str


def suggest(database: Path) -> list[str]:
    """A command for each table of a file that has texts. Raises SourceError."""
    address = f"{database.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, factory=OwnConnection)) as connection:
            return [*_commands(connection.cursor(LimitedCursor), str(database))]
    except sqlite3.Error as error:
        raise SourceError(f"the tables of {database} cannot be read: {error}") from error


def _commands(cursor: sqlite3.Cursor, database: str) -> Iterator[str]:
    tables = [
        name
        for (name,) in cursor.execute(
            "select name from main.sqlite_master where type = 'table' order by name"
        ).fetchall()
        if not name.startswith(("setsearch_", "sqlite_")) and not _is_virtual(cursor, name)
    ]
    links = {name: _links(cursor, name) for name in tables}
    for table in tables:
        options = _options(cursor, table, links)
        if options is not None:
            yield shlex.join(["setsearch", "index", database, "--table", table, *options, "--track"])


def _is_virtual(cursor: sqlite3.Cursor, table: str) -> bool:
    """Whether a table is virtual, or holds what a virtual one has."""
    rows = cursor.execute("select type from pragma_table_list where schema = 'main' and name = ?", (table,))
    return bool(rows.fetchone() != ("table",))


def _links(cursor: sqlite3.Cursor, table: str) -> list[_Link]:
    rows = cursor.execute(f"pragma main.foreign_key_list({quote(table)})").fetchall()
    return [_Link(row[3], row[2]) for row in rows]


def _options(cursor: sqlite3.Cursor, table: str, links: dict[str, list[_Link]]) -> list[str] | None:
    """The options of a table; None if it has no key of one column, or no text."""
    columns = table_columns(cursor, table)
    primary = [row[1] for row in cursor.execute(f"pragma main.table_info({quote(table)})").fetchall() if row[5]]
    if len(primary) > 1 or (not primary and not has_rowid(cursor, table, columns)):
        return None
    key = primary[0] if primary else "rowid"
    referring = {own.column for own in links[table]}
    options, has_text = ["--id", key], False
    for name in columns:
        kind = None if name == key else "--tags" if name in referring else _kind(_values(cursor, table, name))
        is_title = kind in ("--text", None) and name.lower() in TITLES and name != key
        has_text |= kind == "--text"
        options += [*(["--title", name] if is_title else []), *([kind, name] if kind else [])]
    return [*options, *_of_others(cursor, table, links)] if has_text else None


def _of_others(cursor: sqlite3.Cursor, table: str, links: dict[str, list[_Link]]) -> Iterator[str]:
    """The fields that other tables have of the rows of one."""
    for other, own in links.items():
        primary = [row[1] for row in cursor.execute(f"pragma main.table_info({quote(other)})").fetchall() if row[5]]
        names = [name for name in table_columns(cursor, other) if len(primary) > 1 or name not in primary]
        keys = [name for name in names if _Link(name, table) in own]
        if len(names) == 2 and keys and other != table:
            (name,) = [name for name in names if name != keys[0]]
            yield "--links" if name in keys else "--tags"
            yield f"{other}.{keys[0]}={name}"


def _values(cursor: sqlite3.Cursor, table: str, column: str) -> list[Any]:
    """The first values of a column that are there."""
    name = quote(column)
    statement = f"select {name} from {main_table(table)} where {name} is not null limit {LOOKED_AT}"
    return [value for (value,) in limited_rows(cursor, f"reading {table}", statement, each=True)]


def _kind(values: Sequence[Any]) -> str | None:
    """The option for a column, by its values; None if it says nothing."""
    distinct = len({*values})
    if values and all(isinstance(value, (int, float)) for value in values):
        return "--numbers" if distinct > VALUES else None
    if not values or not all(isinstance(value, str) for value in values):
        return None
    if all(map(_is_array, values)):
        return "--tags"
    if sum(len(value.split()) for value in values) >= WORDS * len(values):
        return "--text"
    return "--tags" if distinct > 1 and len(values) >= OFTEN * distinct else None


def _is_array(value: str) -> bool:
    with suppress(ValueError, RecursionError):
        return value.startswith("[") and isinstance(json.loads(value), list)
    return False
