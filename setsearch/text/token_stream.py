"""A collection as one stream of numbered tokens: the input of contexts, lists and phrases.

Commas and ends of sentences are tokens too: COMMA, and BREAK for each run of . ; ! ? : and between documents. Words are
numbered by falling frequency. Words that occur once share the number RARE: no context with such a word occurs twice.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Ids, Ints, offsets, positions
from setsearch.text.words import MARKS_OF_LISTS, MARKS_OF_SENTENCES, Words

RARE, BREAK, COMMA = 0, 1, 2
FIRST_WORD = 3
MARKS = ("", ".", ",")  # the texts of the three
CONJUNCTIONS, ARTICLES = ("and", "or", "nor"), ("a", "an", "the")  # parts of lists; never RARE
MOST_WORDS = 1 << 20  # distinct words of a stream; less frequent ones become RARE
PHRASE_COUNT, PHRASE_NPMI = 15, 0.45
FREQUENT_SHARE, FREQUENT_COUNT = 1 / 300, 100  # a word above both, such as "of", is no item and part of no phrase


@dataclass(frozen=True)
class TokenStream:
    """`tokens` `(n_tokens,)`: two BREAKs, the tokens of the first document, two BREAKs, and so on.

    `documents` and `starts`: the id of each document and its offset. `names[number]` is the text of a token.
    """

    tokens: Ids
    documents: Ints
    starts: Ints
    names: list[str]

    @property
    def counts(self) -> Ints:
        """How often each token occurs, `(n_names,)`."""
        return np.bincount(self.tokens, minlength=len(self.names))

    @property
    def most_frequent(self) -> float:
        """The largest count of a word that is not a function word."""
        return max(len(self.tokens) * FREQUENT_SHARE, FREQUENT_COUNT)


@dataclass(frozen=True)
class Tokens:
    """Documents as numbered tokens, one behind the other: their ids, how many tokens each has, and the tokens.

    `names[number]` is the text of a token; the first ones are MARKS.
    """

    documents: Ints
    lengths: Ints
    tokens: Ids
    names: list[str]


class _Numbers(dict[str, int]):
    """Maps tokens to numbers; all ends of sentences are BREAK, all commas COMMA."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(zip(names, range(len(names)), strict=True))
        self.names = list(names)
        self.update(dict.fromkeys(MARKS_OF_SENTENCES, BREAK) | dict.fromkeys(MARKS_OF_LISTS, COMMA))

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self.names)
        self.names.append(token)
        return number


def tokenize(texts: Iterable[tuple[int, str]], words: Words, names: Sequence[str] = MARKS) -> Tokens:
    """The tokens of (document, text); `names` are those that have numbers already."""
    numbers = _Numbers(names)
    number_of = numbers.__getitem__
    tokens, documents, lengths = array("i"), array("q"), array("q")
    for document, text in texts:
        documents.append(document)
        before = len(tokens)
        tokens.extend(map(number_of, words.tokens(text)))
        lengths.append(len(tokens) - before)
    return Tokens(np.array(documents, np.int64), np.array(lengths, np.int64), np.array(tokens, np.int32), numbers.names)


def arrange(documents: Ints, parts: Sequence[Tokens]) -> Tokens:
    """The documents in this order, each from the last part that has it; names without tokens go."""
    last = parts[-1]
    starts, lengths = np.zeros((2, int(documents.max(initial=-1)) + 1), np.int64)
    offset = 0
    for part in parts:
        known = part.documents < len(starts)
        begin = offsets(part.lengths)[:-1] + offset
        starts[part.documents[known]], lengths[part.documents[known]] = begin[known], part.lengths[known]
        offset += len(part.tokens)
    lengths = lengths[documents]
    tokens = np.concatenate([part.tokens for part in parts])[positions(starts[documents], lengths)]
    used = np.bincount(tokens, minlength=len(last.names)) > 0
    used[:FIRST_WORD] = True
    number = np.cumsum(used, dtype=np.int32) - 1
    names = [name for name, is_used in zip(last.names, used.tolist(), strict=True) if is_used]
    return Tokens(documents, lengths, number[tokens].astype(np.int32), names)


def token_stream(texts: Tokens) -> TokenStream:
    """The stream of some documents."""
    starts = offsets(texts.lengths + 2)[:-1] + 2
    tokens = np.full(len(texts.tokens) + 2 * len(starts) + 2, BREAK, np.int32)
    tokens[positions(starts, texts.lengths)] = texts.tokens
    # A run of BREAKs counts once, except between documents.
    kept = np.ones(len(tokens), bool)
    kept[1:] = (tokens[1:] != BREAK) | (tokens[:-1] != BREAK)
    kept[starts - 1] = kept[-1] = True
    n_kept = np.cumsum(kept)
    return _renumber(tokens[kept], texts.documents, n_kept[starts - 1], texts.names)


def _renumber(tokens: Ids, documents: Ints, starts: Ints, names: list[str]) -> TokenStream:
    """Number by falling frequency, equal ones by name, so that numbers depend on the content only."""
    counts = np.bincount(tokens, minlength=len(names))
    words = [n for n in range(FIRST_WORD, len(names)) if counts[n] > 1 or names[n] in (*CONJUNCTIONS, *ARTICLES)]
    words = sorted(words, key=lambda number: (-counts[number], names[number]))[: MOST_WORDS - FIRST_WORD]
    order = [RARE, BREAK, COMMA, *words]
    number = np.zeros(len(names), np.int32)
    number[order] = np.arange(len(order))
    return TokenStream(number[tokens], documents, starts, [names[old] for old in order])


def merge_phrases(stream: TokenStream) -> TokenStream:
    """Merge pairs of words into phrases, twice, so that phrases have up to four words.

    A pair is a phrase if it occurs 15 times, its normalized pointwise mutual information (NPMI, Bouma 2009),
    ln(p_ab / (p_a p_b)) / -ln p_ab, is above 0.45, and neither word makes up more than a 300th of the text.
    """
    for _ in range(2):
        stream = _merge_pairs(stream)
    return stream


def _merge_pairs(stream: TokenStream) -> TokenStream:
    tokens, counts = stream.tokens, stream.counts
    left, right = tokens[:-1].astype(np.int64), tokens[1:].astype(np.int64)
    eligible = counts <= stream.most_frequent
    eligible[:FIRST_WORD] = False
    both = eligible[left] & eligible[right]
    pairs = left << 32 | right
    phrases = _phrases(pairs[both], counts, len(tokens))
    if not len(phrases):
        return stream
    position = np.minimum(np.searchsorted(phrases, pairs), len(phrases) - 1)
    begins = _without_overlaps(np.flatnonzero((phrases[position] == pairs) & both))
    numbers = {name: number for number, name in enumerate(stream.names)}
    names = [f"{stream.names[pair >> 32]} {stream.names[pair & 0xFFFF_FFFF]}" for pair in phrases.tolist()]
    for name in names:  # two ways of merging may lead to the same phrase
        numbers.setdefault(name, len(numbers))
    merged = tokens.copy()
    merged[begins] = np.array([numbers[name] for name in names], np.int32)[position[begins]]
    kept = np.ones(len(tokens), bool)
    kept[begins + 1] = False
    n_kept = np.cumsum(kept)
    return _renumber(merged[kept], stream.documents, n_kept[stream.starts - 1], list(numbers))


def _phrases(pairs: Ints, counts: Ints, n_tokens: int) -> Ints:
    """The pairs, ascending, that are frequent enough and have a high NPMI."""
    distinct, times = np.unique(pairs, return_counts=True)
    distinct, times = distinct[times >= PHRASE_COUNT], times[times >= PHRASE_COUNT]
    total = math.log(n_tokens)
    log_counts = np.log(np.maximum(counts, 1))
    log_times = np.log(times)
    pmi = log_times + total - log_counts[distinct >> 32] - log_counts[distinct & 0xFFFF_FFFF]
    phrases: Ints = distinct[pmi / (total - log_times) > PHRASE_NPMI]
    return phrases


def _without_overlaps(begins: npt.NDArray[np.int64]) -> Ints:
    """Of pairs that overlap in a chain, the first, the third, and so on."""
    first = np.append(True, np.diff(begins) > 1)
    chain = np.flatnonzero(first)
    number = np.arange(len(begins)) - np.repeat(chain, np.diff(chain, append=len(begins)))
    kept: Ints = begins[number % 2 == 0]
    return kept
