"""Documents wait packed while contexts are derived."""

import tracemalloc
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from laws import examples

from setsearch.memory.contexts import word_contexts
from setsearch.memory.contexts.word_contexts import Documents
from setsearch.storage.generations import json_array

DOCUMENTS = st.lists(st.tuples(st.integers(0, 9), st.text(max_size=4), st.none() | st.text(max_size=3)), max_size=20)


@examples(100)
@given(DOCUMENTS, st.integers(1, 5))
def test_packed_documents_are_those_that_were_packed(rows, step):
    with patch.object(word_contexts, "DOCUMENTS_OF_STEP", step):
        packed = Documents(iter(rows))
    assert [*map(tuple, packed)] == rows
    assert packed.ids.tolist() == [id for id, _, _ in rows]
    assert packed.array.tobytes() == json_array(rows).tobytes()


def test_packed_documents_take_little_memory():
    tracemalloc.start()
    try:
        packed = Documents((n, f"d{n}", None) for n in range(50_000))
        assert tracemalloc.get_traced_memory()[0] < 50_000 * 50  # bytes; rows take 130 each
        assert sum(id for id, _, _ in packed) == sum(range(50_000))
    finally:
        tracemalloc.stop()
