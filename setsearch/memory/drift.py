"""The lists by feature of a file of arrays, as they answer for a while after writes.

One more item changes n, and with it all factors, norms and values a little: all of them anew are a pass over all
entries. But few items can be among the best. The values of the file tell which, if it is known by how much others moved
since (core/core.c, Pruning); these few get the values of now.

    factor_j = (ln(n / df_j))^(1/4)     with its df unchanged, it moves with n alone: the most if df is the largest
    x_ij     = w_ij / ((1-b) median_i ||w_i|| + b ||w_i||)      norms move as much as factors at most

Items are *apart*, and always get the values of now, if they changed, if they have a feature that moved by much, or if
an entry began or ceased to exist. The median is the one of now: norms far from it stay on their side.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Array, Entries, Floats, Ints, ListArrays, ListValues, distinct, median, positions, take
from setsearch.core import binding, question
from setsearch.core.question import FieldLists
from setsearch.core.rule import CoreRule
from setsearch.lists import Lists
from setsearch.models.values import CountSource, ValueRule, largest_rarity, logarithms, rarity, scales, square_unit
from setsearch.scoring.postings import PostingArrays, Value, ValuedLists

MOVED = 2.0**-8  # relative: items with a feature whose factor moved by more are apart
CLOSE = 2.0**-5  # relative: shares so near their threshold are looked at after each write
MOST_CLOSE = 1 << 18  # of these
MOST_APART, SHARE_APART = 1 << 13, 1 / 8  # items, at most so many of all: each is scored by each question
FREQUENT = 4096  # features, of which one has not changed
ROOM = 1 / 16  # features that may come: a share, and as many as are FREQUENT
STEP = 2.0**-21  # by which the rounding of two values moves them, and more
SLACK = 1e-9  # relative; far above the rounding of a few operations
ALONE = 512  # times that only what is needed gets values: those of all take as long as all of these
FIRST, WIDER = 2.0**-10, 4  # how far from its place the median is looked for, relative; and then times as far


class Before:
    """What a file has under a rule: lists of both directions with values, norms, and what follows. Threads share it."""

    def __init__(self, counts: CountSource, rule: ValueRule, norms: Floats, valued: tuple[ValuedLists, ValuedLists]):
        self.counts, self.rule, self.norms = counts, rule, norms
        self.by_feature, self.by_item = valued
        positive = norms[norms > 0]
        self.pivot = median(positive) if len(positive) else 1.0
        lengths = counts.by_feature.lengths
        self.df = self.by_feature.lengths
        self.frequencies = distinct(lengths)  # of stored entries
        last = max(len(lengths) - FREQUENT, 0)
        frequent = np.argpartition(lengths, last)[last:] if last else np.arange(len(lengths))
        self.frequent = frequent[np.argsort(-lengths[frequent], kind="stable")].tolist()
        more = np.zeros(int(len(lengths) * ROOM) + FREQUENT, np.int64)
        self._places = [np.concatenate([own, more]) for own in self.by_feature.part[2:]]

    @cached_property
    def all_counts(self) -> int:
        """CF, at least 1."""
        return max(int(self.counts.by_feature.totals.sum()), 1)

    @cached_property
    def least_share(self) -> float:
        """No entry has a smaller one."""
        return 1 / max(int(self.counts.by_item.totals.max(initial=1)), 1)

    @cached_property
    def close(self) -> tuple[Ints, Ints, Floats] | None:
        """The items, features and shares of entries whose share is near its threshold; None if they are too many."""
        if self.rule.binarization == "presence":
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
        lists, totals = self.counts.by_feature, self.counts.by_item.totals
        threshold = 2 * lists.totals / self.all_counts
        some = np.flatnonzero((threshold * (1 + 2 * CLOSE) >= self.least_share) & (lists.lengths > 0))
        return binding.close(some, lists.source(), totals, threshold, CLOSE, MOST_CLOSE)

    @cached_property
    def are_far_from_zero(self) -> bool:
        """Whether no value is so small that it could become 0."""
        factors, largest = rarity(self.frequencies, self.counts.n_items), self.norms.max(initial=1.0)
        scale = float(scales(largest, self.pivot, self.rule.slope or 0.0))
        return float(factors[factors > 0].min(initial=1.0)) * scale > 4 * STEP

    def places(self, n_features: int) -> Iterator[Ints]:
        """Where the lists by feature start and end, empty ones of so many features at last."""
        for own in self._places:
            lacking = np.zeros(max(n_features - len(own), 0), np.int64)
            yield np.concatenate([own, lacking]) if len(lacking) else own[:n_features]


class _Now(NamedTuple):
    """The counts of now, and CF, at least 1; `changed`: the features of changed items, before or now, ascending."""

    counts: CountSource
    all_counts: int
    changed: Ints


class _Moves(NamedTuple):
    """Features that moved by much, and by which factors, `least` to `most`, the others did."""

    features: Ints
    least: float
    most: float


class _Values:
    """The lists by item, which get the values of now when they are needed. Threads share it."""

    def __init__(self, rule: CoreRule, lists: Lists, largest: float | None) -> None:
        self._asked = 0
        self.rule, self.by_item = rule, ValuedLists.empty(lists, True, largest)

    def fill(self, items: Ints) -> None:
        """Give some items, ascending, their values."""
        if self.by_item.are_all_there:
            return
        self._asked += 1
        is_often = self._asked > ALONE
        missing = self.by_item.missing(items, True) if is_often else self.by_item.without(items)
        if len(missing):
            self.by_item.fill(missing, Value(_never, self._of))

    def used(self) -> int:
        """How many entries have values."""
        return self.by_item.used

    def _of(self, items: Ints, source: ListArrays) -> ListValues:
        return self.rule.values(items)


class Drift:
    """What changed since a file; `apart`: the items that its values say nothing about, ascending. Threads share it."""

    def __init__(self, before: Before, now: _Now, moves: _Moves, apart: Ints):
        self.apart, rule = apart, _core_rule(before, now)
        pivot = _median(before, rule, moves, apart)
        self._values = _Values(rule.with_pivot(pivot), now.counts.by_item, before.rule.largest)
        self._values.fill(apart)
        old = before.pivot / pivot
        least, most = moves.least * min(old, 1 / moves.most), moves.most * max(old, 1 / moves.least)
        share = max(most - 1, 1 - least) + SLACK
        self.norm, self.in_core = before.by_item.norm, _in_core(before, now, apart, share, self._values)

    @property
    def by_item(self) -> ValuedLists:
        """The lists by item, of which some have values of now."""
        return self._values.by_item

    def values(self, items: Ints) -> PostingArrays:
        """The features of some items, ascending, with their values."""
        self._values.fill(items)
        return self._values.by_item.get(items)


def drift_since(before: Before, counts: CountSource, items: Ints) -> Drift | None:
    """What changed since a file, given the items whose lists did; None if it is too much."""
    old, n_items = before.counts, len(counts.by_item)
    fits = len(old.by_item) <= n_items and len(old.by_feature) <= len(counts.by_feature)
    most = min(MOST_APART, int(SHARE_APART * n_items))
    if not fits or len(items) > most or before.close is None or not before.are_far_from_zero:
        return None
    if counts.by_item.source()[1].dtype != np.uint16:  # larger counts have no logarithms in the core
        return None
    known, present = items[items < len(old.by_item)], items[items < n_items]
    changed = distinct(np.concatenate([old.by_item.take(known).ids, counts.by_item.take(present).ids]))
    now = _Now(counts, max(int(counts.by_feature.totals.sum()), 1), changed)
    moves, lists = _moves(before, now), old.by_feature
    if moves is None or int(lists.lengths[moves.features].sum()) > most:
        return None
    apart = np.concatenate([present, lists.take(moves.features).ids, _flipped(before, now)])
    apart = distinct(apart).astype(np.int64, copy=False)
    return Drift(before, now, moves, apart) if len(apart) <= most else None


def _moves(before: Before, now: _Now) -> _Moves | None:
    """How features moved, by their factors and thresholds; None if all moved by much."""
    (counts, all_counts, changed), old = now, before.counts
    own, n_items, lists = {*changed.tolist()}, (old.n_items, counts.n_items), old.by_feature
    unchanged = next((feature for feature in before.frequent if feature not in own), None)
    if unchanged is None and len(lists) > len(before.frequent):
        return None
    extremes = np.array([1, 1 if unchanged is None else max(int(lists.lengths[unchanged]), 1)])
    of_others, is_soft = _ratios(extremes, extremes, *n_items), before.rule.binarization != "presence"
    if np.abs(of_others - 1).max() > MOVED or (is_soft and abs(before.all_counts / all_counts - 1) > CLOSE / 2):
        return None
    changed = changed[changed < len(lists)]
    df, present = lists.lengths[changed], counts.by_feature.lengths[changed]
    ratios = np.where((df > 0) & (present > 0), _ratios(df, present, *n_items), 1.0)
    moved = ~(np.abs(ratios - 1) <= MOVED)
    if is_soft:
        threshold = 2 * lists.totals[changed] / before.all_counts
        of_now = 2 * counts.by_feature.totals[changed] / all_counts
        tells = np.maximum(threshold, of_now) >= before.least_share * (1 - SLACK)
        moved |= tells & ~(np.abs(of_now - threshold) <= CLOSE / 2 * threshold)
    kept = np.concatenate([of_others, ratios[~moved]])
    return _Moves(changed[moved], float(kept.min()) * (1 - SLACK), float(kept.max()) * (1 + SLACK))


def _ratios(was: Ints, now: Ints, n_was: int, n_now: int) -> Floats:
    """By which factors the rarity of features moved; 1 if it was and is 0."""
    old, new = rarity(was, n_was), rarity(now, n_now)
    ratios: Floats = np.where(new == old, 1.0, np.inf)
    np.divide(new, old, out=ratios, where=old > 0)
    return ratios


def _flipped(before: Before, now: _Now) -> Ints:
    """The items of which an entry began or ceased to exist because of its threshold."""
    assert before.close is not None
    items, features, shares = before.close
    old = 2 * take(before.counts.by_feature.totals, features) / before.all_counts
    new = 2 * take(now.counts.by_feature.totals, features) / now.all_counts
    flipped: Ints = items[(shares > old) != (shares > new)]
    return flipped


def _core_rule(before: Before, now: _Now) -> CoreRule:
    """How the entries of now become values; features of some document frequencies have factors."""
    counts, rule = now.counts, before.rule
    by_item, lists = counts.by_item, counts.by_feature
    frequencies = np.concatenate([before.frequencies, lists.lengths[now.changed]])
    factors, squares = np.empty((2, int(frequencies.max(initial=0)) + 1))  # nobody looks at others
    longest = float(by_item.totals.max(initial=1)), int(by_item.lengths.max(initial=1))
    unit = square_unit(*longest, largest_rarity(counts.n_items))
    factors[frequencies] = rarity(frequencies, counts.n_items)
    squares[frequencies] = factors[frequencies] ** 2 * unit
    everything = 0 if rule.binarization == "presence" else now.all_counts
    statistics, numbers = (by_item.totals, lists.lengths, lists.totals), (everything, unit, 1.0, rule.slope or 0.0)
    return CoreRule(by_item.source(), statistics, (factors, squares), logarithms(), numbers)


def _median(before: Before, rule: CoreRule, moves: _Moves, apart: Ints) -> float:
    """The median norm of the items that have one above 0; 1 if none has.

    Norms that are surely below or above a range around the old median need not be known.
    """
    old, own = before.norms.copy(), rule.norms(apart)
    old[apart[apart < len(old)]] = 0.0
    own = own[own > 0]
    count = len(own) + int(np.count_nonzero(old))
    middle, width = before.pivot, FIRST
    while count:
        begin, end = middle / (1 + width), middle * (1 + width)
        low, high = begin / moves.most * (1 - SLACK), end / moves.least * (1 + SLACK)
        below = int(np.count_nonzero(old < low)) - int(np.count_nonzero(old == 0))
        near = np.flatnonzero((old >= low) & (old <= high))
        known = np.sort(np.concatenate([own, rule.norms(near[old[near] > 0])]))
        first, second = (count - 1) // 2 - below, count // 2 - below
        if first >= 0 and second < len(known) and begin <= known[first] and known[second] <= end:
            return float(known[second]) if count % 2 else float((known[first] + known[second]) / 2)
        width *= WIDER
    return 1.0


def _in_core(before: Before, now: _Now, apart: Ints, share: float, values: _Values) -> FieldLists:
    """The lists by feature of before, with the document frequencies of now."""
    lists = now.counts.by_feature
    df = np.zeros(len(lists), np.int64)
    df[: len(before.df)] = before.df
    was = apart[apart < len(before.counts.by_item)]
    np.subtract.at(df, _features_of(before.by_item, was), 1)
    np.add.at(df, _features_of(values.by_item, apart), 1)
    ids, entries, *_ = before.by_feature.part
    drift = question.Drift(df, share, STEP, apart, values.rule, values.fill, values.used)
    by_feature = ids, entries, *before.places(len(lists))
    return FieldLists(by_feature, values.by_item.part, lists.lengths, drift)


def _features_of(valued: ValuedLists, items: Ints) -> Array:
    """The features of some items that have values."""
    ids, _, starts, ends = valued.part
    found: Array = take(ids, positions(starts[items], ends[items] - starts[items]))
    return found


def _never(entries: Entries) -> tuple[Entries, Floats]:
    raise AssertionError("the core has the values of all items")
