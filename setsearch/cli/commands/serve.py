"""Commands that serve an index: to browsers and other programs, or to an assistant."""

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from setsearch.cli.help import ADVANCED, flag, option
from setsearch.cli.messages import say
from setsearch.cli.options import DB, Texts, with_options
from setsearch.errors import UsageError

if TYPE_CHECKING:
    from socket import socket

    from setsearch.web import Rules

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def tell_missing_core() -> None:
    """Say that numpy answers, where it does."""
    from setsearch.core import NOT_BUILT, binding

    if binding.library() is None:
        say(NOT_BUILT)


def mcp(db: DB) -> None:
    """Serve an index to an assistant, by the Model Context Protocol on stdin and stdout, which starts it.

    There is none by HTTP: for other machines, `setsearch serve` has a JSON API.

    Example: setsearch mcp notes.db
    """
    try:
        from setsearch.integrations.mcp import make_server
    except ImportError as error:
        raise UsageError("the command mcp needs a library: pip install 'setsearch[mcp]'") from error
    from setsearch.pool import watch_damage

    tell_missing_core()
    watch_damage(db, say)
    make_server(db).run("stdio")


class Service(NamedTuple):
    """Where a proxy shows the server, how often what is derived is looked after, and who answers for how long."""

    prefix: Annotated[str, option("PATH", "Where a proxy that strips it shows it, such as /sets.", ADVANCED)] = ""
    refresh: Annotated[
        float, option("SECONDS", "How often synced tables are read and contexts derived; 0 is never.", ADVANCED, min=0)
    ] = 60.0
    timeout: Annotated[float, option("SECONDS", "How long an answer may take.", ADVANCED, min=0.1)] = 10.0
    workers: Annotated[int, option("N", "Processes that answer.", ADVANCED, min=1)] = 1


@with_options(service=Service)
def serve(
    db: DB,
    *,
    host: Annotated[str, option("ADDRESS", "Where to listen.")] = LOOPBACK[0],
    port: Annotated[int, option("N", "0 takes a free one.", min=0, max=65535)] = 8001,
    open_page: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
    read_only: Annotated[bool, flag("--read-only", "Nothing is written: no sets, nor what is derived.")] = False,
    token: Annotated[
        str | None,
        option("TEXT", "Token that every request needs.", ADVANCED, envvar="SETSEARCH_TOKEN", show_default=False),
    ] = None,
    cors: Annotated[Texts, option("ORIGIN", "Another origin whose pages may ask.", ADVANCED)] = None,
    name: Annotated[Texts, option("HOST", "Another name of this server; may be repeated.", ADVANCED)] = None,
    service: Service,
) -> None:
    """Serve a page and a JSON API (/api, described in /openapi.json), by default to this machine only.

    Example: setsearch serve notes.db --open
    """
    is_local = host in LOOPBACK
    if not is_local and not token and not read_only:
        raise UsageError(f"--host {host} lets others in: require a --token TEXT, or serve --read-only")
    origins = tuple(map(_origin, cors or ()))
    hosts = (*LOOPBACK, "[::1]", *(name or ())) if is_local or name else ()
    with suppress(KeyboardInterrupt), _ended_by_ctrl_c():
        try:
            from setsearch.web import Rules
            from setsearch.web.server import bind
        except ImportError as error:
            raise UsageError("the command serve needs some libraries: pip install 'setsearch[web]'") from error
        import setsearch

        with setsearch.open(db, read_only=read_only) as index:
            index.info()
        listening = bind(host, port)
        tell_missing_core()
        address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"
        shown = f"/{service.prefix.strip('/')}".rstrip("/")
        rules = Rules(token or None, read_only, origins, hosts, service.timeout, shown)
        with listening:
            _answer(db, rules, listening, service, address, open_page)
    say("stopped")


def _origin(given: str) -> str:
    """An origin as browsers send it, of an address without a path; `*` is any, `null` that of a file."""
    origin = given.rstrip("/").lower()
    if origin not in ("*", "null") and _ORIGIN.fullmatch(origin) is None:
        raise UsageError(f"--cors {given!r:.80} is no origin; give scheme and host, such as https://friend.example")
    return origin


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C end the process at once, until the server takes it over.

    A KeyboardInterrupt is lost where Python ignores errors, as in the callbacks of its imports.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(number: int, frame: object) -> None:
    say("stopped")
    os._exit(0)


def _answer(db: Path, rules: "Rules", listening: "socket", service: Service, address: str, open_page: bool) -> None:
    """Answer requests at a socket, and keep fresh what is derived, until a signal comes: perhaps KeyboardInterrupt."""
    from setsearch.pool import keep_fresh, watch_damage
    from setsearch.web.server import Workers, get_ready, make_server, serve_alone

    watch_damage(db, say)
    if service.refresh and not rules.read_only:
        keep_fresh(db, service.refresh, say)
    if service.workers > 1:
        run = Workers(db, rules, listening, service.workers).run  # each gets itself ready
    else:
        run = partial(serve_alone, make_server(db, rules), listening)
        get_ready(db, rules.read_only)
    say(f"{db} is at {address} (Ctrl-C stops)")
    if open_page:
        import webbrowser

        webbrowser.open(address)
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()
