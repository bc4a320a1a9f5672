"""Follows a Whoosh index: reads each new segment once into the documents of a setsearch database."""

import logging
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from whoosh import query
from whoosh.fields import BOOLEAN, NUMERIC

import setsearch
from setsearch.arrays import Ints
from setsearch.errors import DuplicateItem, InvalidParameter, MissingDatabase, NoIndex, UnknownReading
from setsearch.indexing.rows.document_columns import SourceItem
from setsearch.indexing.sync import Changes, SourceChanges
from setsearch.memory.fields import Fields
from setsearch.storage.synced_source import WHOOSH, SyncedSource

OLDER_SEGMENTS = 64  # whose ids stay in memory, for searchers that are still open

_log = logging.getLogger("setsearch")


class WhooshDocuments:
    """The documents of a Whoosh index in the setsearch database that follows it. `WhooshSets` queries them."""

    def __init__(
        self,
        whoosh_index: Any,
        place: str | Path,
        *,
        id: str,
        fields: str | Sequence[str],
        title: str | None = None,
        others: str | Sequence[str] = (),
        collection: str = "",
    ) -> None:
        self.whoosh_index = whoosh_index
        self.id = id
        self.title = title
        self.others = [others] if isinstance(others, str) else list(others)
        self.fields = [fields] if isinstance(fields, str) else list(fields)
        self._check(whoosh_index.schema)
        self.index = setsearch.open(place, create=True, analyzer=self._analyze, collection=collection)
        self._known: tuple[int, dict[str, Any]] = -1, {}
        self._other_names: dict[str, list[str | None]] = {}
        self._item_ids: dict[str, tuple[int, Ints]] = {}
        self._warned: set[str] = set()

    def close(self) -> None:
        """Close the database; the Whoosh index stays as it is."""
        self.index.close()

    def update(self) -> Changes:
        """Apply what was added, deleted and merged since the last time. Only new segments are read.

        One transaction. A document without an id is left out, with a warning. Raises DuplicateItem for a duplicate id,
        InvalidParameter for a field that the schema lacks by now.
        """
        self._check(self.whoosh_index.schema)
        columns: dict[str, Any] = {"id": self.id, "fields": self.fields, "title": self.title}
        columns |= {"others": self.others} if self.others else {}
        with self.whoosh_index.reader() as reader:
            leaves = [leaf for leaf, _ in reader.leaf_readers() if leaf.segment() is not None]
            source = SyncedSource(WHOOSH, "the Whoosh index", columns)
            return self.index.follow(source, lambda state: self._delta(leaves, state))

    def documents(self, reader: Any) -> tuple[list[str | None], Ints]:
        """The ids of the documents of a segment, by docnum, and the live docnums."""
        names = self._names_in(reader)
        live = np.array([name is not None for name in names], bool)
        live[[docnum for docnum in reader.segment().deleted_docs() if docnum < len(names)]] = False
        return names, np.flatnonzero(live)

    def items(self, fields: Fields, reader: Any) -> tuple[Ints, Ints]:
        """The docnums of a segment that the database has, and their item ids."""
        stamp, segment = fields.relation.stamp, segment_of(reader)
        names, live = self.documents(reader)
        known = self._item_ids.get(segment)
        if known is None or known[0] != stamp or len(known[1]) != len(names):
            ids = fields.first.find_all([name for name in names if name])
            known = stamp, np.array([ids.get(name or "", -1) for name in names], np.int64)
            self._item_ids[segment] = known
        followed = known[1][live] >= 0
        if not followed.all() and segment not in self._warned and segment not in self.segments():
            self._warned.add(segment)
            new = int(np.sum(~followed))
            _log.warning("%d new documents of the Whoosh index are not ranked before WhooshSets.update()", new)
        return live[followed], known[1][live[followed]]

    def _names_in(self, reader: Any) -> list[str | None]:
        """The ids of the documents of a segment: as last read, or, if it is newer or older, as Whoosh stores them.

        A merge moves documents into a new segment; searchers that are still open have the old ones.
        """
        segment = segment_of(reader)
        known = self.segments().get(segment)
        if known is not None:
            return list(known["ids"])
        names = self._other_names.get(segment) or self._names(reader)
        self._remember({segment: names})
        return names

    def _remember(self, segments: dict[str, list[str | None]]) -> None:
        """Keep the names of some segments, and of the latest others: a new mapping, as threads read the old one."""
        others = {own: names for own, names in self._other_names.items() if own not in segments}
        self._other_names = dict([*others.items(), *segments.items()][-OLDER_SEGMENTS:])

    def segments(self) -> dict[str, Any]:
        """The segments that were read, by their ids; reloaded after each write."""
        try:
            stamp = self.index.stamp()
        except (MissingDatabase, NoIndex, UnknownReading) as error:
            raise type(error)(f"{error}; WhooshSets(...).update() reads the Whoosh index") from error
        known, before = self._known
        if known != stamp:
            self._remember({segment: own["ids"] for segment, own in before.items()})
            self._known = stamp, self.index.source_state() or {}
            self._item_ids = {}
        return self._known[1]

    def _check(self, schema: Any) -> None:
        stored = [self.id, *filter(None, [self.title]), *self.others]
        for name in (*stored, *self.fields):
            if name not in schema:
                raise InvalidParameter(f"the Whoosh schema has no field {name!r}; it has {', '.join(schema.names())}")
        for name in stored:
            if not schema[name].stored:
                raise InvalidParameter(f"the Whoosh field {name!r} is not stored, so it cannot be read; name another")
        for name in self.fields:
            if not schema[name].indexed:
                raise InvalidParameter(f"the Whoosh field {name!r} is not indexed, so it has no terms; name another")
        if not self.fields:
            raise InvalidParameter(
                f"fields names at least one field whose terms describe documents, not {self.fields!r}"
            )

    def _analyze(self, text: str) -> list[str]:
        field = self.whoosh_index.schema[self.fields[0]]
        return list(field.process_text(text, mode="index")) if field.analyzer else [text]

    def _delta(self, leaves: list[Any], known: dict[str, Any] | None) -> SourceChanges:
        """The changes since the `known` segments; everything if none is known."""
        state, new = {}, []
        for leaf in leaves:
            segment = segment_of(leaf)
            if known is not None and segment in known:
                ids = known[segment]["ids"]
            else:
                ids = self._names(leaf)
                nameless = [docnum for docnum in leaf.all_doc_ids() if ids[docnum] is None]
                if nameless:
                    what = f"document{'s' * (len(nameless) > 1)} of the Whoosh index without a stored {self.id!r}"
                    _log.warning("left out %d %s, the first is number %d", len(nameless), what, nameless[0])
                new.append(leaf)
            state[segment] = {"ids": ids, "deleted": sorted(int(number) for number in leaf.segment().deleted_docs())}
        items = (item for leaf in new for item in self._read(leaf, state[segment_of(leaf)]["ids"]))
        alive = _alive(state)
        return SourceChanges(items, None if known is None else sorted(_alive(known) - alive), state)

    def _names(self, leaf: Any) -> list[str | None]:
        names: list[str | None] = [None] * leaf.doc_count_all()
        for docnum in leaf.all_doc_ids():
            name = leaf.stored_fields(docnum).get(self.id)
            names[docnum] = None if name is None else str(name) or None
        return names

    def _read(self, leaf: Any, names: list[str | None]) -> Iterator[SourceItem]:
        """The live documents of a segment with their counted terms: its postings, inverted."""
        terms: list[str] = []
        cells = [np.zeros((0, 3), np.int64)]  # docnum, term, count
        for name in self.fields:
            field = leaf.schema[name]
            for stored in field.sortable_terms(leaf, name):  # numbers have more, of lower precision
                entries = [(docnum, len(terms), count) for docnum, count in _postings(leaf.postings(name, stored))]
                cells.append(np.array(entries, np.int64).reshape(-1, 3))
                terms.append(str(field.from_bytes(stored)))
        table = np.concatenate(cells)
        table = table[np.argsort(table[:, 0], kind="stable")]
        docnums = list(leaf.all_doc_ids())
        starts, ends = (np.searchsorted(table[:, 0], docnums, side).tolist() for side in ("left", "right"))
        for docnum, start, end in zip(docnums, starts, ends, strict=True):
            counts: dict[str, int] = {}
            for _, term, count in table[start:end].tolist():
                counts[terms[term]] = counts.get(terms[term], 0) + count
            name, stored = names[docnum], leaf.stored_fields(docnum) if self.title or self.others else {}
            title = stored.get(self.title)
            if name is not None:
                others = {own: _value(leaf.schema[own], stored.get(own)) for own in self.others}
                yield name, counts, None if title is None else str(title), None, others

    def named(self, searcher: Any, filter: Any) -> list[str] | None:
        """The ids of the documents that pass a filter of Whoosh."""
        if filter is None:
            return None
        if isinstance(filter, query.Query):
            filter = searcher.docs_for_query(filter)
        docnums = np.array(sorted(filter.docs() if hasattr(filter, "docs") else filter), np.int64)
        ids: list[str] = []
        for leaf, offset in searcher.leaf_searchers():
            names, live = self.documents(leaf.reader())
            ids += [names[docnum] or "" for docnum in np.intersect1d(docnums - offset, live).tolist()]
        return ids


def _value(field: Any, stored: Any) -> Any:
    """What a document has in a stored field: a number, a date, or names, as the analyzer of the field has them.

    Whoosh takes numbers, dates and truth as texts, too, and stores what it was given.
    """
    if stored is None:
        return []
    if isinstance(field, BOOLEAN):
        return [str(field.to_bytes(stored) == field.to_bytes(True)).lower()]
    if isinstance(stored, str) and isinstance(field, NUMERIC):
        stored = field.from_bytes(field.to_bytes(stored))
    if isinstance(stored, str):
        return [*field.process_text(stored, mode="index")] if field.analyzer else [stored]
    return float(stored) if isinstance(stored, (int, float, Decimal)) else stored


def segment_of(reader: Any) -> str:
    """The name of a segment; a merge makes a new one."""
    return str(reader.segment().segment_id())


def _alive(segments: dict[str, Any]) -> set[str]:
    """The ids of the live documents; raises DuplicateItem."""
    alive: set[str] = set()
    for segment in segments.values():
        deleted = set(segment["deleted"])
        for number, name in enumerate(segment["ids"]):
            if name is None or number in deleted:
                continue
            if name in alive:
                raise DuplicateItem(f"several documents of the Whoosh index have the id {name!r}; ids must be unique")
            alive.add(name)
    return alive


def _postings(matcher: Any) -> Iterator[tuple[int, int]]:
    """(docnum, count) of a term."""
    counted = matcher.supports("frequency")
    while matcher.is_active():
        yield matcher.id(), int(matcher.value_as("frequency")) if counted else 1
        matcher.next()
