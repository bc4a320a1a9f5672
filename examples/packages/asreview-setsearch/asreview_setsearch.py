"""setsearch for ASReview: how well records belong with the relevant ones, corrected by what was refused.

asreview simulate records.ris --classifier setsearch --feature-extractor tfidf --querier max

ASReview fits a classifier on the labelled records alone, but how rare a feature is all records tell. So the work is
done when the others are ranked: these and the labelled ones are all there are.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack
from sklearn.base import BaseEstimator, ClassifierMixin

from setsearch.integrations.sklearn import SetExpander
from setsearch.models.svm import Marked, fit
from setsearch.search.rejected import ACCEPTED, DECAY, LARGE, LEADERS, PRIOR, SAMPLE, UNMARKED, UNMARKED_SHARE


class BayesianSets(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The score of SetExpander; once a record was refused, the rule of reviews in setsearch/search/rejected.py."""

    name, label = "setsearch", "Bayesian Sets"

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: Any = None) -> Self:  # noqa: N803
        """Take the labelled records: rows of features, none negative, with 1 for the relevant ones."""
        self.known_, self.marks_ = csr_array(X), np.asarray(y) == 1
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:  # noqa: N803
        """The scores of the other records `(n,)`: higher belongs better."""
        every, read = vstack([self.known_, csr_array(X)], format="csr"), len(self.marks_)
        n, refused = every.shape[0], int((~self.marks_).sum())
        marks = np.append(self.marks_, np.zeros(n - read, bool))
        scores = SetExpander().fit(every, marks).score_samples(every)
        if not refused or n == read:
            return scores[read:]
        settled = min(1.0, n / LARGE) ** 3
        best = np.sort(scores[read:])[-LEADERS:].mean()
        scores *= PRIOR * settled * refused**-DECAY / best if best > 0 else 0.0
        sample = np.unique(np.linspace(read, n - 1, SAMPLE).astype(np.int64))
        taken = np.append(np.arange(read), sample)
        unmarked = UNMARKED * settled + UNMARKED_SHARE * refused
        weights = np.where(marks[taken], ACCEPTED * (refused + unmarked) / marks.sum(), 1.0)
        weights[read:] = unmarked / len(sample)
        rows = every[taken]
        rows.sort_indices()
        cells = np.repeat(np.arange(len(taken)), np.diff(rows.indptr)), rows.indices.astype(np.int64), rows.data
        learned, bias = fit(Marked(*cells, np.where(marks[taken], 1.0, -1.0), weights, scores[taken]), every.shape[1])
        corrected: npt.NDArray[np.float64] = scores[read:] + every[read:] @ learned + bias
        return corrected
