"""The posting lists of one direction of a relation, stored as blocks in one table.

Both directions, feature -> items and item -> features, are such a table; the transpose of a relation swaps them.
A list is one or several blocks. New ids at the end of a list go into a block of their own once the last block is
full, so that adding to a long list rewrites little.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from setsearch.arrays import Entries, Ints, run_starts
from setsearch.errors import MEND, CorruptIndex
from setsearch.storage.codec import decode_counts, decode_ids, encode_counts, encode_ids
from setsearch.storage.sql import insert_rows

FULL = 256  # ids in a block, from which on new ids at the end start the next block
SWEEP = 1_000_000  # ids that one step of a sweep decodes, at least
PIECE = 1 << 15  # ids that are decoded together: few enough to stay in the processor's cache
LARGEST = 65_536  # ids in a block at the most when it is written
MANY = 400  # parameters in one statement
Row = tuple[int, int, int, int, int, bytes, bytes | None]  # list, first, last, length, total, gaps, counts
_COLUMNS = "first, last, length, total, gaps"


@dataclass(frozen=True)
class Lists:
    """One direction: `table` is "posting" or "forward"; all ids in its lists are below `peak`."""

    table: str
    relation: int
    peak: int

    def read(self, cursor: sqlite3.Cursor, lists: Sequence[int], counts: bool = True) -> Entries:
        """The entries of some lists (ascending ids); without `counts` these are not loaded, and all 1."""
        return self._decode(self.blocks(cursor, lists, counts), counts)

    def blocks(self, cursor: sqlite3.Cursor, lists: Sequence[int], counts: bool = True) -> list[Row]:
        """The blocks of some lists (ascending ids) as they are stored."""
        column = "counts" if counts else "null"
        rows: list[Row] = []
        for start in range(0, len(lists), MANY):
            part = lists[start : start + MANY]
            rows += cursor.execute(
                f"select list, {_COLUMNS}, {column} from setsearch_{self.table} "
                f"where relation = ? and list in ({','.join('?' * len(part))}) order by list, first",
                (self.relation, *part),
            )
        return rows

    def length(self, rows: Iterable[Row]) -> int:
        """How many entries blocks hold. Raises CorruptIndex where one has not the bytes for what it says."""
        length = 0
        for row in rows:
            if row[3] > len(row[5]) + 1:
                raise self._damaged()
            length += row[3]
        return length

    def sweep(self, cursor: sqlite3.Cursor, counts: bool = True) -> Iterator[Entries]:
        """All entries, some lists at a time; a long list may continue in the next step."""
        column = "counts" if counts else "null"
        cursor = cursor.connection.cursor()  # the caller's cursor stays free for its own statements
        cursor.row_factory = None
        cursor.execute(
            f"select list, {_COLUMNS}, {column} from setsearch_{self.table} where relation = ? order by list, first",
            (self.relation,),
        )
        # Whoever sweeps may do something for each id in each step.
        yield from self.pieces(cursor, counts, max(SWEEP, self.peak))

    def pieces(self, rows: Iterable[Row], counts: bool, size: int) -> Iterator[Entries]:
        """The entries of stored blocks, about `size` at a time."""
        part: list[Row] = []
        length, end = 0, (-1, -1)
        for row in rows:
            if not part and row[0] == end[0] and row[1] <= end[1]:
                raise self._damaged()
            part.append(row)
            length += row[3]
            if length >= size:
                yield self._decode(part, counts)
                part, length, end = [], 0, (row[0], row[2])
        if part:
            yield self._decode(part, counts)

    def frequencies(self, cursor: sqlite3.Cursor, peak: int) -> tuple[Ints, Ints]:
        """Length (document frequency) and sum of counts of every list: two `(peak,)` arrays, 0 where there is none."""
        rows = cursor.execute(
            f"select list, sum(length), sum(total) from setsearch_{self.table} where relation = ? group by list",
            (self.relation,),
        )
        found = np.fromiter(rows, np.dtype((np.int64, 3)))
        out = np.zeros((2, peak), np.int64)
        if len(found):
            if found[:, 0].max() >= peak or found.min() < 0:
                raise CorruptIndex(f"setsearch_{self.table} holds a list of an unknown id; {MEND}")
            out[:, found[:, 0]] = found[:, 1:].T
        return out[0], out[1]

    def entry_count(self, cursor: sqlite3.Cursor) -> int:
        """Number of cells of the relation that are not 0."""
        row = cursor.execute(
            f"select coalesce(sum(length), 0) from setsearch_{self.table} where relation = ?", (self.relation,)
        ).fetchone()
        return int(row[0])

    def merge(self, cursor: sqlite3.Cursor, changes: Entries) -> list[int]:
        """Set cells to new counts, 0 to remove them; returns the lists that have become empty.

        `changes` are sorted by list and id, each cell at most once.
        """
        if not len(changes.lists):
            return []
        heads = self._heads(cursor, changes.lists)
        chosen = _blocks_of(changes, heads)
        chosen = chosen[run_starts(chosen)]  # in order, so that runs are what is distinct
        rewritten = heads[chosen[chosen < len(heads)], :2].tolist()
        merged = _overlay(self._decode(self._rows(cursor, rewritten)), changes)
        cursor.executemany(
            f"delete from setsearch_{self.table} where relation = {self.relation} and list = ? and first = ?", rewritten
        )
        self._insert(cursor, merged, _blocks_of(merged, heads))
        shrunk = changes.lists[changes.counts == 0]
        gone = np.setdiff1d(shrunk, merged.lists).tolist() if len(shrunk) else []
        return [list_ for list_ in gone if not self._exists(cursor, list_)]

    def fill(self, cursor: sqlite3.Cursor, entries: Entries) -> None:
        """Write entries, sorted by list and id, where there were none."""
        self._insert(cursor, entries, np.zeros(len(entries.lists), np.int64))

    def clear(self, cursor: sqlite3.Cursor) -> None:
        """Delete all lists."""
        cursor.execute(f"delete from setsearch_{self.table} where relation = ?", (self.relation,))

    def _heads(self, cursor: sqlite3.Cursor, lists: Ints) -> Ints:
        """(list, first, last, length) of every block of some lists: `(n_blocks, 4)`, in order."""
        (largest,) = cursor.execute(
            f"select coalesce(max(list), -1) from setsearch_{self.table} where relation = ?", (self.relation,)
        ).fetchone()
        known = lists[lists <= largest]
        rows = cursor.execute(
            f"select list, first, last, length from setsearch_{self.table} "
            "where relation = ? and list in (select value from json_each(?)) order by list, first",
            (self.relation, json.dumps(known[run_starts(known)].tolist())),
        )
        return np.fromiter(rows, np.dtype((np.int64, 4)))

    def _rows(self, cursor: sqlite3.Cursor, blocks: Sequence[tuple[int, int]]) -> list[Row]:
        """The blocks that start with (list, first), in order."""
        rows: list[Row] = []
        for start in range(0, len(blocks), MANY):
            part = blocks[start : start + MANY]
            rows += cursor.execute(
                f"with wanted (list, first) as (values {','.join(['(?,?)'] * len(part))}) "
                f"select b.list, b.first, last, length, total, gaps, counts from wanted "
                f"cross join setsearch_{self.table} b "
                f"on relation = {self.relation} and b.list = wanted.list and b.first = wanted.first",
                list(chain.from_iterable(part)),
            )
        return sorted(rows, key=lambda row: row[:2])

    def _exists(self, cursor: sqlite3.Cursor, list_: int) -> bool:
        found = cursor.execute(
            f"select 1 from setsearch_{self.table} where relation = ? and list = ? limit 1", (self.relation, list_)
        )
        return found.fetchone() is not None

    def _insert(self, cursor: sqlite3.Cursor, entries: Entries, blocks: Ints) -> None:
        """Write entries; a new block begins where list or `blocks` changes, and after `LARGEST` ids."""
        if not len(entries.lists):
            return
        begin = _cut(run_starts(entries.lists, blocks), len(blocks))
        starts = np.append(begin, len(entries.lists))
        last = starts[1:] - 1
        columns = (
            entries.lists[begin].tolist(),
            entries.ids[begin].tolist(),
            entries.ids[last].tolist(),
            np.diff(starts).tolist(),
            np.add.reduceat(entries.counts, begin).tolist(),
            encode_ids(entries.ids, starts),
            encode_counts(entries.counts, starts),
        )
        insert = f"insert into setsearch_{self.table} (relation, list, first, last, length, total, gaps, counts)"
        insert_rows(cursor, insert, f"({self.relation}, ?, ?, ?, ?, ?, ?, ?)", *columns)

    def _decode(self, rows: Sequence[Row], counted: bool = True) -> Entries:
        if not rows:
            nothing = np.zeros(0, np.int64)
            return Entries(nothing, nothing, nothing)
        lists, firsts, lasts, lengths, totals, gaps, stored = zip(*rows, strict=True)
        first, length = np.array(firsts, np.int64), np.array(lengths, np.int64)
        ids, counts = decode_ids(first, length, gaps), decode_counts(length, stored)
        ends = np.cumsum(length)
        sound = first.min() >= 0 and max(lasts) < self.peak and np.array_equal(ids[ends - 1], lasts)
        if counted and sound:
            sound = np.array_equal(np.add.reduceat(counts, ends - length), totals)
        found = Entries(np.repeat(np.array(lists, np.int64), length), ids, counts)
        back = np.flatnonzero(ids[1:] <= ids[:-1])
        # Kernels do not check the ids that they are given: below the peak, and ascending in each list.
        if not sound or (found.lists[back] == found.lists[back + 1]).any():
            raise self._damaged()
        return found

    def _damaged(self) -> CorruptIndex:
        return CorruptIndex(f"setsearch_{self.table} holds a damaged block; {MEND}")


def _blocks_of(cells: Entries, heads: Ints) -> Ints:
    """The row of `heads` that each cell belongs to, `(n_cells,)`; from `len(heads)` on: a new block behind that row."""
    if not len(heads):
        return np.zeros(len(cells.lists), np.int64)
    # The last block that starts at or before the cell, else the first one of its list.
    key = (heads[:, 0] << 32) | heads[:, 1]
    block = np.searchsorted(key, (cells.lists << 32) | cells.ids, side="right") - 1
    block = np.where((block >= 0) & (heads[block, 0] == cells.lists), block, block + 1)
    own = np.minimum(block, len(heads) - 1)
    beyond = (heads[own, 0] != cells.lists) | ((cells.ids > heads[own, 2]) & (heads[own, 3] >= FULL))
    return np.where(beyond, len(heads) + own, own)


def _cut(begin: Ints, end: int) -> Ints:
    """Cut runs that are longer than `LARGEST`: the begins of all pieces."""
    lengths = np.diff(begin, append=end)
    if lengths.max() <= LARGEST:
        return begin
    pieces = [np.arange(start, start + length, LARGEST) for start, length in zip(begin, lengths, strict=True)]
    return np.concatenate(pieces)


def _overlay(old: Entries, new: Entries) -> Entries:
    """Cells of `old` with those of `new` in their place; zeros are dropped."""
    if not len(old.lists):
        kept = new
    else:
        key = np.concatenate([(old.lists << 32) | old.ids, (new.lists << 32) | new.ids])
        order = np.argsort(key, kind="stable")
        key = key[order]
        latest = np.append(key[1:] != key[:-1], True)  # the stable order puts the new cell behind the old one
        order = order[latest]
        kept = Entries(*(np.concatenate(pair)[order] for pair in zip(old, new, strict=True)))
    return kept.select(kept.counts > 0)
