"""Which fields answer a question: readings of the relations that were given, and words by their contexts."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from setsearch.errors import LockedDatabase, NoIndex, ReadOnlyDatabase, SetsearchError, UnknownReading
from setsearch.models.defaults import NUMBERS, Profile, profile_for
from setsearch.search.fields import Field, Fields
from setsearch.search.snapshot import Snapshot
from setsearch.storage.database import Database
from setsearch.storage.relation import Relation, current_stamp, load_derived, load_relations
from setsearch.text.analyzer import Analyzer

WEIGHTS = {"contexts win2": 1.0, "contexts skip": 1.0, "contexts lists": 0.3, "documents": 0.3}  # in the score
ATTEMPTS = 5  # to find the contexts as new as the texts while others write
BY = {
    "documents": (),
    "contexts": ("contexts win2", "contexts skip", "contexts lists"),
    "both": ("contexts win2", "contexts skip", "contexts lists", "documents"),
}


class Opened(NamedTuple):
    """A reading at one stamp of its relation; within a transaction, with `cursor`, it can be asked."""

    relation: Relation
    name: str
    analyzer: Analyzer | None
    contexts: bool  # whether the collection is one to have contexts
    kept: dict[str, tuple[Field, ...]]
    cursor: sqlite3.Cursor | None = None

    @property
    def fresh(self) -> bool:
        """Whether contexts, if they are wanted, are those of the present texts."""
        return not (self.contexts or has_forms(self.relation)) or self.relation.contexts_stamp == self.relation.stamp

    def snapshots(self) -> list[Snapshot]:
        """All that were asked."""
        return [field.snapshot for fields in self.kept.values() for field in fields]

    def fields(self, by: str) -> Fields | None:
        """The fields that `by` names; None where there are no contexts."""
        assert self.cursor is not None
        if by not in self.kept:
            self.kept[by] = self._load(self.cursor, by)
        found = self.kept[by]
        return Fields(self.cursor, found[0].snapshot, found, self.analyzer) if found else None

    def _load(self, cursor: sqlite3.Cursor, by: str) -> tuple[Field, ...]:
        if by == "documents":
            return (Field(Snapshot(self.relation, transposed=self.relation.features.name == self.name)),)
        derived = load_derived(cursor, self.relation) if self.contexts else {}
        shared = {field.snapshot.relation.features.name: field for fields in self.kept.values() for field in fields}
        return tuple(
            shared.get(kind) or Field(Snapshot(derived[kind], False), WEIGHTS[kind])
            for kind in BY[by]
            if kind in derived
        )


class Views:
    """The readings of a database. Threads may share it."""

    def __init__(self, database: Database, analyzer_of: Callable[[Relation], Analyzer]) -> None:
        self._database = database
        self._analyzer_of = analyzer_of
        self._kept: dict[str, Opened] = {}

    def find(self, name: str | None) -> tuple[str, Relation]:
        """A reading by the name of what it ranks, the default one for None; raises UnknownReading."""
        with self._database.read() as cursor:
            relations = load_relations(cursor)
        name = default_reading(relations, str(self._database)) if name is None else name
        known = readings_of(relations)
        if name not in known:
            raise UnknownReading(f"the index has no {name!r}; it has {', '.join(known) or 'nothing yet'}")
        return name, known[name]

    @contextmanager
    def relation(self, name: str) -> Iterator[tuple[sqlite3.Cursor, Relation]]:
        """A read transaction, and a relation as it is in it."""
        with self._database.read() as cursor:
            yield cursor, _still_there(cursor, name)

    @contextmanager
    def open(self, name: str, contexts: bool) -> Iterator["Opened"]:
        """A read transaction in which a reading can be asked; with `contexts`, these are as new as the texts."""
        opened = None
        for _ in range(ATTEMPTS):
            with self._database.read() as cursor:
                opened = self._opened(cursor, name, contexts)
                if not contexts or opened.fresh:
                    yield opened
                    break
            try:
                self.refresh(name)
            except (LockedDatabase, ReadOnlyDatabase) as error:
                raise type(error)(
                    f"the contexts of {name} are older than their texts, and cannot be read again now ({error}); "
                    "expand by documents, or later"
                ) from error
        else:
            raise LockedDatabase(f"{self._database} is written to so often that contexts are never up to date")
        for snapshot in opened.snapshots():
            if snapshot.unsaved:
                self._remember(snapshot)

    def refresh(self, name: str) -> None:
        """Read the contexts of a collection again if it has changed."""
        with self._database.read() as cursor:
            relation = readings_of(load_relations(cursor)).get(name)
            if relation is None or relation.contexts == "off" or relation.contexts_stamp == relation.stamp:
                return
        with self._database.write() as cursor:
            relation = readings_of(load_relations(cursor)).get(name)
            if relation is not None and relation.contexts != "off" and relation.contexts_stamp != relation.stamp:
                from setsearch.indexing.contexts import build

                build(cursor, relation, self._analyzer_of(relation))

    def _opened(self, cursor: sqlite3.Cursor, name: str, contexts: bool) -> Opened:
        known = self._kept.get(name)
        outdated = known is not None and contexts and not known.fresh
        if known is None or outdated or current_stamp(cursor, known.relation.id) != known.relation.stamp:
            relation = _still_there(cursor, name)
            analyzer = self._analyzer_of(relation) if relation.analyzer else None
            known = Opened(relation, name, analyzer, self._wants_contexts(cursor, relation), {})
            self._kept[name] = known
        return known._replace(cursor=cursor)

    def _wants_contexts(self, cursor: sqlite3.Cursor, relation: Relation) -> bool:
        if relation.contexts_stamp == relation.stamp:  # it was decided when they were read
            return bool(load_derived(cursor, relation))
        if not relation.may_have_contexts:
            return False
        from setsearch.storage.relation import worthwhile

        return worthwhile(cursor, relation)

    def _remember(self, snapshot: Snapshot) -> None:
        """Keep what was derived in our own file, if it can be written now: the next process starts faster."""
        values, snapshot.unsaved = snapshot.unsaved, {}
        if self._database.path is None:
            return
        aside = Database(self._database.path, timeout=0)
        try:
            with aside.write() as cursor:
                snapshot.relation.remember(cursor, snapshot.items.name, values)
        except SetsearchError:
            pass  # locked or read-only: it will be derived again
        finally:
            aside.close()


def _still_there(cursor: sqlite3.Cursor, name: str) -> Relation:
    relation = readings_of(load_relations(cursor)).get(name)
    if relation is None:
        raise UnknownReading(f"the index no longer has {name!r}")
    return relation


def readings_of(relations: Sequence[Relation]) -> dict[str, Relation]:
    """The names of all readings, each with its relation."""
    return {
        kind.name: relation
        for relation in relations
        for kind in (relation.items, relation.features)
        if relation.columns is None or kind is relation.items
    }


def described(relation: Relation) -> list[dict[str, Any]]:
    """What people are told of the readings of a relation."""
    return [
        {
            "items": kind.name,
            "features": other.name,
            "item_count": kind.size,
            "feature_count": other.size,
            "text": relation.analyzer is not None,
            "defaults": profile_of(relation, kind.name).describe(),
        }
        for kind, other in ((relation.items, relation.features), (relation.features, relation.items))
        if kind.name in readings_of([relation])
    ]


def profile_of(relation: Relation, name: str) -> Profile:
    """The defaults of a reading."""
    if relation.columns is not None:
        return NUMBERS
    return profile_for(name, relation.features.name, relation.analyzer is not None)


def default_reading(relations: Sequence[Relation], place: str) -> str:
    """The terms of a text collection, else the items of the first relation."""
    if not relations:
        raise NoIndex(f"{place} holds no setsearch index; `setsearch index {place} SOURCE` makes one")
    first = relations[0]
    return first.features.name if first.analyzer else first.items.name


def has_forms(relation: Relation) -> bool:
    """Whether terms are stems that are shown as readers wrote them."""
    return relation.features.titles_shown
