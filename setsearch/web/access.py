"""Who may ask: tokens, origins, hosts, the size of requests."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "setsearch_token"
LARGEST_BODY = 1 << 20  # bytes
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Rules:
    """`token`: required from everybody; `read_only`: sets are not saved; `origins`: other origins whose pages may ask.

    `hosts`: the names of the server, all by default. A server on loopback should name them: otherwise a foreign page
    could reach it under a name of its own (DNS rebinding).
    """

    token: str | None = None
    read_only: bool = False
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    seconds: float = 10.0

    def is_known(self, token: str | None) -> bool:
        """Whether a token is the right one, or none is required."""
        return self.token is None or (token is not None and hmac.compare_digest(token.encode(), self.token.encode()))

    @property
    def cookie(self) -> str:
        """The value of the cookie: a hash of the token."""
        return hashlib.sha256((self.token or "").encode()).hexdigest()

    def require_token(self, request: Request) -> None:
        """Refuse a request without the token, in a header or in the cookie of the page."""
        scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
        token = encoded.encode("latin-1").decode("utf-8", "replace")  # headers are decoded as latin-1
        signed_in = hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self.cookie.encode())
        if not (self.is_known(token) if scheme.lower() == "bearer" else self.token is None or signed_in):
            raise HTTPException(401, "this index asks for a token: Authorization: Bearer TOKEN")

    def require_write(self, request: Request) -> None:
        """Refuse changes if read-only, and from other origins."""
        if self.read_only:
            raise HTTPException(403, "this server only reads; sets cannot be changed here")
        self.require_same_origin(request)

    def require_same_origin(self, request: Request) -> None:
        """Refuse what a page of another origin sends with the visitor's browser."""
        origin = request.headers.get("origin")
        elsewhere = request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if origin in self.origins:
            return
        if elsewhere or (origin is not None and _host_of(origin) != request.headers.get("host")):
            raise HTTPException(403, "a page from elsewhere may not change anything here")


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


class RequestLimits:
    """ASGI middleware: limits the size of bodies, and adds headers that forbid what our pages do not need."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > LARGEST_BODY:
                raise HTTPException(413, f"a request has at most {LARGEST_BODY:,} bytes")
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                more: list[Any] = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in names]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self.app(scope, counted, guarded)
