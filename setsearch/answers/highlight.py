"""Items as a reader sees them: texts with the features marked that matter to a set, and titles from texts."""

import unicodedata
from collections.abc import Iterable, Mapping

import numpy as np

from setsearch.answers.answer import Hits
from setsearch.answers.finding import item_entries
from setsearch.answers.numeric import NumericReading
from setsearch.answers.passages import Piece, marked_pieces, texts_of, usable_analyzer, word_weights
from setsearch.answers.reading import Reading
from setsearch.answers.results import Contribution, is_informative


def item_text(reading: Reading | NumericReading, item: str) -> str | None:
    """The text of a document: the index's copy, or the synced table's; None if there is neither.

    Raises UnknownItem, AmbiguousItem.
    """
    if isinstance(reading, NumericReading):
        return None
    with reading.stored() as fields:
        ids = [] if fields.has_phrases else [fields.resolve(item)]  # words have no text
        return next(iter(texts_of(fields, ids).values()), None)


def top_features(reading: Reading | NumericReading, item: str, k: int) -> tuple[Mapping[str, float], int]:
    """The k features with the largest counts of an item, in the order of names, and the number of all its features.

    For an item with numbers, all of these. Raises UnknownItem, AmbiguousItem.
    """
    if isinstance(reading, NumericReading):
        numbers = reading.features_of(item)
        return numbers, len(numbers)
    with item_entries(reading, item) as (fields, field, entries):
        largest = np.sort(np.argsort(-entries.counts, kind="stable")[:k])
        counts = fields.named_counts(field.features, entries.ids[largest], entries.counts[largest])
        return counts, len(entries.ids)


def mark_features(reading: Reading, text: str, features: Iterable[Contribution]) -> list[Piece]:
    """A text in pieces, with each feature apart; the pieces concatenate to the text in NFC."""
    with reading.stored() as fields:
        analyzer = usable_analyzer(fields)
        return list(marked_pieces(unicodedata.normalize("NFC", text), analyzer, word_weights(analyzer, features)))


def with_headlines(reading: Reading | NumericReading, hits: Hits) -> Hits:
    """Hits whose missing titles are the headlines of their texts."""
    found = reading.headlines([hit.item for hit in hits if hit.title is None])
    kept = [hit if hit.title is not None else hit._replace(title=found.get(hit.item)) for hit in hits]
    return hits.with_hits(kept)


def titles_of(reading: Reading | NumericReading, names: Iterable[str]) -> dict[str, str]:
    """Titles that tell more than the names; where there are none, headlines of texts."""
    titles = reading.titles(names)
    titles |= reading.headlines([name for name, title in titles.items() if title is None])
    return {name: title for name, title in titles.items() if title and is_informative(title, name)}
