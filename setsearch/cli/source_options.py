"""Options of `index`: how sources are read, and the roles of their columns."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from setsearch.cli.help import ADVANCED, COLUMNS
from setsearch.cli.options import Texts
from setsearch.errors import UsageError

if TYPE_CHECKING:
    from setsearch.storage.synced_source import Columns


class Input(NamedTuple):
    """How sources are read."""

    table: str | None
    errors: str
    globs: tuple[str, ...]
    encoding: str | None
    delimiter: str | None


class Rules(NamedTuple):
    """Which rows of a relation count, and how."""

    keep: str | None
    split: str | None
    titles: str | None
    min_features: int
    min_items: int


def input_options(
    *,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Read a table of an SQLite database.")] = None,
    glob: Annotated[
        Texts, typer.Option(metavar="PATTERN", help="Only files of a folder that are like this; may be repeated.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of files. Default: UTF-8, or as it looks.", rich_help_panel=ADVANCED),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="C", help="Of CSV files. Default: as the header has it.", rich_help_panel=ADVANCED),
    ] = None,
    errors: Annotated[
        str, typer.Option(metavar="HOW", help="Unreadable input: strict, replace, skip.", rich_help_panel=ADVANCED)
    ] = "strict",
) -> Input:
    """How sources are read."""
    if errors not in ("strict", "replace", "skip"):
        raise UsageError(f"--errors is strict, replace or skip, not {errors!r}")
    if delimiter is not None and len(delimiter := delimiter.replace("\\t", "\t")) != 1:
        raise UsageError(f"--delimiter is one character, not {delimiter!r}")
    return Input(table, errors, tuple(glob or ()), encoding, delimiter)


def rule_options(
    *,
    keep: Annotated[
        str | None,
        typer.Option(metavar="CONDITION", help="Only rows such as 'rating >= 4'.", rich_help_panel=COLUMNS),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="A relation: what stands between features.", rich_help_panel=COLUMNS),
    ] = None,
    titles: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A relation: rows with the titles of the items.", rich_help_panel=COLUMNS),
    ] = None,
    min_features: Annotated[
        int,
        typer.Option(metavar="N", help="A relation: only items with N features.", min=0, rich_help_panel=COLUMNS),
    ] = 0,
    min_items: Annotated[
        int,
        typer.Option(metavar="N", help="A relation: then, only features of N items.", min=0, rich_help_panel=COLUMNS),
    ] = 0,
) -> Rules:
    """Which rows of a relation count, and how."""
    return Rules(keep, split, titles, min_features, min_items)


def column_options(
    *,
    id: Annotated[
        str, typer.Option(metavar="COL", help="Column with the ids of documents.", rich_help_panel=COLUMNS)
    ] = "id",
    text: Annotated[
        Texts, typer.Option(metavar="COL", help="Column with text; may be repeated.", rich_help_panel=COLUMNS)
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with titles to show.", rich_help_panel=COLUMNS)
    ] = None,
    items: Annotated[
        str | None, typer.Option(metavar="COL", help="A relation: column with the items.", rich_help_panel=COLUMNS)
    ] = None,
    features: Annotated[
        str | None, typer.Option(metavar="COL", help="A relation: column with the features.", rich_help_panel=COLUMNS)
    ] = None,
    count: Annotated[
        str | None, typer.Option(metavar="COL", help="A relation: column with counts.", rich_help_panel=COLUMNS)
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Index all texts with the same COL as one item.", rich_help_panel=COLUMNS),
    ] = None,
    keep_columns: Annotated[
        str | None,
        typer.Option(
            metavar="COL,...", help="Columns of documents that come back with each hit.", rich_help_panel=COLUMNS
        ),
    ] = None,
    numbers: Annotated[
        Texts,
        typer.Option(metavar="COL", help="A number that describes --items; may be repeated.", rich_help_panel=COLUMNS),
    ] = None,
) -> "Columns":
    """The roles of the columns."""
    kept = tuple(name.strip() for name in (keep_columns or "").split(",") if name.strip())
    from setsearch.storage.synced_source import Columns

    return Columns(id, tuple(text or ()), title, items, features, count, group_by, tuple(numbers or ()), kept)
