"""What goes in and what comes out: items, options of a query, hits."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict


class Item(NamedTuple):
    """What is indexed: a unique id, its features (repeated, or with counts) or a text, a title to show."""

    id: str
    features: str | Sequence[str] | Mapping[str, int]
    title: str | None = None


class ModelOptions(TypedDict, total=False):
    """How to score; what is left out, or None, has the default of the kind of items (`Index.info`).

    `model`: "lift", "bernoulli" (the paper's), "x1", "multinomial", "poisson", "concept"; `strength`: k of the prior;
    `binarize`: which counts are an entry, "presence" or "twice-mean"; `popularity`, of lift: how far items with much
    in them may be ahead, 0 to 1; `by`, of terms: what describes them, "contexts", "documents" or "both"; by default
    both where all the terms of the question are frequent enough to have contexts, else documents.
    """

    model: str | None
    strength: float | None
    binarize: str | None
    popularity: float | None
    by: str | None


class Contribution(NamedTuple):
    """What one feature adds to a score, in nats."""

    feature: str
    weight: float
    title: str | None = None


class Hit(NamedTuple):
    """An item of the expanded set; `score` in nats.

    `features` is filled where an explanation was asked for, `belongs` where the cut was: whether the item is above it.
    """

    rank: int
    item: str
    score: float
    title: str | None = None
    features: tuple[Contribution, ...] = ()
    belongs: bool | None = None


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
