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
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.arrays import VALUE_LATTICE, Entries, Floats, Ints, to_lattice

CLOSE = 1e-9  # relative; far above the rounding error of a mean, far below differences in data
LOG_COUNTS: Floats = np.append(0.0, 1 + np.log(np.arange(1, 1000)))  # 1 + ln tf of most counts


class ValueRule(NamedTuple):
    """How stored counts become values. Equal rules are equal objects with equal `repr`."""

    binarization: str = "presence"
    weighted: bool = False
    slope: float | None = None
    counted: bool = False  # values are the counts themselves

    @property
    def binary(self) -> bool:
        """Whether all values are zeros and ones."""
        return self.slope is None and not self.weighted and not self.counted


PRESENCE = ValueRule()
COUNTS = ValueRule(counted=True)
TWICE_MEAN = ValueRule("twice-mean")


class CountSource(Protocol):
    """The counts of a relation as a rule reads them: lists are features, ids are items."""

    n_items: int
    df: Ints  # document frequencies, (n_features,)
    cf: Ints  # sums of counts of the features, (n_features,)

    @property
    def totals(self) -> Ints:
        """Sums of counts of the items, `(n_ids,)`."""
        ...

    def sweep(self) -> Iterator[Entries]:
        """All entries, in steps."""
        ...

    def read(self, features: Ints) -> Entries:
        """The entries of some features, ascending."""
        ...


@dataclass(frozen=True)
class RuleStatistics:
    """A rule with the statistics of one content: turns entries into values.

    `totals` `(n_ids,)`: L_i; `threshold` `(n_features,)`: entries with a larger share exist; `factor` `(n_features,)`:
    w_ij / (1 + ln tf_ij); `scale` `(n_ids,)`: x_ij / w_ij; `pivot`: the median norm. A part that the rule lacks is
    None. `df` `(n_features,)`: number of items with a value above 0.
    """

    rule: ValueRule
    df: Ints
    totals: Ints | None = None
    threshold: Floats | None = None
    factor: Floats | None = None
    scale: Floats | None = None
    pivot: float = 0.0

    def values_of(self, entries: Entries, by_item: bool = False) -> tuple[Entries, Floats]:
        """The entries with x_ij > 0 and these values, on the lattice. Lists are features, or items if `by_item`."""
        if self.rule.counted:
            return entries, entries.counts.astype(float)
        features, items = _features_and_items(entries, by_item)
        if self.threshold is not None and self.totals is not None:
            entries = entries.select(entries.counts / self.totals[items] > self.threshold[features])
            features, items = _features_and_items(entries, by_item)
        values = self._weights(features, entries.counts)
        if self.scale is not None:
            values = to_lattice(np.minimum(values * self.scale[items], 1.0), binary=False)
        elif self.rule.slope is None and self.rule.weighted:  # with a slope, these are weights before normalization
            values = to_lattice(values, binary=False)
        positive = values > 0
        return (entries, values) if positive.all() else (entries.select(positive), values[positive])

    def values_of_new(self, features: Ints, counts: Ints, total: int) -> Floats:
        """x_j of an item that the index does not hold, `(n_entries,)`; its L is `total`."""
        if self.rule.counted:
            return counts.astype(float)
        weights = self._weights(features, counts)
        if self.threshold is not None:
            weights *= counts / total > self.threshold[features]
        if self.rule.slope is not None:
            weights = np.minimum(weights * _scales(np.linalg.norm(weights), self.pivot, self.rule.slope), 1.0)
        return weights if self.rule.binary else to_lattice(weights, binary=False)

    def to_bytes(self) -> bytes:
        """All arrays as bytes."""
        parts = [self.df, self.totals, self.threshold, self.factor, self.scale, np.array([self.pivot])]
        return b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts if part is not None)

    @classmethod
    def from_bytes(cls, rule: ValueRule, data: bytes, n_features: int, n_ids: int) -> "RuleStatistics | None":
        """The inverse of `to_bytes`; None if the length does not match the rule and sizes."""
        present = (rule.binarization != "presence", rule.weighted, rule.slope is not None, True)
        sizes = [part * size for part, size in zip(present, (n_features, n_features, n_ids, 1), strict=True)]
        n_totals = n_ids if rule.binarization != "presence" else 0
        if len(data) != 8 * (n_features + n_totals + sum(sizes)):
            return None
        df, totals = np.split(np.frombuffer(data, "<i8", n_features + n_totals), [n_features])
        numbers = np.frombuffer(data, "<f8", offset=8 * (n_features + n_totals))
        threshold, factor, scale, pivot = np.split(numbers, np.cumsum(sizes)[:-1])
        has_threshold, has_factor, has_scale, _ = present
        return cls(
            rule,
            df,
            totals if has_threshold else None,
            threshold if has_threshold else None,
            factor if has_factor else None,
            scale if has_scale else None,
            float(pivot[0]),
        )

    def _weights(self, features: Ints, counts: Ints) -> Floats:
        """w_ij of entries that exist."""
        return np.ones(len(counts)) if self.factor is None else _log_counts(counts) * self.factor[features]


def _features_and_items(entries: Entries, by_item: bool) -> tuple[Ints, Ints]:
    return (entries.ids, entries.lists) if by_item else (entries.lists, entries.ids)


def rule_statistics(rule: ValueRule, counts: CountSource) -> RuleStatistics:
    """The statistics of a rule, in at most four passes over all entries."""
    statistics = RuleStatistics(rule, counts.df, None if rule.binarization == "presence" else counts.totals)
    if rule.binarization == "twice-mean":
        statistics = replace(statistics, threshold=_twice_mean(counts))
    elif rule.binarization == "soft-twice-mean":
        statistics = replace(statistics, threshold=2 * counts.cf / max(int(counts.cf.sum()), 1))
    if rule.weighted:
        idf = np.log(max(counts.n_items, 1) / np.maximum(counts.df, 1))
        statistics = replace(statistics, factor=np.maximum(idf, 0.0) ** 0.25)
    if rule.slope is not None:
        return _with_lengths(statistics, rule.slope, counts)
    return (
        statistics if rule in (PRESENCE, COUNTS) else replace(statistics, df=_document_frequencies(statistics, counts))
    )


def _with_lengths(statistics: RuleStatistics, slope: float, counts: CountSource) -> RuleStatistics:
    """Add the norms of items, and what follows from them."""
    squares, df, least = np.zeros(len(counts.totals)), np.zeros(len(counts.df), np.int64), np.inf
    for entries in counts.sweep():
        existing, weights = statistics.values_of(entries)
        squares += np.bincount(existing.ids, weights**2, len(squares))
        df += np.bincount(existing.lists, minlength=len(df))
        least = min(least, float(weights.min(initial=np.inf)))
    norms = np.sqrt(squares)
    pivot = float(np.median(norms[norms > 0])) if norms.any() else 1.0
    scale = _scales(norms, pivot, slope)
    statistics = replace(statistics, scale=scale, pivot=pivot, df=df)
    lower_bound = least * scale.min(where=scale > 0, initial=np.inf)  # of all values before rounding
    if lower_bound * VALUE_LATTICE >= 1:
        return statistics
    return replace(statistics, df=_document_frequencies(statistics, counts))


def _document_frequencies(statistics: RuleStatistics, counts: CountSource) -> Ints:
    """The number of items with a value above 0 for each feature, `(n_features,)`."""
    df = np.zeros(len(counts.df), np.int64)
    for entries in counts.sweep():
        existing, _ = statistics.values_of(entries)
        df += np.bincount(existing.lists, minlength=len(df))
    return df


def _log_counts(counts: Ints) -> Floats:
    """1 + ln tf."""
    tabulated = counts.max(initial=1) < len(LOG_COUNTS)
    return LOG_COUNTS[counts] if tabulated else np.asarray(1 + np.log(counts), np.float64)


def _scales(norms: npt.ArrayLike, pivot: float, slope: float) -> Floats:
    """1 / ((1-b) pivot + b ||w||); 0 for an item without weights."""
    norms = np.asarray(norms, float)
    scales: Floats = np.divide(1.0, (1 - slope) * pivot + slope * norms, where=norms > 0, out=np.zeros(norms.shape))
    return scales


def _twice_mean(counts: CountSource) -> Floats:
    """Twice the mean share of each feature, `(n_features,)`, moved to the right side of shares that are close."""
    totals, n_features = counts.totals, len(counts.df)
    means = np.zeros(n_features)
    for entries in counts.sweep():
        means += np.bincount(entries.lists, entries.counts / totals[entries.ids], minlength=n_features)
    thresholds = 2 * means / max(counts.n_items, 1)
    close = np.zeros(n_features, bool)
    for entries in counts.sweep():
        limit = thresholds[entries.lists]
        close[entries.lists[np.abs(entries.counts / totals[entries.ids] - limit) <= CLOSE * limit]] = True
    doubtful = np.flatnonzero(close)
    if len(doubtful):
        entries = counts.read(doubtful)
        for feature in doubtful.tolist():
            of_feature = entries.select(entries.lists == feature)
            thresholds[feature] = _exact_threshold(of_feature, totals, float(thresholds[feature]), counts.n_items)
    return thresholds


def _exact_threshold(entries: Entries, totals: Ints, estimate: float, n_items: int) -> float:
    """A float between the shares of one feature that pass the rule and those that fail.

    Rounding keeps the order of shares, so comparing them with one of them is exact.
    """
    from fractions import Fraction

    item_totals = totals[entries.ids]
    mean_times_n = Fraction(0)
    for total in np.unique(item_totals).tolist():
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
