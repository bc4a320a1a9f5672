"""Which items may be meant, while somebody types."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from setsearch.arrays import Ints
from setsearch.search.numeric import NumericReading
from setsearch.search.reading import Reading
from setsearch.storage.names import Kind, storable

CANDIDATES = 20_000  # of one spelling
SCANNED = 200_000  # names in which a word in the middle is looked for
WHOLE, BEGINNING, MIDDLE = range(3)  # how well a name fits
Fitting = dict[str, tuple[int, int, str | None]]


class Suggestion(NamedTuple):
    """An item that begins as asked; `total` is the sum of the counts of its features, 0 for items with numbers."""

    item: str
    title: str | None
    total: int


def complete(reading: Reading | NumericReading, prefix: str, k: int = 10) -> list[Suggestion]:
    """The k items whose id or title begins with a text, in upper or lower case; those with most in them first.

    Before them stands what is just the text; where they are fewer, in collections of up to 200,000 items, those follow
    in which a later word begins so.
    """
    found: Fitting = {}
    if prefix and not storable(prefix):
        return []
    with _names(reading) as (cursor, kind, totals, phrases):
        _add(found, cursor, kind, totals, prefix, k)
    if phrases:  # which are items of the contexts alone
        with reading.fields() as fields:
            _add(found, fields.cursor, fields.items, fields.first.totals(fields.cursor), prefix, k)
    ranked = sorted(found.items(), key=lambda row: (row[1][0], -row[1][1], row[0]))
    return [Suggestion(name, title, total) for name, (_, total, title) in ranked[:k]]


def near(reading: Reading | NumericReading, name: str) -> list[str]:
    """What may be meant by a name that is nobody's: the ids that bear it as a title, else ids and titles like it."""
    with _names(reading) as (cursor, kind, _, _):
        return [id for _, id in kind.titled(cursor, name)] or kind.near(cursor, name)


@contextmanager
def _names(reading: Reading | NumericReading) -> Iterator[tuple[sqlite3.Cursor, Kind, Ints | None, bool]]:
    """The names of the items, what each has in total, and whether there are phrases besides."""
    if isinstance(reading, NumericReading):
        with reading.names() as (cursor, kind):
            yield cursor, kind, None, False
        return
    with reading.plain() as fields:
        phrases = fields.first.transposed and fields.first.relation.contexts == "phrases"
        yield fields.cursor, fields.items, fields.first.totals(fields.cursor), phrases


def _add(found: Fitting, cursor: sqlite3.Cursor, kind: Kind, totals: Ints | None, prefix: str, k: int) -> None:
    spellings = dict.fromkeys((prefix, prefix.lower(), prefix.upper(), prefix.capitalize(), prefix.title()))
    ids = {id for spelling in spellings for id in kind.starting(cursor, spelling, CANDIDATES)}
    middle = []
    if prefix and len(ids) < k and kind.size <= SCANNED:
        middle = kind.with_word_starting(cursor, prefix.lower(), CANDIDATES)
    whole = prefix.casefold()
    for id, (name, title) in kind.describe(cursor, sorted({*ids, *middle})).items():
        place = BEGINNING if id in ids else MIDDLE
        if whole in (name.casefold(), (title or name).casefold()):
            place = WHOLE
        total = 0 if totals is None else int(totals[id])
        found[name] = min(found.get(name, (MIDDLE + 1, 0, title)), (place, total, title), key=lambda fit: fit[0])
