"""An index that has outgrown one machine: partitioned Parquet, built and asked by Spark, with the answers of SQLite.

    build(spark, cells_of(read_source(spark, "docs.parquet"), Columns(), Analyzer()), "hdfs:///index")
    SparkIndex(spark, "hdfs:///index").items("documents").expand(["a", "b"], k=10)

The workers need setsearch where texts are analysed.
"""

from setsearch.spark.builder import Cells, build
from setsearch.spark.convert import from_sqlite, to_sqlite
from setsearch.spark.layout import Layout
from setsearch.spark.reading import SparkIndex, SparkReading
from setsearch.spark.sources import cells_of, read_source

__all__ = [
    "Cells",
    "Layout",
    "SparkIndex",
    "SparkReading",
    "build",
    "cells_of",
    "from_sqlite",
    "read_source",
    "to_sqlite",
]
