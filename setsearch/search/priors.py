"""What a question weighs by its options: one pass or two, and what counts beside features: popularity, and vectors."""

from collections.abc import Callable, Sequence

import numpy as np

from setsearch.models import Lift, Model
from setsearch.models.defaults import Defaults, ModelOptions, Rejection
from setsearch.scoring.smoothing import Smoothing
from setsearch.search.core_passes import ALL, Wanted, weights_at_once
from setsearch.search.examples import Examples
from setsearch.search.feedback import how_many_join, second_pass
from setsearch.search.fields import Fields
from setsearch.search.weights import SeedWeights, seed_weights

POPULARITY = 2.0  # standard deviations of the scores for one of the logarithms, with one seed


def with_popularity(fields: Fields, weights: SeedWeights) -> SeedWeights:
    """Weights with a prior for popular items, of relations such as ratings, as a part of the base.

        score_i = lift_i + (2 / N) sd(lift) z_i         z_i = (ln m_i - mean(ln m)) / sd(ln m)

    m_i is the number of features of an item: who rated it. Means and standard deviations (sd) are over all items. What
    belongs to a kind, such as a genre, is another question, for which this prior is wrong (docs/relevance.md).
    """
    items = np.flatnonzero(weights.base.items > -np.inf)
    logs = np.log(np.maximum(fields.first.snapshot.lists(True).lengths[items], 1))
    return weights.with_prior("popular", items, logs, POPULARITY / max(weights.examples.total, 1.0))


def smoothing(fields: Fields, defaults: Defaults, options: ModelOptions, total: float) -> Smoothing | None:
    """The neighbors that count, and the share w = W (1 / 2 + 2 / N) of what they score. Raises InvalidParameter."""
    weight = defaults.neighbors_of(options)
    if fields.nearest is None or not weight:
        return None
    return Smoothing(fields.nearest(), weight * (0.5 + 2 / max(total, 1.0)))


def feedback(fields: Fields, defaults: Defaults, options: ModelOptions) -> float:
    """The share that a second pass may read: by default none where neighbors count. Raises InvalidParameter."""
    are_smoothed = fields.nearest is not None and defaults.neighbors_of(options) > 0
    return 0.0 if are_smoothed and options.get("feedback") is None else defaults.feedback_of(options)


def with_priors(fields: Fields, weights: SeedWeights, defaults: Defaults, options: ModelOptions) -> SeedWeights:
    """Weights with the parts of the base that the options ask for; raises InvalidParameter."""
    if defaults.wants_likes(options):
        weights = with_popularity(fields, weights)
    smooth = smoothing(fields, defaults, options, weights.examples.total)
    if smooth is not None:
        weights = weights.smoothed(*smooth)
    return with_vectors(fields, weights, defaults, options)


def one_pass(fields: Fields, examples: Examples, defaults: Defaults, options: ModelOptions) -> SeedWeights:
    """The weights of examples. Raises InvalidParameter.

    By default a feature counts if an item has more of it than the collection. In a collection of some sentences that
    may leave nothing that another item has; then all features of an item count.
    """
    model = defaults.make(options)
    weights = seed_weights(fields, examples, model)
    other = by_presence(model, defaults, options)
    return weights if other is None or weights.reach_others() else seed_weights(fields, examples, other)


def by_presence(model: Model, defaults: Defaults, options: ModelOptions) -> Model | None:
    """The model by which all features count; None if that is another one's choice, or the same model."""
    if not isinstance(model, Lift) or options.get("binarize") is not None:
        return None
    other = defaults.make({**options, "binarize": "presence"})
    return None if other == model else other


def two_passes(
    fields: Fields,
    examples: Examples,
    defaults: Defaults,
    options: ModelOptions,
    excluded: Sequence[int] = (),
    rejection: Rejection | None = None,
    wanted: Wanted = ALL,
) -> SeedWeights:
    """The weights of examples, less what a rejection takes away because of excluded items.

    If they are asked twice, it and vectors also say which items join; excluded ones and examples do not. Raises
    InvalidParameter.
    """
    subtract, share = _subtracting(fields, excluded, rejection), feedback(fields, defaults, options)
    model = defaults.make(options)
    count = how_many_join(model, examples, fields.items.size, share)
    takes_away = bool(excluded) and rejection is not None and rejection.gamma > 0
    if not count or not (takes_away or uses_vectors(fields, defaults, options)):
        found = weights_at_once(fields, examples, model, (count, share), excluded, wanted)
        if found is not None:
            return subtract(found)
    first = one_pass(fields, examples, defaults, options)
    count = how_many_join(first.model, examples, fields.items.size, share)
    if count:
        weights = with_vectors(fields, subtract(first), defaults, options)
        ids, scores = weights.best([*excluded, *examples.ids], count, fields)
        first = second_pass(fields, first, ids[scores > 0].tolist(), share)
    return subtract(first)


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


def uses_vectors(fields: Fields, defaults: Defaults, options: ModelOptions) -> bool:
    """Whether vectors are a field of the question; raises InvalidParameter."""
    return fields.vectors is not None and defaults.vectors_of(options) > 0


def with_vectors(fields: Fields, weights: SeedWeights, defaults: Defaults, options: ModelOptions) -> SeedWeights:
    """Weights with the field of vectors, if there are some; raises InvalidParameter."""
    if fields.vectors is None or not uses_vectors(fields, defaults, options):
        return weights
    from setsearch.search.meaning import with_meaning

    return with_meaning(fields, weights, defaults.vectors_of(options, fields.vectors().source))
