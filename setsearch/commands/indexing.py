"""Commands that fill a database, and that look at what is in it."""

import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import setsearch
from setsearch.commands.arguments import DB, Timeout
from setsearch.errors import SetsearchError, UsageError
from setsearch.options import columns_of, options, text_settings
from setsearch.printing import print_lines, print_table, say

if TYPE_CHECKING:
    from setsearch.sources import Columns

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
    errors: Annotated[str, typer.Option(metavar="HOW", help="Unreadable input: strict, replace, skip.")] = "strict",
    timeout: Timeout = 5.0,
) -> None:
    """Index texts or a relation; items that exist are updated by id.

    A SOURCE is a folder of .txt and .md files, a .txt, .md, .jsonl, .csv or .tsv file (also .gz), - for JSONL on
    standard input, or, with --table, an SQLite database (default: DB itself). With --items and --features each row
    says "this item has this feature"; give all rows of an item in one call.
    """
    from setsearch.rows import RowReader
    from setsearch.sources import Reader

    if errors not in ("strict", "replace", "skip"):
        raise UsageError(f"--errors is strict, replace or skip, not {errors!r}")
    if not sources and table is None:
        raise UsageError("no source: give a folder, files, - for standard input, or --table NAME")
    host = None
    if table is not None and not sources:
        if not db.is_file():
            raise SetsearchError(f"{db} is not there, so it has no table {table!r} to index")
        host = sqlite3.connect(db, timeout=timeout)
    reader = Reader(columns, RowReader(errors, say, table, host))
    try:
        with setsearch.open(host or db, create=True, timeout=timeout, **settings) as index:
            names = columns.relation
            if names[1] != "terms" and (settings["language"] or settings["contexts"] in ("on", "phrases")):
                raise UsageError("--language, --contexts and --phrases are for texts, not for a relation or numbers")
            if columns.numbers:
                if replace:
                    raise UsageError("--replace is not for numbers; index into a new database")
                rows = _progress(reader.read_numbers(sources or []))
                written = index.add_numbers(rows, columns.numbers, names[0])
            else:
                write = index.replace if replace else index.update
                written = write(_progress(reader.read(sources or [])), names)
                index.refresh()
            _say_indexed(index.info(), written, str(db))
    finally:
        if host is not None:
            host.close()


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


def check(db: DB) -> None:
    """Recompute every statistic from the stored lists, and compare."""
    with setsearch.open(db) as index:
        problems = index.check()
    if problems:
        raise SetsearchError(f"{db}: {'; '.join(problems)}; index the collection again")
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
