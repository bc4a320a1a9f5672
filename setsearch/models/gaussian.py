"""Numbers: independent normal distributions with normal-gamma priors (section 4 of the paper).

The prior counts as k items with the mean mu_0 and the variance of all items: kappa_0 = k, a_0 = k/2, b_0 = a_0 var.
For N seeds with the mean m and the sum of squared deviations S,

    kappa = kappa_0 + N             mu = (kappa_0 mu_0 + N m) / kappa
    a = a_0 + N/2                   b = b_0 + S/2 + kappa_0 N (m - mu_0)^2 / (2 kappa)

and the predictive distribution is Student's t with 2a degrees of freedom, at mu, of squared scale
b (kappa+1) / (a kappa):

    log p(x|D) - log p(x) = sum_j [ ln t(x_j | a, mu, b) - ln t(x_j | a_0, mu_0, b_0) ]

A dimension that is equal for all items adds exactly 0.
"""

from dataclasses import dataclass

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.models.model import check_strength


@dataclass(frozen=True)
class Gaussian:
    """Independent normal dimensions; the strength k is that of the prior, in items."""

    strength: float = 2.0

    def __post_init__(self) -> None:
        check_strength(self.strength)

    def parts(self, x: Floats, seeds: Ints) -> Floats:
        """What each dimension adds to each score, in nats; `x` and the result are `(n_items, n_dimensions)`."""
        varied = np.ptp(x, axis=0) > 0
        result = np.zeros(x.shape)
        items, examples = x[:, varied], x[seeds][:, varied]
        mean, variance, count = items.mean(axis=0), items.var(axis=0), len(seeds)
        kappa, a = self.strength, self.strength / 2
        b = a * variance
        seed_mean = examples.mean(axis=0)
        kappa_n, a_n = kappa + count, a + count / 2
        mu_n = (kappa * mean + count * seed_mean) / kappa_n
        spread = ((examples - seed_mean) ** 2).sum(axis=0)
        b_n = b + spread / 2 + kappa * count * (seed_mean - mean) ** 2 / (2 * kappa_n)
        result[:, varied] = _log_t(items, a_n, mu_n, b_n, kappa_n) - _log_t(items, a, mean, b, kappa)
        return result


def _log_t(x: Floats, a: float, mu: Floats, b: Floats, kappa: float) -> Floats:
    """The logarithm of Student's t density with 2a degrees of freedom."""
    from scipy.special import gammaln

    squared = b * (kappa + 1) / (a * kappa)
    shape = gammaln(a + 0.5) - gammaln(a) - 0.5 * np.log(2 * np.pi * a * squared)
    result: Floats = shape - (a + 0.5) * np.log1p((x - mu) ** 2 / (2 * a * squared))
    return result
