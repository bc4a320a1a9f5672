"""The command line: `setsearch index`, `expand`, `explain`, `features`, `delete`, `info`, `check`.

Data goes to stdout, messages and progress to stderr. Exit codes: 0, 1 for a mistake in the data or the database, 2
for wrong usage.
"""

import io
import signal
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import setsearch
from setsearch.errors import SetsearchError, UsageError
from setsearch.options import Top, columns_of, options, scoring, wanting
from setsearch.printing import Show, print_json, print_lines, print_table, printer, says_more

if TYPE_CHECKING:
    from setsearch.hits import Hit, ModelOptions
    from setsearch.sources import Columns

app = typer.Typer(
    help="Give it a few examples, get the rest of the set.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

INTERRUPTED = 130

T = TypeVar("T")
DB = Annotated[Path, typer.Argument(metavar="DB", help="The database file.", show_default=False)]
Seeds = Annotated[list[str], typer.Argument(metavar="SEED...", help="Examples of the set.", show_default=False)]
Items = Annotated[str | None, typer.Option(metavar="NAME", help="What to rank: terms, documents, or a column.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for another writer.", min=0)]


def main() -> None:
    """Run the command line; a mistake becomes one line on stderr and an exit code, never a traceback."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # end as other tools do when the reader has gone
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        if code == INTERRUPTED:  # as typer reports Ctrl-C
            raise KeyboardInterrupt
    except SetsearchError as error:
        code = _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("stopped; nothing was changed", INTERRUPTED)
    except OSError as error:
        place = "cannot write the output" if error.filename is None else f"cannot use {error.filename}"
        code = _fail(f"{place}: {error.strerror}", 1)
    except MemoryError:
        code = _fail("out of memory; nothing was changed", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # a usage error of the click that typer carries has one
            raise
        code = _fail(" ".join(error.format_message().split()) + " (see --help)", 2)
    sys.exit(code if isinstance(code, int) else 0)


@app.command("index")
@options(columns=columns_of)
def index_command(
    db: DB,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE...", show_default=False)] = None,
    *,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Read a table of the SQLite database.")] = None,
    columns: "Columns",
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
    reader = Reader(columns, RowReader(errors, _say, table, host))
    try:
        with setsearch.open(host or db, create=True, timeout=timeout) as index:
            write = index.replace if replace else index.update
            written = write(_progress(reader.read(sources or [])), columns.relation or ("documents", "terms"))
            index.refresh()
            _say_indexed(index.info(), written, str(db))
    finally:
        if host is not None:
            host.close()


@app.command()
@options(wanted=wanting, model=scoring, show=printer)
def expand(
    db: DB,
    seeds: Annotated[
        list[str] | None, typer.Argument(metavar="SEED...", help="Examples of the set.", show_default=False)
    ] = None,
    *,
    items: Items = None,
    batch: Annotated[
        str | None, typer.Option(metavar="FILE", help="Many sets: a JSON array of seeds a line, - for standard input.")
    ] = None,
    wanted: dict[str, Any],
    model: "ModelOptions",
    show: Show,
) -> None:
    """Give a few examples, get the rest of the set.

    With --batch, each line of output is a JSON object with the seeds and the hits of a line of input.
    """
    if (batch is None) == (not seeds):
        raise UsageError("give SEED... or --batch FILE, one of the two")
    if batch is not None:
        from setsearch.sources import read_seed_sets

        sets = read_seed_sets(batch)
    else:
        from setsearch.kernels import use_kernel

        sets = [seeds or []]
        use_kernel("numpy")  # for one query the others take longer to load than they save
    with setsearch.open(db) as index:
        found = index.items(items).expand_many(sets, **wanted, **model)
    rows = [_hit_rows(hits, wanted["explain"]) for hits in found]
    if batch is None:
        show(rows[0])
    else:
        print_lines([{"seeds": own, "hits": hits} for own, hits in zip(sets, rows, strict=True)])


@app.command("explain")
@options(model=scoring, show=printer)
def explain_command(
    db: DB,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Whose score to explain.", show_default=False)],
    seeds: Seeds,
    *,
    items: Items = None,
    model: "ModelOptions",
    show: Show,
) -> None:
    """The parts that sum to an item's score: the constant, the base, and the features shared with the seeds."""
    with setsearch.open(db) as index:
        found = index.items(items).explain(seeds, item, **model)
    if show in (print_json, print_lines):
        whole: dict[str, Any] = {"item": found.item} | ({"title": found.title} if found.title else {})
        whole |= {"score": found.score, "constant": found.constant}
        features = _contributions(found.features)
        print_lines([whole | {"base": found.base, "features": features}])
        return
    parts: list[dict[str, Any]] = [
        {"part": "constant", "weight": found.constant},
        {"part": "base", "weight": found.base},
    ]
    parts += [{"part": _label(part.feature, part.title), "weight": part.weight} for part in found.features]
    show([*parts, {"part": f"score of {_label(found.item, found.title)}", "weight": found.score}])


@app.command()
@options(model=scoring, show=printer)
def features(
    db: DB,
    seeds: Seeds,
    *,
    items: Items = None,
    k: Top = 10,
    model: "ModelOptions",
    show: Show,
) -> None:
    """The features that define a set, by weight."""
    with setsearch.open(db) as index:
        found = index.items(items).features(seeds, k, **model)
    rows = [part._asdict() for part in found]
    titled = any(says_more(part.title, part.feature) for part in found)
    show(rows if titled else [{key: row[key] for key in row if key != "title"} for row in rows])


@app.command()
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
        _say(f"deleted {index.delete(ids, named[0] if named else None)} from {db}")


@app.command()
def info(
    db: DB, *, json: Annotated[bool, typer.Option("--json", help="One JSON object (default when piped).")] = False
) -> None:
    """What a database holds, and the defaults."""
    with setsearch.open(db) as index:
        found = index.info()
    if json or not sys.stdout.isatty():
        print_lines([found])
        return
    print_table(found["readings"])
    print("defaults: " + ", ".join(f"{key} {value}" for key, value in found["defaults"].items()))


@app.command()
def check(db: DB) -> None:
    """Recompute every statistic from the stored lists, and compare."""
    with setsearch.open(db) as index:
        problems = index.check()
    if problems:
        raise SetsearchError(f"{db}: {'; '.join(problems)}; index the collection again")
    _say(f"{db} is sound")


def _hit_rows(hits: "list[Hit]", explain: bool) -> list[dict[str, Any]]:
    rows = []
    titled = any(says_more(hit.title, hit.item) for hit in hits)
    for hit in hits:
        row: dict[str, Any] = {"rank": hit.rank, "item": hit.item, "score": hit.score}
        if titled:
            row["title"] = hit.title
        if explain:
            row["features"] = _contributions(hit.features)
        rows.append(row)
    return rows


def _contributions(parts: Iterable[Any]) -> list[dict[str, Any]]:
    return [{key: value for key, value in part._asdict().items() if value is not None} for part in parts]


def _label(name: str, title: str | None) -> str:
    return f"{name} ({title})" if says_more(title, name) else name


def _fail(message: str, code: int) -> int:
    _say("Error: " + " ".join(message.splitlines()))
    return code


def _say(message: str) -> None:
    print(message.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def _say_indexed(found: dict[str, Any], written: int, db: str) -> None:
    parts = [f"{r['item_count']:,} {r['items']}" for r in found["readings"]]
    _say(f"indexed {written:,}; {db} now holds {', '.join(parts)}")


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
