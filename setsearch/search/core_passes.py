"""A question by lift at once: the compiled core goes from seeds to weights, and to the best items.

It does what seed_weights, second_pass and best do one after another, to the bit, for seeds that the index holds.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats
from setsearch.core import question
from setsearch.core.question import Answer, Numbers, Weighed
from setsearch.models import Lift, Model, Seeds
from setsearch.models.model import has_tiny_weights
from setsearch.scoring.kernels import is_core
from setsearch.scoring.selection import Best, sort_best
from setsearch.search import feedback as passes
from setsearch.search.examples import Examples
from setsearch.search.fields import Fields
from setsearch.search.weights import FieldWeights, Known, SeedWeights, field_weights

FEWEST_POSTINGS = 1 << 13  # fewer are added in less time than it takes to choose among lists


class Wanted(NamedTuple):
    """What is wanted of a question: the k best items, 0 for the sums of all; and whether its weights are, too."""

    k: int = 0
    weights: bool = True


ALL = Wanted()


def weights_at_once(
    fields: Fields,
    examples: Examples,
    model: Model,
    second: tuple[int, float],
    excluded: Sequence[int],
    wanted: Wanted,
) -> SeedWeights | None:
    """The weights of examples, if as many others joined as `second` says, and what a second pass may read.

    None where the other modules must be asked: without a core, for texts and other models, for lists without values,
    and where the core is not sure.
    """
    is_simple = not examples.texts and not examples.rare and (examples.weights is None or examples.weights.all())
    if not is_simple or not isinstance(model, Lift) or not is_core() or has_tiny_weights(model):
        return None
    n_items, total, ids = fields.items.size, examples.total, np.array(sorted(examples.ids), np.int64)
    joins, feedback = second
    limits = joins, passes.LEAST, passes.OWN, model.cost_of_a_list, FEWEST_POSTINGS, min(wanted.k, n_items)
    numbers = Numbers(n_items, total, model.strength, model.rarity, model.budget, feedback, passes.WEIGHT, *limits)
    lists = [field.snapshot.core_field(model.rule, field.coefficient) for field in fields.all]
    base, without = fields.base(model, total), sorted({*excluded, *examples.ids})
    excluding = np.array(without, np.int64)

    def ask(sums: Floats | None, weighs: bool) -> Answer | None:
        """The answer of the core."""
        return question.ask(lists, base.items, numbers, (ids, examples.weights), excluding, sums, weighs)

    sums = None if wanted.k else np.empty(len(base.items))
    answer = ask(sums, wanted.weights)
    if answer is None:
        return None
    known = Known(without, wanted.k, _in_order(answer, wanted.k, fields)) if wanted.k else None

    def join() -> Examples:
        """The seeds, and what joined them."""
        return examples.joined_by(answer.joined.tolist(), passes.WEIGHT)

    def weigh() -> tuple[FieldWeights, ...]:
        """The weights of all fields, as seed_weights makes them."""
        again = answer if wanted.weights else ask(sums, True)
        assert again is not None
        seeds = (_seeds(join() if joins else examples, own) for own in again.weighed)
        return tuple(field_weights(*own, model, n_items) for own in zip(fields.all, seeds, strict=True))

    weights = SeedWeights(model, examples, weigh, base, 0.0, join=join if joins else None, summed=sums)
    return replace(weights, known=known, left_out=answer.left_out)


def _in_order(answer: Answer, k: int, fields: Fields) -> Best:
    """The k best items, equal ones in the order of their names."""
    first = answer.scores[: k + 1]
    if (first[1:] == first[:-1]).any():
        return sort_best(answer.ids, answer.scores, k, fields)
    return answer.ids[:k], first[:k]


def _seeds(examples: Examples, own: Weighed) -> Seeds:
    """What examples have in a field."""
    having = own.having.astype(np.int64) if examples.weights is None else own.having
    return Seeds(own.features, having, own.sums, examples.total, given=examples.given)
