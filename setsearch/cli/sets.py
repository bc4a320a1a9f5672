"""Commands for sets that are kept in the database: `setsearch set ...`."""

from typing import Annotated, Any

import typer

import setsearch
from setsearch.cli.options import DB, Items, options
from setsearch.cli.output import Show, printer, say
from setsearch.errors import UnknownSet, UsageError

app = typer.Typer(help="Keep sets in the database, change them, show them.", rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the set.", show_default=False)]
Members = Annotated[list[str], typer.Argument(metavar="ITEM...", help="Its items.", show_default=False)]


@app.command("save")
def save(
    db: DB,
    name: Name,
    members: Members,
    *,
    items: Items = None,
    reject: Annotated[
        list[str] | None, typer.Option(metavar="ITEM", help="What is not meant; repeat for more.")
    ] = None,
) -> None:
    """Keep a set, in the place of one of the same name."""
    both = set(members) & set(reject or ())
    if both:
        raise UsageError(f"{min(both)!r} cannot be both accepted and rejected")
    with setsearch.open(db) as index:
        _say_size(index.keep_set(name, members, reject or (), items))


@app.command("add")
def add(db: DB, name: Name, members: Members) -> None:
    """Accept items into a set."""
    _change(db, name, "accept", members)


@app.command("reject")
def reject(db: DB, name: Name, members: Members) -> None:
    """Note that items are not meant: negative examples."""
    _change(db, name, "reject", members)


@app.command("remove")
def remove(db: DB, name: Name, members: Members) -> None:
    """Take items, accepted or rejected, out of a set."""
    _change(db, name, "forget", members)


@app.command("list")
@options(show=printer)
def list_command(db: DB, *, show: Show) -> None:
    """The sets that are kept."""
    with setsearch.open(db) as index:
        kept = [index.set(name) for name in index.sets()]
    show([{"set": s.name, "items": s.items, "accepted": len(s.accepted), "rejected": len(s.rejected)} for s in kept])


@app.command("show")
@options(show=printer)
def show_command(db: DB, name: Name, *, show: Show) -> None:
    """The items of a set: --csv, --json and the like export it."""
    with setsearch.open(db) as index:
        kept = _known(index, name)
    show(
        [{"item": item, "mark": "accepted"} for item in kept.accepted]
        + [{"item": item, "mark": "rejected"} for item in kept.rejected]
    )


@app.command("delete")
def delete(db: DB, name: Name) -> None:
    """Forget a set; its items stay in the index."""
    with setsearch.open(db) as index:
        index.delete_set(name)
    say(f"deleted the set {name}")


def _change(db: Any, name: str, how: str, members: list[str]) -> None:
    with setsearch.open(db) as index:
        kept = _known(index, name)
        if how == "forget":
            missing = [item for item in members if item not in (*kept.accepted, *kept.rejected)]
            if missing:
                raise UsageError(f"the set {name!r} has no {missing[0]!r}; `setsearch set show {db} {name}` shows it")
        getattr(kept, how)(*members)
        kept.save()
        _say_size(kept)


def _known(index: "setsearch.Index", name: str) -> "setsearch.ItemSet":
    if name not in index.sets():
        raise UnknownSet(f"no set {name!r}; there is {', '.join(index.sets()) or 'none yet'}")
    return index.set(name)


def _say_size(kept: "setsearch.ItemSet") -> None:
    rejected = f", {len(kept.rejected)} rejected" if kept.rejected else ""
    say(f"the set {kept.name} of {kept.items} has {len(kept.accepted)} accepted{rejected}")
