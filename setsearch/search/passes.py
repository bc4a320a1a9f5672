"""One pass or two, by numpy or by the compiled core, and what counts beside features.

Few seeds, five at most, say little. In a second pass (pseudo-relevance feedback) the items that score best, of n / 25
at most, become seeds until there are ten, and the weights are made again; under a budget (models/lift.py) 10 // N join
N seeds, three to five or none. Where sets that know each other say who joins, more are right: until there are fifteen
examples. What joins weighs less than a seed, and as much less as it scores less than the best that joins, in 64ths:

    w_i = w max(1, round(64 s_i / s_1)) / 64        w = 1/2, or 9/32 where three seeds or more say who joins

s_i is the score by which it is chosen who joins, without the constant; it is above 0. 64ths keep sums of weights exact.
A document that is nearly the same as a seed, or as one that joined, does not join: it says nothing new. None joins if
the last of as many of the best items scores more than .85 of the first: such scores do not tell who belongs. The second
pass reads as much as the first one times `feedback`, 5,000 postings at least: the strongest features whose lists
together are as long, without lists that are longer by themselves; and in any case the 20 strongest features of the
seeds. Under a budget a list counts as long as it costs. Strength is estimated with the document frequencies of the
stored counts, so that only the lists that count get values.

The core does what seed_weights, second_pass, smooth, with_prior and best do one after another, to the bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setsearch.arrays import LATTICE, Floats, Ints, moments, to_lattice
from setsearch.core import question
from setsearch.core.binding import Part
from setsearch.core.question import Answer, Asking, Copies, Numbers, Question, Weighed
from setsearch.memory.field import Field
from setsearch.memory.fields import Fields
from setsearch.models import Bernoulli, Lift, Model, Seeds
from setsearch.models.defaults import Chosen, Defaults, Rejection
from setsearch.models.model import has_tiny_weights
from setsearch.models.values import ValueRule
from setsearch.scoring.best import Base, Best, is_core
from setsearch.scoring.smoothing import Smoothing
from setsearch.search.base_parts import NOTHING_WAITS, Prior, Waiting
from setsearch.search.cutoff import n_leading
from setsearch.search.examples import Examples, once_each
from setsearch.search.feature_weights import FieldWeights, Rounded, field_weights
from setsearch.search.limits import Limit
from setsearch.search.near_duplicates import COPIES as ALIKE
from setsearch.search.near_duplicates import LEAST_WORDS, without_copies
from setsearch.search.weights import LEAST_BOUND, Found, Known, SeedWeights, seed_weights

EXAMPLES, BESIDE = 10, 15  # seeds and what joins them; where rivals say who joins
FEWEST = 2  # that may join
WITH_BUDGET = 3, 5  # at least and at most so many: each has thousands of features
WEIGHT, SMALLER_WEIGHT, ENOUGH = 1 / 2, 9 / 32, 3  # of the first that joins; and of one that joins so many seeds
PARTS = 64  # of this weight, which others have
FLAT = 0.85  # of the best score: if the last of those who may join has more, none joins
SHARE = 25  # of so many items one may join
DEEPER, DEEPEST = 4, 64  # times as many items are looked at where some are nearly the same as others, and at most
LEAST = 5000  # postings that a second pass may always read
OWN = 20  # features of the seeds that always count
MOST_ROWS, EXACT_BELOW = 32, 2.0**15  # seeds of a model by a table, and the size of its base
FEWEST_POSTINGS = 1 << 13  # fewer are added in less time than it takes to choose among lists
BY_CORE = Lift, Bernoulli  # models of which the core answers whole questions
POPULARITY = 2.0  # standard deviations of the scores for one of the logarithms, with one seed

Joining = dict[int, float]  # items that may join, and their scores, best first


def weight_of_joining(model: Lift, total: float, beside: bool = False) -> float:
    """The weight of the first item that joins seeds whose weights add up to N."""
    return WEIGHT if model.budget or beside or total < ENOUGH else SMALLER_WEIGHT


def parts_of_weight(scores: Sequence[float] | Floats) -> Floats:
    """How many PARTS of the weight of the first each item has that joins: by their scores, above 0, best first."""
    scores = np.asarray(scores, float)
    return np.maximum(np.rint(PARTS * scores / scores[:1]), 1.0)


def own_features(features: Ints, weights: Floats) -> Ints:
    """The strongest features of the seeds; equal ones stay together."""
    if len(features) <= OWN:
        return features
    kept: Ints = features[weights >= np.partition(weights, -OWN)[-OWN]]
    return kept


def how_many_join(model: Model, examples: Examples, n_items: int, feedback: float, beside: bool = False) -> int:
    """How many items join examples, 0 for no second pass; `beside`: whether rivals say who."""
    if not feedback or examples.has_features or not isinstance(model, Lift):
        return 0
    total, of = examples.total, BESIDE if beside else EXAMPLES
    fewest, most = WITH_BUDGET if model.budget else (FEWEST, of)
    count = min(int(EXAMPLES / max(total, 1.0) if model.budget else of - total), most, n_items // SHARE)
    return count if count >= fewest and total <= EXAMPLES / 2 else 0


def are_flat(scores: Sequence[float] | Floats, count: int) -> bool:
    """Whether so many of the best scores, in order, are about the same: such items do not join."""
    return 0 < count <= len(scores) and bool(scores[count - 1] > FLAT * scores[0])


def _joining_items(fields: Fields, weights: SeedWeights, excluded: Sequence[int], count: int) -> Joining:
    """The best items of positive score, and these, but for those that are nearly the same as a seed or a better one.

    None if as many best items score about the same.
    """
    looked_at, seeds = count, weights.examples.seeds
    while True:
        ids, scores = weights.best([*excluded, *seeds], looked_at, fields)
        if looked_at == count and are_flat(scores, count):
            return {}
        positive = dict(zip(ids[scores > 0].tolist(), scores.tolist(), strict=False))
        joining = different(fields, weights, positive, count)
        if len(joining) == count or len(positive) < looked_at or looked_at == DEEPEST * count:
            return joining
        looked_at *= DEEPER


def different(fields: Fields, weights: SeedWeights, best: Joining, count: int) -> Joining:
    """So many of the best items that are nearly the same as no seed and no better one."""
    ids = [*best]
    if fields.are_documents:
        ids = without_copies(fields.first, weights.model.rule, weights.examples.ids, ids)
    return {id: best[id] for id in ids[:count]}


def second_pass(
    fields: Fields, first: SeedWeights, joining: Joining, feedback: float, beside: bool = False
) -> SeedWeights:
    """The weights of the examples of a first pass with the best items among them."""
    if not joining:
        return first
    assert isinstance(first.model, Lift)
    more, limits = first.model.cost_of_a_list, []
    for own in first.positive:
        counting = own.seeds.having > 0  # those of a seed of weight 0 do not
        features, weights = own.seeds.features[counting], own.lists.weights[counting]
        cost = int(own.field.stored_lengths(features).sum()) + more * len(features)
        limits.append(Limit(max(int(feedback * cost), LEAST), own_features(features, weights), more))
    weight = weight_of_joining(first.model, first.examples.total, beside) / PARTS
    joined = first.examples.joined_by([*joining], parts_of_weight([*joining.values()]) * weight)
    second = seed_weights(fields, joined, first.model, limits)
    return replace(second, examples=first.examples, join=lambda: joined)


class Wanted(NamedTuple):
    """What is wanted of a question: the k best items, 0 for the sums of all; and whether its weights are, too.

    `few`: the share of the others, and the least number, that may be above the middle seed; 0: not asked. `taken`: what
    others take from the scores of all items where it is chosen which join, `(n_ids,)`, in nats.
    """

    k: int = 0
    weights: bool = True
    few: tuple[float, float] = (0.0, 0.0)
    taken: Floats | None = None


ALL = Wanted()


class Whole(NamedTuple):
    """A question that the core may answer as a whole: examples, if `joins` others join them.

    `share`: of what a first pass reads, so much may a second one. `once`: whether examples that are nearly the same
    count once.
    """

    fields: Fields
    examples: Examples
    model: Model
    excluded: Sequence[int]
    wanted: Wanted
    joins: int
    share: float
    once: bool

    @property
    def without(self) -> list[int]:
        """The items that are not looked for."""
        return sorted({*self.excluded, *self.examples.seeds})


class _ByCore(NamedTuple):
    """What the core was asked, and what it answered."""

    whole: Whole
    asked: Question
    answer: Answer

    def deeper(self, k: int) -> Best | None:
        """More of the best items; None where numpy must be asked."""
        numbers = self.asked.numbers._replace(k=min(k, len(self.asked.base)))
        (more,) = question.ask_all([self.asked._replace(numbers=numbers, weighs=False)])
        return (more.ids, more.scores) if isinstance(more, Answer) else None

    def join(self) -> Examples:
        """The examples, and the items that joined."""
        return self.whole.examples.joined_by(self.answer.joined, self.answer.shares)

    def make_first(self) -> SeedWeights:
        """The weights of the examples alone, by features, and the best items by these."""
        fields, examples, model, *_ = self.whole
        wanted = Wanted(n_leading(fields), False, self.whole.wanted.few)
        found = question.now(weights_by_core(self.whole._replace(joins=0, wanted=wanted), None, None))
        return found if isinstance(found, SeedWeights) else seed_weights(fields, examples, model)

    def make_positive(self) -> tuple[FieldWeights, ...]:
        """The weights of all fields, as seed_weights makes them."""
        (fields, examples, model, *_), answer = self.whole, self.answer
        if self.asked.table:
            return seed_weights(fields, examples, model).positive
        if not self.asked.weighs:
            (again,) = question.ask_all([self.asked._replace(weighs=True)])
            assert isinstance(again, Answer)
            answer = again
        every, size = self.join() if len(answer.joined) else examples, fields.items.size
        pairs = zip(fields.all, answer.weighed, strict=True)
        return tuple([field_weights(field, _seeds(every.within(field), own), model, size) for field, own in pairs])

    def found(self, base: Base) -> Found:
        """What is known now: no scores of seeds that are left out, if a prior does not tell its part of them."""
        whole, asked, answer = self
        known, told, rounded = None, answer.told, None
        if whole.wanted.k:
            best, least = (answer.ids, answer.scores), answer.least - base.largest_absolute
            known = Known(asked.excluded, whole.wanted.k, best, self.deeper, least)
        if asked.prior is not None and asked.of_seeds is None:
            told = told._replace(left_out=None)
        if asked.weighs:
            pairs, rule = zip(whole.fields.all, answer.weighed, strict=True), whole.model.rule
            rounded = tuple([Rounded(field, own.features, own.weights, rule) for field, own in pairs])
        return Found(known, told, rounded)


def weights_by_core(
    whole: Whole, smoothing: Smoothing | None, prior: Prior | None
) -> Asking[SeedWeights | Copies | None]:
    """The weights of examples, or Copies if some of those that count once are nearly the same.

    None where the other modules must be asked: without a core, for other models, for lists without values, and where
    the core is not sure. The best items, if these are wanted, are those by scores with `smoothing` and `prior`; of sums
    they are no part.
    """
    fields, examples, model, wanted = whole.fields, whole.examples, whole.model, whole.wanted
    if not (is_core() and isinstance(model, BY_CORE)) or has_tiny_weights(model):
        return None
    base = fields.base(model, examples.total)
    near = None if smoothing is None or not wanted.k else (*smoothing.neighbors, smoothing.share)
    if isinstance(model, Lift):
        asked = _question(whole, model, base.items)
    else:
        asked = _table_question(whole, model, base) if near is None else None
    if asked is None or (asked.table and prior):
        return None
    if wanted.k and (near or prior):
        of_seeds = prior.of_seeds() if prior and prior.of_seeds and wanted.few[0] else None
        asked = asked._replace(near=near, prior=prior.numbers if prior else None, of_seeds=of_seeds)
    answer = yield asked
    if answer is None or isinstance(answer, Copies):
        return answer
    own, constant = _ByCore(whole, asked, answer), round(base.constant * LATTICE) / LATTICE + answer.constant
    return SeedWeights(
        model,
        examples,
        own.make_positive,
        base,
        constant,
        join=own.join if len(answer.joined) else None,
        make_first=own.make_first,
        waiting=Waiting(smoothing, prior) if wanted.k else NOTHING_WAITS,
        summed=asked.sums,
        found=own.found(base),
    )


def _question(whole: Whole, model: Lift, base: Floats) -> Question | None:
    """What the core is asked for the weights of examples, if each of them counts."""
    fields, examples, wanted, joins = whole.fields, whole.examples, whole.wanted, whole.joins
    if examples.count + joins > question.MOST_EXAMPLES or not (examples.weights is None or examples.weights.all()):
        return None
    n_items, total, alike = fields.items.size, examples.total, ALIKE if fields.are_documents else 0.0
    limits = joins, LEAST, OWN, model.cost_of_a_list, FEWEST_POSTINGS, min(wanted.k, n_items), LEAST_WORDS, DEEPEST
    weight = weight_of_joining(model, total, wanted.taken is not None)
    of_model = model.strength, model.rarity, model.budget, whole.share, weight, PARTS, FLAT
    of_ids = len(examples.ids) if examples.weights is None else float(examples.weights[: len(examples.ids)].sum())
    numbers = Numbers(n_items, of_ids, *of_model, alike, *wanted.few, *limits)
    lists = [field.core_field(model.rule) for field in fields.all]
    choosing = None if wanted.taken is None or not joins else base + to_lattice(-wanted.taken)
    shares = None if examples.weights is None else examples.weights[: len(examples.ids)]
    of_seeds, texts = (sorted(examples.ids), shares, whole.without), None
    if examples.texts or examples.rare:
        texts = [_texts(field, examples.within(field), model.rule) for field in fields.all]
    sums = None if wanted.k else np.empty(len(base))
    once = whole.once and alike > 0
    return Question(lists, base, numbers, *of_seeds, sums, wanted.weights, once, choosing, texts=texts)


def _table_question(whole: Whole, model: Bernoulli, base: Base) -> Question | None:
    """What the core is asked for a model by a table, if it can take that."""
    fields, examples, wanted = whole.fields, whole.examples, whole.wanted
    (field, *more), are_items = fields.all, examples.count == len(examples.ids) and examples.weights is None
    if more or not (are_items and model.rule.binary) or examples.count > MOST_ROWS:
        return None
    if field.coefficient != 1 or base.scale != 1 or not LEAST_BOUND <= base.largest_absolute < EXACT_BELOW:
        return None
    n_items, sums = fields.items.size, None if wanted.k else np.empty(len(base.items))
    of_model = {"n_items": n_items, "fewest": FEWEST_POSTINGS, "k": min(wanted.k, n_items)}
    numbers = Numbers(**dict.fromkeys(Numbers._fields, 0) | of_model)
    seeds, table = sorted(examples.ids), field.core_table(model, examples.count)
    lists = [field.core_field(model.rule)]
    return Question(lists, base.items, numbers, seeds, None, whole.without, sums, wanted.weights, table=table)


def _texts(field: Field, examples: Examples, rule: ValueRule) -> Part:
    """The examples that are no items of a field, as lists with the weight of each."""
    new = [field.new_item(text, rule) for text in examples.texts]
    ends = np.cumsum([len(features) for features, _ in new], dtype=np.int64)
    features, values = (np.concatenate([*own, np.zeros(0)]) for own in (zip(*new, strict=True) if new else ((), ())))
    weights = examples.weight()[len(examples.ids) :]
    return features.astype(np.int32), values.astype(np.float32), np.append(0, ends)[:-1], ends, weights


def _seeds(examples: Examples, own: Weighed) -> Seeds:
    """What examples have in a field."""
    having = own.having.astype(np.int64) if examples.weights is None else own.having
    return Seeds(own.features, having, own.sums, examples.total, given=examples.given)


def with_popularity(fields: Fields, weights: SeedWeights) -> SeedWeights:
    """Weights with a prior for popular items, of relations such as ratings, as a part of the base.

        score_i = lift_i + (2 / N) sd(lift) z_i         z_i = (ln m_i - mean(ln m)) / sd(ln m)

    m_i is the number of features of an item: who rated it. Means and standard deviations (sd) are over all items. What
    belongs to a kind, such as a genre, is another question, for which this prior is wrong (docs/relevance.md).
    """
    items = np.flatnonzero(weights.base.items > -np.inf)
    logs = np.log(np.maximum(fields.first.lists(True).lengths[items], 1))
    mean, spread = moments(logs)
    prior = Prior("popular", items, logs, mean, spread, POPULARITY / max(weights.examples.total, 1.0))
    return weights.with_prior(prior if spread else None)


def _subtracting(
    fields: Fields, excluded: Sequence[int], rejection: Rejection | None
) -> Callable[[SeedWeights], SeedWeights]:
    """What takes away from weights; it weighs the excluded items once for each model."""
    if not excluded or rejection is None or not rejection.gamma:
        return lambda weights: weights
    examples, known = Examples(sorted(excluded)), dict[Model, SeedWeights]()

    def subtract(weights: SeedWeights) -> SeedWeights:
        """Weights less those of the excluded items."""
        if weights.model not in known:
            known[weights.model] = seed_weights(fields, examples, weights.model)
        return weights.minus(known[weights.model], *rejection)

    return subtract


class Weighing(NamedTuple):
    """How examples are weighed: in some fields, by what options choose. A wrong model is an InvalidParameter."""

    fields: Fields
    chosen: Chosen

    @property
    def defaults(self) -> Defaults:
        """The defaults of the kind of items."""
        return self.chosen.defaults

    @property
    def model(self) -> Model:
        """The model."""
        return self.chosen.model

    @property
    def feedback(self) -> float:
        """The share that a second pass may read: by default none where neighbors count."""
        chosen = self.chosen
        return chosen.feedback if chosen.options.get("feedback") is not None or not self.is_smoothed else 0.0

    @property
    def is_smoothed(self) -> bool:
        """Whether neighbors count."""
        return self.fields.nearest is not None and self.chosen.neighbors > 0

    @property
    def uses_vectors(self) -> bool:
        """Whether vectors are a field of the question."""
        return self.fields.vectors is not None and self.chosen.vectors.own > 0

    def smoothing(self, examples: Examples) -> Smoothing | None:
        """The neighbors that count, and the share w = W (1 / 2 + 2 / N) of what they score."""
        if self.fields.nearest is None or not (weight := self.chosen.neighbors):
            return None
        return Smoothing(self.fields.nearest(), weight * (0.5 + 2 / max(examples.total, 1.0)))

    def once_each(self, examples: Examples) -> Examples:
        """The examples; for the model lift those that are nearly the same count once."""
        model = self.model
        return once_each(self.fields, examples, model.rule) if isinstance(model, Lift) else examples

    def one_pass(self, examples: Examples) -> SeedWeights:
        """The weights of examples.

        By default a feature counts if an item has more of it than the collection. In a collection of some sentences
        that may leave nothing that another item has; then all features of an item count.
        """
        weights = seed_weights(self.fields, examples, self.model)
        other = self.chosen.by_presence
        return weights if other is None or weights.reach_others() else seed_weights(self.fields, examples, other)

    def two_passes(
        self,
        examples: Examples,
        excluded: Sequence[int] = (),
        rejection: Rejection | None = None,
        wanted: Wanted = ALL,
        once: bool = False,
    ) -> Asking[SeedWeights]:
        """The weights of examples, less what a rejection takes away because of excluded items.

        If they are asked twice, it and vectors also say which items join; excluded ones and examples do not. `once`:
        whether examples that are nearly the same count once (by lift alone).
        """
        fields, subtract, share = self.fields, _subtracting(self.fields, excluded, rejection), self.feedback
        model, beside = self.model, wanted.taken is not None
        count = how_many_join(model, examples, fields.items.size, share, beside)
        takes_away = bool(excluded) and rejection is not None and rejection.gamma > 0
        once = once and isinstance(model, Lift) and len(examples.ids) > 1 and examples.weights is None
        if not count or not (takes_away or self.uses_vectors):
            prior = self._of_vectors(examples, examples) if wanted.k and not count else None
            whole = Whole(fields, examples, model, excluded, wanted, count, share, once)
            found = yield from weights_by_core(whole, self.smoothing(examples), prior)
            if isinstance(found, SeedWeights):
                return subtract(found)
        kept = self.once_each(examples) if once else examples
        if kept is not examples:
            return (yield from self.two_passes(kept, excluded, rejection, wanted))
        first = self.one_pass(examples)
        count = how_many_join(first.model, examples, fields.items.size, share, beside)
        if count:
            weights = self._with_vectors(subtract(first))
            weights = weights if wanted.taken is None else weights.less("taken", wanted.taken)
            joining = _joining_items(fields, weights, excluded, count)
            second = second_pass(fields, first, joining, share, beside)
            # What makes the first pass once more holds none of its scores.
            first = replace(second, make_first=lambda: self._with_vectors(subtract(self.one_pass(examples))))
        return subtract(first)

    def with_priors(self, weights: SeedWeights) -> SeedWeights:
        """Weights with the parts of the base that the options ask for."""
        if weights.found.known is not None:  # by all parts
            return weights
        if self.chosen.likes:
            weights = with_popularity(self.fields, weights)
        smoothing = self.smoothing(weights.examples)
        return self._with_vectors(weights if smoothing is None else weights.smoothed(*smoothing))

    def _with_vectors(self, weights: SeedWeights) -> SeedWeights:
        """Weights with the field of vectors, if there are some."""
        if not self.uses_vectors:
            return weights
        return weights.with_prior(self._of_vectors(weights.examples, weights.joined or weights.examples))

    def _of_vectors(self, examples: Examples, every: Examples) -> Prior | None:
        """What vectors add for examples, and for `every` one with those that joined."""
        if self.fields.vectors is None or not self.uses_vectors:
            return None
        from setsearch.search.meaning import in_meaning

        vectors = self.fields.vectors()
        share = getattr(self.chosen.vectors, vectors.source)
        return in_meaning(self.fields, vectors, examples, every, share) if share else None
