"""The lists of one relation at one stamp, in memory: read from the file, or brought up from an earlier stamp.

A process reads lists slice by slice from the generation that holds them. Later revisions say which items they changed:
the lists of these are read again, and replace the old ones. Where that is not known, all is read from the tables.
"""

import sqlite3
from dataclasses import dataclass

import numpy as np

from setsearch.arrays import Entries, Floats, Ints
from setsearch.errors import LostArrays
from setsearch.lists import Lists
from setsearch.storage.generations import (
    LISTS,
    Generation,
    find_generation,
    read_array,
    read_entries,
    read_lists,
    read_slices,
)
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import changed_items

LARGEST_SHARE = 1 / 8  # of the items that may change before everything is read again
ALWAYS_FEW = 1000  # items


@dataclass(frozen=True)
class Content:
    """Lists of both directions; `absent` are ids below `n_ids` without an item.

    `generation` is where the lists are stored, and with them the norms of items; None if they are not.
    """

    items: Vocabulary
    features: Vocabulary
    by_item: Lists
    by_feature: Lists
    absent: Ints
    generation: Generation | None

    def read(self, cursor: sqlite3.Cursor, forward: bool, lists: Ints | None = None) -> Lists:
        """The lists of one direction, some of them or all having been read. Raises LostArrays."""
        chosen = self.by_item if forward else self.by_feature
        if chosen.source is not None:
            read_slices(cursor, chosen, lists)
        return chosen

    def entries(self, cursor: sqlite3.Cursor, forward: bool, lists: Ints) -> Entries | None:
        """The entries of some lists of one direction, which keeps nothing; None if it has kept some already."""
        chosen = self.by_item if forward else self.by_feature
        return read_entries(cursor, chosen, lists) if chosen.is_unread else None

    def stored_norms(self, cursor: sqlite3.Cursor, name: str, size: int) -> Floats | None:
        """Norms that are stored with the lists."""
        if self.generation is None:
            return None
        try:
            norms = read_array(cursor, self.generation, name)
        except LostArrays:
            return None
        is_sound = len(norms) == size and norms.dtype == np.float64 and bool(np.all((norms >= 0) & (norms < np.inf)))
        return norms if is_sound else None


@dataclass(frozen=True)
class RelationContent(Content):
    """The content of a relation as it is stored."""

    relation: Relation

    @classmethod
    def load(cls, cursor: sqlite3.Cursor, relation: Relation, distrusted: set[int]) -> "RelationContent":
        """The present content: from the generation of the lists, if it may be trusted, else from the tables."""
        generation = find_generation(cursor, relation.id, LISTS)
        if generation is not None and generation.id not in distrusted:
            changed = changed_items(cursor, relation.state, generation.state)
            if changed is not None and _are_few(changed, relation):
                return _stored(cursor, relation, generation, changed)
        return read_content(cursor, relation)

    def advanced(self, cursor: sqlite3.Cursor, relation: Relation) -> "RelationContent | None":
        """The content at the stamp of `relation`, from this one; None if what changed is unknown, or too much."""
        changed = changed_items(cursor, relation.state, self.relation.state)
        if changed is None or not _are_few(changed, relation):
            return None
        return _changed(cursor, self, relation, changed)


def read_content(cursor: sqlite3.Cursor, relation: Relation) -> RelationContent:
    """The content from the tables, which are the truth."""
    cells = relation.forward.read_all(cursor)
    n_items, n_features = relation.items.next_id, relation.features.next_id
    by_item = Lists.of(cells, n_items, n_features)
    by_feature = Lists.of(cells.transposed(n_items, n_features), n_features, n_items)
    return RelationContent(
        relation.items, relation.features, by_item, by_feature, _absent(cursor, relation.items), None, relation
    )


def _are_few(changed: Ints, relation: Relation) -> bool:
    return len(changed) <= max(ALWAYS_FEW, relation.items.size * LARGEST_SHARE)


def _stored(cursor: sqlite3.Cursor, relation: Relation, generation: Generation, changed: Ints) -> RelationContent:
    """The content of a generation, and what changed since."""
    sizes = read_array(cursor, generation, "sizes").tolist()
    absent = read_array(cursor, generation, "absent")
    # Freed ids are given again: as long as there are items, there were never more ids than now.
    most = relation.items.next_id, relation.features.next_id
    if len(sizes) != 2 or not all(0 <= size <= limit for size, limit in zip(sizes, most, strict=True)):
        raise LostArrays("the stored sizes", generation.id)
    n_items, n_features = sizes
    if len(absent) and not 0 <= absent.min() <= absent.max() < n_items:
        raise LostArrays("the stored ids without items", generation.id)
    by_item = read_lists(cursor, generation, "items", n_items, n_features)
    by_feature = read_lists(cursor, generation, "features", n_features, n_items)
    content = RelationContent(relation.items, relation.features, by_item, by_feature, absent, generation, relation)
    return _changed(cursor, content, relation, changed) if len(changed) else content


def _changed(cursor: sqlite3.Cursor, content: RelationContent, relation: Relation, changed: Ints) -> RelationContent:
    """The content after some items, ascending, changed: their lists are read from the tables."""
    n_items, n_features = relation.items.next_id, relation.features.next_id
    by_item, by_feature = content.read(cursor, True), content.read(cursor, False)
    old = by_item.take(changed[changed < len(by_item)])
    new = relation.forward.read(cursor, changed)
    existing = np.array(sorted(relation.items.stored(cursor, changed.tolist())), np.int64)
    absent = np.setdiff1d(np.union1d(content.absent, changed), existing)
    sizes = max(n_items, len(by_item)), max(n_features, len(by_feature))
    old_by_feature, new_by_feature = (entries.transposed(*sizes) for entries in (old, new))
    return RelationContent(
        relation.items,
        relation.features,
        by_item.replaced(changed[changed < n_items], new, n_items, n_features),
        by_feature.changed(changed, old_by_feature, new_by_feature, (n_features, n_items)),
        absent[absent < n_items],
        None,
        relation,
    )


def _absent(cursor: sqlite3.Cursor, vocabulary: Vocabulary) -> Ints:
    if vocabulary.size == vocabulary.next_id:
        return np.zeros(0, np.int64)
    return np.setdiff1d(np.arange(vocabulary.next_id), np.fromiter(vocabulary.ids(cursor), np.int64))
