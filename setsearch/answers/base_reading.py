"""`BaseReading`: what the readings of features, of numbers and of a cluster share."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, cast

from setsearch.answers.answer import Hits
from setsearch.answers.tables import html_table
from setsearch.errors import SetsearchError
from setsearch.options import ExpandOptions, Ids, ModelOptions

if TYPE_CHECKING:
    from setsearch.search.cutoff import SeedFit
    from setsearch.search.request import SeedNames


class BaseReading:
    """What all readings share. Of items that numbers describe nothing is known that features tell: it is empty here."""

    kind = ""  # what features describe: documents, terms, or a column, whatever the collection
    in_one_list: Mapping[str, Any] = MappingProxyType({})  # options by which examples are not divided

    def _repr_html_(self) -> str:
        """A reading as notebooks show it."""
        own = cast(Any, self)
        rows = [("items", own.name), ("number", own.item_count()), *own.defaults.describe().items()]
        return html_table((), rows, f"Give examples of {own.name}: expand([...])")

    def fits(self, seeds: "SeedNames", **options: Unpack[ModelOptions]) -> "list[SeedFit]":
        """How well each seed fits the others."""
        return []

    def word_notes(self, seeds: Iterable[str], **options: Unpack[ModelOptions]) -> list[str]:
        """What is so of seeds that are words, one line each."""
        return []

    def headlines(self, names: Ids) -> dict[str, str]:
        """The headlines of those documents whose text is known."""
        return {}

    def expand_many(
        self, seed_sets: "Iterable[SeedNames]", k: int | None = 10, **options: Unpack[ExpandOptions]
    ) -> list[Hits]:
        """Expand many sets of seeds on the same content; each answer equals that of `expand`.

        Raises as `expand` does; the message gives the number of the set, from 1.
        """
        found, own = list[Hits](), cast(Any, self)
        for number, answer in enumerate(own.expand_each(seed_sets, k, **options), 1):
            if isinstance(answer, SetsearchError):
                raise type(answer)(f"set {number}: {answer}") from answer
            found.append(answer)
        return found
