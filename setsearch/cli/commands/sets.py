"""Commands for saved sets: `setsearch set ...`."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

import setsearch
from setsearch.answers.saved.groups import wanted_sets
from setsearch.cli.help import ADVANCED, PanelCommand, argument, flag, option
from setsearch.cli.messages import say
from setsearch.cli.options import Collection, Command, Items, Top, with_collection, with_options
from setsearch.cli.output import (
    Show,
    format_options,
    informative,
    print_csv,
    print_json,
    print_lines,
    print_tsv,
    write_in_utf8,
)
from setsearch.errors import UsageError, number_of

app = typer.Typer(help="Save sets in the database, change and show them.", rich_markup_mode=None)

Name = Annotated[str, argument("NAME", "The name of the set.")]
PLACED = ("group", "under")
TURTLE = (".ttl", ".nt")  # how files of SKOS end
JOINING = ("round", "score", "chance", "reason", "over")
Members = Annotated[list[str], argument("ITEM...", "Its items.")]


def _command(name: str) -> Callable[[Command], Command]:
    """A command of the group, for a database and a collection in it."""
    return lambda command: app.command(name, cls=PanelCommand)(with_collection(command))


@_command("save")
def save(
    db: Collection,
    name: Name,
    members: Annotated[list[str] | None, argument("ITEM...", "Its items; none: only its group changes.")] = None,
    *,
    items: Items = None,
    reject: Annotated[list[str] | None, option("ITEM", "Reject an item; may be repeated.")] = None,
    group: Annotated[str | None, option("NAME", "Put it in this group of sets; '' takes it out.")] = None,
    under: Annotated[str | None, option("NAME", "It lies within this set; '' takes it out.")] = None,
    replace: Annotated[bool, flag("--replace", "Replace another set of the same name.")] = False,
) -> None:
    """Save a set.

    Example: setsearch set save notes.db dances waltz tango --items documents --reject minuet
    """
    placed = {key: value for key, value in {"group": group, "under": under}.items() if value is not None}
    both = {*(members or ())} & {*(reject or ())}
    if both:
        raise UsageError(f"{min(both)!r} is accepted and rejected; leave one of them out")
    if not members and (not placed or reject):
        raise UsageError("no items: give ITEM..., or --group or --under for a set that is saved")
    with db.open() as index:
        if members:
            saved = index.keep_set(name, members, reject or (), items, None if replace else "", **placed)
        else:
            saved = _saved_set(index, name)
            saved.group, saved.under = placed.get("group", saved.group), placed.get("under", saved.under)
            saved.save()
        _tell_size(saved)


@_command("group")
@with_options(show=format_options)
def group_command(
    db: Collection,
    name: Annotated[str, argument("GROUP", "The name of the group.")],
    *,
    exclusive: Annotated[
        bool | None, flag("--exclusive/--no-exclusive", "An item belongs to one set, where it fits best; or no longer.")
    ] = None,
    grown: Annotated[bool, flag("--grown", "What joined by growing: in which round, and why.")] = False,
    take_back: Annotated[
        int | None, option("N", "Take back what joined from this round on, and nobody has judged.", min=1)
    ] = None,
    stop: Annotated[bool, flag("--stop", "Stop the run by which it grows; `grow` goes on.")] = False,
    show: Show,
) -> None:
    """The sets of a group, into which `set save --group` puts them; let these exclude one another; see how they grew.

    Example: setsearch set group notes.db kinds --exclusive
    """
    again = f"`setsearch grow {shlex.quote(str(db))} --group {shlex.quote(name)}` goes on"
    with db.open() as index:
        found = index.group(name, exclusive)
        growth = index.growth(group=name) if grown or stop or take_back is not None else None
        if growth is not None and stop:
            say(f"stopped; {again}" if growth.runs else f"the group {name} does not grow now")
            growth.stop()
        if growth is not None and take_back is not None:
            growth[:] = growth.take_back(take_back)
            nothing = f"nothing joined from round {take_back} on that nobody has judged"
            say(f"{len(growth):,} taken back; {again}" if growth else nothing)
        rows = [_row(index.set(own)) for own in found.sets]
    if growth is not None and (grown or take_back is not None):
        if grown:
            say(f"grows now (host and process {growth.runs})" if growth.runs else growth.ended or "no run is at work")
        show(informative([own._asdict() for own in growth], "title"))
    elif growth is None:
        say(f"the group {name} is {'' if found.exclusive else 'not '}exclusive")
        show(informative([{key: value for key, value in row.items() if key != "group"} for row in rows], "under"))


def _row(saved: "setsearch.ItemSet") -> dict[str, Any]:
    """A set in a list; without a group, or a whole, it has no such column."""
    row = {"set": saved.name, "items": saved.items, "accepted": len(saved.accepted), "rejected": len(saved.rejected)}
    return row | {"group": saved.group or "", "under": saved.under or ""}


@_command("accept")
def accept(db: Collection, name: Name, members: Members) -> None:
    """Accept items into a set.

    Example: setsearch set accept notes.db dances fox-trot
    """
    _change(db, name, accept=members)


@_command("reject")
def reject(db: Collection, name: Name, members: Members) -> None:
    """Reject items: they become negative examples.

    Example: setsearch set reject notes.db dances minuet
    """
    _change(db, name, reject=members)


@_command("remove")
def remove(db: Collection, name: Name, members: Members) -> None:
    """Remove items, accepted or rejected, from a set.

    Example: setsearch set remove notes.db dances minuet
    """
    _change(db, name, remove=members)


@_command("list")
@with_options(show=format_options)
def list_command(db: Collection, *, show: Show) -> None:
    """The saved sets.

    Example: setsearch set list notes.db
    """
    with db.open() as index:
        rows = [_row(index.set(name)) for name in index.sets()]
    show(informative(rows, *PLACED))


@_command("show")
@with_options(show=format_options)
def show_command(db: Collection, name: Name, *, show: Show) -> None:
    """The items of a set, with titles; --csv, --json and the like export it.

    Example: setsearch set show notes.db dances --csv
    """
    from setsearch.answers.highlight import titles_of

    with db.open() as index:
        saved = _saved_set(index, name)
        grown = {own.item: own._asdict() for own in saved.grown()}
        titles = titles_of(saved.reading, [*saved.accepted, *saved.rejected])
    rows = [
        {"item": item, "title": titles.get(item), "mark": mark} | {key: grown.get(item, {}).get(key) for key in JOINING}
        for mark, items in (("accepted", saved.accepted), ("rejected", saved.rejected))
        for item in items
    ]
    show(informative(rows, "title", *JOINING), ("item", "mark"))


@_command("export")
@with_options(show=format_options)
def export(
    db: Collection,
    names: Annotated[list[str] | None, argument("NAME...", "The sets; by default all.", show_default=True)] = None,
    *,
    skos: Annotated[bool, flag("--skos", "SKOS in Turtle, of what is accepted; needs rdflib.")] = False,
    base: Annotated[str | None, option("IRI", "How addresses of --skos begin.", ADVANCED)] = None,
    show: Show,
) -> None:
    """Sets with their members, for `set import` and others: --json a set a row, --csv a member a row.

    Example: setsearch set export notes.db --csv
    """
    from setsearch.answers.saved.exchange import OF_MEMBER, member_rows

    if skos and show in (print_csv, print_tsv):
        raise UsageError("--skos writes Turtle; leave --csv and --tsv out")
    if base is not None and not skos:
        raise UsageError("--base is how addresses of --skos begin; give both")
    with db.open() as index:
        if skos:
            from setsearch.integrations.skos import BASE, as_skos

            write_in_utf8()
            print(as_skos(index, names or None, base or BASE).serialize(format="turtle"), end="")
            return
        rows = index.export_sets(names or None)
        if grown := _count_grown(index, rows):
            say(f"note: {grown:,} of these joined by growing, and nobody has judged them; the file does not tell which")
    if show in (print_json, print_lines):
        show(rows)
        return
    for row in rows:
        if not (row["accepted"] or row["rejected"]):
            say(f"note: {row['name']} has no members, so it has no row here; --json has it")
    show(member_rows(rows), OF_MEMBER)


def _count_grown(index: "setsearch.Index", rows: Sequence[Mapping[str, Any]]) -> int:
    """How many members joined by growing, and nobody has judged them; sets of numbers do not grow."""
    from setsearch.answers.reading import Reading

    of_kinds: dict[str, list[str]] = {}
    for row in rows:
        of_kinds.setdefault(row["items"], []).append(row["name"])
    return sum(len(index.growth(names)) for kind, names in of_kinds.items() if isinstance(index.reading(kind), Reading))


@_command("import")
def import_command(
    db: Collection,
    source: Annotated[str, argument("FILE", "CSV, workbook (set,item), JSON, .ttl (SKOS), .gmt; - for stdin.")],
    *,
    items: Items = None,
    replace: Annotated[bool, flag("--replace", "Replace other sets of the same names.")] = False,
    add: Annotated[bool, flag("--add", "Add to sets of the same names.")] = False,
    errors: Annotated[str, option("HOW", "Unknown items, unreadable rows: strict, skip.", ADVANCED)] = "strict",
) -> None:
    """Save the sets of a file: all of them, or none.

    CSV has the columns set and item, and may have mark (accepted, rejected, yes, no), items, group and under; JSON is
    an array of objects with name, items, group, under, accepted, rejected, or an object of arrays: {"cats": ["lion"]}.
    The collections of SKOS are sets, and the lines of .gmt.

    Example: setsearch set import notes.db classes.csv --items terms
    """
    from setsearch.cli.set_files import read_set_rows
    from setsearch.indexing.rows.reader import RowReader

    with db.open() as index:
        if source.endswith(TURTLE):
            from setsearch.integrations.skos import rows_of_skos

            rows: Iterable[Any] = rows_of_skos(index, source, items)
        else:
            rows = read_set_rows(source, RowReader(errors, say))
        saved = index.import_sets(rows, items, replace=replace, add=add, errors=errors, warn=say)
    accepted, rejected = (sum(len(getattr(own, side)) for own in saved) for side in ("accepted", "rejected"))
    say(f"saved {number_of(len(saved), 'set')}: {accepted:,} accepted, {rejected:,} rejected")


@_command("of")
@with_options(show=format_options)
def of_command(
    db: Collection,
    item: Annotated[str | None, argument("ITEM", "What may belong to sets.")] = None,
    *,
    text: Annotated[str | None, option("TEXT", "A text that may belong to sets of documents.")] = None,
    items: Items = None,
    k: Top = 10,
    show: Show,
) -> None:
    """The saved sets that an item or a text fits best, each with its line, and whether it belongs.

    Example: setsearch set of notes.db quickstep
    """
    with db.open() as index:
        found = index.sets_of(item, text=text, items=items, k=k)
    for note in found.notes:
        say(f"note: {note}")
    show(informative([claim._asdict() for claim in found], "said", "better"))


@_command("rename")
def rename(db: Collection, name: Name, new: Annotated[str, argument("NEW", "Its new name.")]) -> None:
    """Give a set another name; its group, its parts, how it grew and its inbox stay.

    Example: setsearch set rename notes.db dances "ballroom dances"
    """
    with db.open() as index:
        say(f"the set {name} is {index.rename_set(name, new).name} now")


@_command("delete")
def delete(db: Collection, name: Name) -> None:
    """Delete a set; its items stay in the index.

    Example: setsearch set delete notes.db dances
    """
    with db.open() as index:
        parts = index.delete_set(name)
    say(f"deleted the set {name}" + (f"; within no set now: {', '.join(parts)}" if parts else ""))


def _change(db: Collection, name: str, **said: Any) -> None:
    from setsearch.answers.saved.item_sets import change_set

    with db.open() as index:
        saved = _saved_set(index, name)
        change_set(saved, **said)
        _tell_size(saved)


def _saved_set(index: "setsearch.Index", name: str) -> "setsearch.ItemSet":
    return index.set(*wanted_sets(index.sets(), [name]))


def _tell_size(saved: "setsearch.ItemSet") -> None:
    rejected = f", {len(saved.rejected)} rejected" if saved.rejected else ""
    say(f"the set {saved.name} of {saved.items} has {len(saved.accepted)} accepted{rejected}")
