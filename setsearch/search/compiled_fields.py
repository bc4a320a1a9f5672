"""A question by lift over one or more fields in compiled code (extra `[numba]`): seeds to the best items.

The same steps as in weights.py and feedback.py, on lists that all have values: what the examples have, the strongest of
it, weights, sums; and again, if the best items join. Where those would scale tiny weights or add inexactly, or where a
weight could be rounded otherwise, there is no answer, and they are asked. A test compares the bits.
"""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import VALUE_LATTICE, Floats, Ints
from setsearch.models.compiled_lift import factor, is_sure
from setsearch.scoring.base import EXACT_BELOW_VALUED
from setsearch.scoring.compiled import ROOM, PruningScratch
from setsearch.scoring.compiled_loops import add
from setsearch.scoring.compiled_primitives import DONE, TIES, compiled, offer, sort_candidates
from setsearch.scoring.postings import ItemArrays
from setsearch.scoring.selection import Ranks, sort_best
from setsearch.search.compiled_passes import Passes, gather, second_limit, strongest
from setsearch.search.weights import LEAST_BOUND

LARGEST_TABLE = 1 << 21  # factors
TABLES = 4  # of a thread
HALVES = 2  # weights of examples are multiples of 1/2

_threads = threading.local()
_NONE: Ints = np.zeros(0, np.int64)


class FieldArrays(NamedTuple):
    """A field: its lists, which all have values, document frequencies by stored counts, and its coefficient."""

    by_feature: ItemArrays
    by_item: ItemArrays
    stored: Ints
    coefficient: float


class Budget(NamedTuple):
    """The budget of a model, and what a feature costs beside its stored postings (models/lift.py)."""

    budget: float
    more: int


class _Limit(NamedTuple):
    """What a field may cost, -1 if the budget says; and the features that count always."""

    most: int = -1
    always: Ints = _NONE


def find_in_fields(
    fields: Sequence[FieldArrays], seeds: Ints, passes: Passes, budget: Budget, k: int, ranks: Ranks
) -> tuple[Ints, Floats] | None:
    """The k best items other than the seeds (distinct ids), and their scores; None where weights.py must be asked."""
    examples, numbers = (seeds, np.ones(len(seeds))), passes[:4]
    first = _score(fields, examples, numbers, budget, [_Limit()] * len(fields))
    if first is None:
        return None
    found = _best(first[0], seeds, passes.joining or k, ranks)
    if not passes.joining or found is None:
        return found
    shares = np.append(examples[1], np.full(passes.joining, passes.weight))
    allowed = passes.feedback, passes.least, passes.own
    limits = [
        _Limit(*second_limit(field.stored, own, budget.more, allowed))
        for field, own in zip(fields, first[1], strict=True)
    ]
    numbers = passes.n_items, float(shares.sum()), *numbers[2:]
    second = _score(fields, (np.append(seeds, found[0]), shares), numbers, budget, limits)
    return None if second is None else _best(second[0], seeds, k, ranks)


@cache
def prepare() -> None:
    """Compile now, or load what was compiled, so that no later question waits for it."""
    ones, start, end = np.ones(1, np.float32), np.zeros(1, np.int64), np.ones(1, np.int64)
    lists = ItemArrays(np.zeros(1, np.int32), ones, start, end, 1, 1.0, start)
    passes, field = Passes(3.0, 1.0, 2.0, 0.0, 0, 0.5, 1.0, 1, 1), FieldArrays(lists, lists, end, 1.0)
    find_in_fields([field], start, passes, Budget(1.0, 1), 1, lambda ids: ids)
    _best(np.ones(1), _NONE, 1, lambda ids: ids)
    second_limit(end, (start, np.ones(1)), 1, (passes.feedback, passes.least, passes.own))


def _score(
    fields: Sequence[FieldArrays], examples: tuple[Ints, Floats], numbers: Any, budget: Budget, limits: Sequence[_Limit]
) -> tuple[Floats, list[tuple[Ints, Floats]]] | None:
    """The scores of all items, and features and weights of each field; None where these are not sure."""
    factors = _factors(numbers)
    if factors is None:
        return None
    scores, total, negative, weighted = np.zeros(len(fields[0].by_item.starts)), 0.0, 0.0, []
    for field, limit in zip(fields, limits, strict=True):
        scratch = PruningScratch.take(field.by_item)
        lists = field.by_feature.features.view(np.uint32), *field.by_feature[1:4]
        own, table = (lists, field.by_item[:4], field.stored, field.coefficient), (numbers, factors)
        dense = scratch.having, scratch.values
        sure, above, below, *weights = _add_field(scores, own, examples, table, (*budget, *limit), dense)
        scratch.give(0)
        if not sure:
            return None
        total, negative = total + above + below, negative + below
        weighted.append((weights[0], weights[1]))
    if total < 2 * LEAST_BOUND or scores.max() + negative >= EXACT_BELOW_VALUED - 1:
        return None  # up to there no partial sum was rounded
    return scores, weighted


def _best(scores: Floats, excluded: Ints, k: int, ranks: Ranks) -> tuple[Ints, Floats] | None:
    """The k best items; None if too many are equal, or not all have positive scores: ids without an item score 0."""
    state = np.full(k, -np.inf), np.empty(ROOM, np.int64), np.empty(ROOM), np.zeros(2, np.int64)
    end, count = _offer_all(scores, excluded, state)
    if state[0][0] <= 0:
        return None
    found, best = state[1][:count], state[2][:count]
    if end == TIES:
        return sort_best(found, best, k, ranks)
    return (found, best) if end == DONE else None


def _factors(numbers: Any) -> Floats | None:
    """The factors of features by 2 c_j and df_j that this thread knows, 0 for others; None if there are too many."""
    shape = int(HALVES * numbers[1]) + 1, int(numbers[0]) + 1
    if shape[0] * shape[1] > LARGEST_TABLE:
        return None
    known: dict[Any, Floats] = _threads.__dict__.setdefault("factors", {})
    if numbers not in known:
        if len(known) >= TABLES:
            known.clear()
        known[numbers] = np.zeros(shape)
    return known[numbers]


@compiled
def _units(seeds: Any, df: Any, table: Any, units: Any) -> None:
    """v_j of features in multiples of 2^-22, not rounded; the table learns what it lacks."""
    (_, having, sums), (numbers, factors) = seeds, table
    for j in range(len(units)):
        c, d = int(HALVES * having[j]), max(df[j], 1)
        if factors[c, d] == 0.0:
            factors[c, d] = factor(having[j], d, numbers)
        units[j] = sums[j] / numbers[1] * factors[c, d] * VALUE_LATTICE


@compiled
def _add_field(scores: Any, field: Any, examples: Any, table: Any, limits: Any, dense: Any) -> Any:
    """Add what a field says.

    Whether its weights are sure, the sums of positive and negative ones, its features, and their weights.
    """
    (ids, values, starts, ends), by_item, stored, coefficient = field
    (budget, more, most, always), sure = limits, True
    own = gather(by_item, examples[0], examples[1], dense[0], dense[1])
    costs = stored[own[0]] + more
    cost, is_limited = costs.sum(), most >= 0
    if not is_limited and budget:
        most = int(budget * cost ** (1 / 3) + 0.5)  # Lift.affordable
        is_limited = most < cost
    if is_limited and len(costs):
        estimates = np.empty(len(costs))
        _units(own, costs - more, table, estimates)
        sure, own = strongest(own, costs, estimates, (most, always), dense[0])
    own_starts, own_ends, weights = starts[own[0]], ends[own[0]], np.empty(len(own[0]))
    _units(own, own_ends - own_starts, table, weights)
    above = below = 0.0
    for j in range(len(weights)):
        units = weights[j] * coefficient
        sure &= is_sure(units)
        weights[j] = np.rint(units) / VALUE_LATTICE
        above += max(weights[j], 0.0)
        below += max(-weights[j], 0.0)
    if sure:
        add(scores, (ids, own_starts, own_ends), values, weights, 0, len(scores), True)
    return sure, above, below, own[0], weights


@compiled
def _offer_all(scores: Any, excluded: Any, state: Any) -> Any:
    """How the search ended, and how many items the state begins with."""
    for id in excluded:
        scores[id] = -np.inf
    for id in range(len(scores)):
        if scores[id] >= state[0][0]:
            offer(state, id, scores[id])
    return sort_candidates(state)
