"""Items from folders, text files, JSONL, CSV and TSV files, and SQLite tables: documents, or rows of a relation.

Every item is `(id, text or counted features, title)`, yielded one at a time.
"""

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from setsearch.errors import DuplicateItem, InvalidItem, SourceError, UsageError
from setsearch.indexing.apart import Reader
from setsearch.indexing.encodings import LOOKED_AT
from setsearch.indexing.files import ANY_FILE, FileItem, FileReader, FolderRules, is_document
from setsearch.indexing.formats import are_rows, is_mail, unread_kind
from setsearch.indexing.formats.front_matter import SPLIT_IN_POSTS, TAGS, Note, is_post
from setsearch.indexing.formats.mail import COLUMNS as MAIL_COLUMNS
from setsearch.indexing.references.identity import Copy, Group, group_copies
from setsearch.indexing.references.items import COLUMNS as REFERENCE_COLUMNS
from setsearch.indexing.references.reference import Reference
from setsearch.indexing.references.tables import are_reference_columns, reference_of_row
from setsearch.indexing.rows.archives import DEEPEST, NEVER_READ, Room, is_archive, unpacked
from setsearch.indexing.rows.cell_rules import CellRules
from setsearch.indexing.rows.cells import (
    CHOOSE,
    SHOWN_NAMES,
    Cells,
    OpenCells,
    Row,
    cell_count,
    cell_id,
    cell_names,
    cell_number,
    cell_text,
    is_open,
    missing_column,
    require_columns,
)
from setsearch.indexing.rows.opening import is_stream, require_named, stream_name
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
from setsearch.storage.documents import encode_columns
from setsearch.storage.synced_source import Columns, Joined, field_and_column

T = TypeVar("T")
NAMELESS = {".gmt": "set,about,gene...", ".gaf": "db,id,gene,how,term,..."}  # columns of tables without their names

ENTRIES = "select item, feature, sum(count) as count, max(title) as title from row group by item, feature"
# of the items with enough features, those entries whose features have enough of these items
FREQUENT = f"""
    with entry as ({ENTRIES}),
    kept as (select * from entry where item in (select item from entry group by item having count(*) >= {{}}))
    select * from kept where feature in (select feature from kept group by feature having count(*) >= {{}})
"""

FIRST_ROWS = 1000  # of a file of JSON objects, one of which has each column that is asked for
NAMED = (JSON, *JSON_LINES, *ARROW_FILES, *WORKBOOKS)  # files whose columns have names
SHOWN = 8  # columns in a message
NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # how folders of Hive and Spark name a missing value
NUMBERED = "id"  # the column of ids by default; rows of files without it are numbered

# id, text or counted features, title; columns to keep, and fields
SourceItem = (
    tuple[str, str | dict[str, int], str | None]
    | tuple[str, str | dict[str, int], str | None, dict[str, Any] | None, dict[str, float | list[str]]]
)


@dataclass(frozen=True)
class SourceReader:
    """Reads items from sources, by the roles of columns."""

    columns: Columns  # what they keep of documents is chosen from `kept` if they name nothing
    rows: RowReader
    folders: FolderRules = ANY_FILE
    cells: CellRules = field(default_factory=CellRules)
    joined: Mapping[Joined, Mapping[str, list[str]]] = field(
        default_factory=dict
    )  # what other tables have of documents
    folder_errors: str | None = None  # `errors` of files in folders; None: those of all
    room: Room | None = None  # of the archives that these files are in
    choose: str = CHOOSE  # how columns of documents are chosen, where one is not there
    kept: tuple[str, ...] = ()  # columns that the collection has kept so far, where a document has them
    # The references of the collection that came from files that are kept, where those that are given replace all.
    earlier: Callable[[Callable[[str], bool], list[Copy]], Iterable[Copy]] | None = None
    apart: Reader = field(default_factory=Reader)
    tally: Tally = field(default_factory=Tally)

    @cached_property
    def files(self) -> FileReader:
        """What reads files of documents."""
        return FileReader(self.rows, self.folders, self.apart, self.tally)

    @cached_property
    def _for_folders(self) -> "SourceReader":
        return replace(self, rows=replace(self.rows, errors=self.folder_errors or self.rows.errors))

    @property
    def _table_name(self) -> str:
        return "" if self.rows.table is None else self.rows.table.name

    def read(self, sources: Iterable[str]) -> Iterator[SourceItem | Group]:
        """All items of all sources; raises SourceError if there are none, or one cannot be read."""
        paths = list(sources)
        require_named(paths)
        self._expect(paths)
        is_empty, wanted = True, [*self.columns.keep, *self.columns.fields]
        for item in self.items(paths):
            is_empty = False
            if isinstance(item, Group):
                self.tally.columns.update(REFERENCE_COLUMNS)
            yield item
        lacking = [] if is_empty or self.columns.group_by else [own for own in wanted if own not in self.tally.columns]
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
            return self._groups(paths)
        if self.columns.relation == (self.columns.items, self.columns.features):
            return self._relation_items(paths)
        return self._documents(paths)

    def read_numbers(self, sources: Iterable[str]) -> Iterator[tuple[str, list[float], str | None]]:
        """Items with the numbers of their columns."""
        paths = list(sources)
        self._expect(paths)
        for path in paths or [""]:
            yield from self._each_row(self._numeric_item, self.rows_of(path))

    def _expect(self, paths: list[str]) -> None:
        """Let `rows.amount` know how large the sources are, if all are files."""
        for path in paths if self.rows.header is not None else ():
            if Path(path).is_dir() or is_archive(Path(path)) or file_ending(Path(path)) in NAMED:
                raise UsageError(f"`header` is for tables without names of columns, such as CSV; {path} is none")
        files = [Path(path) for path in paths if not is_stream(path) and Path(path).is_file()]
        if self.rows.table is None and len(files) == len(paths):
            self.rows.amount.expect(file.stat().st_size for file in files)

    def _documents(self, paths: list[str]) -> Iterator[SourceItem | Group]:
        for path in paths or [""]:
            is_file = self.rows.table is None and not is_stream(path)
            if is_file and (Path(path).is_dir() or is_archive(Path(path))):
                several = sum(Path(other).is_dir() or is_archive(Path(other)) for other in paths) > 1
                read = self._for_folders._folder if Path(path).is_dir() else self._for_folders._archive
                yield from read(Path(path), f"{Path(path).resolve().name}/" if several else "")
                continue
            is_one = sum(Path(other).name == Path(path).name for other in paths) == 1
            id = Path(path).name if is_one else Path(path).as_posix()
            texts = self.texts(path, id)
            if texts is not None:
                yield from self._of_files(texts)
            elif (rows := self._unless_references(path, id)) is not None:
                optional = (*self.columns.texts, self.columns.title, *self.columns.keep, *self.columns.fields)
                yield from self._each_row(self._document, self._with_ids(path, Path(path).name, rows), *optional)
        groups = self._groups_of_references()[::-1]
        fields = self._of_reference if self.columns.fields or self.columns.joined else None
        while groups:  # each can be freed when it is written
            keep = self.columns.keep or tuple(name for name in self.kept if name in REFERENCE_COLUMNS)
            yield groups.pop()._replace(keep=keep, fields=fields, filed=self.tally.filed)

    def _groups_of_references(self) -> list[Group]:
        """The references that were read, and those that are kept: the latter first, which have their names already."""
        kept = list[Copy]()
        if self.earlier is not None and self.tally.failed:
            kept += self.earlier(self.tally.keep, self.tally.references)
        groups = group_copies([*self.tally.references, *kept])
        self.tally.references.clear()
        are_kept = {*map(id, kept)}
        return sorted(groups, key=lambda own: are_kept.isdisjoint(map(id, own.copies)))

    def _of_reference(self, id: str, values: Mapping[str, Any]) -> dict[str, float | list[str]]:
        """What a reference has in its fields; nothing in those of notes or mail beside it. Raises SourceError."""
        return self._fields(f"reference {id}", id, OpenCells(values))

    def _rows_of_documents(self, path: str) -> Iterator[Row]:
        """The notes and messages of a file or folder as rows, whose columns make a relation, or groups."""
        asked = sorted(self.columns.asked - {"id", "text", "title"})  # which documents have anyway
        inner = replace(self, columns=Columns(keep=(*MAIL_COLUMNS, *asked)), cells=CellRules(), kept=())
        name = self.columns.items or self.columns.group_by or ""
        for item in inner.items([path]):
            if isinstance(item, Group):
                continue
            found = (item[3] or {}) if len(item) > 3 else {}
            found = {column: value for column, value in found.items() if value is not None}
            values = OpenCells({"id": item[0], "text": item[1], "title": item[2], **found})
            if found and values[name] is not None:
                yield item[0], values
            else:
                self.tally.unread[f"document{{s}} without {name!r}"] += 1

    def _has_mail(self, path: Path) -> bool:
        """Whether messages may be in a source: a folder, an archive, or a file of mail."""
        if not path.is_file() or is_archive(path):
            return path.is_dir() or path.is_file()
        return is_document(path) and is_mail(beginning(path), file_ending(path))

    def rows_of(self, path: str) -> Generator[Row]:
        """The rows of a source; of a workbook, which may be hostile, they are read apart. Raises SourceError."""
        has_roles = self.columns.items is not None or self.columns.group_by is not None
        is_file = self.rows.table is None and path != "" and not is_stream(path)
        if has_roles and is_file and self._has_mail(Path(path)):
            yield from self._rows_of_documents(path)
            return
        if self.rows.table is None and file_ending(Path(path)) in WORKBOOKS and Path(path).is_file():
            yield from sheet_rows(self.files.sheets(Path(path)), path, self.rows.asked, self.rows.warn)
        else:
            yield from self.rows.read(path)

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
        return None if are_rows(stream.peek(LOOKED_AT)) else self.files.documents_of(stream.read(), "", name, name)

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
            first, begin = first_row(path)
            is_asked = is_table and (wanted or not self._may_be_references)
            first = first if first and (is_asked or are_rows(begin)) else None
        if first is None or wanted:
            return first is not None and (not {*wanted} - {*first} or are_reference_columns(first))
        id = None if self.columns.id == NUMBERED else self.columns.id
        if not is_table and self.columns.texts == Columns().texts:
            id = self.columns.id  # a text may begin with a line that looks like a header
        missing = missing_column(first, id, *self.columns.texts)
        fits = missing is None or (self._may_be_references and are_reference_columns(first))
        if is_named and is_table and not fits:
            names = ", ".join([*map(str, first)][:SHOWN_NAMES])
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

    def _with_ids(self, path: str, name: str, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows of a source. Those of a file without a column of ids have its name and their numbers as ids."""
        first = next(rows, None)
        if first is None:
            return
        is_table = self.rows.table is not None
        repeated = first[1].repeated if isinstance(first[1], Cells) else ()
        has_ids = self.columns.id != NUMBERED or NUMBERED in first[1] or NUMBERED in repeated
        if has_ids:
            yield first
            yield from rows
            return
        self.tally.numbered.append(f"table {self._table_name}" if is_table else self.rows.shown(path))
        for position, values in chain([first], rows):
            number = values["rowid"] if is_table and "rowid" in values else position.rpartition(" ")[2]
            if NUMBERED in values:
                raise SourceError(
                    f"{position} has an `id`, but the first row of {name} has none; give all one, or none"
                )
            cells = OpenCells(values) if is_open(values) else Cells(values)
            cells.repeated, cells.numbered = frozenset(repeated), NUMBERED
            cells[NUMBERED] = number if is_table else f"{name}#{number}"
            yield position, cells

    def _folder(self, folder: Path, prefix: str) -> Iterator[SourceItem]:
        """The files of a folder, with their paths below it as ids, behind its name if there are several folders."""
        files = self.files.files(folder)
        self.tally.failed |= {prefix + path.relative_to(folder).as_posix() for path in self.files.shut}
        if not prefix:  # of several folders nobody knows how large the next one is
            self.rows.amount.expect(file.stat().st_size for file in files)
        self.files.know_people(files)
        for file in files:
            try:
                yield from self._file_of_folder(file, id := prefix + file.relative_to(folder).as_posix())
            except SourceError as error:
                self.tally.failed.add(id)
                self.files.tell_skipped(error, str(error))

    def _archive(self, archive: Path, prefix: str) -> Iterator[SourceItem]:
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
        if is_archive(file):
            if self.room is not None and self.room.depth == DEEPEST:
                self.files.leave_out(file, "archives within archives within archives")
            else:
                yield from self._archive(file, f"{id}/")
            return
        holds_rows = self._holds_rows(file, is_named=False)
        if is_document(file) and not holds_rows:
            yield from self._of_files(self.files.documents(file, id, is_named=False))
        elif file_ending(file) not in ARROW_FILES and self._unless_references(str(file), id, False) is None:
            return
        elif file_ending(file) in (*JSON_LINES, *ARROW_FILES) or holds_rows:
            self.tally.empty.append(id)  # it may have been one text before
            yield from self._row_file(file, id)
        elif is_array(file):
            yield from self._of_files(self.files.documents(file, id, is_named=False))
        else:
            self.files.leave_out(file, "tables: name them one by one")

    def _row_file(self, file: Path, id: str) -> Iterator[SourceItem]:
        """The rows of a file of a folder, which is left out if the first one is no document."""
        with closing(self.rows_of(str(file))) as own:
            rows = _with_partition(own, id)
            head = [*islice(rows, 1)]
            columns = [own for own in (self.columns.id, *self.columns.texts) if own != NUMBERED]
            missing = next((missing_column(values, *columns) for _, values in head), None)
            if missing is None:
                numbered = self._with_ids(str(file), id, chain(head, rows))
                yield from self._each_row(self._document, numbered, self.columns.title)
            else:
                self.files.leave_out(file, f"rows without a column {missing}")

    def _document(self, row: Row) -> SourceItem:
        position, values = row
        columns = self.columns
        optional = (*columns.texts, columns.title, *columns.keep, *columns.fields)
        require_columns(position, values, columns.id, *(() if is_open(values) else optional), choose=self.choose)
        # A column named title is shown even if no title was requested.
        name = columns.title or "title"
        title = None if values.get(name) is None else cell_text(position, name, values[name])
        if title is not None and "\0" in title:
            raise SourceError(f"{position}: the column {name!r} is {title!r:.40}; titles are text, without NUL")
        text = "\n".join(cell_text(position, name, values[name]) for name in columns.texts)
        id = cell_id(position, columns.id, values[columns.id])
        if id in self.tally.seen:
            raise DuplicateItem(f"{position}: the id {id!r} occurs twice; ids must be unique")
        self.tally.columns.update(columns.keep, columns.fields)
        item = self._with_columns(position, (id, text, title), values)
        self.tally.seen.add(id)
        return item

    def _with_columns(
        self, position: str, document: tuple[str, str, str | None], values: Mapping[str, Any]
    ) -> SourceItem:
        """A document with what is kept of its columns, and with its fields. Raises SourceError."""
        id, columns = document[0], self.columns
        kept = {name: values[name] for name in columns.keep or [name for name in self.kept if name in values]}
        try:
            encode_columns(id, kept)
        except InvalidItem as error:
            raise SourceError(f"{position}: {error}") from error
        fields = self._fields(position, id, values) if columns.fields or columns.joined else {}
        return (*document, kept or None, fields) if kept or fields else document

    def _of_files(self, documents: Iterable[FileItem]) -> Iterator[SourceItem]:
        """Documents of files, with what is asked of the columns of notes and mail.

        A value that its field cannot have costs its document, as in rows.
        """
        is_asked = bool(self.columns.keep or self.columns.fields or self.columns.joined or self.kept)
        for document in documents:
            found = document.columns if is_asked else None
            values = self._of_note(document.id, found) if isinstance(found, Note) else OpenCells(found or {})
            self.tally.columns.update(values)
            try:
                yield self._with_columns(document.id, document[:3], values) if found else document[:3]
            except SourceError as error:
                self.tally.failed.add(document.id)
                self.files.tell_skipped(error, str(error))

    def _of_note(self, id: str, note: Note) -> OpenCells:
        """The columns of a note, with #tags; a text that begins as a list, such as `(draft) lions`, may be a name."""
        values = OpenCells(note.columns())
        if self.columns.split is None and is_post(id):
            values.update({own: values[own].split() for own in SPLIT_IN_POSTS if isinstance(values[own], str)})
        for column in {TAGS, *(column for _, column in self.columns.named)}:
            try:
                names = cell_names("", column, values[column], self.columns.split)
            except SourceError:
                names = values[column] = [values[column]]
            if column == TAGS and (inline := note.tags()):
                values[TAGS] = list(dict.fromkeys([*names, *inline]))
        return values

    def _fields(self, position: str, id: str, values: Mapping[str, Any]) -> dict[str, float | list[str]]:
        """What a document has in its fields beside the text; nothing where its cell is empty. Raises SourceError."""
        columns, found = self.columns, dict[str, float | list[str]]()
        for own in columns.joined:
            if own not in self.joined:
                problem = f"{own.rows.table} is read with a table of the database that is indexed, not with {position}"
                raise UsageError(f"{problem}; index that database itself, without a source, or a view")
            found[own.name] = list(dict.fromkeys([*self.joined[own].get(id, ()), *[id] * own.is_link]))
        links = dict(map(field_and_column, columns.links))
        for name, column in columns.named:
            names = cell_names(position, column, values[column], columns.split)
            found[name] = list(dict.fromkeys([*names, id])) if name in links else names
        for name, column in columns.numbered:
            is_there = values[column] not in (None, "")
            found[name] = cell_number(position, column, values[column]) if is_there else []
        return found

    def _numeric_item(self, row: Row) -> tuple[str, list[float], str | None]:
        position, values = row
        columns = self.columns
        require_columns(position, values, columns.items, columns.title, *columns.numbers)
        numbers = [cell_number(position, name, values[name]) for name in columns.numbers]
        item = cell_id(position, columns.items or "", values[columns.items or ""])
        return item, numbers, self._title(row)

    def _each_row(self, convert: Callable[[Row], T], rows: Iterable[Row], *optional: str | None) -> Iterator[T]:
        """Rows, converted; with errors = "skip" bad ones are skipped.

        A JSON object may lack `optional` columns, but one of the first thousand, or of all, must have each.
        """
        lacking, first = dict.fromkeys(filter(None, optional)), None
        for number, row in enumerate(rows):
            if lacking:
                first = first or row
                lacking = {name: None for name in lacking if name not in row[1]}
                if lacking and number == FIRST_ROWS:
                    require_columns(*first, *lacking, choose=self.choose)
            try:
                if self.cells.drops_rare or self.cells.keeps(row):  # the others are counted, but not kept
                    yield convert(row)
            except (SourceError, DuplicateItem) as error:
                if self.rows.errors != "skip":
                    raise
                self.rows.warn(f"skipped {error}")
        if lacking and first is not None and is_open(first[1]):
            require_columns(*first, *lacking, choose=self.choose)

    def _groups(self, paths: list[str]) -> Iterator[SourceItem]:
        ordered = "select name, text from row order by name, rowid"
        for name, group in self._grouped(paths, self._parts, "name text, text text", ordered):
            yield name, "\n".join(text for _, text in group), None

    def _parts(self, row: Row) -> list[tuple[str, str]]:
        """The text of a row, for each of the groups that its cell names."""
        position, values = row
        group = self.columns.group_by or ""
        require_columns(position, values, *(() if is_open(values) else (group, *self.columns.texts)))
        if self._lacks(group, values[group]):
            return []
        text = "\n".join(cell_text(position, name, values[name]) for name in self.columns.texts)
        if self.rows.table is not None and self.cells.split is None:  # it may be followed, by one id in each row
            return [(cell_id(position, group, values[group]), text)]
        return [(name, text) for name in self.cells.features(position, group, values[group])]

    def _lacks(self, column: str, value: Any) -> bool:
        """Whether a row of a file is about nothing, because its cell is empty; such rows are counted."""
        if self.rows.table is not None or value not in ("", None):
            return False
        self.tally.unread["row{s} without " + column.replace("{", "{{").replace("}", "}}")] += 1
        return True

    def _relation_items(self, paths: list[str]) -> Iterator[SourceItem]:
        if len(paths) == 1 and self.rows.table is None and not is_stream(paths[0]):
            by_columns = read_columns(Path(paths[0]), self.columns, self.rows, self.cells)
            if by_columns is not None:
                yield from by_columns
                return
        columns = "item text, feature text, count integer, title text"
        cells = self.cells
        entries = FREQUENT.format(cells.min_features, cells.min_items) if cells.drops_rare else ENTRIES
        for item, group in self._grouped(paths, self._cells, columns, f"{entries} order by item, feature"):
            own = list(group)
            yield item, {feature: count for _, feature, count, _ in own if count}, own[0][3]

    def _grouped(
        self, paths: list[str], convert: Callable[[Row], Iterable[tuple[Any, ...]]], columns: str, ordered: str
    ) -> Iterator[tuple[str, Iterator[Any]]]:
        """Rows grouped by their first cell in a temporary file: there may be more than memory holds, in any order."""
        stage, roles = sqlite3.connect(""), self.columns
        optional = (roles.items, roles.features) if roles.items else (roles.group_by, *roles.texts)
        try:
            stage.execute(f"create table row ({columns})")
            rows = (
                cell
                for path in paths or [""]
                for cells in self._each_row(convert, self.rows_of(path), *optional)
                for cell in cells
            )
            stage.executemany(f"insert into row values ({', '.join('?' * (columns.count(',') + 1))})", rows)
            yield from groupby(stage.execute(ordered), key=lambda row: row[0])
        finally:
            stage.close()

    def _cells(self, row: Row) -> list[tuple[str, str, int, str | None]]:
        """The entries of a row: one for each feature of its cell; for none, one of a feature that does not count."""
        position, values = row
        columns = self.columns
        own_title = None if self.cells.titles else columns.title
        asked = (columns.items, columns.features, columns.count, own_title)
        require_columns(position, values, *(() if is_open(values) else asked))
        if self._lacks(columns.items or "", values[columns.items or ""]):
            return []
        item = cell_id(position, columns.items or "", values[columns.items or ""])
        features = self.cells.features(position, columns.features or "", values[columns.features or ""])
        count = cell_count(position, columns.count, values[columns.count]) if columns.count and features else 1
        count *= not self.cells.drops_rare or self.cells.keeps(row)
        title = self.cells.titles.get(item) if self.cells.titles else self._title(row)
        none = [] if self.cells.drops_rare else [(item, "", 0, title)]
        return [(item, own, count, title) for own in features] or none

    def _title(self, row: Row) -> str | None:
        position, values = row
        name = self.columns.title
        return None if name is None or values[name] is None else cell_text(position, name, values[name])


def _with_partition(rows: Iterable[Row], place: str) -> Iterator[Row]:
    """Rows, with the columns that the folders of their file name, as in day=2024-01-05/part-0.parquet."""
    pairs = (map(unquote, folder.partition("=")[::2]) for folder in place.split("/")[:-1] if "=" in folder)
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
