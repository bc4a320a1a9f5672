"""Suggestions while somebody types the name of an item."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from setsearch.arrays import Ints
from setsearch.search.numeric import NumericReading
from setsearch.search.reading import Reading
from setsearch.storage.names import Vocabulary, is_storable

MOST_CANDIDATES = 20_000  # of one spelling
MOST_SCANNED = 200_000  # names in which later words are searched
WHOLE, BEGINNING, LATER_WORD = range(3)  # how well a name matches

Matches = dict[str, tuple[int, int, str | None]]  # name -> quality, total, title


class Suggestion(NamedTuple):
    """An item that matches; `total` is the sum of the counts of its features, 0 for items with numbers."""

    item: str
    title: str | None
    total: int


def complete(reading: Reading | NumericReading, prefix: str, k: int = 10) -> list[Suggestion]:
    """The k items whose id or title begins with a text, in any case; exact matches first, then by total.

    If there are fewer, and the collection has at most 200,000 items, those follow in which a later word begins so.
    """
    matches: Matches = {}
    if prefix and not is_storable(prefix):
        return []
    with _vocabulary(reading) as (cursor, vocabulary, totals, has_phrases):
        _add(matches, cursor, vocabulary, totals, prefix, k)
    if has_phrases and isinstance(reading, Reading):  # phrases are items of the contexts only
        with reading.fields() as fields:
            _add(matches, fields.first.cursor, fields.items, fields.first.totals(), prefix, k)
    ranked = sorted(matches.items(), key=lambda row: (row[1][0], -row[1][1], row[0]))
    return [Suggestion(name, title, total) for name, (_, total, title) in ranked[:k]]


def similar_names(reading: Reading | NumericReading, name: str) -> list[str]:
    """What an unknown name may mean: the ids with this title, else similar ids and titles."""
    with _vocabulary(reading) as (cursor, vocabulary, _, _):
        return [id for _, id in vocabulary.titled(cursor, name)] or vocabulary.similar(cursor, name)


@contextmanager
def _vocabulary(
    reading: Reading | NumericReading,
) -> Iterator[tuple[sqlite3.Cursor, Vocabulary, Ints | None, bool]]:
    """The names of the items, their totals, and whether there are phrases besides."""
    if isinstance(reading, NumericReading):
        with reading.vocabulary() as (cursor, vocabulary):
            yield cursor, vocabulary, None, False
        return
    with reading.stored() as fields:
        snapshot = fields.first.snapshot
        has_phrases = snapshot.transposed and fields.relation.contexts == "phrases"
        yield fields.first.cursor, fields.items, fields.first.totals(), has_phrases


def _add(
    matches: Matches, cursor: sqlite3.Cursor, vocabulary: Vocabulary, totals: Ints | None, prefix: str, k: int
) -> None:
    spellings = dict.fromkeys((prefix, prefix.lower(), prefix.upper(), prefix.capitalize(), prefix.title()))
    ids = {id for spelling in spellings for id in vocabulary.starting_with(cursor, spelling, MOST_CANDIDATES)}
    later = []
    if prefix and len(ids) < k and vocabulary.size <= MOST_SCANNED:
        later = vocabulary.with_word_starting(cursor, prefix.lower(), MOST_CANDIDATES)
    folded = prefix.casefold()
    for id, (name, title) in vocabulary.describe(cursor, sorted({*ids, *later})).items():
        quality = BEGINNING if id in ids else LATER_WORD
        if folded in (name.casefold(), (title or name).casefold()):
            quality = WHOLE
        total = 0 if totals is None else int(totals[id])
        worst = (LATER_WORD + 1, 0, title)
        matches[name] = min(matches.get(name, worst), (quality, total, title), key=lambda match: match[0])
