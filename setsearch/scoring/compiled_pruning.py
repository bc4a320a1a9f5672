"""The compiled loop of pruning.py."""

import math
from typing import Any

import numpy as np

from setsearch.arrays import compiled
from setsearch.scoring.compiled_loops import add
from setsearch.scoring.compiled_primitives import offer, prefetch, replace_least, sort_candidates
from setsearch.scoring.pruning import JUST_BELOW, PRECISION

PRUNED_IN_VAIN = -1  # how a search ends: too many items may be among the best
DENSE = 4  # with more than n / 4 postings a look at all sums is faster than at those that were touched
TOGETHER = 256  # sums that are looked at together
AHEAD = 8  # items: far memory answers after some of them were scored
MARKED = 4096  # items that may raise the first k-th best


@compiled
def _raise_kth(sums: Any, ids: Any, starts: Any, ends: Any, best: Any) -> None:
    """Offer the sums of distinct items of some lists, or of many of these items, to `best`, a heap."""
    marked, count = np.empty(MARKED, np.uint32), 0
    for i in range(len(starts)):
        for p in range(starts[i], ends[i]):
            sum = sums[ids[p]]
            if sum > best[0] and count < MARKED:
                replace_least(best, sum)
                sums[ids[p]] = -sum  # so that an item counts once
                marked[count] = ids[p]
                count += 1
    for i in range(count):
        sums[marked[i]] = -sums[marked[i]]


@compiled
def _add_where_touched(sums: Any, ids: Any, starts: Any, ends: Any, values: Any, weights: Any) -> None:
    """Add lists to the sums that are not zero."""
    for i in range(len(weights)):
        weight = weights[i]
        for p in range(starts[i], ends[i]):
            sum = sums[ids[p]]
            sums[ids[p]] = sum + weight * values[p] * (sum != 0.0)  # without a branch, which would be mispredicted


@compiled
def _collect(sums: Any, lists: Any, bound: Any, best: Any, found: Any) -> Any:
    """Put items whose sums are at most `bound` below the k best into `found`; sums become zero. How many there are."""
    ids, starts, ends = lists
    count = 0
    for i in range(len(starts)):
        for p in range(starts[i], ends[i]):
            sum = sums[ids[p]]
            sums[ids[p]] = 0.0
            if sum + bound >= best[0]:  # zero does not: the bound is smaller
                count = _keep(ids[p], sum, best, found, count)
    return _near(bound, best, found, count)


@compiled
def _scan(sums: Any, bound: Any, best: Any, found: Any) -> Any:
    """As `_collect`, by a look at all sums."""
    count = 0
    for begin in range(0, len(sums), TOGETHER):
        block, least, reaching = sums[begin : begin + TOGETHER], np.float32(best[0] - bound), 0
        for i in range(len(block)):
            reaching += block[i] >= least  # many at once
        if reaching:
            for i in range(len(block)):
                if block[i] + bound >= best[0]:
                    count = _keep(begin + i, block[i], best, found, count)
    sums[:] = 0.0
    return _near(bound, best, found, count)


@compiled
def _keep(id: Any, sum: Any, best: Any, found: Any, count: Any) -> Any:
    """Put an item into `found`, and its sum into `best` if it is one of these; the new count."""
    if sum > best[0]:
        replace_least(best, sum)
    if count < len(found[0]):
        found[0][count], found[1][count] = id, sum
    return count + 1


@compiled
def _near(bound: Any, best: Any, found: Any, count: Any) -> Any:
    """Leave in `found` what is near enough to the k best; how many, or -1 if not all found room."""
    kept, (ids, sums) = 0, found
    if count > len(ids):
        return -1
    for i in range(count):
        if sums[i] + bound >= best[0]:
            ids[kept], sums[kept] = ids[i], sums[i]
            kept += 1
    return kept


@compiled
def _until(bounds: Any, bound: Any) -> Any:
    """How many lists are added for the bound of the others to be no larger."""
    count = 0
    while count < len(bounds) - 1 and bounds[count] > bound:
        count += 1
    return count


@compiled
def _offer_exactly(weights: Any, by_item: Any, near: Any, bound: Any, state: Any) -> None:
    """Offer items with the scores of all their features, whose weights are `(n_features,)`."""
    (features, values, starts, ends), (ids, sums) = by_item, near
    for i in range(len(ids)):
        if i + 2 * AHEAD < len(ids):
            prefetch(starts, ids[i + 2 * AHEAD])
            prefetch(ends, ids[i + 2 * AHEAD])
        if i + AHEAD < len(ids):
            prefetch(features, starts[ids[i + AHEAD]])
            prefetch(values, starts[ids[i + AHEAD]])
        if sums[i] + bound < state[0][0]:
            continue
        score = 0.0
        for p in range(starts[ids[i]], ends[ids[i]]):
            score += weights[features[p]] * values[p]
        offer(state, ids[i], score)


@compiled
def _order(weights: Any, lengths: Any, norm: Any) -> Any:
    """Positions of lists by weight squared over length, the largest first, bounds (pruning.Order), the largest loss."""
    gains = np.empty(len(weights))
    for i in range(len(weights)):
        gains[i] = -weights[i] * weights[i] / max(lengths[i], 1)
    order, bounds, positive, negative = np.argsort(gains), np.zeros(len(weights) + 1), 0.0, 0.0
    for i in range(len(order) - 1, -1, -1):
        weight = weights[order[i]]
        if weight > 0:
            positive += weight * weight
        else:
            negative += weight * weight
        bounds[i] = (math.sqrt(positive) + math.sqrt(negative)) * norm
    bounds += len(weights) * np.abs(weights).sum() * PRECISION
    return order, bounds, math.sqrt(negative) * norm


@compiled
def find_pruned(scratch: Any, lists: Any, by_item: Any, excluded: Any, limits: Any) -> Any:
    """How the search ended, and the number of the k best items; if DONE, `scratch` holds them, best first.

    `scratch` is a compiled.PruningScratch. `limits` are k, the norm of items, FIRST and LATER.
    """
    sums, of_features, (near_ids, near_sums) = scratch.sums[: len(by_item[2])], scratch.weights, scratch.near
    (ids, starts, ends, values, weights, active), (k, norm, first_share, later_share) = lists, limits
    order, bounds, lost = _order(weights, ends - starts, norm)
    starts, ends, exact_weights, active = starts[order], ends[order], weights[order], active[order]
    weights = exact_weights.astype(np.float32)
    for id in excluded:
        sums[id] = -np.inf
    first, best = _until(bounds, first_share * bounds[0]), np.zeros(k)
    add(sums, (ids, starts[:first].copy(), ends[:first]), values, weights[:first], 0, len(sums), True)
    _raise_kth(sums, ids, starts[:first], ends[:first], best)
    least, touching, last, is_dense = best[0] - lost, first, first, False
    if least > 0:
        # What the first lists do not touch scores less than the k best.
        last = max(first, _until(bounds, later_share * least))
        is_dense = (ends[:last] - starts[:last]).sum() * DENSE > len(sums)
        touching = last if is_dense else max(first, _until(bounds, JUST_BELOW * least))
        some = starts[first:touching].copy(), ends[first:touching]
        add(sums, (ids, some[0], some[1]), values, weights[first:touching], 0, len(sums), True)
        _add_where_touched(sums, ids, starts[touching:last], ends[touching:last], values, weights[touching:last])
    best[:] = least
    near = near_ids, near_sums
    if is_dense:
        count = _scan(sums, bounds[last], best, near)
    else:
        count = _collect(sums, (ids, starts[:touching], ends[:touching]), bounds[last], best, near)
    for id in excluded:
        sums[id] = 0.0
    if not bounds[last] < least or count < 0:
        return PRUNED_IN_VAIN, 0
    for i in range(len(active)):
        of_features[active[i]] = exact_weights[i]
    state = np.full(k, -np.inf), scratch.ids, scratch.scores, np.zeros(2, np.int64)
    _offer_exactly(of_features, by_item, (near_ids[:count], near_sums[:count]), bounds[last], state)
    for feature in active:
        of_features[feature] = 0.0
    return sort_candidates(state)
