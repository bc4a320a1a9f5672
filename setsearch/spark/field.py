"""A reading on Parquet as the questions of one process see it: lists stay on the workers, their lengths come here.

The driver reads what a question needs by itself: the features of examples and of hits, with their values and document
frequencies, for many items at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import VALUE_LATTICE, Entries, Floats, Ints, distinct, offsets, positions, repeat, to_lattice
from setsearch.errors import InvalidParameter
from setsearch.lists import Lists
from setsearch.memory.content import Content
from setsearch.memory.contexts.word_contexts import COEFFICIENTS
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.memory.known_columns import KnownColumns
from setsearch.memory.names.derived import WordVocabulary
from setsearch.memory.readings import BY, FieldsBy
from setsearch.models import Model
from setsearch.models.values import PRESENCE, RuleStatistics, ValueRule, rarity
from setsearch.scoring.best import Base
from setsearch.scoring.postings import PostingArrays
from setsearch.spark.layout import NORMS, Layout, Side, ids_table, local, read, read_lists
from setsearch.storage.analyzers import load_analyzer
from setsearch.storage.ids import is_storable
from setsearch.storage.name_search import Descriptions
from setsearch.storage.names import Vocabulary
from setsearch.storage.relation import Relation
from setsearch.text.matching import Total, no_total

NAMESAKES = 5  # things with the same title that a message lists
NO_IDS: Ints = np.zeros(0, np.int64)
CACHED_BASES = 8  # one more empties the cache
MOST_ACTIVE = 2_000_000  # entries of all examples of all sets: some hundred megabytes on the driver


class RemoteVocabulary(Vocabulary):
    """Names on the workers. What was looked up is kept: an object serves one call."""

    def __init__(self, spark: SparkSession, layout: Layout, side: Side) -> None:
        shown = layout.titles_shown and side.items == layout.features
        super().__init__(-1, side.items, side.count, side.count, titles_shown=shown)
        self._spark = spark
        self._rows: DataFrame = read(spark, layout, side.items, "items")
        self._ids: dict[str, int | None] = {}
        self._titled: dict[str, list[tuple[int, str]]] = {}
        self._described: Descriptions = {}

    @property
    def are_contexts(self) -> bool:
        """Whether these are contexts of words, which nobody names."""
        return self.name.startswith("contexts ")

    def look_up(self, names: Iterable[str]) -> None:
        """Look up names, also as titles."""
        wanted = sorted({name for name in names if is_storable(name) and name not in self._ids})
        if not wanted or self.are_contexts:
            return
        table = F.broadcast(local(self._spark, [(name,) for name in wanted], wanted="string"))
        found = None
        for column in ("name", "title"):
            own = self._rows.join(table, F.col(column) == F.col("wanted"))
            first = F.slice(F.array_sort(F.collect_list(F.struct("name", "id"))), 1, NAMESAKES).alias("first")
            part = own.groupBy("wanted").agg(first).withColumn("column", F.lit(column))
            found = part if found is None else found.unionByName(part)
        self._ids |= dict.fromkeys(wanted)
        for row in found.collect() if found is not None else ():
            if row.column == "name":
                self._ids[row.wanted] = row.first[0].id
            else:
                self._titled[row.wanted] = [(own.id, own.name) for own in row.first]

    def find(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those names that exist."""
        self.look_up(names)
        found = {name: self._ids.get(name) for name in names}
        return {name: id for name, id in found.items() if id is not None}

    def titled(self, title: str) -> list[tuple[int, str]]:
        """(id, name) of up to five things with this title."""
        self.look_up([title])
        return self._titled.get(title, [])

    def called(self, text: str) -> list[tuple[int, str]]:
        """Empty: names are not compared on the workers."""
        return []

    def hint(self, name: str, total: Total = no_total) -> str:
        """Names are not compared on the workers."""
        return "give an id, or a title that only one has, as it was indexed"

    def describe(self, ids: Sequence[int]) -> Descriptions:
        """(name, title) of each id."""
        missing = sorted({*ids}.difference(self._described))
        if missing:
            table = ids_table(self._spark, missing, "id")
            rows: list[Any] = self._rows.join(table, "id").select("id", "name", "title").collect()
            shown = self.titles_shown
            self._described |= {
                row.id: (row.title or row.name, None) if shown else (row.name, row.title) for row in rows
            }
        return {id: self._described[id] for id in ids}


def load_words(spark: SparkSession, layout: Layout) -> tuple[WordVocabulary, Ints]:
    """The words of a field of contexts, and the sum of counts of each, `(n_words,)`: at most a million."""
    found = read(spark, layout, layout.items, "items").select("id", "name", "total").orderBy("id").toArrow()
    return WordVocabulary(found["name"].to_pylist()), found["total"].to_numpy()


@dataclass(frozen=True)
class RemoteBase:
    """The bases (item, base), None if all are 0; the smallest and the largest; the constant that all items get."""

    items: DataFrame | None
    extremes: tuple[float, float]
    constant: float


class Bases:
    """The bases of an index by model and number of seeds; workers cache them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._bases: dict[tuple[str, str, Model, float], RemoteBase] = {}

    def __len__(self) -> int:
        return len(self._bases)

    def get(self, layout: Layout, side: Side, model: Model, n_seeds: float) -> RemoteBase:
        """The base of a reading."""
        key = (layout.place, side.items, model, n_seeds)
        if key not in self._bases:
            if len(self._bases) >= CACHED_BASES:
                self.release()
            self._bases[key] = self._make(layout, side, model, n_seeds)
        return self._bases[key]

    def release(self) -> None:
        """Free what the workers cache."""
        for base in self._bases.values():
            if base.items is not None:
                base.items.unpersist()
        self._bases = {}

    def _make(self, layout: Layout, side: Side, model: Model, n_seeds: float) -> RemoteBase:
        if model.background(np.zeros(0, np.int64), side.count, n_seeds) is None:
            return RemoteBase(None, (0.0, 0.0), 0.0)
        features = read(self._spark, layout, side.features, "items")
        rows = features.groupBy(F.col("length").alias("df")).count().orderBy("df").collect()
        frequencies, times = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
        background = model.background(repeat(frequencies, times), side.count, n_seeds)
        assert background is not None
        weights = to_lattice(background.weights[np.cumsum(times) - times], model.rule.binary)
        pairs = zip(frequencies.tolist(), weights.tolist(), strict=True)
        table = F.broadcast(local(self._spark, pairs, df="int64", weight="double"))
        postings = read(self._spark, layout, side.items, "postings")
        sums = postings.join(table, "df").groupBy("item").agg(F.sum("weight").alias("base"))
        items = read(self._spark, layout, side.items, "items").select(F.col("id").alias("item"))
        bases = items.join(sums, "item", "left").na.fill(0.0, ["base"]).persist()
        row: Any = bases.agg(F.min("base"), F.max("base")).first()
        return RemoteBase(bases, (float(row[0] or 0), float(row[1] or 0)), background.constant)


class RemoteField(Field):
    """One reading. What was read is kept: an object serves one call."""

    takes_features = False

    def __init__(
        self,
        spark: SparkSession,
        layout: Layout,
        side: Side,
        bases: Bases,
        words: tuple[Vocabulary, Ints] | None = None,
    ) -> None:
        items = RemoteVocabulary(spark, layout, side) if words is None else words[0]
        features = RemoteVocabulary(spark, layout, layout.side(side.features))
        transposed, nothing = side.items == layout.features, Lists.of(Entries(NO_IDS, NO_IDS, NO_IDS), 0, 0)
        first, second = (features, items) if transposed else (items, features)
        super().__init__(
            Content(first, second, nothing, nothing, NO_IDS, None, columns=KnownColumns(False)), transposed
        )
        self.spark, self.layout, self.side, self.bases = spark, layout, side, bases
        self._totals = None if words is None else words[1]
        self._known: dict[ValueRule, _Known] = {}
        self._frequencies = dict.fromkeys(("feature", *FREQUENCIES), NO_IDS)

    @property
    def totals(self) -> Ints:
        """Sum of counts of every item, `(n_ids,)`; of words by contexts only."""
        assert self._totals is not None
        return self._totals

    def missing(self, items: Iterable[int], rule: ValueRule) -> list[int]:
        """The items that were not read by a rule."""
        known = self._known.get(rule)
        return sorted({*items}.difference(() if known is None else known.items.tolist()))

    def add(self, items: Sequence[int], rule: ValueRule, found: "_Columns") -> None:
        """Keep the entries of items, with the frequencies of their features."""
        known = self._known.get(rule) or _Known(NO_IDS, NO_IDS, NO_IDS, np.zeros(0))
        self._known[rule] = known.plus(np.array(items, np.int64), found["item"], found["feature"], found["x"])
        self._add_frequencies(found)

    def _add_frequencies(self, found: "_Columns") -> None:
        joined = {name: np.concatenate([own, found[name]]) for name, own in self._frequencies.items()}
        _, first = np.unique(joined["feature"], return_index=True)
        self._frequencies = {name: own[first] for name, own in joined.items()}

    def forward(self, items: Iterable[int], rule: ValueRule) -> PostingArrays:
        """The features of some items, in the order of their ids, with their values."""
        own = sorted(items)
        load_entries([self], own, rule)
        return self._known[rule].lists(np.array(own, np.int64))

    def known_features(self, items: Sequence[int]) -> Ints:
        """The features of some items that were read, by any rule."""
        own = [known.lists(np.array(items, np.int64)).ids for known in self._known.values()]
        return distinct(np.concatenate([NO_IDS, *own]))

    def postings(self, features: Ints, rule: ValueRule) -> PostingArrays:
        """The lengths of posting lists; what is in them stays on the workers."""
        lengths = self._frequency(features, "df" if rule.binarization == "presence" else "soft_df")
        return PostingArrays(np.zeros(0, np.int32), np.zeros(len(features), np.int64), lengths, np.zeros(0))

    def stored_lengths(self, features: Ints) -> Ints:
        """The document frequencies of some features, by stored counts."""
        return self._frequency(features, "df")

    def _frequency(self, features: Ints, column: str) -> Ints:
        missing = np.setdiff1d(features, self._frequencies["feature"])
        if len(missing):
            own = read_lists(self.spark, self.layout, self.side, missing.tolist())
            table = ids_table(self.spark, missing.tolist(), "feature")
            firsts = [F.first(name).alias(name) for name in FREQUENCIES]
            found = own.join(table, "feature").groupBy("feature").agg(*firsts).toArrow()
            self._add_frequencies({name: found[name].to_numpy() for name in found.column_names})
            unused = np.setdiff1d(missing, self._frequencies["feature"])
            self._add_frequencies(dict.fromkeys(FREQUENCIES, 0 * unused) | {"feature": unused})
        places = np.searchsorted(self._frequencies["feature"], features)
        return np.asarray(self._frequencies[column][places], np.int64)

    def _statistics_of(self, features: Ints, rule: ValueRule) -> tuple[RuleStatistics, Ints]:
        """The statistics of a rule for some features, numbered by their places."""
        table = ids_table(self.spark, features.tolist(), "id")
        rows = read(self.spark, self.layout, self.side.features, "items").join(table, "id")
        found = rows.select("id", "length", "total").orderBy("id").toArrow()
        factor = rarity(found["length"].to_numpy(), self.side.count)
        threshold = None
        if rule.binarization != "presence":
            threshold = 2 * found["total"].to_numpy() / max(self.side.total, 1)
        statistics = RuleStatistics(rule, None, threshold, factor, pivot=self.side.medians[rule.binarization])
        return statistics, np.arange(len(features))

    def read_forward(self, items: Sequence[int]) -> Entries:
        """The stored (item, feature, count) of some items, ascending."""
        rows = _forward(self, items).select("item", "feature", "count").orderBy("item", "feature").toArrow()
        return Entries(*(rows[name].to_numpy() for name in ("item", "feature", "count")))

    def base(self, model: Model, n_seeds: float) -> Base:
        """A base with the right constant and bound; what each item has stays on the workers."""
        own = self.bases.get(self.layout, self.side, model, n_seeds)
        return Base(np.array(own.extremes), own.constant)

    def ranks(self, ids: Ints) -> Ints:
        """Ids are in the order of names."""
        return ids


FREQUENCIES = ("df", "soft_df")
_Columns = dict[str, Any]  # arrays by name


class _Known:
    """The entries of some items by a rule: `items` ascending, entries by item and feature."""

    def __init__(self, items: Ints, owners: Ints, features: Ints, values: Floats) -> None:
        self.items, self._owners, self._features, self._values = items, owners, features, values

    def plus(self, items: Ints, owners: Ints, features: Ints, values: Floats) -> "_Known":
        owners, features = np.concatenate([self._owners, owners]), np.concatenate([self._features, features])
        order = np.lexsort((features, owners))
        values = np.concatenate([self._values, values])[order]
        return _Known(np.union1d(self.items, items), owners[order], features[order], values)

    def lists(self, items: Ints) -> PostingArrays:
        starts, ends = (np.searchsorted(self._owners, items, side) for side in ("left", "right"))
        places = positions(starts, ends - starts)
        ends = offsets(ends - starts)
        return PostingArrays(self._features[places], ends[:-1], ends[1:], self._values[places])  # type: ignore[arg-type]


def load_entries(fields: Sequence[RemoteField], items: Iterable[int], rule: ValueRule) -> None:
    """Read the entries of some items in several fields, with their values by a rule, in two jobs.

    Raises InvalidParameter if there are too many.
    """
    wanted = {number: own.missing(items, rule) for number, own in enumerate(fields)}
    asked = [(number, fields[number]) for number, ids in wanted.items() if ids]
    if not asked:
        return
    spark = asked[0][1].spark
    forward = [
        _forward(own, wanted[number]).select(F.lit(number).alias("field"), "item", "feature") for number, own in asked
    ]
    pairs = reduce(DataFrame.unionByName, forward).limit(MOST_ACTIVE + 1).toArrow()
    if pairs.num_rows > MOST_ACTIVE:
        raise InvalidParameter(
            f"the examples have more than {MOST_ACTIVE:,} {asked[0][1].side.features}; give fewer or rarer ones, or "
            "smaller batches"
        )
    # Postings also hold the frequencies of features, and the lengths and norms of items.
    numbers, table = pairs["field"].to_numpy(), F.broadcast(spark.createDataFrame(pairs))
    valued = []
    for number, own in asked:
        features = np.unique(pairs["feature"].to_numpy()[numbers == number]).tolist()
        mine = read_lists(spark, own.layout, own.side, features).withColumn("field", F.lit(number))
        x = value_of(rule, own.side).alias("x")
        valued.append(
            mine.join(table, ["field", "feature", "item"]).select("field", "item", "feature", x, *FREQUENCIES)
        )
    found = reduce(DataFrame.unionByName, valued).toArrow()
    columns = {name: found[name].to_numpy() for name in found.column_names}
    for number, own in asked:
        chosen = (columns["field"] == number) & (columns["x"] > 0)
        own.add(wanted[number], rule, {name: column[chosen] for name, column in columns.items()})


def _forward(field: RemoteField, items: Sequence[int]) -> DataFrame:
    """(item, feature, count) of some items: their forward lists are the posting lists of the other reading."""
    layout, side = field.layout, field.layout.side(field.side.features)
    rows = read_lists(field.spark, layout, side, items).filter(F.col("feature").isin([*items]))
    return rows.select(F.col("feature").alias("item"), F.col("item").alias("feature"), "count")


def value_of(rule: ValueRule, side: Side) -> Column:
    """x_ij of models/values.py as an expression on the columns of postings; 0 if the rule drops the entry."""
    if rule == PRESENCE:
        return F.lit(1.0)
    assert rule.slope is not None
    norm, middle = F.col(NORMS[rule.binarization]), side.medians[rule.binarization]
    scale = F.when(norm > 0, F.lit(1.0) / (F.lit((1 - rule.slope) * middle) + F.lit(rule.slope) * norm))
    weight = F.col("logs") * F.col("factor") * scale.otherwise(0.0)
    value = F.rint(F.least(weight, F.lit(1.0)) * VALUE_LATTICE) / VALUE_LATTICE
    if rule.binarization == "presence":
        return value
    return F.when(F.col("count") / F.col("total") > F.col("floor"), value).otherwise(0.0)


class FieldsSource:
    """Opens the fields of a reading for one call. Words by contexts, and bases, are kept."""

    def __init__(self, spark: SparkSession, layout: Layout, side: Side) -> None:
        self._spark, self._layout, self._side = spark, layout, side
        self._analyzer = None if layout.analyzer is None else load_analyzer(layout.analyzer)
        self._words: tuple[WordVocabulary, Ints] | None = None
        self.bases = Bases(spark)

    @property
    def has_contexts(self) -> bool:
        """Whether words have contexts."""
        return self._side.items == self._layout.features and bool(self._layout.contexts)

    def open(self) -> FieldsBy:
        """The fields by the keys of BY."""
        return cache(self._fields)

    def _fields(self, by: str) -> Fields | None:
        stored = RemoteField(self._spark, self._layout, self._side, self.bases)
        relation = Relation(0, stored.content.items, stored.content.features, self._layout.analyzer, 0, 0)
        if by == "documents":
            return Fields((stored,), relation, self._analyzer)
        if not self.has_contexts:
            return None
        layouts = {own.features: own for own in self._layout.fields()}
        if self._words is None:
            self._words = load_words(self._spark, layouts["documents"])
        chosen = [(layouts[name], COEFFICIENTS[name]) for name in BY[by] if name in layouts]
        fields = tuple(
            RemoteField(self._spark, own, own.sides[0], self.bases, self._words).within(None, weight)
            for own, weight in chosen
        )
        return Fields(fields, relation, self._analyzer, contexts_revision=0)
