"""The weights of the features of one field: what entries of these features add to scores."""

from typing import NamedTuple

import numpy as np

from setsearch.arrays import Floats, Ints, offsets, repeat, to_lattice
from setsearch.memory.field import Field
from setsearch.models import Model, Query, Seeds
from setsearch.models.model import ask_query
from setsearch.models.values import ValueRule
from setsearch.scoring.postings import PostingArrays, WeightedLists


class FieldWeights(NamedTuple):
    """The weights of one field: what the seeds have there, the model's answer, and the lists that score.

    The weights of `lists` are those of `unrounded`, the model's, times `coefficient` (of the field, negative for
    negative examples) and `scale` (a power of two), on the lattice. `discount` is part of `query` and `unrounded`.
    """

    field: Field
    seeds: Seeds
    query: Query
    unrounded: WeightedLists
    lists: WeightedLists
    rule: ValueRule
    coefficient: float = 1.0
    scale: float = 1.0
    discount: Floats | None = None  # factors of the model's weights, because of rejected items

    @property
    def df(self) -> Ints:
        """Document frequencies of the active features."""
        return self.lists.postings.lengths

    @property
    def features(self) -> Ints:
        """The active features, ascending."""
        return self.seeds.features

    def added(self, positions: Ints, values: Floats) -> Floats:
        """What entries add, given their values and the positions of their features among the active ones."""
        coefficient = self.coefficient * self.scale
        if self.query.table is not None:
            return to_lattice(self.query.table(positions, values), coefficient=coefficient) / self.scale
        return to_lattice(self.query.weights, self.rule.binary, coefficient)[positions] * values / self.scale

    def scaled(self, coefficient: float, scale: float) -> "FieldWeights":
        """These weights with another coefficient and scale."""
        postings, weights = self.unrounded
        if self.query.table is None:
            lists = WeightedLists(postings, to_lattice(weights, self.rule.binary, coefficient * scale))
        else:
            assert postings.values is not None
            added = to_lattice(postings.values.astype(float), coefficient=coefficient * scale)
            largest = float(np.abs(added).max(initial=1.0))
            lists = WeightedLists(postings._replace(values=added, largest=largest), weights)
        return self._replace(lists=lists, coefficient=coefficient, scale=scale)

    def discounted(self, negative: "FieldWeights", discount: float) -> "FieldWeights":
        """These weights, where features that negative examples have lose a part."""
        if not discount:
            return self
        having = np.zeros(len(self.features))
        _, places, others = np.intersect1d(self.features, negative.features, True, return_indices=True)
        having[places] = negative.seeds.having[others]
        accepted, rejected = self.seeds.having / self.seeds.count, having / negative.seeds.count
        total = accepted + discount * rejected
        kept = np.divide(accepted, total, out=np.ones(len(total)), where=accepted > 0)
        query = self.query._replace(weights=self.query.weights * kept)
        lists = self.unrounded._replace(weights=self.unrounded.weights * kept)
        return self._replace(query=query, unrounded=lists, discount=kept)


class Rounded(NamedTuple):
    """The weights of a field that the core has made, on the lattice: what entries add, without anything else."""

    field: Field
    features: Ints
    weights: Floats
    rule: ValueRule

    def added(self, positions: Ints, values: Floats) -> Floats:
        """As that of FieldWeights."""
        return self.weights[positions] * values


def field_weights(field: Field, seeds: Seeds, model: Model, n_items: int) -> FieldWeights:
    """The weights of one field, at scale 1."""
    return unscaled_weights(field, seeds, model, n_items).scaled(field.coefficient, 1.0)


def unscaled_weights(field: Field, seeds: Seeds, model: Model, n_items: int) -> FieldWeights:
    """The weights of one field, not yet on the lattice; features that no item has do not count."""
    postings = field.postings(seeds.features, model.rule)
    counting = postings.lengths > 0  # a new text may have others, of which models have no statistics
    if not counting.all():
        seeds = seeds.some(counting)
        postings = field.postings(seeds.features, model.rule)
    query = ask_query(model, seeds, postings.lengths, n_items)
    lists = weighted_lists(postings, query)
    return FieldWeights(field, seeds, query, lists, lists, model.rule, field.coefficient)


def weighted_lists(postings: PostingArrays, query: Query) -> WeightedLists:
    """Lists and weights. If the model has a table, what each entry adds becomes its value, and weights are 1."""
    if query.table is None:
        return WeightedLists(postings, query.weights)
    positions = repeat(np.arange(len(query.weights)), postings.lengths)
    added = query.table(positions, postings.concatenated_values())
    starts = offsets(postings.lengths)
    largest = float(np.abs(added).max(initial=0.0))
    lists = PostingArrays(postings.concatenated_ids(), starts[:-1], starts[1:], added, largest=largest)
    return WeightedLists(lists, np.ones(len(query.weights)))
