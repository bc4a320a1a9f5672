"""An item as a reader sees it: its text, and where the features stand in it that matter."""

import re
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
from setsearch.storage.sql import quoted, table_named
from setsearch.storage.synced_source import FTS5, TABLE, columns_from, load_origin
from setsearch.storage.texts import unpack
from setsearch.text.analyzer import Analyzer

_word = re.compile(r"\w+")


class Piece(NamedTuple):
    """A part of a text; `weight`, in nats, is what the feature in it adds to the score, 0 between such features."""

    text: str
    weight: float = 0.0


def text_of(reading: Reading | NumericReading, item: str) -> str | None:
    """The text of a document: as the index keeps it for contexts, or as the mirrored table has it; None without either.

    Raises UnknownItem, AmbiguousItem.
    """
    if isinstance(reading, NumericReading):
        return None
    with reading.plain() as fields:
        return _text(fields, fields.resolve(item))


def most_of(reading: Reading | NumericReading, item: str, k: int) -> tuple[Mapping[str, float], int]:
    """The k features of which an item has most, with counts, in the order of their names, and how many it has.

    Of an item with numbers, all of these. Raises UnknownItem, AmbiguousItem.
    """
    if isinstance(reading, NumericReading):
        numbers = reading.features_of(item)
        return numbers, len(numbers)
    with reading.plain() as fields:
        entries = fields.first.forward.read(fields.cursor, [fields.resolve(item)])
        most = np.sort(np.argsort(-entries.counts, kind="stable")[:k])
        return fields.named(fields.first.features, entries.ids[most], entries.counts[most]), len(entries.ids)


def marked(reading: Reading, text: str, features: Iterable[Contribution]) -> list[Piece]:
    """A text cut into pieces, those with a feature apart; their texts sum to the text, composed (NFC)."""
    with reading.plain() as fields:
        analyzer = fields.analyzer
        weights = _weights(analyzer, features)
        return list(_pieces(unicodedata.normalize("NFC", text), analyzer, weights))


def _text(fields: Fields, id: int) -> str | None:
    cursor, relation = fields.cursor, fields.first.relation
    if fields.first.transposed:
        return None
    row = cursor.execute(
        "select text from setsearch_text where relation = ? and item = ?", (relation.id, id)
    ).fetchone()
    if row is not None:
        return unpack(row[0])
    return _text_of_host(cursor, relation, fields.describe([id])[id][0])


def _text_of_host(cursor: sqlite3.Cursor, relation: Relation, name: str) -> str | None:
    """What the text columns of a mirrored table hold; None where the row is gone, or its table."""
    origin = load_origin(cursor, relation)
    if origin is None or origin.kind not in (TABLE, FTS5):
        return None
    columns = columns_from(origin)
    if columns.items:
        return None
    chosen = ", ".join(map(_own, columns.texts)) if columns.text or origin.kind == TABLE else "*"
    where = f"from {table_named(origin.place)} t where {_own(origin.key)}"
    try:
        rows = cursor.execute(f"select {chosen} {where} = ?", (name,)).fetchall()
        if not rows and name.lstrip("-").isdecimal():  # a column without a type holds numbers as numbers
            rows = cursor.execute(f"select {chosen} {where} = ?", (int(name),)).fetchall()
    except sqlite3.OperationalError:  # the table is no longer as it was: an update will tell
        return None
    return "\n".join("" if cell is None else str(cell) for row in rows for cell in row) or None


def _own(column: str) -> str:
    """A column as SQL writes it; without the table, SQLite takes the name of one that is gone for a text."""
    return "t." + quoted(column)


def _weights(analyzer: Analyzer | None, features: Iterable[Contribution]) -> dict[str, float]:
    """Weights by term: a feature may be shown in a form that is not the term itself."""
    weights: dict[str, float] = {}
    for feature in features:
        forms = {feature.feature}
        if analyzer is not None and analyzer.known:
            forms.update(analyzer(feature.feature))
        weights |= dict.fromkeys(forms, feature.weight)
    return weights


def _pieces(text: str, analyzer: Analyzer | None, weights: dict[str, float]) -> Iterator[Piece]:
    known: dict[str, float] = {}
    end = 0
    for match in _word.finditer(text):
        word = match.group()
        if word not in known:
            terms = set(analyzer(word)) if analyzer is not None and analyzer.known else {word}
            known[word] = sum(weights.get(term, 0.0) for term in terms)
        if known[word]:
            if match.start() > end:
                yield Piece(text[end : match.start()])
            yield Piece(word, known[word])
            end = match.end()
    if end < len(text):
        yield Piece(text[end:])
