"""The tokenizer equals the analyzer, text by text."""

import weakref
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import setsearch
from setsearch.errors import CorruptIndex, InvalidParameter, UsageError
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
    assert Analyzer.from_spec("unicode+pairs english").extras == (True, 0, 0, False)
    assert Analyzer.from_spec("unicode+titles+pairs").extras == (True, 0, 1, False)
    assert Analyzer.from_spec("unicode+3-titles").extras == (False, 0, 3, False)
    assert Analyzer.from_spec("unicode+3-titles").extras.counted("a b", "c", "id") == "c\nc\nc\na b"
    for extras in ("", *"pears 9-grams 1-grams pairs+pairs titles+titles titles+2-titles titled+titles".split()):
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


@pytest.mark.parametrize(
    ("id", "title", "text", "times"),
    [
        ("1", "Steam engine", "It has a boiler.", 1),
        ("1", "Steam engine", "Steam engine: it has a boiler.", 0),
        ("1", "Steam engine", "STEAM\nENGINE, which has a boiler.", 0),
        ("1", "Steam engine", "Of a steam engine", 0),
        ("1", "Shear flow past a plate", "It is shown that", 2),
        ("1", "Shear flow past a plate", "Shear flow past a plate. It is shown that", 1),
        ("1", "Shear flow past a…", "Shear flow past a plate. It is shown that", 1),
        ("notes/engine.txt", "engine.txt", "It has a boiler.", 0),
        ("notes/all of my old engines.txt", "all of my old engines.txt", "They have boilers.", 0),
        ("Steam engine", "Steam engine", "It has a boiler.", 1),
        ("1", None, "It has a boiler.", 0),
        ("1", "", "It has a boiler.", 0),
    ],
)
def test_a_title_is_a_part_of_its_text(tmp_path, id, title, text, times):
    """By hand: once if the text has it not, and once more from four words on."""
    expected = Counter(Analyzer()(" ".join([*[title or ""] * times, text])))
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([(id, text, title), ("other", "boiler")])
        assert index.items("documents").features_of(id) == expected
        assert index.check() == []
    told = {"0-titles": 0, "titles": 1, "3-titles": 3}
    for name, weight in told.items():
        with setsearch.open(tmp_path / f"{name}.db", create=True, analyzer=f"unicode+{name}") as index:
            index.add([(id, text, title)])
            own = Counter(Analyzer()(" ".join([*[title or ""] * weight, text])))
            assert index.items("documents").features_of(id) == own


def test_an_index_keeps_the_weight_of_its_titles(tmp_path):
    for number, own in enumerate(("unicode+0-titles", "unicode+2-titles", "unicode+pairs", None)):
        place, asked = tmp_path / f"{number}.db", own or "unicode"
        with setsearch.open(place, create=True, analyzer=own, language="english") as index:
            index.add([("a", "boilers", "Engine")])
            before = index.items("documents").features_of("a")
        for analyzer in (None, asked):
            with setsearch.open(place, analyzer=analyzer, language="english") as index:
                index.update([("b", "boilers", "Engine")])
                assert index.items("documents").features_of("b") == before
        named = Analyzer.from_spec(f"{Analyzer('english', function=own).spec}").named
        assert Analyzer("english", function=named).spec == Analyzer("english", function=own).spec
    with (
        setsearch.open(tmp_path / "0.db", analyzer="unicode+titles", language="english") as index,
        pytest.raises(UsageError, match=r"analyzed by 'unicode-2 english', not by 'unicode-2\+titles english'"),
    ):
        index.update([("b", "boilers", "Engine")])


def test_a_tokenizer_is_gone_with_its_last_user():
    """Not when Python looks for cycles: of a large collection it holds many MB."""
    numbering = Tokenizer(Analyzer(), TermIds())
    numbering.tokenize(["the lions of Africa"])
    watched = weakref.ref(numbering._pieces)
    del numbering
    assert watched() is None
