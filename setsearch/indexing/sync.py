"""What relations mirror: tables of the host's, or another search engine's index.

A table is read as a whole, or, where triggers note the changes, by these alone.

A trigger writes the key of each row that is inserted, updated or deleted into setsearch_change; `refresh` reads those
rows again. The index is as old as the last refresh; the host's writes never wait for it, nor need setsearch.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from setsearch.errors import InvalidParameter, SourceError, UsageError
from setsearch.indexing.intake import Intake
from setsearch.indexing.rows import RowReader, item_name
from setsearch.indexing.sources import Given, Reader
from setsearch.indexing.triggers import is_tracked, track_changes
from setsearch.indexing.writer import Writer
from setsearch.storage.fts5 import declaration, read_terms, tokenizer_of
from setsearch.storage.relation import TEXT, Relation, load_relations
from setsearch.storage.sql import columns_of, no_table, quoted, table_named
from setsearch.storage.synced_source import (
    FTS5,
    TABLE,
    WHOOSH,
    Columns,
    Origin,
    columns_from,
    forget,
    load_origin,
    pending,
    save_origin,
)
from setsearch.text.analyzer import FTS5 as BY_FTS5

Progress = Callable[[Iterator[Given]], Iterator[Given]]


@dataclass(frozen=True)
class Changes:
    """How many items a mirror wrote and deleted."""

    written: int = 0
    deleted: int = 0

    def __add__(self, other: "Changes") -> "Changes":
        return Changes(self.written + other.written, self.deleted + other.deleted)


@dataclass(frozen=True)
class Delta:
    """What has changed since the last time: `items` to write, those `gone`, and how far was read, as JSON.

    An item that is in both is written. Where `gone` is None, all that are not written are gone.
    """

    items: Iterable[Given]
    gone: Iterable[str] | None
    state: Any


def follow(cursor: sqlite3.Cursor, intake: Intake, origin: Origin, read: Callable[[Any], Delta]) -> Changes:
    """Bring a relation up to what is no table: `read` is given the state of the last time, None at first.

    Nothing is committed here. Raises UsageError where the relation holds items from elsewhere.
    """
    relation = intake.open(cursor, TEXT)
    known = load_origin(cursor, relation)
    if relation.items.size and (known is None or (known.kind, known.place) != (origin.kind, origin.place)):
        raise UsageError(_holds_others(relation, known, origin, "use another database"))
    delta = read(known.state if known is not None and known.columns == origin.columns else None)
    written, gone = _write(
        Writer(cursor, relation, replace=True),
        intake,
        delta.items,
        lambda: relation.items.names(cursor) if delta.gone is None else delta.gone,
    )
    save_origin(cursor, relation, replace(origin, state=delta.state))
    return Changes(written, gone)


def mirror(
    cursor: sqlite3.Cursor, intake: Intake, origin: Origin, progress: Progress = iter, empty: bool = False
) -> Changes:
    """Make a relation the mirror of a table, from now on; nothing is committed here.

    Raises SourceError, UsageError where the relation holds other items, which only `empty` puts away.
    """
    columns = columns_from(origin)
    names = columns.relation
    relation = next((r for r in load_relations(cursor) if (r.items.name, r.features.name) == names), None)
    known = None if relation is None else load_origin(cursor, relation)
    same = known is not None and (known.kind, known.place) == (origin.kind, origin.place)
    if relation is not None and relation.items.size and not (empty or same):
        raise UsageError(_holds_others(relation, known, origin, "--replace puts them away"))
    spec = BY_FTS5 + tokenizer_of(declaration(cursor, origin.place) or "") if origin.kind == FTS5 else None
    relation = intake.open(cursor, names, empty, spec)
    forget(cursor, relation)
    changes = _read_all(cursor, intake, relation, origin, progress)
    save_origin(cursor, relation, origin)
    if origin.tracked:
        track_changes(cursor, relation, origin)
    return changes


def refresh(cursor: sqlite3.Cursor, intake: Intake, relation: Relation) -> Changes:
    """Bring a mirror up to its table; nothing is committed here. Raises SourceError where the table has changed."""
    origin = load_origin(cursor, relation)
    if origin is None or origin.kind == WHOOSH:
        return Changes()
    if not columns_of(cursor, origin.place):
        raise SourceError(f"{no_table(cursor, origin.place, 'the database')}; index another with --replace")
    if not origin.tracked:
        return _read_all(cursor, intake, relation, origin)
    if not is_tracked(cursor, relation, origin):  # the table was made anew, and with it went its triggers
        forget(cursor, relation)
        changes = _read_all(cursor, intake, relation, origin)
        save_origin(cursor, relation, origin)
        track_changes(cursor, relation, origin)
        return changes
    changes = _read_changed(cursor, intake, relation, origin)
    cursor.execute("delete from setsearch_change where relation = ?", (relation.id,))
    return changes + _delete_vanished(cursor, relation, origin)


def is_behind(cursor: sqlite3.Cursor, relation: Relation) -> bool:
    """Whether a refresh may find changes: always, where no triggers would have told."""
    origin = load_origin(cursor, relation)
    if origin is None or origin.kind == WHOOSH:
        return False
    if not origin.tracked or not is_tracked(cursor, relation, origin):
        return True
    return bool(pending(cursor, relation)) or _some_vanished(cursor, relation, origin)


def audit_mirror(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """One line for each thing that is wrong with a tracked table, and with what tells of changes in it."""
    origin = load_origin(cursor, relation)
    if origin is None or not origin.tracked:
        return
    for (line,) in cursor.execute(f"pragma main.integrity_check({quoted(origin.place)})").fetchall():
        if line != "ok":
            yield f"{origin.place}: {line}"
    (odd,) = cursor.execute("select count(*) from setsearch_change where key is not again").fetchone()
    if odd:
        yield f"{odd} notes of changed rows of {origin.place} are damaged"
    if not is_tracked(cursor, relation, origin):
        yield f"the triggers on {origin.place} are not as setsearch made them; a refresh reads all, and makes them"


def reread(cursor: sqlite3.Cursor, intake: Intake, relation: Relation) -> bool:
    """Read a table again, all of it, and make its triggers anew; False for what is no mirror of a table."""
    origin = load_origin(cursor, relation)
    if origin is None or origin.kind == WHOOSH or not columns_of(cursor, origin.place):
        return False
    relation.clear(cursor)
    forget(cursor, relation)
    _read_all(cursor, intake, relation, origin)
    save_origin(cursor, relation, origin)
    if origin.tracked:
        track_changes(cursor, relation, origin)
    return True


def find_table(cursor: sqlite3.Cursor, table: str, columns: Columns, track: bool) -> Origin:
    """A table as the origin of a relation; raises SourceError where there is none, InvalidParameter."""
    have = columns_of(cursor, table)
    if not have or table.lower().startswith("setsearch_"):
        raise SourceError(no_table(cursor, table, "the database"))
    if columns.numbers:
        raise InvalidParameter("a table of numbers is read once: leave --track out")
    row = cursor.execute("select type, name, sql from sqlite_master where name = ? collate nocase", (table,)).fetchone()
    type, table = row[:2]
    columns = _as_declared(columns, have)
    kind = TABLE if declaration(cursor, table) is None else FTS5
    if kind == FTS5:
        columns = replace(columns, id="rowid") if columns.id == "id" else columns
        if columns.id != "rowid" or columns.items or columns.features or columns.group_by:
            raise InvalidParameter(f"the rows of the full-text table {table} are named by rowid: use --id rowid")
    virtual = type == "table" and row[2].lower().startswith("create virtual")
    if track and (virtual or type != "table"):
        what = "full-text table" if kind == FTS5 else "virtual table" if virtual else type
        raise InvalidParameter(
            f"{table} is a {what}, on which there are no triggers: leave --track out (an update then compares all "
            "rows), or track the table that its text comes from"
        )
    return Origin(kind, table, asdict(columns), track)


def _read(cursor: sqlite3.Cursor, origin: Origin, condition: str = "") -> Iterator[Given]:
    """The items of a table, or of those of its rows for which a condition holds."""
    columns = columns_from(origin)
    if origin.kind == FTS5:
        yield from read_terms(cursor, origin.place, columns.text, columns.title)
        return
    reader = RowReader(table=origin.place, connection=cursor.connection, condition=condition)
    yield from Reader(columns, reader).items([])


def _read_all(
    cursor: sqlite3.Cursor, intake: Intake, relation: Relation, origin: Origin, progress: Progress = iter
) -> Changes:
    writer = Writer(cursor, relation, replace=True)
    given = progress(_read(cursor, origin))
    return Changes(*_write(writer, intake, given, lambda: relation.items.names(cursor)))


def _read_changed(cursor: sqlite3.Cursor, intake: Intake, relation: Relation, origin: Origin) -> Changes:
    noted = cursor.execute("select key from setsearch_change where relation = ? order by id", (relation.id,))
    keys = [key for (key,) in noted]
    if not keys:
        return Changes()
    key = quoted(origin.key)
    if None in keys and cursor.execute(f"select 1 from {table_named(origin.place)} where {key} is null").fetchone():
        item_name(f"a row of {origin.place}", origin.key, None)  # which is refused, as when all is read
    within = f"where {key} in (select key from setsearch_change where relation = {relation.id})"
    names = {item_name("a changed row", origin.key, key) for key in keys if key is not None}
    writer = Writer(cursor, relation, replace=True)
    given = _read(cursor, origin, within)
    return Changes(*_write(writer, intake, given, lambda: relation.items.find(cursor, sorted(names))))


def _write(
    writer: Writer, intake: Intake, items: Iterable[Given], gone: Callable[[], Iterable[str]]
) -> tuple[int, int]:
    """Write items, and delete those that are `gone` and were not among them; how many of both."""
    seen: set[str] = set()

    def _noted() -> Iterator[Given]:
        for item in items:
            seen.add(item[0])
            yield item

    written = intake.write(writer, _noted())
    names = [name for name in gone() if name not in seen]
    return written, writer.delete(names) if names else 0


def _holds_others(relation: Relation, known: Origin | None, origin: Origin, way_out: str) -> str:
    whose = "other items" if known is None else f"those of {known.place}"
    held = f"{relation.items.size} {relation.items.name}"
    return f"the index holds {held}, {whose}, not those of {origin.place}; {way_out}"


def _some_vanished(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> bool:
    """Whether rows are gone of which triggers were not told.

    "insert or replace" deletes a row that another unique column stands against without calling triggers.
    """
    (count,) = cursor.execute(
        f"select count(distinct {quoted(origin.key)}) from {table_named(origin.place)}"
    ).fetchone()
    return bool(count < relation.items.size)


def _delete_vanished(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> Changes:
    if not _some_vanished(cursor, relation, origin):
        return Changes()
    there = {str(name) for (name,) in cursor.execute(f"select {quoted(origin.key)} from {table_named(origin.place)}")}
    gone = [name for name in relation.items.names(cursor) if name not in there]
    return Changes(0, Writer(cursor, relation).delete(gone))


def _as_declared(columns: Columns, have: list[str]) -> Columns:
    """The columns in the case in which the table declares them, which does not matter to SQLite."""
    declared = {name.lower(): name for name in have}

    def _declared(given: Any) -> Any:
        if isinstance(given, tuple):
            return tuple(map(_declared, given))
        return None if given is None else declared.get(given.lower(), given)

    return Columns(**{name: _declared(value) for name, value in asdict(columns).items()})
