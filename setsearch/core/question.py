"""A question by lift in the compiled core: from seeds to weights and the best items, in one call of core.c."""

import ctypes as c
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Array, Floats, Ints
from setsearch.core import binding
from setsearch.core.binding import BLOCK, LEAST_ROOM, Part, PartStructure, address, require
from setsearch.errors import LostArrays

UNSURE = -3

_SIZE, _POINTER, _REAL = c.c_int64, c.c_void_p, c.c_double
_threads = threading.local()


class _Field(c.Structure):
    """`field_t` of core.c."""

    _fields_ = (
        ("by_feature", PartStructure),
        ("by_item", PartStructure),
        ("stored", _POINTER),
        ("coefficient", _REAL),
        ("norm", _REAL),
    )


class _Question(c.Structure):
    """`question_t` of core.c."""

    _fields_ = (
        *(
            (name, _REAL)
            for name in (
                "n_items",
                "given",
                "strength",
                "rarity",
                "budget",
                "feedback",
                "weight",
                "alike",
                "unlike",
                "few",
            )
        ),
        *((name, _SIZE) for name in ("joining", "least", "own", "more", "fewest", "k", "words", "deepest")),
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


class Answer(NamedTuple):
    """The best items, their scores, and how the examples were weighed; `joined`: the items that joined the seeds.

    Items are in order, but not those of equal scores, and all that equal the k-th are there. `left_out`: the scores of
    the seeds if each is left out, but for their last bits; `above`: how many others are above the middle one, if it was
    asked and all the best ones are; if they are more than few, perhaps not all of them. `together`: the seeds
    surely fall into no groups.
    """

    ids: Ints
    scores: Floats
    joined: Ints
    left_out: Floats
    above: int | None
    weighed: tuple[Weighed, ...]
    together: bool = False


class FieldLists:
    """The lists of a field as the core takes them. Threads may share it."""

    def __init__(self, by_feature: Part, by_item: Part, stored: Ints) -> None:
        self._kept = by_feature, by_item, stored  # they must live as long as this
        self.n_features = len(stored)
        self.by_feature, self.by_item, self.stored = _structure(*by_feature), _structure(*by_item), address(stored)


class _Scratch:
    """The memory of a thread: for so many items, features of each field, and best items."""

    def __init__(self, n_items: int, n_features: Sequence[int], k: int) -> None:
        self.shape = n_items, tuple(n_features), k
        self._arrays: list[Array] = []
        largest, room = max(n_features) + 1, max(LEAST_ROOM, 2 * k)
        self.ids, self.scores, self.room = np.empty(room, np.int64), np.empty(room), room
        own = [
            self._zeros(n_items, np.float32),
            self._zeros(largest),
            self._empty(largest, np.int64),
            self._empty(largest),
            self._empty(largest),
            self._empty(k),
            self._empty(room, np.int64),
            self._empty(room),
        ]
        pruning = _Pruning(*own, room)
        self.examples, self.shares = np.empty(2 * LEAST_ROOM, np.int64), np.empty(2 * LEAST_ROOM)
        parts = (PartStructure * len(n_features))()
        self._parts = parts
        places, costs = self._empty(sum(n_features) + 1, np.int64), self._empty(largest, np.int64)
        lists = self._empty(BLOCK), places, costs, c.addressof(parts), address(self.examples), address(self.shares)
        self.memory = _Memory(pruning, *lists, 0, 0)
        self.limits = np.empty(len(n_features), np.int64)
        self.weighed = (_Weighed * len(n_features))()
        self.of_fields: list[tuple[Ints, Floats, Floats, Floats]] = []
        for place, size in enumerate(n_features):
            features, having, sums, weights = np.empty(size, np.int64), *(np.empty(size) for _ in range(3))
            self.of_fields.append((features, having, sums, weights))
            found = (features, np.empty(size, np.int64), having, sums, weights, *np.empty((2, size), np.int64))
            self._arrays += found
            self.weighed[place] = _Weighed(self._zeros(2 * size), 0, 0, *map(address, found))
        self.at = c.addressof(self.memory), c.addressof(self.weighed), address(self.limits)
        self.found = address(self.ids), address(self.scores), room

    @classmethod
    def take(cls, n_items: int, n_features: Sequence[int], k: int) -> "_Scratch":
        """That of this thread, until it is given back: an error in between leaves none that is half-used."""
        scratch: _Scratch | None = getattr(_threads, "scratch", None)
        _threads.scratch = None
        if scratch is not None:
            own_items, own_features, own_k = scratch.shape
            pairs = zip(own_features, n_features, strict=False)
            fits = len(own_features) >= len(n_features) and all(own >= wanted for own, wanted in pairs)
            if fits and own_items >= n_items and own_k >= k:
                return scratch
        return cls(n_items * 5 // 4, [size * 5 // 4 for size in n_features], max(k, 100))

    def _zeros(self, size: int, dtype: Any = np.float64) -> int:
        self._arrays.append(np.zeros(size, dtype))
        return address(self._arrays[-1])

    def _empty(self, size: int, dtype: Any = np.float64) -> int:
        self._arrays.append(np.empty(size, dtype))
        return address(self._arrays[-1])


def ask(
    fields: Sequence[OpenField],
    base: Floats,
    numbers: Numbers,
    examples: tuple[Ints, Floats | None],
    excluded: Ints,
    all_sums: Floats | None = None,
    weighs: bool = False,
) -> Answer | None:
    """The answer to a question; None where numpy must be asked (core.c: setsearch_question). Raises LostArrays.

    `examples`: seeds, ascending, and their weights if these are not 1. `excluded` ascends. `all_sums`, `(n_items,)`,
    are filled instead of finding the best items. `weighs`: whether it is of interest how the examples were weighed.
    """
    ids, shares = examples
    arrays = base.dtype == np.float64 and base.flags.c_contiguous and excluded.dtype == np.int64
    require(arrays and (all_sums is None or len(all_sums) == len(base)), "arrays that the core cannot take")
    if len(ids) + numbers.joining > LEAST_ROOM:
        return None
    k = max(numbers.k, numbers.joining * numbers.deepest)
    scratch = _Scratch.take(len(base), [field.lists.n_features for field in fields], k)
    structures = (_Field * len(fields))()
    for place, (lists, norm, coefficient, used) in enumerate(fields):
        own = structures[place]
        own.by_feature, own.by_item, own.stored = lists.by_feature, lists.by_item, lists.stored
        own.coefficient, own.norm = coefficient, norm
        if used is not None:
            own.by_feature.size, own.by_item.size = used
    scratch.examples[: len(ids)], scratch.shares[: len(ids)] = ids, 1.0 if shares is None else shares
    scratch.memory.n_examples = len(ids)
    question, left_out, above = _Question(*numbers), np.empty(len(ids)), np.empty(1, np.int64)
    results = None if all_sums is None else address(all_sums), address(left_out), address(above), *scratch.found
    of_items = c.addressof(structures), len(fields), address(base), len(base), c.addressof(question)
    without = address(excluded), len(excluded)
    count = binding.library().setsearch_question(*of_items, *without, *scratch.at, *results)
    if count < 0 and count != UNSURE:
        raise LostArrays("the lists in memory")
    _threads.scratch = scratch
    if count < 0:
        return None
    weighed = tuple(_weighed(scratch, place) for place in range(len(fields))) if weighs else ()
    joined = scratch.examples[len(ids) : scratch.memory.n_examples].copy()
    count = 0 if all_sums is not None else count
    n_above = int(above[0]) if count and above[0] >= 0 else None
    together = bool(scratch.memory.together)
    return Answer(
        scratch.ids[:count].copy(), scratch.scores[:count].copy(), joined, left_out, n_above, weighed, together
    )


def _weighed(scratch: _Scratch, place: int) -> Weighed:
    """How the examples were weighed in a field."""
    features, having, sums, weights = scratch.of_fields[place]
    order = features[: scratch.weighed[place].count].argsort()
    return Weighed(features[order], having[order], sums[order], weights[order])


def _structure(ids: Array, values: Array | None, starts: Ints, ends: Ints) -> PartStructure:
    """Lists without weights."""
    sizes = [array.dtype.itemsize for array in (ids, starts, ends)]
    require(values is not None and values.dtype == np.float32 and sizes == [4, 8, 8], "lists of other types")
    return PartStructure(len(starts), len(ids), address(ids), address(values), 4, address(starts), address(ends), None)
