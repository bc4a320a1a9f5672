"""Pieces of texts, cut by the core or without it, have the words that the rules find in the whole text."""

import sqlite3
from contextlib import closing

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import example, given
from laws import examples

import setsearch
from setsearch.core import binding
from setsearch.text import pieces
from setsearch.text.pieces import PieceNumbers
from setsearch.text.words import KINDS, OLD, words_of_kind

PARTS = "don't x B 7 3.14 .net c + # . , ' ’ _ ; é 日本 ไ \u093f".split()
PARTS += "É ß İ Σ ñ Ж ж א م « ” — … ʼ ﬁ \u0301 l’h d'é x\u0308".split()
CONTEXTS = (
    "* a*b é*é A*É 1*2 a'*a l’* *'b *’é .* a.* *.b *, ,* 1,* *++ *# a*# **. (*) a*\u0301 ж*Ж «*» *\"* Σ*. ΑΣ*α _*_ a**b"
)
BLANKS = [" ", "\n", "\x0b", "\x1c", "\x85", "\xa0", "\u2009", "\u3000", "\0", "\xff", "\ud800"]
ascii_texts = st.text(st.characters(codec="ascii"), max_size=30)
dense = st.text(st.sampled_from("abzhAB19_ .,'+#;!\t"), max_size=30)
parts = st.lists(st.sampled_from(PARTS + BLANKS), max_size=12).map("".join)
all_texts = st.lists(parts | dense | ascii_texts | st.text(max_size=20), max_size=5)
WORDS = {kind: words_of_kind(kind) for kind in KINDS}


needs_core = pytest.mark.skipif(binding.library() is None, reason="the core was not built (python hatch_build.py)")
both_ways = pytest.mark.parametrize("has_core", [pytest.param(True, marks=needs_core), False], ids=["core", "python"])


def plain_words(kind, marks):
    """The words of a text by all rules, without cutting it."""
    words = WORDS[kind]
    if kind == OLD:
        return words.tokens if marks else words.split
    return words._tokens if marks else words._split


def numbered(kind, marks, has_core):
    """What numbers the words of texts of a kind, and the words by number."""
    words, names = WORDS[kind], dict[str, int]()
    split = words.tokens if marks else words.split

    def numbers_of(piece):
        return [names.setdefault(word, len(names)) for word in split(piece)], words.read(piece)

    with pytest.MonkeyPatch.context() as patch:
        if not has_core:
            patch.setattr(binding, "library", lambda: None)
        return PieceNumbers(numbers_of, kind != OLD, marks), names


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("marks", [False, True])
@examples(150)
@given(batches=st.lists(all_texts, max_size=3))
@example(batches=[["future\xa0CSS\xa0syntax, os.path", "", "a\u2009\u2009b"]])
def test_pieces_have_the_words_of_the_whole_text(kind, marks, batches):
    split = plain_words(kind, marks)
    for has_core in {False, binding.library() is not None}:
        numbering, names = numbered(kind, marks, has_core)
        for texts in batches:
            numbers, lengths = numbering.find(texts)
            own = np.split(numbers, np.cumsum(lengths)[:-1]) if texts else []
            assert [[list(names)[number] for number in part] for part in own] == list(map(split, texts))
        every = [text for texts in batches for text in texts]
        assert numbering.characters == sum(len(text) - sum(map(text.count, " \n\t\r")) for text in every)
        assert numbering.read == sum(map(WORDS[kind].read, every))
        assert list(names) == list(dict.fromkeys(word for text in every for word in split(text)))


SOME = [*map(chr, range(0x180)), *map(chr, range(0x183, 0x800, 7)), *"\u2010\u2019\u2026\u2076\uffff\U0001f44d"]
ALL = [*map(chr, range(0x800)), *map(chr, range(0x1FF0, 0x2090)), "\uffff", "\U0001f44d"]


@needs_core
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != OLD])
@pytest.mark.parametrize("marks", [False, True])
@pytest.mark.parametrize("characters", [SOME, pytest.param(ALL, marks=pytest.mark.long)], ids=["some", "all"])
def test_each_character_is_what_the_rules_say(kind, marks, characters):
    """Alone, and beside letters, digits, marks and accents, of ASCII or not."""
    texts = [" ".join(context.replace("*", own) for context in CONTEXTS.split()) for own in characters]
    numbering, names = numbered(kind, marks, True)
    numbers, lengths = numbering.find(texts)
    by_number, split = list(names), plain_words(kind, marks)
    for own, text in zip(np.split(numbers, np.cumsum(lengths)[:-1]), texts, strict=True):
        assert [by_number[number] for number in own] == split(text), ascii(text)


@pytest.mark.long
@both_ways
def test_many_pieces_keep_their_numbers(has_core, monkeypatch):
    """While the table grows, and when it begins anew."""
    monkeypatch.setattr(pieces, "MOST", 20_000)
    numbering, names = numbered("unicode", False, has_core)
    words = [f"{number:x}{'é' * (number % 7 == 0)}" for number in range(30_000)]
    for _ in range(3):
        for start in range(0, len(words), 999):
            some = words[start : start + 999]
            numbers, lengths = numbering.find([" ".join(some), *some[:3]])
            assert numbers.tolist() == [names[word] for word in some + some[:3]]
            assert lengths.tolist() == [len(some), 1, 1, 1][: len(lengths)]


@needs_core
def test_an_index_has_the_same_bytes_with_and_without_the_core(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    words = [
        *PARTS,
        *BLANKS[:-1],
        *"lion tiger wheat leopard Panther L'Homme os.path C++ Häuser e\u0301t\u00e9".split(),
    ]
    items = [(f"d{n}", " ".join(rng.choice(words, 40))) for n in range(300)]
    rows = []
    for name in ("core", "python"):
        if name == "python":
            monkeypatch.setattr(binding, "library", lambda: None)
        with setsearch.open(tmp_path / name, create=True, contexts="on") as index:
            index.add(items)
            index.update(items[:9][::-1])
            share = index.unread_share
        with closing(sqlite3.connect(tmp_path / name)) as db:
            tables = ("forward", "feature", "name", "text")
            rows.append([share, *(db.execute(f"select * from setsearch_{table}").fetchall() for table in tables)])
    assert rows[0] == rows[1]
