"""Who may ask: tokens, origins, hosts, the size of requests and the time that they may take."""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from setsearch.errors import (
    Cancelled,
    ChangedSet,
    DatabaseError,
    Fault,
    QueryError,
    ReadOnlyDatabase,
    SetsearchError,
    UsageError,
)
from setsearch.index import Index
from setsearch.pool import QuestionPool, Unavailable, until_gone

COOKIE = "setsearch_token"
Answer = Callable[[Request], Awaitable[Response]]
REFUSED = (ChangedSet, UsageError, QueryError)  # what a form asks in vain: told on the page that it was on
LARGEST_BODY = 1 << 20  # bytes
BODY_SECONDS = 10.0  # until a body must be there
FREE_GUESSES = 5  # wrong tokens of one address before it has to wait
LONGEST_WAIT = 60.0  # seconds between two guesses
MOST_GUESSES = 100  # that are counted
ADDRESSES = 10_000  # whose guesses are remembered
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


class Guesses:
    """Wrong tokens by client address: after FREE_GUESSES each next one has to wait, twice as long every time."""

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[int, float, int]] = {}  # number, time of the last one, its hash: it may be long

    def require_patience(self, address: str) -> None:
        """Refuse to look at a token of an address that has guessed too often; raises HTTPException 429."""
        count, last, _ = self._wrong.get(address, (0, 0.0, 0))
        if count >= FREE_GUESSES:
            left = last + min(LONGEST_WAIT, 2.0 ** (count - FREE_GUESSES)) - time.monotonic()
            if left > 0:
                wait = str(int(left) + 1)
                raise HTTPException(429, f"too many wrong tokens; try again in {wait} seconds", {"retry-after": wait})

    def note(self, address: str, token: str) -> None:
        """Note a wrong token; the same one again, as browsers send it with each request, is no new guess."""
        count, _, before = self._wrong.pop(address, (0, 0.0, 0))
        if len(self._wrong) >= ADDRESSES:
            del self._wrong[next(iter(self._wrong))]
        self._wrong[address] = (min(count + (hash(token) != before), MOST_GUESSES), time.monotonic(), hash(token))

    def forget(self, address: str) -> None:
        self._wrong.pop(address, None)


@dataclass(frozen=True)
class Rules:
    """`token`: required from everybody; `read_only`: sets are not saved; `origins`: other origins whose pages may ask.

    `hosts`: the names of the server, all by default. A server on loopback should name them: otherwise a foreign page
    could reach it under a name of its own (DNS rebinding). `prefix`: the path under which a proxy shows a server.
    """

    token: str | None = None
    read_only: bool = False
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    seconds: float = 10.0
    prefix: str = ""
    guesses: Guesses = field(default_factory=Guesses, compare=False)

    def is_known(self, request: Request, secret: str, expected: str | None) -> bool:
        """Whether a secret is the expected one, or none is. Raises HTTPException 429 after many wrong ones."""
        if expected is None:
            return True
        address = request.client.host if request.client else ""
        self.guesses.require_patience(address)
        if hmac.compare_digest(secret.encode(), expected.encode()):
            self.guesses.forget(address)
            return True
        if secret:
            self.guesses.note(address, secret)
        return False

    @property
    def cookie(self) -> str | None:
        return None if self.token is None else hashlib.sha256(self.token.encode()).hexdigest()

    def require_token(self, request: Request) -> None:
        """Refuse a request without the token, in a header or in the cookie of the page."""
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        token = encoded.encode("latin-1").decode("utf-8", "replace")  # headers are decoded as latin-1
        given = (token, self.token) if scheme.lower() == "bearer" else (request.cookies.get(COOKIE, ""), self.cookie)
        if not self.is_known(request, *given):
            raise HTTPException(401, "this index asks for a token; send it as `Authorization: Bearer TOKEN`")

    def require_write(self, request: Request) -> None:
        """Refuse changes if read-only, and from other origins."""
        if self.read_only:
            raise HTTPException(403, "this server only reads; sets cannot be changed here")
        self.require_same_origin(request)

    def require_documents(self, request: Request) -> None:
        """Refuse to write documents if read-only, without a token of the server, and from other origins."""
        if self.token is None:
            raise HTTPException(403, "documents are written only on a server with a token (--token)")
        self.require_write(request)

    def require_same_origin(self, request: Request) -> None:
        """Refuse what a page of another origin sends with the visitor's browser."""
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if origin in self.origins or site == "same-origin":  # the browser knows, whatever name a proxy asks by
            return
        if site not in (None, "none") or (origin is not None and not _is_same(origin, request)):
            raise HTTPException(403, "a page from elsewhere may not change anything here")


class Pages:
    """Routes of pages, each with what a request must pass. They need Starlette alone, which runs in a browser too.

    `pool` asks the index, `render` makes HTML of a template: (request, name, **values).
    """

    def __init__(self, rules: Rules, pool: QuestionPool, render: Callable[..., str]) -> None:
        self.routes: list[BaseRoute] = []
        self.pool, self._render, self._rules = pool, render, rules

    async def show(
        self, request: Request, template: str, values: Callable[[Index], dict[str, Any]], status: int = 200
    ) -> Response:
        """A page, with what the index tells for its template."""
        html = await self.pool.ask(lambda index: self._render(request, template, **values(index)))
        return HTMLResponse(html, status)

    def get(self, path: str) -> Callable[[Answer], Answer]:
        """Add what answers a path to those who may read."""
        return self.add("GET", path, self._rules.require_token)

    def post(self, path: str) -> Callable[[Answer], Answer]:
        """Add what answers a path to those who may write."""
        return self.add("POST", path, self._rules.require_token, self._rules.require_write)

    def add(self, method: str, path: str, *checks: Callable[[Request], None]) -> Callable[[Answer], Answer]:
        """Add what answers a path after some checks, which raise HTTPException."""

        def decorate(answer: Answer) -> Answer:
            async def run(request: Request) -> Response:
                for check in checks:
                    check(request)
                return await answer(request)

            self.routes.append(Route(path, run, methods=[method]))
            return answer

        return decorate


def status_of(error: SetsearchError) -> int:
    """The status of an answer that tells an error."""
    if isinstance(error, LookupError):
        return 404
    if isinstance(error, ReadOnlyDatabase):
        return 403
    if isinstance(error, ChangedSet):
        return 409
    if isinstance(error, Fault):
        return 500
    return 503 if isinstance(error, DatabaseError | Unavailable) else 422


def _is_same(origin: str, request: Request) -> bool:
    """Whether an origin is that of the server: its host, and its scheme, which a proxy before it may have made safe."""
    try:
        scheme, host, *_ = urlsplit(origin)
    except ValueError:
        return False
    return host == request.headers.get("host") and scheme in {request.url.scheme, "https"}


class KnownHosts:
    """ASGI middleware: refuses requests to a name that is none of the server, as Starlette's does, but in JSON."""

    def __init__(self, app: ASGIApp, names: tuple[str, ...]) -> None:
        self._app, self._names = app, list(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer that it is refused."""
        is_known = False

        async def pass_on(*_: Any) -> None:
            nonlocal is_known
            is_known = True

        async def unsaid(_: Message) -> None:
            """What it would say in plain text."""

        await TrustedHostMiddleware(pass_on, self._names, www_redirect=False)(scope, receive, unsaid)
        if is_known:
            await self._app(scope, receive, send)
            return
        name = Request(scope).headers.get("host", "")
        problem = f"{name!r:.80} is no name of this server; `setsearch serve --name` gives it more"
        await JSONResponse({"error": problem}, 400)(scope, receive, send)


class RequestLimits:
    """ASGI middleware: limits the size and the time of bodies, stops answers that nobody waits for, and adds headers.

    The headers forbid what our pages do not need.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with its whole body; HEAD as GET, whose body the server leaves out."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = {**scope, "method": "GET" if scope["method"] == "HEAD" else scope["method"]}
        body = await _read_body(receive)
        is_given = False

        async def given() -> Message:
            nonlocal is_given
            if is_given:  # nothing else comes, and if the client goes, all of this is cancelled
                await asyncio.Event().wait()
            is_given = True
            if isinstance(body, HTTPException):
                raise body
            return {"type": "http.request", "body": body, "more_body": False}

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                added = HEADERS | ({"cache-control": "no-cache"} if b"etag" in names else {})  # the browser asks again
                more: list[Any] = [(k.encode(), v.encode()) for k, v in added.items() if k.encode() not in names]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        with suppress(Cancelled):  # nobody is there to be told
            await until_gone(receive, self.app(scope, given, guarded))


async def _read_body(receive: Receive) -> bytes | HTTPException:
    """The body of a request, or why it is refused."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > LARGEST_BODY:
                    return HTTPException(413, f"a request has at most {LARGEST_BODY:,} bytes")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return HTTPException(408, f"the request was not complete within {BODY_SECONDS:g} seconds")
