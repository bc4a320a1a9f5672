"""Models of counts: how often an item has a feature, x_ij = tf_ij. Equation (16) of the paper for two families.

Both use the same term; s_j is the sum of the seeds' counts, a_j that of the prior:

    h_j(x) = ln G(a_j + s_j + x) - ln G(a_j + s_j) - ln G(a_j + x) + ln G(a_j)      G: the gamma function

which is exactly 0 if no seed has the feature. The rest depends on an item's length L = sum_j x_j only.

multinomial, Dirichlet prior a_j = A cf_j / CF of concentration A, S = sum_j s_j:

    log p(x|D) - log p(x) = sum_j h_j(x_j) + ln G(A+S) - ln G(A+S+L) - ln G(A) + ln G(A+L)

poisson, a rate of Gamma(a_j, b) for each feature, a_j = k cf_j / n and b = k, its mean that of all items:

    log p(x|D) - log p(x) = sum_j h_j(x_j) - L ln((b+N+1) / (b+1))
                            + sum_j [ (a_j + s_j) ln((b+N) / (b+N+1)) - a_j ln(b / (b+1)) ]
"""

import math
from dataclasses import dataclass

import numpy as np

from setsearch.arrays import Floats, Ints, numbered, take
from setsearch.models.gamma import log_ratio
from setsearch.models.model import Query, Seeds, Table
from setsearch.models.values import COUNTS, ValueRule
from setsearch.options import check


class _OfCounts:
    """The common part."""

    strength: float
    usual_strength = 4096
    has_base = False  # features that no seed has count by `of_lengths` only

    def __post_init__(self) -> None:
        check({"strength": self.strength})

    @property
    def rule(self) -> ValueRule:
        """The counts themselves."""
        return COUNTS

    def background(self, df: Ints, n_items: int, n_seeds: float) -> None:
        """None."""


@dataclass(frozen=True)
class Multinomial(_OfCounts):
    """Dirichlet-multinomial; the strength is the concentration A of the prior, in occurrences."""

    strength: float = 1000.0

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """A table of h_j."""
        prior = self.strength * seeds.cf / seeds.cf_of_all
        return _table(prior, seeds, np.zeros(len(df)))

    def of_lengths(self, lengths: Ints, seeds: Seeds) -> Floats:
        """The part that depends on L, `(n_items,)`."""
        each, places = numbered(lengths)
        added: Floats = -log_ratio(np.float64(self.strength), np.float64(seeds.sums.sum()), each.astype(float))
        return added[places]


@dataclass(frozen=True)
class Poisson(_OfCounts):
    """Gamma-Poisson; the strength k is that of the prior, in items."""

    strength: float = 2.0

    def query(self, seeds: Seeds, df: Ints, n_items: int) -> Query:
        """A table of h_j; `constants` holds the constant of all features as one number."""
        b, n = self.strength, seeds.count
        total = self.strength * seeds.cf_of_all / n_items
        # (b+N) (b+1) - b (b+N+1) = N
        constant = total * math.log1p(n / b / (b + n + 1)) - seeds.sums.sum() * math.log1p(1 / (b + n))
        return _table(self.strength * seeds.cf / n_items, seeds, np.array([constant]))

    def of_lengths(self, lengths: Ints, seeds: Seeds) -> Floats:
        """The part that depends on L, `(n_items,)`."""
        b = self.strength
        return np.asarray(-math.log1p(seeds.count / (b + 1)) * lengths, np.float64)


def _table(prior: Floats, seeds: Seeds, constants: Floats) -> Query:
    """A query whose entries add h_j of their counts."""

    single: Floats = np.asarray(np.log1p(seeds.sums / prior), np.float64)  # most counts are 1

    def table(positions: Ints, counts: Floats) -> Floats:
        """h_j(x)."""
        added, more = take(single, positions), np.flatnonzero(counts > 1)
        width = int(counts.max(initial=0)) + 1
        pairs, places = numbered(positions[more] * width + counts[more].astype(np.int64))  # of which there are few
        own, times = np.divmod(pairs, width)
        added[more] = log_ratio(prior[own], seeds.sums[own], times)[places]
        return added

    entry_table: Table = table
    return Query(table(np.arange(len(prior)), np.ones(len(prior))), constants, entry_table)
