"""The nearest words of each word with contexts, for smoothing scores (scoring/smoothing.py); stored beside contexts.

    k(a, b) = sum over fields f of c_f sum over features j of x_aj x_bj ln(n / df_j)^(3/2)    df_j at most 2000
    similarity(a, b) = k(a, b) / sqrt(k(a, a) k(b, b))

c_f is the coefficient of a field, x_aj the value by the model lift, which has ln(n / df_j)^(1/4): together these are
the squares of idf that a cosine of tf-idf has. Features that more words have tell least, and would cost most: so the
time grows with the number of entries, not with its square. Products are on the lattice (arrays.py), thus exact;
similarities are rounded to multiples of 2^-16.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Array, Floats, Floats32, Ids, Ints, bincount, to_lattice
from setsearch.core.threads import side_by_side
from setsearch.errors import LostArrays
from setsearch.memory.field import Field
from setsearch.models.values import ValueRule
from setsearch.scoring.kernels import accumulate
from setsearch.scoring.postings import PostingArrays, WeightedLists
from setsearch.scoring.selection import candidates
from setsearch.scoring.smoothing import Neighbors, neighbors_of

NEAREST = 10
FEWEST = 2  # words, for one to have a neighbor
MOST_SHARED = 2000  # words that share a feature; features of more do not count
UNIT = 2**16  # of similarities
WORDS_OF_STEP = 512
NAMES = "nearest words", "similarities"  # of the stored arrays


class _Entries(NamedTuple):
    """The entries of all fields, side by side, that count: twice, by word and by feature.

    Word i has `features[starts[i] : starts[i + 1]]`, with `values` x_ij likewise; `postings` are the same by feature.
    `factors` `(n_features,)` are c_f ln(n / df_j)^(3/2), `roots` `(n_words,)` are sqrt(k(a, a)).
    """

    features: Ids
    values: Floats32
    starts: Ids
    postings: PostingArrays
    factors: Floats
    roots: Floats


class NearestWords:
    """The neighbors of the words of a generation, read when they are first needed."""

    def __init__(self, size: int, load: Callable[[sqlite3.Cursor, str], Any], generation: int | None) -> None:
        self._size, self._load, self._generation = size, load, generation
        self._neighbors: Neighbors | None = None

    def of(self, cursor: sqlite3.Cursor) -> Neighbors:
        """The neighbors. Raises LostArrays."""
        if self._neighbors is None:
            self._neighbors = self._checked(*(self._load(cursor, name) for name in NAMES))
        return self._neighbors

    def _checked(self, ids: Ints, similarities: Ints) -> Neighbors:
        is_sound = len(ids) == len(similarities) == self._size * NEAREST
        is_sound = is_sound and ids.min(initial=0) >= 0 and ids.max(initial=0) < max(self._size, 1)
        if not is_sound or similarities.min(initial=0) < 0 or similarities.max(initial=0) > UNIT:
            raise LostArrays("the stored neighbors of words", self._generation)
        return neighbors_of(ids.reshape(-1, NEAREST), similarities.reshape(-1, NEAREST))


def nearest_words(
    fields: Sequence[tuple[Field, float]], rule: ValueRule, n_words: int, renew: Callable[[], None]
) -> dict[str, Array]:
    """The arrays of the NEAREST most similar words of each word, the most similar first: ids and similarities.

    `fields` are fields in memory with their coefficients. Where fewer words are similar at all, zeros follow.
    """
    ids, similarities = np.zeros((n_words, NEAREST), np.int64), np.zeros((n_words, NEAREST), np.int64)
    found: dict[str, Array] = dict(zip(NAMES, (ids.reshape(-1), similarities.reshape(-1)), strict=True))  # views
    if n_words < FEWEST:
        return found
    entries = _entries(fields, rule, n_words)
    inverse = np.divide(1.0, entries.roots, out=np.zeros(n_words), where=entries.roots > 0)

    def fill(first: int) -> None:
        """The neighbors of some words."""
        scores = np.empty(n_words)
        for word in range(first, min(first + WORDS_OF_STEP, n_words)):
            nearest, similar = _nearest(entries, inverse, word, scores)
            ids[word, : len(nearest)], similarities[word, : len(nearest)] = nearest, similar

    for _ in side_by_side(fill, range(0, n_words, WORDS_OF_STEP)):
        renew()
    return found


def _entries(fields: Sequence[tuple[Field, float]], rule: ValueRule, n_words: int) -> _Entries:
    from scipy.sparse import coo_array

    parts, factors, squares, before = list[tuple[Ids, Ids, Floats32]](), list[Floats](), np.zeros(n_words), 0
    for field, coefficient in fields:
        found, values = field.statistics(rule).values_of(field.lists(True).entries(), by_item=True)
        df = bincount(found.ids, minlength=len(field.lists(False)))
        rare = (df > 1) & (df <= MOST_SHARED)
        factors.append(np.log(n_words / np.maximum(df, 1)) ** 1.5 * coefficient * rare)
        weights = _weights(values, factors[-1][found.ids])
        counted = weights > 0
        squares += bincount(found.lists, weights * values, n_words)
        words, features = found.lists[counted].astype(np.int32), (found.ids[counted] + before).astype(np.int32)
        parts.append((words, features, values[counted].astype(np.float32)))
        before += len(df)
    words, features, values32 = (np.concatenate(column) for column in zip(*parts, strict=True))
    parts.clear()
    by_word = coo_array((values32, (words, features)), (n_words, max(before, 1))).tocsr()
    by_feature = by_word.tocsc()
    ends = by_feature.indptr.astype(np.int64)
    postings = PostingArrays(by_feature.indices.astype(np.int32, copy=False), ends[:-1], ends[1:], by_feature.data)
    every = np.concatenate(factors), np.sqrt(squares)
    return _Entries(by_word.indices, by_word.data, by_word.indptr, postings, *every)


def _weights(values: Floats, factors: Floats) -> Floats:
    return to_lattice(values * factors, binary=False)


def _nearest(entries: _Entries, inverse: Floats, word: int, scores: Floats) -> tuple[Ints, Ints]:
    """The most similar words and their similarities; `scores` is memory for `(n_words,)`."""
    own = slice(*entries.starts[word : word + 2].tolist())
    features, postings = entries.features[own], entries.postings
    scores[:] = 0.0
    lists = postings._replace(starts=postings.starts[features], ends=postings.ends[features])
    weights = _weights(entries.values[own].astype(float), entries.factors[features])
    accumulate(scores, WeightedLists(lists, weights))
    scores *= inverse
    scores[word] = 0.0
    ids = candidates(scores, min(NEAREST, len(scores)))
    ids = ids[scores[ids] > 0]
    ids = ids[np.lexsort((ids, -scores[ids]))][:NEAREST]
    return ids, np.rint(np.minimum(scores[ids] * inverse[word], 1.0) * UNIT).astype(np.int64)
