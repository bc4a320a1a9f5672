"""Expand sets on an index of Parquet: the scores, the order and the ties of the SQLite index.

    score_i = base_i + constant + sum over active features of weight_j x_ij

The driver reads what the seeds have and asks the model for weights; these are sent to the workers, joined with the
postings of the active features and added up by item. Weights and values are multiples of powers of two, as in
setsearch.scoring, so that sums are exact in any order, on any number of workers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from setsearch.errors import AmbiguousItem, InvalidParameter, NoSeeds, NothingToRank, UnknownItem
from setsearch.hits import Hit, ModelOptions
from setsearch.models import Bernoulli, Lift, Model, Query, Seeds
from setsearch.profiles import DOCUMENTS, GROUPS, RATINGS, TERMS
from setsearch.scoring import to_lattice
from setsearch.spark.layout import Layout, Side, load_layout, local, read
from setsearch.text import Analyzer
from setsearch.values import LATTICE, PRESENCE
from setsearch.views import TEXT
from setsearch.wanted import several, whole

NORMS = {"presence": "norm_presence", "soft-twice-mean": "norm_soft"}
Ranked = dict[int, list[tuple[int, float]]]  # for each set (item, score), best first
RESERVE = 1000  # items of highest base that are looked at beside those that a list touches


class SparkIndex:
    """An index at a place that Spark can read. Raises NoIndex, NewerSchema, CorruptIndex."""

    def __init__(self, spark: SparkSession, place: str) -> None:
        self.spark = spark
        self.layout = load_layout(spark, place)

    def items(self, name: str | None = None) -> "SparkReading":
        """The reading that ranks `name`; by default the terms of texts, else the items. Raises InvalidParameter."""
        chosen = name or (self.layout.features if self.layout.analyzer else self.layout.items)
        return SparkReading(self.spark, self.layout, self.layout.side(chosen))

    def info(self) -> list[dict[str, Any]]:
        """What can be ranked, and how many there are."""
        return [
            {"items": side.items, "features": side.features, "item_count": side.count} for side in self.layout.sides
        ]


@dataclass(frozen=True)
class _Asked:
    """One set: the ids of its seeds, what they have, and the weights of that."""

    number: int
    ids: list[int]
    seeds: Seeds
    query: Query
    constant: float


@dataclass
class SparkReading:
    """Items of one kind on an index of Parquet."""

    spark: SparkSession
    layout: Layout
    side: Side
    _bases: dict[tuple[Model, int], tuple[DataFrame | None, float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What is ranked."""
        return self.side.items

    def expand(self, seeds: Iterable[str], k: int = 10, **options: Any) -> list[Hit]:
        """As `Reading.expand` of the SQLite index, by documents: the same items, order and scores."""
        return self.expand_many([seeds], k, **options)[0]

    def expand_many(
        self, seed_sets: Iterable[Iterable[str]], k: int = 10, *, keep_seeds: bool = False, **options: Any
    ) -> list[list[Hit]]:
        """Expand many sets of seeds in one job. `options`: model (lift or bernoulli), strength, popularity, binarize.

        Raises UnknownItem, AmbiguousItem, NoSeeds, NothingToRank, InvalidParameter.
        """
        k, sets = whole(k), [several(seeds, "seeds") for seeds in seed_sets]
        model = self._model(cast(ModelOptions, options))
        if not sets:
            return []
        ids = self._resolve(sets)
        asked = self._weigh(ids, model)
        for own in asked:
            if not keep_seeds and len(own.ids) >= self.side.count:
                raise NothingToRank(f"all {self.side.count} {self.name} are seeds, none is left to rank")
        found = self._best(asked, model, k, keep_seeds)
        return self._named(asked, found)

    def _model(self, options: ModelOptions) -> Model:
        if options.get("by") not in (None, "documents"):
            raise InvalidParameter("contexts are not on Spark; leave --by out")
        if self.layout.analyzer is None:
            profile = RATINGS
        elif self.name == self.layout.features:
            profile = TERMS
        else:
            profile = DOCUMENTS if self.name == TEXT[0] else GROUPS
        model = profile.make(options)
        rule = model.rule
        if not (isinstance(model, Bernoulli) and rule == PRESENCE) and not isinstance(model, Lift):
            raise InvalidParameter("on Spark the models are lift, and bernoulli with presence; for others use one file")
        return model

    def _resolve(self, sets: Sequence[Sequence[str]]) -> list[list[int]]:
        """Ids of seeds: by name, as the analyzer writes it, or by a title that only one has."""
        forms = {name: self._forms(name) for seeds in sets for name in seeds}
        wanted = sorted({form for own in forms.values() for form in own})
        items = read(self.spark, self.layout, self.name, "items")
        names = local(self.spark, [(name,) for name in wanted], wanted="string")
        match = (F.col("name") == F.col("wanted")) | (F.col("title") == F.col("wanted"))
        rows = items.join(F.broadcast(names), match).select("wanted", "id", "name").collect() if wanted else []
        by_name = {row.wanted: row.id for row in rows if row.name == row.wanted}
        titled: dict[str, list[int]] = {}
        for row in rows:
            titled.setdefault(row.wanted, []).append(row.id)

        def find(name: str) -> int:
            """One seed."""
            for form in forms[name]:
                if form in by_name:
                    return int(by_name[form])
            own = titled.get(name, [])
            if len(own) > 1:
                raise AmbiguousItem(f"{name!r} is the title of several {self.name}; name one by its id")
            if not own:
                raise UnknownItem(f"no {name!r} among the {self.side.count} {self.name}")
            return own[0]

        found = [list(dict.fromkeys(map(find, seeds))) for seeds in sets]
        if not all(found):
            raise NoSeeds(f"no seeds; give at least one of the {self.side.count} {self.name}")
        return found

    def _forms(self, name: str) -> list[str]:
        if self.layout.analyzer is None or self.name != self.layout.features:
            return [name]
        analyzer = Analyzer.of(self.layout.analyzer)
        terms = list(analyzer(name)) if analyzer.known else []
        return [name, *(terms if len(terms) == 1 else [])]

    def _weigh(self, sets: Sequence[Sequence[int]], model: Model) -> list[_Asked]:
        """What the seeds of each set have, and what the model makes of it: equation by equation as in one process."""
        every = sorted({id for ids in sets for id in ids})
        buckets = sorted({id % self.side.buckets for id in every})
        other = read(self.spark, self.layout, self.side.features, "postings")  # whose lists are what items have
        rows = other.filter(F.col("bucket").isin(buckets) & F.col("feature").isin(every))
        entries = rows.select(F.col("feature").alias("item"), F.col("item").alias("feature"))
        # The postings of the features know the rest: their own frequencies, and the lengths and norms of the items.
        mine = read(self.spark, self.layout, self.name, "postings")
        found = (
            mine.join(F.broadcast(entries), ["feature", "item"])
            .select("item", "feature", "df", "soft_df", self._value(model).alias("value"))
            .collect()
        )
        by_item: dict[int, list[Any]] = {}
        for row in found:
            by_item.setdefault(row.item, []).append(row)
        return [self._weighed(number, ids, by_item, model) for number, ids in enumerate(sets)]

    def _weighed(self, number: int, ids: Sequence[int], by_item: dict[int, list[Any]], model: Model) -> _Asked:
        rows = [row for id in ids for row in by_item.get(id, []) if row.value > 0]
        features, which = np.unique(np.array([row.feature for row in rows], np.int64), return_inverse=True)
        having = np.bincount(which, minlength=len(features))
        sums = np.bincount(which, np.array([row.value for row in rows], float), len(features))
        column = self._frequency(model)
        frequency = {row.feature: row[column] for row in rows}
        df = np.array([frequency[feature] for feature in features.tolist()], np.int64)
        seeds = Seeds(features, having.astype(np.int64), sums.astype(float), len(ids))
        query = model.query(seeds, df, self.side.count)
        _, constant = self._base(model, len(ids))
        total = float(to_lattice(np.array([constant, *query.constants.tolist()])).sum())
        return _Asked(number, list(ids), seeds, query, total)

    def _frequency(self, model: Model) -> str:
        return "df" if model.rule.existence == "presence" else "soft_df"

    def _value(self, model: Model) -> Column:
        """x_ij of setsearch.values from the columns of a posting."""
        rule = model.rule
        if rule == PRESENCE:
            return F.lit(1.0)
        assert rule.balance is not None
        norm, middle = F.col(NORMS[rule.existence]), self.side.medians[rule.existence]
        weight = F.col("logs") * F.col("factor")
        scale = F.when(
            norm > 0, F.lit(1.0) / (F.lit((1 - rule.balance) * middle) + F.lit(rule.balance) * norm)
        ).otherwise(0.0)
        value = F.rint(F.least(weight * scale, F.lit(1.0)) * LATTICE) / LATTICE
        if rule.existence == "presence":
            return value
        return F.when(F.col("count") / F.col("total") > F.col("floor"), value).otherwise(0.0)

    def _base(self, model: Model, n_seeds: int) -> tuple[DataFrame | None, float]:
        """(item, base) of all items and the constant; None where every item starts from 0."""
        key = (model, n_seeds)
        if key not in self._bases:
            self._bases[key] = self._make_base(model, n_seeds)
        return self._bases[key]

    def _make_base(self, model: Model, n_seeds: int) -> tuple[DataFrame | None, float]:
        features = read(self.spark, self.layout, self.side.features, "items")
        rows = features.groupBy(F.col("length").alias("df")).count().orderBy("df").collect()
        frequencies, times = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
        background = model.background(np.repeat(frequencies, times), self.side.count, n_seeds)
        if background is None:
            return None, 0.0
        first = np.cumsum(times) - times
        weights = to_lattice(background.weights[first], model.rule.binary)
        table = local(self.spark, zip(frequencies.tolist(), weights.tolist(), strict=True), df="int64", weight="double")
        postings = read(self.spark, self.layout, self.name, "postings")
        sums = postings.join(F.broadcast(table), "df").groupBy("item").agg(F.sum("weight").alias("base"))
        items = read(self.spark, self.layout, self.name, "items").select(F.col("id").alias("item"))
        base = items.join(sums, "item", "left").na.fill(0.0, ["base"]).persist()
        return base, background.constant

    def _best(self, asked: Sequence[_Asked], model: Model, k: int, keep_seeds: bool) -> Ranked:
        """The k best of each set, constants not added: those that lists touch, and the best of all others."""
        scores = self._scores(asked, model).persist()
        seeds = [(own.number, id) for own in asked for id in own.ids]
        without = local(self.spark, seeds, number="int32", item="int64")
        open_scores = scores if keep_seeds else scores.join(F.broadcast(without), ["number", "item"], "left_anti")
        order = Window.partitionBy("number").orderBy(F.desc("score"), "item")
        rows = open_scores.withColumn("place", F.row_number().over(order)).filter(F.col("place") <= k).collect()
        found: Ranked = {own.number: [] for own in asked}
        for row in rows:
            found[row.number].append((row.item, row.score))
        for number, others in self._untouched(asked, scores, model, (k, keep_seeds)).items():
            found[number] = sorted(found[number] + others, key=lambda pair: (-pair[1], pair[0]))[:k]
        scores.unpersist()
        return found

    def _scores(self, asked: Sequence[_Asked], model: Model) -> DataFrame:
        """(number of the set, item, score) of every item that a list touches."""
        weights = [
            (own.number, feature, weight)
            for own in asked
            for feature, weight in zip(
                own.seeds.features.tolist(), to_lattice(own.query.weights, model.rule.binary).tolist(), strict=True
            )
        ]
        features = sorted({feature for _, feature, _ in weights})
        table = local(self.spark, weights, number="int32", feature="int64", weight="double")
        postings = read(self.spark, self.layout, self.name, "postings")
        active = postings.filter(F.col("bucket").isin(sorted({feature % self.side.buckets for feature in features})))
        valued = active.join(F.broadcast(table), "feature").withColumn("value", self._value(model)).filter("value > 0")
        sums = valued.groupBy("number", "item").agg(F.sum(F.col("weight") * F.col("value")).alias("score"))
        if self._base(model, len(asked[0].ids))[0] is None:
            return sums
        sizes = local(self.spark, [(own.number, len(own.ids)) for own in asked], number="int32", size="int32")
        bases = None
        for size in sorted({len(own.ids) for own in asked}):
            base = cast(DataFrame, self._base(model, size)[0]).withColumn("size", F.lit(size))
            bases = base if bases is None else bases.unionByName(base)
        assert bases is not None
        return (
            sums.join(F.broadcast(sizes), "number")
            .join(bases, ["size", "item"])
            .select("number", "item", (F.col("score") + F.col("base")).alias("score"))
        )

    def _untouched(self, asked: Sequence[_Asked], scores: DataFrame, model: Model, wanted: tuple[int, bool]) -> Ranked:
        """For each set the k best of the items that no list touches: these are in the order of their bases."""
        k, keep_seeds = wanted
        found: Ranked = {}
        size, open_sets = max(RESERVE, 4 * k), list(asked)
        while open_sets:
            firsts = {count: self._first(model, count, size) for count in {len(own.ids) for own in open_sets}}
            ids = sorted({id for first in firsts.values() for id, _ in first})
            known = local(self.spark, [(id,) for id in ids], item="int64")
            rows = scores.join(F.broadcast(known), "item").select("number", "item").collect()
            touched = {(row.number, row.item) for row in rows}
            again = []
            for own in open_sets:
                first = firsts[len(own.ids)]
                seeds = set() if keep_seeds else set(own.ids)
                left = [pair for pair in first if pair[0] not in seeds and (own.number, pair[0]) not in touched]
                if len(left) >= k or len(first) >= self.side.count:
                    found[own.number] = left[:k]
                else:
                    again.append(own)
            open_sets, size = again, 10 * size
        return found

    def _first(self, model: Model, n_seeds: int, size: int) -> list[tuple[int, float]]:
        """The items of highest base, equal ones in the order of their names."""
        base, _ = self._base(model, n_seeds)
        if base is None:
            return [(id, 0.0) for id in range(min(size, self.side.count))]  # ids are in order, none is missing
        rows = base.orderBy(F.desc("base"), "item").limit(size).collect()
        return [(row.item, row.base) for row in rows]

    def _named(self, asked: Sequence[_Asked], found: Ranked) -> list[list[Hit]]:
        ids = sorted({id for pairs in found.values() for id, _ in pairs})
        items = read(self.spark, self.layout, self.name, "items")
        wanted = local(self.spark, [(id,) for id in ids], id="int64")
        rows = items.join(F.broadcast(wanted), "id").select("id", "name", "title").collect()
        names = {row.id: (row.name, row.title) for row in rows}
        return [
            [
                Hit(rank, names[id][0], score + own.constant, names[id][1])
                for rank, (id, score) in enumerate(found[own.number], 1)
            ]
            for own in asked
        ]
