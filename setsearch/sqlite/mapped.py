"""Arrays in a file beside a database, which all processes map: derived, so it may be deleted at any moment.

    magic | arrays, each from a multiple of 64 bytes on | head: JSON | place, length and CRC-32 of the head

The head says what the arrays were derived from, and of each its name, type, length, place, and the CRC-32 of what is
used: behind that is room, a hole in the file, for whoever adds to it in memory. A file is never changed or shortened:
another one takes its name, and whoever has mapped the old one keeps it. A process that writes into an array writes into
memory of its own.
"""

import json
import mmap
import os
import stat
import struct
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from setsearch.arrays import Array
from setsearch.sqlite.forks import is_gone, this_process

MAGIC = b"setsearch arrays 1\n".ljust(64, b"\0")
TYPES = {np.dtype(name).str for name in ("<i8", "<i4", "<u2", "u1", "<f8", "<f4")}
ALIGNED = 64  # bytes
AT_WORK = 60.0  # seconds after which a draft of another host is one of a process that died
MOST_OF_HEAD = 1 << 20  # bytes
_TAIL = struct.Struct("<qqI")

State = list[int]


class Room(NamedTuple):
    """An array with room for so many more elements behind it."""

    array: Array
    more: int


class Mapped(NamedTuple):
    """The arrays of a file by name, and of each how many elements are used; `state`: what they were derived from."""

    path: Path
    identity: tuple[int, ...]
    state: State
    arrays: dict[str, Array]
    used: dict[str, int]
    checksums: dict[str, int]

    def are_intact(self) -> bool:
        """Whether all arrays are as they were written, which takes a pass over the file."""
        return all(
            zlib.crc32(memoryview(self.arrays[name][: self.used[name]])) == checksum  # type: ignore[arg-type]
            for name, checksum in self.checksums.items()
        )


def beside(database: str | os.PathLike[str], name: str) -> Path:
    """The file of arrays of a database; a link to a database stands for the database."""
    return Path(f"{os.path.realpath(database)}-arrays-{name}")


def identity_of(path: Path) -> tuple[int, ...] | None:
    """What tells a file from the one that takes its name; None without a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def map_arrays(database: Path, path: Path) -> Mapped | None:
    """Map a file; None if there is none, or not one that `write_arrays` wrote. The arrays are not looked at."""
    identity = identity_of(path)
    if identity is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            own, of_database = os.fstat(handle), database.stat()
            if not _is_trusted(own, of_database):
                return None
            if own.st_mode != of_database.st_mode:  # which has another one by now
                _share(handle, of_database)
            data = mmap.mmap(handle, 0, access=mmap.ACCESS_COPY)
        finally:
            os.close(handle)
        return _mapped(path, identity, data)
    except (OSError, ValueError, TypeError, KeyError, OverflowError, MemoryError, struct.error, RecursionError):
        return None


def _is_trusted(own: os.stat_result, database: os.stat_result) -> bool:
    """Whether it is a file of this user, or of who may write the database: others could put any number there."""
    users = {database.st_uid, 0, getattr(os, "geteuid", lambda: 0)()}
    may_group = database.st_mode & stat.S_IWGRP and own.st_gid == database.st_gid
    return stat.S_ISREG(own.st_mode) and bool(own.st_uid in users or may_group)


def _mapped(path: Path, identity: tuple[int, ...], data: mmap.mmap) -> Mapped | None:
    """The arrays of what was mapped. Raises many errors for what is no such file."""
    place, length, checksum = _TAIL.unpack_from(data, len(data) - _TAIL.size)
    inside = len(MAGIC) <= place <= place + length == len(data) - _TAIL.size and length <= MOST_OF_HEAD
    if not inside or data[: len(MAGIC)] != MAGIC or zlib.crc32(data[place : place + length]) != checksum:
        return None
    head = json.loads(data[place : place + length])
    arrays, used, checksums = dict[str, Array](), dict[str, int](), dict[str, int]()
    for name, kind, size, own, start, sum in head["arrays"]:
        if kind not in TYPES or not 0 <= own <= size or start % ALIGNED or not len(MAGIC) <= start:
            return None
        if start + size * np.dtype(kind).itemsize > place:
            return None
        arrays[name] = np.ndarray((size,), kind, data, start)
        used[name], checksums[name] = own, sum
    return Mapped(path, identity, [int(number) for number in head["state"]], arrays, used, checksums)


def write_arrays(database: Path, path: Path, state: State, arrays: Iterable[tuple[str, Array | Room]]) -> bool:
    """Put a file with these arrays in the place of the one before; False if another process is writing one.

    It has the mode and, if possible, the owner and the group of the database. Raises OSError; the file before stays
    then, as one does that this user may not read.
    """
    if path.exists() and not os.access(path, os.R_OK):
        return False
    draft = _draft_of(path)
    file = _begin(draft)
    if file is None:
        return False
    try:
        with file:
            file.write(this_process().encode()[: len(MAGIC)].ljust(len(MAGIC), b" "))
            file.flush()
            _share(file.fileno(), database.stat())
            rows = [[name, *_append(file, array)] for name, array in arrays]
            place, head = file.tell(), json.dumps({"state": state, "arrays": rows}).encode()
            file.write(head + _TAIL.pack(place, len(head), zlib.crc32(head)))
            file.flush()
            os.fsync(file.fileno())  # takes long: until then the file says who writes it
            file.seek(0)
            file.write(MAGIC)  # a power cut may lose it: then the file is none
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    return True


def delete_arrays(path: Path) -> None:
    """Delete a file and its draft, if they are there and may be deleted."""
    for own in (path, _draft_of(path)):
        with suppress(OSError):
            own.unlink()


def _draft_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.draft")


def _begin(draft: Path) -> BinaryIO | None:
    with suppress(OSError):
        if _is_left(draft):
            draft.unlink()
    try:  # nobody else may read what a private database has
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(draft, flags, stat.S_IRUSR | stat.S_IWUSR), "r+b")
    except FileExistsError:
        return None


def _is_left(draft: Path) -> bool:
    """Whether the process that began a draft has died, or takes too long. Raises OSError."""
    if not 0 <= time.time() - draft.stat().st_mtime <= AT_WORK:
        return True
    with draft.open("rb") as file:
        return is_gone(file.read(len(MAGIC)).decode(errors="replace").strip())


def _share(file: int, like: os.stat_result) -> None:
    """Let those read an open file who may read the database, if it is ours."""
    mode = stat.S_IMODE(like.st_mode)
    with suppress(OSError, AttributeError):  # not every system has these
        try:
            os.fchown(file, like.st_uid if os.geteuid() == 0 else -1, like.st_gid)
        except OSError:
            mode &= ~stat.S_IRWXG  # the group is another one
        os.fchmod(file, mode)


def append(file: BinaryIO, array: Array) -> int:
    """Write an array, from a multiple of 64 bytes on; where it begins."""
    start = file.seek(-(-file.tell() // ALIGNED) * ALIGNED)
    file.write(memoryview(np.ascontiguousarray(array)))  # type: ignore[arg-type]
    return start


def _append(file: BinaryIO, given: Array | Room) -> list[Any]:
    array, more = given if isinstance(given, Room) else (given, 0)
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    start, size = append(file, array), len(array) + more
    if more:
        file.truncate(start + size * array.itemsize)
        file.seek(0, os.SEEK_END)
    return [array.dtype.str, size, len(array), start, zlib.crc32(memoryview(array))]  # type: ignore[arg-type]
