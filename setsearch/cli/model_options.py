"""The options of a model, and of what it reads: how to score."""

from typing import Annotated, Any

from setsearch.cli.help import MODEL, option

By = Annotated[str | None, option("WHAT", "Describe terms by contexts, documents or both.", MODEL)]
Fresh = Annotated[
    str | None,
    option(
        "LIMIT",
        "How far contexts of words may be behind: now, seconds, or a share of the documents such as 5%.",
        MODEL,
        show_default="as they are",
    ),
]


def model_options(  # noqa: PLR0913
    *,
    model: Annotated[str | None, option("NAME", "lift, bernoulli (the paper's), multinomial, poisson.", MODEL)] = None,
    strength: Annotated[
        float | None, option("K", "Strength of the prior; 2 in the paper.", MODEL, show_default=False)
    ] = None,
    binarize: Annotated[
        str | None, option("RULE", "What counts as having a feature: presence, twice-mean.", MODEL)
    ] = None,
    popularity: Annotated[
        float | None,
        option("P", "How far items with many features may lead, 0 to 1 (lift, bernoulli).", MODEL, min=0, max=1),
    ] = None,
    rarity: Annotated[
        float | None, option("R", "How much more rare features count with more seeds (lift).", MODEL, min=0, max=4)
    ] = None,
    budget: Annotated[
        float | None, option("B", "How many features of the seeds count, the strongest; 0: all (lift).", MODEL, min=0)
    ] = None,
    feedback: Annotated[
        float | None,
        option("SHARE", "How much a second pass with the best items may read, 0 for one pass (lift).", MODEL, min=0),
    ] = None,
    neighbors: Annotated[
        float | None, option("W", "How much its nearest words count for a word, 0 for none (lift).", MODEL, min=0)
    ] = None,
    vectors: Annotated[float | None, option("W", "The weight of vectors, 0 for none (lift).", MODEL, min=0)] = None,
    purpose: Annotated[
        str | None, option("WHAT", "Of ratings: kind, or likes (popular first).", MODEL, "--for")
    ] = None,
    by: By = None,
    fresh: Fresh = None,
) -> dict[str, Any]:
    """ModelOptions: how features count, what else counts, and what is read."""
    return locals()
