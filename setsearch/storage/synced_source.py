"""Synced sources: the table, or the index of another engine, that a relation follows."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from setsearch.errors import CorruptIndex, InvalidParameter, UsageError
from setsearch.options import TEXT_FIELD
from setsearch.sqlite.sql import Table, quote
from setsearch.storage.relation import TEXT, Relation, load_relations

TABLE, FTS5, WHOOSH, TANTIVY = "table", "fts5", "whoosh", "tantivy"
ERRORS = "strict", "replace", "skip"  # what happens to bad rows
ENGINES = (WHOOSH, TANTIVY)  # whose indexes are followed by what holds both
MOST_NAMING = 1 << 7  # tables that name what documents have
OF_RELATION = f"(relation = ?1 or relation between -{MOST_NAMING} * ?1 - {MOST_NAMING - 1} and -{MOST_NAMING} * ?1)"
_STEP = r"([^.=]+)\.([^.=]+)=([^.=:,]+)"
_is_joined = re.compile(f"{_STEP}(?:,{_STEP})?").fullmatch
id_name = re.compile(r"(.*?)(?:_[iI][dD]|(?<=[a-z])I[dD])", re.DOTALL).fullmatch


class Step(NamedTuple):
    """What leads from an id to what a row has: a table, its column with the id, and another one."""

    table: str
    key: str
    name: str

    @property
    def source(self) -> "SyncedSource":
        """The table as one that is followed."""
        return SyncedSource(TABLE, self.table, {"items": self.key, "features": self.name})


class Joined(NamedTuple):
    """A field in another table, whose rows have the id of a document and a name; or an id that `naming` names."""

    rows: Step
    naming: Step | None
    is_link: bool

    @property
    def name(self) -> str:
        """That of the field: of the column, without "_id" where it is named."""
        found = id_name(self.rows.name) if self.naming else None
        return found[1] if found else self.rows.name


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a row. With `items` and `features` rows are a relation, else documents."""

    id: str = "id"
    text: tuple[str, ...] = ()  # by default "text"; for a full-text table all columns
    title: str | None = None
    items: str | None = None
    features: str | None = None
    count: str | None = None
    group_by: str | None = None
    numbers: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()  # columns of documents that come back with each hit
    # Columns of documents with names, such as a JSON array: each is a field, which "NAME=column" names otherwise; or of
    # another table, "tagged.article=tag", or "tagged.article=tag_id,tags.id=name" where a third one has the names.
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # the same with ids: a document also has its own, as those have that link to it
    split: str | None = None  # what stands between tags or links that are one text
    errors: str = "strict"  # "skip" leaves out bad rows of a table, with a warning, now and at each sync

    def __post_init__(self) -> None:
        for name in ("id", "title", "items", "features", "count", "group_by", "split"):
            own = getattr(self, name)
            if not (isinstance(own, str) and own) and (own is not None or name == "id"):
                what = "is a text between names" if name == "split" else "names a column"
                raise InvalidParameter(f"`{name}` {what}, and is not {own!r:.60}")
        if self.errors not in ERRORS:
            raise InvalidParameter(f"`errors` is {', '.join(ERRORS[:-1])} or {ERRORS[-1]}, not {self.errors!r:.60}")
        for name in ("text", "numbers", "keep", "tags", "links"):
            names = getattr(self, name)
            if not isinstance(names, Iterable) or not all(isinstance(own, str) for own in names):
                raise InvalidParameter(f"`{name}` names a column, or several, not {names!r:.60}")
            object.__setattr__(self, name, (names,) if isinstance(names, str) else tuple(names))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns with text."""
        return self.text or ("text",)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The columns that are fields of documents beside their text."""
        return tuple(column for _, column in (*self.named, *self.numbered))

    @property
    def asked(self) -> frozenset[str]:
        """The columns that were named, and that all rows have."""
        own_id = None if self.id == Columns.id else self.id
        roles = (own_id, *self.text, self.title, self.items, self.features, self.count, self.group_by)
        numbers = self.numbers if self.items else ()
        return frozenset(filter(None, (*roles, *numbers, *self.keep, *self.fields)))

    @cached_property
    def named(self) -> tuple[tuple[str, str], ...]:
        """The fields of tags and links, each with its column."""
        return tuple(field_and_column(name) for name in (*self.tags, *self.links) if joined(name) is None)

    @cached_property
    def numbered(self) -> tuple[tuple[str, str], ...]:
        """The fields of numbers, each with its column."""
        return () if self.items else tuple(map(field_and_column, self.numbers))

    @cached_property
    def joined(self) -> tuple[Joined, ...]:
        """The fields that other tables have."""
        found = [joined(name, name in self.links) for name in (*self.tags, *self.links)]
        return tuple(own for own in found if own is not None)

    @property
    def of_numbers(self) -> bool:
        """Whether nothing but numbers describes the items."""
        return bool(self.numbers) and self.items is not None

    def completed(self, known: "Columns", existing: Collection[str]) -> "Columns":
        """With the columns to keep, and the fields, that were `known` and are not given, of those that exist."""
        kinds = ("tags", "links", "numbers")
        given = {_field_of(name) for kind in kinds for name in getattr(self, kind)}
        kept: dict[str, Any] = {
            kind: (*getattr(self, kind), *(name for name in getattr(known, kind) if _stays(name, given, existing)))
            for kind in kinds
        }
        keep = self.keep or tuple(name for name in known.keep if name in existing)
        return replace(self, keep=keep, split=known.split if self.split is None else self.split, **kept)

    def stored(self) -> dict[str, Any]:
        """As a source keeps them: without what few sources have, and this one has not."""
        return {name: own for name, own in asdict(self).items() if own or name not in ("tags", "links", "split")}

    @property
    def relation(self) -> tuple[str, str]:
        """(items, features); raises UsageError for columns that contradict each other."""
        if self.keep and (self.items or self.features or self.group_by):
            raise UsageError(
                "only documents keep columns, which come back with each hit; to choose rows, filter them first"
            )
        if (self.tags or self.links) and (self.items or self.features or self.group_by):
            raise UsageError("`tags` and `links` are for documents; leave them out")
        if any(own.is_link and own.naming for own in self.joined):
            raise UsageError("`links` are ids, which need no names: leave out what follows the comma")
        if self.split is not None and not (self.tags or self.links):
            raise UsageError("`split` is for `tags` and `links`; leave it out")
        names = [*(name for name, _ in (*self.named, *self.numbered)), *(own.name for own in self.joined)]
        if len({*names}) < len(names):
            raise UsageError(f"a column is one field, not two: {', '.join(names)}")
        if TEXT_FIELD in names:
            raise UsageError(f"the texts are the field {TEXT_FIELD!r}; name another one NAME=COLUMN, such as kind=text")
        if self.group_by is not None:
            if self.items or self.features or self.count:
                raise UsageError("`group_by` is for texts; leave `items`, `features` and `count` out")
            return self.group_by, TEXT[1]
        if self.items is not None and self.numbers:
            if self.features or self.count:
                raise UsageError("`numbers` need `items`, and neither `features` nor `count`")
            return self.items, ""
        if self.items is None or self.features is None:
            if self.items or self.features or self.count:
                raise UsageError("a relation needs both `items` and `features`")
            return TEXT
        return self.items, self.features


@dataclass(frozen=True)
class SyncedSource:
    """What a relation follows. `columns` gives the roles of columns, `tracked` tells whether triggers note changes."""

    kind: str  # TABLE, FTS5 or one of ENGINES
    name: str  # of the table
    columns: dict[str, Any]
    tracked: bool = False
    state: Any = field(default=None, compare=False)  # how far the index of an engine was read

    @property
    def key(self) -> str:
        """The column of a table that holds the ids of the items; raises CorruptIndex."""
        roles = self.roles
        return roles.items or roles.group_by or roles.id

    def keyed(self, table: Table) -> "SyncedSource":
        """With `rowid` for the default "id", where the table has rowids and no such column (0.33 stored "id")."""
        existing = table.columns() if self.columns.get("id") == "id" else ["id"]
        is_right = "id" in existing or not table.has_rowid(existing)
        return self if is_right else replace(self, columns=self.columns | {"id": "rowid"})

    def is_numbered(self, table: Table) -> bool:
        """Whether no column of the table names its rows: those of a view have their numbers as ids."""
        return self.key not in table.columns() and self.key != "rowid"

    @property
    def tables(self) -> list["SyncedSource"]:
        """The table, and others that have fields of its rows; raises CorruptIndex."""
        return [self, *(own.rows.source for own in self.roles.joined)]

    @property
    def naming(self) -> list[tuple[int, Step, "SyncedSource"]]:
        """The tables that name what others have: their numbers behind `tables`, those others, and themselves."""
        named = [own for own in self.roles.joined if own.naming]
        first = len(self.tables)
        return [(n, own.rows, own.naming.source) for n, own in enumerate(named, first) if own.naming]

    @property
    def roles(self) -> Columns:
        """The columns of a table; raises CorruptIndex."""
        try:
            roles = Columns(**self.columns)
        except TypeError as error:
            raise CorruptIndex(f"the indexed columns of {self.name} are damaged; index it again") from error
        # Until version 0.19 a relation could have columns to keep, which did nothing.
        return roles if roles.items is None and roles.group_by is None else replace(roles, keep=())


def load_source(relation: Relation) -> SyncedSource | None:
    """The source of a relation; None if items were added by calls."""
    row = relation.cursor.execute(
        "select kind, place, columns, tracked, state from setsearch_origin where relation = ?", (relation.id,)
    ).fetchone()
    if row is None:
        return None
    kind, name, stored_columns, tracked, stored_state = row
    try:
        columns, state = json.loads(stored_columns), None if stored_state is None else json.loads(stored_state)
    except (ValueError, RecursionError) as error:
        raise CorruptIndex(f"the source of {relation.items.name} is damaged; index them again") from error
    if not isinstance(columns, dict) or kind not in (TABLE, FTS5, *ENGINES):
        raise CorruptIndex(f"the source of {relation.items.name} is of an unknown kind; index them again")
    return SyncedSource(kind, name, columns, bool(tracked), state).keyed(Table(relation.cursor, name))


def save_source(relation: Relation, source: SyncedSource) -> None:
    """Store the source of a relation."""
    state = None if source.state is None else json.dumps(source.state)
    relation.cursor.execute(
        "insert or replace into setsearch_origin (relation, kind, place, columns, tracked, state) "
        "values (?, ?, ?, ?, ?, ?)",
        (relation.id, source.kind, source.name, json.dumps(source.columns), source.tracked, state),
    )


def drop_source(relation: Relation) -> None:
    """Stop following a source: drop its triggers and its noted changes."""
    ours = f"{trigger_name(relation, '')}*"
    triggers = relation.cursor.execute(
        "select name from main.sqlite_master where type = 'trigger' and name glob ?", (ours,)
    )
    for (name,) in triggers.fetchall():
        relation.cursor.execute(f"drop trigger main.{quote(name)}")
    relation.cursor.execute("delete from setsearch_origin where relation = ?", (relation.id,))
    forget_changes(relation)


def forget_changes(relation: Relation) -> None:
    """Forget what triggers noted."""
    relation.cursor.execute(f"delete from setsearch_change where {OF_RELATION}", (relation.id,))


def refuse_synced(relation: Relation) -> None:
    """Raise UsageError for a relation with a source: the next sync would undo the write."""
    source = load_source(relation)
    if source is not None:
        raise UsageError(
            f"the {relation.items.name} follow {source.name}: change them there and run `setsearch update`"
        )


def count_changes(relation: Relation) -> int:
    """The number of rows that triggers noted since the last sync."""
    (count,) = relation.cursor.execute(
        f"select count(*) from setsearch_change where {OF_RELATION}", (relation.id,)
    ).fetchone()
    return int(count)


def describe_sources(relations: Sequence[Relation]) -> list[dict[str, Any]]:
    """The sources as `Index.info` shows them."""
    sources = [(relation, load_source(relation)) for relation in relations]
    return [
        {"items": relation.items.name, "kind": source.kind, "place": source.name, "tracked": source.tracked}
        | ({"changed": count_changes(relation)} if source.tracked else {})
        for relation, source in sources
        if source is not None
    ]


def trigger_name(relation: Relation, event: str, number: int = 0) -> str:
    """The name of the trigger for an event of a table, or of one of those with fields of its rows, from 1."""
    return f"setsearch_{relation.id}_{event}" + f"_{number}" * (number > 0)


def noted_names(relation: Relation, number: int) -> int:
    """The number under which changes of a table that names something are noted, beside those of the relation."""
    return -(relation.id * MOST_NAMING + number)


def joined(name: str, is_link: bool = False) -> Joined | None:
    """What a name such as "tagged.article=tag" says; None for the name of a column."""
    found = _is_joined(name)
    return found and Joined(Step(*found.group(1, 2, 3)), Step(*found.group(4, 5, 6)) if found[4] else None, is_link)


def field_and_column(name: str) -> tuple[str, str]:
    """A field and its column, of "name=column" or the name of both."""
    field, _, column = name.partition("=")
    return field, column or field


def _field_of(name: str) -> str:
    own = joined(name)
    return field_and_column(name)[0] if own is None else own.name


def _stays(name: str, given: Collection[str], existing: Collection[str]) -> bool:
    """Whether a field stays that is not given: its column, or its other table, is there."""
    return _field_of(name) not in given and (joined(name) is not None or field_and_column(name)[1] in existing)


def describe_table(table: Table, kinds: Sequence[str]) -> dict[str, Any] | None:
    """How a table is indexed: its `items`, their `key`, whether that is the `primary` key; None if it is not.

    `changed`: how many rows have changed since the last sync, if it is tracked.
    """
    for relation in load_relations(table.cursor):
        source = load_source(relation)
        if source is not None and source.kind in kinds and source.name.lower() == table.name.lower():
            key = None if source.is_numbered(table) else source.key
            found = {"items": relation.items.name, "key": key, "primary": table.is_key(source.key)}
            return found | {"changed": count_changes(relation) if source.tracked else None}
    return None
