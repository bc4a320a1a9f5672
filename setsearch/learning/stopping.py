"""When a review may stop: a promised recall with a stated probability.

The test of Callaghan and Mueller-Hansen (Statistical stopping criteria for automated screening in systematic reviews,
Systematic Reviews 9, 2020), with a biased urn. A person has read n of N records, r of them relevant. Take the records
read after the first i as drawn from those that were left then. If the recall were below the target t, at least

    K_i = floor(r / t + 1) - r_i

relevant records were left after the first i, r_i of which were relevant. The chance that so few of them were found,

    p_i = P(X <= r - r_i),    n - i of N - i records are drawn, K_i of which are relevant,

is small if the target is met. The least p_i, over up to 50 values of i, is the answer. X is hypergeometric if records
come in a random order. A ranking draws relevant ones first: X has Wallenius' distribution, in which a relevant record
is `odds` times as likely to be the next one as any other. With odds = 1 the promise needs no assumption about the
ranking; 2 is less than rankings reach (docs/screening.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints

RECALL, CONFIDENCE = 0.95, 0.95
ODDS = 2.0
MOST_PLACES = 50


class Outlook(NamedTuple):
    """What a review may still find.

    `chance` that the recall is below the target; `left`: relevant records among those not read, an estimate;
    `at_most`: as many are left, with the stated confidence.
    """

    chance: float
    left: int
    at_most: int


def chance_of_missing(found: Sequence[int], n_records: int, recall: float = RECALL, odds: float = ODDS) -> float:
    """The least p_i: the chance that the recall is below the target, 1 before anything was read.

    `found` are the labels, 1 or 0, of the records read, in their order; `n_records` is N.
    """
    relevant = int(np.sum(found))
    if len(found) >= n_records:
        return 0.0
    return _least_chance(found, n_records, int(np.floor(relevant / recall + 1)) - relevant, odds)


def outlook(
    found: Sequence[int],
    n_records: int,
    recall: float = RECALL,
    confidence: float = CONFIDENCE,
    odds: float = ODDS,
) -> Outlook:
    """The chance, and how many relevant records are left: so many that finding so few had even chances."""
    rest = n_records - len(found)
    chances = (0.5, 1 - confidence)
    left, at_most = (_most_left(found, n_records, chance, odds) if rest else 0 for chance in chances)
    return Outlook(chance_of_missing(found, n_records, recall, odds), left, at_most)


def _least_chance(found: Sequence[int], n_records: int, left: int, odds: float) -> float:
    """The least p_i if so many relevant records are left."""
    if not len(found) or left > n_records - len(found):
        return 1.0 if not len(found) else 0.0
    from scipy.stats import hypergeom, nchypergeom_wallenius

    labels: Ints = np.asarray(found, np.int64)
    before = np.unique(np.linspace(0, len(labels) - 1, MOST_PLACES).astype(np.int64))
    since = labels[::-1].cumsum()[::-1][before]  # relevant ones from each place on
    urn = n_records - before, left + since, len(labels) - before
    chances: Floats = hypergeom.cdf(since, *urn) if odds == 1 else nchypergeom_wallenius.cdf(since, *urn, odds)
    return float(np.nanmin(chances))


def _most_left(found: Sequence[int], n_records: int, chance: float, odds: float) -> int:
    """The largest number of relevant records left with at least this chance."""
    low, high = 0, n_records - len(found)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _least_chance(found, n_records, middle, odds) >= chance else (low, middle - 1)
    return low
