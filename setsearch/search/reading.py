"""From seeds to the rest of the set: seeds -> model -> postings -> ranked hits, and why."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Unpack

import numpy as np

from setsearch.arrays import Floats
from setsearch.errors import InvalidParameter, NoSeeds, NothingToRank, SetsearchError
from setsearch.models import Lift
from setsearch.models.defaults import ModelOptions, Profile
from setsearch.scoring.best import best
from setsearch.search.cutoff import LEADERS, threshold
from setsearch.search.fields import Fields, nothing_left
from setsearch.search.readings import BY, Opened
from setsearch.search.request import Wanted, Wanting, parse_wanted, several, whole
from setsearch.search.results import Explanation, Hit, SetFeature
from setsearch.search.weights import Examples, Weighed, reasons_of, weigh

GAMMA = 0.1  # what the weights of negative examples are multiplied by before they are taken away


class Reading:
    """Items of one kind, described by features of another: what `index.items(name)` returns.

    Safe to share between threads; nothing of a query is kept on it.
    """

    def __init__(
        self,
        name: str,
        profile: Profile,
        open: Callable[[bool], AbstractContextManager[Opened]],
        contexts: bool,
        forms: bool,
    ) -> None:
        self.name = name
        self.profile = profile
        self._open = open
        self._contexts = contexts
        self._forms = forms

    def expand(
        self,
        seeds: Iterable[str],
        k: int | None = 10,
        *,
        like: Iterable[str] = (),
        having: Iterable[str] = (),
        **options: Unpack[Wanting],
    ) -> list[Hit]:
        """The k items that belong most with the seeds, best first; equal scores in the order of their ids.

        With the model "bernoulli" a score is the natural logarithm of p(x | D) / p(x), equation (12) of the paper,
        its constant included. Every item is ranked, those that share nothing with the seeds too. Seeds are left out
        unless `keep_seeds`. `explain` fills the `features` of the hits.

        `exclude` leaves out more, as negative examples: `gamma` times the weights of what they have are taken away,
        by default 0.1 with "lift" and 0 with models whose score is a probability.
        `among` are the only items that may be answered, filtered before the best k are taken: ids (those that the
        index does not hold are passed over), or a `Where`, a condition in SQL.
        More examples: `like` are texts that the index does not hold, `having` features, together one example.
        `cut` says how many belong: "mark" fills the `belongs` of the hits, "keep" leaves out what does not belong
        (then k = None is all that do).

        Raises UnknownItem, AmbiguousItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        wanted = parse_wanted(k, options)
        names = several(seeds, "seeds")
        with self._asked(wanted.model) as opened:
            fields = self._choose(opened, wanted.model, [*names, *wanted.exclude])
            return self._expand(fields, self._examples(fields, names, like, having), wanted)

    def expand_many(
        self,
        seed_sets: Iterable[Iterable[str]],
        k: int | None = 10,
        **options: Unpack[Wanting],
    ) -> list[list[Hit]]:
        """Expand many sets of seeds, all of them on the same content: for each the answer of `expand`, to the bit.

        Raises as `expand` does; the message says which set it was, counted from 1.
        """
        wanted = parse_wanted(k, options)
        results = []
        with self._asked(wanted.model) as opened:
            for number, seeds in enumerate(seed_sets, 1):
                try:
                    names = several(seeds, "seeds")
                    fields = self._choose(opened, wanted.model, [*names, *wanted.exclude])
                    results.append(self._expand(fields, self._examples(fields, names), wanted))
                except SetsearchError as error:
                    raise type(error)(f"set {number}: {error}") from error
        return results

    def rank(
        self,
        candidates: Iterable[str],
        seeds: Iterable[str],
        *,
        missing: str = "error",
        **options: Unpack[Wanting],
    ) -> list[Hit]:
        """Candidates, such as the hits of a search engine, ordered by how well they go with the seeds; seeds too.

        Scores are those of `expand`. A candidate that the index does not hold is an error, or left out with `missing`
        = "skip". Raises as `expand` does.
        """
        names = list(dict.fromkeys(several(candidates, "candidates")))
        if missing not in ("error", "skip"):
            raise InvalidParameter(f"missing is 'error' or 'skip', not {missing!r}")
        if missing == "error":
            with self.plain() as fields:
                fields.resolve_all(names)
        options = {"keep_seeds": True, **options, "among": names}
        return self.expand(seeds, len(names), **options) if names else []

    @contextmanager
    def scores(
        self, seeds: Iterable[str], *, like: Iterable[str] = (), having: Iterable[str] = (), **options: Unpack[Wanting]
    ) -> Iterator[tuple[Fields, Floats]]:
        """The scores of all items, `(n_ids,)`, and the fields that find an item's id, within one transaction.

        An item that `expand` would leave out has -inf. For integrations; raises as `expand` does.
        """
        wanted = parse_wanted(1, options)
        names = several(seeds, "seeds")
        with self._asked(wanted.model) as opened:
            fields = self._choose(opened, wanted.model, [*names, *wanted.exclude])
            weighed, without = self._weigh(fields, self._examples(fields, names, like, having), wanted)
            scores = weighed.scores() + weighed.constant
            scores[without] = -np.inf
            if wanted.among is not None:
                only = fields.among(wanted.among)
                kept, scores = scores[only], np.full(len(scores), -np.inf)
                scores[only] = kept
            yield fields, scores

    def explain(self, seeds: Iterable[str], item: str, **options: Unpack[ModelOptions]) -> Explanation:
        """The parts that sum to the score of one item, its features by weight. Raises as `expand` does."""
        names = several(seeds, "seeds")
        with self._asked(options) as opened:
            fields = self._choose(opened, options, [*names, item])
            weighed = weigh(fields, self._examples(fields, names), self.profile.make(options))
            id = fields.resolve(item)
            features = reasons_of(fields, weighed, [id])[id]
            base = float(weighed.base.items[id])
            name, title = fields.describe([id])[id]
        score = base + weighed.constant + sum(part.weight for part in features)
        return Explanation(name, score, weighed.constant, base, features, title)

    def features(self, seeds: Iterable[str], k: int = 10, **options: Unpack[ModelOptions]) -> list[SetFeature]:
        """The k features that define the set, by weight (table 4 of the paper). Raises as `expand` does."""
        k, seeds = whole(k), several(seeds, "seeds")
        rows = []
        with self._asked(options) as opened:
            fields = self._choose(opened, options, seeds)
            weighed = weigh(fields, self._examples(fields, seeds), self.profile.make(options))
            for own in weighed.fields:
                ids = own.seeds.features.tolist()
                names = own.field.snapshot.features.describe(fields.cursor, ids)
                having, df = own.seeds.having.tolist(), own.part.postings.lengths.tolist()
                columns = (ids, (own.share * own.query.weights).tolist(), having, df)
                rows += [(*names[id], weight, c, n) for id, weight, c, n in zip(*columns, strict=True)]
        rows.sort(key=lambda row: (-row[2], row[0]))
        return [
            SetFeature(rank, name, weight, having, df, title)
            for rank, (name, title, weight, having, df) in enumerate(rows[:k], 1)
        ]

    def item_count(self) -> int:
        """n, the number of items."""
        with self.plain() as fields:
            return fields.items.size

    def feature_count(self) -> int:
        """The number of features that the index knows."""
        with self.plain() as fields:
            return fields.first.features.size

    def document_frequency(self, feature: str) -> int:
        """The number of items that have a feature; 0 for one that the index does not know."""
        return len(self.postings(feature))

    def postings(self, feature: str) -> dict[str, int]:
        """The items that have a feature, with counts, in the order of their ids."""
        with self.plain() as fields:
            id = fields.first.features.find_one(fields.cursor, feature)
            entries = fields.first.postings.read(fields.cursor, [] if id is None else [id])
            return fields.named(fields.items, entries.ids, entries.counts)

    def features_of(self, item: str) -> dict[str, int]:
        """The features that an item has, with counts, in the order of their ids; raises UnknownItem."""
        with self.plain() as fields:
            entries = fields.first.forward.read(fields.cursor, [fields.resolve(item)])
            return fields.named(fields.first.features, entries.ids, entries.counts)

    def find(self, name: str, hint: bool = True) -> str:
        """An item as the index names it; raises UnknownItem, with a hint at names that look alike, AmbiguousItem."""
        with self.plain() as fields:
            id = fields.resolve(name, hint)
            return fields.describe([id])[id][0]

    def without_context(self, names: list[str], **options: Unpack[ModelOptions]) -> list[str]:
        """The names for whose sake a question is asked of documents instead of contexts; none where it is not."""
        if not self._contexts or self._ways(options)[0] != "both" or options.get("by"):
            return []
        with self._asked(options) as opened:
            fields = opened.fields("both")
            return [] if fields is None else [name for name in names if not fields.knows(name)]

    @contextmanager
    def fields(self, **options: Unpack[ModelOptions]) -> Iterator[Fields]:
        """One consistent view of what questions with these options are asked of: for measuring."""
        with self._asked(options) as opened:
            yield self._choose(opened, options, [])

    @contextmanager
    def plain(self) -> Iterator[Fields]:
        """The relation as it was given."""
        with self._open(False) as opened:
            fields = opened.fields("documents")
            assert fields is not None
            yield fields

    def _asked(self, options: ModelOptions) -> AbstractContextManager[Opened]:
        return self._open(self._forms or (self._contexts and self._ways(options) != ["documents"]))

    def _ways(self, options: ModelOptions) -> list[str]:
        """What may describe the items, the preferred first."""
        by = options.get("by")
        if by is not None and by not in (BY if self.name == "terms" else ()):
            raise InvalidParameter(f"by is one of {', '.join(BY)}, and for terms; not {by!r} for {self.name}")
        if by is not None:
            return [by]
        return ["both", "documents"] if self._contexts and options.get("model") in (None, "lift") else ["documents"]

    def _choose(self, opened: Opened, options: ModelOptions, names: list[str]) -> Fields:
        """The fields to ask: contexts where all names are frequent enough for them, unless `by` says."""
        *preferred, last = self._ways(options)
        for by in preferred:
            fields = opened.fields(by)
            if fields is not None and all(fields.knows(name) for name in names):
                return fields
        fields = opened.fields(last)
        if fields is None:
            raise InvalidParameter("the index has no contexts; index it with --contexts, or expand by documents")
        return fields

    def resolve_all(self, fields: Fields, names: Iterable[str]) -> list[int]:
        """The distinct ids of items; raises UnknownItem, NoSeeds."""
        return list(self._examples(fields, several(names, "seeds")).ids)

    def _examples(
        self, fields: Fields, seeds: list[str], like: Iterable[str] = (), having: Iterable[str] = ()
    ) -> Examples:
        """The examples as the index knows them; raises NoSeeds."""
        ids = fields.resolve_all(seeds)
        texts = [fields.counts_of(text) for text in several(like, "like")]
        having = several(having, "having")
        texts += [fields.features_named(having)] if having else []
        if not ids and not texts:
            raise NoSeeds(f"no seeds; give at least one of the {fields.items.size} {fields.items.name}")
        return Examples(ids, texts)

    def _weigh(self, fields: Fields, examples: Examples, wanted: Wanted) -> tuple[Weighed, list[int]]:
        """What scores items, and the items that are not to be answered."""
        model = self.profile.make(wanted.model)
        weighed = weigh(fields, examples, model)
        if not examples.ids and not any(own.df.any() for own in weighed.fields):
            raise NoSeeds(
                "the example tells nothing: no item has one of its features more than usual; try --binarize presence"
            )
        without = fields.resolve_all(wanted.exclude) if wanted.exclude else []
        gamma = wanted.gamma if wanted.gamma is not None else GAMMA if isinstance(model, Lift) else 0.0
        if without and gamma:
            weighed = weighed.less(weigh(fields, Examples(sorted(without)), model), gamma)
        return weighed, without + ([] if wanted.keep_seeds else list(examples.ids))

    def _expand(self, fields: Fields, examples: Examples, wanted: Wanted) -> list[Hit]:
        weighed, without = self._weigh(fields, examples, wanted)
        k = max(wanted.k, LEADERS) if wanted.cut else wanted.k
        among = None if wanted.among is None else fields.among(wanted.among)
        parts = [own.part for own in weighed.scoring]
        ids, scores = best(weighed.base, parts, without, k, fields.ranks, among)
        if not len(ids):
            raise NothingToRank(nothing_left(fields.items, among))
        scores = scores + weighed.constant
        belongs = [None] * len(ids)
        if wanted.cut == "keep" or (wanted.cut and isinstance(weighed.model, Lift)):
            leaders = scores[:LEADERS]
            if among is not None:  # what belongs to a set does not depend on who asks for which part of it
                leaders = best(weighed.base, parts, without, LEADERS, fields.ranks)[1] + weighed.constant
            above = scores > threshold(fields, weighed, leaders, self.profile)
            kept = above if wanted.cut == "keep" else np.ones(len(ids), bool)
            ids, scores, belongs = ids[kept], scores[kept], above[kept].tolist()
        rows = list(zip(ids.tolist(), scores.tolist(), belongs, strict=True))[: wanted.k]
        reasons = reasons_of(fields, weighed, [row[0] for row in rows]) if wanted.explain else {}
        names = fields.describe([row[0] for row in rows])
        return [
            Hit(rank, names[id][0], score, names[id][1], reasons.get(id, ()), belongs)
            for rank, (id, score, belongs) in enumerate(rows, 1)
        ]
