"""The analyzers of stored collections, and how a new collection is made."""

import sqlite3
import threading
from dataclasses import dataclass, field

from setsearch.errors import InvalidParameter
from setsearch.storage.ids import check_collection
from setsearch.storage.relation import Relation
from setsearch.text.analyzer import Analyzer
from setsearch.text.encoder import Encoder

FTS5 = "fts5 "  # the specification of an FTS5 tokenizer begins with this
# The settings of contexts, each with what is stored (storage/relation.py). Phrases are items unless "words" says no.
CONTEXTS = {"auto": "auto-phrases", "on": "phrases", "words": "on", "off": "off", "phrases": "phrases"}


@dataclass(frozen=True)
class TextSettings:
    """How a new text collection is made: its analyzer, whether words get contexts, an encoder, and its own name."""

    analyzer: Analyzer = field(default_factory=Analyzer)
    contexts: str = "auto"
    encoder: Encoder | None = None
    collection: str = ""

    def __post_init__(self) -> None:
        check_collection(self.collection)
        if self.contexts not in CONTEXTS:
            raise InvalidParameter(f"contexts is one of {', '.join(CONTEXTS)}, not {self.contexts!r}")

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for settings that read a stored collection alike."""
        encoder = () if self.encoder is None else self.encoder.key
        return self.analyzer.spec, self.analyzer.function, *encoder


class Analyzers:
    """Analyzers by their specifications; the application's own is known from the start."""

    def __init__(self, own: Analyzer) -> None:
        self._analyzers = {own.spec: own}

    def of(self, relation: Relation) -> Analyzer:
        """The analyzer of a collection."""
        spec = relation.analyzer or ""
        if spec not in self._analyzers:
            self._analyzers[spec] = load_analyzer(spec)
        return self._analyzers[spec]


def load_analyzer(spec: str) -> Analyzer:
    """The analyzer of a stored specification; raises CorruptIndex, InvalidParameter."""
    if spec.startswith(FTS5):
        return Analyzer(function=Fts5Tokenizer(spec.removeprefix(FTS5)), spec=spec)
    return Analyzer.from_spec(spec)


class Fts5Tokenizer:
    """A tokenizer as an FTS5 table declares it, such as "porter unicode61": text to terms."""

    def __init__(self, declaration: str) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        argument = "'" + declaration.replace("'", "''") + "'"
        try:
            self._connection.execute(f"create virtual table input using fts5(words, tokenize = {argument})")
        except sqlite3.Error as error:
            raise InvalidParameter(
                f"the tokenizer {declaration!r} of the full-text table is not one of SQLite's own ({error}); "
                "give setsearch.open an analyzer"
            ) from error
        self._connection.execute("create virtual table term using fts5vocab(input, instance)")

    def __call__(self, text: str) -> list[str]:
        with self._lock:
            self._connection.execute("delete from input")
            self._connection.execute("insert into input values (?)", (text,))
            return [term for (term,) in self._connection.execute("select term from term order by offset")]
