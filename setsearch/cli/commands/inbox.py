"""The command that shows what came and belongs to saved sets: `setsearch inbox`."""

from typing import Annotated

from setsearch.answers.results import is_informative
from setsearch.cli.collection import Collection
from setsearch.cli.help import argument, flag, option
from setsearch.cli.options import with_options
from setsearch.cli.output import Show, format_options, say

ROW = "by its number or item (=7: the item 7); may repeat."


@with_options(show=format_options)
def inbox(
    db: Collection,
    sets: Annotated[list[str] | None, argument("SET...", "Saved sets; by default all.", show_default=True)] = None,
    *,
    accept: Annotated[list[str] | None, option("ROW", f"Accept a row into its set, {ROW}")] = None,
    reject: Annotated[list[str] | None, option("ROW", f"Reject a row, {ROW}")] = None,
    done: Annotated[bool, flag("--done", "All rows shown were looked at: they come again if they change.")] = False,
    show: Show,
) -> None:
    """What came or changed since saved sets were looked at, and belongs to them.

    Example: setsearch inbox notes.db dances --accept 1 --done
    """
    with db.open() as index:
        found = index.inbox(sets or None)
        if accept or reject:
            decided = found.decide(accept or (), reject or ())
            for row, said in zip(
                decided, ["accepted"] * len(accept or ()) + ["rejected"] * len(reject or ()), strict=True
            ):
                say(f"{row.set}: {row.item} {said}")
            found = index.inbox(sets or None)  # the others, by new numbers and with what was learned
        for note in found.notes:
            say(f"note: {note}")
        rows = [row._asdict() for row in found]
        if not any(is_informative(row.title, row.item) for row in found):
            rows = [{key: value for key, value in row.items() if key != "title"} for row in rows]
        show(rows)
        if not rows:
            say("nothing new belongs")
        if done:
            found.done()
