"""Questions by lift, or by a table, in the compiled core: from seeds to the best items, many in one call of core.c."""

import ctypes as c
import math
from array import array
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from itertools import repeat
from operator import ge
from struct import Struct
from typing import Any, NamedTuple, TypeVar

import numpy as np

from setsearch.arrays import Array, Floats, Ints, distinct
from setsearch.core import binding
from setsearch.core.binding import (
    BLOCK,
    LEAST_ROOM,
    NEAR,
    PRIOR,
    Near,
    Part,
    PartStructure,
    address,
    near_numbers,
    part_structures,
    require,
)
from setsearch.core.rule import CoreRule
from setsearch.errors import LostArrays

COPIES, MISSING = -4, -5  # as in core.c
ROOM = 1 << 18  # numbers of answers, beside those of the largest one
MOST_EXAMPLES = LEAST_ROOM
MOST_ROUNDS = 16  # in which items get values that a question misses: three are usual
# What the core gets in their places.
NO_NEAR, NO_PRIOR, NO_DRIFT = (0, 0, 0, 0, 0.0), (0, 0, 0, 0.0, 0.0, 0.0, 0), (0, 0.0, 0.0, 0, 0, 0)

_SIZE, _POINTER = c.c_int64, c.c_void_p
# `part_t`, `field_t`, `asked_t` and `table_t` of core.c.
_PART, _FIELD, _ASKED, _TABLE = (
    Struct("qqPPqPPP"),
    Struct(2 * "qqPPqPPP0q" + "Pdd" + "PddPqP0q"),
    Struct("12d8qPPP" + NEAR.format + PRIOR.format + "PP4q"),
    Struct("PPPPqq"),
)


class _Pruning(c.Structure):
    """`pruning_t` of core.c."""

    _fields_ = (
        *((name, _POINTER) for name in ("sums", "weights", "order", "keys", "bounds", "heap", "near_ids", "near_sums")),
        ("room", _SIZE),
    )


class _Weighed(c.Structure):
    """`weighed_t` of core.c."""

    _fields_ = (
        ("have", _POINTER),
        ("count", _SIZE),
        ("n_always", _SIZE),
        *((name, _POINTER) for name in ("features", "always", "having", "sums", "weights", "starts", "ends")),
    )


class _Memory(c.Structure):
    """`memory_t` of core.c."""

    _fields_ = (
        ("pruning", _Pruning),
        *((name, _POINTER) for name in ("block", "places", "costs", "parts", "examples", "shares")),
        *((name, _POINTER) for name in ("smoothed", "texts")),
        ("least", c.c_double),
        ("constant", c.c_double),
        ("missing", _SIZE),
        ("n_examples", _SIZE),
        ("together", _SIZE),
    )


class Numbers(NamedTuple):
    """The numbers of a question, in the order of `question_t`; its comments say what they are."""

    n_items: float
    given: float
    strength: float
    rarity: float
    budget: float
    feedback: float
    weight: float
    parts: float
    flat: float
    alike: float
    unlike: float
    few: float
    joining: int
    least: int
    own: int
    more: int
    fewest: int
    k: int
    words: int
    deepest: int


class Weighed(NamedTuple):
    """What the examples have of a field, by ascending features, `(n_active,)`: c_j, s_j, and the rounded weights."""

    features: Ints
    having: Floats
    sums: Floats
    weights: Floats


class OpenField(NamedTuple):
    """A field of a question: its lists, the norm of items, 0 while some have no values, and its coefficient.

    `used`: the entries of both directions that have values now, all if it is None. Other threads may add some.
    """

    lists: "FieldLists"
    norm: float
    coefficient: float
    used: tuple[int, int] | None = None


class Table:
    """The weights of a model that depend on how many seeds have a feature, and on its document frequency, alone.

    `weights` and `constants`, `(n_seeds + 1, n_ranks)`, on the lattice: row 0 has the background, row c what c seeds
    add to it. `ranks` of features by document frequency, `(n_features,)`; `others`: the base without the background of
    features of the rank `common` and above. `constant`: the base's.
    """

    def __init__(self, weights: Floats, constants: Floats, ranks: Array, others: Array, common: int) -> None:
        types = [own.dtype for own in (weights, constants, ranks, others)]
        require(types == [float, float, np.int32, np.float32], "a table that the core cannot take")
        at = map(address, (weights, constants, ranks, others))
        packed = np.frombuffer(bytearray(_TABLE.pack(*at, weights.shape[1], common)), np.uint8)
        self._kept = weights, constants, ranks, others, packed
        self.sizes, self.at = (len(weights) - 1, len(ranks), len(others)), address(packed)


class Question(NamedTuple):
    """What is asked of some fields: for seeds, ascending, with their `shares` if these are not all 1.

    `excluded` ascend. `sums`, `(n_items,)`, are filled instead of finding the best items. `weighs`: whether it is of
    interest how the examples were weighed. `once`: whether seeds that are nearly the same count once, so that the core
    may not answer as it is asked. `choosing`: the base where it is chosen which items join, if that is another one.
    `near`: the nearest items, if these smooth the scores of the best items; sums are not smoothed. `prior`: what is
    added to these scores then, the `numbers` of search/base_parts.py, whose deviation is not 0; `of_seeds`: the values
    of the seeds if each is left out, NaN for none. `texts`: for each field the examples that are no items: their
    features, ascending, and values, and how much each counts. `table`: of a model, if it is not lift.
    """

    fields: Sequence[OpenField]
    base: Floats
    numbers: Numbers
    seeds: Sequence[int]
    shares: Floats | None
    excluded: Sequence[int]
    sums: Floats | None = None
    weighs: bool = False
    once: bool = False
    choosing: Floats | None = None
    near: Near | None = None
    prior: tuple[Ints, Floats, float, float, float] | None = None
    of_seeds: Floats | None = None
    texts: Sequence[Part] | None = None
    table: Table | None = None


class Told(NamedTuple):
    """What the core says of the seeds alone, as far as it is sure.

    `left_out`: their scores if each is left out, as those of the best items are, but for their last bits, where they
    may be asked for; `above`: how many others may be above the middle one, if it was asked and last bits do not decide;
    if they are more than few, how many surely are, or some of them. `together`: the seeds surely fall into no groups,
    and those at the places `unheard` are a group that is not heard; `share_much`: they do not share little.
    """

    left_out: Floats | None = None
    above: int | None = None
    together: bool = False
    share_much: bool = False
    unheard: Sequence[int] = ()

    @property
    def of_features(self) -> "Told":
        """What stays so if more is added to scores: those of the seeds by features."""
        return Told(self.left_out)


NOTHING_TOLD = Told()


class Answer(NamedTuple):
    """The best items, their scores, and how the examples were weighed.

    `joined`: the items that joined the seeds, with the weights `shares`.
    Items are in order, but not those of equal scores, and all that equal the k-th are there. `least`: no item has a
    smaller score, but for its base. `constant`: what the seeds add to all items by a table.
    """

    ids: Ints
    scores: Floats
    joined: list[int]
    shares: Floats
    told: Told
    weighed: tuple[Weighed, ...]
    least: float
    constant: float


class Copies(NamedTuple):
    """Instead of an answer: some seeds are nearly the same."""


class Missing(NamedTuple):
    """Instead of an answer: these items need values."""

    ids: Ints


class Drift(NamedTuple):
    """How lists by feature differ from what they are now, if they are older (memory/drift.py).

    A value is x (1 +- share) +- step, but for the items that are `apart`, ascending. `df`, `(n_features,)`: how many
    items each list has now. `rule`: of the values of now. `fill` gives these to items, ascending; `used`: how many
    entries have them.
    """

    df: Ints
    share: float
    step: float
    apart: Ints
    rule: CoreRule
    fill: Callable[[Ints], None]
    used: Callable[[], int]


T = TypeVar("T")
Answered = Answer | Copies | None  # None where numpy must be asked
Asking = Generator[Question, Answered, T]  # what comes of questions, which it yields (search/rounds.py)


class FieldLists:
    """The lists of a field as the core takes them. Threads may share it."""

    def __init__(self, by_feature: Part, by_item: Part, stored: Ints, drift: Drift | None = None) -> None:
        self._kept = by_feature, by_item, stored  # they must live as long as this
        self.drift = drift
        self.n_features = len(stored)
        self._by_feature, self._by_item = _numbers(*by_feature), _numbers(*by_item)
        self._stored = address(stored)

    def packed(self, norm: float, coefficient: float, used: tuple[int, int] | None) -> bytes:
        """A `field_t`."""
        (n, size, *rest), (n_items, size_of_items, *others) = self._by_feature, self._by_item
        if used is not None:
            size, size_of_items = used
        drift: tuple[Any, ...] = NO_DRIFT
        if self.drift is not None:
            df, share, step, apart, rule, _, used_now = self.drift
            size_of_items, drift = used_now(), (address(df), share, step, address(apart), len(apart), rule.at)
        return _FIELD.pack(n, size, *rest, n_items, size_of_items, *others, self._stored, coefficient, norm, *drift)


_idle: deque["_Scratch"] = deque(maxlen=8)  # of threads, and of readings that are asked in turn


class _Scratch:
    """The memory of a call: for so many items, features of each field, and best items."""

    def __init__(self, n_items: int, n_features: Sequence[int], k: int, n_smoothed: int) -> None:
        self.shape = n_items, tuple(n_features), k, n_smoothed
        self._arrays: list[Array] = []
        largest, room = max(n_features) + 1, max(LEAST_ROOM, 2 * k)
        most = ROOM + 2 * room + sum(n_features)
        self.ints, self.reals, self.room = np.empty(most, np.int64), np.empty(most + 2 * sum(n_features)), room
        own = self._new(n_items, np.float32, np.zeros), self._new(largest, make=np.zeros), self._new(largest, np.int64)
        reals, ids = map(self._new, (largest, largest, k)), self._new(room, np.int64)
        pruning = _Pruning(*own, *reals, ids, self._new(room), room)
        examples = self._new(2 * LEAST_ROOM, np.int64), self._new(2 * LEAST_ROOM)
        parts = (PartStructure * len(n_features))()
        self._parts = parts
        places, costs = self._new(sum(n_features) + 1, np.int64), self._new(largest, np.int64)
        lists = self._new(BLOCK), places, costs, c.addressof(parts), *examples, self._new(2 * n_smoothed)
        self.memory = _Memory(pruning, *lists, 0, 0, 0, 0, 0, 0)
        self.limits = np.empty(len(n_features), np.int64)
        self.weighed = (_Weighed * len(n_features))()
        for place, size in enumerate(n_features):
            dtypes = np.int64, np.int64, *3 * (float,), np.int64, np.int64
            of_lists = [self._new(size + 1, dtype) for dtype in dtypes]
            self.weighed[place] = _Weighed(self._new(2 * size, make=np.zeros), 0, 0, *of_lists)
        self.at = c.addressof(self.memory), c.addressof(self.weighed), address(self.limits)
        self.found = address(self.ints), len(self.ints), address(self.reals), len(self.reals), room

    @classmethod
    def take(cls, n_items: int, n_features: Sequence[int], k: int, n_smoothed: int) -> "_Scratch":
        """One that nobody uses, until it is given back: an error in between leaves none that is half-used."""
        for _ in range(len(_idle)):
            with suppress(IndexError):  # another thread may take the last one
                scratch = _idle.pop()
                if scratch._fits(n_items, n_features, k, n_smoothed):
                    return scratch
                _idle.appendleft(scratch)
        return cls(n_items * 5 // 4, [size * 5 // 4 for size in n_features], max(k, 100), n_smoothed * 5 // 4)

    def _fits(self, n_items: int, n_features: Sequence[int], k: int, n_smoothed: int) -> bool:
        own_items, own_features, own_k, own_smoothed = self.shape
        are_enough = len(own_features) >= len(n_features) and all(map(ge, own_features, n_features))
        return are_enough and own_items >= n_items and own_k >= k and own_smoothed >= n_smoothed

    def _new(self, size: int, dtype: Any = np.float64, make: Any = np.empty) -> int:
        self._arrays.append(make(size, dtype))
        return address(self._arrays[-1])


def ask_all(questions: Sequence[Question]) -> list[Answered]:
    """The answers to questions about the same items by the same fields; None where numpy must be asked.

    Other threads of Python go on while the core is at work. Raises LostArrays.
    """
    drift = questions[0].fields[0].lists.drift
    if drift is not None:
        drift.fill(np.array(sorted({seed for own in questions for seed in own.seeds}), np.int64))
    found = _ask_once(questions)
    for _ in range(MOST_ROUNDS):
        missing = [own.ids for own in found if isinstance(own, Missing)]
        if not missing or drift is None:
            break
        drift.fill(distinct(np.concatenate(missing)))
        again = iter(
            _ask_once([own for own, answer in zip(questions, found, strict=True) if isinstance(answer, Missing)])
        )
        found = [next(again) if isinstance(own, Missing) else own for own in found]
    answers = [own for own in found if not isinstance(own, Missing)]
    if len(answers) < len(found):
        raise LostArrays("the lists in memory")
    return answers


def _ask_once(questions: Sequence[Question]) -> list[Answered | Missing]:
    """The same by one call of the core, or a few; Missing where values of items are needed first."""
    first, n, k, n_smoothed = questions[0], len(questions[0].base), 0, 0
    ids, shares, asked = array("q"), array("d"), []
    texts = [None if own.texts is None else part_structures(own.texts) for own in questions]  # they live until the end
    for own, of_texts in zip(questions, texts, strict=True):
        _require_sound(own, n)
        ids.extend(own.seeds)
        ids.extend(own.excluded)
        shares.extend(repeat(1.0, len(own.seeds)) if own.shares is None else own.shares)
        k = max(k, own.numbers.k, own.numbers.joining * own.numbers.deepest)
        n_smoothed = n_smoothed if own.near is None and own.prior is None else n
        asked.append(_packed(own, of_texts))
    fields = b"".join([own.lists.packed(*own[1:]) for own in first.fields])
    n_features = [field.lists.n_features for field in first.fields]
    place = place_of_share = 0
    found: list[Answered | Missing] = []
    while len(found) < len(questions):
        scratch, left = _Scratch.take(n, n_features, k, n_smoothed), len(questions) - len(found)
        at = ids.buffer_info()[0] + 8 * place, shares.buffer_info()[0] + 8 * place_of_share
        of_all = fields, len(n_features), n, b"".join(asked[-left:]), left, *at
        count = binding.library().setsearch_questions(*of_all, *scratch.at, *scratch.found)
        if count <= 0:
            raise LostArrays("the lists in memory")
        answered = questions[len(found) : len(found) + count]
        found += _answers(answered, scratch.ints, scratch.reals)
        _idle.append(scratch)
        if count < left:
            place += sum(len(own.seeds) + len(own.excluded) for own in answered)
            place_of_share += sum(len(own.seeds) for own in answered)
    return found


def _require_sound(own: Question, n: int) -> None:
    """Refuse a question, about so many items, that the core cannot take."""
    for items in (own.base, own.choosing, own.sums):
        if items is not None:
            require(items.shape == (n,) and items.dtype == np.float64, "a base of other items")
            require(items.flags.c_contiguous, "a base that the core cannot take")
    count = len(own.seeds) + own.numbers.joining + (len(own.texts[0][2]) if own.texts else 0)
    require(count <= MOST_EXAMPLES, "too many examples")
    require(own.shares is None or len(own.shares) == len(own.seeds), "a seed without a weight")
    require(own.table is None or _fits(own.table, own), "a table of other items, or seeds")
    require(own.texts is None or len(own.texts) == len(own.fields), "a field without texts")


def now(asking: Asking[T]) -> T:
    """The outcome of one question, which waits for no other."""
    answer: Answered = None
    while True:
        try:
            asked = asking.send(answer)
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        (answer,) = ask_all([asked])


def one_after_another(askings: Iterable[Asking[T]]) -> Asking[list[T]]:
    """The outcomes of several questions, as one question."""
    outcomes = []
    for asking in askings:
        outcomes.append((yield from asking))
    return outcomes


def _fits(table: Table, own: Question) -> bool:
    """Whether the core may take a table for a question."""
    is_plain = own.shares is None and own.texts is None and own.near is None and own.prior is None
    (lists, *_), *more = own.fields
    return is_plain and not more and (len(own.seeds), lists.n_features, len(own.base)) == table.sizes


def _packed(own: Question, texts: Any) -> bytes:
    """An `asked_t`."""
    sums = 0 if own.sums is None else address(own.sums)
    base = address(own.base)
    choosing = base if own.choosing is None else address(own.choosing)
    n_seeds, n_excluded = len(own.seeds), len(own.excluded)
    near = NO_NEAR if own.near is None else near_numbers(own.near, len(own.base))
    prior = NO_PRIOR if own.prior is None else _prior_numbers(*own.prior, own)
    at = 0 if texts is None else c.addressof(texts[1]), 0 if own.table is None else own.table.at
    given = *at, n_seeds, n_excluded, own.once, own.weighs
    return _ASKED.pack(*own.numbers, base, choosing, sums, *near, *prior, *given)


def _prior_numbers(
    ids: Ints, values: Floats, mean: float, spread: float, share: float, own: Question
) -> tuple[Any, ...]:
    """A `prior_t`."""
    n, of_seeds = len(own.base), own.of_seeds
    require(
        of_seeds is None or (of_seeds.dtype == np.float64 and len(of_seeds) == len(own.seeds)), "values of other seeds"
    )
    are_flat = ids.flags.c_contiguous and values.flags.c_contiguous and len(ids) == len(values) <= n
    require(are_flat and ids.dtype == np.int64 and values.dtype == np.float64, "a prior that the core cannot take")
    seeds_at = 0 if of_seeds is None else address(of_seeds)
    return 0 if len(ids) == n else address(ids), address(values), len(ids), mean, spread, share, seeds_at


def _answers(questions: Sequence[Question], ints: Ints, reals: Floats) -> list[Answered | Missing]:
    """What setsearch_questions wrote."""
    at, real = 0, 0
    found: list[Answered | Missing] = []  # an annotation is not evaluated, unlike a call of list[...]
    for own in questions:
        n_fields, n_seeds = len(own.fields), len(own.seeds)
        count, n_joined, above, together, *n_features = ints[at : at + 4 + n_fields].tolist()
        at += 4 + n_fields
        if count < 0:
            missing = Missing(ints[at : at + n_joined].copy()) if count == MISSING else None
            found.append(Copies() if count == COPIES else missing)
            at, real = at + n_joined, real + 2 + n_seeds
            continue
        least, constant, *left_out = reals[real : real + 2 + n_seeds].tolist()
        real += 2 + n_seeds
        ids, scores = ints[at : at + count].copy(), reals[real : real + count].copy()
        at, real = at + count + n_joined, real + count + n_joined
        joined, shares = ints[at - n_joined : at].tolist(), reals[real - n_joined : real].copy()
        weighed: tuple[Weighed, ...] = ()
        if own.weighs:
            weighed, at, real = _weighed(n_features, ints, reals, (at, real))
        is_left_out = n_seeds > 0 and not math.isnan(left_out[0])
        # Above the lowest bit of `together` is one for each seed (are_together of core.c).
        unheard = [place for place in range(n_seeds) if together >> place + 1 & 1] if together > 0 else ()
        is_above = above >= 0 and (count > 0 or own.sums is not None)
        of_scores = np.array(left_out) if is_left_out else None, above if is_above else None
        told = Told(*of_scores, together > 0, together < 0, unheard)
        found.append(Answer(ids, scores, joined, shares, told, weighed, least, constant))
    return found


def _weighed(
    n_features: Sequence[int], ints: Ints, reals: Floats, places: tuple[int, int]
) -> tuple[tuple[Weighed, ...], int, int]:
    """How the examples were weighed, from some places of both rows of numbers on, and where these end."""
    (at, real), weighed = places, []
    for size in n_features:
        weighed.append(Weighed(ints[at : at + size].copy(), *reals[real : real + 3 * size].reshape(3, size).copy()))
        at, real = at + size, real + 3 * size
    return tuple(weighed), at, real


def _numbers(ids: Array, values: Array | None, starts: Ints, ends: Ints) -> tuple[int, ...]:
    """Lists without weights: a `part_t`."""
    sizes = [array.dtype.itemsize for array in (ids, starts, ends)]
    require((values is None or values.dtype == np.float32) and sizes == [4, 8, 8], "lists of other types")
    of_values = (0, 0) if values is None else (address(values), 4)
    return len(starts), len(ids), address(ids), *of_values, address(starts), address(ends), 0
