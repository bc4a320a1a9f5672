"""Commands that fill a database, and that look at what is in it."""

import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import setsearch
from setsearch.cli.options import DB, Timeout, columns_of, options, text_settings
from setsearch.cli.output import print_lines, print_table, say
from setsearch.errors import SetsearchError, UsageError

if TYPE_CHECKING:
    from setsearch.storage.synced_source import Columns


T = TypeVar("T")


@options(columns=columns_of, settings=text_settings)
def index_command(
    db: DB,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE...", show_default=False)] = None,
    *,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Read a table of the SQLite database.")] = None,
    columns: "Columns",
    settings: dict[str, Any],
    replace: Annotated[bool, typer.Option("--replace", help="Put this in the place of what is there.")] = False,
    track: Annotated[bool, typer.Option("--track", help="Triggers on the table note what changes in it.")] = False,
    errors: Annotated[str, typer.Option(metavar="HOW", help="Unreadable input: strict, replace, skip.")] = "strict",
    timeout: Timeout = 5.0,
) -> None:
    """Index texts or a relation; items that exist are updated by id.

    A SOURCE is a folder of .txt, .md and .jsonl files, one of these or a .csv or .tsv file (also .gz), - for JSONL on
    standard input, or, with --table, an SQLite database (default: DB itself). With --items and --features each row
    says "this item has this feature"; give all rows of an item in one call. A table of DB itself is mirrored from
    then on: `update` takes over what has changed in it. An FTS5 table gives the terms of its own index.
    """
    from setsearch.indexing.rows import RowReader
    from setsearch.indexing.sources import Reader

    if errors not in ("strict", "replace", "skip"):
        raise UsageError(f"--errors is strict, replace or skip, not {errors!r}")
    if not sources and table is None:
        raise UsageError("no source: give a folder, files, - for standard input, or --table NAME")
    names = columns.relation
    if names[1] != "terms" and (settings["language"] or settings["contexts"] in ("on", "phrases")):
        raise UsageError("--language, --contexts and --phrases are for texts, not for a relation or numbers")
    if columns.numbers and replace:
        raise UsageError("--replace is not for numbers; index into a new database")
    own = table is not None and not sources
    if track and (not own or columns.numbers):
        raise UsageError("--track is for --table of the database itself, with texts or a relation")
    if own and not db.is_file():
        raise SetsearchError(f"{db} is not there, so it has no table {table!r} to index")
    with (
        closing(sqlite3.connect(db, timeout=timeout)) if own and columns.numbers else nullcontext() as host,
        setsearch.open(host or db, create=not own, timeout=timeout, **settings) as index,
    ):
        reader = Reader(columns, RowReader(errors, say, table, host))
        if columns.numbers:
            written = index.add_numbers(_progress(reader.read_numbers(sources or [])), columns.numbers, names[0])
        elif own:
            written = index.add_table(table or "", columns, track=track, replace=replace, progress=_progress).written
            index.refresh()
        else:
            write = index.replace if replace else index.update
            written = write(_progress(reader.read(sources or [])), names)
            index.refresh()
        _say_indexed(index.info(), written, str(db))


def update(db: DB, *, timeout: Timeout = 5.0) -> None:
    """Take over what has changed in the table that was indexed (`index DB --table`).

    With --track, triggers have noted the changes, and only those rows are read; without, all are.
    """
    with setsearch.open(db, timeout=timeout) as index:
        if not index.info()["mirrors"]:
            raise UsageError(
                f"{db} was not indexed from a table of its own, so it cannot tell what has changed; "
                f"`setsearch index {db} SOURCE` adds and updates by id"
            )
        changes = index.refresh()
    say(f"updated {changes.written}, deleted {changes.deleted} in {db}")


def drop(
    db: DB,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Take the index out of a database, saved sets too; the tables of the application stay as they are."""
    with setsearch.open(db, timeout=timeout) as index:
        held = ", ".join(f"{r['item_count']} {r['items']}" for r in index.info()["readings"])
        kept = index.sets()
        what = f"the index of {held}" + (f" and the sets {', '.join(kept)}" if kept else "")
        if not yes and not (sys.stdin.isatty() and typer.confirm(f"Drop {what} from {db}?", err=True)):
            raise UsageError(f"nothing was dropped; --yes drops {what}")
        index.drop()
    say(f"dropped {what} from {db}")


def delete(
    db: DB,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="What to delete.", show_default=False)],
    *,
    items: Annotated[str | None, typer.Option(metavar="NAME", help="Of which kind, where there are several.")] = None,
    timeout: Timeout = 5.0,
) -> None:
    """Delete items by id."""
    with setsearch.open(db, timeout=timeout) as index:
        relations = [(r["items"], r["features"]) for r in index.info()["readings"][::2]]
        named = [names for names in relations if names[0] == items]
        if items is not None and not named:
            raise UsageError(f"--items is one of {', '.join(names[0] for names in relations)}, not {items!r}")
        say(f"deleted {index.delete(ids, named[0] if named else None)} from {db}")


def info(
    db: DB, *, json: Annotated[bool, typer.Option("--json", help="One JSON object (default when piped).")] = False
) -> None:
    """What a database holds, and the defaults."""
    with setsearch.open(db) as index:
        found = index.info()
    if json or not sys.stdout.isatty():
        print_lines([found])
        return
    shown = [{key: value for key, value in r.items() if not isinstance(value, dict)} for r in found["readings"]]
    print_table(shown)
    for reading in found["readings"]:
        print(f"{reading['items']}: " + ", ".join(f"{key} {value}" for key, value in reading["defaults"].items()))
    if found["contexts"]:
        print("contexts: " + ", ".join(f"{key} {value}" for key, value in found["contexts"].items()))
    print(f"default items: {found['defaults']['items']}")


def check(
    db: DB,
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    timeout: Timeout = 5.0,
) -> None:
    """Recompute every statistic from the stored lists, and compare; look at names, texts, sums and triggers."""
    with setsearch.open(db, timeout=timeout) as index:
        problems = index.check()
        if problems and repair:
            for line in [*problems, *index.repair()]:
                say(line)
            problems = index.check()
    if problems:
        way_out = "index the collection again" if repair else "--repair mends what can be mended"
        raise SetsearchError(f"{db}: {'; '.join(problems)}; {way_out}")
    say(f"{db} is sound")


def _say_indexed(found: dict[str, Any], written: int, db: str) -> None:
    parts = [f"{r['item_count']:,} {r['items']}" for r in found["readings"]]
    if found["contexts"]:
        parts.append(f"{found['contexts']['terms']:,} of them in context")
    say(f"indexed {written:,}; {db} now holds {', '.join(parts)}")


def _progress(items: Iterable[T]) -> Iterator[T]:
    """Count on stderr what goes by: each second in one line of a terminal, else a line every ten seconds."""
    terminal = sys.stderr.isatty()
    step = 1.0 if terminal else 10.0
    start = shown = time.monotonic()
    for count, item in enumerate(items, 1):
        yield item
        if count % 100 == 0 and time.monotonic() - shown >= step:
            shown = time.monotonic()
            line = f"{count:,} read in {shown - start:.0f} s"
            print(f"\r{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True)
    if terminal and shown > start:
        print(file=sys.stderr)
