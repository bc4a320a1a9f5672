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
from setsearch.models.gamma import log_quotient, log_ratio
from setsearch.options import check


@dataclass(frozen=True)
class Gaussian:
    """Independent normal dimensions; the strength k is that of the prior, in items."""

    strength: float = 2.0

    def __post_init__(self) -> None:
        check({"strength": self.strength})

    def parts(self, x: Floats, seeds: Ints) -> Floats:
        """What each dimension adds to each score, in nats; `x` and the result are `(n_items, n_dimensions)`."""
        varied = np.ptp(x, axis=0) > 0
        result = np.zeros(x.shape)
        if varied.any():
            result[:, varied] = _log_ratios(_at_one_scale(x[:, varied]), seeds, self.strength)
        return result


def _at_one_scale(x: Floats) -> Floats:
    """Each dimension from 0 to about 1: a score does not depend on origin and unit."""
    shifted = x - x.min(axis=0)
    _, exponents = np.frexp(shifted.max(axis=0))
    scaled: Floats = np.ldexp(shifted, -exponents)
    return scaled


def _log_ratios(x: Floats, seeds: Ints, kappa: float) -> Floats:
    """ln t(x | a, mu, b) - ln t(x | a_0, mu_0, b_0) with kappa_0 = `kappa`, in a form without large differences.

    With N seeds, d = (x - mu_0)^2 kappa_0 / (2 b_0 (kappa_0+1)), and d' likewise for mu, b and kappa,

        ln t' - ln t = [ln G(a+1/2) - ln G(a) - ln G(a_0+1/2) + ln G(a_0)] - ln(b (kappa+1) kappa_0 / (b_0 ...)) / 2
                       + (a_0 + 1/2) (ln(1+d) - ln(1+d')) - N/2 ln(1+d')
    """
    count, a = len(seeds), kappa / 2
    mean, examples = x.mean(axis=0), x[seeds]
    b, away = a * x.var(axis=0), examples.mean(axis=0) - mean
    spread = ((examples - examples.mean(axis=0)) ** 2).sum(axis=0)
    kappa_n = kappa + count
    log_b = np.log1p((spread / 2 + kappa / kappa_n * count * away**2 / 2) / b)  # ln(b / b_0)
    log_scale = log_b + log_quotient(*np.array([kappa, count, 1.0]))
    before = kappa / (2 * b * (kappa + 1))
    after = before * np.exp(-log_scale)
    u, shift = x - mean, count / kappa_n * away
    d, d_after = before * u**2, after * (u - shift) ** 2
    change = -before * np.expm1(-log_scale) * u**2 + after * shift * (2 * u - shift)  # d - d'
    share = change / (1 + d_after)
    logs = np.where(np.abs(share) < 0.5, np.log1p(np.maximum(share, -0.5)), np.log1p(d) - np.log1p(d_after))
    of_shape = log_ratio(a, count / 2, 0.5)
    result: Floats = of_shape - log_scale / 2 + (a + 0.5) * logs - count / 2 * np.log1p(d_after)
    return result
