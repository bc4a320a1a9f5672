"""Opening what is read: files, packed ones too, and streams. Nothing is waited for that is neither."""

import gzip
import io
import re
import shlex
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, cast

from setsearch.errors import SourceError
from setsearch.indexing.rows.progress import Amount

STDIN = "-"
SKIPPING = ", or pass `errors=skip`"  # the way out of messages, where there is this option
GZIP = b"\x1f\x8b"
MOST_UNPACKED, MOST_OF_LINE = 1 << 29, 1 << 26  # bytes of a .gz that is read as a whole, and of a line of one

# What prints what is at an address; elsewhere curl does.
_PRINTS = {
    "s3": "aws s3 cp {} -",
    "gs": "gcloud storage cat {}",
    **dict.fromkeys(("postgresql", "postgres"), "psql {} -c 'copy (select ...) to stdout csv header'"),
}
_address = re.compile(r"[a-z][a-z0-9+]+:/")


def is_stream(source: str) -> bool:
    """Whether a source is standard input, or another stream that a shell made."""
    return source in (STDIN, "/dev/stdin") or source.startswith(("/dev/fd/", "/proc/self/fd/"))


def require_named(sources: Iterable[str]) -> None:
    """Raise SourceError for an empty name, such as that of a variable which is not set: it would be the folder here."""
    if "" in sources:
        raise SourceError("a source has an empty name; name a file, or give - for standard input")


def stream_name(source: str) -> str:
    """What messages call a stream."""
    return "standard input" if source in (STDIN, "/dev/stdin") else source


def open_stream(source: str) -> io.BufferedReader:
    """A stream, unpacked; one can look at its beginning. Raises SourceError."""
    try:
        is_input = source in (STDIN, "/dev/stdin")
        stream: Any = sys.stdin.buffer if is_input else io.FileIO(int(source.rpartition("/")[2]), closefd=False)
    except (OSError, ValueError):
        raise SourceError(f"{source} is no open stream; give a file, or - for standard input") from None
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    return cast(io.BufferedReader, Packed(buffered, stream_name(source)) if buffered.peek(2)[:2] == GZIP else buffered)


class TooMuch(SourceError):
    """A file that takes more time or memory than it may."""


class Packed(gzip.GzipFile):
    """A .gz that is read line by line: a few bytes may unpack to a line that no memory holds."""

    def __init__(self, file: IO[bytes], path: object) -> None:
        super().__init__(fileobj=file)
        self.path = path

    def readline(self, size: int | None = -1) -> bytes:
        """A line; raises TooMuch."""
        line = super().readline(MOST_OF_LINE + 1 if size is None or size < 0 else size)
        if len(line) > MOST_OF_LINE:
            raise TooMuch(f"{self.path} has a line of more than {MOST_OF_LINE >> 20:,} MB; leave it out, or unpack it")
        return line


def read_whole(file: IO[bytes], path: object, most: int | None = None) -> bytes:
    """All of an open file; raises TooMuch if it has more than `most` bytes, or unpacks to more than it may."""
    is_packed = isinstance(file, gzip.GzipFile)
    limit = MOST_UNPACKED if is_packed else most
    data = file.read(-1 if limit is None else limit + 1)
    if limit is not None and len(data) > limit:
        verb = "unpacks to" if is_packed else "has"
        raise TooMuch(
            f"{path} {verb} more than {limit >> 20:,} MB; leave it out, or {'unpack' if is_packed else 'name'} it"
        )
    return data


@contextmanager
def open_file(path: Path, amount: Amount | None = None) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if it is a .gz, and count what is read of it; raises SourceError."""
    if not path.exists():
        if _address.match(str(path)):
            address = str(path).replace(":/", "://", 1)  # a path has one slash
            before = _PRINTS.get(address.partition("://")[0], "curl {}").format(shlex.quote(address))
            told = f"{address} is an address, which is not read"
            raise SourceError(f"{told}; give - as the file, and `{before} |` before the command")
        raise SourceError(f"{path} does not exist")
    if path.is_socket() or path.is_char_device() or path.is_block_device():
        what = "socket" if path.is_socket() else "device, which may have no end"
        raise SourceError(f"{path} is a {what}; give a file")
    if path.is_fifo():
        raise SourceError(f"{path} is a pipe, not a file; give - and `< {path}`")
    try:
        with path.open("rb") as plain, nullcontext() if amount is None else amount.of(plain):
            if path.suffix == ".gz" or plain.peek(2)[:2] == GZIP:
                with Packed(plain, path) as file:
                    yield cast(IO[bytes], file)
            else:
                yield plain
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
