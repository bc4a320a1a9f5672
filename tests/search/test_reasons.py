"""Contexts that tell the same are one fact; weights still sum to the score."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from setsearch.search.reasons import merge_reasons, sentence

SENTENCES = {
    "_ flowers": "The word stands before “flowers”.",
    "bright _": "The word stands after “bright”.",
    "the _ of": "The word stands between “the” and “of”.",
    "_ · purple": "The word stands before “… purple”.",
    "listed with pink": "The word stands in lists with “pink”.",
    "d12": "",
}
parts = st.sampled_from(["_ flowers", "_ flowers .", "flowers _", "_ and", "_ ,", "listed with pink", "pink _", "doc"])


@pytest.mark.parametrize("label", SENTENCES)
def test_contexts_have_sentences(label):
    assert sentence(label) == SENTENCES[label]


def test_spellings_of_one_context_are_one_fact():
    merged = merge_reasons([("_ flowers", 0.5), ("bright _", 0.4), ("_ flowers .", 0.25), ("flowers _", 0.1)])
    assert [(reason.label, reason.weight) for reason in merged] == [
        ("_ flowers", 0.75),
        ("bright _", 0.4),
        ("flowers _", 0.1),
    ]


@given(st.lists(st.tuples(parts, st.integers(-8, 8).map(lambda n: n / 4))))
def test_nothing_is_lost(features):
    merged = merge_reasons(features)
    assert sum(reason.weight for reason in merged) == sum(weight for _, weight in features)
    assert {reason.label for reason in merged} <= {label for label, _ in features}
