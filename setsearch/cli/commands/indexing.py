"""Commands that fill a database and look after it."""

import dataclasses
import json as json_module
import shlex
import sqlite3
import sys
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import setsearch
from setsearch.cli.commands.vectors import add_matrix, is_matrix_file, tell_vectors
from setsearch.cli.help import argument, flag, option
from setsearch.cli.messages import CONTROL, first_of, say
from setsearch.cli.options import DB, Collection, Fresh, TimeLimit, Timeout, text_options, waiting_options, with_options
from setsearch.cli.output import print_lines
from setsearch.cli.progress import tell
from setsearch.cli.source_notes import (
    SHOWN_SKIPS,
    tell_indexed,
    tell_left_out,
    tell_moved,
    tell_others,
    tell_without_fields,
)
from setsearch.cli.source_options import Rules, column_options, field_options, input_options
from setsearch.core import NOT_BUILT
from setsearch.errors import (
    CorruptIndex,
    LockedDatabase,
    MissingDatabase,
    NoIndex,
    SetsearchError,
    UnknownReading,
    UsageError,
    number_of,
)
from setsearch.storage.ids import in_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from setsearch.indexing.references.identity import Copy
    from setsearch.indexing.sources import SourceReader
    from setsearch.storage.synced_source import Columns

READING, DERIVING = "indexing", "deriving contexts of words"
RULES = "--split, --titles, --min-features and --min-items"


@with_options(
    given=input_options,
    rules=Rules,
    columns=column_options,
    fields=field_options,
    settings=text_options,
    waiting=waiting_options,
)
def index_command(
    db: Collection,
    sources: Annotated[list[str] | None, typer.Argument(metavar="SOURCE...", show_default=False)] = None,
    *,
    replace: Annotated[bool, flag("--replace", "Replace the whole collection, but what cannot be read now.")] = False,
    given: SimpleNamespace,
    rules: Rules,
    columns: "Columns",
    settings: dict[str, Any],
    fields: dict[str, Any],
    waiting: dict[str, Any],
) -> None:
    """Index texts or a relation; items that exist are updated by id.

    A SOURCE is a folder or an archive (.zip, .tar) of files of any kind; a file: text, HTML, mail (.eml, mbox), PDF,
    references (RIS, BibTeX, PubMed), or rows (JSON, CSV, TSV, workbooks, Parquet, Arrow), also .gz; - for standard
    input; a .npy file, whose rows are vectors of items that nothing else describes (`vectors`); or, with --table, an
    SQLite database (default: DB itself). With --items and --features each row says that an item has a feature; give all
    rows of an item in one call. `update` applies changes of a table of DB itself. An FTS5 table gives the terms of its
    own index.

    Example: setsearch index notes.db notes --language english
    """
    from setsearch.indexing.rows.document_columns import Held

    sources, table = sources or [], given.table
    if given.suggest:
        _suggest(db, sources, given)
        return
    if not sources and table is None:
        raise UsageError(_without_source(db.path))
    if any(map(is_matrix_file, sources)) and not any(fields.values()):
        _index_matrix(db, sources, columns, replace, waiting)
        return
    if any(fields.values()):
        columns = dataclasses.replace(columns, **fields, split=rules.split)
        rules = rules._replace(split=None)
    if columns.relation[1] != "terms" and settings not in (text_options(), text_options(contexts=False)):
        raise UsageError("options of texts, such as --language, --pairs, --contexts, are not for a relation or numbers")
    if columns.of_numbers and replace:
        raise UsageError("--replace is not for numbers; index into a new database")
    is_own_table = table is not None and not sources
    _require_agreeing(db, given, rules, columns, is_own_table)
    with (
        closing(sqlite3.connect(db.path, timeout=waiting["timeout"]))
        if is_own_table and columns.of_numbers
        else nullcontext() as host,
        setsearch.open(host or db.path, create=not is_own_table, collection=db.name, **waiting, **settings) as index,
    ):
        reader = _make_reader(given, rules, columns, host, waiting["time_limit"])
        before = [] if replace else _readings(index)
        kept = tuple(name for reading in before for name in reading["columns"])
        earlier = partial(_references_of, db, waiting) if replace else None
        folders = reader.folders._replace(database=db.path)
        reader = dataclasses.replace(reader, folders=folders, held=Held(kept, earlier=earlier))
        written = _write(index, reader, sources, given, replace)
        tell_indexed(index, written, str(db))
        tell_left_out(reader, replace)
        tell_moved(index)
        if not replace:
            tell_others(index, reader, [] if given.glob else sources, str(db))
            if not is_own_table:
                tell_without_fields(index, before, columns)


def _references_of(
    db: Collection, waiting: dict[str, Any], is_kept: "Callable[[str], bool]", read: "list[Copy]"
) -> "Iterator[Copy]":
    """The references of files that are kept, as they were before the write that goes on. Raises LockedDatabase."""
    from setsearch.indexing.references.items import copies_of

    try:
        with (
            suppress(MissingDatabase, NoIndex, UnknownReading, CorruptIndex),
            db.open(**waiting) as index,
            index.items("documents").stored() as fields,
        ):
            yield from copies_of(fields.items, is_kept, read)
    except LockedDatabase as error:
        problem = "has no log (WAL), so references cannot be kept beside a write as large as this one"
        raise LockedDatabase(f"{db} {problem}; mend the files that were skipped, or leave --replace out") from error


def _require_agreeing(
    db: Collection, given: SimpleNamespace, rules: Rules, columns: "Columns", is_own_table: bool
) -> None:
    """Raise for options that a table of the database itself cannot have, or that are for such a table only."""
    if given.track and (not is_own_table or columns.of_numbers):
        raise UsageError("--track is for --table of the database itself, with texts or a relation")
    if is_own_table and not columns.of_numbers and any(rules):
        raise UsageError(f"--keep, {RULES} are not for a table of the database itself; index a view of the rows")
    if given.table is not None and given.header is not None:
        raise UsageError("--header is for files; a table of a database has names of columns")
    if is_own_table and not db.path.is_file():
        raise SetsearchError(f"{db} does not exist, so it has no table {given.table!r} to index")


def _without_source(path: Path) -> str:
    """What lacks, for people: a source, or the database before it."""
    from setsearch.indexing.formats import is_database

    if path.is_dir() or (path.is_file() and not is_database(path)):
        made = shlex.join(["setsearch", "index", f"{path.stem}.db", str(path)])
        return f"no database before {path}: `{made}` indexes it"
    return "no source: give a folder, files, - for standard input, or --table NAME"


def _suggest(db: Collection, sources: list[str], given: SimpleNamespace) -> None:
    """Print a command for each table of a file that has texts, or is a relation, or for each file of rows."""
    from setsearch.indexing.formats import is_database
    from setsearch.indexing.suggest import suggest, suggest_rows
    from setsearch.storage.synced_source import Columns

    lines = []
    for source in sources or [str(db.path)]:
        if Path(source).is_dir():
            raise SetsearchError(f"{source} is a folder, which needs no columns; index it, or name one of its tables")
        if not Path(source).is_file():
            raise SetsearchError(f"{source} does not exist, so it has no tables")
        if not sources or is_database(Path(source)):
            own = suggest(Path(source))
            none = "no table with a key and texts, or of two ids; name one with --table, or index a view"
        else:
            _require_rows(Path(source))
            reader = _make_reader(given, Rules(), Columns(), None, 0)
            with closing(reader.rows_of(source)) as rows:
                command, left_out = suggest_rows(str(db), source, rows) or (None, [])
            own = [*filter(None, [command])]
            if left_out:
                say(f"left out: {first_of(left_out, most=20)}; add what counts")
            none = "no column of texts; name the columns with --text, or --items and --features"
        if not own:
            raise SetsearchError(f"{source} has {none}")
        lines += own
    print(*lines, sep="\n")


def _require_rows(path: Path) -> None:
    """Raise for a file that is not read, or that holds documents."""
    from setsearch.indexing.formats import SAY_LITTLE, form_of, is_workbook, unread_kind
    from setsearch.indexing.rows.reader import beginning, file_ending

    begin, ending = beginning(path), file_ending(path)
    if unread := unread_kind(begin, ending):
        raise SetsearchError(f"{path} is not read: {unread}")
    if not is_workbook(begin, ending) and form_of(begin, ending) not in SAY_LITTLE:
        raise SetsearchError(f"{path} holds documents, which need no columns; index it without --suggest")


def _readings(index: "setsearch.Index") -> list[dict[str, Any]]:
    """What can be asked so far."""
    with suppress(MissingDatabase, NoIndex):
        return index.readings()
    return []


def _write(
    index: "setsearch.Index", reader: "SourceReader", sources: list[str], given: SimpleNamespace, replace: bool
) -> int:
    """Write what the sources hold, a table of the database itself without any; returns how many items."""
    columns = reader.columns
    with tell(READING, lambda: reader.rows.amount.share) as follow:
        if columns.of_numbers:
            return index.add_numbers(follow(reader.read_numbers(sources)), columns.numbers, columns.relation[0])
        if not sources:
            roles = dataclasses.replace(columns, errors=given.errors or "strict")
            changes = index.add_table(given.table, roles, track=given.track, replace=replace, progress=follow)
            written = changes.written
        else:
            write = partial(index.replace, keep=reader.tally.keep) if replace else index.update
            written = write(follow(reader.read(sources)), columns.relation)
    with tell(DERIVING) as follow:
        index.derive("now", follow)
    return written


def _index_matrix(
    db: Collection, sources: list[str], columns: "Columns", replace: bool, waiting: dict[str, Any]
) -> None:
    """Index the rows of a matrix as items that only vectors describe."""
    if len(sources) > 1 or columns.features or columns.numbers:
        raise UsageError(
            "a .npy file is indexed by itself, with --items NAME for what its rows are; "
            "`setsearch vectors` adds vectors to items of the index"
        )
    with db.open(create=True, **waiting) as index:
        tell_vectors(index, add_matrix(index, Path(sources[0]), None, columns.items, replace), str(db))


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
        plain = {columns.id, *shown, *columns.keep, *columns.fields}
        for row in index.export():
            row |= {name: with_entities(row[name]) for name in shown if row.get(name)}
            print(json_module.dumps(row, ensure_ascii=False))
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
    for reading in content["readings"]:
        number = reading["feature_count"]
        described = in_number(number, reading["features"]) if number else reading["features"]
        entries = f"{number_of(reading['posting_count'], 'entry')}, at write {reading['revision']:,}"
        print(f"{in_number(reading['item_count'], reading['items'])} by {described}: {entries}".translate(CONTROL))
    for reading in content["readings"]:
        shown, count = reading["shown_count"], reading["item_count"]
        if shown != count:
            print(f"{shown:,} of the {count:,} {reading['items']} are words, not numbers; the page counts these")
        if reading["fields"]:
            told = f"; noise, left out without --by: {', '.join(reading['noise'])}" if reading["noise"] else ""
            print(f"fields of {reading['items']}: {', '.join(reading['fields'])}{told}".translate(CONTROL))
        if reading["columns"]:
            print(f"kept columns of {reading['items']}: {', '.join(reading['columns'])}".translate(CONTROL))
        if reading["some"]:
            print(f"some {reading['items']}: {', '.join(reading['some'])}".translate(CONTROL))
    if content["contexts"]:
        print(_contexts_line(content["contexts"]))
    for name, own in content["vectors"].items():
        print(f"vectors of {name}: " + ", ".join(f"{key} {value}" for key, value in own.items() if value is not None))
    print(f"default items: {content['defaults']['items']}")
    if content["bytes"]:
        database, free, arrays = (size / 1e6 for size in content["bytes"].values())
        print(f"on disk: {database:,.1f} MB ({free:,.1f} of it free), and {arrays:,.1f} MB derived, beside it")
    print(f"compiled core: {'yes' if content['core'] else f'no; {NOT_BUILT}'}")


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


def _make_reader(
    given: SimpleNamespace, rules: Rules, columns: "Columns", host: sqlite3.Connection | None, time_limit: float
) -> "SourceReader":
    from setsearch.indexing.folders import FolderRules
    from setsearch.indexing.rows.cell_rules import CellRules
    from setsearch.indexing.rows.csv_rows import header_of
    from setsearch.indexing.rows.reader import RowReader
    from setsearch.indexing.rows.table_rows import TableRows
    from setsearch.indexing.sources import SourceReader, titles_by_item
    from setsearch.indexing.tally import Tally

    split = rules.split if columns.group_by is None else None
    if columns.features is None and any(rules._replace(keep=None, split=split)):
        raise UsageError(f"{RULES} are for a relation: name its --items and --features")
    form: Any = {"encoding": given.encoding, "delimiter": given.delimiter}
    tally = Tally()

    def warn(message: str) -> None:
        """Tell the first ones, and count all."""
        tally.skipped.append(message)
        if len(tally.skipped) <= SHOWN_SKIPS:
            say(message)

    errors = given.errors or "strict"
    titles = {} if rules.titles is None else titles_by_item(RowReader(errors, warn, **form), rules.titles, columns)
    cells = CellRules(rules.keep, rules.split, titles, rules.min_features, rules.min_items)
    table = None if given.table is None else TableRows(given.table, host, time_limit=time_limit)
    asked = columns.asked if rules.titles is None else dataclasses.replace(columns, title=None).asked
    header = None if given.header is None else header_of(given.header)
    rows = RowReader(errors, warn, table, header=header, asked=asked, **form)
    folders = FolderRules(tuple(given.glob or ()), given.follow, errors=given.errors or "skip")
    choose = "`suggest` prints a command with `id`, `text`, `items`, ..."
    return SourceReader(columns, rows, folders, cells, choose=choose, tally=tally)
