"""A field: one side of a content as items, what is derived from it, and how one transaction reads it.

What is kept (values of entries, statistics of rules, bases, descriptions) belongs to one content, so nothing in it
becomes wrong. All transactions and threads share it: every value is computed from the same content, so it does not
matter which thread's copy is kept.
"""

import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Self, TypeVar

import numpy as np

from setsearch.arrays import Entries, Floats, Ints, scale_for, to_lattice, union
from setsearch.core.question import FieldLists, OpenField, Table
from setsearch.lists import Lists
from setsearch.memory import layout
from setsearch.memory.content import Content, Since, array_of_noise, mapped_noise
from setsearch.memory.drift import Before, Drift, drift_since
from setsearch.memory.names.known import KnownNames
from setsearch.models import Model, Seeds
from setsearch.models.model import ask_background, ask_query, has_tiny_weights
from setsearch.models.noise import noisy_fields
from setsearch.models.values import PRESENCE, CountSource, FeatureGroups, RuleStatistics, ValueRule, rule_statistics
from setsearch.scoring.best import Base, accumulate, is_core
from setsearch.scoring.postings import PostingArrays, Value, ValuedLists, WeightedLists
from setsearch.sqlite.database import Bound
from setsearch.storage.name_search import Descriptions

K = TypeVar("K")
V = TypeVar("V")

DIRECTIONS = "by feature", "by item"
NGRAM = "~"  # the first character of n-grams (text/extras.py)
KEPT = 8  # bases, rules of values, ...: a caller may think of any number of options
COMMON = 1 / 16  # of the items have a common feature
FEW = 2000  # items that are put in the order of names without the names of all


class Kept(dict[K, V]):
    """Values by key, of which a few are kept: a full one starts again. Threads may share it."""

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made now if it is not kept."""
        value = self.get(key)  # only once: another thread may start again at any time
        if value is None:
            value = make()
            if len(self) >= KEPT:
                self.clear()
            value = self.setdefault(key, value)
        return value


class _Valued:
    """The lists of both directions under one rule; `stored` are the document frequencies."""

    def __init__(self, stored: Ints, by_feature: ValuedLists, by_item: ValuedLists) -> None:
        self._stored = stored
        self.by_feature, self.by_item = by_feature, by_item
        self.norm = 0.0  # the largest one of an item, once all items have values

    @cached_property
    def in_core(self) -> FieldLists:
        """As the core takes them."""
        return FieldLists(self.by_feature.part, self.by_item.part, self._stored)


class _Derived:
    """What is made of the lists of a content with one side as items. Threads share it."""

    def __init__(self) -> None:
        self.valued = Kept[ValueRule, _Valued]()
        self.bases = Kept[Hashable, Base]()
        self.tables = Kept[Hashable, Table]()
        self.statistics = Kept[ValueRule, RuleStatistics]()
        self.drifts = Kept[ValueRule, tuple[Drift | None]]()
        self.made_once = Kept[str, Any]()  # what depends on the lists, and the names of these, alone


class Field(Bound):
    """A content with one side as items, within one transaction, and the coefficient of its scores.

    `items` are what is ranked, `features` describe these.
    """

    takes_features = True  # as examples: `having`, and `like`

    def __init__(self, content: Content, transposed: bool = False) -> None:
        self.content = content
        self.transposed = transposed
        both = content.items, content.features
        self.items, self.features = both[::-1] if transposed else both
        self.coefficient = 1.0
        self._item_names: KnownNames = content.names.setdefault(transposed, KnownNames())
        self._feature_names: KnownNames = content.names.setdefault(not transposed, KnownNames())
        derived: _Derived = content.derived.setdefault(transposed, _Derived())
        self._valued, self.kept_bases, self._tables = derived.valued, derived.bases, derived.tables
        self._statistics, self._drifts, self.made_once = derived.statistics, derived.drifts, derived.made_once
        self.kept_sets = Kept[Hashable, Any]()  # what saved sets weigh (answers/saved/set_index.py)
        self.kept_passes = Kept[Hashable, Any]()  # what one pass says of them (answers/saved/joiners.py)

    def within(self, cursor: sqlite3.Cursor | None, coefficient: float = 1.0) -> Self:
        """This field in another transaction; what is kept is the same."""
        own = super().within(cursor)
        own.items, own.features = self.items.within(cursor), self.features.within(cursor)
        own.coefficient = coefficient
        return own

    @property
    def source(self) -> Hashable:
        """What is read, the same in all transactions."""
        return self.content, self.transposed

    @property
    def totals(self) -> Ints:
        """Sum of counts of every item, `(n_ids,)`."""
        return self.lists(True).totals

    def total(self, id: int) -> int:
        """Sum of counts of an item."""
        return int(self.totals[id])

    def lists(self, forward: bool) -> Lists:
        """item -> features, or feature -> items."""
        return self.content.by_item if forward != self.transposed else self.content.by_feature

    def stored_lengths(self, features: Ints) -> Ints:
        """The document frequencies of some features, by stored counts."""
        return self.lists(False).lengths[features]

    def find_all(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that items have."""
        return self._item_names.find(self.items, names)

    def inflections(self, words: Sequence[str], stem: Callable[[str], str]) -> list[str]:
        """The items with the same stems as some words, the most frequent first."""

        def stemmed(parts: Iterable[str]) -> str:
            return " ".join(map(stem, parts))

        def make() -> dict[str, list[str]]:
            by_stems: dict[str, list[str]] = {}
            names = self.items.describe([*self.items.ids()])
            for id in sorted(names, key=lambda id: -int(self.totals[id])):
                by_stems.setdefault(stemmed(names[id][0].split(" ")), []).append(names[id][0])
            return by_stems

        return self.made_once.get_or_make("by stems", make).get(stemmed(words), [])  # type: ignore[no-any-return]

    def describe(self, items: Sequence[int]) -> Descriptions:
        """(name, title) of items."""
        return self._item_names.describe(self.items, items)

    def describe_features(self, features: Sequence[int]) -> Descriptions:
        """(name, title) of features."""
        return self._feature_names.describe(self.features, features)

    def statistics(self, rule: ValueRule) -> RuleStatistics:
        """The statistics of a rule: from the file, or in a pass over all entries."""

        def make() -> RuleStatistics:
            norms = None
            if rule.slope is not None and self.content.mapped is not None:
                norms = layout.norms_from_arrays(self.content.mapped, self._name_of(rule), self.items.next_id)
            return rule_statistics(rule, self._counts, norms)

        return self._statistics.get_or_make(rule, make)

    def drift(self, rule: ValueRule) -> Drift | None:
        """What changed since the file of arrays, where its values say nearly all; None if they do not."""
        since: Since | None = getattr(self.content, "since", None)
        if since is None or self.transposed or self.groups is not None or not is_core():
            return None
        if rule.slope is None or not rule.weighted or rule.binarization == "twice-mean" or rule.fields:
            return None

        def make() -> tuple[Drift | None]:
            before = since.known.get(rule) or self._before(since.content, rule)
            if before is None:
                return (None,)
            since.known[rule] = before
            return (drift_since(before, self._counts, since.changed),)

        return self._drifts.get_or_make(rule, make)[0]

    def _before(self, content: Content, rule: ValueRule) -> Before | None:
        """What the file of a content has under a rule."""
        assert content.mapped is not None
        mapped, name, lists = content.mapped, self._name_of(rule), (content.by_feature, content.by_item)
        norms = layout.norms_from_arrays(mapped, name, len(content.by_item))
        by_feature, by_item = (
            layout.values_from_arrays(mapped, f"{name} {DIRECTIONS[place]}", own, rule)
            for place, own in enumerate(lists)
        )
        if norms is None or by_feature is None or by_item is None:
            return None
        n_items = len(content.by_item) - len(content.absent)
        return Before(CountSource(n_items, *lists[::-1]), rule, norms, (by_feature, by_item))

    @property
    def _counts(self) -> CountSource:
        return CountSource(self.items.size, self.lists(True), self.lists(False), self.groups)

    @property
    def groups(self) -> FeatureGroups | None:
        """The fields of the features, if there are several; beside other features than words some may be noise."""
        groups = None if self.transposed else self.content.groups
        if groups is None or {*groups.evidence} == {1.0}:
            return groups

        def make() -> FeatureGroups:
            noisy = mapped_noise(self.content.mapped, groups.names)
            if noisy is None:
                noisy = noisy_fields(self.lists(False), groups.of_feature, self.items.size)
            return groups._replace(noise=tuple([groups.names[place] for place in noisy]))

        return self.made_once.get_or_make("groups", make)  # type: ignore[no-any-return]

    def _name_of(self, rule: ValueRule) -> str:
        """Under which name the file has what a rule makes of the lists."""
        fields = "" if self.groups is None else f", of {self.groups}"
        return f"{self.items.name} by {self.features.name}, {rule}{fields}"

    def arrays_of(self, rule: ValueRule, has_postings: bool = True) -> layout.NamedArrays:
        """What a file of arrays gets of a rule: norms, and the values of both directions, perhaps without counts."""
        name, statistics = self._name_of(rule), self.statistics(rule)
        if statistics.norms is not None:
            yield f"{name} norms", statistics.norms
        if (groups := self.groups) is not None:
            yield array_of_noise(groups.names), np.array([groups.names.index(own) for own in groups.noise], np.int64)
        if rule == PRESENCE:
            return
        for forward in (False, True):
            lists = self.lists(forward)
            valued = ValuedLists.empty(lists, not rule.binary, rule.largest)
            valued.give_all(self.value(statistics, forward))
            stored = lists if forward or has_postings else None
            yield from layout.values_to_arrays(f"{name} {DIRECTIONS[forward]}", valued, stored)
            del valued, stored  # not those of both directions at once

    def document_frequencies(self, rule: ValueRule) -> Ints:
        """The number of items that have each feature with a value above 0, `(n_features,)`."""
        if rule == PRESENCE:
            return self.lists(False).lengths
        return self.postings(np.arange(len(self.lists(False))), rule).lengths

    def ranks(self, ids: Ints) -> Ints:
        """The positions of items in the order of names, or other numbers in this order, `(n_ids,)`."""
        of_file = self._item_names.ranks(ids)
        if of_file is not None:
            return of_file.astype(np.int64)
        known: Ints | None = self.made_once.get("ranks")
        if known is None and len(ids) <= FEW:
            own = ids.tolist()
            names = self.items.stored(own)
            order = sorted(range(len(own)), key=lambda place: names[own[place]][0])
            known = np.empty(len(ids), np.int64)
            known[order] = np.arange(len(ids))
            return known
        if known is None:
            known = np.zeros(self.items.next_id, np.int64)
            in_order = np.fromiter(self.items.ids(by_name=True), np.int64)
            known[in_order] = np.arange(len(in_order))
            self.made_once["ranks"] = known
        return known[ids]

    def frequencies(self) -> tuple[Ints, Ints]:
        """Document frequency and sum of counts of every feature: two `(n_features,)` arrays."""
        lists = self.lists(False)
        return lists.lengths, lists.totals

    def find_features(self, names: Iterable[str]) -> dict[str, int]:
        """The ids of those features that exist."""
        return self.features.find(list(names))

    def read_forward(self, items: Sequence[int]) -> Entries:
        """The stored (item, feature, count) of some items, ascending."""
        return self.lists(True).take(np.array(items, np.int64))

    def read_postings(self, features: Sequence[int]) -> Entries:
        """The stored (feature, item, count) of some features, ascending."""
        return self.lists(False).take(np.array(features, np.int64))

    def sweep(self) -> Iterator[Entries]:
        """All stored (item, feature, count), in steps."""
        return self.lists(True).sweep()

    def forward(self, items: Iterable[int], rule: ValueRule) -> PostingArrays:
        """The features of some items, in the order of their ids, with their values."""
        return self._with_values(np.array(sorted(items), np.int64), True, rule)

    def postings(self, features: Ints, rule: ValueRule) -> PostingArrays:
        """The items of some features (ascending ids) with their values."""
        return self._with_values(features, False, rule)

    def core_field(self, rule: ValueRule) -> OpenField:
        """The lists of a rule as the core takes them, as far as they have values now."""
        if rule == PRESENCE:
            return OpenField(self.made_once.get_or_make("ones in core", self._ones), 0.0, self.coefficient)
        drift = self.drift(rule)
        if drift is not None:
            return OpenField(drift.in_core, drift.norm, self.coefficient)
        own = self._valued.get(rule) or self._valued_by(rule)
        if not own.norm and own.by_item.are_all_there:
            own.norm = own.by_item.norm
        return OpenField(own.in_core, own.norm, self.coefficient, (own.by_feature.used, own.by_item.used))

    def _ones(self) -> FieldLists:
        """The stored lists as the core takes them: all values are 1."""
        sources = (self.lists(forward).source() for forward in (False, True))
        by_feature, by_item = ((ids, None, starts, ends) for ids, _, starts, ends in sources)
        return FieldLists(by_feature, by_item, self.lists(False).lengths)

    def core_table(self, model: Model, n_seeds: int) -> Table:
        """What a model whose weights depend on c_j and d_j alone makes of each of both, as the core takes it."""

        def make() -> Table:
            df, n_items, base = self.document_frequencies(model.rule), self.items.size, self.base(model, n_seeds)
            known, ranks = np.unique(df, return_inverse=True)
            background, everything = ask_background(model, known, n_items, n_seeds), np.arange(len(known))
            assert background is not None
            rows = [(to_lattice(background.weights), np.zeros(len(known)))]
            for count in range(1, n_seeds + 1):
                having = np.full(len(known), float(count))
                query = ask_query(model, Seeds(everything, having, having, n_seeds), np.maximum(known, 1), n_items)
                rows.append((to_lattice(query.weights), to_lattice(query.constants)))
            weights, constants = map(np.array, zip(*rows, strict=True))
            common = int(np.searchsorted(known, COMMON * n_items, "right"))
            features, others = np.flatnonzero(ranks >= common), base.items.copy()
            accumulate(others, WeightedLists(self.postings(features, model.rule), -weights[0][ranks[features]]))
            return Table(weights, constants, ranks.astype(np.int32), others.astype(np.float32), common)

        return self._tables.get_or_make((model, n_seeds), make)

    def new_item(self, counts: Mapping[str, int], rule: ValueRule) -> tuple[Ints, Floats]:
        """Features (ascending ids) and values of an item that the index does not hold, from its counted features.

        Features that the index does not know count for the length only.
        """
        known = self.find_features(counts)
        features = np.array(sorted(known.values()), np.int64)
        by_id = {id: counts[name] for name, id in known.items()}
        own_counts = np.array([by_id[id] for id in features.tolist()], np.int64)
        values = np.ones(len(features))
        if rule != PRESENCE:
            statistics, places = self._statistics_of(features, rule)
            total = sum(counts.values())
            if self.groups is not None:
                total = max(total - int(own_counts[self.groups.of_feature[features] > 0].sum()), 1)
            values = statistics.values_of_new(places, own_counts, total)
        positive = values > 0
        return features[positive], values[positive]

    def _statistics_of(self, features: Ints, rule: ValueRule) -> tuple[RuleStatistics, Ints]:
        return self.statistics(rule), features

    def _with_values(self, wanted: Ints, forward: bool, rule: ValueRule) -> PostingArrays:
        if rule == PRESENCE:
            ids, _, starts, ends = self.lists(forward).source(wanted)
            return PostingArrays(ids, starts[wanted], ends[wanted])
        drift = self.drift(rule) if forward else None
        if drift is not None:
            return drift.values(wanted)
        own = self._valued_by(rule)
        valued = own.by_item if forward else own.by_feature
        if not valued.are_all_there:
            value = self.value(self.statistics(rule), forward)
            missing = valued.missing(wanted, value.of_lists is not None)
            if len(missing):
                valued.fill(missing, value)
        return valued.get(wanted)

    def value(self, statistics: RuleStatistics, forward: bool) -> Value:
        """How the entries of one direction get values."""
        of_lists = statistics.values_of_lists if is_core() and statistics.in_core else None
        return Value(
            partial(statistics.values_of, by_item=forward),
            None if of_lists is None else partial(of_lists, by_item=forward),
        )

    def _valued_by(self, rule: ValueRule) -> _Valued:
        return self._valued.get_or_make(
            rule, lambda: _Valued(self.lists(False).lengths, *(self._values(own, rule) for own in (False, True)))
        )

    def _values(self, forward: bool, rule: ValueRule) -> ValuedLists:
        """The values of one direction: as the file has them, or none yet."""
        mapped, lists, name = self.content.mapped, self.lists(forward), f"{self._name_of(rule)} {DIRECTIONS[forward]}"
        stored = mapped and layout.values_from_arrays(mapped, name, lists, rule)
        return stored or ValuedLists.empty(lists, not rule.binary, rule.largest)

    def base(self, model: Model, n_seeds: float) -> Base:
        """What every item scores before the seeds are known: from memory, or in one pass over all entries."""
        return self.kept_bases.get_or_make((model, n_seeds), lambda: self._compute_base(model, n_seeds))

    def _compute_base(self, model: Model, n_seeds: float) -> Base:
        scores = np.zeros(self.items.next_id)
        scores[self.absent()] = -np.inf
        if not getattr(model, "has_base", True):
            return Base(scores, 0.0)
        df = self.document_frequencies(model.rule)
        background = ask_background(model, df, self.items.size, n_seeds)
        if background is None:
            return Base(scores, 0.0)
        bound = len(background.weights) * float(np.abs(background.weights).max(initial=0.0))
        scale = scale_for(bound, model.rule.binary) if has_tiny_weights(model) else 1.0
        weights = to_lattice(background.weights, model.rule.binary, scale)
        accumulate(scores, WeightedLists(self.postings(np.arange(len(df)), model.rule), weights))
        return Base(scores, background.constant, scale)

    def absent(self) -> Ints:
        """The ids without an item; n-grams, and features of other fields than the first one, are no items."""
        if not self.transposed:
            return self.content.absent
        absent = np.flatnonzero(self.lists(True).lengths == 0)
        if self.content.groups is not None:
            absent = union(absent, np.flatnonzero(self.content.groups.of_feature))
        if not self.items.has_ngrams:
            return absent
        return union(absent, np.array(self.items.starting_with(NGRAM, self.items.next_id), np.int64))
