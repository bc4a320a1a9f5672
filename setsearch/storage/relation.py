"""A relation of items and features as stored: two vocabularies, forward lists, frequencies."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import REPAIR_HINT, CorruptIndex, InvalidItem, InvalidParameter, NameTaken, UnknownReading
from setsearch.options import TEXT_FIELD
from setsearch.sqlite.database import Bound
from setsearch.storage.feature_fields import MARK, FeatureField, dump_fields, load_fields
from setsearch.storage.forward_lists import ForwardLists, Frequencies
from setsearch.storage.ids import collection_of, is_storable, name_in, plain_name
from setsearch.storage.names import Vocabulary
from setsearch.storage.revisions import Changed, History, Revision

TEXT = ("documents", "terms")  # the relation of a text collection
# Why texts are kept. "auto" and "on" have words only; "auto-phrases" and "phrases" have phrases, too.
CONTEXTS = ("off", "forms", "auto", "on", "auto-phrases", "phrases")
AUTOMATIC = ("auto", "auto-phrases")
VECTORS_OF = "vectors of "  # items: the name of the features, of which there are none, of items with vectors alone
FEWEST_WORDS, MOST_WORDS = 50_000, 25_000_000  # of a collection that gets contexts automatically
MOST_RELATIONS = 1000  # in one index
MOST_LOOKED_UP = 20_000  # features whose fields are looked up one by one
MOST_WRITES = 1 << 62  # of a file that is not damaged
IDS_OF_ANY_FILE = 1 << 20  # ids that a file of any size may use; others may use a fourth of their bytes


@dataclass
class Relation(Bound):
    """Items x features as stored. `stamp` identifies the content: a new random number after each change."""

    id: int
    items: Vocabulary
    features: Vocabulary
    analyzer: str | None  # its specification; None for a relation that is not text
    revision: int
    stamp: int
    contexts: str = "off"  # one of CONTEXTS
    columns: str | None = None  # JSON: the dimensions of items that numbers describe
    fields: tuple[FeatureField, ...] = ()  # of the features, beside the first one
    weights: dict[str, float] = field(default_factory=dict)  # of fields, in questions that do not say
    is_replaced: bool = False  # whether all items go in the present transaction
    is_altered: bool = False  # whether it is made, or gets other settings, in the present transaction

    def within(self, cursor: sqlite3.Cursor | None) -> Self:
        """The same, with its vocabularies, in another transaction; None: outside of any."""
        own = super().within(cursor)
        own.items, own.features = self.items.within(cursor), self.features.within(cursor)
        return own

    @property
    def history(self) -> History:
        """What earlier writes changed."""
        return History(self.cursor, self.state)

    @property
    def state(self) -> Revision:
        """The present revision."""
        return Revision(self.id, self.revision, self.stamp)

    @property
    def may_have_contexts(self) -> bool:
        """Whether texts are kept for contexts, not just for surface forms."""
        return self.contexts not in ("off", "forms")

    @property
    def wants_contexts(self) -> bool:
        """Whether a collection has contexts: by its setting, or automatically by its number of words."""
        if self.contexts not in AUTOMATIC:
            return self.contexts in ("on", "phrases")
        return FEWEST_WORDS <= self.frequencies.sums()[1] <= MOST_WORDS

    @property
    def may_be_given_contexts(self) -> bool:
        """Whether a collection has no contexts just because nobody asked for them, and it has few words, or many."""
        return self.contexts in AUTOMATIC and not self.wants_contexts

    @property
    def has_phrases(self) -> bool:
        """Whether phrases are items beside words, where words have contexts."""
        return self.contexts in ("auto-phrases", "phrases")

    @property
    def has_vectors_alone(self) -> bool:
        """Whether nothing but vectors describes the items."""
        return plain_name(self.features.name) == VECTORS_OF + plain_name(self.items.name)

    @property
    def ranked(self) -> list[Vocabulary]:
        """What it can rank: the items, and the features, unless numbers or vectors alone describe the items."""
        return [self.items] if self.columns is not None or self.has_vectors_alone else [self.items, self.features]

    @property
    def forward(self) -> ForwardLists:
        """item -> features."""
        return ForwardLists(self.cursor, self.id, self.items.next_id, self.features.next_id)

    @property
    def frequencies(self) -> Frequencies:
        """Of the features."""
        return Frequencies(self.cursor, self.id, self.features.next_id)

    @property
    def first_field(self) -> str:
        """The name of the field whose features have no prefix."""
        return TEXT_FIELD if self.analyzer is not None else plain_name(self.features.name)

    @property
    def field_names(self) -> tuple[str, ...]:
        """The names of all fields; none if there is only the first one."""
        return (self.first_field, *(own.name for own in self.fields)) if self.fields else ()

    def fields_of(self, features: Ints) -> Ints:
        """The places of the fields of some features among all fields, `(n,)`: 0 for the first one."""
        places = {own.name: place for place, own in enumerate(self.fields, 1)}
        if len(features) <= MOST_LOOKED_UP:
            names = self.features.stored(features.tolist())
            heads = (names.get(id, ("", None))[0].partition(MARK) for id in features.tolist())
            return np.array([places.get(head, 0) if mark else 0 for head, mark, _ in heads], np.int64)
        return self.fields_of_all()[features]

    def fields_of_all(self) -> Ints:
        """The same of all features, by their ids, `(n_features,)`."""
        of_feature = np.zeros(self.features.next_id, np.int64)
        for place, own in enumerate(self.fields, 1):
            of_feature[self.features.between(own.prefix, own.after)] = place
        return of_feature

    def forget_fields(self) -> None:
        """Leave out the fields that no item has."""
        has = (
            "select exists (select 1 from setsearch_name where kind = ? and name >= ? and name < ?) "
            "or exists (select 1 from setsearch_field_number where relation = ? and field = ?)"
        )
        self.fields = tuple(
            own
            for own in self.fields
            if self.cursor.execute(has, (self.features.id, own.prefix, own.after, self.id, own.name)).fetchone() == (1,)
        )

    @property
    def label(self) -> str:
        """The names of both sides, for messages."""
        return f"{self.items.name} x {self.features.name}"

    def clear(self) -> None:
        """Delete all items and features; the caller writes next, and so saves."""
        self.forward.clear()
        self.frequencies.clear()
        # Arrays without a generation go when the next one is made.
        for table in ("text", "columns", "numbers", "field_number", "generation"):
            self.cursor.execute(f"delete from setsearch_{table} where relation = ?", (self.id,))
        for vocabulary in (self.items, self.features):
            vocabulary.clear()
        self.fields = ()  # their weights stay, by name
        self.is_replaced = True

    def start_anew(self) -> None:
        """Start a revision in which all items are others: what was derived before counts for none of them."""
        self.cursor.execute("delete from setsearch_generation where relation = ?", (self.id,))
        self.is_replaced = True
        self.save()

    def save(self, changes: Changed | None = None) -> None:
        """Start a new revision, in which some items changed; None: all of them."""
        self.items.save()
        self.features.save()
        self.revision += 1
        self.stamp = self.history.append(None if self.is_replaced else changes)
        self.cursor.execute(
            "update setsearch_relation set revision = ?, stamp = ?, fields = ? where id = ?",
            (self.revision, self.stamp, dump_fields(self.fields, self.weights), self.id),
        )


def load_relations(cursor: sqlite3.Cursor, collection: str = "") -> list[Relation]:
    """The relations of a collection; without its name, all."""
    for table, most in (("relation", MOST_RELATIONS), ("kind", 2 * MOST_RELATIONS)):
        (count,) = cursor.execute(f"select count(*) from setsearch_{table}").fetchone()
        if count > most:
            raise CorruptIndex(f"{count:,} rows of setsearch_{table} are more than an index can have; {REPAIR_HINT}")
    stored = {
        id: rest for id, *rest in cursor.execute("select id, name, size, peak, vectors, whole from setsearch_kind")
    }
    rows = cursor.execute(
        "select id, items, features, analyzer, revision, stamp, contexts, columns, fields from setsearch_relation "
        "order by id"
    ).fetchall()
    most = most_ids(cursor)
    vocabularies: dict[int, Vocabulary] = {}
    relations = []
    for id, items, features, analyzer, revision, stamp, contexts, columns, fields in rows:
        for kind in (items, features):
            if kind not in vocabularies:
                vocabularies[kind] = _make_vocabulary(kind, stored.get(kind), most)
        kinds = vocabularies[items], vocabularies[features]
        relation = Relation(id, *kinds, analyzer, revision, stamp, contexts, columns, *load_fields(fields))
        if relation.contexts not in CONTEXTS:
            raise CorruptIndex(f"the contexts of {relation.items.name} are {relation.contexts!r:.40}; index it again")
        if {type(revision), type(stamp)} != {int} or not 0 <= revision < MOST_WRITES:
            raise CorruptIndex(f"{relation.items.name} are at revision {revision!r:.40}, {stamp!r:.40}; index it again")
        relation.features.titles_shown = relation.contexts != "off" and " " in (relation.analyzer or "")
        relation.features.others = tuple(own.prefix for own in relation.fields)
        relation.features.has_ngrams = "-grams" in (relation.analyzer or "")
        relations.append(relation.within(cursor))
    return of_collection(relations, collection) if collection else relations


def relations_by_reading(relations: Sequence[Relation]) -> dict[str, Relation]:
    """The names of what can be ranked, each with its relation."""
    return {kind.name: relation for relation in relations for kind in relation.ranked}


def find_again(cursor: sqlite3.Cursor, name: str) -> Relation:
    """The relation that ranked what has this name, in another transaction; raises UnknownReading."""
    relation = relations_by_reading(load_relations(cursor)).get(name)
    if relation is None:
        raise UnknownReading(f"the index no longer has {name!r}; index it again")
    return relation


def of_collection(relations: Sequence[Relation], collection: str) -> list[Relation]:
    """The relations of a collection."""
    return [relation for relation in relations if collection_of(relation.items.name) == collection]


def find_relation(relations: Sequence[Relation], names: tuple[str, str] | None, collection: str) -> Relation | None:
    """The relation of a collection with these names, or its only one; None if there is none.

    Raises InvalidItem, InvalidParameter.
    """
    if names is None:
        relations = of_collection(relations, collection)
        if len(relations) > 1:
            raise InvalidItem(
                f"the index holds several relations, {', '.join(r.label for r in relations)}; name `items` of one"
            )
        return relations[0] if relations else None
    if not (isinstance(names, tuple) and len(names) == 2 and all(map(is_storable, names))):
        raise InvalidParameter(f"a relation is two names such as ('film', 'user'), not {names!r}")
    items, features = (name_in(collection, name) for name in names)
    return next((r for r in relations if (r.items.name, r.features.name) == (items, features)), None)


def most_ids(cursor: sqlite3.Cursor) -> int:
    """How many ids of one kind may be in a file of this size."""
    (pages,), (size,) = (cursor.execute(f"pragma {name}").fetchone() for name in ("page_count", "page_size"))
    return max(IDS_OF_ANY_FILE, int(pages) * int(size) // 4)  # sqlcipher3 gives texts


def _make_vocabulary(id: int, row: list[Any] | None, most: int) -> Vocabulary:
    """A vocabulary as stored; refuses sizes for which arrays would not fit into memory."""
    if row is None:
        raise CorruptIndex(f"a relation refers to a vocabulary, {id}, that is missing; index the collection again")
    name, size, next_id, vectors, whole = row
    if not (0 <= size <= most and 0 <= next_id <= most):
        raise CorruptIndex(f"{size} {name!r:.40} with ids below {next_id} cannot fit into this file; {REPAIR_HINT}")
    return Vocabulary(id, name, size, next_id, vectors=vectors, whole=bool(whole))


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
    taken = {name: r.label for r in load_relations(cursor) for name in (r.items.name, r.features.name)}
    for name in filter(taken.get, (items, features)):
        raise NameTaken(f"{name!r} already names a side of {taken[name]}; give both names so, or use other names")
    statement = "insert into setsearch_kind (name) values (?)"
    ids = [cursor.execute(statement, (name,)).lastrowid for name in (items, features)]
    cursor.execute(
        "insert into setsearch_relation (items, features, analyzer, contexts, columns) values (?, ?, ?, ?, ?)",
        (*ids, analyzer, contexts, None if columns is None else json.dumps(list(columns))),
    )
    (relation,) = [r for r in load_relations(cursor) if (r.items.name, r.features.name) == (items, features)]
    relation.is_altered = True
    return relation


def delete_relation(relation: Relation) -> None:
    """Delete a relation with its two vocabularies; sources are `drop_source`'s."""
    cursor = relation.cursor
    relation.clear()
    cursor.execute("delete from setsearch_revision where relation = ?", (relation.id,))
    cursor.execute("delete from setsearch_relation where id = ?", (relation.id,))
    for vocabulary in (relation.items, relation.features):
        cursor.execute("delete from setsearch_vector where kind = ?", (vocabulary.id,))
        cursor.execute("delete from setsearch_kind where id = ?", (vocabulary.id,))
