"""An item as a reader sees it: its text, with the features marked that matter to a set."""

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from setsearch.search.fields import Fields
from setsearch.search.numeric import NumericReading
from setsearch.search.reading import Reading
from setsearch.search.results import Contribution
from setsearch.storage.relation import Relation
from setsearch.storage.sql import main_table, quote
from setsearch.storage.synced_source import FTS5, TABLE, load_source
from setsearch.storage.texts import decompress
from setsearch.text.analyzer import Analyzer
from setsearch.text.words import UNICODE, words_of_kind


class Piece(NamedTuple):
    """A part of a text; `weight`, in nats, is what its feature adds to the score, 0 between features."""

    text: str
    weight: float = 0.0


def item_text(reading: Reading | NumericReading, item: str) -> str | None:
    """The text of a document: the index's copy, or the synced table's; None if there is neither.

    Raises UnknownItem, AmbiguousItem.
    """
    if isinstance(reading, NumericReading):
        return None
    with reading.stored() as fields:
        return _text(fields, fields.resolve(item))


def top_features(reading: Reading | NumericReading, item: str, k: int) -> tuple[Mapping[str, float], int]:
    """The k features with the largest counts of an item, in the order of names, and the number of all its features.

    For an item with numbers, all of these. Raises UnknownItem, AmbiguousItem.
    """
    if isinstance(reading, NumericReading):
        numbers = reading.features_of(item)
        return numbers, len(numbers)
    with reading.stored() as fields:
        entries = fields.first.read_forward([fields.resolve(item)])
        largest = np.sort(np.argsort(-entries.counts, kind="stable")[:k])
        counts = fields.named_counts(fields.first.features, entries.ids[largest], entries.counts[largest])
        return counts, len(entries.ids)


def mark_features(reading: Reading, text: str, features: Iterable[Contribution]) -> list[Piece]:
    """A text in pieces, with each feature apart; the pieces concatenate to the text in NFC."""
    with reading.stored() as fields:
        analyzer = fields.analyzer if fields.analyzer is not None and fields.analyzer.is_available else None
        return list(_pieces(unicodedata.normalize("NFC", text), analyzer, _weights(analyzer, features)))


def _text(fields: Fields, id: int) -> str | None:
    cursor, relation = fields.first.cursor, fields.relation
    if fields.first.snapshot.transposed:
        return None
    row = cursor.execute(
        "select text from setsearch_text where relation = ? and item = ?", (relation.id, id)
    ).fetchone()
    if row is not None:
        return decompress(row[0])
    return _text_of_table(cursor, relation, fields.describe([id])[id][0])


def _text_of_table(cursor: sqlite3.Cursor, relation: Relation, name: str) -> str | None:
    """The text columns of a row of the synced table; None if the row or the table is gone."""
    source = load_source(cursor, relation)
    if source is None or source.kind not in (TABLE, FTS5):
        return None
    columns = source.roles
    if columns.items:
        return None
    texts = ", ".join(map(_column, columns.texts)) if columns.text or source.kind == TABLE else "*"
    statement = f"select {texts} from {main_table(source.name)} t where {_column(source.key)} = ?"
    try:
        rows = cursor.execute(statement, (name,)).fetchall()
        if not rows and name.lstrip("-").isdecimal():  # an untyped column holds numbers as numbers
            rows = cursor.execute(statement, (int(name),)).fetchall()
    except sqlite3.OperationalError:  # the table has changed: the next sync will tell
        return None
    return "\n".join("" if cell is None else str(cell) for row in rows for cell in row) or None


def _column(name: str) -> str:
    """A column of the table t; without the t, SQLite takes the name of a missing column for a text."""
    return "t." + quote(name)


def _weights(analyzer: Analyzer | None, features: Iterable[Contribution]) -> dict[str, float]:
    """Weights by term: the displayed form of a feature may differ from the term."""
    weights: dict[str, float] = {}
    for feature in features:
        forms = {feature.feature}
        if analyzer is not None:
            forms.update(analyzer(feature.feature))
        weights |= dict.fromkeys(forms, feature.weight)
    return weights


def _pieces(text: str, analyzer: Analyzer | None, weights: dict[str, float]) -> Iterator[Piece]:
    words = words_of_kind(UNICODE) if analyzer is None else analyzer.words
    weight_of: dict[str, float] = {}
    end = 0  # of the last marked word; pairs of characters overlap
    for start, stop, word in words.spans(text):
        if word not in weight_of:
            terms = {word} if analyzer is None else set(analyzer(word))
            weight_of[word] = sum(weights.get(term, 0.0) for term in terms)
        if not weight_of[word]:
            continue
        begin = max(start, end)
        if begin > end:
            yield Piece(text[end:begin])
        if stop > begin:
            yield Piece(text[begin:stop], weight_of[word])
        end = stop
    if end < len(text):
        yield Piece(text[end:])
