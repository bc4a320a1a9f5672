"""How the tables of a database could be indexed: which columns are text, fields, or nothing, by their first rows.

A column of JSON arrays has tags, and so has one of short texts that come again, and a foreign key. Numbers of many
values, and dates, are a field. Short texts are the text of a table that has no longer ones. A table that refers to
another one, and has one more column, has tags of it; or links, if that column refers to the same table. One whose rows
are two ids, and perhaps numbers, is a relation.
"""

import json
import shlex
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from setsearch.errors import SourceError
from setsearch.sqlite.connections import OwnConnection
from setsearch.sqlite.limits import LimitedCursor, limited_rows
from setsearch.sqlite.sql import has_rowid, main_table, quote, table_columns
from setsearch.storage.feature_fields import as_days
from setsearch.storage.synced_source import joined

LOOKED_AT = 1000  # rows
WORDS = 4  # of a text, on average; fewer are a name
OFTEN = 2  # times that a name comes, on average, to be a tag
VALUES = 10  # of a number that is more than a kind
SHORT = "short"  # texts that do not come again
PEOPLE = ("user", "person", "reader", "customer", "member", "account")  # how columns begin that have who likes
TITLES = ("title", "name", "label", "subject", "headline")


class _Link(NamedTuple):
    """A column that refers to another table."""

    column: str
    table: str


def suggest(database: Path) -> list[str]:
    """A command for each table of a file that has texts, or is a relation. Raises SourceError."""
    address = f"{database.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, factory=OwnConnection)) as connection:
            found = _commands(connection.cursor(LimitedCursor))
    except sqlite3.Error as error:
        raise SourceError(f"the tables of {database} cannot be read: {error}") from error
    return [
        shlex.join(
            ["setsearch", "index", str(database), "--table", table, *options, "--track"]
            + ["--collection", table.replace("/", "-")] * (len(found) > 1)
        )
        for table, options in found.items()
    ]


def _commands(cursor: sqlite3.Cursor) -> dict[str, list[str]]:
    """The options of each table that has some."""
    tables = [
        name
        for (name,) in cursor.execute(
            "select name from main.sqlite_master where type = 'table' order by name"
        ).fetchall()
        if not name.startswith(("setsearch_", "sqlite_")) and not _is_virtual(cursor, name)
    ]
    links = {name: _links(cursor, name) for name in tables}
    found = {table: options for table in tables if (options := _options(cursor, table, links)) is not None}
    fields = {name.partition(".")[0] for options in found.values() for name in options if joined(name) is not None}
    for table in tables:
        if table not in found and table not in fields and (options := _relation(cursor, table, links[table])):
            found[table] = options
    return found


def _is_virtual(cursor: sqlite3.Cursor, table: str) -> bool:
    """Whether a table is virtual, or holds what a virtual one has."""
    rows = cursor.execute("select type from pragma_table_list where schema = 'main' and name = ?", (table,))
    return bool(rows.fetchone() != ("table",))


def _links(cursor: sqlite3.Cursor, table: str) -> list[_Link]:
    rows = cursor.execute(f"pragma main.foreign_key_list({quote(table)})").fetchall()
    return [_Link(row[3], row[2]) for row in rows]


def _options(cursor: sqlite3.Cursor, table: str, links: dict[str, list[_Link]]) -> list[str] | None:
    """The options of a table of documents; None if it has no key of one column, or no text."""
    columns = table_columns(cursor, table)
    primary = [row[1] for row in cursor.execute(f"pragma main.table_info({quote(table)})").fetchall() if row[5]]
    if len(primary) > 1 or (not primary and not has_rowid(cursor, table, columns)):
        return None
    key = primary[0] if primary else "rowid"
    referring = {own.column for own in links[table]}
    kinds = {
        name: "--tags" if name in referring else _kind(_values(cursor, table, name)) for name in columns if name != key
    }
    titles = [name for name, kind in kinds.items() if kind in ("--text", SHORT) and name.lower() in TITLES]
    if "--text" not in kinds.values():
        short = [name for name, kind in kinds.items() if kind == SHORT]
        kinds |= dict.fromkeys(titles or short, "--text")
    options = ["--id", key]
    for name, kind in kinds.items():
        options += [
            *(["--title", name] if name in titles[:1] else []),
            *([kind, name] if kind not in (None, SHORT) else []),
        ]
    return [*options, *_of_others(cursor, table, links)] if "--text" in kinds.values() else None


def _relation(cursor: sqlite3.Cursor, table: str, links: list[_Link]) -> list[str] | None:
    """The options of a table with two ids in each row; None for another one."""
    rows = cursor.execute(f"pragma main.table_info({quote(table)})").fetchall()
    primary, others = [row[1] for row in rows if row[5]], [row[1] for row in rows if not row[5]]
    values = {row[1]: _values(cursor, table, row[1]) for row in rows}
    ids = [name for name in others if name.lower().endswith("id") and len(values[name]) >= OFTEN * len({*values[name]})]
    for names in (primary, [own.column for own in links], ids):
        if len({*names}) == 2 and all(values[name] for name in names):
            features, items = sorted(names, key=lambda name: not name.lower().startswith(PEOPLE))
            return ["--items", items, "--features", features]
    return None


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
    if not values or not all(isinstance(value, str) for value in values) or all(map(_is_json(dict), values)):
        return None
    if all(map(_is_json(list), values)):
        return "--tags"
    if all(as_days(value) is not None for value in values):
        return "--numbers" if distinct > VALUES else None
    if sum(len(value.split()) for value in values) >= WORDS * len(values):
        return "--text"
    return SHORT if len(values) < OFTEN * distinct else "--tags" if distinct > 1 else None


def _is_json(kind: type) -> Callable[[str], bool]:
    """Whether a text is a list or an object of JSON."""

    def is_it(value: str) -> bool:
        """Whether it is of the kind."""
        with suppress(ValueError, RecursionError):
            return value.startswith(("[", "{")) and isinstance(json.loads(value), kind)
        return False

    return is_it
