"""Arrays that wait in files without a name beside a database: they take memory only while somebody reads them.

The system deletes such a file when nobody has it open, so a process that dies leaves nothing behind. What finds no room
on the disk, or would leave too little of it, stays in memory. What was read stays there, too, until somebody says that
it may go (`let_go`).
"""

import mmap
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

import numpy as np

from setsearch.arrays import Array
from setsearch.core.threads import give_back
from setsearch.lists import LOCK
from setsearch.sqlite.mapped import append

LEAST = 1 << 16  # bytes: fewer are not worth a file
IN_MEMORY = sys.platform in ("emscripten", "wasi")  # there files are in memory, and what is mapped is a copy
# Without it memory could not be let go.
_DONTNEED = None if IN_MEMORY else getattr(mmap, "MADV_DONTNEED", None)
_maps = WeakSet[mmap.mmap]()


class Spill:
    """Puts arrays into files in a folder, which leave `spare` bytes free; without a folder they stay where they are."""

    def __init__(self, folder: Path | None, spare: int = 0) -> None:
        self._folder, self._spare = folder if _DONTNEED is not None else None, spare

    def leaving(self, spare: int) -> "Spill":
        """The same with other bytes that stay free."""
        return Spill(self._folder, spare)

    def put(self, *arrays: Array) -> list[Array]:
        """The same arrays, from one file, which nobody may write."""
        size = sum(own.nbytes for own in arrays)
        if self._folder is None or size < LEAST:
            return [*arrays]
        try:
            if shutil.disk_usage(self._folder).free < size + self._spare:
                return [*arrays]
            with tempfile.TemporaryFile(dir=self._folder) as file:
                starts = [append(file, own) for own in arrays]
                file.truncate()  # here: the last one may be empty
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError:
            return [*arrays]
        with LOCK:
            _maps.add(data)
        return [np.ndarray(own.shape, own.dtype, data, start) for own, start in zip(arrays, starts, strict=True)]


def let_go() -> None:
    """Give back the memory of arrays that are gone, and of what was read of those that are in files."""
    give_back()
    with LOCK:
        for data in _maps:
            with suppress(OSError):  # where a process has locked its memory
                data.madvise(mmap.MADV_DONTNEED)
