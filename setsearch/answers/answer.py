"""`Hits`, the answer to one question: in frames, tables and pictures.

It draws itself by picture.py, which knows what a `Hit` is (results.py): so they are two modules.
"""

from collections.abc import Callable, Container, Iterable
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from setsearch.answers.results import (
    Asked,
    Hit,
    Reason,
    display_name,
    is_informative,
    kept_name,
    shortened,
    weight_rows,
)
from setsearch.answers.tables import html_table
from setsearch.errors import UsageError

if TYPE_CHECKING:
    from setsearch.answers.picture import Point

SHOWN_PARTS = 5  # of an explanation in a table of hits
MOST_NAMED, LONGEST_NAME = 5, 40  # examples of a group, and characters of each
COLUMNS = {"rank": int, "item": str, "score": float, "title": str, "belongs": bool}  # of frames


class Hits(list[Hit]):
    """Hits, and what they are of: the `revision` of the documents, and that of the contexts.

    `contexts_revision` is None for an answer without contexts. `expand_many` gives all its answers the same ones.
    `whole`: whether ids came as whole numbers, in a frame, so that they are numbers in frames again. `blank` is the
    score of an item that shares nothing with the examples, None if features that no seed has count too; `untold`:
    why what belongs cannot be told, where it was asked for and several examples, or words, do not tell it; `learned`:
    whether rejected items taught what separates them, so that scores are margins (search/rejected.py); `groups`: the
    examples in groups, if they fall into some: each has hits of its own, whose scores are those of its question, and
    which follow one another in turn; `beside`: examples that would not be heard, which have a few hits of their own.
    """

    revision: int = 0
    contexts_revision: int | None = None
    blank: float | None = None
    learned: bool = False
    sharing: tuple[Callable[[], tuple[Reason, ...]], ...] = ()  # what finds `common`, of each group
    asked: Asked | None = None
    whole: bool = False
    untold: str | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    beside: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        # A question has a database, which cannot be sent elsewhere.
        return {**self.__dict__, "asked": None, "common": self.common, "sharing": ()}

    @cached_property
    def common(self) -> tuple[Reason, ...]:
        """The reasons that the hits share, found when somebody reads them: few do."""
        return tuple(chain.from_iterable([find() for find in self.sharing]))

    @overload
    def __getitem__(self, place: SupportsIndex) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> "Hits": ...

    def __getitem__(self, place: SupportsIndex | slice) -> "Hit | Hits":
        """A hit; or some, which are hits of the same answer."""
        own = super().__getitem__(place)
        return self.with_hits(own) if isinstance(own, list) else own

    def rows(self) -> list[dict[str, Any]]:
        """The hits as mappings of plain values, for JSON: the columns of frames, and what was asked for of each.

        With snippets `snippet` is a text, with `explain` `reasons` are labels and weights.
        """
        kept = self._kept_beside({*self._columns, "snippet", "reasons"})
        rows = [row | {name: own[place] for name, own in kept.items()} for place, row in enumerate(self._rows())]
        if any(hit.snippet for hit in self):
            rows = [row | {"snippet": hit.snippet and hit.snippet.text} for hit, row in zip(self, rows, strict=True)]
        if any(hit.reasons for hit in self):
            rows = [row | {"reasons": weight_rows(hit.reasons)} for hit, row in zip(self, rows, strict=True)]
        return rows

    def to_pandas(self) -> Any:
        """The hits, with the columns that were kept, as a frame of pandas. Raises UsageError without pandas."""
        pandas = _library("pandas")
        frame = pandas.DataFrame(self._rows(), columns=list(self._columns)).astype(self._ids)
        return frame.assign(**self._kept)

    def to_polars(self) -> Any:
        """The hits, with the columns that were kept, as a frame of polars. Raises UsageError without polars."""
        polars = _library("polars")
        frame = polars.DataFrame(self._rows(), schema=self._columns | self._ids)
        return frame.with_columns(polars.Series(name, own, strict=False) for name, own in self._kept.items())

    def _rows(self) -> list[dict[str, Any]]:
        id = self._ids.get("item", str)
        rows = [{name: getattr(hit, name) for name in COLUMNS} | {"item": id(hit.item)} for hit in self]
        has_groups = "group" in self._columns
        return [row | {"group": _group(hit)} for hit, row in zip(self, rows, strict=True)] if has_groups else rows

    @property
    def _columns(self) -> dict[str, type]:
        return COLUMNS | ({"group": str} if self.groups or self.beside else {})

    @property
    def _kept(self) -> dict[str, list[Any]]:
        return self._kept_beside(self._columns)

    def _kept_beside(self, taken: Container[str]) -> dict[str, list[Any]]:
        """The values of each column that was kept, whose names are not those that are taken."""
        names = dict.fromkeys(name for hit in self for name in hit.columns or ())
        return {kept_name(own, taken): [(hit.columns or {}).get(own) for hit in self] for own in names}

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
            "like": _group,
            "passage": lambda hit: hit.snippet.text if hit.snippet else None,
        }
        shown = [name for name, cell in columns.items() if any(cell(hit) not in (None, "") for hit in self)]
        kept = self._kept
        return html_table(
            [*shown, *kept],
            (
                [*(columns[name](hit) for name in shown), *(_as_text(own[place]) for own in kept.values())]
                for place, hit in enumerate(self)
            ),
        )

    def map(self) -> "list[Point]":
        """The seeds and the first hits on a map by what they share with the set (answers/picture.py).

        What the hits do not have, explanations and the seeds, is asked again. Empty for less than three items.
        Raises UsageError for hits without explanations that were pickled.
        """
        from setsearch.answers.picture import map_hits

        return map_hits(self, self.asked)

    def plot(self) -> Any:
        """A figure of matplotlib: the scores with the line where the set ends, and the map. Raises UsageError."""
        from setsearch.answers.picture import plot_hits

        return plot_hits(self, self.asked)

    def shared(self) -> "Hits":
        """The hits without items that share nothing with the examples."""
        return self.with_hits(hit for hit in self if self.blank is None or hit.score != self.blank)

    def tell_groups(self) -> str:
        """That the examples fall into groups, or a group would not be heard, by their titles; nothing if neither."""
        named = [name for group in (*self.groups, self.beside) for name in group]
        titles = self.asked.reading.titles(named) if self.asked and named else {}
        groups = [
            ", ".join(shortened(display_name(name, titles.get(name)), LONGEST_NAME) for name in group[:MOST_NAMED])
            + ", ..." * (len(group) > MOST_NAMED)
            for group in self.groups or [self.beside]
        ]
        if self.beside:
            return f"a few hits are those of {groups[0]} alone, which the others are less like"
        count = {2: "two", 3: "three"}.get(len(groups), str(len(groups)))
        told = f"your examples fall into {count} groups: {'; '.join(groups[:-1])} and {groups[-1]}"
        return told if self.groups else ""

    def with_hits(self, hits: Iterable[Hit]) -> "Hits":
        """Other hits of the same answer."""
        own = Hits(hits)
        own.__dict__.update(self.__dict__)
        return own


def _group(hit: Hit) -> str:
    """The group of a hit, as frames and tables show it."""
    return ", ".join(hit.group)


def _as_text(value: Any) -> str | None:
    """A kept value: a year is no number with a comma."""
    return ", ".join(map(str, value)) if isinstance(value, list) else None if value is None else str(value)


def _library(name: str) -> Any:
    """A library of frames; raises UsageError where it is missing."""
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"a frame of {name} needs it: pip install {name}") from None
