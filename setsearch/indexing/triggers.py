"""Triggers that note which rows of a table have changed, so that a refresh reads these alone."""

import sqlite3

from setsearch.errors import InvalidParameter
from setsearch.storage.relation import Relation
from setsearch.storage.sql import columns_of, has_rowid, quoted
from setsearch.storage.synced_source import Origin, columns_from, trigger


def track_changes(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> None:
    """Make the triggers that note the keys of changed rows."""
    if origin.key == "rowid" and not has_rowid(cursor, origin.place, columns_of(cursor, origin.place)):
        raise InvalidParameter(f"the rows of {origin.place} have no rowid; name them with --id")
    for statement in _triggers(cursor, relation, origin).values():
        cursor.execute(statement.replace("CREATE TRIGGER ", "CREATE TRIGGER main.", 1))


def is_tracked(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> bool:
    """Whether the triggers are there, and on the table as it is now."""
    there = dict(cursor.execute("select name, sql from sqlite_master where type = 'trigger'"))
    return all(there.get(name) == sql for name, sql in _triggers(cursor, relation, origin).items())


def _triggers(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> dict[str, str]:
    """The triggers, by name, as SQLite keeps them; each notes a key once until the next refresh.

    Those before a write note the rows that an "or replace" may delete: of them, others are not told.
    """
    have, c = columns_of(cursor, origin.place), columns_from(origin)
    used = {c.id, *c.texts, c.title or "title", c.items, c.features, c.count, c.group_by}
    read = ", ".join(quoted(name) for name in have if name in used)
    key, table, made = quoted(origin.key), quoted(origin.place), {}
    generated = any(row[6] for row in cursor.execute(f"pragma main.table_xinfo({table})").fetchall())
    of = f" of {read}" if origin.key in have and not generated else ""  # what is generated is never updated itself
    unique = _unique_keys(cursor, origin.place, have)
    for event, timing, rows in (
        ("insert", "after insert", [f"new.{key}"]),
        ("update", f"after update{of}", [f"old.{key}", f"new.{key}"]),
        ("delete", "after delete", [f"old.{key}"]),
    ):
        made[event] = timing, " ".join(_note(relation, row, "") for row in rows)
    other = " and t.rowid is not old.rowid" if ["rowid"] in unique else ""
    changing = ", ".join(quoted(name) for name in have if name in _constrained(cursor, origin.place, unique))
    for event, timing, but in (
        ("before_insert", "before insert", ""),
        ("before_update", f"before update of {changing}", other),
    ):
        same = (" and ".join(f"t.{quoted(name)} = new.{quoted(name)}" for name in names) + but for names in unique)
        if unique and (changing or event == "before_insert"):
            made[event] = timing, " ".join(_note(relation, f"t.{key}", f"from {table} t", where) for where in same)
    return {
        trigger(relation, event): f"CREATE TRIGGER {trigger(relation, event)} {timing} on {table} begin {notes} end"
        for event, (timing, notes) in made.items()
    }


def _note(relation: Relation, key: str, source: str, where: str = "true") -> str:
    """The statement that notes a key; the + keeps the column's type out of the comparison: the index serves."""
    own = f"relation = {relation.id} and key is +{key}"
    return (
        f"insert into setsearch_change (relation, key, again) select {relation.id}, {key}, {key} {source} "
        f"where {where} and not exists (select 1 from setsearch_change where {own});"
    )


def _unique_keys(cursor: sqlite3.Cursor, table: str, have: list[str]) -> list[list[str]]:
    """The columns of each constraint that "or replace" may meet; an index on an expression has none."""
    keys = [["rowid"]] if has_rowid(cursor, table, have) else []
    for _, name, unique, *_ in cursor.execute(f"pragma main.index_list({quoted(table)})").fetchall():
        columns = [column for _, _, column in cursor.execute(f"pragma main.index_info({quoted(name)})")]
        if unique and None not in columns:
            keys.append(columns)
    return keys


def _constrained(cursor: sqlite3.Cursor, table: str, unique: list[list[str]]) -> set[str]:
    """The columns whose change may meet a constraint."""
    primary = [row[1] for row in cursor.execute(f"pragma main.table_info({quoted(table)})") if row[5]]
    return {*primary, *(name for names in unique for name in names)}
