"""Finding an item by its name: what somebody typed, in any case, any part of it, or with small errors."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from heapq import nsmallest
from typing import Protocol, Unpack

from setsearch.answers.results import Found
from setsearch.arrays import Entries, Ints
from setsearch.errors import InvalidParameter, QueryError
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.options import Id, Ids, ModelOptions
from setsearch.storage.ids import id_text
from setsearch.storage.names import Vocabulary

Names = tuple[Vocabulary, Ints | None]  # of items, with their totals


class Named:
    """What is found by names: a reading."""

    def vocabularies(self) -> Iterator[Names]:
        """Its vocabularies, each within one transaction."""
        raise NotImplementedError

    def find_names(self, text: str, k: int = 10) -> list[Found]:
        """The k items whose id or title matches a text best.

        First those that are the text, then those that begin with it, have it at a later word, are one edit from it,
        have it inside, have all its words, have words one edit from its words, or are similar to it; in any case; equal
        ones by total. Those after the first two are looked for if fewer than k begin with the text, and each of the
        last two if there are no others.
        """
        if not isinstance(text, str) or not isinstance(k, int) or k < 1:
            raise InvalidParameter(f"a name is found by a text, and k is at least 1, not {text!r:.40} and {k!r:.40}")
        best: dict[str, tuple[tuple[int, float, int, str], tuple[str, str | None, int]]] = {}

        def look(vocabulary: Vocabulary, totals: Ints | None) -> None:
            for one in vocabulary.search(text, k):
                total = 0 if totals is None else int(totals[one.id])
                shown = vocabulary.titles_shown and one.title is not None
                found = (str(one.title), None, total) if shown else (one.name, one.title, total)
                best.setdefault(found[0], ((*one.order, -total, one.name), found))  # a stem is shown as its word

        for names in self.vocabularies():
            look(*names)
        return [Found(*found) for _, found in nsmallest(k, best.values())]


class Described(Protocol):
    """A reading of items that have features."""

    def stored(self) -> AbstractContextManager[Fields]:
        """As `Reading.stored`."""

    def fields(self, names: Iterable[str] = (), **options: Unpack[ModelOptions]) -> AbstractContextManager[Fields]:
        """As `Reading.fields`."""


def find_each(reading: Described, names: Ids) -> dict[str, str | QueryError]:
    """Names as the index has them, or why it has none (without similar ones), by the names that are given."""
    given, found = [*map(id_text, names)], dict[str, str | QueryError]()

    def add(fields: Fields, ids: Mapping[str, int]) -> list[str]:
        """Add the names of what was found; those that are missing."""
        described = fields.describe(list(ids.values()))
        found.update((name, described[id][0]) for name, id in ids.items())
        return [name for name in given if not isinstance(name, str) or name not in found]

    with reading.stored() as fields:
        has_phrases = fields.has_phrases
        missing = add(fields, fields.find_all([name for name in given if isinstance(name, str)]))
    if missing and has_phrases:
        with reading.fields() as contexts:
            missing = add(contexts, contexts.find_all([name for name in missing if isinstance(name, str)]))
    if missing:  # by titles, or not at all
        with reading.stored() as fields:
            for name in missing:
                try:
                    add(fields, {name: fields.resolve(name, hint=False)})
                except QueryError as error:
                    found[name] = error
    return found


def find_all(reading: Described, names: Ids, hint: bool = True) -> list[str]:
    """As `Reading.find_all`."""
    given = [*map(id_text, names)]
    found = find_each(reading, given)
    for name, own in found.items():
        if isinstance(own, QueryError):
            if hint:
                with reading.stored() as fields:
                    fields.resolve(name)  # raises it with similar names, unless it came meanwhile
            raise own
    return [str(found[name]) for name in given]


@contextmanager
def item_entries(reading: Described, item: Id) -> Iterator[tuple[Fields, Field, Entries]]:
    """The features of an item, in one transaction: the fields, the one that has them, and its entries.

    A phrase has its documents in the contexts. Raises UnknownItem, AmbiguousItem.
    """
    (name,) = find_all(reading, [item])
    with reading.stored() as fields:
        if not fields.has_phrases or fields.knows(name):
            yield fields, fields.first, fields.first.read_forward([fields.resolve(name)])
            return
    with reading.fields(by="both") as contexts:
        yield contexts, contexts.all[-1], contexts.all[-1].read_forward([contexts.resolve(name)])
