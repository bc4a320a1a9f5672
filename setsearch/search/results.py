"""What a query returns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from setsearch.errors import UsageError
from setsearch.search.tables import html_table

if TYPE_CHECKING:
    from setsearch.search.picture import Point

SHOWN_PARTS = 5  # of an explanation in a table of hits
LEAST_REST = 1e-6  # more than what sums of floats lose
NOTHING_SHARED = "nothing else has a feature that tells these examples from the rest"


COLUMNS = {"rank": int, "item": str, "score": float, "title": str, "belongs": bool}  # of frames


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

    `features`, the exact parts of the score, and `reasons`, which tell them to people (search/reasons.py), are filled
    if an explanation was requested, `belongs` if the cut was: whether the score is above the
    threshold (cutoff.py), `snippet` if snippets were, for a document whose text is known; `columns` are those that were
    kept of it; `duplicates` are documents with nearly the same words, if they were folded.
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

    @property
    def rest(self) -> float:
        """What its features leave of the score, in nats, if it was explained: base and constant; 0 but for rounding."""
        return rest_of(self.score, self.features)


def rest_of(score: float, features: Iterable[Contribution]) -> float:
    """What features leave of a score; 0 but for rounding."""
    rest = score - sum(part.weight for part in features)
    return rest if abs(rest) > LEAST_REST else 0.0


class WeightedQuery(NamedTuple):
    """A set as other engines understand it: `constant`, and what each feature adds on average to items that have it."""

    constant: float
    weights: list[tuple[str, float]]  # the largest amount first


class Statistics(NamedTuple):
    """Those of another engine: how many items it has, and a function from features to their document frequencies."""

    items: int
    frequencies: Callable[[Sequence[str]], Sequence[int]]


class Asked(NamedTuple):
    """The question of some hits: a reading, its seeds, and the options that scores depend on."""

    reading: Any
    seeds: Iterable[str]
    options: Mapping[str, Any]


class Hits(list[Hit]):
    """Hits, and what they are of: the `revision` of the documents, and that of the contexts.

    `contexts_revision` is None for an answer without contexts. `expand_many` gives all its answers the same ones.
    `whole`: whether ids came as whole numbers, in a frame, so that they are numbers in frames again. `blank` is the
    score of an item that shares nothing with the examples, None if features that no seed has count too; `learned`:
    whether rejected items taught what separates them, so that scores are margins (search/separation.py); `common`: the
    reasons that they share, if they are explained.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        revision: int = 0,
        contexts_revision: int | None = None,
        blank: float | None = None,
        learned: bool = False,
        common: tuple[Reason, ...] = (),
        asked: Asked | None = None,
        whole: bool = False,
    ) -> None:
        super().__init__(hits)
        self.revision = revision
        self.contexts_revision = contexts_revision
        self.blank = blank
        self.learned = learned
        self.common = common
        self.asked = asked
        self.whole = whole

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "asked": None}  # a question has a database, which cannot be sent elsewhere

    def to_pandas(self) -> Any:
        """The hits as a frame of pandas. Raises UsageError without pandas."""
        pandas = _library("pandas")
        return pandas.DataFrame(self._rows(), columns=list(COLUMNS)).astype(self._ids)

    def to_polars(self) -> Any:
        """The hits as a frame of polars. Raises UsageError without polars."""
        polars = _library("polars")
        return polars.DataFrame(self._rows(), schema=COLUMNS | self._ids)

    def _rows(self) -> list[dict[str, Any]]:
        id = self._ids.get("item", str)
        return [{name: getattr(hit, name) for name in COLUMNS} | {"item": id(hit.item)} for hit in self]

    @property
    def _ids(self) -> dict[str, type[int]]:
        """The type of the ids in frames, if it is not text: others may have been added since."""
        is_whole = self.whole and all(hit.item.removeprefix("-").isdecimal() for hit in self)
        return {"item": int} if is_whole else {}

    def _repr_html_(self) -> str:
        """The hits as a table, as notebooks show them; without columns that are empty."""
        columns: dict[str, Callable[[Hit], Any]] = {
            "rank": lambda hit: hit.rank,
            "item": lambda hit: hit.item,
            "title": lambda hit: hit.title if is_informative(hit.title, hit.item) else None,
            "score": lambda hit: hit.score,
            "belongs": lambda hit: hit.belongs,
            "why": lambda hit: ", ".join(f"{part.feature} {part.weight:+.2f}" for part in hit.features[:SHOWN_PARTS]),
            "passage": lambda hit: hit.snippet.text if hit.snippet else None,
        }
        shown = [name for name, cell in columns.items() if any(cell(hit) not in (None, "") for hit in self)]
        return html_table(shown, ([columns[name](hit) for name in shown] for hit in self))

    def map(self) -> "list[Point]":
        """The seeds and the first hits on a map by what they share with the set (search/picture.py).

        What the hits do not have, explanations and the seeds, is asked again. Empty for less than three items.
        """
        from setsearch.search.picture import map_hits

        return map_hits(self)

    def plot(self) -> Any:
        """A figure of matplotlib: the scores with the line where the set ends, and the map. Raises UsageError."""
        from setsearch.search.plot import plot_hits

        return plot_hits(self)

    def shared(self) -> "Hits":
        """The hits without items that share nothing with the examples."""
        return self.with_hits(hit for hit in self if self.blank is None or hit.score != self.blank)

    def with_hits(self, hits: Iterable[Hit]) -> "Hits":
        """Other hits of the same answer."""
        own = Hits(hits)
        own.__dict__.update(self.__dict__)
        return own


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

    `reasons` tell the same to people.
    """

    item: str
    score: float
    constant: float
    base: float
    features: tuple[Contribution, ...]
    title: str | None = None
    reasons: tuple[Reason, ...] = ()

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


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, the last of which says that it goes on."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _library(name: str) -> Any:
    """A library of frames; raises UsageError where it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"a frame of {name} needs it: pip install {name}") from None
