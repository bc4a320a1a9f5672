"""The command that grows a set: expand, take in and leave out, expand again."""

from typing import TYPE_CHECKING, Annotated

import typer

import setsearch
from setsearch.commands.arguments import DB, Examples, Items
from setsearch.errors import Interrupted, UsageError
from setsearch.options import options, scoring
from setsearch.printing import Show, printer

if TYPE_CHECKING:
    from setsearch.hits import ModelOptions


@options(model=scoring, show=printer)
def grow(
    db: DB,
    seeds: Examples = None,
    *,
    items: Items = None,
    set: Annotated[str | None, typer.Option(metavar="NAME", help="Go on with a saved set.")] = None,
    model: "ModelOptions",
    show: Show,
) -> None:
    """Grow a set in the terminal: look at what belongs, take in, leave out, look again.

    The dialogue is on stderr; at its end the set goes to stdout.
    """
    if not seeds and set is None:
        raise UsageError("no examples: give SEED..., or --set NAME")
    from setsearch.dialogue import Dialogue, GrownSet

    with setsearch.open(db) as index:
        start = GrownSet()
        if set is not None:
            saved = index.set(set, items)
            items, start = saved.items, GrownSet(tuple(saved.accepted), tuple(saved.rejected))
        reading = index.items(items)
        start = start.begin([reading.find(seed) for seed in seeds or ()])
        try:
            done = Dialogue(index, reading, model, set).run(start)
        except KeyboardInterrupt as error:
            raise Interrupted("stopped; what was saved stays") from error
    rows = [{"item": name, "status": "accepted"} for name in done.accepted]
    show(rows + [{"item": name, "status": "rejected"} for name in done.rejected])
