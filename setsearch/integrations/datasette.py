"""Datasette: a page that expands a set of rows of an indexed table, JSON beside it, and our SQL functions.

    /-/setsearch                                             the indexed tables
    /-/setsearch/DATABASE/TABLE?row=1&row=4&not=7&k=20        and the same with .json

Of a table that is not indexed (`setsearch index DB --table ...`) a copy answers (table_copies.py), unless {"plugins":
{"setsearch": {"copies": false}}} forbids it. With {"refresh": true} there, changes of a tracked table are applied
before a question, by Datasette's own connection for writes. Whoever may see the table may see the page. Our own
tables hold the words of all texts, so they have no pages. Runs on Datasette 0.65 and 1.0a.
"""

import asyncio
import atexit
import json
import logging
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from datasette import Forbidden, NotFound, Response, hookimpl
from datasette.utils import tilde_decode, tilde_encode
from datasette.utils.sqlite import sqlite3 as driver
from jinja2 import FileSystemLoader

import setsearch
from setsearch.answers.highlight import with_headlines
from setsearch.answers.results import weight_rows
from setsearch.errors import NoIndex, SetsearchError
from setsearch.integrations.table_copies import TableCopies, not_indexed
from setsearch.memory.where import Where
from setsearch.options import EXAMPLES, SAVED, Option, offered, require_known, taken
from setsearch.pool import WORKERS, QuestionPool, until_gone, watch_damage
from setsearch.sqlite.sql import quote
from setsearch.storage.synced_source import FTS5, TABLE

MOST_HITS = 200  # on one page
OPTIONS = {**offered("Datasette"), **SAVED}
K = Option(int, "", "", 1, MOST_HITS, name="k")
ROW_LINK = """
const link = document.createElement("a");
link.href = %s;
link.textContent = "Rows like this";
document.querySelector("h1").after(link);
"""
_log = logging.getLogger("setsearch")
OUR_PREFIX = "setsearch_"
REFRESH_WAIT = 200  # ms for another writer, before an answer without its changes
ANSWER_SECONDS = 30.0  # the first answer after a write may take long; SQL of visitors has Datasette's own limit
_pools: dict[tuple[str, float], QuestionPool] = {}
_copies = TableCopies()
atexit.register(_copies.close)
_turns: "WeakKeyDictionary[Any, asyncio.Semaphore]" = WeakKeyDictionary()  # of databases in memory


@hookimpl
def prepare_connection(conn: sqlite3.Connection) -> None:
    """Add the SQL functions of sql.py to each connection."""
    setsearch.register(conn)


@hookimpl
def prepare_jinja2_environment(env: Any) -> None:
    """Let Datasette find our template."""
    env.loader.loaders.append(FileSystemLoader(Path(__file__).parent / "templates"))


@hookimpl
def register_routes() -> list[tuple[str, Callable[..., Any]]]:
    """The pages and their JSON."""
    rows = r"/-/setsearch/(?P<database>[^/]+)/(?P<table>[^/]+?)(?P<json>\.json)?$"
    return [(r"/-/setsearch(?P<json>\.json)?/?$", tables_page), (rows, rows_page)]


@hookimpl
def table_actions(datasette: Any, database: str, table: str) -> Callable[[], Any]:
    """An entry in the menu of an indexed table."""

    async def _actions() -> list[dict[str, str]]:
        source = await _source_of(datasette, database, table)
        return [{"href": _path(datasette, database, table), "label": "Expand a set of rows"}] if source else []

    return _actions


@hookimpl(optionalhook=True)
def row_actions(datasette: Any, database: str, table: str, request: Any) -> Callable[[], Any]:
    """An entry in the menu of a row (1.0)."""

    async def _actions() -> list[dict[str, str]]:
        path = await _rows_like(datasette, database, table, request)
        return [{"href": path, "label": "Rows like this"}] if path else []

    return _actions


@hookimpl
def extra_body_script(datasette: Any, view_name: str, database: str, table: str, request: Any) -> Any:
    """A link on the page of a row (0.65, which has no menu there)."""
    if view_name != "row" or hasattr(datasette, "allowed"):
        return None

    async def _script() -> str:
        path = await _rows_like(datasette, database, table, request)
        return ROW_LINK % json.dumps(path).replace("<", "\\u003c") if path else ""

    return _script


@hookimpl(optionalhook=True)
def permission_allowed(action: str, resource: Any) -> bool | None:
    """Nobody sees our own tables (0.65)."""
    hidden = action == "view-table" and resource is not None and str(resource[1]).lower().startswith(OUR_PREFIX)
    return False if hidden else None


@hookimpl(optionalhook=True)
def permission_resources_sql(action: str) -> Any:
    """Nobody sees our own tables (1.0)."""
    if action != "view-table":
        return None
    from datasette.permissions import PermissionSQL

    return PermissionSQL(
        "select database_name as parent, table_name as child, 0 as allow, 'tables of an index' as reason "
        f"from catalog_tables where substr(lower(table_name), 1, {len(OUR_PREFIX)}) = '{OUR_PREFIX}'"
    )


async def rows_page(datasette: Any, request: Any) -> Any:
    """The page, or its JSON."""
    database, table = (tilde_decode(request.url_vars[name]) for name in ("database", "table"))
    if database not in datasette.databases or not await _may(datasette, request.actor, "view-table", database, table):
        raise Forbidden(f"view-table {database} {table}")
    host = datasette.get_database(database)
    if table not in [*await host.table_names(), *await host.view_names()]:
        raise NotFound(f"{database} has no table {table}")
    answer: dict[str, Any] = {"database": database, "table": table, "seeds": [], "rejected": [], "hits": []}
    # how many writes the hits know; of a tracked table, how many rows have changed since; of a copy, when it was read
    answer |= {"error": None, "revision": None, "behind": None, "copied": None}
    query = _Query(datasette, request, database, table)
    try:
        query.may_filter = await _may(datasette, request.actor, "execute-sql", database)
        answer |= await until_gone(request.receive, _answer(datasette, query))
    except SetsearchError as error:
        answer["error"] = str(error)
    status = 400 if answer["error"] else 200
    if request.url_vars["json"]:
        shown = {key: answer[key] for key in answer if key != "may_filter"}
        shown["hits"] = [{key: hit[key] for key in hit if key not in ("passage", "like")} for hit in answer["hits"]]
        return Response.json({"ok": status == 200} | shown, status=status)
    page = answer | {
        "path": _path(datasette, database, table),
        "json_path": query.link(query.names, query.rejected, ".json"),
        "where": query.where,
        "given": query.given,
        "may_filter": query.may_filter,
        "k": query.k,
        "most": MOST_HITS,
    }
    return Response.html(await datasette.render_template("setsearch_rows.html", page, request=request), status=status)


async def tables_page(datasette: Any, request: Any) -> Response:
    """The indexed tables that the visitor may see."""
    tables = []
    for database in datasette.databases:
        indexed = await _ask(datasette, database, lambda index: [own["place"] for own in index.info()["mirrors"]])
        for table in indexed or ():
            source = await _ask(datasette, database, partial(_source, table=table))
            if source and await _may(datasette, request.actor, "view-table", database, table):
                tables.append({"database": database, "table": table, "path": _path(datasette, database, table)})
    if request.url_vars["json"]:
        return Response.json({"ok": True, "tables": tables})
    return Response.html(await datasette.render_template("setsearch_tables.html", {"tables": tables}, request=request))


class _Query:
    """The query that a request asks of a table."""

    def __init__(self, datasette: Any, request: Any, database: str, table: str) -> None:
        self.datasette, self.database, self.table = datasette, database, table
        self.names, self.rejected = (
            [name for name in dict.fromkeys(request.args.getlist(key)) if name.strip()] for key in ("row", "not")
        )
        self.where = request.args.get("_where") or None
        self.asked = [name for name in request.args if not name.startswith("_")]  # those of Datasette and its plugins
        given = {name: [text for text in request.args.getlist(name) if text] for name in OPTIONS}
        self.given = {name: texts for name, texts in given.items() if texts}
        self.k = request.args.get("k") or 20
        self.may_filter = False

    def answer(self, source: dict[str, Any], index: setsearch.Index) -> dict[str, Any]:
        """Seeds and hits; raises SetsearchError."""
        require_known(self.asked, ("row", "not", "k", *OPTIONS), "Datasette")
        if self.where and not self.may_filter:
            raise SetsearchError("_where needs the permission to execute SQL")
        if self.where and source.get("copied"):
            raise SetsearchError(f"_where is for indexed tables, and {not_indexed(self.table)}")
        if not (self.names or {*EXAMPLES, *SAVED} & self.given.keys()):
            return {"behind": source["changed"], "copied": source.get("copied")}
        self.k = K.accept(self.k)
        reading = index.items(source["items"])
        self.names = [reading.find(name) for name in self.names]
        self.rejected = [reading.find(name) for name in self.rejected]
        for name in {*self.names}.intersection(self.rejected):
            raise SetsearchError(f"{name!r} is both a `row` and a `not`; leave it out of one")
        among = Where(self.where) if self.where else None
        options: Any = {name: OPTIONS[name].read(texts) for name, texts in self.given.items()}
        options |= {"among": among, "explain": True, "snippets": True}
        saved = taken(options, "set")
        asked = index.question(self.names, items=source["items"], exclude=self.rejected, **saved)
        found = asked.expand(self.k, **options).shared()
        hits, marked = with_headlines(reading, found), [*self.names, *self.rejected]
        titles = reading.titles(marked)
        titles |= reading.headlines([name for name, title in titles.items() if title is None])
        examples = [
            {"item": name, "title": titles.get(name), "href": self.row(source, name), "without": self._without(name)}
            for name in marked
        ]
        count = len(self.names)
        return {
            "seeds": examples[:count],
            "rejected": examples[count:],
            "hits": [
                self._shown(source, hit) | {"like": [titles.get(name) or name for name in hit.group]} for hit in hits
            ],
            "revision": hits.revision,
            "behind": source["changed"],
            "copied": source.get("copied"),
        }

    def _without(self, name: str) -> str:
        names, rejected = ([other for other in own if other != name] for own in (self.names, self.rejected))
        return self.link(names, rejected)

    def row(self, source: dict[str, Any], item: str) -> str:
        """The address of a row: its page, or the table filtered by its key."""
        urls = self.datasette.urls
        if source["primary"]:
            return str(urls.row(self.database, self.table, tilde_encode(item)))
        chosen: dict[str, Any] = {f"{source['key']}__exact": item}
        if source["key"] is None:  # of a view: its first row is 1, unless the column of ids has gone since
            chosen = {"_size": 1, "_next": int(item) - 1} if item.isdecimal() else {}
        return str(urls.table(self.database, self.table)) + "?" + urlencode(chosen)

    def link(self, names: list[str], rejected: list[str], suffix: str = "") -> str:
        """This page, with other examples."""
        parameters: dict[str, Any] = {"row": names, "not": rejected, "k": str(self.k), **self.given}
        parameters |= {"_where": self.where} if self.where else {}
        return _path(self.datasette, self.database, self.table, suffix, **parameters)

    def _shown(self, source: dict[str, Any], hit: setsearch.Hit) -> dict[str, Any]:
        return {
            "rank": hit.rank,
            "item": hit.item,
            "title": hit.title,
            "score": hit.score,
            "group": [*hit.group],
            "snippet": None if hit.snippet is None else hit.snippet._asdict(),
            "passage": [] if hit.snippet is None else hit.snippet.pieces(),
            "features": weight_rows(hit.features),
            "reasons": weight_rows(hit.reasons),
            "href": self.row(source, hit.item),
            "with": self.link([*self.names, hit.item], self.rejected),
            "reject": self.link(self.names, [*self.rejected, hit.item]),
        }


def _source(index: setsearch.Index, table: str) -> dict[str, Any] | None:
    """How a table is indexed: the name of its items, and their key column; None if it is not indexed."""
    return index.table_source(table, (TABLE, FTS5))


async def _source_of(datasette: Any, database: str, table: str) -> dict[str, Any] | None:
    """How a table is indexed, or would be copied; None if no rows of it can be asked for."""
    source: dict[str, Any] | None = await _ask(datasette, database, lambda index: _source(index, table))
    if source is not None or not _may_copy(datasette, database, table):
        return source
    with suppress(SetsearchError, sqlite3.Error):  # a menu has no entry then
        source = await _execute(datasette, database, partial(_copies.key, _place(datasette, database), table))
    return source


async def _rows_like(datasette: Any, database: str, table: str, request: Any) -> str | None:
    """The page of rows like the one that a request shows; None if no rows can be asked for."""
    source = await _source_of(datasette, database, table)
    if source is None:
        return None
    host, names = datasette.get_database(database), [*map(tilde_decode, request.url_vars["pks"].split(","))]
    if not source["primary"]:
        keys = await host.primary_keys(table) or ["rowid"]
        condition = " and ".join(f"{quote(key)} = ?" for key in keys)
        rows = await host.execute(f"select {quote(source['key'])} from {quote(table)} where {condition}", names)
        names = [str(name) for row in rows.rows for name in row if name is not None]
    return _path(datasette, database, table, row=names) if names else None


async def _answer(datasette: Any, query: "_Query") -> Any:
    """The answer of the index that has a table, or of its copy; raises SetsearchError."""
    database, table = query.database, query.table
    source = None
    with suppress(NoIndex):
        source = await _ask(datasette, database, lambda index: _source(index, table), strict=True)
    if source is not None and source["changed"] and _configured(datasette, database, table, "refresh", False):
        source = await _refreshed(datasette, database, table) or source
    if source is not None:
        return await _ask(datasette, database, partial(query.answer, source), strict=True)
    if not _may_copy(datasette, database, table):
        raise SetsearchError(not_indexed(table))
    copy = await _execute(datasette, database, partial(_copies.copy, _place(datasette, database), table))
    copied = datetime.fromtimestamp(copy.time, UTC).isoformat(timespec="seconds")
    source = {"items": "documents", "key": copy.key, "primary": copy.primary, "changed": None, "copied": copied}
    limit = datasette.setting("sql_time_limit_ms") / 1000
    return await _pool(copy.path, limit).ask(partial(query.answer, source))


def _place(datasette: Any, database: str) -> str:
    """What tells a database from all others."""
    path = datasette.get_database(database).path
    return f"{id(datasette)} {database}" if path is None else str(path)


def _may_copy(datasette: Any, database: str, table: str) -> bool:
    return _configured(datasette, database, table, "copies", True) and not table.lower().startswith(OUR_PREFIX)


def _configured(datasette: Any, database: str, table: str, name: str, default: bool) -> bool:
    own = datasette.plugin_config("setsearch", database=database, table=table) or {}
    return bool(own.get(name, default))


def _refresh(lent: sqlite3.Connection) -> None:
    """Apply the changes of tables, unless another writer takes long."""
    (usual,) = lent.execute("pragma busy_timeout").fetchone()
    lent.execute(f"pragma busy_timeout = {REFRESH_WAIT}")
    try:
        setsearch.open(lent).refresh()
    finally:
        lent.execute(f"pragma busy_timeout = {usual}")


async def _refreshed(datasette: Any, database: str, table: str) -> dict[str, Any] | None:
    """How a table is indexed once its changes are applied; None if that failed, and the answer says what it lacks."""
    host = datasette.get_database(database)
    if not host.is_mutable:
        return None
    try:
        await host.execute_write_fn(_refresh)
    except (SetsearchError, driver.Error) as error:
        _log.warning("%s is not refreshed: %s", database, error)
        return None
    source: dict[str, Any] | None = await _ask(datasette, database, lambda index: _source(index, table))
    return source


async def _execute(datasette: Any, database: str, read: Callable[[sqlite3.Connection], Any]) -> Any:
    """What is read by a connection of Datasette's, a few at a time."""
    async with _turns.setdefault(datasette, asyncio.Semaphore(WORKERS)):
        return await datasette.get_database(database).execute_fn(read)


@dataclass(frozen=True)
class _Connector:
    """Connects to a file by an SQLite that is not Python's: two in a process end one another's locks on it."""

    path: str
    options: str

    def __str__(self) -> str:
        return self.path

    def __call__(self) -> Any:
        address = f"{Path(self.path).resolve().as_uri()}?{self.options}"
        return driver.connect(address, uri=True, check_same_thread=False)


def _pool(place: str | Path | _Connector, limit: float) -> QuestionPool:
    """What asks the index in a file."""
    key = (str(place), limit)
    if key not in _pools:
        for gone in [own for own in _pools if not Path(own[0]).exists()]:  # copies that are not kept
            del _pools[gone]
        _pools[key] = QuestionPool(place, ANSWER_SECONDS, time_limit=limit)
    return _pools[key]


async def _ask(datasette: Any, database: str, question: Callable[[setsearch.Index], Any], strict: bool = False) -> Any:
    """Ask the index in a database, in few threads. Unless `strict`, an error gives None.

    A database in memory has its connections in Datasette's threads, so few questions at a time go there.
    """
    opened, limit = datasette.get_database(database), datasette.setting("sql_time_limit_ms") / 1000
    try:
        if opened.path is None:
            return await _execute(datasette, database, lambda lent: question(setsearch.open(lent, time_limit=limit)))
        place: Any = opened.path
        if driver is not sqlite3:  # but pysqlite3, which Datasette prefers
            place = _Connector(str(place), "mode=ro" if opened.is_mutable else "immutable=1")
        if (str(place), limit) not in _pools:
            watch_damage(place, _log.error)
        return await _pool(place, limit).ask(question)
    except SetsearchError:
        if strict:
            raise
        return None


async def _may(datasette: Any, actor: Any, action: str, database: str, table: str = "") -> bool:
    if hasattr(datasette, "allowed"):
        from datasette.resources import DatabaseResource, TableResource

        resource = TableResource(database, table) if table else DatabaseResource(database)
        return bool(await datasette.allowed(action=action, resource=resource, actor=actor))
    if not table:
        return bool(await datasette.permission_allowed(actor, action, resource=database, default=True))
    permissions = [(action, (database, table)), ("view-database", database), "view-instance"]
    return bool((await datasette.check_visibility(actor, permissions=permissions))[0])


def _path(datasette: Any, database: str, table: str, suffix: str = "", **query: Any) -> str:
    path = f"/-/setsearch/{tilde_encode(database)}/{tilde_encode(table)}{suffix}"
    parameters = urlencode(query, doseq=True)
    return str(datasette.urls.path(path + ("?" + parameters if parameters else "")))
