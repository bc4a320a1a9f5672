"""Passages of documents: their texts, the words that matter to a set, and the part that speaks most for it."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import ascii_uppercase, whitespace
from typing import NamedTuple

import numpy as np

from setsearch.answers.results import Contribution, Snippet
from setsearch.memory.fields import Fields
from setsearch.sqlite.sql import as_stored, main_table, quote
from setsearch.storage.kept.texts import read_texts
from setsearch.storage.synced_source import FTS5, TABLE, SyncedSource, load_source
from setsearch.text.analyzer import Analyzer
from setsearch.text.headline import headline
from setsearch.text.words import UNICODE, Places, words_of_kind

WIDTH = 180  # characters of a snippet, and some more up to the ends of words
MARKED = 12  # features that say most for a set; words of these are marked
LEAST_SHARE = 1 / 5  # of the weight of the first feature, that a marked one has
LONGEST_WORD = 24  # characters by which a snippet may be longer to end with a word
LOOKED_AT = 200_000  # characters of a text
_blanks, _between_blanks, _beyond_ascii = re.compile(r"\s+"), re.compile(r"\S+"), re.compile("[^\x00-\x7f]+")
# What never belongs to a word of letters and digits, nor joins two; nothing, too, where a text begins and ends.
_APART = frozenset(["", *whitespace, *'()[]{}<>"-;:!?/\\|=*&%$@^~`'])
_STOPS = frozenset([mark + other for mark in ".," for other in _APART])  # behind a word, they do not either

Marked = tuple[int, int, float]  # where a word begins and ends, and its weight


class Piece(NamedTuple):
    """A part of a text; `weight`, in nats, is what its feature adds to the score, 0 between features."""

    text: str
    weight: float = 0.0


def find_headlines(fields: Fields, names: Sequence[str]) -> dict[str, str]:
    """The headlines of those documents whose text is known."""
    ids = fields.items.find(list(names))
    found = {id: headline(text) for id, text in texts_of(fields, [*ids.values()]).items()}
    return {name: title for name, id in ids.items() if (title := found.get(id)) is not None}


def usable_analyzer(fields: Fields) -> Analyzer | None:
    """The analyzer of a collection, unless it is the application's and was not given."""
    return fields.analyzer if fields.analyzer is not None and fields.analyzer.is_available else None


def make_snippets(fields: Fields, parts: Mapping[int, Sequence[Contribution]]) -> dict[int, Snippet]:
    """The passages of documents that speak most for a set, of those that have a text; `parts` of their scores by id."""
    analyzer = usable_analyzer(fields)
    forms: dict[str, set[str]] = {}
    snippets: dict[int, Snippet] = {}
    for id, text in texts_of(fields, [*parts]).items():
        own = parts[id]
        least = max(LEAST_SHARE * own[0].weight, 0.0) if own else 0.0
        telling = [(feature, weight) for feature, weight, _ in own[:MARKED] if weight > least]
        forms |= {feature: _forms(analyzer, feature) for feature, _ in telling if feature not in forms}
        weights = {form: weight for feature, weight in telling for form in forms[feature]}
        own_text = unicodedata.normalize("NFC", text[:LOOKED_AT])
        snippets[id] = best_passage(own_text, marked_places(own_text, analyzer, weights))
    return snippets


def best_passage(text: str, marked: Iterable[Marked]) -> Snippet:
    """The passage of about WIDTH characters whose different marked words weigh most; the first one of equals."""
    places = [place for place in marked if place[2] > 0]
    begin, stop = _heaviest(text, places)
    begin = max(begin - max(WIDTH - (stop - begin), 0) // 3, 0)
    begin, stop = _word_start(text, begin), _word_end(text, max(stop, begin + WIDTH))
    return _cut(text, begin, stop, [(start, end) for start, end, _ in places])


def _heaviest(text: str, places: Sequence[Marked]) -> tuple[int, int]:
    """From the first to the last marked word of the best passage."""
    best, chosen, words = 0.0, (0, 0), [text[start:end].lower() for start, end, _ in places]
    seen, total, first = dict.fromkeys(words, 0), 0.0, 0
    for word, (_, end, weight) in zip(words, places, strict=True):
        total += weight * (seen[word] == 0)
        seen[word] += 1
        while end - places[first][0] > WIDTH and places[first][1] < end:
            left = words[first]
            seen[left] -= 1
            total -= places[first][2] * (seen[left] == 0)
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
    part, lead = text[begin:stop], "… " if text[:begin].strip() else ""
    is_even = part.isprintable() and "  " not in part  # its blanks are single spaces
    line = part if is_even else _blanks.sub(" ", part)
    marks = []
    for start, after in places:
        if begin <= start and after <= stop:
            place = len(lead) + (start - begin if is_even else len(_blanks.sub(" ", text[begin:start])))
            marks.append((place, place + after - start))
    return Snippet(f"{lead}{line.rstrip()}{' …' if text[stop:].strip() else ''}", tuple(marks))


def texts_of(fields: Fields, ids: Sequence[int]) -> dict[int, str]:
    """The texts of documents, by id: the index's copy, or the synced table's; of none that has neither."""
    cursor, relation = fields.cursor, fields.relation
    if fields.first.transposed or fields.contexts_revision is not None:
        return {}  # words, not documents
    texts = dict(read_texts(relation, np.array(sorted(ids), np.int64)))
    missing = [id for id in ids if id not in texts]
    source = load_source(relation) if missing else None
    if source is not None and source.kind in (TABLE, FTS5) and not source.roles.items:
        found = {id: _text_of_row(cursor, source, name) for id, (name, _) in fields.describe(missing).items()}
        texts |= {id: text for id, text in found.items() if text}
    return texts


def _text_of_row(cursor: sqlite3.Cursor, source: SyncedSource, name: str) -> str:
    """The text columns of a row of the synced table; empty if the row or the table is gone."""
    columns = source.roles
    texts = ", ".join(as_stored(_column(own)) for own in columns.texts) if columns.text or source.kind == TABLE else "*"
    statement = f"select {texts} from {main_table(source.name)} t where {_column(source.key)} = ?"
    try:
        rows = cursor.execute(statement, (name,)).fetchall()
        if not rows and name.lstrip("-").isdecimal():  # an untyped column holds numbers as numbers
            rows = cursor.execute(statement, (int(name),)).fetchall()
    except (sqlite3.OperationalError, OverflowError):  # the table has changed, or no column holds such a number
        return ""
    return "\n".join("" if cell is None else str(cell) for row in rows for cell in row)


def _column(name: str) -> str:
    """A column of the table t; without the t, SQLite takes the name of a missing column for a text."""
    return "t." + quote(name)


def word_weights(analyzer: Analyzer | None, features: Iterable[Contribution]) -> dict[str, float]:
    """Weights by term: the displayed form of a feature may differ from the term."""
    return {form: part.weight for part in features for form in _forms(analyzer, part.feature)}


def _forms(analyzer: Analyzer | None, feature: str) -> set[str]:
    """A feature as it is displayed, and its term."""
    terms = [] if analyzer is None else analyzer.terms(feature)
    return {feature, *terms} if len(terms) == 1 else {feature}  # not the terms of pairs


def marked_pieces(text: str, analyzer: Analyzer | None, weights: Mapping[str, float]) -> Iterator[Piece]:
    """A text in pieces, with each word apart that has a weight."""
    end = 0
    for start, stop, weight in marked_places(text, analyzer, weights):
        if start > end:
            yield Piece(text[end:start])
        yield Piece(text[start:stop], weight)
        end = stop
    if end < len(text):
        yield Piece(text[end:])


def marked_places(text: str, analyzer: Analyzer | None, weights: Mapping[str, float]) -> Iterator[Marked]:
    """Where the words of a text are that have a weight, and these; pairs of characters that overlap are cut."""
    places = Places(words_of_kind(UNICODE), lambda word: [word]) if analyzer is None else analyzer.places
    found, pieces = _found_apart(text, weights) if analyzer and analyzer.keeps_words else ([], _pieces(text))
    for begin, after in pieces:
        for start, stop, terms in places[text[begin:after]]:
            weight = 0.0
            for term in terms:
                if term in weights:
                    weight += weights[term]
            found.append((begin + start, begin + stop, weight))
    end = 0
    for start, stop, weight in sorted(found):
        if weight and stop > end:
            yield max(start, end), stop, weight
            end = stop


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """What stands between blanks: where it begins and ends."""
    return (match.span() for match in _between_blanks.finditer(text))


def _found_apart(text: str, weights: Mapping[str, float]) -> tuple[list[Marked], Iterable[tuple[int, int]]]:
    """Where words of plain letters stand apart from others, and the pieces between blanks that must be cut for more.

    These have one of the words elsewhere, but not as a part of another, or letters beyond ASCII.
    """
    is_plain, found = text.isascii(), list[Marked]()
    lower = text.lower() if is_plain else text.translate(_lower_and_even())
    unsure = [] if is_plain else [match.start() for match in _beyond_ascii.finditer(lower)]
    for word, weight in weights.items():
        place, size, is_simple = lower.find(word) if word else -1, len(word), word.isascii() and word.isalnum()
        while place >= 0:
            before, after, end = lower[place - 1 : place], lower[place + size : place + size + 1], place + size
            is_apart = before in _APART and (after in _APART or lower[end : end + 2] in _STOPS)
            if is_simple and is_apart:
                found.append((place, end, weight))
            elif not (before.isalnum() or after.isalnum()):
                unsure.append(place)
            place = lower.find(word, place + 1)
    even = text.translate(_lower_and_even()) if is_plain and unsure else lower
    return found, _pieces_at(even, sorted(unsure))


def _pieces_at(even: str, places: Iterable[int]) -> Iterator[tuple[int, int]]:
    """What stands between spaces at ascending places, each once."""
    after = 0
    for place in places:
        if place >= after:
            begin, end = even.rfind(" ", 0, place) + 1, even.find(" ", place)
            after = end if end >= 0 else len(even)
            yield begin, after


@cache
def _lower_and_even() -> dict[int, str]:
    """Letters of ASCII in lower case, and a space for each blank (the last one is U+3000): as many characters."""
    blanks = {code: " " for code in range(0x3001) if chr(code).isspace()}
    return blanks | {ord(letter): letter.lower() for letter in ascii_uppercase}
