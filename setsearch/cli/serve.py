"""Commands that serve an index: to browsers and other programs, or to an assistant."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from setsearch.cli.help import ADVANCED
from setsearch.cli.options import DB, Texts, with_options
from setsearch.cli.output import say
from setsearch.errors import UsageError

if TYPE_CHECKING:
    from socket import socket

LOOPBACK = ("127.0.0.1", "localhost", "::1")
QUEUED_CONNECTIONS = 2048
KEEP_ALIVE = 5  # seconds


def mcp(db: DB) -> None:
    """Serve an index to an assistant, by the Model Context Protocol on stdin and stdout.

    Example: setsearch mcp notes.db
    """
    try:
        from setsearch.integrations.mcp import make_server
    except ImportError as error:
        raise UsageError("the command mcp needs a package: pip install mcp") from error
    from setsearch.pool import watch_damage

    watch_damage(db, say)
    make_server(db).run("stdio")


def pace_options(
    *,
    refresh: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="How often synced tables are read and contexts derived; 0 is never.",
            min=0,
            rich_help_panel=ADVANCED,
        ),
    ] = 60.0,
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="How long an answer may take.", min=0.1, rich_help_panel=ADVANCED),
    ] = 10.0,
) -> tuple[float, float]:
    """How often what is derived is looked after, and how long an answer may take."""
    return refresh, timeout


@with_options(pace=pace_options)
def serve(
    db: DB,
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = LOOPBACK[0],
    port: Annotated[int, typer.Option(metavar="N", help="0 takes a free one.", min=0, max=65535)] = 8001,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Sets are not saved.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="SETSEARCH_TOKEN",
            help="Token that every request needs.",
            show_default=False,
            rich_help_panel=ADVANCED,
        ),
    ] = None,
    cors: Annotated[
        Texts,
        typer.Option(metavar="ORIGIN", help="Another origin whose pages may ask.", rich_help_panel=ADVANCED),
    ] = None,
    name: Annotated[
        Texts,
        typer.Option(metavar="HOST", help="Another name of this server; may be repeated.", rich_help_panel=ADVANCED),
    ] = None,
    pace: tuple[float, float],
) -> None:
    """Serve a page and a JSON API (/api, described in /openapi.json), by default to this machine only.

    Example: setsearch serve notes.db --open
    """
    try:
        import uvicorn

        from setsearch.web import Rules, make_app
        from setsearch.web.protocol import PatientProtocol
    except ImportError as error:
        raise UsageError("the command serve needs some packages: pip install fastapi uvicorn jinja2") from error
    import setsearch
    from setsearch.pool import keep_fresh, watch_damage

    refresh, timeout = pace
    is_local = host in LOOPBACK
    if not is_local and not token and not read_only:
        raise UsageError(f"--host {host} lets others in: require a --token TEXT, or serve --read-only")
    with setsearch.open(db) as index:
        index.info()
    hosts = (*LOOPBACK, "[::1]", *(name or ())) if is_local or name else ()
    app = make_app(db, Rules(token or None, read_only, tuple(cors or ()), hosts, timeout))
    listening = _listen(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"
    say(f"{db} is at {address} (Ctrl-C stops)")
    if open_page:
        import webbrowser

        webbrowser.open(address)
    config = uvicorn.Config(
        app, http=PatientProtocol, log_level="warning", server_header=False, timeout_keep_alive=KEEP_ALIVE
    )
    server = uvicorn.Server(config)
    watch_damage(db, say)
    if refresh and not read_only:
        keep_fresh(db, refresh, say)
    with suppress(KeyboardInterrupt):
        server.run([listening])
    say("stopped")


def _listen(host: str, port: int) -> "socket":
    """A listening socket; raises UsageError."""
    import socket

    # With a named protocol asyncio sends at once; without, each answer waits 40 ms for an acknowledgement.
    listening = socket.socket(
        socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(QUEUED_CONNECTIONS)
    except OSError as error:
        listening.close()
        reason = f"cannot listen at {host}, port {port} ({error.strerror})"
        raise UsageError(f"{reason}; --port 0 takes a free one") from error
    return listening
