"""SQLite to Parquet and back: an index that has outgrown its file, and a part of it that fits into one again."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import setsearch
from setsearch.errors import InvalidParameter, SourceError, UsageError
from setsearch.search.reading import Reading
from setsearch.spark.builder import Cells, build, delete
from setsearch.spark.layout import Layout, load_layout, located, read, require_place
from setsearch.spark.session import first_line
from setsearch.spark.sources import CELLS
from setsearch.storage.analyzers import load_analyzer


def from_sqlite(spark: SparkSession, database: str | Path, place: str, items: str | None = None) -> Layout:
    """Build an index of Parquet from a reading of a database: the same names, counts and titles.

    The texts stay behind: contexts are read from them in one file only. Raises DatabaseError, UnknownReading.
    """
    require_place(place)
    given = f"{place}/_given"
    with setsearch.open(database) as index, tempfile.TemporaryDirectory() as folder:
        reading = index.reading(items)
        if not isinstance(reading, Reading):
            raise UsageError(f"{reading.name} are described by numbers; they fit into one file")
        with reading.stored() as fields:
            relation = fields.first.snapshot.relation
            names = (relation.items.name, relation.features.name)
            shown = relation.features.titles_shown
        _write(Path(folder), index.items(names[0]))
        try:
            _upload(spark, folder, given)
            kinds = {what: spark.read.parquet(f"{given}/{what}") for what in ("items", "features")}
            cells = spark.read.schema(CELLS).parquet(f"{given}/cells")
            made = Cells(kinds["items"], cells, names, relation.analyzer, kinds["features"], shown)
            return build(spark, made, place)
        finally:
            delete(spark, given)


def to_sqlite(
    spark: SparkSession,
    place: str,
    database: str | Path,
    *,
    where: str | None = None,
    sample: float | None = None,
    seed: int = 0,
) -> int:
    """Write items into a database: those for which a condition in SQL holds, or a sample of them.

    The condition may use id, name, title, length and total.
    Returns how many. The database is made; raises UsageError where it holds something, InvalidParameter, SourceError.
    """
    layout = load_layout(spark, place)
    if layout.analyzer is not None and load_analyzer(layout.analyzer).function is not None:
        raise UsageError(f"this collection was analysed by {layout.analyzer!r}, which a new database would not know")
    if Path(database).exists():
        raise UsageError(f"{database} is there already; name a file that is not")
    if sample is not None and not 0 < sample <= 1:
        raise InvalidParameter(f"a sample is a share above 0 and up to 1, not {sample:g}")
    items = read(spark, layout, layout.items, "items")
    try:
        chosen = items if where is None else items.filter(where)
        chosen = chosen if sample is None else chosen.sample(sample, seed)
        chosen = chosen.select(F.col("id").alias("item"), "name", "title").persist()
        if chosen.isEmpty():
            raise SourceError("nothing is left to write: no item is as asked")
    except PySparkException as error:
        raise SourceError(f"the items cannot be chosen: {first_line(error)}") from error
    spec = layout.analyzer
    options: dict[str, Any] = {"contexts": "off"}
    if spec is not None:
        language = load_analyzer(spec).language
        options |= {"language": language, "stop_words": spec.endswith(" stop")} if language else {}
    entries = _entries(spark, layout, chosen, where is None and sample is None)
    try:
        with setsearch.open(database, create=True, **options) as index:
            return index.add(_items(entries), (layout.items, layout.features))
    finally:
        chosen.unpersist()


def _entries(spark: SparkSession, layout: Layout, chosen: DataFrame, all_: bool) -> DataFrame:
    """(item, name, title, features, counts) of the chosen items, an item a row."""
    cells = read(spark, layout, layout.items, "postings").select("item", "feature", "count")
    features = read(spark, layout, layout.features, "items").select(
        F.col("id").alias("feature"), F.col("name").alias("of")
    )
    own = (cells if all_ else cells.join(chosen.select("item"), "item")).join(features, "feature")
    pairs = own.groupBy("item").agg(F.collect_list(F.struct("of", "count")).alias("pairs"))
    return chosen.join(pairs, "item", "left").orderBy("item")


def _items(rows: DataFrame) -> Iterator[tuple[str, dict[str, int], str | None]]:
    for row in rows.toLocalIterator():
        yield row.name, {pair.of: pair["count"] for pair in row.pairs or ()}, row.title


def _upload(spark: SparkSession, folder: str, target: str) -> None:
    """Copy a folder of this machine to where all workers can read it."""
    _, source = located(spark, f"file://{folder}")
    system, there = located(spark, target)
    system.copyFromLocalFile(False, True, source, there)


def _write(folder: Path, reading: Reading) -> None:
    """Everything of a relation as Parquet files, some at a time."""
    import pyarrow
    from pyarrow import parquet

    for what in ("items", "features", "cells"):
        (folder / what).mkdir()
    names = pyarrow.schema([("name", pyarrow.string()), ("title", pyarrow.string())])
    schema = pyarrow.schema([("item", pyarrow.string()), ("feature", pyarrow.string()), ("count", pyarrow.int64())])
    with reading.stored() as fields:
        kinds = {"items": fields.items, "features": fields.first.features}
        known: dict[str, dict[int, str]] = {}
        for what, kind in kinds.items():
            described = fields.first.cursor.execute(
                "select id, name, title from setsearch_name where kind = ?", (kind.id,)
            ).fetchall()
            known[what] = {id: name for id, name, _ in described}
            columns = [[row[1] for row in described], [row[2] for row in described]]
            parquet.write_table(pyarrow.table(columns, names), folder / what / "part.parquet")
        for number, step in enumerate(fields.first.sweep()):
            items = [known["items"][id] for id in step.lists.tolist()]
            features = [known["features"][id] for id in step.ids.tolist()]
            table = pyarrow.table([items, features, step.counts], schema)
            parquet.write_table(table, folder / "cells" / f"{number}.parquet")
