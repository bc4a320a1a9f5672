"""The command that learns from sets: which of our models completes them best."""

from typing import Annotated

import setsearch
from setsearch.cli.help import argument, flag, option
from setsearch.cli.messages import say
from setsearch.cli.options import Collection, Items, with_options
from setsearch.cli.output import Show, format_options, print_json, print_lines
from setsearch.cli.progress import tell
from setsearch.errors import UsageError, number_of

SETS = "JSON: set -> items; or CSV: set,item. Default: the saved sets."


@with_options(show=format_options)
def evaluate_command(
    db: Collection,
    sets: Annotated[str | None, argument("SETS", SETS, show_default=True)] = None,
    *,
    items: Items = None,
    seeds: Annotated[int, option("N", "Members that are the seeds.", min=1)] = 3,
    draws: Annotated[int, option("N", "How often to draw them for each set.", min=1)] = 10,
    by: Annotated[str | None, option("WHAT", "What describes terms: contexts, documents or both.")] = None,
    fields: Annotated[bool, flag("--fields", "Also learn the weights of fields, for --by.")] = False,
    save: Annotated[bool, flag("--save", "With --fields: questions without --by weigh fields so.")] = False,
    show: Show,
) -> None:
    """How well our models find the rest of known sets, with several options.

    MAP (mean average precision) with a 95 % bootstrap interval over sets, precision and nDCG at 10, R-precision; and
    which model to take.

    Example: setsearch evaluate notes.db sets.json
    """
    from setsearch.learning import evaluate_sets

    if save and not fields:
        raise UsageError("--save keeps the weights that --fields learns; give both")
    with db.open() as index:
        known, items = _sets_of(index, sets, items)
        reading = index.items(items)
        with tell("evaluating") as follow:
            evaluation = evaluate_sets(reading, known, seeds=seeds, draws=draws, by=by, fields=fields, progress=follow)
        if save:
            index.weigh_fields(evaluation.learned, reading.name)
    rows = evaluation.rows()
    if show in (print_json, print_lines):
        options = {result.method: result.options for result in evaluation.results}
        show([row | {"options": options[row["method"]]} for row in rows])
    else:
        show(rows)
    for line in evaluation.notes():
        say(line)
    if save:
        say(f"saved: questions without --by weigh fields by {evaluation.learned}")


def _sets_of(index: "setsearch.Index", sets: str | None, items: str | None) -> tuple[dict[str, list[str]], str | None]:
    """The sets of a file, or the saved ones of one kind of items; and that kind."""
    from setsearch.cli.set_files import read_sets

    if sets is not None:
        return read_sets(sets), items
    saved = [index.set(name) for name in index.sets()]
    if items is None and saved:
        items = saved[0].items
    known, grown = dict[str, list[str]](), 0
    for one in [one for one in saved if one.items == items]:
        joined = {own.item for own in one.grown()}
        known[one.name] = [item for item in one.accepted if item not in joined]
        grown += len(joined)
    if grown:
        say(f"note: left out, {number_of(grown, 'member')} that joined by growing: nobody chose what joins so")
    if len(known) < len(saved) and len({one.items for one in saved}) > 1:
        say(f"note: the saved sets of {items} only; --items takes those of others")
    if not known:
        raise UsageError("no sets: give a file of SETS, or save some with `setsearch set save`")
    return known, items
