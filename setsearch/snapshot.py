"""What is read and derived from one content of one reading of a relation: cached lists, frequencies, bases.

A snapshot belongs to a stamp, so nothing in it can become wrong; when the stamp changes, it is thrown away. Threads
share it: every entry is computed from the same content, so it does not matter which thread's copy is kept.
"""

import sqlite3
from collections.abc import Sequence

import numpy as np

from setsearch.arena import Arena
from setsearch.binarization import Floats, shares, twice_mean_thresholds
from setsearch.kernels import Postings
from setsearch.lists import Entries, Lists
from setsearch.models import Background, Model
from setsearch.names import Kind
from setsearch.postings import Ints, run_starts
from setsearch.relation import Relation
from setsearch.scoring import Base, accumulate, to_lattice

CACHED_BYTES = 64 << 20  # of decoded lists, for each direction and binarization
CACHED_NAMES = 100_000
CACHED_BASES = 8  # beyond, all are dropped


class Snapshot:
    """A reading (items of one kind, features of the other) of a relation at one stamp."""

    def __init__(self, relation: Relation, transposed: bool) -> None:
        self.relation = relation
        self.transposed = transposed
        self.stamp = relation.stamp
        self.unsaved: dict[str, bytes] = {}  # derived values that the file does not hold yet
        self._ids: dict[str, int] = {}
        self._described: dict[int, tuple[str, str | None]] = {}
        self._arenas: dict[tuple[str, bool], Arena] = {}
        self._bases: dict[tuple[Model, int, bool], Base] = {}
        self._frequencies: Ints | None = None
        self._totals: Ints | None = None
        self._ranks: Ints | None = None
        self._rule: tuple[Floats, Ints] | None = None

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
        id = self._ids.get(name)
        if id is None:
            id = self.items.find_one(cursor, name)
            if id is not None and len(self._ids) < CACHED_NAMES:
                self._ids[name] = id
        return id

    def describe(self, cursor: sqlite3.Cursor, items: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(id as users know it, title) of items."""
        known = self._described
        missing = [item for item in items if item not in known]
        if missing:
            found = self.items.describe(cursor, missing)
            if len(known) + len(found) > CACHED_NAMES:
                self._described = known = {item: known[item] for item in items if item in known}
            known.update(found)
        return {item: known[item] for item in items}

    def frequencies(self, cursor: sqlite3.Cursor, twice_mean: bool) -> Ints:
        """Document frequency of every feature: `(n_features,)`."""
        if twice_mean:
            return self._twice_mean(cursor)[1]
        if self._frequencies is None:
            self._frequencies = self.postings.frequencies(cursor, self.features.peak)[0]
        return self._frequencies

    def totals(self, cursor: sqlite3.Cursor) -> Ints:
        """Sum of counts of every item: `(n_ids,)`."""
        if self._totals is None:
            self._totals = self.forward.frequencies(cursor, self.items.peak)[1]
        return self._totals

    def ranks(self, cursor: sqlite3.Cursor) -> Ints:
        """The place of every item in the order of names: `(n_ids,)`."""
        if self._ranks is None:
            ranks = np.zeros(self.items.peak, np.int64)
            order = np.fromiter(self.items.ids(cursor, by_name=True), np.int64)
            ranks[order] = np.arange(len(order))
            self._ranks = ranks
        return self._ranks

    def features_of(self, cursor: sqlite3.Cursor, items: Ints, twice_mean: bool) -> Postings:
        """The features of some items (ascending ids), after the rule; loads those that are not cached."""

        def load(missing: Ints) -> Entries:
            entries = self.forward.read(cursor, missing.tolist(), counts=twice_mean)
            if not twice_mean:
                return entries
            turned = Entries(entries.ids, entries.lists, entries.counts)
            return entries.where(shares(turned, self.totals(cursor)) > self._twice_mean(cursor)[0][entries.ids])

        return self._arena("forward", twice_mean, self.items.peak).get(items, load)

    def active_postings(self, cursor: sqlite3.Cursor, features: Ints, twice_mean: bool) -> Postings:
        """The posting lists of some features (ascending ids), after the rule; loads those that are not cached."""

        def load(missing: Ints) -> Entries:
            return self._kept(cursor, self.postings.read(cursor, missing.tolist(), counts=twice_mean), twice_mean)

        return self._arena("postings", twice_mean, self.features.peak).get(features, load)

    def _arena(self, direction: str, twice_mean: bool, n_lists: int) -> Arena:
        key = direction, twice_mean
        if key not in self._arenas:
            self._arenas[key] = Arena(n_lists, CACHED_BYTES)
        return self._arenas[key]

    def base(self, cursor: sqlite3.Cursor, model: Model, n_seeds: int, twice_mean: bool) -> Base:
        """B_N of every item and the constant: from memory, from the file, or in one pass over all postings."""
        key = (model, n_seeds, twice_mean)
        base = self._bases.get(key)  # once: another thread may start the cache again at any time
        if base is None:
            name = f"base {model} N={n_seeds} twice_mean={twice_mean}"
            stored = self._recall(cursor, name, (1 + self.items.peak) * 8)
            if stored is not None:
                numbers = np.frombuffer(stored, "<f8")
                base = Base(numbers[1:].copy(), float(numbers[0]))
            else:
                base = self._compute_base(cursor, model, n_seeds, twice_mean)
                self.unsaved[name] = np.concatenate([[base.constant], base.items]).astype("<f8").tobytes()
            if len(self._bases) >= CACHED_BASES:
                self._bases = {}
            self._bases[key] = base
        return base

    def _compute_base(self, cursor: sqlite3.Cursor, model: Model, n_seeds: int, twice_mean: bool) -> Base:
        df = self.frequencies(cursor, twice_mean)
        background: Background = model.background(df, self.items.size, n_seeds)
        weights = to_lattice(background.weights)
        scores = np.full(self.items.peak, -np.inf)
        scores[np.fromiter(self.items.ids(cursor), np.int64)] = 0.0
        for stored in self.postings.sweep(cursor, counts=twice_mean):
            entries = self._kept(cursor, stored, twice_mean)
            lists = entries.lists[run_starts(entries.lists)]
            accumulate(scores, Postings(entries.ids.astype(np.int32), *entries.bounds(lists)), weights[lists])
        return Base(scores, background.constant)

    def _kept(self, cursor: sqlite3.Cursor, entries: Entries, twice_mean: bool) -> Entries:
        """The entries, lists of features, that the rule turns into ones."""
        if not twice_mean:
            return entries
        kept = shares(entries, self.totals(cursor)) > self._twice_mean(cursor)[0][entries.lists]
        return entries.where(kept)

    def _twice_mean(self, cursor: sqlite3.Cursor) -> tuple[Floats, Ints]:
        """Thresholds and frequencies of the twice-the-mean rule."""
        if self._rule is None:
            size = self.features.peak
            stored = self._recall(cursor, "twice-mean", 16 * size)
            if stored is not None:
                self._rule = np.frombuffer(stored, "<f8", size), np.frombuffer(stored, "<i8", size, 8 * size)
            else:
                self._rule = twice_mean_thresholds(cursor, self.postings, self.totals(cursor), size, self.items.size)
                thresholds, df = self._rule
                self.unsaved["twice-mean"] = thresholds.astype("<f8").tobytes() + df.astype("<i8").tobytes()
        return self._rule

    def _recall(self, cursor: sqlite3.Cursor, name: str, size: int) -> bytes | None:
        value = self.relation.recall(cursor, self.items.name, name)
        return value if value is not None and len(value) == size else None
