"""Builds an index from cells (item, feature, count) by operations on DataFrames.

Statistics equal those of setsearch.models.values. numpy computes the logarithm of each distinct count and document
frequency once, on the driver; workers get small tables, so all machines use the same bits.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.errors import SourceError, UsageError
from setsearch.spark.layout import META, NORMS, Layout, Side, local, located, path_of, require_place, save_layout

FEATURE_COLUMNS = ("df", "soft_df", "factor", "floor")
BUCKET_SIZE, MOST_BUCKETS = 2_000_000, 1024  # postings in a folder; a query opens only some folders
SLICE = 1 << 24  # items whose postings of one bucket are one task
SORTED_ON_DRIVER = 100_000  # numbers at most
BINS = 4096  # of the histogram that finds a median


@dataclass(frozen=True)
class Cells:
    """The input of a build: `items` (name, title) and `cells` (item, feature, count), by name."""

    items: DataFrame
    cells: DataFrame
    names: tuple[str, str]
    analyzer: str | None = None
    titles: DataFrame | None = None  # (name, title) of features
    titles_shown: bool = False


def build(spark: SparkSession, source: Cells, place: str) -> Layout:
    """Write an index; replaces one at this place. It can be read after the last step. Returns its layout.

    Raises InvalidParameter, SourceError.
    """
    require_place(place)
    if source.names[0] == source.names[1]:
        raise UsageError(f"items and features cannot both be named {source.names[0]!r}")
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
    items = _numbered(spark, source.items, f"{stage}/items")
    if items.isEmpty():
        raise SourceError("nothing to index: no row")
    cells = _staged(spark, source.cells, f"{stage}/cells")
    delete(spark, f"{place}/{META}")  # a build that stops from here on leaves no index
    named = cells.select(F.col("feature").alias("name")).distinct()
    nameless = named.withColumn("title", F.lit(None).cast("string"))
    titled = nameless if source.titles is None else named.join(source.titles, "name", "left")
    features = _numbered(spark, titled, f"{stage}/features")
    ids = (
        cells.join(items.select(F.col("id").alias("item_id"), F.col("name").alias("item")), "item")
        .join(features.select(F.col("id").alias("feature_id"), F.col("name").alias("feature")), "feature")
        .select(F.col("item_id").alias("item"), F.col("feature_id").alias("feature"), "count")
    )
    forward = _staged(spark, ids, f"{stage}/ids")
    inverted = forward.select(F.col("feature").alias("item"), F.col("item").alias("feature"), "count")
    items_name, features_name = source.names
    buckets = min(MOST_BUCKETS, 1 + forward.count() // BUCKET_SIZE)
    first = Side(items_name, features_name, items.count(), 0, {}, buckets)
    second = Side(features_name, items_name, features.count(), 0, {}, buckets)
    sides = _write_side(spark, place, first, items, forward), _write_side(spark, place, second, features, inverted)
    layout = Layout(place, items_name, features_name, source.analyzer, sides, source.titles_shown)
    save_layout(spark, layout)
    return layout


def _write_side(spark: SparkSession, place: str, side: Side, items: DataFrame, cells: DataFrame) -> Side:
    """Write the items and the postings of one reading from its cells (item, feature, count)."""
    n_items = side.count
    by_feature = cells.groupBy("feature").agg(F.count("*").alias("df"), F.sum("count").alias("cf")).cache()
    total = int((by_feature.agg(F.sum("cf")).first() or [0])[0] or 0)
    factors = _table(
        spark,
        by_feature,
        "df",
        "factor",
        lambda df: np.maximum(np.log(max(n_items, 1) / np.maximum(df, 1)), 0.0) ** 0.25,
    )
    logs = _table(spark, cells, "count", "logs", lambda count: 1 + np.log(count))
    floors = by_feature.join(F.broadcast(factors), "df").withColumn(
        "floor", F.col("cf").cast("double") * 2 / F.lit(float(max(total, 1)))
    )
    lengths = cells.groupBy("item").agg(F.count("*").alias("length"), F.sum("count").alias("total"))
    entries = _staged(
        spark,
        cells.join(F.broadcast(logs), "count").join(floors, "feature").join(lengths, "item"),
        f"{place}/_stage/entries",
    )
    weight = F.col("logs") * F.col("factor")
    above = F.col("count") / F.col("total") > F.col("floor")
    norms = entries.groupBy("item").agg(
        F.sqrt(F.sum(weight * weight)).alias("norm_presence"),
        F.sqrt(F.sum(F.when(above, weight * weight).otherwise(0.0))).alias("norm_soft"),
    )
    described = lengths.join(norms, "item").withColumnRenamed("item", "id")
    soft = entries.groupBy("feature").agg(F.count(F.when(above & (weight > 0), 1)).alias("soft_df"))
    path = path_of(place, side.items, "items")
    items.join(described, "id", "left").na.fill(0, ["length", "total", "norm_presence", "norm_soft"]).write.mode(
        "overwrite"
    ).parquet(path)
    postings = (
        entries.join(norms, "item")
        .join(soft, "feature")
        .select("feature", "item", "count", "logs", "total", "norm_presence", "norm_soft", *FEATURE_COLUMNS)
        .withColumn("bucket", F.pmod(F.col("feature"), F.lit(side.buckets)).cast("int"))
    )
    # A feature of nearly all items would be one huge task, so long lists are cut by item.
    sliced = postings.repartition("bucket", F.floor(F.col("item") / F.lit(SLICE)))
    sliced.sortWithinPartitions("bucket", "feature", "item").write.mode("overwrite").partitionBy("bucket").parquet(
        path_of(place, side.items, "postings")
    )
    by_feature.unpersist()
    stored = spark.read.parquet(path)
    medians = {existence: median(stored.filter(F.col(norm) > 0), norm) for existence, norm in NORMS.items()}
    return replace(side, total=total, medians=medians)


def median(rows: DataFrame, column: str) -> float:
    """The exact median of a column of numbers above 0; 1 for an empty column.

    Histograms narrow down the bin of the median until its numbers fit on the driver.
    """
    row: Any = rows.agg(F.count("*"), F.min(column), F.max(column)).first()
    count, low, high = row
    if not count:
        return 1.0
    below, ranks, inside = 0, ((count - 1) // 2, count // 2), rows
    while count > SORTED_ON_DRIVER and high > low:
        place = F.least(F.floor((F.col(column) - low) / ((high - low) / BINS)), F.lit(BINS - 1)).alias("bin")
        bins = inside.groupBy(place).agg(F.count("*"), F.min(column), F.max(column)).orderBy("bin").collect()
        ends = np.cumsum([row[1] for row in bins]) + below
        first, last = (int(np.searchsorted(ends, rank, side="right")) for rank in ranks)
        if first != last:  # the median lies between two bins
            return float((bins[first][3] + bins[last][2]) / 2)
        below, count = int(ends[first]) - bins[first][1], bins[first][1]
        low, high = bins[first][2], bins[first][3]
        inside = rows.filter(F.col(column).between(low, high))
    if high == low:
        return float(low)
    values = np.sort(np.array([row[0] for row in inside.select(column).collect()]))
    return float(np.mean([values[rank - below] for rank in ranks]))


def _numbered(spark: SparkSession, names: DataFrame, stage: str) -> DataFrame:
    """(id, name, title): ids number the names in the order of code points."""
    ordered = names.orderBy("name").withColumn("part", F.spark_partition_id())
    ordered.withColumn("row", F.monotonically_increasing_id()).write.mode("overwrite").parquet(stage)
    stored = spark.read.parquet(stage)
    sizes = sorted((row[0], row[1], row[2]) for row in stored.groupBy("part").agg(F.count("*"), F.min("row")).collect())
    starts, offset = [], 0
    for part, size, first in sizes:
        starts.append((part, offset - first))
        offset += size
    table = local(spark, starts, part="int32", offset="int64")
    return stored.join(F.broadcast(table), "part").select((F.col("row") + F.col("offset")).alias("id"), "name", "title")


def _table(spark: SparkSession, rows: DataFrame, key: str, value: str, function: Callable[[Any], Any]) -> DataFrame:
    """A small table of the distinct values of a column, and of a function of them by numpy."""
    keys = np.array([row[0] for row in rows.select(key).distinct().collect()], np.int64)
    values = function(keys) if len(keys) else keys
    return local(spark, zip(keys.tolist(), values.tolist(), strict=True), **{key: "int64", value: "double"})


def _staged(spark: SparkSession, rows: DataFrame, path: str) -> DataFrame:
    """Write rows and read them again, so that they are computed once."""
    rows.write.mode("overwrite").parquet(path)
    return spark.read.schema(rows.schema).parquet(path)


def delete(spark: SparkSession, path: str) -> None:
    """Delete a path, on its file system."""
    system, target = located(spark, path)
    system.delete(target, True)
