"""Both passes of a question by lift as one call of compiled code (extra `[numba]`): seeds to the best items.

The same steps as in weights.py, feedback.py and scoring/pruning.py, on lists that all have values. Where those would
break a tie by names, scale tiny weights or add inexactly, or where a weight could be rounded otherwise, there is no
answer, and they are asked. A test compares the bits.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.models.compiled_lift import is_sure, lift_units, lift_weights
from setsearch.scoring.base import EXACT_BELOW_VALUED
from setsearch.scoring.compiled import PruningScratch
from setsearch.scoring.compiled_primitives import DONE, compiled, kth_largest
from setsearch.scoring.compiled_pruning import PRUNED_IN_VAIN, find_pruned
from setsearch.scoring.postings import ItemArrays
from setsearch.scoring.pruning import FIRST, LATER, ROUNDING
from setsearch.search.weights import LEAST_BOUND

BINS = 4096  # of weights


class Passes(NamedTuple):
    """The numbers of a question: n, N, strength and exponent of the rarity; what joins, and what may be read.

    `joining`: how many items join, 0 for one pass; `weight` of each; `feedback`: the share of the postings of the first
    pass; `least`: postings that may always be read; `own`: features of the seeds that always count.
    """

    n_items: float
    total: float
    strength: float
    exponent: float
    joining: int
    weight: float
    feedback: float
    least: int
    own: int


def find_in_passes(
    by_feature: ItemArrays, by_item: ItemArrays, stored: Ints, seeds: Ints, passes: Passes, k: int
) -> tuple[Ints, Floats] | None:
    """The k best items other than the seeds (distinct ids), and their scores; None where weights.py must be asked.

    `stored` are the document frequencies of stored counts, `(n_features,)`.
    """
    scratch = PruningScratch.take(by_item)
    lists = by_feature.features.view(np.uint32), by_feature.values, by_feature.starts, by_feature.ends
    limits = k, by_item.norm * ROUNDING, FIRST, LATER
    end, found = _find(scratch, lists, by_item[:4], stored, seeds, tuple(passes), limits)
    best = scratch.give(found)
    return best if end == DONE else None


@cache
def prepare() -> None:
    """Compile now, or load what was compiled, so that no later question waits for it."""
    ones, start, end = np.ones(1, np.float32), np.zeros(1, np.int64), np.ones(1, np.int64)
    lists = ItemArrays(np.zeros(1, np.int32), ones, start, end, 1, 1.0, start)
    find_in_passes(lists, lists, end, start, Passes(1.0, 1.0, 2.0, 0.0, 0, 0.5, 0.0, 1, 1), 1)


@compiled
def gather(by_item: Any, examples: Any, weights: Any, having: Any, sums: Any) -> Any:
    """The features of examples, in no order, c_j and s_j; both arrays `(n_features,)` are zeros, and restored."""
    (features, values, starts, ends), room = by_item, 0
    for example in examples:
        room += ends[example] - starts[example]
    found, count = np.empty(room, np.int64), 0
    for i in range(len(examples)):
        for p in range(starts[examples[i]], ends[examples[i]]):
            feature = features[p]
            if having[feature] == 0.0:
                found[count] = feature
                count += 1
            having[feature] += weights[i]
            sums[feature] += weights[i] * values[p]
    found = found[:count]
    own = found, having[found], sums[found]
    for feature in found:
        having[feature] = sums[feature] = 0.0
    return own


@compiled
def _least(units: Any, costs: Any, most: Any) -> Any:
    """The largest rounded weight that does not count any more, 0 if all positive ones do (weights.strongest)."""
    spent, scale = np.zeros(BINS, np.int64), BINS / (max(units.max(), 0.0) + 2.0)
    for j in range(len(units)):
        if units[j] > 0.0 and costs[j] <= most:
            spent[int(np.rint(units[j]) * scale)] += costs[j]
    bin, before, count = BINS - 1, 0, 0
    while bin > 0 and before + spent[bin] <= most:
        before += spent[bin]
        bin -= 1
    inside = np.empty(len(units), np.int64)
    for j in range(len(units)):
        if units[j] > 0.0 and costs[j] <= most and int(np.rint(units[j]) * scale) == bin:
            inside[count] = j
            count += 1
    for j in inside[:count][np.argsort(-np.rint(units[inside[:count]]))]:
        before += costs[j]
        if before > most:
            return np.rint(units[j])
    return 0.0


@compiled
def strongest(seeds: Any, costs: Any, units: Any, limit: Any, marks: Any) -> Any:
    """The features that a limit leaves (weights.strongest), and whether that is sure.

    The limit: what they may cost, and those that always count. `marks` of all features are zeros, and restored.
    """
    (features, having, sums), (most, always), sure, count = seeds, limit, True, 0
    for feature in always:
        marks[feature] = 1.0
    for j in range(len(units)):
        units[j] *= marks[features[j]] == 0.0
    least = _least(units, costs, most)
    for j in range(len(units)):
        sure &= (abs(units[j] - least) >= 1.0) | is_sure(units[j])
        own = features[j]
        features[count], having[count], sums[count] = own, having[j], sums[j]
        # Without a branch, which would be mispredicted.
        count += (marks[own] != 0.0) | ((costs[j] <= most) & (np.rint(units[j]) > least))
    for feature in always:
        marks[feature] = 0.0
    return sure, (features[:count], having[:count], sums[:count])


@compiled
def second_limit(stored: Any, first: Any, more: Any, limits: Any) -> Any:
    """What a second pass may cost, and the features that always count (feedback.second_pass)."""
    (features, weights), (feedback, least, own) = first, limits
    strong, cost, count = kth_largest(weights, min(own, len(weights))) if len(weights) else 0.0, 0, 0
    always = np.empty(len(features), np.int64)
    for j in range(len(features)):
        always[count] = features[j]
        count += weights[j] >= strong
        cost += stored[features[j]] + more
    return max(int(feedback * cost), least), always[:count]


@compiled
def _find_once(scratch: Any, lists: Any, by_item: Any, seeds: Any, numbers: Any, excluded: Any, limits: Any) -> Any:
    """The weights of the seeds' features and the best items; how the search ended, and their number."""
    (ids, values, starts, ends), (features, having, sums) = lists, seeds
    weights, own_starts, own_ends = np.empty(len(features)), starts[features], ends[features]
    sure = lift_weights(having, sums, own_ends - own_starts, numbers, weights)
    total = np.abs(weights).sum()
    if not sure or total >= EXACT_BELOW_VALUED or not len(weights) or np.abs(weights).max() < LEAST_BOUND:
        return weights, PRUNED_IN_VAIN, 0
    own = ids, own_starts, own_ends, values, weights, features
    end, count = find_pruned(scratch, own, by_item, excluded, limits)
    return weights, end, count


@compiled
def _find(scratch: Any, lists: Any, by_item: Any, stored: Any, seeds: Any, passes: Any, limits: Any) -> Any:
    """How the search ended, and the number of the best items."""
    n_items, total, strength, exponent, joining, weight, feedback, least, own = passes
    k, norm, first_share, later_share = limits
    first = gather(by_item, seeds, np.ones(len(seeds)), scratch.having, scratch.values)
    numbers, wanted = (n_items, total, strength, exponent), joining if joining else k
    weights, end, found = _find_once(
        scratch, lists, by_item, first, numbers, seeds, (wanted, norm, first_share, later_share)
    )
    if end != DONE or not joining:
        return end, found
    examples = np.append(seeds, scratch.ids[:found])
    shares = np.ones(len(examples))
    shares[len(seeds) :] = weight
    numbers = n_items, shares.sum(), strength, exponent
    joined = gather(by_item, examples, shares, scratch.having, scratch.values)
    limit, estimates = second_limit(stored, (first[0], weights), 0, (feedback, least, own)), np.empty(len(joined[0]))
    lift_units(joined[1], joined[2], stored[joined[0]], numbers, estimates)
    sure, chosen = strongest(joined, stored[joined[0]], estimates, limit, scratch.having)
    if not sure:
        return PRUNED_IN_VAIN, 0
    _, end, found = _find_once(scratch, lists, by_item, chosen, numbers, seeds, limits)
    return end, found
