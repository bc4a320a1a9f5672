"""From examples to weights: what the examples have, the model's weights of it, and all else that scores an item."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from setsearch.arrays import (
    LATTICE,
    Floats,
    Ints,
    bincount,
    moments,
    run_lengths,
    run_starts,
    scale_for,
    sum_runs,
    to_lattice,
)
from setsearch.core.question import NOTHING_TOLD, Told
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.models import Model, Seeds
from setsearch.models.model import has_tiny_weights
from setsearch.scoring.best import Base, Best, ByIds, Names, accumulate, best, sort_best
from setsearch.scoring.postings import WeightedLists
from setsearch.scoring.smoothing import Neighbors, smooth
from setsearch.search.base_parts import NO_PARTS, NOTHING_WAITS, Neighborhood, Parts, Prior, Waiting
from setsearch.search.examples import Examples, example_entries
from setsearch.search.feature_weights import FieldWeights, Rounded, unscaled_weights
from setsearch.search.limits import Limit, limited

RIVAL = "fits another set too"  # the part that the best other set of a group takes (answers/saved/rivals.py)
OWN, NEAR = "near to few words", "used like "  # parts because of neighbors: this, and each of the nearest words
LEAST_BOUND = 2.0**-4  # weights that add less together are scaled up
TELLING = 3  # examples, of which a first pass tells whether they find one another


class Known(NamedTuple):
    """What was found with weights: the k best items of all but the `excluded`, which ascend, and all that equal one.

    Equal ones are in no order: names are read only for those who want it. `deeper`: what finds more, or None. No item
    has a smaller score than the `least`.
    """

    excluded: Sequence[int]
    k: int
    best: Best
    deeper: Callable[[int], Best | None]
    least: float


class Found(NamedTuple):
    """What the core found with weights, as far as it was asked: the best items, and the weights of the examples.

    `told`: of the examples. Their scores if each is left out are by all parts of the base, if some wait, else by
    features alone.
    """

    known: Known | None = None
    told: Told = NOTHING_TOLD
    rounded: tuple[Rounded, ...] | None = None


NOTHING_FOUND = Found()


@dataclass(eq=False)
class SeedWeights:
    """Everything that scores an item, for one set of examples. Lists have the scale of the base.

    `make_positive` makes the weights of the examples, `join` the examples with the items that joined, `make_first` the
    weights by which these were found, when needed. `corrections`: what rejected items teach (search/rejected.py).
    `own_base` has the `own_parts`, and not those that are `waiting`: the core added these to the scores of the best
    items, and few ask for those of all.
    """

    model: Model
    examples: Examples
    make_positive: Callable[[], tuple[FieldWeights, ...]]
    own_base: Base
    constant: float
    negative: tuple[FieldWeights, ...] = ()  # of negative examples
    corrections: tuple[FieldWeights, ...] = ()
    join: Callable[[], Examples] | None = None
    make_first: Callable[[], "SeedWeights"] | None = None
    own_parts: Parts = NO_PARTS
    waiting: Waiting = NOTHING_WAITS
    summed: Floats | None = None  # this base and lists, added, if that was done
    found: Found = NOTHING_FOUND

    @cached_property
    def positive(self) -> tuple[FieldWeights, ...]:
        """The weights of the examples, field by field."""
        return self.make_positive()

    @cached_property
    def joined(self) -> Examples | None:
        """The examples, and the items that joined, if some did."""
        return None if self.join is None else self.join()

    @property
    def telling(self) -> "SeedWeights":
        """The weights that tell whether the examples find one another (search/cutoff.py)."""
        if self.make_first is None or self.join is None or self.examples.count < TELLING:
            return self
        return self.make_first()

    def having(self, positive: tuple[FieldWeights, ...], **others: Any) -> "SeedWeights":
        """The same with other weights of the examples, and others; nothing that was found with the old ones stays."""
        return replace(self.whole, make_positive=lambda: positive, summed=None, found=NOTHING_FOUND, **others)

    @property
    def scale(self) -> float:
        """How many times as large as scores base and lists are."""
        return self.own_base.scale

    @property
    def whole(self) -> "SeedWeights":
        """The same with all parts in the base."""
        return self._worked_out if any(self.waiting) else self  # that kept itself would be freed late

    @cached_property
    def _worked_out(self) -> "SeedWeights":
        smoothing, prior = self.waiting
        own = replace(self, waiting=NOTHING_WAITS, found=Found(rounded=self.found.rounded))
        return (own if smoothing is None else own.smoothed(*smoothing)).with_prior(prior)

    @property
    def has_priors(self) -> bool:
        """Whether parts of the base have names, but for those because of neighbors."""
        return self.waiting.prior is not None or bool(self.own_parts.priors)

    @property
    def has_parts(self) -> bool:
        """Whether parts of the base have names."""
        return any(self.waiting) or any(self.own_parts)

    @property
    def knows_seeds(self) -> bool:
        """Whether it is known what priors give each example that is left out."""
        prior = self.waiting.prior
        if prior is not None:
            return not self.own_parts.priors and prior.of_seeds is not None
        return self.own_parts.of_seeds is not None

    @property
    def of_seeds(self) -> Callable[[], Floats] | None:
        """What priors give each example, by id, that is left out, if it is known."""
        return self.whole.own_parts.of_seeds

    @property
    def neighborhood(self) -> Neighborhood | None:
        """The parts of the base because of neighbors, if these count."""
        return self.whole.own_parts.neighborhood

    @property
    def base(self) -> Base:
        """What every item scores before the seeds are known, with all parts that have names."""
        return self.whole.own_base

    @property
    def all(self) -> tuple[FieldWeights, ...]:
        """The weights of positive and negative examples, and corrections."""
        return self.positive + self.negative + self.corrections

    @property
    def adding(self) -> tuple[Rounded | FieldWeights, ...]:
        """What tells how much entries add: the same as all weights."""
        rounded = self.found.rounded
        return (*(self.positive if rounded is None else rounded), *self.negative, *self.corrections)

    @property
    def parts(self) -> tuple[tuple[str, Floats], ...]:
        """All parts of the base with names, `(n_ids,)` each."""
        priors, _, neighborhood = self.whole.own_parts
        if neighborhood is None:
            return priors
        return ((OWN, neighborhood.own), (NEAR, neighborhood.near), *priors)

    @property
    def lists(self) -> list[WeightedLists]:
        """The lists of all weights."""
        return [weights.lists for weights in self.all]

    def reach_others(self) -> bool:
        """Whether an item that is no example has a feature of positive weight."""
        if any((own.df > self.examples.count)[own.query.weights > 0].any() for own in self.positive):
            return True
        ids = sorted(self.examples.ids)
        for own in self.positive:
            features, active = own.field.forward(ids, own.rule).concatenated_ids(), own.seeds.features
            places = np.searchsorted(active, features[np.isin(features, active)])
            having = bincount(places, minlength=len(active))
            if ((own.df > having) & (own.query.weights > 0)).any():
                return True
        return False

    def sums(self) -> Floats:
        """The sums of base and lists of all items, `(n_ids,)`."""
        whole = self.whole
        if whole.summed is None:
            sums = whole.own_base.items.copy()
            accumulate(sums, *self.lists)
            whole.summed = sums
        return whole.summed

    def scores(self) -> Floats:
        """A new array of the scores of all items, `(n_ids,)`, without the constant."""
        return self.sums() / self.scale

    def best(self, excluded: Sequence[int], k: int, names: Names, among: Ints | None = None) -> Best:
        """As `scoring.best.best`; scores are without the constant."""
        known = self.found.known
        if among is None and known is not None and (left_out := {*excluded}).issuperset(known.excluded):
            others = left_out.difference(known.excluded)  # which may be among the best
            found = known.best if known.k >= k + len(others) else known.deeper(k + len(others))
            if found is not None:
                ids, sums = sort_best(*(_without(found, others) if others else found), k, names)
                return ids, sums / self.scale
        ids, sums = best(self.sums(), excluded, k, names, among)
        return ids, sums / self.scale

    def best_scores(self, excluded: Sequence[int], k: int) -> Floats:
        """The scores of the k best items, without the constant; names of equal ones are not read."""
        return self.best(excluded, k, ByIds(len(self.own_base.items)))[1]

    def _with(self, parts: Parts, sums: Floats, *added: Floats, told: Told = NOTHING_TOLD) -> "SeedWeights":
        """The same with some parts, and what they add to the base and to the `sums`."""
        whole = self.whole
        items, sums = (reduce(np.add, added, own) for own in (whole.own_base.items, sums))
        base, found = Base(items, whole.own_base.constant, self.scale), Found(None, told, whole.found.rounded)
        return replace(whole, own_base=base, own_parts=parts, summed=sums, found=found)

    def with_prior(self, given: Prior | None) -> "SeedWeights":
        """These weights with one more part of the base."""
        if given is None:
            return self
        name, items, values, mean, spread, share, find = given
        base, sums, parts = self.base.items, self.sums(), self.whole.own_parts
        exists = base > -np.inf
        deviation = moments(sums if exists.all() else sums[exists])[1] / self.scale or 1.0
        factor, prior, of_seeds = share * deviation / spread, np.zeros(len(base)), None
        prior[items] = to_lattice(factor * (values - mean), coefficient=self.scale)
        if find is not None and not parts.priors:
            of_seeds = cache(lambda: np.nan_to_num(factor * (find() - mean)))
        parts = parts._replace(priors=(*parts.priors, (name, prior)), of_seeds=of_seeds)
        return self._with(parts, sums, prior, told=self.whole.found.told.of_features)

    def less(self, name: str, taken: Floats) -> "SeedWeights":
        """These weights with a named part of the base that takes something from the scores, `(n_ids,)`, in nats."""
        part, parts = to_lattice(-taken, coefficient=self.scale), self.whole.own_parts
        return self._with(parts._replace(priors=(*parts.priors, (name, part)), of_seeds=None), self.sums(), part)

    def smoothed(self, neighbors: Neighbors, share: float) -> "SeedWeights":
        """These weights with parts of the base that smooth the scores of all items (scoring/smoothing.py)."""
        ids, sums = np.array(self.examples.ids, np.int64), self.sums()
        seeds = ids[self.examples.weight()[: len(ids)] > 0]
        own, near = smooth(sums, neighbors, seeds, share)
        parts = Neighborhood(own, near, neighbors.factors, neighbors, share, sums, seeds)
        told = self.whole.found.told.of_features
        return self._with(self.whole.own_parts._replace(neighborhood=parts), sums, own, near, told=told)

    def minus(self, other: "SeedWeights", gamma: float, discount: float = 0.0) -> "SeedWeights":
        """v+ a_j / (a_j + discount r_j) - gamma v-: these weights, and those of negative examples.

        a_j and r_j are the shares of the examples and of the negative ones that have j. A discount is for lift, whose
        entries add weight times value.
        """
        scale, pairs = min(self.scale, other.scale), zip(self.positive, other.positive, strict=True)
        positive = tuple(own.discounted(less, discount).scaled(own.coefficient, scale) for own, less in pairs)
        negative = tuple(own.scaled(-gamma * own.coefficient, scale) for own in other.positive)
        return self.having(positive, negative=negative, own_base=self.base.at_scale(scale, self.model.rule.binary))

    def corrected(self, share: float, corrections: Sequence[FieldWeights], bias: float) -> "SeedWeights":
        """`share` times these weights, plus corrections; the bias, on the lattice, is a part of the constant."""
        positive = tuple(own.scaled(share * own.coefficient, 1.0) for own in self.positive)
        learned = tuple(own.scaled(own.coefficient, 1.0) for own in corrections)
        items, existing = self.base.items.copy(), self.base.items > -np.inf  # infinity times a share of 0 is no number
        items[existing] = to_lattice(items[existing], coefficient=share / self.scale)
        base, parts = Base(items, self.base.constant * share), self.whole.own_parts
        priors = tuple((name, to_lattice(prior, coefficient=share / self.scale)) for name, prior in parts.priors)
        changed = {"own_base": base, "own_parts": parts._replace(priors=priors), "make_first": None}
        constant = round(self.constant * share * LATTICE) / LATTICE + bias
        return self.having(positive, corrections=learned, constant=constant, **changed)


def _without(found: Best, others: set[int]) -> Best:
    """Some items but for a few others."""
    kept = np.array([id not in others for id in found[0].tolist()], bool)
    return found[0][kept], found[1][kept]


def seed_weights(
    fields: Fields, examples: Examples, model: Model, limits: Sequence[Limit] | None = None
) -> SeedWeights:
    """The weights of what the `limits` of the fields, or else the model's budget, leave of all that the examples have.

    All weights are on the lattice.
    """
    base, n_items = fields.base(model, examples.total), fields.items.size
    unscaled, lengths = [], []
    for place, own_field in enumerate(fields.all):
        seeds = _seeds(own_field, examples, model)
        seeds = limited(own_field, seeds, model, n_items, None if limits is None else limits[place])
        unscaled.append(unscaled_weights(own_field, seeds, model, n_items))
        of_lengths = getattr(model, "of_lengths", None)
        if of_lengths is not None:
            lengths.append(own_field.coefficient * of_lengths(own_field.totals, unscaled[-1].seeds))
    is_binary = model.rule.binary
    scale = _scale(model, base, unscaled, lengths)
    weights = tuple(own.scaled(own.coefficient, scale) for own in unscaled)
    constant = round(base.constant * LATTICE * scale) / LATTICE / scale
    for own in unscaled:
        if own.query.constants.any():
            constants = to_lattice(own.query.constants, coefficient=own.coefficient * scale)
            constant += float(np.add.reduce(constants)) / scale
    base = base.at_scale(scale, is_binary or model.rule.counted)
    for added in lengths:
        base = Base(base.items + to_lattice(added, coefficient=scale), base.constant, scale)
    return SeedWeights(model, examples, lambda: weights, base, constant)


def _scale(model: Model, base: Base, weights: Sequence[FieldWeights], lengths: Sequence[Floats]) -> float:
    """The power of two by which weights are multiplied: 1, unless the model makes them very small."""
    binary = model.rule.binary or model.rule.counted
    bound = base.largest_absolute / base.scale
    bound += sum(abs(own.coefficient) * own.unrounded.bound for own in weights)
    bound += sum(float(np.abs(added).max(initial=0.0)) for added in lengths)
    return scale_for(bound, binary) if has_tiny_weights(model) or bound < LEAST_BOUND else 1.0


def _seeds(field: Field, examples: Examples, model: Model) -> Seeds:
    """What the examples have in one field."""
    examples = examples.within(field)
    if not examples.total:
        return Seeds(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), 1)
    which, features, values = example_entries(field, examples, model.rule)
    order = np.argsort(features, kind="stable")
    features = features[order]
    begin = run_starts(features)
    having: Ints | Floats = run_lengths(begin, len(features))
    if examples.weights is not None and len(begin):
        weights = examples.weights[which]
        having, values = sum_runs(weights[order], begin), values * weights
    sums = sum_runs(values[order], begin) if len(begin) else np.zeros(0)
    seeds = Seeds(features[begin], having, sums, examples.total, given=examples.given)
    if not model.rule.counted:
        return seeds
    cf = field.frequencies()[1]
    return replace(seeds, cf=cf[seeds.features], cf_of_all=int(cf.sum()))
