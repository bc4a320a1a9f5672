"""The readings of a database: which relations a query uses, and whether contexts are up to date."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from setsearch.errors import LockedDatabase, NoIndex, ReadOnlyDatabase, SetsearchError, UnknownReading
from setsearch.models.defaults import NUMBERS, Defaults, defaults_for
from setsearch.search.fields import Field, Fields
from setsearch.search.snapshot import Snapshot
from setsearch.storage.analyzers import Analyzers
from setsearch.storage.database import Database
from setsearch.storage.relation import Relation, current_stamp, load_derived, load_relations, wants_contexts
from setsearch.text.analyzer import Analyzer

COEFFICIENTS = {"contexts win2": 1.0, "contexts skip": 1.0, "contexts lists": 0.3, "documents": 0.3}
ATTEMPTS = 5  # to find contexts as new as the texts while others write
BY = {
    "documents": (),
    "contexts": ("contexts win2", "contexts skip", "contexts lists"),
    "both": ("contexts win2", "contexts skip", "contexts lists", "documents"),
}

FieldsBy = Callable[[str], Fields | None]  # the fields of a key of BY; None without contexts
DeriveContexts = Callable[[sqlite3.Cursor, Relation, Analyzer], None]


class _Content:
    """The snapshots of one reading at one stamp. Threads share it."""

    def __init__(self, relation: Relation, name: str, analyzer: Analyzer | None, has_contexts: bool) -> None:
        self.relation = relation
        self.name = name
        self.analyzer = analyzer
        self.has_contexts = has_contexts
        self._snapshots: dict[str, tuple[tuple[Snapshot, float], ...]] = {}

    @property
    def is_current(self) -> bool:
        """Whether contexts and surface forms, if the collection has them, belong to the present texts."""
        needs_texts = self.has_contexts or has_surface_forms(self.relation)
        return not needs_texts or self.relation.contexts_stamp == self.relation.stamp

    def fields(self, cursor: sqlite3.Cursor, by: str) -> Fields | None:
        """The fields that `by` names, for one transaction; None without contexts."""
        if by not in self._snapshots:
            self._snapshots[by] = self._load(cursor, by)
        snapshots = self._snapshots[by]
        if not snapshots:
            return None
        return Fields(tuple(Field(snapshot, cursor, weight) for snapshot, weight in snapshots), self.analyzer)

    def unsaved(self) -> list[Snapshot]:
        """The snapshots with derived values that the file does not hold yet."""
        return [snapshot for pairs in self._snapshots.values() for snapshot, _ in pairs if snapshot.unsaved]

    def _load(self, cursor: sqlite3.Cursor, by: str) -> tuple[tuple[Snapshot, float], ...]:
        if by == "documents":
            return ((Snapshot(self.relation, transposed=self.relation.features.name == self.name), 1.0),)
        derived = load_derived(cursor, self.relation) if self.has_contexts else {}
        loaded = {s.relation.features.name: s for pairs in self._snapshots.values() for s, _ in pairs}
        return tuple(
            (loaded.get(name) or Snapshot(derived[name], False), COEFFICIENTS[name])
            for name in BY[by]
            if name in derived
        )


class Readings:
    """The readings of a database. Threads may share it.

    `derive_contexts` makes contexts from texts; asking a question needs nothing else of indexing.
    """

    def __init__(self, database: Database, analyzers: Analyzers, derive_contexts: DeriveContexts) -> None:
        self._database = database
        self._analyzers = analyzers
        self._derive_contexts = derive_contexts
        self._contents: dict[str, _Content] = {}

    def find(self, name: str | None) -> tuple[str, Relation]:
        """A reading by the name of its items, the default one for None; raises UnknownReading."""
        with self._database.read() as cursor:
            relations = load_relations(cursor)
        name = default_reading(relations, str(self._database)) if name is None else name
        known = relations_by_reading(relations)
        if name not in known:
            raise UnknownReading(f"the index has no {name!r}; it has {', '.join(known) or 'nothing yet'}")
        return name, known[name]

    @contextmanager
    def relation(self, name: str) -> Iterator[tuple[sqlite3.Cursor, Relation]]:
        """A read transaction, and the relation of a reading in it."""
        with self._database.read() as cursor:
            yield cursor, _find_again(cursor, name)

    @contextmanager
    def open(self, name: str, contexts: bool) -> Iterator[FieldsBy]:
        """The fields of a reading within one read transaction; with `contexts`, these are as new as the texts."""
        content = None
        for _ in range(ATTEMPTS):
            with self._database.read() as cursor:
                content = self._content(cursor, name, contexts)
                if not contexts or content.is_current:
                    yield partial(content.fields, cursor)
                    break
            try:
                self.update_contexts(name)
            except (LockedDatabase, ReadOnlyDatabase) as error:
                raise type(error)(
                    f"the contexts of {name} are older than their texts and cannot be derived now ({error}); "
                    "expand by documents, or try later"
                ) from error
        else:
            raise LockedDatabase(f"{self._database} is written to so often that contexts are never up to date")
        for snapshot in content.unsaved():
            self._save(snapshot)

    def update_contexts(self, name: str) -> None:
        """Derive the contexts of a collection if its texts have changed."""
        with self._database.read() as cursor:
            if not _is_outdated(relations_by_reading(load_relations(cursor)).get(name)):
                return
        with self._database.write() as cursor:
            relation = relations_by_reading(load_relations(cursor)).get(name)
            if relation is not None and _is_outdated(relation):
                self._derive_contexts(cursor, relation, self._analyzers.of(relation))

    def _content(self, cursor: sqlite3.Cursor, name: str, contexts: bool) -> _Content:
        content = self._contents.get(name)
        is_outdated = content is not None and contexts and not content.is_current
        if content is None or is_outdated or current_stamp(cursor, content.relation.id) != content.relation.stamp:
            relation = _find_again(cursor, name)
            analyzer = self._analyzers.of(relation) if relation.analyzer else None
            content = _Content(relation, name, analyzer, _has_contexts(cursor, relation))
            self._contents[name] = content
        return content

    def _save(self, snapshot: Snapshot) -> None:
        """Store derived values in our own file if it can be written now: the next process starts faster."""
        values, snapshot.unsaved = snapshot.unsaved, {}
        if self._database.path is None:
            return
        database = Database(self._database.path, timeout=0)
        try:
            with database.write() as cursor:
                snapshot.relation.save_derived_values(cursor, snapshot.items.name, values)
        except SetsearchError:
            pass  # locked or read-only: the values will be derived again
        finally:
            database.close()


def _has_contexts(cursor: sqlite3.Cursor, relation: Relation) -> bool:
    if relation.contexts_stamp == relation.stamp:  # decided when they were derived
        return bool(load_derived(cursor, relation))
    return relation.may_have_contexts and wants_contexts(cursor, relation)


def _is_outdated(relation: Relation | None) -> bool:
    return relation is not None and relation.contexts != "off" and relation.contexts_stamp != relation.stamp


def _find_again(cursor: sqlite3.Cursor, name: str) -> Relation:
    relation = relations_by_reading(load_relations(cursor)).get(name)
    if relation is None:
        raise UnknownReading(f"the index no longer has {name!r}")
    return relation


def relations_by_reading(relations: Sequence[Relation]) -> dict[str, Relation]:
    """The names of all readings, each with its relation."""
    return {
        vocabulary.name: relation
        for relation in relations
        for vocabulary in (relation.items, relation.features)
        if relation.columns is None or vocabulary is relation.items
    }


def describe_readings(relation: Relation) -> list[dict[str, Any]]:
    """The readings of a relation as `Index.info` shows them."""
    return [
        {
            "items": items.name,
            "features": features.name,
            "item_count": items.size,
            "feature_count": features.size,
            "text": relation.analyzer is not None,
            "defaults": defaults_of(relation, items.name).describe(),
        }
        for items, features in ((relation.items, relation.features), (relation.features, relation.items))
        if items.name in relations_by_reading([relation])
    ]


def defaults_of(relation: Relation, name: str) -> Defaults:
    """The defaults of a reading."""
    if relation.columns is not None:
        return NUMBERS
    return defaults_for(name, relation.features.name, relation.analyzer is not None)


def default_reading(relations: Sequence[Relation], database: str) -> str:
    """The terms of a text collection, else the items of the first relation; raises NoIndex."""
    if not relations:
        raise NoIndex(f"{database} holds no setsearch index; `setsearch index {database} SOURCE` creates one")
    first = relations[0]
    return first.features.name if first.analyzer else first.items.name


def has_surface_forms(relation: Relation) -> bool:
    """Whether terms are stems that are shown by their surface forms."""
    return relation.features.titles_shown
