"""Which concepts could the seeds be examples of? Every feature is a hypothesis: the set of the items that have it.

See models/concept.py for the equations.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from setsearch.arrays import to_lattice
from setsearch.errors import InvalidParameter, NoConcept
from setsearch.models.concept import posterior
from setsearch.models.values import PRESENCE
from setsearch.scoring.best import accumulate
from setsearch.scoring.postings import Part
from setsearch.search.reading import Reading


class Hypothesis(NamedTuple):
    """A feature that all seeds have: p(h | D), p(h) up to a factor, |h|."""

    rank: int
    feature: str
    posterior: float
    prior: float
    size: int
    title: str | None = None


class Concepts(NamedTuple):
    """What was learnt: hypotheses, the most probable first (the first is the MAP), and p(x in C | D) of items."""

    hypotheses: list[Hypothesis]
    probability: dict[str, float]  # of the items that a hypothesis holds; 0 for all others


def learn(
    reading: Reading,
    seeds: Iterable[str],
    *,
    prior: Mapping[str, float] | None = None,
    size_principle: bool = True,
) -> Concepts:
    """p(h | D) of every hypothesis that holds all seeds, and the posterior predictive, averaged over them.

    `prior` gives p(h) up to a factor by feature, 0 where it gives none; without it all are equal. Without the
    `size_principle` p(D | h) is 1 where h holds the seeds, and large concepts are as good as small ones.

    Raises UnknownItem, NoSeeds, NoConcept, InvalidParameter.
    """
    for feature, weight in (prior or {}).items():
        if not (isinstance(weight, (int, float)) and math.isfinite(weight) and weight >= 0):
            raise InvalidParameter(f"the prior of {feature!r} must be a number from 0 on, not {weight!r}")
    with reading.plain() as fields:
        ids = reading.resolve_all(fields, seeds)
        snapshot, cursor = fields.first, fields.cursor
        having = snapshot.features_of(cursor, np.array(sorted(ids), np.int64), PRESENCE)
        features, times = np.unique(having.together().astype(np.int64), return_counts=True)
        shared = features[times == len(ids)]
        names = snapshot.features.describe(cursor, shared.tolist())
        weights = np.array([1.0 if prior is None else float(prior.get(names[id][0], 0)) for id in shared.tolist()])
        if not weights.any():
            raise NoConcept("no hypothesis holds all the seeds: they share no feature; give fewer or nearer ones")
        shared, weights = shared[weights > 0], weights[weights > 0]
        lists = snapshot.active_postings(cursor, shared, PRESENCE)
        believed = posterior(np.log(weights), lists.lengths, len(ids), size_principle)
        scores = np.zeros(snapshot.items.peak)
        accumulate(scores, Part(lists, to_lattice(believed)))
        held = np.flatnonzero(scores)
        items = fields.describe(held.tolist())
    rows = [
        (*names[id], float(p), float(w), int(size))
        for id, p, w, size in zip(shared.tolist(), believed, weights, lists.lengths, strict=True)
    ]
    rows.sort(key=lambda row: (-row[2], row[0]))
    hypotheses = [Hypothesis(rank, name, p, w, size, title) for rank, (name, title, p, w, size) in enumerate(rows, 1)]
    return Concepts(hypotheses, {items[id][0]: float(scores[id]) for id in held.tolist()})
