"""What to ask first of an index that one does not know: some of its items, and sets of items that belong together."""

import sqlite3
from contextlib import suppress
from itertools import islice

import numpy as np

from setsearch.arrays import Ints
from setsearch.errors import LostArrays, QueryError
from setsearch.search.reading import Reading
from setsearch.storage.generations import LISTS, find_generation, read_array
from setsearch.storage.relation import Relation

QUANTILES = (0.995, 0.99, 0.985, 0.98, 0.97, 0.95, 0.92, 0.9)  # of the items by total: not the rarest, nor the usual
LEAST_LETTERS = 4  # of a word: shorter ones are mostly function words
LOOKED_AT = 40  # items beside a quantile


def sample_items(cursor: sqlite3.Cursor, relation: Relation, transposed: bool, k: int = 5) -> list[str]:
    """Up to k items, neither the rarest nor the most frequent ones; of the features if `transposed`."""
    vocabulary = relation.features if transposed else relation.items
    most, is_word = int(vocabulary.size * (1 - QUANTILES[-1])) + LOOKED_AT, transposed and relation.analyzer is not None
    totals = _totals(cursor, relation, transposed)
    order, chosen = np.argsort(-totals, kind="stable")[:most].tolist(), dict[str, None]()
    usual = _stop_words(relation) if is_word else frozenset[str]()
    if relation.has_vectors_alone and not transposed:
        order = [*islice(vocabulary.ids(cursor), most)]  # nothing tells how frequent they are
    for quantile in QUANTILES:
        place = int(vocabulary.size * (1 - quantile))
        for name, _ in vocabulary.describe(cursor, order[place : place + LOOKED_AT]).values():
            if name not in chosen and (not is_word or _is_telling(name, usual)):
                chosen[name] = None
                break
    return [*chosen][:k]


def _totals(cursor: sqlite3.Cursor, relation: Relation, transposed: bool) -> Ints:
    """The sum of counts of each item: as it was when the lists were derived; else from the table, which takes long."""
    generation = find_generation(cursor, relation.id, LISTS)
    if generation is not None:
        with suppress(LostArrays):
            return read_array(cursor, generation, f"{'features' if transposed else 'items'} totals")
    lists, names = (relation.postings, relation.features) if transposed else (relation.forward, relation.items)
    return lists.frequencies(cursor, names.next_id)[1]


def _is_telling(word: str, usual: frozenset[str]) -> bool:
    return word.isalpha() and len(word) >= LEAST_LETTERS and word not in usual


def _stop_words(relation: Relation) -> frozenset[str]:
    """The stop words of the language of a collection; English ones if it has none, or one without a list."""
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    languages = [part for part in (relation.analyzer or "").split() if part in AVAILABLE_LANGUAGES]
    return frozenset(get_stop_words([*languages, "english"][0]))


def first_sets(reading: Reading, n_sets: int = 3, size: int = 3) -> list[list[str]]:
    """Sets of items that belong together: some items, each with those that are nearest to it. Kept until a write.

    Those come first whose least member fits the other two best.
    """
    with reading.stored() as fields:
        snapshot = fields.first.snapshot
        kept = snapshot.kept_starters.get((n_sets, size))
        if kept is not None:
            return kept
        seeds = sample_items(fields.first.cursor, fields.relation, snapshot.transposed, len(QUANTILES))
    sets: list[tuple[float, list[str]]] = []
    for seed in seeds:
        try:
            hits = reading.expand([seed], size - 1, fold=reading.kind == "documents").shared()
            fits = reading.fits([seed, *(hit.item for hit in hits)])
        except QueryError:
            continue
        if len(hits) == size - 1 and not any(hit.item in known for _, known in sets for hit in hits):
            sets.append((min((fit.score for fit in fits), default=hits[-1].score), [seed, *(hit.item for hit in hits)]))
    best = [names for _, names in sorted(sets, reverse=True)[:n_sets]]
    return snapshot.kept_starters.get_or_make((n_sets, size), lambda: best)
