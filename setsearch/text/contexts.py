"""Co-occurrence contexts of words: neighbors, fellow members of lists, and documents.

    win2    (position in -2, -1, 1, 2; word there)
    skip    the words at (-1, +1), (-2, -1, +1), (-1, +1, +2), (-2, -1), (+1, +2)
    lists   the other members of lists such as "X, Y and Z" with at least three members (Hearst patterns)
    titled  the words of documents that have the word as their title, as in a dictionary

Neighbors may be any tokens, also stop words, commas and ends of sentences. Contexts of a single item are dropped: they
connect no two items. Of a word that makes up more than a 300th of the text, neighbors are those of a sample of its
uses: about as many as a word has that makes up just this share.
"""

import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import (
    HASH,
    STEP,
    Array,
    Entries,
    Ids,
    Ints,
    bincount,
    distinct,
    offsets,
    pack,
    positions,
    ranks_of,
    repeat,
    run_lengths,
    run_starts,
    take,
)
from setsearch.core.indexing import sort
from setsearch.core.threads import give_back, side_by_side
from setsearch.text.analyzer import Analyzer
from setsearch.text.pieces import simple_characters
from setsearch.text.token_stream import (
    ARTICLES,
    BREAK,
    COMMA,
    CONJUNCTIONS,
    FIRST_WORD,
    RARE,
    TokenStream,
    most_frequent,
)
from setsearch.text.words import Words, without_marks

Pattern = tuple[int, ...]
Slice = tuple[int, int]  # of words: the first number, and the one behind the last
Put = Callable[..., list[Array]]  # gives the same arrays, which may be elsewhere

BITS = 20  # of a word in a key; a key is the number of the pattern and up to three words
LIST: Pattern = (0,)  # these two are no offsets, but one word anywhere
TITLED: Pattern = (1 << BITS,)
FARTHEST = 2  # no offset is larger: as many BREAKs are before and behind each document (text/token_stream.py)
FIELDS: dict[str, tuple[Pattern, ...]] = {
    "win2": ((-2,), (-1,), (1,), (2,)),
    "skip": ((-1, 1), (-2, -1, 1), (-1, 1, 2), (-2, -1), (1, 2)),
    "lists": (LIST,),
    "titled": (TITLED,),
}
LEAST_ITEMS = {LIST: 1}  # that must share a context of a pattern; 2 of others
PATTERN_SHIFT = 3 * BITS
LISTED, OWN_TEXT = "listed with ", "its own text has "  # before a word, in words
LONGEST_LIST = 40  # members
TOKENS_OF_STEP = 1 << 20  # that are counted at once
LARGEST_LEAST_COUNT = 20  # uses that a word needs in the largest collections
PAIRS_OF_SLICE, MOST_SLICES = 1 << 21, 4  # that are counted at once; slices of a pattern, each of which reads all words
SAMPLE = 1 << 14  # tokens that tell where slices begin
ALL_WORDS = 0, 1 << BITS  # a slice
ALL_USES = 1 << 32  # the share of uses that is all of them

_find_lists = re.compile(rf"w(?:(?:,&|,|&)a?w){{2,{LONGEST_LIST - 1}}}").finditer


class ContextField(NamedTuple):
    """`cells`: (feature, item, count), sorted; `keys` `(n_features,)`: the contexts that the features stand for."""

    cells: Entries
    keys: Ints


def least_count(n_tokens: int) -> int:
    """How often a word must occur to be an item: 20 times in six million tokens, 8 times in one million."""
    return max(2, min(LARGEST_LEAST_COUNT, math.isqrt(n_tokens) // 120))


class Items(NamedTuple):
    """The words that are items: their `names`, sorted, and the item `of` each word, -1 for none, `(n_words,)`.

    `occurrences` `(n_items,)`: how often each is used; `shares` `(n_words,)`, in 2^-32: which part of the uses of a
    word tells its neighbors.
    """

    of: Ints
    names: list[str]
    occurrences: Ints
    shares: Ints


def choose_items(names: Sequence[str], counts: Ints, n_tokens: int, analyzer: Analyzer) -> Items:
    """The items among words, given how often each occurs; a phrase is named as people write it."""
    enough = counts >= least_count(n_tokens)
    chosen = [
        number
        for number in range(FIRST_WORD, len(names))
        if enough[number] and any(map(str.isalnum, names[number])) and analyzer.term(names[number])
    ]
    written = {number: analyzer.words.phrase(names[number]) for number in chosen}
    chosen.sort(key=written.__getitem__)
    item_of = np.full(len(names), -1, np.int64)
    item_of[chosen] = np.arange(len(chosen))
    shares = np.minimum(most_frequent(n_tokens) / np.maximum(counts, 1), 1.0) * ALL_USES
    return Items(item_of, [written[number] for number in chosen], counts[chosen], shares.astype(np.int64))


class _Task(NamedTuple):
    """A slice of the pattern of this number in its field."""

    field: str
    number: int
    pattern: Pattern
    words: Slice


class ContextPairs:
    """The contexts of each occurrence of an item in a stream, given the names of its documents, and their titles.

    `titles` are as `words_of_titles` writes them. `uses` `(n_items,)`: how many uses of an item tell its neighbors.
    """

    def __init__(self, stream: TokenStream, items: Items, documents: Iterable[str], titles: Iterable[str]) -> None:
        self._stream, self._item_of = stream, items.of.astype(np.int32)
        numbers = dict(zip(stream.names, range(len(stream.names)), strict=True))
        self._owners = self._item_of[np.fromiter((numbers.get(title, RARE) for title in titles), np.int64)]
        is_used = take(items.of >= 0, stream.tokens)
        often = np.flatnonzero(is_used & take(items.shares < ALL_USES, stream.tokens))
        left_out = _hashes(stream, documents, often) >= items.shares[stream.tokens[often]]
        is_used[often[left_out]] = False
        self._begins = _narrow(np.flatnonzero(is_used) - FARTHEST)
        self._items = take(self._item_of, stream.tokens[is_used])
        self.uses: Ints = bincount(self._items, minlength=len(items.names))

    def slices(self, pattern: Pattern) -> list[Slice]:
        """Slices of the first words of a pattern, ascending, with about as many pairs each."""
        count = 1 if pattern in (LIST, TITLED) else min(-(-len(self._begins) // PAIRS_OF_SLICE), MOST_SLICES)
        sample = np.sort(self._stream.tokens[:: len(self._stream.tokens) // SAMPLE + 1])
        cuts = {int(sample[len(sample) * number // count]) for number in range(1, count)} - {*ALL_WORDS}
        return [*pairwise([ALL_WORDS[0], *sorted(cuts), ALL_WORDS[1]])]

    def of(self, pattern: Pattern, words: Slice = ALL_WORDS) -> tuple[Ints, Ids]:
        """The key of a context of this pattern and the item, for each time that they meet; of a slice of neighbors."""
        if pattern == LIST:
            return _list_members(self._stream, self._item_of)
        if pattern == TITLED:
            return _titled(self._stream, self._owners)
        return _neighbors(self._stream.tokens, (self._begins, self._items), pattern, words)


def _hashes(stream: TokenStream, documents: Iterable[str], places: Ints) -> Ints:
    """Numbers below 2^32 that look random, by the document of a place and how far behind its beginning that is.

    So a sample depends on the content only, whoever wrote it in which order, and wherever it is derived.
    """
    codes = np.fromiter((zlib.crc32(name.encode()) for name in documents), np.uint64)
    owners = np.searchsorted(stream.starts, places, side="right") - 1
    numbers = codes[owners] << np.uint64(32) | (places - stream.starts[owners]).astype(np.uint64)
    return (numbers * HASH >> np.uint64(32)).astype(np.int64)


def context_fields(pairs: ContextPairs, put: Put = lambda *arrays: [*arrays]) -> Iterator[tuple[str, ContextField]]:
    """The fields of contexts by name, whose arrays are where `put` puts them."""

    def count(task: _Task) -> ContextField:
        give_back()
        return _put(_count(pairs, task), put)

    # Keys of different patterns and slices differ, so that each is counted by itself. numpy sorts in several threads.
    patterns = [(name, *own) for name, patterns in FIELDS.items() for own in enumerate(patterns)]
    tasks = [_Task(*own, words) for own in patterns for words in pairs.slices(own[-1])]
    counted = zip(tasks, side_by_side(count, tasks), strict=True)
    for name, parts in groupby(counted, lambda own: own[0].field):
        yield name, _concatenate([(task.number, part) for task, part in parts], put)


def _put(field: ContextField, put: Put) -> ContextField:
    *columns, keys = put(*field.cells, field.keys)
    return ContextField(Entries(*columns), keys)


def _narrow(numbers: Ints) -> Array:
    """Numbers of four bytes, if they fit."""
    return numbers.astype(np.int32) if len(numbers) and numbers[-1] < np.iinfo(np.int32).max else numbers


def _neighbors(tokens: Ids, places: tuple[Array, Ids], pattern: Pattern, words: Slice) -> tuple[Ints, Ids]:
    """The packed words of one pattern, the first one of a slice, around the items, given what is FARTHEST before each.

    `places`: these, ascending, and the items.
    """
    begins, items = places
    keys, own, count = np.empty(len(begins), np.int64), np.empty(len(begins), np.int32), 0
    for at in range(0, len(begins), STEP):  # few at once stay in the cache
        begin, item = begins[at : at + STEP], items[at : at + STEP]
        if words != ALL_WORDS:
            first = take(tokens[FARTHEST + pattern[0] :], begin)
            inside = np.flatnonzero((first >= words[0]) & (first < words[1]))
            begin, item = take(begin, inside), take(item, inside)
        key, valid = np.zeros(len(begin), np.int64), np.True_
        for offset in pattern:
            word = take(tokens[FARTHEST + offset :], begin)
            valid = valid & (word != RARE)
            key <<= BITS
            key |= word
        kept = np.flatnonzero(valid)
        end = count + len(kept)
        keys[count:end], own[count:end] = take(key, kept), take(item, kept)
        count = end
    return keys[:count], own[:count]


def _list_members(stream: TokenStream, item_of: Ids) -> tuple[Ints, Ids]:
    """(key of a fellow member, item) for each two members of a list."""
    kinds = np.full(len(stream.names), ord("w"), np.uint8)
    kinds[[RARE, BREAK, COMMA]] = [ord("w"), ord("."), ord(",")]
    for words, kind in ((CONJUNCTIONS, "&"), (ARTICLES, "a")):
        kinds[[number for number, name in enumerate(stream.names) if name in words]] = ord(kind)
    letters = take(kinds, stream.tokens)
    spans = [match.span() for match in _find_lists(letters.tobytes().decode("latin-1"))]
    begin, end = np.array(spans, np.int64).reshape(-1, 2).T
    is_member = letters == ord("w")
    n_before = offsets(is_member)  # members before each place
    members, lengths = stream.tokens[is_member], n_before[end] - n_before[begin]
    places = positions(n_before[begin], lengths)  # of the members that are in lists
    sizes = repeat(lengths, lengths)
    ones = repeat(members[places], sizes)
    others = members[positions(repeat(n_before[begin], lengths), sizes)]
    selected = (ones != others) & (item_of[ones] >= 0) & (others != RARE)
    return others[selected].astype(np.int64), item_of[ones[selected]]


def _titled(stream: TokenStream, owners: Ids) -> tuple[Ints, Ids]:
    """(word, item) for each word of a document that has an item as its title."""
    own = np.flatnonzero(owners >= 0)
    ends = np.append(stream.starts[1:], len(stream.tokens))
    lengths = np.maximum(ends[own] - stream.starts[own], 0)  # the last document may be empty
    words = stream.tokens[positions(stream.starts[own], lengths)].astype(np.int64)
    is_word = words >= FIRST_WORD
    return words[is_word], repeat(owners[own], lengths)[is_word]


def _count(pairs: ContextPairs, task: _Task) -> ContextField:
    """Count the equal pairs (key, item) of a slice of a pattern, and drop the keys of too few items."""
    keys, items = pairs.of(task.pattern, task.words)  # nobody else has them: they are gone when they were used
    original, least_df = None, LEAST_ITEMS.get(task.pattern, 2)
    if keys.max(initial=0) >> 63 - BITS:  # too long to pack with an item: replace keys by their ranks
        sort(keys, items)
        cells, original = rank_keys(keys, items, least_df)
    else:
        cells = keys
        cells <<= BITS
        cells |= items
    del keys, items
    sort(cells)
    entries, kept = count_cells(cells, least_df)
    return ContextField(entries, kept if original is None else original[kept])


def rank_keys(keys: Ints, items: Ids, least: int) -> tuple[Ints, Ints]:
    """Pairs (key, item), sorted by keys, of those that occur `least` times: a number for each pair, and these keys.

    A number has the rank of the key among these, and the item.
    """
    selected, ranks, kept = _frequent(keys, least)
    return pack(ranks, items[selected], BITS), kept


def count_cells(cells: Ints, least: int) -> tuple[Entries, Ints]:
    """Sorted numbers, of keys and items, as entries (rank of the key, item, how often), and the keys.

    Keys of fewer than `least` items are left out.
    """
    first = run_starts(cells)
    counts, cells = run_lengths(first, len(cells)), cells[first]
    selected, ranks, kept = _frequent(cells >> BITS, least)
    return Entries(ranks, cells[selected] & (1 << BITS) - 1, counts[selected]).narrow(), kept


def _frequent(keys: Ints, least: int) -> tuple[npt.NDArray[np.bool_], Ints, Ints]:
    """Which of some sorted keys occur `least` times, the rank of each of these among them, and they themselves once."""
    begin = run_starts(keys)
    times = run_lengths(begin, len(keys))
    enough = times >= least
    selected = repeat(enough, times)
    return selected, repeat(ranks_of(enough), times)[selected], keys[begin[enough]]


def _concatenate(numbered: Sequence[tuple[int, ContextField]], put: Put) -> ContextField:
    """The slices of patterns as one field: the number of its pattern is put before each key."""
    parts = [part for _, part in numbered]
    ids = np.cumsum([0, *(len(part.keys) for part in parts)]).tolist()
    (lists,) = put(np.concatenate([part.cells.lists + start for part, start in zip(parts, ids, strict=False)]))
    columns = [put(np.concatenate([part.cells[column] for part in parts]))[0] for column in (1, 2)]
    keys = np.concatenate([number << PATTERN_SHIFT | part.keys for number, part in numbered])
    return ContextField(Entries(lists, *columns), keys)


def document_field(stream: TokenStream, item_of: Ints) -> Entries:
    """(document, item, count): the documents of the words."""
    ends = np.append(stream.starts[1:], len(stream.tokens))
    order = np.argsort(stream.documents)
    lengths = np.maximum(ends - stream.starts, 0)[order]  # the last document may be empty
    cuts = np.searchsorted(np.cumsum(lengths), np.arange(0, len(stream.tokens), TOKENS_OF_STEP))
    parts = [Entries(*np.zeros((3, 0), np.int32))]
    for first, last in pairwise([*distinct(cuts).tolist(), len(order)]):
        own = order[first:last]
        items = item_of[stream.tokens[positions(stream.starts[own], lengths[first:last])]]
        is_item = items >= 0
        cells = pack(repeat(stream.documents[own], lengths[first:last])[is_item], items[is_item])
        sort(cells)
        begin = run_starts(cells)
        counts = run_lengths(begin, len(cells))
        parts.append(Entries(cells[begin] >> 32, cells[begin] & 0xFFFF_FFFF, counts).narrow())
    return Entries(*map(np.concatenate, zip(*parts, strict=True)))


def words_of_titles(words: Words, documents: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    """The titles of documents (name, title) as items are written; without a title, the name without folder and ending.

    What is in parentheses, as in "Mercury (planet)", is no part of a title.
    """
    is_simple = simple_characters().issuperset
    for name, given in documents:
        stem = name.rpartition("/")[2].partition(".")[0]
        named = given or ("" if stem.isdecimal() else stem)  # a number names no subject
        title = named.partition(" (")[0]
        yield title.lower() if is_simple(title) else " ".join(without_marks(words.tokens(title)))


def parts_of_keys(keys: Ints, numbers: Ints) -> list[Ints]:
    """What keys consist of, `(n_keys,)` each: the number of the pattern, and what is given of the word in a place."""
    places = range(PATTERN_SHIFT // BITS)
    return [keys >> PATTERN_SHIFT, *(numbers[keys >> BITS * place & (1 << BITS) - 1] for place in places)]


def describe_context(field: str, key: int, name: Callable[[int], str]) -> str:
    """A context in words, such as "the _ of"; `name` gives the word of a number."""
    pattern = FIELDS[field][key >> PATTERN_SHIFT]
    words = [name(key >> BITS * place & (1 << BITS) - 1) for place in reversed(range(len(pattern)))]
    if field in ("lists", "titled"):
        return (LISTED if field == "lists" else OWN_TEXT) + words[0]
    at = {0: "_"} | dict(zip(pattern, words, strict=True))
    return " ".join(at.get(place, "·") for place in range(min(at), max(at) + 1))
