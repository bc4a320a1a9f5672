"""The page and the JSON API, as an ASGI application: `setsearch serve DB`, or mounted in another application.

app.mount("/sets", make_app("notes.db"))
"""

from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

for _package in ("starlette", "jinja2"):
    if find_spec(_package) is None:
        raise ImportError(f"setsearch.web needs {_package}: pip install 'setsearch[web]'")

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

import setsearch
from setsearch.errors import DatabaseError, NoIndex, SetsearchError
from setsearch.index import Index
from setsearch.options import in_words
from setsearch.pool import QuestionPool, Unavailable
from setsearch.web.access import KnownHosts, RequestLimits, Rules, status_of
from setsearch.web.page import HERE, Render, make_pages, make_render
from setsearch.web.typed_names import without_commands

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Rules", "make_app"]

TITLES = {
    401: "This index asks for a token",
    403: "Not allowed",
    404: "Not here",
    408: "Too slow",
    413: "Too large",
    422: "That has no answer",
    429: "Too many attempts",
    503: "Not now",
}


def make_app(place: str | Path | Index, rules: Rules | None = None) -> "FastAPI":
    """Make an application for the index of a database.

    `place` is a path: threads cannot share a lent connection. The application needs no lifespan and can be mounted.
    """
    from fastapi import FastAPI  # the page does without: a browser has none
    from fastapi.exceptions import RequestValidationError

    from setsearch.web.api import make_api

    rules = rules or Rules()
    pool = QuestionPool(place, rules.seconds, read_only=rules.read_only)
    app = FastAPI(
        title="setsearch",
        summary="Give it a few examples, get the rest of the set.",
        version=setsearch.__version__,
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,  # how generated clients call their functions
    )
    name = Path(place).name if not isinstance(place, Index) else str(pool.place)
    render = make_render(name, rules)
    api, pages = make_api(pool, rules), make_pages(pool, rules, render)
    app.include_router(api)
    app.router.routes += [*pages.routes, Mount("/static", StaticFiles(directory=HERE / "static"))]
    _answer_errors(app, render, [*api.routes, *pages.routes])
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_middleware(GZipMiddleware, compresslevel=5)  # a page of 70 kB is one of 9
    app.add_middleware(RequestLimits)
    if rules.origins:  # a question may be a POST, too, and `read_only` is said in words
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        app.add_middleware(
            CORSMiddleware, allow_origins=rules.origins, allow_methods=methods, allow_headers=["authorization"]
        )
    if rules.hosts:
        app.add_middleware(KnownHosts, names=rules.hosts)
    return app


def make_page(pool: QuestionPool, place: str) -> Starlette:
    """Make an application of the page alone, without the API, which needs FastAPI: what answers in a browser."""
    rules = Rules()
    render = make_render(place, rules)
    pages = make_pages(pool, rules, render)

    @pages.get("/api/complete")
    async def complete(request: Request) -> Response:
        """What the page asks the API for."""
        items, prefix, k = (request.query_params[name] for name in ("items", "prefix", "k"))
        rows = await pool.ask(lambda index: index.reading(items).find_names(prefix, int(k)))
        return JSONResponse([row._asdict() for row in rows])

    app = Starlette(routes=pages.routes)
    _answer_errors(app, render, pages.routes)
    return app


def _answer_errors(app: Starlette, render: Render, known: list[BaseRoute]) -> None:
    """Answer errors as JSON below /api, else as a page: one line, never a traceback."""

    def _answer(request: Request, status: int, problem: str, **more: Any) -> Response:
        problem, headers = " ".join(problem.splitlines()), dict(more.pop("headers", None) or {})
        headers |= {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": "3"} if status == 503 else {}
        if _path(request).startswith("/api/"):
            return JSONResponse({"error": problem}, status, headers)
        shown: dict[str, Any] = {"retry": False, "sign_in": status == 401} | more
        is_page = request.method == "GET"
        own = f"{_path(request)}?{request.url.query}"
        back = own if is_page else request.query_params.get("back", _came_from(request))
        shown |= {"back": back, "retry": shown["retry"] and is_page}
        title = shown.pop("title", None) or TITLES.get(status, "That did not work")
        page = render(request, "problem.html", title=title, problem=without_commands(problem), **shown)
        return HTMLResponse(page, status, headers)

    async def _refused(request: Request, error: SetsearchError) -> Response:
        if isinstance(error, NoIndex | FileNotFoundError) and isinstance(error, DatabaseError):
            return _answer(request, 503, "There is nothing to search yet.", title="No index here")
        return _answer(request, status_of(error), str(error), retry=isinstance(error, Unavailable))

    async def _refused_by_rule(request: Request, error: HTTPException) -> Response:
        headers, problem = error.headers, str(error.detail)
        if error.status_code == 400 and isinstance(error.__cause__, RecursionError | UnicodeDecodeError):
            problem = "nested too deep" if isinstance(error.__cause__, RecursionError) else "not UTF-8"
            return _answer(request, 422, f"the body is {problem}; /openapi.json has what it may be")
        if error.status_code == 405:  # the router names the methods of one route only
            routes = [route for route in known if isinstance(route, Route) and route.path_regex.match(_path(request))]
            methods = ", ".join(sorted({method for route in routes for method in route.methods or ()}))
            problem = f"{request.method} is not for {_path(request):.100}; it takes {methods}"
            headers = {"allow": methods}
        elif problem == HTTPStatus.NOT_FOUND.phrase:  # of the router
            is_api = _path(request).startswith("/api/")
            problem = f"there is no {_path(request):.100}" + "; /openapi.json describes the API" * is_api
        return _answer(request, error.status_code, problem, headers=headers)

    async def _exhausted(request: Request, error: MemoryError) -> Response:
        return _answer(request, 503, "the server is out of memory; ask again later, or for less", retry=True)

    async def _failed(request: Request, error: Exception) -> Response:
        return _answer(request, 500, "an internal error; the log of the server has it")

    answers: dict[Any, Any] = {SetsearchError: _refused, HTTPException: _refused_by_rule, MemoryError: _exhausted}
    for kind, answer in {**answers, Exception: _failed}.items():
        app.add_exception_handler(kind, answer)  # none needs a thread, as none starts in a browser


async def _answer_invalid(request: Request, error: Any) -> Response:
    """What pydantic refuses, of the API alone: what it found first, in one line."""
    part = error.errors()[0]
    is_json = part["loc"][0] != "body" or "json" in request.headers.get("content-type", "")
    way_out = "" if is_json else "; send it with the header `content-type: application/json`"
    place = part["loc"][1:]
    problem = in_words({**part, "loc": place})
    if part["type"] == "json_invalid":
        problem = f"the body is broken JSON at character {place[0]}: {part['ctx']['error']}"
    return JSONResponse({"error": problem + way_out}, 422)


def _path(request: Request) -> str:
    """The path inside this application, wherever it is mounted."""
    return str(request.scope["path"]).removeprefix(str(request.scope.get("root_path", "")))


def _came_from(request: Request) -> str:
    """The page of ours with the form that was sent; empty if the browser does not tell."""
    came = request.headers.get("referer", "").partition("://")[2]
    start = request.headers.get("host", "") + str(request.scope.get("root_path", "")) + "/"
    return "/" + came.removeprefix(start) if came.startswith(start) else ""
