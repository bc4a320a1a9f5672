"""From seeds to the rest of the set: seeds -> model -> postings -> ranked hits, and why."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Unpack

import numpy as np

from setsearch.cut import LEADERS, threshold
from setsearch.errors import InvalidParameter, NoSeeds, NothingToRank, SetsearchError
from setsearch.fields import Fields
from setsearch.hits import Contribution, Explanation, Hit, ModelOptions, SetFeature
from setsearch.models import Lift
from setsearch.names import Kind
from setsearch.postings import Ints
from setsearch.profiles import Profile
from setsearch.scoring import best
from setsearch.views import BY, Opened
from setsearch.wanted import Wanted, parse_wanted, several, whole
from setsearch.weighing import Examples, Weighed, weigh

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
        exclude: Iterable[str] = (),
        gamma: float | None = None,
        keep_seeds: bool = False,
        explain: bool = False,
        cut: str | None = None,
        **options: Unpack[ModelOptions],
    ) -> list[Hit]:
        """The k items that belong most with the seeds, best first; equal scores in the order of their ids.

        With the model "bernoulli" a score is the natural logarithm of p(x | D) / p(x), equation (12) of the paper,
        its constant included. Every item is ranked, those that share nothing with the seeds too. Seeds are left out
        unless `keep_seeds`. `explain` fills the `features` of the hits.

        `exclude` leaves out more, as negative examples: `gamma` times the weights of what they have are taken away,
        by default 0.1 with "lift" and 0 with models whose score is a probability.
        More examples: `like` are texts that the index does not hold, `having` features, together one example.
        `cut` says how many belong: "mark" fills the `belongs` of the hits, "keep" leaves out what does not belong
        (then k = None is all that do).

        Raises UnknownItem, AmbiguousItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        wanted = parse_wanted(k, exclude, gamma, keep_seeds, explain, cut)
        names = several(seeds, "seeds")
        with self._asked(options) as opened:
            fields = self._choose(opened, options, [*names, *wanted.exclude])
            return self._expand(fields, self._examples(fields, names, like, having), wanted, options)

    def expand_many(
        self,
        seed_sets: Iterable[Iterable[str]],
        k: int | None = 10,
        *,
        exclude: Iterable[str] = (),
        gamma: float | None = None,
        keep_seeds: bool = False,
        explain: bool = False,
        cut: str | None = None,
        **options: Unpack[ModelOptions],
    ) -> list[list[Hit]]:
        """Expand many sets of seeds, all of them on the same content: for each the answer of `expand`, to the bit.

        Raises as `expand` does; the message says which set it was, counted from 1.
        """
        wanted = parse_wanted(k, exclude, gamma, keep_seeds, explain, cut)
        results = []
        with self._asked(options) as opened:
            for number, seeds in enumerate(seed_sets, 1):
                try:
                    names = several(seeds, "seeds")
                    fields = self._choose(opened, options, [*names, *wanted.exclude])
                    results.append(self._expand(fields, self._examples(fields, names), wanted, options))
                except SetsearchError as error:
                    raise type(error)(f"set {number}: {error}") from error
        return results

    def explain(self, seeds: Iterable[str], item: str, **options: Unpack[ModelOptions]) -> Explanation:
        """The parts that sum to the score of one item, its features by weight. Raises as `expand` does."""
        names = several(seeds, "seeds")
        with self._asked(options) as opened:
            fields = self._choose(opened, options, [*names, item])
            weighed = weigh(fields, self._examples(fields, names), self.profile.make(options))
            id = fields.resolve(item)
            features = _reasons(fields, weighed, [id])[id]
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
            return _named(fields, fields.items, entries.ids, entries.counts)

    def features_of(self, item: str) -> dict[str, int]:
        """The features that an item has, with counts, in the order of their ids; raises UnknownItem."""
        with self.plain() as fields:
            entries = fields.first.forward.read(fields.cursor, [fields.resolve(item)])
            return _named(fields, fields.first.features, entries.ids, entries.counts)

    def find(self, name: str) -> str:
        """An item as the index names it; raises UnknownItem, AmbiguousItem."""
        with self.plain() as fields:
            id = fields.resolve(name)
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
        return list(self._examples(fields, names).ids)

    def _examples(
        self, fields: Fields, seeds: Iterable[str], like: Iterable[str] = (), having: Iterable[str] = ()
    ) -> Examples:
        """The examples as the index knows them; raises NoSeeds."""
        ids = list(dict.fromkeys(fields.resolve(name) for name in several(seeds, "seeds")))
        texts = [fields.counts_of(text) for text in several(like, "like")]
        having = several(having, "having")
        texts += [fields.features_named(having)] if having else []
        if not ids and not texts:
            raise NoSeeds(f"no seeds; give at least one of the {fields.items.size} {fields.items.name}")
        return Examples(ids, texts)

    def _expand(self, fields: Fields, examples: Examples, wanted: Wanted, options: ModelOptions) -> list[Hit]:
        model = self.profile.make(options)
        weighed = weigh(fields, examples, model)
        if not examples.ids and not any(own.df.any() for own in weighed.fields):
            raise NoSeeds(
                "the example tells nothing: no item has one of its features more than usual; try --binarize presence"
            )
        without = [fields.resolve(name) for name in wanted.exclude]
        gamma = wanted.gamma if wanted.gamma is not None else GAMMA if isinstance(model, Lift) else 0.0
        if without and gamma:
            weighed = weighed.less(weigh(fields, Examples(sorted(set(without))), model), gamma)
        without += [] if wanted.keep_seeds else examples.ids
        k = max(wanted.k, LEADERS) if wanted.cut else wanted.k
        ids, scores = best(weighed.base, [own.part for own in weighed.scoring], without, k, fields.ranks)
        if not len(ids):
            raise NothingToRank(
                f"all {fields.items.size} {fields.items.name} are seeds or excluded, none is left to rank; "
                "give fewer seeds, or keep them in the ranking (--keep-seeds)"
            )
        scores = scores + weighed.constant
        belongs = [None] * len(ids)
        if wanted.cut == "keep" or (wanted.cut and isinstance(model, Lift)):
            above = scores > threshold(fields, weighed, scores[:LEADERS], self.profile)
            kept = above if wanted.cut == "keep" else np.ones(len(ids), bool)
            ids, scores, belongs = ids[kept], scores[kept], above[kept].tolist()
        rows = list(zip(ids.tolist(), scores.tolist(), belongs, strict=True))[: wanted.k]
        reasons = _reasons(fields, weighed, [row[0] for row in rows]) if wanted.explain else {}
        names = fields.describe([row[0] for row in rows])
        return [
            Hit(rank, names[id][0], score, names[id][1], reasons.get(id, ()), belongs)
            for rank, (id, score, belongs) in enumerate(rows, 1)
        ]


def _reasons(fields: Fields, weighed: Weighed, items: list[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features of each item add, the heaviest first."""
    order, rule = np.array(sorted(items), np.int64), weighed.model.rule
    found: dict[int, dict[tuple[str, str | None], float]] = {item: {} for item in items}
    for own in weighed.scoring:
        snapshot, active = own.field.snapshot, own.seeds.features
        stored = snapshot.features_of(fields.cursor, order, rule)
        features, values = stored.together().astype(np.int64), stored.values_together()
        places = np.searchsorted(active, features)
        shared = np.append(active, -1)[places] == features
        owners = np.repeat(order, stored.lengths)[shared]
        places, values = places[shared], values[shared]
        names = snapshot.features.describe(fields.cursor, active[np.unique(places)].tolist())
        added = own.added(places, values, rule.binary)
        for item, place, weight in zip(owners.tolist(), places.tolist(), added.tolist(), strict=True):
            name = names[int(active[place])]
            found[item][name] = found[item].get(name, 0.0) + weight
    return {
        item: tuple(
            Contribution(name, weight, title)
            for (name, title), weight in sorted(parts.items(), key=lambda part: (-part[1], part[0][0]))
        )
        for item, parts in found.items()
    }


def _named(fields: Fields, kind: Kind, ids: Ints, counts: Ints) -> dict[str, int]:
    names = kind.describe(fields.cursor, ids.tolist())
    pairs = zip(ids.tolist(), counts.tolist(), strict=True)
    return dict(sorted((names[id][0], count) for id, count in pairs))
