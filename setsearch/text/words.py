"""Words of a text: by Unicode's rules, as versions before 0.6 split them, or with ICU's dictionaries.

The rules are those of UAX #29, with these tailorings, which it allows or leaves open:

    l'homme         breaks between an apostrophe and a vowel or h; don't is one word
    a:b, a;b        break
    os.path.join    one word, and its parts are words too
    c++, c#, .net   words
    emoji           words, each sequence as one
    Han, Kana, Hangul, Thai, Lao, Khmer, Myanmar: each run becomes its pairs of characters, which overlap

Letters keep their combining marks. Words are in lower case, their letters as letters.py has them: "unicode" and "icu"
normalize them, as versions before 0.22 did, "unicode-2" and "icu-2" fold them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from setsearch.errors import UsageError
from setsearch.text.letters import fold, normalize
from setsearch.text.pieces import MARKS as ASCII_MARKS
from setsearch.text.pieces import VOWELS

# Specifications of analyzers begin with them. A name without a number means the newest of its kind for new collections.
OLD, UNICODE_1, ICU_1, UNICODE, ICU = KINDS = ("words", "unicode", "icu", "unicode-2", "icu-2")
NEWEST = {UNICODE_1: UNICODE, ICU_1: ICU}

MARKS_OF_LISTS, MARKS_OF_SENTENCES = ",،、，", ".;!?:؛。．！？；：｡؟۔।॥…"
MARKS = frozenset(MARKS_OF_LISTS + MARKS_OF_SENTENCES)
_LONGEST, _MOST = 100, 100_000  # characters of a piece, and pieces, whose words are remembered
_APOSTROPHES = "'’ʼ"
_IGNORED = "\xad\u200e\u200f\u2060\ufeff\u061c"  # soft hyphens and marks of direction
# ASCII in lower case.
_PARTS = {
    "apostrophe": "(?<=[a-z])'(?=[bcdfgjklmnpqrstvwxz])",
    "dot": r"(?<=[a-z])\.(?=[a-z])",
    "number": "(?<=[0-9])[.,](?=[0-9])",
    "suffix": r"(?:(?<=[a-z])\+\+(?![\w+])|(?<!\w[a-z])(?<=[a-z])\#(?![\w\#+]))?",
    "dotted start": r"(?<![\w'.,+\#])\.[a-z]\w*",
}
_ASCII_WORD = rf"\w+(?:(?:{_PARTS['apostrophe']}|{_PARTS['dot']}|{_PARTS['number']})\w+)*{_PARTS['suffix']}"
_ASCII_WORD += "|" + _PARTS["dotted start"]
_is_dotted = re.compile(r"[^\W\d]\.[^\W\d]").search

Span = tuple[int, int, str]  # where a part of a text begins and ends, and the word that it gives


@cache
def _ascii(with_marks: bool = False) -> re.Pattern[str]:
    """Words in ASCII; compiled where needed, which takes longer than most questions."""
    return re.compile(f"{_ASCII_WORD}|[{ASCII_MARKS}]" if with_marks else _ASCII_WORD, re.ASCII)


def words_of_kind(kind: str) -> "Words":
    """The way of splitting that a specification names; raises KeyError."""
    kinds = {OLD: OldWords, UNICODE_1: Words, UNICODE: Words, ICU_1: IcuWords, ICU: IcuWords}
    return kinds[kind](kind)


def without_marks(tokens: list[str]) -> list[str]:
    """The words among tokens."""
    return [token for token in tokens if token not in MARKS]


class Words:
    """Words by UAX #29, and pairs of characters of scripts without spaces."""

    def __init__(self, kind: str = UNICODE) -> None:
        self.kind = kind
        self._letters = normalize if kind in NEWEST else fold
        self._words_of_piece, self._tokens_of_piece = map(lru_cache(_MOST), (self._split, self._tokens))

    def split(self, text: str) -> list[str]:
        """The words of a text, in order; parts of a dotted word follow it."""
        return self._split(text) if text.isascii() else _by_piece(text, self._split, self._words_of_piece)

    def tokens(self, text: str) -> list[str]:
        """The words of a text without parts of others, and commas and ends of sentences."""
        return self._tokens(text) if text.isascii() else _by_piece(text, self._tokens, self._tokens_of_piece)

    def _split(self, text: str) -> list[str]:
        """The words of a text by all rules, however long it takes."""
        if not text.isascii():
            text = self._normalize(text)
        found = _ascii().findall(text.lower()) if text.isascii() else [word for _, _, word in self.spans(text)]
        if "." not in text:
            return found
        parts = ((word, *word.strip(".").split(".")) if _is_dotted(word) else (word,) for word in found)
        return [*chain.from_iterable(parts)]

    def _tokens(self, text: str) -> list[str]:
        text = self._normalize(text)
        if text.isascii():
            return _ascii(True).findall(text)
        return [word for _, _, word in self._spans(text, self._patterns.tokens)]

    def spans(self, text: str) -> Iterator[Span]:
        """Where the words of a text are."""
        if text.isascii():
            for match in _ascii().finditer(text.lower()):
                start, end = match.span()
                yield start, end, text[start:end]
            return
        yield from self._spans(text, self._patterns.words)

    def _spans(self, text: str, pattern: Any) -> Iterator[Span]:
        for match in pattern.finditer(text):
            start = match.start()
            if match.lastgroup is None:
                yield start, match.end(), match.group()
                continue
            units = self._units(match.group(), match.lastgroup)
            places = [*accumulate(map(len, units), initial=0)]
            width = self._width if len(units) >= self._width else 1
            for number in range(len(units) - width + 1):
                end = number + width
                yield start + places[number], start + places[end], "".join(units[number:end])

    def phrase(self, name: str) -> str:
        """A phrase, whose words stand apart, as people write it: pairs of characters that overlap are one text."""
        return name if name.isascii() or self._width == 1 else self._patterns.overlap.sub(r"\1", name)

    def is_pair(self, word: str) -> bool:
        """Whether a word is a pair of characters of a script that has no blanks between words."""
        return self._width > 1 and not word.isascii() and self._patterns.pair.fullmatch(word) is not None

    def read(self, text: str) -> int:
        """How many characters of a text are in words."""
        if text.isascii():
            return sum(map(len, _ascii().findall(text.lower())))
        return sum(len(match.group()) for match in self._patterns.words.finditer(text))

    def _normalize(self, text: str) -> str:
        text = self._letters(text)
        if not text.isascii():
            for other in _APOSTROPHES[1:]:
                text = text.replace(other, "'")
            for ignored in _IGNORED:
                text = text.replace(ignored, "")
        return text

    _width = 2  # units of a run that make a word

    def _units(self, run: str, script: str) -> list[str]:
        """The characters of a run as readers see them."""
        units: list[str] = self._patterns.characters.findall(run)
        return units

    @cached_property
    def _patterns(self) -> "_Patterns":
        import regex  # it takes a while, and ASCII does without

        scripts = {
            "cjk": r"\p{Han}\p{Hiragana}\p{Katakana}ー",
            "hangul": r"\p{Hangul}",
            "thai": r"\p{Thai}",
            "lao": r"\p{Lao}",
            "khmer": r"\p{Khmer}",
            "myanmar": r"\p{Myanmar}",
        }
        emoji = r"\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]*"
        unspaced = "".join(chars for name, chars in scripts.items() if name != "hangul")
        runs = [rf"(?P<{name}>[{chars}](?:[{chars}]|\p{{M}}|[\u200c\u200d])*)" for name, chars in scripts.items()]
        letter = rf"[[\p{{L}}\p{{M}}]--[{''.join(scripts.values())}]]"
        own = rf"[[\p{{Alphabetic}}\p{{L}}\p{{M}}\p{{N}}\p{{Pc}}\u200c\u200d\xad]--[{''.join(scripts.values())}]]"
        vowel = f"[{VOWELS}]"
        inside = "|".join(
            (
                rf"(?<={letter})[{_APOSTROPHES}](?={letter})(?!{vowel})",
                rf"(?<={letter})[.·‧](?={letter})",
                r"(?<=\p{N})[.,٫٬](?=\p{N})",
                r"""(?<=\p{Hebrew})["״](?=\p{Hebrew})""",
            )
        )
        suffix = rf"(?:(?<={letter})\+\+(?!{own}|\+)|(?<!{own}{letter})(?<={letter})\#(?!{own}|[\#+]))?"
        word = "|".join(
            (
                rf"{emoji}(?:\u200d{emoji})*|\p{{Regional_Indicator}}{{2}}",
                *runs,
                rf"{own}+(?:(?:{inside}){own}+)*{suffix}",
                rf"(?<!{own}|[{_APOSTROPHES}.,+\#])\.{letter}{own}*",
            )
        )
        flags = regex.VERSION1
        return _Patterns(
            regex.compile(word, flags),
            regex.compile(rf"{word}|[{MARKS_OF_LISTS}{MARKS_OF_SENTENCES}]", flags),
            regex.compile(r"\X", flags),
            regex.compile(rf"([{''.join(scripts.values())}][\p{{M}}\u200c\u200d]*) \1(?!\p{{M}})", flags),
            regex.compile(rf"(?:[{unspaced}][\p{{M}}\u200c\u200d]*){{2}}", flags),
        )


class _Patterns(NamedTuple):
    """Of texts that are not ASCII: words; words and marks; what readers see as one character.

    `overlap`: the character that two pairs of a script without blanks share; `pair`: such a pair.
    """

    words: Any
    tokens: Any
    characters: Any
    overlap: Any
    pair: Any


class OldWords(Words):
    """Runs of letters, digits and underscores. Combining marks that NFC leaves separate words."""

    _width = 1
    _word, _word_or_mark = re.compile(r"\w+"), re.compile(rf"\w+|[{ASCII_MARKS}]")

    def split(self, text: str) -> list[str]:
        """The words of a text, in order."""
        return self._word.findall(normalize(text))

    def tokens(self, text: str) -> list[str]:
        """The words of a text, and commas and ends of sentences."""
        return self._word_or_mark.findall(normalize(text))

    def spans(self, text: str) -> Iterator[Span]:
        """Where the words of a text are."""
        return ((match.start(), match.end(), match.group()) for match in self._word.finditer(text))

    def read(self, text: str) -> int:
        """How many characters of a text are in words."""
        return sum(map(len, self.split(text)))


class IcuWords(Words):
    """As Words, but scripts without spaces are segmented with ICU's dictionaries."""

    _width = 1

    def __init__(self, kind: str = ICU) -> None:
        super().__init__(kind)
        try:
            import icu
        except ImportError:
            raise UsageError("the analyzer 'icu' needs PyICU: pip install 'setsearch[icu]'") from None
        self._icu = icu

    def _units(self, run: str, script: str) -> list[str]:
        """The words of a run."""
        if script == "hangul":  # it is written with spaces
            return [run]
        text = self._icu.UnicodeString(run)  # offsets count units of UTF-16
        breaks = self._icu.BreakIterator.createWordInstance(self._icu.Locale.getRoot())
        breaks.setText(text)
        return [str(text[start:end]) for start, end in pairwise([0, *breaks])]


def _by_piece(text: str, split: Callable[[str], list[str]], remembered: Callable[[str], list[str]]) -> list[str]:
    """What `split` gives for a text: no rule looks beyond a blank, and pieces that take long come again."""
    pieces = text.split()
    return list(chain.from_iterable((remembered if len(piece) <= _LONGEST else split)(piece) for piece in pieces))


# A word of a piece: where it begins and ends, and its terms. Garbage collection passes over plain tuples of texts and
# numbers, of which many are remembered.
Place = tuple[int, int, tuple[str, ...]]


class Places(dict[str, tuple[Place, ...]]):
    """Where the words of pieces of texts are, by piece; `terms` gives those of a word."""

    def __init__(self, words: Words, terms: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._words, self._terms = words, terms

    def __missing__(self, piece: str) -> tuple[Place, ...]:
        bare = piece.lstrip("([").rstrip("]).,;:!?")
        if bare.isascii() and bare.isalnum():  # one word by all rules
            start = piece.index(bare)
            spans = iter([(start, start + len(bare), bare)])
        else:
            spans = self._words.spans(piece)
        found = tuple([(start, end, tuple(dict.fromkeys(self._terms(word)))) for start, end, word in spans])
        if len(piece) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[piece] = found
        return found
