"""The Spark session of the command line: the configured cluster, or this machine."""

import logging
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from setsearch.errors import DatabaseError, SetsearchError

SMALL_SHUFFLE = 8  # partitions on one machine, where Spark's 200 would be mostly empty


@contextmanager
def session(master: str | None) -> Iterator[SparkSession]:
    """A session that stops at the end of the block; an error of Spark becomes one line."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the same Python version
    settings = {"spark.app.name": "setsearch", "spark.ui.showConsoleProgress": "false"}
    if master is not None:
        settings["spark.master"] = master
        if master.startswith("local"):
            settings["spark.ui.enabled"] = "false"
    pipe = getattr(signal, "SIGPIPE", signal.SIGINT)  # Windows has none
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, pipe)}
    spark = _start(settings)
    signal.signal(pipe, signal.SIG_IGN)  # the connection to Java may break
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark's handler would call Java during a call
    logging.disable()  # of the broken connection after an interrupt
    if str(spark.sparkContext.master).startswith("local"):
        spark.conf.set("spark.sql.shuffle.partitions", SMALL_SHUFFLE)
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    except SetsearchError:
        raise
    except Exception as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from error
        if isinstance(error, (PySparkException, Py4JError)):
            raise DatabaseError(f"Spark stopped: {first_line(error)}") from error
        raise
    finally:
        with suppress(Py4JError):
            spark.stop()
        logging.disable(logging.NOTSET)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _start(settings: dict[str, str]) -> SparkSession:
    """Start Java; hide its messages, except the reason of a failure."""
    with tempfile.TemporaryFile() as messages:
        stderr = os.dup(2)
        os.dup2(messages.fileno(), 2)
        try:
            with _delay_interrupt():  # Java would never end if it were left before its first call
                SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))
            return SparkSession.builder.config(map=dict(settings)).getOrCreate()
        except (PySparkException, Py4JError, RuntimeError) as error:
            messages.seek(0)
            lines = [line.strip() for line in messages.read().decode("utf-8", "replace").splitlines()]
            reasons = [line for line in lines if re.search("exception|error|not found|no such", line.lower())]
            why = next((line[:300] for line in reasons if not line.startswith("at ")), first_line(error))
            raise DatabaseError(f"Spark does not start: {why}; it needs Java 17, and a master") from error
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


@contextmanager
def _delay_interrupt() -> Iterator[None]:
    """Delay the first Ctrl-C to the end of the block; the second one acts at once."""
    interrupts: list[int] = []

    def note(number: int, _: object) -> None:
        """Ctrl-C."""
        interrupts.append(number)
        if len(interrupts) > 1:
            raise KeyboardInterrupt

    handler = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            raise KeyboardInterrupt


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether the error follows a Ctrl-C, which breaks the connection."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _was_interrupted(error.__context__))


def use_this_python(spark: SparkSession) -> None:
    """Let the workers of this machine be of the Python that runs; those of a cluster have their own."""
    with suppress(PySparkException):  # Spark Connect shows no context
        context = spark.sparkContext
        if str(context.master).startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable


def first_line(error: Exception) -> str:
    """The message of an error, without the trace that Spark appends."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
        del lines[0]
    return (lines[0].lstrip(": ") if lines else type(error).__name__)[:300]
