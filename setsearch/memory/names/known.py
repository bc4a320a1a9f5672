"""The names of a stored vocabulary as a process keeps them, once somebody has asked often."""

import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import add

import numpy as np

from setsearch.arrays import bincount, offsets
from setsearch.lists import LOCK
from setsearch.storage.ids import is_storable
from setsearch.storage.names import Vocabulary

MOST = 1 << 20  # ids; of more, none is kept
CACHED = 100_000  # names that were asked for, before all are there
AT_ONCE = 4096  # names that one look-up reads ahead
AT_FIRST = 64  # look-ups that read nothing ahead: most processes end soon
MOST_CHANGED = 1 << 14  # ids whose names writes may have changed; after more all are read again
SEPARATOR = b"\0"  # between name and title; no name has it


class AllNames:
    """All names below an id, as one text: read in steps, and then never changed. Threads may share it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._half = 1 << max(size.bit_length() - 1, 0)  # as many beginnings of hashes as names, about
        self._shift = sys.hash_info.width - self._half.bit_length()
        self._text = bytearray()
        self._starts, self._ends = array("Q"), array("Q")  # of the names; a title follows, up to the next start
        self._hashes = array("q")
        # Once all are there: hashes, ascending, their ids, and where those with the same first bits begin.
        self._by_hash: tuple[array[int], array[int], array[int]] | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all names are there."""
        return self._by_hash is not None

    def read(self, vocabulary: Vocabulary) -> None:
        """Read some more names of the vocabulary, within a transaction. Raises CorruptIndex."""
        first = len(self._ends)
        found = vocabulary.describe_range(first, first + AT_ONCE - 1)
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
        if len(self._ends) == self._size:
            self._starts.append(len(self._text))
            hashes = np.array(self._hashes, np.int64)
            order = np.argsort(hashes).astype(np.int64, copy=False)
            begins = offsets(bincount((hashes >> self._shift) + self._half, minlength=2 * self._half))
            sorted_hashes, ids = array("q", hashes[order].tobytes()), array("q", order.tobytes())
            self._by_hash = sorted_hashes, ids, array("i", begins.astype(np.int32).tobytes())
            self._hashes = array("q")

    def find(self, names: Iterable[str]) -> dict[str, int]:
        """The ids of those names that exist, once all are there."""
        assert self._by_hash is not None
        (hashes, ids, begins), found = self._by_hash, {}
        for name in filter(None, names):  # ids without a name have the empty one
            own = hash(name)
            bits = (own >> self._shift) + self._half
            place = bisect_left(hashes, own, begins[bits], begins[bits + 1])  # of one or two: memory is slow
            while place < len(hashes) and hashes[place] == own:
                id = ids[place]
                if self._text[self._starts[id] : self._ends[id]].decode() == name:
                    found[name] = id
                place += 1
        return found

    def describe(self, ids: Iterable[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of ids, likewise. Raises KeyError for one without a name."""
        text, starts, ends = self._text, self._starts, self._ends
        found: dict[int, tuple[str, str | None]] = {}  # so it is made in a fiftieth of the time that a typed call takes
        for id in ids:
            start, end, following = starts[id], ends[id], starts[id + 1]
            if start == end:
                raise KeyError(id)
            found[id] = text[start:end].decode(), None if end == following else text[end + 1 : following].decode()
        return found


class KnownNames:
    """The names of a vocabulary that were asked for; some more are read each time, until all are there.

    Threads may share it. A new question of three of 126,000 documents takes 690 us, and 815 us if SQLite is asked for
    names.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        # Vocabularies without an id are no rows of a table; a shown title is not the name that somebody looks for.
        is_kept = vocabulary.id > 0 and not vocabulary.titles_shown and vocabulary.next_id <= MOST
        self._read = AllNames(vocabulary.next_id) if is_kept else None  # those that are read ahead
        self._all: AllNames | None = None  # the same once all are there; others may have completed them meanwhile
        self._changed = frozenset[int]()  # ids of which `_all` may have the names of before
        self._ids: dict[str, int] = {}  # of names that were looked for
        self._described: dict[int, tuple[str, str | None]] = {}
        self._asked = 0

    def after(self, vocabulary: Vocabulary, changed: Iterable[int]) -> "KnownNames":
        """Those of the vocabulary after a write that may have given or taken the names of some ids.

        These here read no more ahead.
        """
        new = KnownNames(vocabulary)
        if vocabulary.titles_shown:
            return new  # which deriving changes, and no write
        with LOCK:
            names, read, new._asked = self._all, self._read, self._asked
            new._changed = self._changed.union(changed)  # what follows is of copies: threads go on to ask
            new._described = {id: own for id, own in dict(self._described).items() if id not in new._changed}
            new._ids = {name: id for name, id in dict(self._ids).items() if id not in new._changed}
            if new._read is None or read is None or len(new._changed) > MOST_CHANGED:
                new._changed = frozenset()
                return new
            new._all, new._read = names, read
            if names is None:
                self._read = None  # another transaction may have names of before
            return new

    @property
    def is_complete(self) -> bool:
        """Whether all names are there, but for those of a few ids."""
        return self._all is not None

    def find(self, vocabulary: Vocabulary, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist, by the vocabulary within a transaction."""
        known = self._all
        if known is not None and not self._changed:
            return known.find(names)
        found = {name: self._ids[name] for name in names if name in self._ids}
        if known is not None:
            found |= {name: id for name, id in known.find(names).items() if id not in self._changed}
        if len(found) < len(names):
            new = vocabulary.find([name for name in names if name not in found and is_storable(name)])
            if len(self._ids) + len(new) <= CACHED:
                self._ids.update(new)
            found |= new
        return found

    def describe(self, vocabulary: Vocabulary, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of ids, likewise. Raises KeyError for one without a name."""
        self._learn(vocabulary)
        known = self._all
        if known is None:
            return self._look_up(vocabulary, ids)
        if self._changed.isdisjoint(ids):
            return known.describe(ids)
        found = known.describe(id for id in ids if id not in self._changed)
        found |= self._look_up(vocabulary, [id for id in ids if id in self._changed])
        return {id: found[id] for id in ids}

    def _look_up(self, vocabulary: Vocabulary, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """The same where not all names are there."""
        known = self._described
        missing = set(ids).difference(known)
        if missing:
            loaded = vocabulary.describe(sorted(missing))
            if len(known) + len(loaded) > CACHED:
                self._described = known = {id: known[id] for id in ids if id in known}
            known.update(loaded)
        return {id: known[id] for id in ids}

    def _learn(self, vocabulary: Vocabulary) -> None:
        """Read some more names of the vocabulary, within a transaction. Raises CorruptIndex."""
        self._asked += 1
        if self._asked <= AT_FIRST or self._read is None or self._all is not None:
            return
        with LOCK:
            if self._read is not None and self._all is None:
                self._read.read(vocabulary)
                self._all = self._read if self._read.is_complete else None
