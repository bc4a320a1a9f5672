"""Words of many ASCII texts at once, by the rules of `words.UnicodeWords`, in a few passes over all bytes.

Words of other letters stand among them in UTF-8, as they are to be: their marks are masked by bytes that UTF-8 lacks.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_NONE, _CONSONANT, _VOWEL, _DIGIT = range(4)  # what a byte is; h counts as a vowel
_KIND = np.zeros(256, np.uint8)
_KIND[list(b"abcdefghijklmnopqrstuvwxyz")] = _CONSONANT
_KIND[list(b"aeiouyh")] = _VOWEL
_KIND[list(b"0123456789")] = _DIGIT
_INSIDE = "'.,+#"  # parts of words in some places
_MARKS = ",.;!?:"
_ENDS = np.zeros(256, bool)  # marks that are inside of no word
_ENDS[list(b";!?:")] = True


def _table(kept: str) -> bytes:
    """Letters in lower case, and a space for what is neither alphanumeric nor kept."""
    lower = bytes(ord(c.lower()) if c.isalnum() or c in kept else ord(" ") for c in map(chr, range(128)))
    return lower + bytes(range(128, 256))


_CLEAN, _MARKED = _table("_" + _INSIDE), _table("_" + _INSIDE + _MARKS)
_ALL_MARKS = bytes(dict.fromkeys((_INSIDE + _MARKS).encode()))
_MASK = bytes.maketrans(_ALL_MARKS, bytes(range(0xF8 - 2, 0x100))[-len(_ALL_MARKS) :])
_UNMASK = bytes.maketrans(bytes(range(0xF8 - 2, 0x100))[-len(_ALL_MARKS) :], _ALL_MARKS)


class CleanTexts(NamedTuple):
    """Texts in lower case with a space for each byte that is in no word; where each begins, and how long it is.

    A space also stands before the first, between any two, and after the last text. `one_by_one` holds the numbers of
    the texts that have to be split one by one: those with words such as os.path and c++.
    """

    data: bytes
    begins: list[int]
    sizes: list[int]
    one_by_one: set[int]


def masked(words: Sequence[str]) -> bytes:
    """Words that are to stay as they are, with a space between them."""
    return " ".join(words).encode("utf-8", "replace").translate(_MASK)


def clean_ascii(texts: Sequence[bytes], marks: bool = False) -> CleanTexts:
    """Clean texts; with `marks`, commas and ends of sentences stay, each between two spaces."""
    table = _MARKED if marks else _CLEAN
    data = np.frombuffer(b" ".join([b"", *texts, b""]).translate(table), np.uint8).copy()
    sizes = np.array([len(text) for text in texts], np.int64)
    begins = np.cumsum(np.append(1, sizes + 1))[:-1]
    places = np.flatnonzero((data < ord("0")) & (data != ord(" ")) & ~_ENDS[data])  # of the bytes in _INSIDE
    mark, before, after = data[places], _KIND[data[places - 1]], _KIND[data[places + 1]]
    follows_letter = (before == _CONSONANT) | (before == _VOWEL)
    is_special = (mark == ord(".")) & ((after == _CONSONANT) | (after == _VOWEL))
    is_special |= ((mark == ord("+")) | (mark == ord("#"))) & follows_letter
    is_inside = (mark == ord("'")) & follows_letter & (after == _CONSONANT)
    is_inside |= ((mark == ord(".")) | (mark == ord(","))) & (before == _DIGIT) & (after == _DIGIT)
    is_kept = is_inside | (marks & ((mark == ord(".")) | (mark == ord(","))))
    data[places[~is_kept]] = ord(" ")
    one_by_one = set((np.searchsorted(begins, places[is_special], "right") - 1).tolist())
    if marks:
        apart = np.sort(np.concatenate([places[is_kept & ~is_inside], np.flatnonzero(_ENDS[data])]))
        inserted = 2 * np.diff(np.searchsorted(apart, np.append(begins, len(data))))
        data = np.insert(data, np.repeat(apart, 2) + np.tile([0, 1], len(apart)), ord(" "))
        sizes += inserted
        begins = np.cumsum(np.append(1, sizes + 1))[:-1]
    return CleanTexts(data.tobytes().translate(_UNMASK), begins.tolist(), sizes.tolist(), one_by_one)
