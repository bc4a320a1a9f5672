"""Builds an index from cells (item, feature, count) by operations on DataFrames.

Statistics equal those of setsearch.models.values. numpy computes the logarithm of each distinct count and document
frequency once, on the driver; workers get small tables, so all machines use the same bits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.errors import SourceError, UsageError
from setsearch.models.values import largest_rarity, rarity, square_unit
from setsearch.spark.layout import (
    CONTEXTS,
    META,
    NORMS,
    Layout,
    Side,
    field_place,
    local,
    located,
    path_of,
    require_place,
    save_layout,
)
from setsearch.storage.relation import FEWEST_WORDS, MOST_WORDS

POSTING_COLUMNS = "feature item count logs total norm_presence norm_soft df soft_df factor floor".split()
BUCKET_SIZE, MOST_BUCKETS = 2_000_000, 1024  # postings in a folder; a query opens only some folders
SLICE = 1 << 24  # items whose postings of one bucket are one task


@dataclass(frozen=True)
class Cells:
    """The input of a build: `items` (name, title) and `cells` (item, feature, count), by name.

    With `features` (id, name, title), all are by number, as in `Numbered`.
    """

    items: DataFrame
    cells: DataFrame
    names: tuple[str, str]
    analyzer: str | None = None
    titles: DataFrame | None = None  # (name, title) of features
    titles_shown: bool = False
    contexts: "Contexts | None" = None
    automatic: bool = False  # contexts only for as many words as a file gets them for
    features: DataFrame | None = None


@dataclass(frozen=True)
class Numbered:
    """A relation by numbers: `items` and `features` (id, name, title), `cells` (item, feature, count).

    Both are numbered in the order of their names, by code point.
    """

    names: tuple[str, str]
    items: DataFrame
    features: DataFrame
    cells: DataFrame


# The fields of words by contexts, given the documents (id, name, title) and a place for intermediate results.
Contexts = Callable[[DataFrame, str], Iterator[Numbered]]


def build(spark: SparkSession, source: Cells, place: str) -> Layout:
    """Write an index; replaces one at this place. It can be read after the last step. Returns its layout.

    Raises InvalidParameter, SourceError.
    """
    require_place(place)
    if source.names[0] == source.names[1]:
        raise UsageError(f"items and features are both named {source.names[0]!r}; give them two names")
    skew = "spark.sql.adaptive.forceOptimizeSkewedJoin"  # a posting list may hold all items
    before = spark.conf.get(skew)
    spark.conf.set(skew, "true")
    try:
        return _build(spark, source, place, f"{place}/_stage")
    except BaseException:
        spark.sparkContext.cancelAllJobs()  # they would go on writing
        raise
    finally:
        spark.conf.set(skew, str(before))
        delete(spark, f"{place}/_stage")


def _build(spark: SparkSession, source: Cells, place: str, stage: str) -> Layout:
    whole = _number(spark, source, stage)
    if whole.items.isEmpty():
        raise SourceError("nothing to index: no row")
    for old in (META, CONTEXTS):
        delete(spark, f"{place}/{old}")  # a build that stops from here on leaves no index
    sides = _write_side(spark, place, whole, stage), _write_side(spark, place, _turned(whole), stage)
    contexts: list[tuple[Side, Side]] = []
    is_apt = not source.automatic or FEWEST_WORDS <= sides[0].total <= MOST_WORDS
    if source.contexts is not None and is_apt:
        for field in source.contexts(whole.items, stage):
            folder = field_place(place, field.names[1])
            contexts.append((_write_side(spark, folder, field, stage), _write_lists(folder, _turned(field))))
    layout = Layout(
        place, *source.names, source.analyzer, sides, titles_shown=source.titles_shown, contexts=tuple(contexts)
    )
    save_layout(spark, layout)
    return layout


def _number(spark: SparkSession, source: Cells, stage: str) -> Numbered:
    """The relation of a source by numbers."""
    if source.features is not None:
        return Numbered(source.names, source.items, source.features, source.cells)
    items = numbered(spark, source.items.select("name", "title"), "name", f"{stage}/items")
    cells = staged(source.cells, f"{stage}/cells")
    named = cells.select(F.col("feature").alias("name")).distinct()
    nameless = named.withColumn("title", F.lit(None).cast("string"))
    titled = nameless if source.titles is None else named.join(source.titles, "name", "left")
    features = numbered(spark, titled.select("name", "title"), "name", f"{stage}/features")
    ids = (
        cells.join(items.select(F.col("id").alias("item_id"), F.col("name").alias("item")), "item")
        .join(features.select(F.col("id").alias("feature_id"), F.col("name").alias("feature")), "feature")
        .select(F.col("item_id").alias("item"), F.col("feature_id").alias("feature"), "count")
    )
    return Numbered(source.names, items, features, staged(ids, f"{stage}/ids"))


def _turned(relation: Numbered) -> Numbered:
    """The relation with its features as items."""
    cells = relation.cells.select(F.col("feature").alias("item"), F.col("item").alias("feature"), "count")
    return Numbered(relation.names[::-1], relation.features, relation.items, cells)


def _write_lists(place: str, relation: Numbered) -> Side:
    """Write the items and the posting lists of a reading that is not ranked."""
    buckets = _buckets(relation.cells)
    lengths = relation.cells.groupBy("item").agg(F.count("*").alias("length"), F.sum("count").alias("total"))
    _write_items(place, relation, lengths)
    _write_postings(place, relation.names[0], relation.cells, buckets)
    total = int((relation.cells.agg(F.sum("count")).first() or [0])[0] or 0)
    return Side(*relation.names, relation.items.count(), total, {}, buckets)


def _write_side(spark: SparkSession, place: str, relation: Numbered, stage: str) -> Side:
    """Write the items and the postings of one reading."""
    n_items, cells, buckets = relation.items.count(), relation.cells, _buckets(relation.cells)
    by_feature = cells.groupBy("feature").agg(F.count("*").alias("df"), F.sum("count").alias("cf")).cache()
    total = int((by_feature.agg(F.sum("cf")).first() or [0])[0] or 0)
    factors = _table(spark, by_feature, "df", "factor", lambda df: rarity(df, n_items))
    logs = _table(spark, cells, "count", "logs", lambda count: 1 + np.log(count))
    floors = by_feature.join(F.broadcast(factors), "df").withColumn(
        "floor", F.col("cf").cast("double") * 2 / F.lit(float(max(total, 1)))
    )
    lengths = cells.groupBy("item").agg(F.count("*").alias("length"), F.sum("count").alias("total"))
    entries = staged(
        cells.join(F.broadcast(logs), "count").join(floors, "feature").join(lengths, "item"),
        f"{stage}/entries",
    )
    norms = _norms(entries, n_items)
    is_there = _is_soft() & (F.col("logs") * F.col("factor") > 0)
    soft = entries.groupBy("feature").agg(F.count(F.when(is_there, 1)).alias("soft_df"))
    _write_items(place, relation, lengths.join(norms, "item"))
    _write_postings(place, relation.names[0], entries.join(norms, "item").join(soft, "feature"), buckets)
    by_feature.unpersist()
    stored = spark.read.parquet(path_of(place, relation.names[0], "items"))
    medians = {
        existence: median(spark, stored.filter(F.col(norm) > 0), norm, f"{stage}/{norm}")
        for existence, norm in NORMS.items()
    }
    return Side(*relation.names, n_items, total, medians, buckets)


def _is_soft() -> Column:
    """Whether an entry exists for the binarization "soft-twice-mean"."""
    return F.col("count") / F.col("total") > F.col("floor")


def _norms(entries: DataFrame, n_items: int) -> DataFrame:
    """(item, norms): sums of squares that are whole numbers of a unit, so that no order changes a bit."""
    row: Any = entries.agg(F.max("total"), F.max("length")).first()
    unit = square_unit(float(row[0] or 1), int(row[1] or 1), largest_rarity(max(n_items, 1)))
    logs, factor = F.col("logs"), F.col("factor")
    square = F.rint(factor * factor * F.lit(unit) * (logs * logs))
    return entries.groupBy("item").agg(
        F.sqrt(F.sum(square) / F.lit(unit)).alias("norm_presence"),
        F.sqrt(F.sum(F.when(_is_soft(), square).otherwise(0.0)) / F.lit(unit)).alias("norm_soft"),
    )


def _write_items(place: str, relation: Numbered, statistics: DataFrame) -> None:
    """Write (id, name, title) with statistics (item, ...), 0 for items without entries."""
    described = statistics.withColumnRenamed("item", "id")
    rows = relation.items.join(described, "id", "left").na.fill(0, [name for name in described.columns if name != "id"])
    rows.write.mode("overwrite").parquet(path_of(place, relation.names[0], "items"))


def _buckets(cells: DataFrame) -> int:
    return min(MOST_BUCKETS, 1 + cells.count() // BUCKET_SIZE)


def _write_postings(place: str, items: str, entries: DataFrame, buckets: int) -> None:
    """Write the columns that postings have, in folders by bucket."""
    named = [name for name in POSTING_COLUMNS if name in entries.columns]
    postings = entries.select(*named, F.pmod(F.col("feature"), F.lit(buckets)).cast("int").alias("bucket"))
    # A feature of nearly all items would be one huge task, so long lists are cut by item.
    sliced = postings.repartition("bucket", F.floor(F.col("item") / F.lit(SLICE)))
    sliced.sortWithinPartitions("bucket", "feature", "item").write.mode("overwrite").partitionBy("bucket").parquet(
        path_of(place, items, "postings")
    )


def median(spark: SparkSession, rows: DataFrame, column: str, stage: str) -> float:
    """The exact median of a column of numbers; 1 without any."""
    ordered = numbered(spark, rows.select(column), column, stage)
    count = ordered.count()
    middle = ordered.filter(F.col("id").isin((count - 1) // 2, count // 2)).select(column).collect()
    return float(np.mean([row[0] for row in middle])) if middle else 1.0


def numbered(spark: SparkSession, rows: DataFrame, key: str, stage: str) -> DataFrame:
    """Rows with an `id`, which numbers them in the order of a column; of texts, by code point."""
    ordered = rows.orderBy(key).withColumn("part", F.spark_partition_id())
    ordered.withColumn("row", F.monotonically_increasing_id()).write.mode("overwrite").parquet(stage)
    stored = spark.read.parquet(stage)
    sizes = sorted((row[0], row[1], row[2]) for row in stored.groupBy("part").agg(F.count("*"), F.min("row")).collect())
    starts, offset = [], 0
    for part, size, first in sizes:
        starts.append((part, offset - first))
        offset += size
    table = local(spark, starts, part="int32", offset="int64")
    id = (F.col("row") + F.col("offset")).alias("id")
    return stored.join(F.broadcast(table), "part").select(id, *rows.columns)


def _table(spark: SparkSession, rows: DataFrame, key: str, value: str, function: Callable[[Any], Any]) -> DataFrame:
    """A small table of the distinct values of a column, and of a function of them by numpy."""
    keys = np.array([row[0] for row in rows.select(key).distinct().collect()], np.int64)
    values = function(keys) if len(keys) else keys
    return local(spark, zip(keys.tolist(), values.tolist(), strict=True), **{key: "int64", value: "double"})


def staged(rows: DataFrame, path: str) -> DataFrame:
    """Write rows and read them again, so that they are computed once."""
    rows.write.mode("overwrite").parquet(path)
    return rows.sparkSession.read.schema(rows.schema).parquet(path)


def delete(spark: SparkSession, path: str) -> None:
    """Delete a path, on its file system."""
    system, target = located(spark, path)
    system.delete(target, True)
