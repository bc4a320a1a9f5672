"""What rejected items teach: a correction of the scores that separates accepted from rejected ones (models/svm.py).

    f(x) = p lift(x) / l + b + sum_j w_j x_j        l: the mean of the five best scores

How far it may go depends on the question. A review asks for the next record, again and again, and without a second pass
(search/passes.py); what it rejected are the nearest records, hundreds of them. Then what was learned takes over from
lift the more, the more were rejected: of n items, R of them,

    p = 3 t R^(-2/3)        t = min(1, n / 1000)^3        C = 0.1

A question with a second pass, as documents have by default, asks once, and its order is good already, best of all
without the errors that were rejected. What was learned is a correction: p = 1, and C is smaller, the more so the more
were rejected, which violate the margin together, and the fewer of N accepted examples there are:

    C = 0.1 min(1, 0.3 N^(1/2) R^(-2/3))        with C = 0 the rejected items are only left out

Accepted examples together weigh twice as much as all others: the rejected ones, each 1, and a sample of the items that
nobody marked, as weak negatives, 20 t + 0.3 R together. In small collections, which often have one topic, lift knows
little, and an item that nobody marked often belongs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import (
    HASH,
    VALUE_LATTICE,
    Floats,
    Ints,
    bincount,
    distinct,
    places_among,
    places_of,
    repeat,
    take,
)
from setsearch.memory.fields import Fields
from setsearch.models import Lift, Model
from setsearch.models.model import Query, Seeds
from setsearch.models.svm import Marked, fit, svm_rule
from setsearch.models.values import ValueRule
from setsearch.search.cutoff import LEADERS
from setsearch.search.examples import Examples, example_entries
from setsearch.search.feature_weights import FieldWeights, weighted_lists
from setsearch.search.weights import SeedWeights

PRIOR, DECAY = 3.0, 2 / 3  # the share of lift, in margins, with one rejection, and how it falls
SETTLED, CAUTION = 1.0, 0.3  # with a second pass: this share, and the weights of one accepted and one rejected example
ACCEPTED = 2.0  # the weight of all accepted examples, for that of all others
UNMARKED, UNMARKED_SHARE = 20.0, 0.3  # the weight of the sample: in any case, and for each rejection
SAMPLE = 200  # items that nobody marked
LIKELY = 2  # times as many items have so small hashes that the sample is likely among them
LEAST_WEIGHT = 1e-9  # of an example whose weight is 0
LARGE = 1000  # items

Cells = tuple[Ints, Ints, Floats]  # row, feature, value


class Unmarked(NamedTuple):
    """The items that nobody marked: how many, the scores of the best ones, and a sample of ids, ascending."""

    size: int
    leaders: Floats
    sample: list[int]


def with_correction(fields: Fields, weights: SeedWeights, rejected: Sequence[int], twice: bool) -> SeedWeights:
    """The weights of accepted examples, corrected by what separates them from rejected items.

    `twice`: whether the question may have a second pass.
    """
    scores, marked = weights.scores(), [*weights.examples.seeds, *rejected]
    exists = scores > -np.inf
    exists[marked] = False
    ids, best = np.flatnonzero(exists), weights.best_scores(marked, LEADERS)
    unmarked = Unmarked(len(ids), best, _sample(fields, ids, correction_rule(weights.model)))
    return corrected(fields, weights, rejected, unmarked, lambda items: scores[items], twice)


def correction_rule(model: Model) -> ValueRule:
    """The values that the correction of a model weighs."""
    assert isinstance(model, Lift)
    return svm_rule(model.slope, model.fields)


def corrected(
    fields: Fields,
    weights: SeedWeights,
    rejected: Sequence[int],
    unmarked: Unmarked,
    scores_of: Callable[[Ints], Floats],
    twice: bool,
) -> SeedWeights:
    """The same, given the items that nobody marked and a function from items to their scores."""
    examples, rule = weights.examples, correction_rule(weights.model)
    trust = min(1.0, fields.items.size / LARGE) ** 3
    share = _share(unmarked, SETTLED if twice else PRIOR * trust / len(rejected) ** DECAY)
    groups = [replace(examples, ids=sorted(examples.ids)), Examples(sorted(rejected)), Examples(unmarked.sample)]
    everyone, order = _everyone(groups)
    cells = [example_entries(field, everyone.within(field), rule) for field in fields.all]
    known = [distinct(features) for _, features, _ in cells]
    columns = [take(places_of(own), features) for own, (_, features, _) in zip(known, cells, strict=True)]
    caution = min(1.0, CAUTION * math.sqrt(examples.total) / len(rejected) ** DECAY) if twice else 1.0
    signs, costs = _targets(groups, trust, caution)
    given = [share * scores_of(np.array(group.ids, np.int64)) for group in groups]
    given.insert(1, share * scores_of_examples(weights, replace(examples, ids=[], weights=None)))
    targets = signs[order], costs[order], np.concatenate(given)[order]
    shares = np.append(groups[0].weight(), np.zeros(len(order) - examples.count))[order]
    starts = np.cumsum([0, *map(len, known)])
    marked = Marked(*_side_by_side(fields, cells, columns, starts), *targets)
    learned, bias = fit(marked, int(starts[-1]))
    corrections = []
    for field, own, (rows, _, values), places, start in zip(fields.all, known, cells, columns, starts, strict=False):
        query = Query(learned[start : start + len(own)] / np.sqrt(field.coefficient), np.zeros(len(own)))
        lists = weighted_lists(field.postings(own, rule), query)
        seeds = _seeds(own, (rows, places, values), signs[order] > 0, shares, examples.total)
        corrections.append(FieldWeights(field, seeds, query, lists, lists, rule, field.coefficient))
    return weights.corrected(share, corrections, round(bias * VALUE_LATTICE) / VALUE_LATTICE)


def _share(unmarked: Unmarked, wanted: float) -> float:
    """By what scores are multiplied, so that the best of those that nobody marked are near a margin."""
    best = float(np.mean(unmarked.leaders)) if unmarked.size > LEADERS else 0.0
    return wanted / best if best > 0 else 0.0


def hashes(norms: Floats) -> npt.NDArray[np.uint64]:
    """Numbers that look random, by the norms of items: those of equal items are equal."""
    return norms.view(np.uint64) * HASH


def _sample(fields: Fields, items: Ints, rule: ValueRule) -> list[int]:
    """Some items, ascending: those whose norms have the least hashes, so that the order of writes is of no matter."""
    norms = fields.first.statistics(rule).norms
    if norms is None or len(items) <= SAMPLE:
        return list(items.tolist())
    of_items = hashes(norms[items])
    few = of_items < np.uint64(2.0**64 * min(LIKELY * SAMPLE / len(items), 0.5))
    if np.count_nonzero(few) >= SAMPLE:
        items, of_items = items[few], of_items[few]
    least = np.partition(of_items, SAMPLE - 1)[SAMPLE - 1]
    sure, ties = items[of_items < least], items[of_items == least]
    first = ties[np.argsort(fields.ranks(ties), kind="stable")][: SAMPLE - len(sure)]
    return sorted([*sure.tolist(), *first.tolist()])


def _targets(groups: Sequence[Examples], trust: float, factor: float) -> tuple[Floats, Floats]:
    """Signs and weights of accepted, rejected and unmarked items; weights are multiplied by a factor."""
    accepted, rejected, others = groups
    unmarked = UNMARKED * trust + UNMARKED_SHARE * rejected.count
    negative = rejected.count + (unmarked if others.count else 0.0)
    weights = [
        accepted.weight() * (ACCEPTED * negative / accepted.total),
        np.ones(rejected.count),
        np.full(others.count, unmarked / max(others.count, 1)),
    ]
    signs = repeat([1.0, -1.0, -1.0], [group.count for group in groups])
    return signs, np.maximum(factor * np.concatenate(weights), LEAST_WEIGHT)


def _everyone(groups: Sequence[Examples]) -> tuple[Examples, Ints]:
    """The items of all groups, ascending, then the texts of the first; and the place of each, group after group."""
    texts = np.arange(len(groups[0].ids), groups[0].count)
    ids = np.array([id for group in groups for id in group.ids], np.int64)
    order = np.argsort(ids)
    places = order + len(texts) * (order >= len(groups[0].ids))
    return replace(groups[0], ids=ids[order].tolist(), weights=None), np.append(places, texts)


def _side_by_side(fields: Fields, cells: Sequence[Cells], columns: Sequence[Ints], starts: Ints) -> Cells:
    """The entries of all fields, row after row, a column for each known feature of each."""
    if len(cells) == 1 and fields.first.coefficient == 1:
        return cells[0][0], columns[0], cells[0][2]
    parts = [
        (rows, places + start, values * np.sqrt(field.coefficient))
        for field, (rows, _, values), places, start in zip(fields.all, cells, columns, starts, strict=False)
    ]
    rows, places, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(rows, kind="stable")
    return rows[order], places[order], values[order]


def scores_of_examples(weights: SeedWeights, examples: Examples) -> Floats:
    """What examples score, `(n,)`, without base and constant."""
    scores = np.zeros(examples.count)
    for own in weights.positive if examples.count else ():
        rows, features, values = example_entries(own.field, examples.within(own.field), own.rule)
        places, shared = places_among(own.seeds.features, features)
        added = own.added(places[shared], values[shared])
        scores += bincount(rows[shared], added, len(scores))
    return scores


def _seeds(features: Ints, cells: Cells, accepted: npt.NDArray[np.bool_], shares: Floats, total: float) -> Seeds:
    """How many accepted examples have each feature, given its places in the entries, and how much."""
    rows, places, values = (part.compress(take(accepted, cells[0])) for part in cells)
    weights = take(shares, rows)
    having = bincount(places, weights, len(features)).astype(float)
    sums = bincount(places, weights * values, len(features)).astype(float)
    return Seeds(features, having, sums, total)
