"""A linear support vector machine that corrects given scores: weights that separate accepted from rejected examples.

    minimize over w, b   (|w|^2 + b^2) / 2 + C sum_i c_i max(0, 1 - y_i f(x_i))^2      f(x) = s(x) + b + sum_j w_j x_j

with y_i = 1 for accepted and -1 for rejected examples, weights c_i, and scores s(x) that are given: without examples,
f = s. The examples are few, so the dual problem is solved (Hsieh et al., A dual coordinate descent method for
large-scale linear SVM, ICML 2008, for s = 0):

    maximize over a >= 0   sum_i a_i (1 - y_i s(x_i)) - (|w|^2 + b^2) / 2 - sum_i a_i^2 / (4 C c_i)
    w = sum_i a_i y_i x_i        b = sum_i a_i y_i

f is a margin: about 1 or more for accepted examples, about -1 or less for rejected ones.
"""

from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints, distinct, places_of
from setsearch.models.values import ValueRule

COST = 0.1  # C
PRECISION = 1e-9  # of the gradient
EXACT = 1e-14
MOST_STEPS = 1000


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
    from scipy.optimize import minimize
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator, cg

    # The dual variables are scaled, so that the second derivatives are 1 on the diagonal.
    squares = np.bincount(marked.rows, marked.values**2, len(marked.signs)) + 1
    softness = 1 / (2 * COST * marked.weights)
    scales = 1 / np.sqrt(squares + softness)
    signs, missing = marked.signs * scales, scales * (1 - marked.signs * marked.scores)
    values = marked.values * signs[marked.rows]
    # A feature that one example has, as most pairs of words, is of no matter to the others.
    shared = np.bincount(marked.columns, minlength=n_columns)[marked.columns] > 1
    alone = np.bincount(marked.rows[~shared], values[~shared] ** 2, len(signs)) + softness * scales**2
    common = distinct(marked.columns[shared])
    cells = (values[shared], (marked.rows[shared], places_of(common)[marked.columns[shared]]))
    rows = csr_array(cells, (len(signs), len(common)))
    columns = rows.T.tocsr()

    def slopes(a: Floats) -> Floats:
        found: Floats = rows @ (columns @ a) + signs * (signs @ a) + alone * a
        return found

    def loss(a: Floats) -> tuple[float, Floats]:
        own = slopes(a)
        return float(own @ a / 2 - missing @ a), own - missing

    bounds = [(0.0, None)] * len(signs)
    options = {"maxiter": MOST_STEPS, "maxfun": MOST_STEPS, "ftol": 0.0, "gtol": PRECISION}
    dual: Floats = minimize(loss, np.zeros(len(signs)), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    # The examples that count are known now: theirs is a linear system. Its solution has all digits, whatever the order
    # of the rows.
    active = dual > 0
    system = LinearOperator((len(dual), len(dual)), lambda a: np.where(active, slopes(np.where(active, a, 0.0)), a))
    exact, _ = cg(system, np.where(active, missing, 0.0), dual, rtol=EXACT, maxiter=MOST_STEPS)
    dual = exact if (exact >= 0).all() else dual
    weights = np.bincount(marked.columns, values * dual[marked.rows], n_columns)
    return weights.astype(float), float(signs @ dual)
