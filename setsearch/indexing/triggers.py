"""Triggers that note the keys of changed rows of a table, so that a sync reads these rows alone."""

import re
from collections.abc import Iterator
from functools import partial

from setsearch.errors import InvalidParameter
from setsearch.sqlite.sql import Table, quote
from setsearch.storage.relation import Relation
from setsearch.storage.synced_source import SyncedSource, noted_names, trigger_name

Part = tuple[str | None, str]  # of a constraint: a column, None for an expression, and its collation
_ROWID: Part = "rowid", "BINARY"
_is_literal = re.compile(r"-?\d+(\.\d+)?|'([^']|'')*'").fullmatch


def create_triggers(relation: Relation, source: SyncedSource) -> None:
    """Create the triggers; raises InvalidParameter for rows without a key."""
    for table in _followed(relation, source):
        table.require_key()
        for statement in table.triggers().values():
            relation.cursor.execute(statement.replace("CREATE TRIGGER ", "CREATE TRIGGER main.", 1))


def has_triggers(relation: Relation, source: SyncedSource) -> bool:
    """Whether the triggers exist and match the table as it is now."""
    existing = dict(relation.cursor.execute("select name, sql from sqlite_master where type = 'trigger'"))
    wanted = [table.triggers() for table in _followed(relation, source)]
    return all(existing.get(name) == sql for own in wanted for name, sql in own.items())


def _followed(relation: Relation, source: SyncedSource) -> "Iterator[_Table]":
    for number, table in enumerate(source.tables):
        yield _Table(relation, number, table, relation.id)
    for number, _, table in source.naming:  # which rows have a name is looked for by the sync: the host does not wait
        yield _Table(relation, number, table, noted_names(relation, number))


class _Table:
    """A table that is followed, as it is now; `noted`: the number under which changes of it are noted."""

    def __init__(self, relation: Relation, number: int, source: SyncedSource, noted: int) -> None:
        self._source, self._named, self._noted = source, partial(trigger_name, relation, number=number), noted
        cursor = relation.cursor
        info = cursor.execute(f"pragma main.table_xinfo({quote(source.name)})").fetchall()
        indexes = cursor.execute(f"pragma main.index_list({quote(source.name)})").fetchall()
        self._columns = [row[1] for row in info if row[6] != 1]
        self._primary = {row[1] for row in info if row[5]}
        self._defaults = {row[1]: row[4] for row in info if row[3] and row[4] is not None and _is_literal(row[4])}
        self._is_computed = any(row[6] for row in info)
        self._has_rowid = Table(cursor, source.name).has_rowid(self._columns)
        types = {row[1]: row[2].lower() for row in info if not row[6]}
        has_index = any(origin == "pk" for _, _, _, origin, *_ in indexes)  # as "integer primary key desc" has
        is_integer = self._primary == {source.key} and types.get(source.key) == "integer"
        self._key_is_rowid = source.key == "rowid" or (is_integer and not has_index)
        # Equal values of such keys are written alike; 1 and 1.0 are equal where a column keeps both.
        is_sure = any(part in types.get(source.key, "") for part in ("int", "char", "clob", "text"))
        self._unique = [[_ROWID]] if self._has_rowid and not self._key_is_rowid else []
        for _, name, is_unique, *_ in indexes:
            parts = cursor.execute(f"pragma main.index_xinfo({quote(name)})").fetchall()
            own = [(column, collation) for _, _, column, _, collation, is_part in parts if is_part]
            # Where the key itself is unique, the row that replaces another has its key.
            if is_unique and not (own == [(source.key, "BINARY")] and is_sure):
                self._unique.append(own)

    def require_key(self) -> None:
        """Raise InvalidParameter unless a trigger knows the key of each row that changes."""
        source = self._source
        if source.key not in self._columns and not (source.key == "rowid" and self._has_rowid):
            way_out = f"name their id column, of {', '.join(self._columns)}"
            raise InvalidParameter(f"the rows of {source.name} have no {source.key}; {way_out}")
        several = source.roles.items or source.roles.group_by  # rows may make one item
        if several and any(map(_has_expression, self._unique)):
            raise InvalidParameter(
                f"{source.name} has a unique index on an expression, by which `insert or replace` deletes rows "
                "unnoticed: leave `track` out (an update then compares all rows)"
            )

    def triggers(self) -> dict[str, str]:
        """The triggers by name, as SQLite stores them; each notes a key once until the next sync.

        Triggers before a write note the rows that "or replace" may delete: SQLite calls no delete triggers for them.
        """
        key, table, note = quote(self._source.key), quote(self._source.name), partial(_note, self._noted)
        unique, read = [parts for parts in self._unique if not _has_expression(parts)], self._read_columns()
        bodies = {
            "insert": ("after insert", [note(f"new.{key}")]),
            "update": (f"after update{read}", [note(f"old.{key}"), note(f"new.{key}")]),
            "delete": ("after delete", [note(f"old.{key}")]),
        }
        if read and self._key_is_rowid:  # which may be written by other names
            moved = f"old.{key} is not new.{key}"
            bodies["update_key"] = "after update", [note(f"{row}.{key}", where=moved) for row in ("old", "new")]
        constrained = {*self._primary, *(str(column) for parts in unique for column, _ in parts)}
        changing = ", ".join(quote(name) for name in self._columns if name in constrained)
        other_row = " and t.rowid is not old.rowid" if [_ROWID] in unique else ""
        for event, timing, condition in (
            ("before_insert", "before insert", ""),
            ("before_update", f"before update of {changing}", other_row),
        ):
            if unique and (changing or event == "before_insert"):
                same = (self._same_row(parts) + condition for parts in unique)
                bodies[event] = timing, [note(f"t.{key}", f"from {table} t", where) for where in same]
        return {
            (name := self._named(event)): f"CREATE TRIGGER {name} {timing} on {table} begin {' '.join(notes)} end"
            for event, (timing, notes) in bodies.items()
        }

    def _read_columns(self) -> str:
        """The clause that limits an update trigger to the columns that we read; empty if any column may matter."""
        roles = self._source.roles
        used = {roles.id, *roles.texts, roles.title or "title", *roles.keep, *roles.fields}
        used.update(filter(None, (roles.items, roles.features, roles.count, roles.group_by)))
        if self._source.key not in self._columns or self._is_computed:  # such a column is never updated itself
            return ""
        return " of " + ", ".join(quote(name) for name in self._columns if name in used)

    def _same_row(self, parts: list[Part]) -> str:
        """The condition that row t is equal to the new one by a constraint.

        "Or replace" puts defaults in place of null.
        """
        conditions = []
        for column, collation in parts:
            own = quote(str(column))
            value = f"coalesce(new.{own}, {self._defaults[column]})" if column in self._defaults else f"new.{own}"
            equal = "" if collation == "BINARY" else f" collate {quote(collation)}"
            conditions.append(f"t.{own} = {value}{equal}")
        return " and ".join(conditions)


def _note(noted: int, key: str, source: str = "", where: str = "true") -> str:
    """The statement that notes a key. Its last clause holds whatever the conflict clause of the host's statement."""
    return (
        f"insert into setsearch_change (relation, key, again) select {noted}, {key}, {key} {source} "
        f"where {where} on conflict do nothing;"
    )


def _has_expression(parts: list[Part]) -> bool:
    return any(column is None for column, _ in parts)
