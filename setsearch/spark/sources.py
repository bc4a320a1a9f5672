"""Cells from sources that Spark can read: documents, analyzed in Python by the workers, or rows of a relation.

setsearch.indexing.rows.cells defines what a cell may hold; here are the same rules for Spark.
"""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from py4j.protocol import Py4JError
from pyarrow import RecordBatch
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

from setsearch.errors import DuplicateItem, InvalidItem, InvalidParameter, SourceError, UsageError, there_is
from setsearch.indexing.formats.pages import as_shown
from setsearch.spark.builder import Cells
from setsearch.spark.contexts import context_relations
from setsearch.spark.layout import by_batch
from setsearch.spark.session import first_line, use_this_python
from setsearch.storage.analyzers import CONTEXTS
from setsearch.storage.relation import TEXT
from setsearch.storage.synced_source import Columns
from setsearch.text.analyzer import Analyzer
from setsearch.text.words import without_marks

CELLS = "item string, feature string, count bigint"
FORMS = "form string, name string, count bigint"
NAMES = (T.StringType, T.IntegralType, T.DecimalType, T.DateType)
TEXTS = (T.StringType, T.NumericType, T.BooleanType, T.DateType, T.TimestampType, T.NullType)


def read_source(spark: SparkSession, source: str) -> DataFrame:
    """Rows of a Parquet folder or file, of JSONL, or of a table of Spark. Raises SourceError."""
    try:
        if re.search(r"\.jsonl?(\.gz)?$", source):
            return spark.read.option("mode", "FAILFAST").json(source)
        if re.fullmatch(r"[\w.]+", source) and spark.catalog.tableExists(source):
            return spark.table(source)
        return spark.read.parquet(source)
    except (PySparkException, Py4JError) as error:
        raise SourceError(f"{source} cannot be read: {first_line(error)}; give Parquet, .jsonl or a table") from error


def cells_of(rows: DataFrame, columns: Columns, analyzer: Analyzer, contexts: str = "auto") -> Cells:
    """Cells of rows: documents with a text, or a relation.

    `contexts` of words: "on", "off", "words" (without phrases), "auto" (for 50 k to 25 M words).
    Raises SourceError, InvalidItem, DuplicateItem.
    """
    columns.relation  # noqa: B018  # raises for columns that do not go together
    if columns.group_by or columns.fields or columns.of_numbers or columns.keep:
        raise UsageError(
            "Spark builds documents and relations only; leave `group_by`, `numbers` and `keep_columns` out"
        )
    required = (columns.items, columns.features, columns.count) if columns.items else (columns.id, *columns.texts)
    for name in filter(None, (*required, columns.title)):
        if name not in rows.columns:
            raise SourceError(f"there is no column {name!r}; {there_is(rows.columns)}")
    if contexts not in CONTEXTS:
        raise InvalidParameter(f"contexts is one of {', '.join(CONTEXTS)}, not {contexts!r}")
    return _relation(rows, columns, analyzer) if columns.items else _documents(rows, columns, analyzer, contexts)


def _documents(rows: DataFrame, columns: Columns, analyzer: Analyzer, contexts: str) -> Cells:
    documents = rows.select(
        _name(rows, columns.id).alias("name"),
        _shown(_title(rows, columns)).alias("title"),
        F.concat_ws("\n", *(_shown(_text(rows, name)) for name in columns.texts)).alias("text"),
    )
    _check_names(documents, columns.id)
    twice = documents.groupBy("name").count().filter("count > 1").select("name").take(1)
    if twice:
        raise DuplicateItem(f"the id {twice[0].name!r} occurs twice; ids must be unique")
    use_this_python(documents.sparkSession)
    cells = documents.mapInArrow(by_batch(partial(_count_terms, analyzer.spec)), CELLS)
    items, stemmed = documents.select("name", "title"), analyzer.language is not None
    found = Cells(items, cells, TEXT, analyzer.spec, _forms(documents, analyzer) if stemmed else None, stemmed)
    if contexts == "off":
        return found
    own = partial(context_relations, documents.select("name", "text"), analyzer, contexts != "words")
    return replace(found, contexts=own, automatic=contexts == "auto")


def _forms(documents: DataFrame, analyzer: Analyzer) -> DataFrame:
    """(name, title) of terms: the most frequent surface form of each stem, as derivation.py chooses it."""
    forms = documents.select("text").mapInArrow(by_batch(partial(_count_forms, analyzer.spec)), FORMS)
    counted = forms.groupBy("form", "name").agg(F.sum("count").alias("count"))
    first = F.min_by("form", F.struct(-F.col("count"), F.col("form")))
    return counted.groupBy("name").agg(first.alias("title"))


def _relation(rows: DataFrame, columns: Columns, analyzer: Analyzer) -> Cells:
    """Rows of a relation: an item, a feature, and perhaps a count."""
    item, feature = columns.items or "", columns.features or ""
    number = F.col(_quoted(columns.count)).try_cast("double") if columns.count else F.lit(1.0)
    cells = rows.select(
        _name(rows, item).alias("item"),
        _name(rows, feature).alias("feature"),
        number.alias("count"),
        _title(rows, columns).alias("title"),
    )
    for column, name in (("item", item), ("feature", feature)):
        _check_names(cells.select(F.col(column).alias("name")), name)
    count = F.col("count")
    if cells.filter(count.isNull() | (count != F.floor(count)) | ~count.between(0, 2**31 - 1)).take(1):
        raise SourceError(f"the column {columns.count!r} has what is no count; these are whole numbers, 0 to 2^31 - 1")
    items = cells.groupBy(F.col("item").alias("name")).agg(F.max("title").alias("title"))
    summed = cells.groupBy("item", "feature").agg(F.sum(count.cast("bigint")).alias("count")).filter("count > 0")
    return Cells(items, summed, columns.relation, analyzer.spec if feature == TEXT[1] else None)


def _count_terms(spec: str, batch: RecordBatch) -> dict[str, Any]:
    """Documents (name, title, text) as cells."""
    analyzer = Analyzer.from_spec(spec)
    rows = zip(*(batch.column(name).to_pylist() for name in ("name", "title", "text")), strict=True)
    counted = [
        (name, Counter(analyzer(analyzer.extras.counted(text or "", title, name)))) for name, title, text in rows
    ]
    return {
        "item": [name for name, counts in counted for _ in counts],
        "feature": list(chain.from_iterable(counts for _, counts in counted)),
        "count": list(chain.from_iterable(counts.values() for _, counts in counted)),
    }


def _count_forms(spec: str, batch: RecordBatch) -> dict[str, Any]:
    """Texts as (form, stem, count)."""
    analyzer, texts = Analyzer.from_spec(spec), batch.column("text").to_pylist()
    counts = Counter(chain.from_iterable(without_marks(analyzer.words.tokens(text or "")) for text in texts))
    return {"form": list(counts), "name": list(map(analyzer.stem, counts)), "count": list(counts.values())}


def _quoted(name: str | None) -> str:
    return "`" + (name or "").replace("`", "``") + "`"


def _name(rows: DataFrame, column: str) -> Column:
    """A column of ids."""
    if not isinstance(rows.schema[column].dataType, NAMES):
        raise InvalidItem(f"the column {column!r} is {_type(rows, column)}; ids are texts or whole numbers")
    return F.col(_quoted(column)).cast("string")


def _text(rows: DataFrame, column: str) -> Column:
    """A column of texts, or of lists of texts."""
    type_, cell = rows.schema[column].dataType, F.col(_quoted(column))
    if isinstance(type_, T.ArrayType) and isinstance(type_.elementType, TEXTS):
        return F.array_join(cell.cast("array<string>"), "\n")
    if not isinstance(type_, TEXTS):
        raise SourceError(f"the column {column!r} is {_type(rows, column)}; texts are strings or lists of strings")
    return cell.cast("string")


def _shown(cell: Column) -> Column:
    """A text without tags of HTML, and marks."""
    return F.udf(lambda text: text and as_shown(text), "string")(cell)


def _type(rows: DataFrame, column: str) -> str:
    return str(rows.schema[column].dataType.simpleString())[:60]


def _title(rows: DataFrame, columns: Columns) -> Column:
    chosen = columns.title or ("title" if "title" in rows.columns and not columns.items else None)
    return F.col(_quoted(chosen)).cast("string") if chosen else F.lit(None).cast("string")


def _check_names(names: DataFrame, column: str) -> None:
    """Raise InvalidItem for a name that is null, empty or has a NUL."""
    name = F.col("name")
    odd = names.filter(name.isNull() | (name == "") | name.contains("\0")).select("name").take(1)
    if odd:
        raise InvalidItem(f"the column {column!r} is {odd[0][0]!r} in a row; ids are texts, not empty, without NUL")
