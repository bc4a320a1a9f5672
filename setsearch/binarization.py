"""From counts to zeros and ones: which entries of a relation count as "the item has the feature".

`presence`: every count above 0.
`twice-mean`, the paper's preprocessing (section 5): an entry is 1 if the item's share of the feature, its count over
the item's total count, is more than twice the feature's mean share over all items, zeros included.

The second rule moves with every item that is added, so it is applied from the stored counts: each feature gets a
threshold, and an entry is 1 if its share, as a float, is above it. Where a share equals twice the mean, rounding
could fall on either side: entries that are that close are decided in exact rational arithmetic.
"""

import sqlite3
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from setsearch.lists import Entries, Lists
from setsearch.postings import Ints

BINARIZATIONS = ("presence", "twice-mean")
CLOSE = 1e-9  # relative; far above the rounding error of a mean, far below any difference that data show by chance

Floats = npt.NDArray[np.float64]


def shares(entries: Entries, totals: Ints) -> Floats:
    """count_ij / total_i of each entry, whose `ids` are items: `(n_entries,)`."""
    result: Floats = entries.counts / totals[entries.ids]
    return result


def twice_mean_thresholds(
    cursor: sqlite3.Cursor, postings: Lists, totals: Ints, n_features: int, n_items: int
) -> tuple[Floats, Ints]:
    """The threshold and the document frequency after the rule of each feature: two `(n_features,)` arrays.

    `postings` are feature -> items; `totals` `(n_ids,)` the sums of counts of the items.
    """
    means = np.zeros(n_features)
    for entries in postings.sweep(cursor):
        means += np.bincount(entries.lists, shares(entries, totals), minlength=n_features)
    thresholds = 2 * means / n_items
    close = np.zeros(n_features, bool)
    for entries in postings.sweep(cursor):
        limit = thresholds[entries.lists]
        close[entries.lists[np.abs(shares(entries, totals) - limit) <= CLOSE * limit]] = True
    doubtful = np.flatnonzero(close)
    if len(doubtful):
        entries = postings.read(cursor, doubtful.tolist())
        for feature in doubtful.tolist():
            own = entries.where(entries.lists == feature)
            thresholds[feature] = _exact_threshold(own, totals, float(thresholds[feature]), n_items)
    df = np.zeros(n_features, np.int64)
    for entries in postings.sweep(cursor):
        df += np.bincount(entries.lists[shares(entries, totals) > thresholds[entries.lists]], minlength=n_features)
    return thresholds, df


def _exact_threshold(entries: Entries, totals: Ints, estimate: float, n_items: int) -> float:
    """A float between the shares of one feature that pass the rule and those that do not.

    Shares round to floats in their own order, so comparing with one of them is exact.
    """
    of_items = totals[entries.ids]
    mean_times_n = Fraction(0)
    for total in np.unique(of_items).tolist():
        mean_times_n += Fraction(int(entries.counts[of_items == total].sum()), total)
    share = shares(entries, totals)
    near = np.abs(share - estimate) <= CLOSE * estimate
    failing = [
        float(value)
        for count, total, value in zip(entries.counts[near].tolist(), of_items[near].tolist(), share[near], strict=True)
        if n_items * Fraction(count, total) <= 2 * mean_times_n
    ]
    return max(failing) if failing else float(np.nextafter(share[near].min(), 0))
