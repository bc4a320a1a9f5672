"""Words of any script: no letter is lost, and all ways to split one text agree."""

import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

import setsearch
from setsearch import errors
from setsearch.text.analyzer import Analyzer
from setsearch.text.letters import fold
from setsearch.text.token_stream import BREAK, COMMA, tokenize
from setsearch.text.words import (
    ICU,
    KINDS,
    MARKS,
    MARKS_OF_LISTS,
    MARKS_OF_SENTENCES,
    OLD,
    UNICODE,
    Places,
    words_of_kind,
)

WORDS = words_of_kind(UNICODE)
PIECES = [*"don't x e B 7 3.14 .net c + # . , ' ’ _ é 日本 ไ न \u093f".split(), " "]
pieces = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
letters = st.characters(categories=["Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl"])

EXAMPLES = {
    "Don't l'homme dell'acqua cat's O'Brien m’a": "don't l homme dell acqua cat's o'brien m a",
    "C++ c# .NET asp.net 3.14 1,000 a:b a;b": "c++ c# .net asp.net asp net 3.14 1,000 a b a b",
    "os.path.join(x) end. Next e.g. ok": "os.path.join os path join x end next e.g e g ok",
    "I ❤️ 👨‍👩‍👧 🇩🇪👍🏽!": "i ❤️ 👨‍👩‍👧 🇩🇪 👍🏽",
    "नमस्ते दुनिया தமிழ் שָׁלוֹם می‌خواهم كِتَابٌ": "नमस्ते दुनिया தமிழ் שלום می‌خواهم كتاب",
    "我爱北京。テキスト 한국어 나": "我爱 爱北 北京 テキ キス スト 한국 국어 나",
    "ภาษาไทย ລາວ": "ภา าษ ษา าไ ไท ทย ລາ າວ",
    "co\xadoperate Ａｂ м'я צה\"ל": "cooperate ab м'я צה\"ל",
    "снег_1 \u200fabc\u200e": "снег_1 abc",
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples(text):
    assert WORDS.split(text) == EXAMPLES[text].split(" ")


@given(st.lists(letters, max_size=20).map("".join))
@example("ก\u0e33\u0e49 ခ\u1039ဂ")
def test_no_script_loses_a_letter(text):
    """Letters, their marks, and digits of all scripts."""
    held = "".join(WORDS.split(text)).replace(" ", "")
    assert {letter for letter in fold(text) if unicodedata.category(letter)[0] in "LMN"} <= {*held}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != OLD])
@given(
    text=st.lists(pieces | st.text(max_size=9) | st.sampled_from([" ", "\u00a0", "\u3000", "."]), max_size=6).map(
        "".join
    )
)
def test_pieces_between_blanks_are_split_as_the_whole(kind, text):
    words = words_of_kind(kind)
    assert words.split(text) == words._split(text)
    assert words.tokens(text) == words._tokens(text)


marked = st.text(st.sampled_from("aB1_ ,.;!?:'+#-"), max_size=20)


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(pieces | marked | st.text(max_size=20), max_size=5))
@example(texts=["a,b;c. D", "", ",,", "3,000.5", "x.y c++ .net", "..."])
def test_tokens_are_numbered(kind, texts):
    words = words_of_kind(kind)
    found = tokenize(enumerate(texts), words)
    numbers = dict.fromkeys(MARKS_OF_LISTS, COMMA) | dict.fromkeys(MARKS_OF_SENTENCES, BREAK)
    expected = [numbers.get(token, token) for text in texts for token in words.tokens(text)]
    assert [number if number in (COMMA, BREAK) else found.names[number] for number in found.tokens] == expected
    assert found.lengths.tolist() == [len(words.tokens(text)) for text in texts]


@given(pieces | st.text(st.characters(codec="ascii"), max_size=30))
def test_the_rules_for_ascii_are_those_for_any_text(text):
    assert WORDS.split(text) == list(WORDS.split("é " + text)[1:])
    assert WORDS.tokens(text) == WORDS.tokens("é " + text)[1:]
    places = [(start - 2, end - 2, word) for start, end, word in WORDS.spans("é " + text)]
    assert [*WORDS.spans(text)] == places[1:]


@given(pieces | st.text(max_size=30))
def test_tokens_and_places_are_those_of_words(text):
    text = unicodedata.normalize("NFC", text)
    words = WORDS.split(text)
    tokens = [token for token in WORDS.tokens(text) if token not in MARKS]
    dotted = {part for word in words if "." in word for part in word.split(".")}
    assert [word for word in words if word not in dotted] == [token for token in tokens if token not in dotted]
    for start, end, word in WORDS.spans(text):
        assert text[start:end] == word


def test_dictionaries_segment_scripts_without_spaces():
    assert words_of_kind(ICU).split("我爱北京天安门。日本語のテキスト ภาษาไทย 한국어 don't 𠮷野家") == [
        *("我", "爱", "北京", "天安门", "日本語", "の", "テキスト", "ภาษา", "ไทย", "한국어", "don't"),
        *words_of_kind(ICU).split("𠮷野家"),
    ]
    assert "".join(words_of_kind(ICU).split("𠮷野家")) == "𠮷野家"


def test_an_index_keeps_its_words(tmp_path):
    with setsearch.open(tmp_path / "old.db", create=True, analyzer=OLD, contexts="on") as index:
        index.add([("a", "don't"), ("b", "天安門")])
    with setsearch.open(tmp_path / "old.db") as index:
        index.update([("c", "can't")])
        assert index.items("documents").features_of("c") == {"can": 1, "t": 1}
        assert index.items("documents").features_of("b") == {"天安門": 1}
    with setsearch.open(tmp_path / "icu.db", create=True, analyzer=ICU) as index:
        index.add([("a", "北京天安门")])
    with setsearch.open(tmp_path / "icu.db") as index:
        assert set(index.items("documents").features_of("a")) == {"北京", "天安门"}
    with pytest.raises(
        errors.UsageError, match=r"was analyzed by 'icu-2\+titled', not by 'words\+titled'; .* new database"
    ):
        setsearch.open(tmp_path / "icu.db", analyzer=OLD).add([("b", "x")])
    with pytest.raises(errors.InvalidParameter, match="the analyzer is one of words, unicode, icu, or"):
        setsearch.open(tmp_path / "x.db", create=True, analyzer="klingon")


def test_what_gave_no_words_is_counted(tmp_path):
    with setsearch.open(tmp_path / "a.db", create=True) as index:
        index.add([("a", "ab cd"), ("b", "é f\n")])
        assert index.unread_share == 0
        index.update([("a", "ab ── ••"), ("b", "é f!")])
        assert index.unread_share == 5 / 9


def test_a_long_text_without_spaces_is_one_piece(monkeypatch):
    monkeypatch.setattr("setsearch.text.analyzer.CHUNK", 10)
    text = "don't stop os.path.join x" * 9 + "北京天安门" * 9
    counts = Analyzer()(text)
    assert sum(counts.values()) == len(WORDS.split(text))


def test_signs_outside_of_words_are_told_only_where_they_are_many(run, tmp_path):
    """Of prose and of programs less than a third is in no word."""
    for name, text, is_told in (
        ("prose", 'A "quoted" word - and (some) more, in 1998.\n', False),
        ("program", "for (int i = 0; i < count; i++) { total += values[i]; }  // sums\n", False),
        ("drawing", "+----+----+ | lion | ==== ~~~~ | +----+----+\n", True),
    ):
        (tmp_path / f"{name}.txt").write_text(text * 9)
        assert (
            "of the characters are in no word, which is unusual" in run("index", f"{name}.db", f"{name}.txt")[2]
        ) == is_told


def test_pairs_of_characters_are_told_of_a_new_index_where_they_are_many(run, tmp_path):
    for name, text, is_told in (
        ("japanese", "設定ファイルを変更します。Linux の設定。", True),
        ("thai", "เครือข่ายคอมพิวเตอร์", True),
        ("korean", "설정 파일을 변경합니다", False),
        ("russian", "Настройки сети, 設定 и файлы, много слов и ещё слова", False),
    ):
        (tmp_path / f"{name}.txt").write_text(text)
        assert ("of the terms are pairs of characters" in run("index", "a.db", f"{name}.txt")[2]) == (
            is_told and name == "japanese"
        ), "the kind of words of an index stays"
        assert ("--analyzer icu" in run("index", f"{name}.db", f"{name}.txt")[2]) == is_told
    pytest.importorskip("icu")
    assert "pairs" not in run("index", "b.db", "japanese.txt", "--analyzer", "icu")[2]


@pytest.mark.parametrize("kind", [UNICODE, OLD])
def test_places_of_a_piece_are_the_spans_of_its_words(kind, monkeypatch):
    """Each with its terms once; so many pieces are remembered, and no long one."""
    monkeypatch.setattr("setsearch.text.words._MOST", 5)
    words = words_of_kind(kind)
    places = Places(words, lambda word: [word, word[:1], word])

    @given(st.text(alphabet="aB1é日.,:;!?()[]'’_-#+", min_size=1, max_size=8))
    def law(piece):
        expected = [(start, end, tuple({word: 0, word[:1]: 0})) for start, end, word in words.spans(piece)]
        assert [*places[piece]] == expected
        assert [*places[piece]] == expected
        assert len(places) <= 5

    law()
    assert places["a" * 101] and "a" * 101 not in places
