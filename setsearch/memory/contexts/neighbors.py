"""The nearest words of each word with contexts, for smoothing scores (scoring/smoothing.py); stored beside contexts.

    k(a, b) = sum over fields f of c_f sum over features j of w_aj w_bj
    similarity(a, b) = k(a, b) / sqrt(k(a, a) k(b, b))
    w_aj = (1 + ln tf_aj) ln(n / df_j)    where tf_aj / L_a > 2 cf_j / CF and df_j is at most 2000

c_f is the coefficient of a field; the rest is as in models/values.py. So this is the cosine of tf-idf of what a word
has more of than the collection. Features that more words have tell least, and would cost most: so the time grows with
the number of entries, not with its square. Products are on the lattice (arrays.py), thus exact; similarities are
rounded to multiples of 2^-16, and equal ones are in the order of words.

Of n, CF and df_j only the first bits count (`coarse`), so that a write changes the w of few words. The `marks` of words
tell of which: those of others stay, and of theirs only the similarities to these few are computed again.
"""

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from setsearch.arrays import HASH, VALUE_LATTICE, Array, Ids, Ints, ListValues, distinct, offsets, sum_runs, take
from setsearch.core import binding
from setsearch.core.binding import Rows
from setsearch.core.threads import side_by_side
from setsearch.errors import LostArrays
from setsearch.memory.field import Field
from setsearch.models.values import CountSource, RuleStatistics, ValueRule, norms_of
from setsearch.scoring.best import accumulate, is_core
from setsearch.scoring.postings import PostingArrays, ValuedLists, ValuedPart, WeightedLists
from setsearch.sqlite.spill import let_go
from setsearch.storage.generations import Generation

NEAREST = 10  # that are kept of a word
FEWEST = 2  # words, for one to have a neighbor
MOST_SHARED = 2000  # words that share a feature; features of more do not count
UNIT = 2**16  # of similarities
WORDS_OF_STEP = 512  # that a thread compares at once
NAMES = "nearest words", "similarities"  # of the stored arrays
MARKS = "marks of words"  # likewise; earlier versions have none
RULE = ValueRule("soft-twice-mean", weighted=True, slope=1.0)  # what w_aj / sqrt(k(a, a)) is
BITS_OF_SIZE, BITS_OF_DF = 6, 3  # that count, of n and CF, and of df_j
Mask = npt.NDArray[np.bool_]

LARGEST_SHARE = 1 / 4  # of the words whose marks changed, up to which the others keep theirs


class _Part(NamedTuple):
    """A field: its statistics, the words of each feature, and what identifies each."""

    field: Field
    statistics: RuleStatistics
    by_feature: ValuedLists
    identities: Ints

    def having(self, words: Ints) -> ListValues:
        """What some words (ascending) have."""
        return self.field.value(self.statistics, forward=True).of(self.field.lists(True), words)

    def fill(self, features: Ids) -> None:
        """Give the lists of some features their values, as far as they have none."""
        missing = self.by_feature.without(distinct(features))
        if len(missing):
            self.by_feature.fill(missing, self.field.value(self.statistics, forward=False))


class Earlier(NamedTuple):
    """The neighbors that a generation has: its words, sorted, and its arrays.

    With these contexts of 126,000 texts are derived in 8.8 s after a write of one, without in 12.2 s.
    """

    words: Sequence[str]
    ids: Ints
    similarities: Ints
    marks: Ints


def check_nearest(size: int, ids: Array, similarities: Array) -> None:
    """Raise LostArrays for arrays that cannot be those of so many words."""
    is_sound = len(ids) == len(similarities) == size * NEAREST and ids.dtype.kind == similarities.dtype.kind == "i"
    is_sound = is_sound and ids.min(initial=0) >= 0 and ids.max(initial=0) < max(size, 1)
    if not is_sound or similarities.min(initial=0) < 0 or similarities.max(initial=0) > UNIT:
        raise LostArrays("the stored neighbors of words")


def read_earlier(generation: Generation) -> Earlier | None:
    """The neighbors that a generation has; None if an earlier version derived them, or they are lost."""
    try:
        words = generation.json("items")
        ids, similarities, marks = (generation.array(name) for name in (*NAMES, MARKS))
        if sorted({*words}) != words or len(marks) != len(words):
            return None
        check_nearest(len(words), ids, similarities)
    except (LostArrays, TypeError):
        return None
    return Earlier(words, ids.reshape(-1, NEAREST), similarities.reshape(-1, NEAREST), marks)


def coarse(numbers: Ints, bits: int) -> Ints:
    """Numbers, none negative and below 2^53, with only their first bits, the others 0."""
    shifts = np.maximum(np.frexp(numbers.astype(float))[1] - bits, 0)
    return cast(Ints, numbers >> shifts << shifts)


def nearest_words(
    fields: Sequence[tuple[Field, float, Ints]],
    words: Sequence[str],
    earlier: Earlier | None,
    tell: Callable[[float], None],
) -> dict[str, Array]:
    """The arrays of the NEAREST most similar words of each word, the most similar first, and of the marks.

    `fields` are fields in memory, their coefficients, and what identifies each feature, whatever its id. Where fewer
    words are similar at all, zeros follow. What `earlier` has is used where it is still true. `tell` gets the share
    that is done.
    """
    n_words = len(words)
    rows = np.zeros((n_words, NEAREST), np.int64), np.zeros((n_words, NEAREST), np.int64)
    marks = np.zeros(n_words, np.int64)
    if n_words >= FEWEST:
        parts, missing = _parts(fields, n_words), np.arange(n_words)
        if earlier is not None:
            marks = np.concatenate([_marks(parts, [part.having(own) for part in parts]) for own in _steps(missing)])
            missing = _carried(earlier, words, marks, parts, rows)

        once = len(missing) == n_words and is_core()  # numpy would put few words into many rows slowly
        filled = _fill_all(missing, parts, np.ones(n_words, bool) if once else None, rows)
        for number, (step, own) in enumerate(filled, 1):
            marks[step] = own
            tell(min(number * WORDS_OF_STEP / len(missing), 1.0))
    return {NAMES[0]: rows[0].reshape(-1), NAMES[1]: rows[1].reshape(-1), MARKS: marks}


def _steps(words: Ints) -> list[Ints]:
    return [words[first : first + WORDS_OF_STEP] for first in range(0, len(words), WORDS_OF_STEP)]


def _parts(fields: Sequence[tuple[Field, float, Ints]], n_words: int) -> list[_Part]:
    """The fields with values w_aj / sqrt(k(a, a)): the squares of a word in all of them sum up to 1."""
    size = int(coarse(np.array([n_words]), BITS_OF_SIZE)[0])
    products, statistics = np.zeros(n_words), list[RuleStatistics]()
    for field, coefficient, _ in fields:
        by_word, by_feature = field.lists(True), field.lists(False)
        total = max(int(coarse(np.array([by_feature.totals.sum()]), BITS_OF_SIZE)[0]), 1)
        df = by_feature.lengths
        factor = np.log(size / np.clip(coarse(df, BITS_OF_DF), 1, size)) * (df <= MOST_SHARED)
        own = RuleStatistics(RULE, by_word.totals, 2 * by_feature.totals / total, factor)
        norms = norms_of(own, CountSource(n_words, by_word, by_feature), max(math.log(size), 1.0))
        let_go()
        products += coefficient * norms**2
        statistics.append(own)
    parts = []
    for (field, coefficient, identities), own in zip(fields, statistics, strict=True):
        scale = np.sqrt(np.divide(coefficient, products, out=np.zeros(n_words), where=products > 0))
        lists = ValuedLists.empty(field.lists(False), True, RULE.largest)
        parts.append(_Part(field, replace(own, scale=scale), lists, identities))
    return parts


def _marks(parts: Sequence[_Part], found: Sequence[ListValues]) -> Ints:
    """A number for each of some words, of which these are the features: another one if the value of any changes."""
    marks = np.zeros(len(found[0].lengths), np.int64)
    for part, (features, values, lengths, _) in zip(parts, found, strict=True):
        filled = np.flatnonzero(lengths)
        if len(filled):
            terms = take(part.identities, features) * (values * VALUE_LATTICE).astype(np.int64)
            marks[filled] += sum_runs(terms, offsets(lengths)[filled])
    return marks


def _carried(earlier: Earlier, words: Sequence[str], marks: Ints, parts: Sequence[_Part], rows: Rows) -> Ints:
    """Fill the rows that can be told from earlier ones, and those of the words that changed; return the other words.

    What was not among the nearest of a word that stays is behind the last of these, unless it changed: so a row is
    complete if its new last one is not behind the old one.
    """
    (ids, similarities), places = rows, dict(zip(words, range(len(words)), strict=True))
    new = np.array([places.get(word, -1) for word in earlier.words], np.int64)  # the ids of the earlier words
    stays = new >= 0
    stays[stays] = earlier.marks[stays] == marks[new[stays]]
    same = np.zeros(len(words), bool)
    same[new[stays]] = True
    if np.count_nonzero(~same) > LARGEST_SHARE * len(words):
        return np.arange(len(words))
    order = 2 * new  # words that are gone stand between others
    gone = np.flatnonzero(new < 0)
    order[gone] = [2 * bisect_left(words, earlier.words[id]) - 1 for id in gone.tolist()]
    old_ids, old = earlier.ids[stays], earlier.similarities[stays]
    is_known = old > 0
    is_kept = is_known & stays[old_ids]
    to_front = np.argsort(~is_kept, axis=1, kind="stable")
    own = new[stays]
    ids[own] = np.take_along_axis(np.where(is_kept, new[old_ids], 0), to_front, 1)
    similarities[own] = np.take_along_axis(np.where(is_kept, old, 0), to_front, 1)
    for _ in _fill_all(np.flatnonzero(~same), parts, same, rows):
        pass
    last, last_old = similarities[own, -1], old[:, -1]
    is_behind = (last < last_old) | ((last == last_old) & (2 * ids[own, -1] > order[old_ids[:, -1]]))
    incomplete = np.sort(own[is_known[:, -1] & (is_kept != is_known).any(axis=1) & is_behind])
    ids[incomplete] = similarities[incomplete] = 0
    return incomplete


def _fill_all(words: Ints, parts: Sequence[_Part], kept: Mask | None, rows: Rows) -> Iterator[tuple[Ints, Ints]]:
    """Fill the rows of some words as `_fill` does, in steps: yields the words of each, and their marks.

    Each thread has rows of its own, and starts of lists that go on. At the end the rows get the nearest of all: which
    thread compared two words does not matter, since a row has the same words in whichever order they come.
    """
    once, own, every = kept is not None and bool(kept.all()), threading.local(), list[Rows]()
    for part in parts if once else ():
        part.by_feature.give_all(part.field.value(part.statistics, forward=False))
        let_go()

    def fill(step: Ints) -> Ints:
        if not hasattr(own, "rows"):
            own.rows, own.lists = (np.zeros_like(rows[0]), np.zeros_like(rows[1])), []
            for part in parts:
                ids, values, starts, ends = part.by_feature.part
                own.lists.append((ids, values, starts.copy() if once else starts, ends))
            every.append(own.rows)
        found = [part.having(step) for part in parts]
        for part, row in zip(parts, found, strict=True) if not once else ():
            part.fill(row.ids)
        _fill(step, own.lists, found, kept, own.rows)
        return _marks(parts, found)

    steps = _steps(words)
    yield from zip(steps, side_by_side(fill, steps), strict=True)
    ids, similarities = (np.concatenate([*both], axis=1) for both in zip(rows, *every, strict=True))
    order = np.lexsort((ids, -similarities), axis=1)[:, :NEAREST]
    for row, found in zip(rows, (ids, similarities), strict=True):
        row[:] = np.take_along_axis(found, order, 1)


def _fill(
    words: Ints,
    parts: Sequence[ValuedPart],
    having: Sequence[ListValues],
    kept: Mask | None,
    rows: Rows,
) -> None:
    """Put the most similar words of some words into their rows, and these words into the rows of those to be kept.

    `having`: what these words have of each of the `parts`, which are the words of features. If all are to be kept, the
    core compares each with the words behind it alone, and the starts of lists go on behind it.
    """
    if is_core():
        binding.nearest(words, parts, having, kept, UNIT, rows)
        return
    ends = [offsets(own.lengths).tolist() for own in having]
    for place, word in enumerate(words.tolist()):
        scores, spans = np.zeros(len(rows[0])), [slice(*own[place : place + 2]) for own in ends]
        accumulate(scores, *map(_of_word, parts, having, spans))
        scores[word] = 0.0
        similarities = np.rint(np.minimum(scores, 1.0) * UNIT).astype(np.int64)
        near = np.flatnonzero(similarities)
        _put(rows, word, near, similarities[near])
        for other in near[kept[near]].tolist() if kept is not None else ():
            _put(rows, other, np.array([word]), similarities[[other]])


def _put(rows: Rows, word: int, ids: Ints, similarities: Ints) -> None:
    """Put words into the row of one, as far as they are nearer than what is there."""
    known = np.flatnonzero(rows[1][word])
    ids, similarities = np.append(rows[0][word, known], ids), np.append(rows[1][word, known], similarities)
    order = np.lexsort((ids, -similarities))[:NEAREST]
    rows[0][word, : len(order)], rows[1][word, : len(order)] = ids[order], similarities[order]


def _of_word(part: ValuedPart, having: ListValues, span: slice) -> WeightedLists:
    (ids, values, starts, ends), features = part, having.ids[span]
    postings = PostingArrays(ids, starts[features], ends[features], values)
    return WeightedLists(postings, having.values[span].astype(np.float64))


def identities(numbers: Iterable[Ints]) -> Ints:
    """A number for each feature, given those of what it consists of, `(n_features,)` each: equal if all are equal."""
    found: Any = np.uint64(1)
    for own in numbers:
        found = (found ^ own.astype(np.int64).view(np.uint64)) * HASH
        found = found ^ found >> np.uint64(29)
    return cast(Ints, found.view(np.int64))
