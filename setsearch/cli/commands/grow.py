"""The command that grows a set in a dialogue: expand, accept and reject, expand again; or many sets by themselves."""

import shlex
from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import setsearch
from setsearch.cli import progress
from setsearch.cli.dialogue import Dialogue, GrowingSet
from setsearch.cli.help import ADVANCED, option
from setsearch.cli.messages import say
from setsearch.cli.notes import tell_gone
from setsearch.cli.options import Collection, Items, OptionalSeeds, question_options, with_options
from setsearch.cli.output import Show, format_options, informative
from setsearch.errors import Interrupted, InvalidParameter, UsageError, number_of
from setsearch.options import GROWING, MODEL, RESULT, ROUNDS, ModelOptions, check, offered

STRICT = "strict"  # about errors of files


class Alone(NamedTuple):
    """How sets grow by themselves."""

    sets: Annotated[
        str | None, option("FILE", "Save classes first (CSV: set, item; or JSON), as an exclusive group; grow them.")
    ] = None
    group: Annotated[str | None, option("NAME", "Grow the saved sets of a group, without a dialogue.")] = None
    until: Annotated[str | None, option("TIME", "Begin no other round when a clock shows this (07:30).")] = None
    errors: Annotated[str | None, option("HOW", "Unknown items, unreadable rows: strict, skip.", ADVANCED)] = None


def _grow_alone(db: Collection, items: str | None, alone: Alone, how: dict[str, Any], show: Show) -> None:
    """Grow the sets of a group, or of a file, and show what joined."""
    from setsearch.answers.saved.growth.runs import End

    until = None if alone.until is None else _next_time(alone.until)
    again = "the same command" + " without --accept" * how["accept"]
    how = {name: value for name, value in how.items() if value is not None}
    check(how, GROWING)
    with db.open() as index:
        group = Path(alone.sets or "").stem if alone.group is None else alone.group
        if alone.sets is not None:
            _keep_classes(index, group, alone.sets, items, alone.errors or STRICT)
        sets = index.group(group).sets
        kind = index.sets()[sets[0]]
        if items is not None and index.reading(items).name != kind:
            raise UsageError(f"the sets of the group {group!r} are of {kind}, not of {items}; leave --items out")

        is_late = False

        def tell(rounds: Any) -> Iterator[list[Any]]:
            """Say what each round added, until it is time."""
            nonlocal is_late
            added = iter(rounds)
            while True:
                with progress.tell("growing", lambda: rounds.share):
                    rows = next(added, None)
                if rows is None:
                    return
                grown = len({row.set for row in rows})
                what = f"{len(rows)} joined {number_of(grown, 'set')}"
                say(f"round {rows[0].round} of {how.get('rounds', ROUNDS)}: {what}")
                yield rows
                if is_late := until is not None and datetime.now() >= until:
                    say(f"it is {alone.until}; {again} goes on")
                    return

        try:
            joined = index.grow(group=group, progress=tell, **how)
        except KeyboardInterrupt as error:
            raise Interrupted(f"stopped; the rounds that were told are kept, and {again} goes on") from error
        is_reached = joined.end is End.REACHED
        last = index.growth(group=group).last if is_reached else 0
    show(informative([row._asdict() for row in joined], "title"))
    for note in joined.notes:
        say(f"note: {note}")
    if joined.untold:
        say(joined.untold)
    if is_reached:
        more = f"--rounds {last + how.get('rounds', ROUNDS)} goes on"
        shows = f"setsearch set group {shlex.join([str(db), group])} --grown"
        say(f"{joined.ended}; {more}, `{shows}` has what joined, and why")
    elif not is_late:
        ways_out: dict[End | None, str] = {
            End.NOTHING: "judge the doubtful ones of `setsearch inbox`, or give a smaller --precision, then grow again",
            End.ELSEWHERE: "`setsearch set list` has the groups; grow those",
        }
        say(f"{joined.ended}; {ways_out.get(joined.end, f'{again} goes on')}")


def _next_time(text: str) -> datetime:
    """The next time that a clock shows this. Raises UsageError."""
    now = datetime.now()
    try:
        wanted = datetime.combine(now.date(), time.fromisoformat(text))
    except ValueError:
        raise UsageError(f"--until is a time of the day such as 07:30, not {text!r:.40}") from None
    return wanted if wanted > now else wanted + timedelta(days=1)


def _keep_classes(index: "setsearch.Index", group: str, source: str, items: str | None, errors: str) -> None:
    """Save the classes of a file as sets that exclude one another; those that the group has already stay as they are.

    A set in no group that has all words of its class is put into the group. Raises SourceError, UsageError; then
    nothing is saved.
    """
    from setsearch.answers.saved.exchange import set_name
    from setsearch.cli.set_files import read_set_rows
    from setsearch.indexing.rows.reader import RowReader

    known = {name: index.set(name).group for name in index.sets()}
    rows, outside = [], dict[str, setsearch.ItemSet]()
    for place, row in read_set_rows(source, RowReader(errors, say)):
        name = set_name(row)
        if name in known and known[name] not in (None, group):
            raise UsageError(f"{place}: the set {name!r} is in the group {known[name]!r} already; rename the class")
        if known.get(name, group) is None:
            if name not in outside:
                outside[name] = index.set(name)
            _require_members(outside[name], place, row, errors == STRICT)
        rows.append((place, row, known.get(name, "") == group))
    if not rows:
        raise UsageError(f"{source} has no class to grow; each line names a set and an item")
    new = [(place, {**row, "group": group, "exclusive": "yes"}) for place, row, is_in_group in rows if not is_in_group]
    index.import_sets(new, items, add=True, errors=errors, warn=say)


def _require_members(own: "setsearch.ItemSet", place: str, row: Mapping[str, Any], is_strict: bool) -> None:
    """Raise UsageError if a saved set lacks what a row of a class has: then it may be another one.

    If not strict, items that nobody knows are for the import to tell.
    """
    from setsearch.answers.saved.exchange import read_row

    try:
        members = [str(item) for item, is_in in read_row(row)[1] if is_in]
    except InvalidParameter as error:
        raise UsageError(f"{place}: {error}") from error
    for item, found in own.reading.find_each(members).items():
        if found not in own.accepted and (is_strict or isinstance(found, str)):
            what = f"there is a set {own.name!r} already, without {item!r:.60}"
            raise UsageError(f"{place}: {what}; `setsearch set import --add` adds it, or rename the class")


@with_options(
    alone=Alone,
    how=question_options(GROWING),
    wanted=question_options(offered("the dialogue", RESULT)),
    model=question_options(MODEL),
    show=format_options,
)
def grow(
    db: Collection,
    seeds: OptionalSeeds = None,
    *,
    items: Items = None,
    set: Annotated[str | None, option("NAME", "Continue a saved set.")] = None,
    alone: Alone,
    how: dict[str, Any],
    wanted: dict[str, Any],
    model: ModelOptions,
    show: Show,
) -> None:
    """Grow a set in the terminal: look at the list, accept, reject, look again.

    The dialogue is on stderr; at its end the set goes to stdout. With --sets or --group, saved sets grow by themselves,
    side by side; what is doubtful comes to `setsearch inbox`.

    Example: setsearch grow notes.db violin cello --items documents
    """
    if alone.sets is not None or alone.group is not None:
        if seeds or set is not None or any(value is not None for value in {**wanted, **model}.values()):
            raise UsageError("--sets and --group grow saved sets by themselves; leave the options of a dialogue out")
        _grow_alone(db, items, alone, how, show)
        return
    unused = {**how, "until": alone.until, "errors": alone.errors}
    if given := next((name for name, value in unused.items() if value), None):
        raise UsageError(f"--{given} is for --sets and --group; leave it out")
    if not seeds and set is None:
        raise UsageError("no examples: give SEED..., or --set NAME")
    with db.open() as index:
        saved = None if set is None else index.set(set, items)
        reading = index.reading(items if saved is None else saved.items)
        accepted, rejected = ([], []) if saved is None else saved.present()
        if saved is not None:
            tell_gone(saved, str(db))
        dialogue = Dialogue(index, reading, model, saved, GrowingSet(tuple(accepted), tuple(rejected)), wanted)
        dialogue.begin(seeds or [])
        try:
            dialogue.run()
        except KeyboardInterrupt as error:
            show(dialogue.current.rows())
            raise Interrupted("stopped; saved sets stay saved") from error
    show(dialogue.current.rows())
