"""The patterns of words that the page without a server has, against those of regex."""

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples

from setsearch.text.words import Words

pytestmark = pytest.mark.long  # all characters are looked at

HERE = Path(__file__).parents[2] / "docs" / "try"
BLOCKS = (
    (0x20, 0x7F),
    (0xA0, 0x250),
    (0x300, 0x700),
    (0xE00, 0xF00),
    (0x1000, 0x1200),
    (0x1780, 0x1800),
    (0x2000, 0x2070),
    (0x3000, 0x3100),
    (0x4E00, 0x4E20),
    (0xAC00, 0xAC40),
    (0xFE00, 0xFE10),
    (0x1F1E6, 0x1F200),
    (0x1F3FB, 0x1F650),
)
CHARACTERS = st.one_of(
    st.sampled_from("'’.#+-_\u200c\u200d\xad\ufe0f"),
    *(st.integers(a, b - 1).map(chr) for a, b in BLOCKS),
    st.characters(),
)


@pytest.fixture(scope="module")
def patterns():
    """Pairs of a pattern of regex and the one that stands for it."""
    sys.path.insert(0, str(HERE))
    try:
        from word_patterns import word_patterns
    finally:
        sys.path.remove(str(HERE))
    module = {}
    exec(word_patterns(), module)
    return [(own, module["compile"](own.pattern)) for own in Words()._patterns]


@examples(2000)
@given(st.lists(CHARACTERS, min_size=1, max_size=9).map("".join))
def test_words_marks_and_characters_are_found_alike(patterns, text):
    for own, other in patterns[:2]:
        found = [(match.group(), match.span(), match.lastgroup) for match in own.finditer(text)]
        assert [(match.group(), match.span(), match.lastgroup) for match in other.finditer(text)] == found
    for match in patterns[0][0].finditer(text):
        if match.lastgroup is not None:  # a run of a script without spaces
            assert patterns[2][1].findall(match.group()) == patterns[2][0].findall(match.group())


@examples(1000)
@given(st.text("東京都 กข\u0301\u200d", max_size=8) | st.lists(CHARACTERS, max_size=6).map("".join))
def test_pairs_of_characters_are_told_and_joined_alike(patterns, text):
    once, pair = patterns[3], patterns[4]
    assert once[1].sub(r"\1", text) == once[0].sub(r"\1", text)
    assert (pair[1].fullmatch(text) is None) == (pair[0].fullmatch(text) is None)
