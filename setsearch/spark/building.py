"""From documents, or rows of a relation, to an index: everything but the analyzer is an operation on DataFrames.

Statistics are those of setsearch.values, by the same arithmetic: logarithms are taken by numpy, once for each distinct
count and document frequency, and sent to the workers as small tables, so that values do not depend on who computed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.errors import DuplicateItem, InvalidItem, SourceError, UsageError
from setsearch.sources import Columns
from setsearch.spark.layout import EXISTENCES, META, Layout, Side, local, path_of, save_layout
from setsearch.spark.session import first_line
from setsearch.text import Analyzer

CELLS = "item string, feature string, count bigint"
OF_FEATURE = ("df", "soft_df", "factor", "floor")
IN_BUCKET, MOST_BUCKETS = 2_000_000, 1024  # postings of a folder of its own: a question opens only some
FEW = 100_000  # numbers that are sorted on the driver
BINS = 4096  # of a histogram in which a median is looked for


@dataclass(frozen=True)
class Cells:
    """A relation as it is given: `items` (name, title) and `cells` (item, feature, count), names as they are."""

    items: DataFrame
    cells: DataFrame
    names: tuple[str, str]
    analyzer: str | None = None
    titles: DataFrame | None = None  # (name, title) of features


def read_source(spark: SparkSession, source: str) -> DataFrame:
    """Rows of a Parquet folder or file, of JSONL, or of a table that Spark knows. Raises SourceError."""
    from pyspark.errors import PySparkException

    try:
        if re.search(r"\.jsonl?(\.gz)?$", source):
            return spark.read.option("mode", "FAILFAST").json(source)
        return (
            spark.table(source)
            if re.fullmatch(r"[\w.]+", source) and spark.catalog.tableExists(source)
            else (spark.read.parquet(source))
        )
    except PySparkException as error:
        raise SourceError(f"{source} cannot be read: {first_line(error)}") from error


def cells_of(rows: DataFrame, columns: Columns, analyzer: Analyzer) -> Cells:
    """What rows say: documents with a text, analysed in Python by the workers, or a relation.

    Raises SourceError, InvalidItem, DuplicateItem.
    """
    wanted = (columns.items, columns.features, columns.count) if columns.items else (columns.id, *columns.texts)
    for name in filter(None, (*wanted, columns.title)):
        if name not in rows.columns:
            raise SourceError(f"there is no column {name!r}; there is {', '.join(rows.columns)}")
    if columns.items:
        return _relation(rows, columns)
    if columns.group_by or columns.numbers:
        raise UsageError("on Spark, documents and relations are built; group texts before")
    documents = rows.select(
        _name(columns.id).alias("name"),
        _title(rows, columns).alias("title"),
        F.concat_ws("\n", *(F.col(_quoted(name)).cast("string") for name in columns.texts)).alias("text"),
    )
    _refuse_odd(documents)
    if documents.groupBy("name").count().filter("count > 1").take(1):
        (name,) = documents.groupBy("name").count().filter("count > 1").select("name").first() or ("",)
        raise DuplicateItem(f"the id {name!r} comes twice; ids must be unique")
    cells = documents.select("name", "text").mapInPandas(_analysed(analyzer.spec), CELLS)
    return Cells(documents.select("name", "title"), cells, ("documents", "terms"), analyzer.spec)


def build(spark: SparkSession, given: Cells, place: str) -> Layout:
    """Write an index, over what is there; from its last step on it can be read. Returns its layout."""
    if given.names[0] == given.names[1]:
        raise UsageError(f"items and features cannot both be named {given.names[0]!r}")
    stage = f"{place}/_stage"
    _forget(spark, place)
    items = _numbered(spark, given.items, f"{stage}/items")
    if items.isEmpty():
        raise SourceError("nothing to index: no row")
    given.cells.write.mode("overwrite").parquet(f"{stage}/cells")
    cells = spark.read.parquet(f"{stage}/cells")
    named = cells.select(F.col("feature").alias("name")).distinct()
    titles = (
        given.titles if given.titles is not None else named.select("name", F.lit(None).cast("string").alias("title"))
    )
    features = _numbered(spark, named.join(titles, "name", "left"), f"{stage}/features")
    ids = (
        cells.join(items.select(F.col("id").alias("item_id"), F.col("name").alias("item")), "item")
        .join(features.select(F.col("id").alias("feature_id"), F.col("name").alias("feature")), "feature")
        .select(F.col("item_id").alias("item"), F.col("feature_id").alias("feature"), "count")
    )
    ids.write.mode("overwrite").parquet(f"{stage}/ids")
    forward = spark.read.parquet(f"{stage}/ids")
    turned = forward.select(F.col("feature").alias("item"), F.col("item").alias("feature"), "count")
    items_name, features_name = given.names
    buckets = min(MOST_BUCKETS, 1 + forward.count() // IN_BUCKET)
    sides = (
        _write_side(spark, place, Side(items_name, features_name, items.count(), 0, {}, buckets), items, forward),
        _write_side(spark, place, Side(features_name, items_name, features.count(), 0, {}, buckets), features, turned),
    )
    layout = Layout(place, items_name, features_name, given.analyzer, sides)
    save_layout(spark, layout)
    _delete(spark, stage)
    return layout


def _write_side(spark: SparkSession, place: str, side: Side, items: DataFrame, cells: DataFrame) -> Side:
    """The items and the postings of one reading, from its cells (item, feature, count)."""
    n_items = side.count
    owned = cells.groupBy("feature").agg(F.count("*").alias("df"), F.sum("count").alias("cf")).cache()
    total = int((owned.agg(F.sum("cf")).first() or [0])[0] or 0)
    factors = _table(
        spark, owned, "df", "factor", lambda df: np.maximum(np.log(max(n_items, 1) / np.maximum(df, 1)), 0.0) ** 0.25
    )
    logs = _table(spark, cells, "count", "logs", lambda count: 1 + np.log(count))
    floors = owned.join(F.broadcast(factors), "df").withColumn(
        "floor", F.col("cf").cast("double") * 2 / F.lit(float(max(total, 1)))
    )
    lengths = cells.groupBy("item").agg(F.count("*").alias("length"), F.sum("count").alias("total"))
    entries = cells.join(F.broadcast(logs), "count").join(floors, "feature").join(lengths, "item")
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
        .select("feature", "item", "count", "logs", "total", "norm_presence", "norm_soft", *OF_FEATURE)
        .withColumn("bucket", F.pmod(F.col("feature"), F.lit(side.buckets)).cast("int"))
    )
    postings.repartition("bucket").sortWithinPartitions("bucket", "feature", "item").write.mode(
        "overwrite"
    ).partitionBy("bucket").parquet(path_of(place, side.items, "postings"))
    owned.unpersist()
    stored = spark.read.parquet(path)
    medians = {
        existence: median(stored.filter(F.col(norm) > 0), norm)
        for existence, norm in zip(EXISTENCES, ("norm_presence", "norm_soft"), strict=True)
    }
    return replace(side, total=total, medians=medians)


def median(rows: DataFrame, column: str) -> float:
    """The median of a column of numbers above 0, exactly; 1 where there is none.

    A histogram shows in which bin the middle lies, again and again, until its numbers fit on the driver.
    """
    found: Any = rows.agg(F.count("*"), F.min(column), F.max(column)).first()
    count, low, high = found
    if not count:
        return 1.0
    below, ranks, inside = 0, ((count - 1) // 2, count // 2), rows
    while count > FEW and high > low:
        place = F.least(F.floor((F.col(column) - low) / ((high - low) / BINS)), F.lit(BINS - 1)).alias("bin")
        bins = inside.groupBy(place).agg(F.count("*"), F.min(column), F.max(column)).orderBy("bin").collect()
        ends = np.cumsum([row[1] for row in bins]) + below
        first, last = (int(np.searchsorted(ends, rank, side="right")) for rank in ranks)
        if first != last:  # the middle lies between two bins
            return float((bins[first][3] + bins[last][2]) / 2)
        below, count = int(ends[first]) - bins[first][1], bins[first][1]
        low, high = bins[first][2], bins[first][3]
        inside = rows.filter(F.col(column).between(low, high))
    if high == low:
        return float(low)
    values = np.sort(np.array([row[0] for row in inside.select(column).collect()]))
    return float(np.mean([values[rank - below] for rank in ranks]))


def _relation(rows: DataFrame, columns: Columns) -> Cells:
    """Rows that say "this item has this feature", perhaps with a count."""
    item, feature = _name(columns.items or ""), _name(columns.features or "")
    count = F.col(_quoted(columns.count)).cast("bigint") if columns.count else F.lit(1).cast("bigint")
    cells = rows.select(
        item.alias("item"), feature.alias("feature"), count.alias("count"), _title(rows, columns).alias("title")
    )
    _refuse_odd(cells.select(F.col("item").alias("name")))
    _refuse_odd(cells.select(F.col("feature").alias("name")))
    if cells.filter("count is null or count < 0").take(1):
        raise SourceError(f"the column {columns.count!r} has what is no count; counts are whole numbers from 0 on")
    items = cells.groupBy(F.col("item").alias("name")).agg(F.max("title").alias("title"))
    summed = cells.groupBy("item", "feature").agg(F.sum("count").alias("count")).filter("count > 0")
    return Cells(items, summed, columns.relation)


def _analysed(spec: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for the workers: documents (name, text) to cells."""

    def analyse(batches: Iterator[Any]) -> Iterator[Any]:
        """Runs where the documents are."""
        from collections import Counter

        import pandas

        from setsearch.text import Analyzer

        analyzer = Analyzer.of(spec)
        for batch in batches:
            counted = [
                (name, Counter(analyzer(text or ""))) for name, text in zip(batch["name"], batch["text"], strict=True)
            ]
            yield pandas.DataFrame(
                {
                    "item": [name for name, counts in counted for _ in counts],
                    "feature": list(chain.from_iterable(counts for _, counts in counted)),
                    "count": list(chain.from_iterable(counts.values() for _, counts in counted)),
                }
            )

    return analyse


def _numbered(spark: SparkSession, names: DataFrame, stage: str) -> DataFrame:
    """(id, name, title): ids are the places of the names in their order by code point."""
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
    """A small table of the distinct values of a column, and what numpy makes of them."""
    keys = np.array([row[0] for row in rows.select(key).distinct().collect()], np.int64)
    made = function(keys) if len(keys) else keys
    return local(spark, zip(keys.tolist(), made.tolist(), strict=True), **{key: "int64", value: "double"})


def _quoted(name: str | None) -> str:
    return "`" + (name or "").replace("`", "``") + "`"


def _name(column: str) -> Column:
    return F.col(_quoted(column)).cast("string")


def _title(rows: DataFrame, columns: Columns) -> Column:
    chosen = columns.title or ("title" if "title" in rows.columns and not columns.items else None)
    return F.col(_quoted(chosen)).cast("string") if chosen else F.lit(None).cast("string")


def _refuse_odd(names: DataFrame) -> None:
    """Names are texts, not empty, without NUL."""
    odd = (
        names.filter(F.col("name").isNull() | (F.col("name") == "") | F.col("name").contains("\0"))
        .select("name")
        .take(1)
    )
    if odd:
        raise InvalidItem(f"an item has the id {odd[0][0]!r}; ids are text, not empty, without NUL")


def _forget(spark: SparkSession, place: str) -> None:
    """Take away what says that there is an index, so that a build that stops leaves none."""
    _delete(spark, f"{place}/{META}")


def _delete(spark: SparkSession, path: str) -> None:
    """Delete on whatever file system a path is."""
    jvm: Any = spark._jvm
    hadoop: Any = spark._jsc.hadoopConfiguration()
    target = jvm.org.apache.hadoop.fs.Path(path)
    target.getFileSystem(hadoop).delete(target, True)
