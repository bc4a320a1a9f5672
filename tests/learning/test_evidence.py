"""Bayes factors between strengths, by log-gamma functions over all features."""

import sqlite3
from math import lgamma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from samples import random_data
from scipy import sparse

import setsearch
from setsearch.learning.evaluation import Design, evaluate
from setsearch.learning.evidence import Evidence
from setsearch.models import Bernoulli, Lift, Multinomial, Poisson
from setsearch.models.values import ValueRule
from setsearch.search.passes import Weighing


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def bernoulli(data, members, strength):
    """ln p(D), a product over all features that some but not all items have."""
    total = 0.0
    for feature in {feature for own in data.values() for feature in own}:
        df = sum(feature in own for own in data.values())
        if df < len(data):
            alpha, beta = strength * df / len(data), strength * (len(data) - df) / len(data)
            having = sum(feature in data[member] for member in members)
            total += log_beta(alpha + having, beta + len(members) - having) - log_beta(alpha, beta)
    return total


def multinomial(data, members, strength):
    """ln p(D), one occurrence after another, without the number of their orders."""
    cf = {}
    for own in data.values():
        for feature, count in own.items():
            cf[feature] = cf.get(feature, 0) + count
    seen, so_far, total = dict.fromkeys(cf, 0), 0, 0.0
    for member in members:
        for feature, count in data[member].items():
            for _ in range(count):
                prior = strength * cf[feature] / sum(cf.values())
                total += np.log((prior + seen[feature]) / (strength + so_far))
                seen[feature], so_far = seen[feature] + 1, so_far + 1
    return total


def evidence_of(data):
    """The same as a matrix whose second row is no item."""
    items, features = list(data), sorted({feature for own in data.values() for feature in own})
    rows = {item: place + (place > 0) for place, item in enumerate(items)}
    counts = np.zeros((len(items) + 1, len(features)))
    for item, own in data.items():
        for feature, count in own.items():
            counts[rows[item], features.index(feature)] = count
    return Evidence(sparse.csr_array(counts), len(items)), rows


@examples(30)
@given(st.integers(0, 99), st.integers(1, 6), st.sampled_from([0.5, 2.0, 10.0, 50.0, 1000.0]))
def test_it_is_the_ratio_of_two_evidences(seed, n_members, strength):
    data = random_data(seed, 12, 9, 0.4) | {"all": {f"f{n}": 1 for n in range(3)}}
    members = [*data][:n_members]
    evidence, rows = evidence_of(data)
    own = np.array([rows[member] for member in members])
    for model, usual, definition in ((Bernoulli, 2.0, bernoulli), (Multinomial, 1000.0, multinomial)):
        expected = definition(data, members, strength) - definition(data, members, usual)
        assert evidence.log_bayes_factor(model(strength), own) == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_other_models_have_none():
    evidence, rows = evidence_of(random_data(1, 12, 9, 0.4))
    for model in (Lift(), Poisson(), Bernoulli(2.0, ValueRule("twice-mean"))):
        assert evidence.log_bayes_factor(model, np.array([*rows.values()][:2])) is None


def test_evaluate_states_the_mean_over_sets():
    data = random_data(3, 30, 12, 0.4)
    items = [*data]
    sets = {"a": items[:6], "b": items[4:12]}
    with setsearch.open(sqlite3.connect(":memory:")) as index:
        index.add(data.items(), ("film", "user"))
        reading = index.items("film")
        with reading.fields() as fields:
            found = evaluate(Weighing(fields, reading.defaults, {}), sets, Design(2, 1))
    factors = {result.method: result.log_bayes_factor for result in found.results}
    expected = np.mean([bernoulli(data, own, 50.0) - bernoulli(data, own, 2.0) for own in sets.values()])
    assert factors["bernoulli, presence, strength 50"] == pytest.approx(expected, rel=1e-9)
    assert factors["bernoulli"] == 0
    assert factors["lift"] is None
