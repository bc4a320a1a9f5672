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

from setsearch.arrays import Floats, Ints
from setsearch.models.values import ValueRule

COST = 0.1  # C
CLOSE, EXACT = 1e-3, 1e-14  # precision of a system: while the examples that count change, and of the last one
MOST_STEPS = 50
NOTHING = 1e-9  # a part of the loss by which a step may raise it, because of rounding


class Marked(NamedTuple):
    """Examples: entries (row, column, value); of each row, `(n_rows,)`, the sign y, the weight c > 0, the score s."""

    rows: Ints
    columns: Ints
    values: Floats
    signs: Floats
    weights: Floats
    scores: Floats


def svm_rule(slope: float) -> ValueRule:
    """The values x_j: logarithmic counts of all features of an item, with pivoted length normalization."""
    return ValueRule(weighted=True, slope=slope)


def fit(marked: Marked, n_columns: int) -> tuple[Floats, float]:
    """The weights w `(n_columns,)` and the bias b."""
    from scipy.sparse import csr_array

    # The dual variables are scaled, so that the second derivatives are 1 on the diagonal.
    squares = marked.values**2
    softness = 1 / (2 * COST * marked.weights)
    scales = 1 / np.sqrt(np.bincount(marked.rows, squares, len(marked.signs)) + 1 + softness)
    signs, missing = marked.signs * scales, scales * (1 - marked.signs * marked.scores)
    # A feature that one example has, as most pairs of words, is of no matter to the others.
    shared = np.bincount(marked.columns, minlength=n_columns) > 1
    inside = shared[marked.columns]
    alone = np.bincount(marked.rows, np.where(inside, 0.0, squares), len(signs)) * scales**2
    entries, places = np.flatnonzero(inside), np.cumsum(shared, dtype=np.int32) - 1
    owners = marked.rows[entries].astype(np.int32)
    cells = (marked.values[entries] * signs[owners], (owners, places[marked.columns[entries]]))
    rows = csr_array(cells, (len(signs), int(shared.sum())))
    columns = rows.T

    def products(a: Floats) -> Floats:
        """K a, the products of all examples' features and bias, with signs."""
        found: Floats = rows @ (columns @ a) + signs * (signs @ a) + alone * a
        return found

    dual = solve(products, missing, softness * scales**2)
    weights = np.bincount(marked.columns, marked.values * (signs * dual)[marked.rows], n_columns)
    return weights.astype(float), float(signs @ dual)


def solve(products: Callable[[Floats], Floats], missing: Floats, softness: Floats) -> Floats:
    """The a >= 0 that maximizes a missing - a K a / 2 - softness a^2 / 2, given the products K a."""
    from scipy.sparse.linalg import LinearOperator, cg

    size = len(missing)
    a, own, active, precision = np.zeros(size), np.zeros(size), missing > 0, CLOSE

    def loss(own: Floats, a: Floats) -> float:
        """|w|^2 / 2 and the costs of what is missing at w, times a constant."""
        return float(a @ own + np.sum(np.maximum(missing - own, 0.0) ** 2 / softness)) / 2

    for _ in range(MOST_STEPS):
        system = LinearOperator((size, size), lambda v: np.where(active, products(v) + softness * v, v))  # noqa: B023
        found, _ = cg(system, np.where(active, missing, 0.0), np.where(active, a, 0.0), rtol=precision, maxiter=size)
        ahead, most = products(found), loss(own, a) * (1 + NOTHING)
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
