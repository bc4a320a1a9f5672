"""SQLite to Parquet and back: a whole index to a cluster, or a part of one to a file."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

import setsearch
from setsearch.answers.reading import Reading
from setsearch.arrays import Entries, places_of
from setsearch.errors import InvalidParameter, SourceError, UsageError
from setsearch.spark.builder import Cells, Numbered, build, delete
from setsearch.spark.contexts import ITEMS
from setsearch.spark.layout import Layout, load_layout, located, read, require_place
from setsearch.spark.session import first_line
from setsearch.sqlite.folders import HeldFolder
from setsearch.storage.analyzers import load_analyzer

STORED = "stored"  # the relation, beside the fields of contexts
CELLS = "item bigint, feature bigint, count bigint"

Named = Mapping[int, tuple[str, str | None]]  # name and title by id


def from_sqlite(spark: SparkSession, database: str | Path, place: str, items: str | None = None) -> Layout:
    """Build an index of Parquet from a reading of a database: the same names, counts, titles and contexts of words.

    Texts are not copied. Raises DatabaseError, UnknownReading; UsageError for items with several fields.
    """
    require_place(place)
    staging = f"{place}/_source"
    with setsearch.open(database) as index, HeldFolder() as folder:
        with index.items(items).stored() as fields:
            relation = fields.relation
            if relation.fields:
                others = ", ".join(own.name for own in relation.fields)
                raise UsageError(f"Spark has one field, {relation.items.name} also {others}; index them without these")
            names, shown = (relation.items.name, relation.features.name), relation.features.titles_shown
        _write_stored(Path(folder) / STORED, index.items(names[0]))
        contexts = _write_contexts(Path(folder), index.items(names[1]))
        try:
            _, local = located(spark, f"file://{folder}")
            system, path = located(spark, staging)
            system.copyFromLocalFile(False, True, local, path)  # to a place that all workers can read
            whole = _read_numbered(spark, f"{staging}/{STORED}", names)
            source = Cells(whole.items, whole.cells, names, relation.analyzer, None, shown, features=whole.features)
            if contexts:
                relations = [_read_numbered(spark, f"{staging}/{name}", (ITEMS, name)) for name in contexts]
                source = replace(source, contexts=lambda *_: iter(relations))
            return build(spark, source, place)
        finally:
            delete(spark, staging)


def to_sqlite(
    spark: SparkSession,
    place: str,
    database: str | Path,
    *,
    where: str | None = None,
    sample: float | None = None,
    seed: int = 0,
) -> int:
    """Write items into a new database: those that meet an SQL condition, or a sample of them.

    The condition may use id, name, title, length and total. Returns the number of items. Raises UsageError if the
    database exists, InvalidParameter, SourceError.
    """
    layout = load_layout(spark, place)
    if layout.analyzer is not None and load_analyzer(layout.analyzer).function is not None:
        raise UsageError(f"this collection was analysed by {layout.analyzer!r}, which a new database cannot load")
    if Path(database).exists():
        raise UsageError(f"{database} exists already; name a new file")
    if sample is not None and not 0 < sample <= 1:
        raise InvalidParameter(f"a sample is a share above 0 and up to 1, not {sample:g}")
    items = read(spark, layout, layout.items, "items")
    try:
        chosen = items if where is None else items.filter(where)
        chosen = chosen if sample is None else chosen.sample(sample, seed)
        chosen = chosen.select(F.col("id").alias("item"), "name", "title").persist()
        if chosen.isEmpty():
            raise SourceError(f"no item meets {where!r:.60} (sample {sample}); choose others")
    except PySparkException as error:
        raise SourceError(f"the items cannot be chosen: {first_line(error)}") from error
    spec = layout.analyzer
    options: dict[str, Any] = {"contexts": "off"}
    if spec is not None:
        analyzer = load_analyzer(spec)
        options |= {"analyzer": analyzer.named, "language": analyzer.language, "stop_words": analyzer.drops}
    entries = _entries(spark, layout, chosen, where is None and sample is None)
    try:
        with setsearch.open(database, create=True, **options) as index:
            rows = (
                (row.name, {pair.of: pair["count"] for pair in row.pairs or ()}, row.title)
                for row in entries.toLocalIterator()
            )
            return index.add(rows, (layout.items, layout.features))
    finally:
        chosen.unpersist()


def _entries(spark: SparkSession, layout: Layout, chosen: DataFrame, all_: bool) -> DataFrame:
    """(item, name, title, features, counts) of the chosen items, an item a row."""
    cells = read(spark, layout, layout.items, "postings").select("item", "feature", "count")
    features = read(spark, layout, layout.features, "items").select(
        F.col("id").alias("feature"), F.col("name").alias("of")
    )
    entries = (cells if all_ else cells.join(chosen.select("item"), "item")).join(features, "feature")
    pairs = entries.groupBy("item").agg(F.collect_list(F.struct("of", "count")).alias("pairs"))
    return chosen.join(pairs, "item", "left").orderBy("item")


def _write_stored(folder: Path, reading: Reading) -> None:
    """Write a relation as it is stored."""
    with reading.stored() as fields:
        items, features = (kind.stored([*kind.ids()]) for kind in (fields.items, fields.first.features))
        _write_numbered(folder, items, features, fields.first.sweep())


def _write_contexts(folder: Path, reading: Reading) -> list[str]:
    """Write the fields of words by contexts, if there are some; returns their names."""
    with reading.fields() as fields:
        if fields.contexts_revision is None:
            return []
        for field in fields.all:
            features = field.describe_features(np.flatnonzero(field.frequencies()[0]).tolist())
            _write_numbered(
                folder / field.features.name, fields.describe([*fields.items.ids()]), features, field.sweep()
            )
        return [field.features.name for field in fields.all]


def _write_numbered(folder: Path, items: Named, features: Named, steps: Iterable[Entries]) -> None:
    """Write a relation as Parquet files, in batches: both sides by number, in the order of their names, and cells."""
    numbers = []
    for what, named in (("items", items), ("features", features)):
        ids = sorted(named, key=lambda id: named[id][0])
        numbers.append(places_of(np.array(ids, np.int64)))
        names, titles = ([named[id][place] for id in ids] for place in (0, 1))
        _write_part(folder / what, 0, id=np.arange(len(ids)), name=names, title=titles)
    (folder / "cells").mkdir()
    for number, step in enumerate(steps):
        item, feature = numbers[0][step.lists], numbers[1][step.ids]
        _write_part(folder / "cells", number, item=item, feature=feature, count=step.counts)


def _write_part(folder: Path, number: int, **columns: Any) -> None:
    """Write columns, lists of texts or arrays of whole numbers, as one file of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {name for name, own in columns.items() if isinstance(own, np.ndarray)}
    types = ((name, pyarrow.int64() if name in numbers else pyarrow.string()) for name in columns)
    table = pyarrow.table([*columns.values()], pyarrow.schema(types))
    parquet.write_table(table, folder / f"{number}.parquet")


def _read_numbered(spark: SparkSession, place: str, names: tuple[str, str]) -> Numbered:
    items, features = (spark.read.parquet(f"{place}/{what}") for what in ("items", "features"))
    return Numbered(names, items, features, spark.read.schema(CELLS).parquet(f"{place}/cells"))
