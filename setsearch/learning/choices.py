"""How good a ranking is; and what a user can choose beside a model, measured on known sets: line, and groups."""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints, repeat, sum_runs
from setsearch.core.question import Asking, now
from setsearch.search.cutoff import tells, threshold
from setsearch.search.examples import Examples
from setsearch.search.groups import FEWEST, find_groups
from setsearch.search.passes import Weighing
from setsearch.search.weights import SeedWeights

MEASURES = ("map", "p10", "ndcg10", "r_precision")
RESAMPLES = 2000  # of a bootstrap


def measures(relevant: npt.NDArray[np.bool_], scores: Floats) -> Floats:
    """Average precision, precision and nDCG at 10, R-precision of a ranking: `relevant[i]` is the (i+1)-th item's.

    `scores` descend. Items of equal scores may have any order, so the measures are their expectations (McSherry and
    Najork, Computing information retrieval performance measures efficiently in the presence of tied scores, 2008).
    """
    n, places = len(relevant), np.arange(1, len(relevant) + 1)
    begin = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    size, own = np.diff(np.append(begin, n)), sum_runs(relevant.astype(float), begin)
    which = repeat(np.arange(len(begin)), size)
    before = (np.cumsum(own) - own)[which]  # relevant items with higher scores
    share = (own / size)[which]  # the probability that the item at a place is relevant
    others = (np.maximum(own - 1, 0) / np.maximum(size - 1, 1))[which] * (places - 1 - begin[which])
    precision = float((share * (before + 1 + others) / places).sum() / relevant.sum())
    gains, count = 1 / np.log2(np.arange(2, 12)), int(relevant.sum())
    ndcg = float((gains[:n] * share[:10]).sum() / gains[: min(count, 10)].sum())
    return np.array([precision, share[:10].sum() / 10, ndcg, share[:count].mean()])


def interval(values: Floats) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean."""
    generator = np.random.default_rng(0)
    means = values[generator.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high


Task = tuple[str, Ints, Ints]  # set, seeds, other members


class Line(NamedTuple):
    """F1 of what belongs: by our line, with `about` the size of the set, by the best line. `told`: how often it is."""

    f1: float
    about: float
    best: float
    told: float

    def sentence(self) -> str:
        """What this tells a user."""
        if not self.told:
            return "what belongs is not told for these questions: their seeds do not find one another"
        told = f" (told for {self.told:.0%} of the questions)" if self.told < 1 else ""
        return (
            f"what belongs: F1 {self.f1:.3f}, with --about the size of the set {self.about:.3f}, "
            f"with the best possible cut {self.best:.3f}{told}"
        )


class Groups(NamedTuple):
    """How often examples fall into groups, as shares of questions: four of one set, and two of each of two.

    MAP of those of one set that do: as they are answered, and in one list.
    """

    divided: float
    in_turn: float
    in_one: float
    apart: float

    def sentence(self) -> str:
        """What this tells a user."""
        one = f" (MAP {self.in_turn:.3f}, in one list {self.in_one:.3f})" if self.divided else ""
        advice = "; if you ask for one set at a time, take --groups 1" if self.in_turn < self.in_one else ""
        return (
            f"four examples of one set fall into groups in {self.divided:.0%} of the questions{one}, "
            f"two of each of two sets in {self.apart:.0%}{advice}"
        )


def weights_of(weighing: Weighing, seeds: Ints) -> SeedWeights:
    """What scores all items, given the ids of seeds."""
    return now(_weigh(weighing, Examples(seeds.tolist())))


def _weigh(weighing: Weighing, examples: Examples) -> Asking[SeedWeights]:
    return weighing.with_priors((yield from weighing.two_passes(examples)))


def measure_line(weighing: Weighing, tasks: Sequence[Task]) -> Line:
    """The line of the default model, averaged over sets."""
    weighing, fields = weighing._replace(chosen=weighing.defaults.choose({"model": "lift"})), weighing.fields
    measured: dict[str, list[tuple[float, float, float]]] = {}
    for name, seeds, others in tasks:
        weights = weights_of(weighing, seeds)
        scores = weights.scores()
        scores[seeds] = -np.inf
        order = np.argsort(-scores, kind="stable")
        leaders = scores[order[: np.sum(scores > -np.inf)]]
        if not tells(fields, weights, leaders, (), weighing.defaults):
            continue
        hits = np.cumsum(np.isin(order, others))
        f1 = 2 * hits / (np.arange(1, len(order) + 1) + len(others))
        ours = int(np.sum(scores > threshold(fields, weights, leaders)))
        about = int(np.sum(scores >= leaders[len(others) - 1]))
        measured.setdefault(name, []).append((float(f1[ours - 1]) if ours else 0.0, float(f1[about - 1]), f1.max()))
    if not measured:
        return Line(0.0, 0.0, 0.0, 0.0)
    f1, about, best = np.mean([np.mean(draws, axis=0) for draws in measured.values()], axis=0).tolist()
    return Line(f1, about, best, sum(map(len, measured.values())) / len(tasks))


def measure_groups(weighing: Weighing, members: Mapping[str, Sequence[int]], draws: int) -> Groups | None:
    """Groups among examples of known sets, given by ids; None if none are looked for, or sets are too small or few."""
    names, divided, apart = sorted(members), list[tuple[float, float]](), list[bool]()
    n_single = 0
    for name, other in zip(names, names[1:] + names[:1], strict=True):
        generator, own = random.Random(f"0 groups {name}"), sorted(members[name])
        both = sorted({*own}.intersection(members[other]))
        pools = [[id for id in members[each] if id not in both] for each in (name, other)]
        for _ in range(draws):
            if len(own) > FEWEST:
                n_single += 1
                seeds = np.array(generator.sample(own, FEWEST))
                lists = _asked(weighing, seeds)
                if len(lists) > 1:
                    divided.append(_precisions(weighing, lists, seeds, own))
            if other != name and min(map(len, pools)) >= FEWEST // 2:
                parts = [generator.sample(sorted(pool), FEWEST // 2) for pool in pools]
                lists = _asked(weighing, np.array(parts[0] + parts[1]))
                apart.append({frozenset(one.examples.ids) for one in lists} == {*map(frozenset, parts)})
    if not (weighing.defaults.divided and n_single and apart):
        return None
    in_turn, in_one = np.mean(divided, axis=0).tolist() if divided else (0.0, 0.0)
    return Groups(len(divided) / n_single, in_turn, in_one, float(np.mean(apart)))


def _asked(weighing: Weighing, seeds: Ints) -> list[SeedWeights]:
    """The weights of the groups that are found among seeds, or of all."""
    weights = weights_of(weighing, np.sort(seeds))
    return now(find_groups(weighing.fields, weights, seeds.tolist(), partial(_weigh, weighing))).in_turn


def _precisions(
    weighing: Weighing, lists: Sequence[SeedWeights], seeds: Ints, members: Sequence[int]
) -> tuple[float, float]:
    """Average precision of several lists in turn, and of one list for all seeds."""
    ids = np.setdiff1d(weighing.fields.item_ids(), seeds, assume_unique=True)
    one = weights_of(weighing, np.sort(seeds)).scores()[ids]
    orders = [np.argsort(-weights.scores()[ids], kind="stable") for weights in lists]
    turns = np.min([np.argsort(order) for order in orders], axis=0)  # the places of items
    relevant = np.isin(ids, members)
    found = []
    for scores in (-turns.astype(float), one):
        order = np.argsort(-scores, kind="stable")
        found.append(float(measures(relevant[order], scores[order])[0]))
    return found[0], found[1]
