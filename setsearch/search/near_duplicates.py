"""Which of the best items are hits: near-duplicates are folded, and a value of a column may have so many.

Near-duplicates are documents with nearly the same words, and nearly the same in all fields together.

Among hits they are folded under the best of them. Among the seeds, and among what joins these, they count once, by the
features that have values: what is said twice says nothing new.

At most so many hits with the same value of a kept column, such as two of each author: in the order of their rank, an
item is a hit while fewer have its value. A list of values counts for each of them: one that is full leaves the item
out. An item without a value is always a hit. So the first hits are the same however many are asked for.
"""

import json
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Ints, distinct
from setsearch.core import binding
from setsearch.errors import InvalidParameter
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.models.values import ValueRule
from setsearch.scoring.best import is_core
from setsearch.search.request import AtMost
from setsearch.storage.kept.columns import require_column

Words = npt.NDArray[np.integer[Any]]  # their ids, ascending

ALIKE = 0.9  # of the words of two documents, those that both have (Jaccard)
COPIES = 0.7  # the same of examples, by the features that count: short texts differ in more of them
LEAST_WORDS = 5  # of a document; fewer are the same by chance, unless all is the same, the title too
MOST = 2000  # hits that are compared
COMPARED = 50  # hits before one with which it is compared: duplicates have nearly the same score
FOLDED = 40  # hits that are looked at beyond twice those that are wanted
SELDOM = 10  # of so many questions, one may ask for the first hits in vain


def fold(fields: Fields, ids: Sequence[int]) -> dict[int, Sequence[int]]:
    """The hits that stay, best first, each with those that are nearly the same; `ids` in the order of their rank."""
    kept: dict[int, Sequence[int]] = dict.fromkeys(ids, ())
    if not fields.are_documents:
        return kept
    looked_at = ids[:MOST]
    same = _same(fields, looked_at)
    if max(same, default=-1) < 0:
        return kept
    for id, other in zip(looked_at, same, strict=True):
        if other >= 0:
            kept[looked_at[other]] = [*kept[looked_at[other]], id]
            del kept[id]
    return kept


class Folding:
    """How often hits are folded in a collection, and the first ones alone were asked for in vain.

    Threads may share it: it decides how answers are found, and nothing in them.
    """

    def __init__(self) -> None:
        self.asked, self.in_vain = 0, 0

    @classmethod
    def of(cls, fields: Fields) -> "Folding":
        """That of a content."""
        own: Folding = fields.first.made_once.get_or_make("folding", cls)
        return own

    @property
    def is_seldom(self) -> bool:
        """Whether so few hits have near-duplicates that it pays to ask for the first ones alone."""
        return self.in_vain * SELDOM <= self.asked


def are_alone(fields: Fields, ids: Sequence[int], without: Sequence[int]) -> bool:
    """Whether surely no document but those `without` is nearly the same as one of some hits.

    A near-duplicate lacks a tenth of the words of a hit at most. So it has one of any words that are a few more, and is
    in the lists of the rarest ones, which are short.
    """
    if not fields.are_documents:
        return True
    if not is_core() or not ids:
        return False
    items, by_item = np.array(ids, np.int64), fields.first.lists(True).source()
    by_feature = fields.first.lists(False)
    if by_feature.lacks_changes:
        words, _, starts, ends = by_item
        by_feature.settle(distinct(np.concatenate([words[starts[id] : ends[id]] for id in ids])))
    lists = by_item, by_feature.as_it_is()
    return binding.alone(items, np.array(without, np.int64), *lists, ALIKE, LEAST_WORDS)


def without_copies(field: Field, rule: ValueRule, seeds: Sequence[int], ids: Sequence[int]) -> list[int]:
    """Those of some ids that are nearly the same as no seed, and none before them, by features that have values."""
    every, order = [*seeds, *ids], np.array(sorted([*seeds, *ids]), np.int64)
    lists = field.forward(every, rule)
    same = _compared(np.searchsorted(order, every), (lists.ids, lists.starts, lists.ends), COPIES, len(every))
    return [id for id, other in zip(ids, same[len(seeds) :], strict=True) if other < 0]


def _same(fields: Fields, ids: Sequence[int]) -> list[int]:
    """The place of the earlier hit that each is nearly the same as, -1 for none."""
    items = np.array(ids, np.int64)
    words, counts, starts, ends = fields.first.lists(True).source(np.sort(items))
    same, lengths = _compared(items, (words, starts, ends), ALIKE, COMPARED), (ends[items] - starts[items]).tolist()
    if (groups := fields.first.groups) is not None:  # rows may have the same tags and numbers, but other names
        every = [words[starts[id] : ends[id]] for id in items.tolist()]
        texts = [own[groups.of_feature[own] == 0] for own in every]
        same = [other if _are_equal(one, texts[other]) else -1 for one, other in zip(texts, same, strict=True)]
    short = [place for place, length in enumerate(lengths) if 0 < length < LEAST_WORDS]
    if not short:
        return same
    spans = [slice(starts[ids[place]], ends[ids[place]]) for place in short]
    texts, firsts = [(words[at].tobytes(), counts[at].tobytes()) for at in spans], dict[object, int]()
    if len({*texts}) < len(texts):  # some may be the same, but for their titles
        titles = fields.describe([ids[place] for place in short])
        for place, text in zip(short, texts, strict=True):
            same[place] = firsts.setdefault((titles[ids[place]][1], text), place)
            if same[place] == place:
                same[place] = -1
    return same


def _compared(items: Ints, lists: tuple[Words, Ints, Ints], share: float, back: int) -> list[int]:
    """The same of some lists, each compared with `back` earlier ones that are the same as none.

    `lists`: the words of all, and where each list starts and ends. `share`: of their words, that two must both have.
    """
    words, starts, ends = lists
    if is_core():
        source = np.ascontiguousarray(words, np.int32), words, starts, ends
        found: list[int] = binding.fold(items, source, share, LEAST_WORDS, back).tolist()
        return found
    own = [words[start:end] for start, end in zip(starts[items].tolist(), ends[items].tolist(), strict=True)]
    same: list[int] = []
    firsts: list[int] = []
    for place, one in enumerate(own):
        same.append(next((first for first in reversed(firsts[-back:]) if _are_alike(one, own[first], share)), -1))
        if same[-1] < 0:
            firsts.append(place)
    return same


def _are_equal(one: Words, other: Words) -> bool:
    """Whether two texts have nearly the same words, or the same if they are short."""
    return np.array_equal(one, other) or _are_alike(one, other, ALIKE)


def _are_alike(one: Words, other: Words, share: float) -> bool:
    """Whether two sorted lists of words are nearly the same."""
    short, long = sorted((len(one), len(other)))
    if short < max(LEAST_WORDS, share * long):
        return False
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both >= share * (short + long - both)


def first_of_each(fields: Fields, ids: Sequence[int], at_most: AtMost) -> list[int]:
    """The ids that stay, of ids in the order of their rank. Raises InvalidParameter for a column that nobody kept."""
    if not fields.have_columns:
        raise InvalidParameter(f"`per` names a column that was kept of documents, not of {fields.items.name}")
    columns = fields.columns_of(ids)
    if not any(at_most.per in own for own in columns.values()):
        require_column(fields.relation, at_most.per)
    kept, counts = [], Counter[Hashable]()
    for id in ids:
        values = _values(columns.get(id, {}).get(at_most.per))
        if all(counts[value] < at_most.most for value in values):
            counts.update(values)
            kept.append(id)
    return kept


def _values(value: Any) -> set[Hashable]:
    """The values of an item that count: none for null and for an empty text."""
    parts = value if isinstance(value, list) else [value]
    plain = (json.dumps(part, sort_keys=True) if isinstance(part, (list, dict)) else part for part in parts)
    return {part for part in plain if part not in (None, "")}
