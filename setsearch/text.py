"""From text to features: words, in lower case, as readers would write them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

ANALYZER = "words"  # stored with a collection, so that seeds are analysed as its documents were

LONG = 1 << 20  # characters; a longer text is counted piece by piece

_words_of = re.compile(r"\w+").findall
_gap = re.compile(r"\W")


def words(text: str) -> list[str]:
    """The words of a text in order: runs of letters, digits and underscores, composed (NFC), in lower case."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return _words_of(text.lower())


def word_counts(text: str) -> list[str] | Counter[str]:
    """The words of a text; for a long one their counts, which need less memory."""
    if len(text) <= LONG:
        return words(text)
    counts: Counter[str] = Counter()
    for piece in _pieces(text):
        counts.update(words(piece))
    return counts


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of about LONG characters, cut between words."""
    start = 0
    while start < len(text):
        gap = _gap.search(text, start + LONG)
        end = gap.start() if gap else len(text)
        yield text[start:end]
        start = end
