"""How much of the files is read, for those who show progress."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO


class Amount:
    """How many of the bytes of sources are read; of packed files before they are unpacked."""

    def __init__(self) -> None:
        self._total = self._before = 0
        self._file: IO[bytes] | None = None

    @property
    def share(self) -> float | None:
        """The share that is read, from 0 to 1; None where nobody knows the whole, as of a stream."""
        file = self._file  # another thread may be reading
        try:
            here = 0 if file is None else file.tell()
        except (OSError, ValueError):  # just closed
            here = 0
        return min((self._before + here) / self._total, 1.0) if self._total else None

    @contextmanager
    def of(self, file: IO[bytes]) -> Iterator[None]:
        """Follow an open file in a block."""
        self._file = file
        try:
            yield
        finally:
            self._file = None
            self._before += os.fstat(file.fileno()).st_size

    def expect(self, sizes: Iterable[int]) -> None:
        """Files of these sizes are read from now on."""
        self._total = self._before + sum(sizes)
