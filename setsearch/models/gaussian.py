"""Numbers: a normal distribution for each dimension, with a normal-gamma prior (section 4 of the paper, elementwise).

The prior is worth k items at the mean mu_0 and the variance of all items: kappa_0 = k, a_0 = k/2, b_0 = a_0 var.
With N seeds of mean m and sum of squares S around it,

    kappa = kappa_0 + N             mu = (kappa_0 mu_0 + N m) / kappa
    a = a_0 + N/2                   b = b_0 + S/2 + kappa_0 N (m - mu_0)^2 / (2 kappa)

and the predictive distribution is Student's t with 2a degrees of freedom, at mu, of squared scale
b (kappa+1) / (a kappa):

    log p(x|D) - log p(x) = sum_j [ ln t(x_j | a, mu, b) - ln t(x_j | a_0, mu_0, b_0) ]

A dimension in which all items are equal adds exactly 0.
"""

from dataclasses import dataclass

import numpy as np

from setsearch.models.model import Floats, Ints, check_strength


@dataclass(frozen=True)
class Gaussian:
    """Independent normal dimensions; the strength k is that of the prior, in items."""

    strength: float = 2.0

    def __post_init__(self) -> None:
        check_strength(self.strength)

    def parts(self, x: Floats, seeds: Ints) -> Floats:
        """What each dimension adds to the score of each item, in nats: `(n_items, n_dimensions)` of such an `x`."""
        varied = np.ptp(x, axis=0) > 0
        result = np.zeros(x.shape)
        own, chosen = x[:, varied], x[seeds][:, varied]
        mean, variance, count = own.mean(axis=0), own.var(axis=0), len(seeds)
        kappa, a = self.strength, self.strength / 2
        b = a * variance
        of_seeds = chosen.mean(axis=0)
        kappa_n, a_n = kappa + count, a + count / 2
        mu_n = (kappa * mean + count * of_seeds) / kappa_n
        spread = ((chosen - of_seeds) ** 2).sum(axis=0)
        b_n = b + spread / 2 + kappa * count * (of_seeds - mean) ** 2 / (2 * kappa_n)
        result[:, varied] = _log_t(own, a_n, mu_n, b_n, kappa_n) - _log_t(own, a, mean, b, kappa)
        return result


def _log_t(x: Floats, a: float, mu: Floats, b: Floats, kappa: float) -> Floats:
    """ln of Student's t density with 2a degrees of freedom."""
    from scipy.special import gammaln

    squared = b * (kappa + 1) / (a * kappa)
    shape = gammaln(a + 0.5) - gammaln(a) - 0.5 * np.log(2 * np.pi * a * squared)
    result: Floats = shape - (a + 0.5) * np.log1p((x - mu) ** 2 / (2 * a * squared))
    return result
