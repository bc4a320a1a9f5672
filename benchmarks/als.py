"""Alternating least squares of spark.ml as a method for setsearch.learning.evaluate: items with similar factors."""

import numpy as np
from baselines import count_matrix
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession

from setsearch.arrays import Floats, Ints
from setsearch.learning.evaluation import Score
from setsearch.memory.fields import Fields

RANK, ITERATIONS, REGULARIZATION, ALPHA = 32, 10, 0.05, 10.0


def als_score(spark: SparkSession, fields: Fields) -> Score:
    """Implicit ALS (Hu, Koren and Volinsky 2008) on the counts; items score by their mean cosine with the seeds."""
    import pandas

    counts = count_matrix(fields).tocoo()
    triples = pandas.DataFrame({"item": counts.row, "feature": counts.col, "count": counts.data})
    rows = spark.createDataFrame(triples)
    als = ALS(
        rank=RANK,
        maxIter=ITERATIONS,
        regParam=REGULARIZATION,
        alpha=ALPHA,
        implicitPrefs=True,
        userCol="feature",
        itemCol="item",
        ratingCol="count",
        seed=0,
    )
    learned = als.fit(rows).itemFactors.collect()
    factors = np.zeros((counts.shape[0], RANK))
    for row in learned:
        factors[row.id] = row.features
    norms = np.linalg.norm(factors, axis=1, keepdims=True)
    unit: Floats = np.divide(factors, norms, where=norms > 0, out=np.zeros_like(factors))

    def score(seeds: Ints) -> Floats:
        """Mean cosine of every item with the seeds."""
        scores: Floats = unit @ unit[seeds].mean(axis=0)
        return scores

    return score
