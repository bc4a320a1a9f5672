"""How lists, and their values under a rule, lie in a file of arrays (sqlite/mapped.py), which all processes map."""

from collections.abc import Iterator

import numpy as np

from setsearch.arrays import Array, offsets
from setsearch.errors import LostArrays
from setsearch.lists import Buffer, Lists, room_for
from setsearch.scoring.kernels import is_core
from setsearch.scoring.valued_lists import ValuedLists
from setsearch.sqlite.mapped import Mapped, Room

Named = Iterator[tuple[str, Array | Room]]

COUNTS = "<u2", "<i4"  # types


def lists_to_arrays(prefix: str, lists: Lists, may_grow: bool) -> Named:
    """The arrays of lists, by name, with room behind them if the lists may grow."""
    ids, counts = lists.flat()
    more = room_for(len(ids)) if may_grow else 0
    yield f"{prefix} ids", Room(ids, more)
    yield f"{prefix} counts", Room(counts, more)
    yield f"{prefix} bounds", offsets(lists.lengths)
    yield f"{prefix} lengths", lists.lengths
    yield f"{prefix} totals", lists.totals


def lists_from_arrays(mapped: Mapped, prefix: str, n_lists: int, n_ids: int) -> Lists:
    """The lists of a file. Raises LostArrays.

    The core looks at the ids of each list that it adds, so here only those look at all of them who have no core.
    """
    ids = take_array(mapped, f"{prefix} ids", "<i4")
    counts = take_array(mapped, f"{prefix} counts", *COUNTS)
    bounds, lengths, totals = (
        take_array(mapped, f"{prefix} {part}", "<i8", size)
        for part, size in (("bounds", n_lists + 1), ("lengths", n_lists), ("totals", n_lists))
    )
    end = mapped.used[f"{prefix} ids"]
    is_whole = len(ids) == len(counts) and bounds[0] == 0 and bounds[-1] == end
    if not is_whole or lengths.min(initial=0) < 0 or not np.array_equal(np.diff(bounds), lengths):
        raise LostArrays(f"the mapped {prefix}")
    lists = Lists(Buffer(ids, counts, end), (bounds[:-1], bounds[1:]), lengths, totals, n_ids)
    if not is_core() and not lists.are_sound():
        raise LostArrays(f"the mapped {prefix}")
    return lists


def values_to_arrays(prefix: str, valued: ValuedLists, lists: Lists) -> Named:
    """The arrays of the values of lists, all of which are there; ids and bounds if they are others than those of lists.

    An entry without a value is in lists alone.
    """
    ids, values, starts, ends = valued.part
    bounds = offsets(lists.lengths)
    if not np.array_equal(ends, bounds[1:]) or not np.array_equal(starts, bounds[:-1]):
        yield f"{prefix} ids", ids[: valued.used]
        yield f"{prefix} starts", starts
        yield f"{prefix} ends", ends
    if values is not None:
        yield f"{prefix} values", values[: valued.used]
    yield f"{prefix} largest", np.array(valued.bounds)


def values_from_arrays(mapped: Mapped, prefix: str, lists: Lists, largest: float | None) -> ValuedLists | None:
    """The values of the lists of a file; None if it has none."""
    if f"{prefix} largest" not in mapped.arrays:
        return None
    buffer, starts, ends = lists.arrays
    ids, n_lists = buffer.ids[: buffer.end], len(lists)
    if f"{prefix} ids" in mapped.arrays:
        ids = take_array(mapped, f"{prefix} ids", "<i4")
        starts, ends = (take_array(mapped, f"{prefix} {part}", "<i8", n_lists) for part in ("starts", "ends"))
    values = None
    if f"{prefix} values" in mapped.arrays:
        values = take_array(mapped, f"{prefix} values", "<f4", len(ids))
    seen, square = take_array(mapped, f"{prefix} largest", "<f8", 2).tolist()
    inside = starts.min(initial=0) >= 0 and ends.max(initial=0) <= len(ids) and bool(np.all(starts <= ends))
    if not inside or (not is_core() and not 0 <= ids.min(initial=0) <= ids.max(initial=0) < max(lists.n_ids, 1)):
        raise LostArrays(f"the mapped {prefix}")
    return ValuedLists.whole(lists, (ids, values, starts, ends), largest, (seen, square))


def take_array(mapped: Mapped, name: str, *types_and_size: str | int) -> Array:
    """An array of a file that has one of some types, and a size if that is known. Raises LostArrays."""
    array = mapped.arrays.get(name)
    if array is None or array.dtype.str not in types_and_size:
        raise LostArrays(f"the mapped {name}")
    sizes = [size for size in types_and_size if isinstance(size, int)]
    if sizes and len(array) != sizes[0]:
        raise LostArrays(f"the mapped {name}")
    return array
