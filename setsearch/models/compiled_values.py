"""Values of whole lists in a compiled loop (extra `[numba]`), the same bits as RuleStatistics.values_of gives."""

from typing import Any

import numpy as np

from setsearch.arrays import VALUE_LATTICE, compiled


@compiled
def valued(lists: Any, source: Any, statistics: Any, by_item: Any, found: Any) -> Any:
    """How many entries of some lists have values above 0, and the largest sum of their squares in a list.

    -1 if a count has no logarithm in the table.

    `source`: ids and counts of all lists, where each starts and ends. `statistics`: L_i, thresholds (empty: none),
    factors, scales, logarithms of counts. `found` gets ids, values, and how many each list has.
    """
    (ids, counts, starts, ends), (totals, thresholds, factors, scales, logs) = source, statistics
    found_ids, found_values, lengths = found
    count, largest = 0, 0.0
    for place in range(len(lists)):
        own, begin, squares = lists[place], count, 0.0
        for p in range(starts[own], ends[own]):
            feature, item = (ids[p], own) if by_item else (own, ids[p])
            if counts[p] >= len(logs):
                return -1, largest
            if len(thresholds) and not counts[p] / totals[item] > thresholds[feature]:
                continue
            value = min(logs[counts[p]] * factors[feature] * scales[item], 1.0)
            value = np.rint(value * VALUE_LATTICE) * (1 / VALUE_LATTICE)
            if value > 0:
                found_ids[count] = ids[p]
                found_values[count] = value
                count += 1
                squares += value * value
        lengths[place] = count - begin
        largest = max(largest, squares)
    return count, largest
