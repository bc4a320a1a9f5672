"""The page: HTML that works without scripts. Its URL holds its whole state."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from setsearch.errors import InvalidParameter, SetsearchError, UnknownReading
from setsearch.index import Index
from setsearch.learning.spreadsheets import csv_text
from setsearch.options import require_known
from setsearch.pool import QuestionPool
from setsearch.web.access import COOKIE, REFUSED, Pages, Rules, status_of
from setsearch.web.groups import add_groups
from setsearch.web.inbox import LONGEST_PAST, add_inbox
from setsearch.web.page_state import MOST_NAMES, Address, attachment, read_form, redirect, root_of
from setsearch.web.review import add_review
from setsearch.web.start import label_of
from setsearch.web.typed_names import MOST_HINTS, find_spelled, saved_set, without_commands
from setsearch.web.view import export_rows, make_view, open_item

HERE = Path(__file__).parent
TYPES = {"csv": "text/csv", "json": "application/json", "txt": "text/plain"}
EXPORTED = ("item", "title", "status", "score", "group")
Render = Callable[..., str]


def make_render(place: str, rules: Rules) -> Render:
    """Make the function that renders a template: (request, name, **values) to escaped HTML."""
    pages = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals |= {
        "MOST_HINTS": MOST_HINTS,
        "address": Address,
        "label_of": label_of,
        "place": place,
        "query": lambda **parameters: "?" + urlencode(parameters),
        "read_only": rules.read_only,
    }

    def render(request: Request, name: str, **values: Any) -> str:
        return pages.get_template(name).render(root=request.scope.get("root_path", ""), **values)

    return render


def make_pages(pool: QuestionPool, rules: Rules, render: Render) -> Pages:
    pages = Pages(rules, pool, render)
    add_review(pages)
    add_inbox(pages)
    add_groups(pages)
    _add_sets(pages)

    @pages.get("/")
    async def set_page(request: Request) -> Response:
        state = Address.of(request, "deleted", "freed", "kept")
        gone: dict[str, Any] = {name: request.query_params.getlist(name)[:MOST_NAMES] for name in ("deleted", "freed")}
        gone["kept"] = _back(request.query_params, "kept")
        return await _show_set(pages, request, state, gone=gone)

    @pages.get("/item")
    async def item_page(request: Request) -> Response:
        state, name = Address.of(request, "open"), request.query_params.get("open", "")
        return await pages.show(request, "item.html", lambda index: {"found": open_item(index, state, name)})

    @pages.get("/open")
    async def open_set(request: Request) -> Response:
        require_known(request.query_params, ("name",))
        name = request.query_params.get("name", "")
        saved = await pages.pool.ask(lambda index: saved_set(index, name))
        members = tuple(saved.accepted), tuple(saved.rejected)
        if max(map(len, members)) > MOST_NAMES:
            what = f"{name!r} has {len(members[0]):,} accepted and {len(members[1]):,} rejected items"
            raise InvalidParameter(f"{what}, and at most {MOST_NAMES} fit on a page; its inbox and its review open")
        return redirect(request, str(Address(saved.items, *members, set=name, version=saved.version)))

    @pages.get("/export.{kind}")
    async def export(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in TYPES:
            raise HTTPException(404, f"sets are exported as {', '.join(TYPES)}, not as {kind}")
        state = Address.of(request)
        rows = await pages.pool.ask(lambda index: export_rows(index, state))
        return attachment(_format(rows, kind), f"set.{kind}", TYPES[kind])

    @pages.add("POST", "/token", rules.require_same_origin)
    async def sign_in(request: Request) -> Response:
        form = await read_form(request)
        if not rules.is_known(request, form.get("token", ""), rules.token):
            raise HTTPException(401, "that is not the token")
        answer = redirect(request, request.query_params.get("back", "").lstrip("/"))  # a page of ours: /NAME
        # SameSite=Lax: links from other sites keep the login. Requests that change something must have the same origin.
        flags: Any = {"httponly": True, "samesite": "lax", "secure": request.url.scheme == "https"}
        answer.set_cookie(COOKIE, rules.cookie or "", path=root_of(request) + "/", **flags)
        return answer

    return pages


async def _show_set(
    pages: Pages, request: Request, state: Address, error: SetsearchError | None = None, **more: Any
) -> Response:
    """The page of a set; with `error`, why what was asked for it was refused. Nothing that stands there is lost."""
    if error is not None and not state.seeds:  # there is no such page
        raise error
    refused = None if error is None else without_commands(str(error))
    status = 200 if error is None else status_of(error)
    values = {"gone": None, "set_name": state.set, "refused": refused} | more
    return await pages.show(request, "set.html", lambda index: {"view": make_view(index, state), **values}, status)


def _add_sets(pages: Pages) -> None:
    @pages.post("/sets")
    async def save(request: Request) -> Response:
        form = await read_form(request)
        state, name = Address.read(form), form.get("name", "").strip()
        try:
            version = await pages.pool.ask(lambda index: _save(index, state, name))
        except REFUSED as error:
            return await _show_set(pages, request, state, error, set_name=name)
        return redirect(request, str(state.replace(set=name, version=version)))

    @pages.post("/place")
    async def place(request: Request) -> Response:
        form = await read_form(request)

        def _put(index: Index) -> None:
            own = saved_set(index, form.get("name", ""))
            own.group, own.under = form.get("group"), form.get("under")
            own.save()

        try:
            await pages.pool.ask(_put)
        except REFUSED as error:
            return await _show_set(pages, request, _back(form), error)
        return redirect(request, str(_back(form)))

    @pages.post("/forget")
    async def forget(request: Request) -> Response:
        form = await read_form(request)
        name, back = form.get("name", ""), _back(form)
        kept, parts = await pages.pool.ask(lambda index: (_examples_of(index, name), index.delete_set(name)))
        here = back.replace(set=None, version=None) if back.set == name else back
        told = [("deleted", name), *(("freed", part) for part in parts[:MOST_NAMES])]
        told += [("kept", str(kept))] if len(str(kept)) < LONGEST_PAST else []
        return redirect(request, "?" + urlencode([*here.pairs(), *told]))


def _back(form: QueryParams, name: str = "back") -> Address:
    """The page that a form was on, or another that it names."""
    return Address.read(QueryParams(form.get(name, "").removeprefix("?")))


def _examples_of(index: Index, name: str) -> Address:
    """The page of what is saved in a set, under its name; of nothing if the index has no such items any more."""
    with suppress(UnknownReading):
        own = saved_set(index, name)
        return Address(own.items, tuple(own.accepted), tuple(own.rejected), set=name)
    return Address()


def _save(index: Index, state: Address, name: str) -> str:
    """Save a set, and return its version; it replaces one of the same name only if that one was opened."""
    if not name:
        raise InvalidParameter("a set needs a name; type one")
    reading = index.reading(state.items)
    accepted, rejected = ([find_spelled(reading, name) for name in names] for names in (state.seeds, state.rejected))
    version = (state.version if state.set == name else None) or ""
    return index.keep_set(name, accepted, rejected, reading.name, version).version


def _format(rows: list[dict[str, Any]], kind: str) -> str:
    """CSV and JSON with all rows; or a plain list of the examples and the items that belong."""
    if kind == "json":
        return json.dumps(rows, ensure_ascii=False, indent=1)
    if kind == "csv":
        return csv_text(({**row, "group": ", ".join(row["group"])} for row in rows), EXPORTED)
    statuses = {"example", "belongs"} if any(row["status"] == "belongs" for row in rows) else {"example", "suggested"}
    return "".join(f"{row['item']}\n" for row in rows if row["status"] in statuses)
