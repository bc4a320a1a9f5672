"""Function words: those that hold sentences together and name nothing, such as "of". They explain little."""

from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache

# The list for English of the library stop-words has "system", "index" and "value", too.
ENGLISH = """a about above after again against all also am an and any are as at be because been before being below
between both but by can cannot could did do does doing done down during each either else etc every few for from further
had has have having he her here hers herself him himself his how however i if in into is it its itself just may me might
more most must my myself neither no nor not of off on once one only or other others our ours ourselves out over own per
s same shall she should since so some such t than that the their theirs them themselves then there therefore these they
this those though through thus to too under until up upon us very was we were what when where whether which while who
whom whose why will with within without would yet you your yours yourself yourselves"""
ENOUGH = 3  # function words of another language than English, to take a text for one of it


@cache
def function_words(language: str) -> frozenset[str]:
    """Those of a language; none of one that has no list."""
    if language == "english":
        return frozenset(ENGLISH.split())
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    return frozenset(get_stop_words(language)) if language in AVAILABLE_LANGUAGES else frozenset()


def likely_language(words: Collection[str]) -> str:
    """The language with the most function words among some words; English if these tell none."""
    if _foreign().isdisjoint(words):  # nearly always, and found soon
        return "english"
    known = _languages()
    telling = known.keys() & words
    if len(telling) < ENOUGH:
        return "english"
    counts = Counter([language for word in telling for language in known[word]])
    best = max(sorted(counts), key=counts.__getitem__, default="english")
    return best if counts[best] >= ENOUGH and counts[best] > counts["english"] else "english"


@cache
def _languages() -> dict[str, list[str]]:
    from stop_words import AVAILABLE_LANGUAGES

    found: dict[str, list[str]] = {}
    for language in AVAILABLE_LANGUAGES:
        for word in function_words(language):
            found.setdefault(word, []).append(language)
    return found


@cache
def _foreign() -> frozenset[str]:
    """The function words that are none in English."""
    return frozenset(_languages().keys() - function_words("english"))


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """A function from words of a language to their stems; to themselves without stems."""
    names, stemmer_of = snowball()
    return stemmer_of(language) if language in names else str


def snowball() -> tuple[list[str], Callable[[str], Callable[[str], str]]]:
    """The languages of Snowball's stemmers, none without a package of these, and a function from one to its stemmer."""
    with suppress(ImportError):
        import Stemmer

        return Stemmer.algorithms(), lambda language: Stemmer.Stemmer(language, 0).stemWord  # its cache is slower
    with suppress(ImportError):
        import snowballstemmer  # the same in Python: for WebAssembly

        return snowballstemmer.algorithms(), lambda language: snowballstemmer.stemmer(language).stemWord
    return [], lambda language: str
