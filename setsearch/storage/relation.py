"""A relation of items and features as stored: two vocabularies, and posting lists in both directions."""

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsearch.errors import REPAIR_HINT, CorruptIndex, InvalidItem, InvalidParameter, NameTaken
from setsearch.storage.integrity import add_checksum, strip_checksum
from setsearch.storage.names import CONTEXT_VOCABULARIES, ContextVocabulary, Vocabulary, is_storable
from setsearch.storage.posting_lists import PostingLists

TEXT = ("documents", "terms")  # the relation of a text collection
CONTEXTS = ("off", "forms", "auto", "on", "phrases")
FEWEST_WORDS, MOST_WORDS = 50_000, 25_000_000  # of a collection that gets contexts automatically
MOST_RELATIONS = 1000  # in one index, with derived ones
DERIVED_VALUES = 32  # of each reading that stay in the file, the newest ones
IDS_OF_ANY_FILE = 1 << 20  # ids that a file of any size may use; others may use a fourth of their bytes


@dataclass
class Relation:
    """Items x features as stored. `stamp` identifies the content: a new random number after each write."""

    id: int
    items: Vocabulary
    features: Vocabulary
    analyzer: str | None  # its specification; None for a relation that is not text
    revision: int
    stamp: int
    parent: int | None = None  # the relation whose texts this one was derived from
    contexts: str = "off"  # why texts are kept: off, forms (surface forms only), auto, on, phrases
    contexts_stamp: int | None = None  # the stamp of the texts that contexts were derived from
    columns: str | None = None  # JSON: the dimensions of items that numbers describe

    @property
    def may_have_contexts(self) -> bool:
        """Whether texts are kept for contexts, not just for surface forms."""
        return self.contexts not in ("off", "forms")

    @property
    def postings(self) -> PostingLists:
        """feature -> items."""
        return PostingLists("posting", self.id, self.items.next_id)

    @property
    def forward(self) -> PostingLists:
        """item -> features."""
        return PostingLists("forward", self.id, self.features.next_id)

    @property
    def label(self) -> str:
        """The names of both sides, for messages."""
        return f"{self.items.name} x {self.features.name}"

    def clear(self, cursor: sqlite3.Cursor) -> None:
        """Delete all items and features; the caller writes next, and so saves."""
        for lists in (self.postings, self.forward):
            lists.clear(cursor)
        for table in ("text", "numbers"):
            cursor.execute(f"delete from setsearch_{table} where relation = ?", (self.id,))
        for vocabulary in (self.items, self.features):
            cursor.execute("delete from setsearch_name where kind = ?", (vocabulary.id,))
            vocabulary.size = vocabulary.next_id = 0

    def save(self, cursor: sqlite3.Cursor) -> None:
        """Start a new revision, which invalidates everything derived from the one before."""
        self.items.save(cursor)
        self.features.save(cursor)
        self.revision += 1
        self.stamp = int.from_bytes(os.urandom(8), "big") >> 1
        cursor.execute(
            "update setsearch_relation set revision = ?, stamp = ? where id = ?", (self.revision, self.stamp, self.id)
        )

    def load_derived_value(self, cursor: sqlite3.Cursor, reading: str, name: str) -> bytes | None:
        """A value derived from this content that the file holds; None if there is none, or a damaged one."""
        row = cursor.execute(
            "select value from setsearch_derived where relation = ? and reading = ? and name = ? and stamp = ?",
            (self.id, reading, name, self.stamp),
        ).fetchone()
        return None if row is None else strip_checksum(row[0], f"{self.id} {reading} {name}")

    def save_derived_values(self, cursor: sqlite3.Cursor, reading: str, values: Mapping[str, bytes]) -> None:
        """Store values derived from this content, unless the stored content has changed."""
        if current_stamp(cursor, self.id) != self.stamp:
            return
        # Old values go only when new ones take their place: SQLite may overwrite freed pages with zeros.
        cursor.execute("delete from setsearch_derived where relation = ? and stamp <> ?", (self.id, self.stamp))
        cursor.executemany(
            "insert or replace into setsearch_derived (relation, reading, name, stamp, value) values (?, ?, ?, ?, ?)",
            [
                (self.id, reading, name, self.stamp, add_checksum(value, f"{self.id} {reading} {name}"))
                for name, value in values.items()
            ],
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
    """All relations except derived ones."""
    return _load(cursor, "parent is null")


def load_derived(cursor: sqlite3.Cursor, parent: Relation) -> dict[str, Relation]:
    """The relations derived from one, by the names of their features."""
    return {relation.features.name: relation for relation in _load(cursor, f"parent = {parent.id}")}


def find_relation(relations: Sequence[Relation], names: tuple[str, str] | None) -> Relation | None:
    """The relation with these names, or the only one; None if there is none. Raises InvalidItem, InvalidParameter."""
    if names is None:
        if len(relations) > 1:
            raise InvalidItem(f"the index holds several relations, {', '.join(r.label for r in relations)}; name one")
        return relations[0] if relations else None
    if not (isinstance(names, tuple) and len(names) == 2 and all(map(is_storable, names))):
        raise InvalidParameter(f"a relation is two names such as ('film', 'user'), not {names!r}")
    return next((r for r in relations if (r.items.name, r.features.name) == names), None)


def _load(cursor: sqlite3.Cursor, condition: str) -> list[Relation]:
    for table, most in (("relation", MOST_RELATIONS), ("kind", 2 * MOST_RELATIONS)):
        (count,) = cursor.execute(f"select count(*) from setsearch_{table}").fetchone()
        if count > most:
            raise CorruptIndex(f"{count:,} rows of setsearch_{table} are more than an index can have; {REPAIR_HINT}")
    stored = {id: rest for id, *rest in cursor.execute("select id, name, size, peak from setsearch_kind")}
    rows = cursor.execute(
        "select id, items, features, analyzer, revision, stamp, parent, contexts, contexts_stamp, columns "
        f"from setsearch_relation where {condition} order by id"
    ).fetchall()
    most_ids = max(IDS_OF_ANY_FILE, _file_size(cursor) // 4)
    vocabularies: dict[int, Vocabulary] = {}
    relations = []
    for id, items, features, *rest in rows:
        for kind in (items, features):
            if kind not in vocabularies:
                vocabularies[kind] = _make_vocabulary(kind, stored.get(kind), id, most_ids)
        relation = Relation(id, vocabularies[items], vocabularies[features], *rest)
        if relation.contexts not in CONTEXTS:
            raise CorruptIndex(f"the contexts of {relation.items.name} are {relation.contexts!r:.40}; index it again")
        relation.features.titles_shown = relation.contexts != "off" and " " in (relation.analyzer or "")
        relations.append(relation)
    return relations


def _make_vocabulary(id: int, row: list[Any] | None, relation: int, most_ids: int) -> Vocabulary:
    """A vocabulary as stored; refuses sizes for which arrays would not fit into memory."""
    if row is None:
        raise CorruptIndex(f"a relation refers to a vocabulary, {id}, that is missing; index the collection again")
    name, size, next_id = row
    if not (0 <= size <= most_ids and 0 <= next_id <= most_ids):
        raise CorruptIndex(f"{size} {name!r:.40} with ids below {next_id} cannot fit into this file; {REPAIR_HINT}")
    if name in CONTEXT_VOCABULARIES:
        return ContextVocabulary(id, name, size, next_id, relation=relation)
    return Vocabulary(id, name, size, next_id)


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
    """A new, empty relation of two new vocabularies. Raises InvalidItem, NameTaken."""
    if items == features:
        raise InvalidItem(f"items and features are both named {items!r}; give them two names")
    for name in (items, features):
        if cursor.execute("select 1 from setsearch_kind where name = ?", (name,)).fetchone():
            raise NameTaken(f"{name!r} already names something else in this index; use another name or database")
    ids = [create_vocabulary(cursor, name) for name in (items, features)]
    cursor.execute(
        "insert into setsearch_relation (items, features, analyzer, contexts, columns) values (?, ?, ?, ?, ?)",
        (*ids, analyzer, contexts, None if columns is None else json.dumps(list(columns))),
    )
    (relation,) = [r for r in load_relations(cursor) if (r.items.name, r.features.name) == (items, features)]
    return relation


def create_vocabulary(cursor: sqlite3.Cursor, name: str, size: int = 0) -> int:
    """A new vocabulary; returns its id."""
    cursor.execute("insert into setsearch_kind (name, size, peak) values (?, ?, ?)", (name, size, size))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def wants_contexts(cursor: sqlite3.Cursor, relation: Relation) -> bool:
    """Whether a collection has contexts: by its setting, or automatically by its number of words."""
    if relation.contexts != "auto":
        return relation.contexts in ("on", "phrases")
    row = cursor.execute("select sum(total) from setsearch_forward where relation = ?", (relation.id,)).fetchone()
    return FEWEST_WORDS <= (row[0] or 0) <= MOST_WORDS
