"""Items from folders, archives, files, streams and tables, yielded one at a time.

A source holds documents (files.py), references, or rows. A row is a document (rows/document_columns.py), or says
something of an item of which others speak, too (rows/item_columns.py). References come last: one may be in several
files.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from setsearch.errors import DuplicateItem, SourceError, UsageError
from setsearch.indexing.encodings import LOOKED_AT
from setsearch.indexing.files import FileItem, FileReader, Place, is_document
from setsearch.indexing.folders import ANY_FILE, Folder, FolderRules
from setsearch.indexing.formats import MAIL, are_rows, form_of, unread_kind
from setsearch.indexing.formats.apart import Reader
from setsearch.indexing.formats.mail import COLUMNS as MAIL_COLUMNS
from setsearch.indexing.references.identity import Copy, Group, group_copies
from setsearch.indexing.references.items import COLUMNS as REFERENCE_COLUMNS
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tables import are_reference_columns, reference_of_row
from setsearch.indexing.rows.archives import DEEPEST, NEVER_READ, Room, is_archive, unpacked
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.rows.cells import (
    CHOOSE,
    CORRECT,
    SHOWN_NAMES,
    OpenCells,
    Row,
    cell_id,
    cell_text,
    is_open,
    missing_column,
    names_within,
    require_columns,
)
from setsearch.indexing.rows.document_columns import NUMBERED, DocumentColumns, Held, SourceItem
from setsearch.indexing.rows.item_columns import ItemColumns
from setsearch.indexing.rows.opening import is_stream, require_named, stream_name
from setsearch.indexing.rows.progress import Amount
from setsearch.indexing.rows.reader import (
    ARROW_FILES,
    JSON,
    JSON_LINES,
    ROW_FILES,
    RowReader,
    beginning,
    file_ending,
    first_row,
    is_array,
)
from setsearch.indexing.rows.relation_columns import read_columns
from setsearch.indexing.rows.workbooks import WORKBOOKS, first_asked, sheet_rows
from setsearch.indexing.tally import Tally
from setsearch.storage.synced_source import Columns

T = TypeVar("T")
NAMELESS = {".gmt": "set,about,gene...", ".gaf": "db,id,gene,how,term,..."}  # columns of tables without their names

FIRST_ROWS = 1000  # of a file of JSON objects, one of which has each column that is asked for
OF_FOLDERS = (*JSON_LINES, *ARROW_FILES)  # files of folders that are rows
NAMED = (JSON, *JSON_LINES, *ARROW_FILES, *WORKBOOKS)  # files whose columns have names
SHOWN = 8  # columns in a message
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # how folders of Hive and Spark name a missing value


@dataclass(frozen=True)
class SourceReader:
    """Reads items from sources, by the roles of columns."""

    columns: Columns  # what they keep of documents is what `held` keeps, if they name nothing
    rows: RowReader
    folders: FolderRules = ANY_FILE
    cells: CellRules = field(default_factory=CellRules)
    held: Held = field(default_factory=Held)
    room: Room | None = None  # of the archives that these files are in
    choose: str = CHOOSE  # how columns of documents are chosen, where one is not there
    apart: Reader = field(default_factory=Reader)
    tally: Tally = field(default_factory=Tally)

    @cached_property
    def files(self) -> FileReader:
        """What reads files of documents."""
        return FileReader(self.rows, self.folders, self.apart, self.tally)

    @cached_property
    def documents(self) -> DocumentColumns:
        """What makes documents of rows, and of notes and mail."""
        return DocumentColumns(self.columns, self.held, self.choose, self.rows.table is not None, self.tally)

    @cached_property
    def by_item(self) -> ItemColumns:
        """What gathers what rows say of items."""
        return ItemColumns(self.columns, self.cells, self.rows.table is not None, self.tally)

    @cached_property
    def _for_folders(self) -> "SourceReader":
        return replace(self, rows=replace(self.rows, errors=self.folders.errors or self.rows.errors))

    @property
    def _table_name(self) -> str:
        return "" if self.rows.table is None else self.rows.table.name

    def read(self, sources: Iterable[str]) -> Iterator[SourceItem | Group]:
        """All items of all sources; raises SourceError if there are none, or one cannot be read."""
        paths = list(sources)
        require_named(paths)
        self._expect(paths)
        is_empty, columns = True, self.columns
        wanted = [*columns.keep, *columns.fields]
        if columns.items is None:  # documents beside rows have a text, and often a title, of their own
            wanted += sorted(columns.asked - {columns.title, *Columns().texts})
        for item in self.items(paths):
            is_empty = False
            if isinstance(item, Group):
                self.tally.columns.update(REFERENCE_COLUMNS)
            yield item
        lacking = [] if is_empty or columns.group_by else [own for own in wanted if own not in self.tally.columns]
        if lacking:
            others = ", ".join(islice(sorted({own.lower() for own in self.tally.columns}), SHOWN))
            what = f"no document has a column {lacking[0]!r} beside its text{others and f', but {others}'}"
            raise SourceError(f"{what}; leave it out, or give rows or front matter")
        if is_empty:
            lost = "" if self.cells.keep is None else f" that meets {self.cells.keep!r:.60}"
            why = "; ".join([*sorted(self.tally.left_out), *self.tally.not_read()])
            if self.tally.columns.isdisjoint(self.columns.asked) and self.tally.columns:
                why += f"; columns are {', '.join(islice(sorted(self.tally.columns), SHOWN))}"
            lost += f" ({why})" if why else ""
            raise SourceError(f"nothing to index in {', '.join(paths) or self._table_name}: no document, no row{lost}")

    def of_rows(self) -> Iterator[SourceItem]:
        """The items of the table."""
        return (item for item in self.items([]) if not isinstance(item, Group))

    def items(self, paths: list[str]) -> Iterator[SourceItem | Group]:
        """All items of all sources, possibly none. References come last, each with all its copies."""
        if self.columns.group_by is not None:
            texts = self._each_of_all(self.by_item.texts, paths, self.by_item.optional)
            return self.by_item.with_texts(chain.from_iterable(texts))
        if self.columns.relation == (self.columns.items, self.columns.features):
            return self._relation_items(paths)
        return self._documents(paths)

    def _relation_items(self, paths: list[str]) -> Iterator[SourceItem]:
        """The items of a relation; of one usual file by columns, which takes less time."""
        if len(paths) == 1 and self.rows.table is None and not is_stream(paths[0]):
            by_columns = read_columns(Path(paths[0]), self.columns, self.rows, self.cells)
            if by_columns is not None:
                yield from by_columns
                return
        entries = self._each_of_all(self.by_item.entries, paths, self.by_item.optional)
        yield from self.by_item.with_features(chain.from_iterable(entries))

    def read_numbers(self, sources: Iterable[str]) -> Iterator[tuple[str, list[float], str | None]]:
        """Items with the numbers of their columns."""
        paths = list(sources)
        self._expect(paths)
        yield from self._each_of_all(self.by_item.numbers, paths)

    def _expect(self, paths: list[str]) -> None:
        """Let `rows.amount` know how large the sources are, if all are files."""
        for path in paths if self.rows.header is not None else ():
            if _holds_files(path) or file_ending(Path(path)) in NAMED:
                raise UsageError(f"`header` is for tables without names of columns, such as CSV; {path} is none")
        files = [Path(path) for path in paths if not is_stream(path) and Path(path).is_file()]
        if self.rows.table is None and len(files) == len(paths):
            self.rows.amount.expect(file.stat().st_size for file in files)

    def _each_of_all(
        self, convert: Callable[[Row], T], paths: list[str], optional: Iterable[str | None] = ()
    ) -> Iterator[T]:
        """The rows of all sources, converted."""
        for path in paths or [""]:
            yield from self._each_row(convert, self.rows_of(path), optional)

    def _each_row(
        self, convert: Callable[[Row], T], rows: Iterable[Row], optional: Iterable[str | None]
    ) -> Iterator[T]:
        """Rows, converted; with errors = "skip" bad ones are skipped.

        A JSON object may lack `optional` columns, but one of the first thousand, or of all, must have each.
        """
        lacking, first = dict.fromkeys(filter(None, optional)), None
        for number, row in enumerate(rows):
            if lacking:
                first = first or row
                lacking = {name: None for name in lacking if name not in row[1]}
                if lacking and number == FIRST_ROWS:
                    none = f"nor has one of the first {FIRST_ROWS:,} rows; "
                    require_columns(*first, *lacking, choose=none + self.choose)
            try:
                if self.cells.drops_rare or self.cells.keeps(row):  # the others are counted, but not kept
                    yield convert(row)
            except (SourceError, DuplicateItem) as error:
                if self.rows.errors != "skip":
                    raise
                self.rows.warn(f"skipped {str(error).removesuffix(CORRECT)}")
        if lacking and first is not None and is_open(first[1]):
            require_columns(*first, *lacking, choose=self.choose)

    def _documents(self, paths: list[str]) -> Iterator[SourceItem | Group]:
        """Documents, whose ids are paths below a folder, names of files, or those of rows; then references."""
        for path in paths or [""]:
            if self.rows.table is None and _holds_files(path):
                several = sum(map(_holds_files, paths)) > 1
                read = self._for_folders._folder if Path(path).is_dir() else self._for_folders._archive
                yield from read(Path(path), f"{Path(path).resolve().name}/" if several else "")
                continue
            is_one = sum(Path(other).name == Path(path).name for other in paths) == 1
            id = Path(path).name if is_one else Path(path).as_posix()
            texts = self.texts(path, id)
            if texts is not None:
                yield from self._of_files(texts)
            elif (rows := self._unless_references(path, id)) is not None:
                shown = self.rows.shown(path) if self.rows.table is None else f"table {self._table_name}"
                numbered = self.documents.with_ids(rows, Path(path).name, shown)
                yield from self._each_row(self.documents.of_row, numbered, self.documents.optional)
        groups = self._groups_of_references()[::-1]
        fields = self.documents.of_reference if self.columns.fields or self.columns.joined else None
        while groups:  # each can be freed when it is written
            keep = self.columns.keep or tuple(name for name in self.held.kept if name in REFERENCE_COLUMNS)
            yield groups.pop()._replace(keep=keep, fields=fields, filed=self.tally.filed)

    def _groups_of_references(self) -> list[Group]:
        """The references that were read, and those that are kept: the latter first, which have their names already."""
        kept = list[Copy]()
        if self.held.earlier is not None and self.tally.failed:
            kept += self.held.earlier(self.tally.keep, self.tally.references)
        groups = group_copies([*self.tally.references, *kept])
        self.tally.references.clear()
        are_kept = {*map(id, kept)}
        return sorted(groups, key=lambda own: are_kept.isdisjoint(map(id, own.copies)))

    @cached_property
    def _with_all_columns(self) -> "SourceReader":
        """What reads notes and messages with the columns that make a relation, or groups."""
        asked = sorted(self.columns.asked - {"id", "text", "title"})  # which documents have anyway
        columns, held = Columns(keep=(*MAIL_COLUMNS, *asked)), self.held._replace(kept=())
        return replace(self._for_folders, columns=columns, cells=CellRules(), held=held)

    def _rows_of_documents(self, items: Iterable[SourceItem | Group]) -> Iterator[Row]:
        """Notes and messages, read with all columns, as rows."""
        name = self.columns.items or self.columns.group_by or ""
        for item in items:
            if isinstance(item, Group):
                continue
            found = (item[3] or {}) if len(item) > 3 else {}
            found = {column: value for column, value in found.items() if value is not None}
            values = OpenCells({"id": item[0], "text": item[1], "title": item[2], **found})
            if found and values[name] is not None:
                yield item[0], values
            else:
                self.tally.unread[f"document{{s}} without {name!r}"] += 1

    def rows_of(self, path: str, below: str | None = None) -> Generator[Row]:
        """The rows of a source, `below` a folder; of a workbook, which may be hostile, they are read apart.

        Raises SourceError.
        """
        has_roles = self.columns.items is not None or self.columns.group_by is not None
        is_table = self.rows.table is not None
        is_file = not is_table and path != "" and not is_stream(path)
        if has_roles and is_file and self._has_rows(Path(path)):
            yield from self._rows_of_folder(Path(path))
        elif has_roles and not is_table and (_holds_files(path) or _is_of_mail(path)):
            inner = replace(self._with_all_columns, rows=self.rows)  # a file that somebody named is read as it says
            yield from self._rows_of_documents(inner.items([path]))
        elif not is_table and file_ending(Path(path)) in WORKBOOKS and Path(path).is_file():
            yield from sheet_rows(self.files.sheets(Path(path), are_read=True), path, self.rows.asked, self.rows.warn)
        elif is_file and file_ending(Path(path)) in OF_FOLDERS:
            folders = Path(path).parts[:-1] if below is None else below.split("/")[:-1]
            # Others of a path have nothing to do with it.
            nearest = takewhile(lambda own: "=" in own, reversed(folders))
            yield from _with_partition(self.rows.read(path), nearest if below is None else folders)
        else:
            yield from self.rows.read(path)

    def _has_rows(self, folder: Path) -> bool:
        """Whether a folder has a file of rows with the column that names items, or groups; nothing is told of it."""
        name = self.columns.items or self.columns.group_by
        quiet = replace(self, rows=replace(self.rows, errors="skip", warn=_ignore, decided={}, amount=Amount()))
        with suppress(SourceError):
            for file in Folder(folder, self.folders, _ignore, _ignore).files() if folder.is_dir() else ():
                below = file.relative_to(folder).as_posix()
                if file_ending(file) in OF_FOLDERS:
                    with suppress(SourceError), closing(quiet.rows_of(str(file), below)) as rows:
                        if name in next(rows, ("", {}))[1]:
                            return True
        return False

    def _rows_of_folder(self, folder: Path) -> Iterator[Row]:
        """The rows of the files of a folder, and its notes and messages as rows."""
        files, inner = self.files.folder(folder).files(), self._with_all_columns
        inner.files.know_people(files)
        for file in files:
            if file_ending(file) not in OF_FOLDERS:
                yield from self._rows_of_documents(inner._each_file([file], folder))
                continue
            try:
                yield from self._for_folders.rows_of(str(file), file.relative_to(folder).as_posix())
            except SourceError as error:
                inner.files.tell_skipped(error, str(error))
        self.tally.references.clear()  # of which no columns are known

    def texts(self, path: str, id: str, wanted: Sequence[str] = ()) -> Iterator[FileItem] | None:
        """The documents of a file or of standard input; None if it holds rows, which have the columns `wanted`."""
        if self.rows.table is not None or self.rows.header is not None:
            return None
        if not is_stream(path):
            if not is_document(Path(path)) or self._holds_rows(Path(path), is_named=True, wanted=wanted):
                return None
            return self.files.documents(Path(path), id, is_named=True)
        stream, name = self.rows.stream(path), stream_name(path)
        if (unread := unread_kind(stream.peek(LOOKED_AT))) is not None:
            raise SourceError(f"{name} is not read: {unread}")
        if are_rows(stream.peek(LOOKED_AT)):
            return None
        return self.files.documents_of(stream.read(), Place.of_file(name, name, is_named=True))

    def _holds_rows(self, path: Path, is_named: bool, wanted: Sequence[str] = ()) -> bool:
        """Whether a file has rows with the columns that are wanted, of documents by default."""
        ending = file_ending(path)
        if ending in NAMELESS and not wanted:
            way_out = f"`header={NAMELESS[ending]}` reads its lines as rows, for `items` and `features`"
            self.rows.warn(f"{path} is one text; {way_out}")
        is_table = ending in (JSON, *WORKBOOKS)
        first: Mapping[str, Any] | None = None
        if ending in WORKBOOKS:
            with suppress(SourceError):  # which is told where its text is read
                first = dict.fromkeys(first_asked(self.files.sheets(path), self.rows.asked).columns)
        elif ending not in ROW_FILES:
            first, begin = first_row(path, or_whole=bool(self.columns.asked))
            is_asked = is_table and (wanted or not self._may_be_references)
            first = first if first and (is_asked or are_rows(begin)) else None
        if first is None or wanted:
            return first is not None and (missing_column(first, *wanted) is None or are_reference_columns(first))
        id = None if self.columns.id == NUMBERED else self.columns.id
        if not is_table and self.columns.texts == Columns().texts:
            id = self.columns.id  # a text may begin with a line that looks like a header
        missing = missing_column(first, id, *self.columns.texts)
        fits = missing is None or (self._may_be_references and are_reference_columns(first))
        self.tally.with_rows += [self.rows.shown(str(path))] * (ending == JSON and not is_named and not fits)
        if is_named and is_table and not fits:
            if missing not in Columns().texts:
                return True  # so that the column is told, which somebody named
            names = ", ".join([*names_within(first)][:SHOWN_NAMES])
            self.rows.warn(f"{path} is one text: its rows have no column {missing!r}, but {names} (choose with `text`)")
        return fits

    def references(self, path: str, *wanted: str) -> Iterator[tuple[str, Reference]]:
        """Everything in a source as references, rows with columns `wanted` too, with positions. Raises SourceError."""
        require_named([path])
        texts = self.texts(path, path, wanted)
        if texts is None:
            yield from ((position, reference_of_row(position, row)) for position, row in self.rows_of(path))
            return
        list(texts)
        for copy in self.tally.references:
            yield copy.position, copy.reference

    @property
    def _may_be_references(self) -> bool:
        """Whether no columns were named but those that references have."""
        columns = self.columns
        plain = replace(columns, keep=(), tags=(), links=(), numbers=(), split=None)
        is_plain = self.rows.table is None and plain == Columns(errors=columns.errors)
        return is_plain and not {*columns.keep, *columns.fields} - {*REFERENCE_COLUMNS}

    def _unless_references(self, path: str, id: str, is_named: bool = True) -> Iterator[Row] | None:
        """The rows of a source; None if they are references, which are taken. Columns that were named are of rows."""
        rows, first = self.rows_of(path), None
        with suppress(*(() if is_named else (SourceError,))):  # else it is left out as a table
            first = next(rows, None)
        if first is None or not self._may_be_references or not are_reference_columns(first[1]):
            return chain([first] if first else [], rows)
        for number, (position, values) in enumerate(chain([first], rows), 1):
            reference = reference_of_row(position, values)
            if reference.text():
                reference.forget()
                self.tally.references.append(Copy(reference, id, number))
            else:
                self.tally.textless.append(Copy(reference, path, number))
        return None

    def _takes_references(self, file: Path, id: str) -> bool:
        """Whether a file of a folder has references, which are taken; other rows come again, and are told then."""
        told = list[str]()
        looking = replace(self, rows=replace(self.rows, warn=told.append))
        are_references = looking._unless_references(str(file), id, False) is None
        for message in told if are_references else ():
            self.rows.warn(message)
        return are_references

    def _of_files(self, documents: Iterable[FileItem]) -> Iterator[SourceItem]:
        """Documents of files; a value that its field cannot have costs its document, as in rows."""
        for document in documents:
            try:
                yield self.documents.of_file(document)
            except SourceError as error:
                self.tally.failed.add(document.id)
                self.files.tell_skipped(error, str(error))

    def _folder(self, folder: Path, prefix: str) -> Iterator[SourceItem]:
        """The files of a folder, with their paths below it as ids, behind its name if there are several folders."""
        found = self.files.folder(folder)
        files = found.files()
        self.tally.failed |= {prefix + path.relative_to(folder).as_posix() for path in found.shut}
        if not prefix:  # of several folders nobody knows how large the next one is
            self.rows.amount.expect(file.stat().st_size for file in files)
        self.files.know_people(files)
        yield from self._each_file(files, folder, prefix)

    def _each_file(self, files: Iterable[Path], folder: Path, prefix: str = "") -> Iterator[SourceItem]:
        for file in files:
            try:
                yield from self._file_of_folder(file, id := prefix + file.relative_to(folder).as_posix())
            except SourceError as error:
                self.tally.failed.add(id)
                self.files.tell_skipped(error, str(error))

    def _archive(self, archive: Path, prefix: str) -> Iterator[SourceItem]:
        """The files of an archive, as those of a folder. If rules choose the archive itself, they choose all of it."""

        def leave_out(member: Path, why: str) -> None:
            """Note that a member is not read, or not all of the archive."""
            self.files.leave_out(archive / member, why)
            if why in NEVER_READ:
                return
            if member.parts:
                self.tally.failed.add(prefix + member.as_posix())
            else:
                self.tally.failed.add(prefix.removesuffix("/") or archive.name)
                self.tally.broken_off |= set() if prefix else {archive.name}

        room = self.room or Room()
        with unpacked(archive, leave_out, room) as found:
            if any(found.folder.iterdir()):
                folders = self.folders._replace(globs=()) if self.folders.wants(archive) else self.folders
                inner = replace(self, rows=self.rows.telling(found.told), folders=folders, room=room)
                yield from inner._folder(found.folder, prefix)
            elif not any(str(archive) in own for names in self.tally.left_out.values() for own in names):
                self.files.leave_out(archive, "archives without a file that is read")

    def _file_of_folder(self, file: Path, id: str) -> Iterator[SourceItem]:
        """What a file holds: an archive, documents, references, which are taken, or rows, if they are documents."""
        if is_archive(file):
            if self.room is not None and self.room.depth == DEEPEST:
                self.files.leave_out(file, "archives within archives within archives")
            else:
                yield from self._archive(file, f"{id}/")
            return
        holds_rows = self._holds_rows(file, is_named=False)
        if is_document(file) and not holds_rows:
            yield from self._of_files(self.files.documents(file, id, is_named=False))
        elif file_ending(file) not in ARROW_FILES and self._takes_references(file, id):
            return
        elif file_ending(file) in OF_FOLDERS or holds_rows:
            self.tally.empty.append(id)  # it may have been one text before
            yield from self._row_file(file, id)
        elif is_array(file):
            yield from self._of_files(self.files.documents(file, id, is_named=False))
        else:
            unpack = "unpack them, and " if self.room is not None else ""
            self.files.leave_out(file, f"tables: {unpack}name them one by one")

    def _row_file(self, file: Path, id: str) -> Iterator[SourceItem]:
        """The rows of a file of a folder, which is left out if the first one is no document."""
        with closing(self.rows_of(str(file), id)) as own:
            head = [*islice(own, 1)]
            columns = [name for name in (self.columns.id, *self.columns.texts) if name != NUMBERED]
            missing = next((missing_column(values, *columns) for _, values in head), None)
            if missing is None:
                numbered = self.documents.with_ids(chain(head, own), id, self.rows.shown(str(file)))
                yield from self._each_row(self.documents.of_row, numbered, [self.columns.title])
            else:
                self.files.leave_out(file, f"rows without a column {missing}")


def _holds_files(path: str) -> bool:
    """Whether a source is a folder or an archive."""
    return path != "" and not is_stream(path) and (Path(path).is_dir() or is_archive(Path(path)))


def _is_of_mail(path: str) -> bool:
    """Whether a source is a file of messages."""
    if path == "" or is_stream(path) or not Path(path).is_file() or not is_document(Path(path)):
        return False
    return form_of(beginning(Path(path)), file_ending(Path(path))) in MAIL


def _ignore(*_: object) -> None:
    """Tell nothing."""


def _with_partition(rows: Iterable[Row], folders: Iterable[str]) -> Iterator[Row]:
    """Rows, with the columns that the folders of their file name, as in day=2024-01-05/part-0.parquet."""
    pairs = (map(unquote, folder.partition("=")[::2]) for folder in folders if "=" in folder)
    named: dict[str, Any] = {name: None if value == NO_PARTITION else value for name, value in pairs}
    for position, values in rows:
        assert isinstance(values, dict)  # and what it knows of its file stays
        for name, value in named.items():
            values.setdefault(name, value)
        yield position, values


def titles_by_item(rows: RowReader, path: str, columns: Columns) -> dict[str, str]:
    """Titles by item: of rows with the column of the items, or of references with several names. Raises SourceError."""
    reader, item, title = SourceReader(Columns(), rows), columns.items or "", columns.title or "title"
    if reader.texts(path, path, (item, title)) is None:
        titles = {}
        for position, values in reader.rows_of(path):
            require_columns(position, values, item, title)
            titles[cell_id(position, item, values[item])] = cell_text(position, title, values[title])
        return titles
    references = [reference for _, reference in reader.references(path)]
    if not references:
        raise SourceError(f"{path} has no titles; give rows with the columns of items and titles, or references")
    named = ((name, own.first("title")) for own in references for name in (own.own_key, own.pmid, own.doi))
    return {name: title for name, title in named if name and title}
