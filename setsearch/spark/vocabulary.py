"""The names of one kind of things on Parquet: what questions ask for is looked up on the workers, many at once."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import Ints
from setsearch.memory.names import WordVocabulary
from setsearch.spark.layout import Layout, Side, local, read
from setsearch.storage.ids import is_storable
from setsearch.storage.matching import Total, no_total
from setsearch.storage.names import Vocabulary

NO_CURSOR = cast(sqlite3.Cursor, None)  # what reads from SQLite has a cursor; nothing here looks at it
NAMESAKES = 5  # things with the same title that a message lists


class RemoteVocabulary(Vocabulary):
    """Names on the workers. What was looked up is kept: an object serves one call."""

    def __init__(self, spark: SparkSession, layout: Layout, side: Side) -> None:
        shown = layout.titles_shown and side.items == layout.features
        super().__init__(-1, side.items, side.count, side.count, titles_shown=shown)
        self._spark = spark
        self._rows: DataFrame = read(spark, layout, side.items, "items")  # type: ignore[assignment]
        self._ids: dict[str, int | None] = {}
        self._titled: dict[str, list[tuple[int, str]]] = {}
        self._described: dict[int, tuple[str, str | None]] = {}

    @property
    def are_contexts(self) -> bool:
        """Whether these are contexts of words, which nobody names."""
        return self.name.startswith("contexts ")

    def look_up(self, names: Iterable[str]) -> None:
        """Look up names, also as titles."""
        wanted = sorted({name for name in names if is_storable(name) and name not in self._ids})
        if not wanted or self.are_contexts:
            return
        table = F.broadcast(local(self._spark, [(name,) for name in wanted], wanted="string"))
        found = None
        for column in ("name", "title"):
            own = self._rows.join(table, F.col(column) == F.col("wanted"))
            first = F.slice(F.array_sort(F.collect_list(F.struct("name", "id"))), 1, NAMESAKES).alias("first")
            part = own.groupBy("wanted").agg(first).withColumn("column", F.lit(column))
            found = part if found is None else found.unionByName(part)
        self._ids |= dict.fromkeys(wanted)
        for row in found.collect() if found is not None else ():
            if row.column == "name":
                self._ids[row.wanted] = row.first[0].id
            else:
                self._titled[row.wanted] = [(own.id, own.name) for own in row.first]

    def find(self, cursor: sqlite3.Cursor, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist."""
        self.look_up(names)
        found = {name: self._ids.get(name) for name in names}
        return {name: id for name, id in found.items() if id is not None}

    def titled(self, cursor: sqlite3.Cursor, title: str) -> list[tuple[int, str]]:
        """(id, name) of up to five things with this title."""
        self.look_up([title])
        return self._titled.get(title, [])

    def called(self, cursor: sqlite3.Cursor, text: str) -> list[tuple[int, str]]:
        """Empty: names are not compared on the workers."""
        return []

    def hint(self, cursor: sqlite3.Cursor, name: str, total: Total = no_total) -> str:
        """Names are not compared on the workers."""
        return "give an id, or a title that only one has, as it was indexed"

    def describe(self, cursor: sqlite3.Cursor, ids: Sequence[int]) -> dict[int, tuple[str, str | None]]:
        """(name, title) of each id."""
        missing = sorted({*ids}.difference(self._described))
        if missing:
            table = F.broadcast(local(self._spark, [(id,) for id in missing], id="int64"))
            rows: list[Any] = self._rows.join(table, "id").select("id", "name", "title").collect()
            shown = self.titles_shown
            self._described |= {
                row.id: (row.title or row.name, None) if shown else (row.name, row.title) for row in rows
            }
        return {id: self._described[id] for id in ids}


def load_words(spark: SparkSession, layout: Layout) -> tuple[WordVocabulary, Ints]:
    """The words of a field of contexts, and the sum of counts of each, `(n_words,)`: at most a million."""
    found = read(spark, layout, layout.items, "items").select("id", "name", "total").orderBy("id").toArrow()
    return WordVocabulary(found["name"].to_pylist()), found["total"].to_numpy()
