"""The server of the page and the API: one process, or several that listen at one port.

Each request must begin in time, and few connections may wait with half a request.
"""

import asyncio
import errno
import json
import multiprocessing
import signal
import socket
import threading
from contextlib import suppress
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

import setsearch
from setsearch.errors import SetsearchError, UsageError
from setsearch.web import Rules, make_app

KEEP_ALIVE = 5  # seconds
QUEUED_CONNECTIONS = 2048  # that wait until a process takes them
SEEDS = 3  # of the question that reads the lists
HEADER_SECONDS = 10.0  # from the connection, or the end of the last answer, to the end of a request's headers
MOST_WAITING = 500  # connections without a request; a new one closes the oldest
UNREADABLE = "the request is not HTTP, or its address and headers are longer than 64 KB; a long question can be a POST"


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's protocol, with an end to its patience, for which it has no setting."""

    waiting: ClassVar["dict[PatientProtocol, asyncio.TimerHandle]"] = {}  # the oldest first

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read as every other error is answered: in one line of JSON."""
        body = json.dumps({"error": UNREADABLE}).encode()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()

    def _watch(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()
        elif self not in self.waiting and not self.transport.is_closing():
            self.waiting[self] = self.loop.call_later(HEADER_SECONDS, self._give_up)
            if len(self.waiting) > MOST_WAITING:
                next(iter(self.waiting))._give_up()

    def _stop(self) -> None:
        timer = self.waiting.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        self._stop()
        self.transport.abort()


def bind(host: str, port: int, shared: bool = False) -> socket.socket:
    """A socket at an address, which listens unless several processes share the address; raises UsageError."""
    # With a named protocol asyncio sends at once; without, each answer waits 40 ms for an acknowledgement.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, port))
        if not shared:
            bound.listen(QUEUED_CONNECTIONS)
    except AttributeError as error:
        bound.close()
        raise UsageError("--workers needs a system whose processes can share a port, such as Linux") from error
    except OSError as error:
        bound.close()
        reason = f"cannot listen at {host}, port {port} ({error.strerror})"
        is_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        way_out = "--port 0 takes a free one" if is_port else "--host is an address of this machine"
        raise UsageError(f"{reason}; {way_out}") from error
    return bound


def make_server(db: Path, rules: Rules) -> uvicorn.Server:
    config = uvicorn.Config(
        make_app(db, rules),
        http=PatientProtocol,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        root_path=rules.prefix,
    )
    return uvicorn.Server(config)


def serve_alone(server: uvicorn.Server, listening: socket.socket) -> None:
    """Answer until a signal comes."""
    with suppress(KeyboardInterrupt):
        server.run([listening])


class Workers:
    """Several processes that answer at the address of a socket. The system gives each a part of the connections."""

    def __init__(self, db: Path, rules: Rules, listening: socket.socket, count: int) -> None:
        host, port = listening.getsockname()[:2]
        listening.close()  # it was there to learn that no other server has the address
        self._bound = bind(host, port, shared=True)  # it keeps the address, and does not listen
        self._context = multiprocessing.get_context("spawn")
        self._given = db, rules, host, port
        self._count = count
        self._processes: list[SpawnProcess] = []
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            self._start()
        except KeyboardInterrupt:
            self._end()
            raise

    def run(self) -> None:
        """Replace those that die, until a signal comes."""
        try:
            while True:
                wait([one.sentinel for one in self._processes])
                self._start()
        except KeyboardInterrupt:
            self._end()

    def _start(self) -> None:
        """Start those that are missing, one after another, until each listens."""
        self._processes = [one for one in self._processes if one.is_alive()]
        while len(self._processes) < self._count:
            listens = self._context.Event()
            process = self._context.Process(target=_work, args=[*self._given, listens], daemon=True)
            process.start()
            self._processes.append(process)
            while process.is_alive() and not listens.wait(0.1):
                pass

    def _end(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for one in self._processes:
            one.terminate()
        for one in self._processes:
            one.join()


def _work(db: Path, rules: Rules, host: str, port: int, listens: Event) -> None:
    """One of several processes; it ends with the first one."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    listening = bind(host, port, shared=True)
    get_ready(db, rules.read_only)
    listening.listen(QUEUED_CONNECTIONS)
    listens.set()
    serve_alone(make_server(db, rules), listening)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt  # not by a signal: a script may have made its background jobs ignore that one


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        signal.raise_signal(signal.SIGTERM)


def get_ready(db: Path, read_only: bool) -> None:
    """Ask as visitors will, so that lists are read while nobody waits."""
    with suppress(SetsearchError, MemoryError), setsearch.open(db, read_only=read_only) as index:
        told = index.info()
        for own in told["readings"]:
            if own["items"] in (told["defaults"]["items"], told["readings"][0]["items"]):
                index.items(own["items"]).expand(own["some"][:SEEDS])
