"""Connections and `fork`: SQLite's locks belong to a process, so no open connection may cross a fork.

Idle connections are closed before a fork, and opened again when they are needed, on both sides. A connection that is
in use at the fork goes on in the parent. The child must neither use nor close it, and opens nothing on the same file:
SQLite would believe that it holds locks which only the parent holds, and writes would be lost.
"""

import ctypes
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

File = tuple[int, int]  # device and inode

LOCK = threading.RLock()  # of what is idle and what is in use, in all threads; held while the process forks
_barred: set[File] = set()  # files with a connection that was in use when this process was forked


_all = WeakSet[Any]()  # Connections


def this_process() -> str:
    """How others know this process: its host and its number."""
    return f"{_host()} {os.getpid()}"


def _host() -> str:
    import platform  # slow to import, and no question needs it

    return platform.node()


def is_gone(owner: str) -> bool:
    """Whether a process of this host is dead; False if that cannot be told."""
    host, _, process = owner.rpartition(" ")
    if os.name != "posix" or host != _host() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError, ValueError):  # the others: a number that no process has
        return True
    except OSError:
        pass
    return _is_zombie(int(process))


def _is_zombie(process: int) -> bool:
    """Whether a process has ended, and its parent has not asked how; False where the system does not tell it so."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    return False


def watch(connections: object) -> None:
    """Prepare the connections to a file, which can `close_idle` and `abandon`, for forks."""
    with LOCK:
        _all.add(connections)


def is_barred(file: File) -> bool:
    """Whether the parent used this file at the fork, so that this process cannot."""
    return file in _barred


def _before() -> None:
    LOCK.acquire()
    for connections in list(_all):
        connections.close_idle()


def _after_in_child() -> None:
    for connections in list(_all):
        for connection, file in connections.abandon():
            _barred.add(file)
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))  # never closed: closing writes to the file
    LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=LOCK.release, after_in_child=_after_in_child)
