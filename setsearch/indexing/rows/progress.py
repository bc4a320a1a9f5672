"""How much of the files is read, for those who show progress."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO


class Amount:
    """How many of the bytes of sources are read; of packed files before they are unpacked."""

    def __init__(self) -> None:
        self._total = 0
        self._at: tuple[int, IO[bytes] | None] = 0, None  # bytes of earlier files, and the file that is open

    @property
    def share(self) -> float | None:
        """The share that is read, from 0 to 1; None where nobody knows the whole, as of a stream."""
        before, file = self._at  # another thread may be reading
        try:
            here = 0 if file is None else file.tell()
        except (OSError, ValueError):  # it has no place, or was closed just now, and counts among the earlier ones
            before, here = self._at[0], 0
        return min((before + here) / self._total, 1.0) if self._total else None

    @contextmanager
    def of(self, file: IO[bytes]) -> Iterator[None]:
        """Follow an open file in a block."""
        before, _ = self._at
        self._at = before, file
        try:
            yield
        finally:
            self._at = before + os.fstat(file.fileno()).st_size, None

    def expect(self, sizes: Iterable[int]) -> None:
        """Files of these sizes are read from now on."""
        self._total = self._at[0] + sum(sizes)
