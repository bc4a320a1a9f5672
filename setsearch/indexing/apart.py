"""Files that are read in a process apart, under a limit of time and of memory: hostile ones harm nobody else."""

import pickle
import subprocess
import sys
import threading
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


class Job(NamedTuple):
    """A file to read: its bytes, its ending, and how texts are decoded."""

    data: bytes
    ending: str
    name: str
    errors: str = "strict"
    encoding: str | None = None
    has_rows: bool = False  # its sheets are wanted, not its text


class Outcome(NamedTuple):
    """What was read before the error, if there was one; warnings, and files that were not UTF-8, by encoding."""

    parts: list[Any]
    error: Exception | None
    warnings: list[str]
    decided: dict[str, list[str]]


@dataclass
class Reader:
    """A process that reads one file after the other; a new one begins after a file that took too much."""

    seconds: float = SECONDS
    megabytes: int = MEGABYTES
    _process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def read(self, job: Job) -> Outcome:
        """What is in a file; raises TooMuch."""
        if self._process is None:
            self._process = self._start()
            finalize(self, _end, self._process)  # keeps the process until this one is gone
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        timer = threading.Timer(self.seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            _send(process.stdin, job)
            outcome: Outcome = pickle.load(process.stdout)
            return outcome
        except (OSError, EOFError, pickle.UnpicklingError):
            self.close()
            what = f"{self.seconds:g} s" if not timer.is_alive() else f"{self.megabytes} MB"
            raise TooMuch(f"{job.name} takes more than {what} to read; leave it out") from None
        except BaseException:
            self.close()
            raise
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


def read_parts(job: Job) -> Outcome:
    """What a format makes of a file, with the error at which it ended."""
    warnings = list[str]()
    rows = RowReader(job.errors, warnings.append, encoding=job.encoding)
    form = form_of(job.data, job.ending)

    def decode(own: bytes) -> str:
        """As the options say."""
        text = rows.decode_file(own, job.name, has_records=form in REFERENCES)
        if text is None:
            raise Skipped
        return text

    parts: list[Part | Unread | Attached | Sheet] = []
    problem: Exception | None = None
    try:
        for part in read_workbook(job.data, job.ending) if job.has_rows else form(job.data, decode):
            parts.append(part)  # what came before an error counts
    except (Exception, RecursionError) as raised:
        problem = _plain(raised)
    return Outcome(parts, problem, warnings, rows.decided)


def main(megabytes: int) -> None:
    """Answer the jobs on standard input until it ends."""
    _limit_memory(megabytes)
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what libraries print
    while True:
        try:
            job = pickle.load(source)
        except (EOFError, OSError, KeyboardInterrupt):
            return
        outcome = read_parts(job)
        if isinstance(outcome.error, MemoryError):
            return
        _send(target, outcome)


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
