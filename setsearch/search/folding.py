"""Near-duplicates among hits: documents with nearly the same words are folded under the best of them."""

from collections.abc import Sequence

import numpy as np

from setsearch.core import binding
from setsearch.memory.fields import Field, Fields
from setsearch.scoring.kernels import is_core

ALIKE = 0.9  # of the words of two documents, those that both have (Jaccard)
LEAST_WORDS = 5  # of a document; fewer are the same by chance
MOST = 2000  # hits that are compared
COMPARED = 50  # hits before one with which it is compared: duplicates have nearly the same score
FOLDED = 40  # hits that are looked at beyond twice those that are wanted


def fold(fields: Fields, ids: Sequence[int]) -> dict[int, list[int]]:
    """The hits that stay, best first, each with those that are nearly the same; `ids` are in the order of their rank.

    Only documents are folded: other items that share all their features are not the same thing.
    """
    kept: dict[int, list[int]] = {id: [] for id in ids}
    if fields.relation.analyzer is None or fields.first.snapshot.transposed or fields.contexts_revision is not None:
        return kept
    looked_at = ids[:MOST]
    for id, other in zip(looked_at, _same(fields.first, looked_at), strict=True):
        if other >= 0:
            kept[looked_at[other]].append(id)
            del kept[id]
    return kept


def _same(field: Field, ids: Sequence[int]) -> list[int]:
    """The place of the earlier hit that each is nearly the same as, -1 for none."""
    ascending = np.array(sorted(ids), np.int64)
    if is_core():
        items, lists = np.array(ids, np.int64), field.read_lists(ascending)
        return [*binding.fold(items, lists, ALIKE, LEAST_WORDS, COMPARED).tolist()]
    entries = field.read_forward(ascending.tolist())
    starts, ends = (np.searchsorted(entries.lists, ascending, side) for side in ("left", "right"))
    words = {id: entries.ids[a:b] for id, a, b in zip(ascending.tolist(), starts, ends, strict=True)}
    same: list[int] = []
    firsts: list[int] = []
    for place, id in enumerate(ids):
        alike = (other for other in reversed(firsts[-COMPARED:]) if _are_alike(words[id], words[ids[other]]))
        same.append(next(alike, -1))
        if same[-1] < 0:
            firsts.append(place)
    return same


def _are_alike(one: "np.typing.NDArray[np.int64]", other: "np.typing.NDArray[np.int64]") -> bool:
    """Whether two sorted lists of words are nearly the same."""
    short, long = sorted((len(one), len(other)))
    if short < max(LEAST_WORDS, ALIKE * long):
        return False
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both >= ALIKE * (short + long - both)
