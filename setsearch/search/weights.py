"""From examples to weights: what the examples have, the model's weights of it, and all else that scores an item."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

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
from setsearch.scoring.smoothing import Neighbors, Smoothing, smooth
from setsearch.search.base_parts import Neighborhood, Prior
from setsearch.search.examples import Examples, example_entries
from setsearch.search.feature_weights import FieldWeights, Rounded, unscaled_weights
from setsearch.search.limits import Limit, limited

RIVAL = "fits another set too"  # the part that the best other set of a group takes (answers/saved/rivals.py)
OWN, NEAR = "near to few words", "used like "  # parts because of neighbors: this, and each of the nearest words
LEAST_BOUND = 2.0**-4  # weights that add less together are scaled up


class Known(NamedTuple):
    """What was found with weights: the k best items of all but the `excluded`, which ascend, and all that equal one.

    Equal ones are in no order: names are read only for those who want it. `deeper`: what finds more, or None. No item
    has a smaller score than the `least`.
    """

    excluded: list[int]
    k: int
    best: Best
    deeper: Callable[[int], Best | None]
    least: float


@dataclass(frozen=True, eq=False)
class SeedWeights:
    """Everything that scores an item, for one set of examples. Lists have the scale of the base.

    `make_positive` makes the weights of the examples, `join` the examples with the items that joined, when needed.
    `named` are parts of the base with names, `(n_ids,)` each; `corrections`: what rejected items teach
    (search/rejected.py).
    """

    model: Model
    examples: Examples
    make_positive: Callable[[], tuple[FieldWeights, ...]]
    own_base: Base  # without what `smoothing` adds
    constant: float
    negative: tuple[FieldWeights, ...] = ()  # of negative examples
    corrections: tuple[FieldWeights, ...] = ()
    join: Callable[[], Examples] | None = None
    beside: bool = False  # whether these are a group that is shown beside the list of all examples

    # Parts of the base.
    named: tuple[tuple[str, Floats], ...] = ()
    of_named: Callable[[], Floats] | None = None  # what these give each example, by id, that is left out, if known
    smoothing: Smoothing | None = None  # that is worked out when its parts are needed
    worked_out: Neighborhood | None = None  # whose parts are in the base
    waiting: Prior | None = None  # that is worked out, after `smoothing`, when its part is needed

    # What was found with these weights, if it was.
    rounded: tuple[Rounded, ...] | None = None  # the weights of the examples, as the core told them
    summed: Floats | None = None  # base and lists, added, without what `smoothing` adds
    known: Known | None = None
    told: Told = NOTHING_TOLD  # of the examples by the core; scores of those that are left out are by features
    left_out_of_all: Floats | None = None  # such scores by all parts
    decided: tuple[npt.NDArray[np.bool_], bool] | None = None  # which items belong, and whether that is told

    @cached_property
    def positive(self) -> tuple[FieldWeights, ...]:
        """The weights of the examples, field by field."""
        return self.make_positive()

    @cached_property
    def joined(self) -> Examples | None:
        """The examples, and the items that joined, if some did."""
        return None if self.join is None else self.join()

    def having(self, **parts: Any) -> "SeedWeights":
        """These weights with other parts; nothing that was found with the old ones stays."""
        if self.waiting is not None:
            return self.whole.having(**parts)
        if "positive" in parts:
            own = parts.pop("positive")
            parts |= {"make_positive": lambda: own, "rounded": None}
        if "base" in parts:
            parts = {"own_base": parts.pop("base"), "smoothing": None, "worked_out": self.neighborhood, **parts}
        return replace(self, **{"known": None, "left_out_of_all": None, "told": NOTHING_TOLD, **parts})

    @property
    def scale(self) -> float:
        """How many times as large as scores base and lists are."""
        return self.own_base.scale

    @property
    def whole(self) -> "SeedWeights":
        """The same with a prior that has been worked out."""
        return self if self.waiting is None else self._with_waiting  # that kept itself would be freed late

    @cached_property
    def _with_waiting(self) -> "SeedWeights":
        return replace(self, waiting=None, known=None).with_prior(self.waiting)

    @property
    def has_priors(self) -> bool:
        """Whether parts of the base have names, but for those because of neighbors."""
        return self.waiting is not None or bool(self.named)

    @property
    def priors(self) -> tuple[tuple[str, Floats], ...]:
        """These parts, `(n_ids,)` each."""
        return self.whole.named

    @property
    def knows_seeds(self) -> bool:
        """Whether it is known what these parts give each example that is left out."""
        prior = self.waiting
        return not self.named and prior.of_seeds is not None if prior is not None else self.of_named is not None

    @property
    def of_seeds(self) -> Callable[[], Floats] | None:
        """What these parts give each example, by id, that is left out, if it is known."""
        return self.whole.of_named

    @cached_property
    def neighborhood(self) -> Neighborhood | None:
        """The parts of the base because of neighbors, if these count."""
        if self.smoothing is None:
            return self.worked_out
        (neighbors, share), sums = self.smoothing, self._plain_sums()
        ids = np.array(self.examples.ids, np.int64)
        seeds = ids[self.examples.weight()[: len(ids)] > 0]
        own, near = smooth(sums, neighbors, seeds, share)
        return Neighborhood(own, near, neighbors.factors, neighbors, share, sums, seeds)

    @cached_property
    def base(self) -> Base:
        """What every item scores before the seeds are known, with all parts that have names."""
        if self.waiting is not None:
            return self.whole.base
        own, parts = self.own_base, self.neighborhood if self.smoothing is not None else None
        return own if parts is None else Base(own.items + parts.own + parts.near, own.constant, own.scale)

    @property
    def all(self) -> tuple[FieldWeights, ...]:
        """The weights of positive and negative examples, and corrections."""
        return self.positive + self.negative + self.corrections

    @property
    def adding(self) -> tuple[Rounded | FieldWeights, ...]:
        """What tells how much entries add: the same as all weights."""
        return (*(self.positive if self.rounded is None else self.rounded), *self.negative, *self.corrections)

    @property
    def parts(self) -> tuple[tuple[str, Floats], ...]:
        """All parts of the base with names, `(n_ids,)` each."""
        if self.neighborhood is None:
            return self.priors
        return ((OWN, self.neighborhood.own), (NEAR, self.neighborhood.near), *self.priors)

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
        if self.waiting is not None:
            return self.whole.sums()
        parts = self.neighborhood if self.smoothing is not None else None
        return self._plain_sums() if parts is None else parts.sums + parts.own + parts.near

    def _plain_sums(self) -> Floats:
        """The same without what `smoothing` adds."""
        if self.summed is not None:
            return self.summed
        sums = self.own_base.items.copy()
        accumulate(sums, *self.lists)
        return sums

    def scores(self) -> Floats:
        """A new array of the scores of all items, `(n_ids,)`, without the constant."""
        return self.sums() / self.scale

    def best(self, excluded: Sequence[int], k: int, names: Names, among: Ints | None = None) -> Best:
        """As `scoring.best.best`; scores are without the constant."""
        known = self.known
        if among is None and known is not None and (left_out := {*excluded}).issuperset(known.excluded):
            others = left_out.difference(known.excluded)  # which may be among the best
            found = known.best if known.k >= k + len(others) else known.deeper(k + len(others))
            if found is not None:
                ids, sums = sort_best(*(_without(found, others) if others else found), k, names)
                return ids, sums / self.scale
        has_sums = self.summed is not None or self.smoothing is not None or self.waiting is not None
        summed, lists = (self.sums(), ()) if has_sums else (self.base.items, self.lists)
        ids, sums = best(summed, lists, excluded, k, names, among)
        return ids, sums / self.scale

    def best_scores(self, excluded: Sequence[int], k: int) -> Floats:
        """The scores of the k best items, without the constant; names of equal ones are not read."""
        return self.best(excluded, k, ByIds(len(self.base.items)))[1]

    def with_prior(self, given: Prior | None) -> "SeedWeights":
        """These weights with one more part of the base."""
        if given is None:
            return self
        name, items, values, mean, spread, share, of_seeds = given
        sums, prior = self.sums(), np.zeros(len(self.base.items))
        exists = self.base.items > -np.inf
        deviation = moments(sums if exists.all() else sums[exists])[1] / self.scale or 1.0
        factor = share * deviation / spread
        prior[items] = to_lattice(factor * (values - mean), coefficient=self.scale)
        base = Base(self.base.items + prior, self.base.constant, self.scale)
        parts = {"named": (*self.priors, (name, prior)), "summed": sums + prior, "told": Told(self.told.left_out)}
        if of_seeds is None or self.priors:
            return self.having(base=base, **parts, of_named=None)
        find = of_seeds
        return self.having(base=base, **parts, of_named=cache(lambda: np.nan_to_num(factor * (find() - mean))))

    def less(self, name: str, taken: Floats) -> "SeedWeights":
        """These weights with a named part of the base that takes something from the scores, `(n_ids,)`, in nats."""
        part = to_lattice(-taken, coefficient=self.scale)
        base = Base(self.base.items + part, self.base.constant, self.scale)
        return self.having(base=base, named=(*self.priors, (name, part)), summed=self.sums() + part, of_named=None)

    def smoothed(self, neighbors: Neighbors, share: float) -> "SeedWeights":
        """These weights with parts of the base that smooth the scores of all items (scoring/smoothing.py)."""
        return self.having(smoothing=Smoothing(neighbors, share), told=Told(self.told.left_out))

    def minus(self, other: "SeedWeights", gamma: float, discount: float = 0.0) -> "SeedWeights":
        """v+ a_j / (a_j + discount r_j) - gamma v-: these weights, and those of negative examples.

        a_j and r_j are the shares of the examples and of the negative ones that have j. A discount is for lift, whose
        entries add weight times value.
        """
        scale, pairs = min(self.scale, other.scale), zip(self.positive, other.positive, strict=True)
        positive = tuple(own.discounted(less, discount).scaled(own.coefficient, scale) for own, less in pairs)
        negative = tuple(own.scaled(-gamma * own.coefficient, scale) for own in other.positive)
        base = self.base.at_scale(scale, self.model.rule.binary)
        return self.having(positive=positive, negative=negative, base=base, summed=None)

    def corrected(self, share: float, corrections: Sequence[FieldWeights], bias: float) -> "SeedWeights":
        """`share` times these weights, plus corrections; the bias, on the lattice, is a part of the constant."""
        positive = tuple(own.scaled(share * own.coefficient, 1.0) for own in self.positive)
        learned = tuple(own.scaled(own.coefficient, 1.0) for own in corrections)
        items, existing = self.base.items.copy(), self.base.items > -np.inf  # infinity times a share of 0 is no number
        items[existing] = to_lattice(items[existing], coefficient=share / self.scale)
        base = Base(items, self.base.constant * share)
        priors = tuple((name, to_lattice(prior, coefficient=share / self.scale)) for name, prior in self.priors)
        constant = round(self.constant * share * LATTICE) / LATTICE + bias
        return self.having(
            positive=positive,
            corrections=learned,
            base=base,
            named=priors,
            constant=constant,
            summed=None,
        )


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
