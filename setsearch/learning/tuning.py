"""Which model, with which strength? Tried on known sets, each member left out in turn or in folds.

For each set and each fold the other members are the seeds and the fold is what should come first: average precision
among all items that are no seeds. Leaving one out is a fold for each member. Where the Beta-Bernoulli gives a set a
probability, its log marginal likelihood is shown too, and AIC and BIC with the strength as the one fitted parameter:

    ln p(D) = sum_j [ ln B(a_j + c_j, b_j + N - c_j) - ln B(a_j, b_j) ],  a_j = k m_j, b_j = k (1 - m_j)
"""

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from setsearch.arrays import Floats, Ints
from setsearch.errors import NoSeeds
from setsearch.learning.evaluation import ENOUGH_SETS, interval
from setsearch.models import Bernoulli
from setsearch.models.defaults import ModelOptions, Profile
from setsearch.models.values import Rule
from setsearch.search.fields import Fields
from setsearch.search.weights import Examples, weigh

STRENGTHS = (0.5, 2.0, 10.0, 50.0)
MOST_FOLDS = 10  # of a set that is left out one by one: larger sets are left out in folds


class Trial(NamedTuple):
    """One choice: mean average precision over sets; where it is defined, ln p of all sets, AIC and BIC."""

    choice: str
    options: ModelOptions
    map: float
    by_set: dict[str, float]
    log_marginal: float | None = None
    aic: float | None = None
    bic: float | None = None


class Tuning(NamedTuple):
    """All trials, the best first, and what they say."""

    trials: list[Trial]
    verdict: str


def choices(by: str | None = None) -> list[ModelOptions]:
    """What is tried; `by` becomes an option of each."""
    tried: list[ModelOptions] = []
    for binarize in ("presence", "twice-mean"):
        tried += [{"model": "lift", "binarize": binarize, "popularity": p} for p in (0.0, 0.2, 0.5)]
        tried += [{"model": "bernoulli", "binarize": binarize, "strength": k} for k in STRENGTHS]
    tried += [{"model": "x1", "strength": k} for k in (10.0, 50.0)]
    tried += [{"model": "multinomial", "strength": k} for k in (100.0, 1000.0)]
    tried.append({"model": "poisson"})
    return [options if by is None else options | {"by": by} for options in tried]


def tune(
    fields: Fields,
    profile: Profile,
    sets: Mapping[str, Sequence[str]],
    folds: int | None = None,
    by: str | None = None,
) -> Tuning:
    """Try every choice on every set of at least two known members; raises NoSeeds where there is none.

    `folds`: how many; by default one for each member, up to ten. `by`: what the fields describe terms by.
    """
    known = {name: fields.known(sets[name]) for name in sorted(sets)}
    known = {name: own for name, own in known.items() if len(own) >= 2}
    if not known:
        raise NoSeeds(f"no set has two members among the {fields.items.size} {fields.items.name}; give larger sets")
    questions = [(name, *parts) for name, own in known.items() for parts in _folds(name, own, folds)]
    trials = []
    for options in choices(by):
        label = ", ".join(f"{key} {value}" if key != "model" else str(value) for key, value in options.items())
        measured: dict[str, list[float]] = {}
        model = profile.make(options)
        for name, seeds, held_out in questions:
            scores = weigh(fields, Examples(seeds), model).scores()
            scores[seeds] = -np.inf
            measured.setdefault(name, []).append(_average_precision(scores, held_out))
        by_set = {name: float(np.mean(values)) for name, values in measured.items()}
        trial = Trial(label, options, float(np.mean(list(by_set.values()))), by_set)
        if isinstance(model, Bernoulli) and model.rule.balance is None:
            trial = _with_evidence(trial, fields, model.rule, model.strength, list(known.values()))
        trials.append(trial)
    trials.sort(key=lambda trial: -trial.map)
    return Tuning(trials, _verdict(trials))


def log_marginal(fields: Fields, rule: Rule, strength: float, members: Sequence[int]) -> float:
    """ln p(D) of a set under the Beta-Bernoulli of this strength, over all features that vary."""
    n = fields.items.size
    df = fields.first.measure(fields.cursor, rule).df
    having = np.zeros(len(df))
    stored = fields.first.features_of(fields.cursor, np.array(sorted(members), np.int64), rule)
    np.add.at(having, stored.together(), 1.0)
    varied = (df > 0) & (df < n)
    alpha, beta, c = strength * df[varied] / n, strength * (n - df[varied]) / n, having[varied]
    return float((betaln(alpha + c, beta + len(members) - c) - betaln(alpha, beta)).sum())


def _with_evidence(trial: Trial, fields: Fields, rule: Rule, strength: float, sets: list[list[int]]) -> Trial:
    evidence = sum(log_marginal(fields, rule, strength, own) for own in sets)
    return trial._replace(log_marginal=evidence, aic=2 - 2 * evidence, bic=math.log(len(sets)) - 2 * evidence)


def _folds(name: str, members: list[int], folds: int | None) -> list[tuple[list[int], Ints]]:
    """(seeds, held out) for each fold; `members` come in the order of their names."""
    order = list(members)
    random.Random(name).shuffle(order)
    count = min(folds or MOST_FOLDS, len(order))
    parts = [order[start::count] for start in range(count)]
    return [([m for m in order if m not in part], np.array(part)) for part in parts]


def _average_precision(scores: Floats, relevant: Ints) -> float:
    """Of a ranking by score; items of equal score count half before and half behind."""
    found = np.sort(scores[relevant])[::-1]
    above = np.array([np.sum(scores > score) + (np.sum(scores == score) - 1) / 2 for score in found])
    return float(np.mean(np.arange(1, len(found) + 1) / (np.maximum(above, np.arange(len(found))) + 1)))


def _verdict(trials: Sequence[Trial]) -> str:
    """What to take, or that these sets cannot tell."""
    best = trials[0]
    names = list(best.by_set)
    alike = []
    for trial in trials[1:]:
        low, _ = interval(np.array([best.by_set[name] - trial.by_set[name] for name in names]))
        if low <= 0 or len(names) < ENOUGH_SETS:
            alike.append(trial.choice)
    if len(alike) == len(trials) - 1:
        return f"these sets cannot tell: {best.choice} is best (MAP {best.map:.3f}), but no choice is surely worse"
    if alike:
        return f"take {best.choice} (MAP {best.map:.3f}); not surely worse: {'; '.join(alike)}"
    return f"take {best.choice} (MAP {best.map:.3f}); every other choice is worse"
