"""The vectors of a database in memory: read when a question needs them, and again when they change.

How they vary is the inverse of their covariance, shrunk towards equal variances, the same on any machine:

    A = (S + 20 tr(S) / size) / t     t = a power of two above its eigenvalues
    X <- X (2 - A X)                  from X = 1 to the inverse of A (Newton's method, after Schulz)

S is summed in whole numbers. All matrices are rounded to multiples of 2^-20, so that their products are exact, whatever
the library for matrices adds first.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from math import fsum

import numpy as np

from setsearch.arrays import HASH, Floats, Floats32, Ints, moments
from setsearch.core.binding import alike
from setsearch.errors import InvalidParameter
from setsearch.scoring.best import is_core
from setsearch.storage.kept.vectors import ENCODER, Bytes, quantized

ROWS = 1024  # of bytes that become float32 together: they stay in the cache
SHRINKAGE = 20.0  # variances of the mean size that are added to each
ENOUGH = 4096  # vectors to estimate a covariance
ITERATIONS = 10  # of Newton's method
UNIT = 2.0**20  # one over the step of matrices
ROOM = 5  # bits that a product of an inverse and a centroid may need above those of the centroid
SIZES = range(8, 513)  # of vectors; of larger ones the inverse takes too long


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
    for _ in range(ITERATIONS):
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


STEPS = 2.0**30  # of the mean and of the centroid, for each unit
LEAST = 2.0**-18  # norm of what is not at the mean
WIDEST = 2.0**15 - 1  # int16 holds it, and float32 the sums of its products with bytes

Encode = Callable[[Sequence[str]], Floats32]


class Vectors:
    """The vectors of items: `ids`, `(n,)` ascending, and `rows`, `(n, size)`; `encode` gives those of new texts.

    `source` is that of storage/kept/vectors.py.
    """

    def __init__(self, ids: Ints, rows: Bytes, source: str, encode: Encode | None = None) -> None:
        self.ids, self.rows, self.source, self._encode = ids, rows, source, encode

    @property
    def encodes(self) -> bool:
        """Whether an encoder gives the vectors of new texts."""
        return self._encode is not None

    @cached_property
    def lengths(self) -> Floats:
        """Euclidean norms of the rows, `(n,)`."""
        return lengths_of(self.rows)

    @cached_property
    def mean(self) -> Floats:
        """The mean of the rows at unit length, `(size,)`."""
        total = np.zeros(self.rows.shape[1])
        for start in range(0, len(self.rows), ROWS):
            part = self.rows[start : start + ROWS] / self.lengths[start : start + ROWS, None]
            total += np.rint(part * STEPS).sum(axis=0)
        return np.rint(total / STEPS / max(len(self.rows), 1) * STEPS) / STEPS

    @cached_property
    def _inverse(self) -> Floats | None:
        return inverse_spread(self.rows) if self.source == ENCODER else None

    def direction(self, centroid: Floats) -> Floats:
        """d of a centroid that is not 0, `(size,)`, times any number."""
        if self._inverse is None:
            return centroid
        return self._inverse @ _rounded(centroid / 2.0 ** (np.ceil(np.log2(np.abs(centroid).max())) + ROOM))

    @cached_property
    def centred_lengths(self) -> Floats:
        """Euclidean norms of the rows at unit length minus the mean, `(n,)`."""
        return self._centred_lengths(self.rows, self.lengths)

    def _centred_lengths(self, rows: Bytes, lengths: Floats) -> Floats:
        """|u - m| = sqrt(1 - 2 u m + m m) of rows at unit length."""
        multiplied = np.empty(len(rows))
        for start in range(0, len(rows), ROWS):
            multiplied[start : start + ROWS] = rows[start : start + ROWS].astype(float) @ (self.mean * STEPS)
        return np.sqrt(np.maximum(1.0 - multiplied / (lengths * (STEPS / 2)) + fsum(self.mean * self.mean), 0.0))

    def encoded(self, texts: Sequence[str]) -> Floats | None:
        """Centred unit vectors of texts, `(n_texts, size)`; None without an encoder. Raises InvalidParameter."""
        if self._encode is None or not texts:
            return None
        rows = quantized(texts, self._encode(texts))
        if rows.shape[1] != self.rows.shape[1]:
            raise InvalidParameter(
                f"the encoder gives {rows.shape[1]} numbers, but the index holds vectors of {self.rows.shape[1]}; "
                "open it with the encoder that made them"
            )
        lengths = lengths_of(rows)
        centred, norms = rows / lengths[:, None] - self.mean, self._centred_lengths(rows, lengths)[:, None]
        return np.divide(centred, norms, out=np.zeros_like(centred), where=norms > LEAST)

    def units(self, places: Ints) -> Floats:
        """Rows at unit length, minus the mean, at unit length again, by their places; 0 for those at the mean."""
        at_unit = self.rows[places] / self.lengths[places, None]
        centred: Floats = (at_unit - self.mean) * self._factors[places, None]
        return centred

    def cosines(self, centroid: Floats) -> tuple[Floats, float, float]:
        """The cosine of each row with a centroid, or a direction, times the length of this, `(n,)`; their moments."""
        bound = float(np.abs(centroid).sum())
        unit = 2.0 ** math.ceil(math.log2(bound / WIDEST)) if bound else 1.0
        whole = np.rint(centroid / unit)
        shift = fsum((self.mean * whole).tolist())
        if is_core():
            return alike(self.rows, whole.astype(np.int16), shift, unit, self.lengths, self._factors)
        products = _products(self.rows, whole.astype(np.float32))
        found = (products / self.lengths - shift) * self._factors * unit
        return found, *moments(found)

    @cached_property
    def _factors(self) -> Floats:
        """What makes centred rows unit vectors, `(n,)`; 0 for those at the mean."""
        norms = self.centred_lengths
        factors: Floats = np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > LEAST)
        return factors


def _products(rows: Bytes, numbers: Floats32) -> Floats:
    """rows @ numbers, `(n_rows,)`, of whole numbers whose sums stay below 2^24: exact, in any order."""
    parts = [rows[start : start + ROWS].astype(np.float32) @ numbers for start in range(0, len(rows), ROWS)]
    return np.concatenate([np.zeros(0, np.float32), *parts]).astype(float)


def lengths_of(rows: Bytes) -> Floats:
    """Euclidean norms, `(n,)`."""
    squares: Floats = np.einsum("ij,ij->i", rows, rows, dtype=np.int64).astype(float)
    return np.sqrt(np.maximum(squares, 1.0))  # a damaged file may hold zeros
