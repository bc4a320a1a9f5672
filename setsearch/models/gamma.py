"""Differences of log-gamma functions, precise where the functions themselves are too large to be subtracted."""

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats

SHIFT = 16  # Stirling's series has an error below 1e-14 from here on


def log_ratio(a: npt.ArrayLike, s: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    """ln G(a+s+x) - ln G(a+s) - ln G(a+x) + ln G(a) for a > 0 and s, x >= 0, of shapes that broadcast.

    The relative error is near that of one rounding, however large or small a is: what the four terms have in common is
    left out. With p = a+s, q = a+x, r = a+s+x and Stirling's series the difference is

        (a - 1/2) ln(r a / (p q)) + s ln(r / p) + x ln(r / q) + R(r) - R(p) - R(q) + R(a)      r a = p q - s x

    Below SHIFT, ln G(z) = ln G(z+1) - ln z moves the arguments first.
    """
    a, s, x = np.broadcast_arrays(np.asarray(a, float), np.asarray(s, float), np.asarray(x, float))
    small = a < SHIFT
    result = np.zeros(a.shape)
    for step in range(SHIFT):
        result[small] -= log_quotient(a[small] + step, s[small], x[small])
    a = np.where(small, a + SHIFT, a)
    p, q, r = a + s, a + x, a + s + x
    result += (a - 0.5) * log_quotient(a, s, x) + s * np.log1p(x / p) + x * np.log1p(s / q)
    result += _remainder(r) - _remainder(p) - _remainder(q) + _remainder(a)
    return result


def log_quotient(a: Floats, s: Floats, x: Floats) -> Floats:
    """ln(r a / (p q)), with p = a+s, q = a+x, r = a+s+x."""
    p, q = a + s, a + x
    share = (s / p) * (x / q)
    near: Floats = np.log1p(-np.minimum(share, 0.5))
    far: Floats = np.log((a + s + x) / p) + np.log(a / q)
    return np.where(share < 0.5, near, far)


def _remainder(z: Floats) -> Floats:
    """What Stirling's formula leaves of ln G(z)."""
    squared = z * z
    return np.asarray((1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * squared)) / squared) / squared) / z)
