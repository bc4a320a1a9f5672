"""Passages of documents: their texts, the words that matter to a set, and the part that speaks most for it."""

import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.answers.results import Contribution, Snippet
from setsearch.memory.fields import Fields
from setsearch.sqlite.sql import main_table, quote
from setsearch.storage.documents import read_texts
from setsearch.storage.relation import Relation
from setsearch.storage.synced_source import FTS5, TABLE, load_source
from setsearch.text.analyzer import Analyzer
from setsearch.text.headline import headline
from setsearch.text.places import Places
from setsearch.text.words import UNICODE, words_of_kind

WIDTH = 180  # characters of a snippet, and some more up to the ends of words
MARKED = 12  # features that say most for a set; words of these are marked
LEAST_SHARE = 1 / 5  # of the weight of the first feature, that a marked one has
LONGEST_WORD = 24  # characters by which a snippet may be longer to end with a word
LOOKED_AT = 200_000  # characters of a text
_blanks, _between_blanks = re.compile(r"\s+"), re.compile(r"\S+")


Marked = tuple[int, int, float]  # where a word begins and ends, and its weight


class Piece(NamedTuple):
    """A part of a text; `weight`, in nats, is what its feature adds to the score, 0 between features."""

    text: str
    weight: float = 0.0


def find_headlines(fields: Fields, names: Sequence[str]) -> dict[str, str]:
    """The headlines of those documents whose text is known."""
    ids = fields.items.find(fields.first.cursor, list(names))
    texts = {name: text_of(fields, id) for name, id in ids.items()}
    found = {name: headline(text) for name, text in texts.items() if text is not None}
    return {name: title for name, title in found.items() if title is not None}


def usable_analyzer(fields: Fields) -> Analyzer | None:
    """The analyzer of a collection, unless it is the application's and was not given."""
    return fields.analyzer if fields.analyzer is not None and fields.analyzer.is_available else None


def make_snippet(fields: Fields, id: int, features: Sequence[Contribution]) -> Snippet | None:
    """The passage of a document that speaks most for a set; None for an item without a text."""
    text = text_of(fields, id)
    if text is None:
        return None
    analyzer = usable_analyzer(fields)
    least = LEAST_SHARE * features[0].weight if features else 0.0
    weights = word_weights(analyzer, [part for part in features[:MARKED] if part.weight > max(least, 0.0)])
    text = unicodedata.normalize("NFC", text[:LOOKED_AT])
    return best_passage(text, marked_places(text, analyzer, weights))


def best_passage(text: str, marked: Iterable[Marked]) -> Snippet:
    """The passage of about WIDTH characters whose different marked words weigh most; the first one of equals."""
    places = [(start, end, text[start:end].lower(), weight) for start, end, weight in marked if weight > 0]
    begin, stop = _heaviest(places)
    begin = max(begin - max(WIDTH - (stop - begin), 0) // 3, 0)
    begin, stop = _word_start(text, begin), _word_end(text, max(stop, begin + WIDTH))
    return _cut(text, begin, stop, [place[:2] for place in places])


def _heaviest(places: Sequence[tuple[int, int, str, float]]) -> tuple[int, int]:
    """From the first to the last marked word of the best passage."""
    best, chosen = 0.0, (0, 0)
    seen, total, first = Counter[str](), 0.0, 0
    for _, end, word, weight in places:
        total += weight * (seen[word] == 0)
        seen[word] += 1
        while end - places[first][0] > WIDTH and places[first][1] < end:
            left = places[first]
            seen[left[2]] -= 1
            total -= left[3] * (seen[left[2]] == 0)
            first += 1
        if total > best + 1e-9:
            best, chosen = total, (places[first][0], end)
    return chosen


def _word_start(text: str, place: int) -> int:
    """The place, or the beginning of the next word if it is near."""
    if place == 0 or text[place - 1].isspace():
        return place
    found = _blanks.search(text, place, place + LONGEST_WORD)
    return found.end() if found else place


def _word_end(text: str, place: int) -> int:
    found = _blanks.search(text, place, place + LONGEST_WORD)
    return found.start() if found else min(place, len(text))


def _cut(text: str, begin: int, stop: int, places: Iterable[tuple[int, int]]) -> Snippet:
    """A part of a text on one line, with the places of its marked words."""
    shown, marks, end = "… " if text[:begin].strip() else "", [], begin
    for start, after in places:
        if begin <= start and after <= stop:
            shown += _blanks.sub(" ", text[end:start])
            marks.append((len(shown), len(shown) + after - start))
            shown += text[start:after]
            end = after
    shown += _blanks.sub(" ", text[end:stop]).rstrip()
    return Snippet(shown + (" …" if text[stop:].strip() else ""), tuple(marks))


def text_of(fields: Fields, id: int) -> str | None:
    """The text of a document: the index's copy, or the synced table's; None if there is neither."""
    cursor, relation = fields.first.cursor, fields.relation
    if fields.first.snapshot.transposed or fields.contexts_revision is not None:
        return None  # words, not documents
    for _, text in read_texts(cursor, relation, np.array([id])):
        return text
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
    except (sqlite3.OperationalError, OverflowError):  # the table has changed, or no column holds such a number
        return None
    return "\n".join("" if cell is None else str(cell) for row in rows for cell in row) or None


def _column(name: str) -> str:
    """A column of the table t; without the t, SQLite takes the name of a missing column for a text."""
    return "t." + quote(name)


def word_weights(analyzer: Analyzer | None, features: Iterable[Contribution]) -> dict[str, float]:
    """Weights by term: the displayed form of a feature may differ from the term."""
    weights: dict[str, float] = {}
    for feature in features:
        forms = {feature.feature}
        if analyzer is not None:
            terms = analyzer.terms(feature.feature)
            forms.update(terms if len(terms) == 1 else ())  # not those of pairs
        weights |= dict.fromkeys(forms, feature.weight)
    return weights


def marked_pieces(text: str, analyzer: Analyzer | None, weights: dict[str, float]) -> Iterator[Piece]:
    """A text in pieces, with each word apart that has a weight."""
    end = 0
    for start, stop, weight in marked_places(text, analyzer, weights):
        if start > end:
            yield Piece(text[end:start])
        yield Piece(text[start:stop], weight)
        end = stop
    if end < len(text):
        yield Piece(text[end:])


def marked_places(text: str, analyzer: Analyzer | None, weights: dict[str, float]) -> Iterator[Marked]:
    """Where the words of a text are that have a weight, and these; pairs of characters that overlap are cut."""
    places = Places(words_of_kind(UNICODE), lambda word: [word]) if analyzer is None else analyzer.places
    end = 0
    for match in _between_blanks.finditer(text):
        for start, stop, terms in places[match[0]]:
            weight = 0.0
            for term in terms:
                if term in weights:
                    weight += weights[term]
            if weight and match.start() + stop > end:
                first, end = max(match.start() + start, end), match.start() + stop
                yield first, end, weight
