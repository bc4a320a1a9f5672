"""Both passes of a question by lift as one call of compiled code (extra `[numba]`): seeds to the best items.

The same steps as in weights.py, feedback.py and scoring/pruning.py, on lists that all have values. Where those would
break a tie by names, scale tiny weights or add inexactly, or where a weight could be rounded otherwise, there is no
answer, and they are asked. A test compares the bits.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints
from setsearch.models.compiled_lift import lift_weights
from setsearch.scoring.base import EXACT_BELOW_VALUED
from setsearch.scoring.compiled import PruningScratch
from setsearch.scoring.compiled_primitives import DONE, compiled, kth_largest
from setsearch.scoring.compiled_pruning import PRUNED_IN_VAIN, find_pruned
from setsearch.scoring.postings import ItemArrays
from setsearch.scoring.pruning import FIRST, LATER, ROUNDING
from setsearch.search.weights import LEAST_BOUND


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
def _strongest(seeds: Any, stored: Any, weights: Any, always: Any, most: Any) -> Any:
    """The seeds' features that always count, or have the largest weights (weights.strongest)."""
    features, having, sums = seeds
    for j in range(len(weights)):
        if always[features[j]] != 0.0 or stored[j] > most:
            weights[j] = 0.0
    least, read = 0.0, 0
    for j in np.argsort(-weights):
        read += stored[j]
        if read > most:
            least = max(weights[j], 0.0)
            break
    kept = np.zeros(len(weights), np.bool_)
    for j in range(len(weights)):
        kept[j] = weights[j] > least or always[features[j]] != 0.0
    return features[kept], having[kept], sums[kept]


@compiled
def _limited(joined: Any, stored: Any, numbers: Any, first: Any, limits: Any, always: Any) -> Any:
    """What counts in the second pass (feedback.second_pass), and whether that is sure; `always` are zeros, restored."""
    (features, weights), (feedback, least, own) = first, limits
    strong, read = kth_largest(weights, min(own, len(weights))), 0
    for j in range(len(weights)):
        always[features[j]] = 1.0 if weights[j] >= strong else 0.0
        read += stored[features[j]]
    estimated, own_stored = np.empty(len(joined[0])), stored[joined[0]]
    sure = lift_weights(joined[1], joined[2], own_stored, numbers, estimated)
    chosen = _strongest(joined, own_stored, estimated, always, max(int(feedback * read), least))
    for feature in features:
        always[feature] = 0.0
    return sure, chosen


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
    sure, chosen = _limited(joined, stored, numbers, (first[0], weights), (feedback, least, own), scratch.having)
    if not sure:
        return PRUNED_IN_VAIN, 0
    _, end, found = _find_once(scratch, lists, by_item, chosen, numbers, seeds, limits)
    return end, found
