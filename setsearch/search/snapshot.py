"""Caches of one content of one relation: posting lists, frequencies, statistics of rules, bases.

A snapshot belongs to one stamp, so nothing in it becomes wrong; a new stamp gets a new snapshot. Threads share it:
every value is computed from the same content, so it does not matter which thread's copy is kept.
"""

import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import numpy as np

from setsearch.arrays import Entries, Floats, Ints, run_starts, scale_for, to_lattice
from setsearch.models import Model
from setsearch.models.model import has_tiny_weights
from setsearch.models.values import PRESENCE, RuleStatistics, ValueRule, rule_statistics
from setsearch.scoring.base import Base
from setsearch.scoring.best import accumulate
from setsearch.scoring.list_cache import Chunk, ListCache
from setsearch.scoring.postings import PostingArrays, WeightedLists
from setsearch.storage.names import Vocabulary
from setsearch.storage.posting_lists import DECODED_TOGETHER, PostingLists
from setsearch.storage.relation import Relation

# Bytes of decoded lists in the cache of each direction and rule: per item, within limits.
CACHE_PER_ITEM, SMALLEST_CACHE, LARGEST_CACHE = 256, 64 << 20, 512 << 20
CACHED_NAMES = 100_000
CACHED_BASES = 8  # a full cache starts again
OUR_MODELS = "setsearch.models."  # only their bases are stored: other code may change without a new name


class Snapshot:
    """A relation at one stamp, with one side as items."""

    def __init__(self, relation: Relation, transposed: bool) -> None:
        self.relation = relation
        self.transposed = transposed
        self.unsaved: dict[str, bytes] = {}  # derived values that the file does not hold yet
        self.known_ids: dict[str, int] = {}
        self._descriptions: dict[int, tuple[str, str | None]] = {}
        self._list_caches: dict[tuple[bool, ValueRule], ListCache] = {}
        self._bases: dict[Hashable, Base] = {}
        self._statistics: dict[ValueRule, RuleStatistics] = {}
        self._frequencies: tuple[Ints, Ints] | None = None
        self._totals: Ints | None = None
        self._ranks: Ints | None = None
        self._items_by_stems: dict[str, list[str]] | None = None

    @property
    def items(self) -> Vocabulary:
        """What is ranked."""
        return self.relation.features if self.transposed else self.relation.items

    @property
    def features(self) -> Vocabulary:
        """What describes the items."""
        return self.relation.items if self.transposed else self.relation.features

    @property
    def posting_lists(self) -> PostingLists:
        """feature -> items."""
        return self.relation.forward if self.transposed else self.relation.postings

    @property
    def forward_lists(self) -> PostingLists:
        """item -> features."""
        return self.relation.postings if self.transposed else self.relation.forward

    def find(self, cursor: sqlite3.Cursor, name: str) -> int | None:
        """The id of an item."""
        id = self.known_ids.get(name)
        if id is None:
            id = self.items.find_one(cursor, name)
            if id is not None and len(self.known_ids) < CACHED_NAMES:
                self.known_ids[name] = id
        return id

    def inflections(self, cursor: sqlite3.Cursor, words: Sequence[str], stem: Callable[[str], str]) -> list[str]:
        """The items with the same stems as some words, the most frequent first."""
        if self._items_by_stems is None:
            totals = self.totals(cursor)
            by_stems: dict[str, list[str]] = {}
            names = self.items.describe(cursor, [*self.items.ids(cursor)])
            for id in sorted(names, key=lambda id: -int(totals[id])):
                by_stems.setdefault(" ".join(map(stem, names[id][0].split(" "))), []).append(names[id][0])
            self._items_by_stems = by_stems
        return self._items_by_stems.get(" ".join(map(stem, words)), [])

    def describe(self, cursor: sqlite3.Cursor, items: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of items."""
        known = self._descriptions
        missing = set(items).difference(known)
        if missing:
            loaded = self.items.describe(cursor, sorted(missing))
            if len(known) + len(loaded) > CACHED_NAMES:
                self._descriptions = known = {item: known[item] for item in items if item in known}
            known.update(loaded)
        return {item: known[item] for item in items}

    def frequencies(self, cursor: sqlite3.Cursor) -> tuple[Ints, Ints]:
        """Document frequency and sum of counts of every feature: two `(n_features,)` arrays."""
        if self._frequencies is None:
            self._frequencies = self.posting_lists.frequencies(cursor, self.features.next_id)
        return self._frequencies

    def totals(self, cursor: sqlite3.Cursor) -> Ints:
        """Sum of counts of every item, `(n_ids,)`."""
        if self._totals is None:
            self._totals = self.forward_lists.frequencies(cursor, self.items.next_id)[1]
        return self._totals

    def statistics(self, cursor: sqlite3.Cursor, rule: ValueRule) -> RuleStatistics:
        """The statistics of a rule: from memory, from the file, or in a few passes over all postings."""
        statistics = self._statistics.get(rule)
        if statistics is None:
            name = f"statistics {rule}"
            stored = self.relation.load_derived_value(cursor, self.items.name, name)
            if stored is not None:
                statistics = RuleStatistics.from_bytes(rule, stored, self.features.next_id, self.items.next_id)
            if statistics is None:
                statistics = rule_statistics(rule, _Counts(cursor, self))
                if rule != PRESENCE:
                    self.unsaved[name] = statistics.to_bytes()
            self._statistics[rule] = statistics
        return statistics

    def ranks(self, cursor: sqlite3.Cursor) -> Ints:
        """The position of every item in the order of names, `(n_ids,)`."""
        if self._ranks is None:
            ranks = np.zeros(self.items.next_id, np.int64)
            order = np.fromiter(self.items.ids(cursor, by_name=True), np.int64)
            ranks[order] = np.arange(len(order))
            self._ranks = ranks
        return self._ranks

    def forward(self, cursor: sqlite3.Cursor, items: Ints, rule: ValueRule) -> PostingArrays:
        """The features of some items (ascending ids) with their values."""
        return self._cached_lists(cursor, items, True, rule)

    def postings(self, cursor: sqlite3.Cursor, features: Ints, rule: ValueRule) -> PostingArrays:
        """The posting lists of some features (ascending ids) with their values."""
        return self._cached_lists(cursor, features, False, rule)

    def new_item(self, cursor: sqlite3.Cursor, counts: Mapping[str, int], rule: ValueRule) -> tuple[Ints, Floats]:
        """Features (ascending ids) and values of an item that the index does not hold, from its counted features.

        Features that the index does not know count for the length only.
        """
        known = self.features.find(cursor, list(counts))
        features = np.array(sorted(known.values()), np.int64)
        by_id = {id: counts[name] for name, id in known.items()}
        own_counts = np.array([by_id[id] for id in features.tolist()], np.int64)
        values = np.ones(len(features))
        if rule != PRESENCE:
            values = self.statistics(cursor, rule).values_of_new(features, own_counts, sum(counts.values()))
        positive = values > 0
        return features[positive], values[positive]

    def _cached_lists(self, cursor: sqlite3.Cursor, wanted: Ints, forward: bool, rule: ValueRule) -> PostingArrays:
        """Lists of one direction; missing ones are decoded and given values chunk by chunk."""

        def load(missing: Ints) -> tuple[int, Iterator[Chunk]]:
            lists = self.forward_lists if forward else self.posting_lists
            rows = lists.blocks(cursor, missing.tolist(), rule != PRESENCE)
            chunks = lists.decode_in_steps(rows, rule != PRESENCE, DECODED_TOGETHER)
            return lists.length(rows), (self._with_values(cursor, lists, entries, rule) for entries in chunks)

        cache = self._list_caches.get((forward, rule))
        if cache is None:
            sizes = (self.items.next_id, self.features.next_id)
            n_lists, n_ids = sizes if forward else sizes[::-1]
            limit = min(LARGEST_CACHE, max(SMALLEST_CACHE, CACHE_PER_ITEM * self.items.size))
            self._list_caches[forward, rule] = cache = ListCache(n_lists, n_ids, limit, not rule.binary)
        return cache.get(wanted, load)

    def base(self, cursor: sqlite3.Cursor, model: Model, n_seeds: int) -> Base:
        """The base of every item and the constant: from memory, from the file, or in one pass over all postings."""

        def load() -> Base:
            stored = self.relation.load_derived_value(cursor, self.items.name, f"base {model} N={n_seeds}")
            if stored is None or len(stored) != (2 + self.items.next_id) * 8:
                return self._compute_base(cursor, model, n_seeds)
            numbers = np.frombuffer(stored, "<f8")
            return Base(numbers[2:].copy(), float(numbers[0]), float(numbers[1]))

        return self.cached_base((model, n_seeds), load)

    def cached_base(self, key: Hashable, make: Callable[[], Base]) -> Base:
        """A base from memory, or made now."""
        base = self._bases.get(key)  # only once: another thread may restart the cache at any time
        if base is None:
            base = make()
            if len(self._bases) >= CACHED_BASES:
                self._bases = {}
            self._bases[key] = base
        return base

    def _compute_base(self, cursor: sqlite3.Cursor, model: Model, n_seeds: int) -> Base:
        scores = np.zeros(self.items.next_id)
        if self.items.size < self.items.next_id:
            scores[:] = -np.inf
            scores[np.fromiter(self.items.ids(cursor), np.int64)] = 0.0
        background = model.background(self.statistics(cursor, model.rule).df, self.items.size, n_seeds)
        if background is None:
            return Base(scores, 0.0)
        bound = len(background.weights) * float(np.abs(background.weights).max(initial=0.0))
        scale = scale_for(bound, model.rule.binary) if has_tiny_weights(model) else 1.0
        weights = to_lattice(background.weights, model.rule.binary, scale)
        for stored in self.posting_lists.sweep(cursor, counts=model.rule != PRESENCE):
            entries, values = self._with_values(cursor, self.posting_lists, stored, model.rule)
            lists = entries.lists[run_starts(entries.lists)]
            postings = PostingArrays(entries.ids.astype(np.int32), *entries.bounds(lists), values)
            accumulate(scores, WeightedLists(postings, weights[lists]))
        if type(model).__module__.startswith(OUR_MODELS):
            numbers = np.concatenate([[background.constant, scale], scores]).astype("<f8")
            self.unsaved[f"base {model} N={n_seeds}"] = numbers.tobytes()
        return Base(scores, background.constant, scale)

    def _with_values(self, cursor: sqlite3.Cursor, lists: PostingLists, entries: Entries, rule: ValueRule) -> Chunk:
        """Entries of one direction with their values, without those that are 0."""
        if rule == PRESENCE:
            return entries, None
        entries, values = self.statistics(cursor, rule).values_of(entries, lists == self.forward_lists)
        return entries, None if rule.binary else values.astype(np.float32)


class _Counts:
    """The relation as a rule reads it (models.values.CountSource)."""

    def __init__(self, cursor: sqlite3.Cursor, snapshot: Snapshot) -> None:
        self.cursor = cursor
        self.snapshot = snapshot
        self.lists = snapshot.posting_lists
        self.n_items = snapshot.items.size
        self.df, self.cf = snapshot.frequencies(cursor)

    @property
    def totals(self) -> Ints:
        """Sums of counts of the items: a pass over their lists, which not every rule needs."""
        return self.snapshot.totals(self.cursor)

    def sweep(self) -> Iterator[Entries]:
        """All entries, in steps."""
        return self.lists.sweep(self.cursor)

    def read(self, features: Ints) -> Entries:
        """The entries of some features, ascending."""
        return self.lists.read(self.cursor, features.tolist())
