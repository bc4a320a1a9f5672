"""Where words are in a text, and their terms.

No rule for words looks beyond a blank, so each piece between two of them is looked at once.
"""

from collections.abc import Callable, Iterable

from setsearch.text.words import Words

LONGEST, MOST = 100, 100_000  # characters of a piece, and pieces, that are remembered


# A word of a piece: where it begins and ends, and its terms. Garbage collection passes over plain tuples of texts and
# numbers, of which many are remembered.
Place = tuple[int, int, tuple[str, ...]]


class Places(dict[str, tuple[Place, ...]]):
    """The words of pieces, by piece; `terms` gives those of a word."""

    def __init__(self, words: Words, terms: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._words, self._terms = words, terms

    def __missing__(self, piece: str) -> tuple[Place, ...]:
        spans = self._words.spans(piece)
        found = tuple([(start, end, tuple(dict.fromkeys(self._terms(word)))) for start, end, word in spans])
        if len(piece) <= LONGEST:
            if len(self) >= MOST:
                self.clear()
            self[piece] = found
        return found
