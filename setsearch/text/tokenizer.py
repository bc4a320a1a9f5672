"""Terms of many texts as numbers. A vectorized hash table finds short words; a dictionary finds all others."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from setsearch.arrays import HASH, Ids, Ints
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import NumberedExtras, TermIds

Keys = npt.NDArray[np.uint64]

TOKENIZED_TOGETHER = 1 << 16  # characters and texts; few enough for the processor's cache
LONGEST_KEY = 16  # bytes of a word that fits into the table
DROPPED, UNKNOWN = -1, -2  # in place of a number: a stop word; a word that the table does not hold
SPACE = ord(" ")
ODD = np.uint64(0xC2B2AE3D27D4EB4F)  # without a pattern, as HASH
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)  # masks of the first n bytes of eight


class WordNumbers:
    """Numbers of words, given what numbers a word: each distinct short word is looked up once."""

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self._table = _HashTable()

    def find(self, data: bytes, sizes: Sequence[int]) -> tuple[Ids, Ints]:
        """The numbers of the words of several texts with a space around each, but for DROPPED ones.

        `sizes` are the bytes of each text; the second value is the number of words of each, `(n_texts,)`.
        """
        is_letter = np.frombuffer(data, np.uint8) != SPACE
        edges = np.flatnonzero(is_letter[1:] != is_letter[:-1]) + 1
        starts, ends = edges[::2], edges[1::2]
        keys = _keys(data, starts, ends - starts)
        numbers = self._table.find(keys)
        missing = np.flatnonzero(numbers == UNKNOWN)
        if len(missing):
            spans = zip(starts[missing].tolist(), ends[missing].tolist(), strict=True)
            numbers[missing] = [self._number_of(data[start:end].decode()) for start, end in spans]
            self._table.insert(keys[missing], numbers[missing])
        kept = numbers != DROPPED
        if not kept.all():
            starts, numbers = starts[kept], numbers[kept]
        # Each text begins after a space and ends before one.
        begins = np.cumsum(np.fromiter((0, *sizes), np.int64)) + np.arange(len(sizes) + 1)
        return numbers, np.diff(np.searchsorted(starts, begins))


class Tokenizer:
    """Numbers the terms that an analyzer makes of words."""

    def __init__(self, analyzer: Analyzer, term_ids: TermIds) -> None:
        self.unread, self.characters = 0, 0  # of all texts: characters in no word, and all; white space aside
        self._words, self._term = analyzer.words, analyzer.term
        self._term_ids = term_ids
        self._numbers = WordNumbers(self._number)
        self._extras = NumberedExtras(analyzer.extras, term_ids) if any(analyzer.extras) else None

    def tokenize(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """The feature numbers of all texts, concatenated, and the number of features of each text, `(n_texts,)`."""
        data, sizes, unread, characters = self._words.spaced(texts)
        self.unread, self.characters = self.unread + unread, self.characters + characters
        numbers, lengths = self._numbers.find(data, sizes)
        return (numbers, lengths) if self._extras is None else self._extras.add(numbers, lengths)

    def _number(self, word: str) -> int:
        term = self._term(word)
        return self._term_ids[term] if term else DROPPED


def _keys(data: bytes, starts: Ints, lengths: Ints) -> Keys:
    """The words at some offsets as two numbers each, `(n_words, 2)`; both are 0 for words over LONGEST_KEY bytes."""
    eights = np.ndarray((len(data) + 1,), "<u8", data + bytes(LONGEST_KEY), strides=(1,))
    keys = np.zeros((len(starts), 2), np.uint64)
    keys[:, 0] = eights[starts] & _FIRST_BYTES[np.minimum(lengths, 8)]
    longer = np.flatnonzero(lengths > 8)
    keys[longer, 1] = eights[starts[longer] + 8] & _FIRST_BYTES[np.minimum(lengths[longer] - 8, 8)]
    keys[longer[lengths[longer] > LONGEST_KEY]] = 0
    return keys


class _HashTable:
    """Maps keys to numbers. Each key has two possible slots; a key whose slots are both taken is not stored.

    At most a quarter of the slots is taken. The key 0 means none.
    """

    def __init__(self) -> None:
        self._clear(12)

    def _clear(self, bits: int) -> None:
        self._bits = bits
        self._keys = np.zeros((1 << bits, 2), np.uint64)
        self._numbers = np.full(1 << bits, UNKNOWN, np.int32)
        self._taken = 0

    def find(self, keys: Keys) -> Ids:
        """The numbers of keys; UNKNOWN for keys that are not stored."""
        slots = self._slots(keys)
        numbers = self._look_up(slots, keys)
        elsewhere = np.flatnonzero(numbers == UNKNOWN)
        numbers[elsewhere] = self._look_up(slots[elsewhere] ^ 1, keys.take(elsewhere, axis=0))
        return numbers

    def insert(self, keys: Keys, numbers: Ids) -> None:
        """Store keys and their numbers where a slot is free."""
        for other in (0, 1):
            slots = self._slots(keys) ^ other
            free = (self._numbers[slots] == UNKNOWN) & (keys[:, 0] != 0)
            # Of several keys for one slot, the last one stays in both arrays.
            self._keys[slots[free]], self._numbers[slots[free]] = keys[free], numbers[free]
            self._taken += int(free.sum())  # an upper bound: a key may occur twice
            left = self._look_up(slots, keys) == UNKNOWN
            keys, numbers = keys[left], numbers[left]
        if 4 * self._taken > len(self._numbers):
            self._grow()

    def _look_up(self, slots: Ints, keys: Keys) -> Ids:
        stored = self._keys.take(slots, axis=0)
        same = (stored[:, 0] == keys[:, 0]) & (stored[:, 1] == keys[:, 1])
        return np.where(same, self._numbers.take(slots), np.int32(UNKNOWN))

    def _grow(self) -> None:
        taken = self._numbers != UNKNOWN
        keys, numbers = self._keys[taken], self._numbers[taken]
        self._clear(self._bits + 2)
        self.insert(keys, numbers)

    def _slots(self, keys: Keys) -> Ints:
        # Modulo 2^64; all bytes influence the upper bits.
        mixed = (keys[:, 0] * HASH ^ keys[:, 1] * ODD) * HASH
        slots: Ints = (mixed >> np.uint64(64 - self._bits)).astype(np.int64)
        return slots
