"""The command that shows what came and belongs to saved sets: `setsearch inbox`."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import setsearch
from setsearch.answers.results import display_name
from setsearch.cli.dialogue import typed_lines, without_options
from setsearch.cli.help import argument, flag, option
from setsearch.cli.messages import say
from setsearch.cli.options import Collection, with_options
from setsearch.cli.output import Show, format_options, informative, print_table
from setsearch.errors import AnsweredMeanwhile, ChangedSet, Interrupted, SetsearchError, UsageError

if TYPE_CHECKING:
    from setsearch.answers.saved.inbox import Inbox, InboxRow

KEYS = "y yes, n no, s skip, u undo, q quit, ? help"
HELP = """y  yes, it belongs: it is accepted into the set
n  no: it is rejected, and what is like it belongs less
s  skip: it comes again
u  undo: the last answer is taken back
q  quit; every answer is kept"""
ANSWERS = {"y": "yes", "n": "no"}
SAID = {"yes": "accepted", "no": "rejected", None: "is open again"}
ROW = "named by its item; may be repeated."


@with_options(show=format_options)
def inbox(
    db: Collection,
    sets: Annotated[list[str] | None, argument("SET...", "Saved sets; by default all.", show_default=True)] = None,
    *,
    accept: Annotated[list[str] | None, option("ITEM", f"Accept a row into its set, {ROW}")] = None,
    reject: Annotated[list[str] | None, option("ITEM", f"Reject a row, {ROW}")] = None,
    done: Annotated[
        bool, flag("--done", "The rows were looked at: they are shown once more, and come again if they change.")
    ] = False,
    show: Show,
) -> None:
    """What came or changed since saved sets were looked at, and belongs to them.

    At a terminal y and n then decide row by row; each answer is kept at once.

    Example: setsearch inbox notes.db dances --accept quickstep --done
    """
    with db.open() as index:
        found = index.inbox(sets or None)
        if accept or reject:
            yes, no = ([_named(found, item) for item in given or ()] for given in (accept, reject))
            found.decide(yes, no)
            for row in (*yes, *no):
                say(f"{row.set}: {row.item} {'accepted' if row in yes else 'rejected'}")
            found = index.inbox(sets or None)  # the others, with what was learned
        found.with_headlines()
        for note in found.notes:
            say(f"note: {note}")
        hidden = "number"  # which is another in the next call
        rows = [{key: value for key, value in row._asdict().items() if key != hidden} for row in found]
        rows = informative(rows, "title")
        show(rows, ("item", "set", "score", "reason", "others"))
        if not rows:
            say("nothing new belongs")
        if done:
            found.done()
            if rows:
                say("all of these were looked at; they come again if they change")
        elif rows and not (accept or reject) and show is print_table and at_terminal():
            try:
                _ask(index, [*found])
            except KeyboardInterrupt as error:
                raise Interrupted("stopped; every answer is kept") from error


def at_terminal() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _named(found: "Inbox", item: str) -> "InboxRow":
    """The row of an item. Raises UsageError, AmbiguousItem."""
    rows = found.rows_of(item)
    if not rows:
        raise UsageError(f"no item {item!r:.60} in the inbox, which has {len(found)}; `setsearch inbox DB` shows them")
    if len(rows) > 1:
        sets = " and ".join(row.set for row in rows)
        raise UsageError(f"{item!r:.60} is new for {sets}; name one: `setsearch inbox DB SET --accept ITEM`")
    return rows[0]


def _ask(index: "setsearch.Index", rows: "Sequence[InboxRow]") -> None:
    """Ask about one row after another; each answer is saved at once."""
    place, past, lines = 0, dict[int, str](), typed_lines()
    while place < len(rows):
        row = rows[place]
        say(f"{place + 1} of {len(rows)}  {display_name(row.item, row.title)}: {row.set}?  {KEYS}")
        if (key := next(lines, None)) is None:
            break
        try:
            if key in ANSWERS:
                if _decide(index, row, ANSWERS[key], None):
                    past[place] = ANSWERS[key]
                place += 1
            elif key == "s":
                place += 1
            elif key == "u" and past:
                place, said = past.popitem()
                _decide(index, rows[place], None, said)
            else:
                say("nothing to undo" if key == "u" else HELP)
        except SetsearchError as error:
            say(f"Error: {without_options(str(error))}")


def _decide(index: "setsearch.Index", row: "InboxRow", said: str | None, before: str | None) -> bool:
    """Decide a row, or take back what was said `before`, and tell what is so now; whether this changed it."""
    from setsearch.answers.saved.inbox import decide_one

    try:
        is_changed = decide_one(partial(_present_set, index, row.set), row.item, said, before)
        who = "" if is_changed or said is None else " by somebody else"
    except AnsweredMeanwhile as error:
        is_changed, said, who = False, error.said, " by somebody else, which stays"
    say(f"{row.set}: {row.item} {SAID[said]}{who}")
    return is_changed


def _present_set(index: "setsearch.Index", name: str) -> "setsearch.ItemSet":
    """A set as it is now. Raises ChangedSet if it is gone: `set` would begin it anew."""
    if name not in index.sets():
        raise ChangedSet(f"somebody has deleted or renamed the set {name!r} meanwhile; nothing was saved")
    return index.set(name)
