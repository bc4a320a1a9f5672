"""From counts to values: what an entry (item i, feature j, count tf_ij) of a relation is worth, x_ij.

A rule has three parts. Which entries exist, by the share tf_ij / L_i of the feature in the item, L_i = sum_j tf_ij:

    "presence"            all
    "twice-mean"          share > 2 * mean share over all items, zeros included (section 5 of the paper)
    "soft-twice-mean"     share > 2 cf_j / CF,  cf_j = sum_i tf_ij,  CF = sum_j cf_j

What they weigh, w_ij: 1, or, where `weighted`, (1 + ln tf_ij) (ln(n / df_j))^(1/4). How long items are evened out:
x_ij = w_ij, or, with a `balance` b, Euclidean norms over the entries that exist:

    x_ij = min(1, w_ij / ((1-b) median_i ||w_i|| + b ||w_i||))          b = 1: all items are equally long

The presence rule and twice-mean without balance give the paper's zeros and ones. Rules move with every item that is
added, so they are applied from the stored counts. Where a share equals twice the mean, rounding could fall on either
side: entries that are that close are decided in exact rational arithmetic. (2 cf_j / CF is one correctly rounded
quotient of whole numbers, as a share is, so comparing these two needs no such care.)
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Entries, Ints

CLOSE = 1e-9  # relative; far above the rounding error of a mean, far below any difference that data show by chance
LATTICE = 2.0**22  # values are multiples of its inverse: exact as float32, and exact when multiplied by weights
Floats = npt.NDArray[np.float64]
LOGARITHMIC: Floats = np.append(0.0, 1 + np.log(np.arange(1, 1000)))  # 1 + ln tf of most counts


class Rule(NamedTuple):
    """How a stored count turns into a value; equal rules are equal objects and print equally."""

    existence: str = "presence"
    weighted: bool = False
    balance: float | None = None
    counted: bool = False  # values are the counts themselves, not 0 to 1

    @property
    def binary(self) -> bool:
        """Whether all values are zeros and ones."""
        return self.balance is None and not self.weighted and not self.counted


PRESENCE = Rule()
COUNTS = Rule(counted=True)
TWICE_MEAN = Rule("twice-mean")


class Counts(Protocol):
    """The relation as a rule sees it: lists are features, ids are items."""

    n_items: int
    df: Ints  # raw document frequencies, (n_features,)
    cf: Ints  # sums of counts of the features, (n_features,)

    @property
    def totals(self) -> Ints:
        """Sums of counts of the items, `(n_ids,)`."""
        ...

    def sweep(self) -> Iterator[Entries]:
        """All entries, some features at a time."""
        ...

    def read(self, features: Ints) -> Entries:
        """The entries of some features, ascending."""
        ...


@dataclass(frozen=True)
class Measure:
    """A rule with the statistics of one content: turns entries into values.

    `totals` `(n_ids,)`: the L_i; `floor` `(n_features,)`: shares above it exist; `factor` `(n_features,)`: what w_ij
    multiplies 1 + ln tf_ij with; `scale` `(n_ids,)`: what turns w_ij into x_ij; `median`: of the norms. None where the
    rule has no such part. `df` `(n_features,)`: number of items with a value above 0.
    """

    rule: Rule
    df: Ints
    totals: Ints | None = None
    floor: Floats | None = None
    factor: Floats | None = None
    scale: Floats | None = None
    median: float = 0.0

    def valued(self, entries: Entries, by_item: bool = False) -> tuple[Entries, Floats]:
        """The entries with x_ij > 0, and these values, on the lattice. Lists are features, or items if `by_item`."""
        if self.rule.counted:
            return entries, entries.counts.astype(float)
        features, items = _turned(entries, by_item)
        if self.floor is not None and self.totals is not None:
            entries = entries.select(entries.counts / self.totals[items] > self.floor[features])
            features, items = _turned(entries, by_item)
        values = self._weights(features, entries.counts)
        if self.scale is not None:
            values = _to_lattice(np.minimum(values * self.scale[items], 1.0))
        elif self.rule.balance is None and self.rule.weighted:  # else the norms of these values are to be taken first
            values = _to_lattice(values)
        there = values > 0
        return (entries, values) if there.all() else (entries.select(there), values[there])

    def of_new(self, features: Ints, counts: Ints, total: int) -> Floats:
        """x_j of an item that the index does not hold, `(n_entries,)`; its L is `total`."""
        if self.rule.counted:
            return counts.astype(float)
        weights = self._weights(features, counts)
        if self.floor is not None:
            weights *= counts / total > self.floor[features]
        if self.rule.balance is not None:
            weights = np.minimum(weights * _scales(np.linalg.norm(weights), self.median, self.rule.balance), 1.0)
        return weights if self.rule.binary else _to_lattice(weights)

    def to_bytes(self) -> bytes:
        """Everything as bytes."""
        parts = [self.df, self.totals, self.floor, self.factor, self.scale, np.array([self.median])]
        return b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts if part is not None)

    @classmethod
    def from_bytes(cls, rule: Rule, data: bytes, n_features: int, n_ids: int) -> "Measure | None":
        """The inverse of `to_bytes`; None if the bytes are not of this rule and these sizes."""
        wanted = (rule.existence != "presence", rule.weighted, rule.balance is not None, True)
        sizes = [there * size for there, size in zip(wanted, (n_features, n_features, n_ids, 1), strict=True)]
        n_totals = n_ids if rule.existence != "presence" else 0
        if len(data) != 8 * (n_features + n_totals + sum(sizes)):
            return None
        df, totals = np.split(np.frombuffer(data, "<i8", n_features + n_totals), [n_features])
        numbers = np.frombuffer(data, "<f8", offset=8 * (n_features + n_totals))
        floor, factor, scale, median = np.split(numbers, np.cumsum(sizes)[:-1])
        has_floor, has_factor, has_scale, _ = wanted
        return cls(
            rule,
            df,
            totals if has_floor else None,
            floor if has_floor else None,
            factor if has_factor else None,
            scale if has_scale else None,
            float(median[0]),
        )

    def _weights(self, features: Ints, counts: Ints) -> Floats:
        """w_ij of entries that exist."""
        return np.ones(len(counts)) if self.factor is None else _logarithmic(counts) * self.factor[features]


def _turned(entries: Entries, by_item: bool) -> tuple[Ints, Ints]:
    """Features and items."""
    return (entries.ids, entries.lists) if by_item else (entries.lists, entries.ids)


def measure(rule: Rule, counts: Counts) -> Measure:
    """The statistics that a rule needs, in at most four passes over all entries."""
    found = Measure(rule, counts.df, None if rule.existence == "presence" else counts.totals)
    if rule.existence == "twice-mean":
        found = replace(found, floor=_twice_mean(counts))
    elif rule.existence == "soft-twice-mean":
        found = replace(found, floor=2 * counts.cf / max(int(counts.cf.sum()), 1))
    if rule.weighted:
        idf = np.log(max(counts.n_items, 1) / np.maximum(counts.df, 1))
        found = replace(found, factor=np.maximum(idf, 0.0) ** 0.25)
    if rule.balance is not None:
        return _balanced(found, rule.balance, counts)
    return found if rule in (PRESENCE, COUNTS) else replace(found, df=_existing(found, counts))


def _balanced(found: Measure, balance: float, counts: Counts) -> Measure:
    """With the norms of items, and what follows from these."""
    squares, df, least = np.zeros(len(counts.totals)), np.zeros(len(counts.df), np.int64), np.inf
    for entries in counts.sweep():
        existing, weights = found.valued(entries)
        squares += np.bincount(existing.ids, weights**2, len(squares))
        df += np.bincount(existing.lists, minlength=len(df))
        least = min(least, float(weights.min(initial=np.inf)))
    norms = np.sqrt(squares)
    median = float(np.median(norms[norms > 0])) if norms.any() else 1.0
    scale = _scales(norms, median, balance)
    found = replace(found, scale=scale, median=median, df=df)
    lowest = least * scale.min(where=scale > 0, initial=np.inf)  # no value is below, before it is rounded
    return found if lowest * LATTICE >= 1 else replace(found, df=_existing(found, counts))


def _existing(found: Measure, counts: Counts) -> Ints:
    """The number of items with a value above 0, for each feature: `(n_features,)`."""
    df = np.zeros(len(counts.df), np.int64)
    for entries in counts.sweep():
        existing, _ = found.valued(entries)
        df += np.bincount(existing.lists, minlength=len(df))
    return df


def _logarithmic(counts: Ints) -> Floats:
    """1 + ln tf."""
    known = counts.max(initial=1) < len(LOGARITHMIC)
    return LOGARITHMIC[counts] if known else np.asarray(1 + np.log(counts), np.float64)


def _scales(norms: npt.ArrayLike, median: float, balance: float) -> Floats:
    """1 / ((1-b) median + b ||w||), 0 for an item without weights."""
    norms = np.asarray(norms, float)
    result: Floats = np.divide(
        1.0, (1 - balance) * median + balance * norms, where=norms > 0, out=np.zeros(norms.shape)
    )
    return result


def _to_lattice(values: Floats) -> Floats:
    """Values rounded to multiples of 2^-22 (an error of at most 1.2e-7)."""
    result: Floats = np.rint(values * LATTICE) / LATTICE
    return result


def _twice_mean(counts: Counts) -> Floats:
    """Twice the mean share of each feature, `(n_features,)`, moved to the right side of shares that are that close."""
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
            own = entries.select(entries.lists == feature)
            thresholds[feature] = _exact_threshold(own, totals, float(thresholds[feature]), counts.n_items)
    return thresholds


def _exact_threshold(entries: Entries, totals: Ints, estimate: float, n_items: int) -> float:
    """A float between the shares of one feature that pass the rule and those that do not.

    Shares round to floats in their own order, so comparing with one of them is exact.
    """
    from fractions import Fraction

    of_items = totals[entries.ids]
    mean_times_n = Fraction(0)
    for total in np.unique(of_items).tolist():
        mean_times_n += Fraction(int(entries.counts[of_items == total].sum()), total)
    share = entries.counts / of_items
    near = np.abs(share - estimate) <= CLOSE * estimate
    failing = [
        float(value)
        for count, total, value in zip(entries.counts[near].tolist(), of_items[near].tolist(), share[near], strict=True)
        if n_items * Fraction(count, total) <= 2 * mean_times_n
    ]
    return max(failing) if failing else float(np.nextafter(share[near].min(), 0))
