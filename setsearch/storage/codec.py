"""Posting lists as bytes: ascending ids as gaps of one width, counts of one width.

A block of `length` ids is stored as its first id and `length - 1` gaps, all 1, 2 or 4 bytes wide, little-endian:
the width follows from the number of bytes. Counts are stored in the same way, or as None where all of them are 1.
Everything here works on many blocks at once: `starts` holds the offset of each block in the concatenated arrays.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from setsearch.arrays import Ints, offsets
from setsearch.errors import MEND, CorruptIndex

WIDTHS: dict[int, np.dtype[Any]] = {1: np.dtype("<u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4")}


def encode_ids(ids: Ints, starts: Ints) -> list[bytes]:
    """The gaps of each block; `ids` ascend strictly within a block."""
    gaps = np.diff(ids, prepend=0)
    inner = np.ones(len(ids), bool)
    inner[starts[:-1]] = False
    return _pack(gaps[inner], np.diff(starts) - 1)


def encode_counts(counts: Ints, starts: Ints) -> list[bytes | None]:
    """The counts of each block, None for a block of ones."""
    stored = np.maximum.reduceat(counts, starts[:-1]) > 1 if len(counts) else np.zeros(0, bool)
    lengths = np.diff(starts)
    packed = iter(_pack(counts[np.repeat(stored, lengths)], lengths[stored]))
    return [next(packed) if is_stored else None for is_stored in stored.tolist()]


def decode_ids(first: Ints, lengths: Ints, gaps: Sequence[bytes]) -> Ints:
    """The ids of all blocks, concatenated: `(lengths.sum(),)`, the inverse of `encode_ids`.

    Raises CorruptIndex where bytes and lengths do not fit; nothing is allocated before that is known.
    """
    if lengths.min(initial=1) < 1:
        raise CorruptIndex(f"a stored posting list is empty; {MEND}")
    ids = _unpack(gaps, lengths - 1, lead=1)
    np.cumsum(ids, out=ids)
    ids += np.repeat(first - ids[offsets(lengths)[:-1]], lengths)
    return ids


def decode_counts(lengths: Ints, counts: Sequence[bytes | None]) -> Ints:
    """The counts of all blocks, concatenated: `(lengths.sum(),)`, the inverse of `encode_counts`."""
    stored = np.fromiter((blob is not None for blob in counts), bool, len(counts))
    found = _unpack([blob for blob in counts if blob is not None], lengths[stored])
    out = np.ones(int(lengths.sum()), np.int64)
    out[np.repeat(stored, lengths)] = found
    return out


def _pack(values: Ints, lengths: Ints) -> list[bytes]:
    """Cut `values` into runs of `lengths` and write each run with the smallest width that holds it."""
    starts = offsets(lengths)
    largest = np.zeros(len(lengths), np.int64)
    filled = lengths > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(values, starts[:-1][filled])
    width = np.where(largest < 1 << 8, 1, np.where(largest < 1 << 16, 2, 4))
    out = [b""] * len(lengths)
    for size, dtype in WIDTHS.items():
        chosen = np.flatnonzero(width == size)
        if len(chosen):
            data = values[np.repeat(width == size, lengths)].astype(dtype).tobytes()
            ends = (offsets(lengths[chosen]) * size).tolist()
            cut = [data[start:end] for start, end in pairwise(ends)]
            if len(cut) == len(out):
                return cut
            for block, run in zip(chosen.tolist(), cut, strict=True):
                out[block] = run
    return out


def _unpack(blobs: Sequence[bytes], lengths: Ints, lead: int = 0) -> Ints:
    """The inverse of `_pack`, with `lead` zeros before each run; raises CorruptIndex where a blob does not fit."""
    sizes = np.fromiter(map(len, blobs), np.int64, len(blobs))
    width = sizes // np.maximum(lengths, 1)
    if np.any(width * lengths != sizes) or not np.all((width == 1) | (width == 2) | (width == 4) | (lengths == 0)):
        raise CorruptIndex(f"a stored posting list has the wrong number of bytes; {MEND}")
    lengths = lengths + lead
    out = np.zeros(int(lengths.sum()), np.int64)
    for size, dtype in WIDTHS.items():
        chosen = width == size
        if chosen.any():
            before = bytes(size * lead)
            data = before + before.join([blobs[i] for i in np.flatnonzero(chosen).tolist()])
            out[slice(None) if chosen.all() else np.repeat(chosen, lengths)] = np.frombuffer(data, dtype)
    return out
