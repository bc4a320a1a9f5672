"""Values of whole lists in the compiled core: the same bits as those of entries."""

import sqlite3

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setsearch
from setsearch.core import binding
from setsearch.errors import LostArrays
from setsearch.models.values import MOST_COUNTED, CountSource, ValueRule, rule_statistics

pytestmark = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")
RULES = [
    ValueRule(binarization, weighted=True, slope=slope)
    for binarization in ("presence", "twice-mean", "soft-twice-mean")
    for slope in (0.0, 0.8, 1.0)
]


def arrays_of(fields, forward):
    """The stored lists of one direction."""
    lists = fields.first.lists(forward)
    lists.settle()
    buffer, starts, ends = lists.arrays
    return buffer.ids, buffer.counts, starts, ends


relations = st.dictionaries(
    st.integers(0, 30).map(str),
    st.dictionaries(
        st.integers(0, 20).map(str), st.sampled_from([1, 2, 3, 50, 999, 1000, 60_000, 1 << 17]), min_size=1
    ),
    min_size=2,
    max_size=25,
)


@pytest.mark.long
@given(relations, st.sampled_from(RULES))
def test_norms_are_those_of_numpy(data, rule):
    """Also after writes, and for counts that the core has no logarithm of."""
    connection, found = sqlite3.connect(":memory:"), []
    with setsearch.open(connection, create=True) as index:
        index.add(data.items(), ("film", "user"))
        for changed in ([], [("new", {"0": 7, "other": 2})]):
            index.update(changed, ("film", "user"))
            for has_core in (True, False):
                with index.items("film").fields() as fields, pytest.MonkeyPatch.context() as patch:
                    if not has_core:
                        patch.setattr(binding, "library", lambda: None)
                    lists = [fields.first.lists(forward) for forward in (True, False)]
                    found.append(rule_statistics(rule, CountSource(fields.items.size, *lists)).norms.tolist())
    connection.close()
    assert found[0] == found[1]
    assert found[2] == found[3]


@pytest.mark.parametrize(("at", "change"), [(0, 99), (2, -1), (3, 99)])
def test_squares_of_damaged_lists_are_refused(at, change):
    source = [np.array([0, 1], np.int32), np.ones(2, np.uint16), np.array([0, 1]), np.array([1, 2])]
    rule = np.ones(2, np.int64), None, np.ones(2), np.ones(5)
    assert binding.squares(source, *rule).tolist() == [1, 1]
    source[at][1] = change
    with pytest.raises(LostArrays):
        binding.squares(source, *rule)


@given(
    st.dictionaries(
        st.integers(0, 30).map(str),
        st.dictionaries(st.integers(0, 20).map(str), st.sampled_from([1, 2, 3, 50, 999, 1000, 60_000]), min_size=1),
        min_size=2,
        max_size=25,
    ),
    st.sampled_from(RULES),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_they_are_those_of_entries(data, rule, forward, chance):
    connection = sqlite3.connect(":memory:")
    with setsearch.open(connection, create=True) as index:
        index.add(data.items(), ("film", "user"))
        with index.items("film").fields() as fields:
            statistics, source = fields.first.statistics(rule), arrays_of(fields, forward)
            lists = np.array(sorted(chance.sample(range(len(source[2])), chance.randint(1, len(source[2])))), np.int64)
            of = fields.first.read_forward if forward else fields.first.read_postings
            entries, values = statistics.values_of(of(lists.tolist()), by_item=forward)
            found = statistics.values_of_lists(lists, source, by_item=forward)
    connection.close()
    assert found.ids.tolist() == entries.ids.tolist()
    assert found.values.tolist() == values.tolist()
    assert np.repeat(lists, found.lengths).tolist() == entries.lists.tolist()
    squares = np.bincount(entries.lists, np.square(values)) if len(values) else np.zeros(1)
    assert found.square == pytest.approx(float(squares.max()))


def test_rules_and_counts_that_it_does_not_know(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", {"x": MOST_COUNTED, "y": 1}), ("b", {"y": 2, "z": 3})], ("film", "user"))
        with index.items("film").fields() as fields:
            source = arrays_of(fields, True)
            for rule, items, is_known in (
                (RULES[0], [0], False),
                (RULES[0], [1], True),
                (ValueRule("twice-mean"), [1], False),
                (ValueRule(weighted=True), [1], False),
                (ValueRule(counted=True), [1], False),
            ):
                found = fields.first.statistics(rule).values_of_lists(np.array(items), source, True)
                assert (found is not None) == is_known
