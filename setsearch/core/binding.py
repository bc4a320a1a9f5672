"""How Python calls the compiled core: the shared library beside this file, its signatures, and memory for each thread.

A call releases the interpreter's lock. Arrays are passed as they are, so they must have the types that are named here.
"""

import ctypes as c
import os
import sys
import threading
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from setsearch.arrays import Array, Floats, Ids, Ints, ListArrays, ListValues
from setsearch.errors import LostArrays

VERSION, UNKNOWN = 3, -2  # as in core.c
BLOCK = 1 << 15  # sums
LEAST_ROOM = 1 << 14  # candidates
LIBRARY = Path(__file__).with_name("core" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so"))

# Ids (int32) and values (float32, float64, or None for ones), where each list starts and ends, and its weight.
Part = tuple[Any, ...]

_ENCODING = "utf-8", "surrogatepass"
_SIZE, _POINTER = c.c_int64, c.c_void_p
_SIGNATURES: dict[str, list[Any]] = {
    "setsearch_version": [],
    "setsearch_add": [_POINTER, _SIZE, _POINTER, _SIZE, _POINTER],
    "setsearch_best": [*[_POINTER, _SIZE] * 4, _SIZE, *[_POINTER] * 5, _SIZE, _POINTER],
    "setsearch_question": [_POINTER, _SIZE, _POINTER, _SIZE, _POINTER, _POINTER, _SIZE, *[_POINTER] * 7, _SIZE],
    "setsearch_fold": [
        _POINTER,
        _SIZE,
        _POINTER,
        _SIZE,
        _SIZE,
        _POINTER,
        _POINTER,
        c.c_double,
        _SIZE,
        _SIZE,
        _POINTER,
        _POINTER,
    ],
    "setsearch_values": [_POINTER, _SIZE, _SIZE, _POINTER, _POINTER, _SIZE, _SIZE, _POINTER, _POINTER, _SIZE, _SIZE]
    + [_POINTER] * 5
    + [_SIZE]
    + [_POINTER] * 4,
    "setsearch_squares": [_SIZE, *[_POINTER] * 4, _SIZE, _SIZE, _SIZE, *[_POINTER] * 4, _SIZE, _POINTER],
    "setsearch_unpack": [_POINTER, _SIZE, _SIZE, _SIZE, _SIZE, c.c_int32, _SIZE, _POINTER],
    "setsearch_encode": [_SIZE, *[_POINTER] * 9],
    "setsearch_pieces": [_POINTER, _SIZE, _POINTER, _SIZE, *[_POINTER] * 4],
}
_threads = threading.local()


class PartStructure(c.Structure):
    """`part_t` of core.c."""

    _fields_ = (
        ("n_lists", _SIZE),
        ("size", _SIZE),
        ("ids", _POINTER),
        ("values", _POINTER),
        ("value_bytes", _SIZE),
        ("starts", _POINTER),
        ("ends", _POINTER),
        ("weights", _POINTER),
    )


class _Pieces(c.Structure):
    """`pieces_t` of core.c."""

    _fields_ = (
        ("bytes", _POINTER),
        ("ends", _POINTER),
        ("slots", _POINTER),
        ("n_slots", _SIZE),
        ("n_pieces", _SIZE),
        ("n_slotted", _SIZE),
        ("seed", c.c_uint64),
    )


@cache
def library() -> Any:
    """The shared library; None if it was not built, cannot be loaded, or is of other sources than this file."""
    try:
        core = c.CDLL(str(LIBRARY))
        for name, types in _SIGNATURES.items():
            function = getattr(core, name)
            function.argtypes, function.restype = types, _SIZE
    except (OSError, AttributeError):
        return None
    return core if core.setsearch_version() == VERSION else None


def add(scores: Floats, parts: Sequence[Part]) -> None:
    """Add to `scores`, `(n_items,)`, each list's weight times its values, list by list. Raises LostArrays."""
    assert scores.dtype == np.float64 and scores.flags.c_contiguous, "scores that the core cannot write"
    kept, structures, n_lists = _parts(parts)
    places = _scratch("places", n_lists, np.int64)
    _check(library().setsearch_add(address(scores), len(scores), structures, len(kept), address(places)))


def best(
    base: Floats, parts: Sequence[Part], excluded: Ints, among: Ints | None, k: int
) -> tuple[Ints, Floats, float | None]:
    """The k best of base plus lists, and all that equal the k-th: ids and scores, in no order.

    `excluded` and `among` ascend. If too many equal the k-th, none of these are there, and the last is their score.
    Raises LostArrays.
    """
    kept, structures, n_lists = _parts(parts)
    base, crowd = np.ascontiguousarray(base, np.float64), np.empty(1)
    k = min(k, len(base))
    room = max(LEAST_ROOM, 2 * k)
    scratch = _scratch("places", n_lists, np.int64), _scratch("sums", BLOCK, np.float64), _scratch("heap", k)
    found = _scratch("ids", room, np.int64), _scratch("scores", room)
    only = (None, 0) if among is None else (address(among), len(among))
    items = address(base), len(base), structures, len(kept), address(excluded), len(excluded), *only
    count = _check(library().setsearch_best(*items, k, *map(address, (*scratch, *found)), room, address(crowd)))
    return found[0][:count].copy(), found[1][:count].copy(), float(crowd[0]) if crowd[0] > -np.inf else None


def values(
    lists: Ints, source: ListArrays, by_item: bool, statistics: tuple[Ints, Floats | None, Floats, Floats], logs: Floats
) -> ListValues | None:
    """The values of some lists (models/values.py); None for a count without a logarithm.

    `source`: ids and counts of all lists, where each starts and ends. `statistics`: L_i, thresholds or None, factors,
    scales. Raises LostArrays.
    """
    ids, counts, starts, ends = source
    totals, thresholds, factors, scales = statistics
    starts, ends = starts[lists], ends[lists]
    if starts.min(initial=0) < 0 or ends.max(initial=0) > len(ids):  # a sum of such lengths could be any number
        raise LostArrays("the lists in memory")
    size, largest = int(np.maximum(ends - starts, 0).sum()), np.zeros(1)
    found = np.empty(size, np.int32), np.empty(size, np.float32), np.empty(len(lists), np.int64)
    entries = (
        address(ids),
        address(counts),
        counts.itemsize,
        len(ids),
        address(starts),
        address(ends),
        len(scales),
        len(factors),
    )
    rule = (
        address(totals),
        None if thresholds is None else address(thresholds),
        address(factors),
        address(scales),
        address(logs),
        len(logs),
    )
    n = library().setsearch_values(
        address(lists), len(lists), by_item, *entries, *rule, *map(address, found), address(largest)
    )
    if n == UNKNOWN:
        return None
    _check(n)
    return ListValues(found[0][:n], found[1][:n], found[2], float(largest[0]))


def fold(items: Ints, source: ListArrays, alike: float, least: int, back: int) -> Ints:
    """The place of the earlier item that each is nearly the same as, -1 for none, `(n,)` (search/folding.py).

    `source`: ids and counts of the lists of all items, where each starts and ends. Raises LostArrays.
    """
    ids, _, starts, ends = source
    same, firsts = np.empty(len(items), np.int64), np.empty(len(items), np.int64)
    lists = address(ids), len(ids), len(starts), address(starts), address(ends)
    _check(
        library().setsearch_fold(address(items), len(items), *lists, alike, least, back, address(same), address(firsts))
    )
    return same


def squares(
    source: ListArrays, totals: Ints, thresholds: Floats | None, factors: Floats, logs: Floats
) -> Floats | None:
    """The sums of the squares of the weights of each item, `(n_items,)`; None for a count without a logarithm.

    `source`: ids and counts of all items, where each starts and ends. `factors` and `logs` are squares. Raises
    LostArrays.
    """
    ids, counts, starts, ends = source
    found = np.empty(len(starts))
    entries = (
        address(starts),
        address(ends),
        address(ids),
        address(counts),
        counts.itemsize,
        len(ids),
        len(factors),
        address(totals),
    )
    rule = None if thresholds is None else address(thresholds), address(factors), address(logs), len(logs)
    answer = library().setsearch_squares(len(starts), *entries, *rule, address(found))
    return None if answer == UNKNOWN or _check(answer) else found


def unpack(data: bytes, bits: int, are_gaps: bool, length: int, least: int, n_apart: int) -> Ids | None:
    """The numbers of a patched slice without its head (storage/packing.py); None for what cannot be one."""
    values = np.empty(length, np.int32)
    answer = library().setsearch_unpack(data, len(data), bits, are_gaps, length, least, n_apart, address(values))
    return None if answer < 0 else values


def encode(place: tuple[int, int], columns: Sequence[Ints], starts: Ints) -> tuple[Ints, bytes, Ints, Ints]:
    """Blocks of sorted entries (lists, ids, counts) at `starts`, of which the last is their end (storage/codec.py).

    Heads, `(n_blocks, 5)`; the bytes of all; where the gaps and the counts of each end, and their checksums,
    `(n_blocks, 2)`.
    """
    n = len(starts) - 1
    lists, ids, counts = (np.ascontiguousarray(column, np.int64) for column in columns)
    out = np.empty(8 * len(ids), np.uint8)
    heads, ends, checksums = np.empty((n, 5), np.int64), np.empty((n, 2), np.int64), np.empty((n, 2), np.int64)
    where = np.array(place, np.int64)
    entries = address(lists), address(ids), address(counts), address(where)
    library().setsearch_encode(
        n, address(starts), *entries, address(out), address(heads), address(ends), address(checksums)
    )
    return heads, out[: ends[-1, 1]].tobytes(), ends, checksums


class Pieces:
    """Numbers of the pieces of texts: words of simple letters, and what stands between blanks (text/pieces.py).

    `kinds` tells what each character is that core.c knows. `marks`: whether commas and ends of sentences are pieces.
    """

    def __init__(self, kinds: bytes, marks: bool) -> None:
        assert len(kinds) == 0x880, "another table than that of core.c"
        self.size, self.new, self._kinds, self._marks = 0, list[str](), kinds, marks
        self._bytes, self._ends, self._slots = np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.uint64)
        self._table = _Pieces(seed=int.from_bytes(os.urandom(8), "little"))

    def find(self, texts: Sequence[str]) -> tuple[Ids, Ints, int]:
        """The numbers of the pieces of all texts, how many each text has, and the characters that are no white space.

        `new` are the pieces that had no number.
        """
        data = b"\xff".join([text.encode(*_ENCODING) for text in texts])
        table, n = self._table, self._table.n_pieces
        self._make_room(n, len(data))
        pieces, lengths = np.empty(len(data), np.int32), np.zeros(max(len(texts), 1), np.int64)
        characters = np.zeros(1, np.int64)
        outputs = address(pieces), address(lengths), address(characters)
        count = library().setsearch_pieces(data, len(data), self._kinds, self._marks, c.addressof(table), *outputs)
        ends = self._ends[n : table.n_pieces + 1].tolist()
        new = self._bytes[ends[0] : ends[-1]].tobytes()
        self.size = ends[-1]
        self.new = [str(new[a - ends[0] : b - ends[0]], *_ENCODING) for a, b in pairwise(ends)]
        return pieces[:count], lengths[: len(texts)], int(characters[0])

    def _make_room(self, n_pieces: int, size: int) -> None:
        """Room for what `size` bytes may have: as many pieces, in half of the slots."""
        table = self._table
        if len(self._bytes) < self.size + size:
            self._bytes = np.resize(self._bytes, 2 * (self.size + size))
        if len(self._ends) <= n_pieces + size:
            self._ends = np.resize(self._ends, 2 * (n_pieces + size) + 1)
        if len(self._slots) < 2 * (n_pieces + size):
            self._slots, table.n_slotted = np.zeros(1 << (2 * (n_pieces + size)).bit_length(), np.uint64), 0
        table.bytes, table.ends, table.slots = address(self._bytes), address(self._ends), address(self._slots)
        table.n_slots = len(self._slots)


def _parts(parts: Sequence[Part]) -> tuple[list[Any], Any, int]:
    """The arrays of parts, which must live as long as a call; their structures; and how many lists there are."""
    kept, structures, n_lists = [], (PartStructure * len(parts))(), 0
    for place, (ids, values, starts, ends, weights) in enumerate(parts):
        arrays = [np.ascontiguousarray(array) for array in (ids, starts, ends, weights)]
        assert [array.dtype.itemsize for array in arrays] == [4, 8, 8, 8], "arrays of other types"
        assert len({len(array) for array in arrays[1:]}) == 1, "a list without a start, an end or a weight"
        entries = None if values is None else np.ascontiguousarray(values)
        assert entries is None or len(entries) >= len(ids), "an entry without a value"
        at = [address(array) for array in arrays]
        own = (None, 0) if entries is None else (address(entries), entries.itemsize)
        structures[place] = PartStructure(len(starts), len(ids), at[0], *own, *at[1:])
        kept.append((arrays, entries))
        n_lists += len(starts)
    return kept, structures, n_lists


def _scratch(name: str, size: int, dtype: Any = np.float64) -> Array:
    """Memory of this thread, at least so large, valid until the next call."""
    array: Array | None = getattr(_threads, name, None)
    if array is None or len(array) < size:
        array = np.empty(max(size * 5 // 4, 1), dtype)
        setattr(_threads, name, array)
    return array


def address(array: Any) -> int:
    """Where a contiguous array begins."""
    return int(array.__array_interface__["data"][0])


def _check(answer: int) -> int:
    if answer < 0:
        raise LostArrays("the lists in memory")
    return answer
