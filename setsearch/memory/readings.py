"""The readings of a database: which lists and contexts answer a question, and how old they may be."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any

from setsearch.errors import LostArrays, SetsearchError, TakenOver, UnknownReading
from setsearch.lists import LOCK
from setsearch.memory.catalog import default_reading, defaults_of, find_again, relations_by_reading
from setsearch.memory.content import RelationContent
from setsearch.memory.fields import Field, Fields
from setsearch.memory.freshness import Fresh, is_fresh
from setsearch.memory.names import WordVocabulary
from setsearch.memory.shared import Memory, Version
from setsearch.memory.word_contexts import COEFFICIENTS, WordContexts, read_contexts, read_sizes
from setsearch.models.values import ValueRule
from setsearch.sqlite.database import Database
from setsearch.sqlite.transactions import Transaction
from setsearch.storage.analyzers import Analyzers
from setsearch.storage.generations import CONTEXTS, LISTS, Generation, delete_generation, find_generation
from setsearch.storage.ids import name_in
from setsearch.storage.relation import Relation, load_relations, wants_contexts
from setsearch.storage.revisions import changed_items

BY = {"documents": (), "contexts": tuple(COEFFICIENTS)[:-1], "both": tuple(COEFFICIENTS)}
REST = 0.05  # seconds between two looks at whether another process has derived
VERSIONS = 2  # of a relation that stay in memory: a host may roll back to the one before
MERGED_SHARE, FEW_TO_MERGE = 1 / 100, 100  # changed items up to which stored lists are brought up to date when read

FieldsBy = Callable[[str], Fields | None]  # the fields of a key of BY; None without contexts


class Readings:
    """The readings of a database. Threads may share it."""

    def __init__(self, database: Database, analyzers: Analyzers, memory: Memory) -> None:
        self._database = database
        self._analyzers = analyzers
        self._memory = memory

    def find(self, name: str | None, collection: str = "") -> tuple[str, Relation]:
        """A reading of a collection by the name of its items, its default one for None; raises UnknownReading."""
        with self._database.read() as cursor:
            relations = load_relations(cursor)
        default = None if name is not None else default_reading(relations, str(self._database), collection)
        name = name_in(collection, name) if name is not None else default
        known = relations_by_reading(relations)
        if name is None or name not in known:
            raise UnknownReading(f"the index has no {name!r}; it has {', '.join(known) or 'nothing yet'}")
        return name, known[name]

    def transaction(self) -> Transaction:
        """A read transaction."""
        return self._database.read()

    @contextmanager
    def relation(self, name: str) -> Iterator[tuple[sqlite3.Cursor, Relation]]:
        """A read transaction, and the relation of a reading in it."""
        with self._database.read() as cursor:
            yield cursor, find_again(cursor, name)

    def open(self, name: str, contexts: bool, fresh: Fresh = None) -> "Opened":
        """The fields of a reading within one read transaction; with `contexts`, these are as new as `fresh` says.

        After a LostArrays the next call derives again.
        """
        return Opened(self, name, contexts, fresh)

    def forget(self, name: str, lost: int | None) -> None:
        """Use nothing that memory holds of a reading: some of the generation `lost` turned out to be damaged, or gone.

        That one is deleted from our own file, if this can be written now: another process derives it again.
        """
        with self._database.read() as cursor, LOCK:
            relation = find_again(cursor, name)
            self._memory.versions.pop(relation.id, None)
            self._memory.contexts.pop(relation.id, None)
            if lost is None:
                return
            self._memory.distrusted.add(lost)

        def delete(database: Database) -> None:
            """Delete what was stored, for all processes."""
            with database.write() as cursor:
                delete_generation(cursor, lost)

        self._write_own(delete)

    def update_contexts(self, name: str, fresh: Fresh, required: bool = False) -> None:
        """Derive the contexts of a collection if there are none, or these lack more than `fresh` allows.

        Only one process derives; others wait for it. One that loses this right, since it slept for too long, tries once
        more; then the last contexts stay. `required` raises what keeps them from being stored, and also derives those
        anew that an earlier version made with fewer fields.
        """
        was_lost = False
        while True:
            with self._memory.deriving:
                with self._database.read() as cursor:  # another thread may have derived
                    version = self.version(cursor, name)
                    contexts = self._word_contexts(cursor, version) if required else None
                    is_complete = contexts is None or contexts.is_complete
                    if is_complete and not self.needs_contexts(cursor, version, fresh):
                        return
                try:
                    if self._derive(name, version, required):
                        return
                except TakenOver:
                    if was_lost and required:
                        raise
                    if was_lost:
                        return
                    was_lost = True
            time.sleep(REST)

    def _derive(self, name: str, version: Version, required: bool) -> bool:
        """Derive contexts; False if another process is at work."""
        from setsearch.memory.derivation import derive_contexts

        relation = version.relation
        rule = _default_rule(relation, relation.features.name)
        assert version.analyzer is not None
        find = partial(find_again, name=name)
        contexts = derive_contexts(self._database, find, (version.analyzer, rule), required)
        if contexts is None:
            return False
        with LOCK:
            self._memory.contexts[relation.id] = contexts
            if relation.features.titles_shown:
                self._memory.versions.pop(relation.id, None)  # its titles are older
        return True

    def refresh(self, name: str, fresh: Fresh) -> None:
        """Store the lists again if much of them has changed, and contexts that lack more than `fresh` allows."""
        self.update_contexts(name, fresh, required=True)
        with self._database.read() as cursor:
            version = self.version(cursor, name)
            if self._is_near(cursor, version.relation, LISTS):
                return
            content = self._content(cursor, version)
            for forward in (True, False):
                content.read(cursor, forward)
        self._store_lists(self._database, version)

    def is_behind(self, name: str) -> bool:
        """Whether lists or contexts were never derived, or so much has changed since that it is time to do it again."""
        with self._database.read() as cursor:
            version = self.version(cursor, name)
            kinds = (LISTS, CONTEXTS) if self._wants_contexts(cursor, version) else (LISTS,)
            return not all(self._is_near(cursor, version.relation, kind) for kind in kinds)

    def _is_near(self, cursor: sqlite3.Cursor, relation: Relation, kind: str) -> bool:
        """Whether little has changed since lists or contexts were derived."""
        generation = self._trusted(find_generation(cursor, relation.id, kind))
        changed = None if generation is None else changed_items(cursor, relation.state, generation.state)
        return changed is not None and len(changed) <= max(FEW_TO_MERGE, MERGED_SHARE * relation.items.size)

    def words(self, cursor: sqlite3.Cursor, relation: Relation) -> WordVocabulary | None:
        """The words of a collection that have contexts, as they are now; None without contexts."""
        contexts = self._word_contexts(cursor, self.version(cursor, relation.items.name))
        return None if contexts is None or not contexts.snapshots else contexts.words

    def describe_contexts(self, cursor: sqlite3.Cursor, relation: Relation) -> dict[str, Any]:
        """The number of words with contexts and of the contexts, and how old these are; empty without contexts."""
        version = self.version(cursor, relation.items.name)
        generation = self._trusted(find_generation(cursor, relation.id, CONTEXTS))
        if generation is not None and relation.contexts != "off" and relation.id not in self._memory.contexts:
            try:
                words, sizes = read_sizes(cursor, generation)
            except LostArrays:
                self._distrust(generation)
                return {}
            count = len(words)
        else:
            contexts = self._word_contexts(cursor, version)
            if contexts is None:
                return {}
            generation, count, sizes = contexts.generation, contexts.words.size, contexts.sizes
        if not sizes:
            return {}
        return {
            "terms": count,
            "revision": generation.revision,
            "up_to_date": generation.stamp == relation.stamp,
            "phrases": relation.has_phrases,
        } | {name.split()[-1]: size for name, size in sizes.items()}

    def needs_contexts(self, cursor: sqlite3.Cursor, version: Version, fresh: Fresh) -> bool:
        """Whether contexts are to be derived: there are none, or these lack more than `fresh` allows."""
        contexts = self._word_contexts(cursor, version)
        if contexts is not None:
            return not is_fresh(cursor, version.relation, contexts.generation, fresh)
        return self._wants_contexts(cursor, version)

    def _wants_contexts(self, cursor: sqlite3.Cursor, version: Version) -> bool:
        """Whether something is to be derived from the texts: contexts of words, or the shown forms of stems."""
        relation = version.relation
        if relation.contexts == "off":
            return False
        if version.wants_contexts is None:
            version.wants_contexts = relation.may_have_contexts and wants_contexts(cursor, relation)
        return version.wants_contexts or relation.features.titles_shown

    def _word_contexts(self, cursor: sqlite3.Cursor, version: Version) -> WordContexts | None:
        """The contexts of a collection: those that the file holds, or those that only memory does."""
        relation = version.relation
        if relation.contexts == "off":
            return None
        generation = self._trusted(find_generation(cursor, relation.id, CONTEXTS))
        with LOCK:
            known = self._memory.contexts.get(relation.id)
            in_memory = known if known is not None and known.is_in_memory else None
            if in_memory is not None and in_memory.generation.stamp == relation.stamp:
                return in_memory
            if generation is None:
                is_earlier = in_memory and changed_items(cursor, relation.state, in_memory.generation.state) is not None
                return in_memory if is_earlier else None  # else of a write that was rolled back, or of other texts
            if known is None or known.generation.id != generation.id:
                try:
                    self._memory.contexts[relation.id] = known = read_contexts(cursor, generation)
                except LostArrays:
                    self._distrust(generation)
                    return None
                if relation.features.titles_shown:
                    self._memory.versions[relation.id] = [version]
            return known

    def _trusted(self, generation: Generation | None) -> Generation | None:
        return None if generation is None or generation.id in self._memory.distrusted else generation

    def version(self, cursor: sqlite3.Cursor, name: str) -> Version:
        """The relation of a reading as this transaction sees it."""
        with LOCK:
            for versions in self._memory.versions.values():
                relation = versions[-1].relation
                if name in (relation.items.name, relation.features.name):
                    row = cursor.execute("select stamp from setsearch_relation where id = ?", (relation.id,)).fetchone()
                    for version in versions:
                        if row == (version.relation.stamp,):
                            return version
            relation = find_again(cursor, name)
            analyzer = self._analyzers.of(relation) if relation.analyzer else None
            version = Version(relation, analyzer)
            self._memory.versions[relation.id] = [*self._memory.versions.get(relation.id, []), version][-VERSIONS:]
            return version

    def _content(self, cursor: sqlite3.Cursor, version: Version) -> RelationContent:
        """The lists of a version: brought up from an earlier one, or loaded."""
        with LOCK:
            if version.content is None:
                try:
                    version.content = self._advance(cursor, version) or RelationContent.load(
                        cursor, version.relation, self._memory.distrusted
                    )
                except LostArrays:
                    self._distrust(find_generation(cursor, version.relation.id, LISTS))
                    version.content = RelationContent.load(cursor, version.relation, self._memory.distrusted)
            return version.content

    def _advance(self, cursor: sqlite3.Cursor, version: Version) -> RelationContent | None:
        for other in reversed(self._memory.versions.get(version.relation.id, [])):
            if other.content is not None:
                content = other.content.advanced(cursor, version.relation)
                if content is not None:
                    return content
        return None

    def _distrust(self, generation: Generation | None) -> None:
        if generation is not None:
            self._memory.distrusted.add(generation.id)

    def fields(self, cursor: sqlite3.Cursor, name: str, version: Version, by: str) -> Fields | None:
        """The fields that `by` names, for one transaction; None without contexts."""
        relation = version.relation
        if by == "documents":
            self._content(cursor, version)
            snapshot = version.snapshot(relation.features.name == name)
            vectors = self._memory.vectors.of(cursor, relation, snapshot.items)
            return Fields((Field(snapshot, cursor),), relation, version.analyzer, vectors=vectors)
        contexts = self._word_contexts(cursor, version)
        if contexts is None or not contexts.snapshots:
            return None
        chosen = [(contexts.snapshots[field], COEFFICIENTS[field]) for field in BY[by] if field in contexts.snapshots]
        fields = tuple(Field(snapshot, cursor, weight) for snapshot, weight in chosen)
        vectors = self._memory.vectors.of(cursor, relation, contexts.words)
        nearest = None if contexts.nearest is None else partial(contexts.nearest.of, cursor)
        revision, uses = contexts.generation.revision, contexts.uses
        return Fields(fields, relation, version.analyzer, revision, vectors=vectors, nearest=nearest, uses=uses)

    def store_first_lists(self, version: Version) -> None:
        """Store the lists in our own file if it has none and can be written now: the next process starts faster."""
        if self._database.path is None:
            return
        with suppress(SetsearchError), self._database.read() as cursor:
            if find_generation(cursor, version.relation.id, LISTS) is not None:
                return
        self._write_own(lambda database: self._store_lists(database, version))

    def _write_own(self, write: Callable[[Database], None]) -> None:
        """Write our own file now, or not at all: a lent connection is written by its owner."""
        if self._database.path is None:
            return
        database = Database(self._database.path, timeout=0)
        with suppress(SetsearchError):
            write(database)
        database.close()

    def _store_lists(self, database: Database, version: Version) -> None:
        from setsearch.memory.derivation import derive_lists

        assert version.content is not None
        rules = [
            (version.snapshot(transposed), _default_rule(version.relation, vocabulary.name))
            for transposed, vocabulary in ((False, version.relation.items), (True, version.relation.features))
        ]
        derive_lists(database, version.content, rules)


class Opened:
    """A context manager for the fields of a reading, by a key of BY, within one read transaction.

    A class is faster than a generator, and every question starts with it.
    """

    __slots__ = ("_contexts", "_cursor", "_fresh", "_name", "_readings", "_transaction", "_version")

    def __init__(self, readings: Readings, name: str, contexts: bool, fresh: Fresh) -> None:
        self._readings, self._name, self._contexts, self._fresh = readings, name, contexts, fresh

    def __enter__(self) -> FieldsBy:
        if not self._begin():
            self._transaction.__exit__(None, None, None)
            self._readings.update_contexts(self._name, self._fresh)
            self._contexts = False
            self._begin()
        return self._fields

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transaction.__exit__(kind, error, trace)
        if isinstance(error, LostArrays):
            self._readings.forget(self._name, error.generation)
        content = self._version.content
        if error is None and content is not None and content.generation is None:
            self._readings.store_first_lists(self._version)

    def _begin(self) -> bool:
        """Begin the transaction; whether the contexts are as new as they should be."""
        self._transaction = self._readings.transaction()
        self._cursor = self._transaction.__enter__()
        try:
            self._version = self._readings.version(self._cursor, self._name)
            return not self._contexts or not self._readings.needs_contexts(self._cursor, self._version, self._fresh)
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise

    def _fields(self, by: str) -> Fields | None:
        return self._readings.fields(self._cursor, self._name, self._version, by)


def _default_rule(relation: Relation, name: str) -> ValueRule:
    """The rule of the default model of a reading."""
    return defaults_of(relation, name).make({}).rule
