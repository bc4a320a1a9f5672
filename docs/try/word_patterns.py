"""The patterns of words for Python's `re`: there is no `regex` for the Pyodide that the page has.

`re` knows neither properties of characters nor sets of sets. So characters that no pattern tells apart are one kind,
and one stands for all: patterns are written with these, and a text is translated to them before it is searched.
"""

import re
from typing import Any

import numpy as np
import regex

from setsearch.text.words import Words

ALL = 0x110000
EVERY = "".join(map(chr, range(ALL)))
MARKS = r"\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}"
# What readers see as one character (https://unicode.org/reports/tr29), but for chains of emoji, which no run has.
GRAPHEME = (
    rf"(?:\r\n|[\p{{GCB=Control}}\r\n]|\p{{GCB=Prepend}}*(?:\p{{GCB=RI}}{{2}}"
    r"|\p{GCB=L}*(?:\p{GCB=V}+|\p{GCB=LV}\p{GCB=V}*|\p{GCB=LVT})\p{GCB=T}*|\p{GCB=L}+|\p{GCB=T}+"
    rf"|\p{{InCB=Linker}}[{MARKS}]*\p{{InCB=Consonant}}|[^\p{{GCB=Control}}\r\n])"
    rf"(?:\p{{InCB=Linker}}[{MARKS}]*\p{{InCB=Consonant}}|[{MARKS}])*)"
)
_part = regex.compile(r"\\p\{[^}]*\}|\\.|(?<set>\[(?:\\.|[^\[\]\\]|(?&set))*\])", regex.VERSION1)

MODULE = '''"""As much of the package regex as the words of setsearch need."""

import re
from bisect import bisect

VERSION1 = 0
STARTS = {starts}  # of runs of characters of one kind
KINDS = {kinds!r}  # the character that stands for each
PATTERNS = {patterns!r}


class _Kinds(dict):
    def __missing__(self, code):
        kind = self[code] = KINDS[bisect(STARTS, code) - 1]
        return kind


_kinds = _Kinds()


class _Match:
    def __init__(self, own, text):
        self.start, self.end, self.span, self.lastgroup = own.start, own.end, own.span, own.lastgroup
        self._text = text

    def group(self):
        return self._text[self.start() : self.end()]


class _Pattern:
    def __init__(self, pattern):
        self._own = re.compile(PATTERNS[pattern])

    def finditer(self, text):
        return (_Match(own, text) for own in self._own.finditer(text.translate(_kinds)))

    def fullmatch(self, text):
        own = self._own.fullmatch(text.translate(_kinds))
        return None if own is None else _Match(own, text)

    def sub(self, replacement, text):
        """Of a pattern whose group stands twice, the group once: kinds tell less than its letters."""
        kinds, place, parts = text.translate(_kinds), 0, []
        while own := self._own.search(kinds, place):
            first, after = own.span(1)
            is_one = text[first:after] == text[own.end() - after + first : own.end()]
            parts.append(text[place : after if is_one else own.start() + 1])
            place = own.end() if is_one else own.start() + 1
        return "".join([*parts, text[place:]])

    def findall(self, text):
        return [match.group() for match in self.finditer(text)]


def compile(pattern, flags=0):
    """One of the known patterns; raises KeyError for others."""
    return _Pattern(pattern)
'''


def word_patterns() -> str:
    """The source of a module `regex` that knows the patterns of words."""
    known = {own.pattern: own.pattern.replace(r"\X", GRAPHEME) for own in Words()._patterns}
    sets = {part: _members(part) for part in {part for pattern in known.values() for part in _sets(pattern)}}
    told = "".join(known.values())  # characters that a pattern names stand for themselves
    alone = np.unique(
        [*range(128), *(int(code, 16) for code in re.findall(r"\\u([0-9a-f]{4})", told)), *map(ord, told)]
    )
    kinds = np.zeros(ALL, np.int64)
    for members in sets.values():
        kinds = np.unique(kinds * 2 + members, return_inverse=True)[1]
    kinds[alone] = -1 - alone
    _, first, of = np.unique(kinds, return_index=True, return_inverse=True)
    starts = np.append(0, np.flatnonzero(np.diff(of)) + 1)

    def written(match: "regex.Match[str]") -> str:
        """A set as the characters that stand for its kinds."""
        part = match.group()
        return f"[{re.escape(''.join(map(chr, first[sets[part][first]])))}]" if part in sets else part

    return MODULE.format(
        starts=starts.tolist(),
        kinds="".join(map(chr, first[of[starts]])),
        patterns={pattern: _part.sub(written, whole) for pattern, whole in known.items()},
    )


def _sets(pattern: str) -> list[str]:
    """The sets and properties of a pattern."""
    return [part for part in (match.group() for match in _part.finditer(pattern)) if part.startswith(("[", r"\p"))]


def _members(characters: str) -> Any:
    """Whether each character is in a set, `(ALL,)`."""
    members = np.zeros(ALL, bool)
    members[[ord(one) for one in regex.findall(characters, EVERY, flags=regex.VERSION1)]] = True
    return members
