"""What is stored as bytes: posting lists, and slices of arrays.

A block of `length` ids is its first id and `length - 1` gaps, all of one width, little-endian: the number of bytes
tells the width. Counts have the same format, or are None if all are 1. All functions work on many blocks at once;
`starts` holds the offset of each block in the concatenated arrays.

A slice is stored as numbers of 1, 2, 4 or 8 bytes or, where that is shorter, as a *patched* slice (PFOR, Zukowski et
al. 2006): small numbers of 1, 8 or 16 bits, and apart from them the few that do not fit. The small numbers are the
values less the least one (counts), or the gaps between them (ids that ascend within each list).
"""

import struct
import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Array, Entries, Ints, offsets
from setsearch.core import binding, indexing
from setsearch.errors import REPAIR_HINT, CorruptIndex

WIDTHS: dict[int, np.dtype[Any]] = {1: np.dtype("<u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4")}


class Blocks(NamedTuple):
    """Blocks as they are stored: `heads` `(n_blocks, 5)`: list, first, last, length, total; and their checksums."""

    heads: Ints
    gaps: list[bytes]
    counts: list[bytes | None]
    gaps_checksums: Ints
    counts_checksums: Ints


def encode_blocks(place: tuple[int, int], entries: Entries, starts: Ints) -> Blocks:
    """Entries, sorted by list and id, in blocks; `place` is the number of the table and the relation."""
    if binding.library() is None:
        first, last = starts[:-1], starts[1:] - 1
        totals = np.add.reduceat(entries.counts, first)
        heads = np.array([entries.lists[first], entries.ids[first], entries.ids[last], np.diff(starts), totals]).T
        gaps, counts = encode_ids(entries.ids, starts), encode_counts(entries.counts, starts)
        return Blocks(heads, gaps, counts, *block_checksums(place, heads, gaps, counts))
    heads, data, ends, checksums = indexing.encode(place, entries, starts)
    begins = [0, *ends[:-1, 1].tolist()]
    middles, stops = ends.T.tolist()
    gaps = [data[begin:end] for begin, end in zip(begins, middles, strict=True)]
    own = [data[begin:end] or None for begin, end in zip(middles, stops, strict=True)]
    return Blocks(heads, gaps, own, checksums[:, 0], checksums[:, 1])


def encode_ids(ids: Ints, starts: Ints) -> list[bytes]:
    """The gaps of each block; `ids` ascend strictly within a block."""
    gaps = np.diff(ids, prepend=0)
    inner = np.ones(len(ids), bool)
    inner[starts[:-1]] = False
    return _encode(gaps[inner], np.diff(starts) - 1)


def encode_counts(counts: Ints, starts: Ints) -> list[bytes | None]:
    """The counts of each block; None for a block of ones."""
    stored = np.maximum.reduceat(counts, starts[:-1]) > 1 if len(counts) else np.zeros(0, bool)
    lengths = np.diff(starts)
    encoded = iter(_encode(counts[np.repeat(stored, lengths)], lengths[stored]))
    return [next(encoded) if is_stored else None for is_stored in stored.tolist()]


def decode_ids(first: Ints, lengths: Ints, gaps: Sequence[bytes]) -> Ints:
    """The ids of all blocks, concatenated, `(lengths.sum(),)`: the inverse of `encode_ids`.

    Raises CorruptIndex if bytes and lengths do not match, before anything of that size is allocated.
    """
    if lengths.min(initial=1) < 1:
        raise CorruptIndex(f"a stored posting list is empty; {REPAIR_HINT}")
    ids = _decode(gaps, lengths - 1, lead=1)
    np.cumsum(ids, out=ids)
    ids += np.repeat(first - ids[offsets(lengths)[:-1]], lengths)
    return ids


def decode_counts(lengths: Ints, counts: Sequence[bytes | None]) -> Ints:
    """The counts of all blocks, concatenated, `(lengths.sum(),)`: the inverse of `encode_counts`."""
    stored = np.fromiter((blob is not None for blob in counts), bool, len(counts))
    decoded = _decode([blob for blob in counts if blob is not None], lengths[stored])
    out = np.ones(int(lengths.sum()), np.int64)
    out[np.repeat(stored, lengths)] = decoded
    return out


def block_checksums(
    place: tuple[int, int], heads: Ints, gaps: Sequence[bytes], counts: Sequence[bytes | None]
) -> tuple[Ints, Ints]:
    """CRC-32 of the head and the gaps of each block, and of its head and its counts: two `(n_blocks,)` arrays.

    `place` is the number of the table and the relation, `heads` `(n_blocks, 5)`: list, first, last, length, total.
    """
    whole = np.empty((len(heads), 7), "<i8")
    whole[:, :2], whole[:, 2:] = place, heads
    data, size = memoryview(whole.tobytes()), whole.itemsize * 7
    of_heads = [zlib.crc32(data[start:end]) for start, end in pairwise(range(0, len(data) + 1, size))]
    of_gaps = list(map(zlib.crc32, gaps, of_heads))
    of_counts = [head if own is None else zlib.crc32(own, head) for own, head in zip(counts, of_heads, strict=True)]
    return np.array(of_gaps, np.int64), np.array(of_counts, np.int64)


def _encode(values: Ints, lengths: Ints) -> list[bytes]:
    """Runs of values, each with the smallest width that fits."""
    starts = offsets(lengths)
    largest = np.zeros(len(lengths), np.int64)
    nonempty = lengths > 0
    if nonempty.any():
        largest[nonempty] = np.maximum.reduceat(values, starts[:-1][nonempty])
    width = np.where(largest < 1 << 8, 1, np.where(largest < 1 << 16, 2, 4))
    out = [b""] * len(lengths)
    for size, dtype in WIDTHS.items():
        chosen = np.flatnonzero(width == size)
        if len(chosen):
            data = values[np.repeat(width == size, lengths)].astype(dtype).tobytes()
            ends = (offsets(lengths[chosen]) * size).tolist()
            blobs = [data[start:end] for start, end in pairwise(ends)]
            if len(blobs) == len(out):
                return blobs
            for block, blob in zip(chosen.tolist(), blobs, strict=True):
                out[block] = blob
    return out


def _decode(blobs: Sequence[bytes], lengths: Ints, lead: int = 0) -> Ints:
    """The inverse of `_encode`, with `lead` zeros before each run; raises CorruptIndex if a blob does not fit."""
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    width = sizes // np.maximum(lengths, 1)
    if np.any(width * lengths != sizes) or not np.all((width == 1) | (width == 2) | (width == 4) | (lengths == 0)):
        raise CorruptIndex(f"a stored posting list has the wrong number of bytes; {REPAIR_HINT}")
    lengths = lengths + lead
    out = np.zeros(int(lengths.sum()), np.int64)
    for size, dtype in WIDTHS.items():
        chosen = width == size
        if chosen.any():
            before = bytes(size * lead)
            data = before + before.join([blobs[i] for i in np.flatnonzero(chosen).tolist()])
            out[slice(None) if chosen.all() else np.repeat(chosen, lengths)] = np.frombuffer(data, dtype)
    return out


LONGEST = 1 << 16  # numbers in a slice, so that places in it have 2 bytes
_WIDTHS = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<i8"}
_FLOATS, _PATCHED = 9, 10  # in place of a width
_BITS = (1, 8, 16)
_HEAD = struct.Struct("<BBIiI")  # bits, whether gaps, length, the least value, how many do not fit
_BYTES_APART = 6  # of a number that does not fit: its place and its value


def pack(values: Array) -> bytes:
    """A slice of integers or floats, not empty, of at most `LONGEST` numbers."""
    if values.dtype.kind == "f":
        return bytes([_FLOATS]) + values.astype("<f8").tobytes()
    least, largest = int(values.min()), int(values.max())
    width = 8 if least < 0 else next(w for w in _WIDTHS if largest < 1 << 8 * w or w == 8)
    if least >= 0 and largest < 1 << 31:
        patched = _patched(values.astype(np.int64), least)
        if len(patched) < width * len(values):
            return bytes([_PATCHED]) + patched
    return bytes([width]) + values.astype(_WIDTHS[width]).tobytes()


def unpack(data: bytes) -> Array | None:
    """The inverse of `pack`; None for what cannot be a slice."""
    if not data:
        return None
    if data[0] == _PATCHED:
        return _unpatched(data)
    dtype = "<f8" if data[0] == _FLOATS else _WIDTHS.get(data[0])
    if dtype is None or (len(data) - 1) % np.dtype(dtype).itemsize:
        return None
    return np.frombuffer(data, dtype, offset=1)


def _patched(values: Array, least: int) -> bytes:
    """The shortest patched slice of int64 values below 2^31."""
    forms = []
    for is_gaps, small in ((False, values - least), (True, np.diff(values, prepend=0))):
        unsigned = small.view(np.uint64)  # negative ones become large
        for bits in _BITS:
            apart = int(np.count_nonzero(unsigned >> np.uint64(bits)))
            forms.append((len(values) * bits + 8 * _BYTES_APART * apart, is_gaps, bits, small))
    _, is_gaps, bits, small = min(forms, key=lambda form: form[0])
    places = np.flatnonzero(small.view(np.uint64) >> np.uint64(bits))
    patches = small[places]
    small[places] = 0
    packed = np.packbits(small.astype(bool)) if bits == 1 else small.astype(f"<u{bits // 8}")
    head = _HEAD.pack(bits, is_gaps, len(values), 0 if is_gaps else least, len(places))
    return head + places.astype("<u2").tobytes() + patches.astype("<i4").tobytes() + packed.tobytes()


def _unpatched(data: bytes) -> Array | None:
    begin = 1 + _HEAD.size
    if len(data) < begin:
        return None
    bits, is_gaps, length, least, n_apart = _HEAD.unpack_from(data, 1)
    ends = begin + 2 * n_apart, begin + _BYTES_APART * n_apart
    if bits not in _BITS or length > LONGEST or len(data) != ends[1] + -(-length * bits // 8):
        return None
    if binding.library() is not None:
        return indexing.unpack(data[begin:], bits, is_gaps, length, least, n_apart)
    places = np.frombuffer(data, "<u2", n_apart, begin)
    packed = np.frombuffer(data, np.uint8 if bits == 1 else f"<u{bits // 8}", offset=ends[1])
    small = np.unpackbits(packed, count=length) if bits == 1 else packed
    if places.max(initial=0) >= length:
        return None
    values = small.astype(np.int32)
    values[places.astype(np.intp)] = np.frombuffer(data, "<i4", n_apart, ends[0])
    return np.cumsum(values, dtype=np.int32) if is_gaps else values + np.int32(least)
