"""The posting lists of one direction of a relation, stored as blocks in one table.

A relation has two such tables: feature -> items (setsearch_posting) and item -> features (setsearch_forward). A list
is one or more blocks. New ids at the end of a list start a block once the last one is full, so that adding to a long
list rewrites little.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from setsearch.arrays import Entries, Ints, run_starts
from setsearch.errors import REPAIR_HINT, CorruptIndex
from setsearch.sqlite.sql import insert_rows
from setsearch.storage.codec import block_checksums, decode_counts, decode_ids, encode_blocks

FULL_BLOCK = 256  # ids; new ids behind a block of this length start the next one
LONGEST_BLOCK = 4096  # ids of a block when it is written; a change rewrites whole blocks
SWEEP_STEP = 1_000_000  # ids that one step of a sweep decodes
PARAMETERS = 400  # of one statement

# list, first, last, length, total, gaps, checksum of gaps, of counts, counts
Row = tuple[int, int, int, int, int, bytes, int, int, bytes | None]
_COLUMNS = "first, last, length, total, gaps, gaps_checksum, counts_checksum"
TABLES = {"posting": 1, "forward": 2}  # as checksums know them


@dataclass(frozen=True)
class PostingLists:
    """One direction: `table` is "posting" or "forward"; all ids in the lists are below `next_id`."""

    table: str
    relation: int
    next_id: int

    def read(self, cursor: sqlite3.Cursor, lists: Sequence[int]) -> Entries:
        """The entries of some lists."""
        rows = cursor.execute(
            f"select list, {_COLUMNS}, counts from setsearch_{self.table} "
            "where relation = ? and list in (select value from json_each(?)) order by list, first",
            (self.relation, json.dumps([*lists])),
        )
        return self._decode(rows.fetchall())

    def read_all(self, cursor: sqlite3.Cursor) -> Entries:
        """All entries."""
        steps = [np.array(step, np.int64) for step in self.sweep(cursor)]
        return Entries(*np.concatenate([np.zeros((3, 0), np.int64), *steps], axis=1))

    def existing(self, cursor: sqlite3.Cursor, lists: Iterable[int]) -> set[int]:
        """Those of some lists that have entries."""
        rows = cursor.execute(
            f"select distinct list from setsearch_{self.table} "
            "where relation = ? and list in (select value from json_each(?))",
            (self.relation, json.dumps([*lists])),
        )
        return {list_ for (list_,) in rows}

    def sweep(self, cursor: sqlite3.Cursor) -> Iterator[Entries]:
        """All entries in steps; a long list may continue in the next step."""
        cursor = cursor.connection.cursor()  # the caller's cursor stays free for its own statements
        cursor.row_factory = None
        rows = cursor.execute(
            f"select list, {_COLUMNS}, counts from setsearch_{self.table} where relation = ? order by list, first",
            (self.relation,),
        )
        part: list[Row] = []
        length, end = 0, (-1, -1)
        for row in rows:
            if not part and row[0] == end[0] and row[1] <= end[1]:
                raise self._damaged()
            part.append(row)
            length += row[3]
            if length >= SWEEP_STEP:
                yield self._decode(part)
                part, length, end = [], 0, (row[0], row[2])
        if part:
            yield self._decode(part)

    def frequencies(self, cursor: sqlite3.Cursor, n_lists: int) -> tuple[Ints, Ints]:
        """Length (document frequency) and sum of counts of each list: two `(n_lists,)` arrays, 0 for no list."""
        rows = cursor.execute(
            f"select list, sum(length), sum(total) from setsearch_{self.table} where relation = ? group by list",
            (self.relation,),
        )
        stored = np.fromiter(rows, np.dtype((np.int64, 3)))
        out = np.zeros((2, n_lists), np.int64)
        if len(stored):
            if stored[:, 0].max() >= n_lists or stored.min() < 0:
                raise CorruptIndex(f"setsearch_{self.table} holds a list of an unknown id; {REPAIR_HINT}")
            out[:, stored[:, 0]] = stored[:, 1:].T
        return out[0], out[1]

    def entry_count(self, cursor: sqlite3.Cursor) -> int:
        """The number of nonzero cells of the relation."""
        row = cursor.execute(
            f"select coalesce(sum(length), 0) from setsearch_{self.table} where relation = ?", (self.relation,)
        ).fetchone()
        return int(row[0])

    def merge(self, cursor: sqlite3.Cursor, changes: Entries) -> list[int]:
        """Set cells to new counts, 0 to remove them; returns the lists that are now empty.

        `changes` are sorted by list and id, each cell at most once.
        """
        if not len(changes.lists):
            return []
        heads = self._block_heads(cursor, changes.lists)
        blocks = _block_of(changes, heads)
        blocks = blocks[run_starts(blocks)]  # sorted, so that runs are the distinct values
        rewritten = heads[blocks[blocks < len(heads)], :2].tolist()
        merged = _overlay(self._decode(self._read_blocks(cursor, rewritten)), changes)
        cursor.executemany(
            f"delete from setsearch_{self.table} where relation = {self.relation} and list = ? and first = ?", rewritten
        )
        self._insert(cursor, merged, _block_of(merged, heads))
        shrunk = changes.lists[changes.counts == 0]
        gone = np.setdiff1d(shrunk, merged.lists).tolist() if len(shrunk) else []
        return sorted({*gone} - self.existing(cursor, gone))

    def fill(self, cursor: sqlite3.Cursor, entries: Entries) -> None:
        """Write entries, sorted by list and id, into an empty table."""
        self._insert(cursor, entries, np.zeros(len(entries.lists), np.int64))

    def clear(self, cursor: sqlite3.Cursor) -> None:
        """Delete all lists."""
        cursor.execute(f"delete from setsearch_{self.table} where relation = ?", (self.relation,))

    def _block_heads(self, cursor: sqlite3.Cursor, lists: Ints) -> Ints:
        """(list, first, last, length) of each block of some lists: `(n_blocks, 4)`, sorted."""
        (largest,) = cursor.execute(
            f"select coalesce(max(list), -1) from setsearch_{self.table} where relation = ?", (self.relation,)
        ).fetchone()
        stored = lists[lists <= largest]
        rows = cursor.execute(
            f"select list, first, last, length from setsearch_{self.table} "
            "where relation = ? and list in (select value from json_each(?)) order by list, first",
            (self.relation, json.dumps(stored[run_starts(stored)].tolist())),
        )
        return np.fromiter(rows, np.dtype((np.int64, 4)))

    def _read_blocks(self, cursor: sqlite3.Cursor, heads: Sequence[tuple[int, int]]) -> list[Row]:
        """The blocks that start with (list, first), sorted."""
        rows: list[Row] = []
        for start in range(0, len(heads), PARAMETERS):
            part = heads[start : start + PARAMETERS]
            rows += cursor.execute(
                f"with wanted (list, first) as (values {','.join(['(?,?)'] * len(part))}) "
                f"select b.list, b.{_COLUMNS}, counts from wanted "
                f"cross join setsearch_{self.table} b "
                f"on relation = {self.relation} and b.list = wanted.list and b.first = wanted.first",
                list(chain.from_iterable(part)),
            )
        return sorted(rows, key=lambda row: row[:2])

    def _insert(self, cursor: sqlite3.Cursor, entries: Entries, blocks: Ints) -> None:
        """Write entries; a new block starts where the list or `blocks` changes, and after LONGEST_BLOCK ids."""
        if not len(entries.lists):
            return
        begin = _cut_long_blocks(run_starts(entries.lists, blocks), len(blocks))
        starts = np.append(begin, len(entries.lists))
        heads, gaps, counts, *checksums = encode_blocks(self._place, entries, starts)
        insert = (
            f"insert into setsearch_{self.table} "
            "(relation, list, first, last, length, total, gaps, counts, gaps_checksum, counts_checksum)"
        )
        values = f"({self.relation}, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        insert_rows(cursor, insert, values, *heads.T.tolist(), gaps, counts, *(own.tolist() for own in checksums))

    @property
    def _place(self) -> tuple[int, int]:
        return TABLES[self.table], self.relation

    def _decode(self, rows: Sequence[Row]) -> Entries:
        if not rows:
            empty = np.zeros(0, np.int64)
            return Entries(empty, empty, empty)
        *heads, gaps, of_gaps, of_counts, stored = zip(*rows, strict=True)
        lists, firsts, lasts, lengths, totals = heads
        found = block_checksums(self._place, np.array(heads, np.int64).T, gaps, stored)
        if not np.array_equal(found[0], of_gaps) or not np.array_equal(found[1], of_counts):
            raise self._damaged()
        first, length = np.array(firsts, np.int64), np.array(lengths, np.int64)
        ids, counts = decode_ids(first, length, gaps), decode_counts(length, stored)
        ends = np.cumsum(length)
        sound = first.min() >= 0 and max(lasts) < self.next_id and np.array_equal(ids[ends - 1], lasts)
        if sound:
            sound = np.array_equal(np.add.reduceat(counts, ends - length), totals)
        entries = Entries(np.repeat(np.array(lists, np.int64), length), ids, counts)
        back = np.flatnonzero(ids[1:] <= ids[:-1])
        # Kernels rely on ids that ascend within a list and are below next_id: they check nothing.
        if not sound or (entries.lists[back] == entries.lists[back + 1]).any():
            raise self._damaged()
        return entries

    def _damaged(self) -> CorruptIndex:
        return CorruptIndex(f"setsearch_{self.table} holds a damaged block; {REPAIR_HINT}")


def _block_of(cells: Entries, heads: Ints) -> Ints:
    """The row of `heads` of each cell, `(n_cells,)`; `len(heads)` and above: a new block behind that row."""
    if not len(heads):
        return np.zeros(len(cells.lists), np.int64)
    # The last block that starts at or before the cell, else the first block of the list.
    key = (heads[:, 0] << 32) | heads[:, 1]
    block = np.searchsorted(key, (cells.lists << 32) | cells.ids, side="right") - 1
    block = np.where((block >= 0) & (heads[block, 0] == cells.lists), block, block + 1)
    block = np.minimum(block, len(heads) - 1)
    beyond = (heads[block, 0] != cells.lists) | ((cells.ids > heads[block, 2]) & (heads[block, 3] >= FULL_BLOCK))
    return np.where(beyond, len(heads) + block, block)


def _cut_long_blocks(begin: Ints, end: int) -> Ints:
    """Cut runs longer than LONGEST_BLOCK; returns the offsets of all pieces."""
    lengths = np.diff(begin, append=end)
    if lengths.max() <= LONGEST_BLOCK:
        return begin
    pieces = [np.arange(start, start + length, LONGEST_BLOCK) for start, length in zip(begin, lengths, strict=True)]
    return np.concatenate(pieces)


def _overlay(old: Entries, new: Entries) -> Entries:
    """The cells of `old`, replaced by those of `new`; zeros are dropped."""
    if not len(old.lists):
        merged = new
    else:
        key = np.concatenate([(old.lists << 32) | old.ids, (new.lists << 32) | new.ids])
        order = np.argsort(key, kind="stable")
        key = key[order]
        latest = np.append(key[1:] != key[:-1], True)  # the stable sort puts the new cell behind the old one
        order = order[latest]
        merged = Entries(*(np.concatenate(pair)[order] for pair in zip(old, new, strict=True)))
    return merged.select(merged.counts > 0)
