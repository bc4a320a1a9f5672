"""How stored entries become values (models/values.py), in the compiled core: of single items, where they are needed."""

from struct import Struct

import numpy as np

from setsearch.arrays import Floats, Ints, ListArrays, ListValues
from setsearch.core import binding
from setsearch.core.binding import address, check, require
from setsearch.errors import LostArrays

_RULE = Struct("4qPPPPPPPPPPPqqdddd")  # `rule_t` of core.c


class CoreRule:
    """A rule with weights and lengths. Threads may share it.

    `source`: stored ids and counts of all items, where each starts and ends. `totals`: L_i. `df` and `cf`: of features.
    `factors` and `squares`: by document frequency, factors, and their squares in whole numbers of a `unit`. `logs`: of
    counts, and their squares. `numbers`: CF, 0 if all entries exist, the unit, the median norm, and the slope.
    """

    def __init__(
        self,
        source: ListArrays,
        statistics: tuple[Ints, Ints, Ints],
        by_frequency: tuple[Floats, Floats],
        logs: tuple[Floats, Floats],
        numbers: tuple[float, float, float, float],
    ) -> None:
        ids, counts, starts, ends = source
        types = [own.dtype for own in (*statistics, *by_frequency, *logs, starts, ends)]
        require(types == [*3 * [np.int64], *4 * [np.float64], *2 * [np.int64]], "statistics of other types")
        self._kept = source, statistics, by_frequency, logs
        sizes = len(starts), len(statistics[1]), len(ids), counts.itemsize
        at = map(address, (starts, ends, ids, counts, *statistics, *by_frequency, *logs))
        self._packed = np.frombuffer(
            bytearray(_RULE.pack(*sizes, *at, len(by_frequency[0]), len(logs[0]), *numbers)), np.uint8
        )
        self.at = address(self._packed)

    def with_pivot(self, pivot: float) -> "CoreRule":
        """The same with a median norm."""
        all_counts, unit, _, slope = _RULE.unpack(self._packed.tobytes())[-4:]
        return CoreRule(*self._kept, (all_counts, unit, pivot, slope))

    def norms(self, items: Ints) -> Floats:
        """||w_i|| of some items, whose counts have logarithms. Raises LostArrays."""
        items, norms = np.ascontiguousarray(items, np.int64), np.empty(len(items))
        check(binding.library().setsearch_norms(self.at, address(items), len(items), address(norms)))
        return norms

    def values(self, items: Ints) -> ListValues:
        """The values of some items, likewise; the largest sum of squares is not told."""
        items, (ids, _, starts, ends) = np.ascontiguousarray(items, np.int64), self._kept[0]
        starts, ends = starts[items], ends[items]
        if starts.min(initial=0) < 0 or ends.max(initial=0) > len(ids):  # a sum of such lengths could be any number
            raise LostArrays("the lists in memory")
        size = int(np.maximum(ends - starts, 0).sum())
        found, values, lengths = np.empty(size, np.int32), np.empty(size, np.float32), np.empty(len(items), np.int64)
        at = map(address, (found, values, lengths))
        n = binding.library().setsearch_items(self.at, address(items), len(items), *at)
        return ListValues(found[: check(n)], values[:n], lengths, 0.0)
