"""Bayesian concept learning: which concepts could the seeds be examples of?

The hypotheses h are the features, each standing for the set of its items. Under strong sampling the seeds are drawn
from the concept at random, so a small concept explains them better than a large one, the size principle:

    p(h | D)  proportional to  p(h) [all seeds are in h] / |h|^N
    p(x in C | D) = sum_h [x in h] p(h | D)

computed in log space (log-sum-exp). Without the size principle the likelihood is 1 if all seeds are in h.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from setsearch.answers.reading import Reading
from setsearch.answers.reasons import are_people
from setsearch.answers.results import display_name
from setsearch.arrays import Floats, Ints, to_lattice
from setsearch.errors import InvalidParameter, NoConcept
from setsearch.memory.fields import Descriptions
from setsearch.models.values import PRESENCE
from setsearch.scoring.best import accumulate
from setsearch.scoring.postings import WeightedLists
from setsearch.search.examples import resolve_seeds
from setsearch.storage.ids import plain_name

NAMED = 3  # items that tell who a person is


class Hypothesis(NamedTuple):
    """A feature that all seeds have: p(h | D), p(h), |h|; the title of a person names the most probable other items."""

    rank: int
    feature: str
    posterior: float
    prior: float
    size: int
    title: str | None = None


class Concepts(NamedTuple):
    """Hypotheses, the most probable first (the first is the MAP), and p(x in C | D) of items."""

    hypotheses: list[Hypothesis]
    probability: dict[str, float]  # of items in some hypothesis; 0 for all others


def learn_concepts(
    reading: Reading,
    seeds: Iterable[str],
    *,
    prior: Mapping[str, float] | None = None,
    size_principle: bool = True,
) -> Concepts:
    """p(h | D) of every hypothesis that holds all seeds, and the posterior predictive, averaged over them.

    `prior` gives p(h) up to a factor by feature, 0 for missing ones; by default all features are equal.

    Raises UnknownItem, NoSeeds, NoConcept, InvalidParameter.
    """
    for feature, weight in (prior or {}).items():
        if not (isinstance(weight, (int, float)) and math.isfinite(weight) and weight >= 0):
            raise InvalidParameter(f"the prior of {feature!r} must be a number from 0 on, not {weight!r}")
    with reading.stored() as fields:
        ids, field = resolve_seeds(fields, seeds), fields.first
        seed_features = field.forward(ids, PRESENCE).concatenated_ids().astype(np.int64)
        features, times = np.unique(seed_features, return_counts=True)
        shared = features[times == len(ids)]
        names = field.describe_features(shared.tolist())
        weights = np.array([1.0 if prior is None else float(prior.get(names[id][0], 0)) for id in shared.tolist()])
        if not weights.any():
            raise NoConcept("the seeds have no feature in common; give fewer or more similar ones")
        shared, weights = shared[weights > 0], weights[weights > 0]
        whole = field.features.size if prior is None else math.fsum(prior.values())  # of all hypotheses
        lists = field.postings(shared, PRESENCE)
        log_joint = np.log(weights) - (len(ids) * np.log(lists.lengths) if size_principle else 0.0)
        joint = np.exp(log_joint - log_joint.max())
        p: Floats = joint / joint.sum()
        scores = np.zeros(field.items.next_id)
        accumulate(scores, WeightedLists(lists, to_lattice(p)))
        members = np.flatnonzero(scores)
        items = fields.describe(members.tolist())
        if are_people(plain_name(field.features.name)):
            for id, own in zip(shared.tolist(), lists.lists(), strict=True):
                names[id] = names[id][0], names[id][1] or _typical(np.setdiff1d(own, ids), scores, items)
    rows = [
        (*names[id], float(p_h), float(w) / whole, int(size))
        for id, p_h, w, size in zip(shared.tolist(), p, weights, lists.lengths, strict=True)
    ]
    rows.sort(key=lambda row: (-row[2], row[0]))
    hypotheses = [Hypothesis(rank, name, p, w, size, title) for rank, (name, title, p, w, size) in enumerate(rows, 1)]
    return Concepts(hypotheses, {items[id][0]: float(scores[id]) for id in members.tolist()})


def _typical(own: Ints, scores: Floats, items: Descriptions) -> str | None:
    """The titles of the most probable of some items (ascending ids), and how many others there are."""
    best = own[np.argsort(-scores[own], kind="stable")[:NAMED]].tolist()
    named = ", ".join(display_name(*items[id]) for id in best)
    more = f" and {len(own) - NAMED:,} more" if len(own) > NAMED else ""
    return f"also has {named}{more}" if best else None
