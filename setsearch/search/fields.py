"""Fields: named groups of features of the same items. A reading has one or several; their scores are added.

What is looked up here belongs to one transaction: a cursor, and the snapshots that are valid in it.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Ints, to_lattice
from setsearch.errors import InvalidParameter, UnknownItem
from setsearch.models import Model
from setsearch.scoring.base import Base
from setsearch.search.snapshot import Snapshot
from setsearch.search.where import Where
from setsearch.storage.names import Kind, resolve_item, storable
from setsearch.text.analyzer import Analyzer, words


class Field(NamedTuple):
    """Features of one relation, and what their weights are multiplied by."""

    snapshot: Snapshot
    weight: float = 1.0


class Fields(NamedTuple):
    """The fields of a reading; all have the same items, which the `first` snapshot names and orders.

    `analyzer` turns text into names of terms.
    """

    cursor: sqlite3.Cursor
    first: Snapshot
    all: tuple[Field, ...]
    analyzer: Analyzer | None

    @property
    def items(self) -> Kind:
        """What is ranked."""
        return self.first.items

    def ranks(self) -> Ints:
        """The place of every item in the order of names: `(n_ids,)`."""
        return self.first.ranks(self.cursor)

    def describe(self, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of items."""
        return self.first.describe(self.cursor, ids)

    def base(self, model: Model, n_seeds: int) -> Base:
        """What every item scores before the seeds are known: the sum over the fields."""
        if len(self.all) == 1:
            return self.first.base(self.cursor, model, n_seeds)

        def load() -> Base:
            bases = [(field.weight, field.snapshot.base(self.cursor, model, n_seeds)) for field in self.all]
            items = [to_lattice(base.items, model.rule.binary, weight) for weight, base in bases]
            return Base(np.sum(items, axis=0), sum(weight * base.constant for weight, base in bases))

        return self.first.kept(("added", model, n_seeds, *(field.weight for field in self.all)), load)

    def knows(self, name: str) -> bool:
        """Whether a name is that of an item."""
        return isinstance(name, str) and self._find(name) is not None

    def resolve(self, name: str, hint: bool = True) -> int:
        """The item that is meant: by id, by id as the analyzer writes it, by title if only one has it."""
        found = self._find(name) if isinstance(name, str) else None
        return resolve_item(self.cursor, self.items, name, hint) if found is None else found

    def resolve_all(self, names: Sequence[str]) -> list[int]:
        """The distinct items that are meant, in the order of the names."""
        known = self.first.known
        return list(dict.fromkeys([known[name] if name in known else self.resolve(name) for name in names]))

    def known(self, names: Iterable[str]) -> list[int]:
        """The distinct items of those names that are known, in the order of the items' names, whatever their ids."""
        ids = {self.resolve(name) for name in names if self.knows(name)}
        described = self.describe(sorted(ids))
        return sorted(ids, key=lambda id: described[id][0])

    def named(self, kind: Kind, ids: Ints, counts: Ints) -> dict[str, int]:
        """Counts by name, in the order of the names."""
        names = kind.describe(self.cursor, ids.tolist())
        return dict(sorted((names[id][0], count) for id, count in zip(ids.tolist(), counts.tolist(), strict=True)))

    def among(self, wanted: Sequence[str] | Where) -> Ints:
        """The items that may be answered, ascending: those of the names that are known, or those of a condition."""
        if isinstance(wanted, Where):
            relation = self.first.relation
            return wanted.ids(self.cursor, relation, self.items.name)
        found = self.items.find(self.cursor, [name for name in wanted if storable(name)])
        more = (self._find(name) for name in wanted if name not in found)
        return np.array(sorted({*found.values(), *(id for id in more if id is not None)}), np.int64)

    def counts_of(self, text: str) -> Mapping[str, int]:
        """The counted features of a text that the index does not hold; raises UnknownItem where it knows none."""
        if not isinstance(text, str) or self.first.transposed or self.analyzer is None or len(self.all) > 1:
            raise InvalidParameter(f"a text is an example of documents, not of {self.items.name} (given: {text!r:.40})")
        found = self.analyzer(text)
        counts = found if isinstance(found, Mapping) else Counter(found)
        if not self.first.features.find(self.cursor, list(counts)):
            raise UnknownItem(f"the text {text!r:.60} has no word that the index knows; give another one")
        return counts

    def features_named(self, names: Sequence[str]) -> Mapping[str, int]:
        """Features as an example that has just these; raises UnknownItem."""
        counts = {}
        for name in names:
            kind = self.first.features
            analysed = self.analyzer is not None and self.analyzer.known and not self.first.transposed
            forms = [name, *(self.analyzer(name) if self.analyzer and analysed else ())]
            known = [form for form in forms if kind.find_one(self.cursor, form) is not None]
            if not known:
                hint = kind.hint(self.cursor, name)
                raise UnknownItem(f"no {name!r} among the {kind.size} {kind.name}{'; ' * bool(hint)}{hint}")
            counts[known[0]] = 1
        return counts

    def _find(self, name: str) -> int | None:
        id = self.first.find(self.cursor, name)
        if id is None:
            for form in self._forms(name):
                id = self.first.find(self.cursor, form)
                if id is not None:
                    break
        return id

    def _forms(self, name: str) -> Iterator[str]:
        """A name as the items are written: terms by the analyzer, words in lower case."""
        if (
            self.analyzer is None
            or not self.analyzer.known
            or not (self.first.transposed or self.first.relation.parent is not None)
        ):
            return
        forms = words(name)
        if self.first.relation.parent is not None:
            yield " ".join(forms)
            yield from self.first.inflected(self.cursor, forms, self.analyzer.stem)
        elif len(terms := list(self.analyzer(name))) == 1:
            yield terms[0]


def nothing_left(items: Kind, among: Ints | None) -> str:
    """What to say where no item is left to rank."""
    what = f"{items.size} {items.name}"
    if among is not None and not len(among):
        return f"none of the {what} is among those that may be answered (--among, --where, --match); allow others"
    of = what if among is None else f"{len(among)} {items.name} that may be answered"
    return (
        f"all {of} are seeds or excluded, none is left to rank; "
        "give fewer seeds, or keep them in the ranking (--keep-seeds)"
    )
