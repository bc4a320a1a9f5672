"""Options of `index`: how sources are read, and the roles of their columns."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, NamedTuple

from setsearch.cli.help import ADVANCED, COLUMNS, flag, option
from setsearch.cli.options import Texts
from setsearch.errors import UsageError

if TYPE_CHECKING:
    from setsearch.storage.synced_source import Columns


def input_options(
    *,
    table: Annotated[str | None, option("NAME", "Read a table of an SQLite database.")] = None,
    glob: Annotated[Texts, option("PATTERN", "Only files of a folder that are like this; may be repeated.")] = None,
    encoding: Annotated[str | None, option("NAME", "Of files. Default: UTF-8, or as it looks.", ADVANCED)] = None,
    delimiter: Annotated[str | None, option("C", "Of CSV files. Default: as the header has it.", ADVANCED)] = None,
    header: Annotated[
        str | None,
        option("COL,...", "Names of columns for a table without; a last `COL...` has all other cells.", COLUMNS),
    ] = None,
    errors: Annotated[
        str | None, option("HOW", "Unreadable input: strict (default; of folders: skip), replace, skip.", ADVANCED)
    ] = None,
    follow: Annotated[bool, flag("--follow", "Follow links that lead out of a folder.", ADVANCED)] = False,
    track: Annotated[bool, flag("--track", "Note changes of the table by triggers, for `update`.")] = False,
    suggest: Annotated[
        bool, flag("--suggest", "Write nothing: print commands for its tables, or a file of rows.")
    ] = False,
) -> SimpleNamespace:
    """How sources are read."""
    if errors not in (None, "strict", "replace", "skip"):
        raise UsageError(f"--errors is strict, replace or skip, not {errors!r}")
    if delimiter is not None and len(delimiter := delimiter.replace("\\t", "\t")) != 1:
        raise UsageError(f"--delimiter is one character, not {delimiter!r}")
    return SimpleNamespace(**locals())


class Rules(NamedTuple):
    """Which rows of a relation count, and how."""

    keep: Annotated[str | None, option("CONDITION", "Only rows such as 'rating >= 4'.", COLUMNS)] = None
    split: Annotated[str | None, option("TEXT", "What stands between features, tags, links or groups.", COLUMNS)] = None
    titles: Annotated[str | None, option("FILE", "A relation: rows with the titles of the items.", COLUMNS)] = None
    min_features: Annotated[int, option("N", "A relation: only items with N features.", COLUMNS, min=0)] = 0
    min_items: Annotated[int, option("N", "A relation: then, only features of N items.", COLUMNS, min=0)] = 0


def column_options(
    *,
    id: Annotated[str, option("COL", "Column with the ids of documents.", COLUMNS)] = "id",
    text: Annotated[Texts, option("COL", "Column with text; may be repeated.", COLUMNS)] = None,
    title: Annotated[str | None, option("COL", "Column with titles to show.", COLUMNS)] = None,
    items: Annotated[str | None, option("COL", "A relation: column with the items.", COLUMNS)] = None,
    features: Annotated[str | None, option("COL", "A relation: column with the features.", COLUMNS)] = None,
    count: Annotated[str | None, option("COL", "A relation: column with counts.", COLUMNS)] = None,
    group_by: Annotated[str | None, option("COL", "Index all texts with the same COL as one item.", COLUMNS)] = None,
    keep_columns: Annotated[
        str | None,
        option("COL,...", "Columns of documents that come back with each hit; else those kept before.", COLUMNS),
    ] = None,
    numbers: Annotated[
        Texts, option("COL", "A number or date, a field of documents or all of --items; may be repeated.", COLUMNS)
    ] = None,
) -> "Columns":
    """The roles of the columns."""
    kept = tuple(name.strip() for name in (keep_columns or "").split(",") if name.strip())
    from setsearch.storage.synced_source import Columns

    return Columns(id, tuple(text or ()), title, items, features, count, group_by, tuple(numbers or ()), kept)


def field_options(
    *,
    tags: Annotated[
        Texts,
        option("COL", "A field of documents: COL, NAME=COL or TABLE.ID=COL[,TABLE.ID=COL]; may be repeated.", COLUMNS),
    ] = None,
    links: Annotated[Texts, option("COL", "Likewise ids of other documents; may be repeated.", COLUMNS)] = None,
) -> dict[str, list[str]]:
    """Columns of documents that are fields beside the text."""
    return {"tags": tags or [], "links": links or []}
