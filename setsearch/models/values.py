"""From counts to values: what an entry (item i, feature j, count tf_ij) of a relation is worth, x_ij.

A rule has three parts. Binarization decides which entries exist, by the share tf_ij / L_i of the feature in the item,
L_i = sum_j tf_ij:

    "presence"            all
    "twice-mean"          share > 2 * mean share over all items, zeros included (section 5 of the paper)
    "soft-twice-mean"     share > 2 cf_j / CF,  cf_j = sum_i tf_ij,  CF = sum_j cf_j

Weights: w_ij = 1, or, if `weighted`, (1 + ln tf_ij) (ln(n / df_j))^(1/4). Length: x_ij = w_ij, or, with a `slope` b,
pivoted length normalization (Singhal, Buckley and Mitra 1996) by Euclidean norms over the entries that exist:

    x_ij = min(1, w_ij / ((1-b) median_i ||w_i|| + b ||w_i||))          b = 1: all items are equally long

Presence and twice-mean without weights and slope give the paper's zeros and ones. Rules depend on all items, so they
are applied to stored counts when a query needs them. A share that equals twice the mean could be rounded to either
side: entries that close are decided in exact rational arithmetic. (2 cf_j / CF is one correctly rounded quotient of
integers, as a share is, so comparing these two needs no such care.)

Where features are of several fields (tags beside terms), shares are those in the first one: L_i, cf and CF are its
sums, and an entry of another field always exists. The length is that of all fields together: an item that has little
in one is told by the others. A field f has a coefficient c_f, a power of its part of the model: x_ij is multiplied by
sqrt(c_f), so that what two items share there counts c_f times. The largest one is taken as 1: only their quotients
tell. With c_f = 0 entries do not exist. c_f is the weight that was given, 1 without (0 of noise, noise.py), times the
evidence of the field: 1 beside words; beside other features, such as users who like an item, a half of names, and a
quarter of numbers, whose two ranges tell one thing twice.
"""

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import (
    Entries,
    Floats,
    Ints,
    ListArrays,
    ListValues,
    bincount,
    median,
    offsets,
    repeat,
    sum_runs,
    take,
    to_lattice,
)
from setsearch.core import binding
from setsearch.lists import Lists

EXACT_BITS = 52  # sums of whole numbers below 2^52 are exact
CLOSE = 1e-9  # relative; far above the rounding error of a mean, far below differences in data
MOST_COUNTED = 1 << 16  # counts whose logarithms compiled code has
LOG_COUNTS: Floats = np.append(0.0, 1 + np.log(np.arange(1, 1000)))  # 1 + ln tf of most counts


class ValueRule(NamedTuple):
    """How stored counts become values. Equal rules are equal objects with equal `repr`."""

    binarization: str = "presence"
    weighted: bool = False
    slope: float | None = None
    counted: bool = False  # values are the counts themselves
    fields: tuple[tuple[str, float], ...] = ()  # the fields that count, with their coefficients; all without

    def __str__(self) -> str:
        """As files of arrays name it."""
        return repr(self) if self.fields else repr(self).replace(", fields=()", "")

    @property
    def largest(self) -> float | None:
        """An upper bound of all values; None if it depends on the counts."""
        return 1.0 if self.slope is not None or self.binary else None

    @property
    def binary(self) -> bool:
        """Whether all values are zeros and ones."""
        return self.slope is None and not self.weighted and not self.counted


PRESENCE = ValueRule()
COUNTS = ValueRule(counted=True)
TWICE_MEAN = ValueRule("twice-mean")


NAMES_BESIDE_RATINGS, NUMBERS_BESIDE_RATINGS = 0.5, 0.25  # evidence of fields


class FeatureGroups(NamedTuple):
    """The names of the fields of features, the field of each feature by its place among them, and their evidence.

    Those in `noise` (noise.py) do not count without weights.
    """

    names: tuple[str, ...]
    of_feature: Ints
    evidence: tuple[float, ...]
    noise: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As files of arrays name them."""
        told = [f"{name} {evidence:g}" for name, evidence in zip(self.names, self.evidence, strict=True)]
        return ", ".join([*told, *[f"no {name}" for name in self.noise]])


class CountSource(NamedTuple):
    """The counts of a relation as a rule reads them; `groups` if its features are of several fields."""

    n_items: int
    by_item: Lists  # item -> features
    by_feature: Lists  # feature -> items
    groups: FeatureGroups | None = None

    def totals(self) -> Ints:
        """L_i, `(n_ids,)`, at least 1 where there are several fields."""
        if self.groups is None:
            return self.by_item.totals
        lists = self.by_feature
        others = lists.take(np.flatnonzero(self.groups.of_feature))
        totals = self.by_item.totals - bincount(others.ids, others.counts, len(self.by_item)).astype(np.int64)
        return np.maximum(totals, 1)

    def sums(self) -> Ints:
        """cf_j, `(n_features,)`: 0 of features of other fields than the first one."""
        sums = self.by_feature.totals
        return sums if self.groups is None else np.where(self.groups.of_feature > 0, 0, sums)

    def coefficients(self, rule: ValueRule) -> Floats | None:
        """c_f of each feature, `(n_features,)`; None if all are 1."""
        if self.groups is None:
            return None
        names, of_feature, evidence, noise = self.groups
        given = dict(rule.fields) or {name: 1.0 for name in names if name not in noise}
        weights = np.array([given.get(name, 0.0) for name in names]) * evidence
        found: Floats = (weights / weights.max())[of_feature]
        return None if weights.min() == weights.max() else found


@dataclass(frozen=True, eq=False)
class RuleStatistics:
    """A rule with the statistics of one content: turns entries into values.

    `totals` `(n_ids,)`: L_i; `threshold` `(n_features,)`: entries with a larger share exist; `factor` `(n_features,)`:
    w_ij / (1 + ln tf_ij); `norms` `(n_ids,)`: ||w_i||; `scale` `(n_ids,)`: x_ij / (w_ij sqrt(c_f)); `pivot`: the median
    norm; `roots` `(n_features,)`: sqrt(c_f). A part that the rule lacks is None.
    """

    rule: ValueRule
    totals: Ints | None = None
    threshold: Floats | None = None
    factor: Floats | None = None
    norms: Floats | None = None
    scale: Floats | None = None
    pivot: float = 0.0
    roots: Floats | None = None

    @cached_property
    def rooted(self) -> Floats | None:
        """The factor times the roots, `(n_features,)`."""
        return self.factor if self.factor is None or self.roots is None else self.factor * self.roots

    def values_of(self, entries: Entries, by_item: bool = False) -> tuple[Entries, Floats]:
        """The entries with x_ij > 0 and these values, on the lattice. Lists are features, or items if `by_item`."""
        if self.rule.counted:
            return entries, entries.counts.astype(float)
        features, items = _features_and_items(entries, by_item)
        if self.threshold is not None and self.totals is not None:
            entries = entries.select(entries.counts / self.totals[items] > self.threshold[features])
            features, items = _features_and_items(entries, by_item)
        values = _weights(self.rooted, features, entries.counts)
        if self.scale is not None:
            values = to_lattice(np.minimum(values * self.scale[items], 1.0), binary=False)
        elif self.rule.slope is None and self.rule.weighted:  # with a slope, these are weights before normalization
            values = to_lattice(values, binary=False)
        positive = values > 0
        return (entries, values) if positive.all() else (entries.select(positive), values[positive])

    @property
    def in_core(self) -> bool:
        """Whether the compiled core was built, and knows the rule: one with weights and lengths."""
        return self.factor is not None and self.scale is not None and binding.library() is not None

    def values_of_lists(self, lists: Ints, source: ListArrays, by_item: bool) -> ListValues | None:
        """The same of whole lists, in the compiled core.

        None for rules that it does not know, and for counts that are not in the table of logarithms.
        """
        if not self.in_core or self.rooted is None or self.scale is None:
            return None
        are_counted = self.threshold is not None and self.totals is not None
        totals = self.totals if self.totals is not None else np.zeros(0, np.int64)
        statistics = totals, self.threshold if are_counted else None, self.rooted, self.scale
        return binding.values(lists, source, by_item, statistics, logarithms()[0])

    def values_of_new(self, features: Ints, counts: Ints, total: int) -> Floats:
        """x_j of an item that the index does not hold, `(n_entries,)`; its L is `total`."""
        if self.rule.counted:
            return counts.astype(float)
        exist = np.ones(len(counts)) if self.threshold is None else counts / total > self.threshold[features]
        values = _weights(self.rooted, features, counts) * exist
        if self.rule.slope is not None:
            norm = np.linalg.norm(_weights(self.factor, features, counts) * exist)
            values = np.minimum(values * scales(norm, self.pivot, self.rule.slope), 1.0)
        return values if self.rule.binary else to_lattice(values, binary=False)


def _weights(factor: Floats | None, features: Ints, counts: Ints) -> Floats:
    """(1 + ln tf_ij) times the factors of features."""
    return np.ones(len(counts)) if factor is None else _log_counts(counts) * factor[features]


def _features_and_items(entries: Entries, by_item: bool) -> tuple[Ints, Ints]:
    return (entries.ids, entries.lists) if by_item else (entries.lists, entries.ids)


def rule_statistics(rule: ValueRule, counts: CountSource, norms: Floats | None = None) -> RuleStatistics:
    """The statistics of a rule, in at most one pass over all entries for the threshold and one for the norms.

    `norms` `(n_ids,)`, if they are known, save the latter.
    """
    statistics = RuleStatistics(rule, None if rule.binarization == "presence" else counts.totals())
    threshold = None
    if rule.binarization == "twice-mean":
        threshold = _twice_mean(counts, statistics)
    elif rule.binarization == "soft-twice-mean":
        cf = counts.sums()
        threshold = 2 * cf / max(int(cf.sum()), 1)
    if threshold is not None and counts.groups is not None:
        threshold[counts.groups.of_feature > 0] = 0.0
    statistics = replace(statistics, threshold=threshold)
    if rule.weighted:
        factor, coefficients = rarity(counts.by_feature.lengths, counts.n_items), counts.coefficients(rule)
        statistics = replace(statistics, factor=factor)
        if coefficients is not None:
            statistics = replace(statistics, factor=factor * (coefficients > 0), roots=np.sqrt(coefficients))
    if rule.slope is None:
        return statistics
    norms = norms_of(statistics, counts, largest_rarity(counts.n_items)) if norms is None else norms
    pivot = median(norms[norms > 0]) if norms.any() else 1.0
    return replace(statistics, norms=norms, scale=scales(norms, pivot, rule.slope), pivot=pivot)


def rarity(df: Ints, n_items: int) -> Floats:
    """(ln(n / df))^(1/4), the factor of features in the weights of their entries."""
    largest = int(df.max(initial=0))
    if largest + 1 < len(df):  # of many features, few have a df that no other has
        return take(rarity(np.arange(largest + 1), n_items), df)
    factors: Floats = np.maximum(np.log(max(n_items, 1) / np.maximum(df, 1)), 0.0) ** 0.25
    return factors


def largest_rarity(n_items: int) -> float:
    """The factor of a feature that a single item has."""
    return float(rarity(np.ones(1, np.int64), n_items)[0])


def norms_of(statistics: RuleStatistics, counts: CountSource, largest: float) -> Floats:
    """||w_i|| over the entries that exist, `(n_ids,)`; no factor of a feature is above the `largest`.

    Squares are rounded to multiples of a power of two that are exactly summed, so that no order of features, which
    depends on the order of writes, changes a bit.
    """
    by_item, threshold = counts.by_item, statistics.threshold
    own_totals = by_item.totals if statistics.totals is None else statistics.totals
    lengths, totals = by_item.lengths, own_totals.astype(float)
    factor = np.ones(by_item.n_ids) if statistics.factor is None else statistics.factor
    largest = 1.0 if statistics.factor is None else largest
    unit = square_unit(float(by_item.totals.max(initial=1)), int(lengths.max(initial=1)), largest)
    factor_squares = factor**2 * unit
    if statistics.factor is not None and binding.library() is not None:
        found = binding.squares(by_item.source(), own_totals, threshold, factor_squares, logarithms()[1])
        if found is not None:
            return np.sqrt(found / unit)
    squares = np.zeros(len(by_item))
    for first, last, ids, chunk in by_item.chunks():
        own, features = lengths[first:last], ids.astype(np.intp)  # ids are in range: nothing clips
        terms = take(factor_squares, features, clip=True)
        if statistics.factor is not None:
            terms *= _log_counts(chunk) ** 2
        np.rint(terms, out=terms)
        if threshold is not None:
            terms *= chunk / repeat(totals[first:last], own) > take(threshold, features, clip=True)
        starts = offsets(own)[:-1][own > 0]
        if len(starts):
            squares[first:last][own > 0] = sum_runs(terms, starts)
    return np.sqrt(squares / unit)


def square_unit(total: float, length: int, factor: float) -> float:
    """The unit in which squares of weights are whole numbers with exact sums.

    Given the largest sum of the counts of an item, the largest number of its features, and of their factors.
    """
    largest = (1 + math.log(max(total, 1))) * factor
    bound = max(largest**2, 1.0) * max(length, 1)
    return 2.0 ** (EXACT_BITS - math.ceil(math.log2(bound)))


@cache
def logarithms() -> tuple[Floats, Floats]:
    """1 + ln tf of the counts that compiled code may meet, `(MOST_COUNTED,)`, and the squares."""
    logs = _log_counts(np.maximum(np.arange(MOST_COUNTED), 1))
    return logs, logs**2


def _log_counts(counts: npt.NDArray[np.integer]) -> Floats:
    """1 + ln tf, in double precision whatever the type of the counts."""
    tabulated = counts.max(initial=1) < len(LOG_COUNTS)
    return take(LOG_COUNTS, counts, clip=True) if tabulated else 1 + np.log(counts.astype(np.float64))


def scales(norms: npt.ArrayLike, pivot: float, slope: float) -> Floats:
    """1 / ((1-b) pivot + b ||w||); 0 for an item without weights."""
    norms = np.asarray(norms, float)
    scales: Floats = np.divide(1.0, (1 - slope) * pivot + slope * norms, where=norms > 0, out=np.zeros(norms.shape))
    return scales


def _twice_mean(counts: CountSource, statistics: RuleStatistics) -> Floats:
    """Twice the mean share of each feature, `(n_features,)`, moved to the right side of shares that are close."""
    assert statistics.totals is not None
    totals, lists, n_items = statistics.totals, counts.by_feature, counts.n_items
    means = np.zeros(len(lists))
    for entries in lists.sweep():
        means += bincount(entries.lists, entries.counts / totals[entries.ids], minlength=len(lists))
    thresholds = 2 * means / max(n_items, 1)
    close = np.zeros(len(lists), bool)
    for entries in lists.sweep():
        limit = thresholds[entries.lists]
        close[entries.lists[np.abs(entries.counts / totals[entries.ids] - limit) <= CLOSE * limit]] = True
    for feature in np.flatnonzero(close).tolist():
        of_feature = lists.take(np.array([feature]))
        thresholds[feature] = _exact_threshold(of_feature, totals, float(thresholds[feature]), n_items)
    return thresholds


def _exact_threshold(entries: Entries, totals: Ints, estimate: float, n_items: int) -> float:
    """A float between the shares of one feature that pass the rule and those that fail.

    Rounding keeps the order of shares, so comparing them with one of them is exact.
    """
    from fractions import Fraction

    item_totals = totals[entries.ids]
    mean_times_n = Fraction(0)
    for total in sorted({*item_totals.tolist()}):
        mean_times_n += Fraction(int(entries.counts[item_totals == total].sum()), total)
    share = entries.counts / item_totals
    near = np.abs(share - estimate) <= CLOSE * estimate
    failing = [
        float(value)
        for count, total, value in zip(
            entries.counts[near].tolist(), item_totals[near].tolist(), share[near], strict=True
        )
        if n_items * Fraction(count, total) <= 2 * mean_times_n
    ]
    return max(failing) if failing else float(np.nextafter(share[near].min(), 0))
