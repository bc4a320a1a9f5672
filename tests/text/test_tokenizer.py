"""The tokenizer equals the analyzer, text by text."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from setsearch.errors import CorruptIndex, InvalidParameter
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import TermIds
from setsearch.text.tokenizer import Tokenizer

WORDS = ["lion", "lions", "the", "of", "Tigers", "Häuser", "İ", "e\u0301", "日本", "a" * 8, "a" * 9, "b" * 16, "b" * 17]
GAPS = ["\0", "\n", " ", "\ud800", "-", "，", ""]
texts_of_words = st.lists(st.sampled_from(WORDS + GAPS), max_size=12).map(" ".join)


@pytest.mark.parametrize("analyzer", [Analyzer(), Analyzer("english"), Analyzer("english", stop_words=True)])
@given(parts=st.lists(st.lists(st.one_of(texts_of_words, st.text(max_size=30)), max_size=6), max_size=4))
def test_texts_have_the_same_terms_alone_and_together(analyzer, parts):
    vocabulary = TermIds()
    numbering = Tokenizer(analyzer, vocabulary)
    for texts in parts:
        numbers, lengths = numbering.tokenize(texts)
        terms = list(vocabulary)
        found = np.split(np.array([terms[number] for number in numbers], object), np.cumsum(lengths)[:-1])
        assert [list(own) for own in found if len(texts)] == [analyzer(text) for text in texts]
    assert list(vocabulary) == list(dict.fromkeys(term for texts in parts for text in texts for term in analyzer(text)))


@pytest.mark.parametrize("kind", ["unicode+pairs", "unicode+4-grams", "unicode+2-grams+pairs"])
@pytest.mark.parametrize("options", [(None, False), ("english", True)])
@given(parts=st.lists(st.lists(texts_of_words, max_size=6), max_size=4))
def test_texts_have_the_same_extras_alone_and_together(kind, options, parts):
    analyzer, vocabulary = Analyzer(*options, kind), TermIds()
    numbering = Tokenizer(analyzer, vocabulary)
    for texts in parts:
        numbers, lengths = numbering.tokenize(texts)
        found = np.split(np.array([vocabulary.names[number] for number in numbers], object), np.cumsum(lengths)[:-1])
        assert [list(own) for own in found if len(texts)] == [analyzer(text) for text in texts]
    assert vocabulary.names == list(vocabulary)


def test_extras_by_hand():
    assert Analyzer(function="unicode+pairs+4-grams")("Red wine") == [
        "red", "wine", "red wine", "~_red", "~red_", "~_win", "~wine", "~ine_",
    ]  # fmt: skip
    assert Analyzer("english", True, "unicode+pairs")("the lions of Africa")[-1] == "lion africa"
    assert Analyzer.from_spec("unicode+pairs english").extras == (True, 0, False)
    assert Analyzer.from_spec("unicode+titles+pairs").extras == (True, 0, 1)
    assert Analyzer.from_spec("unicode+3-titles").extras == (False, 0, 3)
    assert Analyzer.from_spec("unicode+3-titles").extras.counted("a b", "c") == "c\nc\nc\na b"
    for extras in ("", "pears", "9-grams", "1-grams", "pairs+pairs", "titles+titles", "titles+2-titles", "0-titles"):
        kind = f"unicode+{extras}"
        with pytest.raises(InvalidParameter):
            Analyzer(function=kind)
        with pytest.raises(CorruptIndex):
            Analyzer.from_spec(kind)


def test_words_that_fall_on_each_other_are_numbered():
    numbering = Tokenizer(Analyzer(), vocabulary := TermIds())
    words = [f"{number:x}" * (number % 4 + 1) for number in range(30_000)]
    for _ in range(3):
        for start in range(0, len(words), 999):
            numbers, _ = numbering.tokenize([" ".join(words[start : start + 999])])
            assert [vocabulary[word] for word in words[start : start + 999]] == numbers.tolist()
