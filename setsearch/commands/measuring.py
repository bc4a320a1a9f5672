"""Commands that measure how well sets are completed."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

import setsearch
from setsearch.commands.arguments import DB, Items
from setsearch.commands.learning import Sets, known_sets
from setsearch.options import options
from setsearch.printing import Show, print_json, print_lines, printer, say

if TYPE_CHECKING:
    from setsearch.baselines import Score
    from setsearch.fields import Fields
    from setsearch.hits import ModelOptions

ALS = "ALS (spark.ml)"


@options(show=printer)
def evaluate_command(
    db: DB,
    sets: Sets = None,
    *,
    items: Items = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Members to give as examples.", min=1)] = 3,
    draws: Annotated[int, typer.Option(metavar="N", help="How often to draw them, for each set.", min=1)] = 10,
    als: Annotated[bool, typer.Option("--als", help="Also the ALS of spark.ml, for ratings ([spark]).")] = False,
    by: Annotated[str | None, typer.Option(metavar="WHAT", help="Terms by contexts, documents or both.")] = None,
    show: Show,
) -> None:
    """How well the rest of known sets is found: our models and ten others, on your own sets.

    MAP (mean average precision) with a 95 % bootstrap interval over sets, precision and nDCG at 10, R-precision.
    """
    from setsearch.evaluation import Design, as_rows, evaluate

    with setsearch.open(db) as index:
        known, items = known_sets(index, sets, items)
        reading = index.items(items)
        model: ModelOptions = {"by": by}
        with reading.fields(**model) as fields:
            rivals = {ALS: _als(fields)} if als else {}
            found = evaluate(fields, reading.profile, known, Design(seeds, draws), rivals)
    if found.left_out:
        say(f"left out, fewer than {seeds + 1} members that the index knows: {', '.join(found.left_out)}")
    rows = as_rows(found)
    show(rows if show in (print_json, print_lines) else [_short(row) for row in rows])
    say(f"{found.sets} sets, {found.queries} questions of {seeds} seeds; {found.recommendation}")
    say(f"what belongs: F1 {found.cut_f1:.3f}, with the best possible cut {found.best_f1:.3f}")


def _als(fields: "Fields") -> "Score":
    """The scores of matrix factorization."""
    from setsearch.commands.distributed import on_spark

    with on_spark("local[*]") as spark:
        from setsearch.spark.als import als_score

        return als_score(spark, fields)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"ours": "*" if row["ours"] else ""}
