"""New database files: one appears complete, with its first transaction, or not at all.

The first transaction goes to a file beside it, NAME-new. A second one, NAME-lock, carries a lock of the operating
system, which ends with the process that holds it: others who create the same file wait for it. (The database itself
must not carry it. To close any descriptor of a file ends all locks that SQLite has on it in this process.) What a
killed process left is removed by the next one. Without all this a first `index` that is stopped would leave an empty
file, which looks like a database.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from setsearch.errors import DatabaseError
from setsearch.sqlite.turns import locked

try:
    import fcntl
except ImportError:  # not on Windows, where a file that is open cannot be removed
    fcntl = None  # type: ignore[assignment]

REST = 0.01  # seconds between two attempts to get the lock
BESIDE = ("", "-journal", "-wal", "-shm")  # files of an SQLite database


@contextmanager
def new_file(path: Path, timeout: float) -> Iterator[Path | None]:
    """Where to make the database of `path`; None if it is there by now. The caller closes its connections to it.

    The file gets its name when the block ends without an error, and is removed otherwise. Raises LockedDatabase,
    DatabaseError.
    """
    path = Path(os.path.realpath(path))  # a link to a file that is not there yet stays one
    draft, lock = Path(f"{path}-new"), Path(f"{path}-lock")
    descriptor = _lock(lock, path, timeout)
    try:
        _remove(draft)  # of a process that was killed
        if path.exists():
            yield None
            return
        draft.touch()
        yield draft
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection, suppress(sqlite3.Error):
            connection.execute("pragma journal_mode = wal")
        _publish(draft, path)
        _sync(path.parent)
    finally:
        _remove(draft)
        with suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _lock(lock: Path, path: Path, timeout: float) -> int:
    deadline = time.monotonic() + timeout
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except (OSError, ValueError) as error:
            raise DatabaseError(
                f"{path} cannot be created ({getattr(error, 'strerror', error)}); check the folder"
            ) from error
        is_locked = False
        with suppress(OSError):
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                return descriptor
        os.close(descriptor)
        if is_locked:  # a file that its owner has removed
            continue
        if time.monotonic() > deadline:
            raise locked(path, timeout, "being created by another process")
        time.sleep(REST)


def _publish(draft: Path, path: Path) -> None:
    """Give the file its name, without replacing one that somebody else made."""
    try:
        path.hardlink_to(draft)
    except FileExistsError as error:
        problem = f"{path} was made by another program in the meantime; nothing was written"
        raise DatabaseError(f"{problem}, try again") from error
    except (OSError, NotImplementedError):  # a file system without links, or a platform: a browser
        draft.rename(path)


def _sync(folder: Path) -> None:
    """Let the new name survive a power cut: SQLite syncs what is in files, and names only with a log of its own."""
    with suppress(OSError):  # not every system opens folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(draft: Path) -> None:
    for ending in BESIDE:
        with suppress(OSError):
            Path(f"{draft}{ending}").unlink()
