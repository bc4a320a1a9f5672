"""A relation of items and features as stored: names of both, and lists in both directions."""

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsearch.errors import (
    MEND,
    CorruptIndex,
    InvalidItem,
    NameTaken,
)
from setsearch.storage.integrity import with_sum, without_sum
from setsearch.storage.names import CONTEXT_KINDS, ContextKind, Kind
from setsearch.storage.posting_lists import Lists

DERIVED_VALUES = 32  # kept in the file for each reading, the newest ones
ANY_FILE = 1 << 20  # so many ids may be used in a file of any size; in others a fourth of its bytes
CONTEXTS = ("off", "forms", "auto", "on", "phrases")


@dataclass
class Relation:
    """Items x features as stored; `stamp` names the content, and is new after each write."""

    id: int
    items: Kind
    features: Kind
    analyzer: str | None
    revision: int
    stamp: int
    parent: int | None = None  # the relation whose texts this one was read from
    contexts: str = "off"  # what its texts are kept for: off, forms, auto, on, phrases
    contexts_stamp: int | None = None  # of the content that they were read from
    columns: str | None = None  # JSON: the dimensions of items that are described by numbers

    @property
    def may_have_contexts(self) -> bool:
        """Whether its texts are kept for contexts; for forms of stems they are kept, too."""
        return self.contexts not in ("off", "forms")

    @property
    def postings(self) -> Lists:
        """feature -> items."""
        return Lists("posting", self.id, self.items.peak)

    @property
    def forward(self) -> Lists:
        """item -> features."""
        return Lists("forward", self.id, self.features.peak)

    def clear(self, cursor: sqlite3.Cursor) -> None:
        """Delete everything that the relation holds; the caller writes next, and so saves."""
        for lists in (self.postings, self.forward):
            lists.clear(cursor)
        for table in ("text", "numbers"):
            cursor.execute(f"delete from setsearch_{table} where relation = ?", (self.id,))
        for kind in (self.items, self.features):
            cursor.execute("delete from setsearch_name where kind = ?", (kind.id,))
            kind.size = kind.peak = 0

    def save(self, cursor: sqlite3.Cursor) -> None:
        """Count the revision up: what was derived from the one before counts no more."""
        self.items.save(cursor)
        self.features.save(cursor)
        self.revision += 1
        self.stamp = int.from_bytes(os.urandom(8), "big") >> 1
        cursor.execute(
            "update setsearch_relation set revision = ?, stamp = ? where id = ?", (self.revision, self.stamp, self.id)
        )

    def recall(self, cursor: sqlite3.Cursor, reading: str, name: str) -> bytes | None:
        """A value that was derived from this content and kept in the file; None also for one that is damaged."""
        row = cursor.execute(
            "select value from setsearch_derived where relation = ? and reading = ? and name = ? and stamp = ?",
            (self.id, reading, name, self.stamp),
        ).fetchone()
        return None if row is None else without_sum(row[0])

    def remember(self, cursor: sqlite3.Cursor, reading: str, values: Mapping[str, bytes]) -> None:
        """Keep derived values in the file, if its content is still the one that they were derived from."""
        if current_stamp(cursor, self.id) != self.stamp:
            return
        # Only now, for new values take the place of old ones: SQLite may write what is freed full of zeros.
        cursor.execute("delete from setsearch_derived where relation = ? and stamp <> ?", (self.id, self.stamp))
        cursor.executemany(
            "insert or replace into setsearch_derived (relation, reading, name, stamp, value) values (?, ?, ?, ?, ?)",
            [(self.id, reading, name, self.stamp, with_sum(value)) for name, value in values.items()],
        )
        cursor.execute(
            "delete from setsearch_derived where rowid in (select rowid from setsearch_derived "
            "where relation = ? and reading = ? order by rowid desc limit -1 offset ?)",
            (self.id, reading, DERIVED_VALUES),
        )


def current_stamp(cursor: sqlite3.Cursor, relation: int) -> int | None:
    """The stamp of a relation's present content; None if there is no such relation."""
    row = cursor.execute("select stamp from setsearch_relation where id = ?", (relation,)).fetchone()
    return None if row is None else int(row[0])


def load_relations(cursor: sqlite3.Cursor) -> list[Relation]:
    """All relations that were given; not those that were derived from them."""
    return _load(cursor, "parent is null")


def load_derived(cursor: sqlite3.Cursor, parent: Relation) -> dict[str, Relation]:
    """The relations that were derived from one, by the names of their features."""
    return {relation.features.name: relation for relation in _load(cursor, f"parent = {parent.id}")}


def _load(cursor: sqlite3.Cursor, which: str) -> list[Relation]:
    kinds = {id: rest for id, *rest in cursor.execute("select id, name, size, peak from setsearch_kind")}
    rows = cursor.execute(
        "select id, items, features, analyzer, revision, stamp, parent, contexts, contexts_stamp, columns "
        f"from setsearch_relation where {which} order by id"
    ).fetchall()
    most = max(ANY_FILE, _file_size(cursor) // 4)
    made: dict[int, Kind] = {}
    relations = []
    for id, items, features, *rest in rows:
        for kind in (items, features):
            if kind not in made:
                made[kind] = _make_kind(kind, kinds.get(kind), id, most)
        relation = Relation(id, made[items], made[features], *rest)
        if relation.contexts not in CONTEXTS:
            raise CorruptIndex(f"the contexts of {relation.items.name} are {relation.contexts!r:.40}; index it again")
        relation.features.titles_shown = relation.contexts != "off" and " " in (relation.analyzer or "")
        relations.append(relation)
    return relations


def _make_kind(id: int, row: list[Any] | None, relation: int, most: int) -> Kind:
    """A kind as stored, if arrays of its size can be made without harm."""
    if row is None:
        raise CorruptIndex(f"a relation names a kind, {id}, that is not there; index the collection again")
    name, size, peak = row
    if not (0 <= size <= most and 0 <= peak <= most):
        raise CorruptIndex(f"{size} {name!r:.40} with ids below {peak} cannot be in a file of this size; {MEND}")
    if name in CONTEXT_KINDS:
        return ContextKind(id, name, size, peak, relation=relation)
    return Kind(id, name, size, peak)


def _file_size(cursor: sqlite3.Cursor) -> int:
    (pages,), (size,) = (cursor.execute(f"pragma {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages) * int(size)


def create_relation(
    cursor: sqlite3.Cursor,
    items: str,
    features: str,
    analyzer: str | None,
    contexts: str = "off",
    columns: Sequence[str] | None = None,
) -> Relation:
    """A new, empty relation of two kinds of things that the database does not know yet."""
    if items == features:
        raise InvalidItem(f"items and features are both named {items!r}; give them two names")
    for name in (items, features):
        if cursor.execute("select 1 from setsearch_kind where name = ?", (name,)).fetchone():
            raise NameTaken(f"{name!r} already names something else in this index; use another name or database")
    ids = [create_kind(cursor, name) for name in (items, features)]
    cursor.execute(
        "insert into setsearch_relation (items, features, analyzer, contexts, columns) values (?, ?, ?, ?, ?)",
        (*ids, analyzer, contexts, None if columns is None else json.dumps(list(columns))),
    )
    (found,) = [r for r in load_relations(cursor) if (r.items.name, r.features.name) == (items, features)]
    return found


def create_kind(cursor: sqlite3.Cursor, name: str, size: int = 0) -> int:
    """A new kind of things; its id."""
    cursor.execute("insert into setsearch_kind (name, size, peak) values (?, ?, ?)", (name, size, size))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


SMALLEST, LARGEST = 50_000, 25_000_000  # words of a collection whose contexts are read without being asked for


def worthwhile(cursor: sqlite3.Cursor, relation: Relation) -> bool:
    """Whether contexts are to be read from a collection: it says so, or it is neither small nor too large."""
    if relation.contexts != "auto":
        return relation.contexts in ("on", "phrases")
    row = cursor.execute("select sum(total) from setsearch_forward where relation = ?", (relation.id,)).fetchone()
    return SMALLEST <= (row[0] or 0) <= LARGEST


TEXT = ("documents", "terms")  # the relation of a text collection
