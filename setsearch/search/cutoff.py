"""Where a set ends: a threshold between the items that belong to it and those that do not.

    tau = floor + a (mean(5 best scores) - floor) + b (median(leave-one-out scores of the seeds) - floor)

    a = min(.1, .02 (N - 1)), b = .55;   a = min(.5, .25 + .02 (N - 1)), b = 0 where nothing is left out

Nothing is left out with one seed, of other models than lift, with rejected items or popularity. The floor is the score
of item 3 sqrt(n), at most 300, or of the middle one of few: what an item has in common with the seeds by chance. In a
large collection sets are larger, too. A shift of all scores shifts tau likewise. Leave-one-out scores have a part of
the vectors of words, and of no others.

What belongs is told only if the seeds find one another: at most a quarter of the other items, of a relation such as
ratings an eighth, scores above the middle seed that is left out. If others joined three seeds or more, this is asked of
the first pass: who joins is like each of the seeds, also of such as share nothing. So are neighbors of words, and the
latent vectors of three words or more must be more alike than those of most words at random, too. One seed of a relation
does not tell (docs/relevance.md), nor does one word with contexts beside words without, nor do vectors without features
that are no more alike than by chance (search/meaning.py).

How well each example fits the others: its score if it is left out of the set.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, bincount, median, places_among
from setsearch.memory.fields import Fields
from setsearch.models import Lift, Seeds
from setsearch.models.defaults import RATINGS, VECTORS, Defaults
from setsearch.search.examples import example_entries
from setsearch.search.meaning import are_alike
from setsearch.search.weights import TELLING, SeedWeights

LEADERS = 5  # the best scores, of which tau takes the mean
LEADERS_GROWTH = 0.02  # of a, for each further seed
LEADERS_SHARE, LEADERS_LIMIT = 0.25, 0.5  # a of one seed, and at most
LEADERS_BESIDE, SEEDS_SHARE = 0.1, 0.55  # a at most beside seeds that are left out, and b
UNLIKE, UNLIKE_IN_RELATIONS = 1 / 4, 1 / 8  # of the items, which may score above the middle seed
WORDS_ALIKE = 0.7  # deviations from chance of the mean cosine of words: a quarter at random has more
FEW = 50  # that always may: in a small collection a set may be half of it
NEARLY = 1e-9  # relative: logarithms of the core and of numpy differ by less
FLOOR, DEEPEST = 3, 300  # times sqrt(n), and at most: the place of the item with the score that others have by chance


def belonging(
    fields: Fields, weights: SeedWeights, scores: Floats, leaders: Floats, more: Callable[[], Floats] | None = None
) -> npt.NDArray[np.bool_]:
    """Which scores are above the threshold, `(n,)`; `leaders` are the `n_leading` best ones, or all, best first.

    They may be fewer, LEADERS at least, where `more` finds all: then these are asked for only if they decide.
    """
    known = weights.found.known
    if more is not None and known is not None and len(leaders) < n_leading(fields):
        floors = known.least / weights.scale + weights.constant, float(leaders[-1])
        share, height = _share_of_height(fields, weights, leaders, exactly=False)
        low, high = (floor + share * (height - floor) for floor in floors)  # the line grows with its floor
        margin = NEARLY * max(abs(low), abs(high), 1.0)
        above: npt.NDArray[np.bool_] = scores > high + margin
        if (above | (scores < low - margin)).all():
            return above
        leaders = more()
    return _above(scores, partial(threshold, fields, weights, leaders))


def _above(scores: Floats, find: Callable[..., float]) -> npt.NDArray[np.bool_]:
    """Which scores are above a bound, which is found `exactly` only where its last bits may decide."""
    bound = find(exactly=False)
    if np.abs(scores - bound).min() < NEARLY * max(abs(bound), 1.0):
        bound = find(exactly=True)
    above: npt.NDArray[np.bool_] = scores > bound
    return above


def threshold(fields: Fields, weights: SeedWeights, scores: Floats, exactly: bool = True) -> float:
    """tau: items with a larger score belong. `scores` are the `n_leading` best ones, or all, best first."""
    floor, (share, height) = floor_of(fields, scores), _share_of_height(fields, weights, scores, exactly)
    return floor + share * (height - floor)


def _share_of_height(fields: Fields, weights: SeedWeights, scores: Floats, exactly: bool) -> tuple[float, float]:
    """At which share of the way from the floor to what score tau lies. `scores` are the best ones."""
    best, more = float(np.mean(scores[:LEADERS])), LEADERS_GROWTH * (max(weights.examples.total, 1.0) - 1)
    if not _finds_seeds(weights) or weights.negative:
        return min(LEADERS_SHARE + more, LEADERS_LIMIT), best
    beside = min(more, LEADERS_BESIDE)
    share = beside + SEEDS_SHARE
    return share, (beside * best + SEEDS_SHARE * median(leave_one_out_scores(fields, weights, exactly))) / share


def floor_of(fields: Fields, scores: Floats) -> float:
    """What an item has in common with the seeds by chance; `scores` as for `threshold`."""
    return float(scores[min(_floor_place(fields), len(scores)) - 1])


def n_leading(fields: Fields) -> int:
    """How many of the best scores draw the line."""
    return max(_floor_place(fields), LEADERS)


def _floor_place(fields: Fields) -> int:
    """The place of the item whose score is the floor."""
    n = fields.items.size
    return max(min(FLOOR * math.isqrt(n), DEEPEST, n // 2), 1)


def tells(fields: Fields, weights: SeedWeights, leaders: Floats, excluded: Sequence[int], defaults: Defaults) -> bool:
    """Whether the seeds tell what belongs; `leaders` as for `threshold`, of all items but the `excluded` and seeds."""
    if defaults == VECTORS and fields.vectors is not None:
        alike = are_alike(fields.vectors(), weights.examples)
        return weights.examples.count == 1 if alike is None else alike
    if not _finds_seeds(weights):
        return can_tell(weights, defaults)
    if not _may_be_alike(fields, weights):
        return False
    marked = {*excluded, *weights.examples.seeds}
    others, above = fields.items.size - len(marked), weights.found.told.above
    if above is None:
        if (telling := weights.telling) is not weights:
            leaders = telling.best_scores(sorted(marked), n_leading(fields)) + telling.constant
        above = int(above_middle(fields, telling, leaders).sum())
        if above == len(leaders) < others:
            scores = telling.scores() + telling.constant
            scores[[*marked]] = -np.inf
            above = int(above_middle(fields, telling, scores).sum())
    return few_above(above, others, defaults)


def _may_be_alike(fields: Fields, weights: SeedWeights) -> bool:
    """Whether nothing says that words are no more alike than words at random: vectors do, if they are in the scores."""
    examples = weights.examples
    if fields.vectors is None or not weights.has_priors or len(examples.ids) < TELLING:
        return True
    return are_alike(fields.vectors(), examples, WORDS_ALIKE) is not False


def above_middle(fields: Fields, weights: SeedWeights, scores: Floats) -> npt.NDArray[np.bool_]:
    """Which scores are above the middle seed, `(n,)`."""
    return _above(scores, partial(middle_seed, fields, weights))


def middle_seed(fields: Fields, weights: SeedWeights, exactly: bool = False) -> float:
    """The score that few items may exceed; infinite for one seed."""
    return median(leave_one_out_scores(fields, weights, exactly)) if _finds_seeds(weights) else np.inf


def can_tell(weights: SeedWeights, defaults: Defaults) -> bool:
    """Whether seeds tell what belongs that cannot find one another."""
    if defaults.kind == RATINGS:
        return not _can_leave_out(weights)
    return not weights.examples.rare or len(weights.examples.ids) > 1


def few_above(above: int, others: int, defaults: Defaults) -> bool:
    """Whether so few of the other items score above the middle seed that what belongs can be told."""
    share, number = few(defaults)
    return above <= max(share * others, number)


def few(defaults: Defaults) -> tuple[float, float]:
    """The share of the other items that are few, and the number that always are."""
    return (UNLIKE_IN_RELATIONS, 0.0) if defaults.kind == RATINGS else (UNLIKE, FEW)


def _finds_seeds(weights: SeedWeights) -> bool:
    """Whether there are several seeds, of which one can be left out: not one word beside words without contexts."""
    examples = weights.examples
    return _can_leave_out(weights) and examples.count > 1 and not (examples.rare and len(examples.ids) < 2)


def _can_leave_out(weights: SeedWeights) -> bool:
    is_known = not weights.has_priors or weights.knows_seeds
    return isinstance(weights.model, Lift) and is_known and not weights.corrections


ODD = 1 / 4  # of the middle score of the others, below which a seed is odd
ENOUGH = 3  # seeds, to say that one of them is odd


class SeedFit(NamedTuple):
    """A seed, and the score, in nats, that it has if the other seeds are the set."""

    item: str
    score: float
    title: str | None = None


def odd_one(fits: Sequence[SeedFit]) -> SeedFit | None:
    """The seed that fits least, if it fits much less than the others; `fits` ascend by score."""
    if len(fits) < ENOUGH:
        return None
    return fits[0] if fits[0].score < ODD * median([fit.score for fit in fits[1:]]) else None


def fits(fields: Fields, weights: SeedWeights) -> list[SeedFit]:
    """The seeds (ascending ids) with their scores, the lowest first; empty for one, for no features, other models."""
    examples = weights.examples
    has_features = any(len(own.seeds.features) for own in weights.positive)
    if examples.count < 2 or not isinstance(weights.model, Lift) or not has_features:
        return []
    scores, names = leave_one_out_scores(fields, weights).tolist(), fields.describe(examples.ids)
    described = [names[id] for id in examples.ids]
    if fields.stored is not None:  # words without contexts, by their documents
        described += [fields.stored.describe([id])[id] for id in examples.rare]
    found = [SeedFit(name, score, title) for (name, title), score in zip(described, scores, strict=True)]
    return sorted(found, key=lambda fit: (fit.score, fit.item))


def leave_one_out_scores(fields: Fields, weights: SeedWeights, exactly: bool = True) -> Floats:
    """The score of each of at least two examples if the others, and items that joined, are the set, `(n_examples,)`.

    For the model lift, by the features that count for the set. If the others have no weight, it is 0. If the core has
    found it, it is exact but for the last bits of logarithms, unless `exactly`.
    """
    found = None if exactly else weights.found.told.left_out
    if found is not None and any(weights.waiting):
        return found
    scores = _by_numpy(fields, weights) if found is None else found.copy()
    if weights.neighborhood is not None:  # entries number the examples in the order of ids
        ids, (_, near, factors, *_) = sorted(weights.examples.ids), weights.neighborhood
        scores[: len(ids)] = scores[: len(ids)] * factors[ids] + near[ids] / weights.scale
    if weights.of_seeds is not None:
        scores[: len(weights.examples.ids)] += weights.of_seeds()
    return scores


def _by_numpy(fields: Fields, weights: SeedWeights) -> Floats:
    """The same of features alone."""
    model, count, shares = weights.model, weights.examples.count, weights.examples.weight()
    scores = np.zeros(count)
    for own in weights.positive:
        examples = weights.examples.within(own.field)
        total = (weights.joined or weights.examples).within(own.field).total
        which, features, values = example_entries(own.field, examples, model.rule)
        positions, counted = places_among(own.seeds.features, features)
        which, positions, values = which[counted], positions[counted], values[counted]
        for share in sorted({*shares[: examples.count].tolist()}):
            if share == total:
                continue
            mine = shares[which] == share
            seed, at, own_values = which[mine], positions[mine], values[mine]
            others = Seeds(
                own.seeds.features[at],
                own.seeds.having[at] - share,
                own.seeds.sums[at] - share * own_values,
                total - share,
                given=None if own.seeds.given is None else own.seeds.given - share,
            )
            added = model.query(others, own.df[at], fields.items.size).weights * own_values
            scores += own.coefficient * bincount(seed, added, count)
    return scores
