"""Writing to a relation: names, and lists in both directions, a batch of items at a time."""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from setsearch.errors import DuplicateItem, InvalidItem, UnknownItem
from setsearch.hits import Item
from setsearch.inserts import insert_rows
from setsearch.lists import Entries
from setsearch.names import storable
from setsearch.postings import Ints, run_lengths, run_starts
from setsearch.relation import Relation
from setsearch.text import Vocabulary
from setsearch.texts import pack

BATCH = 2_000_000  # features that are gathered before they are written
GATHERED = 8_000_000  # cells that are gathered before the posting lists are merged: 100 MB
TOGETHER = 2_000_000  # cells that are merged at once
LARGEST_COUNT = 2**31 - 1


class _Batch:
    """Items that wait to be written: their features as places in the vocabulary, so that their texts can go."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.titles: list[str | None] = []
        self.texts: list[bytes | None] = []
        self.lengths: list[int] = []
        self.places = array("i")
        self.counts: array[int] | None = None  # of the places, once an item came with counts

    def put(self, item: Item, vocabulary: Vocabulary) -> None:
        """Take an item in."""
        name, features, title, text = item
        before = len(self.places)
        counted = not isinstance(features, list) and isinstance(features, Mapping)
        if counted and self.counts is None:
            self.counts = array("i", [1]) * before
        try:
            self.places.extend(map(vocabulary.__getitem__, features))
        except TypeError as error:
            raise InvalidItem(f"the features of item {name!r} are not a list or mapping of texts: {error}") from error
        length = len(self.places) - before
        if self.counts is not None:
            self.counts.extend(features.values() if isinstance(features, Mapping) else [1] * length)
        self.lengths.append(length)
        self.names.append(name)
        self.titles.append(title)
        self.texts.append(None if text is None else pack(text))


class Writer:
    """One write to a relation: gathers items, and merges their entries into the lists a batch at a time."""

    def __init__(self, cursor: sqlite3.Cursor, relation: Relation, replace: bool = False) -> None:
        self.cursor = cursor
        self.relation = relation
        self.replace = replace
        self.seen: set[int] = set()
        self.vocabulary = Vocabulary()
        self.feature_ids = np.zeros(0, np.int64)  # of the words of the vocabulary, as far as written
        self.pending: list[npt.NDArray[np.int32]] = []  # cells that the posting lists do not have yet, (3, n_cells)
        self.emptied: set[int] = set()

    def write(self, items: Iterable[Item]) -> int:
        """Write all items; nothing is committed here."""
        written, batch = 0, _Batch()
        for item in items:
            _check(item)
            batch.put(item, self.vocabulary)
            if len(batch.places) + len(batch.names) >= BATCH:
                written += self._write_batch(batch)
                batch = _Batch()
        written += self._write_batch(batch)
        self._finish()
        return written

    def delete(self, names: Sequence[str]) -> int:
        """Delete items by id; returns how many."""
        kind = self.relation.items
        found = kind.find(self.cursor, [name for name in names if storable(name)])
        for name in names:
            if name not in found:
                hint = kind.hint(self.cursor, name)
                raise UnknownItem(f"no item {name!r} to delete; {hint + ' ' if hint else ''}nothing was deleted")
        ids = sorted(found.values())
        old = self.relation.forward.read(self.cursor, ids)
        self._change(Entries(old.lists, old.ids, np.zeros_like(old.counts)))
        kind.delete(self.cursor, ids)
        self._forget_texts(ids)
        self._finish()
        return len(ids)

    def _change(self, changes: Entries) -> None:
        """Merge changed cells, given by item, into the forward lists, and keep them for the posting lists.

        A batch of items changes most posting lists a little: merging them is put off until it pays.
        """
        self.relation.forward.merge(self.cursor, changes)
        self.pending.append(np.array(changes, np.int32))
        if sum(cells.shape[1] for cells in self.pending) >= GATHERED:
            self._merge_postings()

    def _merge_postings(self) -> None:
        items, features, counts = np.concatenate(self.pending, axis=1)
        self.pending = []
        order = _order_of(features) if np.all(items[1:] >= items[:-1]) else np.lexsort((items, features))
        for start, end in pairwise(_cuts(features, order)):
            part = order[start:end]
            turned = Entries(*(column[part].astype(np.int64) for column in (features, items, counts)))
            self.emptied.update(self.relation.postings.merge(self.cursor, turned))

    def _finish(self) -> None:
        """Forget features that no item has any more, and seal the revision."""
        if self.pending:
            self._merge_postings()
        postings = self.relation.postings
        left = set(postings.read(self.cursor, sorted(self.emptied), counts=False).lists.tolist())
        self.relation.features.delete(self.cursor, sorted(self.emptied - left))
        self.emptied.clear()
        self.relation.save(self.cursor)

    def _write_batch(self, batch: _Batch) -> int:
        if batch.names:
            ids, old = self._item_ids(batch)
            self._keep_texts(ids, batch)
            new = self._entries(ids, batch)
            self._change(_difference(self.relation.forward.read(self.cursor, old), new) if old else new)
        return len(batch.names)

    def _keep_texts(self, ids: Ints, batch: _Batch) -> None:
        """Store the texts that came, and forget those of items that came without."""
        if self.relation.contexts == "off":
            return
        pairs = list(zip(ids.tolist(), batch.texts, strict=True))
        kept = ((id, text) for id, text in pairs if text is not None)
        insert = "insert or replace into setsearch_text (relation, item, text)"
        insert_rows(self.cursor, insert, f"({self.relation.id}, ?, ?)", kept)
        self._forget_texts([id for id, text in pairs if text is None])

    def _forget_texts(self, ids: Sequence[int]) -> None:
        self.cursor.executemany(
            "delete from setsearch_text where relation = ? and item = ?", [(self.relation.id, id) for id in ids]
        )

    def _item_ids(self, batch: _Batch) -> tuple[Ints, list[int]]:
        """The ids of a batch, `(n_items,)`, and those of them that existed before."""
        kind = self.relation.items
        known = kind.find(self.cursor, batch.names) if kind.size else {}
        self._refuse_known(batch.names, known)
        given = list(zip(batch.names, batch.titles, strict=True))
        kind.retitle(self.cursor, [(title, known[name]) for name, title in given if name in known])
        old = sorted(known.values())
        fresh = [(name, title) for name, title in given if name not in known]
        known |= zip((name for name, _ in fresh), kind.insert(self.cursor, fresh), strict=True)
        ids = [known[name] for name in batch.names]
        self.seen.update(ids)
        return np.array(ids, np.int64), old

    def _refuse_known(self, names: list[str], known: Mapping[str, int]) -> None:
        """Refuse ids that come a second time, and such that are there already unless they are to be replaced."""
        twice = {name for name, id in known.items() if id in self.seen}
        if len(set(names)) < len(names):
            twice |= {name for name, count in Counter(names).items() if count > 1}
        for name in names if twice or (known and not self.replace) else ():
            if name in twice:
                raise DuplicateItem(f"the id {name!r} comes twice; ids must be unique")
            if name in known and not self.replace:
                raise DuplicateItem(f"there is already an item {name!r}; use update to change it")

    def _entries(self, ids: Ints, batch: _Batch) -> Entries:
        """The cells of a batch, equal features of an item counted together, sorted by item and feature."""
        self._write_vocabulary()
        key = (np.repeat(ids, batch.lengths) << 32) | self.feature_ids[np.array(batch.places, np.int64)]
        if batch.counts is None:
            key.sort(kind="stable")  # items come in order, so that merging what is sorted pays
            begin = run_starts(key)
            counts = run_lengths(begin, len(key))
        else:
            order = np.argsort(key, kind="stable")
            key = key[order]
            begin = run_starts(key)
            counts = np.add.reduceat(np.array(batch.counts, np.int64)[order], begin) if len(begin) else begin
        if len(counts) and counts.max() > LARGEST_COUNT:
            raise InvalidItem(f"the count {counts.max()} is too large; the largest is {LARGEST_COUNT}")
        key = key[begin]
        return Entries(key >> 32, key & 0xFFFF_FFFF, counts)

    def _write_vocabulary(self) -> None:
        """Give ids to the words that came new since the last batch."""
        kind = self.relation.features
        words = list(self.vocabulary)[len(self.feature_ids) :]
        for word in words:
            if not storable(word):
                raise InvalidItem(f"an item has the feature {word!r}; features are text as ids are")
        known = kind.find(self.cursor, words) if kind.size else {}
        fresh = [(word, None) for word in sorted(words) if word not in known]  # in order, the index grows at its end
        known |= zip((word for word, _ in fresh), kind.insert(self.cursor, fresh), strict=True)
        # A word whose items all left, earlier in this write, is there again.
        ids = np.fromiter((known[word] for word in words), np.int64, len(words))
        self.feature_ids = np.concatenate([self.feature_ids, ids])


def _cuts(values: npt.NDArray[np.int32], order: Ints) -> list[int]:
    """Where `order`, which sorts the values, is cut: into parts of about `TOGETHER`, never between equal values."""
    cuts = {0, len(order)}
    for place in range(TOGETHER, len(order), TOGETHER):
        cuts.add(int(np.searchsorted(values, values[order[place]], sorter=order)))
    return sorted(cuts)


def _order_of(values: npt.NDArray[np.int32]) -> Ints:
    """The places of values in ascending order, equal ones as they stand."""
    if values.max(initial=0) < 1 << 16:
        return np.argsort(values.astype(np.uint16), kind="stable")  # a radix sort
    # One sort of integers that carry their own places is faster than sorting places.
    order: Ints = np.sort((values.astype(np.int64) << 32) | np.arange(len(values))) & 0xFFFF_FFFF
    return order


def _check(item: Item) -> None:
    """Refuse an item whose id, title or counts cannot be stored."""
    name, features, title, _ = item
    if not storable(name):
        raise InvalidItem(f"an item has the id {name!r}; ids are text, not empty, without NUL and lone surrogates")
    if title is not None and not (isinstance(title, str) and (title == "" or storable(title))):
        raise InvalidItem(f"item {name!r} has the title {title!r}; titles are text")
    if isinstance(features, (bytes, bytearray)):
        raise InvalidItem(f"item {name!r} has bytes for features; decode them")
    if not isinstance(features, list) and isinstance(features, Mapping):
        for feature, count in features.items():
            if not isinstance(count, (int, np.integer)) or isinstance(count, bool) or not 1 <= count <= LARGEST_COUNT:
                raise InvalidItem(
                    f"item {name!r} has feature {feature!r} {count!r} times; "
                    f"counts are integers from 0 to {LARGEST_COUNT}"
                )


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
