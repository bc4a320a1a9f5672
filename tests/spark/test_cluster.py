"""A real standalone cluster on loopback, started and stopped here from the files of the pyspark package."""

import threading

import pytest
from cluster import Cluster, start
from test_spark import jsonl, same, texts

import setsearch
from setsearch import Columns
from setsearch.spark import SparkIndex, build, cells_of, read_source
from setsearch.text.analyzer import Analyzer


@pytest.mark.long
def test_a_worker_that_dies_changes_nothing(tmp_path):
    """A real master and two workers; one is killed while a job runs, and the answers are the same."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    rows = texts(400, seed=9)
    source = jsonl(tmp_path / "docs.jsonl", rows)
    with setsearch.open(tmp_path / "x.db", create=True, contexts="off") as index:
        index.add([(row["id"], row["text"], row["title"]) for row in rows])
        cluster = Cluster(tmp_path)
        try:
            spark = start(cluster.url, **{"spark.executor.memory": "512m", "spark.driver.host": "127.0.0.1"})
            assert spark.sparkContext.master == cluster.url
            frame = read_source(spark, source).repartition(4)
            done = threading.Event()

            def kill():
                done.wait(3)
                cluster.kill(cluster.workers[0])

            killer = threading.Thread(target=kill)
            killer.start()
            build(spark, cells_of(frame, Columns(), Analyzer()), str(tmp_path / "after"))
            done.set()
            killer.join()
            assert cluster.workers[0].poll() is not None
            reading = SparkIndex(spark, str(tmp_path / "after")).items("documents")
            same(index.items("documents"), reading, [[rows[0]["id"], rows[7]["id"]]], 30)
            spark.stop()
        finally:
            cluster.stop()
