"""From text to terms: lower-case words; optionally Snowball stems, optionally without stop words.

An index stores the specification of its analyzer as a short text, so that seeds are analyzed in the same way.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from setsearch.errors import CorruptIndex, InvalidParameter, UsageError

CHUNK = 1 << 20  # characters; a longer text is analyzed in chunks of this size
WORDS, CUSTOM = "words", "of the application"  # specifications begin with these

_words_of = re.compile(r"\w+").findall
_gap = re.compile(r"\W")
# Translation of ASCII: word characters to lower case, all others to a space.
_ASCII = bytes(ord(c.lower()) if _words_of(c) else 32 for c in map(chr, range(128))) + bytes(range(128, 256))


class Analyzer:
    """Turns text into terms.

    `language` (english, german, ...) selects a Snowball stemmer; `stop_words` drops the stop words of the language.
    `function` is an analyzer of the application, for example Whoosh's: it returns words, or tokens with a `text`.
    """

    def __init__(
        self,
        language: str | None = None,
        stop_words: bool = False,
        function: Callable[[str], Iterable[Any]] | None = None,
        spec: str | None = None,
    ) -> None:
        if stop_words and language is None:
            raise InvalidParameter("stop words belong to a language; name it too, such as english")
        if function is not None and not callable(function):
            raise InvalidParameter(f"an analyzer is a function from text to words, not {function!r:.60}")
        if function is not None and language is not None:
            raise InvalidParameter("a custom analyzer stems by itself: give either the analyzer or the language")
        self.function = function
        self.language = language
        default = CUSTOM if function else " ".join(filter(None, [WORDS, language, "stop" if stop_words else None]))
        self.spec = spec or default
        self._terms = _Terms(language, stop_words) if language else None

    @classmethod
    def from_spec(cls, spec: str) -> "Analyzer":
        """The analyzer of a stored specification. A custom one raises UsageError when it is called."""
        if spec == CUSTOM:
            return cls(function=_unavailable)
        kind, *options = spec.split() or [""]
        if kind != WORDS or len(options) > 2 or options[1:] not in ([], ["stop"]):
            raise CorruptIndex(f"unknown analyzer {spec!r:.60}; index the collection again")
        return cls(options[0] if options else None, "stop" in options[1:])

    @property
    def is_available(self) -> bool:
        """False for the custom analyzer of an application that did not provide it."""
        return self.function is not _unavailable

    def __call__(self, text: str) -> list[str] | Counter[str]:
        """The terms of a text in order; for a text longer than CHUNK their counts, which need less memory."""
        if self.function is not None:
            return [getattr(token, "text", token) for token in self.function(text)]
        if len(text) <= CHUNK:
            return self._terms_of(words(text))
        counts: Counter[str] = Counter()
        for chunk in _chunks(text):
            counts.update(self._terms_of(words(chunk)))
        return counts

    def _terms_of(self, words: list[str]) -> list[str]:
        return words if self._terms is None else [term for term in map(self._terms.__getitem__, words) if term]

    def term(self, word: str) -> str:
        """The term of a word; empty for a stop word. Not for a custom `function`."""
        return word if self._terms is None else self._terms[word]

    def stem(self, word: str) -> str:
        """The stem of a word; the word itself without a language."""
        return word if self._terms is None else self._terms.stem(word)

    def is_stop_word(self, word: str) -> bool:
        """Whether the analyzer drops a word."""
        return not self.term(word)


def _unavailable(text: str) -> list[str]:
    raise UsageError(
        "this collection was analyzed by a custom analyzer; open it with the same one "
        "(setsearch.open(..., analyzer=...))"
    )


class _Terms(dict[str, str]):
    """Maps words to terms and computes each once; a stop word maps to the empty string."""

    def __init__(self, language: str, stop_words: bool) -> None:
        import Stemmer

        languages = Stemmer.algorithms()
        if language not in languages:
            raise InvalidParameter(f"unknown language {language!r}; choose from {', '.join(languages)}")
        self.stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
        self.stop_words: frozenset[str] = frozenset()
        if stop_words:
            from stop_words import AVAILABLE_LANGUAGES, get_stop_words

            if language not in AVAILABLE_LANGUAGES:
                raise InvalidParameter(f"there is no list of stop words for {language!r}; leave `stop_words` out")
            self.stop_words = frozenset(get_stop_words(language))

    def __missing__(self, word: str) -> str:
        self[word] = term = "" if word in self.stop_words else self.stem(word)
        return term


class TermIds(dict[str, int]):
    """Maps terms to numbers in the order of first occurrence."""

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


def words(text: str) -> list[str]:
    """The words of a text in order: runs of letters, digits and underscores, in NFC and lower case."""
    if text.isascii():  # the same, three times as fast
        return text.encode().translate(_ASCII).decode().split()
    return _words_of(normalize(text))


def spaced_words(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """The words of all texts in UTF-8 with spaces around each, and the number of bytes of each text.

    A space also stands before the first, between any two, and after the last text.
    """
    plain = [text if text.isascii() else " ".join(words(text)) for text in texts]
    data = " ".join(["", *plain, ""])
    sizes = map(len, plain) if data.isascii() else (len(text.encode()) for text in plain)
    return data.encode().translate(_ASCII), list(sizes)


def normalize(text: str) -> str:
    """A text in NFC and lower case."""
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).lower()


def _chunks(text: str) -> Iterator[str]:
    """The text in chunks of about CHUNK characters, cut between words."""
    start = 0
    while start < len(text):
        gap = _gap.search(text, start + CHUNK)
        end = gap.start() if gap else len(text)
        yield text[start:end]
        start = end
