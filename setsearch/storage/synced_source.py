"""Where the items of a relation came from, if that is something that can be read again: a table, another index."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from setsearch.errors import CorruptIndex, UsageError
from setsearch.storage.relation import Relation

TABLE, FTS5, WHOOSH = "table", "fts5", "whoosh"
EVENTS = ("insert", "update", "delete", "before_insert", "before_update")  # for which there are triggers


@dataclass(frozen=True)
class Origin:
    """What a relation mirrors. `columns` says which column is what, `tracked` whether triggers note changes."""

    kind: str
    place: str  # the name of the table
    columns: dict[str, Any]
    tracked: bool = False
    state: Any = field(default=None, compare=False)  # how far it was read, where that is no matter of triggers

    @property
    def key(self) -> str:
        """The column that names the items."""
        return str(self.columns.get("items") or self.columns.get("group_by") or self.columns["id"])


def load_origin(cursor: sqlite3.Cursor, relation: Relation) -> Origin | None:
    """The origin of a relation; None for one that was filled by hand."""
    row = cursor.execute(
        "select kind, place, columns, tracked, state from setsearch_origin where relation = ?", (relation.id,)
    ).fetchone()
    if row is None:
        return None
    kind, place, columns, tracked, state = row
    try:
        given, read = json.loads(columns), None if state is None else json.loads(state)
    except (ValueError, RecursionError) as error:
        raise CorruptIndex(f"where {relation.items.name} came from is not readable; index them again") from error
    if not isinstance(given, dict) or kind not in (TABLE, FTS5, WHOOSH):
        raise CorruptIndex(f"where {relation.items.name} came from is not known; index them again")
    return Origin(kind, place, given, bool(tracked), read)


def save_origin(cursor: sqlite3.Cursor, relation: Relation, origin: Origin) -> None:
    """Remember the origin of a relation."""
    state = None if origin.state is None else json.dumps(origin.state)
    cursor.execute(
        "insert or replace into setsearch_origin (relation, kind, place, columns, tracked, state) "
        "values (?, ?, ?, ?, ?, ?)",
        (relation.id, origin.kind, origin.place, json.dumps(origin.columns), origin.tracked, state),
    )


def forget(cursor: sqlite3.Cursor, relation: Relation) -> None:
    """The relation mirrors nothing any more."""
    for event in EVENTS:
        cursor.execute(f"drop trigger if exists main.{trigger(relation, event)}")
    for table in ("origin", "change"):
        cursor.execute(f"delete from setsearch_{table} where relation = ?", (relation.id,))


def refuse_mirror(cursor: sqlite3.Cursor, relation: Relation) -> None:
    """Raise UsageError for a relation that mirrors something: what was written to it would not stay."""
    origin = load_origin(cursor, relation)
    if origin is not None:
        raise UsageError(
            f"the {relation.items.name} are those of {origin.place}: change them there and run `setsearch update`"
        )


def pending(cursor: sqlite3.Cursor, relation: Relation) -> int:
    """How many rows have changed since the last refresh, as far as triggers tell."""
    (count,) = cursor.execute("select count(*) from setsearch_change where relation = ?", (relation.id,)).fetchone()
    return int(count)


def describe_mirrors(cursor: sqlite3.Cursor, relations: Sequence[Relation]) -> list[dict[str, Any]]:
    """What `Index.info` says of origins."""
    found = [(relation, load_origin(cursor, relation)) for relation in relations]
    return [
        {"items": relation.items.name, "kind": origin.kind, "place": origin.place, "tracked": origin.tracked}
        | ({"changed": pending(cursor, relation)} if origin.tracked else {})
        for relation, origin in found
        if origin is not None
    ]


def trigger(relation: Relation, event: str) -> str:
    """The name of a trigger that notes changes."""
    return f"setsearch_{relation.id}_{event}"


@dataclass(frozen=True)
class Columns:
    """Which columns of a row are what. With `items` and `features` rows are a relation, else documents."""

    id: str = "id"
    text: tuple[str, ...] = ()  # by default "text"; of a full-text table all columns
    title: str | None = None
    items: str | None = None
    features: str | None = None
    count: str | None = None
    group_by: str | None = None
    numbers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("text", "numbers"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns with text."""
        return self.text or ("text",)

    @property
    def relation(self) -> tuple[str, str]:
        """(items, features)."""
        if self.group_by is not None:
            if self.items or self.features or self.count:
                raise UsageError("--group-by is for texts; leave --items, --features and --count out")
            return self.group_by, "terms"
        if self.numbers:
            if self.items is None or self.features or self.count:
                raise UsageError("--numbers COL describe --items COL; leave --features and --count out")
            return self.items, ""
        if self.items is None or self.features is None:
            if self.items or self.features or self.count:
                raise UsageError("a relation needs both --items COL and --features COL")
            return "documents", "terms"
        return self.items, self.features


def columns_from(origin: Origin) -> Columns:
    """Which column is what; raises CorruptIndex."""
    try:
        return Columns(**origin.columns)
    except TypeError as error:
        raise CorruptIndex(f"which columns of {origin.place} were indexed is not known; index it again") from error
