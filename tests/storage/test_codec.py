"""Encoding loses nothing, and damaged bytes are refused."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from setsearch.arrays import Entries, offsets
from setsearch.core import binding
from setsearch.errors import CorruptIndex
from setsearch.storage.codec import decode_counts, decode_ids, encode_blocks, encode_counts, encode_ids

blocks = st.lists(
    st.dictionaries(
        st.integers(0, 2**32 - 1) | st.integers(0, 300), st.integers(1, 2**31 - 1) | st.just(1), min_size=1, max_size=20
    ),
    min_size=1,
    max_size=8,
)


@given(blocks)
def test_round_trip(given_blocks):
    ids = np.array([id for block in given_blocks for id in sorted(block)], np.int64)
    counts = np.array([block[id] for block in given_blocks for id in sorted(block)], np.int64)
    lengths = np.array([len(block) for block in given_blocks], np.int64)
    starts = offsets(lengths)
    gaps, packed = encode_ids(ids, starts), encode_counts(counts, starts)
    assert np.array_equal(decode_ids(ids[starts[:-1]], lengths, gaps), ids)
    assert np.array_equal(decode_counts(lengths, packed), counts)
    for block, blob in zip(given_blocks, packed, strict=True):
        assert (blob is None) == (set(block.values()) == {1})


@pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")
@given(blocks, st.integers(1, 2), st.integers(1, 2**40))
def test_the_core_encodes_as_numpy_does(given_blocks, table, relation):
    ids = np.array([id for block in given_blocks for id in sorted(block)], np.int64)
    counts = np.array([block[id] for block in given_blocks for id in sorted(block)], np.int64)
    starts = offsets(np.array([len(block) for block in given_blocks], np.int64))
    entries = Entries(np.repeat(np.arange(len(given_blocks)) * 7, np.diff(starts)), ids, counts)
    core = encode_blocks((table, relation), entries, starts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binding, "library", lambda: None)
        plain = encode_blocks((table, relation), entries, starts)
    assert [np.asarray(own, object).tolist() for own in core] == [np.asarray(own, object).tolist() for own in plain]


def test_the_smallest_width_is_chosen():
    ids = np.array([0, 200, 400, 7, 70_000], np.int64)
    assert [len(blob) for blob in encode_ids(ids, np.array([0, 3, 5]))] == [2, 4]


@pytest.mark.parametrize("blob", [b"\1\2\3", b"", b"\1" * 16])
def test_wrong_sizes_are_refused(blob):
    with pytest.raises(CorruptIndex):
        decode_ids(np.array([0]), np.array([3]), [blob])
