"""What relations mirror: tables of the host's, or another search engine's index.

A table is read as a whole, or, where triggers note the changes, by these alone.

A trigger writes the key of each row that is inserted, updated or deleted into setsearch_change; `refresh` reads those
rows again. The index is as old as the last refresh; the host's writes never wait for it, nor need setsearch.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from setsearch.errors import CorruptIndex, InvalidParameter, SourceError, UsageError
from setsearch.fts5 import declaration, read_terms, tokenizer_of
from setsearch.intake import Intake
from setsearch.names import quoted
from setsearch.origins import EVENTS, FTS5, TABLE, WHOOSH, Origin, forget, load_origin, pending, save_origin, trigger
from setsearch.relation import Relation, load_relations
from setsearch.rows import RowReader, columns_of, has_rowid, no_table
from setsearch.sources import Columns, Given, Reader, item_name
from setsearch.text import FTS5 as BY_FTS5
from setsearch.views import TEXT
from setsearch.writer import Writer

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
    columns = _columns(origin)
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
        _track(cursor, relation, origin)
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
    changes = _read_changed(cursor, intake, relation, origin)
    cursor.execute("delete from setsearch_change where relation = ?", (relation.id,))
    return changes + _delete_vanished(cursor, relation, origin)


def is_behind(cursor: sqlite3.Cursor, relation: Relation) -> bool:
    """Whether a refresh may find changes: always, where no triggers would have told."""
    origin = load_origin(cursor, relation)
    if origin is None or origin.kind == WHOOSH:
        return False
    return not origin.tracked or bool(pending(cursor, relation)) or _some_vanished(cursor, relation, origin)


def audit_mirror(cursor: sqlite3.Cursor, relation: Relation) -> Iterator[str]:
    """One line for each thing that is wrong with what tells of changes in a table."""
    origin = load_origin(cursor, relation)
    if origin is None or not origin.tracked:
        return
    (odd,) = cursor.execute("select count(*) from setsearch_change where key is not again").fetchone()
    if odd:
        yield f"{odd} notes of changed rows of {origin.place} are damaged"
    for event, wanted in _triggers(cursor, relation, origin).items():
        row = cursor.execute("select sql from sqlite_master where name = ?", (trigger(relation, event),)).fetchone()
        if row is None or row[0].lower() != wanted.lower():
            yield f"the trigger {trigger(relation, event)} on {origin.place} is not as setsearch made it"


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
        _track(cursor, relation, origin)
    return True


def find_table(cursor: sqlite3.Cursor, table: str, columns: Columns, track: bool) -> Origin:
    """A table as the origin of a relation; raises SourceError where there is none, InvalidParameter."""
    have = columns_of(cursor, table)
    if not have or table.lower().startswith("setsearch_"):
        raise SourceError(no_table(cursor, table, "the database"))
    if columns.numbers:
        raise InvalidParameter("a table of numbers is read once: leave --track out")
    kind = TABLE if declaration(cursor, table) is None else FTS5
    if kind == FTS5:
        columns = replace(columns, id="rowid") if columns.id == "id" else columns
        if columns.id != "rowid" or columns.items or columns.features or columns.group_by:
            raise InvalidParameter(f"the rows of the full-text table {table} are named by rowid: use --id rowid")
    (type,) = cursor.execute("select type from sqlite_master where name = ? collate nocase", (table,)).fetchone()
    if track and (kind == FTS5 or type != "table"):
        what = "full-text table" if kind == FTS5 else type
        raise InvalidParameter(
            f"{table} is a {what}, on which there are no triggers: leave --track out (an update then compares all "
            "rows), or track the table that its text comes from"
        )
    return Origin(kind, table, asdict(columns), track)


def _columns(origin: Origin) -> Columns:
    try:
        return Columns(**origin.columns)
    except TypeError as error:
        raise CorruptIndex(f"which columns of {origin.place} were indexed is not known; index it again") from error


def _read(cursor: sqlite3.Cursor, origin: Origin, condition: str = "") -> Iterator[Given]:
    """The items of a table, or of those of its rows for which a condition holds."""
    columns = _columns(origin)
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
    within = f"where {quoted(origin.key)} in (select key from setsearch_change where relation = {relation.id})"
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
    (count,) = cursor.execute(f"select count(distinct {quoted(origin.key)}) from {quoted(origin.place)}").fetchone()
    return bool(count < relation.items.size)


def _delete_vanished(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> Changes:
    if not _some_vanished(cursor, relation, origin):
        return Changes()
    there = {str(name) for (name,) in cursor.execute(f"select {quoted(origin.key)} from {quoted(origin.place)}")}
    gone = [name for name in relation.items.names(cursor) if name not in there]
    return Changes(0, Writer(cursor, relation).delete(gone))


def _track(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> None:
    """Make the triggers that note the keys of changed rows."""
    if origin.key == "rowid" and not has_rowid(cursor, origin.place, columns_of(cursor, origin.place)):
        raise InvalidParameter(f"the rows of {origin.place} have no rowid; name them with --id")
    for statement in _triggers(cursor, relation, origin).values():
        cursor.execute(statement)


def _triggers(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> dict[str, str]:
    """The triggers by their events; each notes a key once until the next refresh."""
    have, c = columns_of(cursor, origin.place), _columns(origin)
    used = {c.id, *c.texts, c.title or "title", c.items, c.features, c.count, c.group_by}
    read = [quoted(name) for name in have if name in used]
    key, made = quoted(origin.key), {}
    for event, touched in EVENTS.items():
        of = f" of {', '.join(read)}" if event == "update" and origin.key in have else ""
        notes = " ".join(
            f"insert into setsearch_change (relation, key, again) select {relation.id}, {row}.{key}, {row}.{key} "
            f"where not exists (select 1 from setsearch_change where relation = {relation.id} and key is {row}.{key});"
            for row in touched
        )
        name, table = trigger(relation, event), quoted(origin.place)
        made[event] = f"create trigger {name} after {event}{of} on {table} begin {notes} end"
    return made
