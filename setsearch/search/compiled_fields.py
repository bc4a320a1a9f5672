"""One pass of a question by lift over several fields in compiled code (extra `[numba]`): seeds to the best items.

The same steps as in weights.py, on lists that all have values: what the seeds have, the strongest of it, weights, sums.
Where those would scale tiny weights or add inexactly, or where a weight could be rounded otherwise, there is no answer,
and they are asked. A test compares the bits.
"""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import VALUE_LATTICE, Floats, Ints
from setsearch.models.compiled_lift import factor, is_sure
from setsearch.models.lift import COST_OF_A_LIST
from setsearch.scoring.base import EXACT_BELOW_VALUED
from setsearch.scoring.compiled import ROOM, PruningScratch
from setsearch.scoring.compiled_loops import add
from setsearch.scoring.compiled_primitives import DONE, TIES, compiled, offer, sort_candidates
from setsearch.scoring.postings import ItemArrays
from setsearch.scoring.selection import Ranks, sort_best
from setsearch.search.compiled_passes import gather
from setsearch.search.weights import LEAST_BOUND

BINS = 4096  # of weights
LARGEST_TABLE = 1 << 21  # factors

_threads = threading.local()


class FieldArrays(NamedTuple):
    """A field: its lists, which all have values, document frequencies by stored counts, and its coefficient."""

    by_feature: ItemArrays
    by_item: ItemArrays
    stored: Ints
    coefficient: float


class Numbers(NamedTuple):
    """The numbers of a question: n, N, strength, exponent of the rarity, budget (models/lift.py)."""

    n_items: float
    total: float
    strength: float
    exponent: float
    budget: float


def find_in_fields(
    fields: Sequence[FieldArrays], seeds: Ints, numbers: Numbers, k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """The k best items other than the seeds (distinct ids), and their scores; None where weights.py must be asked."""
    factors = _factors(numbers)
    if factors is None:
        return None
    scores, total, negative = np.zeros(len(fields[0].by_item.starts)), 0.0, 0.0
    for field in fields:
        scratch = PruningScratch.take(field.by_item)
        lists = field.by_feature.features.view(np.uint32), *field.by_feature[1:4]
        own, limits = (lists, field.by_item[:4], field.stored), (field.coefficient, numbers.budget)
        dense = scratch.having, scratch.values
        sure, above, below = _add_field(scores, own, seeds, (numbers[:4], factors), limits, dense)
        scratch.give(0)
        total, negative = total + above + below, negative + below
        if not sure:
            return None
    if total < 2 * LEAST_BOUND or scores.max() + negative >= EXACT_BELOW_VALUED - 1:
        return None  # up to there no partial sum was rounded
    state = np.full(k, -np.inf), np.empty(ROOM, np.int64), np.empty(ROOM), np.zeros(2, np.int64)
    end, count = _best(scores, seeds, state)
    found, best = state[1][:count], state[2][:count]
    if end == TIES:
        return sort_best(found, best, k, ranks)
    return (found, best) if end == DONE else None


@cache
def prepare() -> None:
    """Compile now, or load what was compiled, so that no later question waits for it."""
    ones, start, end = np.ones(1, np.float32), np.zeros(1, np.int64), np.ones(1, np.int64)
    lists = ItemArrays(np.zeros(1, np.int32), ones, start, end, 1, 1.0, start)
    find_in_fields([FieldArrays(lists, lists, end, 1.0)], start, Numbers(1.0, 1.0, 2.0, 0.0, 1.0), 1, lambda ids: ids)


def _factors(numbers: Numbers) -> Floats | None:
    """The factors of features by c_j and df_j that this thread knows, 0 for others; None if they would be too many."""
    shape = int(numbers.total) + 1, int(numbers.n_items) + 1
    if shape[0] * shape[1] > LARGEST_TABLE:
        return None
    kept: tuple[Numbers, Floats] | None = getattr(_threads, "factors", None)
    if kept is None or kept[0] != numbers:
        kept = _threads.factors = numbers, np.zeros(shape)
    return kept[1]


@compiled
def _units(seeds: Any, df: Any, numbers: Any, factors: Any, units: Any) -> None:
    """v_j of features in multiples of 2^-22, not rounded; `factors` learns what it lacks."""
    _, having, sums = seeds
    for j in range(len(units)):
        c, d = int(having[j]), max(df[j], 1)
        if factors[c, d] == 0.0:
            factors[c, d] = factor(having[j], d, numbers)
        units[j] = sums[j] / numbers[1] * factors[c, d] * VALUE_LATTICE


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
def _strongest(seeds: Any, costs: Any, units: Any, most: Any) -> Any:
    """The features that a budget leaves, and whether that is sure."""
    (features, having, sums), least, sure, count = seeds, _least(units, costs, most), True, 0
    for j in range(len(units)):
        sure &= (abs(units[j] - least) >= 1.0) | is_sure(units[j])
        features[count], having[count], sums[count] = features[j], having[j], sums[j]
        count += (costs[j] <= most) & (np.rint(units[j]) > least)  # without a branch, which would be mispredicted
    return sure, (features[:count], having[:count], sums[:count])


@compiled
def _add_field(scores: Any, field: Any, seeds: Any, table: Any, limits: Any, dense: Any) -> Any:
    """Add what a field says; whether its weights are sure, and the sums of positive and negative ones."""
    ((ids, values, starts, ends), by_item, stored), (numbers, factors), (coefficient, budget) = field, table, limits
    own = gather(by_item, seeds, np.ones(len(seeds)), dense[0], dense[1])
    costs, sure = stored[own[0]] + COST_OF_A_LIST, True
    cost = costs.sum()
    most = int(budget * cost ** (1 / 3) + 0.5)  # Lift.affordable
    if budget and most < cost:
        estimates = np.empty(len(costs))
        _units(own, costs - COST_OF_A_LIST, numbers, factors, estimates)
        sure, own = _strongest(own, costs, estimates, most)
    own_starts, own_ends, weights = starts[own[0]], ends[own[0]], np.empty(len(own[0]))
    _units(own, own_ends - own_starts, numbers, factors, weights)
    above = below = 0.0
    for j in range(len(weights)):
        units = weights[j] * coefficient
        sure &= is_sure(units)
        weights[j] = np.rint(units) / VALUE_LATTICE
        above += max(weights[j], 0.0)
        below += max(-weights[j], 0.0)
    if sure:
        add(scores, (ids, own_starts, own_ends), values, weights, 0, len(scores), True)
    return sure, above, below


@compiled
def _best(scores: Any, excluded: Any, state: Any) -> Any:
    """How the search ended, and how many items the state begins with."""
    for id in excluded:
        scores[id] = -np.inf
    for id in range(len(scores)):
        if scores[id] >= state[0][0]:
            offer(state, id, scores[id])
    return sort_candidates(state)
