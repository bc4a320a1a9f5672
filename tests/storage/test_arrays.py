"""What is done with arrays of small numbers is what sets and dictionaries do."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

from setsearch.arrays import Entries, numbered, union

ids = st.lists(st.integers(0, 2**40), max_size=30)
cells = st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.integers(1, 5))


@examples(200)
@given(st.lists(ids, min_size=1, max_size=4))
def test_a_union_has_each_number_once_in_order(several):
    arrays = [np.array(own, np.int64) for own in several]
    assert union(*arrays).tolist() == sorted({id for own in several for id in own})


@examples(200)
@given(st.lists(st.one_of(st.integers(0, 50), st.integers(0, 2**62)), max_size=30))
def test_numbers_are_numbered_in_their_order(numbers):
    known, places = numbered(np.array(numbers, np.int64))
    assert known.tolist() == sorted({*numbers})
    assert known[places].tolist() == numbers


def entries_of(counts):
    rows = [(*cell, count) for cell, count in sorted(counts.items())]
    return Entries(*np.array(rows, np.int64).reshape(-1, 3).T)


@examples(200)
@given(cells, st.randoms())
def test_entries_that_are_divided_merge_again(counts, random):
    some = {cell: count for cell, count in counts.items() if random.random() < 0.5}
    others = {cell: count for cell, count in counts.items() if cell not in some}
    merged = entries_of(some).merged(entries_of(others))
    assert [own.tolist() for own in merged] == [own.tolist() for own in entries_of(counts)]
