"""scikit-learn: an estimator of how well the rows of a matrix of counts belong with examples.

    counts = CountVectorizer().fit_transform(texts)
    expander = SetExpander().fit(counts, is_example)    # a mark for each row; without marks all rows are examples
    best = np.argsort(-expander.score_samples(counts))

`decision_function` gives the same scores to what asks for it, such as `roc_auc` in a search for the best `strength`.
With labels as `y`, OneVsRestClassifier(SetExpander()) predicts and has a score; around it CalibratedClassifierCV tells
probabilities. Every row of `fit` tells how rare features are. Scores are those of an index of the same counts, in nats.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from setsearch.arrays import LARGEST_COUNT, Entries, Floats, Ints, bincount, repeat
from setsearch.lists import Lists, transposed
from setsearch.models import Model, Seeds, make_model
from setsearch.models.values import CountSource, RuleStatistics, rule_statistics


class SetExpander(BaseEstimator):  # type: ignore[misc]
    """Bayesian Sets of rows of counts, dense or sparse, none negative.

    `model`, `strength`, `binarize`, `popularity` and `rarity` are those of `Reading.expand`; None is a model's default.
    Numbers between two counts are taken as the larger one, so that shares of tf-idf are presence.
    """

    def __init__(
        self,
        model: str = "lift",
        strength: float | None = None,
        binarize: str | None = None,
        popularity: float | None = None,
        rarity: float | None = None,
    ) -> None:
        self.model = model
        self.strength = strength
        self.binarize = binarize
        self.popularity = popularity
        self.rarity = rarity

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: npt.ArrayLike | None = None) -> Self:
        """Learn from the rows `(n, n_features)`; y `(n,)` marks the examples among them, by default all.

        A mark is true, or a number above 0; all others, such as -1, are no examples. Raises ValueError.
        """
        counts = self._counts(X, reset=True)
        n, size = counts.shape
        marks = np.ones(n, bool) if y is None else _marks(y)
        if marks.shape != (n,) or not marks.any():
            raise ValueError(f"y has to mark examples among the rows of X, n_samples={n}; it marks {marks.sum()}")
        model = self._model()
        entries = _entries(counts)
        lists = Lists.of(entries, n, size), Lists.of(transposed(entries), size, n)
        self.statistics_: RuleStatistics = rule_statistics(model.rule, CountSource(n, *lists))
        found, values = self.statistics_.values_of(entries, by_item=True)
        df = bincount(found.ids, minlength=size)
        own = marks[found.lists]
        having, sums = bincount(found.ids[own], minlength=size), bincount(found.ids[own], values[own], size)
        active: Ints = np.flatnonzero(having).astype(np.int64)
        cf = lists[1].totals
        seeds = Seeds(active, having[active], sums[active], int(marks.sum()), cf[active], int(cf.sum()))
        background, query = model.background(df, n, seeds.count), model.query(seeds, df[active], n)
        self.offset_ = float(query.constants.sum()) + (background.constant if background else 0.0)
        self.weights_: Floats = np.zeros(size) if background is None else background.weights.copy()
        self.weights_[active] += query.weights
        self._learned = seeds, df[active], n
        return self

    def score_samples(self, X: Any) -> Floats:
        """The score of each row `(n,)`, in nats: higher belongs better. Rows need not be those of `fit`."""
        check_is_fitted(self)
        counts = self._counts(X, reset=False)
        model, seeds = self._model(), self._learned[0]
        table = model.query(*self._learned).table
        places = np.full(counts.shape[1], -1)
        places[seeds.features] = np.arange(len(seeds.features))
        totals: Ints = np.asarray(counts.sum(1), np.int64)
        scores: Floats = np.full(counts.shape[0], self.offset_)
        for row, (start, end) in enumerate(zip(counts.indptr[:-1], counts.indptr[1:], strict=True)):
            features = counts.indices[start:end].astype(np.int64)
            values = self.statistics_.values_of_new(features, counts.data[start:end], int(totals[row]))
            if table is None:
                scores[row] += self.weights_[features] @ values
            else:
                shared = places[features] >= 0
                scores[row] += table(places[features[shared]], values[shared]).sum()
        of_lengths = getattr(model, "of_lengths", None)
        return scores if of_lengths is None else scores + of_lengths(totals, seeds)

    def decision_function(self, X: Any) -> Floats:
        """The same as `score_samples`."""
        return self.score_samples(X)

    def _model(self) -> Model:
        return make_model(self.model, **{name: value for name, value in self.get_params().items() if name != "model"})

    def _counts(self, X: Any, reset: bool) -> Any:
        """The counts of some rows, as a sparse matrix with sorted columns and without zeros."""
        given = validate_data(self, X, accept_sparse="csr", reset=reset)
        counts = csr_array(given, copy=issparse(given))
        if counts.data.min(initial=0) < 0:
            raise ValueError(f"Negative values in data passed to {type(self).__name__}: counts are 0 or more")
        counts.sum_duplicates()
        if counts.data.max(initial=0) > LARGEST_COUNT:
            raise ValueError(
                f"X has the count {counts.data.max():g}, which is too large; the largest is {LARGEST_COUNT}"
            )
        counts.data = np.ceil(counts.data).astype(np.int64)
        counts.eliminate_zeros()
        return counts


def _marks(y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which rows are examples; raises ValueError for marks that do not say it."""
    given = np.asarray(y)
    try:
        numbers = np.full(given.shape, np.nan) if given.dtype.kind in "SU" else given.astype(float)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if np.isnan(numbers).any():
        found = np.unique(given.astype(str))[:3].tolist()
        raise ValueError(
            f"y marks examples by true, or by numbers above 0, not by {found}; "
            "give y == LABEL, or take OneVsRestClassifier(SetExpander()) for all labels"
        )
    return np.asarray(numbers > 0)


def _entries(counts: Any) -> Entries:
    rows = repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)).astype(np.int64)
    return Entries(rows, counts.indices.astype(np.int64), counts.data)
