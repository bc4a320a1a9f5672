"""The options of a model, and of what it reads: how to score."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from setsearch.cli.help import MODEL

By = Annotated[
    str | None,
    typer.Option(metavar="WHAT", help="Describe terms by contexts, documents or both.", rich_help_panel=MODEL),
]
Fresh = Annotated[
    str | None,
    typer.Option(
        metavar="LIMIT",
        help="How far contexts of words may be behind: now, seconds, or a share of the documents such as 5%.",
        show_default="as they are",
        rich_help_panel=MODEL,
    ),
]


def _weighting_options(
    *,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="lift, bernoulli (the paper's), multinomial, poisson.", rich_help_panel=MODEL
        ),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option(
            metavar="K", help="Strength of the prior; 2 in the paper.", show_default=False, rich_help_panel=MODEL
        ),
    ] = None,
    binarize: Annotated[
        str | None,
        typer.Option(
            metavar="RULE", help="What counts as having a feature: presence, twice-mean.", rich_help_panel=MODEL
        ),
    ] = None,
    popularity: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="How far items with many features may lead, 0 to 1 (lift, bernoulli).",
            min=0,
            max=1,
            rich_help_panel=MODEL,
        ),
    ] = None,
    rarity: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="How much more rare features count with more seeds (lift).",
            min=0,
            max=4,
            rich_help_panel=MODEL,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="B",
            help="How many features of the seeds count, the strongest; 0: all (lift).",
            min=0,
            rich_help_panel=MODEL,
        ),
    ] = None,
) -> dict[str, Any]:
    """How features count."""
    return {
        "model": model,
        "strength": strength,
        "binarize": binarize,
        "popularity": popularity,
        "rarity": rarity,
        "budget": budget,
    }


def _further_options(
    *,
    feedback: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="How much a second pass with the best items may read, 0 for one pass (lift).",
            min=0,
            rich_help_panel=MODEL,
        ),
    ] = None,
    vectors: Annotated[
        float | None,
        typer.Option(metavar="W", help="The weight of vectors, 0 for none (lift).", min=0, rich_help_panel=MODEL),
    ] = None,
    purpose: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="WHAT", help="Of ratings: kind, or likes (popular first).", rich_help_panel=MODEL
        ),
    ] = None,
    by: By = None,
    fresh: Fresh = None,
) -> dict[str, Any]:
    """What else counts, and what is read."""
    return {"feedback": feedback, "vectors": vectors, "purpose": purpose, "by": by, "fresh": fresh}


def _joined(*groups: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Groups of options as one."""
    members = [(group, inspect.signature(group).parameters) for group in groups]

    def run(**values: Any) -> dict[str, Any]:
        given = [group(**{name: values[name] for name in own}) for group, own in members]
        return dict(item for part in given for item in part.items())

    parameters = [parameter for _, own in members for parameter in own.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


model_options = _joined(_weighting_options, _further_options)  # ModelOptions: how to score
