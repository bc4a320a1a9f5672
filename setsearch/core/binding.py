"""How Python calls the compiled core: the shared library beside this file, its signatures, and memory for each thread.

A call releases the interpreter's lock. Arrays are passed as they are, so they must have the types that are named here.
"""

import ctypes as c
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np

from setsearch.arrays import Array, Floats, Ids, Ints, ListArrays, ListValues
from setsearch.errors import LostArrays

VERSION, UNKNOWN, UNSURE = 24, -2, -3  # as in core.c
BLOCK = 1 << 15  # sums
LEAST_ROOM = 1 << 14  # candidates
LIBRARY = Path(__file__).with_name("core" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so"))

# Ids (int32) and values (float32, float64, or None for ones), where each list starts and ends, and its weight.
Part = tuple[Any, ...]
Rows = tuple[Ints, Ints]
# The nearest items: ids (int32) and shares, `(k, n_items)`, factors `(n_items,)`, and how much they count.
Near = tuple[Ids, Floats, Floats, float]

_SIZE, _POINTER = c.c_int64, c.c_void_p
# What each entry takes: P a pointer, S a size (int64), I an int32, R a real number.
_TYPES = {"P": _POINTER, "S": _SIZE, "I": c.c_int32, "R": c.c_double}
_SIGNATURES = {
    "setsearch_version": "",
    "setsearch_add": "PSPSP",
    "setsearch_ranks": "PSPS PS PP",
    "setsearch_questions": "PSS PS PP PPP PSPS S",
    "setsearch_fold": "PSPSSPP RSS PP",
    "setsearch_alone": "PSPS PSSPP PSSPP RS",
    "setsearch_values": "PSS PPSSPPSS PPPPP S PPPP",
    "setsearch_squares": "SPPPP SSS PPPP SP",
    "setsearch_norms": "PPSP",
    "setsearch_items": "PPS PPP",
    "setsearch_close": "PS PPPPSSS PPRS PPP",
    "setsearch_nearest": "PSS PS PPP PS SR PPP PP PP",
    "setsearch_sort": "SPPPP",
    "setsearch_turn": "SPPPS PPPP",
    "setsearch_unpack": "PSSSSISP",
    "setsearch_pieces": "PSPS PPPP",
    "setsearch_words": "PSP PPP PP",
    "setsearch_alike": "PSSP RR PPPP",
}
NEAR = Struct("PPPqd")  # `neighbors_t` of core.c
PRIOR = Struct("PPqdddP")  # `prior_t`
_threads = threading.local()
_Start = c.c_char * 0


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


@cache
def library() -> Any:
    """The shared library; None if it was not built, cannot be loaded, or is of other sources than this file."""
    try:
        core = c.CDLL(str(LIBRARY))
        for name, letters in _SIGNATURES.items():
            function = getattr(core, name)
            function.argtypes = [_TYPES[letter] for letter in letters.replace(" ", "")]
            function.restype = _SIZE
    except (OSError, AttributeError):
        return None
    return core if core.setsearch_version() == VERSION else None


def add(scores: Floats, parts: Sequence[Part]) -> None:
    """Add to `scores`, `(n_items,)`, each list's weight times its values, list by list. Raises LostArrays."""
    require(scores.dtype == np.float64 and scores.flags.c_contiguous, "scores that the core cannot write")
    kept, structures, n_lists = part_structures(parts)
    places = _scratch("places", n_lists, np.int64)
    check(library().setsearch_add(address(scores), len(scores), structures, len(kept), address(places)))


def near_numbers(near: Near, n_items: int) -> tuple[Any, ...]:
    """The nearest items as a `neighbors_t`."""
    ids, shares, factors, share = near
    of_types = ids.dtype == np.int32 and shares.dtype == factors.dtype == np.float64
    of_shapes = shares.shape == ids.shape == (n_items, ids.shape[-1]) and factors.shape == (n_items,)
    are_flat = ids.flags.c_contiguous and shares.flags.c_contiguous and factors.flags.c_contiguous
    require(of_types and of_shapes and are_flat, "neighbors that the core cannot take")
    return address(ids), address(shares), address(factors), ids.shape[1], share


def ranks(scores: Floats, some: Floats, excluded: Ints) -> tuple[Ints, Ints]:
    """How many scores, without those of excluded items, are above each of some, which ascend, and how many equal it."""
    some = np.append(some, np.inf)
    above, equal = np.empty(len(some), np.int64), np.empty(len(some), np.int64)
    scores, excluded = np.ascontiguousarray(scores, np.float64), np.ascontiguousarray(excluded, np.int64)
    items = address(scores), len(scores), address(excluded), len(excluded)
    check(library().setsearch_ranks(*items, address(some), len(some), address(above), address(equal)))
    return above[:-1], equal[:-1]


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
    threshold = None if thresholds is None else address(thresholds)
    entries = address(ids), address(counts), counts.itemsize, len(ids), address(starts), address(ends)
    rule = len(scales), len(factors), address(totals), threshold, *map(address, (factors, scales, logs)), len(logs)
    outputs = *map(address, found), address(largest)
    n = library().setsearch_values(address(lists), len(lists), by_item, *entries, *rule, *outputs)
    if n == UNKNOWN:
        return None
    check(n)
    return ListValues(found[0][:n], found[1][:n], found[2], float(largest[0]))


def fold(items: Ints, source: ListArrays, alike: float, least: int, back: int) -> Ints:
    """The place of the earlier item that each is nearly the same as, -1 for none, `(n,)` (search/near_duplicates.py).

    `source`: ids and counts of the lists of all items, where each starts and ends. Raises LostArrays.
    """
    same, firsts = np.empty(len(items), np.int64), np.empty(len(items), np.int64)
    given = address(items), len(items), *_flat(source), alike, least, back
    check(library().setsearch_fold(*given, address(same), address(firsts)))
    return same


def _flat(source: ListArrays) -> tuple[int, ...]:
    """Lists without counts, as entries take them that have no `part_t`."""
    ids, _, starts, ends = source
    return address(ids), len(ids), len(starts), address(starts), address(ends)


def alone(items: Ints, without: Ints, by_item: ListArrays, by_feature: ListArrays, alike: float, least: int) -> bool:
    """Whether surely no item but those `without` is nearly the same as one of some (search/near_duplicates.py).

    Each direction: ids and counts, where each list starts and ends. Raises LostArrays.
    """
    given = address(items), len(items), address(without), len(without), *_flat(by_item), *_flat(by_feature)
    return bool(check(library().setsearch_alone(*given, alike, least)))


def nearest(
    words: Ints,
    parts: Sequence[Part],
    having: Sequence[ListValues],
    kept: Array | None,
    unit: float,
    rows: Rows,
) -> None:
    """Fill the rows of some words: ids and similarities of the nearest, `(n_words, k)` each.

    `parts`: ids and values of the lists of all features, where each starts and ends; `having`: for each, the features
    of all these words. They are also put into the rows of the others that are `kept`, a mask; if all are, each is
    compared with those behind it alone, and the starts of lists go on behind it. Raises LostArrays.
    """
    n, k = rows[0].shape
    alive, structures, _ = part_structures([(*part, part[2]) for part in parts])  # weights are those of words
    require(all(own.flags.c_contiguous and own.dtype == np.int64 for own in rows), "rows that the core cannot write")
    require(kept is None or (kept.dtype == bool and len(kept) == n), "a mask that the core cannot read")
    starts = [part[2] for part in parts]
    require(all(own.flags.c_contiguous and own.dtype == np.int64 for own in starts), "starts that cannot go on")
    lengths = np.stack([own.lengths for own in having])
    require(lengths.shape == (len(alive), len(words)), "words without a number of features")
    require(lengths.sum(axis=1).tolist() == [len(own.ids) for own in having], "features without a word")
    features = [np.ascontiguousarray(own.ids, np.int32) for own in having]
    weights = [np.ascontiguousarray(own.values, np.float64) for own in having]
    require([*map(len, features)] == [*map(len, weights)], "a feature without a weight")
    pointers = ((_POINTER * len(alive))(*map(address, own)) for own in (features, weights))
    mask, once = (None, False) if kept is None else (address(kept), bool(kept.all()))
    given = structures, len(alive), *pointers, address(lengths), mask, once
    most = int(lengths.sum(axis=0).max(initial=0))
    places = _scratch("places", 2 * most, np.int64)
    own = (PartStructure * len(alive))(), address(places), address(places[most:])
    arrays = *own, address(_scratch("sums", BLOCK)), address(_scratch("scores", n)), *map(address, rows)
    check(library().setsearch_nearest(address(words), len(words), n, *given, k, unit, *arrays))


def squares(
    source: ListArrays, totals: Ints, thresholds: Floats | None, factors: Floats, logs: Floats
) -> Floats | None:
    """The sums of the squares of the weights of each item, `(n_items,)`; None for a count without a logarithm.

    `source`: ids and counts of all items, where each starts and ends. `factors` and `logs` are squares. Raises
    LostArrays.
    """
    ids, counts, starts, ends = source
    found = np.empty(len(starts))
    entries = *map(address, (starts, ends, ids, counts)), counts.itemsize, len(ids), len(factors), address(totals)
    rule = None if thresholds is None else address(thresholds), address(factors), address(logs), len(logs)
    answer = library().setsearch_squares(len(starts), *entries, *rule, address(found))
    return None if answer == UNKNOWN or check(answer) else found


def close(
    lists: Ints, source: ListArrays, totals: Ints, thresholds: Floats, near: float, room: int
) -> tuple[Ints, Ints, Floats] | None:
    """The entries of some features whose share is near the threshold: items, features, shares; None if they are many.

    `source`: ids and counts of all features, where each starts and ends. `near` is relative. Raises LostArrays.
    """
    ids, counts, starts, ends = source
    lists = np.ascontiguousarray(lists, np.int64)
    starts, ends = starts[lists], ends[lists]
    found = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    entries = *map(address, (starts, ends, ids, counts)), counts.itemsize, len(ids), len(totals), address(totals)
    n = library().setsearch_close(
        address(lists), len(lists), *entries, address(thresholds), near, room, *map(address, found)
    )
    if n == UNSURE:
        return None
    count = check(n)
    return found[0][:count].copy(), found[1][:count].copy(), found[2][:count].copy()


def part_structures(parts: Sequence[Part]) -> tuple[list[Any], Any, int]:
    """The arrays of parts, which must live as long as a call; their structures; and how many lists there are."""
    kept, structures, n_lists = [], (PartStructure * len(parts))(), 0
    for place, (ids, values, starts, ends, weights) in enumerate(parts):
        arrays = [np.ascontiguousarray(array) for array in (ids, starts, ends, weights)]
        require([array.dtype.itemsize for array in arrays] == [4, 8, 8, 8], "arrays of other types")
        require(len({len(array) for array in arrays[1:]}) == 1, "a list without a start, an end or a weight")
        entries = None if values is None else np.ascontiguousarray(values)
        require(entries is None or len(entries) >= len(ids), "an entry without a value")
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


def alike(rows: Array, other: Array, shift: float, unit: float, lengths: Floats, factors: Floats) -> tuple[Any, ...]:
    """(rows @ other / lengths - shift) * factors * unit, of int8 with int16, products below 2^31; and the moments."""
    rows, found, of_all = np.ascontiguousarray(rows, np.int8), np.empty(len(rows)), np.empty(2)
    require(other.dtype == np.int16 and other.shape == rows.shape[1:], "a row that the core cannot multiply with")
    sizes = *rows.shape, address(other), shift, unit
    check(library().setsearch_alike(address(rows), *sizes, *map(address, (lengths, factors, found, of_all))))
    return found, *of_all.tolist()


def require(is_so: bool, otherwise: str) -> None:
    """Raise TypeError for arrays that the core cannot take, which is a mistake of ours."""
    if not is_so:
        raise TypeError(otherwise)


def address(array: Any) -> int:
    """Where a contiguous array begins."""
    try:
        return c.addressof(_Start.from_buffer(array))  # an eighth of the time of what else numpy tells
    except TypeError:  # it is not for writing
        return int(array.__array_interface__["data"][0])


def check(answer: int) -> int:
    """What the core returned. Raises LostArrays."""
    if answer < 0:
        raise LostArrays("the lists in memory")
    return answer
