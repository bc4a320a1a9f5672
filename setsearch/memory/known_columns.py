"""What is known of the kept columns of items: whether there are some, and which items meet conditions."""

from collections.abc import Iterable, Mapping

import numpy as np

from setsearch.arrays import Ints, union
from setsearch.storage.documents import Values, find_by_columns, has_columns, read_columns
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import NO_ITEMS

Conditions = tuple[str, ...]
KEPT = 8  # conditions that are kept: a caller may think of any number
MOST_CHANGED = 1 << 14  # items of which each is looked at again; after more all are


class KnownColumns:
    """The columns of the items of one content. Threads may share it: all of them find the same."""

    def __init__(self, are_some: bool | None = None) -> None:
        # The items that met conditions, and those that have changed since, both ascending.
        self._met: dict[Conditions, tuple[Ints, Ints]] = {}
        self._are_some = are_some  # None: not known yet

    def after(self, changed: Ints) -> "KnownColumns":
        """Those after a write of some items."""
        new = KnownColumns()
        for conditions, (met, before) in dict(self._met).items():  # a copy: threads go on to ask
            both = union(before, changed)
            if len(both) <= MOST_CHANGED:
                new._met[conditions] = met, both
        return new

    def find(self, relation: Relation, conditions: Conditions) -> Ints:
        """The items that meet all conditions, ascending, by the relation within a transaction.

        Raises InvalidParameter, CorruptIndex.
        """
        met, changed = self._met.get(conditions, (NO_ITEMS, None))
        if changed is None or len(changed):
            again = find_by_columns(relation, conditions, changed)
            met = again if changed is None else union(np.setdiff1d(met, changed, assume_unique=True), again)
            if len(self._met) >= KEPT and conditions not in self._met:
                self._met.clear()
            self._met[conditions] = met, NO_ITEMS
        return met

    def of(self, relation: Relation, items: Iterable[int]) -> Mapping[int, Values]:
        """The columns of those items that have some. Raises CorruptIndex."""
        if self._are_some is None:
            self._are_some = has_columns(relation)
        return read_columns(relation, [*items]) if self._are_some else {}
