"""The page and the JSON API, as an ASGI application: `setsearch serve DB`, or mounted in another application.

app.mount("/sets", make_app("notes.db"))
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.staticfiles import StaticFiles

import setsearch
from setsearch.errors import ChangedSet, DatabaseError, Fault, NoIndex, ReadOnlyDatabase, SetsearchError
from setsearch.index import Index
from setsearch.options import in_words
from setsearch.pool import QuestionPool, Unavailable
from setsearch.web.access import HeadAnswers, RequestLimits, Rules
from setsearch.web.api import make_api
from setsearch.web.page import HERE, Render, make_pages, make_render
from setsearch.web.typed_names import without_commands

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


def make_app(place: str | Path | Index, rules: Rules | None = None) -> FastAPI:
    """Make an application for the index of a database.

    `place` is a path: threads cannot share a lent connection. The application needs no lifespan and can be mounted.
    """
    rules = rules or Rules()
    pool = QuestionPool(place, rules.seconds, read_only=rules.read_only)
    app = FastAPI(
        title="setsearch",
        summary="Give it a few examples, get the rest of the set.",
        version=setsearch.__version__,
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
    )
    name = Path(place).name if not isinstance(place, Index) else str(pool.place)
    render = make_render(name, rules)
    routers = [make_api(pool, rules), make_pages(pool, rules, render)]
    for router in routers:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=HERE / "static"))
    _answer_errors(app, render, [route for router in routers for route in router.routes])
    app.add_middleware(RequestLimits)
    app.add_middleware(HeadAnswers)
    if rules.origins:
        methods = ["GET"] if rules.read_only else ["GET", "POST", "PUT", "DELETE"]
        app.add_middleware(
            CORSMiddleware, allow_origins=rules.origins, allow_methods=methods, allow_headers=["authorization"]
        )
    if rules.hosts:
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(rules.hosts), www_redirect=False)
    return app


def _answer_errors(app: FastAPI, render: Render, known: list[BaseRoute]) -> None:
    """Answer errors as JSON below /api, else as a page: one line, never a traceback."""

    def _answer(request: Request, status: int, problem: str, **more: Any) -> Response:
        headers = dict(more.pop("headers", None) or {})
        headers |= {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": "3"} if status == 503 else {}
        if _path(request).startswith("/api/"):
            return JSONResponse({"error": problem}, status, headers)
        shown: dict[str, Any] = {"retry": False, "sign_in": status == 401} | more
        shown |= {"back": "?" + request.url.query, "retry": shown["retry"] and request.method == "GET"}
        title = shown.pop("title", None) or TITLES.get(status, "That did not work")
        page = render(request, "problem.html", title=title, problem=without_commands(problem), **shown)
        return HTMLResponse(page, status, headers)

    @app.exception_handler(SetsearchError)
    def _refused(request: Request, error: SetsearchError) -> Response:
        if isinstance(error, NoIndex | FileNotFoundError) and isinstance(error, DatabaseError):
            return _answer(request, 503, "There is nothing to search yet.", title="No index here")
        return _answer(request, _status_of(error), str(error), retry=isinstance(error, Unavailable))

    @app.exception_handler(RequestValidationError)
    def _invalid(request: Request, error: RequestValidationError) -> Response:
        is_body = any(part["loc"][0] == "body" for part in error.errors())
        is_json = not is_body or "json" in request.headers.get("content-type", "")
        way_out = "" if is_json else "; send it with the header `content-type: application/json`"
        return _answer(request, 422, _what_is_invalid(error.errors()[0]) + way_out)

    @app.exception_handler(HTTPException)
    def _refused_by_rule(request: Request, error: HTTPException) -> Response:
        headers = error.headers
        if error.status_code == 405:  # the router names the methods of one route only
            routes = [route for route in known if isinstance(route, Route) and route.path_regex.match(_path(request))]
            headers = {"allow": ", ".join(sorted({method for route in routes for method in route.methods or ()}))}
        return _answer(request, error.status_code, str(error.detail), headers=headers)

    @app.exception_handler(MemoryError)
    def _exhausted(request: Request, error: MemoryError) -> Response:
        return _answer(request, 503, "the server is out of memory; ask again later, or for less", retry=True)

    @app.exception_handler(Exception)
    def _failed(request: Request, error: Exception) -> Response:
        return _answer(request, 500, "an internal error; the log of the server has it")


def _what_is_invalid(part: Mapping[str, Any]) -> str:
    """What pydantic found first, in one line."""
    place = part["loc"][1:]
    if part["type"] == "json_invalid":
        return f"the body is broken JSON at character {place[0]}: {part['ctx']['error']}"
    return in_words({**part, "loc": place})


def _path(request: Request) -> str:
    """The path inside this application, wherever it is mounted."""
    return str(request.scope["path"]).removeprefix(str(request.scope.get("root_path", "")))


def _status_of(error: SetsearchError) -> int:
    if isinstance(error, LookupError):
        return 404
    if isinstance(error, ReadOnlyDatabase):
        return 403
    if isinstance(error, ChangedSet):
        return 409
    if isinstance(error, Fault):
        return 500
    return 503 if isinstance(error, DatabaseError | Unavailable) else 422
