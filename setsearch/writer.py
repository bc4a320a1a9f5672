"""Writing to a relation: names, and lists in both directions, a batch of items at a time."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from setsearch.errors import DuplicateItem, InvalidItem, UnknownItem
from setsearch.lists import Entries
from setsearch.postings import Ints
from setsearch.relation import Relation

BATCH = 1_000_000  # features that are gathered before they are written
LARGEST_COUNT = 2**31 - 1


class Item(NamedTuple):
    """What is indexed: a unique id, its features (repeated, or with counts), a title to show."""

    id: str
    features: Sequence[str] | Mapping[str, int]
    title: str | None = None


class _Vocabulary(dict[str, int]):
    """Words to their places in the order of first occurrence."""

    def __missing__(self, word: str) -> int:
        self[word] = place = len(self)
        return place


class Writer:
    """One write to a relation: gathers items, and merges their entries into the lists a batch at a time."""

    def __init__(self, cursor: sqlite3.Cursor, relation: Relation, replace: bool = False) -> None:
        self.cursor = cursor
        self.relation = relation
        self.replace = replace
        self.seen: set[int] = set()
        self.vocabulary = _Vocabulary()
        self.feature_ids = np.zeros(0, np.int64)  # of the words of the vocabulary, as far as written
        self.emptied: set[int] = set()

    def write(self, items: Iterable[Item]) -> int:
        """Write all items; nothing is committed here."""
        try:
            return self._write(items)
        except UnicodeEncodeError as error:
            raise InvalidItem(f"{error.object!r} is not text that can be stored (a lone surrogate)") from error

    def _write(self, items: Iterable[Item]) -> int:
        batch: list[Item] = []
        size = written = 0
        for item in items:
            batch.append(_checked(item))
            size += len(item.features) + 1
            if size >= BATCH:
                self._write_batch(batch)
                written += len(batch)
                batch, size = [], 0
        self._write_batch(batch)
        self._finish()
        return written + len(batch)

    def delete(self, names: Sequence[str]) -> int:
        """Delete items by id; returns how many."""
        kind = self.relation.items
        found = kind.find(self.cursor, names)
        for name in names:
            if name not in found:
                near = kind.near(self.cursor, name)
                hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
                raise UnknownItem(f"no item {name!r} to delete; {hint}nothing was deleted")
        ids = sorted(found.values())
        old = self.relation.forward.read(self.cursor, ids)
        self._change(Entries(old.lists, old.ids, np.zeros_like(old.counts)))
        kind.delete(self.cursor, ids)
        self._finish()
        return len(ids)

    def _change(self, changes: Entries) -> None:
        """Merge changed cells, given by item, into both directions."""
        self.relation.forward.merge(self.cursor, changes)
        # One sort of integers that carry their own places is faster than sorting places.
        order = np.sort((changes.ids << 32) | np.arange(len(changes.ids))) & 0xFFFF_FFFF
        turned = Entries(changes.ids[order], changes.lists[order], changes.counts[order])
        self.emptied.update(self.relation.postings.merge(self.cursor, turned))

    def _finish(self) -> None:
        """Forget features that no item has any more, and seal the revision."""
        postings = self.relation.postings
        left = set(postings.read(self.cursor, sorted(self.emptied), counts=False).lists.tolist())
        self.relation.features.delete(self.cursor, sorted(self.emptied - left))
        self.relation.save(self.cursor)

    def _write_batch(self, batch: list[Item]) -> None:
        if not batch:
            return
        ids, old = self._item_ids(batch)
        new = self._entries(ids, batch)
        self._change(_difference(self.relation.forward.read(self.cursor, old), new) if old else new)

    def _item_ids(self, batch: list[Item]) -> tuple[Ints, list[int]]:
        """The ids of a batch, `(n_items,)`, and those of them that existed before."""
        kind = self.relation.items
        known = kind.find(self.cursor, [item.id for item in batch]) if kind.size else {}
        fresh: dict[str, str | None] = {}
        for item in batch:
            if item.id in fresh or known.get(item.id) in self.seen:
                raise DuplicateItem(f"the id {item.id!r} comes twice; ids must be unique")
            if item.id not in known:
                fresh[item.id] = item.title
            elif not self.replace:
                raise DuplicateItem(f"there is already an item {item.id!r}; use update to change it")
            else:
                self.seen.add(known[item.id])
        kind.retitle(self.cursor, [(item.title, known[item.id]) for item in batch if item.id in known])
        old = sorted(known.values())
        known |= zip(fresh, kind.insert(self.cursor, list(fresh.items())), strict=True)
        ids = [known[item.id] for item in batch]
        self.seen.update(ids)
        return np.array(ids, np.int64), old

    def _entries(self, ids: Ints, batch: list[Item]) -> Entries:
        """The cells of a batch, equal features of an item counted together, sorted by item and feature."""
        lengths = np.fromiter((len(item.features) for item in batch), np.int64, len(batch))
        words = chain.from_iterable(item.features for item in batch)
        try:
            places = np.fromiter(map(self.vocabulary.__getitem__, words), np.int64, int(lengths.sum()))
        except TypeError as error:
            raise InvalidItem(f"features must be text: {error}") from error
        self._write_vocabulary()
        key = (np.repeat(ids, lengths) << 32) | self.feature_ids[places]
        counts = np.ones(len(key), np.int64)
        if any(isinstance(item.features, Mapping) for item in batch):
            counts = np.fromiter(chain.from_iterable(map(_counts, batch)), np.int64, len(key))
            order = np.argsort(key, kind="stable")
            key, counts = key[order], counts[order]
        else:
            key.sort()
        begin = np.flatnonzero(np.diff(key, prepend=-1))
        summed = np.add.reduceat(counts, begin) if len(begin) else counts
        if len(summed) and summed.max() > LARGEST_COUNT:
            raise InvalidItem(f"the count {summed.max()} is too large; the largest is {LARGEST_COUNT}")
        cells = Entries(key[begin] >> 32, key[begin] & 0xFFFF_FFFF, summed)
        return cells

    def _write_vocabulary(self) -> None:
        """Give ids to the words that came new since the last batch."""
        kind = self.relation.features
        words = list(self.vocabulary)[len(self.feature_ids) :]
        for word in words:
            if not isinstance(word, str) or not word or "\0" in word:
                raise InvalidItem(f"an item has the feature {word!r}; features are text, not empty and without NUL")
        known = kind.find(self.cursor, words) if kind.size else {}
        fresh = [(word, None) for word in words if word not in known]
        known |= zip((word for word, _ in fresh), kind.insert(self.cursor, fresh), strict=True)
        # A word whose items all left, earlier in this write, is there again.
        ids = np.fromiter((known[word] for word in words), np.int64, len(words))
        self.feature_ids = np.concatenate([self.feature_ids, ids])


def _checked(item: Item) -> Item:
    """The item, if its id and counts can be stored; features with the count 0 are left out."""
    if not isinstance(item.id, str) or not item.id or "\0" in item.id:
        raise InvalidItem(f"an item has the id {item.id!r}; ids are text, not empty and without NUL")
    if not isinstance(item.features, Mapping):
        return item
    for feature, count in item.features.items():
        if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 0 <= count <= LARGEST_COUNT:
            raise InvalidItem(
                f"item {item.id!r} has feature {feature!r} {count!r} times; counts are whole numbers from 0 to 2^31 - 1"
            )
    return (
        item if all(item.features.values()) else item._replace(features={f: c for f, c in item.features.items() if c})
    )


def _counts(item: Item) -> Iterable[int]:
    """The counts of an item's features, in their order."""
    return item.features.values() if isinstance(item.features, Mapping) else [1] * len(item.features)


def _difference(old: Entries, new: Entries) -> Entries:
    """The changes that turn `old` into `new`; cells that stay as they are do not appear."""
    key = np.concatenate([(e.lists << 32) | e.ids for e in (old, new)])
    count = np.concatenate([old.counts, new.counts])
    order = np.argsort(key, kind="stable")
    key, count, is_new = key[order], count[order], order >= len(old.lists)
    pair = np.append(key[1:] == key[:-1], False)  # an old cell with its new one right behind it
    unchanged = pair & (np.append(count[1:], 0) == count)
    drop = pair | np.concatenate([[False], unchanged[:-1]])
    count = np.where(is_new, count, 0)
    return Entries(key[~drop] >> 32, key[~drop] & 0xFFFF_FFFF, count[~drop])
