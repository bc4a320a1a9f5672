"""The best items of many sets, in a few jobs.

    score_i = base_i + constant + sum over active features of weight_j x_ij

Workers join the weights with the postings of the active features and add them by item. Weights and values are multiples
of powers of two (setsearch.arrays), so sums are exact in any order, on any number of workers.

What rejected items teach is search/rejected.py, with the best and the sampled items of the workers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import cast

import numpy as np
import pyarrow
from pyarrow import RecordBatch
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import HASH, Floats, Ints
from setsearch.memory.fields import Fields
from setsearch.models.values import ValueRule
from setsearch.search.cutoff import LEADERS
from setsearch.search.examples import Examples
from setsearch.search.rejected import (
    SAMPLE,
    Unmarked,
    corrected,
    correction_rule,
    hashes,
    scores_of_examples,
)
from setsearch.search.weights import SeedWeights
from setsearch.spark.field import RemoteBase, RemoteField, load_entries, value_of
from setsearch.spark.layout import NORMS, ids_table, local, read, read_lists
from setsearch.spark.session import use_this_python

Pairs = list[tuple[int, float]]  # (item, score), best first
RESERVE = 1000  # items of highest base that compete with the touched ones


@dataclass(frozen=True)
class Asked:
    """One set: what scores items, and the items to leave out."""

    weights: SeedWeights
    excluded: Sequence[int]

    @property
    def n_seeds(self) -> float:
        """On what the base depends."""
        return self.weights.examples.total


@dataclass
class Question:
    """One of many sets: its fields, its examples, the ids of rejected items, and then its weights."""

    number: int
    fields: Fields
    examples: Examples
    rejected: list[int]
    weights: SeedWeights = field(init=False)

    @property
    def marked(self) -> list[int]:
        """Seeds and rejected items."""
        return [*self.rejected, *self.examples.seeds]

    @property
    def remote(self) -> list[RemoteField]:
        """The fields as they are on Parquet."""
        return [cast(RemoteField, own) for own in self.fields.all]

    def asked(self, keeps_seeds: bool = False) -> Asked:
        """What scores items, and those to leave out."""
        return Asked(self.weights, self.rejected if keeps_seeds else self.marked)


class Ranking:
    """Ranks the items of a reading, all of them or those `among` some; its fields sum up."""

    def __init__(self, first: RemoteField, among: Ints | None = None) -> None:
        self._first, self._among = first, among
        self._spark = first.spark
        self._count = first.side.count if among is None else len(among)

    def best(self, asked: Sequence[Asked], k: int) -> list[Pairs]:
        """The k best of each set: touched items and the best of all others; ties by name."""
        k = min(k, max(self._count, 1))
        scores = self._scores(asked).persist()
        without = self._excluded(asked)
        order = Window.partitionBy("number").orderBy(F.desc("score"), "item")
        rows = (
            scores.join(F.broadcast(without), ["number", "item"], "left_anti")
            .withColumn("place", F.row_number().over(order))
            .filter(F.col("place") <= k)
            .collect()
        )
        found: list[Pairs] = [[] for _ in asked]
        for row in sorted(rows, key=lambda row: row.place):
            found[row.number].append((row.item, row.score))
        taken = scores.select("number", "item").unionByName(without).distinct()
        self._add_untouched(asked, taken, found, k)
        scores.unpersist()
        return [
            [(id, score / own.weights.scale + own.weights.constant) for id, score in best]
            for own, best in zip(asked, found, strict=True)
        ]

    def count_above(self, asked: Sequence[Asked], bounds: Sequence[float]) -> list[int]:
        """How many items of each set, without those to leave out, score above a bound; for models without a base."""
        rows = [(n, bound * own.weights.scale) for n, (own, bound) in enumerate(zip(asked, bounds, strict=True))]
        known = local(self._spark, rows, number="int32", bound="double")
        scores = self._scores(asked).join(F.broadcast(self._excluded(asked)), ["number", "item"], "left_anti")
        is_above = (F.col("score") > F.col("bound")).cast("bigint")
        counts = scores.join(F.broadcast(known), "number").groupBy("number")
        found = counts.agg(F.count("*").alias("touched"), F.sum(is_above).alias("above")).collect()
        touched, above = ({row.number: row[name] for row in found} for name in ("touched", "above"))
        others = [self._count - len({*own.excluded}) - touched.get(n, 0) for n, own in enumerate(asked)]
        return [above.get(n, 0) + (others[n] if bound < 0 else 0) for n, (_, bound) in enumerate(rows)]

    def _excluded(self, asked: Sequence[Asked]) -> DataFrame:
        """(number of the set, item) of the items to leave out."""
        rows = [(number, id) for number, own in enumerate(asked) for id in {*own.excluded}]
        return local(self._spark, rows, number="int32", item="int64")

    def _scores(self, asked: Sequence[Asked]) -> DataFrame:
        """(number of the set, item, score) of every touched item."""
        tables: dict[tuple[RemoteField, ValueRule], list[tuple[int, int, float]]] = {}
        for number, one in enumerate(asked):
            for own in one.weights.all:
                pairs = zip(own.seeds.features.tolist(), own.lists.weights.tolist(), strict=True)
                rows = [(number, feature, weight) for feature, weight in pairs if weight]
                tables.setdefault((cast(RemoteField, own.field), own.rule), []).extend(rows)
        parts = [self._added(own_field, rule, rows) for (own_field, rule), rows in tables.items()]
        added = self._allowed(reduce(DataFrame.unionByName, parts))
        sums = added.groupBy("number", "item").agg(F.sum("added").alias("score"))
        bases = {own.n_seeds: self._base(own).items for own in asked}
        if None in bases.values():
            return sums
        rows = [(number, own.n_seeds, own.weights.scale) for number, own in enumerate(asked)]
        sizes = local(self._spark, rows, number="int32", size="double", scale="double")
        sized = [base.withColumn("size", F.lit(size)) for size, base in bases.items() if base is not None]
        return (
            sums.join(F.broadcast(sizes), "number")
            .join(reduce(DataFrame.unionByName, sized), ["size", "item"])
            .select("number", "item", (F.col("score") + F.col("base") * F.col("scale")).alias("score"))
        )

    def _added(self, field: RemoteField, rule: ValueRule, rows: list[tuple[int, int, float]]) -> DataFrame:
        """(number of the set, item, added) of the postings of features, given (number, feature, weight)."""
        table = F.broadcast(local(self._spark, rows, number="int32", feature="int64", weight="double"))
        lists = read_lists(self._spark, field.layout, field.side, (feature for _, feature, _ in rows))
        valued = lists.join(table, "feature").withColumn("value", value_of(rule, field.side)).filter("value > 0")
        return valued.select("number", "item", (F.col("weight") * F.col("value")).alias("added"))

    def _allowed(self, rows: DataFrame) -> DataFrame:
        """The rows of items that may be returned."""
        if self._among is None:
            return rows
        return rows.join(ids_table(self._spark, self._among.tolist(), "item"), "item")

    def _base(self, own: Asked) -> RemoteBase:
        first = self._first
        return first.bases.get(first.layout, first.side, own.weights.model, own.n_seeds)

    def _add_untouched(self, asked: Sequence[Asked], taken: DataFrame, found: list[Pairs], k: int) -> None:
        """Add items that are not `taken` (number, item) to the best of each set: their scores are their bases."""
        firsts = {own.n_seeds: self._highest(own, min(max(RESERVE, 4 * k), self._count)) for own in asked}
        # If the k-th score is above the highest base, no other item can be among the best.
        tops = {n_seeds: first[0][1] if first else -np.inf for n_seeds, first in firsts.items()}
        open_ = [n for n, own in enumerate(asked) if not _full(found[n], k, tops[own.n_seeds] * own.weights.scale)]
        if not open_:
            return
        ids = sorted({id for n in open_ for id, _ in firsts[asked[n].n_seeds]})
        known = ids_table(self._spark, ids, "item")
        touched = {(row.number, row.item) for row in taken.join(known, "item").select("number", "item").collect()}
        for n in open_:
            own, first = asked[n], firsts[asked[n].n_seeds]
            scale = own.weights.scale
            left = [(id, base * scale) for id, base in first if (n, id) not in touched][:k]
            merged = _merged(found[n], left, k)
            if len(left) < k and len(first) < self._count and not _full(merged, k, first[-1][1] * scale):
                rest = self._highest(own, k, taken.filter(F.col("number") == n))
                merged = _merged(found[n], [(id, base * scale) for id, base in rest], k)
            found[n] = merged

    def _highest(self, own: Asked, size: int, without: DataFrame | None = None) -> Pairs:
        """The items of highest base that are not taken; ties by name."""
        base = self._base(own).items
        if base is None and without is None:
            ids = range(size) if self._among is None else self._among[:size].tolist()
            return [(id, 0.0) for id in ids]  # all ids, ascending without gaps
        items = read(self._spark, self._first.layout, self._first.side.items, "items")
        rows = items.select(F.col("id").alias("item"), F.lit(0.0).alias("base")) if base is None else base
        rows = self._allowed(rows)
        rows = rows if without is None else rows.join(without, "item", "left_anti")
        return [(row.item, row.base) for row in rows.orderBy(F.desc("base"), "item").limit(size).collect()]


def _full(best: Pairs, k: int, bound: float) -> bool:
    """Whether there are k items, all above a bound."""
    return len(best) == k and best[-1][1] > bound


def _merged(best: Pairs, others: Pairs, k: int) -> Pairs:
    return sorted(best + others, key=lambda pair: (-pair[1], pair[0]))[:k]


def correct(questions: Sequence[Question], twice: bool) -> None:
    """Correct the weights of sets, which have the same fields, by what separates them from their rejected items.

    `twice`: whether the questions may have a second pass.
    """
    fields, remote, model = questions[0].fields, questions[0].remote, questions[0].weights.model
    rule = correction_rule(model)
    leaders = Ranking(remote[0]).best([own.asked() for own in questions], LEADERS)
    likely = _likely_sample(remote[0], rule, SAMPLE + max(len(own.marked) for own in questions))
    unmarked = [
        Unmarked(
            fields.items.size - len({*own.marked}),
            np.array([score for _, score in best]) - own.weights.constant,
            sorted([id for id in likely if id not in {*own.marked}][:SAMPLE]),
        )
        for own, best in zip(questions, leaders, strict=True)
    ]
    needed = {id for own, others in zip(questions, unmarked, strict=True) for id in (*own.marked, *others.sample)}
    for values in (rule, model.rule):
        load_entries(remote, needed, values)
    for own, others in zip(questions, unmarked, strict=True):
        own.weights = corrected(fields, own.weights, own.rejected, others, partial(_scores, own.weights), twice)


def _scores(weights: SeedWeights, items: Ints) -> Floats:
    return scores_of_examples(weights, Examples(items.tolist()))


def _likely_sample(field: RemoteField, rule: ValueRule, count: int) -> list[int]:
    """The items whose norms have the least hashes, the least first; equal ones by name."""
    use_this_python(field.spark)
    norm = F.col(NORMS[rule.binarization]).alias("norm")
    rows = read(field.spark, field.layout, field.side.items, "items").select("id", norm)
    found = rows.mapInArrow(_least(count), rows.schema).toArrow()
    ids, norms = found["id"].to_numpy(), found["norm"].to_numpy()
    chosen: list[int] = ids[np.lexsort((ids, hashes(norms)))][:count].tolist()
    return chosen


def _least(count: int) -> Callable[[Iterable[RecordBatch]], Iterator[RecordBatch]]:
    """A function for the workers, which need numpy for it: of (id, norm) those with the least hashes."""
    factor = int(HASH)

    def run(batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            ids, norms = (batch.column(place).to_numpy() for place in (0, 1))
            order = np.lexsort((ids, norms.view(np.uint64) * np.uint64(factor)))
            yield batch.take(pyarrow.array(np.sort(order[:count])))

    return run
