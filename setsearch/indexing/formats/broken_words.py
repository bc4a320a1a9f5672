"""Words as they are: whole where the end of a line breaks them, and without the underscores that mark them."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

# A hyphen; or what only stands where a word is broken: a soft hyphen, and the sign that scanners write for it.
_break = re.compile(r"([-\u2010\u00ad\u00ac])\r?\n[ \t]*(?=[^\W\d_])(\w+)")
_word = re.compile(r"\w+(?:[-\u2010]\w+)*")
_compound = re.compile(r"[^\W\d_]+-[^\W\d_]+")
_underscores = re.compile(r"_(?:(?<!\w_)_*(?=[^\W_])|(?<=[^\W_]_)_*(?!\w))")  # at the ends of a word
COMMON, SHORTEST = 200, 2  # words of a text for each of its compounds; letters of half a compound
_SUSPENDED = {"and", "or", "und", "oder", "och"}  # follow a hyphen that stands for a word to come: pre- and post-war


class _Broken(NamedTuple):
    """A word that a line breaks, and where it stands."""

    start: int
    end: int
    first: str
    mark: str
    rest: str


def without_underscores(text: str) -> str:
    """A text without the marks of _emphasis_ and of links_, as Markdown, books, mail and reStructuredText have them.

    An underscore is a letter of words such as snake_case: a word with one at its end would be another one.
    """
    return _underscores.sub("", text) if "_" in text else text


def join_broken_words(text: str) -> str:
    """A text in which words that a hyphen breaks at the end of a line, to go on in lower case, are whole.

    A compound keeps its hyphen if the text has it elsewhere, as well-known; or, in a text that has many compounds, if
    it has both halves elsewhere, and the whole nowhere; or if no small letters are before it, or but one, as in T-cell
    and p-value. Before "and" a hyphen ends a word: pre- and post-war.
    """
    broken = [*_broken_words(text)]
    if not any(own.rest[0].islower() for own in broken):
        return text
    starts = [*(own.start for own in broken), len(text)]
    between = [text[end:start] for end, start in zip([0, *(own.end for own in broken)], starts, strict=True)]
    counts = Counter(_word.findall(" ".join(between).lower()))
    compounds = sum(number for word, number in counts.items() if "-" in word and _compound.fullmatch(word))
    has_many = counts.total() <= compounds * COMMON
    whole = (_whole(text, own, counts, has_many) for own in broken)
    return "".join(piece for own in zip(between, [*whole, ""], strict=True) for piece in own)


def _broken_words(text: str) -> Iterator[_Broken]:
    """The words that lines break; of one that two lines break, the first half alone."""
    end = 0
    for match in _break.finditer(text):
        start = match.start()
        while start > end and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        if start < match.start():
            end = match.end()
            yield _Broken(start, end, text[start : match.start()], *match.groups())


def _whole(text: str, broken: _Broken, counts: Counter[str], has_many: bool) -> str:
    """A broken word as it is meant; `has_many`: whether the text has many compounds."""
    first, rest = broken.first, broken.rest
    if not rest[0].islower():
        return text[broken.start : broken.end]
    compound, plain = f"{first}-{rest}".lower(), f"{first}{rest}".lower()
    if rest in _SUSPENDED and plain not in counts and broken.mark in "-\u2010":
        return text[broken.start : broken.end]
    is_sign = len(first) < SHORTEST or not any(letter.islower() for letter in first)
    is_known = (
        compound in counts
        or is_sign
        or (has_many and min(len(first), len(rest)) >= SHORTEST and {first.lower(), rest} <= counts.keys())
    )
    is_compound = is_known and plain not in counts and broken.mark in "-\u2010"
    return f"{first}-{rest}\n" if is_compound else f"{first}{rest}\n"
