"""An index as partitioned Parquet, built and queried by Spark, for collections beyond one machine.

    build(spark, cells_of(read_source(spark, "docs.parquet"), Columns(), Analyzer()), "hdfs:///index")
    SparkIndex(spark, "hdfs:///index").items("documents").expand(["a", "b"], k=10)

Scores, order and ties equal those of the SQLite index. Workers need setsearch if they analyze texts.
"""

from importlib.util import find_spec

for _package in ("pyspark", "pandas", "pyarrow"):
    if find_spec(_package) is None:  # Spark tells it in two hundred lines of Java
        raise ImportError(f"setsearch.spark needs {_package}: pip install 'setsearch[spark]'")

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
