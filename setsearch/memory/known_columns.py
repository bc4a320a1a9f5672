"""What is known of the kept columns of items: whether there are some, and which items meet conditions."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import nan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, Ints, union
from setsearch.errors import InvalidParameter, shown
from setsearch.storage.kept.columns import Values, has_columns, parse_filter, read_columns, read_values, require_column
from setsearch.storage.kept.conditions import OPERATORS, Condition
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import NO_ITEMS
from setsearch.text.numbers_and_dates import as_number, date_text

Bools = npt.NDArray[np.bool_]

KEPT = 8  # columns that are kept, and conditions on each: a caller may think of any number
MOST_CHANGED = 1 << 14  # items of which each is looked at again; after more all are


class Column(NamedTuple):
    """The values of a kept column, each once, the first of which is None; `places`, by item, tell which one it has.

    What a write brings comes behind, so that `met`, whether values meet conditions, is told on and not anew.
    """

    places: npt.NDArray[np.int32]
    values: Sequence[Any]
    numbers: Floats  # of the values; nan for what is none
    met: dict[Condition, Bools]

    def after(self, items: Ints, values: Iterable[Any]) -> "Column":
        """The column once some items have these values."""
        added, behind = {"None": (0, None)}, len(self.values) - 1  # by what tells 1 from 1.0 and from "1"
        found = [added.setdefault(repr(value), (behind + len(added), value))[0] for value in values]
        places = np.zeros(max(len(self.places), items.max(initial=-1) + 1), np.int32)
        places[: len(self.places)] = self.places
        places[items] = found
        new = [value for _, value in added.values()][1:]
        numbers = np.append(self.numbers, np.array([*map(as_number, new)], np.float64))  # None is nan
        return Column(places, [*self.values, *new], numbers, dict(self.met))

    def meeting(self, condition: Condition) -> Bools:
        """Whether each item meets a condition: numbers are compared together, other values one by one."""
        met = self.met.get(condition, np.zeros(0, bool))
        if (first := len(met)) < len(self.values):
            numbers, wanted = self.numbers[first:], as_number(condition.wanted)
            new = np.asarray(OPERATORS[condition.sign](numbers, nan if wanted is None else wanted))
            for place in np.flatnonzero(np.isnan(numbers) | (wanted is None)).tolist():
                new[place] = condition.meets(self.values[first + place])
            met = np.append(met, new)
            if len(self.met) >= KEPT and condition not in self.met:
                self.met.clear()
            self.met[condition] = met
        return met[self.places]

    def require_some_to_compare(self, condition: Condition) -> None:
        """Raise InvalidParameter for more and less of values of which none is a number, or a date."""
        places = dict.fromkeys(self.places.tolist())  # older values are of no item
        values = [own for own in (self.values[place] for place in places) if own not in (None, "", [])]
        if values and not any(map(condition.tells, values)):
            kind = "date" if as_number(condition.wanted) is None else "number"
            way_out = f"index it again as a {kind}, or filter by = or !="
            if date := date_text(values[0]):
                way_out = f"compare it with a date, such as {date}"
            raise InvalidParameter(
                f"no {condition.column!r} is a {kind} to compare with {condition.wanted}, but {shown(str(values[0]))}; "
                f"{way_out}"
            )


NO_VALUES = Column(np.zeros(0, np.int32), [None], np.array([nan]), {})


class KnownColumns:
    """The columns of the items of one content. Threads may share it: all of them find the same."""

    def __init__(self, are_some: bool | None = None) -> None:
        # Columns that conditions were about, and the items that have changed since, ascending.
        self._columns: dict[str, tuple[Column, Ints]] = {}
        self._are_some = are_some  # None: not known yet

    def after(self, changed: Ints) -> "KnownColumns":
        """Those after a write of some items."""
        new = KnownColumns()
        for name, (column, before) in dict(self._columns).items():  # a copy: threads go on to ask
            both = union(before, changed)
            if len(both) <= MOST_CHANGED and len(column.values) <= 2 * len(column.places):  # most are of some item
                new._columns[name] = column, both
        return new

    def find(self, relation: Relation, conditions: Sequence[str]) -> Ints:
        """The items that meet all conditions, ascending, by the relation within a transaction.

        A condition such as "year >= 2001" compares one column with a number or a text. Of a list, one value must meet
        it. Raises InvalidParameter, CorruptIndex.
        """
        met = list[Bools]()
        for condition in [*map(parse_filter, conditions)]:
            column = self._column(relation, condition.column)
            met.append(column.meeting(condition))
            if not met[-1].any():
                column.require_some_to_compare(condition)
        size = min(map(len, met))  # the last items may not have all columns
        return np.flatnonzero(reduce(np.logical_and, [own[:size] for own in met]))

    def _column(self, relation: Relation, name: str) -> Column:
        """A column as it is now. Raises InvalidParameter if no item has it."""
        column, changed = self._columns.get(name, (NO_VALUES, None))
        if changed is None or len(changed):
            values = dict(read_values(relation, name, changed))
            items = np.array([*values], np.int64) if changed is None else changed
            column = column.after(items, map(values.get, items.tolist()))
            if len(self._columns) >= KEPT and name not in self._columns:
                self._columns.clear()
            self._columns[name] = column, NO_ITEMS
        if not column.places.any():
            require_column(relation, name, "filter by")
        return column

    def of(self, relation: Relation, items: Iterable[int]) -> Mapping[int, Values]:
        """The columns of those items that have some. Raises CorruptIndex."""
        if self._are_some is None:
            self._are_some = has_columns(relation)
        return read_columns(relation, [*items]) if self._are_some else {}
