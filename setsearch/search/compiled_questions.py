"""A question by lift in compiled code (extra `[numba]`): seeds to the best items.

The same steps as in weights.py, feedback.py and scoring/pruning.py, on lists that all have values: what the examples
have, the strongest of it, weights, the best items; and again, if these join. The lists of one field are pruned, unless
the model has a budget; else all are added. Where that would scale tiny weights or add inexactly, or where a weight
could be rounded otherwise, there is no answer, and they are asked. A test compares the bits.
"""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import VALUE_LATTICE, Floats, Ints, compiled
from setsearch.models.compiled_lift import factor, is_sure
from setsearch.scoring.base import EXACT_BELOW_VALUED
from setsearch.scoring.compiled import ROOM, PruningScratch, in_order
from setsearch.scoring.compiled_loops import add
from setsearch.scoring.compiled_primitives import DONE, TIES, kth_largest, offer, sort_candidates
from setsearch.scoring.compiled_pruning import PRUNED_IN_VAIN, find_pruned
from setsearch.scoring.postings import ItemArrays
from setsearch.scoring.pruning import FIRST, LATER, ROUNDING
from setsearch.scoring.selection import Ranks
from setsearch.scoring.smoothing import Smoothing, smooth
from setsearch.search.weights import LEAST_BOUND

BINS = 4096  # of weights
LARGEST_TABLE = 1 << 21  # factors
TABLES = 4  # of a thread
HALVES = 2  # weights of examples are multiples of 1/2

_threads = threading.local()
_NONE: Ints = np.zeros(0, np.int64)
_NO_LIMIT = -1, _NONE

Limit = tuple[int, Ints]  # what a field may cost, -1 if the budget says; and the features that count always
Found = tuple[Ints, Floats]  # ids and scores, or features and weights


class FieldArrays(NamedTuple):
    """A field: its lists, which all have values, document frequencies by stored counts, and its coefficient."""

    by_feature: ItemArrays
    by_item: ItemArrays
    stored: Ints
    coefficient: float


class Passes(NamedTuple):
    """The numbers of a question: n, N, strength and exponent of the rarity; what joins, and what may be read.

    `joining`: how many items join, 0 for one pass; `weight` of each; `feedback`: the share of the postings of the first
    pass; `least`: postings that may always be read; `own`: features of the seeds that always count; `budget` of the
    model, and what a feature costs beside its stored postings, `more`.
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
    budget: float
    more: int


def find(
    fields: Sequence[FieldArrays], seeds: Ints, passes: Passes, k: int, ranks: Ranks, smoothing: Smoothing | None = None
) -> Found | None:
    """The k best items other than the seeds (distinct ids), and their scores; None where weights.py must be asked."""
    if len(fields) == 1 and not passes.budget:
        by_item = fields[0].by_item
        scratch, search = PruningScratch.take(by_item), (k, by_item.norm * ROUNDING, FIRST, LATER)
        end, count = _find_pruned(scratch, _lists(fields[0]), seeds, passes, search)
        return in_order(end, *scratch.give(count), k, ranks)
    examples = seeds, np.ones(len(seeds))
    scores, weighted = _score(fields, examples, passes, [_NO_LIMIT] * len(fields))
    if scores is not None and passes.joining:
        found = _best(scores, seeds, passes.joining, ranks)
        if found is None:
            return None
        shares = np.append(examples[1], np.full(passes.joining, passes.weight))
        limits = [second_limit(field.stored, own, passes) for field, own in zip(fields, weighted, strict=True)]
        passes = passes._replace(total=float(shares.sum()))
        scores, _ = _score(fields, (np.append(seeds, found[0]), shares), passes, limits)
    return None if scores is None else _best_smoothed(scores, seeds, k, ranks, smoothing)


@cache
def prepare(prunes: bool) -> None:
    """Compile now, or load what was compiled, so that no later question waits for it."""
    ones, start, end = np.ones(1, np.float32), np.zeros(1, np.int64), np.ones(1, np.int64)
    lists = ItemArrays(np.zeros(1, np.int32), ones, start, end, 1, 1.0, start)
    passes = Passes(3.0, 1.0, 2.0, 0.0, 0, 0.5, 1.0, 1, 1, 0.0 if prunes else 1.0, 1)
    find([FieldArrays(lists, lists, end, 1.0)], start, passes, 1, lambda ids: ids)
    if not prunes:
        _best(np.ones(1), _NONE, 1, lambda ids: ids)
        second_limit(end, (start, np.ones(1)), passes)


def _lists(field: FieldArrays) -> Any:
    """A field as compiled code has it."""
    lists = field.by_feature.features.view(np.uint32), *field.by_feature[1:4]
    return lists, field.by_item[:4], field.stored, field.coefficient


def _score(
    fields: Sequence[FieldArrays], examples: Found, passes: Passes, limits: Sequence[Limit]
) -> tuple[Floats | None, list[Found]]:
    """The scores of all items, None where these are not sure; and features and weights of each field."""
    factors, weighted = _factors(passes[:4]), list[Found]()
    if factors is None:
        return None, weighted
    scores, total, negative = np.zeros(len(fields[0].by_item.starts)), 0.0, 0.0
    for field, limit in zip(fields, limits, strict=True):
        scratch, table = PruningScratch.take(field.by_item), (passes[:4], factors)
        allowed = passes.budget, passes.more, *limit
        sure, above, below, *weights = _add_field(scores, _lists(field), examples, table, allowed, scratch.have)
        scratch.give(0)
        if not sure:
            return None, weighted
        total, negative = total + above + below, negative + below
        weighted.append((weights[0], weights[1]))
    # Up to there no partial sum was rounded.
    is_sure = total >= 2 * LEAST_BOUND and scores.max() + negative < EXACT_BELOW_VALUED - 1
    return scores if is_sure else None, weighted


def _best_smoothed(scores: Floats, seeds: Ints, k: int, ranks: Ranks, smoothing: Smoothing | None) -> Found | None:
    """The k best items by smoothed scores; None where sums may be inexact, too, as scoring.base.is_exact tells."""
    if smoothing is not None:
        own, near = smooth(scores, smoothing.neighbors, seeds, smoothing.share)
        scores = scores + own + near
        if scores.max() >= EXACT_BELOW_VALUED / 2:
            return None
    return _best(scores, seeds, k, ranks)


def _best(scores: Floats, excluded: Ints, k: int, ranks: Ranks) -> Found | None:
    """The k best items; None if too many are equal, or not all have positive scores: ids without an item score 0."""
    state = np.full(k, -np.inf), np.empty(ROOM, np.int64), np.empty(ROOM), np.zeros(2, np.int64)
    end, count = _offer_all(scores, excluded, state)
    return None if state[0][0] <= 0 else in_order(end, state[1][:count], state[2][:count], k, ranks)


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
def gather(by_item: Any, examples: Any, weights: Any, have: Any) -> Any:
    """The features of examples, in no order, c_j and s_j; `have` `(n_features, 2)` has zeros, and is restored."""
    (features, values, starts, ends), room = by_item, 0
    for example in examples:
        room += ends[example] - starts[example]
    found, count = np.empty(room, np.int64), 0
    for i in range(len(examples)):
        for p in range(starts[examples[i]], ends[examples[i]]):
            feature = features[p]
            if have[feature, 0] == 0.0:
                found[count] = feature
                count += 1
            have[feature, 0] += weights[i]
            have[feature, 1] += weights[i] * values[p]
    having, sums = np.empty(count), np.empty(count)
    for j in range(count):
        feature = found[j]
        having[j], sums[j] = have[feature, 0], have[feature, 1]
        have[feature, 0] = have[feature, 1] = 0.0
    return found[:count], having, sums


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
def second_limit(stored: Any, first: Any, passes: Any) -> Any:
    """What a second pass may cost, and the features that always count (feedback.second_pass)."""
    (features, weights), cost, count = first, 0, 0
    strong = kth_largest(weights, min(passes.own, len(weights))) if len(weights) else 0.0
    always = np.empty(len(features), np.int64)
    for j in range(len(features)):
        always[count] = features[j]
        count += weights[j] >= strong
        cost += stored[features[j]] + passes.more
    return max(int(passes.feedback * cost), passes.least), always[:count]


@compiled
def units_of(seeds: Any, df: Any, table: Any, units: Any) -> None:
    """v_j of features in multiples of 2^-22, not rounded; a table learns the factors that it lacks."""
    (_, having, sums), (numbers, factors) = seeds, table
    for j in range(len(units)):
        c, d = int(HALVES * having[j]), max(df[j], 1)
        if not len(factors):
            own = factor(having[j], d, numbers)
        else:
            if factors[c, d] == 0.0:
                factors[c, d] = factor(having[j], d, numbers)
            own = factors[c, d]
        units[j] = sums[j] / numbers[1] * own * VALUE_LATTICE


@compiled
def _weigh(field: Any, examples: Any, table: Any, limits: Any, have: Any) -> Any:
    """Whether the weights of a field are sure, the sums of positive and negative ones; features, lists, weights."""
    (_, _, starts, ends), by_item, stored, coefficient = field
    (budget, more, most, always), sure = limits, True
    own = gather(by_item, examples[0], examples[1], have)
    costs = stored[own[0]] + more
    cost, is_limited = costs.sum(), most >= 0
    if not is_limited and budget:
        most = int(budget * cost ** (1 / 3) + 0.5)  # Lift.affordable
        is_limited = most < cost
    if is_limited and len(costs):
        estimates = np.empty(len(costs))
        units_of(own, costs - more, table, estimates)
        sure, own = strongest(own, costs, estimates, (most, always), have[:, 0])
    own_starts, own_ends, weights = starts[own[0]], ends[own[0]], np.empty(len(own[0]))
    units_of(own, own_ends - own_starts, table, weights)
    above = below = 0.0
    for j in range(len(weights)):
        units = weights[j] * coefficient
        sure &= is_sure(units)
        weights[j] = np.rint(units) / VALUE_LATTICE
        above += max(weights[j], 0.0)
        below += max(-weights[j], 0.0)
    return sure, above, below, own[0], own_starts, own_ends, weights


@compiled
def _prune(scratch: Any, field: Any, examples: Any, table: Any, limits: Any, excluded: Any, search: Any) -> Any:
    """How the search for the best items by a field ended, and their number; features and weights."""
    sure, above, below, features, starts, ends, weights = _weigh(field, examples, table, limits, scratch.have)
    largest = np.abs(weights).max() if len(weights) else 0.0
    if not sure or above + below >= EXACT_BELOW_VALUED or largest < LEAST_BOUND:
        return PRUNED_IN_VAIN, 0, features, weights
    lists = field[0][0], starts, ends, field[0][1], weights, features
    end, count = find_pruned(scratch, lists, field[1], excluded, search)
    return end, count, features, weights


@compiled
def _find_pruned(scratch: Any, field: Any, seeds: Any, passes: Any, limits: Any) -> Any:
    """How the search for the best items by one field ended, after one pass or two, and their number."""
    given, no_factors = (seeds, np.ones(len(seeds))), np.zeros((0, 0))
    table = (passes.n_items, passes.total, passes.strength, passes.exponent), no_factors
    search, limit = (passes.joining or limits[0], *limits[1:]), (passes.budget, passes.more, -1, seeds[:0])
    end, found, features, weights = _prune(scratch, field, given, table, limit, seeds, search)
    if not passes.joining:
        return end, found
    if end != DONE and not (end == TIES and found == passes.joining):
        return PRUNED_IN_VAIN, 0  # which of equal items join their names decide
    most, always = second_limit(field[2], (features, weights), passes)
    given = np.append(seeds, scratch.ids[:found]), np.append(given[1], np.full(found, passes.weight))
    table = (passes.n_items, given[1].sum(), passes.strength, passes.exponent), no_factors
    limit = passes.budget, passes.more, most, always
    end, found, _, _ = _prune(scratch, field, given, table, limit, seeds, limits)
    return end, found


@compiled
def _add_field(scores: Any, field: Any, examples: Any, table: Any, limits: Any, have: Any) -> Any:
    """Add what a field says; whether its weights are sure, the sums of both signs, its features and weights."""
    sure, above, below, features, starts, ends, weights = _weigh(field, examples, table, limits, have)
    if sure:
        add(scores, (field[0][0], starts, ends), field[0][1], weights, 0, len(scores), True)
    return sure, above, below, features, weights


@compiled
def _offer_all(scores: Any, excluded: Any, state: Any) -> Any:
    """How the search ended, and how many items the state begins with."""
    for id in excluded:
        scores[id] = -np.inf
    for id in range(len(scores)):
        if scores[id] >= state[0][0]:
            offer(state, id, scores[id])
    return sort_candidates(state)
