"""Latent vectors of words, by all neighbors on both sides together; derived with the contexts.

    x_ij = max(0, ln(n_ij n / (n_i n_j)))              in steps of 1/16
    Y <- X X' Y, Y <- Y (Y' Y)^-1/2                    from random signs, three times
    Y <- X X' Y, Y <- Y (Y' Y)^-3/8                    the vectors: rows of Y

n_ij counts how often word i has the neighbor j at a place. So the vectors are rows of U S^(1/2), but for a rotation, of
the truncated singular value decomposition X = U S V' (Levy, Goldberg and Dagan, 2015), by power iterations (Halko,
Martinsson and Tropp, 2011): products of vectors are what a rotation leaves as it is, and rows of any basis can be
stored. A row becomes bytes as in storage/kept/vectors.py, 64 for a word.

All factors are rounded to so many bits that each sum is exact. So neither the order of words, features and threads nor
the library for matrices changes a bit; but for the roots of Y' Y, which are those of one machine.
"""

from typing import Any

import numpy as np

from setsearch.arrays import Array, Floats, bincount, offsets, repeat, take
from setsearch.core.threads import give_back, side_by_side
from setsearch.lists import Lists
from setsearch.memory.contexts.neighbors import identities
from setsearch.memory.vectors import Vectors
from setsearch.storage.kept.vectors import LARGEST, LATENT, Bytes

FIELD = "contexts win2"  # that they are of
NAME = "latent vectors"  # of the array: numbers of eight bytes
SIZE = BYTES = 64  # dimensions: the signs of a number; and what a word has of the array
ROUNDS = 4  # the last one gives the vectors
FEWEST = 10  # words, and features
FINEST = 16  # steps of x for each nat
COLUMNS = 16  # that are multiplied together: a cache line of rows that are far apart
DIGITS = 52  # of a sum that is exact
LARGEST_INT32 = (1 << 31) - 1  # up to which places take four bytes
NOTHING = 1e-6  # of the largest of the squares of Y' Y: what is left by rounding


def latent_array(by_feature: Lists) -> Array:
    """The array of the vectors of words, given the lists of words of features."""
    rows = np.zeros((by_feature.n_ids, SIZE))
    if min(len(rows), len(by_feature)) >= FEWEST:
        rows = _vectors(_information(by_feature))
    vectors: Array = _quantized(rows).view("<i8").ravel()
    return vectors


def word_vectors(stored: Array) -> Vectors:
    """The vectors of those words that have one."""
    rows = stored.astype("<i8", copy=False).view(np.int8).reshape(-1, SIZE)
    ids = np.flatnonzero(rows.any(axis=1))
    return Vectors(ids, rows if len(ids) == len(rows) else rows[ids], LATENT)


def _information(by_feature: Lists) -> Any:
    """x', `(n_features, n_words)`, times FINEST."""
    from scipy.sparse import csr_array

    counted, lengths = np.zeros(by_feature.n_ids), by_feature.lengths
    for _, _, words, counts in by_feature.chunks():
        counted += bincount(words, counts, by_feature.n_ids)
    shares = counted / max(int(by_feature.totals.sum()), 1)
    kept, numbers, used = np.empty(by_feature.size), np.empty(by_feature.size, np.int32), 0  # as much as is written
    bounds = np.zeros(len(by_feature) + 1, np.int64)
    for first, last, words, counts in by_feature.chunks():
        values: Any = take(shares, words)
        values *= repeat(by_feature.totals[first:last], lengths[first:last])  # what is expected
        np.log(np.divide(counts, values, out=values), out=values)
        is_some = np.rint(np.multiply(values, FINEST, out=values), out=values) > 0
        ends = offsets(is_some)[offsets(lengths[first:last])] + used
        bounds[first + 1 : last + 1] = ends[1:]
        kept[used : ends[-1]], numbers[used : ends[-1]] = values[is_some], words[is_some]
        used = int(ends[-1])
    bounds = bounds.astype(np.int32 if used <= LARGEST_INT32 else np.int64)  # words get this type, too
    return csr_array((kept[:used], numbers[:used], bounds), (len(by_feature), len(shares)))


def _vectors(turned: Any) -> Floats:
    """The rows of Y, `(n_words, SIZE)`."""
    x, found = turned.T, _signs(turned.shape[1])  # of the same arrays
    most = bincount(turned.indices).max(initial=0), np.diff(turned.indptr).max()
    digits = [DIGITS - _digits(x.max()) - _digits(own) for own in reversed(most)]

    def multiply(first: int) -> Floats:
        """X X' Y for some columns."""
        product: Floats = x @ _rounded(turned @ found[:, first : first + COLUMNS], digits[1])
        return product

    for left in reversed(range(ROUNDS)):
        give_back()
        found = _rounded(found, digits[0])
        product = np.concatenate([*side_by_side(multiply, range(0, SIZE, COLUMNS))], axis=1)
        found = _times_power(product, -1 / 2 if left else -3 / 8)
    return found


def _times_power(rows: Floats, exponent: float) -> Floats:
    """Y (Y' Y)^exponent."""
    coarse = _rounded(rows.copy(), (DIGITS - _digits(len(rows))) // 2)
    squares, axes = np.linalg.eigh(coarse.T @ coarse)
    powers = np.zeros(len(squares))
    is_some = squares > NOTHING * squares[-1]
    powers[is_some] = squares[is_some] ** exponent
    half = (DIGITS - _digits(SIZE)) // 2
    product: Floats = _rounded(rows, half) @ _rounded((axes * powers) @ axes.T, half)
    return product


def _signs(n_words: int) -> Floats:
    """1 or -1 at random, `(n_words, SIZE)`."""
    words = np.arange(n_words)
    numbers = identities([words, words]).view(np.uint64)
    bits = numbers[:, None] >> np.arange(SIZE, dtype=np.uint64) & np.uint64(1)
    return np.where(bits, 1.0, -1.0)


def _digits(number: float) -> int:
    """How many binary digits whole numbers up to this one have."""
    return int(number).bit_length()


def _rounded(values: Floats, digits: int) -> Floats:
    """Values as multiples of a power of two, of so many digits; in their place."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    anchor = 1.5 * 2.0 ** (DIGITS + np.frexp(largest)[1] - digits)  # beside which no smaller digit has room
    values += anchor
    values -= anchor
    return values


def _quantized(rows: Floats) -> Bytes:
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    return np.rint(rows / np.where(largest > 0, largest, 1.0) * LARGEST).astype(np.int8)
