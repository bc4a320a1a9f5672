"""Words of many ASCII texts at once, by the rules of `words.UnicodeWords`, in a few passes over all bytes."""

from collections.abc import Sequence

import numpy as np

_NONE, _CONSONANT, _VOWEL, _DIGIT = range(4)  # what a byte is; h counts as a vowel
_KIND = np.zeros(256, np.uint8)
_KIND[list(b"abcdefghijklmnopqrstuvwxyz")] = _CONSONANT
_KIND[list(b"aeiouyh")] = _VOWEL
_KIND[list(b"0123456789")] = _DIGIT
_INSIDE = "'.,+#"  # parts of words in some places
_CLEAN = bytes(ord(c.lower()) if c.isalnum() or c in "_" + _INSIDE else 32 for c in map(chr, range(128)))
_CLEAN += bytes(range(128, 256))


def clean_ascii(texts: Sequence[str]) -> tuple[bytes, list[int], set[int]]:
    """The texts in lower case with a space for each byte that is in no word, and where each text begins.

    A space also stands before the first, between any two, and after the last text. The third value holds the numbers of
    the texts that have to be split one by one: those that are not ASCII, and those with words such as os.path and c++.
    """
    plain = [text if text.isascii() else "" for text in texts]
    data = np.frombuffer(" ".join(["", *plain, ""]).encode().translate(_CLEAN), np.uint8).copy()
    begins = np.cumsum([1, *(len(text) + 1 for text in plain)])[:-1]
    places = np.flatnonzero((data < ord("0")) & (data != ord(" ")))  # of the bytes in _INSIDE
    mark, before, after = data[places], _KIND[data[places - 1]], _KIND[data[places + 1]]
    follows_letter = (before == _CONSONANT) | (before == _VOWEL)
    is_special = (mark == ord(".")) & ((after == _CONSONANT) | (after == _VOWEL))
    is_special |= ((mark == ord("+")) | (mark == ord("#"))) & follows_letter
    is_inside = (mark == ord("'")) & follows_letter & (after == _CONSONANT)
    is_inside |= ((mark == ord(".")) | (mark == ord(","))) & (before == _DIGIT) & (after == _DIGIT)
    data[places[~is_inside]] = ord(" ")
    one_by_one = set((np.searchsorted(begins, places[is_special], "right") - 1).tolist())
    one_by_one.update(number for number, text in enumerate(texts) if not text.isascii())
    return data.tobytes(), begins.tolist(), one_by_one
