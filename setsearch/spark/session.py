"""The Spark session of the command line: the cluster of the surroundings, or this machine."""

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
    """A session that is stopped in the end; what Spark complains of becomes one line."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers' Python must be as new as ours
    settings = {"spark.app.name": "setsearch", "spark.ui.showConsoleProgress": "false"}
    if master is not None:
        settings["spark.master"] = master
        if master.startswith("local"):
            settings["spark.ui.enabled"] = "false"
    pipe = getattr(signal, "SIGPIPE", signal.SIGINT)  # where there is none, twice the same
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, pipe)}
    spark = _start(settings)
    signal.signal(pipe, signal.SIG_IGN)  # the connection to Java may break
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark's own would ask Java while an answer is awaited
    logging.disable()  # of what happens to the connection when it is interrupted
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
        raise _told(error) from error
    finally:
        with suppress(Py4JError):
            spark.stop()
        logging.disable(logging.NOTSET)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _start(settings: dict[str, str]) -> SparkSession:
    """Start Java without what it says while it starts; but for the end of that, where it does not."""
    with tempfile.TemporaryFile() as said:
        stderr = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            with _interrupted_later():  # Java that is left alone before it is asked anything never ends
                SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))
            return SparkSession.builder.config(map=dict(settings)).getOrCreate()
        except (PySparkException, Py4JError, RuntimeError) as error:
            said.seek(0)
            lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines()]
            reasons = [line for line in lines if re.search("exception|error|not found|no such", line.lower())]
            why = next((line[:300] for line in reasons if not line.startswith("at ")), first_line(error))
            raise DatabaseError(f"Spark does not start: {why}; it needs Java 17, and a master") from error
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """The first Ctrl-C counts at the end of the block, the second one at once."""
    came: list[int] = []

    def note(number: int, _: object) -> None:
        """Ctrl-C."""
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    handler = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            raise KeyboardInterrupt


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C came before: what is cleaned up after it may fail, as the connection is broken."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _was_interrupted(error.__context__))


def _told(error: Exception) -> Exception:
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
