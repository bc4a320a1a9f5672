"""The terms of many texts as numbers: short words are looked up by arithmetic on arrays, others one by one."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Ints
from setsearch.text.analyzer import Analyzer, Vocabulary, spaced

Numbers = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]
LONGEST = 16  # bytes of a word that is looked up in the table
LEFT_OUT, UNKNOWN = -1, -2  # in the place of a number: a stop word; a word that the table does not have
SPACE = ord(" ")
_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # the first n bytes of eight


class Numbering:
    """Gives the terms that an analyzer makes of words their numbers in a vocabulary."""

    def __init__(self, analyzer: Analyzer, vocabulary: Vocabulary) -> None:
        self._term = analyzer.term
        self._vocabulary = vocabulary
        self._table = _Table()

    def of_texts(self, texts: Sequence[str]) -> tuple[Numbers, Ints]:
        """The numbers of the terms of all texts, one text behind the other, and how many each text has."""
        data, sizes = spaced(texts)
        letters = np.frombuffer(data, np.uint8) != SPACE
        edges = np.flatnonzero(letters[1:] != letters[:-1]) + 1
        starts, ends = edges[::2], edges[1::2]
        words = _words_at(data, starts, ends - starts)
        numbers = self._table.find(words)
        missing = np.flatnonzero(numbers == UNKNOWN)
        if len(missing):
            places = zip(starts[missing].tolist(), ends[missing].tolist(), strict=True)
            numbers[missing] = [self._number(data[start:end].decode()) for start, end in places]
            self._table.put(words[missing], numbers[missing])
        there = numbers != LEFT_OUT
        if not there.all():
            starts, numbers = starts[there], numbers[there]
        # A text begins behind a space, and ends before one.
        begins = np.cumsum(np.fromiter((0, *sizes), np.int64)) + np.arange(len(texts) + 1)
        return numbers, np.diff(np.searchsorted(starts, begins))

    def _number(self, word: str) -> int:
        term = self._term(word)
        return self._vocabulary[term] if term else LEFT_OUT


def _words_at(data: bytes, starts: Ints, lengths: Ints) -> Keys:
    """The words at some bytes of a text, `(n_words, 2)`: their bytes as two numbers, both 0 for longer ones."""
    eights = np.ndarray((len(data) + 1,), "<u8", data + bytes(LONGEST), strides=(1,))
    words = np.zeros((len(starts), 2), np.uint64)
    words[:, 0] = eights[starts] & _BYTES[np.minimum(lengths, 8)]
    longer = np.flatnonzero(lengths > 8)
    words[longer, 1] = eights[starts[longer] + 8] & _BYTES[np.minimum(lengths[longer] - 8, 8)]
    words[longer[lengths[longer] > LONGEST]] = 0
    return words


class _Table:
    """A hash table of words and numbers. A word has two places that it may have; if both are taken, it is left out.

    At most a quarter of the places is taken. A word of 0 is none.
    """

    def __init__(self) -> None:
        self._clear(12)

    def _clear(self, bits: int) -> None:
        self._bits = bits
        self._words = np.zeros((1 << bits, 2), np.uint64)
        self._numbers = np.full(1 << bits, UNKNOWN, np.int32)
        self._taken = 0

    def find(self, words: Keys) -> Numbers:
        """The numbers of words, UNKNOWN for those that are not there."""
        place = self._places(words)
        numbers = self._look(place, words)
        elsewhere = np.flatnonzero(numbers == UNKNOWN)
        numbers[elsewhere] = self._look(place[elsewhere] ^ 1, words.take(elsewhere, axis=0))
        return numbers

    def put(self, words: Keys, numbers: Numbers) -> None:
        """Take in words with their numbers, as far as their places are free."""
        for other in (0, 1):
            place = self._places(words) ^ other
            free = (self._numbers[place] == UNKNOWN) & (words[:, 0] != 0)
            # Of several words for one place, the last one stays in both arrays.
            self._words[place[free]], self._numbers[place[free]] = words[free], numbers[free]
            self._taken += int(free.sum())  # at most: a word may be among them twice
            left = self._look(place, words) == UNKNOWN
            words, numbers = words[left], numbers[left]
        if 4 * self._taken > len(self._numbers):
            self._grow()

    def _look(self, place: Ints, words: Keys) -> Numbers:
        found = self._words.take(place, axis=0)
        same = (found[:, 0] == words[:, 0]) & (found[:, 1] == words[:, 1])
        return np.where(same, self._numbers.take(place), np.int32(UNKNOWN))

    def _grow(self) -> None:
        there = self._numbers != UNKNOWN
        words, numbers = self._words[there], self._numbers[there]
        self._clear(self._bits + 2)
        self.put(words, numbers)

    def _places(self, words: Keys) -> Ints:
        # Modulo 2^64; all bytes matter for the upper bits.
        mixed = (words[:, 0] * _ODD[0] ^ words[:, 1] * _ODD[1]) * _ODD[0]
        places: Ints = (mixed >> np.uint64(64 - self._bits)).astype(np.int64)
        return places


_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
