"""What goes in and what comes out: items, options of a query, hits."""

from typing import NamedTuple


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


def says_more(title: str | None, name: str) -> bool:
    """Whether a title tells a reader something that the name does not."""
    return title is not None and title not in name


def shown(name: str, title: str | None) -> str:
    """The title in the place of the name, where it says more."""
    return title if title is not None and says_more(title, name) else name
