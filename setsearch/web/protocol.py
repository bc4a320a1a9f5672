"""Connections of `setsearch serve`: each request must begin in time, and few may wait with half a request."""

import asyncio
import json
from typing import Any, ClassVar

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEADER_SECONDS = 10.0  # from the connection, or the end of the last answer, to the end of a request's headers
MOST_WAITING = 500  # connections without a request; a new one closes the oldest
UNREADABLE = "the request is not HTTP, or its address and headers are longer than 64 KB; a long question can be a POST"


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Uvicorn's protocol, with an end to its patience."""

    waiting: ClassVar["dict[PatientProtocol, asyncio.TimerHandle]"] = {}  # the oldest first

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, or stop if the headers are complete."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
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
