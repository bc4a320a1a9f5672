"""Files that are read in a process apart, under a limit of time and of memory: hostile ones harm nobody else."""

import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, NamedTuple
from weakref import finalize

from setsearch.errors import SetsearchError
from setsearch.indexing.formats import REFERENCES, form_of
from setsearch.indexing.formats.part import Attached, Part, Skipped, Unread
from setsearch.indexing.rows.opening import TooMuch
from setsearch.indexing.rows.reader import RowReader
from setsearch.indexing.rows.workbooks import Sheet, read_workbook

SECONDS, MEGABYTES = 60.0, 2048  # that a file may take
BATCH, LEAST = 1 << 20, 256  # bytes of parts that are handed over at once; what a part without a text counts


class Job(NamedTuple):
    """A file to read: its bytes, its ending, and how texts are decoded."""

    data: bytes
    ending: str
    name: str
    errors: str = "strict"
    encoding: str | None = None
    has_rows: bool = False  # its sheets are wanted, not its text


class Outcome(NamedTuple):
    """Some of what was read; its warnings, and encodings other than UTF-8. The last one has the error, if one came."""

    parts: list[Any]
    warnings: list[str]
    decided: list[str]
    is_last: bool
    error: Exception | None = None


@dataclass
class Reader:
    """A process that reads one file after the other; a new one begins after a file that took too much."""

    seconds: float = SECONDS
    megabytes: int = MEGABYTES
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)
    _is_busy: bool = field(default=False, repr=False)
    _inner: "Reader | None" = field(default=None, repr=False)

    def read(self, job: Job) -> Iterator[Outcome]:
        """What is in a file, little by little; raises TooMuch. Meanwhile another process reads what is attached."""
        free = self
        while free._is_busy:
            free._inner = free._inner or Reader(self.seconds, self.megabytes)
            free = free._inner
        return free._read(job)

    def _read(self, job: Job) -> Iterator[Outcome]:
        name = job.name
        self._is_busy, is_whole = True, False
        try:
            if self._process is None:
                self._process = self._start()
                finalize(self, _end, self._process)  # keeps the process until this one is gone
            outcome, left = self._wait(job, name, self.seconds)
            del job  # may be large
            while not outcome.is_last:
                yield outcome
                outcome, left = self._wait(None, name, left)
            is_whole = True
        finally:
            self._is_busy = False
            if not is_whole:  # what still comes would be taken for the next file
                self.close()
        yield outcome

    def _wait(self, job: Job | None, name: str, left: float) -> tuple[Outcome, float]:
        """What comes next of a file within the seconds that are `left`, and how many then are; raises TooMuch.

        What is done with it in between is not the time of the file.
        """
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        timer, begun = threading.Timer(left, process.kill), time.monotonic()
        timer.daemon = True
        timer.start()
        try:
            if job is not None:
                _send(process.stdin, job)
            return pickle.load(process.stdout), left - (time.monotonic() - begun)
        except (OSError, EOFError, pickle.UnpicklingError):
            what = f"{self.seconds:g} s" if not timer.is_alive() else f"{self.megabytes} MB"
            raise TooMuch(f"{name} takes more than {what} to read; leave it out") from None
        finally:
            timer.cancel()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            _end(self._process)
            self._process = None

    def _start(self) -> "subprocess.Popen[bytes]":
        code = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as apart; apart.main({self.megabytes})"
        command = [sys.executable, "-c", code]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
    process.wait()


def read_parts(job: Job) -> Iterator[Outcome]:
    """What a format makes of a file, at most BATCH bytes and a part at once, with the error at which it ended."""
    warnings, told, size = list[str](), set[str](), 0
    rows = RowReader(job.errors, warnings.append, encoding=job.encoding)
    form = form_of(job.data, job.ending)

    def decode(own: bytes) -> str:
        """As the options say."""
        text = rows.decode_file(own, job.name, has_records=form in REFERENCES)
        if text is None:
            raise Skipped
        return text

    def outcome(is_last: bool, error: Exception | None = None) -> Outcome:
        """What was not handed over before."""
        decided = [encoding for encoding in rows.decided if encoding not in told]
        told.update(decided)
        own = Outcome(parts.copy(), warnings.copy(), decided, is_last, error)
        parts.clear()
        warnings.clear()
        return own

    parts: list[Part | Unread | Attached | Sheet] = []
    problem: Exception | None = None
    try:
        for part in read_workbook(job.data, job.ending) if job.has_rows else form(job.data, decode):
            parts.append(part)  # what came before an error counts
            size += _size(part)
            if size > BATCH:
                size = 0
                yield outcome(is_last=False)
    except (Exception, RecursionError) as raised:
        problem = _plain(raised)
    yield outcome(is_last=True, error=problem)


def _size(part: Part | Unread | Attached | Sheet) -> int:
    """Bytes of a part, more or less; sheets, which are wanted together, count as little."""
    content = part.text if isinstance(part, Part) else part.data if isinstance(part, Attached) else ""
    return LEAST + len(content)


def main(megabytes: int) -> None:
    """Answer the jobs on standard input until it ends."""
    _limit_memory(megabytes)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what libraries print
    while _answer(source, target):
        pass


def _answer(source: IO[bytes], target: IO[bytes]) -> bool:
    """Answer a job, of which nothing stays in memory; False at the end, and when there is too little memory."""
    try:
        job = pickle.load(source)
    except (EOFError, OSError, KeyboardInterrupt):
        return False
    for outcome in read_parts(job):
        if isinstance(outcome.error, MemoryError):
            return False
        _send(target, outcome)
    return True


def _plain(error: Exception) -> Exception:
    """An error that any process can read; a library may raise anything on broken input."""
    if isinstance(error, (SetsearchError, Skipped, MemoryError)):
        return error
    if isinstance(error, RecursionError):
        return ValueError("it is nested too deeply")
    return ValueError(" ".join(str(error).split())[:200] or type(error).__name__)


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = megabytes << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _send(pipe: IO[bytes], value: Any) -> None:
    pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()
