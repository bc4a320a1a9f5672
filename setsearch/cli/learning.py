"""Commands that learn from sets: concepts, classes, which model to take, which features to keep.

Commands that measure how well sets are completed."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

import setsearch
from setsearch.cli.options import DB, Items, Seeds, Top, options
from setsearch.cli.output import Show, print_json, print_lines, printer, say, with_titles_that_say_more
from setsearch.errors import UsageError

if TYPE_CHECKING:
    from setsearch.index import Index

if TYPE_CHECKING:
    from setsearch.learning.baselines import Score
    from setsearch.models.defaults import ModelOptions
    from setsearch.search.fields import Fields


Sets = Annotated[
    str | None,
    typer.Argument(metavar="SETS", help="JSON: set -> items; or CSV: set,item. Default: the saved sets."),
]
SetsOption = Annotated[
    str | None, typer.Option("--sets", metavar="SETS", help="JSON or CSV of sets. Default: the saved sets.")
]


@options(show=printer)
def concepts(
    db: DB,
    seeds: Seeds,
    *,
    items: Items = None,
    k: Top = 10,
    prior: Annotated[
        str | None, typer.Option(metavar="FILE", help="CSV: feature,weight; features that it lacks are no hypotheses.")
    ] = None,
    no_size_principle: Annotated[
        bool, typer.Option("--no-size-principle", help="Large concepts are as good as small ones.")
    ] = False,
    show: Show,
) -> None:
    """Which concepts the seeds could be examples of: features as hypotheses, with their posterior probabilities."""
    from setsearch.cli.set_files import read_weights
    from setsearch.learning.concepts import learn
    from setsearch.search.request import whole

    weights = None if prior is None else read_weights(prior)
    with setsearch.open(db) as index:
        found = learn(index.items(items), seeds, prior=weights, size_principle=not no_size_principle)
    rows = [hypothesis._asdict() for hypothesis in found.hypotheses[: whole(k)]]
    show(with_titles_that_say_more(rows))


@options(show=printer)
def classify(
    db: DB,
    item: Annotated[str | None, typer.Argument(metavar="ITEM", help="What to classify.", show_default=False)] = None,
    *,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="A text to classify.")] = None,
    sets: SetsOption = None,
    items: Items = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="multinomial (default for documents) or bernoulli (for others).")
    ] = None,
    prior: Annotated[
        str, typer.Option(metavar="HOW", help="How probable sets are: by their sizes, or uniform.")
    ] = "sizes",
    show: Show,
) -> None:
    """Which of the saved sets an item, or a text, belongs to: naive Bayes."""
    from setsearch.learning.classification import classify as classes_of

    with setsearch.open(db) as index:
        known, items = known_sets(index, sets, items)
        found = classes_of(index.items(items), item, known, text=text, model=model, prior=prior)
    show([row._asdict() for row in found])


@options(show=printer)
def tune(
    db: DB,
    sets: Sets = None,
    *,
    items: Items = None,
    folds: Annotated[
        int | None, typer.Option(metavar="N", help="Folds of a set; default: one for each member, up to ten.", min=2)
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="WHAT", help="Terms by contexts, documents or both.")] = None,
    show: Show,
) -> None:
    """Which model, with which strength: tried on known sets, members left out in turn."""
    from setsearch.learning.tuning import tune as try_all

    with setsearch.open(db) as index:
        known, items = known_sets(index, sets, items)
        reading = index.items(items)
        with reading.fields(by=by) as fields:
            if by is None and len(fields.all) > 1:
                by = "both"
            found = try_all(fields, reading.profile, known, folds, by)
    rows: list[dict[str, Any]] = []
    for trial in found.trials:
        row: dict[str, Any] = {"choice": trial.choice, "map": round(trial.map, 4)}
        row |= {key: getattr(trial, key) for key in ("log_marginal", "aic", "bic")}
        rows.append(row | ({"options": trial.options} if show in (print_json, print_lines) else {}))
    show(rows)
    say(found.verdict)


def prune(
    db: DB,
    to: Annotated[str, typer.Argument(metavar="NEW", help="The database to make.", show_default=False)],
    *,
    sets: SetsOption = None,
    items: Items = None,
    keep: Annotated[int, typer.Option(metavar="N", help="How many features to keep.", min=1)] = 1000,
) -> None:
    """A smaller index: only the features that tell most, in bits, about membership in the sets."""
    from setsearch.learning.information import prune as prune_to

    with setsearch.open(db) as index:
        known, items = known_sets(index, sets, items)
        kept, before, after = prune_to(index, items, known, keep, to)
    say(f"{to} has {kept:,} features; {after:,} of {before:,} entries are left")


def known_sets(index: "Index", sets: str | None, items: str | None) -> tuple[dict[str, list[str]], str | None]:
    """The sets of a file, or the saved ones of one kind of items; and which items they are of."""
    from setsearch.cli.set_files import read_sets

    if sets is not None:
        return read_sets(sets), items
    kept = [index.set(name) for name in index.sets()]
    if items is None and kept:
        items = kept[0].items
    known = {own.name: own.accepted for own in kept if own.items == items}
    if len(known) < len(kept) and len({own.items for own in kept}) > 1:
        say(f"note: the saved sets of {items} only; --items takes those of others")
    if not known:
        raise UsageError("no sets: give a file of SETS, or save some with `setsearch set save`")
    return known, items


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
    from setsearch.learning.evaluation import Design, as_rows, evaluate

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
    from setsearch.cli.spark import on_spark

    with on_spark("local[*]") as spark:
        from setsearch.spark.als import als_score

        return als_score(spark, fields)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"ours": "*" if row["ours"] else ""}
