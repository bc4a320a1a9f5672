"""Terms of many texts as numbers."""

from collections.abc import Callable, Sequence

from setsearch.arrays import Ids, Ints
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import NumberedExtras, TermIds
from setsearch.text.pieces import PieceNumbers, simple_characters
from setsearch.text.words import OLD

SAMPLED = 10_000  # terms that tell what most are
TOKENIZED_TOGETHER = 1 << 16  # characters and texts; few enough for the processor's cache


class Tokenizer:
    """Numbers the terms that an analyzer makes of words."""

    def __init__(self, analyzer: Analyzer, term_ids: TermIds) -> None:
        split = _splitter(analyzer, term_ids)  # a method would keep all in a cycle
        self._pieces = PieceNumbers(split, analyzer.words.kind != OLD)
        self._terms, self._words = term_ids, analyzer.words
        self._extras = NumberedExtras(analyzer.extras, term_ids) if analyzer.extras.beside_terms else None

    @property
    def unread_share(self) -> float:
        """The share of the characters of all texts that are in no word; white space aside."""
        pieces = self._pieces
        return max(pieces.characters - pieces.read, 0) / max(pieces.characters, 1)

    @property
    def paired_share(self) -> float:
        """The share of the terms that are pairs of characters, of texts without blanks."""
        names = self._terms.names[:SAMPLED]
        return sum(map(self._words.is_pair, names)) / max(len(names), 1)

    def tokenize(self, texts: Sequence[str]) -> tuple[Ids, Ints]:
        """The feature numbers of all texts, concatenated, and the number of features of each text, `(n_texts,)`."""
        numbers, lengths = self._pieces.find(texts)
        return (numbers, lengths) if self._extras is None else self._extras.add(numbers, lengths)


def _splitter(analyzer: Analyzer, term_ids: TermIds) -> Callable[[str], tuple[Sequence[int], int]]:
    """What gives the numbers of the terms of a piece, and how many of its characters are in words."""
    words, term, is_simple = analyzer.words, analyzer.term, simple_characters().issuperset

    def split(piece: str) -> tuple[Sequence[int], int]:
        if is_simple(piece):  # most of them
            own = term(piece.lower())
            return (term_ids[own],) if own else (), len(piece)
        return [term_ids[own] for own in map(term, words.split(piece)) if own], words.read(piece)

    return split
