"""The names and titles of a vocabulary in memory, once somebody has asked often: 30 bytes and the text for each."""

import sqlite3
from array import array
from collections.abc import Iterable
from itertools import accumulate
from operator import add

import numpy as np

from setsearch.arrays import Ints
from setsearch.lists import LOCK
from setsearch.storage.names import Vocabulary

MOST = 1 << 20  # ids; of more, none is kept
AT_ONCE = 4096  # names that one look-up reads ahead
AT_FIRST = 64  # look-ups that read nothing ahead: after a write they would be thrown away soon
SEPARATOR = b"\0"  # between name and title; no name has it


class KnownNames:
    """Some more names are read with each look-up, until all are there. Threads may share it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # Vocabularies without an id are no rows of a table; a shown title is not the name that somebody looks for.
        is_kept = vocabulary.id > 0 and not vocabulary.titles_shown and vocabulary.next_id <= MOST
        self._size = vocabulary.next_id if is_kept else -1
        self._asked = 0
        self._text = bytearray()
        self._starts, self._ends = array("Q"), array("Q")  # of the names; a title follows, up to the next start
        self._hashes = array("q")
        self._by_hash: tuple[Ints, Ints] | None = None  # hashes, ascending, and their ids, once all names are there

    @property
    def is_complete(self) -> bool:
        """Whether all names are there."""
        return self._by_hash is not None

    def learn(self, cursor: sqlite3.Cursor) -> None:
        """Read some more names. Raises CorruptIndex."""
        self._asked += 1
        if self._asked <= AT_FIRST or self._size < 0 or self.is_complete:
            return
        with LOCK:
            first = len(self._ends)
            found = self._vocabulary.describe_range(cursor, first, first + AT_ONCE - 1)
            rows = [found.get(id, ("", None)) for id in range(first, min(first + AT_ONCE, self._size))]
            names = [name.encode() for name, _ in rows]
            texts = [
                own if title is None else own + SEPARATOR + title.encode()
                for own, (_, title) in zip(names, rows, strict=True)
            ]
            starts = list(accumulate(map(len, texts), initial=len(self._text)))[:-1]
            self._starts.extend(starts)
            self._ends.extend(map(add, starts, map(len, names)))
            self._hashes.extend(hash(name) for name, _ in rows)
            self._text += b"".join(texts)
            if len(self._ends) == self._size and not self.is_complete:
                self._starts.append(len(self._text))
                hashes = np.array(self._hashes, np.int64)
                order = np.argsort(hashes)
                self._by_hash, self._hashes = (hashes[order], order), array("q")

    def find(self, names: Iterable[str]) -> dict[str, int]:
        """The ids of those names that exist; all names are there."""
        assert self._by_hash is not None
        (hashes, ids), wanted, found = self._by_hash, [name for name in names if name], {}
        own = np.array([*map(hash, wanted)], np.int64)
        firsts, ends = (hashes.searchsorted(own, side).tolist() for side in ("left", "right"))
        for name, first, end in zip(wanted, firsts, ends, strict=True):
            for id in ids[first:end].tolist():
                if self._text[self._starts[id] : self._ends[id]] == name.encode():
                    found[name] = id
        return found

    def describe(self, id: int) -> tuple[str, str | None]:
        """(name, title) of an id; all names are there. Raises KeyError for one without a name."""
        start, end, following = self._starts[id], self._ends[id], self._starts[id + 1]
        if start == end:
            raise KeyError(id)
        title = None if end == following else self._text[end + 1 : following].decode()
        return self._text[start:end].decode(), title
