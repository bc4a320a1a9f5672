"""Tokens of documents in another order."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from laws import examples
from pytest import MonkeyPatch

from setsearch.text import token_stream as stream

DOCUMENTS = st.lists(st.lists(st.integers(3, 9), max_size=9), min_size=1, max_size=12)


def tokens_of(documents):
    """Of documents by id."""
    lengths = np.array([len(own) for own in documents.values()], np.int64)
    tokens = np.array([token for own in documents.values() for token in own], np.int32)
    return stream.Tokens(np.array([*documents], np.int64), lengths, tokens, [*stream.MARKS, *"abcdefg"])


@examples(100)
@given(DOCUMENTS, DOCUMENTS, st.randoms(use_true_random=False), st.sampled_from([1, 3, 1 << 20]))
def test_documents_are_arranged_in_any_steps(before, after, rng, step):
    parts = [dict(enumerate(before)), dict(zip(rng.sample(range(20), len(after)), after, strict=True))]
    known = parts[0] | parts[1]
    ids = rng.sample([*known], rng.randint(0, len(known)))
    with MonkeyPatch.context() as context:
        context.setattr(stream, "TOKENS_OF_STEP", step)
        found = stream.arrange(np.array(ids, np.int64), [*map(tokens_of, parts)])
    assert found.tokens.tolist() == [token for id in ids for token in known[id]]
    assert found.lengths.tolist() == [len(known[id]) for id in ids] and found.tokens.dtype == np.int32
