"""Pieces of a text between blanks. No rule for words looks beyond a blank, so each can be split by itself, and once.

ASCII is split fast. What is not takes long, and most of it comes again: a few accented words among many plain ones.
"""

import re
from collections.abc import Callable

from setsearch.text.ascii_words import masked

LONGEST, MOST = 100, 100_000  # characters of a piece, and pieces, that are remembered
_beyond_ascii = re.compile(r"\S*[^\x00-\x7f]\S*")


class Pieces:
    """Splits texts with `split`, which takes any text; `read` counts the characters that are in words."""

    def __init__(self, split: Callable[[str], list[str]], read: Callable[[str], int]) -> None:
        self._split, self._read = split, read
        self._words: dict[str, list[str]] = {}
        self._masked: dict[str, tuple[bytes, int]] = {}

    def split(self, text: str) -> list[str]:
        """The words of a text."""
        if text.isascii():
            return self._split(text)
        words, end = [], 0
        for match in _beyond_ascii.finditer(text):
            words += self._split(text[end : match.start()])
            words += self._words_of(match[0])
            end = match.end()
        return words + self._split(text[end:])

    def masked(self, text: str) -> tuple[bytes, int]:
        """A text with the words of its pieces in their place, and how many more bytes than characters these have."""
        if text.isascii():
            return text.encode(), 0
        found, end, total = [], 0, 0
        for match in _beyond_ascii.finditer(text):
            data, more = self._masked_words_of(match[0])
            found += [text[end : match.start()].encode(), data]
            end, total = match.end(), total + more
        return b"".join([*found, text[end:].encode()]), total

    def _words_of(self, piece: str) -> list[str]:
        words = self._words.get(piece)
        if words is None:
            words = self._split(piece)
            if len(piece) <= LONGEST:
                if len(self._words) >= MOST:
                    self._words.clear()
                    self._masked.clear()
                self._words[piece] = words
        return words

    def _masked_words_of(self, piece: str) -> tuple[bytes, int]:
        found = self._masked.get(piece)
        if found is None:
            data = masked(self._words_of(piece))
            found = data, len(data) - data.count(b" ") - self._read(piece)
            if piece in self._words:
                self._masked[piece] = found
        return found
