"""What to ask first of an index that one does not know: some of its items, and sets of items that belong together."""

from setsearch.errors import QueryError
from setsearch.search.reading import Reading

QUANTILES = (0.995, 0.99, 0.985, 0.98, 0.97, 0.95, 0.92, 0.9)  # of the items by total: not the rarest, nor the usual
LEAST_LETTERS = 4  # of a word: shorter ones are mostly function words
LOOKED_AT = 40  # items beside a quantile


def sample_items(reading: Reading, k: int = 5) -> list[str]:
    """Up to k items, neither the rarest nor the most frequent ones."""
    with reading.stored() as fields:
        totals = fields.first.totals()
        order = totals.argsort(kind="stable")
        order = order[totals[order] > 0]
        chosen: dict[str, None] = {}
        for quantile in QUANTILES:
            place = min(int(len(order) * quantile), len(order) - 1)
            near = order[max(place - LOOKED_AT, 0) : place + 1][::-1].tolist() if len(order) else []
            for name, _ in fields.describe(near).values():
                if name not in chosen and (reading.name != "terms" or (name.isalpha() and len(name) >= LEAST_LETTERS)):
                    chosen[name] = None
                    break
        return [*chosen][:k]


def first_sets(reading: Reading, n_sets: int = 3, size: int = 3) -> list[list[str]]:
    """Sets of items that belong together: some items, each with those that are nearest to it."""
    sets: list[tuple[float, list[str]]] = []
    for seed in sample_items(reading, len(QUANTILES)):
        try:
            hits = reading.expand([seed], size - 1, explain=False).shared()
        except QueryError:
            continue
        if len(hits) == size - 1 and not any(hit.item in known for _, known in sets for hit in hits):
            sets.append((hits[-1].score, [seed, *(hit.item for hit in hits)]))
    return [names for _, names in sorted(sets, reverse=True)[:n_sets]]
