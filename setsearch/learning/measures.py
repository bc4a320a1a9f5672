"""How good a ranking is, and how sure a mean."""

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Floats, repeat, sum_runs

MEASURES = ("map", "p10", "ndcg10", "r_precision")
RESAMPLES = 2000


def measures(relevant: npt.NDArray[np.bool_], scores: Floats) -> Floats:
    """Average precision, precision and nDCG at 10, R-precision of a ranking: `relevant[i]` is the (i+1)-th item's.

    `scores` descend. Items of equal scores may have any order, so the measures are their expectations (McSherry and
    Najork, Computing information retrieval performance measures efficiently in the presence of tied scores, 2008).
    """
    n, places = len(relevant), np.arange(1, len(relevant) + 1)
    begin = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    size, own = np.diff(np.append(begin, n)), sum_runs(relevant.astype(float), begin)
    which = repeat(np.arange(len(begin)), size)
    before = (np.cumsum(own) - own)[which]  # relevant items with higher scores
    share = (own / size)[which]  # the probability that the item at a place is relevant
    others = (np.maximum(own - 1, 0) / np.maximum(size - 1, 1))[which] * (places - 1 - begin[which])
    precision = float((share * (before + 1 + others) / places).sum() / relevant.sum())
    gains, count = 1 / np.log2(np.arange(2, 12)), int(relevant.sum())
    ndcg = float((gains[:n] * share[:10]).sum() / gains[: min(count, 10)].sum())
    return np.array([precision, share[:10].sum() / 10, ndcg, share[:count].mean()])


def interval(values: Floats) -> tuple[float, float]:
    """The 95 % bootstrap interval of a mean."""
    generator = np.random.default_rng(0)
    means = values[generator.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high
