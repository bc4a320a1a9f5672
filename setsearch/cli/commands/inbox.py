"""The command that shows what came and belongs to saved sets: `setsearch inbox`."""

import sys
from typing import TYPE_CHECKING, Annotated

import setsearch
from setsearch.answers.results import display_name
from setsearch.cli.dialogue import typed_lines
from setsearch.cli.help import argument, flag, option
from setsearch.cli.messages import say
from setsearch.cli.options import Collection, with_options
from setsearch.cli.output import Show, format_options, informative, print_table
from setsearch.errors import ChangedSet, Interrupted, SetsearchError, UsageError

if TYPE_CHECKING:
    from setsearch.answers.saved.inbox import Inbox, InboxRow

KEYS = "y yes, n no, s skip, u undo, q quit, ? help"
HELP = """y  yes, it belongs: it is accepted into the set
n  no: it is rejected, and what is like it belongs less
s  skip: it comes again
u  undo: the last answer is taken back
q  quit; every answer is kept"""
SAID = {"y": "accepted", "n": "rejected"}
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
                _ask(index, found)
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


def _ask(index: "setsearch.Index", found: "Inbox") -> None:
    """Ask about one row after another; each answer is saved at once."""
    rows, place, past = [*found], 0, dict[int, str]()
    lines = typed_lines()
    while place < len(rows):
        row = rows[place]
        say(f"{place + 1} of {len(rows)}  {display_name(row.item, row.title)}: {row.set}?  {KEYS}")
        key = next(lines, "q")
        try:
            if key in ("q", "quit"):
                break
            if key in SAID and (now := _said(index, row)):  # for whom it stays
                say(f"{row.set}: {row.item} {SAID[now]} by somebody else{', which stays' * (now != key)}")
            elif key in SAID:
                found.decide([row] if key == "y" else (), [row] if key == "n" else ())
                say(f"{row.set}: {row.item} {SAID[key]}")
                past[place] = key
            if key == "u":
                place = _undo(index, rows, past, place)
            elif key in SAID or key == "s":
                place += 1
            else:
                say(HELP)
        except SetsearchError as error:
            say(f"Error: {error}")


def _said(index: "setsearch.Index", row: "InboxRow") -> str | None:
    """The key of what is said of a row by now. Raises ChangedSet if its set is gone, which `set` would begin anew."""
    if row.set not in index.sets():
        raise ChangedSet(f"somebody has deleted or renamed the set {row.set!r} meanwhile; nothing was saved")
    own = index.set(row.set)
    return "y" if row.item in own.accepted else "n" if row.item in own.rejected else None


def _undo(index: "setsearch.Index", rows: "list[InboxRow]", past: dict[int, str], place: int) -> int:
    """Take the last answer back, unless somebody has said otherwise; returns its place."""
    if not past:
        say("nothing to undo")
        return place
    place, key = past.popitem()
    row, now = rows[place], _said(index, rows[place])
    if now not in (key, None):
        say(f"{row.set}: {row.item} {SAID[now]} by somebody else, which stays")
        return place
    own = index.set(row.set)
    own.forget(row.item)
    own.save()
    say(f"{row.set}: {row.item} is open again")
    return place
