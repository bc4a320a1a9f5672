"""What goes into a query and what comes out of it."""

from typing import NamedTuple, TypedDict


class ModelOptions(TypedDict, total=False):
    """How to score. `model`: "bernoulli"; `strength`: k of its prior, 2 in the paper; `binarize`: which counts are
    ones, "presence" or "twice-mean"."""

    model: str
    strength: float
    binarize: str


class Contribution(NamedTuple):
    """What one feature adds to a score, in nats."""

    feature: str
    weight: float
    title: str | None = None


class Hit(NamedTuple):
    """An item of the expanded set; `score` in nats. `features` is filled where an explanation was asked for."""

    rank: int
    item: str
    score: float
    title: str | None = None
    features: tuple[Contribution, ...] = ()


class SetFeature(NamedTuple):
    """A feature of a set: its weight in nats, how many seeds have it, how many items have it."""

    rank: int
    feature: str
    weight: float
    seeds: int
    document_frequency: int
    title: str | None = None


class Explanation(NamedTuple):
    """Why an item has its score: `score` = `constant` + `base` + the sum of the weights of `features`, in nats."""

    item: str
    score: float
    constant: float
    base: float
    features: tuple[Contribution, ...]
    title: str | None = None
