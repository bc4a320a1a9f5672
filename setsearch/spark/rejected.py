"""What rejected items teach, for many sets: search/separation.py with the best and the sampled items of the workers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from pyspark.sql import functions as F  # noqa: N812

from setsearch.arrays import HASH, Floats, Ints
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
from setsearch.spark.ranking import Question, Ranking
from setsearch.spark.session import use_this_python

if TYPE_CHECKING:
    from pyarrow import RecordBatch


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
