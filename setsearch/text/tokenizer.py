"""Terms of many texts as numbers."""

from collections.abc import Sequence

from setsearch.arrays import Ids, Ints
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import NumberedExtras, TermIds
from setsearch.text.pieces import PieceNumbers, simple_characters
from setsearch.text.words import OLD

TOKENIZED_TOGETHER = 1 << 16  # characters and texts; few enough for the processor's cache


class Tokenizer:
    """Numbers the terms that an analyzer makes of words."""

    def __init__(self, analyzer: Analyzer, term_ids: TermIds) -> None:
        self._words, self._term = analyzer.words, analyzer.term
        self._term_ids = term_ids
        self._pieces = PieceNumbers(self._split, analyzer.words.kind != OLD)
        self._extras = NumberedExtras(analyzer.extras, term_ids) if analyzer.extras.beside_terms else None

    @property
    def unread_share(self) -> float:
        """The share of the characters of all texts that are in no word; white space aside."""
        pieces = self._pieces
        return max(pieces.characters - pieces.read, 0) / max(pieces.characters, 1)

    def tokenize(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """The feature numbers of all texts, concatenated, and the number of features of each text, `(n_texts,)`."""
        numbers, lengths = self._pieces.find(texts)
        return (numbers, lengths) if self._extras is None else self._extras.add(numbers, lengths)

    def _split(self, piece: str) -> tuple[list[int], int]:
        """The numbers of the terms of a piece, and how many of its characters are in words."""
        if simple_characters().issuperset(piece):  # most of them
            words, read = [piece.lower()], len(piece)
        else:
            words, read = self._words.split(piece), self._words.read(piece)
        return [self._term_ids[term] for term in map(self._term, words) if term], read
