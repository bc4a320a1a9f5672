"""The chance that an item is right in a saved set that grows.

The odds are estimated by

    exp(a + b v + c v0) u0 / n        v = h - 1/2 max(0, h_o)

where h and h_o are its heights in the set and in its best rival (rivals.py). v0 is the same for the members that did
not come by growing, so that a set does not drift from these, and u0 their unit (top - floor, in nats). n is the number
of items, within SIZES: the more there are, the more are as like the set by chance. a, b and c are fitted on collections
with classes (benchmarks/LOG.md). How hard a collection is nobody knows from examples alone: what people said of items
with a chance p, in a set or in its group, multiplies the odds by exp(d), where

    d = sum(1 if it is right else 0 - 1 / (1 + exp(-d) (1 - p) / p))        the most likely one, if d is normal (0, 1)

of which half counts above 0, for what came first was easy.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from setsearch.answers.saved.rivals import OTHERS
from setsearch.answers.saved.stored import IS_MEMBER, StoredSets
from setsearch.answers.saved.together import Row
from setsearch.arrays import Floats

CHANCE = (5.9, 1.14, 3.0)  # a, b, c
SIZES = 262, 17_610  # items of the smallest and of the largest of these
EASY = 0.5  # of a d above 0
STEPS, NEARLY = 50, 1e-9  # towards d, at most; what is no step, nor a chance


class Growing(NamedTuple):
    """A set that grows: what it says of items now, and by the members that did not come by growing alone.

    `waits`: the ids of items that wait for a person.
    """

    name: str
    now: Row
    first: Row
    waits: Sequence[int]


def chances(own: Growing, d: float = 0.0) -> Floats:
    """The chance of each item to be right in a set, `(n_ids,)`."""
    constant, now, before = CHANCE
    constant += unit_for_each(own.first) + d
    return _chances(constant + now * beside(own.now) + before * beside(own.first))


def unit_for_each(first: Row) -> float:
    """ln(u0 / n) of a set."""
    given = first.standing
    size = min(max(given.fields.items.size, SIZES[0]), SIZES[1])
    return math.log(max(given.weighed.unit, np.finfo(float).tiny) / size)


def beside(row: Row) -> Floats:
    """v of each item."""
    own: Floats = row.heights - OTHERS * np.maximum(row.best, 0.0)
    return own


def odds_of(stored: StoredSets, names: Iterable[str]) -> dict[str, float]:
    """d of some sets, by what people said of items of their groups."""
    groups = stored.groups()
    rows = stored.cursor.execute(
        "select name, chance, accepted from setsearch_member "
        f"where round is null and chance is not null and {IS_MEMBER} order by chance, accepted"
    ).fetchall()
    said: dict[tuple[str, bool], list[tuple[float, int]]] = {}
    for name, chance, accepted in rows:
        said.setdefault((groups.of.get(name, name), name in groups.of), []).append((chance, accepted))
    likely = {of: most_likely(own) for of, own in said.items()}
    found = {of: d * (EASY if d > 0 else 1.0) for of, d in likely.items()}
    return {name: found.get((groups.of.get(name, name), name in groups.of), 0.0) for name in names}


def most_likely(said: Sequence[tuple[float, int]]) -> float:
    """d by chances, and whether they came true; by Newton's method."""
    logits, wanted, d = _logits(np.array([own for own, _ in said])), float(sum(right for _, right in said)), 0.0
    for _ in range(STEPS):
        p = _chances(logits + d)
        step = float(wanted - p.sum() - d) / float((p * (1 - p)).sum() + 1)
        d += max(min(step, 1.0), -1.0)
        if abs(step) < NEARLY:
            break
    return d


def by_odds(chance: float, d: float) -> float:
    """A chance by what people said, too."""
    return float(_chances(_logits(np.array([chance])) + d)[0]) if d else chance


def _logits(chances: Floats) -> Floats:
    own = chances.clip(NEARLY, 1 - NEARLY)
    return np.asarray(np.log(own / (1 - own)))


def _chances(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logits.clip(-50, 50))))
