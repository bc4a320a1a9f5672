"""What counts beside the features that items share with the seeds: popularity, and vectors."""

from collections.abc import Callable, Sequence

from setsearch.arrays import Floats, Ints
from setsearch.models.defaults import Defaults, ModelOptions
from setsearch.search.examples import Examples
from setsearch.search.feedback import best_in_passes, examples_weights
from setsearch.search.fields import Fields
from setsearch.search.popularity import with_popularity
from setsearch.search.request import ExpandRequest
from setsearch.search.weights import SeedWeights


def with_priors(fields: Fields, weights: SeedWeights, defaults: Defaults, options: ModelOptions) -> SeedWeights:
    """Weights with the parts of the base that the options ask for; raises InvalidParameter."""
    if defaults.wants_likes(options):
        weights = with_popularity(fields, weights)
    return with_vectors(fields, weights, defaults, options)


def unchanged(weights: SeedWeights) -> SeedWeights:
    """The same weights."""
    return weights


def two_passes(
    fields: Fields,
    examples: Examples,
    defaults: Defaults,
    options: ModelOptions,
    excluded: Sequence[int] = (),
    subtract: Callable[[SeedWeights], SeedWeights] = unchanged,
) -> SeedWeights:
    """The weights of examples, from which `subtract` takes away what excluded items say.

    If they are asked twice, it and vectors also say which items join. Raises InvalidParameter.
    """
    model, feedback = defaults.make(options), defaults.feedback_of(options)

    def complete(weights: SeedWeights) -> SeedWeights:
        """Everything that says which items are the best."""
        return with_vectors(fields, subtract(weights), defaults, options)

    return subtract(examples_weights(fields, examples, model, feedback, excluded, with_priors=complete))


def best_at_once(
    fields: Fields, examples: Examples, defaults: Defaults, request: ExpandRequest
) -> tuple[Ints, Floats] | None:
    """The best items and their scores, for a request that wants no more; None if these take weights."""
    options = request.model
    if not request.is_plain or defaults.wants_likes(options):
        return None
    if fields.vectors is not None and defaults.vectors_of(options):
        return None
    return best_in_passes(fields, examples, defaults.make(options), defaults.feedback_of(options), request.k)


def with_vectors(fields: Fields, weights: SeedWeights, defaults: Defaults, options: ModelOptions) -> SeedWeights:
    """Weights with the field of vectors, if there are some; raises InvalidParameter."""
    if fields.vectors is None or not defaults.vectors_of(options):
        return weights
    from setsearch.search.meaning import with_meaning

    return with_meaning(fields, weights, defaults.vectors_of(options, fields.vectors().source))
