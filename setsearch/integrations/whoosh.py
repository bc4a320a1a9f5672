"""Whoosh: the documents of a Whoosh index, ranked by examples, inside Whoosh's own queries.

    sets = WhooshSets(whoosh_index, "sets.db", id="path", fields=["title", "content"])
    sets.update()                                        # after each commit of the Whoosh index
    with whoosh_index.searcher() as searcher:
        searcher.search(SetQuery(["doc-1", "doc-2"], sets), filter=Term("year", "2001"))
        parser.add_plugin(sets.plugin())                 # ~{warrior, soldier}    like:(doc-1 doc-2)
        sets.more_like(searcher, docnum, top=5)

The terms are Whoosh's own, by the analyzers of its fields; no text is copied. Runs on Whoosh 2.7.4 and whoosh3.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from whoosh import query
from whoosh.matching import ListMatcher, NullMatcher
from whoosh.qparser.plugins import Plugin
from whoosh.qparser.syntax import SyntaxNode
from whoosh.qparser.taggers import RegexTagger

from setsearch.answers.saved.item_sets import Question
from setsearch.arrays import Floats, Ints, distinct, only
from setsearch.errors import SetsearchError
from setsearch.integrations.whoosh_documents import WhooshDocuments, segment_of
from setsearch.memory.fields import Fields
from setsearch.options import MODEL, SAVED, Option, check, offered, refuse
from setsearch.search.request import K, id_list

LOWEST_SCORE = 1.0  # of the worst document: Whoosh drops scores of 0 and below
ADDED_WORDS = 10  # at most, by ~{...}
MARKED_WORDS = 20  # that speak most for the set, at most: Whoosh highlights them
FIRST = -1  # priority: before Whoosh's own tagger of fields, which would read like:

MISSING = Option(str, "", "Unknown names", choices=("error", "skip"), name="missing")
OPTIONS = {**offered("Whoosh"), **SAVED, "k": K, "missing": MISSING}

Answer = dict[str, tuple[Ints, Floats]]  # docnums and scores of each segment
_no_ids, _no_scores = np.zeros(0, np.int64), np.zeros(0)


class WhooshSets(WhooshDocuments):
    """A Whoosh index and the setsearch database that follows it. Threads may share it.

    `id` is the stored field that names documents, `fields` are the fields whose terms describe them, `title` is a
    stored field to show, `others` are stored fields (KEYWORD, NUMERIC, DATETIME) that count beside the terms, each as a
    field. `place` is the path of the database, in which a `collection` may have its own name. Raises
    InvalidParameter for a field that the schema lacks.
    """

    def plugin(self, **options: Any) -> "SetPlugin":
        """A plug-in for Whoosh's query parser: ~{word, word} and like:(id id), with options of `SetQuery`."""
        return SetPlugin(self, options)

    def more_like(
        self, searcher: Any, docnum: int, *ignored: Any, text: str | None = None, top: int = 10, **more: Any
    ) -> Any:
        """`Searcher.more_like` with our ranking: the same call, the same Results.

        `filter` (a query, results or docnums) applies before the top k are taken. All terms of the document count;
        fieldname, numterms, model and normalize are accepted and ignored.
        """
        unknown = set(more) - {"filter", "fieldname", "numterms", "model", "normalize"}
        if unknown:
            raise TypeError(f"more_like has no argument {min(unknown)!r}")
        seeds = [] if text else [str(searcher.stored_fields(docnum)[self.id])]
        among = self.named(searcher, more.get("filter"))
        query = SetQuery(seeds, self, k=top + 1, like=[text] if text else None, among=among, missing="skip")
        return searcher.search(query, limit=top, mask={docnum})


class SetQuery(query.Query):  # type: ignore[misc]
    """A Whoosh query that scores every document by examples: `seeds` are ids of documents.

    With `k`, or `cut="keep"`, it matches the best live documents only, exactly; else all documents that the database
    follows, so that it ranks in an And and adds in an Or. With `words` it matches documents that have one of these
    words, or of the words most like them. The members of the saved `set` are examples beside the seeds, and its rivals
    count. `like`, `having`, `exclude`, `among`, `keep_seeds` and model options are those of `Reading.expand`. Raises
    UnknownSet, and UnknownItem for unknown names, unless `missing="skip"`. Names that are deleted later are left out;
    if none is left, nothing matches.

    Whoosh drops scores of 0 and below, so scores are shifted: the worst document has 1. Ties are in Whoosh's order.
    """

    def __init__(
        self, seeds: Iterable[str], sets: WhooshSets, *, words: Iterable[str] = (), boost: float = 1.0, **options: Any
    ) -> None:
        self.seeds = (seeds,) if isinstance(seeds, str) else tuple(id_list(seeds, "seeds"))
        self.words = (words,) if isinstance(words, str) else tuple(words)
        self.sets = sets
        self.boost = boost
        self.options = {key: value for key, value in options.items() if value is not None}
        refuse("Whoosh", self.options)
        check(self.options, OPTIONS)
        if self.options.pop("missing", "error") != "skip":
            self._require_known()
        self._answer: tuple[object, Answer] = None, {}

    def __repr__(self) -> str:
        more = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"SetQuery({list(self.seeds)!r}, words={list(self.words)!r}{more})^{self.boost}"

    __str__ = __unicode__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SetQuery) and repr(self) == repr(other) and self.sets is other.sets

    def __hash__(self) -> int:
        return hash(repr(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> "SetQuery":
        return copy(self)

    def leaves(self) -> Iterator[Any]:
        """Itself, and the words that speak most for the set, as terms of Whoosh: these are highlighted."""
        yield self
        for word in self._strongest():
            for name in self.sets.fields:
                yield query.Term(name, word)

    def field(self) -> str:
        """A name that no schema has: Whoosh drops a query without a field beside `Every` in an And."""
        return "~"

    def estimate_size(self, ixreader: Any) -> int:
        """An upper bound of the number of matches."""
        return int(ixreader.doc_count())

    def estimate_min_size(self, ixreader: Any) -> int:
        """A lower bound of the number of matches."""
        return 0

    def docs(self, searcher: Any) -> Iterator[int]:
        """The docnums that match, ascending."""
        for leaf, offset in searcher.leaf_searchers():
            for docnum in self.matcher(leaf).all_ids():
                yield docnum + offset

    def matcher(self, searcher: Any, context: Any = None) -> Any:
        """The documents of one segment with their scores. Raises as `Reading.expand` does."""
        answer, reader = self._answer_for(searcher.get_parent()), searcher.reader()
        if reader.segment() is None:  # of an empty index
            return NullMatcher()
        docnums, scores = answer.get(segment_of(reader), (_no_ids, _no_scores))
        if not len(docnums):
            return NullMatcher()
        return SetMatcher(docnums.tolist(), (scores * self.boost).tolist())

    def _answer_for(self, searcher: Any) -> Answer:
        """The scores of all segments, cached until the Whoosh index or the database changes."""
        leaves = [leaf.reader() for leaf, _ in searcher.leaf_searchers() if leaf.reader().segment() is not None]
        self.sets.segments()
        saved = self.options.get("set")
        state = None if saved is None else self.sets.index.set(saved).seal()
        key = self.sets.index.stamp(), state, *((segment_of(leaf), leaf.doc_count()) for leaf in leaves)
        if self._answer[0] != key:
            self._answer = key, self._score(leaves)
        return self._answer[1]

    def _score(self, leaves: list[Any]) -> Answer:
        options = dict(self.options)
        k, cut = options.pop("k", None), options.pop("cut", None)
        options.pop("having", None)
        asked, words, having = self._examples()
        options.pop("exclude", None)
        options.pop("set", None)
        if not (asked.seeds or having or options.get("like")) and (self.seeds or self.words or asked.own):
            return {}

        def answer(fields: Fields, all_scores: Floats) -> Answer:
            """The scores by segment, of those documents that match."""
            scores = only(all_scores, _having(fields, having)) if words else all_scores
            by_segment = [self.sets.items(fields, leaf) for leaf in leaves]
            items = np.concatenate([ids for _, ids in by_segment] or [_no_ids])
            if cut == "keep":
                hits = asked.expand(None, having=having, cut=cut, groups=1, **options)
                items = items[np.isin(items, fields.resolve_all([hit.item for hit in hits]))]
            items = items[scores[items] > -np.inf]
            if k is not None and k < len(items):
                items = items[np.lexsort((fields.ranks(items), -scores[items]))[:k]]
            scores = only(scores - scores[items].min(initial=np.inf) + LOWEST_SCORE, items)
            found = {}
            for leaf, (docnums, ids) in zip(leaves, by_segment, strict=True):
                matches = scores[ids] > -np.inf
                found[segment_of(leaf)] = docnums[matches], scores[ids][matches]
            return found

        return asked.scored(answer, having=having, **options)

    def _require_known(self) -> None:
        """Raise UnknownItem, UnknownSet for a name that the database lacks now."""
        self.sets.segments()
        self.sets.index.question(set=self.options.get("set"), items="documents")
        excluded = id_list(self.options.get("exclude", ()), "exclude")
        for items, names in (("documents", [*self.seeds, *excluded]), ("terms", self.words)):
            self.sets.index.items(items).find_all(names)

    def _known(self, items: str, names: Iterable[str]) -> list[str]:
        """Those of the names that the database has."""
        found = self.sets.index.items(items).find_each(names)
        return [own for own in found.values() if isinstance(own, str)]

    def _strongest(self) -> list[str]:
        """The words that speak most for the set; none for a set without an answer."""
        options = {key: value for key, value in self.options.items() if key in ("like", *MODEL)}
        try:
            asked, _, having = self._examples()
            if not (asked.seeds or having or options.get("like")):
                return []
            found = self.sets.index.items("documents").features(asked.seeds, MARKED_WORDS, having=having, **options)
        except SetsearchError:
            return []
        return [one.feature for one in found if one.weight > 0]

    def _examples(self) -> tuple[Question, list[str], list[str]]:
        """The examples and the words that are known, and all features of examples: words most like these, too."""
        index, saved = self.sets.index, self.options.get("set")
        seeds, words = self._known("documents", self.seeds), self._known("terms", self.words)
        exclude = self._known("documents", id_list(self.options.get("exclude", ()), "exclude"))
        similar = index.items("terms").expand(words, ADDED_WORDS, cut="keep") if words else ()
        having = [*self.options.get("having", ()), *words, *(hit.item for hit in similar)]
        return index.question(seeds, set=saved, items="documents", exclude=exclude), words, having


class SetMatcher(ListMatcher):  # type: ignore[misc]
    """Docnums of one segment, ascending, with precomputed scores, as the weights of Whoosh's matcher of a list."""

    _ids: list[int]
    _i: int

    def replace(self, minquality: float = 0) -> Any:
        """Itself, or NullMatcher if no document is left."""
        return self if self.is_active() else NullMatcher()

    def block_quality(self) -> float:
        """The best score, which AndMaybe asks for anyway."""
        return float(self.max_quality())

    def all_ids(self) -> Iterator[int]:
        """The docnums from the current one on."""
        return iter(self._ids[self._i :])

    def skip_to(self, id: int) -> None:
        """Go to a docnum, or to the next one after it."""
        self._i = bisect_left(self._ids, id, self._i)


class SetPlugin(Plugin):  # type: ignore[misc]
    """~{word, word} and like:(id id) for Whoosh's query parser. Made by `WhooshSets.plugin`.

    Ids and words are separated by blanks or commas; quotes keep a name with blanks together. No name and unknown
    names find nothing, as other terms of a query do, unless the plug-in has `missing="error"`.
    """

    def __init__(self, sets: WhooshSets, options: dict[str, Any]) -> None:
        self.sets = sets
        self.options = options

    def taggers(self, parser: Any) -> list[tuple[Any, int]]:
        """The taggers of the two forms."""
        one = r"(?P<one>\"[^\"]+\"|'[^']+'|[^\s()^]+)"
        documents = _SetTagger(rf"(?<!\w)(?i:like):\s*(?:\((?P<given>[^)]*)(?:\)|$)|{one})?", self._documents)
        return [(_SetTagger(r"~\{(?P<given>[^}]*)\}", self._words), FIRST), (documents, FIRST)]

    def _documents(self, names: list[str]) -> SetQuery:
        return SetQuery(names, self.sets, **{"missing": "skip", **self.options})

    def _words(self, names: list[str]) -> SetQuery:
        return SetQuery((), self.sets, words=names, **{"missing": "skip", **self.options})


class _SetTagger(RegexTagger):  # type: ignore[misc]
    def __init__(self, expression: str, make: Any) -> None:
        super().__init__(expression)
        self.make = make

    def create(self, parser: Any, match: Any) -> Any:
        groups = match.groupdict()
        given = groups["given"] if groups["given"] is not None else groups.get("one") or ""
        names = ["".join(found) for found in re.findall(r"\"([^\"]*)\"|'([^']*)'|([^\s,]+)", given)]
        return _SetNode(self.make, [name for name in names if name])


class _SetNode(SyntaxNode):  # type: ignore[misc]
    has_boost = True

    def __init__(self, make: Any, names: list[str]) -> None:
        self.make, self.names, self.boost = make, names, 1.0

    def r(self) -> str:
        return f"set {self.names}"

    def query(self, parser: Any) -> query.Query:
        """The query; without a name nothing is found."""
        if not self.names:
            return query.NullQuery
        own: SetQuery = self.make(self.names)
        own.boost = self.boost
        return own


def _having(fields: Fields, names: Sequence[str]) -> Ints:
    """The items that have at least one of some features."""
    ids = sorted(fields.first.find_features(fields.resolve_features(names)).values())
    return distinct(fields.first.read_postings(ids).ids)
