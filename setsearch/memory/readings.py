"""The readings of a database: which lists and contexts answer a question, and how old they may be."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from types import TracebackType
from typing import Any, NamedTuple

from setsearch.errors import LostArrays, SetsearchError, TakenOver, UnknownReading
from setsearch.lists import LOCK
from setsearch.memory.array_files import ArrayFiles
from setsearch.memory.catalog import default_reading, defaults_of
from setsearch.memory.content import RelationContent, read_content, state_of
from setsearch.memory.contexts.word_contexts import (
    COEFFICIENTS,
    IN_MEMORY,
    WordContexts,
    contexts_state,
    mapped_arrays,
    read_contexts,
)
from setsearch.memory.fields import Fields
from setsearch.memory.layout import NamedArrays
from setsearch.memory.names.derived import WordVocabulary
from setsearch.memory.names.known import names_to_arrays
from setsearch.memory.process import Memory, Version
from setsearch.models.values import ValueRule
from setsearch.options import Fresh
from setsearch.sqlite.connections import OwnConnection
from setsearch.sqlite.database import Database, Transaction
from setsearch.storage.analyzers import Analyzers
from setsearch.storage.generations import CONTEXTS, LISTS, Generation
from setsearch.storage.ids import name_in
from setsearch.storage.relation import Relation, find_again, load_relations, relations_by_reading

BOTH = tuple(COEFFICIENTS)
BY = {"documents": (), "contexts": tuple(name for name in BOTH if name != "documents"), "both": BOTH}
STORED = "documents"  # the key of the stored relation alone
# The stamp of a relation, and what changes without a new one: the forms in which stems are shown, of which generation
# they are, and where vectors come from.
PRESENT = """
    select stamp,
        (select max(id) from setsearch_generation g where g.relation = r.id and name = 'contexts' and published),
        (select vectors from setsearch_kind where id = items),
        (select vectors from setsearch_kind where id = features) from setsearch_relation r where id = ?
"""
REST = 0.05  # seconds between two looks at whether another process has derived
VERSIONS = 2  # of a relation that stay in memory: a host may roll back to the one before
MERGED_SHARE, FEW_TO_MERGE = 1 / 100, 100  # changed items up to which stored lists are brought up to date when read
UNEXPECTED = ArithmeticError, LookupError, TypeError, ValueError  # of arrays that are not what they were

DERIVED = "derived"  # with whose lock contexts are derived
FieldsBy = Callable[[str], Fields | None]  # the fields of a key of BY; None without contexts


class Opened(NamedTuple):
    """A version, its relation in one transaction, and the fields of it that were asked for, by a key of BY."""

    version: Version
    relation: Relation
    fields: dict[str, Fields | None]
    row: Sequence[Any] = ()  # as PRESENT has it


class Readings:
    """The readings of a database. Threads may share it."""

    def __init__(self, database: Database, analyzers: Analyzers, memory: Memory) -> None:
        self._database = database
        self._analyzers = analyzers
        self._memory = memory
        self.files = ArrayFiles(database, memory)

    def find(self, name: str | None, collection: str = "") -> tuple[str, Relation]:
        """A reading of a collection by the name of its items, its default one for None; raises UnknownReading."""
        with self._database.read() as cursor:
            relations = load_relations(cursor)
        default = None if name is not None else default_reading(relations, str(self._database), collection)
        name = name_in(collection, name) if name is not None else default
        known = relations_by_reading(relations)
        if not isinstance(name, str) or name not in known:
            raise UnknownReading(f"the index has no {name!r}; it has {', '.join(known) or 'nothing yet'}")
        return name, known[name].within(None)

    @contextmanager
    def relation(self, name: str) -> Iterator[Relation]:
        """The relation of a reading in a read transaction."""
        with self._database.read() as cursor:
            yield find_again(cursor, name)

    def open(self, name: str, contexts: bool, fresh: Fresh = None) -> "Opening":
        """The fields of a reading, by a key of BY, within one read transaction.

        With `contexts`, these are as new as `fresh` says. After a LostArrays the next call derives again.
        """
        return Opening(self, name, contexts, fresh)

    def snapshot(self) -> Transaction:
        """A read transaction."""
        return self._database.read()

    def forget(self, name: str) -> None:
        """Use nothing that memory holds of a reading: something in a file of arrays turned out to be damaged.

        If this is our own file, they are deleted, and derived again.
        """
        self._database.unbind()
        with self._database.read() as cursor, LOCK:
            relation = find_again(cursor, name)
            self._memory.versions.pop(relation.id, None)
            self._memory.contexts.pop(relation.id, None)
            self.files.forget(relation)

    def are_damaged(self, name: str) -> bool:
        """Whether a file of arrays that answers for a reading is not as it was written."""
        with self._database.read() as cursor:
            return not self.files.are_intact(find_again(cursor, name))

    def update_contexts(
        self, name: str, fresh: Fresh, required: bool = False, tell: Callable[[float], None] = lambda share: None
    ) -> None:
        """Derive the contexts of a collection if there are none, or these lack more than `fresh` allows.

        Only one process derives; others wait for it. One that loses this right, since it slept for too long, tries once
        more; then the last contexts stay. `required` raises what keeps them from being stored. `tell` gets the share
        that is done.
        """
        was_lost = False
        while True:
            with self._memory.alone(DERIVED):
                with self._database.read() as cursor:  # another thread may have derived
                    opened = self.version(cursor, name)
                    generation = self._memory.contexts.generation(opened.relation) if required else None
                    is_stored = generation is None or generation.id != IN_MEMORY
                    if is_stored and not self.needs_contexts(opened, fresh):
                        return
                try:
                    if self._derive(name, opened.version, required, tell):
                        return
                except TakenOver:
                    if was_lost and required:
                        raise
                    if was_lost:
                        return
                    was_lost = True
            time.sleep(REST)

    def _derive(self, name: str, version: Version, required: bool, tell: Callable[[float], None]) -> bool:
        from setsearch.memory.contexts.derivation import derive_contexts

        relation = version.relation
        assert version.analyzer is not None
        find = partial(find_again, name=name)
        contexts = derive_contexts(self._database, find, version.analyzer, self.files.spill(), required, tell)
        if contexts is None:
            return False
        with LOCK:
            self._memory.contexts[relation.id] = contexts
        if contexts.generation.id != IN_MEMORY:
            self._write_contexts(version, contexts)
        return True

    def refresh(self, name: str, fresh: Fresh, tell: Callable[[float], None]) -> None:
        """Store the lists again if much of them has changed, and contexts that lack more than `fresh` allows."""
        self.update_contexts(name, fresh, required=True, tell=tell)
        with self._database.read() as cursor:
            opened = self.version(cursor, name)
            version, is_near = opened.version, self._is_near(opened.relation, LISTS)
            self._content(opened)
            self._word_contexts(opened)
        if not is_near:
            self._write_lists(version)
        self.share(version, always=True)

    def is_behind(self, name: str) -> bool:
        """Whether lists or contexts were never derived, or so much has changed since that it is time to do it again."""
        with self._database.read() as cursor:
            opened = self.version(cursor, name)
            kinds = (LISTS, CONTEXTS) if self._wants_contexts(opened) else (LISTS,)
            return not all(self._is_near(opened.relation, kind) for kind in kinds)

    def _is_near(self, relation: Relation, kind: str) -> bool:
        """Whether little has changed since lists or contexts were derived, or they cannot be."""
        if kind == LISTS:
            if not self.files.may_be_written:
                return True
            mapped = self.files.map(relation, kind)
            state = None if mapped is None else state_of(mapped)
        else:
            generation = self._memory.contexts.generation(relation)
            state = None if generation is None else generation.state
        changed = None if state is None else relation.history.changed_items(state)
        return changed is not None and len(changed) <= max(FEW_TO_MERGE, MERGED_SHARE * relation.items.size)

    def words(self, relation: Relation) -> WordVocabulary | None:
        """The words of a collection that have contexts, as they are now; None without contexts."""
        outline = self._memory.contexts.outline(relation)
        return None if outline is None else WordVocabulary(outline[1])

    def describe_contexts(self, relation: Relation) -> dict[str, Any]:
        """The number of words with contexts and of the contexts, and how old these are; empty without contexts."""
        outline = self._memory.contexts.outline(relation)
        if outline is None:
            return {}
        state, words, sizes = outline
        return {
            "terms": len(words),
            "revision": state.number,
            "up_to_date": state.stamp == relation.stamp,
            "phrases": relation.has_phrases,
        } | {name.split()[-1]: size for name, size in sizes.items()}

    def needs_contexts(self, opened: Opened, fresh: Fresh) -> bool:
        """Whether contexts are to be derived: there are none, or these lack more than `fresh` allows."""
        relation, generation = opened.relation, self._memory.contexts.generation(opened.relation)
        history, n_items = relation.history, relation.items.size
        if fresh is not None and generation and not history.is_fresh(generation.state, fresh, n_items):
            return True
        return self._word_contexts(opened) is None and self._wants_contexts(opened)

    def _wants_contexts(self, opened: Opened) -> bool:
        """Whether something is to be derived from the texts: contexts of words, or the shown forms of stems."""
        version, relation = opened.version, opened.relation
        if relation.contexts == "off":
            return False
        if version.wants_contexts is None:
            version.wants_contexts = relation.may_have_contexts and relation.wants_contexts
        return version.wants_contexts or relation.features.titles_shown

    def _word_contexts(self, opened: Opened) -> WordContexts | None:
        """The contexts of a collection: those that the file holds, or those that only memory does."""
        relation, known = opened.relation, self._memory.contexts
        generation = known.generation(relation)
        found = known.of(generation)
        if generation is None or found is not None:
            return found
        with self._memory.alone(CONTEXTS, relation.id):
            generation = known.generation(relation)
            found = known.of(generation)  # another thread may have read them
            if generation is None or found is not None:
                return found
            try:
                found = self._read_contexts(opened, generation)
            except LostArrays:
                known.distrusted.add(generation.id)
                return None
            with LOCK:
                known[relation.id] = found
            return found

    def _read_contexts(self, opened: Opened, generation: Generation) -> WordContexts:
        version, relation = opened.version, opened.relation
        assert version.analyzer is not None
        mapped = self.files.map(relation, CONTEXTS)
        if mapped is not None:
            try:
                return read_contexts(generation, mapped, relation, version.analyzer)
            except LostArrays:
                self.files.distrust(mapped)
        return read_contexts(generation, None, relation, version.analyzer)

    def version(self, cursor: sqlite3.Cursor, name: str) -> Opened:
        """The relation of a reading as this transaction sees it."""
        with LOCK:
            for versions in self._memory.versions.values():
                relation = versions[-1].relation
                if name in (relation.items.name, relation.features.name):
                    row = cursor.execute(PRESENT, (relation.id,)).fetchone()
                    for version in versions if row is not None else ():
                        if version.is_of(*row[:2]):
                            return _opened(version, cursor, name, row)
            self._database.unbind()
            relation = find_again(cursor, name)
            analyzer = self._analyzers.of(relation) if relation.analyzer else None
            version = Version(relation, analyzer, cursor.execute(PRESENT, (relation.id,)).fetchone()[1])
            self._memory.versions[relation.id] = [*self._memory.versions.get(relation.id, []), version][-VERSIONS:]
            return Opened(version, relation, {})

    def _content(self, opened: Opened) -> RelationContent:
        """The lists of a version: from a file that is new, brought up from an earlier version, or from the tables."""
        version, relation = opened.version, opened.relation
        if (content := version.content) is not None:
            return content
        with self._memory.alone(LISTS, relation.id):
            with LOCK:
                if version.content is None:
                    versions = self._memory.versions.get(relation.id, [])
                    earlier = [other.content for other in reversed(versions) if other.content is not None]
                    version.content = self._content_of_file(relation, earlier) or next(
                        filter(None, (own.advanced(relation) for own in earlier)), None
                    )
                content = version.content
            if content is None:
                version.content = content = read_content(relation)
            return content

    def _content_of_file(self, relation: Relation, earlier: Sequence[RelationContent]) -> RelationContent | None:
        """The lists from a file of arrays that the earlier ones do not come from."""
        mapped = self.files.map(relation, LISTS)
        if mapped is None or any(own.origin == mapped.identity for own in earlier):
            return None
        try:
            return RelationContent.from_file(relation, mapped)
        except LostArrays:
            self.files.distrust(mapped)
            return None

    def fields(self, name: str, opened: Opened, by: str) -> Fields | None:
        """The fields that `by` names, for one transaction; None without contexts."""
        if by not in opened.fields:
            opened.fields[by] = self._fields(name, opened, by)
        return opened.fields[by]

    def _fields(self, name: str, opened: Opened, by: str) -> Fields | None:
        version, relation = opened.version, opened.relation
        cursor = relation.cursor
        if by == STORED:
            field = version.field(self._content(opened), relation.features.name == name).within(cursor)
            vectors = self._memory.vectors.of(relation, field.items)
            return Fields((field,), relation, version.analyzer, vectors=vectors)
        contexts = self._word_contexts(opened)
        if contexts is None or not contexts.fields:
            return None
        chosen = [name for name in BY[by] if name in contexts.fields]
        fields = tuple(contexts.fields[name].within(cursor, COEFFICIENTS[name]) for name in chosen)
        vectors = self._memory.vectors.of(relation, contexts.words)
        if vectors is None and contexts.fields:
            vectors = partial(getattr, contexts, "vectors")
        revision, nearest = contexts.generation.state.number, partial(getattr, contexts, "nearest")
        return Fields(
            fields, relation, version.analyzer, revision, vectors=vectors, nearest=nearest, uses=contexts.uses
        )

    def share(self, version: Version, always: bool = False) -> None:
        """Write files of what memory has, no file holds, and nobody has tried to write: the next process starts faster.

        `always`: not only beside our own file.
        """
        content, contexts = version.content, self._memory.contexts.get(version.relation.id)
        missing: set[str] = {LISTS} if content is not None and content.origin is None else set()
        if contexts is not None and contexts.mapped is None and contexts.fields and contexts.generation.id != IN_MEMORY:
            missing.add(CONTEXTS)
        missing -= version.tried
        if not missing or not (always or self.files.is_ours):
            return
        version.tried |= missing
        if LISTS in missing:
            self._write_lists(version)
        if CONTEXTS in missing and contexts is not None:
            self._write_contexts(version, contexts)

    def _write_lists(self, version: Version) -> None:
        """Write the file of the lists of a version; memory takes them from there when they are next needed."""
        content, relation = version.content, version.relation
        assert content is not None
        of_words = relation.analyzer is None or relation.contexts == "off"  # else contexts answer for them
        readings = ((False, relation.items), (True, relation.features))[: 1 + of_words]
        rules = [version.field(content, side).arrays_of(_default_rule(relation, kind.name)) for side, kind in readings]
        arrays = chain(content.arrays(), self._names(relation), *rules)
        if self.files.write(relation.id, LISTS, relation.state, arrays):
            version.forget()
            self._database.unbind()

    def _names(self, of: Relation) -> NamedArrays:
        """What the file of lists gets of the names of items: nothing once the relation has changed."""
        found: list[Any] = []
        with suppress(SetsearchError), self._database.read() as cursor:
            relation = find_again(cursor, of.items.name)
            if relation.state == of.state:
                found = [*names_to_arrays(relation.items)]
        yield from found

    def _write_contexts(self, version: Version, contexts: WordContexts) -> None:
        of, generation = version.relation, contexts.generation
        arrays = mapped_arrays(contexts, _default_rule(of, of.features.name))
        relation = generation.state.relation  # the collection may have been made anew since
        if self.files.write(relation, CONTEXTS, contexts_state(generation), arrays):
            self._memory.contexts.pop(relation, None)


def _opened(version: Version, cursor: sqlite3.Cursor, name: str, row: Sequence[Any]) -> Opened:
    """A version in a transaction, as it was bound to the cursor before; contexts may be others now."""
    bound: dict[str, Opened] = getattr(cursor, "bound", {})
    known = bound.get(name)
    fields: dict[str, Fields | None] = {}
    if known is not None and known.version is version and known.row == row:
        relation, stored = known.relation, known.fields.get(STORED)
        if stored is not None and stored.first.content is version.content:
            fields = {STORED: stored}
    else:
        relation = version.relation.within(cursor)
        relation.items.vectors, relation.features.vectors = row[2:]
    opened = Opened(version, relation, fields, row)
    if isinstance(cursor.connection, OwnConnection):  # whose cursors stay
        bound[name] = opened
    return opened


class Opening:
    """As `Readings.open`. A class is faster than a generator, and every question starts with it."""

    __slots__ = ("_contexts", "_fresh", "_name", "_opened", "_readings", "_transaction")

    def __init__(self, readings: Readings, name: str, contexts: bool, fresh: Fresh) -> None:
        self._readings, self._name, self._contexts, self._fresh = readings, name, contexts, fresh

    def __enter__(self) -> FieldsBy:
        readings = self._readings
        self._transaction = readings.snapshot()
        cursor = self._transaction.__enter__()
        try:
            self._opened = opened = readings.version(cursor, self._name)
            is_behind = self._contexts and readings.needs_contexts(opened, self._fresh)
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise
        if not is_behind:
            return partial(readings.fields, self._name, opened)
        self._transaction.__exit__(None, None, None)
        readings.update_contexts(self._name, self._fresh)
        self._contexts = False
        return self.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._transaction.__exit__(kind, error, trace)
        except BaseException as failure:
            self._forget_damage(failure)
            raise
        if error is None:
            self._readings.share(self._opened.version)
        else:  # it goes on by itself: raised here, it would have a frame that has it, and all of the question
            self._forget_damage(error)

    def _forget_damage(self, error: BaseException) -> None:
        """Use no arrays that an error shows to be damaged. Raises LostArrays for one that does not say so."""
        readings, name = self._readings, self._name
        if isinstance(error, LostArrays):
            readings.forget(name)
        elif isinstance(error, UNEXPECTED) and not isinstance(error, SetsearchError) and readings.are_damaged(name):
            readings.forget(name)
            raise LostArrays("the mapped lists") from error


def _default_rule(relation: Relation, name: str) -> ValueRule:
    return defaults_of(relation, name).make({}).rule
