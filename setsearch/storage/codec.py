"""What is stored as bytes: slices of arrays.

A slice is stored as numbers of 1, 2, 4 or 8 bytes or, where that is shorter, as a *patched* slice (PFOR, Zukowski et
al. 2006): small numbers of 1, 8 or 16 bits, and apart from them the few that do not fit. The small numbers are the
values less the least one (counts), or the gaps between them (ids that ascend within each list). Bytes, which are texts,
are deflated, and so are numbers of 32 bits, which are tokens: the lower halves of all before the upper ones. Some
columns together are their slices, one behind the other.

Of an encyclopedia, patched lists take 55 % of the bytes of plain numbers, arrays of contexts 71 %.
"""

import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Array, Ints
from setsearch.core import binding, indexing

NOTHING = np.zeros(0, np.int64)
FEW = 64  # numbers of a slice that is not worth the time of patching, as that of a block of texts
LONGEST = 1 << 16  # numbers in a slice, so that places in it have 2 bytes
_WIDTHS = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<i8"}
_FLOATS, _PATCHED, _DEFLATED, _HALVES = 9, 10, 11, 12  # in place of a width; floats are of earlier versions
_BITS = (1, 8, 16)  # of the numbers of a slice, but for those that do not fit
_HEAD = struct.Struct("<BBIiI")  # bits, whether gaps, length, the least value, how many do not fit
_BYTES_OF_SIZE = 4  # before each column
_BYTES_APART = 6  # of a number that does not fit: its place and its value


def pack(values: Array) -> bytes:
    """A slice of integers or bytes, not empty, of at most `LONGEST` numbers."""
    if values.dtype == np.int32:
        return bytes([_HALVES]) + zlib.compress(values.view("<u2").reshape(-1, 2).T.tobytes(), 1)
    if values.dtype == np.uint8:
        return bytes([_DEFLATED]) + zlib.compress(values.tobytes(), 1)
    least, largest = int(values.min()), int(values.max())
    width = 8 if least < 0 else next(w for w in _WIDTHS if largest < 1 << 8 * w or w == 8)
    if len(values) > FEW and least >= 0 and largest < 1 << 31:
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
    if data[0] == _DEFLATED:
        return _inflated(data, np.uint8, 1)
    if data[0] == _HALVES:
        halves = _inflated(data, "<u2", 4)
        return None if halves is None or len(halves) % 2 else halves.reshape(2, -1).T.reshape(-1).view("<i4")
    dtype = "<f8" if data[0] == _FLOATS else _WIDTHS.get(data[0])
    if dtype is None or (len(data) - 1) % np.dtype(dtype).itemsize:
        return None
    return np.frombuffer(data, dtype, offset=1)


def _inflated(data: bytes, dtype: npt.DTypeLike, width: int) -> Array | None:
    """What was deflated: at most `LONGEST` numbers of so many bytes."""
    with suppress(zlib.error, ValueError):
        return np.frombuffer(zlib.decompressobj().decompress(data[1:], LONGEST * width), dtype)
    return None


def pack_columns(columns: Sequence[Ints]) -> bytes:
    """Columns of any length, none of them empty."""
    out = [struct.pack(f"<{len(columns)}I", *map(len, columns))]
    for column in columns:
        for start in range(0, len(column), LONGEST):
            data = pack(column[start : start + LONGEST])
            out += [len(data).to_bytes(_BYTES_OF_SIZE, "little"), data]
    return b"".join(out)


def unpack_columns(data: bytes, n_columns: int) -> list[Ints] | None:
    """The inverse of `pack_columns`; None for what it cannot have made."""
    begin = n_columns * _BYTES_OF_SIZE
    if len(data) < begin:
        return None
    lengths = struct.unpack_from(f"<{n_columns}I", data)
    columns: list[Ints] = []
    for length in lengths:
        slices = list[Array]()
        for start in range(0, length, LONGEST):
            size, begin = int.from_bytes(data[begin : begin + _BYTES_OF_SIZE], "little"), begin + _BYTES_OF_SIZE
            values, begin = unpack(data[begin : begin + size]), begin + size
            if values is None or values.dtype.kind == "f" or len(values) != min(length - start, LONGEST):
                return None
            slices.append(values)
        columns.append(np.concatenate([NOTHING, *slices], dtype=np.int64))
    return columns if begin == len(data) else None


def _patched(values: Array, least: int) -> bytes:
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
