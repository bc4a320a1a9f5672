"""Datasette: a page that expands a set of rows of an indexed table, JSON beside it, and our SQL functions.

    /-/setsearch                                             the indexed tables
    /-/setsearch/DATABASE/TABLE?row=1&row=4&not=7&k=20        and the same with .json

Of a table that is not indexed (`setsearch index DB --table ...`) a copy answers (table_copies.py), unless {"plugins":
{"setsearch": {"copies": false}}} forbids it. With {"refresh": true} there, changes of a tracked table are applied
before a question, by Datasette's own connection for writes. Whoever may see the table may see the page. Our own
tables hold the words of all texts, so they have no pages. Runs on Datasette 0.65 and 1.0a.
"""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from datasette import Forbidden, NotFound, Response, hookimpl
from datasette.utils import tilde_decode, tilde_encode
from jinja2 import FileSystemLoader

import setsearch
from setsearch.answers.highlight import with_headlines
from setsearch.answers.results import weight_rows
from setsearch.errors import SetsearchError
from setsearch.integrations.datasette_tables import OUR_PREFIX, HostTable, Source
from setsearch.integrations.table_copies import not_indexed
from setsearch.memory.where import Where
from setsearch.options import EXAMPLES, SAVED, offered, require_known, taken
from setsearch.pool import until_gone
from setsearch.search.request import K

MOST_HITS = 200  # on one page
OPTIONS = {**offered("Datasette"), **SAVED}
SHOWN = K._replace(most=MOST_HITS)
ROW_LINK = """
const link = document.createElement("a");
link.href = %s;
link.textContent = "Rows like this";
document.querySelector("h1").after(link);
"""


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
        own = HostTable(datasette, database, table)
        return [{"href": own.path(), "label": "Expand a set of rows"}] if await own.source() else []

    return _actions


@hookimpl(optionalhook=True)
def row_actions(datasette: Any, database: str, table: str, request: Any) -> Callable[[], Any]:
    """An entry in the menu of a row (1.0)."""

    async def _actions() -> list[dict[str, str]]:
        path = await HostTable(datasette, database, table).page_of_row(request)
        return [{"href": path, "label": "Rows like this"}] if path else []

    return _actions


@hookimpl
def extra_body_script(datasette: Any, view_name: str, database: str, table: str, request: Any) -> Any:
    """A link on the page of a row (0.65, which has no menu there)."""
    if view_name != "row" or hasattr(datasette, "allowed"):
        return None

    async def _script() -> str:
        path = await HostTable(datasette, database, table).page_of_row(request)
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
    own = HostTable(datasette, database, table)
    if database not in datasette.databases or not await own.may(request.actor, "view-table"):
        raise Forbidden(f"view-table {database} {table}")
    host = datasette.get_database(database)
    if table not in [*await host.table_names(), *await host.view_names()]:
        raise NotFound(f"{database} has no table {table}")
    answer: dict[str, Any] = {"database": database, "table": table, "seeds": [], "rejected": [], "hits": []}
    # how many writes the hits know; of a tracked table, how many rows have changed since; of a copy, when it was read
    answer |= {"error": None, "revision": None, "behind": None, "copied": None}
    query = _Query(own, request)
    try:
        query.may_filter = await HostTable(datasette, database).may(request.actor, "execute-sql")
        answer |= await until_gone(request.receive, own.answer(query.answer))
    except SetsearchError as error:
        answer["error"] = str(error)
    status = 400 if answer["error"] else 200
    if request.url_vars["json"]:
        hits = [{key: hit[key] for key in hit if key not in ("passage", "like")} for hit in answer["hits"]]
        return Response.json({"ok": status == 200} | answer | {"hits": hits}, status=status)
    page = answer | {
        "path": own.path(),
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
        host = HostTable(datasette, database)
        for name in await host.ask(lambda index: [own["place"] for own in index.info()["mirrors"]]) or ():
            own = HostTable(datasette, database, name)
            if await own.indexed() and await own.may(request.actor, "view-table"):
                tables.append({"database": database, "table": name, "path": own.path()})
    if request.url_vars["json"]:
        return Response.json({"ok": True, "tables": tables})
    return Response.html(await datasette.render_template("setsearch_tables.html", {"tables": tables}, request=request))


class _Query:
    """The query that a request asks of a table."""

    def __init__(self, table: HostTable, request: Any) -> None:
        self.table = table
        self.names, self.rejected = (
            [name for name in dict.fromkeys(request.args.getlist(key)) if name.strip()] for key in ("row", "not")
        )
        self.where = request.args.get("_where") or None
        self.asked = [name for name in request.args if not name.startswith("_")]  # those of Datasette and its plugins
        given = {name: [text for text in request.args.getlist(name) if text] for name in OPTIONS}
        self.given = {name: texts for name, texts in given.items() if texts}
        self.k = request.args.get("k") or 20
        self.may_filter = False

    def answer(self, source: Source, index: setsearch.Index) -> dict[str, Any]:
        """Seeds and hits; raises SetsearchError."""
        require_known(self.asked, ("row", "not", "k", *OPTIONS), "Datasette")
        if self.where and not self.may_filter:
            raise SetsearchError("_where needs the permission to execute SQL")
        if self.where and source.get("copied"):
            raise SetsearchError(f"_where is for indexed tables, and {not_indexed(self.table.name)}")
        if not (self.names or {*EXAMPLES, *SAVED} & self.given.keys()):
            return {"behind": source["changed"], "copied": source.get("copied")}
        self.k = SHOWN.accept(self.k)
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

    def row(self, source: Source, item: str) -> str:
        """The address of a row: its page, or the table filtered by its key."""
        urls, place = self.table.datasette.urls, (self.table.database, self.table.name)
        if source["primary"]:
            return str(urls.row(*place, tilde_encode(item)))
        chosen: dict[str, Any] = {f"{source['key']}__exact": item}
        if source["key"] is None:  # of a view: its first row is 1, unless the column of ids has gone since
            chosen = {"_size": 1, "_next": int(item) - 1} if item.isdecimal() else {}
        return str(urls.table(*place)) + "?" + urlencode(chosen)

    def link(self, names: list[str], rejected: list[str], suffix: str = "") -> str:
        """This page, with other examples."""
        parameters: dict[str, Any] = {"row": names, "not": rejected, "k": str(self.k), **self.given}
        parameters |= {"_where": self.where} if self.where else {}
        return self.table.path(suffix, **parameters)

    def _shown(self, source: Source, hit: setsearch.Hit) -> dict[str, Any]:
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
