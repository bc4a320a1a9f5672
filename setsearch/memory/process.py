"""What a process holds of the content of one database, under the stamps of this content.

Connections that are lent one after another, such as one for each request, share it: it belongs to the file.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from setsearch.errors import LostArrays
from setsearch.lists import LOCK
from setsearch.memory.content import RelationContent
from setsearch.memory.contexts.word_contexts import IN_MEMORY, WordContexts, read_sizes, sizes_of
from setsearch.memory.field import Field
from setsearch.memory.names.derived import WordVocabulary
from setsearch.memory.vectors import Vectors
from setsearch.sqlite.database import Database
from setsearch.sqlite.forks import File
from setsearch.storage.analyzers import TextSettings
from setsearch.storage.generations import Generation, find_generation
from setsearch.storage.kept.vectors import ENCODER, read_vectors, vector_source
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import Revision
from setsearch.text.analyzer import Analyzer
from setsearch.text.encoder import Encoders

SHARED_FILES = 4  # of which memory stays after the last index of a lent connection is gone


class Version:
    """A relation at one stamp, with forms of stems of one generation, and what memory holds of it. Threads share it."""

    def __init__(self, relation: Relation, analyzer: Analyzer | None, generation: int | None) -> None:
        self.relation = relation.within(None)
        self.analyzer, self._generation = analyzer, generation
        self.content: RelationContent | None = None
        self.wants_contexts: bool | None = None
        self.tried = set[str]()  # the files of arrays that this process has tried to write
        self._fields: dict[bool, Field] = {}

    def is_of(self, stamp: int, generation: int | None) -> bool:
        """Whether it is of a content, and shows stems as a generation does."""
        has_forms = self.relation.features.titles_shown
        return stamp == self.relation.stamp and (not has_forms or generation == self._generation)

    def forget(self) -> None:
        """Take the content anew when it is next needed."""
        with LOCK:
            self.content, self._fields = None, {}

    def field(self, content: RelationContent, transposed: bool) -> Field:
        """The field of one reading of the content; that of before if it is of this one."""
        with LOCK:
            known = self._fields.get(transposed)
            if known is None or known.content is not content:
                self._fields[transposed] = known = Field(content, transposed)
            return known


class KnownContexts(dict[int, WordContexts]):
    """The contexts that memory holds, by relation; `distrusted` are generations that are damaged or gone."""

    def __init__(self) -> None:
        super().__init__()
        self.distrusted = set[int]()

    def generation(self, relation: Relation) -> Generation | None:
        """Whose contexts answer: those that the file holds, or those that only memory does."""
        if relation.contexts == "off":
            return None
        generation = find_generation(relation)
        if generation is not None and generation.id in self.distrusted:
            generation = None
        known = self.get(relation.id)
        own = None if known is None or known.generation.id != IN_MEMORY else known.generation
        if own is None or own.state.stamp == relation.stamp:
            return own or generation
        if generation is None:  # they may be of a write that was rolled back, or of other texts
            return own if relation.history.changed_items(own.state) is not None else None
        return generation

    def of(self, generation: Generation | None) -> WordContexts | None:
        """Those of a generation, if memory holds them."""
        if generation is None:
            return None
        known = self.get(generation.state.relation)
        return known if known is not None and known.generation.id == generation.id else None

    def outline(self, relation: Relation) -> tuple[Revision, Sequence[str], Mapping[str, int]] | None:
        """The revision of contexts, their words, and the size of each field, without lists; None without contexts."""
        generation = self.generation(relation)
        if generation is None:
            return None
        known = self.of(generation)
        try:
            words, sizes = (known.words.words, sizes_of(known)) if known else read_sizes(generation)
        except LostArrays:
            return None
        return (generation.state, words, sizes) if sizes else None


class StoredVectors:
    """The vectors of each vocabulary. Threads may share it."""

    def __init__(self, encoders: Encoders) -> None:
        self._encoders = encoders
        # By the ids of both vocabularies: at which stamps of the vectors and the relation, and of which words.
        self._known: dict[tuple[int, int], tuple[tuple[int, int], Sequence[str] | None, Vectors]] = {}

    def of(self, relation: Relation, ranked: Vocabulary) -> Callable[[], Vectors] | None:
        """What reads the vectors of ranked items, which are items or features of a relation, or words in context."""
        kind = relation.items if ranked.id == relation.items.id else relation.features
        if kind.vectors is None:
            return None
        source = vector_source(kind)
        if source is None or source.size is None:
            return None
        # Features come and go, and their ids are used again. Items that go take their vectors along.
        relation_stamp = relation.stamp if ranked.id == relation.features.id else 0
        return partial(self._read, kind, ranked, relation_stamp)

    def _read(self, kind: Vocabulary, ranked: Vocabulary, relation_stamp: int) -> Vectors:
        """Vectors by the ids of what is ranked; those of names that are not there are left out."""
        source = vector_source(kind)
        assert source is not None
        words = ranked.words if isinstance(ranked, WordVocabulary) else None  # they change as a whole
        with LOCK:
            known = self._known.get((kind.id, ranked.id))
            stamps = source.stamp, relation_stamp
            if known is not None and known[1] is words and known[0] == stamps:
                return known[2]
            names, rows = read_vectors(kind)
            id_of = ranked.find(names)
            places = np.array([place for place, name in enumerate(names) if name in id_of], np.int64)
            ids = np.array([id_of[names[place]] for place in places.tolist()], np.int64)
            order = np.argsort(ids)
            encode = self._encoders(source.name) if source.source == ENCODER else None
            vectors = Vectors(ids[order], rows[places[order]], source.source, encode)
            self._known[kind.id, ranked.id] = stamps, words, vectors
            return vectors


class Memory:
    """Versions of relations, contexts of words and vectors. Threads share it."""

    def __init__(self, settings: TextSettings) -> None:
        self.versions: dict[int, list[Version]] = {}  # by relation, the latest last
        self.contexts = KnownContexts()
        self.damaged: set[tuple[int, ...]] = set()  # files of arrays that cannot be used (memory/array_files.py)
        self.encoders = Encoders(settings.encoder)
        self.vectors = StoredVectors(self.encoders)
        self._locks, self._process = dict[tuple[str, int], threading.Lock](), os.getpid()

    def alone(self, name: str, relation: int = 0) -> threading.Lock:
        """Held by the thread that makes what takes long, so that only those wait who need the same."""
        with LOCK:
            if self._process != os.getpid():  # threads of the process that forked this one may hold some
                self._locks, self._process = {}, os.getpid()
            return self._locks.setdefault((name, relation), threading.Lock())


_shared: OrderedDict[tuple[str, File, tuple[object, ...]], Memory] = OrderedDict()


def memory_of(database: Database, settings: TextSettings) -> Memory:
    """The memory of the file that a lent connection has open, for these settings; a new one for other databases."""
    file = database.lent_file
    if file is None:
        return Memory(settings)
    with LOCK:
        key = *file, settings.key
        known = _shared.setdefault(key, Memory(settings))
        _shared.move_to_end(key)
        while len(_shared) > SHARED_FILES:
            _shared.popitem(last=False)
        return known
