"""Commands that look after what a database holds: update, delete, export, info, check and drop."""

import shlex
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

import setsearch
from setsearch.cli.help import argument, flag, option
from setsearch.cli.messages import CONTROL, say
from setsearch.cli.options import DB, Collection, Fresh, TimeLimit, Timeout
from setsearch.cli.output import print_lines
from setsearch.cli.progress import tell
from setsearch.core import NOT_BUILT
from setsearch.errors import SetsearchError, UsageError, number_of
from setsearch.storage.ids import in_number


def update(db: Collection, *, fresh: Fresh = "now", timeout: Timeout = 5.0, time_limit: TimeLimit = 10.0) -> None:
    """Apply the changes of an indexed table (`index DB --table`), and derive contexts of words again.

    With --track, triggers have noted the changed rows, and only these are read; otherwise all are. Contexts that lack
    no more than --fresh allows stay as they are. Questions and other writes go on meanwhile.

    Example: setsearch update app.db
    """
    with db.open(timeout=timeout, time_limit=time_limit) as index:
        with tell("reading changes, and deriving") as follow:
            changes = index.refresh(fresh, follow)
        info = index.info()
    written = f"updated {changes.written:,}, deleted {changes.deleted:,} in {db}" if info["mirrors"] else str(db)
    contexts = info["contexts"]
    known = (
        f"; contexts of {number_of(contexts['terms'], 'word')} know write {contexts['revision']}" if contexts else ""
    )
    if not info["mirrors"]:
        written += f" follows no table; after changes of files, index them again. It is at write {info['revision']}"
    say(written + known)


def drop(
    db: Collection,
    *,
    yes: Annotated[bool, flag("--yes", "Do not ask.")] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Remove the index and the saved sets from a database; the tables of the application stay as they are.

    Example: setsearch drop app.db --yes
    """
    with db.open(timeout=timeout) as index:
        held = ", ".join(in_number(r["item_count"], r["items"]) for r in index.info()["readings"])
        sets = index.sets()
        what = f"the index of {held}" + (f" and the set{'s' * (len(sets) > 1)} {', '.join(sets)}" if sets else "")
        if not yes and not (sys.stdin.isatty() and typer.confirm(f"Drop {what} from {db}?", err=True)):
            raise UsageError(f"nothing was dropped; --yes drops {what}")
        index.drop()
    say(f"dropped {what} from {db}; SQLite's VACUUM gives back the room")


def delete(
    db: Collection,
    ids: Annotated[list[str], argument("ID...", "What to delete.")],
    *,
    items: Annotated[str | None, option("NAME", "The kind of items, if there are several.")] = None,
    timeout: Timeout = 5.0,
) -> None:
    """Delete items by id, also those of the other side of a relation, such as users of films.

    Example: setsearch delete notes.db old.txt
    """
    with db.open(timeout=timeout) as index:
        relations = [(r["items"], r["features"]) for r in index.info()["readings"]]
        named = [names for names in relations if names[0] == items]
        if items is not None and not named:
            raise UsageError(f"--items is one of {', '.join(names[0] for names in relations)}, not {items!r}")
        say(f"deleted {index.delete(ids, named[0] if named else None):,} from {db}")


def export(db: Collection, *, time_limit: TimeLimit = 10.0) -> None:
    """The documents of an index as JSON Lines, which `index` reads back.

    Each has its id, title and text, the columns that were kept of it, its fields, and the vector that you gave.
    Records of references are not among them, but what is shown of them. Texts with tags have entities in their place.

    Example: setsearch export notes.db
    """
    from setsearch.indexing.formats.pages import with_entities

    with db.open(time_limit=time_limit) as index:
        columns, count, vectors = index.exported_columns(), 0, list[str]()
        shown = [columns.title or "title", *columns.texts]
        plain = [columns.id, *shown, *columns.keep, *columns.fields]
        for row in index.export():
            row |= {name: with_entities(row[name]) for name in shown if row.get(name)}
            empty = {} if count else dict.fromkeys(plain)  # the first row has all columns, as `index` wants
            print_lines([empty | row])
            count += 1
            vectors = vectors or [name for name in row if name not in plain]
        reading, made = index.items("documents"), index.info()["vectors"]
        total = reading.item_count()
    id = ["--id", columns.id] * (columns.id != "id")
    renamed = [part for own in columns.text for part in ("--text", own)]
    renamed += ["--title", columns.title] if columns.title else []
    kept = ["--keep-columns", ",".join(columns.keep)] if columns.keep else []
    fields = [part for kind in ("tags", "numbers") for own in getattr(columns, kind) for part in (f"--{kind}", own)]
    without = f"; left out {total - count:,} without a text" if total > count else ""
    options = shlex.join([*id, *renamed, *kept, *fields])
    say(f"exported {count:,}{without}; `setsearch index NEW.db FILE{options and ' '}{options}` reads them")
    if vectors:
        named = shlex.join(["--vector", *vectors] * (vectors != ["vector"]) + id)
        say(f"`setsearch vectors NEW.db FILE{named and ' '}{named}` then adds their vectors")
    for name, own in made.items():
        if own["count"] and not (vectors and name == reading.name):
            say(f"the vectors of {name} ({own['source']}) are not among them")


def info(
    db: Collection,
    *,
    json: Annotated[bool, flag("--json", "One JSON object (default when piped).")] = False,
    time_limit: TimeLimit = 10.0,
) -> None:
    """What a database holds, and the defaults.

    Example: setsearch info notes.db
    """
    with db.open(time_limit=time_limit) as index:
        content = index.info()
    if json or not sys.stdout.isatty():
        print_lines([content])
        return
    for line in _described(content):
        print(line.translate(CONTROL))


def _described(content: dict[str, Any]) -> Iterator[str]:
    """What an index holds, for people."""
    for reading in content["readings"]:
        number = reading["feature_count"]
        described = in_number(number, reading["features"]) if number else reading["features"]
        entries = f"{number_of(reading['posting_count'], 'entry')}, at write {reading['revision']:,}"
        yield f"{in_number(reading['item_count'], reading['items'])} by {described}: {entries}"
    for reading in content["readings"]:
        shown, count = reading["shown_count"], reading["item_count"]
        if shown != count:
            yield f"{shown:,} of the {count:,} {reading['items']} are words, not numbers; the page counts these"
        if reading["fields"]:
            told = f"; noise, left out without --by: {', '.join(reading['noise'])}" if reading["noise"] else ""
            yield f"fields of {reading['items']}: {', '.join(reading['fields'])}{told}"
        if reading["columns"]:
            yield f"kept columns of {reading['items']}: {', '.join(reading['columns'])}"
        if reading["some"]:
            yield f"some {reading['items']}: {', '.join(reading['some'])}"
    if content["contexts"]:
        yield _contexts_line(content["contexts"])
    for name, own in content["vectors"].items():
        yield f"vectors of {name}: " + ", ".join(f"{key} {value}" for key, value in own.items() if value is not None)
    yield f"default items: {content['defaults']['items']}"
    if content["bytes"]:
        database, free, arrays = (size / 1e6 for size in content["bytes"].values())
        yield f"on disk: {database:,.1f} MB ({free:,.1f} of it free), and {arrays:,.1f} MB derived, beside it"
    yield f"compiled core: {'yes' if content['core'] else f'no; {NOT_BUILT}'}"


def _contexts_line(contexts: dict[str, Any]) -> str:
    """What a person wants to know of the contexts of words; their numbers by kind are in the JSON."""
    age = "up to date" if contexts["up_to_date"] else "older than the texts"
    phrases = ", phrases among them" if contexts["phrases"] else ""
    return f"contexts of {contexts['terms']:,} words{phrases}, at write {contexts['revision']:,}: {age}"


def check(
    db: DB,
    *,
    repair: Annotated[bool, flag("--repair", "Repair what can be repaired.")] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Recompute every statistic and compare; verify names, texts, checksums and triggers.

    Example: setsearch check notes.db --repair
    """
    with setsearch.open(db, timeout=timeout) as index:
        problems = index.check()
        if problems and repair:
            found, lines, problems = problems, index.repair(), index.check()
            for line in dict.fromkeys([*found, *lines]):
                if line not in problems:
                    say(line)
    if problems:
        way_out = "index the collection again" if repair else "--repair repairs what can be repaired"
        told = [line.removesuffix(f"; {way_out}") for line in problems]
        raise SetsearchError(f"{db}: {'; '.join(told)}; {way_out}")
    say(f"{db} is sound")
