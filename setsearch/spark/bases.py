"""Bases on the workers: what every item scores before the seeds are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import repeat, to_lattice
from setsearch.models import Model
from setsearch.spark.layout import Layout, Side, local, read

CACHED_BASES = 8  # one more empties the cache


@dataclass(frozen=True)
class RemoteBase:
    """The bases (item, base), None if all are 0; the smallest and the largest; the constant that all items get."""

    items: DataFrame | None
    extremes: tuple[float, float]
    constant: float


class Bases:
    """The bases of an index by model and number of seeds; workers cache them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._bases: dict[tuple[str, str, Model, float], RemoteBase] = {}

    def __len__(self) -> int:
        return len(self._bases)

    def get(self, layout: Layout, side: Side, model: Model, n_seeds: float) -> RemoteBase:
        """The base of a reading."""
        key = (layout.place, side.items, model, n_seeds)
        if key not in self._bases:
            if len(self._bases) >= CACHED_BASES:
                self.release()
            self._bases[key] = self._make(layout, side, model, n_seeds)
        return self._bases[key]

    def release(self) -> None:
        """Free what the workers cache."""
        for base in self._bases.values():
            if base.items is not None:
                base.items.unpersist()
        self._bases = {}

    def _make(self, layout: Layout, side: Side, model: Model, n_seeds: float) -> RemoteBase:
        if model.background(np.zeros(0, np.int64), side.count, n_seeds) is None:
            return RemoteBase(None, (0.0, 0.0), 0.0)
        features = read(self._spark, layout, side.features, "items")
        rows = features.groupBy(F.col("length").alias("df")).count().orderBy("df").collect()
        frequencies, times = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
        background = model.background(repeat(frequencies, times), side.count, n_seeds)
        assert background is not None
        weights = to_lattice(background.weights[np.cumsum(times) - times], model.rule.binary)
        pairs = zip(frequencies.tolist(), weights.tolist(), strict=True)
        table = F.broadcast(local(self._spark, pairs, df="int64", weight="double"))
        postings = read(self._spark, layout, side.items, "postings")
        sums = postings.join(table, "df").groupBy("item").agg(F.sum("weight").alias("base"))
        items = read(self._spark, layout, side.items, "items").select(F.col("id").alias("item"))
        bases = items.join(sums, "item", "left").na.fill(0.0, ["base"]).persist()
        row: Any = bases.agg(F.min("base"), F.max("base")).first()
        return RemoteBase(bases, (float(row[0] or 0), float(row[1] or 0)), background.constant)
