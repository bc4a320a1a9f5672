"""A collection as one stream of numbered tokens: the input of contexts, lists and phrases.

Commas and ends of sentences are tokens too: COMMA, and BREAK for each run of . ; ! ? : and between documents. Words are
numbered by falling frequency. Words that occur once share the number RARE: no context with such a word occurs twice.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import (
    Ids,
    Ints,
    bincount,
    distinct,
    offsets,
    pack,
    positions,
    repeat,
    run_lengths,
    run_starts,
    take,
)
from setsearch.core.indexing import sort
from setsearch.text.extras import TermIds
from setsearch.text.pieces import PieceNumbers, simple_characters
from setsearch.text.tokenizer import TOKENIZED_TOGETHER
from setsearch.text.words import MARKS_OF_LISTS, MARKS_OF_SENTENCES, OLD, Words

RARE, BREAK, COMMA = 0, 1, 2  # numbers that are no words
FIRST_WORD = 3  # the number of the most frequent one
MARKS = ("", ".", ",")  # the texts of the three
CONJUNCTIONS, ARTICLES = ("and", "or", "nor"), ("a", "an", "the")  # parts of lists; never RARE
TOKENS_OF_STEP = 1 << 20  # that are arranged at once
MOST_WORDS = 1 << 20  # distinct words of a stream; less frequent ones become RARE
PHRASE_COUNT, PHRASE_NPMI = 15, 0.45  # of two words that are a phrase, at least
FREQUENT_SHARE, FREQUENT_COUNT = 1 / 300, 100  # a word above both, such as "of", is part of no phrase


class TokenStream(NamedTuple):
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
        return bincount(self.tokens, minlength=len(self.names))


class Tokens(NamedTuple):
    """Documents as numbered tokens, one behind the other: their ids, how many tokens each has, and the tokens.

    `names[number]` is the text of a token; the first ones are MARKS.
    """

    documents: Ints
    lengths: Ints
    tokens: Ids
    names: list[str]


class _Numbers(TermIds):
    """Maps tokens to numbers; all ends of sentences are BREAK, all commas COMMA."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names += names
        self.update(zip(names, range(len(names)), strict=True))
        self.update(dict.fromkeys(MARKS_OF_SENTENCES, BREAK) | dict.fromkeys(MARKS_OF_LISTS, COMMA))


def tokenize(texts: Iterable[tuple[int, str]], words: Words, names: Sequence[str] = MARKS) -> Tokens:
    """The tokens of (document, text); `names` are those that have numbers already."""
    numbers, is_simple = _Numbers(names), simple_characters().issuperset

    def split(piece: str) -> tuple[Sequence[int], int]:
        """The numbers of the tokens of a piece; most are one word."""
        return (numbers[piece.lower()],) if is_simple(piece) else [numbers[own] for own in words.tokens(piece)], 0

    pieces = PieceNumbers(split, words.kind != OLD, marks=True)
    tokens, documents, lengths = array("i"), array("q"), array("q")
    for chunk in _chunks(texts):
        documents.extend(document for document, _ in chunk)
        found, own = pieces.find([text for _, text in chunk])
        tokens.frombytes(found.tobytes())
        lengths.frombytes(own.tobytes())
    found, own = np.asarray(tokens, np.int32), np.asarray(lengths, np.int64)  # no copies
    return Tokens(np.asarray(documents, np.int64), own, found, numbers.names)


def _chunks(texts: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """The texts in lists of about as many characters as are tokenized together."""
    chunk, characters = list[tuple[int, str]](), 0
    for document, text in texts:
        chunk.append((document, text))
        characters += len(text) + 1
        if characters >= TOKENIZED_TOGETHER:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def arrange(documents: Ints, parts: Sequence[Tokens]) -> Tokens:
    """The documents in this order, each from the last part that has it, which has the names of all."""
    starts, lengths = np.zeros((2, int(documents.max(initial=-1)) + 1), np.int64)
    offset = 0
    for part in parts:
        known = part.documents < len(starts)
        begin = offsets(part.lengths)[:-1] + offset
        starts[part.documents[known]], lengths[part.documents[known]] = begin[known], part.lengths[known]
        offset += len(part.tokens)
    lengths = lengths[documents]
    some = [part.tokens for part in parts if len(part.tokens)]
    given = some[0] if len(some) == 1 else np.concatenate([np.zeros(0, np.int32), *some])
    begin, ends = starts[documents], offsets(lengths)
    tokens, cuts = np.empty(int(ends[-1]), np.int32), np.searchsorted(ends, np.arange(0, ends[-1], TOKENS_OF_STEP))
    for first, last in pairwise([*distinct(cuts).tolist(), len(documents)]):
        tokens[ends[first] : ends[last]] = take(given, positions(begin[first:last], lengths[first:last]))
    return Tokens(documents, lengths, tokens, parts[-1].names)


def used_names(texts: Tokens) -> npt.NDArray[np.bool_]:
    """Which names are those of tokens, or of marks, `(n_names,)`."""
    used = bincount(texts.tokens, minlength=len(texts.names)) > 0
    used[:FIRST_WORD] = True
    return used


def without_others(texts: Tokens, used: npt.NDArray[np.bool_]) -> Tokens:
    """The same without the names that are not used."""
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return texts._replace(tokens=take(number, texts.tokens), names=list(compress(texts.names, used.tolist())))


def token_stream(texts: Tokens, phrases: bool) -> TokenStream:
    """The stream of some documents; with `phrases`, pairs of words are merged twice, so that these have up to four.

    A pair is a phrase if it occurs 15 times, its normalized pointwise mutual information (NPMI, Bouma 2009),
    ln(p_ab / (p_a p_b)) / -ln p_ab, is above 0.45, and neither word makes up more than a 300th of the text.
    """
    stream = separate(texts)
    for _ in range(2 * phrases):
        counts, n_tokens = stream.counts, len(stream.tokens)
        chosen = choose_phrases(count_pairs(stream, parts_of_phrases(counts, n_tokens)), counts, n_tokens)
        stream = merge_pairs(stream, chosen) if len(chosen) else stream
    order = word_order(stream.names, stream.counts)
    number = np.zeros(len(stream.names), np.int32)
    number[order] = np.arange(len(order))
    return stream._replace(tokens=take(number, stream.tokens), names=[stream.names[old] for old in order])


def separate(texts: Tokens) -> TokenStream:
    """The stream of some documents, with the numbers that their tokens have."""
    starts = offsets(texts.lengths + 2)[:-1] + 2
    tokens = np.full(len(texts.tokens) + 2 * len(starts) + 2, BREAK, np.int32)
    kept = np.ones(len(tokens), bool)
    kept[starts - 2] = kept[starts - 1] = kept[-2:] = False
    tokens[kept] = texts.tokens
    # A run of BREAKs counts once, except between documents.
    kept[0] = True
    kept[1:] = (tokens[1:] != BREAK) | (tokens[:-1] != BREAK)
    kept[starts - 1] = kept[-1] = True
    return _selected(TokenStream(tokens, texts.documents, starts, texts.names), kept)


def word_order(names: Sequence[str], counts: Ints) -> list[int]:
    """The numbers of the tokens that stay, in the order of their new ones: by falling frequency, equal ones by name.

    So numbers depend on the content only.
    """
    stays = counts > 1
    stays[[number for number, name in enumerate(names) if name in (*CONJUNCTIONS, *ARTICLES)]] = True
    stays[:FIRST_WORD] = False
    words = np.array(sorted(np.flatnonzero(stays).tolist(), key=names.__getitem__), np.int64)
    order = np.argsort(-counts[words], kind="stable")[: MOST_WORDS - FIRST_WORD]
    return [RARE, BREAK, COMMA, *words[order].tolist()]


def _selected(stream: TokenStream, kept: npt.NDArray[np.bool_]) -> TokenStream:
    """The kept tokens of a stream; that before a document is one of them."""
    starts = stream.starts - np.searchsorted(np.flatnonzero(~kept), stream.starts)
    return stream._replace(tokens=stream.tokens[kept], starts=starts)


def most_frequent(n_tokens: int) -> float:
    """The largest count of a word that is not a function word."""
    return max(n_tokens * FREQUENT_SHARE, FREQUENT_COUNT)


def parts_of_phrases(counts: Ints, n_tokens: int) -> npt.NDArray[np.bool_]:
    """Which tokens may be a part of a phrase, `(n_names,)`, given how often each occurs."""
    eligible = (counts >= PHRASE_COUNT) & (counts <= most_frequent(n_tokens))
    eligible[:FIRST_WORD] = False
    return eligible


def count_pairs(stream: TokenStream, parts: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Pairs of neighbors that may be phrases, ascending, and how often each occurs."""
    _, pairs = _pairs(stream, parts, parts)
    sort(pairs)
    begin = run_starts(pairs)
    return pairs[begin], run_lengths(begin, len(pairs))


def _pairs(stream: TokenStream, first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """The places of tokens that may be the first one of a pair, before one that may be the second; and these pairs."""
    places = np.flatnonzero(take(first, stream.tokens[:-1]) & take(second, stream.tokens[1:]))
    return places, pack(stream.tokens[places], stream.tokens[places + 1])


def choose_phrases(pairs: tuple[Ints, Ints], counts: Ints, n_tokens: int) -> Ints:
    """The pairs, ascending, that are frequent enough and have a high NPMI."""
    distinct, times = (own[pairs[1] >= PHRASE_COUNT] for own in pairs)
    total = math.log(n_tokens)
    log_counts = np.log(np.maximum(counts, 1))
    log_times = np.log(times)
    pmi = log_times + total - log_counts[distinct >> 32] - log_counts[distinct & 0xFFFF_FFFF]
    phrases: Ints = distinct[pmi / (total - log_times) > PHRASE_NPMI]
    return phrases


def merge_pairs(stream: TokenStream, phrases: Ints) -> TokenStream:
    """The stream with phrases as tokens, whose numbers follow those of the words."""
    is_part = np.zeros((2, len(stream.names)), bool)
    is_part[0, phrases >> 32] = is_part[1, phrases & 0xFFFF_FFFF] = True
    places, pairs = _pairs(stream, *is_part)
    position = np.minimum(np.searchsorted(phrases, pairs), len(phrases) - 1)
    found = np.flatnonzero(phrases[position] == pairs)
    found = found[_are_apart(places[found])]
    begins = places[found]
    names, own = list(stream.names), list[int]()
    numbers = {name: number for number, name in enumerate(names) if " " in name}
    for pair in phrases.tolist():
        name = f"{names[pair >> 32]} {names[pair & 0xFFFF_FFFF]}"
        own.append(numbers.setdefault(name, len(names)))  # two ways of merging may lead to the same phrase
        if own[-1] == len(names):
            names.append(name)
    merged = stream.tokens.copy()
    merged[begins] = np.array(own, np.int32)[position[found]]
    kept = np.ones(len(merged), bool)
    kept[begins + 1] = False
    return _selected(stream._replace(tokens=merged, names=names), kept)


def _are_apart(begins: Ints) -> npt.NDArray[np.bool_]:
    """Of pairs that overlap in a chain, the first, the third, and so on."""
    first = np.append(True, np.diff(begins) > 1)
    chain = np.flatnonzero(first)
    number = np.arange(len(begins)) - repeat(chain, np.diff(chain, append=len(begins)))
    are_apart: npt.NDArray[np.bool_] = number % 2 == 0
    return are_apart
