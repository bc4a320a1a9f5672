"""The classifier for ASReview, with the real package: `make test-others` runs this file."""

import numpy as np
import pandas as pd
from asreview.extensions import load_extension
from asreview.learner import ActiveLearningCycle
from asreview.models.feature_extractors import OneHot, Tfidf
from asreview.models.queriers import Max
from asreview.simulation.simulate import Simulate
from scipy.optimize import minimize

from setsearch.integrations.sklearn import SetExpander

CATS = [
    f"the {one} is a big cat with {two}" for one in ("lion", "tiger", "leopard", "lynx") for two in ("fur", "teeth")
]
GRAIN = [
    f"{one} grows in {two} fields of the farm" for one in ("wheat", "oats", "rye", "barley") for two in ("dry", "wet")
]
RECORDS = pd.DataFrame({"title": CATS + GRAIN, "abstract": [""] * 16})
LABELS = np.array([1] * 8 + [0] * 8)


def classifier():
    return load_extension("models.classifiers", "setsearch")()


def test_relevant_records_alone_have_the_scores_of_an_index(build):
    features = OneHot().fit_transform(RECORDS)
    found = classifier().fit(features[:2], [1, 1]).decision_function(features[2:])
    data = {f"r{row:02}": dict.fromkeys(map(str, features[row].indices.tolist()), 1) for row in range(len(RECORDS))}
    plain = {"popularity": 0.2, "binarize": "twice-mean", "rarity": 0.0, "budget": 0.0, "feedback": 0.0}
    hits = build(data).items("film").expand(["r00", "r01"], len(data), **plain)
    scores = {hit.item: hit.score for hit in hits}
    np.testing.assert_allclose(found, [scores[f"r{row:02}"] for row in range(2, len(data))], rtol=0, atol=1e-5)


def test_refused_records_move_the_scores_to_the_least_loss():
    """The loss of setsearch/models/svm.py, written again, has its least value at what was learned."""
    features = Tfidf().fit_transform(RECORDS)
    known, rest, signs = [0, 1, 8], [*range(2, 8), *range(9, 16)], [1.0, 1.0, -1.0]
    every = features[known + rest].toarray()
    before = classifier().fit(features[:2], [1, 1])
    belongs = SetExpander().fit(every, [True, True, *[False] * 14]).score_samples(every)
    start = 3 * 0.016**3 / np.sort(belongs[3:])[-5:].mean() * belongs  # one refusal among 16 records
    unmarked = 20 * 0.016**3 + 0.3
    signs, weights = np.array(signs + [-1.0] * 13), np.array([(1 + unmarked)] * 2 + [1.0] + [unmarked / 13] * 13)

    def loss(learned):
        """The loss of weights and a bias."""
        missing = np.maximum(0, 1 - signs * (start + learned[-1] + every @ learned[:-1]))
        return learned @ learned / 2 + 0.1 * weights @ missing**2

    learned = minimize(loss, np.zeros(every.shape[1] + 1), options={"gtol": 1e-9}).x
    found = classifier().fit(features[known], [1, 1, 0]).decision_function(features[rest])
    expected = (start + learned[-1] + every @ learned[:-1])[3:]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert before.decision_function(features[rest]).argmax() in range(6)


def test_a_review_finds_all_relevant_records_first():
    cycle = ActiveLearningCycle(querier=Max(), classifier=classifier(), feature_extractor=Tfidf())
    review = Simulate(RECORDS, pd.Series(LABELS), [cycle], print_progress=False)
    review.label([0, 8])
    review.review()
    assert review._results["label"].tolist() == [1, 0] + [1] * 7
