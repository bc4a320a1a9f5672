"""What answers in the browser: the page of `setsearch serve`, and `setsearch index` for the files that come."""

import contextlib
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pyodide_js import loadPackage

import setsearch
from setsearch.cli.app import main
from setsearch.index import Index
from setsearch.web import make_page

T = TypeVar("T")
DATABASE = Path("/kept/try.db")
LATER = "scipy"  # of Pyodide; only reviews and some options need it


class Questions:
    """Asks at once: no thread starts here."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._index: Index | None = None

    async def ask(self, question: Callable[[Index], T]) -> T:
        """The answer to a question."""
        if self._index is None:
            self._index = self._open.enter_context(setsearch.open(DATABASE))
        try:
            return question(self._index)
        except ModuleNotFoundError as error:
            if not str(error.name).startswith(LATER):
                raise
            await loadPackage(LATER)
            return question(self._index)

    async def start(self, work: Callable[[Index, Callable[[], None]], object]) -> None:
        """Do a work of minutes: it has ended when this returns."""
        await self.ask(lambda index: work(index, lambda: None))

    def close(self) -> None:
        """Close the database: all that was written is then in its file."""
        self._open.close()
        self._index = None


questions = Questions()
app = make_page(questions, "What you added")


async def answer(method: str, url: str, root: str, body: str) -> tuple[int, list[tuple[str, str]], bytes]:
    """The status, the headers and the body of the answer to a request."""
    parts = urlsplit(url)
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": parts.scheme,
        "path": parts.path,
        "root_path": root,
        "query_string": parts.query.encode(),
        "headers": [(b"host", parts.netloc.encode())],
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body.encode()}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    with contextlib.suppress(Exception):  # the page has told it
        await app(scope, receive, send)
    headers = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    return sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent)


def fill(folder: str) -> tuple[bool, str]:
    """Index the files of a folder; whether that worked, and what was said. Neighbors of words would take minutes."""
    questions.close()
    said = io.StringIO()
    sys.argv = ["setsearch", "index", str(DATABASE), "--no-contexts", folder]
    code: Any = 0
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            main()
        except SystemExit as end:
            code = end.code
    text = said.getvalue().strip().replace(str(DATABASE), "the database")
    return not code, text.replace(folder, "what you added")
