"""Where a set ends: a threshold between the items that belong to it and those that do not.

    tau = floor + a (mean(5 best scores) - floor) + b max(median(leave-one-out scores of the seeds) - floor, 0)

        a = .2    b = min(.4, .05 (N - 1))        of words whose neighbors count: a = .25, b = min(.4, .1 (N - 1))

The floor is the score of the hundredth item, or of the middle one of less than 200: what an item has in common with the
seeds by chance. A shift of all scores shifts tau likewise. Leave-one-out scores are those of the model lift, without
vectors and rejected items; where there are none, b = 0 and a grows by .02 (N - 1), up to 1/2. Relations such as
ratings, whose sets may be much larger, have

    tau = c mean(5 best scores) + d median(leave-one-out scores of the seeds)

with one seed c' mean(5 best scores); models/defaults.py has c, d and c'. What belongs there is told only if the seeds
find one another: at most an eighth of the other items scores above the middle score of a seed that is left out. One
seed does not tell (docs/relevance.md), nor does one word with contexts beside words without.

How well each example fits the others: its score if it is left out of the set.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, median, places_among
from setsearch.memory.fields import Fields
from setsearch.models import Lift, Seeds
from setsearch.models.defaults import Defaults
from setsearch.search.examples import example_entries
from setsearch.search.weights import SeedWeights

LEADERS = 5
LEADERS_SHARE, LEADERS_GROWTH, LEADERS_LIMIT = 0.2, 0.02, 0.5
SEEDS_GROWTH, SEEDS_LIMIT = 0.05, 0.4
SMOOTHED_SHARE, SMOOTHED_GROWTH = 0.25, 0.1
UNLIKE = 1 / 8  # of the items, which may score above the middle seed
NEARLY = 1e-9  # relative: logarithms of the core and of numpy differ by less
FLOOR = 100  # the place of the item with the score that others have by chance


def belonging(
    fields: Fields, weights: SeedWeights, scores: Floats, leaders: Floats, defaults: Defaults
) -> npt.NDArray[np.bool_]:
    """Which scores are above the threshold, `(n,)`; `leaders` are the FLOOR best ones, or all, best first."""
    tau = threshold(fields, weights, leaders, defaults, exactly=False)
    if np.abs(scores - tau).min() < NEARLY * max(abs(tau), 1.0):
        tau = threshold(fields, weights, leaders, defaults)
    above: npt.NDArray[np.bool_] = scores > tau
    return above


def threshold(fields: Fields, weights: SeedWeights, scores: Floats, defaults: Defaults, exactly: bool = True) -> float:
    """tau: items with a larger score belong. `scores` are the FLOOR best ones, or all, best first."""
    mean, further = float(np.mean(scores[:LEADERS])), max(weights.examples.total, 1.0) - 1
    several = _can_leave_out(weights) and weights.examples.count > 1
    if _is_of_relation(weights, defaults):
        assert defaults.left_out is not None
        of_leaders, of_seeds, of_one = defaults.left_out
        if several:
            return of_leaders * mean + of_seeds * median(leave_one_out_scores(fields, weights, exactly))
        return of_one * mean
    place = min(FLOOR, fields.items.size // 2, len(scores))
    floor = float(scores[max(place, 1) - 1])
    smoothed = weights.neighborhood is not None
    share, growth = (SMOOTHED_SHARE, SMOOTHED_GROWTH) if smoothed else (LEADERS_SHARE, SEEDS_GROWTH)
    if not several or weights.negative:
        return floor + min(share + LEADERS_GROWTH * further, LEADERS_LIMIT) * (mean - floor)
    above = max(median(leave_one_out_scores(fields, weights, exactly)) - floor, 0.0)
    return floor + share * (mean - floor) + min(growth * further, SEEDS_LIMIT) * above


def tells(fields: Fields, weights: SeedWeights, defaults: Defaults) -> bool:
    """Whether the seeds tell what belongs, without being asked for it."""
    bound = middle_seed(fields, weights, defaults)
    if np.isinf(bound):
        return bound > 0
    above, seeds = weights.scores() > bound, weights.examples.seeds
    return few_above(int(above.sum() - above[seeds].sum()), fields.items.size - len(seeds))


def middle_seed(fields: Fields, weights: SeedWeights, defaults: Defaults) -> float:
    """The score that few items may exceed: infinite where that does not matter, -infinite for one seed."""
    if not _is_of_relation(weights, defaults):
        return -np.inf if weights.examples.rare and len(weights.examples.ids) < 2 else np.inf
    return median(leave_one_out_scores(fields, weights)) if weights.examples.count > 1 else -np.inf


def few_above(above: int, others: int) -> bool:
    """Whether so few of the other items score above the middle seed that what belongs can be told."""
    return above <= UNLIKE * others


def _can_leave_out(weights: SeedWeights) -> bool:
    return isinstance(weights.model, Lift) and not weights.priors and not weights.corrections


def _is_of_relation(weights: SeedWeights, defaults: Defaults) -> bool:
    """Whether the threshold is that of relations such as ratings."""
    return _can_leave_out(weights) and defaults.left_out is not None and weights.join is None


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
    """The score of each of at least two examples if the others, and what joined them, are the set, `(n_examples,)`.

    For the model lift, by the features that count for the set. If the others have no weight, it is 0. If the core has
    found it, it is exact but for the last bits of logarithms, unless `exactly`.
    """
    found = None if exactly else weights.left_out
    scores = _by_numpy(fields, weights) if found is None else found.copy()
    if weights.neighborhood is not None:  # entries number the examples in the order of ids
        ids, (_, near, factors, *_) = sorted(weights.examples.ids), weights.neighborhood
        scores[: len(ids)] = scores[: len(ids)] * factors[ids] + near[ids] / weights.scale
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
            scores += own.coefficient * np.bincount(seed, added, count)
    return scores
