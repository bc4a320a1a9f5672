"""Numbers of the words of many texts: each distinct piece of a text is split once.

A piece is what stands between blanks, since no rule for words looks beyond a blank, or a word of simple letters that
ends at other simple characters. The core cuts texts into pieces; without it, blanks do.
"""

import unicodedata
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from setsearch.arrays import Ids, Ints
from setsearch.core import binding, indexing
from setsearch.text.letters import fold

MOST, MOST_BYTES = 1 << 20, 1 << 24  # distinct pieces, and their characters or bytes, that are remembered
MARKS = ",.;!?:"  # of lists and sentences, in ASCII
VOWELS = "aeiouyhàáâãäåæèéêëìíîïòóôõöøœùúûüýAEIOUYHÀÁÂÃÄÅÆÈÉÊËÌÍÎÏÒÓÔÕÖØŒÙÚÛÜÝ"  # h is none, but l'homme is two words
_INSIDE = "'.,+#"  # parts of words in some places
_BETWEEN = "«»¡¿‘‚“”„‹›–—"  # always between words, whatever stands beside
_KNOWN = [*map(chr, range(0x800)), *map(chr, range(0x2000, 0x2080))]  # characters that core.c has in its table
_BLANK, _WORD, _LETTER, _CONSONANT, _DIGIT, _BEYOND, _MARK, _APOSTROPHE = (1 << bit for bit in range(8))  # as there


@cache
def simple_characters() -> frozenset[str]:
    """Letters, digits and the underscore, of which a word is the same however it is cut out: one for one in lower case.

    Not those that other forms are made into, that have a mark of their own among letters (Hebrew), and the sigma, whose
    lower case depends on what follows.
    """
    letters = {
        own
        for own in _KNOWN
        if unicodedata.category(own) in ("Lu", "Ll", "Lt", "Lo") and fold(own) == own.lower() and len(own.lower()) == 1
    }
    hebrew = set(map(chr, range(0x590, 0x600)))
    return frozenset(letters - hebrew - {"Σ"} | {*"0123456789_"})


@cache
def _kinds() -> bytes:
    """What each of `_KNOWN` is to core.c."""
    return bytes(map(_kind, _KNOWN))


def _kind(own: str) -> int:
    if own in simple_characters():
        letter = _LETTER | _CONSONANT * (own not in VOWELS)
        return _WORD | (_DIGIT if own.isdecimal() else letter if own != "_" else 0)
    if own in " \n\t\r" or (own.isspace() and not own.isascii()):
        return _BLANK
    if own in "'’":
        return _APOSTROPHE
    return _MARK if own in MARKS else 0 if own.isascii() or own in _BETWEEN else _BEYOND


class PieceNumbers:
    """Finds the numbers of the words of texts.

    `split` gives the numbers of the words of a piece, and how many characters are in words. `rules`: whether words are
    those of UAX #29 (words.py). `marks`: whether commas and ends of sentences are words. `read` and `characters` count
    the characters of all texts that are in words, and all that are no white space.
    """

    def __init__(self, split: Callable[[str], tuple[Sequence[int], int]], rules: bool, marks: bool = False) -> None:
        self.read, self.characters = 0, 0
        self._split = split
        has_core = rules and binding.library() is not None
        self._new_table: Callable[[], Any] = (
            (lambda: indexing.Pieces(_kinds(), marks)) if has_core else (lambda: _Dictionary(rules, marks))
        )
        self._begin()

    def _begin(self) -> None:
        self._table = self._new_table()
        self._numbers, self._starts, self._read = array("i"), array("q", [0]), array("q")

    def find(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """The numbers of the words of all texts, concatenated, and how many each text has, `(n_texts,)`."""
        if len(self._read) > MOST or self._table.size > MOST_BYTES:
            self._begin()
        pieces, lengths, characters = self._table.find(texts)
        numbers, starts, reads, split = self._numbers, self._starts, self._read, self._split
        for piece in self._table.new:
            own, read = split(piece)
            numbers.extend(own)
            starts.append(len(numbers))
            reads.append(read)
        self.characters += characters
        known = indexing.PieceWords(*map(np.asarray, (numbers, starts, reads)))
        found, counts, read = indexing.words_of(pieces, lengths, known)
        self.read += read
        return found, counts


class _Dictionary(dict[str, int]):
    """What `indexing.Pieces` is, in Python: numbers of pieces between blanks."""

    def __init__(self, rules: bool, marks: bool) -> None:
        super().__init__()
        self.size, self.new = 0, list[str]()
        kept = "_" + _INSIDE + MARKS * marks
        table = {code: chr(code).lower() if chr(code).isalnum() or chr(code) in kept else " " for code in range(128)}
        self._table = table if rules else {}

    def find(self, texts: Sequence[str]) -> tuple[Ids, Ints, int]:
        """The numbers of the pieces of all texts, how many each text has, and the characters that are no white space.

        `new` are the pieces that had no number.
        """
        self.new = []
        cut = [(text.translate(self._table) if text.isascii() else text).split() for text in texts]
        numbers = [self[piece] for pieces in cut for piece in pieces]
        characters = sum(len(text) - sum(map(text.count, " \n\t\r")) for text in texts)
        return np.array(numbers, np.int32), np.array(list(map(len, cut)), np.int64), characters

    def __missing__(self, piece: str) -> int:
        self[piece] = number = len(self)
        self.new.append(piece)
        self.size += len(piece)
        return number
