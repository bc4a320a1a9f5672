"""Weights of fields, learned from known sets: one field after another gets the weight that finds most.

What is reported of a set is by weights that were learned from others: half of the sets tell the weights of the other
half, so that chance does not look like skill.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from setsearch.arrays import Floats

WEIGHTS = (1.0, 0.5, 2.0, 0.25, 4.0, 0.0)  # that are tried; of equal ones the first is taken
ROUNDS = 2  # over all fields
LEAST_GAIN, SURE = 1e-3, 2.0  # of the mean average precision, and in its standard errors, for another weight
HALVES = 2  # of the sets

Measured = Mapping[str, Sequence[Floats]]  # the measures of each draw of each set, the average precision first


def learn_weights(names: Sequence[str], measure: Callable[[str], Measured]) -> tuple[str, Measured]:
    """The weights of fields, as the option `by`, given how the measures of all sets by some weights are found.

    And the measures of each set by weights of the other half.
    """
    known: dict[str, Measured] = {}

    def measured(weights: Mapping[str, float]) -> Measured:
        """The measures by some weights, which are found once."""
        by = as_option(weights)
        if by not in known:
            known[by] = measure(by)
        return known[by]

    sets = sorted(measured(dict.fromkeys(names, 1.0)))
    found: dict[str, Sequence[Floats]] = {}
    for half in range(HALVES):
        others = [name for place, name in enumerate(sets) if place % HALVES != half]
        own = measured(_search(names, measured, others or sets))
        found |= {name: own[name] for name in sets[half::HALVES]}
    return as_option(_search(names, measured, sets)), {name: found[name] for name in sets}


def as_option(weights: Mapping[str, float]) -> str:
    """Weights as the option `by`."""
    return ",".join(name if weight == 1 else f"{name}={weight:g}" for name, weight in weights.items() if weight)


def _search(
    names: Sequence[str], measured: Callable[[Mapping[str, float]], Measured], sets: Sequence[str]
) -> dict[str, float]:
    """The weights that find most of some sets."""
    weights = dict.fromkeys(names, 1.0)

    def quality(others: Mapping[str, float]) -> Floats:
        """The mean average precision of each set by some weights."""
        found = measured(others)
        return np.array([np.mean([draw[0] for draw in found[name]]) for name in sets])

    best = quality(weights)
    for _ in range(ROUNDS):
        before = dict(weights)
        for name in names:
            tried = [weights | {name: weight} for weight in WEIGHTS if weight != weights[name]]
            gains = [(quality(other) - best, other) for other in tried if any(other.values())]
            gain, other = max(gains, key=lambda own: float(own[0].mean()), default=(np.zeros(1), weights))
            if gain.mean() > max(LEAST_GAIN, SURE * float(gain.std()) / len(sets) ** 0.5):
                weights, best = other, best + gain
        if weights == before:
            break
    return weights
