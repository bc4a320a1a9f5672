"""Answers for people: without items that share nothing, and with small collections in mind."""

from typing import Any

from setsearch.search.numeric import NumericReading
from setsearch.search.reading import Reading
from setsearch.search.request import SeedNames, parse_seeds
from setsearch.search.results import Hits


def expand_shared(reading: Reading | NumericReading, seeds: SeedNames, k: int | None, **options: Any) -> Hits:
    """The hits of `expand` that share something with the seeds.

    By default a feature counts if an item has more of it than the collection. In a collection of some sentences that
    may leave nothing; then all features of an item count.
    """
    names = parse_seeds(seeds)
    hits = reading.expand(names, k, **options).shared()
    is_chosen = options.get("binarize") is not None or options.get("cut") == "keep"
    if hits or is_chosen or isinstance(reading, NumericReading):
        return hits
    return reading.expand(names, k, **{**options, "binarize": "presence"}).shared()
