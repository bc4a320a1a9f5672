"""scikit-learn: its own checks, and the scores of an index."""

import random
from importlib.util import find_spec

import numpy as np
import pytest
from samples import random_data

if find_spec("sklearn") is None:
    pytest.skip("scikit-learn is not installed", allow_module_level=True)

MODELS = ["lift", "bernoulli", "multinomial", "poisson"]
TEXTS = {"model": "lift", "popularity": 0.2, "binarize": "twice-mean", "rarity": 0.0, "budget": 0.0, "feedback": 0.0}
ASKED = [  # options of a question, and those of the same estimator
    (TEXTS, {}),
    (TEXTS | {"binarize": "presence", "strength": 7.0}, {"binarize": "presence", "strength": 7.0}),
    (TEXTS | {"popularity": 1.0, "rarity": 0.5}, {"popularity": 1.0, "rarity": 0.5}),
    *((own, own) for own in ({"model": model} for model in MODELS[1:])),
    *[({"model": "bernoulli", "binarize": "twice-mean", "popularity": 0.5, "strength": 50.0},) * 2],
]


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Its import takes a second, and most processes run other tests."""
    global CalibratedClassifierCV, DictVectorizer, GridSearchCV, cross_val_score, OneVsRestClassifier, make_pipeline
    global check_estimator, SetExpander
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.estimator_checks import check_estimator

    from setsearch.integrations.sklearn import SetExpander


@pytest.mark.parametrize("model", MODELS)
def test_the_checks_of_scikit_learn_pass(model):
    done = check_estimator(SetExpander(model), on_skip=None)
    assert len(done) > 30
    assert {check["check_name"] for check in done if check["status"] != "passed"} <= {"check_array_api_input"}


@pytest.mark.parametrize(("asked", "options"), ASKED, ids=str)
@pytest.mark.parametrize("case", range(3))
def test_scores_are_those_of_an_index(build, case, asked, options):
    rng, data = random.Random(case), random_data(case, 30, 25, 0.3)
    names = sorted(data)
    seeds = rng.sample(names, 3)
    hits = build(data).items("film").expand(seeds, len(names), keep_seeds=True, **asked)
    counts = DictVectorizer().fit_transform([data[name] for name in names])
    scores = SetExpander(**options).fit(counts, [name in seeds for name in names]).score_samples(counts)
    found = {hit.item: hit.score for hit in hits}
    assert found.keys() == set(names)
    np.testing.assert_allclose(scores, [found[name] for name in names], rtol=0, atol=1e-5)


def test_rows_that_were_not_there_are_scored():
    from scipy.sparse import csr_array

    counts = csr_array([[2, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 0, 0, 3]])
    expander = SetExpander().fit(counts, [1, 1, 0, 0])
    near, far = expander.score_samples([[1, 1, 0, 0], [0, 0, 0, 1]])
    assert near > far == 0


def test_it_is_the_end_of_a_pipeline():
    rows = [{"lion": 2, "savanna": 2}, {"lion": 2, "jungle": 1}, *({f"grain {grain}": 1} for grain in range(10))]
    pipeline = make_pipeline(DictVectorizer(), SetExpander(strength=1.0))
    scores = pipeline.fit(rows, [True] + 11 * [False]).score_samples(rows)
    assert scores[0] > scores[1] > scores[2] == 0


@pytest.mark.parametrize("marks", [[0, 0], [1], [[1, 0]]])
def test_without_an_example_nothing_is_learned(marks):
    with pytest.raises(ValueError, match="y has to mark examples among the rows"):
        SetExpander().fit([[1, 0], [0, 1]], marks)


@pytest.mark.parametrize("model", ["lift", "bernoulli"])
def test_marks_are_true_or_above_0(model):
    counts, marks = [[2, 1, 0], [1, 0, 1], [0, 0, 1]], [True, True, False]
    expected = SetExpander(model).fit(counts, marks)
    for same in ([1, 1, 0], [1, 1, -1], [0.5, 2, 0], np.array(marks, object)):
        found = SetExpander(model).fit(counts, same)
        assert (found.decision_function(counts) == expected.score_samples(counts)).all()
    for wrong in (["yes", "yes", "no"], [1, 1, np.nan], [1, 1, None]):
        with pytest.raises(ValueError, match=r"y marks examples by true, or by numbers above 0, not by \['.*LABEL"):
            SetExpander(model).fit(counts, wrong)


@pytest.mark.parametrize("count", [1e18, 1e300, 2.0**31])
def test_counts_that_no_index_has_are_refused(count):
    expander = SetExpander().fit([[1, 0], [0, 2.0**31 - 1]], [1, 0])
    for ask in (expander.fit, expander.score_samples):
        with pytest.raises(ValueError, match="which is too large; the largest is 2147483647"):
            ask([[1, 0], [0, count]])


def test_a_search_for_the_best_strength_takes_its_scores():
    rng = np.random.default_rng(3)
    counts = rng.poisson(1.0, (60, 12))
    tried = GridSearchCV(SetExpander(), {"strength": [0.5, 2.0, 50.0]}, scoring="roc_auc", cv=2)
    assert 0.5 < tried.fit(counts, counts[:, 0] > 1).best_score_ <= 1


def test_labels_are_predicted_one_against_the_rest():
    rng = np.random.default_rng(4)
    labels = np.array(["bird", "dance", "tree"])[np.arange(60) % 3]
    counts = rng.poisson(0.3, (60, 9)) + 2 * (labels[:, None] == np.repeat(["bird", "dance", "tree"], 3))
    classes = OneVsRestClassifier(SetExpander())
    assert cross_val_score(classes, counts, labels, cv=3).min() > 0.9
    told = CalibratedClassifierCV(classes, cv=3).fit(counts, labels).predict_proba(counts)
    assert told.shape == (60, 3) and np.allclose(told.sum(axis=1), 1)
    with pytest.raises(
        ValueError, match=r"not by \['bird', 'dance', 'tree'\]; .*OneVsRestClassifier\(SetExpander\(\)\)"
    ):
        SetExpander().fit(counts, labels)
