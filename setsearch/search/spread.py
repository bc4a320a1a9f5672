"""How stored vectors vary: the inverse of their covariance, shrunk towards equal variances. The same on any machine.

    A = (S + 20 tr(S) / size) / t     t = a power of two above its eigenvalues
    X <- X (2 - A X)                  from X = 1 to the inverse of A (Newton's method, after Schulz)

S is summed in whole numbers. All matrices are rounded to multiples of 2^-20, so that their products are exact, whatever
the library for matrices adds first.
"""

from math import fsum

import numpy as np

from setsearch.arrays import HASH, Floats
from setsearch.storage.vectors import Bytes

ROWS = 1024  # of bytes that become float32 together: they stay in the cache
SHRINKAGE = 20.0  # variances of the mean size that are added to each
ENOUGH = 4096  # vectors to estimate a covariance
STEPS = 10
UNIT = 2.0**20
ROOM = 5  # bits that a product of an inverse and a centroid may need above those of the centroid
SIZES = range(8, 513)  # of vectors; of larger ones the inverse takes too long


def directed(inverse: Floats, centroid: Floats) -> Floats:
    """The inverse times a centroid that is not 0, times a number, `(size,)`."""
    return inverse @ _rounded(centroid / 2.0 ** (np.ceil(np.log2(np.abs(centroid).max())) + ROOM))


def _rounded(values: Floats) -> Floats:
    whole: Floats = np.rint(values * UNIT)
    return whole / UNIT


def inverse_spread(rows: Bytes) -> Floats | None:
    """The inverse of the shrunk covariance of rows, times a number, `(size, size)`; None if it is unknown."""
    size = rows.shape[1]
    if size not in SIZES:
        return None
    covariance = _covariance(_chosen(rows))
    variance = fsum(covariance.diagonal()) / size
    if not variance > 0:
        return None
    covariance.flat[:: size + 1] += SHRINKAGE * variance
    bound = float(np.abs(covariance).sum(axis=0).max())
    matrix, one = _rounded(covariance / 2.0 ** np.ceil(np.log2(bound))), np.eye(size)
    inverse = one
    for _ in range(STEPS):
        inverse = _rounded(inverse @ (2 * one - _rounded(matrix @ inverse)))
    return inverse


def _chosen(rows: Bytes) -> Bytes:
    """About ENOUGH rows, or all: by what is in them, so that the order of writes does not matter."""
    if len(rows) <= ENOUGH:
        return rows
    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(rows[:, :8]).view(np.uint64).ravel() * HASH
    return rows[numbers <= np.uint64(2**64 // len(rows) * ENOUGH)]


def _covariance(rows: Bytes) -> Floats:
    size = rows.shape[1]
    products, sums = np.zeros((size, size)), rows.sum(axis=0, dtype=np.int64).astype(float)
    for start in range(0, len(rows), ROWS):
        part = rows[start : start + ROWS].astype(np.float32)  # sums of 1,024 products of bytes are exact
        products += part.T @ part
    return products / len(rows) - np.outer(sums, sums) / len(rows) ** 2
