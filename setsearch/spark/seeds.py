"""Sets of seeds: their ids, their features, and the weights that a model gives these.

All of this is on the driver, so a query may have at most MOST_ACTIVE active features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import to_lattice
from setsearch.errors import AmbiguousItem, InvalidParameter, NoSeeds, UnknownItem
from setsearch.models import Model, Query, Seeds
from setsearch.search.feedback import WEIGHT
from setsearch.search.weights import Limit, strongest
from setsearch.spark.layout import Layout, Side, local, read, read_lists
from setsearch.spark.values import frequency_of, value_of
from setsearch.storage.analyzers import load_analyzer
from setsearch.storage.names import is_storable

MOST_ACTIVE = 2_000_000  # entries of all seeds of all sets: some hundred megabytes on the driver


@dataclass(frozen=True)
class Question:
    """One set: the ids of its seeds, its active features, and their weights, `(n_active,)`, on the lattice."""

    number: int
    ids: list[int]
    features: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    query: Query
    read: int  # the length of the lists of these features, as stored


@dataclass(frozen=True)
class Joined:
    """The items that join a set in the second pass, and what this may read."""

    ids: list[int]
    limit: Limit


def find_seeds(spark: SparkSession, layout: Layout, side: Side, sets: Sequence[Sequence[str]]) -> list[list[int]]:
    """The ids of seeds: by name, by their term, or by a unique title.

    Raises UnknownItem, AmbiguousItem, NoSeeds.
    """
    forms = {name: _forms(layout, side, name) for seeds in sets for name in seeds}
    wanted = sorted({form for own in forms.values() for form in own})
    named, titled = _found(spark, layout, side, wanted) if wanted else ({}, {})

    def find(name: str) -> int:
        """One seed."""
        for form in forms[name]:
            if form in named:
                return named[form]
        count, id = titled.get(name, (0, 0))
        if count > 1:
            raise AmbiguousItem(f"{name!r} is the title of several {side.items}; name one by its id")
        if not count:
            raise UnknownItem(f"no {name!r} among the {side.count} {side.items}")
        return id

    found = [list(dict.fromkeys(map(find, seeds))) for seeds in sets]
    if not all(found):
        raise NoSeeds(f"no seeds; give at least one of the {side.count} {side.items}")
    return found


def _forms(layout: Layout, side: Side, name: str) -> list[str]:
    if not is_storable(name):
        return []
    if layout.analyzer is None or side.items != layout.features:
        return [name]
    analyzer = load_analyzer(layout.analyzer)
    terms = analyzer.terms(name) if analyzer.is_available else []
    return [name, *(terms if len(terms) == 1 else [])]


def _found(
    spark: SparkSession, layout: Layout, side: Side, wanted: Sequence[str]
) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
    """Names with their ids; titles with the number of their items and the first id."""
    items = read(spark, layout, side.items, "items")
    names = F.broadcast(local(spark, [(name,) for name in wanted], wanted="string"))
    found = None
    for titled, column in enumerate(("name", "title")):
        matches = items.join(names, F.col(column) == F.col("wanted")).groupBy("wanted")
        part = matches.agg(F.count("*").alias("many"), F.min("id").alias("id"), F.lit(bool(titled)).alias("titled"))
        found = part if found is None else found.unionByName(part)
    assert found is not None
    rows = found.collect()
    return (
        {row.wanted: row.id for row in rows if not row.titled},
        {row.wanted: (row.many, row.id) for row in rows if row.titled},
    )


def seed_weights(
    spark: SparkSession,
    layout: Layout,
    side: Side,
    sets: Sequence[Sequence[int]],
    model: Model,
    joined: Sequence[Joined | None] | None = None,
) -> list[Question]:
    """The weights of each set, with the items that `joined` it for a second pass: the equations of one process.

    Raises InvalidParameter if the seeds have too many features.
    """
    joined = joined or [None] * len(sets)
    more = [id for own in joined if own is not None for id in own.ids]
    every = sorted({id for ids in sets for id in ids}.union(more))
    # The forward lists of items are the posting lists of the other reading.
    other = read_lists(spark, layout, layout.side(side.features), every)
    had = other.filter(F.col("feature").isin(every)).select(F.col("feature").alias("item"), F.col("item").alias("had"))
    entries = had.limit(MOST_ACTIVE + 1).toArrow()
    if entries.num_rows > MOST_ACTIVE:
        raise InvalidParameter(
            f"the seeds have more than {MOST_ACTIVE:,} {side.features}; give fewer or rarer ones, or smaller batches"
        )
    features = np.unique(entries["had"].to_numpy())
    # Postings also hold the frequencies of features, and the lengths and norms of items.
    mine = read_lists(spark, layout, side, features.tolist())
    pairs = F.broadcast(spark.createDataFrame(entries.rename_columns(["item", "feature"])))
    found = (
        mine.join(pairs, ["feature", "item"])
        .select(
            "item",
            "feature",
            F.col("df").alias("stored"),
            F.col(frequency_of(model.rule)).alias("df"),
            value_of(model.rule, side).alias("x"),
        )
        .filter("x > 0")
        .toArrow()
    )
    columns = {name: found[name].to_numpy() for name in found.column_names}
    pairs_of = enumerate(zip(sets, joined, strict=True))
    return [_question(number, (ids, own), columns, side.count, model) for number, (ids, own) in pairs_of]


def _question(
    number: int,
    examples: tuple[Sequence[int], Joined | None],
    columns: dict[str, Any],
    n_items: int,
    model: Model,
) -> Question:
    ids, joined = examples
    others = [] if joined is None else joined.ids
    own = np.isin(columns["item"], [*ids, *others])
    weights = np.where(np.isin(columns["item"][own], others), WEIGHT, 1.0)
    features, first, which = np.unique(columns["feature"][own], return_index=True, return_inverse=True)
    having = np.bincount(which, weights, len(features))
    sums = np.bincount(which, weights * columns["x"][own], len(features)).astype(float)
    stored, df = columns["stored"][own][first], columns["df"][own][first]
    seeds = Seeds(features, having, sums, len(ids) + WEIGHT * len(others), given=len(ids))
    if joined is not None:
        kept = strongest(seeds, stored, model, n_items, joined.limit)
        features, stored, df = features[kept], stored[kept], df[kept]
        seeds = replace(seeds, features=features, having=having[kept], sums=sums[kept])
    query = model.query(seeds, df, n_items)
    on_lattice = to_lattice(query.weights, model.rule.binary)
    return Question(number, list(ids), features, on_lattice, query, int(stored.sum()))
