"""Vectors as one more field: how much items are like the seeds in meaning.

    score_i = lift_i + w sd(lift) z_i     z_i = (c_i - mean(c)) / sd(c)     c_i = x_i d

x_i is the stored vector of an item at unit length, minus the mean of all, at unit length again. The centroid is the
mean of the seeds' vectors by their weights, and d is this mean, so that c_i is a cosine but for a factor. Of vectors by
an encoder d is the centroid times the inverse of S + 20 tr(S) / size, where S is the covariance of the stored vectors,
of some 4,000 of them if there are more. So what most items vary in counts less: c_i is the logarithm of p(x_i | D) /
p(x_i) if x is normal around the seeds, and around all items, with this same covariance (Fisher's linear discriminant,
with shrinkage). Means and standard deviations (sd) of c are over the items with vectors; an item without one has z = 0.
All vectors are compared: the field is exact, whatever lists a query reads.

Words with contexts have latent vectors (memory/contexts/latent_words.py). What one of the seeds has if it is left out
of the set is c_i with the centroid of the others, at the length of that of all.

Products are sums of integers small enough to be exact, so that neither the order of items nor the library for matrices
changes a bit. For that the mean is rounded to multiples of 2^-30, and the centroid c to those of a power of two: the
least with which sum |c_k| is below 2^15 of them.
"""

import math
from functools import partial

import numpy as np

from setsearch.arrays import Floats, places_among
from setsearch.memory.fields import Fields
from setsearch.memory.vectors import LEAST, STEPS, Vectors
from setsearch.search.base_parts import Prior
from setsearch.search.examples import Examples
from setsearch.storage.kept.vectors import LATENT

NAME = "like in meaning"
LEAST_ALIKE = 2.0  # deviations from chance of the mean cosine of examples
NOISE = 8  # steps of a row and of the mean that rounding may amount to, at unit length


def centroid_of(vectors: Vectors, examples: Examples) -> Floats | None:
    """The weighted sum of the examples' vectors, `(size,)`; None if none has one, or if they cancel."""
    shares, ids = examples.weight(), np.array(examples.ids, np.int64)
    places, known = places_among(vectors.ids, ids)
    parts = [(shares[: len(ids)][known], vectors.units(places[known]))]
    texts = vectors.encoded(examples.like)
    if texts is not None:
        parts.append((shares[len(ids) : len(ids) + len(texts)], texts))
    total = sum(np.rint(rows * share[:, None] * STEPS).sum(axis=0) for share, rows in parts)
    rounding = NOISE * sum(len(rows) for _, rows in parts)
    return total / STEPS if (np.abs(total) > rounding).any() else None


def in_meaning(fields: Fields, vectors: Vectors, examples: Examples, every: Examples, share: float) -> Prior | None:
    """The field of vectors as a part of the base, if one of the examples has a vector.

    Items that joined the examples (search/passes.py), which are in `every`, are part of the centroid.
    """
    centroid = centroid_of(vectors, every)
    if centroid is None:
        return None
    cosines, mean, spread = vectors.cosines(vectors.direction(centroid))
    of_seeds = None
    if fields.contexts_revision is not None and vectors.source == LATENT:
        of_seeds = partial(_left_out, vectors, examples, every, centroid)
    return Prior(NAME, vectors.ids, cosines, mean, spread, share, of_seeds) if spread else None


def _left_out(vectors: Vectors, examples: Examples, every: Examples, centroid: Floats) -> Floats:
    """c_i of the examples, by id, with the centroid of the others at the length of that of all; NaN for none."""
    ids = np.array(sorted(examples.ids), np.int64)
    shares = dict(zip(every.ids, every.weight().tolist(), strict=False))
    places, known = places_among(vectors.ids, ids)
    rows = vectors.units(np.where(known, places, 0))
    others = centroid - rows * np.array([shares[id] for id in ids.tolist()])[:, None]
    lengths = np.sqrt((others * others).sum(axis=1))
    cosines = (rows * others).sum(axis=1) * math.sqrt(float((centroid * centroid).sum()))
    left_out: Floats = np.divide(cosines, lengths, out=np.full(len(ids), np.nan), where=known & (lengths > LEAST))
    return left_out


def are_alike(vectors: Vectors, examples: Examples, least: float = LEAST_ALIKE) -> bool | None:
    """Whether the vectors of examples are more alike than those of items drawn at random; None for fewer than two.

    The mean of the cosines of n (n - 1) / 2 random pairs has the deviation of one over the root of their number; it is
    that of the cosines of all items with the centroid. More alike: by `least` such deviations.
    """
    places, known = places_among(vectors.ids, np.array(examples.ids, np.int64))
    places = np.sort(places[known & (examples.weight()[: len(known)] > 0)])  # sums are the same in any order of seeds
    rows = vectors.units(places)
    centroid, n = rows.sum(axis=0), len(rows)
    if n < 2:
        return None
    length, n_pairs = float(np.sqrt(centroid @ centroid)), n * (n - 1) / 2
    mean = (length**2 - float((rows * rows).sum())) / 2 / n_pairs
    return bool(length > 0 and mean > least * vectors.cosines(centroid)[2] / length / math.sqrt(n_pairs))
