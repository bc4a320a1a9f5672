"""Array types, runs of equal values, sorted entries, and exact arithmetic on a lattice.

Weights are rounded to multiples of 2^-36. Sums of such numbers below 2^17 are exact in float64, so neither the order of
addition nor the kernel changes a bit of a score. Where entries have values other than 0 and 1, values and weights are
multiples of 2^-22: products are multiples of 2^-44, and their sums are exact below 2^9. Where all weights are tiny,
they are multiplied by a power of two before, and the scores divided by it: rounding costs no digit that matters.
"""

import math
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]
Floats32 = npt.NDArray[np.float32]
ListArrays = tuple[npt.NDArray[Any], npt.NDArray[Any], Ints, Ints]  # ids and counts, where each list starts and ends

SPARSE = 16  # times as large as their number, numbers are sorted
LARGEST_COUNT = 2**31 - 1  # of a feature in an item
STEP, INDEX = 1 << 16, np.dtype(np.intp).itemsize  # places that are looked up together; bytes of numpy's
LATTICE = 2.0**36  # one over the step of weights
VALUE_LATTICE = 2.0**22  # the same where values are multiplied by weights
HASH = np.uint64(0x9E3779B97F4A7C15)  # Knuth's multiplicative hash: odd, near 2^64 divided by the golden ratio
ROOM, ROOM_OF_VALUES = 2.0**13, 2.0**6  # sums of scaled weights are below; up to 2^17 and 2^9 they are exact


class ListValues(NamedTuple):
    """Ids and values of some lists, how many each has, and the largest sum of squares of the values of one."""

    ids: Ids
    values: Floats32
    lengths: Ints
    square: float


class Entries(NamedTuple):
    """Nonzero cells of a relation, sorted by list and id: three arrays of the same length."""

    lists: Ints
    ids: Ints
    counts: Ints

    def select(self, mask: npt.NDArray[np.bool_]) -> "Entries":
        """The entries where a mask of the same length is true."""
        if mask.all():
            return self
        places = np.flatnonzero(mask)  # looked for once
        return Entries(self.lists.take(places), self.ids.take(places), self.counts.take(places))

    def narrow(self) -> "Entries":
        """The same in half of the memory; all numbers are below 2^31."""
        return Entries(*(cast(Ints, own.astype(np.int32)) for own in self))

    def merged(self, other: "Entries") -> "Entries":
        """The entries of both, sorted; they have no cell in common."""
        places = np.searchsorted(pack(self.lists, self.ids), pack(other.lists, other.ids)) + np.arange(len(other.ids))
        is_own = np.ones(len(self.ids) + len(other.ids), bool)
        is_own[places] = False
        both = Entries(*(np.empty(len(is_own), own.dtype) for own in self))
        for merged, one, two in zip(both, self, other, strict=True):
            merged[is_own], merged[places] = one, two
        return both


def pack(high: npt.NDArray[np.integer], low: npt.NDArray[np.integer], bits: int = 32) -> Ints:
    """Pairs of numbers as one number each; the low ones are below 2^bits."""
    return high.astype(np.int64, copy=False) << bits | low


def ranks_of(mask: npt.NDArray[np.bool_]) -> Ints:
    """How many places before each one are true, that place with them, less 1."""
    return np.cumsum(mask, dtype=np.int64) - 1


def repeat(values: Any, times: npt.ArrayLike) -> Array:
    """Each value as many times as is told, `(times.sum(),)`."""
    return np.repeat(values, np.asarray(times, np.intp))


def take(values: Array, places: npt.ArrayLike, clip: bool = False) -> Array:
    """The values at some places, faster than by an index; with `clip` the last one for those beyond."""
    places = np.asarray(places)
    if places.itemsize < INDEX and len(places) > STEP:  # numpy makes them wider: few at once stay in the cache
        return np.concatenate([take(values, places[at : at + STEP], clip) for at in range(0, len(places), STEP)])
    return values.take(places.astype(np.intp, copy=False), mode="clip" if clip else "raise")


def bincount(ids: npt.ArrayLike, weights: Any = None, minlength: int = 0) -> Array:
    """How often each id occurs, or the sum of its weights, `(minlength,)` or more."""
    counts = np.bincount(np.asarray(ids, np.intp), weights, minlength)
    return counts if weights is not None else counts.astype(np.int64, copy=False)


def sum_runs(values: Array, starts: npt.ArrayLike) -> Array:
    """The sum of each run of values, given where it starts; none is empty."""
    dtype = values.dtype if values.dtype.kind == "f" else np.int64
    return np.add.reduceat(values, np.asarray(starts, np.intp), dtype=dtype)


def offsets(lengths: Ints) -> Ints:
    """Offsets of consecutive blocks: `(n,)` lengths to `(n + 1,)` offsets; the last one is their sum."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def positions(starts: Ints, lengths: Ints) -> Ints:
    """The places of the entries of runs, one run behind the other, `(lengths.sum(),)`."""
    before = offsets(lengths)
    places = repeat(starts - before[:-1], lengths)
    return np.add(places, np.arange(before[-1]), out=places)


def run_starts(*columns: npt.NDArray[np.integer]) -> Ints:
    """Offsets of the runs of rows that are equal in all columns, `(n_runs,)`."""
    first = np.ones(len(columns[0]), bool)
    np.not_equal(columns[0][1:], columns[0][:-1], out=first[1:])
    for values in columns[1:]:
        first[1:] |= values[1:] != values[:-1]
    return first.nonzero()[0]


def run_lengths(starts: Ints, end: int) -> Ints:
    """Lengths of the runs at `(n_runs,)` offsets; the last run ends at `end`."""
    lengths = np.empty(len(starts), np.int64)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = end - starts[-1:]
    return lengths


def real_numbers(given: Any) -> Floats:
    """As float64. Raises ValueError and TypeError, also for complex numbers, of which a part would be lost."""
    if getattr(getattr(given, "dtype", None), "kind", "") == "c":
        raise TypeError("they are complex")
    return np.asarray(given, float)


def distinct(ids: npt.NDArray[np.integer]) -> Ints:
    """The distinct ones of small numbers, ascending; faster than sorting, and numpy's would load masked arrays."""
    present = np.zeros(int(ids.max(initial=-1)) + 1, bool)
    present[ids] = True
    return np.flatnonzero(present)


def union(*several: Ints) -> Ints:
    """The distinct ones of several arrays of numbers, none negative, ascending; for ascending ones numpy's is slow."""
    both: Ints = np.sort(np.concatenate(several), kind="stable")  # which merges runs
    return both.compress(np.diff(both, prepend=-1) != 0)


def places_of(ids: Ints) -> Ints:
    """The place of each of some ids, by id; others have any number."""
    places = np.empty(int(ids.max(initial=-1)) + 1, np.int64)
    places[ids] = np.arange(len(ids))
    return places


def numbered(numbers: Ints) -> tuple[Ints, Ints]:
    """The distinct ones of numbers, none negative, ascending, and the place of each among them.

    Sorting takes several times as long as tables, which large numbers have no room for.
    """
    if int(numbers.max(initial=0)) > SPARSE * len(numbers):
        return np.unique(numbers, return_inverse=True)
    known = distinct(numbers)
    return known, take(places_of(known), numbers)


def places_among(ascending: Ints, numbers: npt.NDArray[np.integer]) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The places of numbers, none negative, among ascending ones, and whether they are there."""
    places = np.searchsorted(ascending, numbers)
    if not len(ascending):
        return places, np.zeros(len(numbers), bool)
    return places, take(ascending, places, clip=True) == numbers


def scale_for(bound: float, binary: bool) -> float:
    """The largest power of two, 1 or more, times which sums below a bound stay exact, with some room left."""
    room = ROOM if binary else ROOM_OF_VALUES
    return 2.0 ** max(0, math.floor(math.log2(room / bound))) if 0 < bound < room else 1.0


def only(values: Floats, places: Ints) -> Floats:
    """The values at some places, with -inf for all others."""
    masked = np.full(len(values), -np.inf)
    masked[places] = values[places]
    return masked


def median(values: npt.ArrayLike) -> float:
    """The median of at least one number; numpy's would load masked arrays first."""
    values = np.asarray(values, float)
    half, odd = divmod(len(values), 2)
    middle = values.copy()
    middle.partition((max(half - 1, 0), half))
    return float(middle[half] if odd else (middle[half - 1] + middle[half]) / 2)


def moments(values: Floats) -> tuple[float, float]:
    """Mean and standard deviation, the same in any order: of values rounded to 2^-20 of a power of two above them."""
    largest = float(np.abs(values).max(initial=0.0))
    if not 0 < largest < math.inf:
        return 0.0, 0.0
    mantissa, exponent = math.frexp(largest)
    unit = 2.0 ** (exponent - (mantissa == 0.5) - 20)
    whole = np.rint(values / unit).astype(np.int64)  # sums of squares are exact for eight million values
    mean, square = float(whole.sum()) / len(values), float(whole @ whole) / len(values)
    return mean * unit, math.sqrt(max(square - mean * mean, 0.0)) * unit


def to_lattice(weights: Floats, binary: bool = True, coefficient: float = 1.0) -> Floats:
    """`coefficient` times the weights, rounded to multiples of 2^-36 (error 7.3e-12), or of 2^-22 if not `binary`."""
    lattice = LATTICE if binary else VALUE_LATTICE
    rounded: Floats = weights * (coefficient * lattice)  # powers of two change no digit
    np.rint(rounded, out=rounded)
    rounded *= 1 / lattice
    return rounded
