"""The folders of an index of Parquet. Its metadata is written last, so a half-written index cannot be read.

    setsearch.json            format, names of both kinds, analyzer, statistics of both readings
    READING/items             id, name, title, length, total, and the norms
    READING/postings          feature, item, count, logs; total and norms of the item; df, soft_df, factor and floor of
                              the feature; in folders by bucket
    _contexts/FIELD/...       the same for each field of words by contexts, without what only ranked items need

There are two readings, documents and terms for example: the postings of one are the forward lists of the other. Ids
follow the order of names by code point, so that equal scores are ordered by id. What an item has in common for all its
postings stands in each of them, though it is said again and again (Parquet packs it): a question then needs no join of
all items.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow
from pyarrow import RecordBatch
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.errors import CorruptIndex, InvalidParameter, NewerSchema, NoIndex

FORMAT = 1  # of the folders; a later one is refused
META = "setsearch.json"
CONTEXTS = "_contexts"
NORMS = {"presence": "norm_presence", "soft-twice-mean": "norm_soft"}  # by binarization (values.py)
COLUMNS = {  # explicit, because an index without postings has no file
    "items": "id bigint, name string, title string, length bigint, total bigint, norm_presence double, "
    "norm_soft double",
    "postings": "feature bigint, item bigint, count bigint, logs double, total bigint, norm_presence double, "
    "norm_soft double, df bigint, soft_df bigint, factor double, floor double, bucket int",
}


@dataclass(frozen=True)
class Side:
    """One reading: `count` items, the `total` of all counts, the median norms of its items by binarization.

    The postings of feature j are in the folder j mod `buckets`; a query opens only the folders of its features.
    """

    items: str
    features: str
    count: int
    total: int
    medians: dict[str, float]
    buckets: int


@dataclass(frozen=True)
class Layout:
    """An index at a place that Spark can read: a folder, hdfs://, s3a://."""

    place: str
    items: str
    features: str
    analyzer: str | None  # the spec of a text.Analyzer; None for a relation
    sides: tuple[Side, Side]
    titles_shown: bool = False  # whether features are shown by title: stems by their surface form
    contexts: tuple[tuple[Side, Side], ...] = ()  # of each field of words by contexts; none without contexts

    def side(self, reading: str) -> Side:
        """The statistics of a reading; raises InvalidParameter."""
        for side in self.sides:
            if side.items == reading:
                return side
        raise InvalidParameter(f"the index has no {reading!r}; it has {' and '.join(s.items for s in self.sides)}")

    def fields(self) -> "list[Layout]":
        """The layouts of the fields of words by contexts."""
        return [
            Layout(field_place(self.place, own.features), own.items, own.features, None, (own, other))
            for own, other in self.contexts
        ]


def field_place(place: str, features: str) -> str:
    """Where a field of words by contexts is."""
    return f"{place}/{CONTEXTS}/{features.rsplit(maxsplit=1)[-1]}"


def require_place(place: str) -> None:
    """Raise InvalidParameter for a place that Spark would read as a pattern, or as the root."""
    if not place.strip("/") or set(place) & set("{}[]*?\\"):
        raise InvalidParameter(f"{place!r} cannot be the place of an index; name a folder without {{}}[]*?\\")


def path_of(place: str, reading: str, what: str) -> str:
    """The path of a part of a reading, whose name may be any text."""
    folder = "".join(c if c.isalnum() and c.isascii() else f"%{ord(c):x}" for c in reading)
    return f"{place}/{folder}/{what}"


def located(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """The file system of a path, and the path, as Hadoop objects."""
    jvm: Any = spark._jvm
    target = jvm.org.apache.hadoop.fs.Path(path)
    return target.getFileSystem(spark._jsc.hadoopConfiguration()), target


def save_layout(spark: SparkSession, layout: Layout) -> None:
    """Write the metadata, which makes the index readable."""
    data = json.dumps({"format": FORMAT} | asdict(layout) | {"place": None}, ensure_ascii=True)
    rows = local(spark, [(data,)], value="string").coalesce(1)
    rows.write.mode("overwrite").text(f"{layout.place}/{META}")


def load_layout(spark: SparkSession, place: str) -> Layout:
    """The layout at a place; raises NoIndex, NewerSchema, CorruptIndex."""
    try:
        lines = [row.value for row in spark.read.text(f"{place}/{META}").collect()]
    except AnalysisException as error:
        raise NoIndex(f"{place} holds no setsearch index; `setsearch spark build {place} SOURCE` makes one") from error
    try:
        fields: dict[str, Any] = json.loads("".join(lines))
        if fields.pop("format") > FORMAT:
            raise NewerSchema(f"{place} was written by a newer setsearch; upgrade setsearch to read it")
        sides, *contexts = (
            (Side(**own), Side(**other)) for own, other in (fields.pop("sides"), *fields.pop("contexts", ()))
        )
        return Layout(**fields | {"place": place, "sides": sides, "contexts": tuple(contexts)})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptIndex(f"{place}/{META} is damaged; build the index again") from error


def local(spark: SparkSession, rows: Iterable[Sequence[Any]], **types: str) -> DataFrame:
    """Local rows as a DataFrame, through Arrow, which needs no Python worker."""
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(type)) for name, type in types.items()])
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in types]
    return spark.createDataFrame(pyarrow.table(columns, schema))


def ids_table(spark: SparkSession, ids: Iterable[int], column: str) -> DataFrame:
    """Ids as a table of one column, which each worker gets as a whole."""
    return F.broadcast(local(spark, [(id,) for id in ids], **{column: "int64"}))


def by_batch(
    function: Callable[[RecordBatch], dict[str, Any]],
) -> Callable[[Iterator[RecordBatch]], Iterator[RecordBatch]]:
    """A function for the workers: the columns, by name, that another one makes of each batch of rows."""

    def run(batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            found = pyarrow.RecordBatch.from_pydict(function(batch))
            if found.num_rows:  # empty columns have no type
                yield found

    return run


def read(spark: SparkSession, layout: Layout, reading: str, what: str) -> DataFrame:
    """The items or the postings of a reading."""
    return spark.read.schema(COLUMNS[what]).parquet(path_of(layout.place, reading, what))


def read_lists(spark: SparkSession, layout: Layout, side: Side, features: Iterable[int]) -> DataFrame:
    """The postings in the folders that hold the lists of these features; other lists share the folders."""
    buckets = sorted({feature % side.buckets for feature in features})
    return read(spark, layout, side.items, "postings").filter(F.col("bucket").isin(buckets))
