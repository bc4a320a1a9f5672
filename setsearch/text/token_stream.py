"""A collection as one stream of numbered words: what contexts, lists and phrases are read from.

Commas and ends of sentences are words too: COMMA, and BREAK for each run of . ; ! ? : and between documents. Words
have numbers by falling frequency; those that occur once are all RARE: no context that holds one occurs twice.
"""

import math
import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Ints
from setsearch.text.analyzer import Vocabulary, normal

RARE, BREAK, COMMA = 0, 1, 2
FIRST_WORD = 3
MARKS = ("", ".", ",")  # how the three are written
AND, ARTICLES = ("and", "or", "nor"), ("a", "an", "the")  # what lists are made with: never RARE
LARGEST = 1 << 20  # words that a stream can tell apart; what is less frequent is RARE
PHRASE_COUNT, PHRASE_NPMI = 15, 0.45
FREQUENT_SHARE, FREQUENT_COUNT = 1 / 300, 100  # a word above both, as "of" and "the", is no item and in no phrase
_tokens_of = re.compile(r"\w+|[,.;!?:]").findall
_BREAKS = re.compile(r"[.;!?:]")


@dataclass(frozen=True)
class Stream:
    """`tokens` `(n_tokens,)`: two BREAKs, the words of the first document, two BREAKs, and so on.

    `documents` and `starts`: the id of each document, and where it begins. `names[number]` is a word, `counts[number]`
    how often it occurs.
    """

    tokens: npt.NDArray[np.int32]
    documents: Ints
    starts: Ints
    names: list[str]

    @property
    def counts(self) -> Ints:
        """How often each word occurs."""
        return np.bincount(self.tokens, minlength=len(self.names))

    @property
    def most_frequent(self) -> float:
        """How often a word may occur that is not in every other sentence."""
        return max(len(self.tokens) * FREQUENT_SHARE, FREQUENT_COUNT)


def read_stream(texts: Iterable[tuple[int, str]]) -> Stream:
    """The stream of (document, text)."""
    numbers = Vocabulary({mark: number for number, mark in enumerate(MARKS)})
    number_of = numbers.__getitem__
    tokens, documents, starts = array("i", [BREAK, BREAK]), array("q"), array("q")
    for document, text in texts:
        documents.append(document)
        starts.append(len(tokens))
        tokens.extend(map(number_of, _tokens_of(_BREAKS.sub(".", normal(text)))))
        tokens.extend((BREAK, BREAK))
    found = np.array(tokens, np.int32)
    # Several BREAKs in a row are one, but for those between documents.
    kept = np.ones(len(found), bool)
    kept[1:] = (found[1:] != BREAK) | (found[:-1] != BREAK)
    begin = np.array(starts, np.int64)
    kept[begin - 1] = kept[-1] = True
    before = np.cumsum(kept)
    tokens_kept = found[kept]
    names = list(numbers)
    return _renumbered(tokens_kept, np.array(documents, np.int64), before[begin - 1], names)


def _renumbered(tokens: npt.NDArray[np.int32], documents: Ints, starts: Ints, names: list[str]) -> Stream:
    """Numbers by falling frequency, equal ones by name, so that they depend on the content only; rare words as one."""
    counts = np.bincount(tokens, minlength=len(names))
    words = [n for n in range(FIRST_WORD, len(names)) if counts[n] > 1 or names[n] in AND or names[n] in ARTICLES]
    words = sorted(words, key=lambda number: (-counts[number], names[number]))[: LARGEST - FIRST_WORD]
    order = [RARE, BREAK, COMMA, *words]
    number = np.zeros(len(names), np.int32)
    number[order] = np.arange(len(order))
    return Stream(number[tokens], documents, starts, [names[old] for old in order])


def merge_phrases(stream: Stream) -> Stream:
    """Two words that belong together become one, twice, so that up to four can.

    A pair is a phrase if it occurs 15 times and its normalised pointwise mutual information,
    ln(p_ab / (p_a p_b)) / -ln p_ab, is above 0.45, and neither word makes up more than a 300th of the text.
    """
    for _ in range(2):
        stream = _merged(stream)
    return stream


def _merged(stream: Stream) -> Stream:
    tokens, counts = stream.tokens, stream.counts
    left, right = tokens[:-1].astype(np.int64), tokens[1:].astype(np.int64)
    fit = counts <= stream.most_frequent
    fit[:FIRST_WORD] = False
    words = fit[left] & fit[right]
    keys, times = np.unique((left << 32 | right)[words], return_counts=True)
    keys, times = keys[times >= PHRASE_COUNT], times[times >= PHRASE_COUNT]
    total = math.log(len(tokens))
    log_counts = np.log(np.maximum(counts, 1))
    log_times = np.log(times)
    pmi = log_times + total - log_counts[keys >> 32] - log_counts[keys & 0xFFFF_FFFF]
    keys = keys[pmi / (total - log_times) > PHRASE_NPMI]
    if not len(keys):
        return stream
    pair = left << 32 | right
    place = np.minimum(np.searchsorted(keys, pair), len(keys) - 1)
    begins = np.flatnonzero((keys[place] == pair) & words)
    begins = _without_overlaps(begins)
    numbers = {name: number for number, name in enumerate(stream.names)}
    phrases = [f"{stream.names[key >> 32]} {stream.names[key & 0xFFFF_FFFF]}" for key in keys.tolist()]
    for phrase in phrases:  # one that two ways of merging lead to is one
        numbers.setdefault(phrase, len(numbers))
    merged = tokens.copy()
    merged[begins] = np.array([numbers[phrase] for phrase in phrases], np.int32)[place[begins]]
    kept = np.ones(len(tokens), bool)
    kept[begins + 1] = False
    before = np.cumsum(kept)
    return _renumbered(merged[kept], stream.documents, before[stream.starts - 1], list(numbers))


def _without_overlaps(begins: Ints) -> Ints:
    """Of pairs that begin right behind one another, the first, the third, and so on."""
    first = np.append(True, np.diff(begins) > 1)
    run = np.flatnonzero(first)
    number = np.arange(len(begins)) - np.repeat(run, np.diff(run, append=len(begins)))
    kept: Ints = begins[number % 2 == 0]
    return kept
