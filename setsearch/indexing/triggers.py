"""Triggers that note the keys of changed rows of a table, so that a sync reads these rows alone."""

import sqlite3

from setsearch.errors import InvalidParameter
from setsearch.storage.relation import Relation
from setsearch.storage.sql import has_rowid, quote, table_columns
from setsearch.storage.synced_source import SyncedSource, trigger_name


def create_triggers(cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource) -> None:
    """Create the triggers; raises InvalidParameter for rows without a key."""
    if source.key == "rowid" and not has_rowid(cursor, source.name, table_columns(cursor, source.name)):
        raise InvalidParameter(f"the rows of {source.name} have no rowid; name their id column")
    for statement in _triggers(cursor, relation, source).values():
        cursor.execute(statement.replace("CREATE TRIGGER ", "CREATE TRIGGER main.", 1))


def has_triggers(cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource) -> bool:
    """Whether the triggers exist and match the table as it is now."""
    existing = dict(cursor.execute("select name, sql from sqlite_master where type = 'trigger'"))
    return all(existing.get(name) == sql for name, sql in _triggers(cursor, relation, source).items())


def _triggers(cursor: sqlite3.Cursor, relation: Relation, source: SyncedSource) -> dict[str, str]:
    """The triggers by name, as SQLite stores them; each notes a key once until the next sync.

    Triggers before a write note the rows that "or replace" may delete: SQLite calls no delete triggers for them.
    """
    columns = table_columns(cursor, source.name)
    key, table, bodies = quote(source.key), quote(source.name), {}
    unique = _unique_keys(cursor, source, columns)
    for event, timing, rows in (
        ("insert", "after insert", [f"new.{key}"]),
        ("update", f"after update{_read_columns(cursor, source, columns)}", [f"old.{key}", f"new.{key}"]),
        ("delete", "after delete", [f"old.{key}"]),
    ):
        bodies[event] = timing, " ".join(_note(relation, row) for row in rows)
    other_row = " and t.rowid is not old.rowid" if ["rowid"] in unique else ""
    constrained = _constrained_columns(cursor, source.name, unique)
    changing = ", ".join(quote(name) for name in columns if name in constrained)
    for event, timing, condition in (
        ("before_insert", "before insert", ""),
        ("before_update", f"before update of {changing}", other_row),
    ):
        same = (" and ".join(f"t.{quote(n)} = new.{quote(n)}" for n in names) + condition for names in unique)
        if unique and (changing or event == "before_insert"):
            bodies[event] = timing, " ".join(_note(relation, f"t.{key}", f"from {table} t", where) for where in same)
    triggers = {}
    for event, (timing, notes) in bodies.items():
        name = trigger_name(relation, event)
        triggers[name] = f"CREATE TRIGGER {name} {timing} on {table} begin {notes} end"
    return triggers


def _read_columns(cursor: sqlite3.Cursor, source: SyncedSource, columns: list[str]) -> str:
    """The clause that limits an update trigger to the columns that we read; empty if any column may matter."""
    roles = source.roles
    used = {roles.id, *roles.texts, roles.title or "title", *roles.keep}
    used |= {name for name in (roles.items, roles.features, roles.count, roles.group_by) if name is not None}
    info = cursor.execute(f"pragma main.table_xinfo({quote(source.name)})").fetchall()
    if source.key not in columns or any(row[6] for row in info):  # a generated column is never updated itself
        return ""
    return " of " + ", ".join(quote(name) for name in columns if name in used)


def _note(relation: Relation, key: str, source: str = "", where: str = "true") -> str:
    """The statement that notes a key. Its last clause holds whatever the conflict clause of the host's statement."""
    return (
        f"insert into setsearch_change (relation, key, again) select {relation.id}, {key}, {key} {source} "
        f"where {where} on conflict do nothing;"
    )


def _is_rowid(cursor: sqlite3.Cursor, source: SyncedSource) -> bool:
    """Whether the key of a table is its rowid, by this name or as the integer that is the primary key."""
    info = cursor.execute(f"pragma main.table_info({quote(source.name)})").fetchall()
    primary = [(row[1], row[2].lower()) for row in info if row[5]]
    indexes = cursor.execute(f"pragma main.index_list({quote(source.name)})").fetchall()
    has_index = any(origin == "pk" for _, _, _, origin, *_ in indexes)  # as "integer primary key desc" has
    return source.key == "rowid" or (primary == [(source.key, "integer")] and not has_index)


def _unique_keys(cursor: sqlite3.Cursor, source: SyncedSource, columns: list[str]) -> list[list[str]]:
    """The columns of each constraint by which "or replace" may delete a row of another key.

    An index on an expression has none. Where the key itself is unique, the row that replaces another has its key.
    """
    keys = [["rowid"]] if has_rowid(cursor, source.name, columns) and not _is_rowid(cursor, source) else []
    for _, name, is_unique, *_ in cursor.execute(f"pragma main.index_list({quote(source.name)})").fetchall():
        info = cursor.execute(f"pragma main.index_xinfo({quote(name)})").fetchall()
        parts = [(column, collation) for _, _, column, _, collation, is_part in info if is_part]
        is_key = parts == [(source.key, "BINARY")] and _is_text_or_integer(cursor, source)
        if is_unique and not is_key and all(column is not None for column, _ in parts):
            keys.append([column for column, _ in parts])
    return keys


def _is_text_or_integer(cursor: sqlite3.Cursor, source: SyncedSource) -> bool:
    """Whether equal values of the key are written alike; 1 and 1.0 are equal where a column keeps both."""
    info = cursor.execute(f"pragma main.table_info({quote(source.name)})").fetchall()
    declared = next((row[2].lower() for row in info if row[1] == source.key), "")
    return any(part in declared for part in ("int", "char", "clob", "text"))


def _constrained_columns(cursor: sqlite3.Cursor, table: str, unique: list[list[str]]) -> set[str]:
    """The columns whose change may violate a constraint."""
    primary = [row[1] for row in cursor.execute(f"pragma main.table_info({quote(table)})") if row[5]]
    return {*primary, *(name for names in unique for name in names)}
