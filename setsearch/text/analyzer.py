"""From text to features: words in lower case; with a language their stems, and without its stop words if wished.

What a collection was analysed with is stored with it as a short text, so that seeds are analysed in the same way.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from setsearch.errors import CorruptIndex, InvalidParameter, UsageError

LONG = 1 << 20  # characters; a longer text is counted piece by piece
WORDS, FOREIGN, FTS5 = "words", "of the application", "fts5 "  # how the descriptions begin
_words_of = re.compile(r"\w+").findall
_gap = re.compile(r"\W")
# What becomes of the characters of ASCII: those of words their lower case, all others a space.
_ASCII = bytes(ord(c.lower()) if _words_of(c) else 32 for c in map(chr, range(128))) + bytes(range(128, 256))


class Analyzer:
    """Text to terms. `language` (english, german, ...) takes words to their Snowball stems; `stop_words` leaves out
    those of the language; `function` is an analyzer of the application: a Whoosh one, or anything that makes words,
    or tokens with a `text`, of a text.
    """

    def __init__(
        self,
        language: str | None = None,
        stop_words: bool = False,
        function: Callable[[str], Iterable[Any]] | None = None,
    ) -> None:
        if stop_words and language is None:
            raise InvalidParameter("stop words are those of a language; name it too, such as english")
        if function is not None and not callable(function):
            raise InvalidParameter(f"an analyzer is a function from text to words, not {function!r:.60}")
        if function is not None and language is not None:
            raise InvalidParameter("an analyzer of your own stems by itself: give the analyzer or the language")
        self.function = function
        self.language = language
        self.known = True  # whether texts can be analysed: not where the analyzer is one of an application
        self.spec = FOREIGN if function else " ".join(filter(None, [WORDS, language, "stop" if stop_words else None]))
        self._terms = _Terms(language, stop_words) if language else None

    @classmethod
    def of(cls, spec: str) -> "Analyzer":
        """The analyzer that a stored description means; one of the application raises UsageError when it is used."""
        if spec == FOREIGN or spec.startswith(FTS5):
            from setsearch.storage.analyzers import Tokenizer

            made = cls(function=_unknown if spec == FOREIGN else Tokenizer(spec.removeprefix(FTS5)))
            made.spec, made.known = spec, spec != FOREIGN
            return made
        kind, *options = spec.split() or [""]
        if kind != WORDS or len(options) > 2 or options[1:] not in ([], ["stop"]):
            raise CorruptIndex(f"the analyzer {spec!r:.60} is not known; index the collection again")
        return cls(options[0] if options else None, "stop" in options[1:])

    def __call__(self, text: str) -> list[str] | Counter[str]:
        """The terms of a text in order; for a long one their counts, which need less memory."""
        if self.function is not None:
            return [getattr(token, "text", token) for token in self.function(text)]
        if len(text) <= LONG:
            return self._terms_of(words(text))
        counts: Counter[str] = Counter()
        for piece in _pieces(text):
            counts.update(self._terms_of(words(piece)))
        return counts

    def _terms_of(self, forms: list[str]) -> list[str]:
        return forms if self._terms is None else [term for term in map(self._terms.__getitem__, forms) if term]

    def term(self, form: str) -> str:
        """The term of a word, empty for one that is left out; not for a `function`."""
        return form if self._terms is None else self._terms[form]

    def stem(self, form: str) -> str:
        """The stem of a word, the word itself without a language."""
        return form if self._terms is None else self._terms.stem(form)

    def is_stop_word(self, form: str) -> bool:
        """Whether a word is left out."""
        return not self.term(form)


def _unknown(text: str) -> list[str]:
    raise UsageError(
        "this collection was analysed by an analyzer of the application; open it with the same one "
        "(setsearch.open(..., analyzer=...))"
    )


class _Terms(dict[str, str]):
    """Words to terms, each computed once; empty for a stop word."""

    def __init__(self, language: str, stop_words: bool) -> None:
        import Stemmer

        known = Stemmer.algorithms()
        if language not in known:
            raise InvalidParameter(f"there is no language {language!r}; there is {', '.join(known)}")
        self.stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
        self.stop: frozenset[str] = frozenset()
        if stop_words:
            from stop_words import AVAILABLE_LANGUAGES, get_stop_words

            if language not in AVAILABLE_LANGUAGES:
                raise InvalidParameter(f"no stop words are known for {language!r}; leave --stop-words out")
            self.stop = frozenset(get_stop_words(language))

    def __missing__(self, form: str) -> str:
        self[form] = term = "" if form in self.stop else self.stem(form)
        return term


class Vocabulary(dict[str, int]):
    """Words to numbers, in the order of their first occurrence."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def words(text: str) -> list[str]:
    """The words of a text in order: runs of letters, digits and underscores, composed (NFC), in lower case."""
    if text.isascii():  # the same, three times as fast
        return text.encode().translate(_ASCII).decode().split()
    return _words_of(normal(text))


def spaced(texts: Sequence[str]) -> tuple[bytes, list[int]]:
    """The words of texts in UTF-8, with at least one space before and behind each, and the bytes of each text.

    A space is before, between and behind the texts, too.
    """
    plain = [text if text.isascii() else " ".join(words(text)) for text in texts]
    data = " ".join(["", *plain, ""])
    sizes = map(len, plain) if data.isascii() else (len(text.encode()) for text in plain)
    return data.encode().translate(_ASCII), list(sizes)


def normal(text: str) -> str:
    """A text composed (NFC) and in lower case."""
    return (text if text.isascii() else unicodedata.normalize("NFC", text)).lower()


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of about LONG characters, cut between words."""
    start = 0
    while start < len(text):
        gap = _gap.search(text, start + LONG)
        end = gap.start() if gap else len(text)
        yield text[start:end]
        start = end
