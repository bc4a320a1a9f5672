"""Features of texts beside their terms: pairs of neighbors, and character n-grams.

    "red wine is red"    pairs: red wine, wine is, is red    4-grams of red: ~_red, ~red_

A pair has a space, an n-gram begins with ~, so that neither is a word. N-grams are those of the term between two _.

With "titled", the default of new collections, a title is a part of its text: its words count besides if the text does
not have it, and once more if there are four or more, since a sentence says what a text is about, and a name does not.
The name of a file, which has a dot and is in the id, does not count. With "titles" the words of each title count once
besides, with "3-titles" three times, as those of a field of weight 3 do in BM25F (Robertson, Zaragoza and Taylor 2004),
and with "0-titles" not.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Ids, Ints, bincount, offsets, pack, positions, repeat
from setsearch.errors import InvalidParameter

LEAST, MOST = 2, 8  # characters of an n-gram
_ngrams = re.compile(r"(\d)-grams").fullmatch
_titles = re.compile(r"(?:([0-9])-)?titles").fullmatch
TITLED, NO_TITLES = "titled", "0-titles"
SENTENCE = 4  # words of a title that says what a text is about
_CUT = "…"  # the end of a title that was shortened (headline.py)


class TermIds(dict[str, int]):
    """Maps terms to numbers in the order of first occurrence; `names` are the terms by number."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self.names)
        self.names.append(term)
        return number


class Extras(NamedTuple):
    """Which there are; `ngrams` is the number of characters, `titles` how often a title counts beside its text.

    `titled`: a title is a part of its text.
    """

    pairs: bool = False
    ngrams: int = 0
    titles: int = 0
    titled: bool = False

    @classmethod
    def parse(cls, names: Sequence[str]) -> "Extras":
        """From names such as ["pairs", "4-grams"]; raises InvalidParameter."""
        sizes = [int(found[1]) for name in names if (found := _ngrams(name))]
        weights = [int(found[1] or 1) for name in names if (found := _titles(name))]
        counts = len(sizes), len(weights) + names.count(TITLED), names.count("pairs")
        if sum(counts) < len(names) or max(counts) > 1:
            raise InvalidParameter(f"features beside words are pairs, titles, 4-grams, not {'+'.join(names)!r:.40}")
        if sizes and not LEAST <= sizes[0] <= MOST:
            raise InvalidParameter(f"n-grams have {LEAST} to {MOST} characters, not {sizes[0]}")
        return cls("pairs" in names, sum(sizes), sum(weights), TITLED in names)

    @property
    def beside_terms(self) -> bool:
        """Whether there are features beside terms."""
        return self.pairs or self.ngrams > 0

    def counted(self, text: str, title: str | None, id: str) -> str:
        """The text whose words count."""
        if not title:
            return text
        times, is_file = self.titles, "." in title and title in id
        if self.titled and not is_file:
            times = (not _has(text, title)) + (title.count(" ") >= SENTENCE - 1)
        return "\n".join([*[title] * times, text])

    def of(self, terms: Sequence[str]) -> list[str]:
        """The features of a text beside its terms."""
        pairs = [f"{one} {other}" for one, other in pairwise(terms)] if self.pairs else []
        return pairs + [gram for term in terms for gram in self.grams(term)]

    def grams(self, term: str) -> list[str]:
        """The n-grams of a term."""
        padded = f"_{term}_"
        count = len(padded) - self.ngrams + 1 if self.ngrams else 0
        return [f"~{padded[place : place + self.ngrams]}" for place in range(max(count, 0))]


def with_default_titles(names: Sequence[str]) -> list[str]:
    """The names of extras of a new collection, where no weight of titles is among them."""
    weights = [name for name in names if name == TITLED or _titles(name)]
    return [name for name in names if name != NO_TITLES] + ([] if weights else [TITLED])


def without_titles(names: Sequence[str]) -> list[str]:
    """The names of extras but for those of titles."""
    return [name for name in names if name != TITLED and not _titles(name)]


def _has(text: str, title: str) -> bool:
    """Whether a text has a title, in any case; at its beginning also on several lines."""
    title, text = title.removesuffix(_CUT).lower(), text.lower()
    return title in text or " ".join(text[: 2 * len(title)].split()).startswith(title)


class NumberedExtras:
    """The same as numbers of features, for many texts at once."""

    def __init__(self, extras: Extras, term_ids: TermIds) -> None:
        self._extras, self._ids = extras, term_ids
        self._pair, self._grams = cache(self._number_of_pair), cache(self._numbers_of_grams)

    def add(self, numbers: Ids, lengths: Ints) -> tuple[Ids, Ints]:
        """All features of texts, one text behind the other, and how many each has, given those of their terms."""
        texts = repeat(np.arange(len(lengths)), lengths)
        parts, owners = [numbers], [texts]
        if self._extras.pairs and len(numbers) > 1:
            inside = texts[1:] == texts[:-1]
            parts.append(self._pairs_of(numbers[:-1][inside], numbers[1:][inside]))
            owners.append(texts[1:][inside])
        if self._extras.ngrams:
            grams, counts = self._grams_of(numbers)
            parts.append(grams)
            owners.append(repeat(texts, counts))
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        return np.concatenate(parts)[order], bincount(owner, minlength=len(lengths))

    def _pairs_of(self, first: Ids, second: Ids) -> Ids:
        keys, places = np.unique(pack(first, second), return_inverse=True)
        return np.array([self._pair(key) for key in keys.tolist()], np.int32)[places]

    def _number_of_pair(self, key: int) -> int:
        return self._ids[f"{self._ids.names[key >> 32]} {self._ids.names[key & 0xFFFFFFFF]}"]

    def _grams_of(self, numbers: Ids) -> tuple[Ids, Ints]:
        """All n-grams of some terms, one term behind the other, and how many each has."""
        terms, places = np.unique(numbers, return_inverse=True)
        grams = [self._grams(term) for term in terms.tolist()]
        lengths = np.fromiter(map(len, grams), np.int64, len(grams))
        every = np.array([gram for own in grams for gram in own], np.int32)
        return every[positions(offsets(lengths)[:-1][places], lengths[places])], lengths[places]

    def _numbers_of_grams(self, term: int) -> list[int]:
        return [self._ids[gram] for gram in self._extras.grams(self._ids.names[term])]
