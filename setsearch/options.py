"""Options that several commands share, in groups: each becomes one parameter of the command."""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from setsearch.hits import ModelOptions
    from setsearch.sources import Columns

Command = Callable[..., None]
Top = Annotated[int, typer.Option("-k", metavar="K", help="How many.")]


def scoring(
    *,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="lift, bernoulli (the paper's exact model), x1.")
    ] = None,
    strength: Annotated[
        float | None, typer.Option(metavar="K", help="Strength of the prior; the paper's is 2.", show_default=False)
    ] = None,
    binarize: Annotated[
        str | None, typer.Option(metavar="RULE", help="What counts as having a feature: presence, twice-mean.")
    ] = None,
    popularity: Annotated[
        float | None,
        typer.Option(metavar="P", help="How far items with many features may be ahead, 0 to 1 (lift).", min=0, max=1),
    ] = None,
) -> "ModelOptions":
    """How to score."""
    return {"model": model, "strength": strength, "binarize": binarize, "popularity": popularity}


def wanting(
    *,
    k: Annotated[int | None, typer.Option("-k", metavar="K", help="How many; 10, or with --cut all.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="SEED", help="What is not meant, a negative example; repeat for more.")
    ] = None,
    gamma: Annotated[
        float | None, typer.Option(metavar="G", help="How much negative examples count, 0 to 1.", min=0, max=1)
    ] = None,
    keep_seeds: Annotated[bool, typer.Option("--keep-seeds", help="Rank the seeds too.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show the features behind each score.")] = False,
    cut: Annotated[bool, typer.Option("--cut", help="Only what belongs to the set.")] = False,
) -> dict[str, Any]:
    """What of an expanded set is wanted."""
    return {
        "k": k if k is not None or cut else 10,
        "exclude": exclude or (),
        "gamma": gamma,
        "keep_seeds": keep_seeds,
        "explain": explain,
        "cut": "keep" if cut else None,
    }


def columns_of(
    *,
    id: Annotated[str, typer.Option(metavar="COL", help="Column with the ids of documents.")] = "id",
    text: Annotated[list[str] | None, typer.Option(metavar="COL", help="Column with text; repeat for more.")] = None,
    title: Annotated[str | None, typer.Option(metavar="COL", help="Column with titles to show.")] = None,
    items: Annotated[str | None, typer.Option(metavar="COL", help="A relation: column with the items.")] = None,
    features: Annotated[str | None, typer.Option(metavar="COL", help="A relation: column with the features.")] = None,
    count: Annotated[str | None, typer.Option(metavar="COL", help="A relation: column with counts.")] = None,
) -> "Columns":
    """Which columns of the input are what."""
    from setsearch.sources import Columns

    return Columns(id, tuple(text or ["text"]), title, items, features, count)


def options(**groups: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the options of whole groups: each named parameter is what its group makes of them."""

    def decorate(command: Command) -> Command:
        own = inspect.signature(command)
        members = {name: inspect.signature(group).parameters for name, group in groups.items()}

        @functools.wraps(command)
        def run(*args: Any, **given: Any) -> None:
            made = {name: groups[name](**{key: given.pop(key) for key in members[name]}) for name in groups}
            command(*args, **given, **made)

        kept = [parameter for name, parameter in own.parameters.items() if name not in groups]
        added = [parameter for group in members.values() for parameter in group.values()]
        run.__signature__ = own.replace(parameters=kept + added)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in kept + added}
        return run

    return decorate
