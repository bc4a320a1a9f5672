"""What a relation holds, as forward lists: the features of each item, in blocks of neighboring items.

A block is named by its first item, and ends where the next one begins. A write encodes the blocks of its items anew;
new items go to the last block until it is full. Texts are stored likewise (kept/texts.py). How many items have each
feature stands beside the lists (`Frequencies`). Posting lists are derived (generations.py).
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from setsearch.arrays import LARGEST_COUNT, Entries, Ints, bincount, repeat, run_lengths, run_starts
from setsearch.errors import REPAIR_HINT, CorruptIndex
from setsearch.sqlite.integrity import add_checksum, strip_checksum
from setsearch.storage.codec import pack_columns, unpack_columns

FULL_BLOCK = 1 << 14  # entries; an item behind so many starts the next block

FEW = 64  # items whose blocks are looked up, without the list of all blocks
NOTHING = Entries(*np.zeros((3, 0), np.int64))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a relation in one table, by their first items."""

    table: ClassVar[str]
    cursor: sqlite3.Cursor
    relation: int

    def firsts(self) -> Ints:
        """The first item of each block, ascending."""
        rows = self.cursor.execute(
            f"select first from setsearch_{self.table} where relation = ? order by first", (self.relation,)
        ).fetchall()
        return np.array(rows, np.int64).reshape(-1)

    def by_block(self, items: Ints) -> Iterator[tuple[int | None, Ints]]:
        """Some items, ascending, by the blocks that they belong to: their first items, None if there is no block.

        That is the last block that does not begin behind an item; else the first one.
        """
        if len(items) <= FEW:
            within = f"from setsearch_{self.table} where relation = ?1"
            statement = (
                f"select coalesce((select max(first) {within} and first <= value), (select min(first) {within})) "
                "from json_each(?2) order by key"
            )
            rows = self.cursor.execute(statement, (self.relation, json.dumps(items.tolist()))).fetchall()
            found: list[int | None] = [first for (first,) in rows]
        else:
            firsts = self.firsts()
            places = np.maximum(np.searchsorted(firsts, items, "right") - 1, 0)
            found = firsts[places].tolist() if len(firsts) else [None] * len(items)
        start = 0
        for first, own in groupby(found):
            end = start + len([*own])
            yield first, items[start:end]
            start = end

    def delete(self, first: int) -> None:
        """Delete the block that begins with an item."""
        self.cursor.execute(
            f"delete from setsearch_{self.table} where relation = ? and first = ?", (self.relation, first)
        )

    def clear(self) -> None:
        """Delete all blocks."""
        self.cursor.execute(f"delete from setsearch_{self.table} where relation = ?", (self.relation,))


@dataclass(frozen=True, eq=False)
class ForwardLists(Blocks):
    """The lists of all items of a relation; ids of items are below `n_items`, those of features below `n_features`."""

    table = "forward"
    n_items: int
    n_features: int

    def read(self, items: Ints) -> Entries:
        """The entries of some items, ascending."""
        firsts = [first for first, _ in self.by_block(items) if first is not None]
        read = (self._read_block(first) for first in firsts)
        parts = (entries.select(np.isin(entries.lists, items)) for entries in read)
        return Entries(*map(np.concatenate, zip(NOTHING, *parts, strict=True)))

    def read_all(self) -> Entries:
        """All entries, in half of the memory."""
        parts = [own.narrow() for own in self.sweep()] or [NOTHING.narrow()]
        return Entries(*map(np.concatenate, zip(*parts, strict=True)))

    def sweep(self) -> Iterator[Entries]:
        """All entries, block by block."""
        last = -1
        for first in self.firsts().tolist():
            entries = self._read_block(first)
            if first <= last:
                raise self._damaged()
            last = int(entries.lists[-1])
            yield entries

    def totals(self) -> Ints:
        """The sum of counts of each item, `(n_items,)`."""
        totals = np.zeros(self.n_items, np.int64)
        for entries in self.sweep():
            np.add.at(totals, entries.lists, entries.counts)
        return totals

    def write(self, items: Ints, entries: Entries) -> None:
        """Give some items, ascending, other lists: those of these entries, sorted by item and feature."""
        for first, own in self.by_block(items):
            start, end = np.searchsorted(entries.lists, [own[0], own[-1] + 1])
            new = Entries(*(column[start:end] for column in entries))
            if first is not None:
                old = self._read_block(first)
                new = old.select(~np.isin(old.lists, own)).merged(new)
                self.delete(first)
            self._insert(new)

    def _insert(self, entries: Entries) -> None:
        """Write entries that belong to no other block, in blocks of whole lists."""
        begin = run_starts(entries.lists)
        cuts = [*begin[run_starts(begin // FULL_BLOCK)].tolist(), len(entries.lists)]
        rows = []
        for start, end in pairwise(cuts):
            part = Entries(*(column[start:end] for column in entries))
            rows.append((int(part.lists[0]), _encoded(part)))
        self.cursor.executemany(
            f"insert into setsearch_forward (relation, first, data) values ({self.relation}, ?, ?)",
            [(first, add_checksum(data, self._place(first))) for first, data in rows],
        )

    def _read_block(self, first: int) -> Entries:
        row = self.cursor.execute(
            "select data from setsearch_forward where relation = ? and first = ?", (self.relation, first)
        ).fetchone()
        data = strip_checksum(row[0], self._place(first))
        entries = None if data is None else _decoded(data)
        # Kernels rely on ids that ascend within a list and are of the relation: they check nothing.
        if entries is None or int(entries.lists[0]) != first or not self._are_sound(entries):
            raise self._damaged()
        return entries

    def _are_sound(self, entries: Entries) -> bool:
        lists, ids, counts = entries
        ascends = (lists[1:] > lists[:-1]) | ((lists[1:] == lists[:-1]) & (ids[1:] > ids[:-1]))
        inside = lists[0] >= 0 and lists[-1] < self.n_items and ids.min() >= 0 and ids.max() < self.n_features
        return bool(ascends.all() and inside and counts.min() >= 1 and counts.max() <= LARGEST_COUNT)

    def _place(self, first: int) -> str:
        return f"{self.relation} {first}"

    def _damaged(self) -> CorruptIndex:
        return CorruptIndex(f"setsearch_forward holds a damaged block; {REPAIR_HINT}")


def _encoded(entries: Entries) -> bytes:
    begin = run_starts(entries.lists)
    lengths = run_lengths(begin, len(entries.lists))
    return pack_columns([entries.lists[begin], lengths, entries.ids, entries.counts])


def _decoded(data: bytes) -> Entries | None:
    columns = unpack_columns(data, 4)
    if columns is None:
        return None
    items, lengths, ids, counts = columns
    sound = 0 < len(items) == len(lengths) and lengths.min() >= 1 and lengths.max() <= len(ids) == len(counts)
    if not sound or int(lengths.sum()) != len(ids):
        return None
    return Entries(repeat(items, lengths), ids, counts)


class Frequencies(NamedTuple):
    """How many items have each feature (document frequency), and the sum of its counts; features of none are absent."""

    cursor: sqlite3.Cursor
    relation: int
    n_features: int

    def read(self) -> tuple[Ints, Ints]:
        """Both of each feature: two `(n_features,)` arrays."""
        rows = self.cursor.execute(
            "select feature, length, total from setsearch_feature where relation = ?", (self.relation,)
        )
        stored, out = np.fromiter(rows, np.dtype((np.int64, 3))), np.zeros((2, self.n_features), np.int64)
        if len(stored):
            if stored[:, 0].max() >= self.n_features or stored.min() < 0:
                raise self._damaged()
            out[:, stored[:, 0]] = stored[:, 1:].T
        return out[0], out[1]

    def sums(self) -> tuple[int, int]:
        """The number of entries of the relation, and the sum of all counts."""
        lengths, totals = self.cursor.execute(
            "select coalesce(sum(length), 0), coalesce(sum(total), 0) from setsearch_feature where relation = ?",
            (self.relation,),
        ).fetchone()
        return int(lengths), int(totals)

    def add(self, features: Ints, changes: Ints) -> list[int]:
        """Add `(2, n)` changes to those of some features; returns the features that no item has now."""
        stored = self.cursor.execute(
            "select feature, length, total from setsearch_feature "
            "where relation = ? and feature in (select value from json_each(?)) order by feature",
            (self.relation, json.dumps(features.tolist())),
        )
        known: Ints = np.fromiter(stored, np.dtype((np.int64, 3)))
        sums = changes.copy()
        sums[:, np.searchsorted(features, known[:, 0])] += known[:, 1:].T
        lengths, totals = sums
        if np.any(lengths < 0) or np.any(totals < lengths) or np.any((lengths == 0) & (totals != 0)):
            raise self._damaged()
        gone: list[int] = features[lengths == 0].tolist()
        self.cursor.executemany(
            f"delete from setsearch_feature where relation = {self.relation} and feature = ?", [(id,) for id in gone]
        )
        kept = lengths > 0
        self.cursor.executemany(
            "insert or replace into setsearch_feature (relation, feature, length, total) "
            f"values ({self.relation}, ?, ?, ?)",
            zip(features[kept].tolist(), *sums[:, kept].tolist(), strict=True),
        )
        return gone

    def clear(self) -> None:
        """Delete all."""
        self.cursor.execute("delete from setsearch_feature where relation = ?", (self.relation,))

    def _damaged(self) -> CorruptIndex:
        return CorruptIndex(f"setsearch_feature differs from the lists; {REPAIR_HINT}")


def counted(entries: Entries, n_features: int) -> Ints:
    """How many items have each feature, and the sums of counts, `(2, n_features)`."""
    lengths = bincount(entries.ids, minlength=n_features)
    return np.array([lengths, bincount(entries.ids, entries.counts, n_features)], np.int64)
