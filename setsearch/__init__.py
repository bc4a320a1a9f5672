"""setsearch: give it a few examples, get the rest of the set.

    import setsearch

    index = setsearch.open("news.db")
    for hit in index.items("terms").expand(["warrior", "soldier"], k=10):
        print(hit.rank, hit.item, hit.score)

Bayesian Sets (Ghahramani and Heller, NIPS 2005) on an inverted index in SQLite. The names of `__all__` are stable.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from setsearch.errors import SetsearchError

if TYPE_CHECKING:
    from setsearch.answers.answer import Hits
    from setsearch.answers.reading import Reading
    from setsearch.answers.results import Contribution, Explanation, Hit, SetFeature, Statistics
    from setsearch.answers.saved.item_sets import ItemSet
    from setsearch.index import Index
    from setsearch.indexing.sync import Changes
    from setsearch.indexing.writing.intake import Item
    from setsearch.memory.where import Where
    from setsearch.sqlite.limits import Cancellation
    from setsearch.storage.synced_source import Columns

__version__ = "0.44.0"
__all__ = [
    "Cancellation",
    "Changes",
    "Columns",
    "Contribution",
    "Explanation",
    "Hit",
    "Hits",
    "Index",
    "Item",
    "ItemSet",
    "Reading",
    "SetFeature",
    "SetsearchError",
    "Statistics",
    "Where",
    "errors",
    "open",
    "register",
    "use_kernel",
]

_HOMES = {
    "Cancellation": "sqlite.limits",
    "Changes": "indexing.sync",
    "Columns": "storage.synced_source",
    "Index": "index",
    "Item": "indexing.writing.intake",
    "Hits": "answers.answer",
    "ItemSet": "answers.saved.item_sets",
    "Reading": "answers.reading",
    "Where": "memory.where",
    "use_kernel": "scoring.best",
}  # all others live in answers.results


def open(  # noqa: PLR0913
    place: Any,
    *,
    create: bool = False,
    timeout: float = 5.0,
    time_limit: float = 10.0,
    read_only: bool = False,
    language: str | None = None,
    stop_words: bool = False,
    analyzer: Callable[[str], Iterable[Any]] | str | None = None,
    contexts: str = "auto",
    encoder: Callable[[list[str]], Any] | str | None = None,
    collection: str = "",
) -> "Index":
    """Open the index in a database: a path, a URI, a connection of the host application, or a function that makes one.

    Connections are those of `sqlite3`, pysqlite3 and sqlcipher3, also inside a `sqlite_utils.Database`. With a function
    each thread has a connection of its own. With `create`, a path that does not exist becomes a new database with the
    first write. A write waits `timeout` seconds for another writer. With `read_only` nothing is written to the file at
    a path, and what is derived stays in memory. SQL of others, in a `Where` or behind a view that is followed, may keep
    SQLite busy for `time_limit` seconds. A lent connection keeps its transaction, row factory and tables; inside its
    transaction, the host commits our writes. What was read by connections to one file stays in
    memory for the next one, so that a connection for each request costs nothing more.

    The other parameters configure a text collection when its first document is added. `language` (english, ...) stems
    words, `stop_words` drops the stop words of the language. `analyzer` is "unicode", "icu" (with dictionaries for
    Chinese, Japanese, Thai, ...), one of both with more features, "unicode+pairs+4-grams" (pairs of words, runs of
    characters), or with other titles, "unicode+0-titles" (they do not count) or "unicode+2-titles" (twice, beside the
    text), or a function of your own from text to words or tokens, such as Whoosh's. `contexts` derives co-occurrence
    contexts of words and phrases: "on", "off", "words" (without phrases), or "auto", for collections of 50,000 to 25
    million words. `encoder` gives documents and words vectors, by which questions find what is like the
    seeds in meaning: a model of sentence-transformers by its name or folder, or a function from texts to vectors.
    `Index.refresh` encodes what is new, if it is given `fresh`.

    One database may hold several collections, such as articles and comments, each with its own language and contexts:
    with `collection` all names are within it, and `items()` its terms. Its whole names, comments/documents and
    comments/terms, are known everywhere: `open(place).items("comments/terms")`.

    Raises MissingDatabase, InvalidParameter, UsageError.
    """
    opened = {**locals()}
    from setsearch.index import Index
    from setsearch.sqlite.database import Database
    from setsearch.storage.analyzers import TextSettings
    from setsearch.text.analyzer import Analyzer
    from setsearch.text.encoder import Encoder

    own = None if encoder is None else Encoder(encoder)
    if own is not None:
        own.require()
    settings = TextSettings(Analyzer(language, stop_words, analyzer), contexts, own, collection)
    database = Database(place, create=create, timeout=timeout, time_limit=time_limit, read_only=read_only)
    return Index(database, settings, opened)


def register(connection: Any) -> None:
    """Add the SQL functions setsearch_expand, _score, _explain, ... to a connection as `open` takes it.

    integrations/sql.py says what they do. Raises InvalidParameter.
    """
    from setsearch.integrations.sql import register as register_functions

    register_functions(connection)


def __getattr__(name: str) -> Any:
    # On demand: commands that do not need numpy start without it.
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"setsearch.{_HOMES.get(name, 'answers.results')}"), name)
    raise AttributeError(f"module 'setsearch' has no attribute {name!r}")
