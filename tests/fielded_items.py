"""Items with fields beside their texts, and indexes of them in memory."""

import random
import sqlite3

import setsearch
from setsearch import Item

WORDS = [f"w{n}" for n in range(40)]


def made(seed, count=60):
    """Items with texts, tags with counts, a year, and nothing in some of these."""
    rng = random.Random(seed)
    items = []
    for number in range(count):
        text = " ".join(rng.choices(WORDS, range(40, 0, -1), k=rng.choice([0, 4, 30])))
        fields = {"tags": {f"t{rng.randrange(9)}": rng.randint(1, 3) for _ in range(rng.randint(0, 4))}}
        if rng.random() < 0.8:
            fields["year"] = float(rng.randint(1990, 2010))
        items.append(Item(f"i{number}", text, None, None, fields))
    return items


def opened(items, **options):
    index = setsearch.open(sqlite3.connect(":memory:"), **options)
    index.add(items)
    return index


def answers(reading, seeds, **options):
    return [(hit.item, hit.score) for hit in reading.expand(seeds, 99, **options)]
