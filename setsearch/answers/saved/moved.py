"""Items under other names: files that were moved or renamed have the same words as before."""

from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

import numpy as np

from setsearch.answers.saved.stored import StoredSets
from setsearch.arrays import Entries, run_lengths, run_starts
from setsearch.storage.relation import Relation

Features = tuple[bytes, bytes]  # ids and counts of an item, as bytes


def follow_moved(relation: Relation, gone: Mapping[int, str], new: Collection[int]) -> dict[str, str]:
    """Let saved sets follow documents that go to those of the same words; returns their names, and the new ones.

    `new` are those that a write brought or changed. A document of which a set says something stays what it is.
    """
    sets = StoredSets(relation.cursor)
    said = sets.said_of(relation.items.name) if relation.analyzer is not None else set()
    if not said & {*gone.values()}:
        return {}
    found = moved_items(relation, [*gone], new)
    names = {id: name for id, (name, _) in relation.items.stored([*found.values()]).items()}
    moved = {gone[old]: names[new] for old, new in found.items() if gone[old] in said and names[new] not in said}
    sets.follow(relation.items.name, moved)
    return moved


def moved_items(relation: Relation, gone: Sequence[int], new: Collection[int] = ()) -> dict[int, int]:
    """Of items that go, each with the one item that stays and has the same features.

    Of several that have these, `new` ones count: a copy that was there before is no other name. Then titles tell which
    is which; what they leave open is left out. An item without features is nobody's. It reads all forward lists.
    """
    going, fresh, lengths = frozenset(gone), frozenset(new), set[int]()
    before, after = defaultdict[Features, list[int]](list), defaultdict[Features, list[int]](list)
    for id, features in _features(relation.forward.read(np.array(sorted(going), np.int64))):
        before[features].append(id)
        lengths.add(len(features[0]))
    for entries in relation.forward.sweep():
        for id, features in _features(entries, lengths):
            if id not in going and features in before:
                after[features].append(id)
    moved: dict[int, int] = {}
    for features, found in after.items():
        moved |= _pairs(relation, before[features], [id for id in found if id in fresh] or found)
    return moved


def _features(entries: Entries, lengths: Container[int] | None = None) -> Iterator[tuple[int, Features]]:
    """Each item with its features, if these have one of some `lengths`, in bytes."""
    starts = run_starts(entries.lists)
    for start, size in zip(starts.tolist(), run_lengths(starts, len(entries.lists)).tolist(), strict=True):
        if lengths is None or size * entries.ids.itemsize in lengths:
            own = slice(start, start + size)
            yield int(entries.lists[start]), (entries.ids[own].tobytes(), entries.counts[own].tobytes())


def _pairs(relation: Relation, before: Sequence[int], after: Sequence[int]) -> dict[int, int]:
    """Which of some items is which of others: those that alone have a title, and then those that are left alone."""
    titles = {id: title for id, (_, title) in relation.items.stored([*before, *after]).items()}
    pairs: dict[int, int] = {}
    for title in {titles[id] for id in before}:
        old, new = ([id for id in side if titles[id] == title] for side in (before, after))
        if len(old) == len(new) == 1:
            pairs[old[0]] = new[0]
    old = [id for id in before if id not in pairs]
    new = [id for id in after if id not in pairs.values()]
    return pairs | ({old[0]: new[0]} if len(old) == len(new) == 1 else {})
