"""Items of which several rows speak: their features, or the texts of a group; and items with numbers, a row each."""

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from setsearch.errors import SourceError
from setsearch.indexing.formats.pages import as_shown
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.rows.cells import (
    Row,
    cell_count,
    cell_id,
    cell_number,
    cell_text,
    is_open,
    require_columns,
)
from setsearch.indexing.rows.opening import SKIPPING
from setsearch.indexing.tally import Tally
from setsearch.storage.synced_source import Columns

ENTRIES = "select item, feature, sum(count) as count, max(title) as title from row group by item, feature"
# of the items with enough features, those entries whose features have enough of these items
FREQUENT = f"""
    with entry as ({ENTRIES}),
    kept as (select * from entry where item in (select item from entry group by item having count(*) >= {{}}))
    select * from kept where feature in (select feature from kept group by feature having count(*) >= {{}})
"""

Entry = tuple[str, str, int, str | None]  # item, feature, count, title


@dataclass(frozen=True)
class ItemColumns:
    """What rows say of items, by the roles of their columns, in files or in a table of a database."""

    columns: Columns
    cells: CellRules
    is_table: bool
    tally: Tally

    @property
    def optional(self) -> tuple[str | None, ...]:
        """The columns that a JSON object may lack."""
        columns = self.columns
        return (columns.items, columns.features) if columns.items else (columns.group_by, *columns.texts)

    def entries(self, row: Row) -> list[Entry]:
        """The entries of a row: one for each feature of its cell; for none, one of a feature that does not count."""
        position, values = row
        columns = self.columns
        own_title = None if self.cells.titles else columns.title
        asked = (columns.items, columns.features, columns.count, own_title)
        require_columns(position, values, *(() if is_open(values) else asked))
        if self._lacks(columns.items or "", values[columns.items or ""]):
            return []
        item = cell_id(position, columns.items or "", values[columns.items or ""])
        features = self.cells.features(position, columns.features or "", values[columns.features or ""])
        count = cell_count(position, columns.count, values[columns.count]) if columns.count and features else 1
        count *= not self.cells.drops_rare or self.cells.keeps(row)
        title = self.cells.titles.get(item) if self.cells.titles else self._title(row)
        none = [] if self.cells.drops_rare else [(item, "", 0, title)]
        return [(item, own, count, title) for own in features] or none

    def with_features(self, entries: Iterable[Entry]) -> Iterator[tuple[str, dict[str, int], str | None]]:
        """Items with their counted features and titles, of all their entries."""
        chosen = FREQUENT.format(self.cells.min_features, self.cells.min_items) if self.cells.drops_rare else ENTRIES
        columns = "item text, feature text, count integer, title text"
        for item, group in _grouped(entries, columns, f"{chosen} order by item, feature"):
            own = list(group)
            yield item, {feature: count for _, feature, count, _ in own if count}, own[0][3]

    def texts(self, row: Row) -> list[tuple[str, str]]:
        """The text of a row, for each of the groups that its cell names."""
        position, values = row
        group = self.columns.group_by or ""
        require_columns(position, values, *(() if is_open(values) else (group, *self.columns.texts)))
        if self._lacks(group, values[group]):
            return []
        text = "\n".join(as_shown(cell_text(position, name, values[name])) for name in self.columns.texts)
        if self.is_table and self.cells.split is None:  # it may be followed, by one id in each row
            return [(cell_id(position, group, values[group]), text)]
        return [(name, text) for name in self.cells.features(position, group, values[group])]

    def with_texts(self, texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, None]]:
        """Groups with all their texts, in the order of the rows."""
        ordered = "select name, text from row order by name, rowid"
        for name, group in _grouped(texts, "name text, text text", ordered):
            yield name, "\n".join(text for _, text in group), None

    def numbers(self, row: Row) -> tuple[str, list[float], str | None]:
        """The item of a row, with its numbers and its title."""
        position, values = row
        columns = self.columns
        require_columns(position, values, columns.items, columns.title, *columns.numbers)
        for name in (name for name in columns.numbers if values[name] in (None, "")):
            raise SourceError(
                f"{position}: the column {name!r} is empty; an item has all its numbers: fill it{SKIPPING}"
            )
        numbers = [cell_number(position, name, values[name]) for name in columns.numbers]
        item = cell_id(position, columns.items or "", values[columns.items or ""])
        return item, numbers, self._title(row)

    def _lacks(self, column: str, value: Any) -> bool:
        """Whether a row of a file is about nothing, because its cell is empty; such rows are counted."""
        if self.is_table or value not in ("", None):
            return False
        self.tally.unread["row{s} without " + column.replace("{", "{{").replace("}", "}}")] += 1
        return True

    def _title(self, row: Row) -> str | None:
        position, values = row
        name = self.columns.title
        return None if name is None or values[name] is None else cell_text(position, name, values[name])


def _grouped(rows: Iterable[tuple[Any, ...]], columns: str, ordered: str) -> Iterator[tuple[str, Iterator[Any]]]:
    """Rows grouped by their first cell in a temporary file: there may be more than memory holds, in any order."""
    stage = sqlite3.connect("")
    try:
        stage.execute(f"create table row ({columns})")
        stage.executemany(f"insert into row values ({', '.join('?' * (columns.count(',') + 1))})", rows)
        yield from groupby(stage.execute(ordered), key=lambda row: row[0])
    finally:
        stage.close()
