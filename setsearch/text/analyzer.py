"""From text to terms: words; optionally Snowball stems, optionally without stop words.

An index stores the specification of its analyzer as a short text, so that seeds are analyzed in the same way.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from setsearch.errors import CorruptIndex, InvalidParameter, UsageError
from setsearch.text.extras import NO_TITLES, TITLED, Extras, with_default_titles, without_titles
from setsearch.text.function_words import snowball
from setsearch.text.words import KINDS, NEWEST, OLD, UNICODE, Places, words_of_kind

CHUNK = 1 << 20  # characters; a longer text is analyzed in chunks of this size
CUSTOM = "of the application"  # the specification of a function

_gap = re.compile(r"[\s。！？]")  # between words of any kind


class Analyzer:
    """Turns text into terms.

    `language` (english, german, ...) selects a Snowball stemmer; `stop_words` drops the stop words of the language.
    `function` is an analyzer of the application, for example Whoosh's: it returns words, or tokens with a `text`; or
    the name of one: "unicode", the default; "icu", which segments Chinese, Japanese, Thai, ... with dictionaries; or
    "words", that of versions before 0.6. "unicode+pairs+4-grams" adds features beside words (extras.py).
    """

    def __init__(
        self,
        language: str | None = None,
        stop_words: bool = False,
        function: Callable[[str], Iterable[Any]] | str | None = None,
        spec: str | None = None,
        is_stored: bool = False,
    ) -> None:
        kind, extras, self._refuses_titles = UNICODE, list[str](), False
        if function is None or isinstance(function, str):
            kind, *extras = (function or UNICODE).split("+")
            if kind not in KINDS:
                names = ", ".join(name for name in KINDS if name not in NEWEST.values())
                raise InvalidParameter(f"the analyzer is one of {names}, or a function, not {function!r:.40}")
            self._refuses_titles = NO_TITLES in extras
            if not is_stored:
                kind, extras = NEWEST.get(kind, kind), with_default_titles(extras)
            function = None
        self.extras = Extras.parse(extras)
        if stop_words and language is None:
            raise InvalidParameter("stop words belong to a language; name it too, such as english")
        if function is not None and not callable(function):
            raise InvalidParameter(f"an analyzer is a function from text to words, not {function!r:.60}")
        if function is not None and language is not None:
            raise InvalidParameter("a custom analyzer stems by itself: give either the analyzer or the language")
        self.function = function
        self.language, self.drops = language, stop_words
        self.words = words_of_kind(OLD if function else kind)
        parts = ["+".join([kind, *extras]), language, "stop" if stop_words else None]
        default = CUSTOM if function else " ".join(filter(None, parts))
        self.spec = spec or default
        self._terms = _Terms(language, stop_words) if language else None

    @classmethod
    def from_spec(cls, spec: str) -> "Analyzer":
        """The analyzer of a stored specification. A custom one raises UsageError when it is called."""
        if spec == CUSTOM:
            return cls(function=_unavailable)
        kind, *options = spec.split() or [""]
        if kind.partition("+")[0] not in KINDS or len(options) > 2 or options[1:] not in ([], ["stop"]):
            raise CorruptIndex(f"unknown analyzer {spec!r:.60}; index the collection again")
        try:
            return cls(options[0] if options else None, "stop" in options[1:], kind, is_stored=True)
        except InvalidParameter as error:
            raise CorruptIndex(f"unknown analyzer {spec!r:.60}; index the collection again") from error

    def agrees(self, spec: str) -> bool:
        """Whether a collection of that specification can take texts of this analyzer: words may be of another kind.

        A collection keeps the kind of words, and the weight of titles, that it was made with; nobody has to name
        them again.
        """
        (own, _, options), (other, _, other_options) = self.spec.partition(" "), spec.partition(" ")
        (kind, *extras), (other_kind, *other_extras) = own.split("+"), other.split("+")
        if self._refuses_titles and without_titles(other_extras) != other_extras:
            return False
        if TITLED in extras:
            extras, other_extras = without_titles(extras), without_titles(other_extras)
        is_default = kind == UNICODE and not extras
        is_same = extras == other_extras and kind in (other_kind, NEWEST.get(other_kind))
        is_other_kind = is_same or (is_default and other_kind in KINDS)
        return self.spec == spec or (is_default and not options) or (is_other_kind and options == other_options)

    @property
    def named(self) -> str:
        """The `function` that gives a new analyzer these words and extras."""
        name = self.spec.partition(" ")[0]
        return name if self.extras.titled or self.extras.titles else f"{name}+{NO_TITLES}"

    @property
    def is_available(self) -> bool:
        """False for the custom analyzer of an application that did not provide it."""
        return self.function is not _unavailable

    def __call__(self, text: str) -> list[str] | Counter[str]:
        """The terms of a text in order, then its extras; for a text longer than CHUNK their counts, in less memory."""
        if self.function is not None:
            return self.terms(text)
        if len(text) <= CHUNK:
            return self._features_of(self.words.split(text))
        counts: Counter[str] = Counter()
        for chunk in _chunks(text):
            counts.update(self._features_of(self.words.split(chunk)))
        return counts

    def _features_of(self, words: list[str]) -> list[str]:
        terms = self._terms_of(words)
        return terms + self.extras.of(terms) if self.extras.beside_terms else terms

    def _terms_of(self, words: list[str]) -> list[str]:
        return words if self._terms is None else [term for term in map(self._terms.__getitem__, words) if term]

    def terms(self, text: str) -> list[str]:
        """The terms of a short text, without features beside them."""
        if self.function is not None:
            return [getattr(token, "text", token) for token in self.function(text)]
        if text.isascii() and text.isalnum():  # one word by all rules
            return self._terms_of([text.lower()])
        return self._terms_of(self.words.split(text))

    def term(self, word: str) -> str:
        """The term of a word; empty for a stop word. Not for a custom `function`."""
        return word if self._terms is None else self._terms[word]

    @cached_property
    def places(self) -> Places:
        """Where words are, and their terms."""
        return Places(self.words, self.terms)

    @property
    def keeps_words(self) -> bool:
        """Whether the terms of a word are parts of it, in lower case."""
        return self.function is None and self._terms is None

    @property
    def has_stems(self) -> bool:
        """Whether words have stems, which are those of a language."""
        return self._terms is not None

    def stem(self, word: str) -> str:
        """The stem of a word; the word itself without a language."""
        return word if self._terms is None else self._terms.stem(word)


def _unavailable(text: str) -> list[str]:
    raise UsageError(
        "this collection was analyzed by a custom analyzer; open it with the same one "
        "(setsearch.open(..., analyzer=...))"
    )


class _Terms(dict[str, str]):
    """Maps words to terms and computes each once; a stop word maps to the empty string."""

    def __init__(self, language: str, stop_words: bool) -> None:
        languages, stemmer_of = snowball()
        if not languages:
            raise UsageError(f"stems of {language} need PyStemmer or snowballstemmer; install one, or name no language")
        if language not in languages:
            raise InvalidParameter(f"unknown language {language!r}; choose from {', '.join(languages)}")
        self.stem = stemmer_of(language)
        self.stop_words: frozenset[str] = frozenset()
        if stop_words:
            from stop_words import AVAILABLE_LANGUAGES, get_stop_words

            if language not in AVAILABLE_LANGUAGES:
                raise InvalidParameter(f"there is no list of stop words for {language!r}; leave `stop_words` out")
            self.stop_words = frozenset(get_stop_words(language))

    def __missing__(self, word: str) -> str:
        self[word] = term = "" if word in self.stop_words else self.stem(word)
        return term


def _chunks(text: str) -> Iterator[str]:
    """The text in chunks of about CHUNK characters, cut between words."""
    start = 0
    while start < len(text):
        gap = _gap.search(text, start + CHUNK)
        end = gap.start() if gap else len(text)
        yield text[start:end]
        start = end
