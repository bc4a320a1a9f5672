"""Lists in blocks: whatever was written is read, whatever the sizes of blocks; columns come back from bytes."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

import setsearch
from setsearch.arrays import Entries
from setsearch.errors import CorruptIndex
from setsearch.storage import codec, forward_lists
from setsearch.storage.codec import pack_columns, unpack_columns
from setsearch.storage.forward_lists import ForwardLists

N_ITEMS, N_FEATURES = 40, 9
lists = st.dictionaries(st.integers(0, N_FEATURES - 1), st.integers(1, 2**31 - 1) | st.just(1), max_size=6)
writes = st.dictionaries(st.integers(0, N_ITEMS - 1), lists, min_size=1, max_size=12)


def entries_of(content):
    cells = sorted((item, id, count) for item, own in content.items() for id, count in own.items())
    return Entries(*np.array(cells, np.int64).reshape(-1, 3).T)


def are_equal(one, other):
    return all(map(np.array_equal, one, other))


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    with setsearch.open(tmp_path_factory.mktemp("lists") / "a.db", create=True) as index:
        index.add([("x", ["u"])], ("film", "user"))
        yield index._database


@given(st.lists(writes, max_size=6), st.integers(1, 12))
def test_what_was_written_is_read(database, steps, full):
    with pytest.MonkeyPatch.context() as patch, database.write() as cursor:
        patch.setattr(forward_lists, "FULL_BLOCK", full)
        stored, content = ForwardLists(cursor, 99, N_ITEMS, N_FEATURES), {}
        stored.clear()
        for step in steps:
            stored.write(np.array(sorted(step)), entries_of(step))
            content |= step
            expected = entries_of(content)
            assert are_equal(stored.read_all(), expected)
            assert np.array_equal(stored.totals(), np.bincount(expected.lists, expected.counts, N_ITEMS))
            some = {item: own for item, own in content.items() if item % 3}
            assert are_equal(stored.read(np.array(sorted(some), np.int64)), entries_of(some))
        sizes = [len(part.lists) for part in stored.sweep()]
        assert all(size < full + N_FEATURES for size in sizes)


def test_a_write_touches_the_blocks_of_its_items_alone(database, monkeypatch):
    monkeypatch.setattr(forward_lists, "FULL_BLOCK", 4)
    content = {item: {0: 1, 1: 1} for item in range(20)}
    rows = "select first, data from setsearch_forward where relation = 98"
    with database.write() as cursor:
        stored = ForwardLists(cursor, 98, N_ITEMS, N_FEATURES)
        stored.write(np.arange(20), entries_of(content))
        before = dict(cursor.execute(rows).fetchall())
        stored.write(np.array([7]), entries_of({7: {2: 5}}))
        after = dict(cursor.execute(rows).fetchall())
        assert len(before) == 10
        assert [first for first in before if before[first] != after[first]] == [6]
        stored.write(np.array([30]), entries_of({30: {2: 5}}))
        assert dict(cursor.execute(rows).fetchall()).keys() - after.keys() == {30}
        stored.write(np.arange(40), entries_of({}))
        assert cursor.execute(rows).fetchall() == []


def test_frequencies_that_cannot_be_are_told(tmp_path):
    """Nobody loses a feature because a number beside the lists was damaged."""
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("x", {"u": 1, "v": 3}), ("y", {"u": 1})], ("film", "user"))
        for change in ("length = 0", "total = 0", "length = 1"):
            with index._database.write() as cursor:
                cursor.execute(f"update setsearch_feature set {change} where feature = 0")
            with pytest.raises(CorruptIndex, match="setsearch_feature differs from the lists"):
                index.delete(["x", "y"])
            assert index.items("film").features_of("x") == {"u": 1, "v": 3}
            assert "film x user: the frequencies of user were counted again" in index.repair()
            assert index.check() == []


columns = st.lists(
    arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 300) | st.integers(-(2**63), 2**63 - 1)), max_size=4
)


@given(columns, st.integers(1, 9))
def test_columns_come_back(given_columns, longest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "LONGEST", longest)
        data = pack_columns(given_columns)
        assert are_equal(unpack_columns(data, len(given_columns)), given_columns)
        assert unpack_columns(data + b"\0", len(given_columns)) is None
        for size in range(len(data)):
            assert unpack_columns(data[:size], len(given_columns)) is None
