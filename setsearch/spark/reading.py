"""Expands sets on an index of Parquet, with the scores, order and ties of the SQLite index.

    score_i = base_i + constant + sum over active features of weight_j x_ij

The driver reads the features of the seeds and asks the model for weights. Workers join the weights with the postings of
the active features and add them by item. Weights and values are multiples of powers of two (setsearch.arrays), so sums
are exact in any order, on any number of workers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, cast

import numpy as np
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import to_lattice
from setsearch.errors import InvalidParameter, NothingToRank
from setsearch.models import Bernoulli, Lift, Model
from setsearch.models.defaults import Defaults, ModelOptions, defaults_for
from setsearch.models.model import has_tiny_weights
from setsearch.models.values import PRESENCE
from setsearch.search.feedback import allowed, joining, own_features
from setsearch.search.request import positive_integer, text_list
from setsearch.search.results import Hit
from setsearch.search.weights import Limit
from setsearch.spark.layout import Layout, Side, load_layout, local, read, read_lists
from setsearch.spark.seeds import Joined, Question, find_seeds, seed_weights
from setsearch.spark.values import value_of

Pairs = list[tuple[int, float]]  # (item, score), best first
RESERVE = 1000  # items of highest base that compete with the touched ones
CACHED_BASES = 8  # one more empties the cache


class SparkIndex:
    """An index at a place that Spark can read. Raises NoIndex, NewerSchema, CorruptIndex."""

    def __init__(self, spark: SparkSession, place: str) -> None:
        self.spark = spark
        self.layout = load_layout(spark, place)

    def items(self, name: str | None = None) -> "SparkReading":
        """The reading that ranks `name`; by default the terms of texts, else the items. Raises InvalidParameter."""
        chosen = name or (self.layout.features if self.layout.analyzer else self.layout.items)
        return SparkReading(self.spark, self.layout, self.layout.side(chosen))


@dataclass(frozen=True)
class _Base:
    """The bases (item, base), None if all are 0, and the constant that all items get."""

    items: DataFrame | None
    constant: float


@dataclass
class SparkReading:
    """Items of one kind on an index of Parquet."""

    spark: SparkSession
    layout: Layout
    side: Side
    _bases: dict[tuple[Model, int], _Base] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What is ranked."""
        return self.side.items

    def expand(self, seeds: Iterable[str], k: int = 10, **options: Any) -> list[Hit]:
        """The same as `Reading.expand` of the SQLite index, by documents."""
        return self.expand_many([seeds], k, **options)[0]

    def expand_many(
        self, seed_sets: Iterable[Iterable[str]], k: int = 10, *, keep_seeds: bool = False, **options: Any
    ) -> list[list[Hit]]:
        """Expand many sets of seeds in one job. `options`: model (lift or bernoulli), strength, popularity, binarize,
        feedback.

        Raises UnknownItem, AmbiguousItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        k, sets = min(positive_integer(k), self.side.count), [text_list(seeds, "seeds") for seeds in seed_sets]
        model = self._model(cast(ModelOptions, options))
        if not sets:
            return []
        ids = find_seeds(self.spark, self.layout, self.side, sets)
        if not keep_seeds and max(map(len, ids)) >= self.side.count:
            raise NothingToRank(f"all {self.side.count} {self.name} are seeds, none is left to rank")
        questions = seed_weights(self.spark, self.layout, self.side, ids, model)
        joined = self._joined(questions, model, self._defaults.feedback_of(cast(ModelOptions, options)))
        if any(joined):
            questions = seed_weights(self.spark, self.layout, self.side, ids, model, joined)
        return self._named(questions, self._best(questions, model, k, keep_seeds), model)

    def _model(self, options: ModelOptions) -> Model:
        if options.get("by") not in (None, "documents"):
            raise InvalidParameter("`by` is documents on Spark, which has no contexts")
        if options.get("vectors"):
            raise InvalidParameter("Spark has no `vectors`; leave it out")
        if self._defaults.wants_likes(options):
            raise InvalidParameter("Spark has no `purpose`; leave it out")
        model = self._defaults.make(options)
        if not (isinstance(model, Bernoulli) and model.rule == PRESENCE) and not isinstance(model, Lift):
            raise InvalidParameter("the models on Spark are lift, and bernoulli with presence; use one file for others")
        if has_tiny_weights(model):
            raise InvalidParameter(f"on Spark the strength is at most {model.usual_strength}, not {model.strength:g}")
        return model

    @property
    def _defaults(self) -> Defaults:
        return defaults_for(self.name, self.layout.features, self.layout.analyzer is not None)

    def _joined(self, questions: Sequence[Question], model: Model, feedback: float) -> list[Joined | None]:
        """The items that join each set for a second pass; None for one pass."""
        counts = [joining(len(own.ids), self.side.count) if feedback else 0 for own in questions]
        if not any(counts):
            return [None] * len(questions)
        found = self._best(questions, model, max(counts), keep_seeds=False)
        best = [[id for id, score in pairs[:count] if score > 0] for pairs, count in zip(found, counts, strict=True)]
        return [
            Joined(ids, Limit(allowed(feedback, own.read), own_features(own.features, own.weights))) if ids else None
            for ids, own in zip(best, questions, strict=True)
        ]

    def _base(self, model: Model, n_seeds: int) -> _Base:
        key = (model, n_seeds)
        if key not in self._bases:
            if len(self._bases) >= CACHED_BASES:
                self.release()
            self._bases[key] = self._make_base(model, n_seeds)
        return self._bases[key]

    def release(self) -> None:
        """Free what the workers cache for the next query."""
        for base in self._bases.values():
            if base.items is not None:
                base.items.unpersist()
        self._bases = {}

    def _make_base(self, model: Model, n_seeds: int) -> _Base:
        if model.background(np.zeros(0, np.int64), self.side.count, n_seeds) is None:
            return _Base(None, 0.0)
        features = read(self.spark, self.layout, self.side.features, "items")
        rows = features.groupBy(F.col("length").alias("df")).count().orderBy("df").collect()
        frequencies, times = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
        background = model.background(np.repeat(frequencies, times), self.side.count, n_seeds)
        assert background is not None
        weights = to_lattice(background.weights[np.cumsum(times) - times], model.rule.binary)
        table = local(self.spark, zip(frequencies.tolist(), weights.tolist(), strict=True), df="int64", weight="double")
        postings = read(self.spark, self.layout, self.name, "postings")
        sums = postings.join(F.broadcast(table), "df").groupBy("item").agg(F.sum("weight").alias("base"))
        items = self._items()
        return _Base(items.join(sums, "item", "left").na.fill(0.0, ["base"]).persist(), background.constant)

    def _items(self) -> DataFrame:
        return read(self.spark, self.layout, self.name, "items").select(F.col("id").alias("item"))

    def _best(self, questions: Sequence[Question], model: Model, k: int, keep_seeds: bool) -> list[Pairs]:
        """The k best of each set, without constants: touched items and the best of all others."""
        scores = self._scores(questions, model).persist()
        seeds = [] if keep_seeds else [(own.number, id) for own in questions for id in own.ids]
        without = local(self.spark, seeds, number="int32", item="int64")
        order = Window.partitionBy("number").orderBy(F.desc("score"), "item")
        rows = (
            scores.join(F.broadcast(without), ["number", "item"], "left_anti")
            .withColumn("place", F.row_number().over(order))
            .filter(F.col("place") <= k)
            .collect()
        )
        found: list[Pairs] = [[] for _ in questions]
        for row in sorted(rows, key=lambda row: row.place):
            found[row.number].append((row.item, row.score))
        taken = scores.select("number", "item").unionByName(without)
        self._add_untouched(questions, taken, found, (model, k))
        scores.unpersist()
        return found

    def _scores(self, questions: Sequence[Question], model: Model) -> DataFrame:
        """(number of the set, item, score) of every touched item."""
        weights = [
            (own.number, feature, weight)
            for own in questions
            for feature, weight in zip(own.features.tolist(), own.weights.tolist(), strict=True)
            if weight
        ]
        table = local(self.spark, weights, number="int32", feature="int64", weight="double")
        active = read_lists(self.spark, self.layout, self.side, (feature for _, feature, _ in weights))
        valued = active.join(F.broadcast(table), "feature").withColumn("value", value_of(model.rule, self.side))
        added = F.sum(F.col("weight") * F.col("value")).alias("score")
        sums = valued.filter("value > 0").groupBy("number", "item").agg(added)
        by_size = {len(own.ids): self._base(model, len(own.ids)).items for own in questions}
        if None in by_size.values():
            return sums
        sizes = local(self.spark, [(own.number, len(own.ids)) for own in questions], number="int32", size="int32")
        sized = [base.withColumn("size", F.lit(size)) for size, base in by_size.items() if base is not None]
        return (
            sums.join(F.broadcast(sizes), "number")
            .join(reduce(DataFrame.unionByName, sized), ["size", "item"])
            .select("number", "item", (F.col("score") + F.col("base")).alias("score"))
        )

    def _add_untouched(
        self, questions: Sequence[Question], taken: DataFrame, found: list[Pairs], wanted: tuple[Model, int]
    ) -> None:
        """Add items that are not `taken` (number, item) to the best of each set: their scores are their bases."""
        model, k = wanted
        sizes = {len(own.ids) for own in questions}
        firsts = {size: self._first(model, size, min(max(RESERVE, 4 * k), self.side.count)) for size in sizes}
        # If the k-th score is above the highest base, no other item can be among the best.
        open_ = [own for own in questions if not _full(found[own.number], k, firsts[len(own.ids)][0][1])]
        if not open_:
            return
        ids = sorted({id for size in {len(own.ids) for own in open_} for id, _ in firsts[size]})
        known = local(self.spark, [(id,) for id in ids], item="int64")
        rows = taken.join(F.broadcast(known), "item").select("number", "item").collect()
        touched = {(row.number, row.item) for row in rows}
        for own in open_:
            first, best = firsts[len(own.ids)], found[own.number]
            left = [pair for pair in first if (own.number, pair[0]) not in touched][:k]
            merged = _merged(best, left, k)
            if len(left) < k and len(first) < self.side.count and not _full(merged, k, first[-1][1]):
                merged = _merged(best, self._rest(own, taken, model, k), k)
            found[own.number] = merged

    def _first(self, model: Model, n_seeds: int, size: int) -> Pairs:
        """The items of highest base; ties by name."""
        base = self._base(model, n_seeds).items
        if base is None:
            return [(id, 0.0) for id in range(size)]  # ids ascend without gaps
        rows = base.orderBy(F.desc("base"), "item").limit(size).collect()
        return [(row.item, row.base) for row in rows]

    def _rest(self, own: Question, taken: DataFrame, model: Model, k: int) -> Pairs:
        """The k best of all items that are not taken."""
        base = self._base(model, len(own.ids)).items
        items = self._items().withColumn("base", F.lit(0.0)) if base is None else base
        left = items.join(taken.filter(F.col("number") == own.number), "item", "left_anti")
        return [(row.item, row.base) for row in left.orderBy(F.desc("base"), "item").limit(k).collect()]

    def _named(self, questions: Sequence[Question], found: Sequence[Pairs], model: Model) -> list[list[Hit]]:
        wanted = local(self.spark, [(id,) for id in sorted({id for pairs in found for id, _ in pairs})], id="int64")
        items = read(self.spark, self.layout, self.name, "items")
        rows = items.join(F.broadcast(wanted), "id").select("id", "name", "title").collect()
        names = {row.id: (row.name, row.title) for row in rows}
        if self.layout.titles_shown and self.name == self.layout.features:
            names = {id: (title or name, None) for id, (name, title) in names.items()}
        hits = []
        for own, pairs in zip(questions, found, strict=True):
            constants = np.array([self._base(model, len(own.ids)).constant, *own.query.constants.tolist()])
            constant = float(to_lattice(constants).sum())
            hits.append(
                [Hit(rank, names[id][0], score + constant, names[id][1]) for rank, (id, score) in enumerate(pairs, 1)]
            )
        return hits


def _full(best: Pairs, k: int, bound: float) -> bool:
    """Whether there are k items, all above a bound."""
    return len(best) == k and best[-1][1] > bound


def _merged(best: Pairs, others: Pairs, k: int) -> Pairs:
    return sorted(best + others, key=lambda pair: (-pair[1], pair[0]))[:k]
