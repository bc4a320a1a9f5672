"""What is read and derived from one content of one reading of a relation: cached lists, frequencies, bases.

A snapshot belongs to a stamp, so nothing in it can become wrong; when the stamp changes, it is thrown away. Threads
share it: every entry is computed from the same content, so it does not matter which thread's copy is kept.
"""

import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np

from setsearch.arrays import Entries, Floats, Ints, run_starts, to_lattice
from setsearch.models import Model
from setsearch.models.values import PRESENCE, Measure, Rule, measure
from setsearch.scoring.base import Base
from setsearch.scoring.best import accumulate
from setsearch.scoring.list_cache import Arena, Piece
from setsearch.scoring.postings import Part, Postings
from setsearch.storage.names import Kind
from setsearch.storage.posting_lists import PIECE, Lists
from setsearch.storage.relation import Relation

# Bytes of decoded lists that are kept, for each direction and rule: so many for an item, within limits.
CACHED_OF_ITEM, SMALLEST_CACHE, LARGEST_CACHE = 256, 64 << 20, 512 << 20
CACHED_NAMES = 100_000
CACHED_BASES = 8  # beyond, all are dropped


class Snapshot:
    """A reading (items of one kind, features of the other) of a relation at one stamp."""

    def __init__(self, relation: Relation, transposed: bool) -> None:
        self.relation = relation
        self.transposed = transposed
        self.unsaved: dict[str, bytes] = {}  # derived values that the file does not hold yet
        self.known: dict[str, int] = {}  # ids of items that were asked for
        self._described: dict[int, tuple[str, str | None]] = {}
        self._arenas: dict[tuple[bool, Rule], Arena] = {}
        self._bases: dict[Hashable, Base] = {}
        self._measures: dict[Rule, Measure] = {}
        self._frequencies: tuple[Ints, Ints] | None = None
        self._totals: Ints | None = None
        self._ranks: Ints | None = None
        self._stems: dict[str, list[str]] | None = None

    @property
    def items(self) -> Kind:
        """What is ranked."""
        return self.relation.features if self.transposed else self.relation.items

    @property
    def features(self) -> Kind:
        """What an item has or lacks."""
        return self.relation.items if self.transposed else self.relation.features

    @property
    def postings(self) -> Lists:
        """feature -> items."""
        return self.relation.forward if self.transposed else self.relation.postings

    @property
    def forward(self) -> Lists:
        """item -> features."""
        return self.relation.postings if self.transposed else self.relation.forward

    def find(self, cursor: sqlite3.Cursor, name: str) -> int | None:
        """The id of an item."""
        id = self.known.get(name)
        if id is None:
            id = self.items.find_one(cursor, name)
            if id is not None and len(self.known) < CACHED_NAMES:
                self.known[name] = id
        return id

    def inflected(self, cursor: sqlite3.Cursor, words: Sequence[str], stem: Callable[[str], str]) -> list[str]:
        """The items, of one or several words, that have the same stems as some words; the most frequent first."""
        if self._stems is None:
            totals = self.totals(cursor)
            stems: dict[str, list[str]] = {}
            names = self.items.describe(cursor, [*self.items.ids(cursor)])
            for id in sorted(names, key=lambda id: -int(totals[id])):
                stems.setdefault(" ".join(map(stem, names[id][0].split(" "))), []).append(names[id][0])
            self._stems = stems
        return self._stems.get(" ".join(map(stem, words)), [])

    def describe(self, cursor: sqlite3.Cursor, items: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(id as users know it, title) of items."""
        known = self._described
        missing = set(items).difference(known)
        if missing:
            found = self.items.describe(cursor, sorted(missing))
            if len(known) + len(found) > CACHED_NAMES:
                self._described = known = {item: known[item] for item in items if item in known}
            known.update(found)
        return {item: known[item] for item in items}

    def frequencies(self, cursor: sqlite3.Cursor) -> tuple[Ints, Ints]:
        """Document frequency and sum of counts of every feature: two `(n_features,)` arrays."""
        if self._frequencies is None:
            self._frequencies = self.postings.frequencies(cursor, self.features.peak)
        return self._frequencies

    def totals(self, cursor: sqlite3.Cursor) -> Ints:
        """Sum of counts of every item: `(n_ids,)`."""
        if self._totals is None:
            self._totals = self.forward.frequencies(cursor, self.items.peak)[1]
        return self._totals

    def measure(self, cursor: sqlite3.Cursor, rule: Rule) -> Measure:
        """The statistics of a rule: from memory, from the file, or in a few passes over all postings."""
        found = self._measures.get(rule)
        if found is None:
            name = f"measure {rule}"
            stored = self.relation.recall(cursor, self.items.name, name)
            if stored is not None:
                found = Measure.from_bytes(rule, stored, self.features.peak, self.items.peak)
            if found is None:
                found = measure(rule, _Counts(cursor, self))
                if rule != PRESENCE:
                    self.unsaved[name] = found.to_bytes()
            self._measures[rule] = found
        return found

    def ranks(self, cursor: sqlite3.Cursor) -> Ints:
        """The place of every item in the order of names: `(n_ids,)`."""
        if self._ranks is None:
            ranks = np.zeros(self.items.peak, np.int64)
            order = np.fromiter(self.items.ids(cursor, by_name=True), np.int64)
            ranks[order] = np.arange(len(order))
            self._ranks = ranks
        return self._ranks

    def features_of(self, cursor: sqlite3.Cursor, items: Ints, rule: Rule) -> Postings:
        """The features of some items (ascending ids) with their values; loads those that are not cached."""
        return self._get(cursor, items, True, rule)

    def entries_of(self, cursor: sqlite3.Cursor, counts: Mapping[str, int], rule: Rule) -> tuple[Ints, Floats]:
        """Features (ascending ids) and values of something that the index does not hold, from its counted features.

        Features that the index does not know count for its size only.
        """
        known = self.features.find(cursor, list(counts))
        features = np.array(sorted(known.values()), np.int64)
        by_id = {id: counts[name] for name, id in known.items()}
        amounts = np.array([by_id[id] for id in features.tolist()], np.int64)
        values = np.ones(len(features))
        if rule != PRESENCE:
            values = self.measure(cursor, rule).of_new(features, amounts, sum(counts.values()))
        there = values > 0
        return features[there], values[there]

    def active_postings(self, cursor: sqlite3.Cursor, features: Ints, rule: Rule) -> Postings:
        """The posting lists of some features (ascending ids) with values; loads those that are not cached."""
        return self._get(cursor, features, False, rule)

    def _get(self, cursor: sqlite3.Cursor, wanted: Ints, forward: bool, rule: Rule) -> Postings:
        """Lists of one direction; those that are missing are decoded and valued piece by piece."""

        def load(missing: Ints) -> tuple[int, Iterator[Piece]]:
            lists = self.forward if forward else self.postings
            rows = lists.blocks(cursor, missing.tolist(), rule != PRESENCE)
            pieces = lists.pieces(rows, rule != PRESENCE, PIECE)
            return lists.length(rows), (self._valued(cursor, lists, entries, rule) for entries in pieces)

        arena = self._arenas.get((forward, rule))
        if arena is None:
            sizes = (self.items.peak, self.features.peak) if forward else (self.features.peak, self.items.peak)
            limit = min(LARGEST_CACHE, max(SMALLEST_CACHE, CACHED_OF_ITEM * self.items.size))
            self._arenas[forward, rule] = arena = Arena(*sizes, limit, not rule.binary)
        return arena.get(wanted, load)

    def base(self, cursor: sqlite3.Cursor, model: Model, n_seeds: int) -> Base:
        """B_N of every item and the constant: from memory, from the file, or in one pass over all postings."""

        def load() -> Base:
            stored = self.relation.recall(cursor, self.items.name, f"base {model} N={n_seeds}")
            if stored is None or len(stored) != (1 + self.items.peak) * 8:
                return self._compute_base(cursor, model, n_seeds)
            numbers = np.frombuffer(stored, "<f8")
            return Base(numbers[1:].copy(), float(numbers[0]))

        return self.kept((model, n_seeds), load)

    def kept(self, key: Hashable, make: Callable[[], Base]) -> Base:
        """A base from memory, where a few are kept, or made now."""
        base = self._bases.get(key)  # once: another thread may start the cache again at any time
        if base is None:
            base = make()
            if len(self._bases) >= CACHED_BASES:
                self._bases = {}
            self._bases[key] = base
        return base

    def _compute_base(self, cursor: sqlite3.Cursor, model: Model, n_seeds: int) -> Base:
        scores = np.zeros(self.items.peak)
        if self.items.size < self.items.peak:
            scores[:] = -np.inf
            scores[np.fromiter(self.items.ids(cursor), np.int64)] = 0.0
        background = model.background(self.measure(cursor, model.rule).df, self.items.size, n_seeds)
        if background is None:
            return Base(scores, 0.0)
        weights = to_lattice(background.weights, model.rule.binary)
        for stored in self.postings.sweep(cursor, counts=model.rule != PRESENCE):
            entries, values = self._valued(cursor, self.postings, stored, model.rule)
            lists = entries.lists[run_starts(entries.lists)]
            postings = Postings(entries.ids.astype(np.int32), *entries.bounds(lists), values)
            accumulate(scores, Part(postings, weights[lists]))
        self.unsaved[f"base {model} N={n_seeds}"] = np.append(background.constant, scores).astype("<f8").tobytes()
        return Base(scores, background.constant)

    def _valued(self, cursor: sqlite3.Cursor, lists: Lists, entries: Entries, rule: Rule) -> Piece:
        """Entries of one direction with their values, and without those that are 0."""
        if rule == PRESENCE:
            return entries, None
        entries, values = self.measure(cursor, rule).valued(entries, lists == self.forward)
        return entries, None if rule.binary else values.astype(np.float32)


class _Counts:
    """The relation as a rule sees it."""

    def __init__(self, cursor: sqlite3.Cursor, snapshot: Snapshot) -> None:
        self.cursor = cursor
        self.snapshot = snapshot
        self.postings = snapshot.postings
        self.n_items = snapshot.items.size
        self.df, self.cf = snapshot.frequencies(cursor)

    @property
    def totals(self) -> Ints:
        """Sums of counts of the items: a pass over their lists, which not every rule needs."""
        return self.snapshot.totals(self.cursor)

    def sweep(self) -> Iterator[Entries]:
        """All entries, some features at a time."""
        return self.postings.sweep(self.cursor)

    def read(self, features: Ints) -> Entries:
        """The entries of some features, ascending."""
        return self.postings.read(self.cursor, features.tolist())
