"""Vectors as one more field: how much items are like the seeds in meaning.

    score_i = lift_i + w sd(lift) z_i     z_i = (c_i - mean(c)) / sd(c)     c_i = x_i d

x_i is the stored vector of an item at unit length, minus the mean of all, at unit length again. The centroid is the
mean of the seeds' vectors by their weights, and d is this mean, so that c_i is a cosine but for a factor. Of vectors by
an encoder d is the centroid times the inverse of S + 20 tr(S) / size, where S is the covariance of the stored vectors,
of some 4,000 of them if there are more. So what most items vary in counts less: c_i is the logarithm of p(x_i | D) /
p(x_i) if x is normal around the seeds, and around all items, with this same covariance (Fisher's linear discriminant,
with shrinkage). Means and standard deviations (sd) of c are over the items with vectors; an item without one has z = 0.
All vectors are compared: the field is exact, whatever lists a query reads.

Products are sums of integers small enough to be exact, so that neither the order of items nor the library for matrices
changes a bit. For that the mean is rounded to multiples of 2^-30, and the centroid c to those of a power of two: the
least with which 127 sum |c_k| is at most 2^23 of them.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import fsum

import numpy as np

from setsearch.arrays import Floats, Floats32, Ints, places_among
from setsearch.errors import InvalidParameter
from setsearch.search.examples import Examples
from setsearch.search.fields import Fields
from setsearch.search.spread import ROWS, directed, inverse_spread
from setsearch.search.weights import SeedWeights
from setsearch.storage.vectors import ENCODER, LARGEST, Bytes, quantized

NAME = "like in meaning"
STEPS = 2.0**30  # of the mean and of the centroid, for each unit
NOISE = 8  # steps of a row and of the mean that rounding may amount to, at unit length
LEAST = 2.0**-18  # norm of what is not at the mean
EXACT = 2.0**24  # float32 holds all integers below

Encode = Callable[[Sequence[str]], Floats32]


class Vectors:
    """The vectors of items: `ids`, `(n,)` ascending, and `rows`, `(n, size)`; `encode` gives those of new texts.

    `source` is that of storage/vectors.py.
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
        """d of a centroid, `(size,)`, times any number."""
        return centroid if self._inverse is None else directed(self._inverse, centroid)

    @cached_property
    def _mean_square(self) -> float:
        return fsum(self.mean * self.mean)

    @cached_property
    def centred_lengths(self) -> Floats:
        """Euclidean norms of the rows at unit length minus the mean, `(n,)`."""
        return self._centred_lengths(self.rows, self.lengths)

    def _centred_lengths(self, rows: Bytes, lengths: Floats) -> Floats:
        """|u - m| = sqrt(1 - 2 u m + m m) of rows at unit length."""
        multiplied = np.empty(len(rows))
        for start in range(0, len(rows), ROWS):
            multiplied[start : start + ROWS] = rows[start : start + ROWS].astype(float) @ (self.mean * STEPS)
        return np.sqrt(np.maximum(1.0 - multiplied / (lengths * (STEPS / 2)) + self._mean_square, 0.0))

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
        return self.centred(rows)

    def centred(self, rows: Bytes) -> Floats:
        """Rows at unit length, minus the mean, at unit length again; 0 for those at the mean."""
        lengths = lengths_of(rows)
        centred, norms = rows / lengths[:, None] - self.mean, self._centred_lengths(rows, lengths)[:, None]
        return np.divide(centred, norms, out=np.zeros_like(centred), where=norms > LEAST)

    def cosines(self, centroid: Floats) -> Floats:
        """The cosine of each row with a centroid, or a direction, times a number that is the same for all, `(n,)`."""
        bound = LARGEST * float(np.abs(centroid).sum())
        whole = np.rint(centroid * (2.0 ** np.floor(np.log2(EXACT / 2 / bound)) if bound else 0.0))
        cosines = _products(self.rows, whole.astype(np.float32)) / self.lengths - fsum(self.mean * whole)
        norms = self.centred_lengths
        centred: Floats = np.divide(cosines, norms, out=np.zeros(len(cosines)), where=norms > LEAST)
        return centred

    def centroid(self, examples: Examples) -> Floats | None:
        """The weighted sum of the examples' vectors, `(size,)`; None if none has one, or if they cancel."""
        shares, ids = examples.weight(), np.array(examples.ids, np.int64)
        places, known = places_among(self.ids, ids)
        parts = [(shares[: len(ids)][known], self.centred(self.rows[places[known]]))]
        texts = self.encoded(examples.like)
        if texts is not None:
            parts.append((shares[len(ids) : len(ids) + len(texts)], texts))
        total = sum(np.rint(rows * share[:, None] * STEPS).sum(axis=0) for share, rows in parts)
        rounding = NOISE * sum(len(rows) for _, rows in parts)
        return total / STEPS if np.any(np.abs(total) > rounding) else None


def _products(rows: Bytes, numbers: Floats32) -> Floats:
    """rows @ numbers, `(n_rows,)`, of whole numbers whose sums stay below 2^24: exact, in any order."""
    parts = [rows[start : start + ROWS].astype(np.float32) @ numbers for start in range(0, len(rows), ROWS)]
    return np.concatenate([np.zeros(0, np.float32), *parts]).astype(float)


def lengths_of(rows: Bytes) -> Floats:
    """Euclidean norms, `(n,)`."""
    squares: Floats = np.einsum("ij,ij->i", rows, rows, dtype=np.int64).astype(float)
    return np.sqrt(np.maximum(squares, 1.0))  # a damaged file may hold zeros


def with_meaning(fields: Fields, weights: SeedWeights, share: float) -> SeedWeights:
    """Weights with the field of vectors as a part of the base, if one of the examples has a vector.

    Items that joined the examples (search/feedback.py) are part of the centroid.
    """
    vectors = fields.vectors() if share and fields.vectors is not None else None
    centroid = None if vectors is None else vectors.centroid(weights.joined or weights.examples)
    if vectors is None or centroid is None:
        return weights
    return weights.with_prior(NAME, vectors.ids, vectors.cosines(vectors.direction(centroid)), share)
