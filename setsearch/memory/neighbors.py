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

from setsearch.arrays import (
    Array,
    Floats,
    Ints,
    bincount,
    offsets,
    run_lengths,
    run_starts,
    sum_runs,
    to_lattice,
)
from setsearch.core import binding
from setsearch.core.threads import side_by_side
from setsearch.errors import LostArrays
from setsearch.memory.field import Field
from setsearch.models.values import ValueRule
from setsearch.scoring.best import accumulate, candidates, is_core, lists_of
from setsearch.scoring.postings import PostingArrays, WeightedLists
from setsearch.scoring.smoothing import Neighbors, neighbors_of

NEAREST = 10
FEWEST = 2  # words, for one to have a neighbor
MOST_SHARED = 2000  # words that share a feature; features of more do not count
UNIT = 2**16  # of similarities
WORDS_OF_STEP = 512
NAMES = "nearest words", "similarities"  # of the stored arrays


class _Part(NamedTuple):
    """A field: `postings` are the words of each feature, as far as they count, `factors` c_f ln(n / df_j)^(3/2)."""

    field: Field
    postings: PostingArrays
    factors: Floats


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
    fields: Sequence[tuple[Field, float]], rule: ValueRule, n_words: int, tell: Callable[[float], None]
) -> dict[str, Array]:
    """The arrays of the NEAREST most similar words of each word, the most similar first: ids and similarities.

    `fields` are fields in memory with their coefficients. Where fewer words are similar at all, zeros follow.
    `tell` gets the share that is done.
    """
    ids, similarities = np.zeros((2, n_words, NEAREST), np.int64)
    found: dict[str, Array] = dict(zip(NAMES, (ids.reshape(-1), similarities.reshape(-1)), strict=True))  # views
    if n_words < FEWEST:
        return found
    squares = np.zeros(n_words)
    parts = [_part(field, coefficient, rule, squares) for field, coefficient in fields]
    inverse = np.divide(1.0, np.sqrt(squares), out=np.zeros(n_words), where=squares > 0)

    def fill(first: int) -> None:
        """The neighbors of some words."""
        own = slice(first, min(first + WORDS_OF_STEP, n_words))
        lists = [_weighted(part, rule, np.arange(n_words)[own]) for part in parts]
        _fill(first, lists, inverse, (ids[own], similarities[own]))

    steps = range(0, n_words, WORDS_OF_STEP)
    for number, _ in enumerate(side_by_side(fill, steps), 1):
        tell(number / len(steps))
    return found


def _part(field: Field, coefficient: float, rule: ValueRule, squares: Floats) -> _Part:
    """A field; its part of k(a, a) is added to the `squares` of each word. Few of its entries are read at a time."""
    n_words, statistics = len(squares), field.statistics(rule)
    factors, lengths = np.zeros(len(field.lists(False))), np.zeros(len(field.lists(False)), np.int64)
    kept = [(np.zeros(0, np.int32), np.zeros(0, np.float32))]
    for entries in field.lists(False).sweep():
        found, values = statistics.values_of(entries)
        starts = run_starts(found.lists)
        features, df = found.lists[starts], run_lengths(starts, len(found.lists))
        factors[features] = np.log(n_words / df) ** 1.5 * coefficient * ((df > 1) & (df <= MOST_SHARED))
        weights = _weights(values, factors[found.lists])
        squares += bincount(found.ids, weights * values, n_words)
        counted = weights > 0
        lengths[features] = sum_runs(counted.astype(np.int64), starts) if len(starts) else 0
        kept.append((found.ids[counted].astype(np.int32), values[counted].astype(np.float32)))
    ends = offsets(lengths)
    ids, values32 = (np.concatenate(column) for column in zip(*kept, strict=True))
    return _Part(field, PostingArrays(ids, ends[:-1], ends[1:], values32), factors)


def _weighted(part: _Part, rule: ValueRule, words: Ints) -> tuple[WeightedLists, Ints]:
    """The lists of the features of some words, one word's behind the other's, with weights; how many each word has."""
    field, postings, factors = part
    found, values = field.statistics(rule).values_of(field.lists(True).take(words), by_item=True)
    weights = _weights(values, factors[found.ids])
    counted = weights > 0
    features = found.ids[counted]
    lists = postings._replace(starts=postings.starts[features], ends=postings.ends[features])
    return WeightedLists(lists, weights[counted]), bincount(found.lists[counted] - words[0], minlength=len(words))


def _weights(values: Floats, factors: Floats) -> Floats:
    return to_lattice(values * factors, binary=False)


def _fill(first: int, parts: Sequence[tuple[WeightedLists, Ints]], inverse: Floats, found: tuple[Ints, Ints]) -> None:
    """Put the most similar words of some words, from `first` on, into rows of ids and similarities."""
    if is_core():
        lengths = np.stack([own for _, own in parts])
        binding.nearest(first, lists_of([lists for lists, _ in parts]), lengths, inverse, UNIT, found)
        return
    ends = [offsets(lengths).tolist() for _, lengths in parts]
    for word, (ids, similarities) in enumerate(zip(*found, strict=True)):
        scores = np.zeros(len(inverse))
        accumulate(
            scores, *(_of_word(lists, own[word : word + 2]) for (lists, _), own in zip(parts, ends, strict=True))
        )
        scores *= inverse
        scores[first + word] = 0.0
        near = candidates(scores, min(NEAREST, len(scores)))
        near = near[scores[near] > 0]
        near = near[np.lexsort((near, -scores[near]))][:NEAREST]
        ids[: len(near)] = near
        similarities[: len(near)] = np.rint(np.minimum(scores[near] * inverse[first + word], 1.0) * UNIT)


def _of_word(lists: WeightedLists, span: Sequence[int]) -> WeightedLists:
    own, (postings, weights) = slice(*span), lists
    return WeightedLists(postings._replace(starts=postings.starts[own], ends=postings.ends[own]), weights[own])
