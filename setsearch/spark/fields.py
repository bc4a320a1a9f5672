"""The fields of a reading on Parquet, from which search/examples.py chooses, as memory/readings.py has them."""

from functools import cache

from pyspark.sql import SparkSession

from setsearch.arrays import Ints
from setsearch.memory.fields import Fields
from setsearch.memory.names import WordVocabulary
from setsearch.memory.readings import BY, FieldsBy
from setsearch.memory.word_contexts import COEFFICIENTS
from setsearch.spark.bases import Bases
from setsearch.spark.field import RemoteField
from setsearch.spark.layout import Layout, Side
from setsearch.spark.vocabulary import NO_CURSOR, load_words
from setsearch.storage.analyzers import load_analyzer
from setsearch.storage.relation import Relation


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
            RemoteField(self._spark, own, own.sides[0], self.bases, self._words).within(NO_CURSOR, weight)
            for own, weight in chosen
        )
        return Fields(fields, relation, self._analyzer, contexts_revision=0)
