"""Fields of words: what stands around a word, which words are listed with it, which documents it is in.

    win2    (position in -2, -1, 1, 2; word there)
    skip    the words at (-1, +1), (-2, -1, +1), (-1, +1, +2), (-2, -1), (+1, +2)
    lists   the other members of lists such as "X, Y and Z"; three members at least

Words that stand around may be any, stop words, commas and ends of sentences too. Contexts of one item only are left
out: they tie no two items together.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Entries, Ints, run_lengths, run_starts
from setsearch.text.token_stream import AND, ARTICLES, BREAK, COMMA, RARE, Stream

Pattern = tuple[int, ...]
FIELDS: dict[str, tuple[Pattern, ...]] = {
    "win2": ((-2,), (-1,), (1,), (2,)),
    "skip": ((-1, 1), (-2, -1, 1), (-1, 1, 2), (-2, -1), (1, 2)),
    "lists": ((0,),),
}
BITS = 20  # of a word in a key: the number of the pattern, then up to three words
TOP = 3 * BITS
LONGEST_LIST = 40
_list = re.compile(rf"w(?:(?:,&|,|&)a?w){{2,{LONGEST_LIST - 1}}}").finditer


@dataclass(frozen=True)
class FieldOfWords:
    """`cells`: (feature, item, count), sorted; `keys` `(n_features,)` say what each feature is."""

    cells: Entries
    keys: Ints


def field_of(name: str, stream: Stream, item_of: Ints) -> FieldOfWords:
    """One field of contexts; `item_of` `(n_words,)` is the item that a word is, or -1."""
    items = item_of[stream.tokens]
    places = np.flatnonzero(items >= 0)
    if name == "lists":
        return _counted(*_fellows(stream, item_of), 1)
    # Keys of different patterns differ, so each pattern is counted by itself, which needs less memory.
    parts = []
    for number, pattern in enumerate(FIELDS[name]):
        counted = _counted(*_around(stream.tokens, places, items, pattern), 2)
        parts.append(FieldOfWords(counted.cells, number << TOP | counted.keys))
    return _together(parts)


def _around(tokens: npt.NDArray[np.int32], places: Ints, items: Ints, pattern: Pattern) -> tuple[Ints, Ints]:
    """The words of one pattern at each place, packed, and the items there."""
    key = np.zeros(len(places), np.int64)
    whole = np.ones(len(places), bool)
    for offset in pattern:
        word = tokens[places + offset]
        whole &= word != RARE
        key = key << BITS | word
    return key[whole], items[places[whole]]


def _fellows(stream: Stream, item_of: Ints) -> tuple[Ints, Ints]:
    """(key of a fellow member, item) for each two members of a list."""
    kinds = np.full(len(stream.names), ord("w"), np.uint8)
    kinds[[RARE, BREAK, COMMA]] = [ord("w"), ord("."), ord(",")]
    for words, kind in ((AND, "&"), (ARTICLES, "a")):
        kinds[[number for number, name in enumerate(stream.names) if name in words]] = ord(kind)
    letters = kinds[stream.tokens].tobytes().decode("latin-1")
    fellows: list[Ints] = []
    items: list[Ints] = []
    for found in _list(letters):
        span = stream.tokens[found.start() : found.end()]
        members = span[kinds[span] == ord("w")].astype(np.int64)
        a, b = np.divmod(np.arange(len(members) ** 2), len(members))
        kept = (members[a] != members[b]) & (item_of[members[a]] >= 0) & (members[b] != RARE)
        items.append(item_of[members[a[kept]]])
        fellows.append(members[b[kept]])
    nothing = [np.zeros(0, np.int64)]
    return np.concatenate(fellows or nothing), np.concatenate(items or nothing)


def _counted(keys: Ints, items: Ints, least_df: int) -> FieldOfWords:
    """Equal (key, item) counted together, without the keys of fewer than `least_df` items."""
    own = None
    if keys.max(initial=0) >> 63 - BITS:  # too long to be packed with an item: numbers of keys in their place
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        begin = run_starts(keys)
        times = run_lengths(begin, len(keys))
        possible = times >= least_df
        kept = np.repeat(possible, times)
        own, items = keys[begin[possible]], items[order[kept]]
        keys = np.repeat(np.cumsum(possible) - 1, times)[kept]
    cells = np.sort(keys << BITS | items)
    first = run_starts(cells)
    counts, cells = run_lengths(first, len(cells)), cells[first]
    keys = cells >> BITS
    begin = run_starts(keys)
    df = run_lengths(begin, len(keys))
    enough = df >= least_df
    kept = np.repeat(enough, df)
    number = np.repeat(np.cumsum(enough) - 1, df)[kept]
    found = keys[begin[enough]]
    return FieldOfWords(
        Entries(number, cells[kept] & (1 << BITS) - 1, counts[kept]), found if own is None else own[found]
    )


def _together(parts: Sequence[FieldOfWords]) -> FieldOfWords:
    """Fields whose keys ascend from one to the next, as one."""
    ids = np.cumsum([0, *(len(part.keys) for part in parts)])
    lists = np.concatenate([part.cells.lists + start for part, start in zip(parts, ids, strict=False)])
    columns = [np.concatenate([part.cells[column] for part in parts]) for column in (1, 2)]
    return FieldOfWords(Entries(lists, *columns), np.concatenate([part.keys for part in parts]))


def documents_of(stream: Stream, item_of: Ints) -> Entries:
    """(document, item, count): which documents the words are in."""
    ends = np.append(stream.starts[1:], len(stream.tokens))
    begin = np.minimum(stream.starts, len(stream.tokens))
    owner = np.repeat(stream.documents, ends - begin)
    items = item_of[stream.tokens[begin[0] :]] if len(begin) else np.zeros(0, np.int64)
    there = items >= 0
    cells = np.sort(owner[there] << 32 | items[there])
    first = run_starts(cells)
    counts = np.diff(first, append=len(cells))
    return Entries(cells[first] >> 32, cells[first] & 0xFFFF_FFFF, counts)


def words_of(keys: Ints) -> Ints:
    """The numbers of all words in some keys, distinct and ascending."""
    packed = keys & (1 << TOP) - 1
    return np.unique(np.concatenate([packed >> BITS * place & (1 << BITS) - 1 for place in range(3)]))


def describe(field: str, key: int, name: Callable[[int], str]) -> str:
    """A context as people write it: "the _ of"; `name` gives the word of a number."""
    pattern = FIELDS[field][key >> TOP]
    words = [name(key >> BITS * place & (1 << BITS) - 1) for place in reversed(range(len(pattern)))]
    if field == "lists":
        return f"listed with {words[0]}"
    at = {0: "_"} | dict(zip(pattern, words, strict=True))
    return " ".join(at.get(place, "·") for place in range(min(at), max(at) + 1))
