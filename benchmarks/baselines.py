"""Ten simple methods to compare with, each from its definition on the whole matrix; and vectors alone.

Notation of models/model.py; X is the matrix of items x features, binary unless said; idf_j = ln(n / df_j);
cosine(a, b) = a.b / (|a| |b|).
"""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from setsearch.arrays import Floats, Ints, bincount, repeat
from setsearch.learning.evaluation import Score
from setsearch.memory.fields import Fields
from setsearch.search.examples import Examples
from setsearch.search.meaning import centroid_of

FIELDS_OF_NEIGHBORS = ("contexts win2", "contexts skip")
STRENGTH = 2.0
ESET_SIZE = 100


class Baselines:
    """The methods on one matrix of counts, `(n_items, n_features)`."""

    def __init__(self, counts: sparse.csr_array) -> None:
        self.n = counts.shape[0]
        self.counts = counts
        self.binary = _with(counts, np.ones(counts.nnz))
        self.df = bincount(counts.indices, minlength=counts.shape[1])
        self.idf = np.log(self.n / np.maximum(self.df, 1))
        self.lengths = np.diff(counts.indptr)
        self.rows = repeat(np.arange(self.n), self.lengths)
        self.unit = _unit(self.binary)
        self.unit_idf = _unit(_with(counts, self.idf[counts.indices]))
        self.unit_tf_idf = _unit(_with(counts, (1 + np.log(counts.data)) * self.idf[counts.indices]))
        totals = np.asarray(counts.sum(axis=1)).ravel()
        relative = (totals / max(totals.mean(), 1e-300))[self.rows]
        # Xapian's ESet: counts saturate, later in longer items. One variant selects features, the other scores them.
        self.saturated = _with(counts, 2 * counts.data / (counts.data + 0.5 + 0.5 * np.maximum(relative, 0.5)))
        self.saturated_full = _with(counts, 2 * counts.data / (counts.data + relative))

    def all(self) -> dict[str, Score]:
        """The ten by name; the centroid is that of log tf-idf vectors, which find more than plain tf-idf."""
        return {
            "overlap": lambda seeds: self.binary @ self._having(seeds),
            "cosine": lambda seeds: self._mean_cosine(self.unit, seeds),
            "idf cosine": lambda seeds: self._mean_cosine(self.unit_idf, seeds),
            "centroid": lambda seeds: self._mean_cosine(self.unit_tf_idf, seeds),
            "Jaccard": self._jaccard,
            "Robertson-Sparck Jones": lambda seeds: self.binary @ self._relevance(seeds),
            "s * idf": lambda seeds: self.binary @ (self._having(seeds) * self.idf),
            "log-odds without base": lambda seeds: self.binary @ self._log_odds(seeds),
            "Bayesian Sets without base": lambda seeds: self.binary @ self._deltas(seeds),
            "weighted ESet-100": self._eset,
        }

    def _having(self, seeds: Ints) -> Floats:
        """c_j of every feature."""
        result: Floats = np.asarray(self.binary[seeds].sum(axis=0), float).ravel()
        return result

    def _mean_cosine(self, unit: sparse.csr_array, seeds: Ints) -> Floats:
        """The mean cosine with the seeds; a centroid of unit vectors gives the same order."""
        result: Floats = unit @ np.asarray(unit[seeds].sum(axis=0)).ravel() / len(seeds)
        return result

    def _jaccard(self, seeds: Ints) -> Floats:
        """Shared features over features of either, averaged over the seeds."""
        shared = (self.binary @ self.binary[seeds].T).toarray()
        either = self.lengths[:, None] + self.lengths[seeds] - shared
        result: Floats = (shared / np.maximum(either, 1)).mean(axis=1)
        return result

    def _relevance(self, seeds: Ints) -> Floats:
        """ln( (c + 1/2) (n - df - N + c + 1/2) / ((df - c + 1/2) (N - c + 1/2)) ), for features of the seeds."""
        c, n_seeds = self._having(seeds), len(seeds)
        odds = (c + 0.5) * (self.n - self.df - n_seeds + c + 0.5) / ((self.df - c + 0.5) * (n_seeds - c + 0.5))
        return np.where(c > 0, np.log(odds), 0.0)

    def _prior(self) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
        varied = (self.df > 0) & (self.df < self.n)
        m = np.where(varied, self.df / self.n, 0.5)
        return STRENGTH * m, STRENGTH * (1 - m), varied

    def _log_odds(self, seeds: Ints) -> Floats:
        """q_j of equation (14) for features of the seeds, 0 for the rest."""
        alpha, beta, varied = self._prior()
        c = self._having(seeds)
        q = np.log((alpha + c) / alpha) - np.log((beta + len(seeds) - c) / beta)
        return np.where((c > 0) & varied, q, 0.0)

    def _deltas(self, seeds: Ints) -> Floats:
        """delta_j: what an active feature adds to the base, without the base."""
        alpha, beta, varied = self._prior()
        c, n_seeds = self._having(seeds), len(seeds)
        delta = np.log((alpha + c) / alpha) - np.log((beta + n_seeds - c) / (beta + n_seeds))
        return np.where((c > 0) & varied, delta, 0.0)

    def _eset(self, seeds: Ints) -> Floats:
        """Xapian's ESet: the 100 features of highest relevance weight times saturated occurrence, weighted by idf."""
        chosen = np.asarray(self.saturated_full[seeds].sum(axis=0)).ravel() * self._relevance(seeds)
        best = np.argsort(-chosen, kind="stable")[:ESET_SIZE]
        best = best[chosen[best] > 0]
        weights = np.zeros(len(chosen))
        weights[best] = chosen[best] * np.maximum(np.log((self.n - self.df + 0.5) / (self.df + 0.5)), 1e-6)[best]
        result: Floats = self.saturated @ weights
        return result


def count_matrix(fields: Fields) -> sparse.csr_array:
    """The counts of all fields, side by side, `(n_ids, n_features)`."""
    blocks = []
    for field in fields.all:
        steps = [np.array(step) for step in field.sweep()]
        lists, ids, counts = np.concatenate(steps, axis=1) if steps else np.zeros((3, 0), np.int64)
        shape = (field.items.next_id, field.features.next_id)
        blocks.append(sparse.csr_array((counts.astype(float), (lists, ids)), shape=shape))
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def _with(matrix: sparse.csr_array, data: Floats) -> sparse.csr_array:
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _unit(matrix: sparse.csr_array) -> sparse.csr_array:
    """Rows of Euclidean length 1; empty ones stay empty."""
    rows = repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    norms = np.sqrt(bincount(rows, matrix.data**2, matrix.shape[0]))
    return _with(matrix, matrix.data / np.where(norms > 0, norms, 1)[rows])


def vectors_alone(fields: Fields) -> Score:
    """The cosine with the centroid of the seeds' vectors; 0 for items without a vector."""
    assert fields.vectors is not None
    vectors, size = fields.vectors(), fields.items.next_id

    def score(seeds: Ints) -> Floats:
        """The cosines of all items."""
        scores = np.zeros(size)
        centroid = centroid_of(vectors, Examples(seeds.tolist()))
        if centroid is not None:
            scores[vectors.ids] = vectors.cosines(centroid)[0]
        return scores

    return score


def neighbors_of(fields: Fields) -> Fields:
    """The fields for comparison, all alike: of several those of neighboring words."""
    if len(fields.all) == 1:
        return fields
    chosen = [field for field in fields.all if field.features.name in FIELDS_OF_NEIGHBORS]
    return fields._replace(all=tuple(field.within(fields.cursor) for field in chosen))
