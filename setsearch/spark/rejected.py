"""What rejected items teach, for many sets: search/separation.py with the best and the sampled items of the workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import HASH, Floats, Ints
from setsearch.memory.fields import Fields
from setsearch.models.values import ValueRule
from setsearch.search.examples import Examples
from setsearch.search.separation import (
    LEADERS,
    SAMPLE,
    Unmarked,
    corrected,
    correction_rule,
    hashes,
    scores_of_examples,
)
from setsearch.search.weights import SeedWeights
from setsearch.spark.field import RemoteField, load_entries
from setsearch.spark.layout import NORMS, read
from setsearch.spark.ranking import Asked, Ranking
from setsearch.spark.session import use_this_python

if TYPE_CHECKING:
    from pyarrow import RecordBatch


def with_corrections(
    fields: Fields,
    weights: Sequence[SeedWeights],
    rejected: Sequence[list[int]],
    twice: bool,
) -> list[SeedWeights]:
    """The weights of accepted examples of many sets, corrected by what separates them from rejected items.

    `twice`: whether the questions may have a second pass.
    """
    rule, first = correction_rule(weights[0].model), cast(RemoteField, fields.first)
    marked = [[*own.examples.seeds, *ids] for own, ids in zip(weights, rejected, strict=True)]
    asked = [Asked(own, ids) for own, ids in zip(weights, marked, strict=True)]
    leaders = Ranking(first).best(asked, LEADERS)
    likely = _likely_sample(first, rule, SAMPLE + max(map(len, marked)))
    unmarked = [
        Unmarked(
            fields.items.size - len({*ids}),
            np.array([score for _, score in best]) - own.constant,
            sorted([id for id in likely if id not in {*ids}][:SAMPLE]),
        )
        for own, ids, best in zip(weights, marked, leaders, strict=True)
    ]
    needed = {id for ids, own in zip(marked, unmarked, strict=True) for id in (*ids, *own.sample)}
    for values in (rule, weights[0].model.rule):
        load_entries(cast(Sequence[RemoteField], fields.all), needed, values)
    return [
        corrected(fields, own, ids, others, partial(_scores, own), twice)
        for own, ids, others in zip(weights, rejected, unmarked, strict=True)
    ]


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


def _least(count: int) -> "Callable[[Iterable[RecordBatch]], Iterator[RecordBatch]]":
    """A function for the workers, which need numpy for it: of (id, norm) those with the least hashes."""
    factor = int(HASH)

    def run(batches: "Iterable[RecordBatch]") -> "Iterator[RecordBatch]":
        import numpy
        import pyarrow

        for batch in batches:
            ids, norms = (batch.column(place).to_numpy() for place in (0, 1))
            order = numpy.lexsort((ids, norms.view(numpy.uint64) * numpy.uint64(factor)))
            yield batch.take(pyarrow.array(numpy.sort(order[:count])))

    return run
