"""From examples to weights: what the examples have, the model's weights, and the lists that score every item."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from setsearch.arrays import LATTICE, Floats, Ints, offsets, run_lengths, run_starts, scale_for, to_lattice
from setsearch.models import Model, Query, Seeds
from setsearch.models.model import has_tiny_weights
from setsearch.models.values import PRESENCE
from setsearch.scoring.base import Base
from setsearch.scoring.best import accumulate
from setsearch.scoring.kernels import ones
from setsearch.scoring.postings import PostingArrays, WeightedLists
from setsearch.search.fields import Field, Fields
from setsearch.search.request import text_list
from setsearch.search.results import Contribution

LEAST_BOUND = 2.0**-4  # of what weights may add together, for the same

_INT, _FLOAT = np.dtype(np.int64), np.dtype(np.float64)


@dataclass(slots=True)
class Examples:
    """The examples of a set: `ids` of items, and `texts`, the counted features of things that the index lacks."""

    ids: Sequence[int]
    texts: Sequence[Mapping[str, int]] = ()

    @property
    def count(self) -> int:
        """N."""
        return len(self.ids) + len(self.texts)


def find_examples(fields: Fields, seeds: list[str], like: Iterable[str] = (), having: Iterable[str] = ()) -> Examples:
    """The examples as the index knows them; raises NoSeeds."""
    ids = fields.resolve_all(seeds)
    texts = [fields.count_terms(text) for text in text_list(like, "like")]
    features = text_list(having, "having")
    texts += [fields.resolve_features(features)] if features else []
    if not ids and not texts:
        raise fields.no_seeds()
    return Examples(ids, texts)


class FieldWeights(NamedTuple):
    """The weights of one field: what the seeds have there, the model's answer, and the lists that score.

    The weights of `lists` are those of `unrounded`, the model's, times `coefficient` (of the field, negative for
    negative examples) and `scale` (a power of two), on the lattice.
    """

    field: Field
    seeds: Seeds
    query: Query
    unrounded: WeightedLists
    lists: WeightedLists
    coefficient: float = 1.0
    scale: float = 1.0

    @property
    def df(self) -> Ints:
        """Document frequencies of the active features."""
        return self.lists.postings.lengths

    def added(self, positions: Ints, values: Floats, binary: bool) -> Floats:
        """What entries add, given their values and the positions of their features among the active ones."""
        coefficient = self.coefficient * self.scale
        if self.query.table is not None:
            return to_lattice(self.query.table(positions, values), coefficient=coefficient) / self.scale
        return to_lattice(self.query.weights, binary, coefficient)[positions] * values / self.scale


class SeedWeights(NamedTuple):
    """Everything that scores an item, for one set of examples. Base and lists are `scale` times as large as scores."""

    model: Model
    examples: Examples
    positive: tuple[FieldWeights, ...]
    base: Base
    constant: float
    negative: tuple[FieldWeights, ...] = ()  # of negative examples
    scale: float = 1.0

    @property
    def all(self) -> tuple[FieldWeights, ...]:
        """The weights of positive and negative examples."""
        return self.positive + self.negative

    @property
    def lists(self) -> list[WeightedLists]:
        """The lists of all weights."""
        return [weights.lists for weights in self.all]

    def scores(self) -> Floats:
        """A new array of the scores of all items, `(n_ids,)`, without the constant."""
        scores = self.base.items.copy()
        accumulate(scores, *self.lists)
        return scores if self.scale == 1 else scores / self.scale

    def minus(self, other: "SeedWeights", gamma: float) -> "SeedWeights":
        """v+ - gamma v-: these weights minus gamma times those of negative examples."""
        binary, scale = self.model.rule.binary, min(self.scale, other.scale)
        positive = tuple(_scaled(own, own.coefficient, scale, binary) for own in self.positive)
        negative = tuple(_scaled(own, -gamma * own.coefficient, scale, binary) for own in other.positive)
        base = _scaled_base(self.base, self.scale, scale, binary)
        return self._replace(positive=positive, negative=negative, base=base, scale=scale)


def seed_weights(fields: Fields, examples: Examples, model: Model) -> SeedWeights:
    """The weights of everything that the examples have, on the lattice; base and constant."""
    base = fields.base(model, examples.count)
    unscaled, lengths = [], []
    for field in fields.all:
        seeds = _seeds(field, examples, model)
        postings = field.postings(seeds.features, model.rule)
        query = model.query(seeds, postings.lengths, fields.items.size)
        lists = _unrounded_lists(postings, query)
        unscaled.append(FieldWeights(field, seeds, query, lists, lists, field.coefficient))
        of_lengths = getattr(model, "of_lengths", None)
        if of_lengths is not None:
            lengths.append(field.coefficient * of_lengths(field.totals(), seeds))
    binary = model.rule.binary or model.rule.counted
    scale = _scale(model, base, unscaled, lengths)
    weights = tuple(_scaled(own, own.coefficient, scale, model.rule.binary) for own in unscaled)
    constant = round(base.constant * LATTICE * scale) / LATTICE / scale
    for own in unscaled:
        constant += float(np.add.reduce(to_lattice(own.query.constants, coefficient=own.coefficient * scale))) / scale
    base = _scaled_base(base, base.scale, scale, binary)
    for added in lengths:
        base = Base(base.items + to_lattice(added, coefficient=scale), base.constant, scale)
    return SeedWeights(model, examples, weights, base, constant, scale=scale)


def _scale(model: Model, base: Base, weights: Sequence[FieldWeights], lengths: Sequence[Floats]) -> float:
    """The power of two by which weights are multiplied: 1, unless the model makes them very small."""
    binary = model.rule.binary or model.rule.counted
    bound = base.largest_absolute / base.scale
    bound += sum(abs(own.coefficient) * own.unrounded.bound for own in weights)
    bound += sum(float(np.abs(added).max(initial=0.0)) for added in lengths)
    return scale_for(bound, binary) if has_tiny_weights(model) or bound < LEAST_BOUND else 1.0


def _unrounded_lists(postings: PostingArrays, query: Query) -> WeightedLists:
    """Lists and weights. If the model has a table, what each entry adds becomes its value, and weights are 1."""
    if query.table is None:
        return WeightedLists(postings, query.weights)
    positions = np.repeat(np.arange(len(query.weights)), postings.lengths)
    added = query.table(positions, postings.concatenated_values())
    starts = offsets(postings.lengths)
    largest = float(np.abs(added).max(initial=0.0))
    lists = PostingArrays(postings.concatenated_ids(), starts[:-1], starts[1:], added, largest=largest)
    return WeightedLists(lists, np.ones(len(query.weights)))


def _scaled(own: FieldWeights, coefficient: float, scale: float, binary: bool) -> FieldWeights:
    """These weights with another coefficient and scale."""
    postings, weights = own.unrounded
    if own.query.table is None:
        lists = WeightedLists(postings, to_lattice(weights, binary, coefficient * scale))
    else:
        assert postings.values is not None
        added = to_lattice(postings.values.astype(float), coefficient=coefficient * scale)
        largest = float(np.abs(added).max(initial=1.0))
        lists = WeightedLists(postings._replace(values=added, largest=largest), weights)
    return own._replace(lists=lists, coefficient=coefficient, scale=scale)


def _scaled_base(base: Base, scale: float, wanted: float, binary: bool) -> Base:
    """A base at another scale."""
    if scale == wanted:
        return base
    return Base(to_lattice(base.items, binary, wanted / scale), base.constant, wanted)


def _seeds(field: Field, examples: Examples, model: Model) -> Seeds:
    """What the examples have in one field."""
    if model.rule == PRESENCE and not examples.texts:
        return _binary_seeds(field.forward(examples.ids, PRESENCE), len(examples.ids))
    _, features, values = example_entries(field, examples, model)
    order = np.argsort(features, kind="stable")
    features = features[order]
    begin = run_starts(features)
    having = run_lengths(begin, len(features))
    sums = np.add.reduceat(values[order], begin) if len(begin) else np.zeros(0)
    seeds = Seeds(features[begin], having, sums, examples.count)
    if not model.rule.counted:
        return seeds
    cf = field.frequencies()[1]
    return replace(seeds, cf=cf[seeds.features], cf_of_all=int(cf.sum()))


def _binary_seeds(stored: PostingArrays, count: int) -> Seeds:
    """What seeds have if all values are 1."""
    if count == 1:  # as stored: ascending, each once
        ids = stored.ids[stored.starts[0] : stored.ends[0]]
        # Copies, since a model may work in place; np.ones is slower.
        return Seeds(ids.astype(np.int64), ones(len(ids), _INT).copy(), ones(len(ids), _FLOAT).copy(), 1)
    ids = stored.concatenated_ids()
    ids.sort()
    begin = run_starts(ids)
    having = run_lengths(begin, len(ids))
    return Seeds(ids.take(begin).astype(np.int64), having, having.astype(float), count)


def example_entries(field: Field, examples: Examples, model: Model) -> tuple[Ints, Ints, Floats]:
    """(number of the example, feature, value) of every entry of the examples."""
    stored = field.forward(examples.ids, model.rule)
    which = np.repeat(np.arange(len(examples.ids)), stored.lengths)
    features, values = stored.concatenated_ids().astype(np.int64), stored.concatenated_values()
    if examples.texts:
        new = [field.new_item(text, model.rule) for text in examples.texts]
        numbers = len(examples.ids) + np.arange(len(new))
        which = np.concatenate([which, np.repeat(numbers, [len(own) for own, _ in new])])
        features = np.concatenate([features, *(own for own, _ in new)])
        values = np.concatenate([values, *(own for _, own in new)])
    return which, features, values


def contributions(fields: Fields, weights: SeedWeights, items: list[int]) -> dict[int, tuple[Contribution, ...]]:
    """What the active features add to the score of each item, the largest first."""
    order, binary = np.array(sorted(items), np.int64), weights.model.rule.binary
    added: dict[int, dict[tuple[str, str | None], float]] = {item: {} for item in items}
    for own in weights.all:
        active = own.seeds.features
        stored = own.field.forward(items, weights.model.rule)
        features, values = stored.concatenated_ids().astype(np.int64), stored.concatenated_values()
        positions = np.searchsorted(active, features)
        shared = np.append(active, -1)[positions] == features
        owners = np.repeat(order, stored.lengths)[shared]
        positions, values = positions[shared], values[shared]
        names = own.field.describe_features(active[np.unique(positions)].tolist())
        amounts = own.added(positions, values, binary)
        for item, position, amount in zip(owners.tolist(), positions.tolist(), amounts.tolist(), strict=True):
            name = names[int(active[position])]
            added[item][name] = added[item].get(name, 0.0) + amount
    return {
        item: tuple(
            Contribution(name, weight, title)
            for (name, title), weight in sorted(parts.items(), key=lambda part: (-part[1], part[0][0]))
        )
        for item, parts in added.items()
    }
