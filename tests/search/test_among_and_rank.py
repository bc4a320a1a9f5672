"""Hits of other engines: `among` and `rank`."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

import setsearch
from setsearch.errors import InvalidParameter
from setsearch.storage.names import Vocabulary


@examples(30)
@given(st.lists(st.sets(st.sampled_from("abcdefg"), min_size=1), min_size=3, max_size=12), st.data())
def test_among_and_rank_are_the_whole_ranking_filtered(sets, data):
    connection = sqlite3.connect(":memory:")
    index = setsearch.open(connection)
    index.add([(f"d{i}", sorted(own)) for i, own in enumerate(sets)])
    documents = index.items("documents")
    names = st.sampled_from([f"d{i}" for i in range(len(sets))])
    seeds, allowed = data.draw(st.lists(names, min_size=1, max_size=2)), data.draw(st.sets(names, min_size=1))
    whole = documents.expand(seeds, 99, keep_seeds=True, cut="mark")
    expected = [(hit.item, hit.score, hit.belongs) for hit in whole if hit.item in allowed]
    got = documents.expand(seeds, 99, keep_seeds=True, cut="mark", among=[*allowed, "unheard of"])
    assert [(hit.item, hit.score, hit.belongs) for hit in got] == expected
    assert [hit[:4] for hit in documents.rank(allowed, seeds)] == [hit[:4] for hit in got]
    with documents.scores(seeds, keep_seeds=True, among=allowed) as (fields, scores):
        found = {name: scores[id] for name, id in fields.items.find([h.item for h in whole]).items()}
    assert {name: score for name, score in found.items() if score > float("-inf")} == {i: s for i, s, _ in expected}


@pytest.mark.parametrize(("items", "seeds", "known"), [("documents", ["a"], ["b"]), ("terms", ["x"], ["Y", "Z"])])
def test_names_that_the_index_does_not_hold_are_looked_up_together(monkeypatch, items, seeds, known):
    index = setsearch.open(sqlite3.connect(":memory:"))
    index.add([("a", "x y"), ("b", "y z"), ("c", "z")])
    reading, looked_up = index.items(items), []
    find = Vocabulary.find
    monkeypatch.setattr(Vocabulary, "find", lambda *given: looked_up.append(given) or find(*given))
    hits = reading.expand(seeds, 9, among=[*(f"unheard{n}" for n in range(500)), *known])
    assert {hit.item for hit in hits} == {name.lower() for name in known}
    assert len(looked_up) < 10


def test_candidates_that_the_index_does_not_hold():
    index = setsearch.open(sqlite3.connect(":memory:"))
    index.add([("a", "x y"), ("b", "y z"), ("c", "z")])
    documents = index.items("documents")
    with pytest.raises(setsearch.errors.UnknownItem, match="gone"):
        documents.rank(["b", "gone"], ["a"])
    assert [hit.item for hit in documents.rank(["c", "gone", "b", "a"], ["a"], missing="skip")] == ["a", "b", "c"]
    assert documents.rank([], ["a"]) == []
    with pytest.raises(InvalidParameter, match="missing"):
        documents.rank(["b"], ["a"], missing="drop")
