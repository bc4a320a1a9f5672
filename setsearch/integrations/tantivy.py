"""tantivy: the documents of a tantivy index, ranked by examples, as queries of tantivy.

    sets = TantivySets(tantivy_index, "sets.db", id="path", fields=["title", "body"])
    sets.update()                                         # after each commit of the tantivy index
    searcher.search(sets.query(["doc-1", "doc-2"]), 10)   # composes with other queries; scores are ours
    sets.more_like("doc-1", filter=Query.term_query(schema, "year", 2001))     # or ids, or text="..."

Terms are those of tantivy's default tokenizer, or of an `analyzer` that is given. `id` is a stored field that was
indexed raw, `fields` are stored; no text is copied.
"""

import logging
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from tantivy import Filter, Occur, Query, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

import setsearch
from setsearch.errors import DuplicateItem, InvalidParameter, number_of
from setsearch.indexing.rows.document_columns import SourceItem
from setsearch.indexing.sync import Changes, SourceChanges
from setsearch.options import ExpandOptions
from setsearch.storage.synced_source import TANTIVY, SyncedSource

MOST = 1000  # documents that a query matches by default

_log = logging.getLogger("setsearch")


class TantivySets:
    """A tantivy index and the setsearch database that follows it.

    `place` is the path of the database, in which a `collection` may have its own name; `title` a stored field to show.
    """

    def __init__(
        self,
        tantivy_index: Any,
        place: str | Path,
        *,
        id: str,
        fields: str | Sequence[str],
        title: str | None = None,
        analyzer: TextAnalyzer | None = None,
        collection: str = "",
    ) -> None:
        self.tantivy_index, self.id, self.title = tantivy_index, id, title
        self.fields = [fields] if isinstance(fields, str) else list(fields)
        for name in (id, *self.fields):
            try:
                Query.term_query(tantivy_index.schema, name, "")
            except ValueError as error:
                raise InvalidParameter(f"the tantivy schema has no text field {name!r}: {error}") from error
        simple = TextAnalyzerBuilder(Tokenizer.simple())  # as tantivy's default
        self._analyzer = analyzer or simple.filter(Filter.remove_long(40)).filter(Filter.lowercase()).build()
        self.index = setsearch.open(place, create=True, analyzer=self._analyzer.analyze, collection=collection)

    def close(self) -> None:
        """Close the database; the tantivy index stays as it is."""
        self.index.close()

    def update(self) -> Changes:
        """Apply what was committed since the last time: all stored documents are read, those that changed written.

        One transaction. A document without an id is left out, with a warning. Raises DuplicateItem.
        """
        self.tantivy_index.reload()
        source = SyncedSource(TANTIVY, "the tantivy index", {"id": self.id, "fields": self.fields, "title": self.title})
        return self.index.follow(source, self._delta)

    def query(self, seeds: Iterable[str], k: int = MOST, **options: Unpack[ExpandOptions]) -> Query:
        """A query that matches the k documents that belong best with examples, with their scores.

        `seeds` are ids; options are those of `Reading.expand`. Raises UnknownItem, InvalidParameter.
        """
        hits, schema = self.index.items("documents").expand(seeds, k, **options), self.tantivy_index.schema
        ours = ((Query.term_query(schema, self.id, hit.item, "basic"), hit.score) for hit in hits)
        return Query.boolean_query([(Occur.Should, Query.const_score_query(*one)) for one in ours])

    def more_like(
        self,
        names: str | Iterable[str] = (),
        top: int = 10,
        *,
        text: str | Iterable[str] = (),
        filter: Query | Iterable[Query] = (),
        **options: Any,
    ) -> Any:
        """The `top` documents most like those of some ids, and texts, as tantivy's SearchResult.

        A `filter`, or all of several, applies before these are taken. Options are those of `query`.
        """
        searcher = self.tantivy_index.searcher()
        texts = [text] if isinstance(text, str) else [*text]
        filters = [filter] if isinstance(filter, Query) else [*filter]
        if texts:
            options["like"] = [*options.get("like", ()), *texts]
        if filters:
            every = Query.boolean_query([(Occur.Must, own) for own in filters])
            options["among"] = list(self.named(searcher, every))
        return searcher.search(self.query([names] if isinstance(names, str) else names, top, **options), top)

    def named(self, searcher: Any, query: Query) -> Iterator[str]:
        """The ids of the documents that match a query, however many."""
        for _, address in searcher.search(query, max(searcher.num_docs, 1)).hits:
            name = searcher.doc(address).get_first(self.id)
            if name is not None:
                yield str(name)

    def _delta(self, known: dict[str, int] | None) -> SourceChanges:
        """The documents that differ from the `known` ones, by their checksums; all if none is known."""
        searcher, state, changed, nameless = self.tantivy_index.searcher(), dict[str, int](), list[SourceItem](), 0
        has_text = False
        for _, address in searcher.search(Query.all_query(), max(searcher.num_docs, 1)).hits:
            document = searcher.doc(address)
            name = document.get_first(self.id)
            if name in (None, ""):
                nameless += 1
                continue
            name, title = str(name), document.get_first(self.title) if self.title else None
            if name in state:
                raise DuplicateItem(f"several documents of the tantivy index have the id {name!r}; ids must be unique")
            texts = [str(text) for field in self.fields for text in document.get_all(field)]
            has_text |= any(texts)
            state[name] = zlib.crc32("\0".join([title or "", *texts]).encode())
            if known is None or known.get(name) != state[name]:
                counts = Counter(term for text in texts for term in self._analyzer.analyze(text))
                changed.append((name, counts, title))
        if nameless:
            _log.warning("left out %s without a stored %r", number_of(nameless, "document"), self.id)
        if state and not has_text:
            raise InvalidParameter(f"the tantivy index stores no text in {', '.join(self.fields)}; name others")
        return SourceChanges(changed, None if known is None else sorted(known.keys() - state.keys()), state)
