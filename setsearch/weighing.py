"""From examples to weights: what the examples have, what the model makes of it, which lists then score every item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from setsearch.fields import Field, Fields
from setsearch.kernels import Floats
from setsearch.models import Model, Query, Seeds
from setsearch.postings import Ints, run_starts
from setsearch.scoring import Base, Part, to_lattice


@dataclass(frozen=True)
class Examples:
    """A set by its examples: `ids` of items, and `texts`, the counted features of things that the index lacks."""

    ids: Sequence[int]
    texts: Sequence[Mapping[str, int]] = ()

    @property
    def count(self) -> int:
        """N."""
        return len(self.ids) + len(self.texts)


@dataclass(frozen=True)
class FieldWeights:
    """One field, weighed: what the seeds have there, and the weight of each active feature."""

    field: Field
    seeds: Seeds
    part: Part
    entries: tuple[Ints, Ints, Floats]  # (seed, place of the feature, value) of every entry of the seeds


@dataclass(frozen=True)
class Weighed:
    """A set of examples, weighed: everything that scores an item."""

    model: Model
    examples: Examples
    fields: tuple[FieldWeights, ...]
    base: Base
    constant: float
    against: tuple[FieldWeights, ...] = ()  # what negative examples take away

    @property
    def scoring(self) -> tuple[FieldWeights, ...]:
        """Everything that depends on the examples."""
        return self.fields + self.against

    def less(self, other: "Weighed", gamma: float) -> "Weighed":
        """v+ - gamma v-: these weights, less a share of those of negative examples."""
        binary = self.model.rule.binary
        against = [
            replace(own, part=Part(own.part.postings, -to_lattice(gamma * own.part.weights, binary)))
            for own in other.fields
        ]
        return replace(self, against=tuple(against))


def weigh(fields: Fields, examples: Examples, model: Model) -> Weighed:
    """The weights of everything that the examples have, on the lattice; base and constant."""
    weighed, constants = [], [fields.base(model, examples.count).constant]
    for field in fields.all:
        seeds, entries = _seeds(fields, field, examples, model)
        postings = field.snapshot.active_postings(fields.cursor, seeds.features, model.rule)
        query = model.query(seeds, postings.lengths, fields.items.size)
        weights = to_lattice(field.weight * query.weights, model.rule.binary)
        weighed.append(FieldWeights(field, seeds, Part(postings, weights), entries))
        constants += (field.weight * query.constants).tolist()
    constant = float(to_lattice(np.array(constants)).sum())
    return Weighed(model, examples, tuple(weighed), fields.base(model, examples.count), constant)


def scores_when_left_out(fields: Fields, weighed: Weighed) -> Floats:
    """The score that each of at least two examples has when the others are the set: `(n_examples,)`.

    Bases and constants are not in it: it is meant for models that have none.
    """
    model, count = weighed.model, weighed.examples.count
    scores = np.zeros(count)
    for own in weighed.fields:
        seeds, (which, places, values) = own.seeds, own.entries
        df = own.part.postings.lengths
        for seed in range(count):
            mine = which == seed
            having, sums = seeds.having.copy(), seeds.sums.copy()
            having[places[mine]] -= 1
            sums[places[mine]] -= values[mine]
            others: Query = model.query(Seeds(seeds.features, having, sums, count - 1), df, fields.items.size)
            scores[seed] += own.field.weight * float(others.weights[places[mine]] @ values[mine])
    return scores


def _seeds(fields: Fields, field: Field, examples: Examples, model: Model) -> tuple[Seeds, tuple[Ints, Ints, Floats]]:
    """What the examples have in one field, and their single entries."""
    ids = np.array(sorted(examples.ids), np.int64)
    stored = field.snapshot.features_of(fields.cursor, ids, model.rule)
    which = np.repeat(np.arange(len(ids)), stored.lengths)
    features, values = stored.together().astype(np.int64), stored.values_together()
    if examples.texts:
        new = [field.snapshot.entries_of(fields.cursor, text, model.rule) for text in examples.texts]
        which = np.concatenate([which, np.repeat(len(ids) + np.arange(len(new)), [len(f) for f, _ in new])])
        features = np.concatenate([features, *(own for own, _ in new)])
        values = np.concatenate([values, *(own for _, own in new)])
    order = np.argsort(features, kind="stable")
    in_order = features[order]
    begin = run_starts(in_order)
    having = np.diff(begin, append=len(in_order))
    sums = np.add.reduceat(values[order], begin) if len(begin) else np.zeros(0)
    places = np.empty(len(order), np.int64)
    places[order] = np.repeat(np.arange(len(begin)), having)
    return Seeds(in_order[begin], having, sums, examples.count), (which, places, values)
