"""Folders of temporary files, which do not stay when their process is killed: who makes the next one removes them.

A folder is locked as long as its process lives, so that nobody needs to know which process that is.
"""

import os
import shutil
import stat
import time
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

try:
    import fcntl
except ImportError:  # on Windows folders of killed processes stay
    fcntl = None  # type: ignore[assignment]

PREFIX = "setsearch-held-"
YOUNG = 60.0  # seconds: a folder may not be locked yet


class HeldFolder(TemporaryDirectory[str]):
    """A folder in that of temporary files, which only its user may read. Raises OSError."""

    def __init__(self) -> None:
        super().__init__(prefix=PREFIX)
        if fcntl is not None:
            with suppress(OSError):  # where a system of files knows no locks, nobody removes it
                descriptor = os.open(self.name, os.O_RDONLY)
                weakref.finalize(self, os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove_left(gettempdir())


@cache
def _remove_left(temporary: str) -> None:
    """Remove the folders of this user that no process holds; once, as there may be many others to look through."""
    for folder in Path(temporary).glob(f"{PREFIX}*"):
        with suppress(OSError):
            found = folder.lstat()
            is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if is_ours and time.time() - found.st_mtime > YOUNG:
                _remove_unheld(folder)


def _remove_unheld(folder: Path) -> None:
    """Remove a folder; raises OSError if a process holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)
    finally:
        os.close(descriptor)
