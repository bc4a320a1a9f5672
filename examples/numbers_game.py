"""The numbers game: which numbers from 1 to 100 belong with {16}, and which with {16, 8, 2, 64}?

    python examples/numbers_game.py 16 8 2 64
    python examples/numbers_game.py 16 --human FILE     # the correlation with judgements: examples,probe,mean_judgment

Hypotheses are rules (even, squares, powers of two, ending in 6, ...) and all intervals. Rules have two thirds of the
prior; even and odd have five times as much as other rules. Intervals of length l have one third, in proportion to
l exp(-l / 10) (after Tenenbaum 1999 and Murphy 2012). --no-size-principle shows what the size principle does.
"""

import argparse
import csv
import math
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import setsearch

NUMBERS = range(1, 101)
RULES_SHARE, SIGMA = 2 / 3, 10.0
SIMPLE = {"even": 5.0, "odd": 5.0}  # how much more probable than other rules these are


class Hypothesis(NamedTuple):
    """A feature that all seeds have: p(h | D), p(h), |h|."""

    feature: str
    posterior: float
    prior: float
    size: int


class Concepts(NamedTuple):
    """Hypotheses, the most probable first, and p(x in C | D) of the items in one of them."""

    hypotheses: list[Hypothesis]
    probability: dict[str, float]


def learn_concepts(
    reading: setsearch.Reading, seeds: Iterable[str], prior: Mapping[str, float], *, size_principle: bool = True
) -> Concepts:
    """Which concepts could the seeds be examples of? The hypotheses h are the features, each the set of its items.

        p(h | D)  proportional to  p(h) [all seeds are in h] / |h|^N
        p(x in C | D) = sum_h [x in h] p(h | D)

    The seeds are drawn from the concept at random, so a small concept explains them better than a large one: the size
    principle. `prior` gives p(h) up to a factor.
    """
    names = [reading.find(seed) for seed in seeds]
    shared = set.intersection(*({*reading.features_of(name)} for name in names))
    members = {h: [*reading.postings(h)] for h in shared if prior.get(h)}
    joint = {h: prior[h] / (len(own) ** len(names) if size_principle else 1) for h, own in members.items()}
    if not joint:
        raise SystemExit("no concept holds all of these; give fewer or more similar ones")
    whole, of_prior = math.fsum(joint.values()), math.fsum(prior.values())
    hypotheses = [Hypothesis(h, own / whole, prior[h] / of_prior, len(members[h])) for h, own in joint.items()]
    probability: dict[str, float] = {}
    for h, own in joint.items():
        for item in members[h]:
            probability[item] = probability.get(item, 0.0) + own / whole
    return Concepts(sorted(hypotheses, key=lambda own: (-own.posterior, own.feature)), probability)


def rules() -> dict[str, set[int]]:
    """Mathematical concepts among the numbers."""
    primes = {n for n in NUMBERS if n > 1 and all(n % d for d in range(2, n))}
    concepts = {"even": {n for n in NUMBERS if n % 2 == 0}, "odd": {n for n in NUMBERS if n % 2}, "primes": primes}
    concepts |= {"squares": {n * n for n in range(1, 11)}, "cubes": {n**3 for n in range(1, 5)}}
    concepts |= {f"multiples of {m}": {n for n in NUMBERS if n % m == 0} for m in range(3, 13)}
    concepts |= {f"powers of {b}": {b**e for e in range(1, 7) if b**e <= 100} for b in range(2, 11)}
    concepts |= {f"ending in {d}": {n for n in NUMBERS if n % 10 == d} for d in range(10)}
    return concepts


def intervals() -> dict[str, set[int]]:
    """All runs of numbers."""
    return {f"{a} to {b}": set(range(a, b + 1)) for a in NUMBERS for b in range(a, 101)}


def priors() -> dict[str, float]:
    """p(h): shared among rules, and among intervals by an Erlang density of their length."""
    erlang = {name: len(numbers) * math.exp(-len(numbers) / SIGMA) for name, numbers in intervals().items()}
    total = sum(erlang.values())
    prior = {name: (1 - RULES_SHARE) * weight / total for name, weight in erlang.items()}
    simple = {name: SIMPLE.get(name, 1.0) for name in rules()}
    return prior | {name: RULES_SHARE * weight / sum(simple.values()) for name, weight in simple.items()}


def build(path: Path) -> setsearch.Index:
    """An index in which every number has the hypotheses that hold it as features."""
    hypotheses = rules() | intervals()
    index = setsearch.open(path, create=True)
    items = ((str(n), [name for name, numbers in hypotheses.items() if n in numbers]) for n in NUMBERS)
    index.add(items, ("number", "concept"))
    return index


def correlation(concepts: Concepts, human: Path, seeds: list[str]) -> float:
    """Pearson's r of p(x in C | D) with the mean judgement, over the numbers that people were asked about."""
    with human.open() as file:
        rows = [row for row in csv.DictReader(file) if set(row["examples"].split()) == set(seeds)]
    if not rows:
        raise SystemExit(f"{human} has no judgements for {' '.join(seeds)}")
    predicted = [concepts.probability.get(row["probe"], 0.0) for row in rows]
    judged = [float(row["mean_judgment"]) for row in rows]
    return float(np.corrcoef(predicted, judged)[0, 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="+")
    parser.add_argument("--no-size-principle", action="store_true")
    parser.add_argument("--human", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, build(Path(place) / "numbers.db") as index:
        size_principle = not options.no_size_principle
        concepts = learn_concepts(index.items("number"), options.seeds, priors(), size_principle=size_principle)
    for hypothesis in concepts.hypotheses[:8]:
        print(f"{hypothesis.posterior:.3f}  {hypothesis.feature} ({hypothesis.size} numbers)")
    best = sorted(concepts.probability, key=lambda n: (-concepts.probability[n], int(n)))[:20]
    print("most probable: " + ", ".join(f"{n} ({concepts.probability[n]:.2f})" for n in best))
    if options.human:
        print(f"correlation with the judgements: r = {correlation(concepts, options.human, options.seeds):.3f}")


if __name__ == "__main__":
    main()
