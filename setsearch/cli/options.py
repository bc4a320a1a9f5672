"""Arguments and options that commands share.

Options that several commands share, in groups: each becomes one parameter of the command."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setsearch.errors import UsageError

if TYPE_CHECKING:
    from setsearch.models.defaults import ModelOptions
    from setsearch.storage.synced_source import Columns


DB = Annotated[Path, typer.Argument(metavar="DB", help="The database file.", show_default=False)]
SEEDS = typer.Argument(metavar="SEED...", help="Examples of the set.", show_default=False)
Seeds = Annotated[list[str], SEEDS]
Examples = Annotated[list[str] | None, SEEDS]
Items = Annotated[str | None, typer.Option(metavar="NAME", help="What to rank: terms, documents, or a column.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for another writer.", min=0)]
Command = Callable[..., None]
Top = Annotated[int, typer.Option("-k", metavar="K", help="How many.")]


def scoring(
    *,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="lift, bernoulli (the paper's), x1, multinomial, poisson, concept."),
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
    by: Annotated[str | None, typer.Option(metavar="WHAT", help="Terms by their contexts, documents, or both.")] = None,
) -> "ModelOptions":
    """How to score."""
    return {"model": model, "strength": strength, "binarize": binarize, "popularity": popularity, "by": by}


def more_examples(
    *,
    like: Annotated[
        list[str] | None, typer.Option(metavar="FILE|TEXT", help="A text as an example of documents; repeat for more.")
    ] = None,
    having: Annotated[
        list[str] | None, typer.Option(metavar="FEATURE", help="What an example has; several are had together.")
    ] = None,
    set: Annotated[str | None, typer.Option(metavar="NAME", help="The examples of a saved set.")] = None,
) -> dict[str, Any]:
    """Examples that are no items."""
    return {"like": like or [], "having": having or [], "set": set}


def wanting(
    *,
    k: Annotated[int | None, typer.Option("-k", metavar="K", help="How many; 10, or with --cut all.")] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="SEED", help="What is not meant, a negative example; repeat for more.")
    ] = None,
    among: Annotated[
        str | None, typer.Option(metavar="FILE", help="Answer only these: ids, one a line; - for standard input.")
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="Answer only rows of the indexed table for which this holds.")
    ] = None,
    match: Annotated[
        str | None, typer.Option(metavar="QUERY", help="Answer only rows that this full-text query (FTS5) finds.")
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
        "among": _among(among, where, match),
        "gamma": gamma,
        "keep_seeds": keep_seeds,
        "explain": explain,
        "cut": "keep" if cut else "mark",
    }


def _among(file: str | None, where: str | None, match: str | None) -> Any:
    if file is not None and (where, match) != (None, None):
        raise UsageError("--among FILE lists the ids; leave --where and --match out")
    if file is not None:
        from setsearch.cli.set_files import read_ids

        return read_ids(file)
    if (where, match) == (None, None):
        return None
    from setsearch.search.where import Where

    return Where(where, match=match)


def columns_of(
    *,
    id: Annotated[str, typer.Option(metavar="COL", help="Column with the ids of documents.")] = "id",
    text: Annotated[list[str] | None, typer.Option(metavar="COL", help="Column with text; repeat for more.")] = None,
    title: Annotated[str | None, typer.Option(metavar="COL", help="Column with titles to show.")] = None,
    items: Annotated[str | None, typer.Option(metavar="COL", help="A relation: column with the items.")] = None,
    features: Annotated[str | None, typer.Option(metavar="COL", help="A relation: column with the features.")] = None,
    count: Annotated[str | None, typer.Option(metavar="COL", help="A relation: column with counts.")] = None,
    group_by: Annotated[
        str | None, typer.Option(metavar="COL", help="Texts of the same COL, such as an author, as one item.")
    ] = None,
    numbers: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="A number that describes --items; repeat for more.")
    ] = None,
) -> "Columns":
    """Which columns of the input are what."""
    from setsearch.storage.synced_source import Columns

    return Columns(id, tuple(text or ()), title, items, features, count, group_by, tuple(numbers or ()))


def text_settings(
    *,
    language: Annotated[
        str | None, typer.Option(metavar="NAME", help="Take words to their stems: english, german, ...")
    ] = None,
    stop_words: Annotated[bool, typer.Option("--stop-words", help="Leave out the language's stop words.")] = False,
    contexts: Annotated[
        bool | None, typer.Option("--contexts/--no-contexts", help="Read in which contexts words stand.")
    ] = None,
    phrases: Annotated[bool, typer.Option("--phrases", help="Contexts, with phrases such as New York.")] = False,
) -> dict[str, Any]:
    """How a text collection is made."""
    if phrases and contexts is False:
        raise UsageError("--phrases are items in contexts; leave --no-contexts out")
    chosen = "phrases" if phrases else {None: "auto", True: "on", False: "off"}[contexts]
    return {"language": language, "stop_words": stop_words, "contexts": chosen}


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
