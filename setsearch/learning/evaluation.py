"""How well models find the rest of known sets: leave some members out as the only examples, look where the others rank.

For each set, a few draws of N seeds; all items but the seeds are ranked, ties by id, and the other members are what
should come first. Means are over sets, each set the mean of its draws; intervals are bootstrap intervals over sets.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from setsearch.arrays import Floats, Ints
from setsearch.errors import NoSeeds
from setsearch.learning.baselines import Baselines, Score
from setsearch.models.defaults import ModelOptions, Profile
from setsearch.search.cutoff import LEADERS, threshold
from setsearch.search.fields import Fields
from setsearch.search.weights import Examples, weigh

Query = tuple[str, Ints, Ints]  # set, seeds, other members
METRICS = ("map", "p10", "ndcg10", "r_precision")
NEIGHBOURS = " (neighbours only)"  # words by win2 and skip, as the baselines have them: to compare, not to choose
RESAMPLES = 2000
ENOUGH_SETS = 5  # to say that one method is better than another


@dataclass(frozen=True)
class Design:
    """How sets are asked about: N seeds, how many draws for each set, from which random seed."""

    n_seeds: int = 3
    draws: int = 10
    seed: int = 0


class Result(NamedTuple):
    """One method: means over sets, and the 95 % interval of the mean average precision."""

    method: str
    ours: bool
    map: float
    low: float
    high: float
    p10: float
    ndcg10: float
    r_precision: float
    by_set: dict[str, float]  # average precision


class Evaluation(NamedTuple):
    """All methods, the best first; what was asked; which of ours to take.

    `cut_f1` is the F1 of what the default says belongs, `best_f1` that of the best possible cut of its rankings.
    """

    results: list[Result]
    sets: int
    queries: int
    left_out: list[str]  # sets with too few members that the index knows
    recommendation: str
    cut_f1: float
    best_f1: float


def evaluate(
    fields: Fields,
    profile: Profile,
    sets: Mapping[str, Sequence[str]],
    design: Design,
    rivals: Mapping[str, Score] | None = None,
) -> Evaluation:
    """Evaluate our models and the baselines on sets of items, and further `rivals`, if any are given.

    Raises NoSeeds where no set has enough known members.
    """
    queries, left_out = _queries(fields, sets, design)
    if not queries:
        raise NoSeeds(
            f"no set has {design.n_seeds + 1} members among the {fields.items.size} {fields.items.name}; "
            "give larger sets, or fewer --seeds"
        )
    ranks, known = fields.ranks(), np.flatnonzero(_present(fields))
    results = []
    further = [(label, False, score) for label, score in (rivals or {}).items()]
    for label, ours, score in _methods(fields, profile) + further:
        measured: dict[str, list[Floats]] = {}
        for name, seeds, others in queries:
            scores = score(seeds)[known]
            order = known[np.lexsort((ranks[known], -scores))]
            order = order[~np.isin(order, seeds)]
            measured.setdefault(name, []).append(_metrics(np.isin(order, others)))
        results.append(_summary(label, ours, measured))
    results.sort(key=lambda result: -result.map)
    cut_f1, best_f1 = _cut_quality(fields, profile, queries)
    n_sets = len(sets) - len(left_out)
    return Evaluation(results, n_sets, len(queries), left_out, _recommend(results), cut_f1, best_f1)


def counts_of(fields: Fields) -> sparse.csr_array:
    """The counts of all fields, side by side: `(n_ids, n_features)`."""
    blocks = []
    for field in fields.all:
        snapshot = field.snapshot
        entries = [np.array(step) for step in snapshot.forward.sweep(fields.cursor)]
        lists, ids, counts = np.concatenate(entries, axis=1) if entries else np.zeros((3, 0), np.int64)
        shape = (snapshot.items.peak, snapshot.features.peak)
        blocks.append(sparse.csr_array((counts.astype(float), (lists, ids)), shape=shape))
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _queries(fields: Fields, sets: Mapping[str, Sequence[str]], design: Design) -> tuple[list[Query], list[str]]:
    """(set, seeds, other members), and the sets that are too small."""
    queries, left_out = [], []
    for name in sorted(sets):
        members = fields.known(sets[name])
        if len(members) <= design.n_seeds:
            left_out.append(name)
            continue
        chance = random.Random(f"{design.seed} {name}")
        for _ in range(design.draws):
            seeds = chance.sample(members, design.n_seeds)
            others = [member for member in members if member not in seeds]
            queries.append((name, np.array(seeds), np.array(others)))
    return queries, left_out


def _methods(fields: Fields, profile: Profile) -> list[tuple[str, bool, Score]]:
    """(label, whether it is ours, scores of all items from seeds)."""
    contexts = fields._replace(all=tuple(f for f in fields.all if f.weight == 1.0)) if len(fields.all) > 1 else fields
    where = NEIGHBOURS if len(fields.all) > 1 else ""
    variants: list[tuple[str, Fields, ModelOptions]] = [
        ("lift", fields, {"model": "lift"}),
        ("bernoulli" + where, contexts, {"model": "bernoulli"}),
        ("bernoulli, twice-mean" + where, contexts, {"model": "bernoulli", "binarize": "twice-mean"}),
        ("bernoulli, strength 50" + where, contexts, {"model": "bernoulli", "strength": 50.0}),
        ("x1" + where, contexts, {"model": "x1"}),
        ("multinomial" + where, contexts, {"model": "multinomial"}),
        ("poisson" + where, contexts, {"model": "poisson"}),
    ]
    if len(fields.all) > 1:
        documents = fields._replace(all=fields.all[-1:])
        listed = fields._replace(all=fields.all[:-1])
        variants[1:1] = [
            ("lift, by contexts", listed, {"model": "lift"}),
            ("lift, by documents", documents, {"model": "lift"}),
            ("bernoulli, by documents", documents, {"model": "bernoulli"}),
        ]
    methods = [(label, True, _ours(own, profile, options)) for label, own, options in variants]
    methods += [(label, False, score) for label, score in Baselines(counts_of(contexts)).all().items()]
    return methods


def _ours(fields: Fields, profile: Profile, options: ModelOptions) -> Score:
    model = profile.make(options)

    def score(seeds: Ints) -> Floats:
        """The scores of all items, without the constant."""
        return weigh(fields, Examples(seeds.tolist()), model).scores()

    return score


def _cut_quality(fields: Fields, profile: Profile, queries: Sequence[Query]) -> tuple[float, float]:
    """F1 of our cut, and of the best one, on average over sets."""
    model = profile.make({"model": "lift"})
    measured: dict[str, list[tuple[float, float]]] = {}
    for name, seeds, others in queries:
        weighed = weigh(fields, Examples(seeds.tolist()), model)
        scores = weighed.scores()
        scores[seeds] = -np.inf
        order = np.argsort(-scores, kind="stable")
        hits = np.cumsum(np.isin(order, others))
        f1 = 2 * hits / (np.arange(1, len(order) + 1) + len(others))
        chosen = int(np.sum(scores > threshold(fields, weighed, scores[order[:LEADERS]], profile)))
        measured.setdefault(name, []).append((float(f1[chosen - 1]) if chosen else 0.0, float(f1.max())))
    ours, best = np.mean([np.mean(draws, axis=0) for draws in measured.values()], axis=0).tolist()
    return ours, best


def _present(fields: Fields) -> npt.NDArray[np.bool_]:
    present = np.zeros(fields.items.peak, bool)
    present[np.fromiter(fields.items.ids(fields.cursor), np.int64)] = True
    return present


def _metrics(relevant: npt.NDArray[np.bool_]) -> Floats:
    """Average precision, precision and nDCG at 10, R-precision of a ranking: `relevant[i]` is the (i+1)-th item's."""
    places = np.flatnonzero(relevant)
    precision = float(np.mean(np.arange(1, len(places) + 1) / (places + 1)))
    gains = 1 / np.log2(np.arange(2, 12))
    ndcg = float(gains[places[places < 10]].sum() / gains[: min(len(places), 10)].sum())
    return np.array([precision, relevant[:10].sum() / 10, ndcg, relevant[: len(places)].mean()])


def _summary(label: str, ours: bool, measured: Mapping[str, Sequence[Floats]]) -> Result:
    by_set = np.array([np.mean(draws, axis=0) for draws in measured.values()])
    means = by_set.mean(axis=0)
    low, high = interval(by_set[:, 0])
    precisions = dict(zip(measured, by_set[:, 0].tolist(), strict=True))
    mean_ap, p10, ndcg10, r_precision = means.tolist()
    return Result(label, ours, mean_ap, low, high, p10, ndcg10, r_precision, precisions)


def interval(values: Floats) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean."""
    chance = np.random.default_rng(0)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high


def _recommend(results: Sequence[Result]) -> str:
    """Which of our models to take, and whether these sets can tell."""
    ours = [result for result in results if result.ours and not result.method.endswith(NEIGHBOURS)]
    best = ours[0]
    default = next(result for result in ours if result.method == "lift")
    if best is default:
        return f"keep the default, lift: no other model of ours is better (MAP {best.map:.3f})"
    names = list(best.by_set)
    low, high = interval(np.array([best.by_set[name] - default.by_set[name] for name in names]))
    gain = f"MAP {best.map:.3f} against {default.map:.3f} of the default, lift; difference {low:+.3f} to {high:+.3f}"
    if low <= 0 or len(names) < ENOUGH_SETS:
        return f"these sets cannot tell {best.method} from the default: {gain}"
    return f"take {best.method}: {gain}"


def as_rows(found: Evaluation) -> list[dict[str, Any]]:
    """One row for each method."""
    return [
        {"method": result.method, "ours": result.ours}
        | {key: round(getattr(result, key), 4) for key in ("map", "low", "high", *METRICS[1:])}
        for result in found.results
    ]
