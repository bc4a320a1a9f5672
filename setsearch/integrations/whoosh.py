"""Whoosh: the documents of a Whoosh index, ranked by examples, inside Whoosh's own queries.

    sets = WhooshSets(whoosh_index, "sets.db", id="path", fields=["title", "content"])
    sets.update()                                        # after each commit of the Whoosh index
    with whoosh_index.searcher() as searcher:
        searcher.search(SetQuery(["doc-1", "doc-2"], sets), filter=Term("year", "2001"))
        parser.add_plugin(sets.plugin())                 # ~{warrior, soldier}    like:(doc-1 doc-2)
        sets.more_like(searcher, docnum, top=5)

The terms are those of the Whoosh index, by its own analyzers; no text is copied. Written for Whoosh 2.7.4, whose API
whoosh3 has too.
"""

import logging
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from whoosh import query
from whoosh.matching import Matcher, NullMatcher
from whoosh.qparser.plugins import Plugin
from whoosh.qparser.syntax import SyntaxNode
from whoosh.qparser.taggers import RegexTagger

from setsearch.arrays import Floats, Ints
from setsearch.integrations.whoosh_documents import WhooshDocuments, segment_of
from setsearch.search.fields import Fields
from setsearch.search.request import ExpandOptions, positive_integer

_log = logging.getLogger("setsearch")

LOWEST = 1.0  # Whoosh takes scores of 0 and below for no match: the worst document has this one
MORE_WORDS = 10  # that ~{...} adds at most to those that were typed
FIRST = -1  # the plug-in reads like:( before Whoosh takes it for a field

OPTIONS = {"k", "like", "having", "missing", *ExpandOptions.__annotations__}

Answer = dict[str, tuple[Ints, Floats]]  # docnums and scores of each segment


class WhooshSets(WhooshDocuments):
    """A Whoosh index and the setsearch database that follows it. Threads may share it.

    `id` is the stored field that names documents, `fields` are those whose terms describe them, `title` is a stored
    field to show. `place` is the path of a database of its own. Raises InvalidParameter for what the schema lacks.
    """

    def plugin(self, **options: Any) -> "SetPlugin":
        """A plug-in for Whoosh's query parser: ~{word, word} and like:(id id), with options of `SetQuery`."""
        return SetPlugin(self, options)

    def more_like(
        self, searcher: Any, docnum: int, *ignored: Any, text: str | None = None, top: int = 10, **more: Any
    ) -> Any:
        """`Searcher.more_like` with our ranking: called alike, the same Results.

        `filter`, a query, results or docnums, is applied before the best are taken. All terms of the document in all
        fields of this object count, exactly: fieldname, numterms, model and normalize may be given and say nothing.
        """
        unknown = set(more) - {"filter", "fieldname", "numterms", "model", "normalize"}
        if unknown:
            raise TypeError(f"more_like has no argument {min(unknown)!r}")
        seeds = [] if text else [str(searcher.stored_fields(docnum)[self.id])]
        among = self.named(searcher, more.get("filter"))
        asked = SetQuery(seeds, self, k=top + 1, like=[text] if text else None, among=among)
        return searcher.search(asked, limit=top, mask={docnum})


class SetQuery(query.Query):  # type: ignore[misc]
    """A Whoosh query that scores every document by how well it goes with `seeds`, documents by their ids.

    With `k`, or `cut="keep"`, it matches just the best of those that live, exactly; else all documents that the
    database follows, so that in an And it ranks, and in an Or adds. `words` stand for documents that have some of
    them, or of the words that go with them. `like`, `having`, `exclude`, `among`, `keep_seeds` and models are those of
    `Reading.expand`. With `missing="skip"` unknown seeds and words are passed over; without any left nothing matches.

    Whoosh drops what scores 0 or less, so scores are shifted: the worst document has 1. Ties are in Whoosh's order.
    """

    def __init__(
        self, seeds: Iterable[str], sets: WhooshSets, *, words: Iterable[str] = (), boost: float = 1.0, **options: Any
    ) -> None:
        self.seeds = (seeds,) if isinstance(seeds, str) else tuple(seeds)
        self.words = (words,) if isinstance(words, str) else tuple(words)
        self.sets = sets
        self.boost = boost
        self.options = {key: value for key, value in options.items() if value is not None}
        unknown = set(self.options) - OPTIONS
        if unknown:
            raise TypeError(f"SetQuery has no option {min(unknown)!r}; there is {', '.join(sorted(OPTIONS))}")
        if "k" in self.options:
            positive_integer(self.options["k"])
        self._answer: tuple[object, Answer] = None, {}

    def __repr__(self) -> str:
        more = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"SetQuery({list(self.seeds)!r}, words={list(self.words)!r}{more})^{self.boost}"

    __unicode__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SetQuery) and repr(self) == repr(other) and self.sets is other.sets

    def __hash__(self) -> int:
        return hash(repr(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> "SetQuery":
        return copy(self)

    def is_leaf(self) -> bool:
        """It has no queries in it."""
        return True

    def field(self) -> str:
        """No field of a schema: a query without one is dropped beside `Every` when Whoosh normalizes an And."""
        return "~"

    def estimate_size(self, ixreader: Any) -> int:
        """At most so many documents match."""
        return int(ixreader.doc_count())

    def estimate_min_size(self, ixreader: Any) -> int:
        """At least so many documents match."""
        return 0

    def docs(self, searcher: Any) -> Iterator[int]:
        """The documents that match, in order."""
        for leaf, offset in searcher.leaf_searchers():
            for docnum in self.matcher(leaf).all_ids():
                yield docnum + offset

    def matcher(self, searcher: Any, context: Any = None) -> Any:
        """The documents of one segment with their scores. Raises as `Reading.expand` does."""
        answer = self._answer_for(searcher.get_parent())
        found = answer.get(segment_of(searcher.reader())) if answer else None
        if found is None or not len(found[0]):
            return NullMatcher()
        return SetMatcher(found[0].tolist(), (found[1] * self.boost).tolist())

    def _answer_for(self, searcher: Any) -> Answer:
        """The scores of all segments, kept while neither the Whoosh index nor the database changes."""
        leaves = [leaf.reader() for leaf, _ in searcher.leaf_searchers() if leaf.reader().segment() is not None]
        self.sets.segments()
        key = self.sets.index.stamp(), *((segment_of(leaf), leaf.doc_count()) for leaf in leaves)
        if self._answer[0] != key:
            if any(map(self.sets.unseen, leaves)):
                _log.warning("documents of new segments of the Whoosh index are not ranked before WhooshSets.update()")
            self._answer = key, self._score(leaves)
        return self._answer[1]

    def _score(self, leaves: list[Any]) -> Answer:
        options = dict(self.options)
        k, cut = options.pop("k", None), options.pop("cut", None)
        seeds, words = self._known(options.pop("missing", "error"))
        having = [*options.pop("having", ()), *self._with_more(words)]
        if not (seeds or having or options.get("like")) and (self.seeds or self.words):
            return {}
        reading = self.sets.index.items("documents")
        with reading.scores(seeds, having=having, **options) as (fields, all_scores):
            scores = _only(all_scores, _having(fields, having)) if words else all_scores
            found = [self.sets.items(fields, leaf) for leaf in leaves]
            items = np.concatenate([items for _, items in found] or [np.zeros(0, np.int64)])
            if cut == "keep":
                hits = reading.expand(seeds, None, having=having, cut=cut, **options)
                items = items[scores[items] >= min((hit.score for hit in hits), default=np.inf)]
            items = items[scores[items] > -np.inf]
            if k is not None and k < len(items):
                items = items[np.lexsort((fields.ranks()[items], -scores[items]))[:k]]
        scores = _only(scores - scores[items].min(initial=np.inf) + LOWEST, items)
        answer = {}
        for leaf, (docnums, own) in zip(leaves, found, strict=True):
            there = scores[own] > -np.inf
            answer[segment_of(leaf)] = docnums[there], scores[own][there]
        return answer

    def _known(self, missing: str) -> tuple[list[str], list[str]]:
        """Seeds and words, without those that are not known, if these are to be passed over."""
        if missing != "skip":
            return list(self.seeds), list(self.words)
        known = []
        for name, given in (("documents", self.seeds), ("terms", self.words)):
            with self.sets.index.items(name).stored() as fields:
                known.append([one for one in given if fields.knows(one)])
        return known[0], known[1]

    def _with_more(self, words: list[str]) -> list[str]:
        """Words, and those that go with them."""
        if not words:
            return []
        more = self.sets.index.items("terms").expand(words, MORE_WORDS, cut="keep")
        return [*words, *(hit.item for hit in more)]


class SetMatcher(Matcher):  # type: ignore[misc]
    """Documents of one segment, in order, with scores that are known before."""

    def __init__(self, docnums: list[int], scores: list[float], place: int = 0) -> None:
        self._docnums, self._scores, self._place = docnums, scores, place

    def is_active(self) -> bool:
        """Whether there is a document at the place."""
        return self._place < len(self._docnums)

    def reset(self) -> None:
        """Begin again."""
        self._place = 0

    def copy(self) -> "SetMatcher":
        """Another one at the same place."""
        return SetMatcher(self._docnums, self._scores, self._place)

    def replace(self, minquality: float = 0) -> Any:
        """Itself, while there are documents left."""
        return self if self.is_active() else NullMatcher()

    def supports_block_quality(self) -> bool:
        """No: documents are not in the order of their scores."""
        return False

    def max_quality(self) -> float:
        """The best score, which AndMaybe asks for all the same."""
        return max(self._scores)

    block_quality = max_quality

    def id(self) -> int:
        """The document at the place."""
        return self._docnums[self._place]

    def all_ids(self) -> Iterator[int]:
        """The documents from the place on."""
        return iter(self._docnums[self._place :])

    def next(self) -> None:
        """Go to the next document."""
        self._place += 1

    def skip_to(self, id: int) -> None:
        """Go to a document, or the first one behind it."""
        self._place = bisect_left(self._docnums, id, self._place)

    def weight(self) -> float:
        """The score."""
        return self._scores[self._place]

    score = weight


class SetPlugin(Plugin):  # type: ignore[misc]
    """~{word, word} and like:(id id) for Whoosh's query parser. Made by `WhooshSets.plugin`.

    Ids and words are separated by blanks or commas; quotes keep together what has such. As with other terms of a query,
    what is not known finds nothing, unless the plug-in is made with `missing="error"`.
    """

    def __init__(self, sets: WhooshSets, options: dict[str, Any]) -> None:
        self.sets = sets
        self.options = options

    def taggers(self, parser: Any) -> list[tuple[Any, int]]:
        """What recognises the two in the text of a query."""
        one = r"(?P<one>\"[^\"]+\"|'[^']+'|[^\s()^]+)"
        documents = _SetTagger(rf"(?<!\w)like:(?:\((?P<given>[^)]*)(?:\)|$)|{one})", self._documents)
        return [(_SetTagger(r"~\{(?P<given>[^}]*)\}", self._words), FIRST), (documents, FIRST)]

    def filters(self, parser: Any) -> list[Any]:
        """None."""
        return []

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
        given = groups["given"] if groups["given"] is not None else groups["one"]
        names = ["".join(found) for found in re.findall(r"\"([^\"]*)\"|'([^']*)'|([^\s,]+)", given)]
        return _SetNode(self.make, names) if names else None


class _SetNode(SyntaxNode):  # type: ignore[misc]
    has_boost = True

    def __init__(self, make: Any, names: list[str]) -> None:
        self.make, self.names, self.boost = make, names, 1.0

    def r(self) -> str:
        return f"set {self.names}"

    def query(self, parser: Any) -> SetQuery:
        made: SetQuery = self.make(self.names)
        made.boost = self.boost
        return made


def _only(scores: Floats, items: Ints) -> Floats:
    """The scores, with -inf for all other items."""
    kept = np.full(len(scores), -np.inf)
    kept[items] = scores[items]
    return kept


def _having(fields: Fields, names: Sequence[str]) -> Ints:
    """The items that have at least one of some features."""
    ids = sorted(fields.first.find_features(fields.resolve_features(names)).values())
    return np.unique(fields.first.read_postings(ids, counts=False).ids).astype(np.int64)
