"""What an index holds, as `Index.info` shows it, and what to ask first of it."""

from itertools import islice
from typing import Any

import numpy as np

from setsearch.answers.reading import Reading
from setsearch.arrays import Ints
from setsearch.core import binding
from setsearch.errors import QueryError
from setsearch.memory.catalog import default_reading, defaults_of, list_readings
from setsearch.memory.readings import Readings
from setsearch.storage.kept.vectors import count_vectors, vector_source
from setsearch.storage.relation import Relation, of_collection, relations_by_reading
from setsearch.storage.synced_source import describe_sources

QUANTILES = (0.995, 0.99, 0.985, 0.98, 0.97, 0.95, 0.92, 0.9)  # of the items by total: not the rarest, nor the usual
LEAST_LETTERS = 4  # of a word: shorter ones are mostly function words
LOOKED_AT = 40  # items beside a quantile
FIRST_SETS, SET_SIZE = 3, 3  # that a page offers to begin with, and items of each


def sample_items(relation: Relation, transposed: bool, totals: Ints, k: int = 5) -> list[str]:
    """Up to k items, neither the rarest nor the most frequent ones by their totals; of the features if `transposed`."""
    vocabulary = relation.features if transposed else relation.items
    most, is_word = int(vocabulary.size * (1 - QUANTILES[-1])) + LOOKED_AT, transposed and relation.analyzer is not None
    order, chosen = _largest(totals, most).tolist(), dict[str, None]()
    usual = _stop_words(relation) if is_word else frozenset[str]()
    if relation.has_vectors_alone and not transposed:
        order = [*islice(vocabulary.ids(), most)]  # nothing tells how frequent they are
    for quantile in QUANTILES:
        place = int(vocabulary.size * (1 - quantile))
        near = order[place : place + LOOKED_AT]
        described = vocabulary.describe(near)  # in the order of ids, in which folders come one after another
        for name in (described[id][0] for id in near if id in described):
            if name not in chosen and (not is_word or _is_telling(name, usual)):
                chosen[name] = None
                break
    return [*chosen][:k]


def _largest(totals: Ints, most: int) -> Ints:
    """The places of the largest totals, the largest first, equal ones as they are; the others are not sorted."""
    least = np.partition(totals, -most)[-most] if most < len(totals) else 0
    places = np.flatnonzero(totals >= least)
    return places[np.argsort(-totals[places], kind="stable")][:most]


def _is_telling(word: str, usual: frozenset[str]) -> bool:
    return word.isalpha() and len(word) >= LEAST_LETTERS and word not in usual


def _stop_words(relation: Relation) -> frozenset[str]:
    """The stop words of the language of a collection; English ones if it has none, or one without a list."""
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    languages = [part for part in (relation.analyzer or "").split() if part in AVAILABLE_LANGUAGES]
    return frozenset(get_stop_words([*languages, "english"][0]))


def first_sets(reading: Reading) -> list[list[str]]:
    """Sets of items that belong together: some items, each with those that are nearest to it. Kept until a write.

    Those come first whose least member fits the other two best.
    """
    with reading.stored() as fields:
        field = fields.first
        kept: list[list[str]] | None = field.made_once.get("first sets")
        if kept is not None:
            return kept
        seeds = sample_items(fields.relation, field.transposed, field.totals, len(QUANTILES))
    sets: list[tuple[float, list[str]]] = []
    for seed in seeds:
        try:
            hits = reading.expand([seed], SET_SIZE, keep_seeds=True, fold=reading.kind == "documents").shared()
            names = [hit.item for hit in hits]  # copies of the seed are folded, too
            fits = reading.fits(names)
        except QueryError:
            continue
        if len(names) == SET_SIZE and not any(name in known for _, known in sets for name in names):
            sets.append((min((fit.score for fit in fits), default=hits[-1].score), names))
    best = [names for _, names in sorted(sets, reverse=True)[:FIRST_SETS]]
    field.made_once["first sets"] = best
    return best


def describe_index(known: list[Relation], readings: Readings, database: str, collection: str) -> dict[str, Any]:
    """Readings with counts of items, features and postings, and which fields are noise; revision, vectors, ..., core.

    Of the `known` relations those of a collection; without its name, all. Raises NoIndex.
    """
    relations, default = _relations(known, database, collection)
    postings = {relation.id: readings.files.posting_count(relation) for relation in relations}
    some = {
        vocabulary.name: sample_items(relation, transposed, readings.files.totals(relation, transposed))
        for relation in relations
        for transposed, vocabulary in ((False, relation.items), (True, relation.features))
    }
    defaults = defaults_of(relations_by_reading(relations)[default], default)
    return {
        "readings": [
            reading
            | {"posting_count": postings[relation.id], "revision": relation.revision, "some": some[reading["items"]]}
            | {"noise": readings.files.noise(relation) if reading["fields"] else []}
            for relation in relations
            for reading in list_readings([relation])
        ],
        "revision": _revision(relations),
        "mirrors": describe_sources(relations),
        "contexts": next(filter(None, (readings.describe_contexts(relation) for relation in relations)), {}),
        "vectors": {name: value for relation in relations for name, value in _vectors(relation).items()},
        "defaults": {"items": default} | defaults.describe(),
        "bytes": readings.files.sizes(relations),
        "core": binding.library() is not None,
    }


def find_revision(known: list[Relation], database: str, collection: str) -> int:
    """The revision of the index, or of a collection, and nothing else of it; raises NoIndex."""
    return _revision(_relations(known, database, collection)[0])


def _relations(known: list[Relation], database: str, collection: str) -> tuple[list[Relation], str]:
    """The relations of a collection, or all, and the reading by default; raises NoIndex."""
    default = default_reading(known, database, collection)
    return of_collection(known, collection) if collection else known, default


def _revision(relations: list[Relation]) -> int:
    return sum(relation.revision for relation in relations)


def _vectors(relation: Relation) -> dict[str, Any]:
    """Where the vectors of both sides come from, how many there are and of how many dimensions."""
    return {
        vocabulary.name: {
            "source": source.source,
            "encoder": source.name or None,
            "count": count_vectors(vocabulary),
            "dimensions": source.size,
        }
        for vocabulary in (relation.items, relation.features)
        if (source := vector_source(vocabulary)) is not None
    }
