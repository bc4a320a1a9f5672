"""Documents by their columns, of rows, notes and mail: ids, texts and titles, what is kept, and what becomes fields."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple

from setsearch.errors import DuplicateItem, InvalidItem, SourceError, UsageError
from setsearch.indexing.files import FileItem
from setsearch.indexing.formats.front_matter import LINKED, SPLIT_IN_POSTS, TAGS, Note, is_post, name_of_note
from setsearch.indexing.formats.pages import as_shown
from setsearch.indexing.references.identity import Copy
from setsearch.indexing.rows.cells import (
    Cells,
    OpenCells,
    Row,
    cell_id,
    cell_names,
    cell_number,
    cell_text,
    is_open,
    require_columns,
)
from setsearch.indexing.tally import Tally
from setsearch.storage.kept.columns import encode_columns
from setsearch.storage.synced_source import Columns, Joined, field_and_column

NUMBERED = "id"  # the column of ids by default; rows of files without it are numbered

Fields = dict[str, float | list[str]]
# id, text or counted features, title; columns to keep, and fields
SourceItem = (
    tuple[str, str | dict[str, int], str | None]
    | tuple[str, str | dict[str, int], str | None, dict[str, Any] | None, Fields]
)


class Held(NamedTuple):
    """What the index, and the database that it is in, have of documents already.

    `kept` names columns that are kept, where a document has them; `joined` is what other tables say of documents.
    `earlier` gives the references that came from files that are kept, where those that are given replace all.
    """

    kept: tuple[str, ...] = ()
    joined: Mapping[Joined, Mapping[str, list[str]]] = MappingProxyType({})
    earlier: Callable[[Callable[[str], bool], list[Copy]], Iterable[Copy]] | None = None


@dataclass(frozen=True)
class DocumentColumns:
    """What becomes of the columns of documents; of a file or a table of a database, which has ids by itself.

    `choose` tells how one names another column, where one is not there.
    """

    columns: Columns
    held: Held
    choose: str
    is_table: bool
    tally: Tally

    @cached_property
    def optional(self) -> tuple[str | None, ...]:
        """The columns that a JSON object may lack."""
        return *self.columns.texts, self.columns.title, *self.columns.keep, *self.columns.fields

    def of_row(self, row: Row) -> SourceItem:
        """The document of a row; raises SourceError, DuplicateItem."""
        position, values = row
        columns = self.columns
        optional = () if is_open(values) else self.optional
        require_columns(position, values, columns.id, *optional, choose=self.choose)
        # A column named title is shown even if no title was requested.
        name = columns.title or "title"
        has_title = name in values and values[name] is not None
        title = as_shown(cell_text(position, name, values[name])) if has_title else None
        if title is not None and "\0" in title:
            raise SourceError(f"{position}: the column {name!r} is {title!r:.40}; titles are text, without NUL")
        text = "\n".join(as_shown(cell_text(position, name, values[name])) for name in columns.texts)
        id = cell_id(position, columns.id, values[columns.id])
        if id in self.tally.seen:
            raise DuplicateItem(f"{position}: the id {id!r} occurs twice; ids must be unique, but for `group_by`")
        self.tally.columns.update(columns.asked)
        item = self._described(position, (id, text, title), values)
        self.tally.unread["row{s} without a text"] += not text.strip()
        self.tally.seen.add(id)
        return item

    def of_file(self, document: FileItem) -> SourceItem:
        """A document of a file, with what is asked of the columns of notes and mail; raises SourceError."""
        plain, columns = document[:3], self.columns
        if not (columns.keep or columns.fields or columns.joined or self.held.kept):
            return plain
        found = document.columns
        values = self._of_note(document.id, found) if isinstance(found, Note) else OpenCells(found or {})
        self.tally.columns.update(values)
        return self._described(document.id, plain, values) if found else plain

    def _described(self, position: str, document: tuple[str, str, str | None], values: Mapping[str, Any]) -> SourceItem:
        """A document with what is kept of its columns, and with its fields. Raises SourceError."""
        id, columns = document[0], self.columns
        # What a note lacks is empty, as where the columns are named: else it would be another one when it comes again.
        held = self.held.kept if is_open(values) else [name for name in self.held.kept if name in values]
        kept = {name: values[name] for name in columns.keep or held}
        if kept:
            try:
                encode_columns(id, kept)
            except InvalidItem as error:
                raise SourceError(f"{position}: {error}") from error
        fields = self.fields(position, id, values) if columns.fields or columns.joined else {}
        return (*document, kept or None, fields) if kept or fields else document

    def _of_note(self, id: str, note: Note) -> OpenCells:
        """The columns of a note, with #tags and [[links]], of which the note's own name is one in a field of links.

        A text that begins as a list, such as `(draft) lions`, may be a name.
        """
        values = OpenCells(note.columns())
        if self.columns.split is None and is_post(id):
            values.update({own: values[own].split() for own in SPLIT_IN_POSTS if isinstance(values[own], str)})
        inline = {TAGS: note.tags(), LINKED: note.links()}
        if LINKED in (column for _, column in map(field_and_column, self.columns.links)) and name_of_note(id):
            inline[LINKED].append(name_of_note(id))
        for column in {*inline, *(column for _, column in self.columns.named)}:
            try:
                names = cell_names("", column, values[column], self.columns.split)
            except SourceError:
                names = values[column] = [values[column]]
            if more := inline.get(column):
                values[column] = list(dict.fromkeys([*names, *more]))
        return values

    def fields(self, position: str, id: str, values: Mapping[str, Any]) -> Fields:
        """What a document has in its fields beside the text; nothing where its cell is empty. Raises SourceError."""
        columns, found = self.columns, Fields()
        for own in columns.joined:
            if own not in self.held.joined:
                problem = f"{own.rows.table} is read with a table of the database that is indexed, not with {position}"
                raise UsageError(f"{problem}; index that database itself, without a source, or a view")
            found[own.name] = list(dict.fromkeys([*self.held.joined[own].get(id, ()), *[id] * own.is_link]))
        links = dict(map(field_and_column, columns.links))
        for name, column in columns.named:
            names = cell_names(position, column, values[column], columns.split)
            found[name] = list(dict.fromkeys([*names, id])) if name in links else names
        for name, column in columns.numbered:
            is_there = values[column] not in (None, "")
            found[name] = cell_number(position, column, values[column]) if is_there else []
        return found

    def of_reference(self, id: str, values: Mapping[str, Any]) -> Fields:
        """What a reference has in its fields; nothing in those of notes or mail beside it. Raises SourceError."""
        return self.fields(f"reference {id}", id, OpenCells(values))

    def with_ids(self, rows: Iterator[Row], name: str, shown: str) -> Iterator[Row]:
        """The rows of a source. Those without a column of ids have its `name` and their numbers as ids.

        The tally then notes the source as it is `shown`.
        """
        first = next(rows, None)
        if first is None:
            return
        repeated = first[1].repeated if isinstance(first[1], Cells) else frozenset()
        if self.columns.id != NUMBERED or NUMBERED in first[1] or NUMBERED in repeated:
            yield first
            yield from rows
            return
        self.tally.numbered.append(shown)
        for position, values in chain([first], rows):
            number = values["rowid"] if self.is_table and "rowid" in values else position.rpartition(" ")[2]
            if NUMBERED in values:
                raise SourceError(
                    f"{position} has an `id`, but the first row of {name or shown} has none; give all one, or none"
                )
            cells = (type(values) if isinstance(values, Cells) else Cells)(values)
            cells.repeated, cells.numbered = repeated, NUMBERED
            cells[NUMBERED] = number if self.is_table else f"{name}#{number}"
            yield position, cells
