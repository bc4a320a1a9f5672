"""A linear support vector machine that corrects given scores: weights that separate accepted from rejected examples.

    minimize over w, b   (|w|^2 + b^2) / 2 + C sum_i c_i max(0, 1 - y_i f(x_i))^2      f(x) = s(x) + b + sum_j w_j x_j

with y_i = 1 for accepted and -1 for rejected examples, weights c_i, and scores s(x) that are given: without examples,
f = s. The examples are few, so the dual problem is solved (Hsieh et al., A dual coordinate descent method for
large-scale linear SVM, ICML 2008, for s = 0):

    maximize over a >= 0   sum_i a_i (1 - y_i s(x_i)) - (|w|^2 + b^2) / 2 - sum_i a_i^2 / (4 C c_i)
    w = sum_i a_i y_i x_i        b = sum_i a_i y_i

f is a margin: about 1 or more for accepted examples, about -1 or less for rejected ones.

The loss is quadratic as long as the same examples count, those with y_i f(x_i) < 1. Newton's method (Mangasarian, A
finite Newton method for classification, 2002) solves a linear system for them, looks which ones count then, and ends
when these stay the same: most often after three to six systems, without a step size.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints, bincount, take
from setsearch.models.values import ValueRule

COST = 0.1  # C
# The precision of a system: while the examples that count change, and of the last one; weights are rounded to 2e-7.
CLOSE, EXACT = 1e-3, 1e-10
MOST_STEPS = 50  # three to six are usual
NOTHING = 1e-9  # a part of the loss by which a step may raise it, because of rounding


class Marked(NamedTuple):
    """Examples: entries (row, column, value), row after row; of each, `(n_rows,)`, sign y, weight c > 0, score s."""

    rows: Ints
    columns: Ints
    values: Floats
    signs: Floats
    weights: Floats
    scores: Floats


def svm_rule(slope: float, fields: tuple[tuple[str, float], ...] = ()) -> ValueRule:
    """The values x_j: logarithmic counts of all features of an item, with pivoted length normalization."""
    return ValueRule(weighted=True, slope=slope, fields=fields)


def fit(marked: Marked, n_columns: int) -> tuple[Floats, float]:
    """The weights w `(n_columns,)` and the bias b."""
    from scipy.sparse import csr_array

    shape, columns = (len(marked.signs), n_columns), marked.columns.astype(np.int32)
    ends = np.searchsorted(marked.rows, np.arange(len(marked.signs) + 1)).astype(np.int32)
    rows = csr_array((marked.values, columns, ends), shape)
    squares = csr_array((marked.values**2, columns, ends), shape)
    # The dual variables are scaled, so that the second derivatives are 1 on the diagonal.
    softness = 1 / (2 * COST * marked.weights)
    scales = 1 / np.sqrt(squares.sum(1) + 1 + softness)
    signs, missing = marked.signs * scales, scales * (1 - marked.signs * marked.scores)
    # A feature that one example has, as most pairs of words, is of no matter to the others.
    is_shared = bincount(columns, minlength=n_columns) > 1
    alone = squares @ np.where(is_shared, 0.0, 1.0) * scales**2
    inside, places = np.flatnonzero(take(is_shared, columns)), is_shared.cumsum(dtype=np.int32) - 1
    kept = take(places, take(columns, inside)), np.searchsorted(inside, ends).astype(np.int32)
    shared = csr_array((take(marked.values, inside), *kept), (len(signs), int(is_shared.sum())))
    transposed = shared.T

    def products(a: Floats) -> Floats:
        """K a, the products of all examples' features and bias, with signs."""
        own = signs * a
        found: Floats = signs * (shared @ (transposed @ own) + own.sum()) + alone * a
        return found

    dual = signs * solve(products, missing, softness * scales**2)
    return rows.T @ dual, float(dual.sum())


def solve(products: Callable[[Floats], Floats], missing: Floats, softness: Floats) -> Floats:
    """The a >= 0 that maximizes a missing - a K a / 2 - softness a^2 / 2, given the products K a."""
    a, own = np.zeros(len(missing)), np.zeros(len(missing))
    active, precision = missing > 0, CLOSE

    def loss(own: Floats, a: Floats) -> float:
        """|w|^2 / 2 and the costs of what is missing at w, times a constant."""
        return float(a @ own + np.sum(np.maximum(missing - own, 0.0) ** 2 / softness)) / 2

    for _ in range(MOST_STEPS):
        start = np.where(active, a, 0.0)
        ahead = own if (start == a).all() else products(start)
        found, ahead = _system(products, active, missing, softness, (start, ahead), precision)
        most = loss(own, a) * (1 + NOTHING)
        if ((missing > ahead) == active).all():
            if precision == EXACT:
                break
            precision = EXACT
        while loss(ahead, found) > most:
            found, ahead = (found + a) / 2, (ahead + own) / 2
        a, own, active = found, ahead, missing > ahead
    else:
        found = a
    dual: Floats = np.maximum(found, 0.0)
    return dual


def _system(
    products: Callable[[Floats], Floats],
    active: npt.NDArray[np.bool_],
    missing: Floats,
    softness: Floats,
    start: tuple[Floats, Floats],
    precision: float,
) -> tuple[Floats, Floats]:
    """Conjugate gradients: a and K a, where K a + softness a is what is missing at the active ones, and other a are 0.

    Unlike a library's these keep K a, so that nobody multiplies once more.
    """
    a, ahead = start
    rest = np.where(active, missing - ahead - softness * a, 0.0)
    along, size = rest, float(rest @ rest)
    least = precision**2 * float(missing[active] @ missing[active])
    for _ in range(len(a)):
        if size <= least:
            break
        added = products(along)
        curved = np.where(active, added + softness * along, 0.0)
        step = size / float(along @ curved)
        a, ahead, rest = a + step * along, ahead + step * added, rest - step * curved
        before, size = size, float(rest @ rest)
        along = rest + size / before * along
    return a, ahead
