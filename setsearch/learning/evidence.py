"""How likely known sets are under one strength of a model, against another: Bayes factors.

    bernoulli      p(D) = prod_j B(alpha_j + c_j, beta_j + N - c_j) / B(alpha_j, beta_j)        B: the beta function
    multinomial    p(D) = C G(A) / G(A + S) prod_j G(a_j + s_j) / G(a_j)                        G: the gamma function

for the N members D of a set, with the priors of models/bernoulli.py and counts.py; C does not depend on the strength.
A Bayes factor p(D | strength) / p(D | usual strength) compares strengths of one model. It cannot compare models: one
is about which features the members have, the other about how often, given how long they are.
"""

import numpy as np
from scipy import sparse
from scipy.special import betaln, gammaln

from setsearch.arrays import Floats, Ints, bincount
from setsearch.models import Bernoulli, Model, Multinomial


class Evidence:
    """The counts of all items, `(n_ids, n_features)`, of which `n_items` are there."""

    def __init__(self, counts: sparse.csr_array, n_items: int) -> None:
        self._counts, self._n_items = counts, n_items
        self._df = bincount(counts.indices, minlength=counts.shape[1])
        self._cf = bincount(counts.indices, counts.data, counts.shape[1])
        self._frequencies = np.unique(self._df[(self._df > 0) & (self._df < n_items)], return_counts=True)

    def log_bayes_factor(self, model: Model, members: Ints) -> float | None:
        """ln p(D | model) - ln p(D | the same model of its usual strength), in nats; None for other models."""
        own = self._counts[members]
        if isinstance(model, Bernoulli) and model.rule == Bernoulli().rule:
            return self._bernoulli(model.strength, own) - self._bernoulli(Bernoulli().strength, own)
        if isinstance(model, Multinomial):
            return self._multinomial(model.strength, own) - self._multinomial(Multinomial().strength, own)
        return None

    def _bernoulli(self, strength: float, members: sparse.csr_array) -> float:
        """ln p(D). Features that no member has are alike if their document frequencies are."""
        n_members = members.shape[0]

        def added(df: Ints, having: Ints) -> Floats:
            """The part of each feature; those that all items have add 0."""
            df, having = df[df < self._n_items], having[df < self._n_items]
            alpha, beta = strength * df / self._n_items, strength * (self._n_items - df) / self._n_items
            return np.asarray(betaln(alpha + having, beta + n_members - having) - betaln(alpha, beta))

        df, times = self._frequencies
        features, having = np.unique(members.indices, return_counts=True)
        active = self._df[features]
        of_none = float(added(df, np.zeros_like(df)) @ times)
        return of_none + float((added(active, having) - added(active, np.zeros_like(having))).sum())

    def _multinomial(self, strength: float, members: sparse.csr_array) -> float:
        """ln p(D) - ln C."""
        sums = bincount(members.indices, members.data, members.shape[1])
        active = np.flatnonzero(sums)
        prior = strength * self._cf[active] / self._cf.sum()
        of_features = gammaln(prior + sums[active]) - gammaln(prior)
        return float(of_features.sum() + gammaln(strength) - gammaln(strength + sums.sum()))
