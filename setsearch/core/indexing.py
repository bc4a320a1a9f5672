"""Texts and lists on their way into an index, by the compiled core: pieces of texts, and packed numbers."""

import ctypes as c
import os
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Array, Ids, Ints, offsets, positions
from setsearch.core import binding
from setsearch.core.binding import address

MOST_IDS, FEW_IDS = 4, 1 << 12  # for each entry, and always, up to which all ids are counted
_ENCODING = "utf-8", "surrogatepass"
_SIZE, _POINTER = c.c_int64, c.c_void_p


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


def unpack(data: bytes, bits: int, are_gaps: bool, length: int, least: int, n_apart: int) -> Ids | None:
    """The numbers of a patched slice without its head (storage/codec.py); None for what cannot be one."""
    values = np.empty(length, np.int32)
    answer = binding.library().setsearch_unpack(
        data, len(data), bits, are_gaps, length, least, n_apart, address(values)
    )
    return None if answer < 0 else values


def sort(numbers: Ints, others: Ids | None = None) -> None:
    """Sort numbers, none negative, in place, and what comes with each likewise; equal ones stay in order."""
    if binding.library() is not None:
        given: list[Array] = [numbers] if others is None else [numbers, others]
        types = [own.dtype for own in given]
        binding.require(types == [np.int64, np.int32][: len(given)], "numbers that the core cannot sort")
        scratch = [np.empty_like(own) for own in given]
        arrays = ([*map(address, own), None][:2] for own in (given, scratch))
        binding.library().setsearch_sort(len(numbers), *chain(*arrays))
    elif others is None:
        numbers.sort()
    else:
        order = np.argsort(numbers, kind="stable")
        numbers[:], others[:] = numbers[order], others[order]


def turn(lists: Ids, ids: Ids, counts: Ids) -> tuple[Ids, Ids, Ids] | None:
    """Entries in the order of their ids, equal ones as they come; None without the core, or where ids are too many."""
    n_ids = int(ids.max(initial=-1)) + 1
    if binding.library() is None or n_ids > max(MOST_IDS * len(ids), FEW_IDS):
        return None
    binding.require({own.dtype for own in (lists, ids, counts)} == {np.dtype(np.int32)}, "entries of another type")
    given = [np.ascontiguousarray(own) for own in (lists, ids, counts)]
    places, turned = np.zeros(n_ids + 1, np.int64), (np.empty_like(ids), np.empty_like(ids), np.empty_like(ids))
    arrays = *map(address, given), n_ids, address(places), *map(address, turned)
    binding.check(binding.library().setsearch_turn(len(ids), *arrays))
    return turned


class PieceWords(NamedTuple):
    """The words of piece i are `words[starts[i] : starts[i + 1]]`, in which `read[i]` characters are."""

    words: Ids
    starts: Ints
    read: Ints


def words_of(pieces: Ids, lengths: Ints, known: PieceWords) -> tuple[Ids, Ints, int]:
    """The words of all pieces of texts, how many each text has, and the characters in words.

    `lengths`: the pieces of each text.
    """
    words, starts, read = known
    if binding.library() is None:
        first = starts[pieces]
        counts = starts[1:][pieces] - first
        return words[positions(first, counts)], np.diff(offsets(counts)[offsets(lengths)]), int(read[pieces].sum())
    types = [own.dtype for own in (pieces, lengths, *known)]
    binding.require(types == [np.int32, np.int64, np.int32, np.int64, np.int64], "pieces that the core cannot read")
    lengths, n_read = lengths.copy(), np.zeros(1, np.int64)
    given = address(pieces), len(lengths), *map(address, (lengths, starts, words, read))
    found = np.empty(binding.library().setsearch_words(*given, None, None), np.int32)
    binding.library().setsearch_words(*given, address(found), address(n_read))
    return found, lengths, int(n_read[0])


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
        count = binding.library().setsearch_pieces(
            data, len(data), self._kinds, self._marks, c.addressof(table), *outputs
        )
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
