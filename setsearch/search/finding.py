"""Finding an item by its name: what somebody typed, in any case, any part of it, or with small errors."""

import sqlite3

from setsearch.arrays import Ints
from setsearch.errors import InvalidParameter
from setsearch.search.numeric import NumericReading
from setsearch.search.reading import Reading
from setsearch.search.results import Found
from setsearch.storage.names import Vocabulary

AnyReading = Reading | NumericReading


def find_names(reading: AnyReading, text: str, k: int = 10) -> list[Found]:
    """The k items whose id or title matches a text best.

    First those that are the text, then those that begin with it, have it at a later word, have it inside, have all its
    words, or are similar to it; in any case; equal ones by total. What begins with the text hides what is similar.
    """
    if not isinstance(text, str) or not isinstance(k, int) or k < 1:
        raise InvalidParameter(f"a name is found by a text, and k is at least 1, not {text!r:.40} and {k!r:.40}")
    best: dict[str, tuple[tuple[int, float, int, str], Found]] = {}

    def look(cursor: sqlite3.Cursor, vocabulary: Vocabulary, totals: Ints | None) -> None:
        for one in vocabulary.search(cursor, text, k):
            total = 0 if totals is None else int(totals[one.id])
            shown = vocabulary.titles_shown and one.title is not None
            found = Found(str(one.title), None, total) if shown else Found(one.name, one.title, total)
            best.setdefault(one.name, ((*one.order, -total, one.name), found))

    if isinstance(reading, NumericReading):
        with reading.vocabulary() as (cursor, vocabulary):
            look(cursor, vocabulary, None)
    else:
        with reading.stored() as fields:
            look(fields.first.cursor, fields.items, fields.first.totals())
            has_phrases = fields.first.snapshot.transposed and fields.relation.contexts == "phrases"
        if has_phrases:  # these are items of the contexts only
            with reading.fields() as fields:
                look(fields.first.cursor, fields.items, fields.first.totals())
    return [found for _, found in sorted(best.values())[:k]]
