"""What to ask first of an index that one does not know: some of its items, and sets of items that belong together."""

import sqlite3
from itertools import islice

from setsearch.errors import QueryError
from setsearch.search.reading import Reading
from setsearch.storage.relation import Relation

QUANTILES = (0.995, 0.99, 0.985, 0.98, 0.97, 0.95, 0.92, 0.9)  # of the items by total: not the rarest, nor the usual
LEAST_LETTERS = 4  # of a word: shorter ones are mostly function words
LOOKED_AT = 40  # items beside a quantile


def sample_items(cursor: sqlite3.Cursor, relation: Relation, transposed: bool, k: int = 5) -> list[str]:
    """Up to k items, neither the rarest nor the most frequent ones; of the features if `transposed`."""
    vocabulary = relation.features if transposed else relation.items
    table, is_word = "posting" if transposed else "forward", transposed and relation.analyzer is not None
    most = int(vocabulary.size * (1 - QUANTILES[-1])) + LOOKED_AT
    rows = cursor.execute(
        f"select list from setsearch_{table} where relation = ? group by list order by sum(total) desc, list limit ?",
        (relation.id, most),
    )
    order, chosen = [list_ for (list_,) in rows], dict[str, None]()
    if relation.has_vectors_alone and not transposed:
        order = [*islice(vocabulary.ids(cursor), most)]  # nothing tells how frequent they are
    for quantile in QUANTILES:
        place = int(vocabulary.size * (1 - quantile))
        for name, _ in vocabulary.describe(cursor, order[place : place + LOOKED_AT]).values():
            if name not in chosen and (not is_word or (name.isalpha() and len(name) >= LEAST_LETTERS)):
                chosen[name] = None
                break
    return [*chosen][:k]


def first_sets(reading: Reading, n_sets: int = 3, size: int = 3) -> list[list[str]]:
    """Sets of items that belong together: some items, each with those that are nearest to it."""
    with reading.stored() as fields:
        seeds = sample_items(fields.first.cursor, fields.relation, fields.first.snapshot.transposed, len(QUANTILES))
    sets: list[tuple[float, list[str]]] = []
    for seed in seeds:
        try:
            hits = reading.expand([seed], size - 1).shared()
        except QueryError:
            continue
        if len(hits) == size - 1 and not any(hit.item in known for _, known in sets for hit in hits):
            sets.append((hits[-1].score, [seed, *(hit.item for hit in hits)]))
    return [names for _, names in sorted(sets, reverse=True)[:n_sets]]
