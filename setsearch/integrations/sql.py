"""SQL functions on any SQLite connection: `setsearch.register(connection)`.

    select a.*, e.value ->> 'score' as score
    from json_each(setsearch_expand('doc-1, doc-2', 10)) e join articles a on a.id = e.value ->> 'item'

    select title from articles where year > 2000 order by setsearch_score(id, 'doc-1, doc-2') desc limit 10

setsearch_expand(seeds [, k [, items [, model [, rejected]]]])   a JSON array of {"rank", "item", "score", "title"}
setsearch_score(item, seeds [, items [, model [, rejected]]])    the score of one item; null for an unknown item
setsearch_explain(item, seeds [, items [, model]])               a JSON object of the parts that sum to the score
setsearch_sets_of(item [, k [, items]])                          a JSON array of the saved sets that the item fits best
setsearch_inbox([sets])                                          a JSON array of what is new for saved sets
setsearch_error()                                                why the last of these calls failed

Seeds are a JSON array, or separated by commas; so are rejected items, from which the score learns. `items` names a
reading, such as terms, or comments/documents of the collection comments; by default the documents of a text collection,
else the items of the first relation. Instead of these, or after some, json_object('k', 5, 'by', 'documents') gives any
option by its name. setsearch_expand(null, json_object('set', 'dances')) asks a saved set, beside the rivals of its
group; seeds count beside its members. setsearch_sets_of(null, json_object('text', body)) asks of a text, and is null
for an unknown item. setsearch_inbox() knows of tables that are followed what was applied (`Index.refresh`). Only one
thread at a time may use the connection, as with all functions that Python adds to SQLite: two threads that share it can
deadlock.

SQLite cannot pass the message of an error out of a function. It reports "user-defined function raised exception"; the
logger "setsearch" and setsearch_error() have the message.
"""

import json
import logging
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from setsearch.answers.results import Hit
from setsearch.answers.saved.item_sets import Question
from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter, SetsearchError, UnknownItem, fault_of
from setsearch.index import Index
from setsearch.memory.fields import Fields
from setsearch.options import ALL, EXAMPLES, SAVED, Option, offered, refuse, require_known
from setsearch.sqlite.database import Database
from setsearch.sqlite.drivers import driver_connection
from setsearch.storage.analyzers import TextSettings
from setsearch.storage.ids import id_text
from setsearch.storage.relation import load_relations

_log = logging.getLogger("setsearch")
_ANY_NUMBER = -1  # of arguments, for SQLite
MOMENT = 0.001  # seconds between two looks for writes of others: a look takes longer than all else that a row needs


class _Functions:
    """The functions of one connection. They cache the scores of the last query, because each row asks for it again."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._database = Database(connection)
        self._index = Index(self._database, TextSettings(), {"place": connection})
        self._look = connection.cursor()
        self._look.row_factory = None
        self._looked, self._version = -math.inf, 0
        self._error: str | None = None
        self._asked: tuple[object, ...] = ()
        self._scores: list[float] = []  # of all ids
        self._ids: dict[str, int] = {}  # by name, as long as the content is the same
        self._content: tuple[object, ...] = ()

    def expand(self, seeds: str, *given: Any) -> str:
        asked, options = self._question(seeds, given, ("k", "items", "model", "exclude"), ALL)
        hits = asked.expand(options.pop("k", 10), **options)
        return json.dumps([_shown(hit) for hit in hits], ensure_ascii=False)

    def score(self, item: Any, seeds: str, *given: Any) -> float | None:
        """The score of an item; null for a rejected one."""
        query = (seeds, given, self._state())
        if query != self._asked:
            asked, options = self._question(seeds, given, ("items", "model", "exclude"), ALL)
            asked.scored(self._keep, **{"keep_seeds": True, **options})
            self._asked = query
        id = self._ids.get(str(item))
        return None if id is None or self._scores[id] == -math.inf else self._scores[id]

    def explain(self, item: Any, seeds: str, *given: Any) -> str:
        asked, options = self._question(seeds, given, ("items", "model"), offered("explain"))
        explanation = asked.explain(str(item), **options)
        features = {part.feature: part.weight for part in explanation.features}
        parts = {name: getattr(explanation, name) for name in ("item", "score", "constant", "base")}
        reasons = [[reason.label, reason.weight] for reason in explanation.reasons]
        parts |= {"features": features, "reasons": reasons}
        return json.dumps(parts | ({"group": explanation.group} if explanation.group else {}), ensure_ascii=False)

    def sets_of(self, item: Any, *given: Any) -> str | None:
        options = self._options(given, ("k", "items"), {"text": EXAMPLES["like"]})
        asked = {"k": options.get("k", 10), "text": options.get("text"), "items": self._items(options.get("items"))}
        try:
            claims = self._index.sets_of(None if item is None else str(id_text(item)), **asked)
        except UnknownItem:
            return None
        return _rows(claims)

    def inbox(self, names: Any = None) -> str:
        from setsearch.answers.saved.inbox import read_inbox

        wanted = None if names is None else _names(names)
        return _rows(read_inbox(self._database, self._index.sets(), self._index.reading, wanted).with_headlines())

    def error(self) -> str | None:
        return self._error

    def with_message(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that setsearch_error() has the message of its error."""

        def _call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as error:
                self._error = str(error).replace("_Functions.", "setsearch_")
                if not isinstance(error, (SetsearchError, TypeError)):  # a number of arguments is a TypeError
                    self._error = str(fault_of(error))
                _log.error("setsearch_%s: %s", function.__name__, self._error)
                raise error.with_traceback(None) from None

        return _call

    def _keep(self, fields: Fields, scores: Floats) -> None:
        """Keep the scores of a question, and the names of the items."""
        content = fields.items.name, fields.relation.state, fields.contexts_revision
        if content != self._content:
            described = fields.describe(fields.item_ids().tolist())
            self._ids, self._content = {name: id for id, (name, _) in described.items()}, content
        self._scores = scores.tolist()

    def _state(self) -> tuple[int, int]:
        """A value that changes with each write: of this connection at once, of others after MOMENT at the latest."""
        now = time.monotonic()
        if now - self._looked > MOMENT:
            self._version, self._looked = self._look.execute("pragma data_version").fetchone()[0], now
        return self._connection.total_changes, self._version

    def _question(
        self, seeds: Any, given: tuple[Any, ...], names: tuple[str, ...], known: Mapping[str, Option]
    ) -> tuple[Question, dict[str, Any]]:
        """What is asked, and the other options."""
        options = self._options(given, names, {**known, **SAVED})
        items, saved, exclude = (options.pop(name, None) for name in ("items", "set", "exclude"))
        asked = {"set": saved, "items": self._items(items) if saved is None else items, "exclude": exclude or ()}
        return self._index.question([] if seeds is None and saved is not None else _names(seeds), **asked), options

    def _items(self, given: str | None) -> str | None:
        """What is ranked: by default the first reading."""
        if given is not None:
            return given
        with self._database.read() as cursor:
            relations = load_relations(cursor)
        return relations[0].ranked[0].name if relations else None

    def _options(self, given: tuple[Any, ...], names: tuple[str, ...], known: Mapping[str, Option]) -> dict[str, Any]:
        """Options: arguments in the order of `names`, then those of an object."""
        more = _object(given[-1]) if given else None
        values = given if more is None else given[:-1]
        if len(values) > len(names):
            raise InvalidParameter(f"only {', '.join(names)} may follow, and an object of options")
        options = dict(zip(names, values, strict=False)) | (more or {})
        require_known(options, {**known, **dict.fromkeys(names)})
        all_hits = "k" in (more or {}) and options["k"] is None  # asked by name: an argument null is one left out
        options = {key: value for key, value in options.items() if value is not None} | (
            {"k": None} if all_hits else {}
        )
        refuse("SQL", options)
        if not isinstance(options.get("exclude", []), list):
            options["exclude"] = _names(options["exclude"])
        return options


def register(connection: sqlite3.Connection) -> None:
    """Add the functions to a connection; its database may be indexed before or after. Raises InvalidParameter."""
    lent = driver_connection(connection)
    if lent is None:
        raise InvalidParameter(f"the functions are added to a connection of SQLite, not to {connection!r:.60}")
    functions = _Functions(lent)
    for name in ("expand", "score", "explain", "sets_of", "inbox", "error"):
        function = getattr(functions, name)
        lent.create_function(f"setsearch_{function.__name__}", _ANY_NUMBER, functions.with_message(function))


def _rows(found: Iterable[Any]) -> str:
    """Rows without what they lack."""
    rows = [{name: value for name, value in row._asdict().items() if value is not None} for row in found]
    return json.dumps(rows, ensure_ascii=False)


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


def _object(value: Any) -> dict[str, Any] | None:
    """The options in a JSON object; None for any other value."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError, RecursionError):
            return dict(json.loads(value))
    return None


def _shown(hit: Hit) -> dict[str, Any]:
    told = {"title": hit.title, "belongs": hit.belongs, "group": [*hit.group] or None}
    known = {"rank": hit.rank, "item": hit.item, "score": hit.score}
    return known | {name: value for name, value in told.items() if value not in (None, "")}
