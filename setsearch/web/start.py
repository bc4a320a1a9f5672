"""The start page: what the collection is, and where one may begin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from setsearch.answers.highlight import titles_of
from setsearch.answers.overview import first_sets
from setsearch.answers.reading import Reading
from setsearch.answers.results import shortened
from setsearch.answers.saved.item_sets import AnyReading
from setsearch.errors import InvalidParameter
from setsearch.index import Index
from setsearch.learning.review import Review
from setsearch.storage.ids import collection_of, in_number, plain_name
from setsearch.web.page_state import Address
from setsearch.web.typed_names import find_spelled

LABELS = {"terms": "Words", "documents": "Documents"}
LONGEST_PLACEHOLDER = 60  # characters


@dataclass(frozen=True)
class Start:
    """What a visitor sees first: what there is, sets to begin with, what to type; whether there are references."""

    holds: str
    starters: list[tuple[list[str], Address]]
    placeholder: str
    has_references: bool
    typed: Mapping[str, str]  # into the form for a new review, and the `problem` with it


def label_of(items: str, begins: bool = True) -> str:
    """What people call a kind of items, at the beginning of a line or within; names of others stay as they are."""
    kind, collection = plain_name(items), collection_of(items)
    label = LABELS.get(kind, kind)
    label = label.lower() if kind in LABELS and not begins else label
    return f"{collection}: {label}" if collection else label


def first_items(asked: Address, readings: Sequence[dict[str, Any]]) -> str | None:
    """What the page of a state ranks: what it names; on a bare address documents, where there are some."""
    if asked.items is not None or asked.asks:
        return asked.items
    names = [reading["items"] for reading in readings]
    return next((name for name in names if plain_name(name) == "documents"), None)


def make_start(
    reading: AnyReading, readings: Sequence[dict[str, Any]], address: Address, typed: Mapping[str, str]
) -> Start:
    """The start page of a reading; its sets are sets of titles, where there are titles."""
    sets = first_sets(reading) if isinstance(reading, Reading) else []
    titles = titles_of(reading, [name for names in sets for name in names])
    titled = [names for names in sets if all(name in titles for name in names)]
    starters = [
        ([titles.get(name, name) for name in names], address.replace(seeds=tuple(names))) for names in titled or sets
    ]
    first = starters[0][0] if starters else []
    example = ", ".join(first if plain_name(reading.name) == "terms" else first[:1])
    own = [other for other in readings if reading.name in (other["items"], other["features"])]
    parts = [in_number(other["shown_count"], plain_name(other["items"])).replace("term", "word") for other in own]
    has_references = any(other["references"] for other in own if other["items"] == reading.name)
    return Start(" and ".join(parts), starters, shortened(example, LONGEST_PLACEHOLDER), has_references, typed)


def start_review(index: Index, items: str, name: str, lines: str) -> None:
    """A new review of references that begins with some, one a line, by title, DOI or id.

    Raises InvalidParameter, UnknownItem, AmbiguousItem; then nothing is written.
    """
    if name in index.sets():
        raise InvalidParameter(f"there is a set {name!r} already: open it, or take another name")
    reading = index.reading(items)
    known = [find_spelled(reading, line) for line in lines.splitlines() if line.strip()]
    if not known:
        raise InvalidParameter("a review begins with at least one reference that belongs; type its title, DOI or id")
    Review(index, name, items).know(known)
