"""How contexts came to know a word, or why they do not, in words."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from setsearch.arrays import Ints
from setsearch.errors import LostArrays
from setsearch.search.fields import Fields
from setsearch.text.contexts import LARGEST_LEAST_COUNT
from setsearch.text.token_stream import FREQUENT_COUNT

NAMES = "uses", "occurrences", "least uses"  # of the stored arrays
RARE, NEWER, LEFT_OUT = "too rare for contexts", "newer than the contexts", "left out by an earlier version's contexts"
NEWER_OR_RARE = "newer than the contexts, or each of its forms is too rare for them"


class WordUses:
    """The uses of the words of a generation, read when they are first needed."""

    def __init__(self, size: int, load: Callable[[sqlite3.Cursor, str], Any], generation: int | None) -> None:
        self._size, self._load, self._generation = size, load, generation
        self._known: tuple[Ints, Ints, int] | None = None

    def sample(self, cursor: sqlite3.Cursor, id: int) -> tuple[int, int] | None:
        """How many uses of a word tell its neighbors, and how many there are; None if all do. Raises LostArrays."""
        uses, occurrences, _ = self._read(cursor)
        return (int(uses[id]), int(occurrences[id])) if uses[id] < occurrences[id] else None

    def least(self, cursor: sqlite3.Cursor) -> int:
        """How often a word had to be used to have contexts. Raises LostArrays."""
        return self._read(cursor)[2]

    def _read(self, cursor: sqlite3.Cursor) -> tuple[Ints, Ints, int]:
        if self._known is None:
            uses, occurrences, least = (self._load(cursor, name) for name in NAMES)
            if not len(uses) == len(occurrences) == self._size or len(least) != 1:
                raise LostArrays("the stored uses of words", self._generation)
            self._known = uses, occurrences, int(least[0])
        return self._known


def word_notes(fields: Fields | None, stored: Callable[[], Fields | None], seeds: Sequence[str]) -> Iterator[str]:
    """What is so of seeds whose contexts are missing, or are those of some of their uses."""
    if fields is None:
        return
    known = {seed: fields.knows(seed) for seed in seeds}
    for phrase in map(" ".join, pairwise(seeds)) if fields.relation.has_phrases else ():
        if fields.knows(phrase):
            yield f"{phrase!r} is a phrase, too; in quotes it is one example"
    rare = [seed for seed in seeds if not known[seed]]
    documents = stored() if rare else None
    reasons: dict[str, list[str]] = {}
    for seed in rare if documents is not None else ():
        reasons.setdefault(_why_unknown(fields, documents, seed), []).append(seed)
    for reason, names in reasons.items():
        yield without_contexts_note(names, reason, len(rare) == len(seeds))
    if fields.uses is None:
        return
    for seed in seeds:
        sample = fields.uses.sample(fields.first.cursor, fields.resolve(seed)) if known[seed] else None
        if sample is not None:
            yield f"{seed}: contexts from a sample of {sample[0]:,} of its {sample[1]:,} uses"


def without_contexts_note(names: Sequence[str], reason: str, are_all: bool) -> str:
    """What it means for an answer that some of its seeds, or all, have no contexts."""
    only = "its documents count" if len(names) == 1 else "their documents count"
    return f"{', '.join(names)}: {reason}, so {'the answer is by documents' if are_all else f'only {only}'}"


def _why_unknown(fields: Fields, documents: Fields | None, seed: str) -> str:
    """Why contexts do not know a word that the documents have."""
    assert documents is not None
    used = int(documents.first.totals()[documents.resolve(seed)])
    if fields.uses is None and used > FREQUENT_COUNT:
        return LEFT_OUT
    least = LARGEST_LEAST_COUNT if fields.uses is None else fields.uses.least(fields.first.cursor)
    phrase = _phrase_with(fields, seed) if used >= least and documents.has_phrases else None
    if phrase is not None:
        return f"nearly always part of a phrase, such as {phrase!r}"
    if used < least or fields.contexts_revision == documents.relation.revision:
        return RARE
    has_forms = documents.analyzer is not None and documents.analyzer.has_stems
    return NEWER_OR_RARE if has_forms else NEWER


def _phrase_with(fields: Fields, seed: str) -> str | None:
    """The most frequent phrase that has a word; None without any."""
    cursor, word = fields.first.cursor, seed.lower()
    phrases = fields.items.stored(cursor, fields.items.containing(cursor, word))
    ids = [id for id, (name, _) in phrases.items() if word in name.split()]
    totals = fields.first.totals()
    return phrases[max(ids, key=lambda id: (totals[id], -id))][0] if ids else None
