"""Files that can be read but not locked: their folder is read-only or full, and nobody has them open.

SQLite cannot lock a write-ahead log where it may not write. Without a log a file is taken for unchanging; whoever reads
it compares its state before and after.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

LOG, JOURNAL = "-wal", "-journal"  # the endings of what a write leaves beside a file
_FULL = sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN
_SHUT = sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY


def may_write(path: Path) -> bool:
    """Whether permissions allow to write to a file, or into a folder."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def is_unchanging(path: Path, error: Exception) -> bool:
    """Whether a file could not be opened for these reasons."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    path = path.resolve()  # SQLite looks beside the file, not beside a link
    is_shut = code & 0xFF in _SHUT and code != sqlite3.SQLITE_READONLY_ROLLBACK
    if is_shut:
        is_shut = not may_write(path.parent)
    return (is_shut or code in _FULL) and not _log_size(path)


def state_of(path: Path) -> tuple[int, int]:
    """What changes with a write: time and size of the file, or the size of a log beside it; zeros without a file."""
    with suppress(OSError):
        path = path.resolve()
        found = path.stat()
        return found.st_mtime_ns, -_log_size(path) or found.st_size
    return 0, 0


def _log_size(path: Path) -> int:
    size = 0
    for ending in (LOG, JOURNAL):
        with suppress(OSError):
            size += Path(f"{path}{ending}").stat().st_size
    return size
