"""Writing to a relation: names, forward lists and frequencies, one batch of items at a time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from setsearch.arrays import (
    LARGEST_COUNT,
    Entries,
    Ints,
    distinct,
    pack,
    places_of,
    repeat,
    run_lengths,
    run_starts,
    sum_runs,
    union,
)
from setsearch.core.threads import workers
from setsearch.errors import DuplicateItem, InvalidItem, InvalidParameter
from setsearch.indexing.writing.batch import Batch, OfFields, PreparedItem, check_counts
from setsearch.indexing.writing.item_fields import (
    field_features,
    keep_numbers,
    moved,
    numbers_of,
    renewed_ends,
    with_dates,
)
from setsearch.storage.forward_lists import NOTHING
from setsearch.storage.ids import are_storable, check_names, is_storable
from setsearch.storage.kept.columns import write_columns
from setsearch.storage.kept.texts import Texts
from setsearch.storage.kept.vectors import delete_orphans, delete_vectors, digest, is_encoded
from setsearch.storage.names import NamesTaken
from setsearch.storage.relation import Relation
from setsearch.storage.revisions import NO_ITEMS, Changed
from setsearch.text.analyzer import Analyzer
from setsearch.text.extras import TermIds
from setsearch.text.tokenizer import Tokenizer

# Features, and what their frequencies change by: the number of items, and the sum of counts.
NO_CHANGES = np.zeros(0, np.int64), np.zeros((2, 0), np.int64)


MOVED_TOGETHER = 20_000  # items
SHOWN = 4  # names of items that changed, for a message that has three and dots


class Writer:
    """One write to a relation: gathers items and stores their lists, a batch at a time.

    `whole`: items come with all that they have; else those that are replaced keep the fields that are not given.
    """

    def __init__(self, relation: Relation, replace: bool = False, *, whole: bool = False) -> None:
        self.relation = relation
        self.replace = replace
        self.whole = whole
        self.seen: set[int] = set()
        self.has_features = relation.features.size > 0
        self.term_ids = TermIds()
        self.feature_ids = np.zeros(0, np.int64)  # of the terms so far
        self.frequencies = NO_CHANGES
        self.changed: list[Ints] = []  # items
        self.shown: list[Ints] = []  # items that have other titles or columns, and perhaps nothing else
        self.moved = np.zeros(0, np.int64)  # items that got other ranges
        self.ranges = np.zeros(0, np.int64)  # features that items got or lost, and perhaps none has
        self.has_numbers = False  # whether fields have others than before
        self.unread_share = 0.0  # of the characters of the texts: those in no word, white space aside
        self.paired_share = 0.0  # of the terms of the texts: those that are pairs of characters
        self.known = 0  # items that were there before
        self.lost = 0  # entries that replaced items of a relation had, and have no more
        self.altered = 0  # items of texts that have other terms than before
        self.some_altered: list[str] = []  # the first of them

    def changed_items(self) -> Ints:
        """The items that are new, other than they were, or gone, ascending."""
        return distinct(np.concatenate([NO_ITEMS, *self.changed, *self.shown]))

    def write(self, items: Iterable[PreparedItem], analyzer: Analyzer | None = None) -> int:
        """Write all items, texts by the analyzer's terms; returns how many. The caller commits."""
        tokenizer = None if analyzer is None else Tokenizer(analyzer, self.term_ids)
        written = 0
        for batch in self._batches(iter(items), tokenizer):
            written += self._write_batch(batch)
        if tokenizer is not None:
            self.unread_share, self.paired_share = tokenizer.unread_share, tokenizer.paired_share
        self._finish()
        return written

    def _batches(self, items: Iterator[PreparedItem], tokenizer: Tokenizer | None) -> Iterator[Batch]:
        """All items. While one batch is written, a thread numbers the terms of the next one, which was read before.

        Not while fields are written, whose terms get numbers then.
        """
        batch = Batch(self.term_ids, tokenizer)
        is_last = batch.fill(items, lambda: None)
        if is_last:  # most writes are small
            batch.number()
            yield batch
            return
        with workers(1) as give:
            numbered = give(batch.number)
            while not is_last:
                following = Batch(self.term_ids, tokenizer)
                is_last = following.fill(items, numbered)
                numbered()
                if any(batch.fields):
                    yield batch
                    numbered = give(following.number)
                else:
                    numbered = give(following.number)
                    yield batch
                batch = following
            numbered()
            yield batch

    def delete(self, names: Sequence[str]) -> int:
        """Delete items by id; returns how many. Raises UnknownItem."""
        vocabulary = self.relation.items
        ids = vocabulary.ids_to_delete(names)
        self._replace(np.array(ids, np.int64), self.relation.forward.read(np.array(ids)), NOTHING)
        stored = vocabulary.stored(ids)
        own = stored if self.relation.fields else {}
        gone: list[tuple[str, int, OfFields]] = [(name, id, {}) for id, (name, _) in own.items()]
        self.has_numbers |= keep_numbers(self.relation, gone, own, whole=True)
        vocabulary.delete(ids)
        Texts.of(self.relation).write(dict.fromkeys(ids))
        delete_vectors(vocabulary, [(name, None) for name, _ in stored.values()])
        write_columns(self.relation, [(id, None) for id in ids])
        self.changed.append(np.array(ids, np.int64))
        self._finish()
        return len(ids)

    def delete_features(self, names: Sequence[str]) -> int:
        """Delete features of the first field from all items; returns how many. Raises UnknownItem, InvalidParameter."""
        relation = self.relation
        if relation.analyzer is not None or relation.columns is not None:
            raise InvalidParameter(
                f"{relation.features.name} go with the {relation.items.name} that have them: delete these"
            )
        ids = np.array(relation.features.ids_to_delete(names), np.int64)
        for id in ids[relation.fields_of(ids) > 0].tolist():
            raise InvalidParameter(
                f"{relation.features.stored([id])[id][0]!r} is of a field; `update` gives items other values there"
            )
        having = [NO_ITEMS, *(own.lists[np.isin(own.ids, ids)] for own in relation.forward.sweep())]
        items = distinct(np.concatenate(having))
        for start in range(0, len(items), MOVED_TOGETHER):
            part = items[start : start + MOVED_TOGETHER]
            before = relation.forward.read(part)
            self._replace(part, before, before.select(~np.isin(before.ids, ids)))
        self.changed.append(items)
        self._finish()
        return len(ids)

    def others(self) -> dict[int, str]:
        """The items that this write did not have, each with its name."""
        others = sorted(set(self.relation.items.ids()) - self.seen)
        return {id: name for id, (name, _) in self.relation.items.stored(others).items()}

    def _replace(self, items: Ints, old: Entries, new: Entries) -> None:
        """Give items, ascending, other lists."""
        self.relation.forward.write(items, new)
        changes = (
            (own.ids, sign * np.array([np.ones_like(own.ids), own.counts])) for own, sign in ((old, -1), (new, 1))
        )
        ids, values = zip(self.frequencies, *changes, strict=True)
        self.frequencies = _summed(np.concatenate(ids), np.concatenate(values, axis=1))

    def _finish(self) -> None:
        """Renew the ranges of numbers, delete features without items, and start the new revision."""
        if self.has_numbers:
            self._renew_ranges()
        (features, changes), self.frequencies = self.frequencies, NO_CHANGES  # a deletion may follow
        other = changes.any(axis=0) | np.isin(features, self.ranges)
        gone = self.relation.frequencies.add(features[other], changes[:, other])
        self.relation.features.delete(gone)
        if self.relation.fields:
            self.relation.forget_fields()
        self.term_ids, self.feature_ids, self.has_features = TermIds(), np.zeros(0, np.int64), True  # some are gone
        if self.relation.is_replaced:
            delete_orphans(self.relation.items)
        changed, relation = self.changed_items(), self.relation
        if len(changed) or relation.is_replaced or relation.is_altered:
            written = distinct(np.concatenate([NO_ITEMS, *self.changed]))
            moved = np.setdiff1d(self.moved, changed, assume_unique=True)
            shown = np.setdiff1d(changed, union(written, self.moved), assume_unique=True)
            relation.save(Changed(np.setdiff1d(changed, shown, assume_unique=True), moved, shown))

    def _write_batch(self, batch: Batch) -> int:
        check_names(batch.names, batch.titles)
        if batch.names:
            ids, old = self._item_ids(batch)
            batch.fields = with_dates(self.relation, batch.fields)
            texts = self._write_texts(ids, old, batch)
            columns = write_columns(self.relation, zip(ids.tolist(), batch.columns, strict=True))
            self.relation.items.records.write(list(zip(ids.tolist(), batch.records, strict=True)))
            before = self.relation.forward.read(np.array(old, np.int64)) if old else NOTHING
            new = self._entries(ids, batch)
            if old and self.relation.fields and not self.whole:
                new = new.merged(self._kept(before, dict(zip(ids.tolist(), batch.fields, strict=True))))
            if self.relation.fields:
                given = zip(batch.names, ids.tolist(), batch.fields, strict=True)
                self.has_numbers |= keep_numbers(self.relation, given, {*old}, self.whole)
            differing = _differing(before, new)
            self._note_altered(batch, ids, differing[np.isin(differing, old)])
            changed = distinct(np.concatenate([ids[~np.isin(ids, old)], differing]))
            before, new = (own.select(np.isin(own.lists, changed)) for own in (before, new))
            self._replace(changed, before, new)
            if old and self.relation.analyzer is None:
                keys = [pack(own.lists, own.ids) for own in (before, new)]
                self.lost += len(run_starts(np.sort(np.concatenate(keys), kind="stable"))) - len(new.ids)
            self.changed += [changed, np.array(texts, np.int64)]
            self.shown.append(np.array(columns, np.int64))
        return len(batch.names)

    def _note_altered(self, batch: Batch, ids: Ints, altered: Ints) -> None:
        if self.relation.analyzer is None or not len(altered):
            return
        self.altered += len(altered)
        if len(self.some_altered) < SHOWN:
            places = np.flatnonzero(np.isin(ids, altered))[:SHOWN].tolist()
            self.some_altered += [batch.names[place] for place in places]

    def _write_texts(self, ids: Ints, old: Sequence[int], batch: Batch) -> list[int]:
        """Store the texts, and delete those of items that came without one; returns which old ones change."""
        if self.relation.contexts == "off":
            return []
        new, texts = dict(zip(ids.tolist(), batch.texts, strict=True)), Texts.of(self.relation)
        stored = dict(texts.read(np.array(old, np.int64))) if old else {}
        texts.write({id: text for id, text in new.items() if stored.get(id) != text})
        changed = [id for id in old if stored.get(id) != new[id]]
        if is_encoded(self.relation.items):
            digests = [
                (name, -1 if text is None else digest(text))
                for name, text in zip(batch.names, batch.texts, strict=True)
            ]
            delete_vectors(self.relation.items, digests)
        return changed

    def _item_ids(self, batch: Batch) -> tuple[Ints, list[int]]:
        """The ids of a batch, `(n_items,)`, and those that existed before."""
        vocabulary = self.relation.items
        known = vocabulary.find(batch.names) if vocabulary.size and self.replace else {}
        self._refuse_duplicates(batch.names, known)
        titles = dict(zip(batch.names, batch.titles, strict=True))
        described = vocabulary.describe(sorted(known.values()))
        changed = [(titles[name], id) for name, id in known.items() if titles[name] != described[id][1]]
        vocabulary.set_titles(changed)
        self.shown.append(np.array([id for _, id in changed], np.int64))
        titles = {name: title for name, title in titles.items() if name not in known}
        new = self._insert(list(titles), list(titles.values()))
        id_of = known | dict(zip(titles, new, strict=True))
        self.seen.update(id_of.values())
        self.known += len(known)
        return np.array([id_of[name] for name in batch.names], np.int64), sorted(known.values())

    def _insert(self, names: Sequence[str], titles: Sequence[str | None]) -> list[int]:
        try:
            return self.relation.items.insert(names, titles)
        except NamesTaken as error:
            self._refuse_duplicates(names, error.known)
            raise

    def _refuse_duplicates(self, names: Sequence[str], known: Mapping[str, int]) -> None:
        """Raise DuplicateItem for ids that occur twice, or exist already and are not to be replaced."""
        twice = {name for name, count in Counter(names).items() if count > 1}
        twice |= {name for name, id in known.items() if id in self.seen}
        for name in names if twice or (known and not self.replace) else ():
            if name in twice:
                raise DuplicateItem(f"the id {name!r} occurs twice; ids must be unique")
            if name in known and not self.replace:
                raise DuplicateItem(f"there is already an item {name!r}; use update to change it")

    def _entries(self, ids: Ints, batch: Batch) -> Entries:
        """The cells of a batch, with equal features of an item counted together, sorted by item and feature."""
        items, numbers, batch_counts = repeat(ids, batch.lengths), batch.numbers, batch.counts
        n_terms = batch.n_terms
        if any(batch.fields):
            others = self._of_fields(ids, batch)
            own = np.ones(len(numbers), np.int64) if batch_counts is None else batch_counts
            items, numbers, batch_counts = (
                np.append(*both) for both in zip((items, numbers, own), others, strict=True)
            )
            n_terms = len(self.term_ids.names)
        self._write_terms(n_terms)
        key = pack(items, self.feature_ids[numbers])
        if batch_counts is None:
            key.sort(kind="stable")  # items come in order: a merge sort is fast
            begin = run_starts(key)
            counts = run_lengths(begin, len(key))
        else:
            order = np.argsort(key, kind="stable")
            key = key[order]
            begin = run_starts(key)
            counts = sum_runs(batch_counts[order], begin) if len(begin) else begin
        if len(counts) and counts.max() > LARGEST_COUNT:
            raise InvalidItem(f"the count {counts.max()} is too large; the largest is {LARGEST_COUNT}")
        key = key[begin]
        return Entries(key >> 32, key & 0xFFFF_FFFF, counts)

    def _of_fields(self, ids: Ints, batch: Batch) -> tuple[Ints, Ints, Ints]:
        """The cells of other fields than the first one: items, term numbers and counts."""
        cells: list[tuple[int, int, int]] = []
        for name, id, features in zip(
            batch.names, ids.tolist(), field_features(self.relation, batch.names, batch.fields), strict=True
        ):
            check_counts(name, features)
            cells += [(id, self.term_ids[feature], count) for feature, count in features.items()]
        items, numbers, counts = np.array(cells, np.int64).reshape(-1, 3).T
        return items, numbers, counts

    def _kept(self, before: Entries, given: Mapping[int, OfFields]) -> Entries:
        """Of the entries that items had before, those of fields that they are not given anew."""
        features = distinct(before.ids)
        fields = self.relation.fields_of(features)[np.searchsorted(features, before.ids)]
        names = (self.relation.first_field, *(own.name for own in self.relation.fields))
        pairs = zip(before.lists.tolist(), fields.tolist(), strict=True)
        stays = [field > 0 and names[field] not in given[item] for item, field in pairs]
        return before.select(np.array(stays, bool))

    def _renew_ranges(self) -> None:
        """Give each field of numbers the ends that follow from these, and the items the ranges between them."""
        self.has_numbers, relation = False, self.relation
        for place, before in enumerate(relation.fields):
            after = before._replace(ends=renewed_ends(relation, before))
            if after == before:
                continue
            relation.fields = (*relation.fields[:place], after, *relation.fields[place + 1 :])
            relation.is_altered = True
            items, numbers = numbers_of(relation, before)
            for start in range(0, len(items), MOVED_TOGETHER):
                part = slice(start, start + MOVED_TOGETHER)
                self._move([*moved(before, after, items[part], numbers[part])])

    def _move(self, moves: Sequence[tuple[Ints, list[str], list[str]]]) -> None:
        """Take features from items, and give them others."""
        if not moves:
            return
        sides = [[(items, self.term_ids[name]) for items, *both in moves for name in both[side]] for side in (0, 1)]
        self._write_terms(len(self.term_ids.names))
        none = np.zeros(0, np.int64)
        lost, got = (
            np.concatenate([none, *(pack(items, self.feature_ids[[number]]) for items, number in side)])
            for side in sides
        )
        items = distinct(np.concatenate([own for own, *_ in moves]))
        self.ranges = distinct(np.concatenate([self.ranges, np.append(lost, got) & 0xFFFF_FFFF]))
        before = self.relation.forward.read(items)
        stays = before.select(~np.isin(pack(before.lists, before.ids), lost))
        got = np.setdiff1d(union(got), pack(stays.lists, stays.ids), assume_unique=True)
        self._replace(items, before, stays.merged(Entries(got >> 32, got & 0xFFFF_FFFF, np.ones_like(got))))
        self.moved = union(self.moved, items)

    def _write_terms(self, end: int) -> None:
        """Give ids to the terms with numbers below `end` that are new since the last batch."""
        vocabulary = self.relation.features
        terms = self.term_ids.names[len(self.feature_ids) : end]
        for term in () if are_storable(terms) else terms:
            if not is_storable(term):
                raise InvalidItem(f"an item has the feature {term!r}; features are text as ids are")
        known = vocabulary.find(terms) if self.has_features else {}
        new = [term for term in sorted(terms) if term not in known]  # sorted, SQLite's index grows at its end
        known |= zip(new, vocabulary.insert(new), strict=True)
        ids = np.fromiter((known[term] for term in terms), np.int64, len(terms))
        self.feature_ids = np.concatenate([self.feature_ids, ids])


def _summed(ids: Ints, values: Ints) -> tuple[Ints, Ints]:
    """The distinct ids, ascending, and the sums of their `(2, n)` values."""
    known = distinct(ids)
    places, sums = places_of(known)[ids], np.zeros((2, len(known)), np.int64)
    for own, added in zip(sums, values, strict=True):
        np.add.at(own, places, added)
    return known, sums


def _differing(one: Entries, other: Entries) -> Ints:
    """The lists that have other entries in one than in the other, ascending; both are sorted."""
    if not len(one.lists):
        return other.lists[run_starts(other.lists)]
    key = np.concatenate([pack(own.lists, own.ids) for own in (one, other)])
    counts = np.concatenate([one.counts, other.counts])
    order = np.argsort(key, kind="stable")
    same = (np.diff(key[order]) == 0) & (np.diff(counts[order]) == 0)  # an entry of one before that of the other
    return distinct(key[order][~(np.append(same, False) | np.append(False, same))] >> 32)
