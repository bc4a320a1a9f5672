"""What a process holds of the content of one database, under the stamps of this content.

Connections that are lent one after another, such as one for each request, share it: it belongs to the file.
"""

import os
import threading
from collections import OrderedDict

from setsearch.lists import LOCK
from setsearch.memory.content import RelationContent
from setsearch.memory.field import Field
from setsearch.memory.vectors import StoredVectors
from setsearch.memory.word_contexts import WordContexts
from setsearch.sqlite.database import Database
from setsearch.sqlite.forks import File
from setsearch.storage.analyzers import TextSettings
from setsearch.storage.relation import Relation
from setsearch.text.analyzer import Analyzer
from setsearch.text.encoder import Encoders

SHARED_FILES = 4  # of which memory stays after the last index of a lent connection is gone


class Version:
    """A relation at one stamp, and what memory holds of it. Threads share it."""

    def __init__(self, relation: Relation, analyzer: Analyzer | None) -> None:
        self.relation = relation
        self.analyzer = analyzer
        self.content: RelationContent | None = None
        self.wants_contexts: bool | None = None
        self.tried = set[str]()  # the files of arrays that this process has tried to write
        self._fields: dict[bool, Field] = {}

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


class Memory:
    """Versions of relations, contexts of words and vectors. Threads share it."""

    def __init__(self, settings: TextSettings) -> None:
        self.versions: dict[int, list[Version]] = {}  # by relation, the latest last
        self.contexts: dict[int, WordContexts] = {}  # by relation
        self.distrusted: set[int] = set()  # generations that are damaged or gone
        self.damaged: set[tuple[int, ...]] = set()  # files of arrays that cannot be used (memory/files.py)
        self.encoders = Encoders(settings.encoder)
        self.vectors = StoredVectors(self.encoders)
        self._deriving = threading.Lock()
        self._process = os.getpid()

    @property
    def deriving(self) -> threading.Lock:
        """Held by the thread that derives contexts."""
        if self._process != os.getpid():  # a thread of the process that forked this one may have been deriving
            self._deriving, self._process = threading.Lock(), os.getpid()
        return self._deriving


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
