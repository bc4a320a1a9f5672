"""The command that fills a database: `setsearch index`."""

import dataclasses
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import setsearch
from setsearch.cli.commands.vectors import add_matrix, is_matrix_file, tell_vectors
from setsearch.cli.help import flag
from setsearch.cli.messages import TYPED, first_of, say
from setsearch.cli.options import Collection, text_options, waiting_options, with_options
from setsearch.cli.progress import tell
from setsearch.cli.source_notes import (
    SHOWN_SKIPS,
    tell_indexed,
    tell_left_out,
    tell_moved,
    tell_others,
    tell_replaced,
    tell_without_fields,
)
from setsearch.cli.source_options import Rules, column_options, field_options, input_options
from setsearch.errors import (
    CorruptIndex,
    LockedDatabase,
    MissingDatabase,
    NoIndex,
    SetsearchError,
    UnknownReading,
    UsageError,
)

if TYPE_CHECKING:
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
    asked = _Asked(db, sources or [], given, rules, columns, replace, waiting)
    if given.suggest:
        asked.suggest()
    elif asked.sources or given.table is not None:
        asked.with_fields(fields).run(settings)
    else:
        raise UsageError(_without_source(db.path))


@dataclasses.dataclass(frozen=True)
class _Asked:
    """What is to be indexed, and how."""

    db: Collection
    sources: list[str]
    given: SimpleNamespace
    rules: Rules
    columns: "Columns"
    replace: bool
    waiting: dict[str, Any]

    @property
    def is_own_table(self) -> bool:
        """Whether it is a table of the database itself."""
        return self.given.table is not None and not self.sources

    def with_fields(self, fields: dict[str, Any]) -> "_Asked":
        """The same with fields of documents, whose tags and links `--split` takes apart then."""
        if not any(fields.values()):
            return self
        columns = dataclasses.replace(self.columns, **fields, split=self.rules.split)
        return dataclasses.replace(self, columns=columns, rules=self.rules._replace(split=None))

    def suggest(self) -> None:
        """Print a command for each table of a file that has texts, or is a relation, or for each file of rows."""
        from setsearch.indexing.formats import is_database
        from setsearch.indexing.suggest import suggest, suggest_rows
        from setsearch.storage.synced_source import Columns

        plain = dataclasses.replace(self, rules=Rules(), columns=Columns())._reader(None)
        lines = []
        for source in self.sources or [str(self.db.path)]:
            if Path(source).is_dir():
                told = "which needs no columns; index it, or name one of its tables"
                raise SetsearchError(f"{source} is a folder, {told}")
            if not Path(source).is_file():
                raise SetsearchError(f"{source} does not exist, so it has no tables")
            if not self.sources or is_database(Path(source)):
                own = suggest(Path(source))
                none = "no table with a key and texts, or of two ids; name one with --table, or index a view"
            else:
                _require_rows(Path(source))
                with closing(plain.rows_of(source)) as rows:
                    command, left_out = suggest_rows(str(self.db), source, rows) or (None, [])
                own = [*filter(None, [command])]
                if left_out:
                    say(f"left out: {first_of(left_out, most=20)}; add what counts")
                none = "no column of texts; name the columns with --text, or --items and --features"
            if not own:
                raise SetsearchError(f"{source} has {none}")
            lines += own
        print(*(line.translate(TYPED) for line in lines), sep="\n")

    def run(self, settings: dict[str, Any]) -> None:
        """Index it, and tell what was written, and what was not."""
        if any(map(is_matrix_file, self.sources)) and not (self.columns.tags or self.columns.links):
            self._index_matrix()
            return
        self._require_agreeing(settings)
        has_own = self.is_own_table and self.columns.of_numbers  # which nothing follows
        with (
            closing(sqlite3.connect(self.db.path, timeout=self.waiting["timeout"]))
            if has_own
            else nullcontext() as own,
            setsearch.open(
                own or self.db.path, create=not self.is_own_table, collection=self.db.name, **self.waiting, **settings
            ) as index,
        ):
            self._read_into(index, self._reader(own))

    def _index_matrix(self) -> None:
        """Index the rows of a matrix as items that only vectors describe."""
        if len(self.sources) > 1 or self.columns.features or self.columns.numbers:
            raise UsageError(
                "a .npy file is indexed by itself, with --items NAME for what its rows are; "
                "`setsearch vectors` adds vectors to items of the index"
            )
        with self.db.open(create=True, **self.waiting) as index:
            count = add_matrix(index, Path(self.sources[0]), None, self.columns.items, self.replace)
            tell_vectors(index, count, str(self.db))

    def _require_agreeing(self, settings: dict[str, Any]) -> None:
        """Raise for options that do not go together."""
        given, of_numbers = self.given, self.columns.of_numbers
        if self.columns.relation[1] != "terms" and settings not in (text_options(), text_options(contexts=False)):
            told = "options of texts, such as --language, --pairs, --contexts"
            raise UsageError(f"{told}, are not for a relation or numbers")
        if of_numbers and self.replace:
            raise UsageError("--replace is not for numbers; index into a new database")
        if given.track and (not self.is_own_table or of_numbers):
            raise UsageError("--track is for --table of the database itself, with texts or a relation")
        if self.is_own_table and not of_numbers and any(self.rules):
            raise UsageError(f"--keep, {RULES} are not for a table of the database itself; index a view of the rows")
        if given.table is not None and given.header is not None:
            raise UsageError("--header is for files; a table of a database has names of columns")
        if self.is_own_table and not self.db.path.is_file():
            raise SetsearchError(f"{self.db} does not exist, so it has no table {given.table!r} to index")

    def _read_into(self, index: "setsearch.Index", reader: "SourceReader") -> None:
        """Read and write all, and tell what a user may expect otherwise."""
        from setsearch.indexing.rows.document_columns import Held

        db, before = str(self.db), _readings(index)
        kept = () if self.replace else tuple(name for reading in before for name in reading["columns"])
        held = Held(kept, earlier=self._earlier if self.replace else None)
        reader = dataclasses.replace(reader, folders=reader.folders._replace(database=self.db.path), held=held)
        written = self._write(index, reader)
        tell_indexed(index, written, db)
        tell_left_out(reader, self.replace)
        tell_moved(index)
        if self.replace:
            tell_replaced(index, before)
        else:
            tell_others(index, reader, [] if self.given.glob else self.sources, db)
            if not self.is_own_table:
                tell_without_fields(index, before, self.columns)

    def _write(self, index: "setsearch.Index", reader: "SourceReader") -> int:
        """Write what the sources hold, or a table of the database itself; returns how many items."""
        columns, given = self.columns, self.given
        with tell(READING, lambda: reader.rows.amount.share) as follow:
            if columns.of_numbers:
                numbers = follow(reader.read_numbers(self.sources))
                return index.add_numbers(numbers, columns.numbers, columns.relation[0])
            if self.is_own_table:
                roles = dataclasses.replace(columns, errors=given.errors or "strict")
                how: Any = {"track": given.track, "replace": self.replace, "progress": follow}
                written = index.add_table(given.table, roles, **how).written
            else:
                write = partial(index.replace, keep=reader.tally.keep) if self.replace else index.update
                written = write(follow(reader.read(self.sources)), columns.relation)
        with tell(DERIVING) as follow:
            index.derive("now", follow)
        return written

    def _earlier(self, is_kept: Callable[[str], bool], read: "list[Copy]") -> "Iterator[Copy]":
        """The references of files that are kept, as they were before the write that goes on. Raises LockedDatabase."""
        from setsearch.indexing.references.items import copies_of

        try:
            with (
                suppress(MissingDatabase, NoIndex, UnknownReading, CorruptIndex),
                self.db.open(**self.waiting) as index,
                index.items("documents").stored() as fields,
            ):
                yield from copies_of(fields.items, is_kept, read)
        except LockedDatabase as error:
            problem = "has no log (WAL), so references cannot be kept beside a write as large as this one"
            way_out = "mend the files that were skipped, or leave --replace out"
            raise LockedDatabase(f"{self.db} {problem}; {way_out}") from error

    def _reader(self, own: sqlite3.Connection | None) -> "SourceReader":
        """What reads the sources; `own` is a connection that reads a table of the database itself."""
        from setsearch.indexing.folders import FolderRules
        from setsearch.indexing.rows.cell_rules import CellRules
        from setsearch.indexing.rows.csv_rows import header_of
        from setsearch.indexing.rows.reader import RowReader
        from setsearch.indexing.rows.table_rows import TableRows
        from setsearch.indexing.sources import SourceReader, titles_by_item
        from setsearch.indexing.tally import Tally

        given, rules, columns = self.given, self.rules, self.columns
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
        limit = self.waiting["time_limit"]
        table = None if given.table is None else TableRows(given.table, own, time_limit=limit)
        asked = columns.asked if rules.titles is None else dataclasses.replace(columns, title=None).asked
        header = None if given.header is None else header_of(given.header)
        rows = RowReader(errors, warn, table, header=header, asked=asked, **form)
        folders = FolderRules(tuple(given.glob or ()), given.follow, errors=given.errors or "skip")
        choose = "`suggest` prints a command with `id`, `text`, `items`, ..."
        return SourceReader(columns, rows, folders, cells, choose=choose, tally=tally)


def _without_source(path: Path) -> str:
    """What lacks, for people: a source, or the database before it."""
    from setsearch.indexing.formats import is_database

    if path.is_dir() or (path.is_file() and not is_database(path)):
        made = shlex.join(["setsearch", "index", f"{path.stem}.db", str(path)])
        return f"no database before {path}: `{made}` indexes it"
    return "no source: give a folder, files, - for standard input, or --table NAME"


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
