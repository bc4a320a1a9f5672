"""The Spark session of the command line: the cluster of the surroundings, or this machine."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from setsearch.errors import DatabaseError, SetsearchError

SMALL_SHUFFLE = 8  # partitions on one machine, where Spark's 200 would be mostly empty


@contextmanager
def session(master: str | None) -> Iterator[SparkSession]:
    """A session that is stopped in the end; what Spark complains of becomes one line."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python must be as new as ours
    builder = SparkSession.builder.appName("setsearch").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            builder = builder.config("spark.ui.enabled", "false")
    try:
        spark = builder.getOrCreate()
    except (PySparkException, Py4JError, RuntimeError) as error:
        raise DatabaseError(f"Spark does not start: {first_line(error)}; it needs Java 17, and a master") from error
    if str(spark.sparkContext.master).startswith("local"):
        spark.conf.set("spark.sql.shuffle.partitions", SMALL_SHUFFLE)
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    except SetsearchError:
        raise
    except Exception as error:
        raise told(error) from error
    finally:
        spark.stop()


def told(error: Exception) -> Exception:
    """An error of Spark's as one of ours; others as they are."""
    if isinstance(error, (PySparkException, Py4JError)):
        return DatabaseError(f"Spark stopped: {first_line(error)}")
    return error


def first_line(error: Exception) -> str:
    """What an error says, without the trace that Spark sends along."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
        del lines[0]
    return (lines[0].lstrip(": ") if lines else type(error).__name__)[:300]
