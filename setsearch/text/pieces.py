"""Numbers of the words of many texts: each distinct piece of a text is split once.

A piece is what stands between blanks, since no rule for words looks beyond a blank, or a word of ASCII that ends at
other characters. The core cuts texts into pieces and counts them; without it, blanks do.
"""

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from setsearch.arrays import Ids, Ints, offsets, positions
from setsearch.core import binding

MOST, MOST_BYTES = 1 << 20, 1 << 24  # distinct pieces, and their characters or bytes, that are remembered
INSIDE, MARKS = "'.,+#", ",.;!?:"  # of ASCII: parts of words in some places; marks of lists and sentences


class PieceNumbers:
    """Finds the numbers of the words of texts.

    `split` gives the numbers of the words of a piece, and how many characters are in words. `rules`: whether words are
    those of UAX #29 (words.py). `marks`: whether commas and ends of sentences are words. `read` and `characters` count
    the characters of all texts that are in words, and all that are no white space.
    """

    def __init__(self, split: Callable[[str], tuple[Sequence[int], int]], rules: bool, marks: bool = False) -> None:
        self.read, self.characters = 0, 0
        self._split = split
        table = binding.Pieces if rules and binding.library() is not None else _Dictionary
        self._new_table: Callable[[], Any] = lambda: table(rules, marks)
        self._begin()

    def _begin(self) -> None:
        self._table = self._new_table()
        self._numbers, self._starts, self._read = array("i"), array("q", [0]), array("q")

    def find(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """The numbers of the words of all texts, concatenated, and how many each text has, `(n_texts,)`."""
        if len(self._read) > MOST or self._table.size > MOST_BYTES:
            self._begin()
        pieces, lengths, characters = self._table.find(texts)
        for piece in self._table.new:
            numbers, read = self._split(piece)
            self._numbers.extend(numbers)
            self._starts.append(len(self._numbers))
            self._read.append(read)
        self.characters += characters
        if not len(pieces):
            return np.zeros(0, np.int32), np.zeros(len(texts), np.int64)
        starts = np.frombuffer(self._starts, np.int64)
        first = starts[pieces]
        counts = starts[1:][pieces] - first
        self.read += int(np.frombuffer(self._read, np.int64)[pieces].sum())
        found: Ids = np.array(self._numbers, np.int32)[positions(first, counts)]
        return found, np.diff(offsets(counts)[offsets(lengths)])


class _Dictionary(dict[str, int]):
    """What `binding.Pieces` is, in Python: numbers of pieces between blanks."""

    def __init__(self, rules: bool, marks: bool) -> None:
        super().__init__()
        self.size, self.new = 0, list[str]()
        kept = "_" + INSIDE + MARKS * marks
        table = {code: chr(code).lower() if chr(code).isalnum() or chr(code) in kept else " " for code in range(128)}
        self._table = table if rules else {}

    def find(self, texts: Sequence[str]) -> tuple[Ints, Ints, int]:
        """The numbers of the pieces of all texts, how many each text has, and the characters that are no white space.

        `new` are the pieces that had no number.
        """
        self.new = []
        cut = [(text.translate(self._table) if text.isascii() else text).split() for text in texts]
        numbers = [self[piece] for pieces in cut for piece in pieces]
        characters = sum(len(text) - sum(map(text.count, " \n\t\r")) for text in texts)
        return np.array(numbers, np.int64), np.array(list(map(len, cut)), np.int64), characters

    def __missing__(self, piece: str) -> int:
        self[piece] = number = len(self)
        self.new.append(piece)
        self.size += len(piece)
        return number
