"""How lists, and their values under a rule, lie in a file of arrays (sqlite/mapped.py), which all processes map."""

from collections.abc import Iterator

import numpy as np

from setsearch.arrays import Array, Floats, offsets
from setsearch.errors import LostArrays
from setsearch.lists import Buffer, Lists, TurnedLists, room_for
from setsearch.models.values import ValueRule
from setsearch.scoring.best import is_core
from setsearch.scoring.postings import ValuedLists
from setsearch.sqlite.mapped import Mapped, Room

NamedArrays = Iterator[tuple[str, Array | Room]]

COUNTS = "<u2", "<i4"  # types


def lists_to_arrays(prefix: str, lists: Lists, may_grow: bool) -> NamedArrays:
    """The arrays of lists, by name, with room behind them if the lists may grow."""
    ids, counts = lists.flat()
    more = room_for(len(ids)) if may_grow else 0
    yield f"{prefix} ids", Room(ids, more)
    yield f"{prefix} counts", Room(counts, more)
    yield f"{prefix} bounds", offsets(lists.lengths)
    yield from turned_to_arrays(prefix, lists)


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


def turned_to_arrays(prefix: str, lists: Lists) -> NamedArrays:
    """What is kept of lists whose other direction the file has."""
    yield f"{prefix} lengths", lists.lengths
    yield f"{prefix} totals", lists.totals


def turned_from_arrays(mapped: Mapped, prefix: str, other: Lists) -> Lists:
    """The other direction of lists of a file, which is made when its entries are read. Raises LostArrays."""
    lengths, totals = (take_array(mapped, f"{prefix} {part}", "<i8", other.n_ids) for part in ("lengths", "totals"))
    if lengths.min(initial=0) < 0 or int(lengths.sum()) != other.size:
        raise LostArrays(f"the mapped {prefix}")
    return TurnedLists(other, lengths, totals)


def values_to_arrays(prefix: str, valued: ValuedLists, lists: Lists | None) -> NamedArrays:
    """The arrays of the values of lists, all of which are there, in order; ids and bounds if `lists` have others.

    An entry without a value is in lists alone. None: the file does not have their entries.
    """
    ids, values, starts, ends = valued.part
    bounds = np.append(starts, valued.used)
    assert np.array_equal(bounds[1:], ends), "values are given in the order of lists"
    if lists is None or not np.array_equal(bounds, offsets(lists.lengths)):
        yield f"{prefix} ids", ids[: valued.used]
        yield f"{prefix} bounds", bounds
    if values is not None:
        yield f"{prefix} values", values[: valued.used]
    yield f"{prefix} largest", np.array(valued.bounds)


def values_from_arrays(mapped: Mapped, prefix: str, lists: Lists, rule: ValueRule) -> ValuedLists | None:
    """The values of the lists of a file; None if it has none. Raises LostArrays."""
    if f"{prefix} largest" not in mapped.arrays:
        return None
    if f"{prefix} ids" in mapped.arrays:
        ids, bounds = take_array(mapped, f"{prefix} ids", "<i4"), take_array(mapped, f"{prefix} bounds", "<i8")
        starts, ends = bounds[:-1], bounds[1:]
        if len(bounds) != len(lists) + 1:
            raise LostArrays(f"the mapped {prefix}")
    else:
        buffer, starts, ends = lists.arrays
        ids = buffer.ids[: lists.size]  # behind them are entries that a later content has
    values = None if rule.binary else take_array(mapped, f"{prefix} values", "<f4", len(ids))
    seen, square = take_array(mapped, f"{prefix} largest", "<f8", 2).tolist()
    inside = starts.min(initial=0) >= 0 and ends.max(initial=0) <= len(ids) and bool(np.all(starts <= ends))
    inside = inside and min(seen, square) >= 0 and max(seen, square) < np.inf
    if not inside or (not is_core() and not 0 <= ids.min(initial=0) <= ids.max(initial=0) < max(lists.n_ids, 1)):
        raise LostArrays(f"the mapped {prefix}")
    return ValuedLists.whole(lists, (ids, values, starts, ends), rule.largest, (seen, square))


def norms_from_arrays(mapped: Mapped, prefix: str, size: int) -> Floats | None:
    """The norms of the items of a file; None if it has none. Raises LostArrays."""
    if f"{prefix} norms" not in mapped.arrays:
        return None
    norms: Floats = take_array(mapped, f"{prefix} norms", "<f8", size)
    if not np.all((norms >= 0) & (norms < np.inf)):
        raise LostArrays(f"the mapped {prefix} norms")
    return norms


def take_array(mapped: Mapped, name: str, *types_and_size: str | int) -> Array:
    """An array of a file that has one of some types, and a size if that is known. Raises LostArrays."""
    array = mapped.arrays.get(name)
    if array is None or array.dtype.str not in types_and_size:
        raise LostArrays(f"the mapped {name}")
    sizes = [size for size in types_and_size if isinstance(size, int)]
    if sizes and len(array) != sizes[0]:
        raise LostArrays(f"the mapped {name}")
    return array
