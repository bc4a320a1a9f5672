"""The parts of what a query returns; the whole is `Hits` (answer.py)."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from setsearch.answers.tables import html_table
from setsearch.options import Ids

LEAST_REST = 1e-6  # more than what sums of floats lose
SHARE_LITTLE = "these examples share little, so what belongs cannot be told"
BY_DOCUMENTS = "of words without contexts what belongs is told only with `by=documents`"
CONTEXTS_HELP = ", or in an index made with `contexts`"
NOTHING_SHARED = "nothing else has a feature that tells these examples from the rest"


def kept_name(name: str, taken: Container[str]) -> str:
    """What a kept column is called beside what is said of a hit."""
    return f"{name} (kept)" if name in taken else name


class Contribution(NamedTuple):
    """What one feature adds to a score, in nats."""

    feature: str
    weight: float
    title: str | None = None


class Reason(NamedTuple):
    """What a part of a score, in nats, tells a person: `label`; `sentence` is empty for what explains itself.

    `features` are those whose weights it sums, the heaviest first; none of the base and the constant.
    """

    label: str
    weight: float
    sentence: str = ""
    features: tuple[str, ...] = ()


class Snippet(NamedTuple):
    """A passage of a document; `marks` are the places of the words that speak for the set, (start, end)."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def pieces(self) -> list[tuple[str, bool]]:
        """The text in pieces, and whether each is marked."""
        cuts = [0, *(place for mark in self.marks for place in mark), len(self.text)]
        return [(self.text[a:b], n % 2 == 1) for n, (a, b) in enumerate(pairwise(cuts)) if a < b]


class Hit(NamedTuple):
    """An item of the expanded set; `score` in nats.

    `features`, the exact parts of the score, and `reasons`, which tell them to people (answers/reasons.py), are filled
    if an explanation was requested, `belongs` if the cut was: whether the score is above the
    threshold (search/cutoff.py), `snippet` if snippets were, for a document whose text is known; `columns` are those
    that were kept of it; `duplicates` are documents with nearly the same words, if they were folded; `group` are the
    examples that it is like, if these fall into groups.
    """

    rank: int
    item: str
    score: float
    title: str | None = None
    features: tuple[Contribution, ...] = ()
    belongs: bool | None = None
    snippet: Snippet | None = None
    columns: Mapping[str, Any] | None = None
    duplicates: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    group: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """What was asked for; eval makes the same hit of it."""
        fields = zip(self._fields, self, strict=True)
        given = [f"{name}={own!r}" for name, own in fields if own != self._field_defaults.get(name, ...)]
        return f"Hit({', '.join(given)})"

    @property
    def pk(self) -> str:
        """Its id, by which it is an example of the next question, as a row of a host is."""
        return self.item

    @property
    def rest(self) -> float:
        """What its features leave of the score, in nats, if it was explained: base and constant; 0 but for rounding."""
        return rest_of(self.score, self.features)


def rest_of(score: float, features: Iterable[Contribution]) -> float:
    """What features leave of a score; 0 but for rounding."""
    rest = score - sum([weight for _, weight, _ in features])
    return rest if abs(rest) > LEAST_REST else 0.0


def weight_rows(parts: Iterable[Contribution | Reason]) -> list[dict[str, Any]]:
    """Parts of a score as rows for programs: features, or the labels of reasons, with their weights."""
    return [{part._fields[0]: part[0], "weight": part.weight} for part in parts]


class WeightedQuery(NamedTuple):
    """A set as other engines understand it: `constant`, and what each feature adds on average to items that have it."""

    constant: float
    weights: list[tuple[str, float]]  # the largest amount first


class Statistics(NamedTuple):
    """Those of another engine: how many items it has, and a function from features to their document frequencies."""

    items: int
    frequencies: Callable[[Sequence[str]], Sequence[int]]


class Asked(NamedTuple):
    """The question of some hits: a reading, its seeds, and the options that scores depend on.

    `marked`: whether it asked what belongs, too.
    """

    reading: Any
    seeds: Ids
    options: Mapping[str, Any]
    marked: bool = False


class SetFeature(NamedTuple):
    """A feature of a set: its weight in nats, the number of seeds with it, the number of items with it."""

    rank: int
    feature: str
    weight: float
    seeds: int
    document_frequency: int
    title: str | None = None


class Explanation(NamedTuple):
    """Why an item has its score: `score` = `constant` + `base` + the sum of the weights of `features`, in nats.

    `reasons` tell the same to people. `group` are the examples whose score it is, if all of them fall into groups.
    """

    item: str
    score: float
    constant: float
    base: float
    features: tuple[Contribution, ...]
    title: str | None = None
    reasons: tuple[Reason, ...] = ()
    group: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The reasons, a line each, and the score."""
        lines = [(reason.weight, reason.label) for reason in self.reasons]
        lines.append((self.score, f"score of {display_name(self.item, self.title)}"))
        return "\n".join(f"{weight:+8.3f}  {label}" for weight, label in lines)

    def _repr_html_(self) -> str:
        """The parts as a table, as notebooks show them."""
        parts = [("constant", self.constant), ("base", self.base)]
        named = [(display_name(part.feature, part.title), part.weight) for part in self.features]
        rows = [*(part for part in parts if part[1]), *named, ("score", self.score)]
        return html_table(("part", "nats"), rows, f"Why {display_name(self.item, self.title)} has its score")


class Found(NamedTuple):
    """An item whose name matches; `total` is the sum of the counts of its features, 0 for items with numbers."""

    item: str
    title: str | None
    total: int


def is_informative(title: str | None, name: str) -> bool:
    """Whether a title tells a reader more than the name."""
    return title is not None and title not in name


def display_name(name: str, title: str | None) -> str:
    """The title if it tells more than the name, else the name."""
    return title if title is not None and is_informative(title, name) else name


def odd_note(item: str, title: str | None) -> str:
    """What is said of an example that fits the others much less than these do."""
    return f"{display_name(item, title)} fits the other examples least"


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, the last of which says that it goes on."""
    return text if len(text) <= most else text[: most - 1] + "…"
