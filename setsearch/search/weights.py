"""From examples to weights: what the examples have, the model's weights, and the lists that score every item."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from setsearch.arrays import LATTICE, Floats, Ints, moments, offsets, run_lengths, run_starts, scale_for, to_lattice
from setsearch.errors import InvalidParameter, NoSeeds
from setsearch.models import Model, Query, Seeds
from setsearch.models.model import has_tiny_weights
from setsearch.models.values import PRESENCE
from setsearch.scoring.base import Base
from setsearch.scoring.best import accumulate
from setsearch.scoring.kernels import ones
from setsearch.scoring.postings import PostingArrays, WeightedLists
from setsearch.search.fields import Field, Fields
from setsearch.search.request import SeedNames, text_list

WEIGHT_LATTICE, LARGEST_WEIGHT = 1024, 1000  # of seeds
LEAST_BOUND = 2.0**-4  # of what weights may add together, for the same

_INT, _FLOAT = np.dtype(np.int64), np.dtype(np.float64)


@dataclass(slots=True)
class Examples:
    """The examples of a set: `ids` of items, and `texts`, the counted features of things that the index lacks.

    `weights` are those of the ids (ascending if there are weights), then of the texts: multiples of 1/1024, so that
    their sums are exact; all are 1 if there are none.
    """

    ids: Sequence[int]
    texts: Sequence[Mapping[str, int]] = ()
    weights: Floats | None = None
    has_features: bool = False  # whether one of the texts is a set of features
    like: Sequence[str] = ()  # the first texts as they were given
    given: float | None = None  # the sum of weights without items that joined
    # Words without contexts, by their stored id, with their counted documents: for the field of documents.
    rare: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.ids) + len(self.texts) + len(self.rare)

    @property
    def total(self) -> float:
        """N: the sum of their weights."""
        return self.count if self.weights is None else float(self.weights.sum())

    def weight(self) -> Floats:
        """The weight of each."""
        return np.ones(self.count) if self.weights is None else self.weights

    def within(self, field: Field) -> "Examples":
        """The examples that a field knows: contexts know nothing of rare words."""
        if not self.rare:
            return self
        if not getattr(field.features, "are_contexts", False):
            return replace(self, texts=[*self.texts, *self.rare.values()], rare={})
        weights = None if self.weights is None else self.weights[: -len(self.rare)]
        lost = len(self.rare) if self.weights is None else float(self.weights[-len(self.rare) :].sum())
        return replace(self, weights=weights, rare={}, given=None if self.given is None else self.given - lost)

    def joined_by(self, ids: Sequence[int], weight: float) -> "Examples":
        """These examples, and other items with a weight."""
        every = np.array([*self.ids, *ids], np.int64)
        weights, order = self.weight(), np.argsort(every)
        of_ids = np.append(weights[: len(self.ids)], np.full(len(ids), weight))
        of_texts = weights[len(self.ids) :]
        return replace(self, ids=every[order].tolist(), weights=np.append(of_ids[order], of_texts), given=self.total)


def find_examples(fields: Fields, seeds: SeedNames, like: Iterable[str] = (), having: Iterable[str] = ()) -> Examples:
    """The examples as the index knows them; raises NoSeeds, InvalidParameter."""
    names = text_list(list(seeds), "seeds")
    rare = fields.without_contexts(names)
    ids = fields.resolve_all([name for name in names if name not in rare])
    given_texts = text_list(like, "like")
    texts = [fields.count_terms(text) for text in given_texts]
    features = text_list(having, "having")
    texts += [fields.resolve_features(features)] if features else []
    if not ids and not texts:
        raise fields.no_seeds()
    counted = {id: fields.counted_documents(id) for id in rare.values()}
    examples = Examples(ids, texts, has_features=bool(features), like=given_texts, rare=counted)
    given = {name: seed_weight(name, weight) for name, weight in seeds.items()} if isinstance(seeds, Mapping) else {}
    if all(weight == 1 for weight in given.values()):
        return examples
    known = {name: rare[name] if name in rare else fields.resolve(name) for name in given}
    by_id: dict[tuple[bool, int], float] = {}
    for name, weight in given.items():
        if by_id.setdefault((name in rare, known[name]), weight) != weight:
            raise InvalidParameter(f"{name!r} is another name of a seed that has another weight; give it once")
    weights = [by_id[False, id] for id in sorted(ids)] + [1.0 for _ in texts] + [by_id[True, id] for id in counted]
    examples.weights = np.array(weights)
    if not examples.total:
        raise NoSeeds("the weights of all seeds are 0; give one of them a larger one")
    examples.ids = sorted(ids)
    return examples


def seed_weight(name: str, weight: float) -> float:
    """The weight of a seed as a multiple of 1/1024; raises InvalidParameter."""
    is_number = isinstance(weight, Real) and not isinstance(weight, bool)
    if not is_number or not 0 <= weight <= LARGEST_WEIGHT:
        raise InvalidParameter(f"the weight of {name!r} is a number from 0 to {LARGEST_WEIGHT}, not {weight!r}")
    return round(float(weight) * WEIGHT_LATTICE) / WEIGHT_LATTICE


class Limit(NamedTuple):
    """What counts of a field: features that `always` do (ascending), and others with `most` postings together."""

    most: int
    always: Ints


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
    """Everything that scores an item, for one set of examples. Base and lists are `scale` times as large as scores.

    `priors` are parts of the base with names, `(n_ids,)` each; `joined`: the examples and what joined them.
    """

    model: Model
    examples: Examples
    positive: tuple[FieldWeights, ...]
    base: Base
    constant: float
    negative: tuple[FieldWeights, ...] = ()  # of negative examples
    scale: float = 1.0
    priors: tuple[tuple[str, Floats], ...] = ()
    joined: Examples | None = None

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

    def with_prior(self, name: str, items: Ints, values: Floats, share: float) -> "SeedWeights":
        """A named part of the base for some items: share sd(scores) z(values), where z is in standard deviations.

        If all scores are equal, sd(scores) is taken as 1.
        """
        mean, spread = moments(values)
        if not spread:
            return self
        present = self.scores()[self.base.items > -np.inf]
        prior = np.zeros(len(self.base.items))
        amounts = share * (moments(present)[1] or 1.0) / spread * (values - mean)
        prior[items] = to_lattice(amounts, coefficient=self.scale)
        base = Base(self.base.items + prior, self.base.constant, self.scale)
        return self._replace(base=base, priors=(*self.priors, (name, prior)))

    def minus(self, other: "SeedWeights", gamma: float) -> "SeedWeights":
        """v+ - gamma v-: these weights minus gamma times those of negative examples."""
        binary, scale = self.model.rule.binary, min(self.scale, other.scale)
        positive = tuple(_scaled(own, own.coefficient, scale, binary) for own in self.positive)
        negative = tuple(_scaled(own, -gamma * own.coefficient, scale, binary) for own in other.positive)
        base = _scaled_base(self.base, self.scale, scale, binary)
        return self._replace(positive=positive, negative=negative, base=base, scale=scale)


def seed_weights(
    fields: Fields, examples: Examples, model: Model, limits: Sequence[Limit] | None = None
) -> SeedWeights:
    """The weights of everything that the examples have, or of what the `limits` of the fields leave; base and constant.

    All weights are on the lattice.
    """
    base = fields.base(model, examples.total)
    unscaled, lengths = [], []
    for place, own_field in enumerate(fields.all):
        seeds = _seeds(own_field, examples, model)
        if limits is not None:
            seeds = _strongest(own_field, seeds, model, fields.items.size, limits[place])
        postings = own_field.postings(seeds.features, model.rule)
        query = model.query(seeds, postings.lengths, fields.items.size)
        lists = _unrounded_lists(postings, query)
        unscaled.append(FieldWeights(own_field, seeds, query, lists, lists, own_field.coefficient))
        of_lengths = getattr(model, "of_lengths", None)
        if of_lengths is not None:
            lengths.append(own_field.coefficient * of_lengths(own_field.totals(), seeds))
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
    examples = examples.within(field)
    if not examples.total:
        return Seeds(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 1)
    if model.rule == PRESENCE and not examples.texts and examples.weights is None:
        return _binary_seeds(field.forward(examples.ids, PRESENCE), len(examples.ids))
    which, features, values = example_entries(field, examples, model)
    order = np.argsort(features, kind="stable")
    features = features[order]
    begin = run_starts(features)
    having: Ints | Floats = run_lengths(begin, len(features))
    if examples.weights is not None and len(begin):
        weights = examples.weights[which]
        having, values = np.add.reduceat(weights[order], begin), values * weights
    sums = np.add.reduceat(values[order], begin) if len(begin) else np.zeros(0)
    seeds = Seeds(features[begin], having, sums, examples.total, given=examples.given)
    if not model.rule.counted:
        return seeds
    cf = field.frequencies()[1]
    return replace(seeds, cf=cf[seeds.features], cf_of_all=int(cf.sum()))


def strongest(seeds: Seeds, stored: Ints, model: Model, n_items: int, limit: Limit) -> npt.NDArray[np.bool_]:
    """Which features always count, or have the largest weights while their lists, of lengths `stored`, are few.

    Weights are estimated with `stored` as document frequencies: those of a rule need the values of all lists. Equal
    weights stay together, so that the order of the features does not matter. Lists longer than the limit are left out.
    """
    always = np.isin(seeds.features, limit.always)
    weights = to_lattice(model.query(seeds, stored, n_items).weights)
    weights[always | (stored > limit.most)] = 0.0
    order = np.argsort(-weights, kind="stable")
    beyond = np.cumsum(stored[order]) > limit.most
    least = max(float(weights[order[np.argmax(beyond)]]), 0.0) if beyond.any() else 0.0
    return always | (weights > least)


def _strongest(field: Field, seeds: Seeds, model: Model, n_items: int, limit: Limit) -> Seeds:
    """The features that a limit leaves."""
    stored = field.frequencies()[0][seeds.features]
    kept = strongest(seeds, stored, model, n_items, limit)
    return replace(seeds, features=seeds.features[kept], having=seeds.having[kept], sums=seeds.sums[kept])


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
