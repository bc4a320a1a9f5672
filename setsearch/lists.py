"""Lists of ascending ids with counts, in memory: one direction of a relation as a few flat arrays.

A list may be replaced: its new entries go behind all others, so that whoever reads the old arrays keeps them. The
arrays may be those of a file that other processes map, too: what is written there stays in this process.
"""

import os
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from setsearch.arrays import (
    Array,
    Entries,
    Ids,
    Ints,
    ListArrays,
    bincount,
    offsets,
    positions,
    repeat,
    run_lengths,
    run_starts,
    sum_runs,
    take,
)
from setsearch.core.indexing import sort, turn

ROOM, LEAST_ROOM = 1 / 4, 1 << 16  # entries that fit behind the present ones: a share, and some more
MOST_CHANGES = 1 << 20  # entries that wait for the lists that lack them to be needed
CHUNK = 1 << 16  # entries that are worked on together; few enough for the processor's cache

LOCK = threading.RLock()  # of everything in memory that is filled when it is needed; nobody forks in between
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)

Counts = npt.NDArray[Any]  # uint16 or int32


class Buffer:
    """Entries, `ids` and `counts` up to `end`, and room for more."""

    def __init__(self, ids: Ids, counts: Counts, end: int) -> None:
        self.ids, self.counts, self.end = ids, counts, end

    @classmethod
    def empty(cls, size: int, dtype: npt.DTypeLike) -> "Buffer":
        """A buffer for so many entries."""
        return cls(np.empty(size + room_for(size), np.int32), np.empty(size + room_for(size), dtype), size)


class Changes(NamedTuple):
    """What lists lack: the ids that `changed`, a mask, and all entries that these ids have now, by list and id."""

    changed: npt.NDArray[np.bool_]
    entries: Entries


class Lists:
    """List i has `lengths[i]` entries, `starts[i]` to `ends[i]` of the buffer, and the sum of counts `totals[i]`.

    All ids are below `n_ids`. Lists that are `stale` lack changes: they are `settle`d when they are needed.
    """

    def __init__(self, buffer: Buffer, places: tuple[Ints, Ints], lengths: Ints, totals: Ints, n_ids: int) -> None:
        self._arrays: tuple[Buffer, Ints, Ints] | None = (buffer, *places)
        self.n_ids = n_ids
        self.lengths, self.totals = lengths, totals
        self._changes: Changes | None = None
        self._stale = np.zeros(len(lengths), bool)

    @classmethod
    def of(cls, entries: Entries, n_lists: int, n_ids: int) -> "Lists":
        """Lists of sorted entries."""
        buffer = Buffer.empty(len(entries.ids), _dtype(entries.counts))
        buffer.ids[: buffer.end], buffer.counts[: buffer.end] = entries.ids, entries.counts
        lengths, totals = _sums(entries, n_lists)
        ends = offsets(lengths)
        return cls(buffer, (ends[:-1], ends[1:]), lengths, totals, n_ids)

    @classmethod
    def put(cls, entries: Entries, sizes: tuple[int, int], put: Callable[..., list[Array]]) -> "Lists":
        """Lists of sorted entries without room for more, whose arrays are where `put` puts them.

        `sizes` are the numbers of lists and ids.
        """
        lengths, totals = _sums(entries, sizes[0])
        ids, counts = entries.ids.astype(np.int32, copy=False), entries.counts.astype(_dtype(entries.counts))
        ids, counts, lengths, totals, ends = put(ids, counts, lengths, totals, offsets(lengths))
        return cls(Buffer(ids, counts, len(ids)), (ends[:-1], ends[1:]), lengths, totals, sizes[1])

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def arrays(self) -> tuple[Buffer, Ints, Ints]:
        """The buffer, and where each list starts and ends, read together: settling may move all lists."""
        assert self._arrays is not None
        return self._arrays

    def source(self, lists: Ints | None = None) -> ListArrays:
        """The ids and counts, and where each list starts and ends; some lists (ascending), or all, are up to date."""
        self.settle(lists)
        return self.as_it_is()

    def as_it_is(self) -> ListArrays:
        """The same, without a look at which lists lack changes."""
        buffer, starts, ends = self.arrays
        return buffer.ids, buffer.counts, starts, ends

    @property
    def lacks_changes(self) -> bool:
        """Whether some lists may be stale."""
        return self._changes is not None

    @property
    def size(self) -> int:
        """The number of entries of all lists."""
        return int(self.lengths.sum())

    def take(self, lists: Ints) -> Entries:
        """The entries of some lists (ascending)."""
        self.settle(lists)
        return self._take(lists)

    def _take(self, lists: Ints) -> Entries:
        buffer, starts, ends = self.arrays
        lengths = ends[lists] - starts[lists]
        if len(lists) == 1:
            span = slice(int(starts[lists[0]]), int(ends[lists[0]]))
            ids, counts = buffer.ids[span], buffer.counts[span]
        else:
            places = positions(starts[lists], lengths)
            ids, counts = take(buffer.ids, places), take(buffer.counts, places)
        return Entries(repeat(lists, lengths), ids.astype(np.int64), counts.astype(np.int64))

    def chunks(self) -> Iterator[tuple[int, int, Ids, Counts]]:
        """All lists in steps: (first, last + 1, ids of their entries, counts)."""
        self.settle()
        done = offsets(self.lengths)
        cuts = np.searchsorted(done, np.arange(0, done[-1], CHUNK), "left")
        for first, last in pairwise(sorted({0, *cuts.tolist(), len(self)})):
            yield first, last, *self._flat(first, last)

    def flat(self) -> tuple[Ids, Counts]:
        """The ids and counts of all lists, one list behind the other."""
        self.settle()
        return self._flat(0, len(self))

    def _flat(self, first: int, last: int) -> tuple[Ids, Counts]:
        buffer, starts, ends = self.arrays
        starts, ends = starts[first:last], ends[first:last]
        if not np.array_equal(starts[1:], ends[:-1]):
            places = positions(starts, ends - starts)
            return take(buffer.ids, places), take(buffer.counts, places)
        span = slice(int(starts[0]), int(ends[-1])) if len(starts) else slice(0, 0)
        return buffer.ids[span], buffer.counts[span]

    def sweep(self) -> Iterator[Entries]:
        """All entries, in steps."""
        for first, last, ids, counts in self.chunks():
            lists = repeat(np.arange(first, last), self.lengths[first:last])
            yield Entries(lists, ids.astype(np.int64), counts.astype(np.int64))

    def replaced(self, lists: Ints, entries: Entries, n_lists: int, n_ids: int) -> "Lists":
        """The lists after some of them (ascending) were replaced by these entries."""
        lengths, totals = _sums(entries, n_lists)
        with LOCK:
            new = self._copy(n_lists, n_ids)
            new.lengths[lists], new.totals[lists] = lengths[lists], totals[lists]
            new._put(lists, entries)
        return new

    def changed(self, ids: Ints, old: Entries, new: Entries, sizes: tuple[int, int]) -> "Lists":
        """The lists after all entries of some ids changed, from `old` to `new`.

        `sizes` are the numbers of lists and ids from now on.
        """
        with LOCK:
            changed = self._copy(*sizes)
        was_stale = bool(changed._stale.any())
        for entries, sign in ((old, -1), (new, 1)):
            known = entries.select(entries.lists < sizes[0])
            np.add.at(changed.lengths, known.lists, sign)
            np.add.at(changed.totals, known.lists, sign * known.counts)
            changed._stale[known.lists] = True
        mask, earlier = np.zeros(sizes[1], bool), new
        if self._changes is not None and was_stale:
            known_ids = self._changes.changed[: sizes[1]]
            mask[: len(known_ids)] = known_ids
            kept = self._changes.entries
            kept = kept.select(~np.isin(kept.ids, ids) & (kept.lists < sizes[0]))
            earlier = kept.merged(new)
        mask[ids[ids < sizes[1]]] = True
        changed._changes = Changes(mask, earlier)
        if len(earlier.ids) > MOST_CHANGES:
            changed.settle()
        return changed

    def settle(self, lists: Ints | None = None) -> None:
        """Apply what is known to have changed to some lists, or to all."""
        if self._changes is None:
            return
        with LOCK:
            stale = np.flatnonzero(self._stale) if lists is None else lists[self._stale[lists]]
            if len(stale):
                old = self._take(stale)
                inside = old.ids < len(self._changes.changed)
                old = old.select(~self._changes.changed[np.where(inside, old.ids, 0)] & inside)
                new = self._changes.entries
                self._put(stale, old.merged(new.select(np.isin(new.lists, stale))))
                self._stale[stale] = False

    def _copy(self, n_lists: int, n_ids: int) -> "Lists":
        buffer, *places = self.arrays
        starts, ends, lengths, totals, stale = (
            _resized(own, n_lists) for own in (*places, self.lengths, self.totals, self._stale)
        )
        copy = Lists(buffer, (starts, ends), lengths, totals, n_ids)
        copy._stale = stale
        return copy

    def _put(self, lists: Ints, entries: Entries) -> None:
        """Give lists (ascending) other entries, behind all others or, if there is no room, in new arrays."""
        place = self._append(entries)
        if place is None:
            self._compact(lists, entries)
            place = self._append(entries)
            assert place is not None
        own = offsets(bincount(np.searchsorted(lists, entries.lists), minlength=len(lists))) + place
        _, starts, ends = self.arrays
        starts[lists], ends[lists] = own[:-1], own[1:]

    def _append(self, entries: Entries) -> int | None:
        """Put entries behind all others; where they begin, or None if there is no room."""
        buffer = self.arrays[0]
        begin, end = buffer.end, buffer.end + len(entries.ids)
        if end > len(buffer.ids) or _dtype(entries.counts).itemsize > buffer.counts.dtype.itemsize:
            return None
        buffer.ids[begin:end], buffer.counts[begin:end] = entries.ids, entries.counts
        buffer.end = end
        return begin

    def _compact(self, lists: Ints, entries: Entries) -> None:
        """Move all lists to new arrays, in order, but for some that will be given these entries."""
        old, starts, ends = self.arrays
        is_kept = ends > starts
        is_kept[lists] = False
        kept = np.flatnonzero(is_kept)
        starts, ends = starts[kept], ends[kept]
        begin = offsets(ends - starts)
        dtype = max(old.counts.dtype, _dtype(entries.counts), key=lambda dtype: dtype.itemsize)
        buffer = Buffer.empty(int(begin[-1]) + len(entries.ids), dtype)
        buffer.end = int(begin[-1])
        moved = positions(starts, ends - starts)
        buffer.ids[: buffer.end], buffer.counts[: buffer.end] = take(old.ids, moved), take(old.counts, moved)
        places = np.zeros((2, len(self)), np.int64)
        places[:, kept] = begin[:-1], begin[1:]
        self._arrays = buffer, places[0], places[1]

    def are_sound(self) -> bool:
        """Whether all ids ascend within their lists and are some of items, and all counts are positive."""
        for first, last, ids, counts in self.chunks():
            if not len(ids):
                continue
            begin = offsets(self.lengths[first:last])[:-1]
            ascends = np.append(True, ids[1:] > ids[:-1])
            ascends[begin[begin < len(ids)]] = True
            if not ascends.all() or ids.min() < 0 or ids.max() >= self.n_ids or counts.min() < 1:
                return False
        return True


class TurnedLists(Lists):
    """The other direction of some lists: the entries are made of theirs when somebody reads them."""

    def __init__(self, other: Lists, lengths: Ints, totals: Ints) -> None:
        self.n_ids, self.lengths, self.totals = len(other), lengths, totals
        self._other, self._arrays = other, None
        self._changes, self._stale = None, np.zeros(len(lengths), bool)

    @property
    def arrays(self) -> tuple[Buffer, Ints, Ints]:
        """As of any lists."""
        with LOCK:
            if self._arrays is None:
                lists = repeat(np.arange(len(self._other), dtype=np.int32), self._other.lengths)
                ids, counts = self._other.flat()
                entries = transposed(Entries(lists, cast(Ints, ids), counts))
                self._arrays = Lists.of(entries, len(self), self.n_ids).arrays
            return self._arrays


def transposed(entries: Entries) -> Entries:
    """The same cells with lists and ids exchanged, sorted; dtypes stay."""
    turned = turn(*(own.astype(np.int32, copy=False) for own in entries))
    if turned is not None:
        columns = zip((turned[1], turned[0], turned[2]), (entries.ids, entries.lists, entries.counts), strict=True)
        return Entries(*(cast(Ints, own.astype(old.dtype, copy=False)) for own, old in columns))
    ids, order = entries.ids.astype(np.int64), np.arange(len(entries.ids), dtype=np.int32)
    sort(ids, order)
    return Entries(cast(Ints, ids.astype(entries.ids.dtype)), take(entries.lists, order), take(entries.counts, order))


def room_for(size: int) -> int:
    """For how many more entries there is room behind some."""
    return int(size * ROOM) + LEAST_ROOM


def _sums(entries: Entries, n_lists: int) -> tuple[Ints, Ints]:
    """The length and the sum of counts of each list, `(n_lists,)`."""
    lengths, totals = np.zeros((2, n_lists), np.int64)
    if len(entries.lists):
        begin = run_starts(entries.lists)
        own = entries.lists[begin]
        lengths[own], totals[own] = run_lengths(begin, len(entries.lists)), sum_runs(entries.counts, begin)
    return lengths, totals


def _resized(array: Array, size: int) -> Array:
    """A copy with another length; new elements are 0."""
    resized = np.empty(size, array.dtype)
    kept = min(size, len(array))
    resized[:kept], resized[kept:] = array[:kept], 0
    return resized


def _dtype(counts: Ints) -> np.dtype[Any]:
    return np.dtype(np.uint16 if counts.max(initial=0) < 1 << 16 else np.int32)
