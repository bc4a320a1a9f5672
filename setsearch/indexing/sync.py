"""Keeping relations in sync with their sources: tables of the host, or the index of another engine.

A table is read as a whole, or, with triggers, by the rows that changed: a trigger writes the key of each row that is
inserted, updated or deleted into setsearch_change, and `sync` reads those rows again. The index is as old as the last
sync; the host's writes never wait for it and do not need setsearch.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from setsearch.errors import InvalidParameter, SourceError, UsageError
from setsearch.indexing.rows.cells import CHOOSE, cell_id
from setsearch.indexing.rows.document_columns import Held, SourceItem
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.rows.table_rows import TableRows
from setsearch.indexing.sources import SourceReader
from setsearch.indexing.triggers import create_triggers, has_triggers
from setsearch.indexing.writing.intake import Intake
from setsearch.indexing.writing.writer import Writer
from setsearch.options import Counted, Progress
from setsearch.sqlite.fts5 import find_declaration, find_tokenizer, read_terms
from setsearch.sqlite.limits import limited, limited_rows
from setsearch.sqlite.sql import Table, as_stored, main_table, quote
from setsearch.storage.analyzers import FTS5 as FTS5_SPEC
from setsearch.storage.ids import in_number, is_storable
from setsearch.storage.relation import TEXT, Relation
from setsearch.storage.synced_source import (
    ENGINES,
    FTS5,
    OF_RELATION,
    TABLE,
    Columns,
    Joined,
    SyncedSource,
    count_changes,
    drop_source,
    forget_changes,
    joined,
    load_source,
    noted_names,
    save_source,
)

AGAIN = "index it again, by columns that it has"  # the way out for a table that has lost one

_log = logging.getLogger("setsearch")


@dataclass(frozen=True)
class Changes:
    """How many items a sync changed and deleted, and whether it is time for a job to derive (`Index.refresh`)."""

    written: int = 0
    deleted: int = 0
    behind: bool = field(default=False, compare=False)

    def __add__(self, other: "Changes") -> "Changes":
        return Changes(self.written + other.written, self.deleted + other.deleted, self.behind or other.behind)


@dataclass(frozen=True)
class SourceChanges:
    """What changed since the last sync: `items` to write, ids that are `gone`, and the new state, as JSON.

    An item in both is written. If `gone` is None, all items that are not written are gone.
    """

    items: Iterable[SourceItem]
    gone: Iterable[str] | None
    state: Any


def follow(intake: Intake, source: SyncedSource, read: Callable[[Any], SourceChanges]) -> Changes:
    """Sync the documents with another engine's index; `read` gets the state of the last sync, None at first.

    The caller commits. Raises UsageError if the relation holds items from elsewhere.
    """
    relation = intake.open(TEXT)
    known = load_source(relation)
    if relation.items.size and (known is None or (known.kind, known.name) != (source.kind, source.name)):
        raise UsageError(_holds_others(relation, known, source, "use another `collection`"))
    read_now = read(known.state if known is not None and known.columns == source.columns else None)
    relation.is_altered |= known is None or known.state != read_now.state
    changes = _write(intake, relation, read_now.items, read_now.gone)
    save_source(relation, replace(source, state=read_now.state))
    return changes


def add_source(intake: Intake, source: SyncedSource, progress: Progress, empty: bool) -> Changes:
    """Index a table and keep it as the source of its relation; the caller commits.

    Raises SourceError, and UsageError if the relation holds other items, which only `empty` deletes.
    """
    table, names = Table(intake.cursor, source.name), source.roles.relation
    relation = intake.find(names)
    known = None if relation is None else load_source(relation)
    is_same = known is not None and (known.kind, known.name) == (source.kind, source.name)
    if relation is not None and relation.items.size and not (empty or is_same):
        raise UsageError(
            _holds_others(relation, known, source, "delete them with `replace`, or use another `collection`")
        )
    if is_same and not empty and known is not None:
        columns = source.roles.completed(known.roles, table.columns())
        source = replace(source, columns=columns.stored())
    for own in source.roles.joined:
        require_tables(intake.cursor, own, source.tracked)
    spec = None
    if source.kind == FTS5:
        spec = FTS5_SPEC + find_tokenizer(find_declaration(table) or "")
    relation = intake.open(names, empty, spec)
    return _Table(relation, source).read_anew(intake, progress)


def sync(intake: Intake, relation: Relation, progress: Progress) -> Changes:
    """Bring a relation up to its table; the caller commits. Raises SourceError if the table is no longer as indexed."""
    source = load_source(relation)
    if source is None or source.kind in ENGINES:
        return Changes()
    if not Table(relation.cursor, source.name).columns():
        raise SourceError(_gone(relation, source))
    table = _Table(relation, source, AGAIN)
    if not source.tracked:
        return table.read_all(intake, progress)
    # The table was created again, without its triggers; or version 0.21 wrote numbers as 1.0, which are 1 now.
    if not has_triggers(relation, source) or table.has_old_numbers():
        return table.read_anew(intake, progress)
    changes = table.read_changed(intake, progress)
    forget_changes(relation)
    return changes + table.delete_vanished()


def needs_sync(relation: Relation) -> bool:
    """Whether a sync may find changes; always true for a table without triggers."""
    source = load_source(relation)
    if source is None or source.kind in ENGINES:
        return False
    if not source.tracked or not has_triggers(relation, source):
        return True
    return bool(count_changes(relation)) or _Table(relation, source).has_vanished()


def check_source(relation: Relation) -> Iterator[str]:
    """One line for each problem with a tracked table and its notes of changes."""
    source = load_source(relation)
    if source is None or not source.tracked:
        return
    if not Table(relation.cursor, source.name).columns():
        yield _gone(relation, source)
        return
    for (line,) in relation.cursor.execute(f"pragma main.integrity_check({quote(source.name)})").fetchall():
        if line != "ok":
            yield f"{source.name}: {line}"
    (damaged,) = relation.cursor.execute(
        f"select count(*) from setsearch_change where {OF_RELATION} and key is not again", (relation.id,)
    ).fetchone()
    if damaged:
        yield f"{damaged} notes of changed rows of {source.name} are damaged"
    if not has_triggers(relation, source):
        yield f"the triggers on {source.name} are not as setsearch made them; the next update reads all and makes them"


def _gone(relation: Relation, source: SyncedSource) -> str:
    missing = Table(relation.cursor, source.name).missing()
    return f"{missing}; index another one with `replace`, or drop the collection"


def read_again(intake: Intake, relation: Relation) -> bool:
    """Read the whole table again and recreate its triggers; False if the relation follows no table."""
    source = load_source(relation)
    if source is None or source.kind in ENGINES or not Table(relation.cursor, source.name).columns():
        return False
    relation.clear()
    _Table(relation, source).read_anew(intake)
    return True


def find_table(table: Table, columns: Columns, track: bool) -> SyncedSource:
    """A table as a source; raises SourceError if it does not exist, InvalidParameter."""
    existing = table.columns() if is_storable(table.name) else []
    type, name, declaration = table.declared() if existing else ("", "", "")
    if not name or table.name.lower().startswith("setsearch_"):
        raise SourceError(table.missing())
    if columns.of_numbers:
        raise InvalidParameter("a table of numbers is read once: leave `track` out")
    columns = _as_declared(columns, existing)
    kind = TABLE if find_declaration(table) is None else FTS5
    if kind == FTS5:
        columns = replace(columns, id="rowid") if columns.id == "id" else columns
        if columns.fields or columns.joined:
            raise InvalidParameter(f"the full-text table {name} gives terms alone; leave tags, links and numbers out")
        if columns.id != "rowid" or columns.items or columns.features or columns.group_by:
            raise InvalidParameter(f"the rows of the full-text table {name} have only a rowid: use `id=rowid`")
    is_virtual = type == "table" and declaration.lower().startswith("create virtual")
    if track and (is_virtual or type != "table"):
        what = "full-text table" if kind == FTS5 else "virtual table" if is_virtual else type
        raise InvalidParameter(
            f"{name} is a {what}, which has no triggers: leave `track` out (an update then compares all rows), "
            "or track the table that its text comes from"
        )
    return SyncedSource(kind, name, columns.stored(), track).keyed(table)


def read_source(
    cursor: sqlite3.Cursor, source: SyncedSource, chosen: str = "", choose: str = CHOOSE
) -> Iterator[SourceItem]:
    """The items of a table, or of the rows whose keys are chosen, "in (...)"; `choose` as of SourceReader."""
    columns = source.roles
    if source.kind == FTS5:
        yield from read_terms(Table(cursor, source.name), columns.text, columns.title)
        return
    condition = f"where {quote(source.key)} {chosen}" if chosen else ""
    rows = RowReader(columns.errors, _log.warning, TableRows(source.name, cursor=cursor, condition=condition))
    others = {own: _read_joined(cursor, own, chosen) for own in columns.joined}
    yield from SourceReader(columns, rows, held=Held(joined=others), choose=choose).of_rows()


def _read_joined(cursor: sqlite3.Cursor, field: Joined, chosen: str) -> dict[str, list[str]]:
    """What another table has of each document, or of those that are chosen; raises SourceError."""
    names: dict[str, list[str]] = {}
    require_tables(cursor, field)
    rows, naming = field.rows, field.naming
    key, name, tables = f"r.{quote(rows.key)}", f"r.{quote(rows.name)}", f"{main_table(rows.table)} r"
    last = naming or rows
    if naming:
        tables += f" join {main_table(naming.table)} n on n.{quote(naming.key)} = {name}"
        name = f"n.{quote(naming.name)}"
    statement = (
        f"select {as_stored(key)}, {as_stored(name)} from {tables} where {key} <> '' and {name} <> ''"  # nor null
    )
    statement += f" and {key} {chosen}" * bool(chosen)
    try:
        for id, value in limited_rows(cursor, f"reading {rows.table}", statement):
            owner = cell_id(f"a row of {rows.table}", rows.key, id)
            names.setdefault(owner, []).append(cell_id(f"a row of {last.table}", last.name, value))
    except sqlite3.OperationalError as error:
        raise SourceError(f"table {rows.table} cannot be read: {error}; correct it, or name a view") from error
    return names


def require_tables(cursor: sqlite3.Cursor, field: Joined, track: bool = False) -> None:
    """Raise SourceError unless the tables of a field have its columns, InvalidParameter for a view to track."""
    for step in filter(None, (field.rows, field.naming)):
        table = Table(cursor, step.table)
        known = table.columns()
        if not known:
            raise SourceError(table.missing())
        for name in (step.key, step.name):
            if name.lower() not in map(str.lower, known) and not (name == "rowid" and table.has_rowid(known)):
                raise SourceError(f"table {step.table} has no column {name!r}; it has {', '.join(known)}")
        is_table = "select 1 from sqlite_master where name = ? collate nocase and type = 'table'"
        if track and cursor.execute(is_table, (step.table,)).fetchone() is None:
            raise InvalidParameter(f"{step.table} is no table, and has no triggers: leave `track` out")


@dataclass(frozen=True)
class _Table:
    """A relation and the table that it follows."""

    relation: Relation
    source: SyncedSource
    choose: str = CHOOSE  # as of SourceReader

    def read_anew(self, intake: Intake, progress: Progress = iter) -> Changes:
        """Read the whole table, and follow it from now on."""
        drop_source(self.relation)
        changes = self.read_all(intake, progress)
        save_source(self.relation, self.source)
        if self.source.tracked:
            create_triggers(self.relation, self.source)
        return changes

    def read_all(self, intake: Intake, progress: Progress) -> Changes:
        """Read the whole table. Its rows can be counted, while a view would be worked out twice."""
        items: Iterable[SourceItem] = read_source(self.relation.cursor, self.source, choose=self.choose)
        if Table(self.relation.cursor, self.source.name).is_stored():
            items = Counted(items, lambda: int(self._first("count(*)")[0]))
        return _write(intake, self.relation, progress(items))

    def read_changed(self, intake: Intake, progress: Progress) -> Changes:
        """Read the rows that changed."""
        self._note_renamed()
        noted = "select key from setsearch_change where relation = ? order by id"
        keys = [key for (key,) in self.relation.cursor.execute(noted, (self.relation.id,))]
        if not keys:
            return Changes()
        name, key = self.source.name, self.source.key
        if None in keys and self.source.roles.errors != "skip" and self._first("1", f"where {quote(key)} is null"):
            cell_id(f"a row of {name}", key, None)  # raises, as reading all would
        names = set[str]()
        for own in keys:
            with suppress(SourceError):  # no id; if there is such a row still, reading it says so
                names.add(cell_id("a changed row", key, own))
        read = read_source(self.relation.cursor, self.source, _among(self.relation.id), self.choose)
        items = progress(Counted(read, lambda: len({*map(str, keys)})))
        known = self.relation.items.find(sorted(names))
        return _write(intake, self.relation, items, known)

    def has_vanished(self) -> bool:
        """Whether rows are gone without a trigger: "insert or replace" may delete a row by another unique column."""
        (count,) = self._first(f"count(distinct {quote(self.source.key)})")
        return bool(count < self.relation.items.size)

    def delete_vanished(self) -> Changes:
        """Delete the items whose rows are gone without a trigger."""
        if not self.has_vanished():
            return Changes()
        name, key = self.source.name, self.source.key
        statement = f"select {as_stored(quote(key))} from {main_table(name)}"
        rows = limited_rows(self.relation.cursor, f"reading {name}", statement)
        existing = {cell_id(f"a row of {name}", key, own) for (own,) in rows}
        gone = [own for own in self.relation.items.names() if own not in existing]
        return Changes(0, Writer(self.relation).delete(gone))

    def has_old_numbers(self) -> bool:
        """Whether items are named by whole numbers with a decimal point, of a column that holds such numbers."""
        rows = self.relation.cursor.execute(f"pragma main.table_info({quote(self.source.name)})").fetchall()
        declared = {row[1]: str(row[2]).upper() for row in rows}.get(self.source.key, "")
        statement = "select 1 from setsearch_name where kind = ? and name glob '*[0-9].0' limit 1"
        is_real = any(name in declared for name in ("REAL", "FLOA", "DOUB"))
        return is_real and self.relation.cursor.execute(statement, (self.relation.items.id,)).fetchone() is not None

    def _note_renamed(self) -> None:
        """Note the documents that have what another table names otherwise now."""
        for number, rows, _ in self.source.naming:
            key, among = quote(rows.key), _among(noted_names(self.relation, number))
            self.relation.cursor.execute(
                f"insert into setsearch_change (relation, key, again) select {self.relation.id}, {key}, {key} "
                f"from {main_table(rows.table)} where {quote(rows.name)} {among} on conflict do nothing"
            )

    def _first(self, columns: str, condition: str = "") -> Any:
        """The first row of the table that meets a condition, or what all rows have together."""
        with limited(self.relation.cursor, f"reading {self.source.name}"):
            statement = f"select {columns} from {main_table(self.source.name)} {condition}"
            return self.relation.cursor.execute(statement).fetchone()


def _write(
    intake: Intake,
    relation: Relation,
    items: Iterable[SourceItem],
    gone: Iterable[str] | None = None,
) -> Changes:
    """Write items, and delete those that are `gone`, or all others, and were not written."""
    writer, seen = Writer(relation, replace=True, whole=True), set[str]()

    def _record() -> Iterator[SourceItem]:
        for item in items:
            seen.add(item[0])
            yield item

    intake.write(writer, _record())
    written = len(writer.changed_items())
    names = [name for name in (relation.items.names() if gone is None else gone) if name not in seen]
    return Changes(written, writer.delete(names) if names else 0)


def _among(noted: int) -> str:
    """The condition that a value was noted: tables may hold the same id as a number and as a text."""
    keys = f"from setsearch_change where relation = {noted}"
    return (
        f"in (select key {keys} union select cast(key as text) {keys} "
        f"union select cast(key as integer) {keys} and cast(cast(key as integer) as text) = cast(key as text))"
    )


def _holds_others(relation: Relation, known: SyncedSource | None, source: SyncedSource, way_out: str) -> str:
    held = in_number(relation.items.size, relation.items.name)
    origin = "" if known is None else f" of {known.name}"
    return f"the index holds {held}{origin}, not those of {source.name}; {way_out}"


def _as_declared(columns: Columns, existing: list[str]) -> Columns:
    """The columns in the case in which the table declares them; SQLite ignores case."""
    declared = {name.lower(): name for name in existing}

    def _declared(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(_declared, value))
        if value is None or joined(value) is not None:
            return value
        field, mark, column = ("", "", value) if value.lower() in declared else value.rpartition("=")
        return field + mark + declared.get(column.lower(), column)

    declared_columns = {name: _declared(value) for name, value in asdict(columns).items()}
    return Columns(**declared_columns | {"errors": columns.errors, "split": columns.split})
