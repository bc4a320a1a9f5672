"""SQL functions on any SQLite connection: `setsearch.register(connection)`.

    select a.*, e.value ->> 'score' as score
    from json_each(setsearch_expand('doc-1, doc-2', 10)) e join articles a on a.id = e.value ->> 'item'

    select title from articles where year > 2000 order by setsearch_score(id, 'doc-1, doc-2') desc limit 10

setsearch_expand(seeds [, k [, items [, model [, rejected]]]])   a JSON array of {"rank", "item", "score", "title"}
setsearch_score(item, seeds [, items [, model [, rejected]]])    the score of one item; null for an unknown item
setsearch_explain(item, seeds [, items [, model]])               a JSON object of the parts that sum to the score
setsearch_error()                                                why the last of these calls failed

Seeds are a JSON array, or separated by commas; so are rejected items, from which the score learns. `items` names a
reading, such as terms, or comments/documents of the collection comments; by default the documents of a text collection,
else the items of the first relation. Only one thread at a time
may use the connection, as with all functions that Python adds to SQLite: two threads that share it can deadlock.

SQLite cannot pass the message of an error out of a function. It reports "user-defined function raised exception"; the
logger "setsearch" and setsearch_error() have the message.
"""

import json
import logging
import math
import sqlite3
import time
from collections.abc import Callable
from typing import Any

from setsearch.errors import InvalidParameter, SetsearchError
from setsearch.index import Index
from setsearch.sqlite.database import Database
from setsearch.storage.analyzers import TextSettings
from setsearch.storage.ids import id_text

_log = logging.getLogger("setsearch")
_ANY_NUMBER = -1
MOMENT = 0.001  # seconds between two looks for writes of others: a look takes longer than all else that a row needs


class _Functions:
    """The functions of one connection. They cache the scores of the last query, because each row asks for it again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._index = Index(Database(connection), TextSettings())
        self._look = connection.cursor()
        self._look.row_factory = None
        self._looked, self._version = -math.inf, 0
        self._error: str | None = None
        self._asked: tuple[object, ...] = ()
        self._scores: dict[str, float] = {}

    def expand(
        self,
        seeds: str,
        k: int | None = 10,
        items: str | None = None,
        model: str | None = None,
        rejected: str | None = None,
    ) -> str:
        """A JSON array of hits."""
        options = _options(model) | _rejected(rejected)
        hits = self._reading(items).expand(_names(seeds), 10 if k is None else k, **options)
        return json.dumps(
            [
                {"rank": hit.rank, "item": hit.item, "score": hit.score} | ({"title": hit.title} if hit.title else {})
                for hit in hits
            ],
            ensure_ascii=False,
        )

    def score(
        self,
        item: Any,
        seeds: str,
        items: str | None = None,
        model: str | None = None,
        rejected: str | None = None,
    ) -> float | None:
        """The score of an item; null for a rejected one."""
        query = (seeds, items, model, rejected, self._state())
        if query != self._asked:
            options = {"keep_seeds": True, **_options(model), **_rejected(rejected)}
            with self._reading(items).scores(_names(seeds), **options) as (fields, scores):
                names = fields.describe(fields.item_ids().tolist())
                self._scores = {name: float(scores[id]) for id, (name, _) in names.items() if scores[id] > -math.inf}
            self._asked = query
        return self._scores.get(str(item))

    def explain(self, item: Any, seeds: str, items: str | None = None, model: str | None = None) -> str:
        """A JSON object of the parts of a score."""
        explanation = self._reading(items).explain(_names(seeds), str(item), **_options(model))
        features = [[part.feature, part.weight] for part in explanation.features]
        parts = {name: getattr(explanation, name) for name in ("item", "score", "constant", "base")}
        reasons = [[reason.label, reason.weight] for reason in explanation.reasons]
        return json.dumps(parts | {"features": dict(features), "reasons": reasons}, ensure_ascii=False)

    def error(self) -> str | None:
        """The message of the last error."""
        return self._error

    def with_message(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that setsearch_error() has the message of its error."""

        def _call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except (SetsearchError, TypeError) as error:
                self._error = str(error).replace("_Functions.", "setsearch_")
                _log.error("setsearch_%s: %s", function.__name__, self._error)
                raise error.with_traceback(None) from None

        return _call

    def _state(self) -> tuple[int, int]:
        """A value that changes with each write: of this connection at once, of others after MOMENT at the latest."""
        now = time.monotonic()
        if now - self._looked > MOMENT:
            self._version, self._looked = self._look.execute("pragma data_version").fetchone()[0], now
        return self._connection.total_changes, self._version

    def _reading(self, items: str | None) -> Any:
        first = self._index.readings()[:1] if items is None else []
        return self._index.reading(first[0]["items"] if first else items)


def register(connection: sqlite3.Connection) -> None:
    """Add the functions to a connection; its database may be indexed before or after. Raises nothing."""
    functions = _Functions(connection)
    for function in (functions.expand, functions.score, functions.explain, functions.error):
        connection.create_function(f"setsearch_{function.__name__}", _ANY_NUMBER, functions.with_message(function))


def _names(seeds: Any) -> list[str]:
    seeds = id_text(seeds)
    if not isinstance(seeds, str):
        raise InvalidParameter(f"seeds are an id, a text such as 'doc-1, doc-2', or a JSON array, not {seeds!r}")
    if seeds.lstrip().startswith("["):
        try:
            return [str(seed) for seed in json.loads(seeds)]
        except (ValueError, RecursionError) as error:
            way_out = """give texts in quotes, as '["lion", "tiger"]', or 'lion, tiger' without brackets"""
            raise InvalidParameter(f"seeds are not a JSON array ({error}): {seeds:.60}; {way_out}") from error
    return [seed.strip() for seed in seeds.split(",") if seed.strip()]


def _options(model: str | None) -> dict[str, Any]:
    return {} if model is None else {"model": model}


def _rejected(names: str | None) -> dict[str, Any]:
    return {} if names is None else {"exclude": _names(names)}
