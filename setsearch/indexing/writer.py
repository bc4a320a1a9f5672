"""Writing to a relation: names, and lists in both directions, a batch of items at a time."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from setsearch.arrays import Entries, Ints, run_lengths, run_starts
from setsearch.errors import DuplicateItem, InvalidItem, UnknownItem
from setsearch.indexing.batch import LARGEST_COUNT, Batch, Prepared
from setsearch.storage.names import NamesTaken, storable
from setsearch.storage.relation import Relation
from setsearch.storage.sql import insert_rows
from setsearch.text.analyzer import Analyzer, Vocabulary
from setsearch.text.tokenizer import Numbering

GATHERED = 8_000_000  # cells that are gathered before the posting lists are merged: 100 MB
TOGETHER = 2_000_000  # cells that are merged at once


class Writer:
    """One write to a relation: gathers items, and merges their entries into the lists a batch at a time."""

    def __init__(self, cursor: sqlite3.Cursor, relation: Relation, replace: bool = False) -> None:
        self.cursor = cursor
        self.relation = relation
        self.replace = replace
        self.seen: set[int] = set()
        self.words_known = relation.features.size > 0  # whether there are any that the vocabulary lacks
        self.vocabulary = Vocabulary()
        self.feature_ids = np.zeros(0, np.int64)  # of the words of the vocabulary, as far as written
        self.pending: list[npt.NDArray[np.int32]] = []  # cells that the posting lists do not have yet, (3, n_cells)
        self.emptied: set[int] = set()

    def write(self, items: Iterable[Prepared], analyzer: Analyzer | None = None) -> int:
        """Write all items, those with texts for features as the analyzer's terms; nothing is committed here."""
        numbering = None if analyzer is None else Numbering(analyzer, self.vocabulary)
        items, written, finished = iter(items), 0, False
        while not finished:
            batch = Batch(self.vocabulary, numbering)
            finished = batch.take(items)
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
        cells = Entries(*np.concatenate(self.pending, axis=1))
        self.pending = []
        by_feature = cells.transposed(self.relation.items.peak, self.relation.features.peak)
        lists = by_feature.lists  # none of which is cut
        cuts = {0, len(lists), *np.searchsorted(lists, lists[TOGETHER::TOGETHER]).tolist()}
        for start, end in pairwise(sorted(cuts)):
            part = Entries(*(column[start:end].astype(np.int64) for column in by_feature))
            self.emptied.update(self.relation.postings.merge(self.cursor, part))

    def _finish(self) -> None:
        """Forget features that no item has any more, and seal the revision."""
        if self.pending:
            self._merge_postings()
        postings = self.relation.postings
        left = set(postings.read(self.cursor, sorted(self.emptied), counts=False).lists.tolist())
        self.relation.features.delete(self.cursor, sorted(self.emptied - left))
        self.emptied.clear()
        self.relation.save(self.cursor)

    def _write_batch(self, batch: Batch) -> int:
        batch.check()
        if batch.names:
            ids, old = self._item_ids(batch)
            self._keep_texts(ids, batch)
            new = self._entries(ids, batch)
            self._change(_difference(self.relation.forward.read(self.cursor, old), new) if old else new)
        return len(batch.names)

    def _keep_texts(self, ids: Ints, batch: Batch) -> None:
        """Store the texts that came, and forget those of items that came without."""
        if self.relation.contexts == "off":
            return
        pairs = list(zip(ids.tolist(), batch.texts, strict=True))
        kept = {id: text for id, text in pairs if text is not None}
        insert = "insert or replace into setsearch_text (relation, item, text)"
        insert_rows(self.cursor, insert, f"({self.relation.id}, ?, ?)", list(kept), list(kept.values()))
        self._forget_texts([id for id, text in pairs if text is None])

    def _forget_texts(self, ids: Sequence[int]) -> None:
        self.cursor.executemany(
            "delete from setsearch_text where relation = ? and item = ?", [(self.relation.id, id) for id in ids]
        )

    def _item_ids(self, batch: Batch) -> tuple[Ints, list[int]]:
        """The ids of a batch, `(n_items,)`, and those of them that existed before."""
        kind = self.relation.items
        known = kind.find(self.cursor, batch.names) if kind.size and self.replace else {}
        self._refuse_known(batch.names, known)
        if known:
            titles = dict(zip(batch.names, batch.titles, strict=True))
            kind.retitle(self.cursor, [(titles.pop(name), id) for name, id in known.items()])
            new = self._insert(list(titles), list(titles.values()))
            of_name = known | dict(zip(titles, new, strict=True))
            ids = [of_name[name] for name in batch.names]
        else:
            ids = self._insert(batch.names, batch.titles)
        self.seen.update(ids)
        return np.array(ids, np.int64), sorted(known.values())

    def _insert(self, names: Sequence[str], titles: Sequence[str | None]) -> list[int]:
        try:
            return self.relation.items.insert(self.cursor, names, titles)
        except NamesTaken as error:
            self._refuse_known(names, error.known)
            raise

    def _refuse_known(self, names: Sequence[str], known: Mapping[str, int]) -> None:
        """Refuse ids that come a second time, and such that are there already unless they are to be replaced."""
        twice = {name for name, id in known.items() if id in self.seen}
        if len(set(names)) < len(names):
            twice |= {name for name, count in Counter(names).items() if count > 1}
        for name in names if twice or (known and not self.replace) else ():
            if name in twice:
                raise DuplicateItem(f"the id {name!r} comes twice; ids must be unique")
            if name in known and not self.replace:
                raise DuplicateItem(f"there is already an item {name!r}; use update to change it")

    def _entries(self, ids: Ints, batch: Batch) -> Entries:
        """The cells of a batch, equal features of an item counted together, sorted by item and feature."""
        self._write_vocabulary()
        key = (np.repeat(ids, batch.lengths) << 32) | self.feature_ids[batch.numbers]
        given = batch.counts
        if given is None:
            key.sort(kind="stable")  # items come in order, so that merging what is sorted pays
            begin = run_starts(key)
            counts = run_lengths(begin, len(key))
        else:
            order = np.argsort(key, kind="stable")
            key = key[order]
            begin = run_starts(key)
            counts = np.add.reduceat(given[order], begin) if len(begin) else begin
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
        known = kind.find(self.cursor, words) if self.words_known else {}
        fresh = [word for word in sorted(words) if word not in known]  # in order, the index grows at its end
        known |= zip(fresh, kind.insert(self.cursor, fresh), strict=True)
        # A word whose items all left, earlier in this write, is there again.
        ids = np.fromiter((known[word] for word in words), np.int64, len(words))
        self.feature_ids = np.concatenate([self.feature_ids, ids])


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
