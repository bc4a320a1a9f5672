"""Triggers that note the keys of changed rows of a table, so that a sync reads these rows alone."""

import re
import sqlite3
from collections.abc import Iterator

from setsearch.errors import InvalidParameter
from setsearch.sqlite.sql import has_rowid, primary_key, quote, table_columns
from setsearch.storage.relation import Relation
from setsearch.storage.synced_source import SyncedSource, noted_names, trigger_name

Part = tuple[str | None, str]  # of a constraint: a column, None for an expression, and its collation
_ROWID: Part = "rowid", "BINARY"
_is_literal = re.compile(r"-?\d+(\.\d+)?|'([^']|'')*'").fullmatch


def create_triggers(cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource) -> None:
    """Create the triggers; raises InvalidParameter for rows without a key."""
    for table, number, noted in _followed(relation, source):
        _create_triggers(cursor, relation, table, number, noted)


def _followed(relation: Relation, source: SyncedSource) -> Iterator[tuple[SyncedSource, int, int]]:
    """The tables that are followed, with the numbers of their triggers, and those under which changes are noted."""
    for number, table in enumerate(source.tables):
        yield table, number, relation.id
    for number, _, table in source.naming:  # which rows have a name is looked for by the sync: the host does not wait
        yield table, number, noted_names(relation, number)


def _create_triggers(cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource, number: int, noted: int) -> None:
    columns = table_columns(cursor, source.name)
    if source.key == "rowid" and not has_rowid(cursor, source.name, columns):
        raise InvalidParameter(f"the rows of {source.name} have no rowid; name their id column")
    several = source.roles.items or source.roles.group_by  # rows may make one item
    if several and any(map(_has_expression, _unique_keys(cursor, source, columns))):
        raise InvalidParameter(
            f"{source.name} has a unique index on an expression, by which `insert or replace` deletes rows unnoticed: "
            "leave `track` out (an update then compares all rows)"
        )
    for statement in _triggers(cursor, relation, source, number, noted).values():
        cursor.execute(statement.replace("CREATE TRIGGER ", "CREATE TRIGGER main.", 1))


def has_triggers(cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource) -> bool:
    """Whether the triggers exist and match the table as it is now."""
    existing = dict(cursor.execute("select name, sql from sqlite_master where type = 'trigger'"))
    wanted = [_triggers(cursor, relation, *own) for own in _followed(relation, source)]
    return all(existing.get(name) == sql for own in wanted for name, sql in own.items())


def _triggers(
    cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource, number: int, noted: int
) -> dict[str, str]:
    """The triggers by name, as SQLite stores them; each notes a key once until the next sync.

    Triggers before a write note the rows that "or replace" may delete: SQLite calls no delete triggers for them.
    """
    columns = table_columns(cursor, source.name)
    key, table, bodies = quote(source.key), quote(source.name), {}
    unique = [parts for parts in _unique_keys(cursor, source, columns) if not _has_expression(parts)]
    read = _read_columns(cursor, source, columns)
    for event, timing, rows in (
        ("insert", "after insert", [f"new.{key}"]),
        ("update", f"after update{read}", [f"old.{key}", f"new.{key}"]),
        ("delete", "after delete", [f"old.{key}"]),
    ):
        bodies[event] = timing, " ".join(_note(noted, row) for row in rows)
    if read and _is_rowid(cursor, source):  # which may be written by other names
        moved = f"old.{key} is not new.{key}"
        both = [_note(noted, f"{row}.{key}", where=moved) for row in ("old", "new")]
        bodies["update_key"] = "after update", " ".join(both)
    other_row = " and t.rowid is not old.rowid" if [_ROWID] in unique else ""
    constrained = {*primary_key(cursor, source.name), *(str(column) for parts in unique for column, _ in parts)}
    changing = ", ".join(quote(name) for name in columns if name in constrained)
    for event, timing, condition in (
        ("before_insert", "before insert", ""),
        ("before_update", f"before update of {changing}", other_row),
    ):
        same = (_same_row(cursor, source, parts) + condition for parts in unique)
        if unique and (changing or event == "before_insert"):
            bodies[event] = timing, " ".join(_note(noted, f"t.{key}", f"from {table} t", where) for where in same)
    triggers = {}
    for event, (timing, notes) in bodies.items():
        name = trigger_name(relation, event, number)
        triggers[name] = f"CREATE TRIGGER {name} {timing} on {table} begin {notes} end"
    return triggers


def _read_columns(cursor: sqlite3.Cursor, source: SyncedSource, columns: list[str]) -> str:
    """The clause that limits an update trigger to the columns that we read; empty if any column may matter."""
    roles = source.roles
    used = {roles.id, *roles.texts, roles.title or "title", *roles.keep, *roles.fields}
    used |= {name for name in (roles.items, roles.features, roles.count, roles.group_by) if name is not None}
    info = cursor.execute(f"pragma main.table_xinfo({quote(source.name)})").fetchall()
    if source.key not in columns or any(row[6] for row in info):  # a generated column is never updated itself
        return ""
    return " of " + ", ".join(quote(name) for name in columns if name in used)


def _note(noted: int, key: str, source: str = "", where: str = "true") -> str:
    """The statement that notes a key. Its last clause holds whatever the conflict clause of the host's statement."""
    return (
        f"insert into setsearch_change (relation, key, again) select {noted}, {key}, {key} {source} "
        f"where {where} on conflict do nothing;"
    )


def _is_rowid(cursor: sqlite3.Cursor, source: SyncedSource) -> bool:
    """Whether the key of a table is its rowid, by this name or as the integer that is the primary key."""
    info = cursor.execute(f"pragma main.table_info({quote(source.name)})").fetchall()
    primary = [(row[1], row[2].lower()) for row in info if row[5]]
    indexes = cursor.execute(f"pragma main.index_list({quote(source.name)})").fetchall()
    has_index = any(origin == "pk" for _, _, _, origin, *_ in indexes)  # as "integer primary key desc" has
    return source.key == "rowid" or (primary == [(source.key, "integer")] and not has_index)


def _unique_keys(cursor: sqlite3.Cursor, source: SyncedSource, columns: list[str]) -> list[list[Part]]:
    """The parts of each constraint by which "or replace" may delete a row of another key.

    An expression has no column. Where the key itself is unique, the row that replaces another has its key.
    """
    keys = [[_ROWID]] if has_rowid(cursor, source.name, columns) and not _is_rowid(cursor, source) else []
    for _, name, is_unique, *_ in cursor.execute(f"pragma main.index_list({quote(source.name)})").fetchall():
        info = cursor.execute(f"pragma main.index_xinfo({quote(name)})").fetchall()
        parts = [(column, collation) for _, _, column, _, collation, is_part in info if is_part]
        is_key = parts == [(source.key, "BINARY")] and _is_text_or_integer(cursor, source)
        if is_unique and not is_key:
            keys.append(parts)
    return keys


def _has_expression(parts: list[Part]) -> bool:
    return any(column is None for column, _ in parts)


def _same_row(cursor: sqlite3.Cursor, source: SyncedSource, parts: list[Part]) -> str:
    """The condition that row t is equal to the new one by a constraint; "or replace" puts defaults in place of null."""
    info = cursor.execute(f"pragma main.table_info({quote(source.name)})").fetchall()
    filled = {row[1]: row[4] for row in info if row[3] and row[4] is not None and _is_literal(row[4])}
    conditions = []
    for column, collation in parts:
        own = quote(str(column))
        value = f"coalesce(new.{own}, {filled[column]})" if column in filled else f"new.{own}"
        equal = "" if collation == "BINARY" else f" collate {quote(collation)}"
        conditions.append(f"t.{own} = {value}{equal}")
    return " and ".join(conditions)


def _is_text_or_integer(cursor: sqlite3.Cursor, source: SyncedSource) -> bool:
    """Whether equal values of the key are written alike; 1 and 1.0 are equal where a column keeps both."""
    info = cursor.execute(f"pragma main.table_info({quote(source.name)})").fetchall()
    declared = next((row[2].lower() for row in info if row[1] == source.key), "")
    return any(part in declared for part in ("int", "char", "clob", "text"))
