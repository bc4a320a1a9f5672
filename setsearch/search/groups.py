"""Groups among the examples: two sets that were asked at once, each of which is answered by itself.

How alike two examples are is the cosine of their values x, where each feature counts by its lift for one seed:

    s_ab = r_ab / sqrt(r_aa r_bb)         r_ab = sum over fields and features j of lift_j x_aj x_bj

Two groups are those with the least mean s between them less the mean s within them, of two examples at least if there
are four. Of more groups, each comes from the group that can be divided best.

Documents are divided without being asked if four things hold. The examples of a group are alike: the mean s within the
groups is above .04. The best hits of all examples together are like one of the groups: sum over hits of the smaller
mean s with a group < .2 sum of the larger. The examples do not share little: no more than a quarter of 256 items score
above the middle seed that is left out. And to each group the 50 best hits of the other one, at most a twentieth of the
items, are strangers, for those of parts of one large set find one another: the mean of -ln(their rank among all other
items, as a share) is that of items drawn at random or less, but for a standard deviation of these, and less than half
of what it is between two halves of a group. The first two cost little, and the core finds where the second, or the
third one, surely does not hold. Each group is then looked at likewise.

Examples that share much and are not divided may have a group, of a third of them at least, that is not heard: of the
mean s of the best hits with it and with the other one, its part is less than .55 of its part of the examples. A few of
the best hits of its own question are then shown among those of all (answers/ranking.py).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints
from setsearch.core.question import Asking, one_after_another
from setsearch.errors import NoSeeds
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.models import Lift, Model, Seeds
from setsearch.scoring.best import ByIds, middle_ranks
from setsearch.search.cutoff import FEW, UNLIKE, above_middle
from setsearch.search.examples import Examples, example_entries
from setsearch.search.weights import SeedWeights

Ask = Callable[[Examples], Asking[SeedWeights]]
Masks = npt.NDArray[np.bool_]  # of examples: those of one group

FEWEST = 4  # examples of which two and two can be groups
MOST = 50  # examples that are divided, as options.py says
ALL_OF = 10  # of so many examples all divisions are tried, and groups are found without being asked for
SOME = 256  # existing items at equal steps that tell whether examples share little
LEADERS = 5  # hits that are like one group or both
HITS = 50  # of a group, which are strangers to the other one
FEW_HITS = 1 / 20  # of the items, which are fewer in a small collection
STRANGE = 1 / 2  # of the nearness of the halves of a group
ONE_SIDED = 0.2  # of the larger mean s: hits are like one group alone
UNHEARD, LEAST_PART = 0.55, 1 / 3  # of the part of a group of the examples, and the least such part
LEAST_ALIKE = 0.04  # the mean s within the groups
LEAST_ITEMS = 100  # of a collection in which ranks tell something


class Divided(NamedTuple):
    """The weights of the groups among examples, which take turns, or of all examples alone.

    `unheard`: those of a group that is not heard in the list of all examples.
    """

    in_turn: list[SeedWeights]
    unheard: SeedWeights | None = None


def find_groups(
    fields: Fields, weights: SeedWeights, excluded: Sequence[int], ask: Ask, ask_beside: Ask | None = None
) -> Asking[Divided]:
    """The groups among the examples of `weights`, in the order of their first ids.

    Examples that are divided are items, and equal. `excluded`: the items that are no hits, seeds among them.
    `ask_beside`: asks for a group that is not heard; None: there is none.
    """
    examples = weights.examples
    are_items = examples.count == len(examples.ids) and examples.weights is None
    is_enough = FEWEST <= examples.count <= ALL_OF and fields.items.size >= LEAST_ITEMS
    surely_one = weights.found.told.together and not (ask_beside and weights.found.told.unheard)
    if surely_one or not (is_enough and are_items and isinstance(weights.model, Lift)):
        return Divided([weights])
    examples = _in_order(examples)
    if weights.found.told.together:
        assert ask_beside is not None
        return Divided([weights], (yield from ask_beside(examples.part(weights.found.told.unheard))))
    leaders = sorted(weights.best(excluded, LEADERS, fields)[0].tolist())
    own = np.searchsorted(every := np.array(sorted([*examples.ids, *leaders])), examples.ids)
    alike = likeness(fields, replace(examples, ids=every.tolist()), weights.model)
    one = divide(among := alike[np.ix_(own, own)])
    hits = np.delete(alike[own], own, axis=1)
    both = np.array([hits[one].mean(axis=0), hits[~one].mean(axis=0)])
    parts, asked = [examples.part(np.flatnonzero(mask)) for mask in (one, ~one)], list[SeedWeights]()
    are_sets = _within(among, one[None])[0] > LEAST_ALIKE
    are_sets = are_sets and both.min(axis=0).sum() < ONE_SIDED * both.max(axis=0).sum()
    unheard = _unheard(both.sum(axis=1), np.array([part.count for part in parts])) if ask_beside else None
    is_one = not are_sets and unheard is None
    if is_one or (not weights.found.told.share_much and _share_little(fields, weights, excluded)):
        return Divided([weights])
    if are_sets:
        asked = yield from one_after_another(map(ask, parts))
        if (yield from _are_strangers(fields, asked, excluded, ask)):
            divided = yield from one_after_another(find_groups(fields, part, excluded, ask) for part in asked)
            return Divided([own for groups in divided for own in groups.in_turn])
    if unheard is None or ask_beside is None:
        return Divided([weights])
    return Divided([weights], asked[unheard] if asked else (yield from ask_beside(parts[unheard])))


def _unheard(heard: Floats, counts: Ints) -> int | None:
    """The place of the group that is not heard, by the mean s of the best hits with two of some sizes."""
    share = counts / counts.sum()
    unheard = np.flatnonzero((heard < UNHEARD * share * heard.sum()) & (share >= LEAST_PART))
    return int(unheard[0]) if len(unheard) else None


def _share_little(fields: Fields, weights: SeedWeights, excluded: Sequence[int]) -> bool:
    """Whether more of SOME items than a quarter, or FEW of all, score above the middle seed that is left out."""
    if weights.has_priors or weights.corrections:  # which the scores of seeds that are left out do not have
        return False
    existing = np.flatnonzero(weights.base.items > -np.inf)
    count = min(len(existing), SOME)
    ids = existing[np.arange(count) * len(existing) // count]
    fields.first.forward(ids.tolist(), weights.model.rule)  # now they have values, so that the core can do the same
    others = ids[~np.isin(ids, excluded)]
    above = np.count_nonzero(above_middle(fields, weights, weights.scores()[others]))
    return bool(above > max(UNLIKE * len(ids), FEW * len(ids) / fields.items.size))


def _are_strangers(fields: Fields, asked: Sequence[SeedWeights], excluded: Sequence[int], ask: Ask) -> Asking[bool]:
    """Whether the best hits of neither of two groups rank too high in the other."""
    parts = [own.examples for own in asked]
    marked = sorted({*excluded, *parts[0].ids, *parts[1].ids})
    places = fields.items.size - len(marked)
    k = max(1, min(HITS, int(FEW_HITS * places)))

    def nearness(asked: Sequence[SeedWeights]) -> float:
        """The mean of -ln(rank as a share) of the k best hits of each of two questions in the other one."""
        found, by_ids = 0.0, ByIds(len(asked[0].base.items))
        for own, other in (asked, asked[::-1]):
            hits, sums = own.best(marked, k, by_ids)[0], other.sums()
            found -= float(np.mean(np.log(middle_ranks(sums, sums[hits], marked) / (places + 1)))) / 2
        return found

    at_random = math.log(places + 1) - math.lgamma(places + 1) / places  # 1, if there are many items
    if not (between := nearness(asked)) < at_random + 1 / math.sqrt(2 * k):
        return False
    within = 0.0
    for part in parts:
        halves = [part.part(np.arange(first, part.count, 2)) for first in (0, 1)]
        within += nearness((yield from one_after_another(map(ask, halves)))) / 2
    return between < STRANGE * within


def make_groups(fields: Fields, examples: Examples, model: Model, count: int) -> list[Examples]:
    """Examples in so many groups, in the order of the first of each. Raises NoSeeds if there are too few or many."""
    examples = _in_order(examples)
    if count == 1:
        return [examples]
    if not count <= examples.count <= MOST:
        raise NoSeeds(f"groups = {count} needs {count} to {MOST} examples, not {examples.count}; 1 makes one list")
    alike = likeness(fields, examples, model)
    groups = [np.arange(examples.count)]
    while len(groups) < count:
        divided = []
        for place, group in enumerate(groups):
            if len(group) > 1:
                own = alike[np.ix_(group, group)]
                mask = divide(own)
                divided.append((float(_apartness(own, mask[None])[0]), place, mask))
        _, place, mask = min(divided, key=lambda each: each[:2])
        groups[place : place + 1] = [groups[place][mask], groups[place][~mask]]
    parts = [examples.part(group) for group in sorted(groups, key=lambda group: int(group[0]))]
    if not all(part.total for part in parts):
        raise NoSeeds("a group would have examples of weight 0 alone; give one of them a larger weight")
    return parts


def likeness(fields: Fields, examples: Examples, model: Model) -> Floats:
    """s, how alike examples are, `(n_examples, n_examples)`; their ids ascend."""
    products = np.zeros((examples.count, examples.count))
    for field in fields.all:
        products += field.coefficient * _products(field, examples.within(field), examples, model, fields.items.size)
    lengths = np.sqrt(np.maximum(np.diagonal(products), 0.0))
    norms = np.outer(lengths, lengths)
    alike: Floats = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return alike


def _products(field: Field, own: Examples, examples: Examples, model: Model, n_items: int) -> Floats:
    """r of one field; examples that it does not know have none."""
    which, features, values = example_entries(field, own, model.rule)
    features, places = np.unique(features, return_inverse=True)
    lift = model if isinstance(model, Lift) else Lift()
    ones = np.ones(len(features))
    weights = lift.query(Seeds(features, ones, ones, 1), field.stored_lengths(features), n_items).weights
    table = np.zeros((examples.count, len(features)))
    table[which, places] = values
    products: Floats = np.matmul(table * weights, table.T)
    return products


def divide(alike: Floats) -> npt.NDArray[np.bool_]:
    """Which of two examples at least are in the group of the first one, `(n,)`."""
    n = len(alike)
    if n <= ALL_OF:
        masks = np.arange(1 << (n - 1))[:, None] >> np.arange(n) & 1 == 0
        return _best(alike, masks)[1]
    first, last = np.unravel_index(np.argmin(alike + np.eye(n) * n), alike.shape)
    mask = alike[first] > alike[last]
    mask[first], mask[last] = True, False
    flips = [np.isin(np.arange(n), moved) for count in (1, 2) for moved in combinations(range(n), count)]
    least = np.inf
    while True:
        found, better = _best(alike, np.concatenate([mask[None], mask ^ np.array(flips)]))
        if not found < least:
            same: npt.NDArray[np.bool_] = mask == mask[0]
            return same
        least, mask = found, better


def _best(alike: Floats, masks: Masks) -> tuple[float, npt.NDArray[np.bool_]]:
    """The first of the divisions whose groups are the farthest apart, and how far."""
    apart = _apartness(alike, masks)
    place = int(np.argmin(apart))
    return float(apart[place]), masks[place]


def _apartness(alike: Floats, masks: Masks) -> Floats:
    """The mean s between the groups of each division less that within them; infinite for a group that is too small."""
    one, other = masks.astype(float), (~masks).astype(float)
    sizes = np.array([one.sum(axis=1), other.sum(axis=1)])
    between = np.einsum("ij,ij->i", one @ alike, other) / np.maximum(sizes.prod(axis=0), 1)
    apart: Floats = between - _within(alike, masks)
    apart[sizes.min(axis=0) < (2 if len(alike) >= FEWEST else 1)] = np.inf
    return apart


def _within(alike: Floats, masks: Masks) -> Floats:
    """The mean s within the groups of each division."""
    outside = alike * (1 - np.eye(len(alike)))
    sums, pairs = np.zeros(len(masks)), np.zeros(len(masks))
    for own in (masks.astype(float), (~masks).astype(float)):
        size = own.sum(axis=1)
        sums, pairs = sums + np.einsum("ij,ij->i", own @ outside, own), pairs + size * (size - 1)
    within: Floats = sums / np.maximum(pairs, 1)
    return within


def _in_order(examples: Examples) -> Examples:
    return replace(examples, ids=sorted(examples.ids))
